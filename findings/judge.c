/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * judge: which pattern a group of misses has, and what its remedy would spare.
 *
 * Model
 *   In this order, the first that fits:
 *   non-temporal      At least half of the cost is that of lines which stores past the caches have taken out of them,
 *                     and which are fetched again soon: what ordinary stores would leave of it (past.c).
 *   loop order        The innermost loop goes through the object in steps of at least half a line, and a loop around it
 *                     in shorter ones, of less than a line; in a triangle, beside the rounds that it leaves out. The
 *                     lead does, or, as in an elimination, where the column of the pivot stays, another access. Loops
 *                     of at most FEW_ROUNDS rounds are passed over: windows, the parts of an element. What a swap
 *                     spares is what each access takes of a line, min(1, step / line), now and with the loops swapped,
 *                     for all accesses of the loop. Where others would go in long steps then, as in a
 *                     transposition, blocks of both loops are the remedy, unless conflicts are more than CONFLICT_SHARE
 *                     per cent of the cost. Loops of two functions, one of which is called in the other's, come behind
 *                     longer rows of a declaration.
 *   cyclic            Threads take elements in turn (cyclic.c).
 *   sorted            A library sorts large elements, or keeps a heap of them in order (sorting.c).
 *   set conflicts     Conflict misses are more than CONFLICT_SHARE per cent of the cost: all of their cost. Where only
 *                     frames choose the sets they are a matter of placement, if the pages are not placed in order, or
 *                     if the object is gone through in short steps, and it and the evictor together fit the level.
 *   write-allocate    The loop overwrites whole lines that come from memory: their cost (stored.c).
 *   pointer chasing   Steps are irregular and the address comes from a load before it: nodes side by side, in the order
 *                     of the walk, take as much of a line as a node has bytes that are used. Accesses that fit no grid
 *                     of at least NODE_GRID bytes are not those of nodes: text, and tables of short numbers. Where
 *                     the walk is in no loop of the function, a node is LONE_GRID bytes at least: a table of pointers
 *                     that is looked into once, such as that of a hash, is none. Where other code walks from block to
 *                     block of a site, what is read of the blocks in no order, and not all of it, is of that walk.
 *   partial lines     Elements have bytes that this loop uses and others: apart from these it would take fewer lines
 *                     (elements.c).
 *   scattered         Steps are irregular otherwise, and not steady: nothing is spared.
 *   capacity          The loop walks through the object more than once, and it does not fit: the cost of the capacity
 *                     misses of the level where most is lost, and of those behind it, which blocks that fit there save;
 *                     half of it where the loop is a library's, which goes through the object for many callers; all
 *                     capacity misses where that moves the object's contents within it (moved.c).
 *   streaming         The rest: nothing is spared, unless the walk is one of several (fuse.c).
 *
 * Not modelled
 *   What a remedy does to other misses.
 */
#include <stdlib.h>

#include "findings/findings_priv.h"

#define CONFLICT_SHARE 40u
#define WORTHWHILE 3u / 4u /* of what it takes now, at most, is what a remedy leaves */
#define FEW_ROUNDS 8u      /* a window's, or the parts of an element */
#define FREQUENT 2u        /* part of the lead's accesses, at least */
#define NODE_GRID 4u       /* bytes: nodes are linked by pointers, or by indices of at least so many */
#define LONE_GRID 16u      /* bytes: a pointer, and what it is there for */

bool findings_step(const struct analyses_access *access, unsigned depth, int64_t *bytes)
{
    const struct analyses_step *step = &access->step[depth];
    *bytes = step->bytes;
    return step->of >= 2 && step->times * 2 > step->of;
}

/* The bytes by which an instruction goes on in the object: from round to round; or, where rounds come to places in no
 * order, from one time that the loop is entered to the next, if that is less than a line: it goes through several
 * places side by side, as through the planes of a stencil. */
