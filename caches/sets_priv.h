/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The sets of a level with true LRU: the lines of a set side by side, the youngest first. The model card is in sets.c;
 * sets_simd.h does the same many places at a time.
 */
#ifndef C2_SETS_PRIV_H
#define C2_SETS_PRIV_H

#include <string.h>

#include "caches/caches_fast.h"

#define CACHE_SETS_NOTHING UINT32_MAX /* the word of a place that is none: it fills a set up to a multiple of four */
#define CACHE_SETS_DIRTY 1u

struct cache_sets {
    uint32_t *word;  /* [set * stride + place]: tag << 1 | dirty; 0: empty */
    uint32_t stride; /* places of a set: its ways, and those that are none */
    uint32_t ways, set_count;
    void *memory; /* what to free */
};

enum c2_status cache_sets_init(struct cache_sets *sets, uint32_t ways, uint32_t set_count, struct c2_error *err);
void cache_sets_end(struct cache_sets *sets);
void cache_sets_check(const struct cache_sets *sets);

static inline uint32_t cache_sets_stride(uint32_t ways) { return (ways + 3) & ~3u; }
static inline uint32_t *cache_sets_at(const struct cache_sets *sets, uint32_t set)
{
    return &sets->word[(size_t)set * sets->stride];
}

static inline uint32_t cache_sets_word(uint32_t tag, bool dirty) { return tag << 1 | dirty; }
static inline uint32_t cache_sets_tag(uint32_t word) { return word >> 1; }

/* A word that had to leave, as compact records have it: the tag, and above it whether it was dirty. */
static inline uint32_t cache_sets_left(uint32_t word)
{
    _Static_assert(CACHE_SETS_DIRTY == 1, "the lowest bit becomes the highest");
    return word >> 1 | word << 31;
}

/* The place of the tag in a set; `ways`: it is not there. */
static inline uint32_t cache_sets_find(const uint32_t *words, uint32_t tag, uint32_t ways)
{
    uint32_t place = 0;
    while (place < ways && cache_sets_tag(words[place]) != tag)
        place++;
    return place;
}

/* The word becomes the youngest, those before `place` one older; what was there is gone. */
static inline void cache_sets_front(uint32_t *words, uint32_t place, uint32_t word)
{
    memmove(words + 1, words, place * sizeof *words);
    words[0] = word;
}

/* Takes out what is in the place, and says what it was; the oldest place is empty then. */
static inline uint32_t cache_sets_take(uint32_t *words, uint32_t place, uint32_t ways)
{
    const uint32_t word = words[place];
    memmove(words + place, words + place + 1, (ways - place - 1) * sizeof *words);
    words[ways - 1] = 0;
    return word;
}

#endif
