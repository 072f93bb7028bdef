/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * remote: process_vm_readv and process_vm_writev. Which errors there are; how far a transfer goes where memory of one
 * side cannot be had; the own memory; that of children that wait, are stopped, have the memory too, have touched none of
 * it, have ended.
 *
 * remote denied: a child whose memory nobody else may look into, which only a user with rights can do natively.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 16, LARGE = 700 << 10, NOBODY = 4000000 };

static int to_child[2], to_parent[2];

static void say(const char *what, long value)
{
    if (value < 0)
        printf("%s: %s\n", what, strerrorname_np(errno));
    else
        printf("%s: %ld\n", what, value);
}

static char *pages(int count, int prot)
{
    return mmap(NULL, (size_t)count * PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void tell(int fd)
{
    if (write(fd, "x", 1) != 1)
        _exit(9);
}

static void hear(int fd)
{
    char byte;
    if (read(fd, &byte, 1) != 1)
        _exit(9);
}

static long look(pid_t pid, void *here, size_t bytes, void *there, size_t there_bytes)
{
    const struct iovec local = {here, bytes}, remote = {there, there_bytes};
    return process_vm_readv(pid, &local, 1, &remote, 1, 0);
}

static long put(pid_t pid, void *here, size_t bytes, void *there, size_t there_bytes)
{
    const struct iovec local = {here, bytes}, remote = {there, there_bytes};
    return process_vm_writev(pid, &local, 1, &remote, 1, 0);
}

/* ------------------------------------------------------------------ errors */

static long call(pid_t pid, const struct iovec *local, unsigned long locals, const struct iovec *remote,
                 unsigned long remotes, unsigned long flags)
{
    const long read = process_vm_readv(pid, local, locals, remote, remotes, flags);
    const int error = errno;
    const long written = process_vm_writev(pid, local, locals, remote, remotes, flags);
    if (read != written || (read < 0 && error != errno))
        printf("read %ld, written %ld, ", read, written);
    return written;
}

static void errors(void)
{
    static struct iovec many[IOV_MAX + 1];
    char *const memory = pages(2, PROT_READ | PROT_WRITE), *const none = pages(1, PROT_NONE);
    const struct iovec good = {memory, 8}, negative = {memory, (size_t)-1}, beyond = {(void *)0x7ffffffff000, 8},
                       nothing = {none, 0}, high = {(void *)INTPTR_MIN, 8}, bad = {none, 8};
    const pid_t self = getpid();
    say("itself", call(self, &good, 1, &good, 1, 0));
    say("flags", call(self, &good, 1, &good, 1, 1));
    say("flags, and nothing else right", call(NOBODY, NULL, 5000, NULL, 5000, 1));
    say("too many here", call(self, many, IOV_MAX + 1, &good, 1, 0));
    say("too many there", call(self, &good, 1, many, IOV_MAX + 1, 0));
    say("as many as may be", call(self, many, IOV_MAX, many, IOV_MAX, 0));
    say("none here", call(NOBODY, NULL, 0, NULL, 5000, 0));
    say("nothing here", call(NOBODY, &nothing, 1, NULL, 5000, 0));
    say("none there", call(NOBODY, &good, 1, NULL, 0, 0));
    say("nothing there", call(NOBODY, &good, 1, &nothing, 1, 0));
    say("no list here", call(self, NULL, 1, &good, 1, 0));
    say("no list there", call(self, &good, 1, (const struct iovec *)none, 1, 0));
    say("negative here", call(self, &negative, 1, &good, 1, 0));
    say("negative there", call(self, &good, 1, &negative, 1, 0));
    say("beyond all here", call(self, &beyond, 1, &good, 1, 0));
    say("beyond all there", call(self, &good, 1, &beyond, 1, 0));
    say("above all here", call(self, &high, 1, &good, 1, 0));
    say("above all there", call(self, &good, 1, &high, 1, 0));
    say("bad here", call(self, &bad, 1, &good, 1, 0));
    say("bad there", call(self, &good, 1, &bad, 1, 0));
    say("nobody", call(NOBODY, &good, 1, &good, 1, 0));
    say("number 0", call(0, &good, 1, &good, 1, 0));
    say("number -1", call(-1, &good, 1, &good, 1, 0));
    say("nobody, bad here", call(NOBODY, &bad, 1, &good, 1, 0));
}

/* ------------------------------------------------------------------ how far it goes */

static void buffers(pid_t pid, char *there, const char *what)
{
    char *const here = pages(PAGES, PROT_READ | PROT_WRITE);
    const struct iovec local[] = {{here, 1}, {here + 10, 0}, {here + 20, 5000}, {here + 7000, 3}};
    const struct iovec remote[] = {{there + 1, 2}, {there, 0}, {there + 4090, 4100}, {there + 100, 100}};
    long sum = 0;
    printf("%s: ", what);
    say("buffers read", process_vm_readv(pid, local, 4, remote, 4, 0));
    for (int i = 0; i < 2 * PAGE; i++)
        sum = sum * 31 % 1000003 + here[i];
    say("what they hold", sum);
    memset(here, 'w', 2 * PAGE);
    say("buffers written", process_vm_writev(pid, local, 4, remote, 4, 0));
    say("more there than here", look(pid, here, 10, there, PAGE));
    say("more here than there", put(pid, here, PAGE, there, 10));
    munmap(here, PAGES * PAGE);
}

/* The fourth page of 16 of each side cannot be had. */
static void holes(pid_t pid, char *there, char *unreadable, char *readonly, char *writeonly)
{
    char *const here = pages(PAGES, PROT_READ | PROT_WRITE);
    say("a hole there, read", look(pid, here, 8 * PAGE, there + 100, 8 * PAGE));
    say("a hole there, written", put(pid, here, 8 * PAGE, there + 100, 8 * PAGE));
    say("from the hole on, read", look(pid, here, PAGE, there + 3 * PAGE + 5, PAGE));
    say("before it and behind it", look(pid, here, PAGES * PAGE, there, PAGES * PAGE));
    munmap(here + 5 * PAGE, PAGE);
    say("a hole here, read", look(pid, here + 3 * PAGE + 7, 4 * PAGE, there + 4 * PAGE, 8 * PAGE));
    say("a hole here, written", put(pid, here + 3 * PAGE + 7, 4 * PAGE, there + 4 * PAGE, 8 * PAGE));
    say("unreadable, read", look(pid, here, 8, unreadable, 8));
    say("unreadable, written", put(pid, here, 8, unreadable, 8));
    say("readonly, read", look(pid, here, 8, readonly, 8));
    say("readonly, written", put(pid, here, 8, readonly, 8));
    say("writeonly, read", look(pid, here, 8, writeonly, 8));
    say("writeonly, written", put(pid, here, 8, writeonly, 8));
    say("into readonly, read", look(pid, readonly, 8, there, 8));
    say("from readonly, written", put(pid, readonly, 8, there, 8));
    munmap(here, PAGES * PAGE);
}

/* ------------------------------------------------------------------ children */

static char *area, *large, *unreadable, *readonly, *writeonly, *file;

static void make_areas(void)
{
    area = pages(PAGES, PROT_READ | PROT_WRITE);
    munmap(area + 3 * PAGE, PAGE);
    large = pages(LARGE / PAGE, PROT_READ | PROT_WRITE);
    unreadable = pages(1, PROT_NONE);
    readonly = pages(1, PROT_READ);
    writeonly = pages(1, PROT_WRITE);
    const int fd = memfd_create("file", 0);
    if (fd < 0 || ftruncate(fd, PAGE) != 0 || pwrite(fd, "of a file", 9, 0) != 9)
        _exit(9);
    file = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    close(fd);
}

static void fill(void)
{
    for (int i = 0; i < 3 * PAGE; i++)
        area[i] = (char)(i % 251);
    for (int i = 0; i < LARGE; i++)
        large[i] = (char)(i % 253);
}

static int waits(void *argument)
{
    (void)argument;
    fill();
    tell(to_parent[1]);
    hear(to_child[0]);
    printf("a child finds %.3s in its area, %d in its large one, %.9s in its file\n", area + PAGE,
           large[LARGE - 1], file);
    fflush(stdout);
    tell(to_parent[1]);
    for (;;)
        pause();
    return 0;
}

static pid_t start(int (*body)(void *))
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0)
        _exit(body(NULL));
    return child;
}

