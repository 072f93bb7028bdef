/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Unicorn calculates with integers what its guests calculate with SSE, 20 ns an operation, until the flag of an
 *   inexact result is raised, which programs that calculate with whole numbers never do. It calls the functions for
 *   that through its symbol table, so those of the same name here take their place. They leave the common case to the
 *   processor of the host: round to nearest, normal numbers, a result far from overflow and underflow. Both follow IEEE
 *   754, so that this has the same bits; no flag can be raised but that of an inexact result. Whether a result is exact
 *   is found from the operands. Everything else is Unicorn's.
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

static void conclude(struct float_status *status, bool exact) { status->flags |= exact ? 0 : INEXACT; }

/* Raised once, it stays: then nobody needs to know. */
static bool known_inexact(const struct float_status *status) { return status->flags & INEXACT; }

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
static bool plain32(uint32_t result) { return exponent32(result) - 2u < EXPONENTS32 - 3u; }

static bool sum_exact32(float a, float b, float sum)
{
    const float part = sum - a;
    return (a - (sum - part)) + (b - part) == 0;
}

static float root32(float a) { return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(a))); }

/* ------------------------------------------------------------------ Unicorn's functions */

#define BINARY(width, name, calculated, exactly) \
    EXPORT uint##width##_t name(uint##width##_t a, uint##width##_t b, struct float_status *status); \
    EXPORT uint##width##_t name(uint##width##_t a, uint##width##_t b, struct float_status *status) \
    { \
        static void *unicorns; \
        typedef uint##width##_t operation(uint##width##_t, uint##width##_t, struct float_status *); \
        if (SHORTCUT(normal##width(a) && normal##width(b) && to_nearest(status))) { \
            const uint##width##_t result = bits##width(calculated); \
            if (C2_LIKELY(plain##width(result))) { \
                conclude(status, known_inexact(status) || (exactly)); \
                return result; \
            } \
        } \
        return ((operation *)unicorn_original(&unicorns, #name))(a, b, status); \
    }

#define UNARY(width, name, calculated, exactly) \
    EXPORT uint##width##_t name(uint##width##_t a, struct float_status *status); \
    EXPORT uint##width##_t name(uint##width##_t a, struct float_status *status) \
    { \
        static void *unicorns; \
        typedef uint##width##_t operation(uint##width##_t, struct float_status *); \
        if (SHORTCUT(normal##width(a) && a >> (width - 1) == 0 && to_nearest(status))) { \
            const uint##width##_t result = bits##width(calculated); \
            conclude(status, known_inexact(status) || (exactly)); \
            return result; \
        } \
        return ((operation *)unicorn_original(&unicorns, #name))(a, status); \
    }

#define A64 number64(a)
#define B64 number64(b)
BINARY(64, float64_add_x86_64, A64 + B64, sum_exact64(A64, B64, number64(result)))
BINARY(64, float64_sub_x86_64, A64 - B64, sum_exact64(A64, -B64, number64(result)))
BINARY(64, float64_mul_x86_64, A64 *B64, product_exact64(a, b))
BINARY(64, float64_div_x86_64, A64 / B64, quotient_exact64(a, b, result))
UNARY(64, float64_sqrt_x86_64, root64(A64), root_exact64(a, result))

#define A32 number32(a)
#define B32 number32(b)
BINARY(32, float32_add_x86_64, A32 + B32, sum_exact32(A32, B32, number32(result)))
BINARY(32, float32_sub_x86_64, A32 - B32, sum_exact32(A32, -B32, number32(result)))
BINARY(32, float32_mul_x86_64, A32 *B32, (double)A32 *B32 == number32(result))
BINARY(32, float32_div_x86_64, A32 / B32, (double)number32(result) * B32 == A32)
UNARY(32, float32_sqrt_x86_64, root32(A32), (double)number32(result) * number32(result) == A32)
