/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * family PART: processes that start others.
 *
 * basics   fork, statuses of children, waitpid and waitid in all forms, groups, orphans, ignored SIGCHLD
 * pipes    a child at each end of pipes, poll, select, more than a pipe holds, its broken end
 * spawn    posix_spawn: failures come back to the parent; vfork writes in the parent's memory
 * memory   clone with CLONE_VM
 * thread   signals for a thread of another process
 * daemons  which are left when the first process has ended
 * signals  kill between processes, SIGCHLD with its siginfo, sigsuspend, a child killed while it waits
 * shared   shared memory, file positions, locks of files between processes
 * clock    sleeping children, in virtual time
 * locks    processes that wait for one another's locks of files, in turn and in a circle (EDEADLK); both ends of a
 *          pipe with a name; a mutex in shared memory whose owner dies; a semaphore that is waited for before the fork
 * stops    SIGSTOP and its kin, SIGCONT, what parents are told of them, threads that stand still, orphaned groups
 * looks    /proc of itself, its threads and its children: running, stopped, another program, and at the end
 * pidfds   descriptors of processes: opened and made by clone, polled, waited for, signals by them
 * orphans  whose children they become, and the signal at their parent's end
 * circle   two processes wait for each other's flock: for ever
 * alone    stops itself
 * tree N   2^N - 1 processes
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static void say_status(const char *what, pid_t child, const int *ending)
{
    const int status = *ending;
    printf("%s: %s", what, child > 0 ? "a child " : child == 0 ? "none yet" : strerrorname_np(errno));
    if (child > 0 && WIFEXITED(status))
        printf("exited %d", WEXITSTATUS(status));
    if (child > 0 && WIFSIGNALED(status))
        printf("killed by %d", WTERMSIG(status));
    if (child > 0 && WIFSTOPPED(status))
        printf("stopped by %d", WSTOPSIG(status));
    if (child > 0 && WIFCONTINUED(status))
        printf("goes on");
    printf("\n");
    fflush(stdout);
}

static pid_t child_exits(int status)
{
    const pid_t child = fork();
    if (child == 0)
        _exit(status);
    return child;
}

static void basics(void)
{
    int status = 0;
    siginfo_t info;
    struct rusage usage;
    say_status("no child", waitpid(-1, &status, 0), &status);
    pid_t child = child_exits(3);
    say_status("waitpid", waitpid(child, &status, 0), &status);
    say_status("once more", waitpid(child, &status, 0), &status);
    child = fork();
    if (child == 0)
        abort();
    say_status("abort", wait4(-1, &status, 0, &usage), &status);
    child = fork();
    if (child == 0)
        pause();
    say_status("WNOHANG", waitpid(child, &status, WNOHANG), &status);
    kill(child, SIGKILL);
    memset(&info, 0, sizeof info);
    printf("waitid: %d", waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT));
    printf(" code %d status %d pid %d uid %d\n", info.si_code, info.si_status, info.si_pid == child,
           info.si_uid == getuid());
    printf("still there: %d\n", waitid(P_ALL, 0, &info, WEXITED) == 0 && info.si_pid == child);
    const int gone = waitid(P_PID, (id_t)child, &info, WEXITED);
    printf("gone: %d %s\n", gone, strerrorname_np(errno));
    child = fork();
    if (child == 0) {
        printf("in the child: parent %d, group %d\n", getppid() == getpgrp() || getppid() > 1, getpgrp() != getpid());
        setpgid(0, 0);
        printf("its group is its own: %d\n", getpgrp() == getpid());
        fflush(stdout);
        _exit(9);
    }
    waitpid(child, &status, 0);
    child = fork();
    if (child == 0) {
        printf("session %d\n", setsid() == getpid() && getsid(0) == getpid());
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, &status, 0);
    child = child_exits(4);
    setpgid(child, child);
    say_status("by its group", waitpid(-child, &status, 0), &status);
    const pid_t three[3] = {child_exits(11), child_exits(12), child_exits(13)};
    for (int i = 2; i >= 0; i--)
        say_status("of three", waitpid(three[i], &status, 0), &status);
    signal(SIGCHLD, SIG_IGN);
    child = child_exits(5);
    say_status("ignored", waitpid(child, &status, 0), &status);
    signal(SIGCHLD, SIG_DFL);
    int ends[2], over[2];
    char none;
    if (pipe(ends) != 0 || pipe(over) != 0)
        exit(1);
    child = fork();
    if (child == 0) {
        if (fork() == 0) {
            char byte;
            close(ends[1]);
            while (read(ends[0], &byte, 1) > 0)
                ;
            printf("an orphan has another parent\n");
            fflush(stdout);
            _exit(0);
        }
        _exit(0);
    }
    waitpid(child, &status, 0);
    close(ends[0]);
    close(ends[1]);
    close(over[1]);
    if (read(over[0], &none, 1) != 0) /* the orphan has ended */
        exit(1);
    getrusage(RUSAGE_CHILDREN, &usage);
    printf("children took time: %d\n", usage.ru_utime.tv_sec > 0 || usage.ru_utime.tv_usec >= 0);
}

