/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Dense LU decomposition by blocks, without pivots: lu [N [BLOCK]]
 *
 * The lesson: phases. Between two barriers either a few blocks are worked on, those of a row and a column, or all
 * blocks to the right and below: `--histogram --phase-at barriers` shows the two kinds apart. A block is BLOCK x BLOCK
 * numbers in a row of memory, so that it lies in few lines. One thread does all the work; the barriers are where
 * several would wait for each other.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define APART static __attribute__((noinline))

static size_t n, size, blocks;
static double *a;
static pthread_barrier_t barrier;

static double *block(size_t i, size_t j) { return a + (i * blocks + j) * size * size; }

/* a = l * u, in place */
APART void factor(double *x)
{
    for (size_t k = 0; k < size; k++)
        for (size_t i = k + 1; i < size; i++) {
            x[i * size + k] /= x[k * size + k];
            for (size_t j = k + 1; j < size; j++)
                x[i * size + j] -= x[i * size + k] * x[k * size + j];
        }
}

/* x = x / u of the diagonal block */
APART void divide_column(double *x, const double *diagonal)
{
    for (size_t i = 0; i < size; i++)
        for (size_t k = 0; k < size; k++) {
            x[i * size + k] /= diagonal[k * size + k];
            for (size_t j = k + 1; j < size; j++)
                x[i * size + j] -= x[i * size + k] * diagonal[k * size + j];
        }
}

/* x = l of the diagonal block \ x */
APART void divide_row(double *x, const double *diagonal)
{
    for (size_t k = 0; k < size; k++)
        for (size_t i = k + 1; i < size; i++)
            for (size_t j = 0; j < size; j++)
                x[i * size + j] -= diagonal[i * size + k] * x[k * size + j];
}

/* x = x - l * u */
APART void update(double *x, const double *l, const double *u)
{
    for (size_t i = 0; i < size; i++)
        for (size_t k = 0; k < size; k++)
            for (size_t j = 0; j < size; j++)
                x[i * size + j] -= l[i * size + k] * u[k * size + j];
}

static void decompose(void)
{
    for (size_t k = 0; k < blocks; k++) {
        factor(block(k, k));
        pthread_barrier_wait(&barrier);
        for (size_t i = k + 1; i < blocks; i++) {
            divide_column(block(i, k), block(k, k));
            divide_row(block(k, i), block(k, k));
        }
        pthread_barrier_wait(&barrier);
        for (size_t i = k + 1; i < blocks; i++)
            for (size_t j = k + 1; j < blocks; j++)
                update(block(i, j), block(i, k), block(k, j));
    }
}

/* Numbers that are the same everywhere, and a heavy diagonal. */
static void fill(void)
{
    unsigned seed = 1;
    for (size_t i = 0; i < n * n; i++) {
        seed = seed * 1103515245u + 12345u;
        a[i] = (seed >> 16 & 0x7fff) / 32768.0;
    }
    for (size_t i = 0; i < n; i++)
        block(i / size, i / size)[i % size * size + i % size] += 100;
}

int main(int argc, char **argv)
{
    n = argc > 1 ? strtoul(argv[1], NULL, 10) : 128;
    size = argc > 2 ? strtoul(argv[2], NULL, 10) : 16;
    if (n == 0 || n > 8192 || size == 0 || n % size != 0) {
        fprintf(stderr, "usage: lu [N [BLOCK]], BLOCK divides N, N <= 8192\n");
        return 2;
    }
    blocks = n / size;
    a = aligned_alloc(4096, (n * n * sizeof *a + 4095) / 4096 * 4096);
    if (!a || pthread_barrier_init(&barrier, NULL, 1) != 0)
        return 1;
    fill();
    pthread_barrier_wait(&barrier);
    decompose();
    pthread_barrier_wait(&barrier);
    printf("u[%zu][%zu] = %.6f\n", n - 1, n - 1, block(blocks - 1, blocks - 1)[size * size - 1]);
    free(a);
    return 0;
}
