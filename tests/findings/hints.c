/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: a prefetch of what is there is an instruction for nothing.
 * Truth: 16 KiB of numbers, which L1D holds, are gone through 200 times, and a prefetch looks 8 numbers ahead of each.
 * All find the line there, where main has written it: 409,600 instructions, four in eleven.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NUMBERS 2048
static uint64_t numbers[NUMBERS + 8] __attribute__((aligned(64)));

static inline uint64_t get(const uint64_t *number)
{
#ifndef CURED
    __builtin_prefetch(number + 8); /* here */
#endif
    return *number;
}

static __attribute__((noinline)) uint64_t sum_up(const uint64_t *number, uint64_t a)
{
    uint64_t b = 0, c = 0, d = 0;
    for (const uint64_t *end = number + NUMBERS; number < end; number += 4) {
        a += get(number);
        b ^= get(number + 1);
        c += get(number + 2);
        d ^= get(number + 3);
    }
    return a + b + c + d;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 200;
    uint64_t sum = 0;
    for (long i = 0; i < NUMBERS; i++)
        numbers[i] = (uint64_t)i * 2654435761u;
    for (int i = 0; i < rounds; i++)
        sum = sum_up(numbers, sum);
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
