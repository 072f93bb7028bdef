/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * traps WHAT: floating-point exceptions that trap, one by one; what their handlers are told, and what happens when they
 * mask the exception and return.
 *   sse  every instruction that can raise one, with each exception unmasked
 *   libc feenableexcept, and functions of the C library that raise exceptions
 *   x87  a division by zero with x87 exceptions unmasked
 *   threads  one thread unmasks exceptions, the other one does not
 */
#define _GNU_SOURCE
#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <xmmintrin.h>

#define DEFAULT_MXCSR 0x1f80u

static sigjmp_buf back;
static int leaves; /* the handler, by a jump */
static int shows;  /* registers: they are the program's own */

static void told(int signal, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    const greg_t *r = uc->uc_mcontext.gregs;
    struct _libc_fpstate *fp = uc->uc_mcontext.fpregs;
    printf("%s code %d at %s trap %lld mxcsr %x\n", sigabbrev_np(signal), info->si_code,
           (greg_t)info->si_addr == r[REG_RIP] ? "rip" : "other", r[REG_TRAPNO], fp->mxcsr);
    if (shows)
        printf("xmm1 %08x %08x %08x %08x rax %llx flags %llx\n", fp->_xmm[1].element[0], fp->_xmm[1].element[1],
               fp->_xmm[1].element[2], fp->_xmm[1].element[3], r[REG_RAX], r[REG_EFL] & 0x8d5);
    if (leaves)
        siglongjmp(back, 1);
    fp->mxcsr |= DEFAULT_MXCSR; /* the instruction is made again */
}

/* ------------------------------------------------------------------ every instruction */

#define OPERATIONS(X) \
    X("addps %%xmm2, %%xmm1") X("addpd %%xmm2, %%xmm1") X("addss %%xmm2, %%xmm1") X("addsd %%xmm2, %%xmm1") \
    X("subps %%xmm2, %%xmm1") X("subsd %%xmm2, %%xmm1") X("mulps %%xmm2, %%xmm1") X("mulpd %%xmm2, %%xmm1") \
    X("mulss %%xmm2, %%xmm1") X("mulsd %%xmm2, %%xmm1") X("divps %%xmm2, %%xmm1") X("divpd %%xmm2, %%xmm1") \
    X("divss %%xmm2, %%xmm1") X("divsd %%xmm2, %%xmm1") X("sqrtps %%xmm2, %%xmm1") X("sqrtsd %%xmm2, %%xmm1") \
    X("minps %%xmm2, %%xmm1") X("maxsd %%xmm2, %%xmm1") X("cmpltps %%xmm2, %%xmm1") X("cmpeqsd %%xmm2, %%xmm1") \
    X("comiss %%xmm2, %%xmm1") X("ucomisd %%xmm2, %%xmm1") X("cvtps2pd %%xmm2, %%xmm1") \
    X("cvtpd2ps %%xmm2, %%xmm1") X("cvtsd2ss %%xmm2, %%xmm1") X("cvtss2sd %%xmm2, %%xmm1") \
    X("cvtps2dq %%xmm2, %%xmm1") X("cvttpd2dq %%xmm2, %%xmm1") X("cvtss2si %%xmm2, %%eax") \
    X("cvttsd2si %%xmm2, %%rax") X("cvtdq2ps %%xmm2, %%xmm1") X("cvtsi2ss %%rax, %%xmm1") \
    X("haddps %%xmm2, %%xmm1") X("addsubpd %%xmm2, %%xmm1") X("roundsd $0, %%xmm2, %%xmm1") \
    X("cvtps2pd (%[two]), %%xmm1") X("roundss $0, (%[two]), %%xmm1") X("divsd (%[two]), %%xmm1")

#define FUNCTION(text) text,
static const char *const names[] = {OPERATIONS(FUNCTION)};
enum { COUNT = sizeof names / sizeof *names };

static void operate(unsigned which, uint32_t mxcsr, const void *one, const void *two)
{
    unsigned number = 0;
    unsigned long rax = 0x123456789abcdef1;
    const uint32_t usual = DEFAULT_MXCSR;
#define RUN(text) \
    if (number++ == which) \
        __asm__ volatile("movups (%[one]), %%xmm1\n\tmovups (%[two]), %%xmm2\n\tcmp $1, %%eax\n\t" \
                         "ldmxcsr %[mxcsr]\n\t" text "\n\tldmxcsr %[usual]" \
                         : [rax] "+a"(rax) \
                         : [one] "r"(one), [two] "r"(two), [mxcsr] "m"(mxcsr), [usual] "m"(usual) \
                         : "xmm1", "xmm2", "cc", "memory");
    OPERATIONS(RUN)
}

