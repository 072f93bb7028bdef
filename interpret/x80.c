/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   The 80-bit numbers of the x87 unit: their classes, NaNs, taking them apart, and rounding to them with the masked
 *   responses to overflow and underflow.
 * Invariants
 *   Tininess is found after rounding: what rounds up to the smallest normal number with 64 bits did not underflow.
 * Source
 *   Intel SDM volume 1, 4.8.3.5 (NaNs), 4.9.1.5 (underflow), 8.5 (masked responses).
 */
#include "interpret/x87_priv.h"

const struct x80 x80_default_nan = {X80_INTEGER_BIT | X80_QUIET_BIT, X80_SIGN | X80_EXPONENT};

struct x80 x80_load(const uint8_t *from)
{
    struct x80 a;
    memcpy(&a.significand, from, 8);
    memcpy(&a.sign_exponent, from + 8, 2);
    return a;
}

void x80_store(uint8_t *to, struct x80 a)
{
    memcpy(to, &a.significand, 8);
    memcpy(to + 8, &a.sign_exponent, 2);
}

enum x80_class x80_class_of(struct x80 a)
{
    unsigned exponent = a.sign_exponent & X80_EXPONENT;
    if (exponent == 0)
        return a.significand == 0 ? X80_ZERO : X80_DENORMAL;
    if (!(a.significand & X80_INTEGER_BIT))
        return X80_INVALID;
    if (exponent != X80_EXPONENT)
        return X80_NORMAL;
    if (a.significand == X80_INTEGER_BIT)
        return X80_INFINITY;
    return a.significand & X80_QUIET_BIT ? X80_QNAN : X80_SNAN;
}

static uint16_t sign_of(bool negative) { return negative ? X80_SIGN : 0; }

struct x80 x80_zero(bool negative) { return (struct x80){0, sign_of(negative)}; }
struct x80 x80_infinity(bool negative) { return (struct x80){X80_INTEGER_BIT, sign_of(negative) | X80_EXPONENT}; }

/* ------------------------------------------------------------------ NaNs */

struct x80 x80_quieted(struct x80 nan)
{
    nan.significand |= X80_QUIET_BIT;
    return nan;
}

/* Of two NaNs: a quiet one before a signalling one, then the larger significand, then the positive one. */
static struct x80 propagated_nan(struct x80 a, struct x80 b)
{
    enum x80_class class_a = x80_class_of(a), class_b = x80_class_of(b);
    if (!x80_is_nan(class_a) || !x80_is_nan(class_b))
        return x80_quieted(x80_is_nan(class_a) ? a : b);
    if (class_a != class_b)
        return class_a == X80_QNAN ? a : b;
    if (a.significand != b.significand)
        return x80_quieted(a.significand > b.significand ? a : b);
    return x80_quieted(x80_is_negative(a) ? b : a);
}

bool x80_no_number(struct x80 a, struct x80 b, struct x80 *result, uint16_t *flags)
{
    enum x80_class class_a = x80_class_of(a), class_b = x80_class_of(b);
    if (class_a == X80_INVALID || class_b == X80_INVALID) {
        *result = x80_default_nan;
        *flags = X87_IE;
        return true;
    }
    if (!x80_is_nan(class_a) && !x80_is_nan(class_b))
        return false;
    *result = propagated_nan(a, b);
    *flags = class_a == X80_SNAN || class_b == X80_SNAN ? X87_IE : 0;
    return true;
}

uint16_t x80_denormal_flag(struct x80 a, struct x80 b)
{
    return x80_class_of(a) == X80_DENORMAL || x80_class_of(b) == X80_DENORMAL ? X87_DE : 0;
}

/* ------------------------------------------------------------------ taken apart */

struct x80_parts x80_unpack(struct x80 a)
{
    int exponent = a.sign_exponent & X80_EXPONENT;
    int up = __builtin_clzll(a.significand);
    return (struct x80_parts){.significand = a.significand << up,
                              .exponent = (exponent == 0 ? 1 : exponent) - up,
                              .negative = x80_is_negative(a)};
}

struct x80 x80_pack(struct x80_parts parts)
{
    if (parts.significand == 0)
        return x80_zero(parts.negative);
    int up = __builtin_clzll(parts.significand);
    parts.significand <<= up;
    parts.exponent -= up;
    if (parts.exponent >= 1)
        return (struct x80){parts.significand, sign_of(parts.negative) | (uint16_t)parts.exponent};
    return (struct x80){parts.significand >> (1 - parts.exponent), sign_of(parts.negative)};
}

/* ------------------------------------------------------------------ rounding */

/* Whether a magnitude is rounded up that ends in `kept`, with `cut` behind it. */
static bool rounds_up(enum x80_rounding rounding, bool negative, uint64_t kept, uint64_t cut)
{
    switch (rounding) {
    case X80_NEAREST:
        return cut > X80_INTEGER_BIT || (cut == X80_INTEGER_BIT && (kept & 1));
    case X80_DOWN:
        return cut != 0 && negative;
    case X80_UP:
        return cut != 0 && !negative;
    default:
        return false;
    }
}

static struct x80 overflowed(bool negative, enum x80_rounding rounding, uint16_t *flags)
{
    bool up = rounds_up(rounding, negative, 0, ~(uint64_t)0);
    *flags |= X87_OE | X87_PE | (up ? X87_C1 : 0);
    return up ? x80_infinity(negative) : (struct x80){~(uint64_t)0, sign_of(negative) | (X80_EXPONENT - 1)};
}

uint64_t x80_rounded_bits(uint64_t kept, uint64_t cut, bool negative, enum x80_rounding rounding, uint16_t *flags)
{
    bool up = rounds_up(rounding, negative, kept, cut);
    *flags |= (cut ? X87_PE : 0) | (up ? X87_C1 : 0);
    return kept + up;
}

static struct x80 rounded_denormal(const struct x80_wide *wide, enum x80_rounding rounding, uint16_t *flags)
{
    uint64_t high = (uint64_t)(wide->bits >> 64), low = (uint64_t)wide->bits;
    bool reaches_normal = wide->exponent == 0 && high == ~(uint64_t)0 && rounds_up(rounding, wide->negative, high, low);
    int by = wide->exponent < -65 ? 66 : 1 - wide->exponent; /* 66 and more leave less than half a unit alike */
    unsigned __int128 shifted = wide->bits >> by;
    uint64_t kept = (uint64_t)(shifted >> 64), cut = (uint64_t)shifted | (wide->bits << (128 - by) != 0);
    kept = x80_rounded_bits(kept, cut, wide->negative, rounding, flags);
    *flags |= cut != 0 && !reaches_normal ? X87_UE : 0;
    return (struct x80){kept, sign_of(wide->negative) | (uint16_t)(kept >> 63)};
}

struct x80 x80_rounded(const struct x80_wide *wide, enum x80_rounding rounding, uint16_t *flags)
{
    if (wide->exponent < 1)
        return rounded_denormal(wide, rounding, flags);
    uint16_t inexact = 0;
    int exponent = wide->exponent;
    uint64_t kept = (uint64_t)(wide->bits >> 64), cut = (uint64_t)wide->bits;
    kept = x80_rounded_bits(kept, cut, wide->negative, rounding, &inexact);
    if (kept == 0) {
        kept = X80_INTEGER_BIT;
        exponent++;
    }
    if (exponent >= (int)X80_EXPONENT)
        return overflowed(wide->negative, rounding, flags);
    *flags |= inexact;
    return (struct x80){kept, sign_of(wide->negative) | (uint16_t)exponent};
}
