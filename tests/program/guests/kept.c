/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * kept files DIR | signals | registers | holds WHAT DIR: programs whose state is spread over as many places as they can
 * reach - open files, the kernel's tables, all kinds of registers - which print at the end what it has come to. They
 * are cut at any instruction and go on from a checkpoint.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t sum = 14695981039346656037u;

static void mix(const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sum = (sum ^ ((const uint8_t *)bytes)[i]) * 1099511628211u;
}

static void mix_number(uint64_t n) { mix(&n, sizeof n); }

static int must(int value)
{
    if (value < 0) {
        perror("kept");
        exit(1);
    }
    return value;
}

/* ------------------------------------------------------------------ files */

static void read_a_bit(int fd, size_t count)
{
    char bytes[64];
    const ssize_t got = read(fd, bytes, count < sizeof bytes ? count : sizeof bytes);
    mix_number((uint64_t)got);
    if (got > 0)
        mix(bytes, (size_t)got);
}

static void read_entries(int directory)
{
    char entries[160];
    const long got = syscall(SYS_getdents64, directory, entries, sizeof entries);
    mix_number((uint64_t)got);
    for (long at = 0; at < got;) {
        const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
        mix(entry->d_name, strlen(entry->d_name));
        at += entry->d_reclen;
    }
}

static void use_files(const char *path)
{
    must(chdir(path));
    umask(027);
    const int in = must(open("in", O_RDONLY)), same = must(dup(in)), other = must(open("in", O_RDONLY | O_CLOEXEC));
    const int out = must(open("out", O_WRONLY | O_CREAT | O_TRUNC, 0666));
    const int log = must(open("log", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0666));
    const int again = must(open("log", O_RDONLY));
    const int random = must(open("/dev/urandom", O_RDONLY)), maps = must(open("/proc/self/maps", O_RDONLY));
    const int name = must(open("/proc/thread-self/comm", O_RDWR)), named = must(open("/proc/self/comm", O_WRONLY));
    const int here = must(open(".", O_RDONLY | O_DIRECTORY)), high = must(fcntl(out, F_DUPFD, 100));
    char *mapped = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, in, 0);
    uint64_t *shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(unlink("gone") == 0 ? 0 : 0);
    must((int)write(must(open("/proc/self/oom_score_adj", O_RDWR)), "250", 3));
    must(prctl(PR_SET_CHILD_SUBREAPER, 1));
    for (int round = 0; round < 60; round++) {
        char line[80];
        read_a_bit(in, 5);
        read_a_bit(same, 7);
        read_a_bit(other, 11);
        read_a_bit(random, 8);
        read_a_bit(maps, 13);
        read_a_bit(STDIN_FILENO, 9);
        if (round % 20 == 3)
            read_entries(here);
        mapped[round * 100 % 8192] ^= (char)round;
        shared[round] += sum;
        mix(mapped, 64);
        snprintf(line, sizeof line, "%d %llx\n", round, (unsigned long long)sum);
        must((int)write(round % 2 ? out : high, line, strlen(line)));
        must((int)write(log, line, 3));
        read_a_bit(again, 2);
        must((int)write(round % 2 ? name : named, line, 3));
        must((int)lseek(name, 0, SEEK_SET));
        read_a_bit(name, 6);
        if (round == 30)
            must((int)lseek(in, 17, SEEK_SET));
    }
    char directory[4096];
    struct stat st;
    must(fstat(log, &st));
    mix_number((uint64_t)st.st_size);
    mix_number(st.st_mode);
    mix(&st.st_atim, sizeof st.st_atim);
    mix(&st.st_mtim, sizeof st.st_mtim);
    must(fstat(out, &st));
    mix(&st.st_mtim, sizeof st.st_mtim);
    mix(&st.st_ctim, sizeof st.st_ctim);
    mix(shared, 8192);
    mix_number((uint64_t)must(fcntl(other, F_GETFD)));
    mix_number((uint64_t)must(fcntl(log, F_GETFL)));
    mix_number((uint64_t)must(fcntl(named, F_GETFL)));
    mix_number(read(named, directory, 1) < 0 ? (uint64_t)errno : 0);
    read_a_bit(must(open("/proc/self/oom_score_adj", O_RDONLY)), 8);
    int adopts = 0;
    must(prctl(PR_GET_CHILD_SUBREAPER, &adopts));
    mix_number((uint64_t)adopts);
    mix(directory, strlen(getcwd(directory, sizeof directory) ? directory : "?") > 1);
}

