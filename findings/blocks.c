/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * blocks: how large the blocks of a loop may be, so that what comes back is still there.
 *
 * Model
 *   Lines of an access come back in the next round of the loop around it that goes on in the object by less than a
 *   line: that loop carries the reuse, and what is to fit is all that one round of it goes through: each access of
 *   each loop in it, by its steps and by how many rounds its loops have. Steps of at most a line more than what has
 *   been gone through make a stretch, longer ones a line each. Stretches of a loop in one object that overlap
 *   count once; of several loops the one that goes through most of the object counts, as where others are in it is
 *   not known; and no more than the object. The loop that is to be cut is the outermost one within, or, where a
 *   single round of it is too much, the next one inside that; loops that stand beside it are cut in the same
 *   proportion. The block has as many rounds as fit: those of the innermost loop, which compilers unroll, are said
 *   in bytes of the object, if it goes through that by short steps. Where rounds are so long that their step is not
 *   known, the loop carries the reuse if one goes through most of the object: one part in COVERED of it is left out
 *   at most. Around the outermost loops that are known is the function: what carries the reuse is how often it is
 *   called. Where no loop is known to, or all that one round goes through would fit by this account, there is no
 *   size.
 *
 *   Where reuse distances were measured (--reuse): of the group's accesses that come back at
 *   distances which the level does not hold, the size of a fully associative cache that has nine of ten. By
 *   instruction and object distances are known in powers of two; the size between two of them is that of all data,
 *   where the group has more than a quarter of what comes back there.
 *
 * Not modelled
 *   Accesses outside of loops. Several loops that go through different parts of an object. Sets and ways: a block
 *   that just fits may lose lines to conflicts.
 */
#include <stdlib.h>

#include "findings/findings_priv.h"

#define NINE_TENTHS 0.9
#define QUARTER 4
#define COVERED 4

/* ------------------------------------------------------------------ measured distances */

static bool is_of_group(const struct findings_input *input, const struct group *group,
                        const struct analyses_reuse_row *row)
{
    if (row->code || row->object != group->object || input->excerpts->loops.loop_of[row->insn] != group->loop)
        return false;
    return group->loop != ANALYSES_NO_LOOP || findings_function(input, row->insn) == group->function;
}

static void distances_of(struct analyses_reuse *out, const struct findings_input *input, const struct group *group)
{
    *out = (struct analyses_reuse){{0}};
    for (size_t i = 0; i < input->reuse->row_count; i++)
        for (uint32_t k = 0; k < ANALYSES_REUSE_BUCKETS && is_of_group(input, group, &input->reuse->rows[i]); k++)
            out->count[k] += input->reuse->rows[i].of.count[k];
}

/* Lines of a cache that has this part of what comes back at distances of bucket k. */
static uint64_t lines_within(const struct analyses_reuse_stack *data, uint32_t k, double part)
{
    const uint64_t from = UINT64_C(1) << (k - 1), to = UINT64_C(1) << k;
    double left = part * (double)data->by_size.count[k];
    for (uint64_t distance = from; distance < to && distance < data->exact_count; distance++) {
        left -= (double)data->exact[distance];
        if (left <= 0)
            return distance + 1;
    }
    return to;
}

uint64_t findings_fits(const struct findings_input *input, const struct group *group, uint32_t level)
{
    struct analyses_reuse of;
    uint64_t far = 0, nearer = 0;
    if (!input->reuse || !input->excerpts || level >= input->machine->level_count)
        return 0;
    const struct analyses_reuse_stack *data = &input->reuse->stacks[0];
    const uint32_t line = input->machine->line_bytes;
    const uint32_t first = c2_log2(input->machine->levels[level].size_bytes / line) + 1;
    distances_of(&of, input, group);
    for (uint32_t k = first; k < ANALYSES_REUSE_COLD; k++)
        far += of.count[k];
    for (uint32_t k = first; k < ANALYSES_REUSE_COLD && far != 0; k++) {
        const double missing = NINE_TENTHS * (double)far - (double)nearer;
        if (missing <= (double)of.count[k])
            return line * (of.count[k] * QUARTER > data->by_size.count[k]
                               ? lines_within(data, k, missing / (double)of.count[k])
                               : UINT64_C(1) << k);
        nearer += of.count[k];
    }
    return 0;
}

