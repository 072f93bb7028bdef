/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * advice_plan: what might be done about the conflict misses of a run.
 *
 * Model
 *   A conflict miss costs what a miss of its level costs (caches_costs). It concerns the object that misses and
 *   the one whose access had evicted the line. Objects whose conflicts cost a hundredth of all conflicts and a
 *   thousandth of all misses or more are moved, the dearest ANALYSES_MOVED of them at most. In this order, each layout
 *   once:
 *     wishes    what the caller wants tried for something that it has found: as it says, each by itself, but that
 *               starts apart are those of the whole group that is staggered anyway. WISHED of them at most.
 *     apart     of several cores: arrays whose rows are falsely shared, two at most, each alone: so many bytes more a
 *               row that each has a line (coherence_lines.c says how many).
 *     rows      the three dearest objects with rows, each alone: one line more a row; then all that have rows together.
 *     stagger   for each virtually indexed level the objects that evict each other (the dearest connected group of
 *               pairs of two objects) start line * floor(sets / objects) bytes apart, modulo line * sets.
 *     blocks    an allocation site whose blocks evict each other: one line more a block. Two sites at most.
 *     huge      where a physically indexed level has a hundredth of the cost: the objects in pages of 2 MiB; the same
 *               with longer rows; the same staggered for the sets of the dearest such level; and coloured pages, which
 *               move nothing. Not where the run has huge pages (or coloured ones) already, or is to have none.
 *   An object that is moved and not staggered keeps its place modulo a page and the spans of virtually indexed levels:
 *   what is changed is what the proposal names.
 *
 * Not modelled
 *   Other pads than one line; fields within blocks; blocks of one site against those of another; code.
 *
 * Source: Sato & Endo, Euro-Par 2017, section 4 (intra- and inter-array padding, huge pages).
 */
#include <stdlib.h>
#include <string.h>

#include "analyses/analyses.h"

#define SHARE 100u       /* what costs less than this part of all conflicts is left alone */
#define MISS_SHARE 1000u /* what costs less than this part of all misses, too */
#define MEMBER_SHARE 50u /* of a group's cost: a smaller share is no member */
#define WISHED 8u        /* proposals, at most: the rest is for conflicts at large */
#define STILL (ANALYSES_COLORED | ANALYSES_ROOM | ANALYSES_REDRAWN) /* move nothing */
#define ROWS_ALONE 3u
#define SITES 2u
#define PADDINGS 2u

struct plan {
    const struct analyses_plan_input *in;
    struct caches_costs costs;
    uint64_t *cost;   /* [object]: of its conflicts */
    uint64_t *shared; /* [object]: of some of them, as it is needed */
    uint32_t *group;  /* [object]: another one of its group, or itself */
    uint64_t total;   /* of all conflicts */
    uint32_t objects[ANALYSES_MOVED], object_count;
    struct analyses_proposal *out;
    uint32_t count;
};

bool analyses_movable(const struct analyses_object *object)
{
    switch (object->kind) {
    case ANALYSES_STATIC:
    case ANALYSES_MMAP:
        return object->bytes != 0;
    case ANALYSES_STACK:
        return object->local && object->local->name && !object->nested;
    case ANALYSES_HEAP:
        return object->site.v != 0 && object->bytes != 0; /* not what the allocator keeps for itself */
    default:
        return false;
    }
}

static const struct analyses_object *object_at(const struct plan *plan, uint32_t object)
{
    return &plan->in->profile->objects[object];
}

static bool physical(const struct plan *plan, uint32_t level)
{
    return plan->in->machine->levels[level].index == CACHES_PHYSICAL;
}

static uint64_t span_bytes(const struct plan *plan, uint32_t level)
{
    const struct caches_machine *machine = plan->in->machine;
    return (uint64_t)caches_level_sets(machine, &machine->levels[level]) * machine->line_bytes;
}

