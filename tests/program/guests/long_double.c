/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * long double as programs use it: libm's functions of it, which are x87 instructions inside, and the transcendental
 * instructions themselves. Exact results are printed whole, others to 15 digits, in which CPUs agree. And what MMX
 * instructions leave in the x87 registers.
 */
#include <math.h>
#include <stdio.h>

static volatile long double x = 1.7L, y = 2.3L, n = -0.4L, large = 0x1.23456789abcdefp300L;

static void exact(void)
{
    int quotient;
    printf("%La %La %La\n", fmodl(100, x), fmodl(large, x), remainderl(large, y));
    printf("%La ", remquol(-100, x, &quotient));
    printf("%d %La %La %La\n", quotient & 7, ldexpl(x, 100), scalbnl(y, -16400), logbl(large));
    printf("%La %La %La %La %ld\n", rintl(y), floorl(n), ceill(n), nearbyintl(-y), lrintl(y));
    printf("%La %La %La\n", sqrtl(x), fmal(x, y, n), nextafterl(x, 2));
    printf("%Lf %La %Le\n", x * 1e10L, x, y);
}

static void functions(void)
{
    printf("%.15Lg %.15Lg %.15Lg %.15Lg\n", powl(x, y), powl(y, -30.5L), powl(10, 300), expl(x));
    printf("%.15Lg %.15Lg %.15Lg %.15Lg\n", exp2l(x), exp10l(n), expm1l(n), expl(-11000));
    printf("%.15Lg %.15Lg %.15Lg %.15Lg\n", logl(x), log2l(x), log10l(x), log1pl(n));
    printf("%.15Lg %.15Lg %.15Lg %.15Lg\n", sinl(x), cosl(x), tanl(x), sinl(1e10L));
    printf("%.15Lg %.15Lg %.15Lg %.15Lg\n", atanl(x), atan2l(x, n), asinl(n), acosl(n));
    printf("%.15Lg %.15Lg %.15Lg %.15Lg\n", sinhl(x), coshl(x), tanhl(x), atanhl(n));
    printf("%.15Lg %.15Lg %.15Lg %.15Lg\n", tgammal(x), lgammal(y), erfl(n), cbrtl(x));
    printf("%.15g %.15g %.15g\n", pow(1.7, 2.3), exp10(1.7), tgamma(4.4));
}

static void instructions(void)
{
    long double result, second;
    __asm__("f2xm1" : "=t"(result) : "0"(n));
    printf("%.15Lg", result);
    __asm__("fyl2x" : "=t"(result) : "0"(x), "u"(y) : "st(1)");
    printf(" %.15Lg", result);
    __asm__("fyl2xp1" : "=t"(result) : "0"(0.125L), "u"(y) : "st(1)");
    printf(" %.15Lg", result);
    __asm__("fpatan" : "=t"(result) : "0"(x), "u"(n) : "st(1)");
    printf(" %.15Lg", result);
    __asm__("fptan" : "=t"(second), "=u"(result) : "0"(x));
    printf(" %.15Lg %.15Lg\n", result, second);
    __asm__("fsin" : "=t"(result) : "0"(x));
    printf("%.15Lg", result);
    __asm__("fcos" : "=t"(result) : "0"(x));
    printf(" %.15Lg", result);
    __asm__("fsincos" : "=t"(second), "=u"(result) : "0"(y));
    printf(" %.15Lg %.15Lg\n", result, second);
}

/* MMX registers are x87 registers whose exponents are all ones: no numbers. */
static void leftovers(void)
{
    unsigned long bits = 0x123456789abcdef0, whole = 7;
    unsigned int part = 7;
    unsigned short status;
    unsigned char image[108], number[10];
    __asm__("fninit; movq %2, %%mm0; fisttpll %0; fnstsw %1; fninit" : "=m"(whole), "=a"(status) : "r"(bits));
    printf("%lx %x", whole, status);
    __asm__("fninit; movq %1, %%mm0; fistpll %0; fninit" : "=m"(whole) : "r"(bits));
    printf(" %lx", whole);
    __asm__("fninit; fldpi; fstp %%st(0); movq %1, %%mm7; movd %1, %%mm0; fisttpl %0; fninit" : "=m"(part) : "r"(bits));
    printf(" %x", part);
    __asm__("fninit; fld1; movq %1, %%mm1; fincstp; fstpt %0; fninit" : "=m"(number) : "r"(bits));
    printf(" %02x%02x%02x", number[9], number[8], number[7]);
    __asm__("fninit; movq %1, %%mm3; fnsave %0; fninit" : "=m"(image) : "r"(bits));
    printf(" %02x%02x%02x\n", image[28 + 39], image[28 + 38], image[28 + 37]);
}

int main(void)
{
    exact();
    leftovers();
    functions();
    instructions();
    return 0;
}
