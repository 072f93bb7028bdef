/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: one of the two matrices of a transpose is always walked the wrong way; blocks make both small.
 * Truth: 1000 rows of 4020 bytes are written by columns: 1000 lines, 64 KiB, before the next i wants the same lines
 * again, twice L1D, and a page for each. Swapping the loops only makes the other matrix the one that is walked by
 * columns. In blocks of 16 * 16, 16 lines of each are in use.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef N
#define N 1000
#endif
#ifdef CURED
#define BLOCK 16
#else
#define BLOCK N
#endif
static uint32_t from[N][N + 5], to[N][N + 5];

static int lesser(int x, int y) { return x < y ? x : y; }

__attribute__((noinline)) static void transpose(int row, int column)
{
    const int row_end = lesser(row + BLOCK, N), column_end = lesser(column + BLOCK, N);
    for (int i = row; i < row_end; i++) {
        for (int j = column; j < column_end; j++)
            to[j][i] = from[i][j]; /* here */
    }
}

int main(int argc, char **argv)
{
    const uint32_t rounds = argc > 1 ? (uint32_t)atoi(argv[1]) : 3;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < N; i++) {
        for (uint32_t j = 0; j < N; j++)
            from[i][j] = i * j;
    }
    for (uint32_t round = 0; round < rounds; round++) {
        from[round][7] = round;
        for (int row = 0; row < N; row += BLOCK) {
            for (int column = 0; column < N; column += BLOCK)
                transpose(row, column);
        }
        for (int i = 0; i < N; i += 13)
            sum = sum * 31 + to[i][i / 2];
    }
    printf("%u\n", sum);
    return 0;
}