static void pipes(void)
{
    enum { MANY = 300000 };
    int down[2], up[2];
    char *data = malloc(MANY), *back = malloc(MANY);
    for (int i = 0; i < MANY; i++)
        data[i] = (char)(i * 7 % 251);
    if (pipe(down) != 0 || pipe(up) != 0)
        exit(1);
    if (fork() == 0) { /* gives back what it gets, upside down */
        char part[5000];
        ssize_t got;
        close(down[1]);
        close(up[0]);
        while ((got = read(down[0], part, sizeof part)) > 0) {
            for (ssize_t i = 0; i < got; i++)
                part[i] = (char)~part[i];
            if (write(up[1], part, (size_t)got) != got)
                _exit(1);
        }
        _exit(0);
    }
    if (fork() == 0) { /* more than a pipe holds */
        close(up[0]);
        close(up[1]);
        _exit(write(down[1], data, MANY) == MANY ? 0 : 1);
    }
    close(down[0]);
    close(down[1]);
    close(up[1]);
    size_t used = 0;
    struct pollfd query = {.fd = up[0], .events = POLLIN};
    while (poll(&query, 1, -1) == 1 && query.revents & POLLIN) {
        const ssize_t got = read(up[0], back + used, MANY - used);
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    bool same = used == MANY;
    for (int i = 0; same && i < MANY; i++)
        same = back[i] == (char)~data[i];
    int status, sum = 0;
    while (wait(&status) > 0)
        sum += status;
    printf("there and back: %d, statuses %d\n", same, sum);
    if (pipe(down) != 0)
        exit(1);
    const pid_t child = fork();
    if (child == 0) {
        close(down[0]);
        while (write(down[1], data, 1000) > 0)
            ;
        _exit(0);
    }
    close(down[1]);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(down[0], &set);
    printf("select: %d\n", select(down[0] + 1, &set, NULL, NULL, NULL));
    printf("a part: %zd\n", read(down[0], back, 100));
    close(down[0]);
    waitpid(child, &status, 0);
    say_status("behind a broken pipe", child, &status);
}

static int shared_word;

static void spawn(void)
{
    pid_t child = 0;
    int status = 0;
    char *words[] = {"sh", "-c", "echo from sh; exit 6", NULL}, *nothing[] = {"nothing", NULL};
    printf("a file that is not there: %s\n",
           strerrorname_np(posix_spawn(&child, "/nowhere/at/all", NULL, NULL, nothing, environ)));
    const int spawned = posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ);
    say_status("its end", waitpid(child, &status, 0), &status);
    printf("sh: %d\n", spawned);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/nowhere", O_RDONLY, 0);
    printf("an action that fails: %s\n",
           strerrorname_np(posix_spawn(&child, "/bin/true", &actions, NULL, words, environ)));
    fflush(stdout);
    child = vfork();
    if (child == 0) {
        shared_word = 42;
        _exit(2);
    }
    printf("the child's word: %d\n", shared_word);
    say_status("of vfork", waitpid(child, &status, 0), &status);
    printf("system: %d\n", WEXITSTATUS(system("exit 5")));
    FILE *from = popen("echo through popen; echo twice", "r");
    char line[100];
    while (fgets(line, sizeof line, from))
        printf("read: %s", line);
    printf("pclose: %d\n", pclose(from));
}

static volatile sig_atomic_t caught, from_whom, its_status;
static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    caught += number;
    from_whom = info->si_pid;
    its_status = info->si_status;
}

static void signals(void)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    sigset_t block, old;
    int status;
    sigaction(SIGCHLD, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    sigemptyset(&block);
    sigaddset(&block, SIGCHLD);
    sigaddset(&block, SIGUSR1);
    sigprocmask(SIG_BLOCK, &block, &old);
    pid_t child = child_exits(8);
    while (caught == 0)
        sigsuspend(&old);
    printf("SIGCHLD %d of the child %d, status %d\n", caught == SIGCHLD, from_whom == child, its_status);
    waitpid(child, &status, 0);
    caught = 0;
    child = fork();
    if (child == 0) {
        kill(getppid(), SIGUSR1);
        while (caught == 0)
            sigsuspend(&old);
        _exit(caught == SIGUSR1 ? 21 : 22);
    }
    while (caught == 0)
        sigsuspend(&old);
    printf("SIGUSR1 %d of the child %d\n", caught == SIGUSR1, from_whom == child);
    kill(child, SIGUSR1);
    say_status("answered", waitpid(child, &status, 0), &status);
    sigprocmask(SIG_SETMASK, &old, NULL);
    child = fork();
    if (child == 0) {
        int ends[2];
        char byte;
        if (pipe(ends) == 0 && read(ends[0], &byte, 1) < 0)
            _exit(1);
        _exit(2);
    }
    kill(child, SIGTERM);
    say_status("while it read", waitpid(child, &status, 0), &status);
    const int sent = kill(child, 0);
    printf("nobody: %d %s\n", sent, strerrorname_np(errno));
    caught = 0;
    child = fork();
    if (child == 0) { /* spins until it is told */
        while (caught == 0)
            ;
        _exit(7);
    }
    kill(child, SIGUSR1);
    int got;
    do
        got = waitpid(child, &status, 0);
    while (got < 0 && errno == EINTR);
    say_status("spinning", got, &status);
}

