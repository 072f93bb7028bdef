/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * trials PART: what the kernel does, in the manner of the Linux Test Project's tests of calls.
 *
 * sizes    RLIMIT_FSIZE of what sendfile, copy_file_range and splice write, and its signal
 * owners   of descriptors' signals: a process, a thread, a group; how long what is written will live
 * heirs    memory that children do not get (MADV_DONTFORK), or empty (MADV_WIPEONFORK); holes in shared memory
 * clones   children whose end is no SIGCHLD: __WCLONE and __WALL
 * limits   RLIMIT_NPROC, RLIMIT_SIGPENDING
 * requests prctl's of a plain user
 * natures  of personality(2): timeouts that are left as they are, what uname shows, what the next program has
 * clocks   a machine does not run programs in its first seconds: all clocks are past them, and agree
 * depths   directories whose names are longer than a path may be, entered one by one
 * made_up  what stands in /proc/self/status of rights; names that there are already; what is above /proc
 * names    of threads, by /proc: of others, of other processes, too long, read again; where they cannot be written
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096 };
static volatile sig_atomic_t count[65];
static siginfo_t last;

static void handler(int number, siginfo_t *info, void *context)
{
    (void)context;
    count[number]++;
    last = *info;
}

static void handle(int number)
{
    sigaction(number, &(struct sigaction){.sa_sigaction = handler, .sa_flags = SA_SIGINFO}, NULL);
}

static void say(const char *what, long value)
{
    if (value == -1)
        printf("%s: %s\n", what, strerrorname_np(errno));
    else
        printf("%s: %ld\n", what, value);
    fflush(stdout);
}

/* ------------------------------------------------------------------ files no larger than that */

static void say_too_large(const char *what, long value)
{
    say(what, value);
    printf("  signals: %d\n", count[SIGXFSZ]);
    count[SIGXFSZ] = 0;
}

static void sizes(void)
{
    static char bytes[2 * PAGE];
    const int from = open("from", O_RDWR | O_CREAT | O_TRUNC, 0600), to = open("to", O_RDWR | O_CREAT | O_TRUNC, 0600);
    int ends[2];
    off_t at = 0, there;
    handle(SIGXFSZ);
    if (pipe(ends) < 0 || write(from, bytes, PAGE) != PAGE || write(ends[1], bytes, PAGE) != PAGE)
        exit(1);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){PAGE, PAGE});
    lseek(to, 2000, SEEK_SET);
    say_too_large("sendfile of what fits in part", sendfile(to, from, &at, PAGE));
    say_too_large("and nothing more", sendfile(to, from, &at, PAGE));
    at = PAGE;
    say_too_large("where there is nothing more to send", sendfile(to, from, &at, PAGE));
    at = 0;
    lseek(to, 4000, SEEK_SET);
    say_too_large("all that fits", sendfile(to, from, &at, 96));
    say_too_large("into what cannot be written", sendfile(open("to", O_RDONLY), from, &at, 96));
    at = 0, there = 3000;
    say_too_large("copy_file_range", copy_file_range(from, &at, to, &there, PAGE, 0));
    there = PAGE;
    say_too_large("at the limit", copy_file_range(from, &at, to, &there, PAGE, 0));
    there = 3000;
    say_too_large("splice", splice(ends[0], NULL, to, &there, PAGE, 0));
    there = PAGE;
    say_too_large("at the limit", splice(ends[0], NULL, to, &there, PAGE, 0));
    say_too_large("a write to what cannot be written", pwrite(open("to", O_RDONLY), bytes, 10, PAGE));
}

/* ------------------------------------------------------------------ who is told */

static pthread_barrier_t both;
static volatile pid_t other_thread;

static void *takes_signals(void *unused)
{
    sigset_t set;
    siginfo_t info;
    (void)unused;
    sigemptyset(&set);
    sigaddset(&set, SIGIO);
    other_thread = (pid_t)syscall(SYS_gettid);
    pthread_barrier_wait(&both);
    return (void *)(intptr_t)sigwaitinfo(&set, &info);
}

static int watched(int *write_end)
{
    int ends[2];
    if (pipe(ends) < 0 || fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK) < 0)
        exit(1);
    *write_end = ends[1];
    return ends[0];
}

