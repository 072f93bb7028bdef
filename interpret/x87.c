/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   FPREM and FPREM1 by integer arithmetic on the significands, FSCALE, FXTRACT, FISTTP, FBLD, FBSTP, and the
 *   constants FLDPI FLDL2T FLDL2E FLDLG2 FLDLN2 in all four roundings; all on the x87 part of the FXSAVE64 image.
 * Counting
 *   FISTTP and FBSTP are one write of their operand, FBLD one read.
 * Invariants
 *   Every exception is masked (interpret_fpstate.c sees to it), so each has its masked response.
 * Not modelled
 *   FOP, FIP and FDP of these instructions.
 * Source
 *   Intel SDM volume 2 (FPREM, FPREM1, FSCALE, FXTRACT, FISTTP, FBLD, FBSTP, FLD1...), volume 1, 4.8.3.5 and 8.5 (NaNs
 *   and masked responses). That a partial remainder takes the exponent down by 32 + (D mod 32) is from the AMD64
 *   manual, volume 5.
 */
#include "interpret/x87_priv.h"

/* ------------------------------------------------------------------ constants */

struct constant {
    ZydisMnemonic mnemonic;
    struct x80 floor; /* the 64 leading bits of the significand */
    bool above_half;  /* what follows them is more than half a unit: to nearest is upwards */
};

static const struct constant constants[] = {
    {ZYDIS_MNEMONIC_FLDPI, {0xc90fdaa22168c234, 0x4000}, true},   /* pi: next bits c4c6... */
    {ZYDIS_MNEMONIC_FLDL2T, {0xd49a784bcd1b8afe, 0x4000}, false}, /* log2 10: 492e... */
    {ZYDIS_MNEMONIC_FLDL2E, {0xb8aa3b295c17f0bb, 0x3fff}, true},  /* log2 e: be87... */
    {ZYDIS_MNEMONIC_FLDLG2, {0x9a209a84fbcff798, 0x3ffd}, true},  /* log10 2: 8f89... */
    {ZYDIS_MNEMONIC_FLDLN2, {0xb17217f7d1cf79ab, 0x3ffe}, true},  /* ln 2: c9e3... */
};

static struct x80 rounded_constant(ZydisMnemonic mnemonic, enum x80_rounding rounding)
{
    const struct constant *c = constants;
    while (c->mnemonic != mnemonic)
        c++;
    struct x80 value = c->floor;
    if (rounding == X80_UP || (rounding == X80_NEAREST && c->above_half))
        value.significand++;
    return value;
}

void interpret_x87_constant(struct interpret_run *run)
{
    struct x87_state state;
    uint8_t *image = state.image;
    run->cpu->get_fxsave(run->cpu->self, image);
    enum x80_rounding rounding = x87_rounding(image);
    struct x80 value = rounded_constant(run->insn->mnemonic, rounding);
    if (!x87_is_empty(image, 7)) { /* stack overflow */
        x87_raise(image, X87_IE | X87_SF | X87_C1);
        value = x80_default_nan;
    } else {
        x87_set_conditions(image, X87_C1, 0);
    }
    x87_push(image, value);
    run->cpu->set_fxsave(run->cpu->self, image);
}

/* ------------------------------------------------------------------ FISTTP */

/* The number without its fraction, if |number| < 2^(bits-1) or it is exactly the least integer; else the indefinite. */
static int64_t truncate(struct x80 a, unsigned bits, uint16_t *flags)
{
    int64_t indefinite = (int64_t)((uint64_t)-1 << (bits - 1));
    enum x80_class class = x80_class_of(a);
    int exponent = (int)(a.sign_exponent & X80_EXPONENT) - X80_BIAS;
    bool negative = a.sign_exponent & X80_SIGN;
    if (class == X80_ZERO)
        return 0;
    if (class == X80_DENORMAL || (class == X80_NORMAL && exponent < 0)) {
        *flags = X87_PE;
        return 0;
    }
    if (class != X80_NORMAL || exponent > (int)bits - 1) {
        *flags = X87_IE;
        return indefinite;
    }
    uint64_t whole = a.significand >> (63 - exponent);
    if (whole > (uint64_t)INT64_MAX >> (64 - bits) && !(negative && whole == (uint64_t)1 << (bits - 1))) {
        *flags = X87_IE;
        return indefinite;
    }
    *flags = exponent < 63 && (a.significand << (exponent + 1)) != 0 ? X87_PE : 0;
    return (int64_t)(negative ? 0 - whole : whole);
}

