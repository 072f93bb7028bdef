/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * findings: patterns of misses that have remedies, in one list.
 *
 * Model
 *   Misses are put together by object and loop (groups.c); each group is judged (judge.c). Translations that no swap of
 *   loops concerns are one finding an object: pages of 2 MiB spare them as far as the TLBs cover it. What cores take
 *   from each other is one an object and kind (sharing.c); fetches are one of their own, and prefetch instructions
 *   those of a function (prefetches.c). Findings of one cause are
 *   one: objects that the same loops go through in the wrong order or too often, or that compete there; loops in which
 *   the same rows of an object compete; loops that go through their objects one after the other, once or again and
 *   again; and
 *   loops that go through one object in no order, from node to node or once, or use fields of its elements
 *   (elements.c).
 *   Worth: what the remedy spares; where that is not known, half of the cost (WORTH_UNKNOWN); without a remedy, a part
 *   of the cost (WORTH_WITHOUT), so that what cannot be helped stands before what is hardly worth it.
 *   The run's cycles, of which shares are taken, are its cost and one for each instruction. Groups of less than
 *   a SMALL_SHARE of them are not judged: no finding of theirs would be listed.
 *
 * Invariants
 *   The same profile and excerpts give the same list.
 */
#include <stdlib.h>
#include <string.h>

#include "findings/findings_priv.h"

#define WORTH_UNKNOWN 2u    /* the part */
#define WORTH_WITHOUT 10u   /* likewise */
#define STARTUP_SHARE 20u   /* of all cost: what is spared less */
#define SWAP_SHARE 20u      /* of the run's cycles */
#define SMALL_SHARE 400u    /* of the run's cycles */
#define FUNCTION_SHARE 100u /* of what fetches cost: one with less is not counted among the functions */
#define FURTHER 2u          /* findings that are no group's: code, and start-up */
#define HUGE_PAGE (UINT64_C(2) << 20)

struct finding findings_nowhere(enum findings_pattern pattern)
{
    return (struct finding){.pattern = pattern,
                            .insn = FINDINGS_NOBODY,
                            .caller = FINDINGS_NOBODY,
                            .object = FINDINGS_NOBODY,
                            .loop = ANALYSES_NO_LOOP,
                            .swapped = ANALYSES_NO_LOOP,
                            .with = ANALYSES_NO_LOOP,
                            .fuse = ANALYSES_NO_LOOP,
                            .fuse_with = ANALYSES_NO_LOOP,
                            .block_loop = ANALYSES_NO_LOOP,
                            .level = FINDINGS_NOBODY,
                            .evictor = FINDINGS_NOBODY,
                            .other = FINDINGS_NOBODY,
                            .store = FINDINGS_NOBODY};
}

struct finding findings_at(enum findings_pattern pattern, const struct analyses_profile_result *profile, uint32_t row)
{
    struct finding finding = findings_nowhere(pattern);
    finding.insn = profile->rows[row].insn;
    finding.pc = profile->insns[finding.insn].pc;
    return finding;
}

void findings_destroy(struct findings *findings)
{
    if (findings)
        c2_free(findings->list);
    c2_free(findings);
}

/* ------------------------------------------------------------------ translations */

/* Bytes that the TLBs of the machine hold in pages of 2 MiB. */
static uint64_t huge_coverage(const struct caches_machine *machine)
{
    uint64_t pages = 0;
    for (uint32_t i = 0; i < machine->tlb_count; i++) {
        const struct caches_tlb *tlb = &machine->tlbs[i];
        if ((tlb->holds & CACHES_TLB_2M) != 0 && tlb->entries > pages)
            pages = tlb->entries;
    }
    return pages * HUGE_PAGE;
}

static struct finding *tlb_finding(struct findings *findings, uint32_t from, uint32_t object)
{
    for (uint32_t i = from; i < findings->count; i++)
        if (findings->list[i].object == object)
            return &findings->list[i];
    return NULL;
}

