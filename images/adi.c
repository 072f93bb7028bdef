/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The column half of an alternating-direction solver: adi [TIMES]
 *
 * The lesson: the recurrence runs down the columns of x, whose rows have 1024 bytes, 16 lines. The 128 lines of a
 * column fall into 4 of the 64 sets of a 32 KiB, 8-way L1, which hold 32. They would fit the cache four times over,
 * and eight columns share each line: 7 of 8 misses are conflicts of the array with itself.
 * The cure: 32 bytes at the end of each row, half a line. Two rows then move on by 33 lines, and a column lies in
 * every set twice.
 */
#include "sample.h"

enum { N = 128, ROW = N + (PADDED ? 4 : 0) };

static _Alignas(64) double x[N][ROW], factor[N];

KERNEL void sweep_columns(int times)
{
    for (int t = 0; t < times; t++) {
        for (int j = 0; j < N; j++)
            for (int i = 1; i < N; i++)
                x[i][j] -= factor[i] * x[i - 1][j]; /* the conflict */
        KEEP();
    }
}

int main(int argc, char **argv)
{
    int times = times_of(argc, argv);
    for (int i = 0; i < N; i++) {
        factor[i] = 0.5 / (1 + i % 4);
        for (int j = 0; j < N; j++)
            x[i][j] = 1 + j % 3;
    }
    sweep_columns(times);
    double sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            sum += (i + 1) * x[i][j];
    print_checksum("adi", sum);
    return 0;
}