static bool goes_on(const struct findings_input *input, const struct analyses_access *access, int64_t *bytes)
{
    return findings_step(access, 0, bytes) ||
           (findings_step(access, 1, bytes) && *bytes != 0 && llabs(*bytes) < input->machine->line_bytes);
}

/* In steps that are the same for as long as the loop goes on, and others the next time, as in the sieve of
 * Eratosthenes: an order, though no step is known. */
static bool is_steady(const struct analyses_access *access)
{
    return access->step[0].of >= 2 && access->steady * 2 > access->step[0].of;
}

bool findings_is_irregular(const struct findings_input *input, const struct group *group)
{
    int64_t step;
    return group->access && !goes_on(input, group->access, &step) && !is_steady(group->access);
}

/* ------------------------------------------------------------------ loop order */

/* Lines that an access takes, in 1/line: at most line_bytes of that. */
static uint64_t share_of_line(int64_t step, uint64_t line_bytes)
{
    const uint64_t bytes = (uint64_t)llabs(step);
    return bytes < line_bytes ? bytes : line_bytes;
}

/* Lines that the accesses of a loop take each round: now, when another loop is the innermost one, and in blocks of
 * both. */
struct swap {
    uint64_t now, then, tiled;
};

bool findings_outer_step(const struct findings_input *input, struct findings_inner inner,
                         const struct analyses_access *access, unsigned depth, int64_t *bytes)
{
    int64_t step;
    if (!findings_step(access, depth, bytes))
        return false;
    if (!findings_step(access, inner.depth, &step) || llabs(step) * 2 < input->machine->line_bytes ||
        llabs(*bytes) * 2 <= llabs(step))
        return true;
    const int64_t half = llabs(step) / 2, rounds = (*bytes + (*bytes < 0 ? -half : half)) / step;
    if ((uint64_t)llabs(rounds) * 2 < findings_rounds(input, inner.loop))
        *bytes -= rounds * step;
    return true;
}

static struct swap try_swap(const struct findings_input *input, uint32_t loop, struct findings_inner inner,
                            unsigned depth)
{
    struct swap swap = {0, 0, 0};
    const struct findings_accesses accesses = findings_accesses_of(input, loop, FINDINGS_NOBODY);
    for (size_t i = 0; i < accesses.count; i++) {
        const struct analyses_access *access = findings_access(&accesses, i);
        int64_t step, other;
        if (!findings_step(access, inner.depth, &step))
            continue;
        const uint64_t line = input->machine->line_bytes, times = access->reads + access->writes;
        const uint64_t now = share_of_line(step, line),
                       then = share_of_line(findings_outer_step(input, inner, access, depth, &other) ? other : step,
                                            line);
        swap.now += now * times;
        swap.then += then * times;
        swap.tiled += (now < then ? now : then) * times;
    }
    return swap;
}

/* Conflicts are much of the cost, and longer rows less of a change than blocks. */
static bool competes(const struct finding *of, const struct group *group)
{
    return group->cost.conflict * 100 >= of->cost * CONFLICT_SHARE;
}

/* Whether the inner loop should be swapped with one around it. across: with one in a caller of its function; else in
 * the function itself. */
static bool is_order_of(struct finding *out, const struct findings_input *input, const struct group *group,
                        const struct analyses_access *access, struct findings_inner inner, bool across)
{
    const int64_t line = input->machine->line_bytes;
    int64_t step, other;
    uint32_t with = inner.loop;
    bool is_across = false;
    if (!findings_step(access, inner.depth, &step) || llabs(step) * 2 < line)
        return false;
    for (unsigned depth = inner.depth + 1; depth < EXCERPTS_DEPTH; depth++) {
        is_across |= input->excerpts->loops.loops[with].parent == ANALYSES_NO_LOOP;
        with = analyses_loop_around(input->excerpts, with);
        if (with == ANALYSES_NO_LOOP)
            return false;
        if (is_across != across || !findings_outer_step(input, inner, access, depth, &other) || other == 0 ||
            llabs(other) >= line || llabs(other) * 2 > llabs(step))
            continue;
        const struct swap swap = try_swap(input, group->loop, inner, depth);
        if (swap.tiled > swap.now * WORTHWHILE || (swap.then > swap.now * WORTHWHILE && competes(out, group)))
            continue;
        if (swap.then > swap.now * WORTHWHILE)
            out->tile = findings_tile(input, group->loop, inner, depth);
        out->pattern = FINDINGS_LOOP_ORDER;
        out->swapped = inner.loop;
        out->with = with;
        out->step = step;
        out->with_step = other;
        out->gain = out->cost - (uint64_t)((double)out->cost * (double)share_of_line(other, line) /
                                           (double)share_of_line(step, line));
        return true;
    }
    return false;
}