/* ------------------------------------------------------------------ what conflicts cost */

/* The objects of a pair of data accesses; false: no evictor is known, or it is no matter of the data path. */
static bool pair_objects(const struct plan *plan, const struct analyses_pair *pair, uint32_t *victim, uint32_t *evictor)
{
    const struct analyses_profile_result *profile = plan->in->profile;
    if (pair->level >= profile->level_count || pair->evictor == ANALYSES_NOBODY)
        return false;
    *victim = profile->rows[pair->victim].object;
    *evictor = profile->rows[pair->evictor].object;
    return true;
}

static uint64_t pair_cost(const struct plan *plan, const struct analyses_pair *pair)
{
    return pair->count * plan->costs.miss[pair->level];
}

static void advice_plan_weigh(struct plan *plan)
{
    const struct analyses_profile_result *profile = plan->in->profile;
    for (size_t i = 0; i < profile->pair_count; i++) {
        const struct analyses_pair *pair = &profile->pairs[i];
        uint32_t victim, evictor;
        if (!pair_objects(plan, pair, &victim, &evictor))
            continue;
        const uint64_t cost = pair_cost(plan, pair);
        plan->total += cost;
        plan->cost[victim] += cost;
        plan->cost[evictor] += evictor != victim ? cost : 0;
    }
}

static uint64_t cost_of_all_misses(const struct plan *plan)
{
    const struct analyses_profile_result *profile = plan->in->profile;
    uint64_t cost = 0;
    for (size_t i = 0; i < profile->object_count; i++) {
        for (uint32_t level = 0; level < profile->level_count; level++) {
            const struct analyses_tally *tally = &profile->objects[i].level[level];
            uint64_t misses = 0;
            for (unsigned class_ = 0; class_ < ANALYSES_CLASSES; class_++)
                misses += tally->reads[class_] + tally->writes[class_];
            cost += misses * plan->costs.miss[level];
        }
    }
    return cost;
}

static uint64_t advice_plan_share_of(uint64_t cost, uint64_t part) { return (cost + part - 1) / part; }

static int ascending(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The `room` objects of the highest weight that is `least` or more, ascending; of equals the first. */
static uint32_t advice_plan_choose(uint32_t *out, uint32_t room, const uint64_t *weight, uint64_t least, size_t count)
{
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (weight[i] < least || weight[i] == 0)
            continue;
        uint32_t at = chosen < room ? chosen++ : room;
        for (; at > 0 && weight[out[at - 1]] < weight[i]; at--) {
            if (at < room)
                out[at] = out[at - 1];
        }
        if (at < room)
            out[at] = i;
    }
    qsort(out, chosen, sizeof *out, ascending);
    return chosen;
}

/* Those that cannot be moved weigh nothing from here on, those that are wanted most. */
static void choose_objects(struct plan *plan)
{
    const size_t count = plan->in->profile->object_count;
    uint64_t *weight = plan->shared;
    const uint64_t of_conflicts = advice_plan_share_of(plan->total, SHARE),
                   of_misses = advice_plan_share_of(cost_of_all_misses(plan), MISS_SHARE);
    for (size_t i = 0; i < count; i++) {
        const bool wanted = plan->in->wanted && plan->in->wanted[i];
        weight[i] = !analyses_movable(object_at(plan, (uint32_t)i)) ? 0 : wanted ? UINT64_MAX : plan->cost[i];
    }
    plan->object_count = advice_plan_choose(plan->objects, ANALYSES_MOVED, weight,
                                            of_conflicts > of_misses ? of_conflicts : of_misses, count);
}

static bool is_chosen(const struct plan *plan, uint32_t object)
{
    return bsearch(&object, plan->objects, plan->object_count, sizeof object, ascending);
}

/* ------------------------------------------------------------------ changes */