static void shared(const char *directory)
{
    char path[4096], text[100] = "";
    int status;
    volatile int *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    snprintf(path, sizeof path, "%s/shared", directory);
    const int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (ftruncate(file, 4096) != 0)
        exit(1);
    volatile int *mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    int private = 1;
    if (fork() == 0) {
        *word = 5;
        *mapped = 6;
        private = 7;
        lseek(file, 100, SEEK_SET);
        _exit(0);
    }
    wait(&status);
    printf("shared %d, of the file %d, private %d, position %ld\n", *word, *mapped, private, lseek(file, 0, SEEK_CUR));
    flock(file, LOCK_EX);
    int ends[2];
    if (pipe(ends) != 0)
        exit(1);
    if (fork() == 0) {
        const int other = open(path, O_RDWR);
        printf("locked: %d\n", flock(other, LOCK_EX | LOCK_NB));
        close(file);
        close(ends[0]);
        close(ends[1]);
        flock(other, LOCK_EX);
        printf("child has the lock\n");
        fflush(stdout);
        _exit(0);
    }
    close(ends[1]);
    if (read(ends[0], text, 1) != 0)
        exit(1);
    strcpy(text, "the parent lets go\n");
    if (write(1, text, strlen(text)) < 0)
        exit(1);
    flock(file, LOCK_UN);
    wait(&status);
    while (__sync_lock_test_and_set(word, 1)) /* a spinning lock across processes */
        *word = 0;
    if (fork() == 0) {
        while (__sync_lock_test_and_set(word, 1))
            ;
        _exit(33);
    }
    *word = 0;
    wait(&status);
    say_status("spinning at shared memory", 1, &status);
}

static void clocks(void)
{
    struct timespec begin, end;
    int status;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 3; i > 0; i--)
        if (fork() == 0) {
            sleep((unsigned)i);
            printf("after %d seconds\n", i);
            fflush(stdout);
            _exit(0);
        }
    while (wait(&status) > 0)
        ;
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("together %ld\n", end.tv_sec - begin.tv_sec - (end.tv_nsec < begin.tv_nsec));
}

static void *open_end(void *path)
{
    char text[4] = "";
    const int end = open(path, O_RDONLY);
    printf("a thread reads %zd", read(end, text, 3));
    printf(" %s\n", text);
    close(end);
    return NULL;
}

static void name_pipes(const char *path)
{
    pthread_t thread;
    char text[10] = "";
    int status;
    mkfifo(path, 0600);
    pthread_create(&thread, NULL, open_end, (void *)path);
    int end = open(path, O_WRONLY);
    if (write(end, "abc", 3) != 3)
        exit(1);
    close(end);
    pthread_join(thread, NULL);
    const pid_t child = fork();
    if (child == 0) {
        end = open(path, O_WRONLY);
        _exit(write(end, "gone", 4) == 4 ? 0 : 1);
    }
    end = open(path, O_RDONLY);
    waitpid(child, &status, 0);
    printf("from one who has ended: %zd\n", read(end, text, 9));
    close(end);
}

static struct flock byte_of(int start) { return (struct flock){.l_type = F_WRLCK, .l_start = start, .l_len = 1}; }

/* The parent, which waits for the child, holds byte 0; the child, which holds byte 1, is told that it must not wait. */
static void circle_of_bytes(int file)
{
    struct flock first = byte_of(0), second = byte_of(1);
    int told[2], status;
    char byte;
    if (pipe(told) != 0)
        exit(1);
    fcntl(file, F_SETLKW, &first);
    const pid_t child = fork();
    if (child == 0) {
        fcntl(file, F_SETLKW, &second);
        if (write(told[1], "x", 1) != 1)
            _exit(1);
        usleep(100000); /* meanwhile the parent waits */
        const int got = fcntl(file, F_SETLKW, &first);
        printf("the child: %d %s\n", got, strerrorname_np(errno));
        fflush(stdout);
        _exit(7);
    }
    if (read(told[0], &byte, 1) != 1)
        exit(1);
    printf("the parent: %d\n", fcntl(file, F_SETLKW, &second));
    waitpid(child, &status, 0);
    say_status("the circle", child, &status);
    close(told[0]);
    close(told[1]);
}

enum lock_kind { BY_FLOCK, BY_PROCESS, BY_DESCRIPTION };
static int take(int file, enum lock_kind kind, int type)
{
    struct flock all = {.l_type = (short)type};
    if (kind == BY_FLOCK)
        return flock(file, type == F_UNLCK ? LOCK_UN : LOCK_EX);
    return fcntl(file, kind == BY_PROCESS ? F_SETLKW : F_OFD_SETLKW, &all);
}

/* Four processes count a number in a file up, each with the lock held over a sleep. */
static void count_in_turn(const char *path, enum lock_kind kind)
{
    int number = 0, status;
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (write(file, &number, sizeof number) < 0)
        exit(1);
    for (int i = 0; i < 4; i++)
        if (fork() == 0) {
            file = open(path, O_RDWR);
            for (int j = 0; j < 3; j++) {
                take(file, kind, F_WRLCK);
                if (pread(file, &number, sizeof number, 0) < 0)
                    _exit(1);
                usleep(100);
                number++;
                if (pwrite(file, &number, sizeof number, 0) < 0)
                    _exit(1);
                if (j < 2)
                    take(file, kind, F_UNLCK);
            }
            _exit(0); /* what it holds is given up */
        }
    while (wait(&status) > 0)
        ;
    printf("counted %d", pread(file, &number, sizeof number, 0) > 0 ? number : 0);
    printf(" by %d\n", kind);
    close(file);
}

static pthread_mutex_t *mutex_of_all(void)
{
    pthread_mutex_t *mutex = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(mutex, &attributes);
    return mutex;
}

static void *wait_for_post(void *semaphore)
{
    printf("waited: %d\n", sem_wait(semaphore));
    return NULL;
}

