/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Matrix multiply, the textbook triple loop: matmul [N [PAD]]
 *
 * The lesson: the inner loop walks down a column of B. With N = 256 a row has 2048 bytes, so the elements of a column
 * lie 32 lines apart and all of them fall into 2 of the 64 sets of a 32 KiB, 8-way L1: of 256 lines only 16 stay.
 * The column would fit the cache twice over - the misses are conflicts. PAD elements at the end of each row spread
 * the column over all sets: try `matmul 256 8`.
 */
#include <stdio.h>
#include <stdlib.h>

static double *new_matrix(size_t n, size_t row, double factor)
{
    double *m = malloc(n * row * sizeof *m);
    if (!m)
        exit(1);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            m[i * row + j] = factor * (double)(i + j);
    return m;
}

static void multiply(double *c, const double *a, const double *b, size_t n, size_t row)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t k = 0; k < n; k++)
                sum += a[i * row + k] * b[k * row + j];
            c[i * row + j] = sum;
        }
}

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 256;
    size_t pad = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    size_t row = n + pad;
    if (n < 1 || n > 4096 || pad > 4096) {
        fprintf(stderr, "usage: matmul [N [PAD]], 1 <= N <= 4096, PAD <= 4096\n");
        return 2;
    }
    double *a = new_matrix(n, row, 1), *b = new_matrix(n, row, 0.5), *c = new_matrix(n, row, 0);
    multiply(c, a, b, n, row);
    printf("c[%zu][%zu] = %.1f\n", n / 2, n / 3, c[n / 2 * row + n / 3]);
    free(a);
    free(b);
    free(c);
    return 0;
}
