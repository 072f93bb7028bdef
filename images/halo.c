/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A stencil on two grids, some rows a thread: halo [THREADS [ROWS [COLUMNS [STEPS]]]]
 *
 * The lesson: a thread reads of its neighbours the row next to its own, which was written since: true sharing of two
 * rows a border and step, and nothing else. A barrier parts the steps (`--set cores=4`, `--sharing-estimate`,
 * `--histogram --phase-at barriers`).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 64
#define LINE 64

static long threads, rows, columns, steps; /* rows: of a thread */
static double *grids[2];
static pthread_barrier_t step_done;

static void update(double *to, const double *from, long row)
{
    const double *above = from + (row - 1) * columns, *below = from + (row + 1) * columns;
    for (long k = 0; k < columns; k++)
        to[row * columns + k] = 0.25 * (above[k] + 2 * from[row * columns + k] + below[k]);
}

/* Rows of the first and the last thread have an edge beside them that is never written. */
static void *work(void *number)
{
    const long first = 1 + (long)number * rows;
    for (long i = first; i < first + rows; i++)
        for (long k = 0; k < columns; k++)
            grids[0][i * columns + k] = (double)(i + k);
    for (long step = 0; step < steps; step++) {
        pthread_barrier_wait(&step_done);
        for (long i = first; i < first + rows; i++)
            update(grids[(step + 1) % 2], grids[step % 2], i);
    }
    pthread_barrier_wait(&step_done);
    return NULL;
}

static double *make_grid(void)
{
    double *grid = aligned_alloc(LINE, (size_t)((threads * rows + 2) * columns) * sizeof *grid);
    if (!grid)
        exit(1);
    for (long k = 0; k < columns; k++)
        grid[k] = grid[(threads * rows + 1) * columns + k] = 0;
    return grid;
}

int main(int argc, char **argv)
{
    pthread_t others[MOST];
    threads = argc > 1 ? atol(argv[1]) : 4;
    rows = argc > 2 ? atol(argv[2]) : 8;
    columns = argc > 3 ? atol(argv[3]) : 64;
    steps = argc > 4 ? atol(argv[4]) : 10;
    if (threads < 1 || threads > MOST || rows < 1 || columns < 8 || columns % 8 != 0 || steps < 1) {
        fprintf(stderr, "usage: halo [THREADS [ROWS [COLUMNS [STEPS]]]], COLUMNS a multiple of 8\n");
        return 2;
    }
    grids[0] = make_grid();
    grids[1] = make_grid();
    pthread_barrier_init(&step_done, NULL, (unsigned)threads);
    for (long i = 1; i < threads; i++)
        if (pthread_create(&others[i], NULL, work, (void *)i) != 0)
            return 1;
    work(NULL);
    for (long i = 1; i < threads; i++)
        pthread_join(others[i], NULL);
    printf("%g\n", grids[steps % 2][(1 + threads * rows / 2) * columns]);
    return 0;
}
