/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * execs PART [DIR]: another program in this one's place.
 *
 * errors DIR   what execve refuses, a line each; DIR has the files that tests/program/processes.py makes
 * before DIR   sets everything that a process can have, then becomes `execs after`
 * after        what is left of it
 * chain N      becomes itself N times, by execveat of a descriptor, and says how the clocks went
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static char *self[] = {"execs", "after", NULL};

static void attempt(const char *what, const char *path, char *const *argv, char *const *envp)
{
    errno = 0;
    const long value = syscall(SYS_execve, path, argv, envp);
    printf("%s: %ld %s\n", what, value, strerrorname_np(errno));
    fflush(stdout);
}

static char **long_list(size_t words, size_t bytes)
{
    char **list = calloc(words + 1, sizeof *list), *word = malloc(bytes + 1);
    memset(word, 'x', bytes);
    word[bytes] = '\0';
    for (size_t i = 0; i < words; i++)
        list[i] = word;
    return list;
}

static void errors(const char *directory)
{
    if (chdir(directory) != 0)
        exit(1);
    attempt("no file", "nothing", self, environ);
    attempt("no path", "", self, environ);
    attempt("below a file", "text/x", self, environ);
    attempt("a directory", ".", self, environ);
    attempt("not executable", "plain", self, environ);
    attempt("a text", "text", self, environ);
    attempt("an empty file", "empty", self, environ);
    attempt("half an ELF header", "half", self, environ);
    attempt("a script of nobody", "orphan", self, environ);
    attempt("a script of a text", "of_text", self, environ);
    attempt("scripts in a circle", "circle", self, environ);
    attempt("a link to itself", "loop", self, environ);
    attempt("words nowhere", "/bin/true", (char **)8, environ);
    attempt("a word nowhere", "/bin/true", (char *[]){"x", (char *)8, NULL}, environ);
    attempt("environment nowhere", "/bin/true", self, (char **)8);
    attempt("a word too long", "/bin/true", long_list(1, 131072), environ);
    attempt("too many words", "/bin/true", long_list(200000, 3), environ);
    attempt("too much environment", "/bin/true", self, long_list(20, 120000));
    errno = 0;
    const long value = syscall(SYS_execveat, AT_FDCWD, "loop", self, environ, AT_SYMLINK_NOFOLLOW);
    printf("a link with NOFOLLOW: %ld %s\n", value, strerrorname_np(errno));
    errno = 0;
    printf("flags: %ld ", syscall(SYS_execveat, AT_FDCWD, "text", self, environ, 1));
    printf("%s\n", strerrorname_np(errno));
    errno = 0;
    printf("no descriptor: %ld ", syscall(SYS_execveat, 77, "text", self, environ, 0));
    printf("%s\n", strerrorname_np(errno));
}

static void handler(int number) { (void)number; }

static void before(const char *directory)
{
    sigset_t set;
    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
    struct rlimit limit = {100, 200};
    open("/dev/null", O_RDONLY | O_CLOEXEC);                  /* 3: goes */
    dup2(open("/dev/null", O_RDONLY), 7);                     /* 4 and 7: stay */
    fcntl(7, F_SETFD, FD_CLOEXEC);                            /* 7 goes */
    signal(SIGUSR1, handler);
    signal(SIGUSR2, SIG_IGN);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGINT);
    sigaltstack(&stack, NULL);
    umask(027);
    setrlimit(RLIMIT_NOFILE, &limit);
    if (chdir(directory) != 0)
        exit(1);
    char *envp[] = {"A=1", "B=two words", "EMPTY=", NULL};
    char *argv[] = {"a name", "after", "", "last one", NULL};
    execve("/proc/self/exe", argv, envp);
    perror("execve");
    exit(1);
}

static void after(int argc, char **argv)
{
    char line[4096];
    struct sigaction action;
    sigset_t set;
    stack_t stack;
    struct rlimit limit;
    for (int i = 0; i < argc; i++)
        printf("[%s]", argv[i]);
    for (char **e = environ; *e; e++)
        printf(" %s;", *e);
    printf("\n");
    for (int fd = 3; fd < 9; fd++)
        printf("fd %d: %s\n", fd, fcntl(fd, F_GETFD) < 0 ? "closed" : "open");
    sigaction(SIGUSR1, NULL, &action);
    printf("SIGUSR1 %s, ", action.sa_handler == SIG_DFL ? "default" : "not default");
    sigaction(SIGUSR2, NULL, &action);
    printf("SIGUSR2 %s\n", action.sa_handler == SIG_IGN ? "ignored" : "not ignored");
    sigprocmask(SIG_BLOCK, NULL, &set);
    printf("blocked: TERM %d INT %d HUP %d, ", sigismember(&set, SIGTERM), sigismember(&set, SIGINT),
           sigismember(&set, SIGHUP));
    sigpending(&set);
    printf("pending: INT %d\n", sigismember(&set, SIGINT));
    sigaltstack(NULL, &stack);
    getrlimit(RLIMIT_NOFILE, &limit);
    printf("signal stack %d, umask %o, limit %lu %lu\n", stack.ss_flags, umask(0), limit.rlim_cur, limit.rlim_max);
    printf("directory %s\n", strrchr(getcwd(line, sizeof line), '/'));
    FILE *comm = fopen("/proc/self/comm", "r");
    printf("comm %s", fgets(line, sizeof line, comm) ? line : "?\n");
    fclose(comm);
    printf("pid stays: %d\n", getpid() == getpgrp() || getpid() > 1);
}

static uint64_t now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void chain(int left, const char *last_real, const char *last_cpu)
{
    const uint64_t real = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    char number[16], reals[32], cpus[32];
    if (last_real && (strtoull(last_real, NULL, 10) >= real || strtoull(last_cpu, NULL, 10) >= cpu))
        printf("a clock went back\n");
    snprintf(number, sizeof number, "%d", left - 1);
    snprintf(reals, sizeof reals, "%lu", (unsigned long)real);
    snprintf(cpus, sizeof cpus, "%lu", (unsigned long)cpu);
    printf("%d left\n", left);
    fflush(stdout);
    const int file = open("/proc/self/exe", O_PATH | O_CLOEXEC);
    if (left > 0)
        syscall(SYS_execveat, file, "", (char *[]){"execs", "chain", number, reals, cpus, NULL}, environ, AT_EMPTY_PATH);
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "errors") == 0)
        errors(argv[2]);
    else if (argc > 2 && strcmp(argv[1], "before") == 0)
        before(argv[2]);
    else if (argc > 2 && strcmp(argv[1], "chain") == 0)
        chain(atoi(argv[2]), argc > 3 ? argv[3] : NULL, argc > 4 ? argv[4] : NULL);
    else
        after(argc, argv);
    return 7;
}
