/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Arithmetic of doubles and singles that the host does in Unicorn's place (emu/unicorn_float.c), beside Unicorn's own:
 * results and flags of random operands, many of them exact, in all roundings, with flags raised before and not.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/unicorn_priv.h"

/* Unicorn's status, and room for what follows its flags. */
struct status {
    int8_t tininess, rounding;
    uint8_t flags, rest[61];
};

typedef uint64_t binary64(uint64_t a, uint64_t b, struct status *status);
typedef uint64_t unary64(uint64_t a, struct status *status);
typedef uint32_t binary32(uint32_t a, uint32_t b, struct status *status);
typedef uint32_t unary32(uint32_t a, struct status *status);

binary64 float64_add_x86_64, float64_sub_x86_64, float64_mul_x86_64, float64_div_x86_64;
unary64 float64_sqrt_x86_64;
binary32 float32_add_x86_64, float32_sub_x86_64, float32_mul_x86_64, float32_div_x86_64;
unary32 float32_sqrt_x86_64;

enum kind { BINARY64, UNARY64, BINARY32, UNARY32 };
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
    {"float32_add_x86_64", (void *)float32_add_x86_64, BINARY32},
    {"float32_sub_x86_64", (void *)float32_sub_x86_64, BINARY32},
    {"float32_mul_x86_64", (void *)float32_mul_x86_64, BINARY32},
    {"float32_div_x86_64", (void *)float32_div_x86_64, BINARY32},
    {"float32_sqrt_x86_64", (void *)float32_sqrt_x86_64, UNARY32},
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
    const uint64_t exponents = ((uint64_t)1 << (width - 1 - fraction)) - 1, near = random64() % (how % 3 ? 8 : 64);
    const uint64_t exponent = how % 5 == 1 ? near : how % 5 == 2 ? exponents - near : exponents / 2 - 4 + near;
    uint64_t part = bits & (((uint64_t)1 << fraction) - 1);
    part &= ~(uint64_t)0 << (how >> 32) % (fraction + 1);
    return (bits >> (width - 1) << (width - 1)) | (exponent & exponents) << fraction | part;
}

static uint64_t calculate(enum kind kind, void *function, uint64_t a, uint64_t b, struct status *status)
{
    switch (kind) {
    case BINARY64:
        return ((binary64 *)function)(a, b, status);
    case UNARY64:
        return ((unary64 *)function)(a, status);
    case BINARY32:
        return ((binary32 *)function)((uint32_t)a, (uint32_t)b, status);
    default:
        return ((unary32 *)function)((uint32_t)a, status);
    }
}

/* Returns how many of the operands come out otherwise. */
static unsigned compare(const struct operation *operation, void *unicorns, unsigned rounds, unsigned exact[2])
{
    const bool wide = operation->kind == BINARY64 || operation->kind == UNARY64;
    unsigned wrong = 0;
    for (unsigned i = 0; i < rounds; i++) {
        const uint64_t a = wide ? operand(64, 52) : operand(32, 23), b = wide ? operand(64, 52) : operand(32, 23);
        struct status here = {.rounding = random64() % 4 == 0 ? (int8_t)(random64() % 4) : 0};
        here.flags = random64() % 8 == 0 ? 32 : 0;
        struct status there = here;
        const uint64_t result = calculate(operation->kind, operation->host, a, b, &here);
        if (result != calculate(operation->kind, unicorns, a, b, &there) || memcmp(&here, &there, sizeof here) != 0)
            wrong++;
        exact[here.flags == 0]++;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    const unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 100000;
    void *library = dlopen("libunicorn.so.2", RTLD_NOW);
    unsigned wrong = 0;
    unicorn_float_trust(true);
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        unsigned exact[2] = {0, 0};
        void *unicorns = library ? dlsym(library, operations[i].name) : NULL;
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
