/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * sets_priv.h's find and front, four or eight places at a time, by the instructions that the including file is compiled
 * for: CACHE_FORM is its name, and none other than these are used. Included where it is, once.
 */
#ifndef C2_SETS_SIMD_H
#define C2_SETS_SIMD_H

#include <immintrin.h>

#include "caches/sets_priv.h"

#ifndef CACHE_FORM
#define CACHE_FORM CACHE_FORM_SCALAR
#endif

#define SETS_INLINE static inline __attribute__((always_inline))

/* Like cache_sets_find(), cache_sets_front(); ways: known where the function that this becomes a part of is compiled,
 * or not. The words of a set are those of whole quads. */
#if CACHE_FORM == CACHE_FORM_SCALAR

SETS_INLINE uint32_t sets_find(const uint32_t *words, uint32_t tag, uint32_t ways)
{
    return cache_sets_find(words, tag, ways);
}

SETS_INLINE void sets_front(uint32_t *words, uint32_t place, uint32_t word, uint32_t ways)
{
    (void)ways;
    cache_sets_front(words, place, word);
}

SETS_INLINE void sets_youngest(uint32_t *words, uint32_t place, uint32_t ways)
{
    sets_front(words, place, words[place], ways);
}

#else

#define QUAD(words, i) ((__m128i *)(void *)((words) + 4 * (i)))

SETS_INLINE __m128i tags_quad(const uint32_t *words) { return _mm_srli_epi32(_mm_loadu_si128(QUAD(words, 0)), 1); }

#if CACHE_FORM == CACHE_FORM_SSE2

SETS_INLINE uint64_t find_bits(const uint32_t *words, uint32_t tag, uint32_t ways)
{
    const __m128i wanted = _mm_set1_epi32((int)tag);
    uint64_t bits = 0;
#pragma GCC unroll 5
    for (uint32_t i = 0; i < cache_sets_stride(ways) / 4; i++) {
        const __m128i equal = _mm_cmpeq_epi32(tags_quad(words + 4 * i), wanted);
        bits |= (uint64_t)_mm_movemask_ps(_mm_castsi128_ps(equal)) << 4 * i;
    }
    return bits;
}

SETS_INLINE void sets_front(uint32_t *words, uint32_t place, uint32_t word, uint32_t ways)
{
    const __m128i behind = _mm_set1_epi32((int)place + 1);
    __m128i before = _mm_set1_epi32((int)word), at = _mm_set_epi32(3, 2, 1, 0);
#pragma GCC unroll 5
    for (uint32_t i = 0; i < cache_sets_stride(ways) / 4; i++) {
        const __m128i old = _mm_loadu_si128(QUAD(words, i)), moved = _mm_cmpgt_epi32(behind, at);
        const __m128i to = _mm_or_si128(_mm_slli_si128(old, 4), _mm_srli_si128(before, 12));
        _mm_storeu_si128(QUAD(words, i), _mm_or_si128(_mm_and_si128(moved, to), _mm_andnot_si128(moved, old)));
        before = old;
        at = _mm_add_epi32(at, _mm_set1_epi32(4));
    }
}

#else

#define OCT(words, i) ((__m256i *)(void *)((words) + 8 * (i)))

SETS_INLINE __m256i tags_oct(const uint32_t *words) { return _mm256_srli_epi32(_mm256_loadu_si256(OCT(words, 0)), 1); }

#if CACHE_FORM == CACHE_FORM_AVX2

SETS_INLINE uint32_t find_oct(const uint32_t *words, __m256i wanted)
{
    const __m256i equal = _mm256_cmpeq_epi32(tags_oct(words), wanted);
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(equal));
}

SETS_INLINE uint32_t find_quad(const uint32_t *words, __m128i wanted)
{
    const __m128i equal = _mm_cmpeq_epi32(tags_quad(words), wanted);
    return (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(equal));
}

/* What is before the first eight words when this one comes to the front. */
SETS_INLINE __m256i young_oct(uint32_t word) { return _mm256_castsi128_si256(_mm_cvtsi32_si128((int)word)); }

