/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Jacobi steps for Poisson's equation with variable coefficients, ten arrays from malloc: poisson [TIMES]
 *
 * The lesson: each array has 128 KiB, and a block of that size gets a mapping of its own from the C library: it
 * begins 16 bytes behind the start of a page, whatever its size. So element i of all ten arrays lies in the same set
 * of a 32 KiB, 8-way L1: ten lines for eight ways, and each is evicted before its second element is asked for. The
 * conflicts are between arrays. Eight arrays would do.
 * The cure: making the arrays larger changes nothing, as each begins a page again. Here array n begins 5 n lines
 * behind the start of its block.
 */
#include "sample.h"

enum { N = 128, CELLS = N * N, STAGGER_BYTES = PADDED ? 5 * 64 : 0 };

static double *new_array(double value)
{
    static size_t arrays;
    size_t skip = STAGGER_BYTES * arrays++;
    char *block = malloc(CELLS * sizeof(double) + skip);
    if (!block)
        exit(1);
    double *array = (double *)(block + skip);
    for (int i = 0; i < CELLS; i++)
        array[i] = value * (1 + i % 3);
    return array;
}

struct problem {
    double *u, *next, *rest, *f, *west, *east, *south, *north, *scale, *mask;
};

KERNEL void relax(const struct problem *problem, int times)
{
    double *u = problem->u, *next = problem->next, *rest = problem->rest;
    const double *f = problem->f, *west = problem->west, *east = problem->east, *south = problem->south;
    const double *north = problem->north, *scale = problem->scale, *mask = problem->mask;
    for (int t = 0; t < times; t++) {
        for (int row = N; row < CELLS - N; row += N)
            for (int i = row + 1; i < row + N - 1; i++) {
                double r = f[i] + west[i] * u[i - 1] + east[i] * u[i + 1] + /* the conflict: from here */
                           south[i] * u[i - N] + north[i] * u[i + N];
                r = r * scale[i] - u[i];
                rest[i] = r;
                next[i] = u[i] + mask[i] * r; /* to here */
            }
        double *kept = u;
        u = next;
        next = kept;
        KEEP();
    }
}

int main(int argc, char **argv)
{
    int times = times_of(argc, argv);
    struct problem p = {new_array(1), new_array(1), new_array(0), new_array(0.5),   new_array(1),
                        new_array(1), new_array(1), new_array(1), new_array(0.125), new_array(0.5)};
    relax(&p, times);
    double sum = 0;
    for (int i = 0; i < CELLS; i++)
        sum += (i % 7) * (p.u[i] + p.next[i]) + p.rest[i];
    print_checksum("poisson", sum);
    return 0;
}
