/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: an ordinary store fetches its line from memory first, also one that will be overwritten whole.
 * Truth: four frames of 24 MiB, more than L3 holds, are drawn one after the other into the same memory, 16 bytes a
 * store. Each of the 4 * 393,216 lines is fetched, and nothing of it is used. Stores past the caches fetch none.
 */
#include <emmintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef MEGABYTES
#define MEGABYTES 24
#endif
#define POINTS (MEGABYTES * 1024 * 1024 / 16)
static __m128i frame[POINTS] __attribute__((aligned(64)));

static __attribute__((noinline)) void draw(uint32_t shade)
{
    __m128i color = _mm_set1_epi32((int)shade);
    const __m128i step = _mm_set_epi32(4, 3, 2, 1);
    for (long i = 0; i < POINTS; i++) {
        color = _mm_add_epi32(color, step);
#ifdef CURED
        _mm_stream_si128(&frame[i], color);
#else
        _mm_store_si128(&frame[i], color); /* here */
#endif
    }
}

int main(int argc, char **argv)
{
    const int frames = argc > 1 ? atoi(argv[1]) : 4;
    for (int i = 0; i < frames; i++)
        draw((uint32_t)i * 2654435761u);
    printf("%lld\n", (long long)frame[POINTS / 2][0] + (long long)frame[POINTS - 1][1]);
    return 0;
}
