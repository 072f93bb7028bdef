/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * words: says how many waiters of other processes a futex call wakes or moves, and what they find.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 100 };
static uint32_t *words; /* a page that all share */

static long futex(uint32_t *at, int operation, uint32_t value, long second, uint32_t *to, uint32_t third)
{
    return syscall(SYS_futex, at, operation, value, second, to, third);
}

static void say(const char *what, long value)
{
    if (value < 0)
        printf("%s: %s\n", what, strerrorname_np(errno));
    else
        printf("%s: %ld\n", what, value);
    fflush(stdout);
}

static bool sleeps(pid_t pid)
{
    char path[64], state = '?';
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    const bool known = file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1;
    if (file)
        fclose(file);
    return known && state == 'S';
}

/* Child number i does that, and sleeps; its exit status is what it returns. */
static pid_t start(int (*body)(int), int i)
{
    const struct timespec time = {.tv_nsec = 2000000};
    const pid_t pid = fork();
    if (pid == 0)
        _exit(body(i));
    while (!sleeps(pid))
        nanosleep(&time, NULL);
    return pid;
}

static void end(const char *what, pid_t pid)
{
    int status;
    waitpid(pid, &status, 0);
    printf("%s: %d\n", what, WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    fflush(stdout);
}

/* ------------------------------------------------------------------ one word, two words */

static int waits(int i) { return futex(&words[0], FUTEX_WAIT, 0, 0, NULL, 0) == 0 ? i : 100 + errno; }

static int waits_for_bit(int i)
{
    return futex(&words[0], FUTEX_WAIT_BITSET, 0, 0, NULL, 1u << i) == 0 ? i : 100 + errno;
}

static void wake(void)
{
    pid_t pid[3];
    for (int i = 0; i < 3; i++)
        pid[i] = start(waits, i + 1);
    say("another word", futex(&words[1], FUTEX_WAKE, MOST, 0, NULL, 0));
    say("two of three", futex(&words[0], FUTEX_WAKE, 2, 0, NULL, 0));
    say("the third", futex(&words[0], FUTEX_WAKE, MOST, 0, NULL, 0));
    say("nobody", futex(&words[0], FUTEX_WAKE, MOST, 0, NULL, 0));
    for (int i = 0; i < 3; i++)
        end("a waiter", pid[i]);
    const pid_t first = start(waits_for_bit, 0), second = start(waits_for_bit, 1);
    say("another bit", futex(&words[0], FUTEX_WAKE_BITSET, MOST, 0, NULL, 4));
    say("the second bit", futex(&words[0], FUTEX_WAKE_BITSET, MOST, 0, NULL, 2));
    end("its waiter", second);
    say("the first word, and not the second",
        futex(&words[1], FUTEX_WAKE_OP, MOST, MOST, &words[0], FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0)));
    end("its waiter", first);
}

static void requeue(void)
{
    pid_t pid[5];
    for (int i = 0; i < 5; i++)
        pid[i] = start(waits, i + 1);
    say("another value", futex(&words[0], FUTEX_CMP_REQUEUE, 1, 2, &words[1], 1));
    say("one woken, two moved", futex(&words[0], FUTEX_CMP_REQUEUE, 1, 2, &words[1], 0));
    say("where they were", futex(&words[0], FUTEX_WAKE, 1, 0, NULL, 0));
    say("where they are", futex(&words[1], FUTEX_WAKE, 1, 0, NULL, 0));
    say("moved back", futex(&words[1], FUTEX_REQUEUE, 0, MOST, &words[0], 0));
    say("all", futex(&words[0], FUTEX_WAKE, MOST, 0, NULL, 0));
    for (int i = 0; i < 5; i++)
        end("a waiter", pid[i]);
}

/* ------------------------------------------------------------------ the same memory, and other memory */

static int file, segment;

static int waits_elsewhere(int i)
{
    mmap(NULL, 40960, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint32_t *at = i ? shmat(segment, NULL, 0) : mmap(NULL, 8192, PROT_READ, MAP_SHARED, file, 0);
    return futex(&at[1024 + i], FUTEX_WAIT, 0, 0, NULL, 0) == 0 ? 7 : 100 + errno;
}

static int waits_in_own(int i)
{
    static uint32_t copy;
    uint32_t *at = i ? mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) : &copy;
    return futex(at, FUTEX_WAIT, 0, 0, NULL, 0) == 0 ? 8 : 100 + errno;
}

