/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Arrays on the stacks of several threads, and thread-local ones: stacks [exit]. Each thread sweeps `table` as often as
 * its number says, and counts in its `counters`; then another one starts where the second was. With `exit` it ends by
 * pthread_exit in the midst of the function, with the array alive.
 */
#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 3, SIZE = 2048, COUNTERS = 64 };
static __thread volatile long counters[COUNTERS];
static int leaves;

__attribute__((noinline)) static void sweep(long times)
{
    volatile double table[SIZE];
    for (long i = 0; i < SIZE; i++)
        table[i] = 0;
    for (long n = 0; n < times; n++)
        for (long i = 0; i < SIZE; i++) {
            table[i] = table[i] + 1;
            counters[i % COUNTERS]++;
        }
    if (leaves && times == THREADS)
        pthread_exit(NULL);
}

static void *run(void *times)
{
    sweep((long)times);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    (void)argv;
    leaves = argc > 1;
    for (long i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, run, (void *)(i + 1)) != 0)
            return 1;
    sweep(2);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    if (pthread_create(&threads[0], NULL, run, (void *)1l) != 0)
        return 1;
    pthread_join(threads[0], NULL);
    return 0;
}