static void end(pid_t child)
{
    int status;
    siginfo_t info;
    kill(child, SIGKILL);
    waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
    say("one that has ended", look(child, &status, 4, area, 4));
    waitpid(child, &status, 0);
    say("one that was waited for", look(child, &status, 4, area, 4));
}

static void from_large(pid_t child)
{
    char *const copy = malloc(LARGE);
    struct iovec local[1000], remote = {large, LARGE};
    for (int i = 0; i < 1000; i++)
        local[i] = (struct iovec){copy + i * 701, i == 999 ? LARGE - 999 * 701 : 701};
    say("a large one", process_vm_readv(child, local, 1000, &remote, 1, 0));
    long wrong = 0;
    for (int i = 0; i < LARGE; i++)
        wrong += copy[i] != (char)(i % 253);
    say("wrong bytes in it", wrong);
    memset(copy, 77, LARGE);
    say("written", process_vm_writev(child, local, 1000, &remote, 1, 0));
    free(copy);
}

static void child_that_waits(void)
{
    char text[2 * PAGE];
    const pid_t child = start(waits);
    hear(to_parent[0]);
    buffers(child, area, "a child");
    holes(child, area, unreadable, readonly, writeonly);
    from_large(child);
    say("pages of a file", look(child, text, sizeof text, file, sizeof text));
    printf("%s\n", text);
    say("written", put(child, "on a file", 9, file, 9));
    say("written", put(child, "put", 3, area + PAGE, 3));
    tell(to_child[1]);
    hear(to_parent[0]);
    kill(child, SIGSTOP);
    say("one that is stopped", look(child, text, 3, area + PAGE, 3));
    printf("%.3s\n", text);
    end(child);
}

