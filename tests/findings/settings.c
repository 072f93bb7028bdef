/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: what all threads read must not lie beside what one of them writes.
 * Truth: three threads only read the limit, and one counts in the word beside it: each of its writes takes the line
 * from the readers, which read no byte that was written. The counter on a line of its own leaves the readers alone.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
    _Alignas(64) volatile uint32_t limit;
#ifdef CURED
    _Alignas(64)
#endif
        volatile uint32_t events;
} settings = {1000, 0};
static struct {
    _Alignas(64) uint64_t found;
} results[3];
static _Alignas(64) uint32_t steps = 60000;

static void *reader(void *own)
{
    uint64_t found = 0;
    for (uint32_t i = 0; i < steps; i++)
        found += (i * 2654435761u >> 20) < settings.limit; /* here */
    *(uint64_t *)own = found;
    return 0;
}

static void *writer(void *unused)
{
    for (uint32_t i = 0; i < steps; i++)
        settings.events = settings.events + 1; /* here */
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[4];
    if (argc > 1)
        steps = (uint32_t)atoi(argv[1]);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, reader, &results[i].found);
    pthread_create(&threads[3], 0, writer, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    printf("%llu %u\n", (unsigned long long)(results[0].found + results[1].found + results[2].found), settings.events);
    return 0;
}
