/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   FPREM and FPREM1 by integer arithmetic on the significands, FSCALE, FXTRACT, FISTTP, and the constants FLDPI
 *   FLDL2T FLDL2E FLDLG2 FLDLN2 in all four roundings; all on the x87 part of the FXSAVE64 image.
 * Counting
 *   FISTTP is one write of its operand.
 * Invariants
 *   Every exception is masked (interpret_fpstate.c sees to it), so each has its masked response.
 * Not modelled
 *   FOP, FIP and FDP of these instructions.
 * Source
 *   Intel SDM volume 2 (FPREM, FPREM1, FSCALE, FXTRACT, FISTTP, FLD1...), volume 1, 4.8.3.5 and 8.5 (NaNs and masked
 *   responses). That a partial remainder takes the exponent down by 32 + (D mod 32) is from the AMD64 manual, volume
 *   5.
 */
#include "emu/interpret_priv.h"

#define EXPONENT 0x7fffu
#define SIGN 0x8000u
#define INTEGER_BIT ((uint64_t)1 << 63)
#define QUIET_BIT ((uint64_t)1 << 62)

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
    unsigned exponent = a.sign_exponent & EXPONENT;
    if (exponent == 0)
        return a.significand == 0 ? X80_ZERO : X80_DENORMAL;
    if (!(a.significand & INTEGER_BIT))
        return X80_INVALID;
    if (exponent != EXPONENT)
        return X80_NORMAL;
    if (a.significand == INTEGER_BIT)
        return X80_INFINITY;
    return a.significand & QUIET_BIT ? X80_QNAN : X80_SNAN;
}

static const struct x80 default_nan = {INTEGER_BIT | QUIET_BIT, SIGN | EXPONENT};

/* ------------------------------------------------------------------ the register stack in the image */

static uint8_t *st(uint8_t *image, unsigned i) { return image + FXSAVE_ST + 16 * i; }

static bool is_empty(const uint8_t *image, unsigned i)
{
    return !(image[FXSAVE_TAGS] >> ((image_top(image) + i) & 7) & 1);
}

static void raise_flags(uint8_t *image, uint16_t flags)
{
    image_set16(image, FXSAVE_STATUS, image_get16(image, FXSAVE_STATUS) | flags);
}

static void set_conditions(uint8_t *image, uint16_t which, uint16_t value)
{
    image_set16(image, FXSAVE_STATUS, (image_get16(image, FXSAVE_STATUS) & ~which) | (value & which));
}

static void set_top(uint8_t *image, unsigned top)
{
    image_set16(image, FXSAVE_STATUS, (image_get16(image, FXSAVE_STATUS) & ~0x3800u) | (uint16_t)((top & 7) << 11));
}

static void push(uint8_t *image, struct x80 value)
{
    uint8_t last[16];
    memcpy(last, st(image, 7), 16);
    memmove(st(image, 1), st(image, 0), 7 * 16);
    memcpy(st(image, 0), last, 16);
    unsigned top = (image_top(image) - 1) & 7;
    image[FXSAVE_TAGS] |= (uint8_t)(1u << top);
    set_top(image, top);
    x80_store(st(image, 0), value);
}

static void pop(uint8_t *image)
{
    uint8_t first[16];
    unsigned top = image_top(image);
    image[FXSAVE_TAGS] &= (uint8_t) ~(1u << top);
    memcpy(first, st(image, 0), 16);
    memmove(st(image, 0), st(image, 1), 7 * 16);
    memcpy(st(image, 7), first, 16);
    set_top(image, top + 1);
}

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

enum { ROUND_NEAREST, ROUND_DOWN, ROUND_UP, ROUND_TO_ZERO };

static struct x80 rounded_constant(ZydisMnemonic mnemonic, unsigned rounding)
{
    const struct constant *c = constants;
    while (c->mnemonic != mnemonic)
        c++;
    struct x80 value = c->floor;
    if (rounding == ROUND_UP || (rounding == ROUND_NEAREST && c->above_half))
        value.significand++;
    return value;
}

void interpret_x87_constant(struct interpret_run *run)
{
    struct x87_state state;
    uint8_t *image = state.image;
    run->cpu->get_fxsave(run->cpu->self, image);
    unsigned rounding = image_get16(image, FXSAVE_CONTROL) >> 10 & 3;
    struct x80 value = rounded_constant(run->insn->mnemonic, rounding);
    if (!is_empty(image, 7)) { /* stack overflow */
        raise_flags(image, X87_IE | X87_SF | X87_C1);
        value = default_nan;
    } else {
        set_conditions(image, X87_C1, 0);
    }
    push(image, value);
    run->cpu->set_fxsave(run->cpu->self, image);
}

