/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * signals WHAT: what programs do with signals; prints what does not depend on when they come.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile sig_atomic_t count, last, value;
static sigjmp_buf back;

static void install(int signal, void *handler, int flags)
{
    struct sigaction action = {.sa_flags = flags | SA_SIGINFO};
    action.sa_sigaction = (void (*)(int, siginfo_t *, void *))handler;
    sigemptyset(&action.sa_mask);
    if (sigaction(signal, &action, NULL) != 0)
        exit(2);
}

static void counts(int signal, siginfo_t *info, void *context)
{
    (void)context;
    count++;
    last = signal;
    value = info->si_value.sival_int;
}

/* ------------------------------------------------------------------ faults: what the handler is told */
static char *page;
static void told(int signal, siginfo_t *info, void *context)
{
    const greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    const long where = (char *)info->si_addr - page;
    printf("%s code %d", sigabbrev_np(signal), info->si_code);
    if (info->si_code == SI_KERNEL)
        printf(" at %p trap %lld error %lld", info->si_addr, r[REG_TRAPNO], r[REG_ERR]);
    else if (signal == SIGSEGV || signal == SIGBUS) /* the error's user bit, and present, write, fetch */
        printf(" at page%+ld trap %lld error %lld cr2 %s", where, r[REG_TRAPNO], r[REG_ERR],
               r[REG_TRAPNO] != 14 || r[REG_CR2] == (greg_t)info->si_addr ? "same" : "other");
    else
        printf(" at %s trap %lld", (greg_t)info->si_addr == r[REG_RIP] ? "rip" : info->si_addr ? "other" : "none",
               r[REG_TRAPNO]);
    printf("\n");
    siglongjmp(back, 1);
}

static void faults(void)
{
    page = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    page[0] = page[4096] = 1;
    mprotect(page, 4096, PROT_READ);
    mprotect(page + 4096, 4096, PROT_NONE);
    munmap(page + 8192, 4096);
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    for (unsigned i = 0; i < 5; i++)
        install(signals[i], told, SA_NODEFER);
    volatile char *volatile at = page;
    if (!sigsetjmp(back, 1))
        at[16] = 1; /* may only be read */
    if (!sigsetjmp(back, 1))
        (void)at[4096 + 8]; /* not even that */
    if (!sigsetjmp(back, 1))
        at[8192 + 4] = 1; /* not there */
    if (!sigsetjmp(back, 1))
        (void)at[8192 + 5];
    if (!sigsetjmp(back, 1))
        ((void (*)(void))(page))(); /* is no code */
    if (!sigsetjmp(back, 1))
        (void)*(volatile char *)0x8000000000000000ul;
    if (!sigsetjmp(back, 1))
        __asm__ volatile("xor %%ecx, %%ecx; xor %%edx, %%edx; mov $1, %%eax; div %%ecx" ::: "eax", "ecx", "edx");
    if (!sigsetjmp(back, 1))
        __asm__ volatile("ud2");
    if (!sigsetjmp(back, 1))
        __asm__ volatile("int3");
}

/* ------------------------------------------------------------------ a crash handler on a stack of its own */
static void crashed(int signal)
{
    void *frames[32];
    const int n = backtrace(frames, 32);
    char **names = backtrace_symbols(frames, n);
    int found = 0;
    for (int i = 0; i < n; i++)
        found |= (strstr(names[i], "deep") ? 1 : 0) | (strstr(names[i], "deeper") ? 2 : 0) |
                 (strstr(names[i], "main") ? 4 : 0);
    printf("%s in %d\n", sigabbrev_np(signal), found);
    fflush(stdout);
    _exit(3);
}
__attribute__((noinline, noclone)) int deeper(volatile int *at) { return *at + 1; }
__attribute__((noinline, noclone)) int deep(volatile int *at) { return deeper(at) + 1; }

static void crash(void)
{
    static char stack[65536];
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = crashed, .sa_flags = SA_ONSTACK | SA_RESETHAND};
    void *warm[4];
    backtrace(warm, 4); /* loads libgcc */
    sigaltstack(&other, NULL);
    sigaction(SIGSEGV, &action, NULL);
    printf("%d\n", deep((int *)16));
}

/* ------------------------------------------------------------------ real-time signals are queued, in order */
static int order[64], ordered;
static void notes(int signal, siginfo_t *info, void *context)
{
    (void)context;
    order[ordered++] = signal * 100 + info->si_value.sival_int;
}

static void queues(void)
{
    sigset_t all, old;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &old);
    for (int i = 0; i < 3; i++) {
        install(SIGRTMIN + i, notes, 0);
        install(SIGUSR1, notes, 0);
    }
    for (int i = 0; i < 9; i++)
        sigqueue(getpid(), SIGRTMIN + (8 - i) % 3, (union sigval){.sival_int = i});
    for (int i = 0; i < 3; i++)
        sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 50 + i});
    siginfo_t info;
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGRTMIN);
    const int taken = sigwaitinfo(&one, &info);
    printf("taken %d %d\n", taken - SIGRTMIN, info.si_value.sival_int);
    sigprocmask(SIG_SETMASK, &old, NULL);
    for (int i = 0; i < ordered; i++)
        printf(" %d", order[i] < 3000 ? order[i] : order[i] - SIGRTMIN * 100);
    printf("\n");
}

/* ------------------------------------------------------------------ timers */
static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void spin_until(int wanted)
{
    while (count < wanted)
        continue;
}

