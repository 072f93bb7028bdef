/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: the own part of a shared table must end where a line ends.
 * Truth: each of four threads has its own row of two counters, 8 bytes: all four rows lie in one line, which every
 * increment takes from another core. Rows of a whole line are their threads' own.
 */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4
#ifdef CURED
#define BINS 16
#else
#define BINS 2
#endif
static volatile uint32_t bins[THREADS][BINS] __attribute__((aligned(64)));

int main(int argc, char **argv)
{
    const int numbers = argc > 1 ? atoi(argv[1]) : 300000;
    uint32_t odd = 0;
#pragma omp parallel num_threads(THREADS)
    {
        volatile uint32_t *const own = bins[omp_get_thread_num()];
#pragma omp for
        for (int i = 0; i < numbers; i++)
            own[(uint32_t)i * 2654435761u >> 31]++; /* here */
    }
    for (int i = 0; i < THREADS; i++)
        odd += bins[i][1];
    printf("%u\n", odd);
    return 0;
}
