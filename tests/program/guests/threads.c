/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * threads WHAT N: N threads that use what libraries of threads have; prints sums that do not depend on their order.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST 64
static int count;
static pthread_t thread[MOST];
static _Thread_local long own;

static void run(void *(*work)(void *))
{
    for (long i = 0; i < count; i++)
        if (pthread_create(&thread[i], NULL, work, (void *)i) != 0)
            exit(2);
}

static long join(void)
{
    long sum = 0;
    for (int i = 0; i < count; i++) {
        void *result;
        if (pthread_join(thread[i], &result) != 0)
            exit(3);
        sum += (long)result;
    }
    return sum;
}

/* ------------------------------------------------------------------ mutex, condition, barrier, rwlock, semaphore */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static long total, ready;

static void *locks_work(void *argument)
{
    own = (long)argument + 1;
    for (int i = 0; i < 300; i++) {
        pthread_mutex_lock(&mutex);
        total += own;
        pthread_mutex_unlock(&mutex);
    }
    pthread_barrier_wait(&barrier);
    pthread_rwlock_rdlock(&rwlock);
    const long seen = total; /* no thread writes any more */
    pthread_rwlock_unlock(&rwlock);
    pthread_rwlock_wrlock(&rwlock);
    ready++;
    pthread_rwlock_unlock(&rwlock);
    sem_post(&semaphore);
    pthread_mutex_lock(&mutex);
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&mutex);
    return (void *)(seen + own);
}

static void locks(void)
{
    pthread_barrier_init(&barrier, NULL, (unsigned)count);
    sem_init(&semaphore, 0, 0);
    run(locks_work);
    pthread_mutex_lock(&mutex);
    while (ready < count)
        pthread_cond_wait(&cond, &mutex);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < count; i++)
        sem_wait(&semaphore);
    printf("locks %ld %ld %ld\n", total, ready, join());
}

/* ------------------------------------------------------------------ spinning, and giving up one's turn */
static atomic_long passed;
static void *yield_work(void *argument)
{
    (void)argument;
    for (int round = 1; round <= 20; round++) {
        atomic_fetch_add(&passed, 1);
        while (atomic_load(&passed) < (long)round * count)
            if (round % 2)
                sched_yield();
    }
    return (void *)1;
}

static void spins(void)
{
    run(yield_work);
    long sum = join();
    printf("spins %ld %ld\n", sum, atomic_load(&passed));
}

/* ------------------------------------------------------------------ time: sleeps overlap */
static void *sleep_work(void *argument)
{
    struct timespec time = {0, ((long)argument + 1) * 1000000};
    nanosleep(&time, NULL);
    return NULL;
}

static void sleeps(void)
{
    struct timespec before, after, until;
    clock_gettime(CLOCK_MONOTONIC, &before);
    run(sleep_work);
    join();
    clock_gettime(CLOCK_MONOTONIC, &after);
    const long ms = (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    pthread_mutex_lock(&mutex);
    const int status = pthread_cond_timedwait(&cond, &mutex, &until);
    pthread_mutex_unlock(&mutex);
    printf("sleeps %s %s\n", ms >= count && ms < count + 40 ? "overlap" : "do not overlap", strerror(status));
}

/* ------------------------------------------------------------------ pipes */
static int pipes[MOST + 1][2];
#define BYTES 200000

static void *pipe_work(void *argument)
{
    char buffer[4096];
    const long i = (long)argument;
    ssize_t got;
    long sum = 0;
    while ((got = read(pipes[i][0], buffer, sizeof buffer)) > 0) {
        sum += got;
        if (write(pipes[i + 1][1], buffer, (size_t)got) != got)
            exit(4);
    }
    close(pipes[i + 1][1]);
    return (void *)sum;
}

static void *pipe_write(void *argument)
{
    char *all = calloc(1, BYTES);
    const ssize_t put = write(pipes[0][1], all, BYTES);
    close(pipes[0][1]);
    free(all);
    (void)argument;
    return (void *)put;
}

static void chain(void)
{
    char buffer[1000];
    pthread_t writer;
    void *written;
    long sum = 0;
    ssize_t got;
    for (int i = 0; i <= count; i++)
        if (pipe(pipes[i]) != 0)
            exit(5);
    run(pipe_work);
    pthread_create(&writer, NULL, pipe_write, NULL);
    while ((got = read(pipes[count][0], buffer, sizeof buffer)) > 0)
        sum += got;
    pthread_join(writer, &written);
    printf("chain %ld %ld %ld\n", sum, join() / count, (long)written);
}

/* ------------------------------------------------------------------ cancelled, detached, exited */
static pthread_key_t key;
static atomic_long destroyed, cleaned, detached;
static void destroy(void *value) { atomic_fetch_add(&destroyed, (long)value); }
static void clean(void *value) { atomic_fetch_add(&cleaned, (long)value); }

static void *cancel_work(void *argument)
{
    pthread_setspecific(key, (void *)((long)argument + 1));
    pthread_cleanup_push(clean, (void *)1);
    sem_post(&semaphore);
    for (;;)
        sleep(1000);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *detached_work(void *argument)
{
    (void)argument;
    atomic_fetch_add(&detached, 1);
    sem_post(&semaphore);
    pthread_exit(NULL);
}

static void cancels(void)
{
    long cancelled = 0;
    pthread_attr_t attributes;
    pthread_t other;
    pthread_key_create(&key, destroy);
    sem_init(&semaphore, 0, 0);
    run(cancel_work);
    for (int i = 0; i < count; i++)
        sem_wait(&semaphore);
    for (int i = 0; i < count; i++)
        pthread_cancel(thread[i]);
    for (int i = 0; i < count; i++) {
        void *result;
        pthread_join(thread[i], &result);
        cancelled += result == PTHREAD_CANCELED;
    }
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_create(&other, &attributes, detached_work, NULL);
    sem_wait(&semaphore);
    printf("cancels %ld %ld %ld %ld\n", cancelled, atomic_load(&destroyed), atomic_load(&cleaned),
           atomic_load(&detached));
}

/* ------------------------------------------------------------------ robust mutexes, and those with inheritance */
static pthread_mutex_t robust, inherits;

static void *leave_locked(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&robust);
    return NULL;
}

static void *inherit_work(void *argument)
{
    (void)argument;
    for (int i = 0; i < 200; i++) {
        pthread_mutex_lock(&inherits);
        const long seen = total;
        if (i % 16 == 0)
            sched_yield();
        total = seen + 1;
        pthread_mutex_unlock(&inherits);
    }
    return NULL;
}

static void make_mutex(pthread_mutex_t *made, int is_robust, int protocol)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, is_robust);
    pthread_mutexattr_setprotocol(&attributes, protocol);
    if (pthread_mutex_init(made, &attributes) != 0)
        exit(6);
}

