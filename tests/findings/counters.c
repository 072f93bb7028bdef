/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: threads that write different words of one line take it from each other.
 * Truth: each thread counts in an element of its own, but the four elements lie in one line, which goes from core to
 * core. Each on a line of its own stays where it is.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4
struct counter {
#ifdef CURED
    _Alignas(64)
#endif
        volatile uint64_t even;
    volatile uint64_t odd;
};
static struct counter counters[THREADS] __attribute__((aligned(64)));
static uint32_t numbers = 100000;

static void *count(void *own)
{
    struct counter *const counter = own;
    for (uint32_t i = 0; i < numbers; i++) {
        if (i * 2654435761u >> 31)
            counter->odd++; /* here */
        else
            counter->even++; /* here */
    }
    return 0;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    uint64_t odd = 0, even = 0;
    if (argc > 1)
        numbers = (uint32_t)atoi(argv[1]);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], 0, count, &counters[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], 0);
        odd += counters[i].odd;
        even += counters[i].even;
    }
    printf("%llu %llu\n", (unsigned long long)odd, (unsigned long long)even);
    return 0;
}
