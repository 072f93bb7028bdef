/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What follows a miss in the first level: the levels below are asked, the ones that missed are filled, and what had to
 * leave goes on its way down. The model card is in hierarchy.c.
 */
#include "caches/hierarchy_priv.h"

/* Where one access stands. */
struct walk {
    struct caches *caches;
    const struct cache_request *request;
    struct caches_outcome *outcome; /* or NULL */
    struct cache_place place[CACHES_MAX_LEVELS]; /* of the line, in each level asked */
    uint32_t served_by;
};

/* ------------------------------------------------------------------ down: victims */

static void descend(struct walk *walk, struct cache_level *from, uint32_t depth, const struct cache_victim *victim);

/* Takes the line from every level above `depth`; true: a copy was dirty. */
static bool invalidate_above(struct caches *caches, uint32_t depth, struct line_no physical_line, uint64_t *copies)
{
    bool dirty = false;
    for (uint32_t i = 0; i < depth; i++)
        *copies += cache_level_invalidate(&caches->level[i], physical_line, &dirty);
    if (caches->machine.has_l1i)
        *copies += cache_level_invalidate(&caches->l1i, physical_line, &dirty);
    return dirty;
}

static void note_eviction(struct walk *walk, uint32_t depth, const struct cache_victim *victim)
{
    if (!walk->outcome)
        return;
    walk->outcome->event[depth].evicted = true;
    walk->outcome->event[depth].victim = victim->line.physical_line;
}

/* Empties a way of a full set and sends its line down. */
static uint32_t evict(struct walk *walk, struct cache_level *level, uint32_t depth, struct cache_set *set)
{
    uint32_t way = cache_policy_victim(&level->policy, set);
    struct cache_victim victim = cache_level_take(level, set, way);
    note_eviction(walk, depth, &victim);
    if (level->inclusive)
        victim.dirty |= invalidate_above(walk->caches, depth, victim.line.physical_line,
                                         &level->counts.back_invalidations);
    descend(walk, level, depth, &victim);
    return way;
}

static uint32_t empty_way(struct walk *walk, struct cache_level *level, uint32_t depth, struct cache_set *set)
{
    uint64_t empty = ~set->valid & level->policy.all;
    return empty ? (uint32_t)__builtin_ctzll(empty) : evict(walk, level, depth, set);
}

/* The victim of the level above becomes a line of this exclusive one. */
static void insert(struct walk *walk, uint32_t depth, const struct cache_victim *victim)
{
    struct cache_level *level = &walk->caches->level[depth];
    struct cache_set *set = cache_level_place(level, victim->line).set;
    uint32_t way = cache_level_find(level, set, victim->line.physical_line);
    if (way == CACHE_NO_WAY)
        cache_level_put(level, set, empty_way(walk, level, depth, set), &victim->line, victim->dirty);
    else
        set->dirty |= (uint64_t)victim->dirty << way;
}

/* Dirty data stops at the first level that has the line, or in memory. */
static void write_down(struct caches *caches, uint32_t depth, const struct cache_line *line)
{
    for (uint32_t i = depth; i < caches->level_count; i++) {
        struct cache_level *level = &caches->level[i];
        struct cache_set *set = cache_level_place(level, *line).set;
        uint32_t way = cache_level_find(level, set, line->physical_line);
        if (way == CACHE_NO_WAY)
            continue;
        set->dirty |= (uint64_t)1 << way;
        return;
    }
}

static void descend(struct walk *walk, struct cache_level *from, uint32_t depth, const struct cache_victim *victim)
{
    from->counts.writebacks += victim->dirty;
    if (depth + 1 < walk->caches->level_count && walk->caches->level[depth + 1].exclusive)
        insert(walk, depth + 1, victim);
    else if (victim->dirty)
        write_down(walk->caches, depth + 1, &victim->line);
}

/* ------------------------------------------------------------------ up: fills */

/* The line leaves the exclusive level that served it; its dirtiness goes to the level filled first, but not into L1I. */
static bool move_out(struct walk *walk, uint32_t way)
{
    uint32_t depth = walk->served_by;
    struct cache_level *level = &walk->caches->level[depth];
    struct cache_victim moved = cache_level_take(level, walk->place[depth].set, way);
    cache_policy_forget(&level->policy, walk->place[depth].set, way);
    uint32_t into = depth - 1;
    while (into > 0 && walk->caches->level[into].exclusive)
        into--;
    if (into > 0 || walk->request->side == CACHES_DATA || !moved.dirty)
        return moved.dirty;
    level->counts.writebacks++;
    write_down(walk->caches, depth + 1, &moved.line);
    return false;
}

static void fill_first(struct walk *walk, bool dirty)
{
    const struct cache_request *request = walk->request;
    struct cache_level *level = walk->caches->first[request->side];
    struct cache_set *set = walk->place[0].set;
    uint32_t way = empty_way(walk, level, 0, set);
    cache_level_put(level, set, way, &request->line, dirty || request->write);
    walk->caches->last[request->side].set = set;
    walk->caches->last[request->side].way = way;
}

/* dirty: what came from below is. */
static void fill(struct walk *walk, bool dirty)
{
    for (uint32_t depth = walk->served_by - 1; depth > 0; depth--) {
        struct cache_level *level = &walk->caches->level[depth];
        struct cache_set *set = walk->place[depth].set;
        if (level->exclusive)
            continue;
        cache_level_put(level, set, empty_way(walk, level, depth, set), &walk->request->line, dirty);
        dirty = false;
    }
    fill_first(walk, dirty);
}

/* ------------------------------------------------------------------ the whole of it */

/* Asks one level below the first; the way that has the line or CACHE_NO_WAY. */
static uint32_t ask(struct walk *walk, uint32_t depth)
{
    const struct cache_request *request = walk->request;
    struct cache_level *level = &walk->caches->level[depth];
    struct cache_place *place = &walk->place[depth];
    enum caches_class class_;
    *place = cache_level_place(level, request->line);
    uint32_t way = cache_level_ask(level, place->set, request->write, request->line.physical_line, request->slot,
                                   &class_);
    if (walk->outcome) {
        struct caches_event *event = &walk->outcome->event[depth];
        event->class_ = class_;
        event->set = place->number;
        event->slice = place->slice;
    }
    return way;
}

void cache_path_miss(struct caches *caches, const struct cache_request *request, struct cache_place place,
                     struct caches_outcome *outcome)
{
    struct walk walk = { .caches = caches, .request = request, .outcome = outcome };
    const struct cache_line *line = &request->line;
    C2_ASSERT(((line->virtual_line.v ^ line->physical_line.v) & caches->page_mask) == 0);
    C2_ASSERT(!(request->write && request->side == CACHES_FETCH));
    walk.place[0] = place;
    uint32_t way = CACHE_NO_WAY, depth = 1;
    while (depth < caches->level_count && (way = ask(&walk, depth)) == CACHE_NO_WAY)
        depth++;
    walk.served_by = depth;
    if (outcome) {
        outcome->served_by = depth;
        outcome->depth = way == CACHE_NO_WAY ? depth : depth + 1;
    }
    bool dirty = false;
    if (way != CACHE_NO_WAY && caches->level[depth].exclusive)
        dirty = move_out(&walk, way);
    else if (way != CACHE_NO_WAY)
        cache_policy_hit(&caches->level[depth].policy, walk.place[depth].set, way);
    fill(&walk, dirty);
}