/* A group's translations, in the finding of its object; the first group of one is that with most. */
static void add_group_translations(struct findings *to, uint32_t from, const struct findings_input *input,
                                   const struct group *group)
{
    struct finding *finding = tlb_finding(to, from, group->object);
    if (!finding) {
        finding = &to->list[to->count++];
        *finding = findings_at(FINDINGS_TLB, input->profile, group->page_lead);
        finding->object = group->object;
        finding->caller = findings_caller(input, group->page_lead);
    }
    finding->cost += group->cost.translation;
    finding->misses += group->pages;
    finding->walks += group->walks;
}

static void finish_translations(struct finding *finding, const struct findings_input *input)
{
    const uint64_t bytes = input->profile->objects[finding->object].bytes, covered = huge_coverage(input->machine);
    finding->parts.translation = finding->cost;
    if (bytes >= HUGE_PAGE && covered != 0)
        finding->gain = bytes <= covered ? finding->cost
                                         : (uint64_t)((double)finding->cost * (double)covered / (double)bytes);
    finding->gained = finding->gain == 0 ? FINDINGS_NO_GAIN : FINDINGS_ESTIMATED;
}

static int by_translation(const void *left, const void *right)
{
    const struct group *const *a = left, *const *b = right;
    if ((*a)->cost.translation != (*b)->cost.translation)
        return (*a)->cost.translation > (*b)->cost.translation ? -1 : 1;
    return (*a > *b) - (*a < *b);
}

/* The translations of groups that are no matter of the order of loops; behind the groups' own findings. */
static enum c2_status findings_add_translations(struct findings *to, const struct findings_input *input,
                                                const struct groups *groups, struct c2_error *err)
{
    const uint32_t from = to->count;
    const struct group **order = c2_calloc(groups->count + (size_t)1, sizeof(const struct group *));
    uint32_t count = 0;
    if (!order)
        return c2_fail_memory(err, "the findings");
    for (uint32_t i = 0; i < groups->count; i++)
        if (groups->list[i].cost.translation != 0 && to->list[i].pattern != FINDINGS_LOOP_ORDER)
            order[count++] = &groups->list[i];
    if (count != 0)
        qsort(order, count, sizeof(const struct group *), by_translation);
    for (uint32_t i = 0; i < count; i++)
        add_group_translations(to, from, input, order[i]);
    for (uint32_t i = from; i < to->count; i++)
        finish_translations(&to->list[i], input);
    c2_free(order);
    return C2_OK;
}

/* ------------------------------------------------------------------ code, and start-up */

/* One finding, at the function whose fetches cost most. */
static void findings_add_code(struct findings *to, const struct findings_input *input, const struct groups *groups)
{
    const struct code *most = groups->codes;
    uint32_t functions = 0;
    if (groups->code_count == 0)
        return;
    for (uint32_t i = 0; i < groups->code_count; i++)
        most = groups->codes[i].cycles > most->cycles ? &groups->codes[i] : most;
    struct finding finding = findings_at(FINDINGS_INSTRUCTION_CACHE, input->profile, most->lead);
    finding.parts = groups->code;
    finding.cost = findings_cost_sum(&groups->code);
    for (uint32_t i = 0; i < groups->code_count; i++)
        functions += groups->codes[i].function != 0 && groups->codes[i].cycles >= finding.cost / FUNCTION_SHARE;
    finding.function.v = most->function;
    finding.functions = functions;
    finding.function_cost = most->cycles;
    finding.misses = groups->code_misses;
    finding.gain = groups->code.capacity + groups->code.conflict;
    finding.gained = finding.gain == 0 ? FINDINGS_NO_GAIN : FINDINGS_ESTIMATED;
    to->list[to->count++] = finding;
}

/* ------------------------------------------------------------------ the list */

static uint64_t spared(const struct finding *finding) { return finding->gain + finding->beside; }

