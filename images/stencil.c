/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Five-point stencil over two grids: stencil [N [STEPS]]
 *
 * The lesson: three rows of the source and one of the target are live at a time. While they fit a level, each line is
 * fetched once a sweep (misses there are capacity: the whole grid passes through); rows of a power-of-two length add
 * conflicts.
 */
#include <stdio.h>
#include <stdlib.h>

static void sweep(double *to, const double *from, size_t n)
{
    for (size_t i = 1; i + 1 < n; i++)
        for (size_t j = 1; j + 1 < n; j++)
            to[i * n + j] = 0.2 * (from[i * n + j] + from[i * n + j - 1] + from[i * n + j + 1] + from[(i - 1) * n + j] +
                                   from[(i + 1) * n + j]);
}

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 500;
    size_t steps = argc > 2 ? strtoul(argv[2], NULL, 10) : 20;
    if (n < 3 || n > 16384) {
        fprintf(stderr, "usage: stencil [N [STEPS]], 3 <= N <= 16384\n");
        return 2;
    }
    double *a = calloc(n * n, sizeof *a), *b = calloc(n * n, sizeof *b);
    if (!a || !b)
        return 1;
    for (size_t i = 0; i < n; i++)
        a[i] = b[i] = 100; /* the hot edge */
    for (size_t s = 0; s < steps; s++) {
        sweep(b, a, n);
        double *kept = a;
        a = b;
        b = kept;
    }
    printf("t[1][%zu] = %.6f\n", n / 2, a[n + n / 2]);
    free(a);
    free(b);
    return 0;
}
