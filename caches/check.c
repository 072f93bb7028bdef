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

/* Each level is asked exactly when the ones before it missed, or a walk enters at it. */
static void check_flow(const struct caches *caches)
{
    for (uint32_t i = 1; i < caches->level_count; i++) {
        uint64_t from_above = caches->level[i - 1].counts.misses;
        if (i == 1 && caches->machine.has_l1i)
            from_above += caches->l1i.counts.misses;
        if (i == caches->machine.walks_from)
            from_above += caches->walks_below;
        C2_ASSERT(caches->level[i].counts.accesses == from_above);
    }
}

static void check_contained(const struct cache_level *upper, const struct cache_level *lower)
{
    for (uint32_t slot = 0; slot < upper->lines->groups << LINES_GROUP_SHIFT; slot++)
        C2_ASSERT(cache_level_state(upper, slot)->seat == 0 || cache_level_state(lower, slot)->seat != 0);
}

static void check_inclusion(const struct caches *caches, uint32_t lower)
{
    if (!caches->level[lower].inclusive)
        return;
    for (uint32_t i = 0; i < lower; i++)
        check_contained(&caches->level[i], &caches->level[lower]);
    if (caches->machine.has_l1i)
        check_contained(&caches->l1i, &caches->level[lower]);
}

static void check_l1i_clean(const struct cache_level *l1i)
{
    for (uint32_t slot = 0; slot < l1i->lines->groups << LINES_GROUP_SHIFT; slot++)
        C2_ASSERT((cache_level_state(l1i, slot)->seat & 1) == 0);
    C2_ASSERT(l1i->counts.writes == 0 && l1i->counts.writebacks == 0);
}

void caches_check(const struct caches *caches)
{
    cache_lines_check(&caches->lines);
    for (uint32_t i = 0; i < caches->level_count; i++) {
        cache_level_check(&caches->level[i]);
        check_counts(&caches->level[i].counts);
        check_inclusion(caches, i);
    }
    if (caches->machine.has_l1i) {
        cache_level_check(&caches->l1i);
        check_counts(&caches->l1i.counts);
        check_l1i_clean(&caches->l1i);
    }
    check_flow(caches);
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
    if (caches->machine.has_l1i)
        dump_level(&caches->l1i, to);
    for (uint32_t i = 0; i < caches->level_count; i++)
        dump_level(&caches->level[i], to);
}