/* The innermost loop that has more than a few rounds; of a window the lines stay, whatever its order. Loops of
 * functions that call each other can be around one another. */
static struct findings_inner inner_of(const struct findings_input *input, uint32_t loop)
{
    struct findings_inner inner = {loop, 0};
    while (inner.loop != ANALYSES_NO_LOOP && inner.depth < EXCERPTS_DEPTH &&
           findings_rounds(input, inner.loop) <= FEW_ROUNDS) {
        inner.loop = analyses_loop_around(input->excerpts, inner.loop);
        inner.depth++;
    }
    return inner;
}

/* So often that the order of loops may be about this access of the group as well as about its lead. */
static bool is_as_frequent(const struct analyses_access *access, const struct analyses_access *lead)
{
    return (access->reads + access->writes) * FREQUENT >= lead->reads + lead->writes;
}

static bool is_loop_order(struct finding *out, const struct findings_input *input, const struct group *group,
                          bool across)
{
    if (!group->access || group->loop == ANALYSES_NO_LOOP)
        return false;
    const struct findings_inner inner = inner_of(input, group->loop);
    if (inner.loop == ANALYSES_NO_LOOP || inner.depth >= EXCERPTS_DEPTH)
        return false;
    if (is_order_of(out, input, group, group->access, inner, across))
        return true;
    const struct findings_accesses accesses = findings_accesses_of(input, group->loop, group->object);
    for (size_t i = 0; i < accesses.count; i++)
        if (is_as_frequent(findings_access(&accesses, i), group->access) &&
            is_order_of(out, input, group, findings_access(&accesses, i), inner, across))
            return true;
    return false;
}

/* ------------------------------------------------------------------ sets */

bool findings_placed_in_order(const struct mmu_config *placement)
{
    return !placement || placement->placement == MMU_SEQUENTIAL || placement->placement == MMU_IDENTITY;
}

/* Whether addresses in a row, and no more of them than fit the level, compete for its sets: pages that others were
 * placed between have left the object few sets. */
static bool is_strewn(const struct findings_input *input, const struct group *group, uint32_t level)
{
    const struct analyses_object *objects = input->profile->objects;
    int64_t step;
    if (level >= input->machine->level_count || !group->access || !findings_step(group->access, 0, &step) ||
        llabs(step) >= (int64_t)C2_PAGE_BYTES)
        return false;
    const uint64_t bytes = objects[group->object].bytes;
    const uint32_t evictor = group->lead_evictor;
    const uint64_t others = evictor == FINDINGS_NOBODY || evictor == group->object ? 0 : objects[evictor].bytes;
    return bytes + others <= input->machine->levels[level].size_bytes;
}

static bool is_conflict(struct finding *out, const struct findings_input *input, const struct group *group)
{
    const uint64_t conflict = group->cost.conflict;
    if (!competes(out, group))
        return false;
    out->level = findings_dearest_level(group);
    const bool framed = group->cost.framed * 2 > conflict &&
                        (!findings_placed_in_order(input->placement) || is_strewn(input, group, out->level));
    out->pattern = framed ? FINDINGS_PAGE_PLACEMENT : FINDINGS_SET_CONFLICTS;
    out->evictor = group->lead_evictor;
    out->gain = framed ? group->cost.framed : conflict;
    out->scattered = findings_is_irregular(input, group);
    if (!framed)
        findings_pad(out, input, group->access);
    return true;
}

