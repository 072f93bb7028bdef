/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: elimination goes through the matrix by columns where the order of its loops is by columns.
 * Truth: the innermost loop goes down a column, 4,160 bytes a step, and down that of the factors, which is the same for
 * all columns. With rows innermost the factor is one number, and each row is gone through in order.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SIDE 512
#ifndef STEPS
#define STEPS 24
#endif
static int64_t matrix[SIDE][SIDE + 8];

static void eliminate(int k)
{
#ifdef CURED
    for (int i = k + 1; i < SIDE; i++)
        for (int j = k + 1; j < SIDE; j++)
            matrix[i][j] -= matrix[k][j] * matrix[i][k];
#else
    for (int j = k + 1; j < SIDE; j++) {
        const int64_t pivot = matrix[k][j];
        for (int i = k + 1; i < SIDE; i++)
            matrix[i][j] -= pivot * matrix[i][k]; /* here */
    }
#endif
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 1;
    uint64_t sum = 0;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < SIDE; i++)
            for (int j = 0; j < SIDE; j++)
                matrix[i][j] = (i * 3 + j * 5) % 7;
        for (int k = 0; k < STEPS; k++)
            eliminate(k);
        sum += (uint64_t)matrix[SIDE - 1][SIDE - 1];
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
