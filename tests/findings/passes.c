/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: a chain of passes over an array that is larger than the cache loads it once a pass.
 * Truth: 16 passes over 1.2 MB; loops and stride are right, but L2 has 256 KiB: each pass loads the whole array from
 * L3 again. Done block by block (120 KiB), all passes but the first find the block in L2.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef BLOCKS
#define BLOCKS 10
#endif
#define PASSES 16
#define BLOCK 30720
#ifdef CURED
#define SPAN BLOCK
#else
#define SPAN (BLOCKS * BLOCK)
#endif
static uint32_t samples[BLOCKS * BLOCK];

__attribute__((noinline)) static void pass(uint32_t *part, uint32_t key)
{
    for (int i = 0; i < SPAN; i++)
        part[i] = (part[i] ^ key) + key; /* here */
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 1;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < BLOCKS * BLOCK; i++)
        samples[i] = i;
    for (int round = 0; round < rounds; round++) {
        for (uint32_t begin = 0; begin < BLOCKS * BLOCK; begin += SPAN) {
            for (uint32_t k = 1; k <= PASSES; k++)
                pass(samples + begin, 3 * k);
        }
    }
    for (int i = 0; i < BLOCKS * BLOCK; i += 1001)
        sum = sum * 31 + samples[i];
    printf("%u\n", sum);
    return 0;
}