static uint64_t common_multiple(uint64_t a, uint64_t b)
{
    uint64_t x = a, y = b;
    while (y != 0) {
        const uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return a / x * b;
}

/* Modulo which an object keeps its place. */
static uint64_t kept_modulus(const struct plan *plan)
{
    uint64_t modulus = C2_PAGE_BYTES;
    for (uint32_t i = 0; i < plan->in->machine->level_count; i++)
        if (!physical(plan, i))
            modulus = common_multiple(modulus, span_bytes(plan, i));
    return modulus;
}

static bool advice_plan_is_array(const struct plan *plan, uint32_t object)
{
    return object_at(plan, object)->blocks == 1;
}

static bool advice_plan_has_rows(const struct plan *plan, uint32_t object)
{
    const uint64_t row = !plan->in->rows ? 0 : plan->in->rows[object];
    return advice_plan_is_array(plan, object) && row != 0 && row <= object_at(plan, object)->bytes / 2;
}

static struct analyses_proposal *advice_plan_begin(struct plan *plan, unsigned means)
{
    struct analyses_proposal *proposal = &plan->out[plan->count];
    *proposal = (struct analyses_proposal){.means = means};
    return proposal;
}

static bool is_same_change(const struct analyses_change *a, const struct analyses_change *b)
{
    return a->object == b->object && a->row_bytes == b->row_bytes && a->pad_bytes == b->pad_bytes &&
           a->align == b->align && a->offset == b->offset;
}

static bool advice_plan_is_same(const struct analyses_proposal *a, const struct analyses_proposal *b)
{
    bool same = a->means == b->means && a->colors == b->colors && a->draw == b->draw &&
                a->change_count == b->change_count && a->room_bytes == b->room_bytes &&
                (a->room_bytes == 0 || a->level == b->level) && a->element_bytes == b->element_bytes &&
                a->walk == b->walk && memcmp(a->apart, b->apart, sizeof a->apart) == 0;
    for (uint32_t i = 0; i < a->change_count && same; i++)
        same = is_same_change(&a->changes[i], &b->changes[i]);
    return same;
}

/* A proposal for which there is room, and something to do; one that is there already serves its wishes too. */
static void advice_plan_end(struct plan *plan, const struct analyses_proposal *proposal)
{
    for (uint32_t i = 0; i < plan->count; i++) {
        if (!advice_plan_is_same(&plan->out[i], proposal))
            continue;
        plan->out[i].wishes |= proposal->wishes;
        return;
    }
    if (proposal->change_count != 0 || (proposal->means & STILL))
        plan->count++;
}

#define WORD_BYTES 8u   /* a node of a pool has a multiple of this */
#define BLOCK_UNIT 16u  /* the C library's: a block has a multiple of this, */
#define BLOCK_HEADER 8u /* and this much of it is not the program's */

/* Of one block of a site, with what the allocator needs. */
static uint64_t room_of_block(const struct analyses_object *object)
{
    return c2_align_up(object->bytes / object->blocks + BLOCK_HEADER, BLOCK_UNIT);
}

static bool full(const struct plan *plan) { return plan->count == ANALYSES_PROPOSALS; }

/* Moved, and stretched if asked for and known to have rows. */
static void advice_plan_add(const struct plan *plan, struct analyses_proposal *proposal, uint32_t object, bool stretch)
{
    const uint64_t modulus = kept_modulus(plan);
    struct analyses_change *change = &proposal->changes[proposal->change_count++];
    *change = (struct analyses_change){object, 0, 0, modulus, object_at(plan, object)->base % modulus};
    if (!stretch || !advice_plan_has_rows(plan, object))
        return;
    change->row_bytes = plan->in->rows[object];
    change->pad_bytes = plan->in->machine->line_bytes;
}

/* ------------------------------------------------------------------ cores */

static void propose_apart(struct plan *plan)
{
    const uint32_t before = plan->count;
    for (uint32_t i = 0; i < plan->in->padding_count && plan->count - before < PADDINGS && !full(plan); i++) {
        const struct analyses_padding *padding = &plan->in->paddings[i];
        const struct analyses_object *object = object_at(plan, padding->object);
        if (!analyses_movable(object) || object->blocks != 1 || padding->row_bytes > object->bytes / 2)
            continue;
        struct analyses_proposal *proposal = advice_plan_begin(plan, ANALYSES_PAD_ROWS);
        advice_plan_add(plan, proposal, padding->object, false);
        proposal->changes[0].row_bytes = padding->row_bytes;
        proposal->changes[0].pad_bytes = padding->pad_bytes;
        advice_plan_end(plan, proposal);
    }
}

/* ------------------------------------------------------------------ rows */

static void propose_rows(struct plan *plan)
{
    uint32_t rows[ANALYSES_MOVED], alone[ROWS_ALONE], row_count = 0;
    const size_t count = plan->in->profile->object_count;
    memset(plan->shared, 0, count * sizeof *plan->shared);
    for (uint32_t i = 0; i < plan->object_count; i++) {
        if (!advice_plan_has_rows(plan, plan->objects[i]))
            continue;
        rows[row_count++] = plan->objects[i];
        plan->shared[plan->objects[i]] = plan->cost[plan->objects[i]] + 1; /* one that is wanted may have none */
    }
    const uint32_t alone_count = advice_plan_choose(alone, ROWS_ALONE, plan->shared, 1, count);
    for (uint32_t i = 0; i < alone_count && !full(plan); i++) {
        struct analyses_proposal *proposal = advice_plan_begin(plan, ANALYSES_PAD_ROWS);
        advice_plan_add(plan, proposal, alone[i], true);
        advice_plan_end(plan, proposal);
    }
    if (row_count < 2 || full(plan))
        return;
    struct analyses_proposal *proposal = advice_plan_begin(plan, ANALYSES_PAD_ROWS);
    for (uint32_t i = 0; i < row_count; i++)
        advice_plan_add(plan, proposal, rows[i], true);
    advice_plan_end(plan, proposal);
}

/* ------------------------------------------------------------------ stagger */

static uint32_t advice_plan_root_of(const struct plan *plan, uint32_t object)
{
    while (plan->group[object] != object)
        object = plan->group[object];
    return object;
}

/* Joins the chosen arrays that evict each other at the level, and sums up what that costs each. */
static void advice_plan_join(struct plan *plan, uint32_t level)
{
    const struct analyses_profile_result *profile = plan->in->profile;
    memset(plan->shared, 0, profile->object_count * sizeof *plan->shared);
    for (uint32_t i = 0; i < profile->object_count; i++)
        plan->group[i] = i;
    for (size_t i = 0; i < profile->pair_count; i++) {
        uint32_t ends[2];
        const struct analyses_pair *pair = &profile->pairs[i];
        if (pair->level != level || !pair_objects(plan, pair, &ends[0], &ends[1]) || ends[0] == ends[1])
            continue;
        if (!is_chosen(plan, ends[0]) || !is_chosen(plan, ends[1]) || !advice_plan_is_array(plan, ends[0]) ||
            !advice_plan_is_array(plan, ends[1]))
            continue;
        const uint32_t roots[2] = {advice_plan_root_of(plan, ends[0]), advice_plan_root_of(plan, ends[1])};
        plan->group[roots[0] > roots[1] ? roots[0] : roots[1]] = roots[0] > roots[1] ? roots[1] : roots[0];
        plan->shared[ends[0]] += pair_cost(plan, pair);
        plan->shared[ends[1]] += pair_cost(plan, pair);
    }
}

/* Leaves the costs of the dearest group only; returns their sum. */
static uint64_t keep_dearest_group(struct plan *plan)
{
    uint64_t best_cost = 0;
    uint32_t best = 0;
    for (uint32_t i = 0; i < plan->object_count; i++) {
        uint64_t cost = 0;
        for (uint32_t k = 0; k < plan->object_count; k++)
            if (advice_plan_root_of(plan, plan->objects[k]) == plan->objects[i])
                cost += plan->shared[plan->objects[k]];
        if (cost > best_cost) {
            best_cost = cost;
            best = plan->objects[i];
        }
    }
    for (uint32_t i = 0; i < plan->object_count; i++)
        if (advice_plan_root_of(plan, plan->objects[i]) != best)
            plan->shared[plan->objects[i]] = 0;
    return best_cost;
}

static uint32_t advice_plan_sets_of(const struct plan *plan, uint32_t level)
{
    return caches_level_sets(plan->in->machine, &plan->in->machine->levels[level]);
}

/* Members start at even steps, modulo the span of the level's sets. */
static void stagger(const struct plan *plan, struct analyses_proposal *proposal, uint32_t level,
                    const uint32_t *members, uint32_t count)
{
    proposal->level = level;
    proposal->step_bytes = (uint64_t)plan->in->machine->line_bytes * (advice_plan_sets_of(plan, level) / count);
    for (uint32_t i = 0; i < count; i++)
        proposal->changes[i] = (struct analyses_change){
            .object = members[i], .align = span_bytes(plan, level), .offset = i * proposal->step_bytes};
    proposal->change_count = count;
}

/* Those of the dearest group that evicts each other at the level; 0: it is none, or not worth it. */
static uint32_t dearest_members(struct plan *plan, uint32_t level, uint32_t members[ANALYSES_MOVED])
{
    advice_plan_join(plan, level);
    const uint64_t cost = keep_dearest_group(plan);
    if (cost * SHARE < plan->total || cost == 0)
        return 0;
    const uint32_t count = advice_plan_choose(members, ANALYSES_MOVED, plan->shared,
                                              advice_plan_share_of(cost, MEMBER_SHARE),
                                              plan->in->profile->object_count);
    return count < 2 || count > advice_plan_sets_of(plan, level) ? 0 : count;
}

static void propose_stagger(struct plan *plan, uint32_t level, unsigned more_means)
{
    uint32_t members[ANALYSES_MOVED];
    const uint32_t count = full(plan) ? 0 : dearest_members(plan, level, members);
    if (count == 0)
        return;
    struct analyses_proposal *proposal = advice_plan_begin(plan, ANALYSES_STAGGER | more_means);
    stagger(plan, proposal, level, members, count);
    advice_plan_end(plan, proposal);
}

/* ------------------------------------------------------------------ blocks */

static void propose_blocks(struct plan *plan)
{
    const struct analyses_profile_result *profile = plan->in->profile;
    uint32_t sites[SITES];
    memset(plan->shared, 0, profile->object_count * sizeof *plan->shared);
    for (size_t i = 0; i < profile->pair_count; i++) {
        uint32_t victim, evictor;
        const struct analyses_pair *pair = &profile->pairs[i];
        if (pair->reason == ANALYSES_REASON_INTER && pair_objects(plan, pair, &victim, &evictor) && victim == evictor &&
            is_chosen(plan, victim) && !advice_plan_is_array(plan, victim))
            plan->shared[victim] += pair_cost(plan, pair);
    }
    const uint32_t count = advice_plan_choose(sites, SITES, plan->shared, advice_plan_share_of(plan->total, SHARE),
                                              profile->object_count);
    for (uint32_t i = 0; i < count && !full(plan); i++) {
        struct analyses_proposal *proposal = advice_plan_begin(plan, ANALYSES_PAD_BLOCKS);
        advice_plan_add(plan, proposal, sites[i], false);
        proposal->changes[0].row_bytes = room_of_block(object_at(plan, sites[i]));
        proposal->changes[0].pad_bytes = plan->in->machine->line_bytes;
        advice_plan_end(plan, proposal);
    }
}

/* ------------------------------------------------------------------ pages */

/* The physically indexed level whose conflicts cost most; level_count: none of them cost a hundredth of all. */
static uint32_t dearest_physical(const struct plan *plan)
{
    const struct analyses_profile_result *profile = plan->in->profile;
    uint64_t cost[CACHES_MAX_LEVELS] = {0};
    uint32_t best = profile->level_count, victim, evictor;
    for (size_t i = 0; i < profile->pair_count; i++)
        if (pair_objects(plan, &profile->pairs[i], &victim, &evictor) && physical(plan, profile->pairs[i].level))
            cost[profile->pairs[i].level] += pair_cost(plan, &profile->pairs[i]);
    for (uint32_t i = 0; i < profile->level_count; i++)
        if (cost[i] * SHARE >= plan->total && cost[i] != 0 && (best == profile->level_count || cost[i] > cost[best]))
            best = i;
    return best;
}

static void propose_huge(struct plan *plan, bool stretch)
{
    bool stretched = false;
    if (full(plan))
        return;
    struct analyses_proposal *proposal = advice_plan_begin(plan, ANALYSES_HUGE | (stretch ? ANALYSES_PAD_ROWS : 0));
    for (uint32_t i = 0; i < plan->object_count; i++) {
        if (!advice_plan_is_array(plan, plan->objects[i]) || object_at(plan, plan->objects[i])->kind == ANALYSES_STACK)
            continue; /* no program asks for pages of 2 MiB for a part of its stack */
        advice_plan_add(plan, proposal, plan->objects[i], stretch);
        stretched |= proposal->changes[proposal->change_count - 1].pad_bytes != 0;
    }
    if (stretched || !stretch)
        advice_plan_end(plan, proposal);
}

static void propose_colors(struct plan *plan, uint32_t level, uint64_t wishes)
{
    const uint64_t colors = span_bytes(plan, level) / C2_PAGE_BYTES;
    const enum mmu_placement placement = plan->in->placement->placement;
    if (full(plan) || colors < 2 || placement == MMU_COLORED || placement == MMU_IDENTITY)
        return;
    struct analyses_proposal *proposal = advice_plan_begin(plan, ANALYSES_COLORED);
    proposal->wishes = wishes;
    proposal->level = level;
    proposal->colors = (uint32_t)colors;
    advice_plan_end(plan, proposal);
}

static void propose_pages(struct plan *plan)
{
    const enum mmu_huge huge = plan->in->placement->huge;
    const uint32_t level = dearest_physical(plan);
    if (level == plan->in->profile->level_count)
        return;
    if (huge == MMU_HUGE_ASKED || huge == MMU_HUGE_HEAP) {
        propose_huge(plan, false);
        propose_huge(plan, true);
        propose_stagger(plan, level, ANALYSES_HUGE);
    }
    if (plan->object_count != 0)
        propose_colors(plan, level, 0);
}

/* ------------------------------------------------------------------ wishes */

/* Pages of 2 MiB are something that a program may ask for. */
static bool may_be_huge(const struct plan *plan, uint32_t object)
{
    const enum mmu_huge huge = plan->in->placement->huge;
    return (huge == MMU_HUGE_ASKED || huge == MMU_HUGE_HEAP) && object_at(plan, object)->kind != ANALYSES_STACK;
}

static bool advice_plan_has(const uint32_t *members, uint32_t count, uint32_t object)
{
    return count != 0 && bsearch(&object, members, count, sizeof object, ascending);
}

/* With all others of the group that the two are in, if they are in the dearest one. */
static void wish_starts(struct plan *plan, struct analyses_proposal *proposal, const struct analyses_wish *wish)
{
    uint32_t members[ANALYSES_MOVED];
    if (!analyses_movable(object_at(plan, wish->other)) || !advice_plan_is_array(plan, wish->object) ||
        !advice_plan_is_array(plan, wish->other) || advice_plan_sets_of(plan, wish->level) < 2)
        return;
    uint32_t count = dearest_members(plan, wish->level, members);
    if (!advice_plan_has(members, count, wish->object) || !advice_plan_has(members, count, wish->other)) {
        members[0] = wish->object < wish->other ? wish->object : wish->other;
        members[1] = wish->object < wish->other ? wish->other : wish->object;
        count = 2;
    }
    stagger(plan, proposal, wish->level, members, count);
    advice_plan_end(plan, proposal);
}

static void advice_plan_wish_rows(struct plan *plan, struct analyses_proposal *proposal,
                                  const struct analyses_wish *wish)
{
    struct analyses_change *change = &proposal->changes[0];
    advice_plan_add(plan, proposal, wish->object, true);
    if (wish->pad_bytes != 0 && advice_plan_is_array(plan, wish->object)) {
        change->row_bytes = wish->row_bytes;
        change->pad_bytes = wish->pad_bytes;
    }
    if (change->pad_bytes != 0 && change->row_bytes <= object_at(plan, wish->object)->bytes / 2)
        advice_plan_end(plan, proposal);
}

static void wish_place(struct plan *plan, struct analyses_proposal *proposal, const struct analyses_wish *wish)
{
    advice_plan_add(plan, proposal, wish->object, false);
    if (!advice_plan_is_array(plan, wish->object))
        proposal->changes[0].row_bytes = room_of_block(object_at(plan, wish->object));
    if (wish->means & ANALYSES_PAD_BLOCKS)
        proposal->changes[0].pad_bytes = plan->in->machine->line_bytes;
    advice_plan_end(plan, proposal);
}

uint64_t analyses_apart_bytes(const struct analyses_proposal *proposal)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < ANALYSES_ELEMENT; i++)
        count += proposal->apart[i / 8] >> i % 8 & 1;
    return count;
}

