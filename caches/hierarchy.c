/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The hierarchy: the levels of one core, put together. This file has the life of it and the way of a first-level hit;
 * path.c has what follows a miss.
 *
 * Model
 *   A data access enters at level 0 (L1D), a fetch at L1I; from level 1 on both share the levels.
 *   Asking    The levels are asked from the nearest down until one has the line: a level so asked is accessed. A hit
 *             is told to the level's policy. Memory, number level_count, always has the line.
 *   Filling   The levels that missed are filled from the lowest up to the first, the exclusive ones left out. A fill
 *             takes an empty way before it evicts.
 *   Writing   Write-allocate, write-back: a write dirties the line in level 0 only.
 *   Evicting  The victim of an inclusive level is first taken from every level above (both L1s); a dirty copy makes the
 *             victim dirty. Then, dirty or clean, it is inserted into the next level if
 *             that is exclusive; else, if dirty, it is written down: the next level that has it becomes dirty there
 *             and nothing else changes, neither order nor contents; if none has it, memory takes it.
 *   Exclusive A hit takes the line out, and it goes up to the nearest level above that is not exclusive itself, which
 *             gets its dirtiness; the policy sees no hit. An insertion is a fill, and no access; if the line is there
 *             already it only becomes dirty if the victim was, and no order changes. L1I holds nothing dirty: when a
 *             fetch takes a dirty line out of an exclusive level and would put it into L1I alone, the line is written
 *             down from that level first.
 *   Classes   Every level has a fully associative shadow that sees the accesses of the level and nothing else: no
 *             insertion, no write-back, no invalidation. A miss is cold when the level was never asked for the line
 *             before, a conflict when the shadow has the line, else it is one of capacity.
 *
 * Counting
 *   accesses, hits, misses and the rest of a level count its being asked; a fetch is a read.
 *   writebacks counts at the level that a dirty victim leaves, once, wherever the data goes: into an exclusive level as
 *   well. back_invalidations counts each copy taken at the inclusive level that took it; that a copy was dirty counts
 *   once, as the inclusive level's write-back.
 *
 * Invariants (check.c)
 *   hits + misses = accesses = reads + writes; cold + capacity + conflict + coherence = misses; fa_misses - fa_only_misses
 *   = cold + capacity; an inclusive level has every line of the levels above; L1I holds nothing dirty.
 *
 * Not modelled
 *   Time; other cores, so coherence stays 0; what a write does to a copy of its line in L1I.
 */
#include "caches/hierarchy_priv.h"

static bool virtual_exclusive_below(const struct caches_machine *machine, uint32_t depth)
{
    for (uint32_t i = depth + 1; i < machine->level_count; i++)
        if (machine->levels[i].index == CACHES_VIRTUAL && machine->levels[i].inclusion == CACHES_EXCLUSIVE)
            return true;
    return false;
}

static enum c2_status init_level(struct caches *caches, struct cache_level *level, const struct caches_level *config,
                                 uint32_t depth, uint32_t column, uint64_t seed, struct c2_error *err)
{
    const struct caches_machine *machine = &caches->machine;
    if (config->index == CACHES_VIRTUAL && machine->line_bytes < C2_PAGE_BYTES)
        caches->page_mask = C2_PAGE_BYTES / machine->line_bytes - 1;
    return cache_level_init(level, machine, config, &caches->lines, column, virtual_exclusive_below(machine, depth),
                            seed, err);
}

static enum c2_status init_levels(struct caches *caches, uint64_t seed, struct c2_error *err)
{
    const struct caches_machine *machine = &caches->machine;
    caches->level_count = machine->level_count;
    caches->last[CACHES_DATA] = LINES_NO_SLOT;
    caches->first[CACHES_DATA] = &caches->level[0];
    caches->first[CACHES_FETCH] = machine->has_l1i ? &caches->l1i : NULL;
    uint32_t columns = machine->level_count + machine->has_l1i;
    enum c2_status status = cache_lines_init(&caches->lines, columns, err);
    for (uint32_t i = 0; i < machine->level_count && status == C2_OK; i++)
        status = init_level(caches, &caches->level[i], &machine->levels[i], i, i, seed, err);
    if (status == C2_OK && machine->has_l1i)
        status = init_level(caches, &caches->l1i, &machine->l1i, 0, machine->level_count, seed, err);
    return status;
}

enum c2_status caches_create(struct caches **out, const struct caches_machine *machine, uint64_t seed,
                             struct c2_error *err)
{
    *out = NULL;
    C2_ASSERT(c2_is_power_of_two(machine->line_bytes));
    C2_ASSERT(machine->level_count >= 1 && machine->level_count <= CACHES_MAX_LEVELS);
    C2_ASSERT(machine->levels[0].inclusion == CACHES_NON_INCLUSIVE);
    C2_ASSERT(!machine->has_l1i || machine->l1i.inclusion == CACHES_NON_INCLUSIVE);
    struct caches *caches = c2_calloc(1, sizeof *caches);
    if (!caches)
        return c2_fail_memory(err, "the caches");
    caches->machine = *machine;
    enum c2_status status = init_levels(caches, seed, err);
    if (status != C2_OK) {
        caches_destroy(caches);
        return status;
    }
    *out = caches;
    return C2_OK;
}

