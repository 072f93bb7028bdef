/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * An access of a usual machine in two stages: contents.c, what the levels hold, and verdict.c, what is said of it.
 */
#ifndef C2_CONTENTS_PRIV_H
#define C2_CONTENTS_PRIV_H

#include "caches/hierarchy_priv.h"

/* Whether the machine is a usual one: every level has true LRU, takes what it misses, and knows a line in one set. Its
 * accesses may take contents.c instead of path.c: no count and no content is another. */
bool cache_contents_suit(const struct caches *caches);
enum c2_status cache_contents_init(struct caches *caches, struct c2_error *err);
void cache_contents_end(struct caches *caches);

/* The rest of an access that its first level did not have. It leaves caches->trail. */
void cache_contents_miss(struct caches *caches, struct cache_level *first, bool write, uint32_t slot,
                         struct cache_line line);
/* Dirties a line where a data access was just made. */
void cache_contents_dirty(struct caches *caches, uint32_t slot);

/* The shadows, classes and evictors of the access that left caches->trail. outcome: may be NULL. */
void cache_verdict_miss(struct caches *caches, struct caches_outcome *outcome);

void cache_contents_check(const struct caches *caches);

/* The set of a line, through all slices, from 0. */
static inline uint32_t cache_contents_set(const struct cache_level *level, struct cache_line line)
{
    const uint64_t index = level->virtual_index ? line.virtual_line.v : line.physical_line.v;
    if (C2_LIKELY(level->plain))
        return (uint32_t)index & (level->set_count - 1);
    const struct cache_place place = cache_level_place(level, line);
    return place.slice * level->set_count + place.number;
}

static inline void cache_verdict_hit(const struct cache_lines *lines, struct cache_level *level, uint32_t slot)
{
    uint32_t *stamp = cache_lines_stamp(lines, slot, level->shadow.at);
    if (C2_UNLIKELY(cache_shadow_touch(&level->shadow, stamp, slot) != CACHES_CONFLICT))
        level->counts.fa_only_misses++;
}

/* A level has the line: its contents. */
static inline void cache_contents_hit(struct cache_level *level, uint32_t set, uint64_t found, bool write)
{
    if (write)
        level->sets.dirty[set] |= found;
    cache_sets_touch(&level->sets, set, found);
    level->hits[write]++;
}

#endif
