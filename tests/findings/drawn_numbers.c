/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: to draw numbers from one atomic counter costs its line at each draw, whichever thread waits for which.
 * Truth: two threads draw 300,000 numbers each, by LOCK XADD, and do nothing else with memory. Where each draws a
 * thousand at a time and hands them out by itself, the line is wanted a thousandth as often.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 2
#define AT_ONCE 1000
static _Alignas(64) atomic_ullong next;
static _Alignas(64) uint64_t numbers = 300000;

static void *draw(void *sum)
{
    uint64_t odd = 0;
#ifdef CURED
    for (uint64_t i = 0; i < numbers; i += AT_ONCE) {
        const uint64_t first = atomic_fetch_add(&next, AT_ONCE);
        for (uint64_t k = 0; k < AT_ONCE; k++)
            odd += (first + k) & 1;
    }
#else
    for (uint64_t i = 0; i < numbers; i++)
        odd += atomic_fetch_add(&next, 1) & 1; /* here */
#endif
    *(uint64_t *)sum = odd;
    return 0;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    uint64_t odd[THREADS], all = 0;
    if (argc > 1)
        numbers = (uint64_t)atoi(argv[1]);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], 0, draw, &odd[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], 0);
        all += odd[i];
    }
    printf("%llu %llu\n", (unsigned long long)next, (unsigned long long)all);
    return 0;
}
