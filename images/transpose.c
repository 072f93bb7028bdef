/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Transposes a matrix with rows of a power of two: transpose [TIMES]
 *
 * The lesson: b is written down its columns. A row has 1024 bytes, 16 lines, so the 128 lines of a column fall into 4
 * of the 64 sets of a 32 KiB, 8-way L1, which hold 32 of them. Eight columns share each line, but it is gone before
 * the next column comes: every store misses, where one in eight would have to. The victims and the evictors are the
 * same store to the same array.
 * The cure: 8 doubles, one line, at the end of each row. The column is then 17 lines apart and in every set twice.
 */
#include "sample.h"

enum { N = 128, ROW = N + (PADDED ? 8 : 0) };

static _Alignas(64) double a[N][ROW], b[N][ROW];

KERNEL void transpose(int times)
{
    for (int t = 0; t < times; t++) {
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                b[j][i] = a[i][j]; /* the conflict */
        KEEP();
    }
}

int main(int argc, char **argv)
{
    int times = times_of(argc, argv);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = i * 3 + j;
    transpose(times);
    double sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            sum += (i + 1) * b[i][j];
    print_checksum("transpose", sum);
    return 0;
}
