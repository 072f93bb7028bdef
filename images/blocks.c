/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Sums up 8 MiB of numbers several times, block by block: blocks [PASSES [TIMES]]
 *
 * The lesson: what is read PASSES times over in blocks that fit the L2 comes from memory once in PASSES times; and that
 * is a stream, which a prefetcher sees: `--set L2.prefetch=stream`.
 */
#include "sample.h"

enum { NUMBERS = 1 << 20, BLOCK = 1 << 16 /* 512 KiB */ };

static _Alignas(4096) double number[NUMBERS];

KERNEL double sum_up(int passes, int times)
{
    double sum = 0;
    for (int t = 0; t < times; t += passes)
        for (int block = 0; block < NUMBERS; block += BLOCK)
            for (int pass = 0; pass < passes; pass++) {
                for (int i = block; i < block + BLOCK; i += 8)
                    sum += number[i]; /* one of each line */
                KEEP();
            }
    return sum;
}

int main(int argc, char **argv)
{
    const int passes = argc > 1 ? times_of(2, argv) : 1, times = argc > 2 ? times_of(2, argv + 1) : 2;
    number[passes] = times;
    print_checksum("blocks", sum_up(passes, times));
    return 0;
}
