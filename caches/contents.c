/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * contents: what the levels of a usual machine hold, access by access.
 *
 * Model
 *   The rules are those of hierarchy.c, for machines where every level has true LRU and is not exclusive, and where a
 *   line has one set in each level: so nothing moves up, there are no synonyms, and what a level has is in its sets and
 *   nowhere else. An access leaves a trail: the levels that missed, and who had to leave them. All else - shadows,
 *   classes, evictors, outcomes - is said from the trail (verdict.c), and changes nothing here.
 *
 * Counting
 *   Hits and misses by reads and writes, write-backs, back-invalidations. The rest of a level's counts is made of these
 *   and of the classes when it is asked for (cache_level_counts).
 *
 * Invariants (cache_contents_check)
 *   Those of hierarchy.c: an inclusive level has every line of the levels above, L1I has nothing dirty. A line is in
 *   the set that it belongs to.
 *
 * Not modelled
 *   See hierarchy.c. Other machines: path.c.
 */
#include "caches/contents_priv.h"

/* ------------------------------------------------------------------ life */

bool cache_contents_suit(const struct caches *caches)
{
    for (uint32_t i = 0; i < caches->node_count; i++) {
        const struct cache_level *level = &caches->level[i];
        if (level->policy.kind != CACHES_LRU || level->exclusive || level->synonyms || level->origin)
            return false;
    }
    return true;
}

enum c2_status cache_contents_init(struct caches *caches, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    cache_lines_pack(&caches->lines);
    for (uint32_t i = 0; i < caches->node_count && status == C2_OK; i++) {
        struct cache_level *level = &caches->level[i];
        level->shadow.at = level->column;
        level->plain = level->power_of_two && !level->hash;
        level->quick = level->plain && level->policy.way_bits == 3;
        status = cache_sets_init(&level->sets, level->policy.ways, level->policy.set_count, err);
    }
    return status;
}

void cache_contents_end(struct caches *caches)
{
    for (uint32_t i = 0; i < caches->node_count; i++)
        cache_sets_end(&caches->level[i].sets);
}

/* ------------------------------------------------------------------ victims */

static struct cache_line line_of(const struct cache_level *level, uint32_t tag)
{
    const struct line_no line = {cache_lines_line(level->lines, tag - 1)};
    return (struct cache_line){line, line}; /* without synonyms either name finds its set */
}

/* Dirty data that leaves a level stops at the first one below that has the line, or in memory. */
static void write_down(const struct cache_level *level, uint32_t tag, struct cache_line line)
{
    for (; level; level = level->next) {
        const uint32_t set = cache_contents_set(level, line);
        const uint64_t found = cache_sets_find(&level->sets, set, tag);
        level->sets.dirty[set] |= found;
        if (found)
            return;
    }
}

/* Takes the line out of every level above; says whether a copy was dirty, and adds who had one to *lost. */
static bool invalidate_above(struct cache_level *level, uint32_t tag, struct cache_line line, uint32_t *lost)
{
    bool dirty = false;
    for (uint32_t i = 0; i < level->above_count; i++) {
        struct cache_level *above = level->above[i];
        const uint32_t set = cache_contents_set(above, line);
        const uint64_t found = cache_sets_find(&above->sets, set, tag);
        if (C2_LIKELY(!found))
            continue;
        dirty |= cache_sets_empty(&above->sets, set, found);
        *lost |= 1u << above->column;
        level->counts.back_invalidations++;
    }
    return dirty;
}

static inline uint32_t evict(struct cache_level *level, uint32_t set, uint32_t way, uint32_t tag)
{
    uint32_t lost = 1u << level->column;
    bool dirty = level->sets.dirty[set] >> way & 1;
    if (!level->inclusive && !dirty)
        return lost;
    const struct cache_line line = line_of(level, tag);
    if (level->inclusive)
        dirty |= invalidate_above(level, tag, line, &lost);
    level->counts.writebacks += dirty;
    if (dirty)
        write_down(level->next, tag, line);
    return lost;
}

