/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: a matrix of pointers to rows is a matrix of rows all the same.
 * Truth: y = A^T x, column by column: the inner loop takes from each of 5000 rows one number, 313 KiB of lines and
 * 40 KB of pointers before the next j wants the same lines again, and L2 has 256 KiB. With the loop over j inside, a
 * row is read as it lies, and y stays in L1D.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define COLUMNS 160

__attribute__((noinline)) static void multiply(uint64_t **a, int rows, const uint64_t *x, uint64_t *y)
{
#ifdef CURED
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < COLUMNS; j++)
            y[j] += a[i][j] * x[i];
    }
#else
    for (int j = 0; j < COLUMNS; j++) {
        for (int i = 0; i < rows; i++)
            y[j] += a[i][j] * x[i]; /* here */
    }
#endif
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 4, rows = argc > 2 ? atoi(argv[2]) : 5000;
    uint64_t **a = malloc(rows * sizeof *a), *x = malloc(rows * sizeof *x), y[COLUMNS] = {0}, sum = 0;
    for (int i = 0; i < rows; i++) {
        a[i] = malloc(COLUMNS * sizeof *a[i]);
        x[i] = i % 7;
        for (int j = 0; j < COLUMNS; j++)
            a[i][j] = i ^ j;
    }
    for (int round = 0; round < rounds; round++)
        multiply(a, rows, x, y);
    for (int j = 0; j < COLUMNS; j++)
        sum += y[j];
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
