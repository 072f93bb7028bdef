/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: threads that take every fourth element each fetch all lines.
 * Truth: four threads go through two arrays of 1 MiB in steps of 32 B, each 8 B behind the one before. Each of the four
 * cores fetches each line of both, and has the lines that it writes taken away as often as the threads are near each
 * other. With elements in a row for each thread a line is fetched by one core, and none is taken away.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4
#ifndef COUNT
#define COUNT 131072
#endif
static uint64_t prices[COUNT], sums[COUNT];
static pthread_barrier_t start;
static int rounds;

static void *add(void *argument)
{
    const long thread = (long)(intptr_t)argument;
    pthread_barrier_wait(&start);
    for (int round = 0; round < rounds; round++) {
#ifdef CURED
        for (long i = thread * (COUNT / THREADS); i < (thread + 1) * (COUNT / THREADS); i++)
            sums[i] += prices[i] * 3;
#else
        for (long i = thread; i < COUNT; i += THREADS)
            sums[i] += prices[i] * 3; /* here */
#endif
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    uint64_t all = 0;
    rounds = argc > 1 ? atoi(argv[1]) : 2;
    for (long i = 0; i < COUNT; i++)
        prices[i] = (uint64_t)i % 1000;
    pthread_barrier_init(&start, NULL, THREADS);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, add, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (long i = 0; i < COUNT; i++)
        all += sums[i];
    printf("%llu\n", (unsigned long long)all);
    return 0;
}