static void say_owner(const char *what, int fd)
{
    struct f_owner_ex owner = {9, 9};
    const int simple = fcntl(fd, F_GETOWN), status = fcntl(fd, F_GETOWN_EX, &owner);
    printf("%s: %d, type %d, this process %d, its group %d, the thread %d; %d\n", what, status, (int)owner.type,
           owner.pid == getpid(), owner.pid == getpgrp(), owner.pid == other_thread, simple == -getpgrp());
}

static void owners(void)
{
    pthread_t thread;
    sigset_t set;
    int to, status;
    void *taken;
    uint64_t hint = 3;
    const int from = watched(&to), file = open("file", O_RDWR | O_CREAT, 0600);
    handle(SIGIO);
    handle(SIGRTMIN);
    setpgid(0, 0);
    sigemptyset(&set);
    sigaddset(&set, SIGIO);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&thread, NULL, takes_signals, NULL);
    pthread_barrier_wait(&both);
    say("a thread", fcntl(from, F_SETOWN_EX, &(struct f_owner_ex){F_OWNER_TID, other_thread}));
    say_owner("a thread", from);
    say("write", write(to, "x", 1));
    pthread_join(thread, &taken);
    printf("the thread takes %d\n", (int)(intptr_t)taken);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    say("this process", count[SIGIO]);
    say("a group", fcntl(from, F_SETOWN, -getpgrp()));
    say_owner("a group", from);
    fcntl(from, F_SETSIG, SIGRTMIN);
    int told[2];
    char byte;
    if (pipe(told) < 0)
        exit(1);
    const pid_t child = fork();
    if (child == 0) {
        if (write(told[1], "r", 1) == 1)
            while (count[SIGRTMIN] == 0)
                sched_yield();
        _exit(count[SIGRTMIN]);
    }
    if (read(told[0], &byte, 1) == 1)
        say("write", write(to, "x", 1));
    waitpid(child, &status, 0);
    printf("the child of the group: %d, this one: %d, code %d\n", WEXITSTATUS(status), count[SIGRTMIN], last.si_code);
    say("no such group", fcntl(from, F_SETOWN, -0x3fffffff));
    say("no such thread", fcntl(from, F_SETOWN_EX, &(struct f_owner_ex){F_OWNER_TID, 0x3fffffff}));
    say("no such type", fcntl(from, F_SETOWN_EX, &(struct f_owner_ex){7, 1}));
    say("the least number", fcntl(from, F_SETOWN, INT32_MIN));
    say("nobody", fcntl(from, F_SETOWN, 0));
    say("nobody", fcntl(from, F_GETOWN));
    say("a hint", fcntl(file, F_SET_RW_HINT, &hint));
    hint = 0;
    say("its hint", fcntl(file, F_GET_RW_HINT, &hint));
    printf("%d\n", (int)hint);
    hint = 99;
    say("no hint", fcntl(file, F_SET_RW_HINT, &hint));
}

/* ------------------------------------------------------------------ what children get */

static sigjmp_buf back;

static void fault(int number) { siglongjmp(back, number); }