static void timers(void)
{
    static const int which[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
    static const int signals[] = {SIGALRM, SIGVTALRM, SIGPROF};
    for (int i = 0; i < 3; i++) {
        struct itimerval off = {{0, 0}, {0, 0}}, on = {{0, 4000}, {0, 4000}}, left;
        install(signals[i], counts, 0);
        count = 0;
        setitimer(which[i], &on, NULL);
        spin_until(4);
        getitimer(which[i], &left);
        setitimer(which[i], &off, NULL);
        printf("%s %d %d\n", sigabbrev_np(last), left.it_interval.tv_usec == 4000, left.it_value.tv_usec <= 4000);
    }
    const double before = seconds();
    alarm(10);
    printf("alarm %u", alarm(1));
    pause();
    const double slept = seconds() - before;
    printf(" %d %s\n", slept > 0.99 && slept < 1.2, sigabbrev_np(last));
}

static void thread_notified(union sigval said) { count += said.sival_int; }

static void posix_timers(void)
{
    timer_t timer, other;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 1, .sigev_value.sival_int = 7};
    struct itimerspec on = {{0, 1000000}, {0, 1000000}}, off = {{0, 0}, {0, 0}}, left;
    sigset_t set, old;
    siginfo_t info;
    install(SIGRTMIN + 1, counts, 0);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    count = 0;
    timer_settime(timer, 0, &on, NULL);
    spin_until(3);
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 1);
    sigprocmask(SIG_BLOCK, &set, &old);
    struct timespec some = {0, 20500000};
    nanosleep(&some, NULL);
    timer_gettime(timer, &left);
    const int signal = sigwaitinfo(&set, &info);
    const int overruns = timer_getoverrun(timer);
    timer_settime(timer, 0, &off, NULL);
    printf("posix %d %d value %d overruns %d\n", signal - SIGRTMIN, info.si_code == SI_TIMER, info.si_value.sival_int,
           info.si_overrun >= 15 && info.si_overrun <= 25 && overruns == info.si_overrun);
    printf("left %d\n", left.it_value.tv_nsec > 0 && left.it_value.tv_nsec <= 1000000);
    sigprocmask(SIG_SETMASK, &old, NULL);
    event.sigev_notify = SIGEV_THREAD;
    event.sigev_notify_function = thread_notified;
    timer_create(CLOCK_REALTIME, &event, &other);
    count = 0;
    on.it_interval.tv_nsec = 0;
    timer_settime(other, 0, &on, NULL);
    while (count == 0)
        usleep(100);
    printf("thread %d delete %d %d %d\n", (int)count, timer_delete(timer), timer_delete(other),
           (int)syscall(SYS_timer_delete, 9));
}

/* ------------------------------------------------------------------ EINTR, and calls that go on */
static int ends[2];
static void *writes(void *argument)
{
    usleep(3000);
    if (write(ends[1], "x", 1) != 1)
        exit(4);
    return argument;
}

static void restarts(void)
{
    pthread_t other;
    char byte;
    if (pipe(ends) != 0)
        exit(5);
    for (int again = 0; again < 2; again++) {
        struct itimerval on = {{0, 0}, {0, 1000}};
        install(SIGALRM, counts, again ? SA_RESTART : 0);
        count = 0;
        pthread_create(&other, NULL, writes, NULL);
        setitimer(ITIMER_REAL, &on, NULL);
        /* the handler must run here: the other thread blocks nothing, but the first one is asked first */
        const ssize_t got = read(ends[0], &byte, 1);
        printf("read %zd %s after %d", got, got < 0 ? strerrorname_np(errno) : "-", (int)count);
        pthread_join(other, NULL);
        if (got < 0 && read(ends[0], &byte, 1) != 1)
            exit(6);
        struct timespec time = {1, 0}, rest = {0, 0};
        setitimer(ITIMER_REAL, &on, NULL);
        const int slept = nanosleep(&time, &rest);
        printf(" nanosleep %d %s rest %d\n", slept, slept ? strerrorname_np(errno) : "-",
               rest.tv_sec == 0 && rest.tv_nsec > 900000000);
    }
}

/* ------------------------------------------------------------------ signals for threads, and masks */
static pthread_t threads[3];
static volatile int who[3];
static __thread int self = -1;
static void marks(int signal)
{
    (void)signal;
    if (self >= 0)
        who[self]++;
}

static void *waits(void *argument)
{
    sigset_t set;
    self = (int)(long)argument;
    sigfillset(&set);
    sigdelset(&set, SIGUSR2);
    while (who[self] < 2)
        sigsuspend(&set);
    return NULL;
}

static void *waits_for(void *argument)
{
    sigset_t set;
    int got = 0;
    (void)argument;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigwait(&set, &got);
    return (void *)(long)got;
}

static void directed(void)
{
    sigset_t set;
    struct sigaction action = {.sa_handler = marks};
    void *got;
    sigaction(SIGUSR2, &action, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, waits, (void *)i);
    for (int round = 1; round <= 2; round++)
        for (int i = 2; i >= 0; i--) {
            pthread_kill(threads[i], SIGUSR2);
            while (who[i] < round)
                usleep(100);
        }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("directed %d %d %d", who[0], who[1], who[2]);
    pthread_create(&threads[0], NULL, waits_for, NULL);
    usleep(100);
    kill(getpid(), SIGTERM);
    pthread_join(threads[0], &got);
    printf(" waited %s esrch %d\n", sigabbrev_np((int)(long)got),
           (int)syscall(SYS_tgkill, getpid(), 30000, SIGTERM) == -1 && errno == ESRCH);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"faults", faults}, {"crash", crash},       {"queues", queues},    {"timers", timers},
               {"posix", posix_timers}, {"restarts", restarts}, {"directed", directed}};
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (unsigned i = 0; argc > 1 && i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, argv[1]) == 0)
            all[i].run();
    return 0;
}
