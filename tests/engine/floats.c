/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Arithmetic of doubles and singles that the host does in Unicorn's place (unicorn/float.c), beside Unicorn's own:
 * results and flags of random operands, many of them exact, in all roundings, with flags raised before and not. Unicorn
 * does not know the flag of a denormal operand, and takes another one of two NaNs than the processor, which takes the
 * first.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unicorn/unicorn_priv.h"

/* Unicorn's status, and MXCSR behind it, which masks all exceptions. */
struct status {
    int8_t tininess, rounding;
    uint8_t flags, rest[5];
    uint32_t mxcsr;
};

enum { DENORMAL_OPERAND = 2 };

typedef uint64_t binary64(uint64_t a, uint64_t b, struct status *status);
typedef uint64_t unary64(uint64_t a, struct status *status);
typedef uint32_t binary32(uint32_t a, uint32_t b, struct status *status);
typedef uint32_t unary32(uint32_t a, struct status *status);

binary64 float64_add_x86_64, float64_sub_x86_64, float64_mul_x86_64, float64_div_x86_64;
unary64 float64_sqrt_x86_64;
binary32 float32_add_x86_64, float32_sub_x86_64, float32_mul_x86_64, float32_div_x86_64;
unary32 float32_sqrt_x86_64;

/* Instructions for the first number of each register, of Unicorn's CPU. */
typedef void scalar(char *cpu, void *to, const void *from);
scalar helper_addsd_x86_64, helper_subsd_x86_64, helper_mulsd_x86_64, helper_divsd_x86_64;
scalar helper_addss_x86_64, helper_subss_x86_64, helper_mulss_x86_64, helper_divss_x86_64;

enum kind { BINARY64, UNARY64, SCALAR64, BINARY32, UNARY32, SCALAR32 };
static const struct operation {
    const char *name;
    void *host;
    enum kind kind;
} operations[] = {
    {"float64_add_x86_64", (void *)float64_add_x86_64, BINARY64},
    {"float64_sub_x86_64", (void *)float64_sub_x86_64, BINARY64},
    {"float64_mul_x86_64", (void *)float64_mul_x86_64, BINARY64},
    {"float64_div_x86_64", (void *)float64_div_x86_64, BINARY64},
    {"float64_sqrt_x86_64", (void *)float64_sqrt_x86_64, UNARY64},
    {"float64_add_x86_64", (void *)helper_addsd_x86_64, SCALAR64},
    {"float64_sub_x86_64", (void *)helper_subsd_x86_64, SCALAR64},
    {"float64_mul_x86_64", (void *)helper_mulsd_x86_64, SCALAR64},
    {"float64_div_x86_64", (void *)helper_divsd_x86_64, SCALAR64},
    {"float32_add_x86_64", (void *)float32_add_x86_64, BINARY32},
    {"float32_sub_x86_64", (void *)float32_sub_x86_64, BINARY32},
    {"float32_mul_x86_64", (void *)float32_mul_x86_64, BINARY32},
    {"float32_div_x86_64", (void *)float32_div_x86_64, BINARY32},
    {"float32_sqrt_x86_64", (void *)float32_sqrt_x86_64, UNARY32},
    {"float32_add_x86_64", (void *)helper_addss_x86_64, SCALAR32},
    {"float32_sub_x86_64", (void *)helper_subss_x86_64, SCALAR32},
    {"float32_mul_x86_64", (void *)helper_mulss_x86_64, SCALAR32},
    {"float32_div_x86_64", (void *)helper_divss_x86_64, SCALAR32},
};