void interpret_fisttp(struct interpret_run *run)
{
    struct x87_state state;
    uint8_t *image = state.image;
    uint64_t address;
    uint16_t flags = 0;
    unsigned bits = run->operands[0].size;
    if (!interpret_place(run, 0, MMU_ACCESS_WRITE, &address))
        return;
    run->cpu->get_fxsave(run->cpu->self, image);
    struct x80 value = x80_load(x87_st(image, 0));
    if (x87_is_empty(image, 0)) { /* stack underflow */
        value = x80_default_nan;
        flags = X87_SF;
    }
    uint16_t arithmetic = 0;
    int64_t whole = truncate(value, bits, &arithmetic);
    x87_set_conditions(image, X87_C1, 0);
    x87_raise(image, flags | arithmetic);
    guest_store(address, bits / 8, (uint64_t)whole);
    x87_pop(image);
    run->cpu->set_fxsave(run->cpu->self, image);
}

/* ------------------------------------------------------------------ packed decimals
 * 18 digits, two a byte, the lowest first; the highest bit of the tenth byte is the sign. */

enum { DECIMAL_BYTES = 10, DECIMAL_DIGIT_BYTES = 9 };
#define DECIMAL_MOST UINT64_C(999999999999999999)
static const uint8_t decimal_indefinite[DECIMAL_BYTES] = {0, 0, 0, 0, 0, 0, 0, 0xc0, 0xff, 0xff};

/* The sum of the digits' values, also of those above 9, as CPUs of both makers have it. */
static struct x80 from_decimal(const uint8_t *bytes)
{
    uint64_t magnitude = 0;
    for (int i = DECIMAL_DIGIT_BYTES - 1; i >= 0; i--)
        magnitude = 100 * magnitude + 10 * (bytes[i] >> 4) + (bytes[i] & 15);
    return x80_pack((struct x80_parts){
        .significand = magnitude, .exponent = X80_BIAS + 63, .negative = bytes[DECIMAL_DIGIT_BYTES] >> 7});
}

static void to_decimal(uint8_t *bytes, uint64_t magnitude, bool negative)
{
    for (int i = 0; i < DECIMAL_DIGIT_BYTES; i++, magnitude /= 100)
        bytes[i] = (uint8_t)(magnitude / 10 % 10 << 4 | magnitude % 10);
    bytes[DECIMAL_DIGIT_BYTES] = negative ? 0x80 : 0;
}

/* The magnitude as a whole number below 2^60; false if it is larger or no number. */
static bool rounded_whole(uint64_t *whole, struct x80 a, enum x80_rounding rounding, uint16_t *flags)
{
    enum x80_class class = x80_class_of(a);
    *whole = 0;
    if (class == X80_ZERO)
        return true;
    if (class != X80_NORMAL && class != X80_DENORMAL)
        return false;
    struct x80_parts parts = x80_unpack(a);
    int fraction = 63 - (parts.exponent - X80_BIAS);
    if (fraction < 4)
        return false;
    unsigned __int128 wide = fraction < 127 ? (unsigned __int128)parts.significand << 64 >> fraction : 1;
    uint64_t lost = fraction > 64 ? 1 : 0; /* makes no half of less than half */
    *whole = x80_rounded_bits((uint64_t)(wide >> 64), (uint64_t)wide | lost, parts.negative, rounding, flags);
    return true;
}

void interpret_fbld(struct interpret_run *run)
{
    struct x87_state state;
    uint8_t *image = state.image;
    uint64_t address;
    if (!interpret_place(run, 0, MMU_ACCESS_READ, &address))
        return;
    run->cpu->get_fxsave(run->cpu->self, image);
    bool overflows = !x87_is_empty(image, 7);
    x87_set_conditions(image, X87_C1, 0);
    x87_raise(image, overflows ? X87_IE | X87_SF | X87_C1 : 0);
    x87_push(image, overflows ? x80_default_nan : from_decimal((const uint8_t *)(uintptr_t)address));
    run->cpu->set_fxsave(run->cpu->self, image);
}

void interpret_fbstp(struct interpret_run *run)
{
    struct x87_state state;
    uint8_t *image = state.image, bytes[DECIMAL_BYTES];
    uint64_t address, whole;
    uint16_t flags = 0;
    if (!interpret_place(run, 0, MMU_ACCESS_WRITE, &address))
        return;
    run->cpu->get_fxsave(run->cpu->self, image);
    struct x80 value = x80_load(x87_st(image, 0));
    bool empty = x87_is_empty(image, 0);
    if (!empty && rounded_whole(&whole, value, x87_rounding(image), &flags) && whole <= DECIMAL_MOST) {
        to_decimal(bytes, whole, x80_is_negative(value));
    } else {
        memcpy(bytes, decimal_indefinite, sizeof bytes);
        flags = X87_IE | (empty ? X87_SF : 0);
    }
    memcpy((void *)(uintptr_t)address, bytes, sizeof bytes);
    x87_set_conditions(image, X87_C1, 0);
    x87_raise(image, flags);
    x87_pop(image);
    run->cpu->set_fxsave(run->cpu->self, image);
}

