/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: locks that lie side by side are one lock to the caches.
 * Truth: each of four threads takes and gives back its own lock and never waits, but the four locks, with what they
 * guard, are 16 bytes each: one line. Aligned to lines, each stays with its thread.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4
struct guarded {
#ifdef CURED
    _Alignas(64)
#endif
        atomic_int lock;
    uint64_t value;
};
static struct guarded table[THREADS] __attribute__((aligned(64)));
static _Alignas(64) uint32_t steps = 50000;

static void *work(void *own)
{
    struct guarded *const entry = own;
    for (uint32_t i = 0; i < steps; i++) {
        while (atomic_exchange_explicit(&entry->lock, 1, memory_order_acquire)) /* here */
            ;
        entry->value += i & 7;                                        /* here */
        atomic_store_explicit(&entry->lock, 0, memory_order_release); /* here */
    }
    return 0;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    uint64_t sum = 0;
    if (argc > 1)
        steps = (uint32_t)atoi(argv[1]);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], 0, work, &table[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], 0);
        sum += table[i].value;
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