static int waits_privately(int i)
{
    return futex(&words[i], FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, 0, NULL, 0) == 0 ? 9 : 100 + errno;
}

static void memories(void)
{
    file = memfd_create("words", 0);
    if (ftruncate(file, 8192) < 0)
        exit(1);
    segment = shmget(IPC_PRIVATE, 8192, IPC_CREAT | 0600);
    const uint32_t *shown = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 4096);
    uint32_t *attached = shmat(segment, NULL, 0);
    const pid_t of_file = start(waits_elsewhere, 0), of_segment = start(waits_elsewhere, 1);
    say("a file, from its second page on", futex((uint32_t *)(uintptr_t)shown, FUTEX_WAKE, MOST, 0, NULL, 0));
    end("its waiter", of_file);
    say("a segment", futex(&attached[1025], FUTEX_WAKE, MOST, 0, NULL, 0));
    end("its waiter", of_segment);
    shmctl(segment, IPC_RMID, NULL);

    const pid_t of_copy = start(waits_in_own, 0), of_own = start(waits_in_own, 1);
    uint32_t *own = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    say("its own shared memory", futex(own, FUTEX_WAKE, MOST, 0, NULL, 0));
    const pid_t private = start(waits_privately, 2);
    say("a private wait", futex(&words[2], FUTEX_WAKE, MOST, 0, NULL, 0));
    say("a private wake", futex(&words[2], FUTEX_WAKE | FUTEX_PRIVATE_FLAG, MOST, 0, NULL, 0));
    const pid_t killed = start(waits, 1);
    for (int i = 0; i < 4; i++)
        kill((const pid_t[]){of_copy, of_own, private, killed}[i], SIGKILL);
    end("one of a copy", of_copy);
    end("one of its own", of_own);
    end("one that is private", private);
    end("one that is killed", killed);
    say("nobody is left", futex(&words[0], FUTEX_WAKE, MOST, 0, NULL, 0));
}

/* ------------------------------------------------------------------ several words, words with an owner */

static int waits_for_words(int i)
{
    struct futex_waitv list[2] = {{.uaddr = (uintptr_t)&words[0], .flags = FUTEX_32},
                                  {.uaddr = (uintptr_t)&words[1], .flags = FUTEX_32}};
    return (int)syscall(SYS_futex_waitv, list, 2, 0, NULL, 0) + i;
}

static int takes(int i)
{
    const long got = futex(&words[4], FUTEX_LOCK_PI, 0, 0, NULL, 0);
    const bool owns = (words[4] & FUTEX_TID_MASK) == (uint32_t)getpid();
    return got == 0 && owns && futex(&words[4], FUTEX_UNLOCK_PI, 0, 0, NULL, 0) == 0 ? i : 100 + errno;
}

static int waits_to_take(int i)
{
    const long got = futex(&words[0], FUTEX_WAIT_REQUEUE_PI, 0, 0, &words[4], 0);
    const bool owns = (words[4] & FUTEX_TID_MASK) == (uint32_t)getpid();
    return got == 0 && owns && futex(&words[4], FUTEX_UNLOCK_PI, 0, 0, NULL, 0) == 0 ? i : 100 + errno;
}

static void owners(void)
{
    pid_t pid[3];
    pid[0] = start(waits_for_words, 10);
    say("the second of two", futex(&words[1], FUTEX_WAKE, MOST, 0, NULL, 0));
    end("it was", pid[0]);
    say("lock", futex(&words[4], FUTEX_LOCK_PI, 0, 0, NULL, 0));
    pid[0] = start(takes, 1);
    pid[1] = start(takes, 2);
    say("others wait", !!(words[4] & FUTEX_WAITERS));
    say("unlock", futex(&words[4], FUTEX_UNLOCK_PI, 0, 0, NULL, 0));
    end("the first", pid[0]);
    end("the second", pid[1]);
    say("nobody has it", words[4]);
    for (int i = 0; i < 3; i++)
        pid[i] = start(waits_to_take, i + 1);
    say("moved to the lock", futex(&words[0], FUTEX_CMP_REQUEUE_PI, 1, MOST, &words[4], 0));
    for (int i = 0; i < 3; i++)
        end("it had the lock", pid[i]);
}

int main(void)
{
    words = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    wake();
    requeue();
    memories();
    owners();
    return 0;
}
