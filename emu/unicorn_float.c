/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Unicorn calculates with integers what its guests calculate with SSE, 20 ns an operation, until the flag of an
 *   inexact result is raised, which programs that calculate with whole numbers never do. It calls the functions for
 *   that through its symbol table, so those of the same name here take their place. They leave the common case to the
 *   processor of the host: round to nearest, normal numbers, a result far from overflow and underflow. Both follow IEEE
 *   754, so that this has the same bits; no flag can be raised but that of an inexact result. Whether a result is exact
 *   is found from the operands. With zeros, as sums start from, it always is, and so it is where numbers cancel.
 *   Everything else is Unicorn's.
 *   Instructions for one number of a register are functions of Unicorn's that call those. They have their twins here,
 *   which do both: results go from one to the next, and each step more is waited for.
 * Invariants
 *   The host rounds to nearest and flushes nothing to zero.
 * Source
 *   Unicorn 2.0.1: the first bytes of softfloat's status. Tried when an engine is created (unicorn_state.c); compared
 *   with the processor, and with Unicorn, in tests/engine.
 */
#include <emmintrin.h>
#include <string.h>

#include "emu/unicorn_priv.h"

#define EXPORT __attribute__((visibility("default")))

struct float_status {
    int8_t tininess, rounding;
    uint8_t flags;
};
enum { TO_NEAREST = 0, INEXACT = 32 };

static bool trusted; /* that this is Unicorn's status */

void unicorn_float_trust(bool trust) { trusted = trust; }

static bool to_nearest(const struct float_status *status) { return trusted && status->rounding == TO_NEAREST; }

/* Raised once, it stays: then nobody needs to know. */
static bool known_inexact(const struct float_status *status) { return status->flags & INEXACT; }

/* Nothing is written where it stays as it is: the next operation reads it, and would wait for this one. */
static void raise_inexact(struct float_status *status) { status->flags |= INEXACT; }

/* ------------------------------------------------------------------ doubles */