static void wish_elements(struct plan *plan, struct analyses_proposal *proposal, const struct analyses_wish *wish)
{
    if ((wish->means & ANALYSES_IN_ORDER) && !wish->walk->order)
        return;
    proposal->element_bytes = wish->element_bytes;
    proposal->walk = wish->walk;
    if (wish->apart)
        memcpy(proposal->apart, wish->apart, sizeof proposal->apart);
    advice_plan_add(plan, proposal, wish->object, false);
    if (!advice_plan_is_array(plan, wish->object))
        proposal->changes[0].row_bytes = c2_align_up(wish->element_bytes, WORD_BYTES);
    advice_plan_end(plan, proposal);
}

/* The level, larger by a power of two until it holds what is worked on beside what it has held. */
static void advice_plan_wish_room(struct plan *plan, const struct analyses_wish *wish)
{
    struct analyses_proposal *proposal = advice_plan_begin(plan, ANALYSES_ROOM);
    const uint64_t held = plan->in->machine->levels[wish->level].size_bytes;
    proposal->wishes = (uint64_t)1 << wish->number;
    proposal->level = wish->level;
    proposal->object = wish->object;
    proposal->room_bytes = held;
    while (proposal->room_bytes < wish->room_bytes + held)
        proposal->room_bytes *= 2;
    advice_plan_end(plan, proposal);
}

