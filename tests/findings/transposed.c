/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: of two arrays that are gone through across each other one is always in long steps; blocks help both.
 * Truth: the transposition reads rows and writes columns of 2,000 numbers of 8 bytes: each round of the inner loop
 * stores to another line, in another page, and L1D holds 512 lines. Swapped, the reads would go in long steps. In
 * blocks of 8 by 8 each line of both is used whole while it is there.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef SIDE
#define SIDE 2000
#endif
#define TILE 8

static double from[SIDE][SIDE], to[SIDE][SIDE];

__attribute__((noinline)) static void transpose(void)
{
#ifdef CURED
    for (uint32_t rows = 0; rows < SIDE; rows += TILE)
        for (uint32_t columns = 0; columns < SIDE; columns += TILE)
            for (uint32_t i = rows; i < rows + TILE; i++)
                for (uint32_t j = columns; j < columns + TILE; j++)
                    to[j][i] = from[i][j];
#else
    for (uint32_t i = 0; i < SIDE; i++)
        for (uint32_t j = 0; j < SIDE; j++)
            to[j][i] = from[i][j]; /* here */
#endif
}

int main(int argc, char **argv)
{
    const int times = argc > 1 ? atoi(argv[1]) : 1;
    for (uint32_t i = 0; i < SIDE; i++)
        for (uint32_t j = 0; j < SIDE; j++)
            from[i][j] = i * 3 + j;
    for (int k = 0; k < times; k++)
        transpose();
    printf("%.0f\n", to[7][11] + to[SIDE - 1][1]);
    return 0;
}
