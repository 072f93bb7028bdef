/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * joint: processes that have one memory, by clone with CLONE_VM and without CLONE_VFORK or CLONE_THREAD, and wait for
 * each other: by pipes, words that change, futexes; what they map, unmap, allocate and forget; children that they fork
 * and programs that they become; members beside threads; and a lock that all of them take.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/kcmp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK = 1 << 16, PAGE = 4096, MEMBERS = 5, ROUNDS = 200 };

static struct {
    int to_child[2], to_parent[2];
    atomic_uint word, answer, lock;
    char *made, *gone;
    char *heap;
    uint64_t counts[MEMBERS + 1][PAGE / 8]; /* a page of each member's, */
    uint64_t together;                      /* and a word of all */
} now;

static long futex(atomic_uint *at, int operation, unsigned value)
{
    return syscall(SYS_futex, at, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static void await(atomic_uint *word, unsigned value)
{
    for (unsigned is; (is = *word) != value;)
        futex(word, FUTEX_WAIT, is);
}

static void tell(atomic_uint *word, unsigned value)
{
    *word = value;
    futex(word, FUTEX_WAKE, 1000);
}

static pid_t start(int (*body)(void *), void *argument)
{
    char *stack = malloc(STACK);
    fflush(stdout);
    return clone(body, stack + STACK, CLONE_VM | SIGCHLD, argument);
}

static void end(const char *what, pid_t child)
{
    int status = -1;
    const bool same = waitpid(child, &status, 0) == child;
    printf("%s: %s, status %#x\n", what, same ? "ended" : strerrorname_np(errno), (unsigned)status);
}

static int by_pipes(void *argument)
{
    char byte;
    (void)argument;
    if (read(now.to_child[0], &byte, 1) != 1)
        return 1;
    now.answer = (unsigned)byte + 1;
    return write(now.to_parent[1], "y", 1) == 1 ? pause() : 2;
}

static void pipes(void)
{
    char byte;
    const pid_t child = start(by_pipes, NULL);
    if (write(now.to_child[1], "x", 1) != 1 || read(now.to_parent[0], &byte, 1) != 1)
        exit(1);
    printf("told %c, answer %u\n", byte, now.answer);
    printf("one memory: %d\n", syscall(SYS_kcmp, getpid(), child, KCMP_VM, 0, 0) == 0);
    kill(child, SIGKILL);
    end("by pipes", child);
}

static int spins(void *argument)
{
    while (now.word == 0)
        sched_yield();
    now.word = 2;
    return argument != NULL;
}

static void spinning(void)
{
    now.word = 0;
    const pid_t child = start(spins, NULL);
    now.word = 1;
    while (now.word != 2)
        ;
    end("spinning", child);
}

/* Mappings and breaks of one are those of the other. */
static int maps(void *argument)
{
    (void)argument;
    now.made = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    strcpy(now.made + PAGE, "made");
    munmap(now.gone, PAGE);
    now.heap = sbrk(5 * PAGE);
    strcpy(now.heap + 4 * PAGE, "heap");
    tell(&now.word, 1);
    await(&now.word, 2);
    const bool is_seen = strcmp(now.made, "written by the parent") == 0;
    mprotect(now.made, PAGE, PROT_READ);
    madvise(now.made + PAGE, PAGE, MADV_DONTNEED);
    tell(&now.word, 3);
    await(&now.word, 4);
    return is_seen ? 7 : 8;
}

static void mappings(void)
{
    unsigned char resident;
    now.word = 0;
    now.gone = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const pid_t child = start(maps, NULL);
    await(&now.word, 1);
    printf("%s, %s\n", now.made + PAGE, now.heap + 4 * PAGE);
    printf("the break is that of the other: %d\n", sbrk(0) == now.heap + 5 * PAGE);
    printf("gone: %d\n", mincore(now.gone, PAGE, &resident) < 0 && errno == ENOMEM);
    strcpy(now.made, "written by the parent");
    tell(&now.word, 2);
    await(&now.word, 3);
    printf("closed: %d\n", read(open("/dev/zero", O_RDONLY), now.made, 1) < 0 && errno == EFAULT);
    printf("forgotten: %d\n", now.made[PAGE]);
    tell(&now.word, 4);
    end("mappings", child);
}

/* A child of fork has a copy, another program nothing. */
static int forks(void *argument)
{
    const pid_t child = fork();
    int status;
    if (child == 0) {
        now.word = 99;
        _exit(3);
    }
    waitpid(child, &status, 0);
    now.answer = now.word;
    tell(&now.word, 1);
    await(&now.word, 2);
    execv("/bin/true", (char *[]){argument, NULL});
    return 1;
}

static void others(void)
{
    now.word = 5;
    const pid_t child = start(forks, "true");
    while (now.word == 5)
        futex(&now.word, FUTEX_WAIT, 5);
    printf("a copy's doing is not seen: %d\n", now.answer == 5);
    tell(&now.word, 2);
    end("another program", child);
    printf("still %u\n", now.word);
}

static void take(void)
{
    for (unsigned is = 0; !atomic_compare_exchange_strong(&now.lock, &is, 1); is = 0)
        futex(&now.lock, FUTEX_WAIT, 1);
}

static void give(void)
{
    now.lock = 0;
    futex(&now.lock, FUTEX_WAKE, 1);
}

/* Pages of its own, and one of all, between locks. */
static int counts(void *argument)
{
    const uintptr_t number = (uintptr_t)argument;
    for (unsigned i = 0; i < ROUNDS; i++) {
        now.counts[number][i % (PAGE / 8)] += i * number;
        take();
        const uint64_t was = now.together;
        if (i % 50 == number)
            sched_yield();
        now.together = was + number;
        give();
    }
    return (int)number;
}

static void *counts_as_thread(void *argument) { return (void *)(uintptr_t)counts(argument); }

static void together(void)
{
    pid_t child[MEMBERS];
    pthread_t thread;
    uint64_t sum = 0;
    pthread_create(&thread, NULL, counts_as_thread, (void *)MEMBERS);
    for (uintptr_t i = 0; i < MEMBERS; i++)
        child[i] = start(counts, (void *)i);
    pthread_join(thread, NULL);
    for (int i = 0; i < MEMBERS; i++)
        end("one of several", child[i]);
    for (int i = 0; i <= MEMBERS; i++)
        for (int k = 0; k < PAGE / 8; k++)
            sum += now.counts[i][k];
    printf("each for itself %llu, together %llu\n", (unsigned long long)sum, (unsigned long long)now.together);
}

int main(void)
{
    if (pipe(now.to_child) < 0 || pipe(now.to_parent) < 0)
        return 1;
    pipes();
    spinning();
    mappings();
    others();
    together();
}
