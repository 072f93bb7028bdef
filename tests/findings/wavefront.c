/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: sweeps over a grid that does not fit can follow each other closely.
 * Truth: 24 sweeps in place over 400 rows of 2 KB, 800 KB, and L2 has 256 KiB: each sweep loads all from L3 again. A
 * sweep may go on where the one before is a row ahead: band by band of 60 rows, each sweep a row behind the one before,
 * all but the first find their rows, 180 KB, in L2.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef ROWS
#define ROWS 400
#endif
#define COLUMNS 512
#define SWEEPS 24
#define BAND 60
static uint32_t grid[ROWS][COLUMNS + 16];

__attribute__((noinline)) static void relax(int i)
{
    for (int j = 0; j < COLUMNS; j++)
        grid[i][j] = (grid[i - 1][j] ^ grid[i + 1][j]) + (grid[i][j] >> 1); /* here */
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 1;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < ROWS; i++) {
        for (uint32_t j = 0; j < COLUMNS; j++)
            grid[i][j] = i * j;
    }
    for (int round = 0; round < rounds; round++) {
#ifdef CURED
        for (int band = 1; band < ROWS - 1 + SWEEPS; band += BAND) {
            for (int sweep = 0; sweep < SWEEPS; sweep++) {
                for (int i = band - sweep; i < band - sweep + BAND; i++) {
                    if (i >= 1 && i < ROWS - 1)
                        relax(i);
                }
            }
        }
#else
        for (int sweep = 0; sweep < SWEEPS; sweep++) {
            for (int i = 1; i < ROWS - 1; i++)
                relax(i);
        }
#endif
    }
    for (int i = 0; i < ROWS; i++)
        sum = sum * 31 + grid[i][i % COLUMNS];
    printf("%u\n", sum);
    return 0;
}
