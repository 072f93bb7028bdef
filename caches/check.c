/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The invariants of the whole hierarchy, and its dump. What they say is in the model card of hierarchy.c.
 */
#include "caches/coherence_priv.h"
#include "caches/contents_priv.h"
#include "caches/event_log_priv.h"

#include <inttypes.h>

static void check_counts(const struct caches_counts *n)
{
    C2_ASSERT(n->cold + n->capacity + n->conflict + n->coherence == n->misses);
    C2_ASSERT(n->fa_only_misses <= n->hits);
}

/* Each level is asked exactly when one above it missed or passed a store on, or a walk enters at it; programs ask at
 * two ports. */
static void check_flow(const struct caches *caches, const struct cache_level *level)
{
    uint64_t from_above = level->walked + level->stored;
    for (uint32_t i = 0; i < caches->node_count; i++)
        if (caches->level[i].next == level)
            from_above += cache_level_counts(caches, i)->misses;
    C2_ASSERT(level->depth == 0 ? from_above == 0 : level->counts.accesses == from_above);
}

static void check_level_counts(const struct caches *caches, const struct cache_level *level)
{
    check_counts(cache_level_counts(caches, level->level_index));
    C2_ASSERT(caches->coherence || level->counts.coherence == 0);
    check_flow(caches, level);
    if (level->clean)
        C2_ASSERT(level->counts.writes == 0 && level->counts.writebacks == 0);
}

/* Of one level. */
static void check_word(const struct cache_level *level, uint32_t slot)
{
    const uint32_t *word = cache_contents_find(level, slot);
    C2_ASSERT(!word || !(*word & CACHE_SETS_DIRTY) || (!level->clean && !level->through));
    C2_ASSERT(!word || !level->apart_from || !cache_contents_find(level->apart_from, slot));
    for (uint32_t i = 0; level->inclusive && !word && i < level->above_count; i++)
        C2_ASSERT(!cache_contents_find(level->above[i], slot));
}

bool cache_line_holds(const struct caches *caches, uint32_t slot)
{
    for (uint32_t i = 0; i < caches->node_count; i++)
        check_word(&caches->level[i], slot);
    return true;
}

void caches_check(const struct caches *caches)
{
    cache_lines_check(&caches->lines);
    for (uint32_t i = 0; i < caches->node_count; i++)
        check_level_counts(caches, &caches->level[i]);
    cache_classifier_check(caches->classifier);
    cache_contents_check(caches);
    for (uint32_t slot = 0; slot < caches->lines.groups << LINES_GROUP_SHIFT; slot++)
        cache_line_holds(caches, slot);
    for (uint32_t slot = 0; caches->coherence && slot < caches->coherence->room; slot++)
        if (slot < caches->lines.groups << LINES_GROUP_SHIFT)
            cache_coherence_holds(caches, slot);
    if (caches->prefetch)
        cache_prefetch_check(caches);
    if (caches->instructed)
        cache_instructed_check(caches);
}

/* How many things a check of all looks at: so many accesses may pass until the next. */
static uint64_t things(const struct caches *caches)
{
    uint64_t sum = (uint64_t)caches->lines.groups << LINES_GROUP_SHIFT;
    for (uint32_t i = 0; i < caches->node_count; i++)
        sum += (uint64_t)caches->level[i].policy.set_count << caches->level[i].policy.way_bits;
    return sum;
}

bool cache_access_holds(struct caches *caches, uint32_t slot)
{
    if (!cache_event_log_is_own(caches))
        return true; /* what is said of it is still to come */
    if (!caches->usual)
        cache_line_holds(caches, slot);
    if (caches->coherence)
        cache_coherence_holds(caches, slot);
    for (uint32_t i = 0; i < caches->node_count; i++)
        check_level_counts(caches, &caches->level[i]);
    if (++caches->calls < caches->check_at)
        return true;
    caches_check(caches);
    caches->check_at = caches->calls + things(caches);
    return true;
}

static void dump_level(const struct caches *caches, const struct cache_level *level, FILE *to)
{
    cache_level_counts(caches, level->level_index);
    const struct cache_shadow *shadow = &caches->classifier->level[level->level_index].shadow;
    cache_level_dump(level, to);
    fprintf(to, "  shadow: %" PRIu32 " of %" PRIu32 " lines\n", shadow->live, shadow->capacity);
#define X(field, help) fprintf(to, "  %-18s %20" PRIu64 "  %s\n", #field, level->counts.field, help);
    CACHES_COUNTERS(X)
    CACHES_STORE_COUNTERS(X)
#undef X
}

void caches_dump(const struct caches *caches, FILE *to)
{
    fprintf(to, "caches of %s: %" PRIu32 " lines of footprint in groups of %u\n", caches->machine.name,
            caches->lines.groups << LINES_GROUP_SHIFT, LINES_GROUP);
    for (uint32_t i = 0; i < caches->node_count; i++)
        dump_level(caches, &caches->level[i], to);
}
