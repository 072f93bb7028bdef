/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: a fast transform stage by stage is a pass over all data for each stage; halves first, it is not.
 * Truth: 17 stages over 2^17 numbers of 8 bytes, 1 MiB, and L2 has 256 KiB: each stage loads all of them from L3 again.
 * Done half by half, down to what L1D holds, only the last two stages are passes over more than L2. The loops stride 8
 * bytes, along two streams: no sets are fought for.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef BITS
#define BITS 17
#endif
static uint64_t numbers[1 << BITS];

__attribute__((noinline)) static void stage(uint64_t *low, size_t half)
{
    uint64_t *const high = low + half;
    for (size_t i = 0; i < half; i++) {
        const uint64_t a = low[i], b = high[i]; /* here */
        low[i] = a + b;                         /* here */
        high[i] = a - b;                        /* here */
    }
}

#ifdef CURED
static void transform(uint64_t *low, size_t length)
{
    if (length == 1)
        return;
    transform(low, length / 2);
    transform(low + length / 2, length / 2);
    stage(low, length / 2);
}
#else
static void transform(uint64_t *low, size_t length)
{
    for (size_t half = 1; half < length; half *= 2) {
        for (size_t at = 0; at < length; at += 2 * half)
            stage(low + at, half);
    }
}
#endif

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 1;
    uint64_t sum = 0;
    for (size_t i = 0; i < 1 << BITS; i++)
        numbers[i] = i * i % 1000;
    for (int round = 0; round < rounds; round++)
        transform(numbers, 1 << BITS);
    for (size_t i = 0; i < 1 << BITS; i += 101)
        sum = sum * 31 + numbers[i];
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
