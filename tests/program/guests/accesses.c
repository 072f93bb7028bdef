/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * accesses faults|halves|selectors|32: what handlers are told of accesses that cannot be, of those that cannot be in
 * part, and of returns to segments that are none, or of 32-bit code.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

static sigjmp_buf back;
static char *page; /* may be written; then one that may only be read, another one, one that is not there, another one */

static void told(int signal, siginfo_t *info, void *context)
{
    const greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    const long where = info->si_code == SI_KERNEL ? (long)info->si_addr : (char *)info->si_addr - page;
    printf(" %s code %d at %#lx trap %lld error %lld\n", sigabbrev_np(signal), info->si_code, where, r[REG_TRAPNO],
           r[REG_ERR]);
    siglongjmp(back, 1);
}

static void install(int signal, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
    sigaction(signal, &action, NULL);
}

#define TRY(name, ...) \
    do { \
        printf("%s:", name); \
        if (sigsetjmp(back, 1) == 0) { \
            __asm__ volatile(__VA_ARGS__); \
            printf(" done\n"); \
        } \
    } while (0)
/* With another register in the place of RSP or RBP. */
#define WITH(register, what) "mov %%" register ", %%r12; mov %0, %%" register "; " what "; mov %%r12, %%" register
#define GONE "rax", "rbx", "rcx", "rdx", "r12", "r13", "memory"

static void two_accesses(char *readable, char *missing)
{
    TRY("movs to a page that may be read", "movsq" ::"S"(page), "D"(readable) : "memory");
    TRY("movs to none", "movsq" ::"S"(page), "D"(missing) : "memory");
    TRY("movs from none", "movsq" ::"S"(missing), "D"(page) : "memory");
    TRY("movs in place", "movsq" ::"S"(readable), "D"(readable) : "memory");
    TRY("movs in place, of none", "movsq" ::"S"(missing), "D"(missing) : "memory");
    TRY("movs across", "movsq" ::"S"(page), "D"(missing - 3) : "memory");
    TRY("pop", "push $1; popq (%0)" ::"r"(readable) : GONE);
    TRY("pop to none", "push $1; popq (%0)" ::"r"(missing) : GONE);
    TRY("push from none", "pushq (%0); pop %%rax" ::"r"(missing) : GONE);
    TRY("push", WITH("rsp", "pushq (%1)")::"r"(readable + 64), "r"(page) : GONE);
    TRY("call", WITH("rsp", "call *(%1)")::"r"(readable + 64), "r"(page) : GONE);
    TRY("enter", WITH("rsp", "enter $0, $0")::"r"(readable + 64) : GONE);
    TRY("enter with room", WITH("rsp", "enter $100, $0")::"r"(readable + 4096 + 50) : GONE);
    TRY("clflush of none", "clflush (%0)" ::"r"(missing));
    TRY("clflush", "clflush (%0)" ::"r"(readable));
    TRY("prefetch of none", "prefetcht0 (%0)" ::"r"(missing));
}

/* The stack's segment is that of RSP and RBP as a base, unless FS or GS is named. */
static void outside(uint64_t beyond)
{
    TRY("base rax", "mov (%%rax), %%rdx" ::"a"(beyond) : "rdx");
    TRY("base rbp", WITH("rbp", "mov (%%rbp), %%rdx")::"r"(beyond) : GONE);
    TRY("base rbp, stored", WITH("rbp", "mov %%rdx, (%%rbp)")::"r"(beyond) : GONE);
    TRY("base rbp, index", WITH("rbp", "mov (%%rbp,%1,2), %%rdx")::"r"(beyond), "r"(8l) : GONE);
    TRY("index rbp", WITH("rbp", "mov (%1,%%rbp,2), %%rdx")::"r"(beyond / 2), "r"(8l) : GONE);
    TRY("base rbp, fs", WITH("rbp", "mov %%fs:(%%rbp), %%rdx")::"r"(beyond) : GONE);
    TRY("base rbp, ds", WITH("rbp", ".byte 0x3e; mov (%%rbp), %%rdx")::"r"(beyond) : GONE);
    TRY("base rax, ss", ".byte 0x36; mov (%%rax), %%rdx" ::"a"(beyond) : "rdx");
    TRY("base r13", "mov %0, %%r13; mov (%%r13), %%rdx" ::"r"(beyond) : GONE);
    TRY("base rsp", WITH("rsp", "mov (%%rsp), %%rdx")::"r"(beyond) : GONE);
    TRY("push", WITH("rsp", "push %%rdx")::"r"(beyond + 8) : GONE);
    TRY("push of nothing", "pushq (%0)" ::"r"(beyond) : GONE);
    TRY("call", WITH("rsp", "call *%1")::"r"(beyond + 8), "r"(told) : GONE);
    TRY("leave", "mov %%rsp, %%r13; " WITH("rbp", "leave; mov %%r13, %%rsp")::"r"(beyond) : GONE);
    TRY("popcnt", WITH("rbp", "popcnt (%%rbp), %%rdx")::"r"(beyond) : GONE);
    TRY("clflush", "clflush (%0)" ::"r"(beyond));
    TRY("across the end", "mov (%0), %%rdx" ::"r"(beyond - 3) : "rdx");
    TRY("across the end, rbp", WITH("rbp", "mov %%rdx, (%%rbp)")::"r"(beyond - 3) : GONE);
}