/* ------------------------------------------------------------------ signals */

static volatile sig_atomic_t depth, handled;
static sigjmp_buf back;
static char *page;

static void on_user(int signal_number, siginfo_t *info, void *context)
{
    int here;
    (void)context;
    depth++;
    handled++;
    mix_number((uint64_t)signal_number * 1000 + (uint64_t)depth);
    mix_number((uint64_t)info->si_code);
    mix_number((uint64_t)info->si_value.sival_int);
    mix_number((uintptr_t)&here >> 12); /* on which stack */
    if (signal_number == SIGUSR1 && depth < 3)
        raise(SIGUSR2);
    depth--;
}

static void on_fault(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    mix_number((uint64_t)signal_number);
    mix_number((uint64_t)((char *)info->si_addr - page));
    if ((char *)info->si_addr - page >= 4096)
        siglongjmp(back, 1);
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void handle(int signal_number, void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};
    sigaddset(&action.sa_mask, SIGTERM);
    must(sigaction(signal_number, &action, NULL));
}

static void use_signals(void)
{
    static char other_stack[16384] __attribute__((aligned(4096)));
    const stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof other_stack};
    sigset_t set, none;
    must(sigaltstack(&stack, NULL));
    handle(SIGUSR1, on_user, SA_NODEFER);
    handle(SIGUSR2, on_user, SA_ONSTACK);
    handle(SIGTERM, on_user, 0);
    handle(SIGSEGV, on_fault, 0);
    signal(SIGHUP, SIG_IGN);
    page = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigemptyset(&set);
    sigemptyset(&none);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGTERM);
    for (int round = 0; round < 12; round++) {
        must(sigprocmask(SIG_BLOCK, &set, NULL));
        raise(SIGTERM);
        sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = round});
        mix_number((uint64_t)handled); /* both are pending */
        if (round % 3 == 0)
            sigsuspend(&none);
        must(sigprocmask(SIG_UNBLOCK, &set, NULL));
        raise(SIGHUP);
        mprotect(page, 4096, PROT_READ);
        page[round] = (char)round;
        if (sigsetjmp(back, 1) == 0)
            page[4096 + round] = 1;
        nanosleep(&(struct timespec){0, 1000 * round}, NULL);
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        mix_number((uint64_t)now.tv_nsec);
        void *block = malloc((size_t)round * 100 + 1);
        memset(block, round, (size_t)round * 100 + 1);
        free(block);
    }
    mix(page, 4096);
}

/* ------------------------------------------------------------------ registers */

/* Five numbers on the x87 stack and the control words of both units stay while all else goes on. */
static double on_the_stack(int rounds)
{
    double out;
    uint16_t word = 0x0f7f, old_word;   /* truncate, extended */
    uint32_t mxcsr = 0xff80, old_mxcsr; /* flush to zero, truncate */
    __asm__ volatile("fnstcw %0\n stmxcsr %1\n fldcw %2\n ldmxcsr %3\n"
                     : "=m"(old_word), "=m"(old_mxcsr)
                     : "m"(word), "m"(mxcsr));
    __asm__ volatile("fldpi; fldl2e; fldln2; fld1; fldz\n"
                     "1: fadd %%st(4), %%st\n"
                     "fld1; fdiv %%st(1), %%st; fstp %%st(0)\n"
                     "fxch %%st(3); fmul %%st(2), %%st; fxch %%st(3)\n"
                     "sub $1, %1; jnz 1b\n"
                     "faddp; faddp; faddp; faddp; fstpl %0\n"
                     : "=m"(out), "+r"(rounds)
                     :
                     : "cc", "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)");
    __asm__ volatile("fldcw %0\n ldmxcsr %1\n" : : "m"(old_word), "m"(old_mxcsr));
    return out;
}