/* ------------------------------------------------------------------ what a round goes through */

/* The loop that carries the reuse, and the one that is cut, so many loops inside it. */
struct cut {
    const struct findings_input *input;
    uint32_t carrier;  /* NO_LOOP: calls of the function */
    uint64_t function; /* then: of the outermost loop */
    unsigned below;
    double part; /* of the cut loop's rounds that a block has */
};

/* An access in one round of the carrier. */
struct way {
    uint32_t object, loop;
    uint64_t start;
    double stretch, bytes; /* stretch 0: lines here and there */
};

static uint64_t blocks_function_of(const struct findings_input *input, uint32_t loop)
{
    struct guest_va entry = {0};
    if (input->symbols)
        loader_function_entry(input->symbols, input->excerpts->loops.loops[loop].header, &entry);
    return entry.v;
}

/* How many loops lie between the access and the carrier, its own included; 0: it is in none of the carrier's. */
static unsigned loops_below(const struct cut *cut, const struct analyses_access *access)
{
    uint32_t loop = cut->input->excerpts->loops.loop_of[access->insn], last = loop;
    for (unsigned depth = 0; depth < EXCERPTS_DEPTH && last != ANALYSES_NO_LOOP; depth++) {
        if (loop == cut->carrier)
            return loop != ANALYSES_NO_LOOP || blocks_function_of(cut->input, last) == cut->function ? depth : 0;
        last = loop;
        loop = loop == ANALYSES_NO_LOOP ? loop : analyses_loop_around(cut->input->excerpts, loop);
    }
    return 0;
}

static void go_round(struct way *way, const struct findings_input *input, const struct analyses_access *access,
                     unsigned depth, double rounds)
{
    const double line = input->machine->line_bytes;
    int64_t step = 0;
    const bool known = findings_step(access, depth, &step);
    const double bytes = (double)llabs(step);
    if (rounds < 1 || (known && step == 0))
        return;
    if (known && way->stretch > 0 && bytes <= way->stretch + line) {
        way->stretch += bytes * (rounds - 1);
        way->bytes = way->stretch;
        return;
    }
    way->stretch = 0;
    way->bytes = way->bytes < line ? line : way->bytes;
    way->bytes *= known && bytes < line ? 1 + (rounds - 1) * bytes / line : rounds;
}

static void blocks_go(struct way *way, const struct cut *cut, const struct analyses_access *access,
                      unsigned depth_of_carrier)
{
    const struct analyses_excerpts_result *excerpts = cut->input->excerpts;
    uint32_t loop = excerpts->loops.loop_of[access->insn];
    *way = (struct way){.object = access->object, .loop = loop, .start = access->anchor, .stretch = access->bytes};
    way->bytes = way->stretch;
    for (unsigned depth = 0; depth < depth_of_carrier; depth++) {
        const double rounds = (double)findings_rounds(cut->input, loop);
        const bool is_cut = depth + cut->below == depth_of_carrier;
        go_round(way, cut->input, access, depth, is_cut ? rounds * cut->part : rounds);
        loop = analyses_loop_around(excerpts, loop);
    }
}

static int blocks_by_place(const void *left, const void *right)
{
    const struct way *a = left, *b = right;
    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    if (a->loop != b->loop)
        return a->loop < b->loop ? -1 : 1;
    return (a->start > b->start) - (a->start < b->start);
}

/* Of ways of one loop to one object; what stretches have in common counts once. */
static double sum_of_loop(const struct way *ways, size_t count)
{
    double sum = 0, end = 0;
    for (size_t i = 0; i < count; i++) {
        const double start = (double)ways[i].start, to = start + ways[i].stretch;
        if (ways[i].stretch == 0) {
            sum += i != 0 && ways[i].start == ways[i - 1].start ? 0 : ways[i].bytes;
        } else if (to > end) {
            sum += to - (start > end ? start : end);
            end = to;
        }
    }
    return sum;
}

/* Of ways to one object: those of the loop that goes through most of it; no more than there is. */
static double most_of_loops(const struct way *ways, size_t count, uint64_t object_bytes)
{
    double most = 0;
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from; to < count && ways[to].loop == ways[from].loop; to++)
            ;
        const double sum = sum_of_loop(ways + from, to - from);
        most = sum > most ? sum : most;
    }
    return most < (double)object_bytes ? most : (double)object_bytes;
}

