/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A producer and a consumer: handoff [ROUNDS]
 *
 * The lesson: a message of one line goes from one core to the other each time. That is what lines are exchanged for:
 * true sharing, and no padding helps (`--set cores=2`). The number of the thread in turn lies in a line of its own.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define LINE 64
#define WORDS (LINE / sizeof(long))
enum { PRODUCER, CONSUMER };

static _Alignas(LINE) volatile long message[WORDS];
static _Alignas(LINE) struct {
    atomic_int who;
    char rest[LINE - sizeof(atomic_int)];
} turn;
static long rounds;

static void wait_for(int who)
{
    while (atomic_load(&turn.who) != who)
        sched_yield();
}

static void *produce(void *none)
{
    (void)none;
    for (long i = 0; i < rounds; i++) {
        wait_for(PRODUCER);
        for (unsigned k = 0; k < WORDS; k++)
            message[k] = i + k;
        atomic_store(&turn.who, CONSUMER);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t producer;
    long sum = 0;
    rounds = argc > 1 ? atol(argv[1]) : 1000;
    if (rounds < 1 || pthread_create(&producer, NULL, produce, NULL) != 0)
        return 2;
    for (long i = 0; i < rounds; i++) {
        wait_for(CONSUMER);
        for (unsigned k = 0; k < WORDS; k++)
            sum += message[k];
        atomic_store(&turn.who, PRODUCER);
    }
    pthread_join(producer, NULL);
    printf("%ld\n", sum);
    return 0;
}