static void heirs(void)
{
    char *memory = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *moved;
    char *shared = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const int fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (write(fd, memory, PAGE) != PAGE)
        exit(1);
    char *file = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    memset(memory, 1, 4 * PAGE);
    memset(shared, 2, 2 * PAGE);
    say("kept back", madvise(memory, PAGE, MADV_DONTFORK));
    say("wiped", madvise(memory + PAGE, 2 * PAGE, MADV_WIPEONFORK));
    say("kept", madvise(memory + 2 * PAGE, PAGE, MADV_KEEPONFORK));
    say("shared memory is not wiped", madvise(shared, PAGE, MADV_WIPEONFORK));
    say("nor are files", madvise(file, PAGE, MADV_WIPEONFORK));
    say("nor freed", madvise(file, PAGE, MADV_FREE));
    say("shared memory is not freed", madvise(shared, PAGE, MADV_FREE));
    for (int generation = 0; generation < 2; generation++) {
        const pid_t child = fork();
        if (child == 0) {
            signal(SIGSEGV, fault);
            if (sigsetjmp(back, 1) == 0)
                printf("kept back: %d\n", *(volatile char *)memory);
            else
                printf("kept back: a fault\n");
            printf("wiped: %d, kept: %d %d\n", memory[PAGE], memory[2 * PAGE], memory[3 * PAGE]);
            memory[PAGE] = 8;
            const pid_t grandchild = fork(); /* the advice is inherited, too */
            if (grandchild == 0) {
                printf("wiped again: %d\n", memory[PAGE]);
                exit(0);
            }
            waitpid(grandchild, NULL, 0);
            exit(0);
        }
        waitpid(child, NULL, 0);
        printf("here: %d %d\n", memory[0], memory[PAGE]);
        moved = mremap(memory, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, memory + 3 * PAGE);
        printf("moved: %d\n", moved == memory + 3 * PAGE);
        memory += 3 * PAGE;
        if (generation == 0)
            say("not kept back any more", madvise(memory, PAGE, MADV_DOFORK));
        memory -= 3 * PAGE;
        mmap(memory, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        memory[0] = 5;
    }
    say("a hole", madvise(shared, PAGE, MADV_REMOVE));
    printf("%d %d\n", shared[0], shared[PAGE]);
    say("in a file that is not shared", madvise(file, PAGE, MADV_REMOVE));
    say("in private memory", madvise(memory, PAGE, MADV_REMOVE));
    mprotect(shared, PAGE, PROT_READ);
    say("in what cannot be written", madvise(shared, PAGE, MADV_REMOVE));
    say("nowhere", madvise((void *)0x10000, PAGE, MADV_REMOVE));
    say("shared memory does not grow down",
        (long)mmap(NULL, PAGE, PROT_READ, MAP_SHARED | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0));
}

/* ------------------------------------------------------------------ ends that are no SIGCHLD */

static void clones(void)
{
    static const int signals[] = {0, SIGUSR1, SIGCHLD, 100};
    int status;
    handle(SIGUSR1);
    for (unsigned i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        fflush(stdout);
        const pid_t child = (pid_t)syscall(SYS_clone, signals[i], NULL, NULL, NULL, 0);
        if (child == 0)
            _exit(4);
        printf("signal %d\n", signals[i]);
        say("wait", waitpid(child, &status, 0) == child ? 1 : -1);
        say("wait for clones", waitpid(child, &status, __WCLONE) == child ? 1 : -1);
        say("wait for all", waitpid(child, &status, __WALL) == child ? 1 : -1);
    }
    const pid_t child = (pid_t)syscall(SYS_clone, SIGUSR1, NULL, NULL, NULL, 0);
    if (child == 0) {
        execl("/bin/true", "true", NULL);
        _exit(1);
    }
    printf("another program ends as others do: %d, %#x\n", waitpid(child, &status, 0) == child, (unsigned)status);
    fflush(stdout);
    pid_t waits[2];
    for (int i = 0; i < 2; i++)
        if ((waits[i] = fork()) == 0)
            _exit(pause());
    say("nothing of input and output in common", syscall(SYS_kcmp, waits[0], waits[1], KCMP_IO, 0, 0));
    for (int i = 0; i < 2; i++)
        kill(waits[i], SIGKILL);
}

/* ------------------------------------------------------------------ how many */

static void limits(void)
{
    sigset_t set;
    siginfo_t info;
    int got = 0, refused = 0;
    handle(SIGRTMIN);
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &set, NULL);
    setrlimit(RLIMIT_SIGPENDING, &(struct rlimit){3, 3});
    for (int i = 0; i < 5; i++)
        refused += sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = i}) < 0 && errno == EAGAIN;
    while (sigtimedwait(&set, &info, &(struct timespec){0}) > 0)
        got++;
    /* other programs of the user may have some pending */
    printf("no more than the limit: %d, others are refused: %d\n", got <= 3, got + refused == 5);
    setrlimit(RLIMIT_NPROC, &(struct rlimit){1, 1});
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    say("no process more", child);
}

/* ------------------------------------------------------------------ requests */