/* All bits of the places up to `place`, of eight from `first` on. */
SETS_INLINE __m256i moved_oct(uint32_t place, uint32_t first)
{
#define YES8 -1, -1, -1, -1, -1, -1, -1, -1
    static const int32_t behind[2 * CACHES_MAX_WAYS + 8] = {YES8, YES8, YES8, YES8, YES8, YES8, YES8, YES8};
#undef YES8
    const __m256i at = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    _Static_assert(CACHES_MAX_WAYS == 64, "so many are not behind");
    if (__builtin_constant_p(place))
        return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)place + 1 - (int)first), at);
    return _mm256_loadu_si256((const __m256i *)(const void *)&behind[CACHES_MAX_WAYS - 1 - place + first]);
}

/* Eight words from place `first` on; *before: the word before them is its first one, and becomes theirs. */
SETS_INLINE void front_oct(uint32_t *words, uint32_t place, uint32_t first, __m256i *before)
{
    const __m256i old = _mm256_loadu_si256(OCT(words, 0)), moved = moved_oct(place, first);
    const __m256i turned = _mm256_permutevar8x32_epi32(old, _mm256_set_epi32(6, 5, 4, 3, 2, 1, 0, 7));
    const __m256i to = _mm256_blend_epi32(turned, *before, 1);
    _mm256_storeu_si256(OCT(words, 0), _mm256_blendv_epi8(old, to, moved));
    *before = turned;
}

SETS_INLINE void front_quad(uint32_t *words, uint32_t place, uint32_t first, __m256i before)
{
    const __m128i old = _mm_loadu_si128(QUAD(words, 0)), turned = _mm_shuffle_epi32(old, _MM_SHUFFLE(2, 1, 0, 3));
    const __m128i moved = _mm256_castsi256_si128(moved_oct(place, first));
    const __m128i to = _mm_blend_epi32(turned, _mm256_castsi256_si128(before), 1);
    _mm_storeu_si128(QUAD(words, 0), _mm_blendv_epi8(old, to, moved));
}

#elif CACHE_FORM == CACHE_FORM_AVX512

SETS_INLINE uint32_t find_oct(const uint32_t *words, __m256i wanted)
{
    return _mm256_cmpeq_epi32_mask(tags_oct(words), wanted);
}

SETS_INLINE uint32_t find_quad(const uint32_t *words, __m128i wanted)
{
    return _mm_cmpeq_epi32_mask(tags_quad(words), wanted);
}

SETS_INLINE __m256i young_oct(uint32_t word) { return _mm256_set1_epi32((int)word); }

/* The bits of the places up to `place` of those from `first` on. */
SETS_INLINE uint32_t bits_to(uint32_t place, uint32_t first)
{
    return (uint32_t)((((uint64_t)2 << place) - 1) >> first);
}

/* *before: the word before them is its last one, and becomes theirs. */
SETS_INLINE void front_oct(uint32_t *words, uint32_t place, uint32_t first, __m256i *before)
{
    const __m256i old = _mm256_loadu_si256(OCT(words, 0));
    const __mmask8 moved = (__mmask8)bits_to(place, first);
    _mm256_storeu_si256(OCT(words, 0), _mm256_mask_alignr_epi32(old, moved, old, *before, 7));
    *before = old;
}

SETS_INLINE void front_quad(uint32_t *words, uint32_t place, uint32_t first, __m256i before)
{
    const __m128i old = _mm_loadu_si128(QUAD(words, 0));
    const __mmask8 moved = (__mmask8)bits_to(place, first);
    _mm_storeu_si128(QUAD(words, 0), _mm_mask_alignr_epi32(old, moved, old, _mm256_extracti128_si256(before, 1), 3));
}

#endif

SETS_INLINE uint64_t find_bits(const uint32_t *words, uint32_t tag, uint32_t ways)
{
    const __m256i wanted = _mm256_set1_epi32((int)tag);
    const uint32_t places = cache_sets_stride(ways);
    uint64_t bits = 0;
    uint32_t first = 0;
#pragma GCC unroll 8
    for (; first + 8 <= places; first += 8)
        bits |= (uint64_t)find_oct(words + first, wanted) << first;
    if (first < places)
        bits |= (uint64_t)find_quad(words + first, _mm256_castsi256_si128(wanted)) << first;
    return bits;
}

SETS_INLINE void sets_front(uint32_t *words, uint32_t place, uint32_t word, uint32_t ways)
{
    __m256i before = young_oct(word);
    const uint32_t places = cache_sets_stride(ways);
    uint32_t first = 0;
#pragma GCC unroll 8
    for (; first + 8 <= places; first += 8)
        front_oct(words + first, place, first, &before);
    if (first < places)
        front_quad(words + first, place, first, before);
}