static void owners(void)
{
    static const int protocols[] = {PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT};
    int died = 0;
    for (int i = 0; i < 2; i++) {
        pthread_t other;
        make_mutex(&robust, PTHREAD_MUTEX_ROBUST, protocols[i]);
        pthread_create(&other, NULL, leave_locked, NULL);
        pthread_join(other, NULL);
        if (pthread_mutex_lock(&robust) == EOWNERDEAD)
            died += pthread_mutex_consistent(&robust) == 0 && pthread_mutex_unlock(&robust) == 0;
        died += pthread_mutex_trylock(&robust) == 0;
    }
    make_mutex(&inherits, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT);
    run(inherit_work);
    join();
    printf("owners %d %ld\n", died, total);
}

/* ------------------------------------------------------------------ calls: they cost what their own thread executes */
__attribute__((noinline, noclone)) long inner(long x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 3 + 1;
}

__attribute__((noinline, noclone)) long outer(long rounds)
{
    long sum = 0;
    for (long i = 0; i < rounds; i++)
        sum += inner(i);
    return sum;
}

static void *call_work(void *argument) { return (void *)outer(1000 * ((long)argument + 1)); }

static void calls(void)
{
    run(call_work);
    printf("calls %ld\n", join());
}

/* ------------------------------------------------------------------ what comes from outside */
static void *busy_work(void *argument)
{
    for (int round = 0; round < 5; round++) {
        outer(20000);
        printf("%ld.%d ", (long)argument, round);
        fflush(stdout);
    }
    return NULL;
}

/* The first thread waits for its input, the others work. */
static void input(void)
{
    char text[16] = "";
    struct pollfd fds[2] = {{.fd = 0, .events = POLLIN}, {.events = POLLIN}};
    if (pipe(pipes[0]) != 0)
        exit(5);
    fds[1].fd = pipes[0][0];
    run(busy_work);
    const int ready = poll(fds, 2, -1);
    const ssize_t got = read(0, text, sizeof text - 1);
    printf("input %d %zd %s", ready, got, text);
    join();
}

/* ------------------------------------------------------------------ a deadlock */
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;

static void *other_way(void *argument)
{
    pthread_mutex_lock(&second);
    usleep(10);
    pthread_mutex_lock(&first);
    return argument;
}

static void deadlock(void)
{
    count = 1;
    run(other_way);
    pthread_mutex_lock(&first);
    usleep(10);
    pthread_mutex_lock(&second);
}

/* The first thread ends before the others; the status is its own. */
static void *late(void *argument)
{
    usleep(100);
    printf("late %ld\n", (long)argument);
    fflush(stdout);
    return NULL;
}

static void leaves(void)
{
    run(late);
    pthread_exit((void *)7);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"locks", locks},   {"spins", spins},   {"sleeps", sleeps},     {"chain", chain},
               {"cancels", cancels}, {"owners", owners}, {"deadlock", deadlock}, {"leaves", leaves},
               {"calls", calls},     {"input", input}};
    count = argc > 2 ? atoi(argv[2]) : 4;
    for (unsigned i = 0; argc > 1 && i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, argv[1]) == 0)
            all[i].run();
    return 0;
}