/* ------------------------------------------------------------------ elements */

static bool is_partial(struct finding *out, const struct findings_input *input, const struct group *group)
{
    if (!findings_measure_element(out, input, group) || out->used_bytes * 4 > out->element_bytes * 3)
        return false;
    const uint64_t left = findings_packed_cost(out, input, out->used_bytes);
    if (left > out->cost * WORTHWHILE || !findings_can_split(out, input))
        return false;
    out->pattern = FINDINGS_PARTIAL_LINES;
    out->gain = out->cost - left;
    return true;
}

static bool is_chase(struct finding *out, const struct findings_input *input, const struct group *group)
{
    if (!findings_is_irregular(input, group) || !findings_has_elements(&input->profile->objects[group->object]))
        return false;
    const uint64_t grid = findings_element_of(input, group),
                   least = group->loop == ANALYSES_NO_LOOP ? LONE_GRID : NODE_GRID;
    const bool chases = group->walked || findings_chases(input, input->profile->rows[group->lead].insn, group->loop);
    if ((grid != 0 && grid < least) || !chases)
        return false;
    out->pattern = FINDINGS_POINTER_CHASING;
    findings_measure_element(out, input, group);
    const uint64_t line = input->machine->line_bytes;
    const uint64_t node = out->element_bytes == 0 || out->element_bytes > line ? line : out->element_bytes;
    out->gain = out->cost - (uint64_t)((double)out->cost * (double)node / (double)line);
    return true;
}

/* ------------------------------------------------------------------ again and again, or once */

double findings_share_of(const struct analyses_excerpts_result *excerpts, const struct analyses_access *access)
{
    const struct analyses_access *first = access, *end = excerpts->accesses + excerpts->access_count;
    uint64_t all = 0;
    while (first > excerpts->accesses && first[-1].insn == access->insn)
        first--;
    for (; first < end && first->insn == access->insn; first++)
        all += first->reads + first->writes;
    return all == 0 ? 1 : (double)(access->reads + access->writes) / (double)all;
}

double findings_passes(const struct findings_input *input, const struct group *group)
{
    const struct analyses_row *row = &input->profile->rows[group->lead];
    const struct analyses_insn *insn = &input->profile->insns[row->insn];
    const struct analyses_object *object = &input->profile->objects[group->object];
    int64_t step;
    if (!group->access || !goes_on(input, group->access, &step) || step == 0 || object->bytes == 0)
        return 0;
    return (double)(insn->reads + insn->writes) * findings_share_of(input->excerpts, group->access) *
           (double)llabs(step) / (double)object->bytes;
}

/* How often a line of the object was fetched, in the mean: this is counted, and true of partial walks as well. */
static double fetches_of(const struct findings_input *input, const struct group *group)
{
    const uint64_t bytes = input->profile->objects[group->object].bytes, line = input->machine->line_bytes;
    return (double)group->misses / (double)((bytes + line - 1) / line);
}

/* Cycles of the capacity misses of this level, and of those behind it: what blocks that fit there save from their
 * second pass on. */
static uint64_t fits_from(const struct findings_input *input, const struct group *group, uint32_t level)
{
    uint64_t cycles = 0;
    for (uint32_t i = level; i < input->machine->level_count; i++)
        cycles += group->capacity[i];
    return cycles;
}

/* What has loops that go through their objects one after the other, again and again. */
static void find_nest(struct finding *out, const struct findings_input *input)
{
    const struct analyses_loop *loop = out->loop == ANALYSES_NO_LOOP ? NULL : &input->excerpts->loops.loops[out->loop];
    out->around = !loop ? ANALYSES_NO_LOOP : analyses_loop_around(input->excerpts, out->loop);
    if (loop && input->symbols)
        loader_function_entry(input->symbols, loop->header, &out->function);
}

