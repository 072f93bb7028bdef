/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * sharing: four threads that count to a thousand, each for itself.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

enum { THREADS = 4, ROUNDS = 1000 };

/* Yours. */
struct counter {
    volatile long count;
};

static _Alignas(64) struct counter counters[THREADS];
_Static_assert(sizeof counters <= 256, "four lines are enough");
static pthread_barrier_t all_there;

/* Between two additions it is the turn of the others. */
static void *count(void *self)
{
    struct counter *mine = self;
    long counted = 0;
    pthread_barrier_wait(&all_there);
    for (int i = 0; i < ROUNDS; i++) {
        counted = ++mine->count;
        sched_yield();
    }
    return (void *)counted;
}

int main(void)
{
    pthread_t thread[THREADS];
    pthread_barrier_init(&all_there, NULL, THREADS);
    for (int i = 1; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, count, &counters[i]) != 0)
            return 1;
    long sum = (long)count(&counters[0]);
    for (int i = 1; i < THREADS; i++) {
        void *counted;
        pthread_join(thread[i], &counted);
        sum += (long)counted;
    }
    printf("%ld\n", sum);
    return 0;
}