/* Where frames are drawn. */
static void wish_redrawn(struct plan *plan, const struct analyses_wish *wish)
{
    struct analyses_proposal *proposal = advice_plan_begin(plan, ANALYSES_REDRAWN);
    proposal->wishes = (uint64_t)1 << wish->number;
    proposal->draw = wish->draw;
    advice_plan_end(plan, proposal);
}

static void propose_wish(struct plan *plan, const struct analyses_wish *wish)
{
    if (plan->count == WISHED)
        return;
    if (wish->means == ANALYSES_COLORED) {
        propose_colors(plan, wish->level, (uint64_t)1 << wish->number);
        return;
    }
    if (wish->means == ANALYSES_ROOM) {
        advice_plan_wish_room(plan, wish);
        return;
    }
    if (wish->means == ANALYSES_REDRAWN) {
        wish_redrawn(plan, wish);
        return;
    }
    if (!analyses_movable(object_at(plan, wish->object)) ||
        ((wish->means & ANALYSES_HUGE) && !may_be_huge(plan, wish->object)))
        return;
    struct analyses_proposal *proposal = advice_plan_begin(plan, wish->means);
    proposal->wishes = (uint64_t)1 << wish->number;
    if (wish->means & ANALYSES_STAGGER)
        wish_starts(plan, proposal, wish);
    else if (wish->means & ANALYSES_PAD_ROWS)
        advice_plan_wish_rows(plan, proposal, wish);
    else if (wish->means & (ANALYSES_SPLIT | ANALYSES_IN_ORDER))
        wish_elements(plan, proposal, wish);
    else
        wish_place(plan, proposal, wish);
}