/* ------------------------------------------------------------------ remainders */

struct remainder {
    struct x80_parts rest;
    uint64_t quotient; /* its low bits */
    bool partial;
};

/* a - quotient*b with the quotient cut off. The difference of exponents is taken whole if it is below 64; else the
 * dividend is reduced by a multiple of b that leaves its exponent 32..63 smaller. */
static struct remainder truncated_remainder(struct x80_parts a, struct x80_parts b)
{
    struct remainder r = {.rest = a};
    int distance = a.exponent - b.exponent;
    if (distance < 0)
        return r;
    r.partial = distance >= 64;
    int shift = r.partial ? 32 + distance % 32 : distance;
    unsigned __int128 wide = (unsigned __int128)a.significand << shift;
    r.quotient = (uint64_t)(wide / b.significand);
    r.rest.significand = (uint64_t)(wide % b.significand);
    r.rest.exponent = a.exponent - shift;
    return r;
}

/* From a complete remainder to the IEEE one: nearest quotient, ties to even. */
static void round_quotient(struct remainder *r, struct x80_parts b)
{
    int below = b.exponent - r->rest.exponent; /* 0: same scale; more: the dividend was the smaller number */
    if (r->partial || r->rest.significand == 0 || below > 1)
        return;
    unsigned __int128 rest = r->rest.significand, divisor = (unsigned __int128)b.significand << below;
    bool up = 2 * rest > divisor || (2 * rest == divisor && (r->quotient & 1));
    if (!up)
        return;
    r->rest.significand = (uint64_t)(divisor - rest);
    r->rest.negative = !r->rest.negative;
    r->quotient++;
}

/* Whether an operand alone decides: then *result and *flags are set. */
static bool special_remainder(struct x80 a, struct x80 b, struct x80 *result, uint16_t *flags)
{
    enum x80_class class_a = x80_class_of(a), class_b = x80_class_of(b);
    if (x80_no_number(a, b, result, flags))
        return true;
    if (class_a == X80_INFINITY || class_b == X80_ZERO) {
        *result = x80_default_nan;
        *flags = X87_IE;
        return true;
    }
    *flags = x80_denormal_flag(a, b);
    /* a denormal with its integer bit set gets exponent 1 */
    *result = class_a == X80_ZERO ? a : x80_pack(x80_unpack(a));
    return class_a == X80_ZERO || class_b == X80_INFINITY;
}

static uint16_t quotient_conditions(const struct remainder *r)
{
    if (r->partial)
        return X87_C2;
    return (r->quotient & 1 ? X87_C1 : 0) | (r->quotient & 2 ? X87_C3 : 0) | (r->quotient & 4 ? X87_C0 : 0);
}

/* Sets C0 to C3, of which C0 and C3 stay when the result is a NaN, and the exception flags. */
static struct x80 remainder_of(uint8_t *image, struct x80 a, struct x80 b, bool nearest)
{
    struct x80 result;
    uint16_t flags;
    if (special_remainder(a, b, &result, &flags)) {
        x87_set_conditions(image, x80_is_nan(x80_class_of(result)) ? X87_C1 | X87_C2 : X87_CONDITIONS, 0);
        x87_raise(image, flags);
        return result;
    }
    struct x80_parts divisor = x80_unpack(b);
    struct remainder r = truncated_remainder(x80_unpack(a), divisor);
    if (nearest)
        round_quotient(&r, divisor);
    x87_set_conditions(image, X87_CONDITIONS, quotient_conditions(&r));
    x87_raise(image, flags);
    return x80_pack(r.rest);
}

static void x87_remainder(struct interpret_run *run, bool nearest)
{
    struct x87_state state;
    uint8_t *image = state.image;
    struct x80 result = x80_default_nan;
    run->cpu->get_fxsave(run->cpu->self, image);
    if (!x87_is_empty(image, 0) && !x87_is_empty(image, 1)) {
        result = remainder_of(image, x80_load(x87_st(image, 0)), x80_load(x87_st(image, 1)), nearest);
    } else { /* stack underflow */
        x87_set_conditions(image, X87_C1 | X87_C2, 0);
        x87_raise(image, X87_IE | X87_SF);
    }
    x87_set(image, 0, result);
    run->cpu->set_fxsave(run->cpu->self, image);
}

