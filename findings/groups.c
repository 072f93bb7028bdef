/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * groups: the misses of a run, put together by what has one cause: those of an object in a loop.
 *
 * Model
 *   A row of the profile is an instruction and an object. Rows of data are put together by their object and their
 *   innermost loop, which the excerpts of the run have shown; by their function where there is none. Fetches are one
 *   group. Walks that go through the caches belong to no data.
 *   The lead of a group is the row that costs most: it stands for how the group is accessed. Where the excerpts have no
 *   access of it, the dearest row that has one does, if it costs a part of that, one in ACCESS_SHARE.
 *
 * Counting
 *   Cycles by the machine's latencies (caches/cost.c), without start-up.
 */
#include <string.h>

#include "findings/findings_priv.h"

#define FUNCTIONS ((uint64_t)1 << 31) /* numbers of loops are smaller */
#define ACCESS_SHARE 4u               /* of what the lead costs: a row of less does not stand for it */

uint64_t findings_cost_sum(const struct findings_cost *cost)
{
    return cost->cold + cost->capacity + cost->conflict + cost->translation + cost->coherence;
}

/* ------------------------------------------------------------------ what a row costs */

static uint64_t groups_own(const struct analyses_row *row, uint32_t level, enum analyses_class class_)
{
    const struct analyses_tally *all = &row->level[level], *startup = &row->startup[level];
    return all->reads[class_] + all->writes[class_] - startup->reads[class_] - startup->writes[class_];
}

uint64_t findings_new_lines(const struct findings_input *input, const struct analyses_row *row)
{
    return groups_own(row, input->profile->level_count - 1, ANALYSES_COLD);
}

static uint64_t translation_of(const struct analyses_row *row, const struct caches_costs *costs)
{
    return (row->tlb.misses - row->tlb_startup.misses) * costs->second_tlb +
           (row->tlb.reads - row->tlb_startup.reads) * costs->walk_read;
}

static uint64_t coherence_of(const struct analyses_row *row, const struct caches_costs *costs, uint32_t levels)
{
    uint64_t cycles = 0;
    for (uint32_t i = 0; row->taken && i < levels; i++) {
        const struct analyses_taken *all = &row->taken[i], *startup = &row->taken_startup[i];
        cycles += (all->reads + all->writes - startup->reads - startup->writes) * costs->taken[i] +
                  (all->upgrades - startup->upgrades) * costs->upgrade;
    }
    return cycles;
}

/* level, capacity: as in a group. */
static void add_row_cost(struct findings_cost *to, uint64_t *level, uint64_t *capacities,
                         const struct findings_input *input, const struct analyses_row *row)
{
    const struct caches_costs costs = caches_costs(input->machine);
    const uint32_t levels = input->profile->level_count + input->profile->has_l1i;
    for (uint32_t i = 0; i < levels; i++) {
        const uint64_t conflict = groups_own(row, i, ANALYSES_CONFLICT) * costs.miss[i];
        const uint64_t capacity = groups_own(row, i, ANALYSES_CAPACITY) * costs.miss[i];
        to->cold += groups_own(row, i, ANALYSES_COLD) * costs.miss[i];
        to->capacity += capacity;
        to->conflict += conflict;
        to->framed += (row->level[i].framed - row->startup[i].framed) * costs.miss[i];
        level[i] += capacity + conflict;
        capacities[i] += capacity;
    }
    to->translation += translation_of(row, &costs);
    to->coherence += coherence_of(row, &costs, levels);
}

static uint64_t startup_of(const struct findings_input *input, const struct analyses_row *row)
{
    const struct caches_costs costs = caches_costs(input->machine);
    uint64_t cycles = row->tlb_startup.misses * costs.second_tlb + row->tlb_startup.reads * costs.walk_read;
    for (uint32_t i = 0; i < input->profile->level_count + input->profile->has_l1i; i++)
        for (unsigned c = 0; c < ANALYSES_CLASSES; c++)
            cycles += (row->startup[i].reads[c] + row->startup[i].writes[c]) * costs.miss[i];
    return cycles;
}

/* ------------------------------------------------------------------ where a row belongs */

static uint64_t first_misses(const struct analyses_row *row)
{
    return groups_own(row, 0, ANALYSES_COLD) + groups_own(row, 0, ANALYSES_CAPACITY) +
           groups_own(row, 0, ANALYSES_CONFLICT);
}