/* Ordinary stores of what the loop does not need from memory. */
static bool is_overwritten(struct finding *out, const struct findings_input *input, const struct group *group)
{
    const double passes = findings_passes(input, group);
    return passes > FINDINGS_ONE_WALK && findings_is_overwritten(out, input, group, fetches_of(input, group));
}

/* Walks through the object; of steps that are not known, as often as its lines are fetched. */
static double walks_of(const struct findings_input *input, const struct group *group)
{
    int64_t step;
    const bool steady = group->access && is_steady(group->access) && !goes_on(input, group->access, &step);
    return steady ? fetches_of(input, group) : findings_passes(input, group);
}

static void judge_order(struct finding *out, const struct findings_input *input, const struct group *group)
{
    out->passes = walks_of(input, group);
    out->level = findings_dearest_level(group);
    if (findings_is_irregular(input, group)) {
        out->pattern = FINDINGS_SCATTERED;
    } else if (out->passes > FINDINGS_ONE_WALK && group->cost.capacity > group->cost.cold) {
        out->pattern = FINDINGS_CAPACITY;
        find_nest(out, input);
        out->passes = fetches_of(input, group);
        out->moved = findings_is_moved(input, group);
        out->gain = out->moved ? group->cost.capacity
                               : fits_from(input, group, out->level) / (out->caller == FINDINGS_NOBODY ? 1 : 2);
    } else {
        out->pattern = FINDINGS_STREAMING;
    }
}

uint32_t findings_caller(const struct findings_input *input, uint32_t row)
{
    const struct analyses_row *of = &input->profile->rows[row];
    const struct analyses_access *access = input->excerpts ? analyses_access_of(input->excerpts, of->insn, of->object)
                                                           : NULL;
    return access && access->caller != EXCERPTS_NO_CALLER ? access->caller : FINDINGS_NOBODY;
}

/* What it is about but for the order of loops. */
static void judge_misses(struct finding *out, const struct findings_input *input, const struct group *group)
{
    out->cost -= group->cost.translation;
    if (group->access && !findings_step(group->access, 0, &out->step))
        out->step = 0;
    if (!findings_is_cyclic(out, input, group) && !findings_is_sorted(out, input, group) &&
        !is_conflict(out, input, group) && !is_overwritten(out, input, group) && !is_chase(out, input, group) &&
        !is_partial(out, input, group))
        judge_order(out, input, group);
}

/* Rows that a declaration makes longer: less of a change than loops of two functions. */
static bool is_for_declaration(const struct finding *of, const struct findings_input *input)
{
    struct findings_declared declared;
    if (of->pattern != FINDINGS_SET_CONFLICTS || of->padding == 0)
        return false;
    findings_declared(&declared, input->symbols, &input->profile->objects[of->object], of->row_bytes,
                      input->machine->line_bytes);
    return declared.part != FINDINGS_NO_PART;
}

void findings_judge(struct finding *out, const struct findings_input *input, const struct group *group)
{
    *out = findings_at(FINDINGS_STREAMING, input->profile, group->lead);
    out->caller = findings_caller(input, group->lead);
    out->object = group->object;
    out->loop = group->loop;
    out->parts = group->cost;
    out->misses = group->misses;
    out->cost = findings_cost_sum(&group->cost) - group->cost.coherence;
    out->gain = 0;
    struct finding across = *out;
    if (!findings_is_past(out, input, group) && (group->ordered || !is_loop_order(out, input, group, false))) {
        judge_misses(out, input, group);
        if (!group->ordered && !is_for_declaration(out, input) && is_loop_order(&across, input, group, true))
            *out = across;
    }
    out->gained = out->gain == 0 ? FINDINGS_NO_GAIN : FINDINGS_ESTIMATED;
}
