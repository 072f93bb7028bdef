/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: a store past the caches throws its line out of them.
 * Truth: a block of 128 KiB, which L2 holds, is filled and summed up, 100 times. The stores past the caches take its
 * 2,048 lines out of them, so that each round but the first reads from memory what it has had: 99 * 2,048 lines.
 * Ordinary stores leave the block in L2.
 */
#include <emmintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NUMBERS (128 * 1024 / 8)
static _Alignas(64) uint64_t block[NUMBERS];

static __attribute__((noinline)) void fill(uint64_t seed)
{
    for (uint64_t i = 0; i < NUMBERS; i += 2) {
        const __m128i two = _mm_set_epi64x((long long)(seed + i), (long long)(seed ^ i));
#ifdef CURED
        _mm_store_si128((__m128i *)&block[i], two);
#else
        _mm_stream_si128((__m128i *)&block[i], two);
#endif
    }
}

static __attribute__((noinline)) uint64_t sum(void)
{
    uint64_t all = 0;
    for (uint64_t i = 0; i < NUMBERS; i++)
        all += block[i]; /* here */
    return all;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 100;
    uint64_t all = 0;
    for (int i = 0; i < rounds; i++) {
        fill((uint64_t)i * 31);
        all += sum();
    }
    printf("%llu\n", (unsigned long long)all);
    return 0;
}
