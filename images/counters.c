/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Threads that count, each for itself: counters [THREADS [ROUNDS]]
 *
 * The lesson: no thread looks at another's counter, but eight counters lie in one line, which each write takes from all
 * other cores: false sharing. In counters_padded a line is between them (`--set cores=4`).
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 64
#define LINE 64

#ifdef PADDED
static struct {
    _Alignas(LINE) volatile long count;
} counters[MOST];
#else
static _Alignas(LINE) struct {
    volatile long count;
} counters[MOST];
#endif
static long rounds;
static pthread_barrier_t all_there;

/* Between two additions it is the turn of the others. */
static void *count(void *counter)
{
    volatile long *mine = counter;
    pthread_barrier_wait(&all_there);
    for (long i = 0; i < rounds; i++) {
        ++*mine;
        sched_yield();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const long threads = argc > 1 ? atol(argv[1]) : 4;
    pthread_t others[MOST];
    long sum = 0;
    rounds = argc > 2 ? atol(argv[2]) : 1000;
    if (threads < 1 || threads > MOST || rounds < 1 || pthread_barrier_init(&all_there, NULL, (unsigned)threads) != 0) {
        fprintf(stderr, "usage: counters [THREADS [ROUNDS]], at most %d threads\n", MOST);
        return 2;
    }
    for (long i = 1; i < threads; i++)
        if (pthread_create(&others[i], NULL, count, (void *)&counters[i].count) != 0)
            return 1;
    count((void *)&counters[0].count);
    for (long i = 1; i < threads; i++)
        pthread_join(others[i], NULL);
    for (long i = 0; i < threads; i++)
        sum += counters[i].count;
    printf("%ld\n", sum);
    return 0;
}
