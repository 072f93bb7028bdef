/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: counting in any order is a miss for each number, however fast the numbers come.
 * Truth: 150,000 numbers in a random order, 12 times, each into one of 2^18 counters of 4 bytes: 1 MiB, and L2 has
 * 256 KiB. All of the table is in use, no loop strides, and no address waits for another: only the order is bad. Sorted
 * once, the numbers count line by line.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef BITS
#define BITS 18
#endif
#ifndef COUNT
#define COUNT 150000
#endif
static uint32_t numbers[COUNT], counters[1 << BITS];

#ifdef CURED
static int compare(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}
#endif

__attribute__((noinline)) static void count(uint32_t weight)
{
    for (int i = 0; i < COUNT; i++)
        counters[numbers[i]] += weight; /* here */
}

int main(int argc, char **argv)
{
    const uint32_t rounds = argc > 1 ? (uint32_t)atoi(argv[1]) : 12;
    uint32_t random = 1, sum = 0;
    for (int i = 0; i < COUNT; i++) {
        random = random * 1664525u + 1013904223u;
        numbers[i] = random >> (32 - BITS);
    }
#ifdef CURED
    qsort(numbers, COUNT, sizeof *numbers, compare);
#endif
    for (uint32_t round = 1; round <= rounds; round++)
        count(round);
    for (int i = 0; i < 1 << BITS; i += 7)
        sum = sum * 31 + counters[i];
    printf("%u\n", sum);
    return 0;
}
