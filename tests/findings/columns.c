/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: C stores rows; a sum by columns touches a new line at each step.
 * Truth: 6000 rows of 1600 bytes: the lines of a column are 375 KiB, more than L2 (256 KiB), so that each step of the
 * inner loop misses L1D and L2, although the next seven columns want the same lines. The loop around strides 8 bytes:
 * swapped, the loops use each line whole.
 */
#include <stdio.h>
#include <stdlib.h>

#ifndef ROWS
#define ROWS 6000
#endif
#define COLUMNS 200
static double a[ROWS][COLUMNS];

__attribute__((noinline)) static double weighted_sum(double weight)
{
    double sum = 0;
#ifdef CURED
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++)
            sum += weight * a[i][j];
    }
#else
    for (int j = 0; j < COLUMNS; j++) {
        for (int i = 0; i < ROWS; i++)
            sum += weight * a[i][j]; /* here */
    }
#endif
    return sum;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 8;
    double sum = 0;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++)
            a[i][j] = i % 7 + j % 5;
    }
    for (int round = 1; round <= rounds; round++)
        sum += weighted_sum(round);
    printf("%.0f\n", sum);
    return 0;
}