void caches_destroy(struct caches *caches)
{
    if (!caches)
        return;
    for (uint32_t i = 0; i < CACHES_MAX_LEVELS; i++)
        cache_level_end(&caches->level[i]);
    cache_level_end(&caches->l1i);
    cache_lines_end(&caches->lines);
    c2_free(caches);
}

/* ------------------------------------------------------------------ access */

/* Any access, at its full length. Kept out of the short way, which would otherwise pay for its registers. */
static __attribute__((noinline)) enum c2_status access_any(struct caches *caches, enum caches_side side, bool write,
                                                           struct cache_line line, uint32_t slot,
                                                           struct caches_outcome *outcome, struct c2_error *err)
{
    struct cache_level *first = caches->first[side];
    if (slot == LINES_NO_SLOT && (slot = cache_lines_slot(&caches->lines, line.physical_line.v)) == LINES_NO_SLOT)
        return c2_fail_memory(err, "the table of lines accessed");
    const struct cache_request request = { side, write, line, slot };
    if (outcome)
        *outcome = (struct caches_outcome){ .depth = 1 };
    caches->last[side] = slot;
    if (cache_level_ask(first, &request, outcome ? &outcome->event[0] : NULL) != CACHES_HIT) {
        cache_path_miss(caches, &request, outcome);
        return C2_OK;
    }
    struct cache_state *state = cache_level_state(first, slot);
    cache_policy_hit(&first->policy, cache_state_way(state));
    state->seat |= write;
    return C2_OK;
}

/* The common case: a hit in a first level with LRU and without synonyms, of a line that its shadow has, and nobody wants
 * the outcome. What access_any() would do for it, without a call and without a jump that cannot
 * be predicted; nothing is changed before all of it is known. */
static inline bool short_hit(struct caches *caches, struct cache_level *first, bool write, uint32_t slot)
{
    struct cache_policy *policy = &first->policy;
    struct cache_shadow *shadow = &first->shadow;
    struct cache_state *state = cache_lines_state(&caches->lines, slot, first->column);
    uint32_t seat = state->seat, clock = shadow->clock, age = policy->clock;
    if (seat == 0 || state->stamp < shadow->horizon || clock >= shadow->stop || age == CACHE_AGE_LIMIT)
        return false;
    state->stamp = clock;
    shadow->clock = clock + 1;
    state->seat = seat | write;
    policy->way[seat >> 1].age = policy->clock = age + 1;
    cache_count_hit(&first->counts, write);
    return true;
}

enum c2_status caches_access(struct caches *caches, enum caches_side side, bool write, struct line_no virtual_line,
                             struct line_no physical_line, struct caches_outcome *outcome, struct c2_error *err)
{
    struct cache_level *first = caches->first[side];
    C2_ASSERT(first);
    uint32_t slot = cache_lines_slot_recent(&caches->lines, physical_line.v);
    if (SHORTCUT(slot != LINES_NO_SLOT && !outcome && first->short_hits) && short_hit(caches, first, write, slot)) {
        caches->last[side] = slot;
        return C2_OK;
    }
    return access_any(caches, side, write, (struct cache_line){ virtual_line, physical_line }, slot, outcome, err);
}

/* The policy is told once: no policy changes at a second hit of the way touched last. The shadow needs no word, the
 * line is its youngest. */
void caches_repeat(struct caches *caches, bool write, uint64_t n)
{
    struct cache_level *first = &caches->level[0];
    if (n == 0)
        return;
    C2_ASSERT(caches->last[CACHES_DATA] != LINES_NO_SLOT);
    struct cache_state *state = cache_level_state(first, caches->last[CACHES_DATA]);
    C2_ASSERT(state->seat != 0);
    first->counts.accesses += n;
    first->counts.hits += n;
    first->counts.reads += write ? 0 : n;
    first->counts.writes += write ? n : 0;
    cache_policy_hit(&first->policy, cache_state_way(state));
    state->seat |= write;
}

enum c2_status caches_walk(struct caches *caches, struct line_no physical_line, uint32_t *served_by,
                           struct c2_error *err)
{
    struct caches_outcome outcome;
    enum c2_status status = caches_access(caches, CACHES_DATA, false, physical_line, physical_line, &outcome, err);
    *served_by = outcome.served_by;
    return status;
}

/* ------------------------------------------------------------------ getters */

const struct caches_counts *caches_level_counts(const struct caches *caches, uint32_t level)
{
    C2_ASSERT(level < caches->level_count);
    return &caches->level[level].counts;
}

const struct caches_counts *caches_l1i_counts(const struct caches *caches)
{
    C2_ASSERT(caches->machine.has_l1i);
    return &caches->l1i.counts;
}

const struct caches_machine *caches_machine(const struct caches *caches)
{
    return &caches->machine;
}