/* ------------------------------------------------------------------ FISTTP */

/* The number without its fraction, if |number| < 2^(bits-1) or it is exactly the least integer; else the indefinite. */
static int64_t truncate(struct x80 a, unsigned bits, uint16_t *flags)
{
    int64_t indefinite = (int64_t)((uint64_t)-1 << (bits - 1));
    enum x80_class class = x80_class_of(a);
    int exponent = (int)(a.sign_exponent & EXPONENT) - 16383;
    bool negative = a.sign_exponent & SIGN;
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
    struct x80 value = x80_load(st(image, 0));
    if (is_empty(image, 0)) { /* stack underflow */
        value = default_nan;
        flags = X87_SF;
    }
    uint16_t arithmetic = 0;
    int64_t whole = truncate(value, bits, &arithmetic);
    set_conditions(image, X87_C1, 0);
    raise_flags(image, flags | arithmetic);
    guest_store(address, bits / 8, (uint64_t)whole);
    pop(image);
    run->cpu->set_fxsave(run->cpu->self, image);
}

/* ------------------------------------------------------------------ numbers taken apart */

/* A finite number that is not zero: significand * 2^exponent, its highest bit set. */
struct finite {
    uint64_t significand;
    int exponent;
    bool negative;
};

static struct finite unpack(struct x80 a)
{
    struct finite f = {.significand = a.significand, .negative = (a.sign_exponent & SIGN) != 0};
    int exponent = a.sign_exponent & EXPONENT;
    int up = __builtin_clzll(a.significand);
    f.exponent = (exponent == 0 ? 1 : exponent) - up; /* biased; below 1 if the number is denormal */
    f.significand <<= up;
    return f;
}

static struct x80 pack(struct finite f)
{
    struct x80 a = {.sign_exponent = f.negative ? SIGN : 0};
    if (f.significand == 0)
        return a;
    int up = __builtin_clzll(f.significand);
    f.significand <<= up;
    f.exponent -= up;
    if (f.exponent >= 1) {
        a.significand = f.significand;
        a.sign_exponent |= (uint16_t)f.exponent;
    } else { /* exact: both operands were multiples of the smallest denormal */
        a.significand = f.significand >> (1 - f.exponent);
    }
    return a;
}

static struct x80 quieted(struct x80 a)
{
    a.significand |= QUIET_BIT;
    return a;
}

static bool is_nan(enum x80_class class) { return class == X80_QNAN || class == X80_SNAN; }

/* Of two NaNs: a quiet one before a signalling one, then the larger significand, then the positive one. */
static struct x80 propagated_nan(struct x80 a, struct x80 b)
{
    enum x80_class class_a = x80_class_of(a), class_b = x80_class_of(b);
    if (!is_nan(class_a) || !is_nan(class_b))
        return quieted(is_nan(class_a) ? a : b);
    if (class_a != class_b)
        return class_a == X80_QNAN ? a : b;
    if (a.significand != b.significand)
        return quieted(a.significand > b.significand ? a : b);
    return quieted(a.sign_exponent & SIGN ? b : a);
}

/* ------------------------------------------------------------------ remainders */

struct remainder {
    struct finite rest;
    uint64_t quotient; /* its low bits */
    bool partial;
};

/* a - quotient*b with the quotient cut off. The difference of exponents is taken whole if it is below 64; else the
 * dividend is reduced by a multiple of b that leaves its exponent 32..63 smaller. */
static struct remainder truncated_remainder(struct finite a, struct finite b)
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
static void round_quotient(struct remainder *r, struct finite b)
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
    if (class_a == X80_INVALID || class_b == X80_INVALID) {
        *result = default_nan;
        *flags = X87_IE;
        return true;
    }
    if (is_nan(class_a) || is_nan(class_b)) {
        *result = propagated_nan(a, b);
        *flags = class_a == X80_SNAN || class_b == X80_SNAN ? X87_IE : 0;
        return true;
    }
    if (class_a == X80_INFINITY || class_b == X80_ZERO) {
        *result = default_nan;
        *flags = X87_IE;
        return true;
    }
    *flags = class_a == X80_DENORMAL || class_b == X80_DENORMAL ? X87_DE : 0;
    *result = class_a == X80_ZERO ? a : pack(unpack(a)); /* a denormal with its integer bit set gets exponent 1 */
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
        set_conditions(image, is_nan(x80_class_of(result)) ? X87_C1 | X87_C2 : X87_CONDITIONS, 0);
        raise_flags(image, flags);
        return result;
    }
    struct finite divisor = unpack(b);
    struct remainder r = truncated_remainder(unpack(a), divisor);
    if (nearest)
        round_quotient(&r, divisor);
    set_conditions(image, X87_CONDITIONS, quotient_conditions(&r));
    raise_flags(image, flags);
    return pack(r.rest);
}

