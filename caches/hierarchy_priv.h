/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The hierarchy as its files share it. The model card is in hierarchy.c.
 */
#ifndef C2_HIERARCHY_PRIV_H
#define C2_HIERARCHY_PRIV_H

#include "caches/level_priv.h"

struct caches {
    struct cache_level *first[2];    /* by enum caches_side; first[CACHES_FETCH] is NULL without L1I */
    struct { struct cache_set *set; uint32_t way; } last[2]; /* where each side's last access ended */
    uint32_t level_count;
    uint64_t page_mask;              /* index bits in which the two names of a line must agree */
    struct cache_level level[CACHES_MAX_LEVELS];
    struct cache_level l1i;
    struct caches_machine machine;
    struct cache_lines lines;
};

struct cache_request {
    enum caches_side side;
    bool write;
    struct cache_line line;
    uint32_t slot;
};

/* Level i of the way that a side's accesses take. */
static inline struct cache_level *cache_on_path(struct caches *caches, enum caches_side side, uint32_t i)
{
    return i == 0 ? caches->first[side] : &caches->level[i];
}

/* The rest of an access that missed the first level, which has counted it. place: of the line in the first level.
 * outcome->event[0] is filled but for the eviction. path.c */
void cache_path_miss(struct caches *caches, const struct cache_request *request, struct cache_place place,
                     struct caches_outcome *outcome);

/* One level is asked: shadow and counts. Returns the way, or CACHE_NO_WAY; *class_ says what it was. */
static inline uint32_t cache_level_ask(struct cache_level *level, const struct cache_set *set, bool write,
                                       struct line_no physical_line, uint32_t slot, enum caches_class *class_)
{
    uint32_t way = cache_level_find(level, set, physical_line);
    enum caches_class missed_as = cache_shadow_touch(&level->shadow, slot);
    struct caches_counts *counts = &level->counts;
    counts->accesses++;
    counts->reads += !write;
    counts->writes += write;
    if (C2_LIKELY(way != CACHE_NO_WAY)) {
        counts->hits++;
        if (C2_UNLIKELY(missed_as != CACHES_CONFLICT)) {
            counts->fa_misses++;
            counts->fa_only_misses++;
        }
        *class_ = CACHES_HIT;
        return way;
    }
    counts->misses++;
    counts->read_misses += !write;
    counts->write_misses += write;
    counts->cold += missed_as == CACHES_COLD;
    counts->capacity += missed_as == CACHES_CAPACITY;
    counts->conflict += missed_as == CACHES_CONFLICT;
    counts->fa_misses += missed_as != CACHES_CONFLICT;
    *class_ = missed_as;
    return CACHE_NO_WAY;
}

#endif
