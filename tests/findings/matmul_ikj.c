/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: the right order of loops is half of the way: what is used again must still be there.
 * Truth: all loops stride little, but each row of the result walks through all of b, 800 KB, and L2 has 256 KiB: each
 * row loads b from L3 again. In blocks of b of 64 * 200 doubles (100 KiB), all rows use a block while it is in L2.
 */
#include <stdio.h>
#include <stdlib.h>

#define ROWS 32
#ifndef INNER
#define INNER 500
#endif
#ifndef COLUMNS
#define COLUMNS 200
#endif
#ifdef CURED
#define BLOCK_K 64
#define BLOCK_J 200
#else
#define BLOCK_K INNER
#define BLOCK_J COLUMNS
#endif
static double a[ROWS][INNER], b[INNER][COLUMNS], c[ROWS][COLUMNS];

static int lesser(int x, int y) { return x < y ? x : y; }

__attribute__((noinline)) static void multiply(int k_begin, int j_begin)
{
    const int k_end = lesser(k_begin + BLOCK_K, INNER), j_end = lesser(j_begin + BLOCK_J, COLUMNS);
    for (int i = 0; i < ROWS; i++) {
        for (int k = k_begin; k < k_end; k++) {
            for (int j = j_begin; j < j_end; j++)
                c[i][j] += a[i][k] * b[k][j]; /* here */
        }
    }
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 1;
    double sum = 0;
    for (int k = 0; k < INNER; k++) {
        for (int i = 0; i < ROWS; i++)
            a[i][k] = i + k % 3;
        for (int j = 0; j < COLUMNS; j++)
            b[k][j] = k % 5 - j % 2;
    }
    for (int round = 0; round < rounds; round++) {
        for (int k = 0; k < INNER; k += BLOCK_K) {
            for (int j = 0; j < COLUMNS; j += BLOCK_J)
                multiply(k, j);
        }
    }
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++)
            sum += c[i][j];
    }
    printf("%.0f\n", sum);
    return 0;
}
