/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The sets of a level with true LRU.
 *
 * Model
 *   A way has a tag, which is the line's slot + 1, an age and a dirty bit. A touch gives the way the next number of the
 *   level's clock as its age: a store, no order is moved. An empty way has age 0, and so is the oldest; of several the
 *   lowest is taken.
 *
 * Representation
 *   The tags of a set lie side by side and so do its ages, so that four ways are looked at at once: to look for a line
 *   is a compare for four ways, to find the oldest a minimum. A set begins at a power of two. Ways that fill a set up
 *   to a multiple of four have a tag that no line has and the highest age. Ages are compared as signed numbers, as SSE2
 *   compares no others: they stay below 2^31, where the ages of a set become their ranks.
 *
 * Invariants (cache_sets_check)
 *   A way is empty if and only if its age is 0, and then it is not dirty; no tag and no age but 0 is twice in a set; no
 *   age is above the clock.
 *
 * Not modelled
 *   Other policies: policy.c.
 */
#include "caches/sets_priv.h"

#include <string.h>

enum c2_status cache_sets_init(struct cache_sets *sets, uint32_t ways, uint32_t set_count, struct c2_error *err)
{
    C2_ASSERT(ways >= 1 && ways <= CACHES_MAX_WAYS);
    *sets = (struct cache_sets){.quads = (ways + 3) / 4, .ways = ways, .set_count = set_count};
    sets->way_bits = ways > 4 ? c2_log2(ways - 1) + 1 : 2;
    const size_t count = cache_sets_index(sets, set_count, 0);
    sets->tag = c2_calloc(count, sizeof *sets->tag);
    sets->age = c2_calloc(count, sizeof *sets->age);
    sets->dirty = c2_calloc(set_count, sizeof *sets->dirty);
    if (!sets->tag || !sets->age || !sets->dirty)
        return c2_fail_memory(err, "the sets of a cache");
    for (uint32_t set = 0; set < set_count; set++)
        for (uint32_t way = ways; way < 4 * sets->quads; way++) {
            sets->tag[cache_sets_index(sets, set, way)] = CACHE_SETS_NOTHING;
            sets->age[cache_sets_index(sets, set, way)] = INT32_MAX;
        }
    return C2_OK;
}

void cache_sets_end(struct cache_sets *sets)
{
    c2_free(sets->tag);
    c2_free(sets->age);
    c2_free(sets->dirty);
}

static void rank(uint32_t *age, uint32_t ways)
{
    uint32_t ranks[CACHES_MAX_WAYS];
    for (uint32_t way = 0; way < ways; way++) {
        ranks[way] = age[way] != 0;
        for (uint32_t other = 0; other < ways; other++)
            ranks[way] += age[other] != 0 && age[other] < age[way];
    }
    memcpy(age, ranks, ways * sizeof *age);
}

void cache_sets_renumber(struct cache_sets *sets)
{
    for (uint32_t set = 0; set < sets->set_count; set++)
        rank(&sets->age[cache_sets_index(sets, set, 0)], sets->ways);
    sets->clock = sets->ways;
}

static void check_way(const struct cache_sets *sets, uint32_t set, uint32_t way)
{
    const uint32_t *tag = &sets->tag[cache_sets_index(sets, set, 0)], *age = &sets->age[cache_sets_index(sets, set, 0)];
    C2_ASSERT((tag[way] == 0) == (age[way] == 0) && age[way] <= sets->clock);
    C2_ASSERT(tag[way] != 0 || !(sets->dirty[set] >> way & 1));
    for (uint32_t other = 0; other < way; other++)
        C2_ASSERT(tag[way] == 0 || (tag[way] != tag[other] && age[way] != age[other]));
}

void cache_sets_check(const struct cache_sets *sets)
{
    for (uint32_t set = 0; set < sets->set_count; set++) {
        C2_ASSERT((sets->dirty[set] & ~c2_mask(0, sets->ways - 1)) == 0);
        for (uint32_t way = 0; way < sets->ways; way++)
            check_way(sets, set, way);
        for (uint32_t way = sets->ways; way < 4 * sets->quads; way++)
            C2_ASSERT(sets->tag[cache_sets_index(sets, set, way)] == CACHE_SETS_NOTHING &&
                      sets->age[cache_sets_index(sets, set, way)] == INT32_MAX);
    }
}