static void share_words(void)
{
    pthread_mutex_t *mutex = mutex_of_all();
    sem_t *semaphore = (sem_t *)(mutex + 1), *ready = semaphore + 1;
    pthread_t thread;
    int status;
    sem_init(semaphore, 1, 0);
    sem_init(ready, 1, 0);
    if (fork() == 0) {
        pthread_mutex_lock(mutex);
        sem_post(ready);
        usleep(100000);
        _exit(0);
    }
    sem_wait(ready);
    printf("its owner has ended: %s\n", strerrorname_np(pthread_mutex_lock(mutex)));
    wait(&status);
    pthread_create(&thread, NULL, wait_for_post, semaphore);
    usleep(1000);
    if (fork() == 0)
        _exit(sem_post(semaphore));
    pthread_join(thread, NULL);
    wait(&status);
}

static void locks(const char *directory)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/pipe", directory);
    name_pipes(path);
    snprintf(path, sizeof path, "%s/locked", directory);
    const int file = open(path, O_RDWR | O_CREAT, 0600);
    circle_of_bytes(file);
    close(file);
    for (int kind = BY_FLOCK; kind <= BY_DESCRIPTION; kind++)
        count_in_turn(path, (enum lock_kind)kind);
    share_words();
}

static volatile sig_atomic_t told[10], told_count;
static void on_child(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (told_count < 10)
        told[told_count++] = number == SIGCHLD ? info->si_code * 100 + info->si_status : -number;
}

static void say_told(const char *what)
{
    printf("%s:", what);
    for (int i = 0; i < told_count; i++)
        printf(" %d", (int)told[i]);
    printf("\n");
    told_count = 0;
}

static void say_info(const char *what, id_t child, int options)
{
    siginfo_t info = {.si_pid = 0};
    const int got = waitid(P_PID, child, &info, options);
    printf("%s: %s code %d status %d\n", what,
           got < 0       ? strerrorname_np(errno)
           : info.si_pid ? "a child"
                         : "none yet",
           info.si_code, info.si_status);
}

/* Two threads that count until they are told. */
struct counters {
    volatile long count[2];
    volatile int stop;
};
static void *count_up(void *counters)
{
    struct counters *shared = counters;
    while (!shared->stop)
        shared->count[1]++;
    return NULL;
}

static void stop_threads(void)
{
    struct counters *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status;
    const pid_t child = fork();
    if (child == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, count_up, shared);
        while (!shared->stop)
            shared->count[0]++;
        pthread_join(thread, NULL);
        _exit(17);
    }
    while (shared->count[0] == 0 || shared->count[1] == 0)
        usleep(1000);
    kill(child, SIGSTOP);
    say_status("threads", waitpid(child, &status, WUNTRACED), &status);
    const long before[2] = {shared->count[0], shared->count[1]};
    usleep(100000);
    printf("they stand still: %d\n", before[0] == shared->count[0] && before[1] == shared->count[1]);
    kill(child, SIGCONT);
    while (before[0] == shared->count[0] || before[1] == shared->count[1])
        usleep(1000);
    shared->stop = 1;
    say_status("they go on", waitpid(child, &status, 0), &status);
}

/* In a session whose first process ends, a group is left alone: one that has stopped gets SIGHUP. */
static void leave_orphans(void)
{
    int ends[2], status;
    char text[10] = "";
    if (pipe(ends) != 0)
        exit(1);
    const pid_t child = fork();
    if (child == 0) {
        setsid();
        raise(SIGTSTP); /* in an orphaned group: for nothing */
        const pid_t grandchild = fork();
        if (grandchild == 0) {
            struct sigaction action = {.sa_sigaction = on_child, .sa_flags = SA_SIGINFO};
            sigaction(SIGHUP, &action, NULL);
            setpgid(0, 0);
            raise(SIGTTIN);
            _exit(write(ends[1], told[0] == -SIGHUP ? "hup" : "???", 3) == 3 ? 0 : 1);
        }
        say_status("of the session", waitpid(grandchild, &status, WUNTRACED), &status);
        _exit(0);
    }
    waitpid(child, &status, 0);
    close(ends[1]);
    const ssize_t got = read(ends[0], text, 9);
    printf("the orphan: %zd %s\n", got, text);
    close(ends[0]);
}

static void stops(void)
{
    struct sigaction action = {.sa_sigaction = on_child, .sa_flags = SA_SIGINFO | SA_RESTART};
    int status, ends[2];
    char byte = 0;
    sigaction(SIGCHLD, &action, NULL);
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0); /* a group that its parent can let go on */
        raise(SIGSTOP);
        usleep(50000); /* its parent is told of each by itself */
        raise(SIGTSTP);
        usleep(50000);
        _exit(5);
    }
    say_status("once", waitpid(child, &status, WUNTRACED), &status);
    say_status("told already", waitpid(child, &status, WUNTRACED | WNOHANG), &status);
    kill(child, SIGCONT);
    say_info("without taking it", (id_t)child, WCONTINUED | WNOWAIT);
    say_info("it goes on", (id_t)child, WCONTINUED);
    say_info("twice", (id_t)child, WSTOPPED);
    say_info("of no interest", (id_t)child, WEXITED | WNOHANG);
    kill(child, SIGCONT);
    say_status("its end", waitpid(child, &status, 0), &status);
    say_told("SIGCHLD");
    action.sa_flags |= SA_NOCLDSTOP;
    sigaction(SIGCHLD, &action, NULL);
    if (pipe(ends) != 0)
        exit(1);
    child = fork();
    if (child == 0) { /* stopped while it reads: the call goes on, and so do signals that came meanwhile */
        sigaction(SIGUSR1, &action, NULL);
        sigaction(SIGCONT, &action, NULL);
        const ssize_t got = read(ends[0], &byte, 1);
        printf("read %zd %c", got, byte);
        say_told(", signals");
        fflush(stdout);
        _exit(6);
    }
    usleep(10000);
    kill(child, SIGSTOP);
    say_status("amid a call", waitpid(child, &status, WUNTRACED), &status);
    kill(child, SIGUSR1);
    if (write(ends[1], "x", 1) != 1)
        exit(1);
    usleep(10000);
    say_status("still there", waitpid(child, &status, WNOHANG), &status);
    kill(child, SIGCONT);
    say_status("to its end", waitpid(child, &status, 0), &status);
    child = fork();
    if (child == 0)
        for (;;)
            raise(SIGSTOP);
    waitpid(child, &status, WUNTRACED);
    kill(child, SIGTERM);
    say_status("SIGTERM waits", waitpid(child, &status, WNOHANG | WUNTRACED), &status);
    kill(child, SIGKILL);
    say_info("without WEXITED", (id_t)child, WSTOPPED | WCONTINUED);
    say_status("SIGKILL does not", waitpid(child, &status, WUNTRACED), &status);
    say_told("SIGCHLD with SA_NOCLDSTOP");
    signal(SIGCHLD, SIG_DFL);
    stop_threads();
    leave_orphans();
}

