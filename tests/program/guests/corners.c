/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Corners of a CPU and a kernel that a program can see: signals for faults of every kind with what they tell, a
 * handler that leaves by siglongjmp, floating-point flags, rounding, flush-to-zero, x87 in 80 bits.
 */
#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
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

int main(void)
{
    char text[64];
    faults();
    flags();
    small_numbers();
    long_doubles();
    printf("%.17g %.17g %.17g %.17g\n", sin(1e10), pow(2.5, 3.7), exp(-3.3), fmod(1e300, 7));
    printf("%zu %s %d\n", strlen(strcpy(text, "hello")), strstr("abcabcabd", "abd"), __builtin_popcountll(0xf0f0));
    return 0;
}
