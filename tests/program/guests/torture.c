/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * torture futex|signals THREADS ROUNDS SEED: threads that do at random what can be done with futexes, or signals.
 * Prints a state that does not depend on their order: what was counted twice must agree, and no thread may be left.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MOST 32
#define LOCKS 5
static int threads, rounds;
static uint64_t seed;
static pthread_t thread[MOST];

static uint32_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static long futex(void *word, int operation, uint32_t value, void *time, void *other, uint32_t last)
{
    return syscall(SYS_futex, word, operation, value, time, other, last);
}

/* ------------------------------------------------------------------ futexes */
static pthread_mutex_t lock[LOCKS];
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t tokens;
static long under[LOCKS], sum_shared, queued, taken, produced;
static atomic_int raw, parked[2];
static atomic_long raw_count, own[LOCKS], own_shared, spent;

/* A mutex of two states and one word, with the bits that a waiter asks for. */
static void raw_lock(uint32_t bits)
{
    int seen = 0;
    if (atomic_compare_exchange_strong(&raw, &seen, 1))
        return;
    while (atomic_exchange(&raw, 2) != 0)
        futex(&raw, FUTEX_WAIT_BITSET_PRIVATE, 2, NULL, NULL, bits);
}

static void raw_unlock(void)
{
    if (atomic_exchange(&raw, 0) == 2)
        futex(&raw, FUTEX_WAKE_BITSET_PRIVATE, 1, NULL, NULL, FUTEX_BITSET_MATCH_ANY);
}

static void with_trylock(uint64_t *state)
{
    const uint32_t i = draw(state) % LOCKS;
    if (pthread_mutex_trylock(&lock[i]) != 0)
        return;
    under[i]++;
    atomic_fetch_add(&own[i], 1);
    pthread_mutex_unlock(&lock[i]);
}

static void with_timed(uint64_t *state)
{
    const uint32_t i = draw(state) % LOCKS;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += draw(state) % 2;
    const bool yields = draw(state) % 8 == 0; /* what is drawn depends on no other thread */
    if (pthread_mutex_timedlock(&lock[i], &until) != 0)
        return;
    under[i]++;
    if (yields)
        sched_yield();
    atomic_fetch_add(&own[i], 1);
    pthread_mutex_unlock(&lock[i]);
}

static void with_rwlock(uint64_t *state)
{
    if (draw(state) % 3) {
        pthread_rwlock_rdlock(&shared);
        atomic_fetch_add(&spent, sum_shared >= 0);
    } else {
        pthread_rwlock_wrlock(&shared);
        sum_shared++;
        atomic_fetch_add(&own_shared, 1);
    }
    pthread_rwlock_unlock(&shared);
}

static void produce(void)
{
    pthread_mutex_lock(&queue_lock);
    queued++;
    produced++;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&queue_lock);
}

static void consume(uint64_t *state)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += draw(state) % 1000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_mutex_lock(&queue_lock);
    int status = 0;
    while (queued == 0 && status == 0)
        status = pthread_cond_timedwait(&cond, &queue_lock, &until);
    if (queued > 0) {
        queued--;
        taken++;
    }
    pthread_mutex_unlock(&queue_lock);
}

/* Threads park at one word, and are moved to another one; the mover wakes all in the end. */
static void park(uint64_t *state)
{
    struct timespec some = {0, 1000 + draw(state) % 5000};
    const int seen = atomic_load(&parked[0]);
    futex(&parked[0], FUTEX_WAIT_PRIVATE, (uint32_t)seen, &some, NULL, 0);
}

static void unpark(uint64_t *state)
{
    const int seen = atomic_fetch_add(&parked[0], 1) + 1;
    if (draw(state) % 2)
        futex(&parked[0], FUTEX_CMP_REQUEUE_PRIVATE, 1, (void *)(long)MOST, &parked[1], (uint32_t)seen);
    futex(&parked[0], FUTEX_WAKE_OP_PRIVATE, MOST, (void *)(long)MOST, &parked[1],
          FUTEX_OP(FUTEX_OP_ADD, 1, FUTEX_OP_CMP_GE, 0));
}

static void with_raw(uint64_t *state)
{
    raw_lock(1u << draw(state) % 4);
    const long seen = atomic_load_explicit(&raw_count, memory_order_relaxed);
    if (draw(state) % 4 == 0)
        sched_yield();
    atomic_store_explicit(&raw_count, seen + 1, memory_order_relaxed);
    raw_unlock();
}

static void with_tokens(void)
{
    sem_wait(&tokens);
    sched_yield();
    sem_post(&tokens);
}

static void *futex_work(void *argument)
{
    uint64_t state = seed + (uint64_t)(uintptr_t)argument * 977;
    long raws = 0;
    for (int i = 0; i < rounds; i++) {
        switch (draw(&state) % 9) {
        case 0:
            with_timed(&state);
            break;
        case 1:
            with_trylock(&state);
            break;
        case 2:
            with_rwlock(&state);
            break;
        case 3:
            produce();
            break;
        case 4:
            consume(&state);
            break;
        case 5:
            park(&state);
            break;
        case 6:
            unpark(&state);
            break;
        case 7:
            with_raw(&state);
            raws++;
            break;
        default:
            with_tokens();
        }
        if (i % (rounds / 4 + 1) == 0)
            pthread_barrier_wait(&barrier);
    }
    return (void *)raws;
}