/* Up to 4000 bytes of a file of a process, NUL as '~'; "" if there is none. */
static const char *content_of(pid_t process, const char *name)
{
    static char text[4001];
    char path[100];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)process, name);
    const int file = open(path, O_RDONLY);
    ssize_t used = 0, got;
    while (file >= 0 && (got = read(file, text + used, (size_t)(4000 - used))) > 0)
        used += got;
    if (file >= 0)
        close(file);
    for (ssize_t i = 0; i < used; i++)
        text[i] = text[i] ? text[i] : '~';
    text[used] = '\0';
    return text;
}

/* A line of status behind its name. */
static void say_line(pid_t process, const char *file, const char *name)
{
    const char *at = strstr(content_of(process, file), name);
    printf("%s%.*s\n", name, at ? (int)strcspn(at + strlen(name), "\n") : 0, at ? at + strlen(name) : "");
}

static const char *link_of(pid_t process, const char *name)
{
    static char text[4097];
    char path[100];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)process, name);
    const ssize_t bytes = readlink(path, text, sizeof text - 1);
    text[bytes > 0 ? bytes : 0] = '\0';
    return bytes < 0 ? strerrorname_np(errno) : strrchr(text, '/') ? strrchr(text, '/') + 1 : text;
}

/* What says the same of every run. */
static void say_process(const char *what, pid_t process)
{
    int pid, parent, group, session, threads;
    char name[17], state;
    const char *stat = content_of(process, "stat");
    const int known = sscanf(stat, "%d (%16[^)]) %c %d %d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d",
                             &pid, name, &state, &parent, &group, &session, &threads);
    printf("%s: %d %d %s %c %d %d %d threads %d\n", what, known, pid == process, name, state, parent == getpid(),
           group == getpgrp(), session == getsid(0), threads);
    printf("comm %s", content_of(process, "comm"));
    printf("cmdline %s\n", content_of(process, "cmdline"));
    printf("exe %s", link_of(process, "exe"));
    printf(" cwd %s\n", link_of(process, "cwd"));
    say_line(process, "status", "State:");
    say_line(process, "status", "Threads:");
    say_line(process, "status", "SigBlk:");
    say_line(process, "status", "SigIgn:");
    say_line(process, "status", "SigCgt:");
    say_line(process, "status", "Umask:");
}

static int count_names(const char *path, int number)
{
    DIR *list = opendir(path);
    int found = 0;
    for (const struct dirent *entry; list && (entry = readdir(list));)
        found += number < 0 ? entry->d_name[0] != '.' : atoi(entry->d_name) == number;
    if (list)
        closedir(list);
    return found;
}

static void *stay(void *end)
{
    char byte;
    pthread_setname_np(pthread_self(), "a thread");
    return (void *)read(*(int *)end, &byte, 1);
}

