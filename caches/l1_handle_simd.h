/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A first level as a part of a loop (caches_fast.h): its hits, by the instructions that the including file is compiled
 * for (CACHE_FORM). Levels of which caches_l1_handle_is() is true; set: the line modulo the sets; ways: a constant.
 */
#ifndef C2_FRONT_SIMD_H
#define C2_FRONT_SIMD_H

#include "caches/caches_fast.h"
#include "caches/sets_simd.h"

/* The words of a set, of all those of a handle; the first one is the youngest's. */
SETS_INLINE uint32_t *caches_l1_handle_words(uint32_t *word, uint64_t set, const uint32_t ways)
{
    return &word[set * cache_sets_stride(ways)];
}

/* The set has the line of the last access, which is the youngest there. */
SETS_INLINE void caches_l1_handle_at(struct caches_l1_handle *l1_handle, uint64_t set, const uint32_t ways)
{
    l1_handle->youngest = caches_l1_handle_words(l1_handle->word, set, ways);
}

/* The youngest line of the set of the last access; of none, if there was none, any place. */
SETS_INLINE uint32_t *caches_l1_handle_youngest(const struct caches_l1_handle *l1_handle)
{
    return l1_handle->youngest ? l1_handle->youngest : l1_handle->word;
}

/* So many hits. */
SETS_INLINE void caches_l1_handle_count(struct caches_l1_handle *l1_handle, uint64_t reads, uint64_t writes)
{
    l1_handle->hits[0] += reads;
    l1_handle->hits[1] += writes;
}

/* The set has the line: it is the youngest there. False: it does not, and nothing has changed. That it was a hit, and
 * whether it has written, is left to the caller. */
SETS_INLINE bool caches_l1_handle_hit(uint32_t *words, uint32_t slot, const uint32_t ways)
{
    return C2_LIKELY(sets_hit(words, slot + 1, 0, ways));
}

/* The set does not have the line: the second level has it, and the set takes it, for which *victim has to leave; then
 * what follows is l1_handle->wrote(), if that is dirty. False: the second level does not have it either, and nothing
 * has changed. That the first level has missed it and the second had it is left to the caller to count, and the record
 * to write. second_ways: of the second level, a constant as well, or any. */
SETS_INLINE bool caches_l1_handle_served(const struct caches_l1_handle *l1_handle, uint32_t *words, bool write,
                                         uint32_t slot, uint64_t line, const uint32_t ways, const uint32_t second_ways,
                                         uint32_t *victim)
{
    const struct caches_l1_handle *const second = l1_handle->second;
    C2_PROMISE(second->ways == second_ways);
    const uint32_t set = (uint32_t)line & second->set_mask;
    uint32_t *const below = &second->word[(size_t)set * cache_sets_stride(second_ways)];
    const uint32_t place = sets_find(below, slot + 1, second_ways);
    if (C2_UNLIKELY(place >= second_ways))
        return false;
    sets_youngest(below, place, second_ways);
    *victim = words[ways - 1];
    sets_front(words, ways - 1, cache_sets_word(slot + 1, write), ways);
    return true;
}

/* The record of that, two words. first, second: what the caller has to add to them. */
SETS_INLINE void caches_l1_handle_record(const struct caches_l1_handle *l1_handle, uint64_t *at, uint32_t slot,
                                         uint32_t victim, uint64_t first, uint64_t second)
{
    at[0] = l1_handle->missed + slot + first;
    at[1] = cache_sets_left(victim) + second;
}

/* So many misses that the second level has served. */
SETS_INLINE void caches_l1_handle_count_served(struct caches_l1_handle *l1_handle, uint64_t reads, uint64_t writes)
{
    l1_handle->misses[0] += reads;
    l1_handle->misses[1] += writes;
    l1_handle->second->hits[0] += reads;
    l1_handle->second->hits[1] += writes;
}

/* For C2_PROMISE: what was said of the last access. */
SETS_INLINE bool caches_l1_handle_last_holds(const struct caches_l1_handle *l1_handle)
{
    return caches_l1_handle_holds(l1_handle, cache_sets_tag(*l1_handle->youngest) - 1);
}

#endif
