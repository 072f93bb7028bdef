/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The sets of a level with true LRU: tags, ages and dirty bits, the ways of a set side by side. The model card is in
 * sets.c.
 */
#ifndef C2_SETS_PRIV_H
#define C2_SETS_PRIV_H

#include <emmintrin.h>

#include "caches/caches.h"

#define CACHE_SETS_NOTHING UINT32_MAX /* the tag of a way that is none: it fills a set up to a multiple of four */
#define CACHE_SETS_AGE_LIMIT ((uint32_t)INT32_MAX - 1)

struct cache_sets {
    uint32_t *tag;     /* [set << way_bits | way]: who is there; 0: empty */
    uint32_t *age;     /* likewise: younger is higher; 0 when empty */
    uint64_t *dirty;   /* [set]: bit w: way w */
    uint32_t clock;    /* the youngest age given out */
    uint32_t quads;    /* ways of a set by four, rounded up */
    unsigned way_bits; /* at least 2 */
    uint32_t ways, set_count;
};

enum c2_status cache_sets_init(struct cache_sets *sets, uint32_t ways, uint32_t set_count, struct c2_error *err);
void cache_sets_end(struct cache_sets *sets);
/* The ages become small numbers in the same order; called when the clock is at its end. */
void cache_sets_renumber(struct cache_sets *sets);
void cache_sets_check(const struct cache_sets *sets);

static inline uint64_t cache_sets_equal(const __m128i *ways, __m128i wanted, uint32_t quads)
{
    uint64_t equal = 0;
    for (uint32_t i = 0; i < quads; i++)
        equal |= (uint64_t)_mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(ways[i], wanted))) << 4 * i;
    return equal;
}

static inline __m128i cache_sets_lesser(__m128i a, __m128i b)
{
    const __m128i b_is = _mm_cmpgt_epi32(a, b);
    return _mm_or_si128(_mm_and_si128(b_is, b), _mm_andnot_si128(b_is, a));
}

static inline __m128i cache_sets_least(const __m128i *ways, uint32_t quads)
{
    __m128i least = ways[0];
    for (uint32_t i = 1; i < quads; i++)
        least = cache_sets_lesser(least, ways[i]);
    least = cache_sets_lesser(least, _mm_shuffle_epi32(least, _MM_SHUFFLE(1, 0, 3, 2)));
    return cache_sets_lesser(least, _mm_shuffle_epi32(least, _MM_SHUFFLE(2, 3, 0, 1)));
}

static inline size_t cache_sets_index(const struct cache_sets *sets, uint32_t set, uint32_t way)
{
    return ((size_t)set << sets->way_bits) + way;
}

static inline const __m128i *cache_sets_at(const struct cache_sets *sets, const uint32_t *ways, uint32_t set)
{
    return (const __m128i *)(ways + cache_sets_index(sets, set, 0));
}

/* The bit of the way that has the tag, 0: none has. Eight ways are what most levels have. */
static inline uint64_t cache_sets_find(const struct cache_sets *sets, uint32_t set, uint32_t tag)
{
    const __m128i wanted = _mm_set1_epi32((int)tag), *tags = cache_sets_at(sets, sets->tag, set);
    if (C2_LIKELY(sets->quads == 2))
        return cache_sets_equal(tags, wanted, 2);
    return cache_sets_equal(tags, wanted, sets->quads);
}

static inline uint32_t cache_sets_oldest_of(const __m128i *ages, uint32_t quads)
{
    return (uint32_t)__builtin_ctzll(cache_sets_equal(ages, cache_sets_least(ages, quads), quads));
}

/* The way that the next line of the set goes to: the lowest empty one, else the one touched longest ago. */
static inline uint32_t cache_sets_oldest(const struct cache_sets *sets, uint32_t set)
{
    const __m128i *ages = cache_sets_at(sets, sets->age, set);
    if (C2_LIKELY(sets->quads == 2))
        return cache_sets_oldest_of(ages, 2);
    return cache_sets_oldest_of(ages, sets->quads);
}

static inline void cache_sets_youngest(struct cache_sets *sets, size_t at)
{
    if (C2_UNLIKELY(sets->clock == CACHE_SETS_AGE_LIMIT))
        cache_sets_renumber(sets);
    sets->age[at] = ++sets->clock;
}

/* found: the bit of one way. */
static inline void cache_sets_touch(struct cache_sets *sets, uint32_t set, uint64_t found)
{
    cache_sets_youngest(sets, cache_sets_index(sets, set, (uint32_t)__builtin_ctzll(found)));
}

static inline void cache_sets_put(struct cache_sets *sets, uint32_t set, uint32_t way, uint32_t tag, bool dirty)
{
    const size_t at = cache_sets_index(sets, set, way);
    sets->tag[at] = tag;
    sets->dirty[set] = (sets->dirty[set] & ~((uint64_t)1 << way)) | (uint64_t)dirty << way;
    cache_sets_youngest(sets, at);
}

/* Empties the way of this bit, and says whether it was dirty. */
static inline bool cache_sets_empty(struct cache_sets *sets, uint32_t set, uint64_t found)
{
    const size_t at = cache_sets_index(sets, set, (uint32_t)__builtin_ctzll(found));
    const bool dirty = (sets->dirty[set] & found) != 0;
    sets->tag[at] = sets->age[at] = 0;
    sets->dirty[set] &= ~found;
    return dirty;
}

#endif