#endif

#if CACHE_FORM >= CACHE_FORM_AVX2

/* Where each of eight words comes from, when that at the place becomes the youngest; bit: of the place. (The table has
 * gaps: so a search, which comes to a bit, need not make a number of it.) */
SETS_INLINE __m256i order_of(uint32_t bit)
{
    static const uint8_t order[1 << 7 | 1][8] = {
        [1 << 0] = {0, 1, 2, 3, 4, 5, 6, 7}, [1 << 1] = {1, 0, 2, 3, 4, 5, 6, 7}, [1 << 2] = {2, 0, 1, 3, 4, 5, 6, 7},
        [1 << 3] = {3, 0, 1, 2, 4, 5, 6, 7}, [1 << 4] = {4, 0, 1, 2, 3, 5, 6, 7}, [1 << 5] = {5, 0, 1, 2, 3, 4, 6, 7},
        [1 << 6] = {6, 0, 1, 2, 3, 4, 5, 7}, [1 << 7] = {7, 0, 1, 2, 3, 4, 5, 6}};
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)order[bit]));
}

SETS_INLINE __m128i order_of_four(uint32_t place)
{
    static const uint32_t order[4][4]
        __attribute__((aligned(16))) = {{0, 1, 2, 3}, {1, 0, 2, 3}, {2, 0, 1, 3}, {3, 0, 1, 2}};
    return _mm_load_si128((const __m128i *)(const void *)order[place]);
}

#endif

/* The word at the place becomes the youngest. Of eight ways that is one of eight orders, of four one of four. */
SETS_INLINE void sets_youngest(uint32_t *words, uint32_t place, uint32_t ways)
{
#if CACHE_FORM >= CACHE_FORM_AVX2
    if (ways == 8) {
        const __m256i old = _mm256_loadu_si256(OCT(words, 0));
        _mm256_storeu_si256(OCT(words, 0), _mm256_permutevar8x32_epi32(old, order_of(1u << place)));
        return;
    }
    if (ways == 4) {
        const __m128 old = _mm_castsi128_ps(_mm_loadu_si128(QUAD(words, 0)));
        _mm_storeu_si128(QUAD(words, 0), _mm_castps_si128(_mm_permutevar_ps(old, order_of_four(place))));
        return;
    }
#endif
    sets_front(words, place, words[place], ways);
}

/* As cache_sets_find(), but what it says of a tag that is not there is any number from `ways` on. */
SETS_INLINE uint32_t sets_find(const uint32_t *words, uint32_t tag, uint32_t ways)
{
    const uint64_t bits = find_bits(words, tag, ways);
    const uint32_t place = bits ? (uint32_t)__builtin_ctzll(bits) : ways;
    if (bits && cache_sets_stride(ways) == ways && place >= ways)
        __builtin_unreachable(); /* there are no places but ways */
    return place;
}

#endif

/* An access of the tag; false: it is not there, and nothing has changed. Else it is the youngest now. */
#if CACHE_FORM >= CACHE_FORM_AVX2

SETS_INLINE bool sets_hit_oct(uint32_t *words, uint32_t tag, uint32_t write)
{
    const __m256i old = _mm256_loadu_si256(OCT(words, 0)), wanted = _mm256_set1_epi32((int)tag);
    const __m256i equal = _mm256_cmpeq_epi32(_mm256_srli_epi32(old, 1), wanted);
    const uint32_t bits = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(equal));
    if (C2_UNLIKELY(bits == 0))
        return false;
    const __m256i moved = _mm256_permutevar8x32_epi32(old, order_of(bits));
    const __m256i dirty = _mm256_setr_epi32((int)write, 0, 0, 0, 0, 0, 0, 0); /* of the first word */
    _mm256_storeu_si256(OCT(words, 0), _mm256_or_si256(moved, dirty));
    return true;
}

#endif

SETS_INLINE bool sets_hit(uint32_t *words, uint32_t tag, uint32_t write, uint32_t ways)
{
#if CACHE_FORM >= CACHE_FORM_AVX2
    if (__builtin_constant_p(ways) && ways == 8)
        return sets_hit_oct(words, tag, write);
#endif
    const uint32_t place = sets_find(words, tag, ways);
    if (C2_UNLIKELY(place >= ways))
        return false;
    sets_front(words, place, words[place] | write, ways);
    return true;
}

#endif
