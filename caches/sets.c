/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The sets of a level with true LRU.
 *
 * Model
 *   A set is a list of the lines that it has, the one touched last first: a line is its tag, which is its slot + 1, and
 *   a dirty bit. A touch moves a line to the front, those before it one place on; the victim is the last. Empty places
 *   are behind all lines, so the last place is empty as long as any is, and a line that is taken out leaves none
 *   between others.
 *
 * Representation
 *   A line is a word of 32 bits. The words of a set lie side by side and in order, so that nothing else is needed: to
 *   look for a line is a compare, to move one to the front a shift of those before it, both of many words at once
 *   (sets_simd.h), and the oldest needs no search. Places that fill a set up to a multiple of four have a word that no
 *   line has. Sets of 16 and 32 bytes do not cross lines of the host.
 *
 * Invariants (cache_sets_check)
 *   No tag is twice in a set; no line is behind an empty place; an empty place is not dirty.
 *
 * Not modelled
 *   Other policies: policy.c.
 */
#include "caches/sets_priv.h"

#define HOST_LINE 64u

enum c2_status cache_sets_init(struct cache_sets *sets, uint32_t ways, uint32_t set_count, struct c2_error *err)
{
    C2_ASSERT(ways >= 1 && ways <= CACHES_MAX_WAYS);
    *sets = (struct cache_sets){.stride = cache_sets_stride(ways), .ways = ways, .set_count = set_count};
    const size_t words = (size_t)set_count * sets->stride;
    sets->memory = c2_calloc(words + HOST_LINE / sizeof *sets->word, sizeof *sets->word);
    if (!sets->memory)
        return c2_fail_memory(err, "the sets of a cache");
    sets->word = (uint32_t *)c2_align_up((uintptr_t)sets->memory, HOST_LINE);
    for (uint32_t set = 0; set < set_count; set++)
        for (uint32_t place = ways; place < sets->stride; place++)
            cache_sets_at(sets, set)[place] = CACHE_SETS_NOTHING;
    return C2_OK;
}

void cache_sets_end(struct cache_sets *sets) { c2_free(sets->memory); }

static void check_set(const struct cache_sets *sets, const uint32_t *words)
{
    for (uint32_t place = 0; place < sets->ways; place++) {
        C2_ASSERT(words[place] != CACHE_SETS_DIRTY);
        C2_ASSERT(place == 0 || words[place] == 0 || words[place - 1] != 0);
        for (uint32_t other = 0; other < place; other++)
            C2_ASSERT(words[place] == 0 || cache_sets_tag(words[place]) != cache_sets_tag(words[other]));
    }
    for (uint32_t place = sets->ways; place < sets->stride; place++)
        C2_ASSERT(words[place] == CACHE_SETS_NOTHING);
}

void cache_sets_check(const struct cache_sets *sets)
{
    for (uint32_t set = 0; set < sets->set_count; set++)
        check_set(sets, cache_sets_at(sets, set));
}
