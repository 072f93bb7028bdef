/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: the matrix product as the formula is written walks the second matrix by columns.
 * Truth: the inner loop over k loads b[k][j], a row further at each step: 5000 lines, 313 KiB, before the next j wants
 * the same lines again, and L2 has 256 KiB. The loop over j strides 8 bytes in b and c: as the inner one it uses each
 * line of b whole.
 */
#include <stdio.h>
#include <stdlib.h>

#define ROWS 8
#ifndef INNER
#define INNER 5000
#endif
#define COLUMNS 100
static double a[ROWS][INNER], b[INNER][COLUMNS], c[ROWS][COLUMNS];

__attribute__((noinline)) static void multiply(void)
{
#ifdef CURED
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < INNER; k++) {
            for (int j = 0; j < COLUMNS; j++)
                c[i][j] += a[i][k] * b[k][j];
        }
    }
#else
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) {
            for (int k = 0; k < INNER; k++)
                c[i][j] += a[i][k] * b[k][j]; /* here */
        }
    }
#endif
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
    for (int round = 0; round < rounds; round++)
        multiply();
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++)
            sum += c[i][j];
    }
    printf("%.0f\n", sum);
    return 0;
}