/* Sorted accesses and smaller elements, or nodes that are smaller than a line, may spare much or little. */
static bool has_unknown_gain(const struct finding *finding)
{
    return finding->gained == FINDINGS_NO_GAIN &&
           (finding->pattern == FINDINGS_SCATTERED || finding->pattern == FINDINGS_POINTER_CHASING);
}

static uint64_t worth(const struct finding *finding)
{
    if (spared(finding) != 0)
        return spared(finding);
    return finding->cost / (has_unknown_gain(finding) ? WORTH_UNKNOWN : WORTH_WITHOUT);
}

static int findings_by_worth(const void *left, const void *right)
{
    const struct finding *a = left, *b = right;
    if (worth(a) != worth(b))
        return worth(a) > worth(b) ? -1 : 1;
    if (a->pc.v != b->pc.v)
        return a->pc.v < b->pc.v ? -1 : 1;
    return a->pattern != b->pattern ? (a->pattern > b->pattern) - (a->pattern < b->pattern)
                                    : (a->object > b->object) - (a->object < b->object);
}

static bool is_worthwhile(const struct findings *findings, const struct finding *finding)
{
    const uint64_t cycles = findings->cycles;
    return spared(finding) != 0 ? spared(finding) >= cycles / FINDINGS_GAIN_SHARE
                                : finding->cost != 0 && finding->cost >= cycles / FINDINGS_COST_SHARE;
}

/* What start-up costs stays the first, if it is there. */
void findings_sort(struct findings *findings)
{
    const uint32_t first = findings->count != 0 && findings->list[0].pattern == FINDINGS_STARTUP;
    if (findings->count > first)
        qsort(&findings->list[first], findings->count - first, sizeof *findings->list, findings_by_worth);
}

static bool with_itself(const struct finding *of)
{
    return of->evictor == FINDINGS_NOBODY || of->evictor == of->object;
}

/* One in the source: compilers make several of one, by unrolling what is around it, or for cases of their own. */
static bool one_loop(const struct findings_input *input, uint32_t a, uint32_t b)
{
    struct loader_place one, other;
    if (a == b || a == ANALYSES_NO_LOOP || b == ANALYSES_NO_LOOP || !input->symbols)
        return a == b;
    const struct analyses_loop *loops = input->excerpts->loops.loops;
    loader_place_of(input->symbols, loops[a].latch, &one);
    loader_place_of(input->symbols, loops[b].latch, &other);
    return one.file && other.file && one.line == other.line && strcmp(one.file, other.file) == 0;
}

static bool same_loops(const struct findings_input *input, const struct finding *a, const struct finding *b)
{
    return a->loop != ANALYSES_NO_LOOP && one_loop(input, a->loop, b->loop) && one_loop(input, a->with, b->with);
}

/* Loops one after the other in a loop, or in a function that is called again and again. */
static bool same_passes(const struct finding *a, const struct finding *b)
{
    return a->function.v != 0 && a->function.v == b->function.v && a->around == b->around && a->level == b->level &&
           (a->fuse == ANALYSES_NO_LOOP) == (b->fuse == ANALYSES_NO_LOOP) && a->caller == FINDINGS_NOBODY &&
           b->caller == FINDINGS_NOBODY;
}

/* The same rows longer, as far as they are known of the second. */
static bool same_rows(const struct finding *a, const struct finding *b)
{
    return a->object == b->object && with_itself(a) && with_itself(b) && a->row_bytes != 0 &&
           (b->row_bytes == 0 || (a->row_bytes == b->row_bytes && a->padding == b->padding));
}

static bool is_about(const struct finding *of, uint32_t object)
{
    bool is = of->object == object;
    for (uint32_t i = 0; i < of->others && i < FINDINGS_ALSO; i++)
        is |= of->also[i] == object;
    return is;
}

/* Of one function, or what one calls. */
static bool same_sort(const struct findings_input *input, const struct finding *a, const struct finding *b)
{
    const uint32_t one = a->caller == FINDINGS_NOBODY ? a->insn : a->caller,
                   other = b->caller == FINDINGS_NOBODY ? b->insn : b->caller;
    return a->heap == b->heap && findings_function(input, one) == findings_function(input, other);
}