/* ------------------------------------------------------------------ an access that missed */

static inline __attribute__((always_inline)) void fill(struct cache_trail *trail, struct cache_level *level, bool dirty)
{
    struct cache_passed *at = &trail->at[level->depth];
    const uint32_t set = at->set, way = cache_sets_oldest(&level->sets, set);
    const uint32_t victim = level->sets.tag[cache_sets_index(&level->sets, set, way)];
    at->victim = victim;
    if (C2_LIKELY(victim != 0))
        at->lost = evict(level, set, way, victim);
    cache_sets_put(&level->sets, set, way, trail->slot + 1, dirty);
}

/* A level is asked: the bit of its way that has the line; 0: it misses, and is to be filled. */
static inline uint64_t ask(struct cache_trail *trail, struct cache_level *level, bool write, struct cache_line line)
{
    const uint32_t set = cache_contents_set(level, line);
    const uint64_t found = cache_sets_find(&level->sets, set, trail->slot + 1);
    trail->at[level->depth].set = set;
    if (found) {
        cache_sets_touch(&level->sets, set, found);
        level->hits[write]++;
    } else {
        level->misses[write]++;
    }
    return found;
}

/* This level has missed as well. Levels are asked down to the one that has the line, and those that missed are filled
 * from there up. */
static __attribute__((noinline)) void further(struct cache_trail *trail, struct cache_level *level, bool write,
                                              struct cache_line line)
{
    struct cache_level *missed[CACHES_MAX_LEVELS] = {trail->first};
    uint32_t count = 1;
    do {
        missed[count++] = level;
        level = level->next;
    } while (level && !ask(trail, level, write, line));
    trail->missed = count;
    while (count-- > 0)
        fill(trail, missed[count], write && count == 0);
}

void cache_contents_miss(struct caches *caches, struct cache_level *first, bool write, uint32_t slot,
                         struct cache_line line)
{
    struct cache_trail *trail = &caches->trail;
    struct cache_level *second = first->next;
    C2_ASSERT(!(write && first->clean));
    trail->first = first;
    trail->slot = slot;
    trail->missed = 1;
    trail->at[first->depth].set = cache_contents_set(first, line);
    first->misses[write]++;
    if (second && !ask(trail, second, write, line))
        further(trail, second, write, line);
    else /* what is served by the second level is most of what the first one misses */
        fill(trail, first, write);
}

void cache_contents_dirty(struct caches *caches, uint32_t slot)
{
    struct cache_level *first = caches->port[CACHE_PORT_DATA];
    const uint32_t set = cache_contents_set(first, line_of(first, slot + 1));
    const uint64_t found = cache_sets_find(&first->sets, set, slot + 1);
    C2_ASSERT(found);
    first->sets.dirty[set] |= found;
}

/* ------------------------------------------------------------------ invariants */

static bool has(const struct cache_level *level, uint32_t tag)
{
    return cache_sets_find(&level->sets, cache_contents_set(level, line_of(level, tag)), tag) != 0;
}

static void check_line(const struct cache_level *level, uint32_t set, uint32_t way, uint32_t tag)
{
    C2_ASSERT(cache_contents_set(level, line_of(level, tag)) == set);
    C2_ASSERT(!level->clean || !(level->sets.dirty[set] >> way & 1));
    for (const struct cache_level *below = level->next; below; below = below->next)
        C2_ASSERT(!below->inclusive || has(below, tag));
}

void cache_contents_check(const struct caches *caches)
{
    for (uint32_t i = 0; i < caches->node_count; i++) {
        const struct cache_level *level = &caches->level[i];
        cache_sets_check(&level->sets);
        cache_shadow_check(&level->shadow);
        for (uint32_t set = 0; set < level->sets.set_count; set++)
            for (uint32_t way = 0; way < level->sets.ways; way++) {
                const uint32_t tag = level->sets.tag[cache_sets_index(&level->sets, set, way)];
                if (tag != 0)
                    check_line(level, set, way, tag);
            }
    }
}