/* Sixteen vector registers, and their unit's sticky flags. */
static uint32_t in_vectors(uint8_t out[256], const float *in, int rounds)
{
    uint32_t flags;
    __asm__ volatile("movups (%2), %%xmm0; movups 16(%2), %%xmm1; movups 32(%2), %%xmm2; movups 48(%2), %%xmm3\n"
                     "movaps %%xmm0, %%xmm4; movaps %%xmm1, %%xmm5; movaps %%xmm2, %%xmm6; movaps %%xmm3, %%xmm7\n"
                     "movaps %%xmm0, %%xmm8; movaps %%xmm1, %%xmm9; movaps %%xmm2, %%xmm10; movaps %%xmm3, %%xmm11\n"
                     "movaps %%xmm0, %%xmm12; movaps %%xmm1, %%xmm13; movaps %%xmm2, %%xmm14; movaps %%xmm3, %%xmm15\n"
                     "1: addps %%xmm1, %%xmm0; mulps %%xmm2, %%xmm1; divps %%xmm3, %%xmm0; pxor %%xmm0, %%xmm8\n"
                     "paddd %%xmm8, %%xmm15; pshufd $0x39, %%xmm15, %%xmm15; paddq %%xmm15, %%xmm12\n"
                     "sub $1, %1; jnz 1b\n"
                     "movups %%xmm0, (%3); movups %%xmm1, 16(%3); movups %%xmm8, 128(%3); movups %%xmm12, 192(%3)\n"
                     "movups %%xmm15, 240(%3); stmxcsr %0\n"
                     : "=m"(flags), "+r"(rounds)
                     : "r"(in), "r"(out)
                     : "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
                       "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
    return flags;
}

/* The direction flag is set, and an MMX register holds something, over many instructions. */
static uint64_t backwards(char *to, const char *from, long count, int rounds)
{
    uint64_t kept;
    __asm__ volatile("movq %[count], %%mm3; std\n"
                     "1: mov %[from], %%rsi; add %[count], %%rsi; mov %[to], %%rdi; add %[count], %%rdi\n"
                     "lea 1(%[count]), %%rcx; rep movsb\n"
                     "mov %[to], %%rdi; add %[count], %%rdi; mov $7, %%al; stosb; stosb\n"
                     "paddd %%mm3, %%mm3\n"
                     "sub $1, %[rounds]; jnz 1b\n"
                     "cld; movq %%mm3, %[kept]; emms\n"
                     : [kept] "=r"(kept), [rounds] "+r"(rounds)
                     : [from] "r"(from), [to] "r"(to), [count] "r"(count)
                     : "memory", "cc", "rax", "rcx", "rsi", "rdi", "mm3");
    return kept;
}

static void use_registers(void)
{
    static char from[9000], to[9000];
    static const float start[16] = {1, 2, 3, 4, 1e-3f, 0.5f, 1.5f, 2.5f, 1.0001f, 0.999f, 1, 1.25f, 3, 7, 9, 11};
    uint8_t vectors[256] = {0};
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (char)(i * 7);
    for (int round = 1; round < 5; round++) {
        const double x87 = on_the_stack(100 * round);
        mix(&x87, sizeof x87);
        mix_number(in_vectors(vectors, start, 150 * round));
        mix(vectors, sizeof vectors);
        mix_number(backwards(to, from, 5000 + round, 3));
        mix(to, 64 * (size_t)round);
    }
}

/* ------------------------------------------------------------------ what no checkpoint can keep */

static void hold(const char *what, const char *path)
{
    int pair[2];
    must(chdir(path));
    if (strcmp(what, "pipe") == 0)
        must(pipe(pair));
    else if (strcmp(what, "socket") == 0)
        must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    else if (strcmp(what, "epoll") == 0)
        must(epoll_create1(0));
    else if (strcmp(what, "event") == 0)
        must(eventfd(1, 0));
    else if (strcmp(what, "memory") == 0)
        must(memfd_create("held", 0));
    else if (strcmp(what, "unlinked") == 0)
        must(open("held", O_RDWR | O_CREAT, 0600) + unlink("held"));
    else if (strcmp(what, "lock") == 0)
        must(flock(open("in", O_RDONLY), LOCK_SH));
    else if (strcmp(what, "mapping") == 0)
        must(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, open("held", O_RDWR | O_CREAT | O_TRUNC, 0600), 0) == MAP_FAILED
                 ? -1
                 : close(3) + unlink("held"));
    for (volatile int i = 0; i < 3000; i++)
        ;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    if (strcmp(way, "files") == 0 && argc > 2)
        use_files(argv[2]);
    else if (strcmp(way, "signals") == 0)
        use_signals();
    else if (strcmp(way, "registers") == 0)
        use_registers();
    else if (strcmp(way, "holds") == 0 && argc > 3)
        hold(argv[2], argv[3]);
    else
        return 2;
    printf("%s %016llx\n", way, (unsigned long long)sum);
    return (int)(sum & 63);
}