/* Whether one change helps both. */
static bool has_one_cause(const struct findings_input *input, const struct finding *a, const struct finding *b)
{
    if (a->pattern != b->pattern)
        return false;
    switch (a->pattern) {
    case FINDINGS_LOOP_ORDER:
        return (one_loop(input, a->swapped, b->swapped) && one_loop(input, a->with, b->with)) ||
               (a->with == b->with && a->object == b->object);
    case FINDINGS_CAPACITY:
        return a->moved == b->moved && (same_loops(input, a, b) || same_passes(a, b));
    case FINDINGS_SORTED:
        return same_loops(input, a, b) || is_about(a, b->object) || same_sort(input, a, b);
    case FINDINGS_CYCLIC:
    case FINDINGS_WRITE_ALLOCATE:
        return same_loops(input, a, b) || a->object == b->object;
    case FINDINGS_SET_CONFLICTS:
        return same_loops(input, a, b) || same_rows(a, b);
    case FINDINGS_PARTIAL_LINES:
        return a->object == b->object && a->element_bytes == b->element_bytes &&
               memcmp(a->used, b->used, sizeof a->used) == 0;
    case FINDINGS_NON_TEMPORAL:
    case FINDINGS_POINTER_CHASING:
    case FINDINGS_SCATTERED:
    case FINDINGS_STREAMING:
        return a->object == b->object;
    default:
        return false;
    }
}

void findings_cost_add(struct findings_cost *to, const struct findings_cost *more)
{
    to->cold += more->cold;
    to->capacity += more->capacity;
    to->conflict += more->conflict;
    to->framed += more->framed;
    to->translation += more->translation;
    to->coherence += more->coherence;
}

/* One more object that the finding is about. Those beyond the first are taken to be others each time. */
void findings_add_object(struct finding *to, uint32_t object)
{
    const uint32_t known = to->others < FINDINGS_ALSO ? to->others : FINDINGS_ALSO;
    if (object == to->object)
        return;
    for (uint32_t i = 0; i < known; i++)
        if (to->also[i] == object)
            return;
    if (known < FINDINGS_ALSO)
        to->also[known] = object;
    to->other = to->others++ == 0 ? object : to->other;
}

void findings_add_finding(struct finding *to, const struct finding *more)
{
    to->cost += more->cost;
    to->gain += more->gain;
    to->misses += more->misses;
    to->refetched += more->refetched;
    to->fits_bytes = more->fits_bytes > to->fits_bytes ? more->fits_bytes : to->fits_bytes;
    findings_cost_add(&to->parts, &more->parts);
    if (to->gain != 0)
        to->gained = FINDINGS_ESTIMATED;
    findings_add_object(to, more->object);
}

/* Findings of one cause, in the first of them. */
static void findings_add_up(struct findings *findings, const struct findings_input *input)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < findings->count; i++) {
        uint32_t to = 0;
        while (to < kept && !has_one_cause(input, &findings->list[to], &findings->list[i]))
            to++;
        if (to < kept)
            findings_add_finding(&findings->list[to], &findings->list[i]);
        else
            findings->list[kept++] = findings->list[i];
    }
    findings->count = kept;
}

static void drop_small(struct findings *findings)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < findings->count; i++)
        if (findings->list[i].cost + findings->list[i].beside >= findings->cycles / SMALL_SHARE)
            findings->list[kept++] = findings->list[i];
    findings->count = kept;
}

static void findings_sort_out(struct findings *findings, const struct findings_input *input)
{
    uint32_t kept = 0;
    drop_small(findings);
    findings_sort(findings);
    findings_add_up(findings, input);
    findings_move_sorted(findings, input);
    findings_sort(findings);
    findings_join_splits(findings, input);
    findings_sort(findings);
    for (uint32_t i = 0; i < findings->count; i++)
        if (is_worthwhile(findings, &findings->list[i]))
            findings->list[kept++] = findings->list[i];
    findings->count = kept;
}

