/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Interleaved block prefetching, for bench/prefetching.py: 8 MiB of numbers summed up in blocks of which each is read
 * PASSES times, one number of each line, TIMES times in all: interleaved PASSES TIMES [1]. With 1, after each PASSES
 * lines one of the next block is prefetched, so that it is there when work on it begins (Weidendorfer, 3.4.3). Two
 * blocks are half of an L2 of 1 MiB.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { NUMBERS = 1 << 20, BLOCK = 1 << 15 /* 256 KiB */, OF_LINE = 8 };

static _Alignas(4096) double number[NUMBERS];

__attribute__((noinline)) static double plain(const double *block, int passes)
{
    double sum = 0;
    for (int pass = 0; pass < passes; pass++) {
        for (int i = 0; i < BLOCK; i += OF_LINE)
            sum += block[i];
        __asm__ volatile("" ::: "memory");
    }
    return sum;
}

__attribute__((noinline)) static double interleaved(const double *block, const double *next, int passes)
{
    double sum = 0;
    int wait = passes;
    for (int pass = 0; pass < passes; pass++) {
        for (int i = 0; i < BLOCK; i += OF_LINE) {
            sum += block[i];
            if (--wait == 0) {
                __builtin_prefetch(next, 0, 2); /* T1: into L2 */
                next += OF_LINE;
                wait = passes;
            }
        }
    }
    return sum;
}

__attribute__((noinline)) static double sum_up(int passes, int times, int ahead)
{
    double sum = 0;
    for (int t = 0; t < times; t += passes)
        for (int block = 0; block < NUMBERS; block += BLOCK)
            sum += ahead ? interleaved(number + block, number + (block + BLOCK) % NUMBERS, passes)
                         : plain(number + block, passes);
    return sum;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 1;
    const int passes = atoi(argv[1]), times = atoi(argv[2]);
    for (int i = 0; i < NUMBERS; i++) /* a page that was never written is not there to be prefetched */
        number[i] = i % passes;
    printf("%g\n", sum_up(passes, times, argc > 3));
    return 0;
}