void interpret_fprem(struct interpret_run *run) { x87_remainder(run, false); }
void interpret_fprem1(struct interpret_run *run) { x87_remainder(run, true); }

/* ------------------------------------------------------------------ FSCALE */

/* The whole part of the number that scales, limited to what takes any number out of range. */
static int scale_of(struct x80 by)
{
    enum { LIMIT = 0x10000 };
    int exponent = (int)(by.sign_exponent & X80_EXPONENT) - X80_BIAS;
    if (exponent < 0)
        return 0;
    int scale = exponent > 16 ? LIMIT : (int)(by.significand >> (63 - exponent));
    return x80_is_negative(by) ? -scale : scale;
}

static bool special_scale(struct x80 a, struct x80 by, struct x80 *result, uint16_t *flags)
{
    enum x80_class class_a = x80_class_of(a), class_by = x80_class_of(by);
    if (x80_no_number(a, by, result, flags))
        return true;
    *flags = x80_denormal_flag(a, by);
    *result = a;
    if (class_by != X80_INFINITY)
        return class_a == X80_ZERO || class_a == X80_INFINITY;
    if (class_a == (x80_is_negative(by) ? X80_INFINITY : X80_ZERO)) {
        *result = x80_default_nan; /* infinity * 0 */
        *flags = X87_IE;
    } else {
        *result = x80_is_negative(by) ? x80_zero(x80_is_negative(a)) : x80_infinity(x80_is_negative(a));
    }
    return true;
}

/* a * 2^by; *flags are exceptions, and C1 if it was rounded up. */
static struct x80 scaled(struct x80 a, struct x80 by, enum x80_rounding rounding, uint16_t *flags)
{
    struct x80 result;
    if (special_scale(a, by, &result, flags))
        return result;
    struct x80_parts parts = x80_unpack(a);
    struct x80_wide wide = {.bits = (unsigned __int128)parts.significand << 64,
                            .exponent = parts.exponent + scale_of(by),
                            .negative = parts.negative};
    return x80_rounded(&wide, rounding, flags);
}

void interpret_fscale(struct interpret_run *run)
{
    struct x87_state state;
    uint8_t *image = state.image;
    uint16_t flags = X87_IE | X87_SF;
    struct x80 result = x80_default_nan;
    run->cpu->get_fxsave(run->cpu->self, image);
    enum x80_rounding rounding = x87_rounding(image);
    if (!x87_is_empty(image, 0) && !x87_is_empty(image, 1))
        result = scaled(x80_load(x87_st(image, 0)), x80_load(x87_st(image, 1)), rounding, &flags);
    x87_set_conditions(image, X87_C1, 0);
    x87_raise(image, flags);
    x87_set(image, 0, result);
    run->cpu->set_fxsave(run->cpu->self, image);
}

/* ------------------------------------------------------------------ FXTRACT */

static struct x80 from_integer(int value)
{
    uint64_t magnitude = (uint64_t)(value < 0 ? -value : value);
    return x80_pack((struct x80_parts){.significand = magnitude, .exponent = X80_BIAS + 63, .negative = value < 0});
}

static void extract_parts(struct x80 a, struct x80 *exponent, struct x80 *significand, uint16_t *flags)
{
    *significand = a;
    if (x80_no_number(a, a, significand, flags)) {
        *exponent = *significand;
        return;
    }
    switch (x80_class_of(a)) {
    case X80_ZERO:
        *exponent = x80_infinity(true);
        *flags = X87_ZE;
        return;
    case X80_INFINITY:
        *exponent = x80_infinity(false);
        return;
    default: {
        struct x80_parts parts = x80_unpack(a);
        *exponent = from_integer(parts.exponent - X80_BIAS);
        parts.exponent = X80_BIAS;
        *significand = x80_pack(parts);
        *flags = x80_denormal_flag(a, a);
    }
    }
}

void interpret_fxtract(struct interpret_run *run)
{
    struct x87_state state;
    uint8_t *image = state.image;
    struct x80 exponent = x80_default_nan, significand = x80_default_nan;
    uint16_t flags = 0;
    run->cpu->get_fxsave(run->cpu->self, image);
    x87_set_conditions(image, X87_C1, 0);
    if (x87_is_empty(image, 0)) /* stack underflow */
        flags = X87_IE | X87_SF;
    else if (!x87_is_empty(image, 7)) /* stack overflow */
        flags = X87_IE | X87_SF | X87_C1;
    else
        extract_parts(x80_load(x87_st(image, 0)), &exponent, &significand, &flags);
    x87_raise(image, flags);
    x87_set(image, 0, exponent);
    x87_push(image, significand);
    run->cpu->set_fxsave(run->cpu->self, image);
}