/* Where start-up costs more than the program, and nothing of that is worth much beside it: it comes first. */
static void add_startup(struct findings *findings, const struct groups *groups)
{
    const uint64_t best = findings->count == 0 ? 0 : spared(&findings->list[0]);
    const uint64_t startup = groups->startup;
    if (startup <= groups->cost || best * STARTUP_SHARE > groups->cost + startup ||
        startup < (findings->cycles + startup) / FINDINGS_COST_SHARE)
        return;
    memmove(&findings->list[1], findings->list, findings->count++ * sizeof *findings->list);
    findings->list[0] = findings_nowhere(FINDINGS_STARTUP);
    findings->list[0].cost = groups->startup;
}

/* Orders of loops that matter are looked at more closely; where a swap spares nothing, the group is about something
 * else. */
static enum c2_status swap_loops(struct findings *findings, const struct findings_input *input,
                                 const struct groups *groups, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < groups->count && status == C2_OK; i++) {
        struct finding *finding = &findings->list[i];
        if (finding->pattern != FINDINGS_LOOP_ORDER || finding->cost < findings->cycles / SWAP_SHARE)
            continue;
        status = findings_swap(finding, input, err);
        struct group group = groups->list[i];
        group.ordered = finding->gain == 0;
        if (group.ordered)
            findings_judge(finding, input, &group);
    }
    return status;
}

/* How many loops the outer one is around the inner one; 0: it is not. */
static unsigned depth_between(const struct findings_input *input, uint32_t inner, uint32_t outer)
{
    unsigned depth = 0;
    for (uint32_t loop = inner; loop != outer; depth++) {
        loop = analyses_loop_around(input->excerpts, loop);
        if (loop == ANALYSES_NO_LOOP || depth + 1 == EXCERPTS_DEPTH)
            return 0;
    }
    return depth;
}

/* Whether the swap lets the group's accesses stay at one place in the innermost loop, as the headers of rows. */
static bool stays_with(const struct findings_input *input, const struct group *group, const struct finding *swap)
{
    const unsigned depth = depth_between(input, group->loop, swap->with);
    int64_t step;
    return depth != 0 && group->access && findings_step(group->access, depth, &step) && step == 0;
}

/* What a swap of loops spares altogether is part of the finding about them. */
static void join_swap(struct finding *finding, const struct finding *swap)
{
    finding->pattern = FINDINGS_LOOP_ORDER;
    finding->object = swap->object;
    finding->swapped = swap->swapped;
    finding->with = swap->with;
    finding->step = swap->step;
    finding->with_step = swap->with_step;
    finding->cost = findings_cost_sum(&finding->parts) - finding->parts.coherence;
    finding->gain = finding->cost;
    finding->gained = FINDINGS_ESTIMATED;
}

static void join_swaps(struct findings *findings, const struct findings_input *input, const struct groups *groups)
{
    for (uint32_t i = 0; i < groups->count; i++) {
        const struct finding *swap = &findings->list[i];
        if (swap->pattern != FINDINGS_LOOP_ORDER || swap->tile != 0)
            continue;
        for (uint32_t k = 0; k < groups->count; k++)
            if (findings->list[k].pattern != FINDINGS_LOOP_ORDER && findings->list[k].loop == swap->loop &&
                stays_with(input, &groups->list[k], swap))
                join_swap(&findings->list[k], swap);
    }
}

static bool is_walked(const struct findings *findings, uint32_t object)
{
    for (uint32_t i = 0; i < findings->count; i++)
        if (findings->list[i].pattern == FINDINGS_POINTER_CHASING && findings->list[i].object == object)
            return true;
    return false;
}

