/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The invariants of the whole hierarchy, and its dump. What they say is in the model card of hierarchy.c.
 */
#include "caches/hierarchy_priv.h"

#include <inttypes.h>

static void check_counts(const struct caches_counts *n)
{
    C2_ASSERT(n->hits + n->misses == n->accesses);
    C2_ASSERT(n->reads + n->writes == n->accesses);
    C2_ASSERT(n->read_misses + n->write_misses == n->misses);
    C2_ASSERT(n->read_misses <= n->reads && n->write_misses <= n->writes);
    C2_ASSERT(n->cold + n->capacity + n->conflict + n->coherence == n->misses);
    C2_ASSERT(n->coherence == 0);
    C2_ASSERT(n->fa_misses - n->fa_only_misses == n->cold + n->capacity);
}

static bool is_port(const struct caches *caches, const struct cache_level *level)
{
    return level == caches->port[CACHE_PORT_DATA] || level == caches->port[CACHE_PORT_FETCH];
}

/* Each level is asked exactly when one above it missed, or a walk enters at it; programs ask at two ports. */
static void check_flow(const struct caches *caches, const struct cache_level *level)
{
    uint64_t from_above = level == caches->port[CACHE_PORT_WALK] ? caches->walks_below : 0;
    for (uint32_t i = 0; i < caches->node_count; i++)
        if (caches->level[i].next == level)
            from_above += caches->level[i].counts.misses;
    C2_ASSERT(is_port(caches, level) ? from_above == 0 : level->counts.accesses == from_above);
}

static void check_contained(const struct cache_level *upper, const struct cache_level *lower)
{
    for (uint32_t slot = 0; slot < upper->lines->groups << LINES_GROUP_SHIFT; slot++)
        C2_ASSERT(cache_level_state(upper, slot)->seat == 0 || cache_level_state(lower, slot)->seat != 0);
}

static void check_inclusion(const struct cache_level *level)
{
    for (uint32_t i = 0; level->inclusive && i < level->above_count; i++)
        check_contained(level->above[i], level);
}

static void check_clean(const struct cache_level *level)
{
    for (uint32_t slot = 0; slot < level->lines->groups << LINES_GROUP_SHIFT; slot++)
        C2_ASSERT((cache_level_state(level, slot)->seat & 1) == 0);
    C2_ASSERT(level->counts.writes == 0 && level->counts.writebacks == 0);
}

void caches_check(const struct caches *caches)
{
    cache_lines_check(&caches->lines);
    for (uint32_t i = 0; i < caches->node_count; i++) {
        const struct cache_level *level = &caches->level[i];
        cache_level_check(level);
        check_counts(&level->counts);
        check_inclusion(level);
        check_flow(caches, level);
        if (level->clean)
            check_clean(level);
    }
}

static void dump_level(const struct cache_level *level, FILE *to)
{
    cache_level_dump(level, to);
#define X(field, help) fprintf(to, "  %-18s %20" PRIu64 "  %s\n", #field, level->counts.field, help);
    CACHES_COUNTERS(X)
#undef X
#define X(field, help) \
    if (level->fifo) \
        fprintf(to, "  %-18s %20" PRIu64 "  %s\n", #field, level->fifo->counts.field, help);
    CACHES_FIFO_COUNTERS(X)
#undef X
}

void caches_dump(const struct caches *caches, FILE *to)
{
    fprintf(to, "caches of %s: %" PRIu32 " lines of footprint in groups of %u\n", caches->machine.name,
            caches->lines.groups << LINES_GROUP_SHIFT, LINES_GROUP);
    for (uint32_t i = 0; i < caches->node_count; i++)
        dump_level(&caches->level[i], to);
}