static void requests(void)
{
    say("no huge pages", prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0));
    say("are there", prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0));
    say("too many words", prctl(PR_SET_THP_DISABLE, 1, 1, 0, 0));
    say("broken memory", prctl(PR_MCE_KILL, PR_MCE_KILL_SET, PR_MCE_KILL_EARLY, 0, 0));
    say("is", prctl(PR_MCE_KILL_GET, 0, 0, 0, 0));
    say("no such", prctl(PR_MCE_KILL, PR_MCE_KILL_SET, 9, 0, 0));
    say("as at first", prctl(PR_MCE_KILL, PR_MCE_KILL_CLEAR, 0, 0, 0));
    say("is", prctl(PR_MCE_KILL_GET, 0, 0, 0, 0));
    say("in the ambient set", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, 0, 0, 0));
    say("into it", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 0, 0, 0));
    say("out of it", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_LOWER, 0, 0, 0));
    say("all out", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0));
    say("all out, and one", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 1, 0, 0));
    say("no such capability", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, 99, 0, 0));
    say("no such request", prctl(PR_CAP_AMBIENT, 9, 0, 0, 0));
}

/* ------------------------------------------------------------------ personality */

static void of_nature(unsigned long nature)
{
    struct timeval interval = {0, 1000};
    struct timespec time[2] = {{0, 1000000}, {0, 1000000}};
    struct utsname name;
    printf("nature %#lx\n", nature);
    say("before", personality(nature));
    printf("now %#x\n", (unsigned)personality(0xffffffff));
    say("select", syscall(SYS_select, 0, NULL, NULL, NULL, &interval));
    say("pselect", syscall(SYS_pselect6, 0, NULL, NULL, NULL, &time[0], NULL));
    say("ppoll", syscall(SYS_ppoll, NULL, 0, &time[1], NULL, 8));
    printf("what is left: %ld %ld %ld\n", interval.tv_usec, time[0].tv_nsec, time[1].tv_nsec);
    say("uname", uname(&name));
    printf("of old %d, machine %s\n", strncmp(name.release, "2.6.", 4) == 0, name.machine);
    fflush(stdout);
    execl("/bin/cat", "cat", "/proc/self/personality", NULL);
}

static void natures(void)
{
    static const unsigned long all[] = {PER_LINUX,  PER_LINUX | STICKY_TIMEOUTS, READ_IMPLIES_EXEC,
                                        PER_SVR4,   ADDR_NO_RANDOMIZE,           ADDR_LIMIT_32BIT | ADDR_LIMIT_3GB,
                                        0x80000000, SHORT_INODE | WHOLE_SECONDS, PER_LINUX32,
                                        UNAME26};
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (fork() == 0) {
            of_nature(all[i]);
            _exit(1);
        }
        wait(NULL);
    }
}

/* ------------------------------------------------------------------ names by /proc */

static int leave[2];

static void *wait_to_leave(void *tid)
{
    char byte;
    *(volatile pid_t *)tid = gettid();
    return read(leave[0], &byte, 1) == 0 ? NULL : tid;
}

static void say_file(const char *what, int file)
{
    char text[64] = "";
    lseek(file, 0, SEEK_SET);
    say(what, read(file, text, sizeof text - 1));
    printf("%s.\n", text);
}