uint64_t findings_function(const struct findings_input *input, uint32_t insn)
{
    struct guest_va entry = {0};
    if (input->symbols)
        loader_function_entry(input->symbols, input->profile->insns[insn].pc, &entry);
    return entry.v;
}

/* A number that no other group has: its object, and its loop or the number of its function. */
static enum c2_status groups_key_of(struct groups *groups, const struct group *group, uint64_t *key,
                                    struct c2_error *err)
{
    uint64_t number = group->loop;
    if (group->loop == ANALYSES_NO_LOOP && !c2_map_get(groups->functions, group->function, &number)) {
        number = FUNCTIONS + groups->function_count++;
        enum c2_status status = c2_map_put(groups->functions, group->function, number, err);
        if (status != C2_OK)
            return status;
    }
    *key = (uint64_t)group->object << 32 | number;
    return C2_OK;
}

static enum c2_status find_group(struct groups *groups, const struct findings_input *input,
                                 const struct analyses_row *row, struct group **out, struct c2_error *err)
{
    const uint32_t loop = input->excerpts ? input->excerpts->loops.loop_of[row->insn] : ANALYSES_NO_LOOP;
    const uint64_t function = loop == ANALYSES_NO_LOOP ? findings_function(input, row->insn) : 0;
    const struct group made = {
        .object = row->object, .loop = loop, .function = function, .lead_evictor = FINDINGS_NOBODY};
    uint64_t key, number;
    enum c2_status status = groups_key_of(groups, &made, &key, err);
    if (status == C2_OK && c2_map_get(groups->numbers, key, &number)) {
        *out = &groups->list[number];
        return C2_OK;
    }
    if (status == C2_OK)
        status = c2_map_put(groups->numbers, key, groups->count, err);
    if (status != C2_OK)
        return status;
    if (!c2_grow((void **)&groups->list, &groups->room, groups->count, sizeof *groups->list))
        return c2_fail_memory(err, "the findings");
    *out = &groups->list[groups->count++];
    **out = made;
    return C2_OK;
}

static void take_lead(struct group *group, const struct findings_input *input, uint32_t row, uint64_t cost)
{
    const struct analyses_row *of = &input->profile->rows[row];
    const struct analyses_access *access = input->excerpts ? analyses_access_of(input->excerpts, of->insn, of->object)
                                                           : NULL;
    if (cost > group->lead_cost) {
        group->lead = row;
        group->lead_cost = cost;
    }
    if (access && cost > group->access_cost) {
        group->access = access;
        group->access_cost = cost;
    }
}

/* What was seen of rows that hardly matter is not how the group is accessed. */
static void forget_small_accesses(struct groups *groups)
{
    for (uint32_t i = 0; i < groups->count; i++)
        if (groups->list[i].access_cost < groups->list[i].lead_cost / ACCESS_SHARE)
            groups->list[i].access = NULL;
}

static enum c2_status groups_code_of(struct code **out, struct groups *groups, uint64_t function, struct c2_error *err)
{
    uint64_t number;
    if (c2_map_get(groups->code_of, function, &number)) {
        *out = &groups->codes[number];
        return C2_OK;
    }
    if (!c2_grow((void **)&groups->codes, &groups->code_room, groups->code_count, sizeof *groups->codes))
        return c2_fail_memory(err, "the findings");
    enum c2_status status = c2_map_put(groups->code_of, function, groups->code_count, err);
    if (status != C2_OK)
        return status;
    *out = &groups->codes[groups->code_count++];
    **out = (struct code){.function = function};
    return C2_OK;
}

/* A row of fetches. */
static enum c2_status groups_add_code(struct groups *groups, const struct findings_input *input, uint32_t row,
                                      const struct findings_cost *cost, struct c2_error *err)
{
    const struct analyses_row *of = &input->profile->rows[row];
    const uint32_t l1i = input->profile->level_count;
    const uint64_t cycles = findings_cost_sum(cost);
    struct code *code = NULL;
    findings_cost_add(&groups->code, cost);
    groups->code_misses += groups_own(of, l1i, ANALYSES_COLD) + groups_own(of, l1i, ANALYSES_CAPACITY) +
                           groups_own(of, l1i, ANALYSES_CONFLICT);
    enum c2_status status = groups_code_of(&code, groups, findings_function(input, of->insn), err);
    if (status != C2_OK)
        return status;
    code->cycles += cycles;
    if (cycles <= code->lead_cycles)
        return C2_OK;
    code->lead = row;
    code->lead_cycles = cycles;
    return C2_OK;
}