static uint64_t state = 1;
static uint64_t random64(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Any bits; or few of the fraction's set and an exponent near 1 or near that of the smallest or largest numbers. */
static uint64_t operand(unsigned width, unsigned fraction)
{
    const uint64_t how = random64();
    const uint64_t bits = random64() >> (64 - width);
    if (how % 8 == 0)
        return bits;
    if (how % 16 == 1)
        return bits >> (width - 1) << (width - 1); /* zeros */
    const uint64_t exponents = ((uint64_t)1 << (width - 1 - fraction)) - 1, near = random64() % (how % 3 ? 8 : 64);
    const uint64_t exponent = how % 5 == 1 ? near : how % 5 == 2 ? exponents - near : exponents / 2 - 4 + near;
    uint64_t part = bits & (((uint64_t)1 << fraction) - 1);
    part &= ~(uint64_t)0 << (how >> 32) % (fraction + 1);
    return (bits >> (width - 1) << (width - 1)) | (exponent & exponents) << fraction | part;
}

/* A CPU of which nothing is known but where an inexact quotient shows. */
static char cpu[8192];
static size_t status_at;

static bool find_status(void)
{
    double third = 1;
    const double three = 3;
    helper_divsd_x86_64(cpu, &third, &three);
    const char *inexact = memchr(cpu, 32, sizeof cpu);
    if (!inexact || third != 1.0 / 3)
        return false;
    status_at = (size_t)(inexact - cpu) - offsetof(struct status, flags);
    return true;
}

/* What is behind the number in its register stays. */
static uint64_t calculate_scalar(scalar *function, unsigned bytes, uint64_t a, uint64_t b, struct status *status)
{
    uint64_t to[2] = {0x1122334455667788, 0x99aabbccddeeff00}, was[2], result = 0;
    memcpy(to, &a, bytes);
    memcpy(was, to, sizeof was);
    memcpy(cpu + status_at, status, sizeof *status);
    function(cpu, to, &b);
    memcpy(status, cpu + status_at, sizeof *status);
    memcpy(&result, to, bytes);
    return memcmp((char *)to + bytes, (char *)was + bytes, sizeof to - bytes) == 0 ? result : ~result;
}

static uint64_t calculate(enum kind kind, void *function, uint64_t a, uint64_t b, struct status *status)
{
    switch (kind) {
    case BINARY64:
        return ((binary64 *)function)(a, b, status);
    case UNARY64:
        return ((unary64 *)function)(a, status);
    case SCALAR64:
        return calculate_scalar((scalar *)function, 8, a, b, status);
    case SCALAR32:
        return calculate_scalar((scalar *)function, 4, a, b, status);
    case BINARY32:
        return ((binary32 *)function)((uint32_t)a, (uint32_t)b, status);
    default:
        return ((unary32 *)function)((uint32_t)a, status);
    }
}

/* What a scalar instruction does is one of Unicorn's functions for two numbers. */
static enum kind kind_of_unicorns(enum kind kind)
{
    return kind == SCALAR64 ? BINARY64 : kind == SCALAR32 ? BINARY32 : kind;
}

static bool is_nan(bool wide, uint64_t a)
{
    return wide ? a << 1 > UINT64_C(0xffe0000000000000) : (uint32_t)(a << 1) > UINT32_C(0xff000000);
}

static uint64_t quiet(bool wide, uint64_t a) { return a | UINT64_C(1) << (wide ? 51 : 22); }

/* Returns how many of the operands come out otherwise. */
static unsigned compare(const struct operation *operation, void *unicorns, unsigned rounds, unsigned exact[2])
{
    const bool wide = operation->kind <= SCALAR64;
    unsigned wrong = 0;
    for (unsigned i = 0; i < rounds; i++) {
        const uint64_t a = wide ? operand(64, 52) : operand(32, 23), other = wide ? operand(64, 52) : operand(32, 23);
        const uint64_t sign = (uint64_t)(random64() % 2) << (wide ? 63 : 31);
        const uint64_t b = random64() % 16 == 0 ? a ^ sign : other; /* sums of zero */
        struct status here = {.rounding = random64() % 4 == 0 ? (int8_t)(random64() % 4) : 0, .mxcsr = 0x1f80};
        here.flags = random64() % 8 == 0 ? 32 : 0;
        struct status there = here;
        const uint64_t result = calculate(operation->kind, operation->host, a, b, &here);
        uint64_t expected = calculate(kind_of_unicorns(operation->kind), unicorns, a, b, &there);
        if (operation->kind != UNARY32 && operation->kind != UNARY64 && is_nan(wide, a) && is_nan(wide, b))
            expected = quiet(wide, a);
        here.flags &= (uint8_t)~DENORMAL_OPERAND;
        if (result != expected || memcmp(&here, &there, sizeof here) != 0)
            wrong++;
        exact[here.flags == 0]++;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    const unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 100000;
    struct c2_error err;
    unsigned wrong = 0;
    if (unicorn_library_load(&err) != C2_OK) {
        fprintf(stderr, "%s\n", err.text);
        return EXIT_FAILURE;
    }
    unicorn_float_trust(true);
    if (!find_status()) {
        fprintf(stderr, "an inexact quotient does not show in Unicorn's CPU\n");
        return EXIT_FAILURE;
    }
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        unsigned exact[2] = {0, 0};
        void *unicorns = unicorn_find(operations[i].name);
        if (!unicorns || unicorns == operations[i].host) {
            fprintf(stderr, "%s is not Unicorn's\n", operations[i].name);
            return EXIT_FAILURE;
        }
        const unsigned differ = compare(&operations[i], unicorns, rounds, exact);
        printf("%s: %u of %u differ, %u raise no flag\n", operations[i].name, differ, rounds, exact[1]);
        wrong += differ + (exact[0] < rounds / 10) + (exact[1] < rounds / 100);
    }
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
