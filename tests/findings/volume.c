/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: three indices, three orders: the last index belongs into the inner loop.
 * Truth: the inner loop over z strides a whole slice, that over y a row; 64 * 100 lines, 400 KiB, pass before the next
 * x wants the same lines, more than L2 has. The outer loop over x strides 4 bytes.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef DEPTH
#define DEPTH 64
#endif
#define HEIGHT 100
#define WIDTH 90
static uint32_t volume[DEPTH][HEIGHT][WIDTH];

__attribute__((noinline)) static uint32_t brightness(uint32_t level)
{
    uint32_t sum = 0;
#ifdef CURED
    for (int z = 0; z < DEPTH; z++) {
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++)
                sum += volume[z][y][x] ^ level;
        }
    }
#else
    for (int x = 0; x < WIDTH; x++) {
        for (int y = 0; y < HEIGHT; y++) {
            for (int z = 0; z < DEPTH; z++)
                sum += volume[z][y][x] ^ level; /* here */
        }
    }
#endif
    return sum;
}

int main(int argc, char **argv)
{
    const uint32_t rounds = argc > 1 ? (uint32_t)atoi(argv[1]) : 8;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < DEPTH * HEIGHT * WIDTH; i++)
        (&volume[0][0][0])[i] = i % 251;
    for (uint32_t round = 1; round <= rounds; round++)
        sum += brightness(round);
    printf("%u\n", sum);
    return 0;
}