static void look_at_threads(void)
{
    pthread_t threads[3];
    char name[300];
    int ends[2];
    if (pipe(ends) != 0)
        exit(1);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, stay, &ends[0]);
    usleep(10000);
    printf("tasks: %d, one of them the first %d\n", count_names("/proc/self/task", -1),
           count_names("/proc/self/task", getpid()));
    DIR *list = opendir("/proc/self/task");
    for (const struct dirent *entry; (entry = readdir(list));) {
        snprintf(name, sizeof name, "task/%s/comm", entry->d_name);
        if (atoi(entry->d_name) > getpid())
            printf("a task %s", content_of(getpid(), name));
        snprintf(name, sizeof name, "task/%s/status", entry->d_name);
        if (atoi(entry->d_name) > getpid())
            say_line(getpid(), name, "State:");
    }
    closedir(list);
    close(ends[1]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

static void looks(const char *directory)
{
    char path[200], name[100];
    int ends[2], status;
    sigset_t block;
    look_at_threads();
    if (pipe(ends) != 0 || chdir(directory) != 0)
        exit(1);
    signal(SIGUSR1, SIG_IGN);
    sigemptyset(&block);
    const pid_t child = fork();
    if (child == 0) {
        sigaddset(&block, SIGUSR2);
        sigprocmask(SIG_BLOCK, &block, NULL);
        umask(027);
        char *words[] = {"a shell", "-c", "read x; kill -STOP $$; exit 3", "", NULL},
             *variables[] = {"A=b", "C=", NULL};
        dup2(ends[0], 0);
        close(ends[1]);
        execve("/bin/sh", words, variables);
        _exit(1);
    }
    while (strncmp(content_of(child, "comm"), "sh", 2) != 0 || !strstr(content_of(child, "status"), "S (sleeping)"))
        usleep(1000);
    say_process("another program", child);
    printf("environ %s\n", content_of(child, "environ"));
    printf("in /proc: %d, itself %d\n", count_names("/proc", child), count_names("/proc", getpid()));
    snprintf(name, sizeof name, "task/%d/children", (int)getpid());
    printf("children: %d\n", atoi(content_of(getpid(), name)) == child);
    snprintf(path, sizeof path, "/proc/%d/task", (int)child);
    printf("its tasks: %d %d\n", count_names(path, -1), count_names(path, child));
    if (write(ends[1], "x\n", 2) != 2)
        exit(1);
    waitpid(child, &status, WUNTRACED);
    say_line(child, "status", "State:");
    kill(child, SIGCONT);
    siginfo_t info;
    waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
    say_line(child, "status", "State:");
    say_line(child, "status", "Name:");
    printf("cmdline at the end '%s', exe %s\n", content_of(child, "cmdline"), link_of(child, "exe"));
    waitpid(child, &status, 0);
    printf("gone: %d %s\n", access(path, F_OK), strerrorname_np(errno));
    printf("nobody: %d\n", access("/proc/4000000", F_OK));
}

static int open_process(pid_t process, unsigned flags) { return (int)syscall(SYS_pidfd_open, process, flags); }

static int send_by(int descriptor, int number, siginfo_t *info, unsigned flags)
{
    return (int)syscall(SYS_pidfd_send_signal, descriptor, number, info, flags);
}

static void say_result(const char *what, long result)
{
    printf("%s: %s\n", what, result < 0 ? strerrorname_np(errno) : "ok");
}

static void say_readiness(const char *what, int descriptor)
{
    struct pollfd query = {.fd = descriptor, .events = POLLIN};
    const int ready = poll(&query, 1, 0);
    printf("%s: %d %d\n", what, ready, query.revents & POLLIN);
}

static int clone_child(int *descriptor)
{
    struct clone_args arguments = {
        .flags = CLONE_PIDFD, .pidfd = (uint64_t)(uintptr_t)descriptor, .exit_signal = SIGCHLD};
    return (int)syscall(SYS_clone3, &arguments, sizeof arguments);
}

static void misuse_pidfds(int descriptor)
{
    siginfo_t info = {.si_signo = SIGUSR1, .si_code = SI_USER};
    char byte;
    say_result("nobody", open_process(4000000, 0));
    say_result("no number", open_process(0, 0));
    say_result("flags", open_process(getpid(), 1));
    say_result("read", read(descriptor, &byte, 1));
    say_result("signal 0", send_by(descriptor, 0, NULL, 0));
    say_result("signal 99", send_by(descriptor, 99, NULL, 0));
    say_result("flags of a signal", send_by(descriptor, 0, NULL, 8));
    say_result("no pidfd", send_by(1, 0, NULL, 0));
    say_result("as from kill", send_by(descriptor, SIGUSR1, &info, 0));
    info.si_code = SI_QUEUE;
    say_result("another signal", send_by(descriptor, SIGUSR2, &info, 0));
    say_result("waiting for what is none", waitid(P_PIDFD, 1, &info, WEXITED));
    char link[64], text[64] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    printf("%zd %s, close on exec %d\n", readlink(link, text, sizeof text - 1), text, fcntl(descriptor, F_GETFD));
}

static void pidfds(void)
{
    siginfo_t info;
    int ends[2], made = -1, status;
    struct epoll_event event = {.events = EPOLLIN};
    if (pipe(ends) != 0)
        exit(1);
    pid_t child = fork();
    if (child == 0) {
        struct sigaction action = {.sa_sigaction = on_child, .sa_flags = SA_SIGINFO};
        char byte;
        sigaction(SIGUSR1, &action, NULL);
        if (write(ends[1], "x", 1) != 1)
            _exit(1);
        while (told_count < 2)
            pause();
        _exit(told[0] == -SIGUSR1 && read(ends[0], &byte, 1) == 1 ? 13 : 14);
    }
    char byte;
    const int process = open_process(child, 0), patient = open_process(child, O_NONBLOCK), set = epoll_create1(0);
    misuse_pidfds(process);
    epoll_ctl(set, EPOLL_CTL_ADD, process, &event);
    say_readiness("alive", process);
    say_result("without waiting", waitid(P_PIDFD, (id_t)patient, &info, WEXITED));
    if (read(ends[0], &byte, 1) != 1)
        exit(1);
    say_result("a signal", send_by(process, SIGUSR1, NULL, 0));
    usleep(10000);
    info = (siginfo_t){.si_signo = SIGUSR1, .si_code = SI_QUEUE};
    info.si_value.sival_int = 5;
    say_result("with a value", send_by(process, SIGUSR1, &info, 0));
    usleep(10000);
    if (write(ends[1], "y", 1) != 1)
        exit(1);
    printf("epoll: %d\n", epoll_wait(set, &event, 1, -1));
    say_readiness("ended", process);
    say_result("to one who has ended", send_by(process, SIGUSR1, NULL, 0));
    memset(&info, 0, sizeof info);
    const int got = waitid(P_PIDFD, (id_t)process, &info, WEXITED);
    printf("waitid: %d code %d status %d pid %d\n", got, info.si_code, info.si_status, info.si_pid == child);
    say_result("gone", send_by(process, SIGUSR1, NULL, 0));
    say_result("nobody's", waitid(P_PIDFD, (id_t)process, &info, WEXITED));
    say_readiness("waited for", process);
    child = clone_child(&made);
    if (child == 0)
        _exit(fcntl(made, F_GETFD) < 0 ? 21 : 22); /* its parent's alone */
    struct pollfd query = {.fd = made, .events = POLLIN};
    printf("made with it: %d\n", poll(&query, 1, -1));
    say_status("of clone3", waitpid(child, &status, 0), &status);
}

static void orphan(int end, pid_t reaper)
{
    struct sigaction action = {.sa_sigaction = on_child, .sa_flags = SA_SIGINFO};
    sigset_t block, old;
    sigaction(SIGUSR1, &action, NULL);
    sigemptyset(&block);
    sigaddset(&block, SIGUSR1);
    sigprocmask(SIG_BLOCK, &block, &old);
    prctl(PR_SET_PDEATHSIG, SIGUSR1);
    if (write(end, "x", 1) != 1)
        _exit(1);
    while (told_count == 0)
        sigsuspend(&old);
    while (getppid() != reaper)
        usleep(1000);
    _exit(told[0] == -SIGUSR1 ? 40 : 41);
}

static void orphans(void)
{
    int ends[2], status, adopts = -1, none = -1;
    char byte;
    const pid_t self = getpid();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_GET_CHILD_SUBREAPER, &adopts);
    if (pipe(ends) != 0)
        exit(1);
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_GET_CHILD_SUBREAPER, &adopts);
        prctl(PR_SET_PDEATHSIG, SIGUSR2);
        if (fork() == 0)
            orphan(ends[1], self);
        if (fork() == 0)
            _exit(30); /* waited for by nobody before its parent ends */
        const bool waits = read(ends[0], &byte, 1) == 1;
        siginfo_t info;
        waitid(P_ALL, 0, &info, WEXITED | WNOWAIT);
        prctl(PR_GET_PDEATHSIG, &none);
        _exit(waits && adopts == 0 && none == SIGUSR2 ? 20 : 21);
    }
    say_status("the parent in between", waitpid(child, &status, 0), &status);
    int found[2] = {0};
    for (int i = 0; i < 2; i++)
        if (wait(&status) > 0)
            found[WEXITSTATUS(status) >= 40] = WEXITSTATUS(status);
    printf("adopted %d: %d %d\n", adopts, found[0], found[1]);
}