static void x87_remainder(struct interpret_run *run, bool nearest)
{
    struct x87_state state;
    uint8_t *image = state.image;
    struct x80 result = default_nan;
    run->cpu->get_fxsave(run->cpu->self, image);
    if (!is_empty(image, 0) && !is_empty(image, 1)) {
        result = remainder_of(image, x80_load(st(image, 0)), x80_load(st(image, 1)), nearest);
    } else { /* stack underflow */
        image[FXSAVE_TAGS] |= (uint8_t)(1u << image_top(image));
        set_conditions(image, X87_C1 | X87_C2, 0);
        raise_flags(image, X87_IE | X87_SF);
    }
    x80_store(st(image, 0), result);
    run->cpu->set_fxsave(run->cpu->self, image);
}

void interpret_fprem(struct interpret_run *run) { x87_remainder(run, false); }
void interpret_fprem1(struct interpret_run *run) { x87_remainder(run, true); }

/* ------------------------------------------------------------------ FSCALE */

static bool is_negative(struct x80 a) { return a.sign_exponent & SIGN; }
static struct x80 zero_like(struct x80 a) { return (struct x80){0, a.sign_exponent & SIGN}; }
static struct x80 infinity_like(struct x80 a) { return (struct x80){INTEGER_BIT, (a.sign_exponent & SIGN) | EXPONENT}; }

/* The whole part of the number that scales, limited to what takes any number out of range. */
static int scale_of(struct x80 by)
{
    enum { LIMIT = 0x10000 };
    int exponent = (int)(by.sign_exponent & EXPONENT) - 16383;
    if (exponent < 0)
        return 0;
    int scale = exponent > 16 ? LIMIT : (int)(by.significand >> (63 - exponent));
    return is_negative(by) ? -scale : scale;
}

/* Whether a magnitude is rounded up: `half` compares what is cut off with half a unit (-1, 0, 1). */
static bool rounds_up(unsigned rounding, bool negative, int half, bool odd)
{
    switch (rounding) {
    case ROUND_NEAREST:
        return half > 0 || (half == 0 && odd);
    case ROUND_DOWN:
        return negative;
    case ROUND_UP:
        return !negative;
    default:
        return false;
    }
}

static struct x80 overflowed(struct finite f, unsigned rounding, uint16_t *flags)
{
    bool up = rounds_up(rounding, f.negative, 1, false);
    uint16_t sign = f.negative ? SIGN : 0;
    *flags |= X87_OE | X87_PE | (up ? X87_C1 : 0);
    return up ? (struct x80){INTEGER_BIT, sign | EXPONENT} : (struct x80){~(uint64_t)0, sign | (EXPONENT - 1)};
}

static struct x80 denormalised(struct finite f, unsigned rounding, uint16_t *flags)
{
    int by = f.exponent < -64 ? 65 : 1 - f.exponent;
    unsigned __int128 wide = (unsigned __int128)f.significand << 64 >> by;
    uint64_t kept = (uint64_t)(wide >> 64), cut = (uint64_t)wide;
    uint16_t sign = f.negative ? SIGN : 0;
    if (cut == 0)
        return (struct x80){kept, sign};
    bool up = rounds_up(rounding, f.negative, cut > INTEGER_BIT ? 1 : cut == INTEGER_BIT ? 0 : -1, kept & 1);
    *flags |= X87_UE | X87_PE | (up ? X87_C1 : 0);
    kept += up;
    return (struct x80){kept, sign | (uint16_t)(kept >> 63)};
}

