/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: threads that draw each small item from one counter wait for the counter.
 * Truth: four threads take the number of their next item by an atomic addition: its line goes from core to core with
 * each item. By chunks of 128, it goes a hundredth as often.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef CURED
#define CHUNK 128
#else
#define CHUNK 1
#endif
static _Alignas(64) atomic_uint next_item;
static _Alignas(64) uint32_t items = 1 << 17;
static struct {
    _Alignas(64) uint64_t sum;
} results[4];

static void *work(void *own)
{
    uint64_t sum = 0;
    for (;;) {
        const uint32_t begin = atomic_fetch_add_explicit(&next_item, CHUNK, memory_order_relaxed); /* here */
        if (begin >= items)
            break;
        for (uint32_t item = begin; item < begin + CHUNK; item++)
            sum += item * 2654435761u >> 7;
    }
    *(uint64_t *)own = sum;
    return 0;
}

int main(int argc, char **argv)
{
    pthread_t threads[4];
    uint64_t sum = 0;
    if (argc > 1)
        items = (uint32_t)atoi(argv[1]) / 128 * 128;
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, work, &results[i].sum);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], 0);
        sum += results[i].sum;
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