static void make_locks(void)
{
    static const int kinds[LOCKS] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                                     PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_MUTEX_NORMAL};
    for (int i = 0; i < LOCKS; i++) {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_settype(&attributes, kinds[i]);
        pthread_mutexattr_setprotocol(&attributes, i == 4 ? PTHREAD_PRIO_INHERIT : PTHREAD_PRIO_NONE);
        pthread_mutex_init(&lock[i], &attributes);
    }
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    sem_init(&tokens, 0, (unsigned)threads / 2 + 1);
}

static long run(void *(*work)(void *))
{
    long sum = 0;
    for (long i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, work, (void *)i) != 0)
            exit(2);
    for (int i = 0; i < threads; i++) {
        void *result;
        pthread_join(thread[i], &result);
        sum += (long)result;
    }
    return sum;
}

static void futexes(void)
{
    make_locks();
    const long raws = run(futex_work);
    int left = 0, agree = sum_shared == own_shared;
    for (int i = 0; i < LOCKS; i++)
        agree += under[i] == own[i];
    sem_getvalue(&tokens, &left);
    printf("raw %ld %ld agree %d queue %d tokens %d free %d\n", raws, raw_count, agree, produced == taken + queued,
           left, raw);
}

/* ------------------------------------------------------------------ signals */
static atomic_long sent, received, sums_sent, sums_received, ticks, interrupted;
static __thread volatile long depth;

static void on_real_time(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    depth++;
    atomic_fetch_add(&received, 1);
    atomic_fetch_add(&sums_received, info->si_value.sival_int);
    depth--;
}

static void on_tick(int signal)
{
    (void)signal;
    atomic_fetch_add(&ticks, 1);
}

static void send_one(uint64_t *state)
{
    const int to = (int)(draw(state) % (unsigned)threads), value = (int)(draw(state) % 1000);
    const int number = SIGRTMIN + 2 + (int)(draw(state) % 3);
    /* to a thread that is there until all have come to the barrier, or to the process */
    if ((draw(state) % 4 ? pthread_sigqueue(thread[to], number, (union sigval){.sival_int = value})
                         : sigqueue(getpid(), number, (union sigval){.sival_int = value})) != 0)
        return;
    atomic_fetch_add(&sent, 1);
    atomic_fetch_add(&sums_sent, value);
}

static void hold(uint64_t *state)
{
    sigset_t some, old;
    sigemptyset(&some);
    sigaddset(&some, SIGRTMIN + 2 + (int)(draw(state) % 3));
    pthread_sigmask(SIG_BLOCK, &some, &old);
    sched_yield();
    struct timespec none = {0, draw(state) % 2000};
    siginfo_t info;
    if (sigtimedwait(&some, &info, &none) > 0) {
        atomic_fetch_add(&received, 1);
        atomic_fetch_add(&sums_received, info.si_value.sival_int);
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void rest(uint64_t *state)
{
    struct timespec some = {0, 500 + draw(state) % 5000};
    if (nanosleep(&some, NULL) != 0)
        atomic_fetch_add(&interrupted, errno == EINTR);
}

static void *signal_work(void *argument)
{
    uint64_t state = seed + (uint64_t)(uintptr_t)argument * 977;
    static char stacks[MOST][65536];
    stack_t other = {.ss_sp = stacks[(long)argument], .ss_size = sizeof stacks[0]};
    sigaltstack(&other, NULL);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < rounds; i++) {
        switch (draw(&state) % 4) {
        case 0:
        case 1:
            send_one(&state);
            break;
        case 2:
            hold(&state);
            break;
        default:
            rest(&state);
        }
    }
    pthread_barrier_wait(&barrier);
    while (atomic_load(&received) < atomic_load(&sent))
        sched_yield();
    pthread_barrier_wait(&barrier);
    return (void *)depth;
}

static void signals(void)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    struct sigaction tick = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec on = {{0, 100000}, {0, 100000}}, off = {{0, 0}, {0, 0}};
    timer_t timer;
    action.sa_sigaction = on_real_time;
    for (int i = 0; i < 3; i++) {
        if (i == 1)
            action.sa_flags |= SA_NODEFER;
        sigaction(SIGRTMIN + 2 + i, &action, NULL);
    }
    sigaction(SIGUSR1, &tick, NULL);
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &on, NULL);
    const long left = run(signal_work);
    timer_settime(timer, 0, &off, NULL);
    printf("received %d sums %d left %ld ticks %d\n", sent == received, sums_sent == sums_received, left, ticks > 0);
    fprintf(stderr, "%ld signals, %ld ticks, %ld sleeps interrupted\n", (long)sent, (long)ticks, (long)interrupted);
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 1;
    threads = atoi(argv[2]);
    rounds = atoi(argv[3]);
    seed = strtoull(argv[4], NULL, 10);
    if (argv[1][0] == 'f')
        futexes();
    else
        signals();
    return 0;
}