static bool special_scale(struct x80 a, struct x80 by, struct x80 *result, uint16_t *flags)
{
    enum x80_class class_a = x80_class_of(a), class_by = x80_class_of(by);
    bool nan = is_nan(class_a) || is_nan(class_by);
    *flags = !nan && (class_a == X80_DENORMAL || class_by == X80_DENORMAL) ? X87_DE : 0;
    *result = a;
    if (class_a == X80_INVALID || class_by == X80_INVALID) {
        *result = default_nan;
        *flags = X87_IE;
    } else if (nan) {
        *result = propagated_nan(a, by);
        *flags = class_a == X80_SNAN || class_by == X80_SNAN ? X87_IE : 0;
    } else if (class_by == X80_INFINITY && class_a == (is_negative(by) ? X80_INFINITY : X80_ZERO)) {
        *result = default_nan; /* infinity * 0 */
        *flags = X87_IE;
    } else if (class_by == X80_INFINITY) {
        *result = is_negative(by) ? zero_like(a) : infinity_like(a);
    } else {
        return class_a == X80_ZERO || class_a == X80_INFINITY;
    }
    return true;
}

/* a * 2^by; *flags are exceptions, and C1 if it was rounded up. */
static struct x80 scaled(struct x80 a, struct x80 by, unsigned rounding, uint16_t *flags)
{
    struct x80 result;
    if (special_scale(a, by, &result, flags))
        return result;
    struct finite f = unpack(a);
    f.exponent += scale_of(by);
    if (f.exponent >= (int)EXPONENT)
        return overflowed(f, rounding, flags);
    return f.exponent >= 1 ? pack(f) : denormalised(f, rounding, flags);
}

void interpret_fscale(struct interpret_run *run)
{
    struct x87_state state;
    uint8_t *image = state.image;
    uint16_t flags = X87_IE | X87_SF;
    struct x80 result = default_nan;
    run->cpu->get_fxsave(run->cpu->self, image);
    unsigned rounding = image_get16(image, FXSAVE_CONTROL) >> 10 & 3;
    if (!is_empty(image, 0) && !is_empty(image, 1))
        result = scaled(x80_load(st(image, 0)), x80_load(st(image, 1)), rounding, &flags);
    image[FXSAVE_TAGS] |= (uint8_t)(1u << image_top(image));
    set_conditions(image, X87_C1, 0);
    raise_flags(image, flags);
    x80_store(st(image, 0), result);
    run->cpu->set_fxsave(run->cpu->self, image);
}

/* ------------------------------------------------------------------ FXTRACT */

static struct x80 from_integer(int value)
{
    uint64_t magnitude = (uint64_t)(value < 0 ? -value : value);
    return pack((struct finite){.significand = magnitude, .exponent = 16383 + 63, .negative = value < 0});
}

static void extract_parts(struct x80 a, struct x80 *exponent, struct x80 *significand, uint16_t *flags)
{
    static const struct x80 infinity = {INTEGER_BIT, EXPONENT}, minus_infinity = {INTEGER_BIT, SIGN | EXPONENT};
    enum x80_class class = x80_class_of(a);
    *significand = a;
    switch (class) {
    case X80_ZERO:
        *exponent = minus_infinity;
        *flags = X87_ZE;
        return;
    case X80_INFINITY:
        *exponent = infinity;
        return;
    case X80_INVALID:
    case X80_QNAN:
    case X80_SNAN:
        *significand = class == X80_INVALID ? default_nan : quieted(a);
        *exponent = *significand;
        *flags = class == X80_QNAN ? 0 : X87_IE;
        return;
    default: {
        struct finite f = unpack(a);
        *exponent = from_integer(f.exponent - 16383);
        f.exponent = 16383;
        *significand = pack(f);
        *flags = class == X80_DENORMAL ? X87_DE : 0;
    }
    }
}

void interpret_fxtract(struct interpret_run *run)
{
    struct x87_state state;
    uint8_t *image = state.image;
    struct x80 exponent = default_nan, significand = default_nan;
    uint16_t flags = 0;
    run->cpu->get_fxsave(run->cpu->self, image);
    set_conditions(image, X87_C1, 0);
    if (is_empty(image, 0)) /* stack underflow */
        flags = X87_IE | X87_SF;
    else if (!is_empty(image, 7)) /* stack overflow */
        flags = X87_IE | X87_SF | X87_C1;
    else
        extract_parts(x80_load(st(image, 0)), &exponent, &significand, &flags);
    raise_flags(image, flags);
    image[FXSAVE_TAGS] |= (uint8_t)(1u << image_top(image));
    x80_store(st(image, 0), exponent);
    push(image, significand);
    run->cpu->set_fxsave(run->cpu->self, image);
}