static void circle(const char *directory)
{
    char path[4096], byte;
    int told[2], first, second;
    snprintf(path, sizeof path, "%s/first", directory);
    first = open(path, O_RDWR | O_CREAT, 0600);
    flock(first, LOCK_EX);
    snprintf(path, sizeof path, "%s/second", directory);
    if (pipe(told) == 0 && fork() == 0) {
        second = open(path, O_RDWR | O_CREAT, 0600);
        flock(second, LOCK_EX);
        if (write(told[1], "x", 1) != 1)
            _exit(1);
        snprintf(path, sizeof path, "%s/first", directory);
        first = open(path, O_RDWR);
        _exit(flock(first, LOCK_EX));
    }
    second = open(path, O_RDWR | O_CREAT, 0600);
    if (read(told[0], &byte, 1) == 1)
        flock(second, LOCK_EX);
}

/* Signals for the second thread of another process are taken by that one, though the first one would take them, too. */
static volatile sig_atomic_t heard, heard_elsewhere, heard_value;
static pid_t second_thread;
static void on_thread_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    heard += number == SIGUSR1 || number == SIGRTMIN;
    heard_elsewhere += gettid() != second_thread;
    heard_value += number == SIGRTMIN ? info->si_value.sival_int : info->si_code == SI_TKILL;
}

static void *second(void *told)
{
    second_thread = gettid();
    if (write(*(int *)told, &second_thread, sizeof second_thread) != sizeof second_thread)
        _exit(1);
    while (heard < 3)
        usleep(1000);
    return NULL;
}

static void told_by_thread(void)
{
    const struct sigaction action = {.sa_sigaction = on_thread_signal, .sa_flags = SA_SIGINFO};
    int told[2], status;
    pid_t thread;
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGRTMIN, &action, NULL);
    if (pipe(told) != 0)
        _exit(1);
    const pid_t child = fork();
    if (child == 0) {
        pthread_t of;
        pthread_create(&of, NULL, second, &told[1]);
        pthread_join(of, NULL);
        printf("elsewhere: %d, value %d\n", heard_elsewhere, heard_value);
        exit(0);
    }
    siginfo_t info = {.si_signo = SIGRTMIN, .si_code = SI_QUEUE, .si_pid = getpid(), .si_uid = getuid()};
    info.si_value.sival_int = 40;
    if (read(told[0], &thread, sizeof thread) != sizeof thread)
        _exit(1);
    const long one = syscall(SYS_tgkill, child, thread, SIGUSR1);
    const bool others = syscall(SYS_tgkill, getpid(), thread, SIGUSR1) < 0 && errno == ESRCH;
    const bool its_own = syscall(SYS_tgkill, thread, thread, SIGUSR1) < 0 && errno == ESRCH;
    const long two = syscall(SYS_rt_tgsigqueueinfo, child, thread, SIGRTMIN, &info);
    const long three = syscall(SYS_rt_tgsigqueueinfo, child, thread, SIGRTMIN, &info);
    say_status("told by its thread", waitpid(child, &status, 0), &status);
    printf("%ld %ld %ld, not this one's: %d, nor its own: %d\n", one, two, three, others, its_own);
}