static double number64(uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static uint64_t bits64(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

enum { FRACTION64 = 52, EXPONENTS64 = 0x7ff };
#define ONE64 ((uint64_t)1 << FRACTION64)

static unsigned exponent64(uint64_t a) { return a >> FRACTION64 & EXPONENTS64; }
static uint64_t mantissa64(uint64_t a) { return (a & (ONE64 - 1)) | ONE64; }
static bool normal64(uint64_t a) { return exponent64(a) - 1u < EXPONENTS64 - 1u; }
static bool zero64(uint64_t a) { return a << 1 == 0; }
/* One of them is zero, and the other one a number that is none of the special ones. */
static bool zeros64(uint64_t a, uint64_t b)
{
    return (zero64(a) && (zero64(b) || normal64(b))) || (zero64(b) && normal64(a));
}
static bool equal64(uint64_t a, uint64_t b) { return a == b && normal64(a); }
static bool opposite64(uint64_t a, uint64_t b) { return (a ^ b) << 1 == 0 && a != b && normal64(a); }
static bool plain64(uint64_t result) { return exponent64(result) - 2u < EXPONENTS64 - 3u; }

__extension__ typedef unsigned __int128 product;

/* What the rounded sum has lost of one operand and of the other. */
static bool sum_exact64(double a, double b, double sum)
{
    const double part = sum - a;
    return (a - (sum - part)) + (b - part) == 0;
}

/* Of 105 or 106 bits the lower 52 or 53 are lost. */
static bool product_exact64(uint64_t a, uint64_t b)
{
    const product whole = (product)mantissa64(a) * mantissa64(b);
    const unsigned lost = FRACTION64 + (unsigned)(whole >> (2 * FRACTION64 + 1));
    return (uint64_t)whole << (64 - lost) == 0;
}

static bool quotient_exact64(uint64_t a, uint64_t b, uint64_t quotient)
{
    const unsigned shift = FRACTION64 + (mantissa64(a) < mantissa64(b));
    return (product)mantissa64(quotient) * mantissa64(b) == (product)mantissa64(a) << shift;
}

static bool root_exact64(uint64_t a, uint64_t root)
{
    const unsigned shift = FRACTION64 + (exponent64(a) & 1 ? 0 : 1);
    return (product)mantissa64(root) * mantissa64(root) == (product)mantissa64(a) << shift;
}

static double root64(double a)
{
    const __m128d number = _mm_set_sd(a);
    return _mm_cvtsd_f64(_mm_sqrt_sd(number, number));
}

/* ------------------------------------------------------------------ singles: doubles are more than exact enough */

static float number32(uint32_t bits)
{
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static uint32_t bits32(float number)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

enum { FRACTION32 = 23, EXPONENTS32 = 0xff };

static unsigned exponent32(uint32_t a) { return a >> FRACTION32 & EXPONENTS32; }
static bool normal32(uint32_t a) { return exponent32(a) - 1u < EXPONENTS32 - 1u; }
static bool zero32(uint32_t a) { return a << 1 == 0; }
/* One of them is zero, and the other one a number that is none of the special ones. */
static bool zeros32(uint32_t a, uint32_t b)
{
    return (zero32(a) && (zero32(b) || normal32(b))) || (zero32(b) && normal32(a));
}
static bool equal32(uint32_t a, uint32_t b) { return a == b && normal32(a); }
static bool opposite32(uint32_t a, uint32_t b) { return (a ^ b) << 1 == 0 && a != b && normal32(a); }
static bool plain32(uint32_t result) { return exponent32(result) - 2u < EXPONENTS32 - 3u; }

static bool sum_exact32(float a, float b, float sum)
{
    const float part = sum - a;
    return (a - (sum - part)) + (b - part) == 0;
}

static float root32(float a) { return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(a))); }

/* ------------------------------------------------------------------ where Unicorn's CPU has its status
 * The first instruction is left to Unicorn, and not to the host either: then Unicorn's own function shows it. */

static const char *learning; /* the CPU whose instruction it is; NULL: none */
static ptrdiff_t status_at;  /* from the beginning of a CPU; 0: not known yet */

static void begin_learning(const char *cpu)
{
    learning = cpu;
    trusted = false;
}

static void learn_status(const struct float_status *status)
{
    if (learning)
        status_at = (const char *)status - learning;
}

static void end_learning(bool trusts)
{
    learning = NULL;
    trusted = trusts;
}

/* ------------------------------------------------------------------ Unicorn's functions */

/* Whether the host's result is Unicorn's; then the flags are, too. */
#define HOSTED(width, operation, calculated, exactly) \
    static inline __attribute__((always_inline)) bool operation##_hosted##width( \
        uint##width##_t a, uint##width##_t b, uint##width##_t *out, struct float_status *status) \
    { \
        if (!SHORTCUT(normal##width(a) && normal##width(b) && to_nearest(status))) \
            return false; \
        const uint##width##_t result = bits##width(calculated); \
        if (C2_UNLIKELY(!plain##width(result))) \
            return false; \
        if (C2_UNLIKELY(!known_inexact(status) && !(exactly))) \
            raise_inexact(status); \
        *out = result; \
        return true; \
    }

/* The same of an exact result where a number is zero. */
#define ZEROS(width, operation, calculated, suits) \
    static bool operation##_zeros##width(uint##width##_t a, uint##width##_t b, uint##width##_t *out, \
                                         const struct float_status *status) \
    { \
        if (!SHORTCUT(to_nearest(status) && (suits))) \
            return false; \
        *out = bits##width(calculated); \
        return true; \
    }

/* Unicorn's function itself is asked last. */
#define BINARY(width, operation) \
    typedef uint##width##_t operation##_function##width(uint##width##_t, uint##width##_t, struct float_status *); \
    EXPORT operation##_function##width float##width##_##operation##_x86_64; \
    static __attribute__((noinline)) \
    uint##width##_t operation##_otherwise##width(uint##width##_t a, uint##width##_t b, struct float_status *status) \
    { \
        static void *unicorns; \
        uint##width##_t result; \
        if (operation##_zeros##width(a, b, &result, status)) \
            return result; \
        learn_status(status); \
        return ((operation##_function##width *)unicorn_original(&unicorns, "float" #width "_" #operation "_x86_64"))( \
            a, b, status); \
    } \
    EXPORT uint##width##_t float##width##_##operation##_x86_64(uint##width##_t a, uint##width##_t b, \
                                                               struct float_status *status) \
    { \
        uint##width##_t result; \
        return C2_LIKELY(operation##_hosted##width(a, b, &result, status)) \
                   ? result \
                   : operation##_otherwise##width(a, b, status); \
    }

/* An instruction for one number of each register, in which it comes first. */
#define SCALAR(width, operation, name) \
    EXPORT void name(char *cpu, void *to, const void *from); \
    static __attribute__((noinline)) void name##_otherwise(char *cpu, void *to, const void *from) \
    { \
        static void *unicorns; \
        const bool trusts = trusted; \
        if (status_at == 0) \
            begin_learning(cpu); \
        ((void (*)(char *, void *, const void *))unicorn_original(&unicorns, #name))(cpu, to, from); \
        end_learning(trusts); \
    } \
    EXPORT void name(char *cpu, void *to, const void *from) \
    { \
        uint##width##_t a, b, result; \
        memcpy(&a, to, sizeof a); \
        memcpy(&b, from, sizeof b); \
        struct float_status *status = (struct float_status *)(cpu + status_at); \
        if (C2_LIKELY(status_at != 0 && operation##_hosted##width(a, b, &result, status))) \
            memcpy(to, &result, sizeof result); \
        else if (status_at != 0 && operation##_zeros##width(a, b, &result, status)) \
            memcpy(to, &result, sizeof result); \
        else \
            name##_otherwise(cpu, to, from); \
    }

#define UNARY(width, name, calculated, exactly) \
    EXPORT uint##width##_t name(uint##width##_t a, struct float_status *status); \
    EXPORT uint##width##_t name(uint##width##_t a, struct float_status *status) \
    { \
        static void *unicorns; \
        typedef uint##width##_t operation(uint##width##_t, struct float_status *); \
        if (SHORTCUT(normal##width(a) && a >> (width - 1) == 0 && to_nearest(status))) { \
            const uint##width##_t result = bits##width(calculated); \
            if (C2_UNLIKELY(!known_inexact(status) && !(exactly))) \
                raise_inexact(status); \
            return result; \
        } \
        return ((operation *)unicorn_original(&unicorns, #name))(a, status); \
    }

#define A64 number64(a)
#define B64 number64(b)
HOSTED(64, add, A64 + B64, sum_exact64(A64, B64, number64(result)))
ZEROS(64, add, A64 + B64, zeros64(a, b) || opposite64(a, b))
HOSTED(64, sub, A64 - B64, sum_exact64(A64, -B64, number64(result)))
ZEROS(64, sub, A64 - B64, zeros64(a, b) || equal64(a, b))
HOSTED(64, mul, A64 *B64, product_exact64(a, b))
ZEROS(64, mul, A64 *B64, zeros64(a, b))
HOSTED(64, div, A64 / B64, quotient_exact64(a, b, result))
ZEROS(64, div, A64 / B64, zeros64(a, b) && !zero64(b))
BINARY(64, add)
BINARY(64, sub)
BINARY(64, mul)
BINARY(64, div)
SCALAR(64, add, helper_addsd_x86_64)
SCALAR(64, sub, helper_subsd_x86_64)
SCALAR(64, mul, helper_mulsd_x86_64)
SCALAR(64, div, helper_divsd_x86_64)
UNARY(64, float64_sqrt_x86_64, root64(A64), root_exact64(a, result))

#define A32 number32(a)
#define B32 number32(b)
HOSTED(32, add, A32 + B32, sum_exact32(A32, B32, number32(result)))
ZEROS(32, add, A32 + B32, zeros32(a, b) || opposite32(a, b))
HOSTED(32, sub, A32 - B32, sum_exact32(A32, -B32, number32(result)))
ZEROS(32, sub, A32 - B32, zeros32(a, b) || equal32(a, b))
HOSTED(32, mul, A32 *B32, (double)A32 *B32 == number32(result))
ZEROS(32, mul, A32 *B32, zeros32(a, b))
HOSTED(32, div, A32 / B32, (double)number32(result) * B32 == A32)
ZEROS(32, div, A32 / B32, zeros32(a, b) && !zero32(b))
BINARY(32, add)
BINARY(32, sub)
BINARY(32, mul)
BINARY(32, div)
SCALAR(32, add, helper_addss_x86_64)
SCALAR(32, sub, helper_subss_x86_64)
SCALAR(32, mul, helper_mulss_x86_64)
SCALAR(32, div, helper_divss_x86_64)
UNARY(32, float32_sqrt_x86_64, root32(A32), (double)number32(result) * number32(result) == A32)
