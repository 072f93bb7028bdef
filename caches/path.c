/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What follows a miss in the level asked first: the levels below are asked, the ones that missed are filled, and what
 * had to leave goes on its way down. The model card is in hierarchy.c.
 */
#include "caches/hierarchy_priv.h"

/* Where one access stands. */
struct walk {
    struct caches *caches;
    const struct cache_request *request;
    struct caches_outcome *outcome; /* or NULL */
    uint32_t served_by;
};

/* ------------------------------------------------------------------ down: victims */

static struct line_no line_of(const struct caches *caches, uint32_t slot)
{
    return (struct line_no){cache_lines_line(&caches->lines, slot)};
}

/* Takes the line from every level above `depth` and says how many had it; the victim is dirty if a copy was. */
static uint32_t invalidate_above(struct caches *caches, uint32_t depth, struct cache_victim *victim)
{
    uint32_t copies = 0;
    for (uint32_t i = 0; i < depth; i++)
        copies += cache_level_invalidate(&caches->level[i], victim->row, &victim->dirty);
    if (caches->machine.has_l1i)
        copies += cache_level_invalidate(&caches->l1i, victim->row, &victim->dirty);
    return copies;
}

static void seat(struct walk *walk, uint32_t depth, struct cache_level *level, struct cache_line line, uint32_t slot,
                 struct cache_state *row, bool dirty);

/* The victim of the level above becomes a line of this exclusive one. */
static __attribute__((noinline)) void insert(struct walk *walk, uint32_t depth, const struct cache_victim *victim)
{
    struct cache_level *level = &walk->caches->level[depth];
    struct cache_state *state = &victim->row[depth];
    struct cache_line line = {victim->virtual_line, line_of(walk->caches, victim->slot)};
    if (state->seat == 0)
        seat(walk, depth, level, line, victim->slot, victim->row, victim->dirty);
    else
        state->seat |= victim->dirty;
}

static inline void evict(struct walk *walk, uint32_t depth, struct cache_level *level, uint32_t way)
{
    struct caches *caches = walk->caches;
    struct cache_victim victim = cache_level_evict(level, way);
    if (walk->outcome) {
        walk->outcome->event[depth].evicted = true;
        walk->outcome->event[depth].victim = line_of(caches, victim.slot);
    }
    if (level->inclusive)
        level->counts.back_invalidations += invalidate_above(caches, depth, &victim);
    level->counts.writebacks += victim.dirty;
    if (depth + 1 < caches->level_count && caches->level[depth + 1].exclusive)
        insert(walk, depth + 1, &victim);
    else if (victim.dirty)
        cache_write_down(caches, depth + 1, victim.row);
}

/* Makes room for a line that the level does not have, and puts it there. */
static void seat(struct walk *walk, uint32_t depth, struct cache_level *level, struct cache_line line, uint32_t slot,
                 struct cache_state *row, bool dirty)
{
    uint32_t set = cache_level_set(level, cache_level_place(level, line));
    uint32_t way = cache_level_choose(level, set);
    if (C2_LIKELY(level->policy.way[way].line != 0))
        evict(walk, depth, level, way);
    cache_level_put(level, way, slot, row, line.virtual_line, dirty);
}

/* ------------------------------------------------------------------ up: fills */

/* The line leaves the exclusive level that served it; its dirtiness goes to the level filled first, but not into L1I.
 * */
static bool move_out(struct walk *walk)
{
    uint32_t depth = walk->served_by;
    struct cache_state *row = walk->request->row;
    struct cache_level *level = &walk->caches->level[depth];
    bool dirty = false;
    cache_level_invalidate(level, row, &dirty);
    uint32_t into = depth - 1;
    while (into > walk->request->entry && walk->caches->level[into].exclusive)
        into--;
    if (into > 0 || walk->request->side == CACHES_DATA || !dirty)
        return dirty;
    level->counts.writebacks++;
    cache_write_down(walk->caches, depth + 1, row);
    return false;
}

static void fill(struct walk *walk, struct cache_level *level, uint32_t depth, bool dirty)
{
    const struct cache_request *request = walk->request;
    if (C2_UNLIKELY(level->synonyms))
        cache_level_invalidate(level, request->row, &dirty); /* it missed, so what is there is a synonym */
    seat(walk, depth, level, request->line, request->slot, request->row, dirty);
}

/* dirty: what came from below is. */
static void fill_all(struct walk *walk, bool dirty)
{
    const struct cache_request *request = walk->request;
    for (uint32_t depth = walk->served_by - 1; depth > request->entry; depth--) {
        struct cache_level *level = &walk->caches->level[depth];
        if (level->exclusive)
            continue;
        fill(walk, level, depth, dirty);
        dirty = false;
    }
    fill(walk, request->first, request->entry, dirty || request->write);
}

/* ------------------------------------------------------------------ the whole of it */

/* The level that has the line: each one above it is asked and misses. */
static uint32_t find_server(struct caches *caches, const struct cache_request *request, struct caches_outcome *outcome)
{
    uint32_t depth = request->entry + 1;
    for (; depth < caches->level_count; depth++) {
        struct caches_event *event = outcome ? &outcome->event[depth] : NULL;
        if (outcome)
            outcome->depth++;
        if (cache_level_ask(&caches->level[depth], request, event) == CACHES_HIT)
            break;
    }
    if (outcome)
        outcome->served_by = depth;
    return depth;
}

/* The ways of the last level are the host's own cache misses, and what they name is the next one: the sooner the
 * better. */
static void prefetch_last(const struct caches *caches, struct cache_line line)
{
    const struct cache_level *last = &caches->level[caches->level_count - 1];
    uint32_t set = cache_level_set(last, cache_level_place(last, line));
    const struct cache_way *way = &last->policy.way[(size_t)set << last->policy.way_bits];
    __builtin_prefetch(way);
    __builtin_prefetch(way + 8);
}

void cache_path_miss(struct caches *caches, const struct cache_request *request, struct caches_outcome *outcome)
{
    C2_ASSERT(((request->line.virtual_line.v ^ request->line.physical_line.v) & caches->page_mask) == 0);
    C2_ASSERT(!(request->write && request->side == CACHES_FETCH));
    prefetch_last(caches, request->line);
    struct walk walk = {caches, request, outcome, find_server(caches, request, outcome)};
    bool dirty = false;
    if (walk.served_by < caches->level_count) {
        struct cache_level *server = &caches->level[walk.served_by];
        if (server->exclusive)
            dirty = move_out(&walk);
        else
            cache_policy_hit(&server->policy, cache_state_way(&request->row[walk.served_by]));
    }
    fill_all(&walk, dirty);
}