/* A child with CLONE_VM has its parent's memory, and its descriptors are its own. What it maps is there afterwards,
 * what it unmaps is gone; its stack is a part of that memory. */
struct common {
    char *kept, *made, *gone, *closed;
    pid_t self, parent;
    int descriptor;
    pid_t number, cleared;
};

static int in_common(void *argument)
{
    struct common *common = argument;
    char on_stack[] = "on the child's stack";
    common->kept = strcat(strcpy(malloc(1 << 12), "allocated "), on_stack);
    common->made = mmap(NULL, 3 << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    strcpy(common->made + 5000, "mapped");
    munmap(common->gone, 4096);
    mprotect(common->closed, 4096, PROT_READ);
    common->self = getpid();
    common->parent = getppid();
    common->descriptor = open("/dev/null", O_RDONLY);
    shared_word = 77;
    return 9;
}

static void common_memory(void)
{
    struct common *common = calloc(1, sizeof *common);
    const int flags = CLONE_VM | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD;
    char *stack = malloc(1 << 16), resident;
    int status;
    common->gone = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    common->closed = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    common->cleared = 1;
    shared_word = 1;
    const pid_t child = clone(in_common, stack + (1 << 16), flags, common, &common->number, NULL, &common->cleared);
    say_status("of CLONE_VM", waitpid(child, &status, 0), &status);
    printf("number %d, cleared %d, itself %d, parent %d\n", common->number == child, common->cleared,
           common->self == child, common->parent == getpid());
    printf("%s, %s, word %d\n", common->kept, common->made + 5000, shared_word);
    strcpy(common->made, "to be written here, too");
    free(common->kept);
    printf("its descriptor is not here: %d\n", fcntl(common->descriptor, F_GETFD) < 0 && errno == EBADF);
    printf("gone: %d\n", mincore(common->gone, 4096, (void *)&resident) < 0 && errno == ENOMEM);
    printf("not gone: %d\n", mincore(common->gone + 4096, 4096, (void *)&resident));
    printf("closed to pipes: %d\n", read(open("/dev/zero", O_RDONLY), common->closed, 1) < 0 && errno == EFAULT);
    /* a child of its parent's parent */
    const pid_t brother = (pid_t)syscall(SYS_clone, CLONE_PARENT, 0, 0, 0, 0);
    if (brother == 0)
        _exit(0);
    printf("a brother is nobody to wait for: %d\n", waitpid(brother, &status, 0) < 0 && errno == ECHILD);
}

/* A process with a session of its own that waits for ever is ended an hour behind the first process: the third one says
 * so, and goes on waiting. One of the session goes on for as long as it likes. */
static time_t daemon_began;
static void say_when(int signal)
{
    char text[64];
    const int bytes = snprintf(text, sizeof text, "signal %d after %ld minutes\n", signal,
                               (long)(time(NULL) - daemon_began) / 60);
    if (write(1, text, (size_t)bytes) != bytes)
        _exit(1);
}

static void daemons(void)
{
    daemon_began = time(NULL);
    for (int i = 0; i < 4; i++) {
        if (fork() != 0)
            continue;
        if (i < 3)
            setsid();
        if (i > 0)
            signal(SIGTERM, say_when);
        if (i == 1)
            _exit(pause());
        sleep(i == 3 ? 2 * 3600 : 1);
        while (i < 3)
            sleep(600);
        printf("the job has slept\n");
        exit(0);
    }
    puts("started");
}

/* One that is left alone, and looks after something once a minute. */
static void agent(void)
{
    if (fork() != 0)
        return;
    setsid();
    for (;;)
        sleep(60);
}

static int tree(int left)
{
    int status, sum = 1;
    if (left <= 1)
        return 1;
    for (int i = 0; i < 2; i++)
        if (fork() == 0)
            _exit(tree(left - 1));
    while (wait(&status) > 0)
        sum += WEXITSTATUS(status);
    return sum;
}

int main(int argc, char **argv)
{
    const char *part = argc > 1 ? argv[1] : "";
    setvbuf(stdout, NULL, _IOLBF, 65536);
    if (strcmp(part, "basics") == 0)
        basics();
    else if (strcmp(part, "pipes") == 0)
        pipes();
    else if (strcmp(part, "spawn") == 0)
        spawn();
    else if (strcmp(part, "signals") == 0)
        signals();
    else if (strcmp(part, "shared") == 0 && argc > 2)
        shared(argv[2]);
    else if (strcmp(part, "clock") == 0)
        clocks();
    else if (strcmp(part, "locks") == 0 && argc > 2)
        locks(argv[2]);
    else if (strcmp(part, "stops") == 0)
        stops();
    else if (strcmp(part, "alone") == 0)
        raise(SIGSTOP);
    else if (strcmp(part, "looks") == 0 && argc > 2)
        looks(argv[2]);
    else if (strcmp(part, "pidfds") == 0)
        pidfds();
    else if (strcmp(part, "orphans") == 0)
        orphans();
    else if (strcmp(part, "circle") == 0 && argc > 2)
        circle(argv[2]);
    else if (strcmp(part, "thread") == 0)
        told_by_thread();
    else if (strcmp(part, "memory") == 0)
        common_memory();
    else if (strcmp(part, "daemons") == 0)
        daemons();
    else if (strcmp(part, "agent") == 0)
        agent();
    else if (strcmp(part, "tree") == 0 && argc > 2)
        printf("%d processes\n", tree(atoi(argv[2])));
    return 0;
}