static void of_another_process(const char *path)
{
    const pid_t child = fork();
    if (child == 0) {
        const int file = open(path, O_RDWR);
        say("of another process", write(file, "other", 5));
        say_file("it is not changed", file);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static void not_by_write(int file)
{
    int from = open("from", O_RDWR | O_CREAT | O_TRUNC, 0600), pipes[2];
    say("a file", write(from, "copied", 6));
    lseek(from, 0, SEEK_SET);
    say("sendfile", sendfile(file, from, NULL, 6));
    say("copy_file_range", copy_file_range(from, NULL, file, NULL, 6, 0));
    say("a pipe", pipe(pipes));
    say("with something", write(pipes[1], "spliced", 7));
    say("splice", splice(pipes[0], NULL, file, NULL, 7, 0));
    say("ftruncate", ftruncate(file, 0));
    say_file("all that changes nothing", file);
}

static void names(void)
{
    volatile pid_t tid = 0;
    pthread_t thread;
    struct stat st;
    char path[64], got[16], *nowhere = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    say("pipe", pipe(leave));
    pthread_create(&thread, NULL, wait_to_leave, (void *)&tid);
    while (tid == 0)
        sched_yield();
    printf("set: %d\n", pthread_setname_np(thread, "worker"));
    printf("got: %d, %s\n", pthread_getname_np(thread, got, sizeof got), got);
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", tid);
    const int file = open(path, O_RDWR), first = open("/proc/self/comm", O_WRONLY | O_TRUNC | O_CREAT, 0600);
    say("too long", write(file, "0123456789abcdefghij", 20));
    say("its position", lseek(file, 0, SEEK_CUR));
    say_file("it is cut", file);
    say("at a position", pwrite(file, "position", 8, 3));
    say("a line", write(file, "line\n", 5));
    say_file("two lines", file);
    say("pieces", writev(file, (struct iovec[]){{"one", 3}, {"", 0}, {"two", 3}}, 3));
    say_file("the last", file);
    say("nothing", write(file, "", 0));
    say_file("no name", file);
    say("nowhere", write(file, nowhere, 4));
    say("half nowhere", writev(file, (struct iovec[]){{"half", 4}, {nowhere, 3}}, 2));
    say_file("half", file);
    not_by_write(file);
    say("of the first thread", write(first, "first", 5));
    say("prctl", prctl(PR_GET_NAME, got));
    printf("%s\n", got);
    say("not open for reading", read(first, got, 1));
    say("not open for writing", write(open(path, O_RDONLY), "x", 1));
    say("rights", stat(path, &st) == 0 ? st.st_mode & 07777 : -1);
    say("may be written", access(path, R_OK | W_OK));
    say("may be executed", access(path, X_OK));
    say("what is no setting", open("/proc/self/stat", O_WRONLY));
    snprintf(path, sizeof path, "/proc/%d/task/%d/comm", getpid(), tid);
    of_another_process(path);
    close(leave[1]);
    pthread_join(thread, NULL);
}

static void scores(void)
{
    char path[32];
    const int file = open("/proc/self/oom_score_adj", O_RDWR);
    say_file("at first", file);
    say("a number", write(file, " 300\n", 5));
    say_file("it is kept", file);
    say("of sixteen", write(file, "0x20", 4));
    say("too high", write(file, "1001", 4));
    say("too low", write(file, "-1001", 5));
    say("no number", write(file, "12x", 3));
    say("nothing but space", write(file, " ", 1));
    say_file("as it was", file);
    say("as much as is taken", write(file, "7                   ", 20));
    say("no piece behind it", writev(file, (struct iovec[]){{"8                   ", 20}, {"9", 1}}, 2));
    say("two pieces", writev(file, (struct iovec[]){{"10", 2}, {"", 0}, {"11", 2}}, 3));
    say_file("the last", file);
    fflush(stdout);
    if (fork() == 0) {
        say_file("a child's", open("/proc/self/oom_score_adj", O_RDWR));
        say("its own", write(open("/proc/self/oom_score_adj", O_RDWR), "1000", 4));
        say_file("in the old unit", open("/proc/self/oom_adj", O_RDONLY));
        snprintf(path, sizeof path, "/proc/%d/oom_score_adj", getppid());
        say("the parent's", write(open(path, O_RDWR), "500", 3));
        fflush(stdout);
        _exit(0);
    }
    wait(NULL);
    say_file("by the child", open("/proc/self/oom_score_adj", O_RDONLY));
    say_file("in the old unit", open("/proc/self/oom_adj", O_RDONLY));
}

/* ------------------------------------------------------------------ clocks */

static double clock_seconds(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double first_number(const char *path, const char *before)
{
    char text[65536] = "";
    const int file = open(path, O_RDONLY);
    for (ssize_t got, have = 0; (got = read(file, text + have, sizeof text - 1 - (size_t)have)) > 0; have += got)
        text[have + got] = '\0';
    close(file);
    const char *at = strstr(text, before);
    return at ? strtod(at + strlen(before), NULL) : -1;
}

static bool near(double a, double b) { return a > b - 3 && a < b + 3; }

static void clocks(void)
{
    static const clockid_t since_boot[] = {CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_MONOTONIC_COARSE,
                                           CLOCK_BOOTTIME};
    for (unsigned i = 0; i < sizeof since_boot / sizeof since_boot[0]; i++)
        say("past the first seconds", clock_seconds(since_boot[i]) > 10);
    struct sysinfo info;
    sysinfo(&info);
    const double up = clock_seconds(CLOCK_BOOTTIME), real = clock_seconds(CLOCK_REALTIME);
    say("sysinfo", near((double)info.uptime, up));
    say("/proc/uptime", near(first_number("/proc/uptime", ""), up));
    say("/proc/stat", near(first_number("/proc/stat", "btime "), real - up));
    say("this process has just begun", clock_seconds(CLOCK_PROCESS_CPUTIME_ID) < 3);
    struct timespec then = {.tv_sec = (time_t)up - 5};
    say("a time before now is over", clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, NULL));
}

/* ------------------------------------------------------------------ depths */

static void say_there(const char *where)
{
    struct stat st;
    char text[8] = "";
    printf("%s\n", where);
    const int file = open("file", O_RDWR | O_CREAT | O_EXCL, 0600);
    say("written", write(file, where, 4));
    say("there", stat("./file", &st) == 0 ? st.st_size : -1);
    say("linked", symlink("file", "link"));
    say("the link", lstat("link", &st) == 0 ? st.st_size : -1);
    say("read", readlink("link", text, sizeof text));
    say("no directory", open("file/below", O_RDONLY));
    say("nothing", open("nothing", O_RDONLY));
    say("renamed", rename("file", "other"));
    const int here = open(".", O_RDONLY | O_DIRECTORY);
    say("by a descriptor", openat(here, "other", O_RDONLY) >= 0);
    say("gone", unlinkat(here, "other", 0) + unlink("link"));
    close(here);
    close(file);
}

static void depths(void)
{
    enum { DEPTH = 45, NAME = 100 };
    static int way[DEPTH + 1];
    char name[NAME + 1];
    memset(name, 'd', NAME);
    name[NAME] = '\0';
    way[0] = open(".", O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < DEPTH; i++) {
        if (mkdir(name, 0700) < 0 || chdir(name) < 0)
            say(name, -1);
        way[i + 1] = open(".", O_RDONLY | O_DIRECTORY);
    }
    say_there("deep below");
    for (int i = DEPTH; i > 0; i--)
        if (unlinkat(way[i - 1], name, AT_REMOVEDIR) < 0)
            say("rmdir", -1);
    say("back", fchdir(way[0]));
    say_there("at the top");
}

static void made_up(void)
{
    static const char *const names[] = {"CapInh:", "CapPrm:", "CapEff:", "CapAmb:"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        say(names[i], (long)first_number("/proc/self/status", names[i]));
    say("a directory", mkdir("/proc", 0700));
    say("one in it", mkdir("/proc/sys", 0700));
    say("a new one", mkdir("/proc/nothing", 0700));
    say("a link", symlink("x", "/proc/self"));
    say("a command line", open("/proc/cmdline", O_RDONLY) >= 0);
    struct stat top, above;
    const int proc = open("/proc", O_RDONLY | O_DIRECTORY), sys = open("/proc/sys/kernel", O_RDONLY | O_DIRECTORY);
    say("above it", stat("/", &top) + fstatat(proc, "..", &above, 0));
    say("is the top", top.st_ino == above.st_ino && top.st_dev == above.st_dev);
    say("by two steps", faccessat(sys, "../../self/status", R_OK, 0));
    say("out and in again", faccessat(sys, "../../../proc/self", R_OK, 0));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {{"sizes", sizes},     {"owners", owners},     {"heirs", heirs},   {"clones", clones},
                 {"limits", limits},   {"requests", requests}, {"names", names},   {"scores", scores},
                 {"natures", natures}, {"clocks", clocks},     {"depths", depths}, {"made_up", made_up}};
    for (unsigned i = 0; argc == 2 && i < sizeof parts / sizeof parts[0]; i++)
        if (strcmp(argv[1], parts[i].name) == 0) {
            parts[i].run();
            return 0;
        }
    return 2;
}