/* ------------------------------------------------------------------ all of it */

static enum c2_status advice_plan_prepare(struct plan *plan, const struct analyses_plan_input *input,
                                          struct c2_error *err)
{
    const size_t room = input->profile->object_count + 1;
    plan->in = input;
    plan->costs = caches_costs(input->machine);
    plan->cost = c2_calloc(2 * room, sizeof *plan->cost);
    plan->group = c2_alloc(room * sizeof *plan->group);
    if (!plan->cost || !plan->group)
        return c2_fail_memory(err, "the proposals");
    plan->shared = plan->cost + room;
    advice_plan_weigh(plan);
    choose_objects(plan);
    return C2_OK;
}

static void advice_plan_release(struct plan *plan)
{
    c2_free(plan->cost);
    c2_free(plan->group);
}

static void advice_plan_add_object(uint32_t out[ANALYSES_OBJECTS], uint32_t *count, const struct plan *plan,
                                   uint32_t object)
{
    for (uint32_t i = 0; i < *count; i++)
        if (out[i] == object)
            return;
    if (analyses_movable(object_at(plan, object)))
        out[(*count)++] = object;
}

enum c2_status analyses_plan_objects(uint32_t out[ANALYSES_OBJECTS], uint32_t *count,
                                     const struct analyses_plan_input *input, struct c2_error *err)
{
    struct plan plan = {.count = 0};
    enum c2_status status = advice_plan_prepare(&plan, input, err);
    *count = status == C2_OK ? plan.object_count : 0;
    memcpy(out, plan.objects, *count * sizeof *out);
    C2_ASSERT(input->wish_count <= ANALYSES_PROPOSALS);
    for (uint32_t i = 0; i < input->wish_count && status == C2_OK; i++) {
        if ((input->wishes[i].means & STILL) == 0)
            advice_plan_add_object(out, count, &plan, input->wishes[i].object);
        if (input->wishes[i].means & ANALYSES_STAGGER)
            advice_plan_add_object(out, count, &plan, input->wishes[i].other);
    }
    if (*count != 0)
        qsort(out, *count, sizeof *out, ascending);
    advice_plan_release(&plan);
    return status;
}

enum c2_status analyses_plan(struct analyses_proposal out[ANALYSES_PROPOSALS], uint32_t *count,
                             const struct analyses_plan_input *input, struct c2_error *err)
{
    struct plan plan = {.out = out};
    enum c2_status status = advice_plan_prepare(&plan, input, err);
    if (status == C2_OK) {
        for (uint32_t i = 0; i < input->wish_count; i++)
            propose_wish(&plan, &input->wishes[i]);
        propose_apart(&plan);
        propose_rows(&plan);
        for (uint32_t i = 0; i < input->machine->level_count; i++)
            if (!physical(&plan, i))
                propose_stagger(&plan, i, 0);
        propose_blocks(&plan);
        propose_pages(&plan);
    }
    *count = plan.count;
    advice_plan_release(&plan);
    return status;
}
