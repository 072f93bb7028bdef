/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: a counter that all threads write goes from core to core at each step, and an atomic addition does not help.
 * Truth: four threads add to the one counter. A sum per thread, added once at its end, leaves the line alone.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4
static _Alignas(64) atomic_ullong hits;
static _Alignas(64) uint32_t numbers = 150000;

static void *count(void *unused)
{
    uint64_t own = 0;
    for (uint32_t i = 0; i < numbers; i++) {
        if ((i * 2654435761u >> 28) < 8) {
#ifdef CURED
            own++;
#else
            atomic_fetch_add(&hits, 1); /* here */
#endif
        }
    }
    atomic_fetch_add(&hits, own);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    if (argc > 1)
        numbers = (uint32_t)atoi(argv[1]);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], 0, count, 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
    printf("%llu\n", (unsigned long long)hits);
    return 0;
}
