/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Matrix multiply in tiles: tiled [N [TILE]]
 *
 * The lesson: matmul.c's sums in another order. It walks down a column of B, and comes back to a line of it when a row
 * of A, a column of B and all that lies between were used; and to B as a whole for each row of A. Here three tiles are
 * worked on until they are done with: a line is used again when no more than a few tiles lie between. --reuse shows how
 * far apart the uses are in both.
 */
#include <stdio.h>
#include <stdlib.h>

static double *new_matrix(size_t n, double factor)
{
    double *m = malloc(n * n * sizeof *m);
    if (!m)
        exit(1);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            m[i * n + j] = factor * (double)(i + j);
    return m;
}

static size_t end_of(size_t start, size_t tile, size_t n) { return start + tile < n ? start + tile : n; }

static void multiply_tile(double *c, const double *a, const double *b, size_t n, size_t tile, const size_t at[3])
{
    for (size_t i = at[0]; i < end_of(at[0], tile, n); i++)
        for (size_t j = at[1]; j < end_of(at[1], tile, n); j++) {
            double sum = c[i * n + j];
            for (size_t k = at[2]; k < end_of(at[2], tile, n); k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 256, tile = argc > 2 ? strtoul(argv[2], NULL, 10) : 16, at[3];
    if (n < 1 || n > 4096 || tile < 1) {
        fprintf(stderr, "usage: tiled [N [TILE]], 1 <= N <= 4096, 1 <= TILE\n");
        return 2;
    }
    double *a = new_matrix(n, 1), *b = new_matrix(n, 0.5), *c = new_matrix(n, 0);
    for (at[0] = 0; at[0] < n; at[0] += tile)
        for (at[1] = 0; at[1] < n; at[1] += tile)
            for (at[2] = 0; at[2] < n; at[2] += tile)
                multiply_tile(c, a, b, n, tile, at);
    printf("c[%zu][%zu] = %.1f\n", n / 2, n / 3, c[n / 2 * n + n / 3]);
    free(a);
    free(b);
    free(c);
    return 0;
}
