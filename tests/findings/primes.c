/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: steps that are others in each pass are an order all the same, and blocks help.
 * Truth: the sieve of Eratosthenes crosses out the multiples of each prime in all of 2.9 MiB, in steps of that prime:
 * 269 times, where L2 holds 256 KiB. In segments of 128 KiB, for each prime as far as the segment goes, lines come
 * once. Segments need where each prime goes on, 269 numbers.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef NUMBERS
#define NUMBERS 3000000
#endif
#define SEGMENT 131072
#define ROOT 20000 /* of 400 million at most */
static uint8_t composite[NUMBERS];

__attribute__((noinline)) static void cross_out(void)
{
#ifdef CURED
    static uint32_t primes[ROOT], next[ROOT];
    uint32_t count = 0;
    for (uint32_t start = 0; start < NUMBERS; start += SEGMENT) {
        const uint32_t end = start + SEGMENT < NUMBERS ? start + SEGMENT : NUMBERS;
        for (uint32_t k = 0; k < count; k++) {
            uint32_t i = next[k];
            for (; i < end; i += primes[k])
                composite[i] = 1;
            next[k] = i;
        }
        if (start != 0)
            continue;
        for (uint32_t p = 2; p * p < NUMBERS; p++) {
            if (composite[p])
                continue;
            uint32_t i = p * p;
            for (; i < end; i += p)
                composite[i] = 1;
            primes[count] = p;
            next[count++] = i;
        }
    }
#else
    for (uint32_t p = 2; p * p < NUMBERS; p++) {
        if (composite[p])
            continue;
        for (uint32_t i = p * p; i < NUMBERS; i += p)
            composite[i] = 1; /* here */
    }
#endif
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 1;
    uint32_t count = 0;
    for (int round = 0; round < rounds; round++) {
        for (uint32_t i = 0; i < NUMBERS; i++)
            composite[i] = 0;
        cross_out();
    }
    for (uint32_t i = 2; i < NUMBERS; i++)
        count += !composite[i];
    printf("%u\n", count);
    return 0;
}
