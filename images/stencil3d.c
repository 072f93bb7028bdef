/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A seven-point stencil in three dimensions with seven arrays: stencil3d [TIMES]
 *
 * The lesson: each array has 256 KiB, a multiple of the 4096 bytes after which the sets of a 32 KiB, 8-way L1 repeat.
 * So element i of all seven lies in the same set; and so do the elements of x one plane (8192 bytes) before and
 * behind. That makes nine lines for eight ways: each is evicted by the next one before its second element is asked
 * for. The conflicts are between arrays.
 * The cure: 72 doubles, nine lines, at the end of each array: seven arrays in seven different sets.
 */
#include "sample.h"

enum { N = 32, PLANE = N * N, SIZE = N * PLANE + (PADDED ? 72 : 0) };

static _Alignas(64) double x[SIZE], y[SIZE], centre[SIZE], along[SIZE], across[SIZE], above[SIZE], source[SIZE];

KERNEL void sweep(int times)
{
    for (int t = 0; t < times; t++) {
        for (int k = 1; k < N - 1; k++)
            for (int j = 1; j < N - 1; j++)
                for (int i = k * PLANE + j * N + 1; i < k * PLANE + j * N + N - 1; i++)
                    y[i] = centre[i] * x[i] + along[i] * (x[i - 1] + x[i + 1]) + /* the conflict: from here */
                           across[i] * (x[i - N] + x[i + N]) + above[i] * (x[i - PLANE] + x[i + PLANE]) +
                           source[i]; /* to here */
        KEEP();
    }
}

int main(int argc, char **argv)
{
    int times = times_of(argc, argv);
    for (int i = 0; i < N * PLANE; i++) {
        x[i] = i % 7;
        centre[i] = i % 5;
        along[i] = across[i] = above[i] = 0.25;
        source[i] = i % 3;
    }
    sweep(times);
    double sum = 0;
    for (int i = 0; i < N * PLANE; i++)
        sum += (i % 11) * y[i];
    print_checksum("stencil3d", sum);
    return 0;
}