static enum c2_status groups_add_row(struct groups *groups, const struct findings_input *input, uint32_t row,
                                     struct c2_error *err)
{
    const struct analyses_row *of = &input->profile->rows[row];
    const enum analyses_kind kind = input->profile->objects[of->object].kind;
    struct findings_cost cost = {.cold = 0};
    uint64_t level[ANALYSES_LEVELS] = {0}, capacity[ANALYSES_LEVELS] = {0};
    struct group *group = NULL;
    add_row_cost(&cost, level, capacity, input, of);
    const uint64_t sum = findings_cost_sum(&cost);
    groups->cost += sum;
    groups->startup += startup_of(input, of);
    if (sum == 0 || kind == ANALYSES_TABLES)
        return C2_OK;
    if (kind == ANALYSES_CODE)
        return groups_add_code(groups, input, row, &cost, err);
    enum c2_status status = find_group(groups, input, of, &group, err);
    if (status != C2_OK)
        return status;
    findings_cost_add(&group->cost, &cost);
    for (uint32_t i = 0; i < ANALYSES_LEVELS; i++) {
        group->level[i] += level[i];
        group->capacity[i] += capacity[i];
    }
    group->misses += first_misses(of);
    group->new_lines += findings_new_lines(input, of);
    group->pages += of->tlb.misses - of->tlb_startup.misses;
    group->walks += of->tlb.walks - of->tlb_startup.walks;
    if (cost.translation > group->page_cost) {
        group->page_cost = cost.translation;
        group->page_lead = row;
    }
    take_lead(group, input, row, sum);
    return C2_OK;
}

/* ------------------------------------------------------------------ evictors */

uint32_t findings_dearest_level(const struct group *group)
{
    uint32_t level = 0;
    for (uint32_t i = 1; i < ANALYSES_LEVELS; i++)
        level = group->level[i] > group->level[level] ? i : level;
    return level;
}

/* The object whose rows took most lines from the group's lead, at the level where most is lost; its own where none took
 * more than half, and it took some. sums: [object], all 0, as they are afterwards. */
static void find_evictor(struct group *group, const struct analyses_profile_result *profile, uint64_t *sums)
{
    const uint32_t level = findings_dearest_level(group);
    uint64_t most = 0, all = 0;
    for (size_t i = 0; i < profile->pair_count; i++) {
        const struct analyses_pair *pair = &profile->pairs[i];
        if (pair->victim != group->lead || pair->level != level || pair->evictor == ANALYSES_NOBODY)
            continue;
        all += pair->count;
        const uint32_t object = profile->rows[pair->evictor].object;
        sums[object] += pair->count;
        group->lead_evictor = sums[object] > most ? object : group->lead_evictor;
        most = sums[object] > most ? sums[object] : most;
    }
    if (most * 2 <= all && sums[group->object] != 0)
        group->lead_evictor = group->object;
    for (size_t i = 0; i < profile->pair_count; i++)
        if (profile->pairs[i].victim == group->lead && profile->pairs[i].evictor != ANALYSES_NOBODY)
            sums[profile->rows[profile->pairs[i].evictor].object] = 0;
}

static enum c2_status find_evictors(struct groups *groups, const struct findings_input *input, struct c2_error *err)
{
    uint64_t *sums = c2_calloc(input->profile->object_count + (size_t)1, sizeof *sums);
    if (!sums)
        return c2_fail_memory(err, "the findings");
    for (uint32_t i = 0; i < groups->count; i++)
        if (groups->list[i].cost.conflict != 0)
            find_evictor(&groups->list[i], input->profile, sums);
    c2_free(sums);
    return C2_OK;
}

enum c2_status findings_group(struct groups *out, const struct findings_input *input, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    *out = (struct groups){.count = 0};
    status = c2_map_create(&out->numbers, err);
    if (status == C2_OK)
        status = c2_map_create(&out->functions, err);
    if (status == C2_OK)
        status = c2_map_create(&out->code_of, err);
    for (size_t i = 0; i < input->profile->row_count && status == C2_OK; i++)
        status = groups_add_row(out, input, (uint32_t)i, err);
    forget_small_accesses(out);
    return status == C2_OK ? find_evictors(out, input, err) : status;
}

void findings_groups_release(struct groups *groups)
{
    c2_free(groups->list);
    c2_map_destroy(groups->numbers);
    c2_map_destroy(groups->functions);
    c2_map_destroy(groups->code_of);
    c2_free(groups->codes);
    *groups = (struct groups){.count = 0};
}