static int pauses(void *argument)
{
    (void)argument;
    for (;;)
        pause();
    return 0;
}

/* It has hardly begun, and touched nothing. */
static void child_that_is_new(void)
{
    char text[16] = "untouched";
    const pid_t child = start(pauses);
    say("an untouched page", look(child, text, 8, area + 8 * PAGE, 8));
    say("its first byte", text[0]);
    say("one that is written", put(child, "new", 4, area + 9 * PAGE, 4));
    say("and read", look(child, text, 4, area + 9 * PAGE, 4));
    printf("%s, here %d\n", text, area[9 * PAGE]);
    end(child);
}

static void child_with_one_memory(void)
{
    char text[8] = "";
    char *const stack = malloc(1 << 16);
    fflush(stdout);
    const pid_t child = clone(waits, stack + (1 << 16), CLONE_VM | SIGCHLD, NULL);
    hear(to_parent[0]);
    say("one memory, written", put(child, "one", 3, area + PAGE, 3));
    say("read", look(child, text, 3, area + PAGE, 3));
    printf("%s %.3s\n", text, area + PAGE);
    tell(to_child[1]);
    hear(to_parent[0]);
    end(child);
}

/* Each looks into the other, at once; none of them is idle, and none holds the other up. */
static void both_ways(void)
{
    char text[8] = "", *const word = area + 12 * PAGE;
    const pid_t parent = getpid();
    strcpy(word, "parent");
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        int same = 0;
        strcpy(word, "child");
        tell(to_parent[1]);
        for (int i = 0; i < 50; i++)
            same += look(parent, text, 7, word, 7) == 7 && strcmp(text, "parent") == 0;
        hear(to_child[0]);
        _exit(same);
    }
    int same = 0, status;
    hear(to_parent[0]);
    for (int i = 0; i < 50; i++)
        same += look(child, text, 6, word, 6) == 6 && strcmp(text, "child") == 0;
    tell(to_child[1]);
    waitpid(child, &status, 0);
    printf("both ways: %d %d\n", same, WEXITSTATUS(status));
}

static int hides(void *argument)
{
    prctl(PR_SET_DUMPABLE, 0);
    tell(to_parent[1]);
    return pauses(argument);
}

static void denied(void)
{
    char text[8];
    const pid_t child = start(hides);
    hear(to_parent[0]);
    say("one that hides", look(child, text, 8, area, 8));
    prctl(PR_SET_DUMPABLE, 0);
    say("itself, hidden", look(getpid(), text, 8, area, 8));
    say("the first of all", look(1, text, 8, area, 8));
    kill(child, SIGKILL);
}

int main(int argc, char **argv)
{
    if (pipe(to_child) != 0 || pipe(to_parent) != 0)
        return 9;
    make_areas();
    if (argc > 1 && strcmp(argv[1], "denied") == 0) {
        denied();
        return 0;
    }
    errors();
    fill();
    buffers(getpid(), area, "itself");
    holes(getpid(), area, unreadable, readonly, writeonly);
    child_that_waits();
    child_that_is_new();
    child_with_one_memory();
    both_ways();
    return 0;
}
