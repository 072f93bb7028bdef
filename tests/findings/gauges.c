/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: variables that lie in one line by chance are shared, though no thread uses what another one does.
 * Truth: four threads have a variable each, declared one behind the other, and so in one line. Each aligned to a line
 * of its own stays in its core.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef CURED
#define GAUGE static _Alignas(64) volatile uint64_t
#else
#define GAUGE static volatile uint64_t
#endif
static _Alignas(64) volatile uint64_t arrived = 0;
GAUGE served = 0;
GAUGE refused = 0;
GAUGE departed = 0;
static uint32_t steps = 100000;

static void *run(void *own)
{
    volatile uint64_t *const gauge = own;
    for (uint32_t i = 0; i < steps; i++)
        *gauge += i * 2654435761u >> 30; /* here */
    return NULL;
}

int main(int argc, char **argv)
{
    volatile uint64_t *const gauges[] = {&arrived, &served, &refused, &departed};
    pthread_t threads[4];
    steps = argc > 1 ? (uint32_t)atoi(argv[1]) : steps;
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, run, (void *)gauges[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("%llu %llu %llu %llu\n", (unsigned long long)arrived, (unsigned long long)served,
           (unsigned long long)refused, (unsigned long long)departed);
    return 0;
}