static void faults(void)
{
    page = mmap((void *)0x20000000, 5 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    memset(page, 1, 5 * 4096);
    mprotect(page + 4096, 4096, PROT_READ);
    munmap(page + 3 * 4096, 4096);
    two_accesses(page + 4096, page + 3 * 4096);
    outside((uint64_t)1 << 47);
}

/* ------------------------------------------------------------------ across two pages, one of which cannot be */

static uint64_t xmm[2];
static unsigned top;

static void keep(int signal, siginfo_t *info, void *context)
{
    const struct _libc_fpstate *fp = ((ucontext_t *)context)->uc_mcontext.fpregs;
    memcpy(xmm, &fp->_xmm[1], 16);
    top = fp->swd >> 11 & 7;
    printf(" %s at %#lx", sigabbrev_np(signal), (long)((char *)info->si_addr - page));
    siglongjmp(back, 1);
}

static unsigned sum(const char *from, unsigned bytes)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < bytes; i++)
        sum = sum * 31 + (unsigned char)from[i];
    return sum;
}

#define SETS "movups (%1), %%xmm1; fninit; fld1; "
#define PART(name, what) \
    do { \
        memset(xmm, 0, sizeof xmm); \
        top = 0; \
        printf("%s %d:", name, -before); \
        if (sigsetjmp(back, 1) == 0) { \
            __asm__ volatile(SETS what "; movups %%xmm1, (%2); fninit" ::"r"(edge - before), "r"(known), "r"(xmm) \
                             : "xmm1", "memory"); \
            printf(" done"); \
        } \
        printf(" %lx %lx top %u memory %x %x\n", xmm[0], xmm[1], top, sum(page, 4096), sum(page + 4096, 4096)); \
    } while (0)

/* Around the edge between pages. */
static void around(char *edge)
{
    static const uint64_t known[2] = {0x1111, 0x2222};
    for (int before = 17; before >= 0; before--) {
        PART("movups to", "movups %%xmm1, (%0)");
        PART("movupd to", "movupd %%xmm1, (%0)");
        PART("movdqu to", "movdqu %%xmm1, (%0)");
        PART("fstp to", "fstpt (%0)");
        PART("movups from", "movups (%0), %%xmm1");
        PART("movupd from", "movupd (%0), %%xmm1");
        PART("movdqu from", "movdqu (%0), %%xmm1");
        PART("lddqu from", "lddqu (%0), %%xmm1");
        PART("fld from", "fldt (%0)");
    }
}

static void halves(void)
{
    page = mmap((void *)0x20000000, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    for (unsigned i = 0; i < 2 * 4096; i++)
        page[i] = (char)(i * 7);
    install(SIGSEGV, keep);
    around(page + 4096);
    mprotect(page + 4096, 4096, PROT_READ);
    around(page + 4096);
    mprotect(page, 4096, PROT_READ);
    mprotect(page + 4096, 4096, PROT_READ | PROT_WRITE);
    around(page + 4096);
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
    around(page + 8192); /* nothing is there */
}

/* ------------------------------------------------------------------ returns */

static volatile greg_t selectors, instruction, stack;
static volatile int flags;

static void change(int signal, siginfo_t *info, void *context)
{
    ucontext_t *to = context;
    (void)signal, (void)info;
    instruction = to->uc_mcontext.gregs[REG_RIP];
    stack = to->uc_mcontext.gregs[REG_RSP];
    to->uc_mcontext.gregs[REG_R12] = 0x1234;
    to->uc_mcontext.gregs[REG_CSGSFS] = selectors;
    to->uc_flags = (to->uc_flags & ~4ul) | flags;
}

static void returned(int signal, siginfo_t *info, void *context)
{
    const greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    printf(" %s code %d at %p trap %lld, registers %d\n", sigabbrev_np(signal), info->si_code, info->si_addr,
           r[REG_TRAPNO], r[REG_RIP] == instruction && r[REG_RSP] == stack && r[REG_R12] == 0x1234);
    siglongjmp(back, 1);
}

static void go_through(const uint16_t pairs[][2], unsigned count)
{
    install(SIGUSR1, change);
    install(SIGSEGV, returned);
    for (unsigned i = 0; i < 2 * count; i++) {
        const uint16_t *pair = pairs[i / 2];
        flags = i % 2 ? 4 : 0; /* UC_STRICT_RESTORE_SS */
        selectors = (greg_t)((uint64_t)pair[1] << 48 | pair[0]);
        printf("cs %x ss %x flags %d:", pair[0], pair[1], flags);
        if (sigsetjmp(back, 1) == 0) {
            raise(SIGUSR1);
            printf(" done\n");
        }
    }
}

static const uint16_t pairs[][2] = {{0x33, 0x2b}, {0x30, 0x28},   {0x1234, 0x2b}, {0, 0x2b},
                                    {0x10, 0x2b}, {0x2b, 0x2b},   {0x37, 0x2b},   {0x33, 0x1234},
                                    {0x33, 0},    {0x33, 0xfff8}, {0x33, 0x33},   {0x1234, 0x1234}};
static const uint16_t of_32_bits[][2] = {{0x23, 0x2b}};

int main(int argc, char **argv)
{
    static char elsewhere[65536];
    const stack_t handlers = {.ss_sp = elsewhere, .ss_size = sizeof elsewhere};
    sigaltstack(&handlers, NULL);
    install(SIGSEGV, told);
    install(SIGBUS, told);
    if (argc == 2 && strcmp(argv[1], "faults") == 0)
        faults();
    else if (argc == 2 && strcmp(argv[1], "halves") == 0)
        halves();
    else if (argc == 2 && strcmp(argv[1], "selectors") == 0)
        go_through(pairs, sizeof pairs / sizeof *pairs);
    else if (argc == 2 && strcmp(argv[1], "32") == 0)
        go_through(of_32_bits, 1);
    else
        return 2;
    return 0;
}
