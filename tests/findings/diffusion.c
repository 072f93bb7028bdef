/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: three loops over a volume in the order of Fortran, in C.
 * Truth: the innermost loop goes from layer to layer, 72 KiB a step, and the outermost one from element to element: a
 * round of that has 8,836 lines of each volume, 552 KiB, which no L1 or L2 keeps. In the order of the declaration each
 * line is fetched once a sweep.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SIDE 96
static int64_t now[SIDE][SIDE][SIDE], next[SIDE][SIDE][SIDE];

static int64_t around(int i, int j, int k)
{
    return now[i - 1][j][k] + now[i + 1][j][k] + now[i][j - 1][k] + now[i][j + 1][k] + now[i][j][k - 1] + /* here */
           now[i][j][k + 1];                                                                              /* here */
}

static void diffuse(void)
{
#ifdef CURED
    for (int i = 1; i < SIDE - 1; i++)
        for (int j = 1; j < SIDE - 1; j++)
            for (int k = 1; k < SIDE - 1; k++)
                next[i][j][k] = around(i, j, k) >> 2;
    for (int i = 1; i < SIDE - 1; i++)
        for (int j = 1; j < SIDE - 1; j++)
            for (int k = 1; k < SIDE - 1; k++)
                now[i][j][k] = next[i][j][k];
#else
    for (int k = 1; k < SIDE - 1; k++)
        for (int j = 1; j < SIDE - 1; j++)
            for (int i = 1; i < SIDE - 1; i++)
                next[i][j][k] = around(i, j, k) >> 2; /* here */
    for (int k = 1; k < SIDE - 1; k++)
        for (int j = 1; j < SIDE - 1; j++)
            for (int i = 1; i < SIDE - 1; i++)
                now[i][j][k] = next[i][j][k];
#endif
}

int main(int argc, char **argv)
{
    const int sweeps = argc > 1 ? atoi(argv[1]) : 3;
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++)
            for (int k = 0; k < SIDE; k++)
                now[i][j][k] = i + j * k;
    for (int i = 0; i < sweeps; i++)
        diffuse();
    printf("%lld\n", (long long)now[SIDE / 2][SIDE / 2][SIDE / 2]);
    return 0;
}
