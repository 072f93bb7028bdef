/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * openmp THREADS: loops, reductions, tasks, barriers that spin (OMP_WAIT_POLICY=active), nested regions.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static double values[4000];

static long fib(int n)
{
    long a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = fib(n - 1);
#pragma omp task shared(b)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

int main(int argc, char **argv)
{
    const int threads = argc > 1 ? atoi(argv[1]) : 4;
    double sum = 0;
    int numbers = 0;
    long result = 0;
    omp_set_num_threads(threads);
#pragma omp parallel for schedule(static)
    for (int i = 0; i < 4000; i++)
        values[i] = i;
    for (int round = 0; round < 3; round++) {
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 16)
        for (int i = 0; i < 4000; i++)
            sum += values[i];
    }
#pragma omp parallel
    {
        for (int round = 0; round < 5; round++) {
#pragma omp barrier
        }
#pragma omp critical
        numbers += omp_get_thread_num();
#pragma omp single
        result = fib(8);
    }
    printf("%.0f %d %ld\n", sum, numbers, result);
    return 0;
}
