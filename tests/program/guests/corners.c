/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Corners of a CPU and a kernel that a program can see: signals for faults of every kind with what they tell, a
 * handler that leaves by siglongjmp, floating-point flags, rounding, flush-to-zero, x87 in 80 bits, the encodings of
 * TEST that no manual has, stores by a mask behind GS.
 */
#include <asm/prctl.h>
#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xmmintrin.h>

static sigjmp_buf back;
static volatile sig_atomic_t counted;

static void report(int sig, siginfo_t *info, void *context)
{
    (void)context;
    printf("signal %d code %d address %p\n", sig, info->si_code, sig == SIGFPE ? NULL : info->si_addr);
    siglongjmp(back, 1);
}

static void count(int sig) { counted += sig == SIGUSR1; }

static void faults(void)
{
    struct sigaction action = {.sa_sigaction = report, .sa_flags = SA_SIGINFO};
    char *page = mmap((void *)0x5550000000, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGFPE, &action, NULL);
    if (!sigsetjmp(back, 1))
        *(volatile int *)0x1234 = 1; /* below the first page that can be mapped */
    if (!sigsetjmp(back, 1))
        printf("%d\n", *(volatile char *)0x7ffffffff000); /* above every mapping */
    if (!sigsetjmp(back, 1))
        printf("%d\n", *(volatile char *)-1L); /* the kernel's half */
    if (!sigsetjmp(back, 1))
        printf("%d\n", *(volatile char *)0xdead000000000000); /* not canonical: no address is told */
    if (!sigsetjmp(back, 1))
        page[4096] = 1; /* mapped, but not to be written */
    if (!sigsetjmp(back, 1))
        ((void (*)(void))page)(); /* nor to be executed */
    if (!sigsetjmp(back, 1))
        __asm__ volatile("xor %%ecx, %%ecx; mov $1, %%eax; cltd; idiv %%ecx" ::: "eax", "ecx", "edx");
    munmap(page, 8192);
    if (!sigsetjmp(back, 1))
        printf("%d\n", *(volatile char *)page);
    signal(SIGUSR1, count);
    raise(SIGUSR1);
    raise(SIGUSR1);
    printf("counted %d\n", counted);
}

static void flags(void)
{
    volatile double one = 1, three = 3, zero = 0, third;
    feclearexcept(FE_ALL_EXCEPT);
    third = one / three;
    printf("%d %d ", fetestexcept(FE_INEXACT) != 0, fetestexcept(FE_DIVBYZERO) != 0);
    third = one / zero;
    printf("%d %f ", fetestexcept(FE_DIVBYZERO) != 0, third);
    third = sqrt(-one);
    printf("%d\n", fetestexcept(FE_INVALID) != 0);
    for (int mode = 0; mode < 4; mode++) {
        static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
        fesetround(modes[mode]);
        third = one / three;
        printf("%a %ld %ld ", third, lrint(2.5), lrint(-2.5));
    }
    fesetround(FE_TONEAREST);
    printf("\n");
}

static void small_numbers(void)
{
    volatile float a = 1e-30f, b = 1e-10f, denormal = 1e-40f, one = 1;
    for (int on = 0; on < 2; on++) {
        _MM_SET_FLUSH_ZERO_MODE(on ? _MM_FLUSH_ZERO_ON : _MM_FLUSH_ZERO_OFF);
        _mm_setcsr((_mm_getcsr() & ~0x40u) | (on ? 0x40u : 0)); /* denormals are zero */
        volatile float product = a * b, scaled = denormal * one;
        _mm_setcsr(0x1f80);
        printf("%g %g ", (double)product, (double)scaled);
    }
    printf("\n");
}

static void long_doubles(void)
{
    long double f = 1;
    for (int i = 1; i < 30; i++)
        f *= i;
    printf("%.3Lf %.20Lg %.18Lg %lld\n", f, f / 7, fmodl(f, 1e9L), (long long)(f / 1e15L));
}

/* TEST by F6 /1 and F7 /1, of registers and of memory; AF is undefined. */
#define TEST_BY_1(bytes) \
    __asm__("movq %1, %%rcx\n\t.byte " bytes "\n\tpushfq\n\tpopq %0" \
            : "=r"(flags) \
            : "r"(place) \
            : "rcx", "cc", "memory"); \
    printf("%lx ", flags & 0x8c5)

static void tests_without_a_name(void)
{
    static const unsigned long place[1] = {0xffffffff80000180};
    unsigned long flags;
    TEST_BY_1("0xf6, 0xc9, 0");                   /* cl */
    TEST_BY_1("0xf7, 0xc9, 0xff, 0xff, 0xff, 0"); /* ecx */
    TEST_BY_1("0xf6, 0x09, 0x80");                /* of 8, 16, 32 and 64 bits */
    TEST_BY_1("0x66, 0xf7, 0x09, 0x81, 0x01");
    TEST_BY_1("0xf7, 0x09, 0, 0, 0, 0x80");
    TEST_BY_1("0x48, 0xf7, 0x09, 0, 0, 0, 0x80");
    printf("\n");
}

/* MASKMOVDQU %xmm1, %xmm0 and %xmm9, %xmm0, to GS and what RDI says. */
static void masked_behind_gs(void)
{
    static char texts[2][32] = {"0123456789abcdef", "ABCDEFGHIJKLMNOP"};
    static const char masks[2][17] = {"\x80.\x80.\x80.\x80.\x80.\x80.\x80.\x80.", "................"};
    const char *fill = "----------------";
    syscall(SYS_arch_prctl, ARCH_SET_GS, texts[1] - texts[0]);
    __asm__("movups (%0), %%xmm0\n\tmovups (%1), %%xmm1\n\tmovups (%2), %%xmm9\n\t"
            ".byte 0x65, 0x66, 0x0f, 0xf7, 0xc1\n\t.byte 0x65, 0x66, 0x41, 0x0f, 0xf7, 0xc1"
            :
            : "r"(fill), "r"(masks[0]), "r"(masks[1]), "D"(texts[0])
            : "xmm0", "xmm1", "xmm9", "memory");
    printf("%s %s\n", texts[0], texts[1]);
}

int main(void)
{
    char text[64];
    masked_behind_gs();
    faults();
    tests_without_a_name();
    flags();
    small_numbers();
    long_doubles();
    printf("%.17g %.17g %.17g %.17g\n", sin(1e10), pow(2.5, 3.7), exp(-3.3), fmod(1e300, 7));
    printf("%zu %s %d\n", strlen(strcpy(text, "hello")), strstr("abcabcabd", "abd"), __builtin_popcountll(0xf0f0));
    return 0;
}