/* Blocks that are walked through are nodes, also where code that the walk calls has their addresses from it. */
static void join_walks(struct findings *findings, const struct findings_input *input, const struct groups *groups)
{
    for (uint32_t i = 0; i < groups->count; i++) {
        struct group group = groups->list[i];
        group.walked = true;
        if (findings->list[i].pattern == FINDINGS_PARTIAL_LINES && input->profile->objects[group.object].blocks > 1 &&
            is_walked(findings, group.object))
            findings_judge(&findings->list[i], input, &group);
    }
}

static void fuse_loops(struct findings *findings, const struct findings_input *input, const struct groups *groups)
{
    for (uint32_t i = 0; i < groups->count; i++)
        findings_fuse(&findings->list[i], input, groups, &groups->list[i]);
}

/* What does not fit: where it would, and how large blocks may be. */
static enum c2_status size_blocks(struct findings *findings, const struct findings_input *input,
                                  const struct groups *groups, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (uint32_t i = 0; i < groups->count && status == C2_OK; i++) {
        struct finding *finding = &findings->list[i];
        if (finding->pattern != FINDINGS_CAPACITY || finding->fuse != ANALYSES_NO_LOOP)
            continue;
        finding->fits_bytes = findings_fits(input, &groups->list[i], finding->level);
        status = findings_block(finding, input, groups->list[i].access, err);
    }
    return status;
}

/* A large program has thousands of groups, of which few are worth a look at all accesses. */
static void judge_findings(struct findings *findings, const struct findings_input *input, const struct group *group)
{
    struct finding *finding = &findings->list[findings->count++];
    if (findings_cost_sum(&group->cost) < findings->cycles / SMALL_SHARE)
        *finding = findings_at(FINDINGS_STREAMING, input->profile, group->lead);
    else
        findings_judge(finding, input, group);
}

/* What accesses wait for late prefetches, which is no cost. */
static uint64_t late_cycles(const struct findings_input *input)
{
    uint64_t cycles = 0;
    for (size_t i = 0; i < input->instructed_count; i++)
        cycles += input->instructed[i].of.late_cycles;
    return cycles;
}

static enum c2_status findings_fill(struct findings *findings, const struct findings_input *input,
                                    const struct groups *groups, struct c2_error *err)
{
    findings->cost = groups->cost;
    findings->startup = groups->startup;
    findings->cycles = groups->cost + input->instructions + late_cycles(input);
    findings->list = c2_calloc(2 * (size_t)groups->count + FURTHER, sizeof *findings->list);
    if (!findings->list)
        return c2_fail_memory(err, "the findings");
    for (uint32_t i = 0; i < groups->count; i++)
        judge_findings(findings, input, &groups->list[i]);
    enum c2_status status = swap_loops(findings, input, groups, err);
    join_swaps(findings, input, groups);
    join_walks(findings, input, groups);
    fuse_loops(findings, input, groups);
    if (status == C2_OK)
        status = size_blocks(findings, input, groups, err);
    if (status == C2_OK)
        status = findings_add_translations(findings, input, groups, err);
    findings_add_code(findings, input, groups);
    if (status == C2_OK)
        status = findings_add_sharing(findings, input, err);
    if (status == C2_OK)
        status = findings_add_prefetches(findings, input, err);
    if (status != C2_OK)
        return status;
    findings_sort_out(findings, input);
    add_startup(findings, groups);
    return C2_OK;
}

enum c2_status findings_create(struct findings **out, const struct findings_input *input, struct c2_error *err)
{
    struct groups groups = {.count = 0};
    struct findings_input own = *input;
    struct findings_sorted *sorted;
    struct findings *findings = *out = c2_calloc(1, sizeof *findings);
    if (!findings)
        return c2_fail_memory(err, "the findings");
    enum c2_status status = findings_accesses_sort(&sorted, input->excerpts, err);
    own.sorted = sorted;
    if (status == C2_OK)
        status = findings_group(&groups, &own, err);
    if (status == C2_OK)
        status = findings_fill(findings, &own, &groups, err);
    findings_groups_release(&groups);
    c2_free(sorted);
    if (status == C2_OK)
        return C2_OK;
    findings_destroy(findings);
    *out = NULL;
    return status;
}