static void sse(void)
{
    static const double doubles[] = {1.0, 0.0, 3.0, 1e308, 1e-308, 4e-320, INFINITY, 0x1p-1000, 0x1p1000, -2.5};
    static const float floats[] = {1.0f, 0.0f, 3.0f, 3e38f, 1e-38f, 4e-42f, INFINITY, 0x1p-100f, 0x1p100f, -2.5f};
    enum { VALUES = sizeof doubles / sizeof *doubles };
    shows = 1;
    const uint64_t signalling = 0x7ff4000000000001;
    const uint32_t signalling32 = 0x7fa00001;
    for (unsigned which = 0; which < COUNT; which++)
        for (unsigned i = 0; i < 2 * VALUES * 6; i++) {
            const unsigned a = i % VALUES, b = (i * 7 + which) % (VALUES + 1), mask = i / VALUES % 6;
            double one[2] = {doubles[a], 1.5}, two[2] = {b < VALUES ? doubles[b] : 0, 2.5};
            if (b == VALUES)
                memcpy(two, &signalling, 8);
            if (i >= VALUES * 6) {
                float f[4] = {floats[a], 1.5f, floats[(a + 1) % VALUES], 2.0f};
                float g[4] = {b < VALUES ? floats[b] : 0, 2.5f, floats[(b + 3) % VALUES], 3.0f};
                if (b == VALUES)
                    memcpy(g, &signalling32, 4);
                memcpy(one, f, 16);
                memcpy(two, g, 16);
            }
            printf("%s %u %u %u: ", names[which], i, a, b);
            fflush(stdout);
            leaves = i % 2;
            if (!sigsetjmp(back, 1))
                operate(which, DEFAULT_MXCSR & ~(0x80u << mask), one, two);
            printf("done, mxcsr %x\n", _mm_getcsr());
            _mm_setcsr(DEFAULT_MXCSR);
        }
}

/* ------------------------------------------------------------------ the C library */

static volatile double zero = 0, one = 1, huge = 1e300, negative = -1;

static void libc(void)
{
    enum { TRAPS = FE_DIVBYZERO | FE_OVERFLOW | FE_INVALID };
    leaves = 1;
    for (int i = 0; i < 6; i++) {
        feclearexcept(FE_ALL_EXCEPT);
        feenableexcept(TRAPS);
        printf("enabled %x: ", fegetexcept());
        fflush(stdout);
        if (!sigsetjmp(back, 1))
            printf("%g\n", i == 0   ? one / zero
                           : i == 1 ? huge * huge
                           : i == 2 ? sqrt(negative)
                           : i == 3 ? log(zero)
                           : i == 4 ? exp(huge)
                                    : exp(one) / 3); /* inexact: masked */
    }
    printf("raised %x\n", fetestexcept(FE_ALL_EXCEPT));
    fedisableexcept(FE_ALL_EXCEPT);
    printf("%g\n", one / zero);
    printf("raised %x\n", fetestexcept(FE_ALL_EXCEPT));
}

static __thread int caught;
static void counts(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info;
    caught++;
    ((ucontext_t *)context)->uc_mcontext.fpregs->mxcsr |= DEFAULT_MXCSR;
}

static int divide(int traps)
{
    for (int i = 0; i < 2000; i++) {
        _mm_setcsr(traps ? DEFAULT_MXCSR & ~0x200u : DEFAULT_MXCSR);
        volatile double quotient = one / zero;
        (void)quotient;
    }
    return caught;
}

static void *divides(void *result)
{
    *(int *)result = divide(1);
    return NULL;
}

static void threads(void)
{
    pthread_t thread;
    int there = 0;
    struct sigaction action = {.sa_sigaction = counts, .sa_flags = SA_SIGINFO};
    sigaction(SIGFPE, &action, NULL);
    pthread_create(&thread, NULL, divides, &there);
    const int here = divide(0);
    pthread_join(thread, NULL);
    printf("caught %d here, %d there\n", here, there);
}

static void x87(void)
{
    volatile long double long_zero = 0, long_one = 1;
    feenableexcept(FE_DIVBYZERO);
    printf("%Lg\n", long_one / 4);
    printf("%Lg\n", long_one / long_zero);
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_sigaction = told, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGFPE, &action, NULL);
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "sse") == 0)
        sse();
    else if (strcmp(what, "libc") == 0)
        libc();
    else if (strcmp(what, "x87") == 0)
        x87();
    else if (strcmp(what, "threads") == 0)
        threads();
    return 0;
}
