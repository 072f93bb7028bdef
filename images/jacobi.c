/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Jacobi's method on a square, from one grid to another and back: jacobi [N [ITERATIONS [BLOCKED]]]
 *
 * The lesson: a sweep over both grids asks memory for 24 bytes an update, and computes 4 FLOPs with them. With BLOCKED
 * iterations at a time a small square of both grids goes through all of these while it is in the first cache: the
 * squares lean by a row and a column an iteration, so that what an update needs is there. Both give the same numbers.
 */
#include <stdio.h>
#include <stdlib.h>

#define SIDE 32 /* of a square: with the 12 that it leans by, two of them fit 32 KiB */

static long least(long a, long b) { return a < b ? a : b; }
static long most(long a, long b) { return a > b ? a : b; }

static void row(double *restrict to, const double *restrict above, const double *restrict at,
                const double *restrict below, long from, long end)
{
    for (long j = from; j < end; j++)
        to[j] = 0.25 * (above[j] + at[j - 1] + at[j + 1] + below[j]);
}

/* Rows [top, bottom) and columns [left, right), but for the edge. */
static void part(double *to, const double *from, long n, long top, long bottom, long left, long right)
{
    for (long i = most(top, 1); i < least(bottom, n - 1); i++)
        row(to + i * n, from + (i - 1) * n, from + i * n, from + (i + 1) * n, most(left, 1), least(right, n - 1));
}

static void naive(double *grids[2], long n, long iterations)
{
    for (long t = 0; t < iterations; t++)
        part(grids[(t + 1) % 2], grids[t % 2], n, 1, n - 1, 1, n - 1);
}

static void blocked(double *grids[2], long n, long first, long iterations)
{
    for (long i = 1; i < n - 1 + iterations; i += SIDE)
        for (long j = 1; j < n - 1 + iterations; j += SIDE)
            for (long t = 0; t < iterations; t++)
                part(grids[(first + t + 1) % 2], grids[(first + t) % 2], n, i - t, i - t + SIDE, j - t, j - t + SIDE);
}

int main(int argc, char **argv)
{
    const long n = argc > 1 ? strtol(argv[1], NULL, 10) : 500;
    const long iterations = argc > 2 ? strtol(argv[2], NULL, 10) : 24;
    const long at_once = argc > 3 ? strtol(argv[3], NULL, 10) : 1;
    if (n < 3 || n > 16384 || iterations < 0 || at_once < 1) {
        fprintf(stderr, "usage: jacobi [N [ITERATIONS [BLOCKED]]], 3 <= N <= 16384\n");
        return 2;
    }
    double *grids[2] = {calloc(n * n, sizeof(double)), calloc(n * n, sizeof(double))};
    if (!grids[0] || !grids[1])
        return 1;
    for (long i = 0; i < n; i++)
        grids[0][i] = grids[1][i] = 100; /* the hot edge */
    if (at_once == 1)
        naive(grids, n, iterations);
    for (long t = 0; at_once > 1 && t < iterations; t += at_once)
        blocked(grids, n, t, least(at_once, iterations - t));
    double sum = 0;
    for (long i = 0; i < n * n; i++)
        sum += grids[iterations % 2][i];
    printf("%.6f\n", sum / (double)(n * n));
    free(grids[0]);
    free(grids[1]);
    return 0;
}