/* Of all that one round of the carrier goes through. ways: room for all accesses. */
static double bytes_of_round(const struct cut *cut, struct way *ways)
{
    const struct analyses_excerpts_result *excerpts = cut->input->excerpts;
    size_t count = 0;
    double sum = 0;
    for (size_t i = 0; i < excerpts->access_count; i++) {
        const unsigned depth = loops_below(cut, &excerpts->accesses[i]);
        if (depth != 0)
            blocks_go(&ways[count++], cut, &excerpts->accesses[i], depth);
    }
    if (count != 0)
        qsort(ways, count, sizeof *ways, blocks_by_place);
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from; to < count && ways[to].object == ways[from].object; to++)
            ;
        sum += most_of_loops(ways + from, to - from, cut->input->profile->objects[ways[from].object].bytes);
    }
    return sum;
}

/* ------------------------------------------------------------------ the size of a block */

/* Whether one round of the loop at this depth goes through most of the object. */
static bool covers(const struct cut *cut, const struct analyses_access *access, unsigned depth)
{
    const uint64_t bytes = cut->input->profile->objects[access->object].bytes;
    struct way way;
    blocks_go(&way, cut, access, depth);
    return way.bytes >= (double)(bytes - bytes / COVERED);
}

/* The depth of the loop in whose next round lines of the access come back; 0: none is known. */
static unsigned find_carrier(struct cut *cut, const struct analyses_access *access, uint32_t loop)
{
    for (unsigned depth = 1; depth < EXCERPTS_DEPTH; depth++) {
        int64_t step;
        cut->function = blocks_function_of(cut->input, loop);
        loop = cut->carrier = analyses_loop_around(cut->input->excerpts, loop);
        if (loop == ANALYSES_NO_LOOP || !findings_step(access, depth, &step))
            return covers(cut, access, depth) ? depth : 0;
        if (llabs(step) < (int64_t)cut->input->machine->line_bytes)
            return depth;
    }
    return 0;
}

/* The most rounds, of all that the cut loop has, with which a round of the carrier fits; 0: not even one. */
static uint64_t rounds_that_fit(struct cut *cut, uint64_t rounds, double room, struct way *ways)
{
    uint64_t fit = 0, too_many = rounds + 1;
    while (fit + 1 < too_many) {
        const uint64_t middle = fit + (too_many - fit) / 2;
        cut->part = (double)middle / (double)rounds;
        if (bytes_of_round(cut, ways) <= room)
            fit = middle;
        else
            too_many = middle;
    }
    return fit;
}

static uint32_t loop_at(const struct findings_input *input, uint32_t loop, unsigned depth)
{
    for (unsigned i = 0; i < depth; i++)
        loop = analyses_loop_around(input->excerpts, loop);
    return loop;
}

enum c2_status findings_block(struct finding *finding, const struct findings_input *input,
                              const struct analyses_access *access, struct c2_error *err)
{
    struct cut cut = {.input = input};
    const int64_t line = input->machine->line_bytes;
    if (!access || finding->loop == ANALYSES_NO_LOOP || finding->level >= input->machine->level_count)
        return C2_OK;
    const unsigned carrier = find_carrier(&cut, access, finding->loop);
    struct way *ways = carrier == 0 ? NULL : c2_calloc(input->excerpts->access_count, sizeof *ways);
    if (carrier != 0 && !ways)
        return c2_fail_memory(err, "the findings");
    for (cut.below = 1; cut.below <= carrier && finding->block_rounds == 0; cut.below++) {
        const unsigned depth = carrier - cut.below;
        const uint32_t loop = loop_at(input, finding->loop, depth);
        const uint64_t rounds = findings_rounds(input, loop);
        const uint64_t fit = rounds_that_fit(&cut, rounds, (double)input->machine->levels[finding->level].size_bytes,
                                             ways);
        int64_t step;
        if (fit == rounds)
            break;
        if (fit == 0 || !findings_step(access, depth, &step) || (depth == 0 && llabs(step) > line))
            continue;
        finding->block_loop = loop;
        finding->block_rounds = fit;
        finding->block_bytes = depth == 0 ? fit * (uint64_t)llabs(step) : 0;
    }
    c2_free(ways);
    return C2_OK;
}
