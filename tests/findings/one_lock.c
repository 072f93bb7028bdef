/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: a lock that is taken for each small thing goes from core to core each time.
 * Truth: four threads enter each item into a table under one lock, which has a line of its own. Each time that another
 * core took the lock last its line comes from there, and some of the table's. With 64 items for each time that the
 * lock is taken, lock and table change cores a sixty-fourth as often.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4
#define BINS 512
#define BATCH 64
static struct {
    _Alignas(64) pthread_mutex_t mutex;
} lock = {PTHREAD_MUTEX_INITIALIZER};
static _Alignas(64) uint32_t table[BINS];
static int items = 20000;

static void *enter(void *argument)
{
    uint32_t random = (uint32_t)(intptr_t)argument;
#ifdef CURED
    uint32_t batch[BATCH];
    for (int i = 0; i < items; i += BATCH) {
        const int count = items - i < BATCH ? items - i : BATCH;
        for (int k = 0; k < count; k++) {
            random = random * 1664525 + 1013904223;
            batch[k] = random >> 23;
        }
        pthread_mutex_lock(&lock.mutex);
        for (int k = 0; k < count; k++)
            table[batch[k]]++;
        pthread_mutex_unlock(&lock.mutex);
    }
#else
    for (int i = 0; i < items; i++) {
        random = random * 1664525 + 1013904223;
        pthread_mutex_lock(&lock.mutex); /* here */
        table[random >> 23]++;
        pthread_mutex_unlock(&lock.mutex); /* here */
    }
#endif
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    uint32_t sum = 0;
    items = argc > 1 ? atoi(argv[1]) : items;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, enter, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (uint32_t i = 0; i < BINS; i++)
        sum = sum * 31 + table[i];
    printf("%u\n", sum);
    return 0;
}
