/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Shared by the x87 instructions of interpret: the 80-bit numbers, and the register stack in the FXSAVE64 image.
 */
#ifndef C2_INTERPRET_X87_PRIV_H
#define C2_INTERPRET_X87_PRIV_H

#include "interpret/interpret_priv.h"

/* ------------------------------------------------------------------ numbers (interpret_x80.c) */
#define X80_EXPONENT 0x7fffu
#define X80_SIGN 0x8000u
#define X80_BIAS 16383
#define X80_INTEGER_BIT ((uint64_t)1 << 63)
#define X80_QUIET_BIT ((uint64_t)1 << 62)

extern const struct x80 x80_default_nan;

static inline bool x80_is_negative(struct x80 a) { return a.sign_exponent & X80_SIGN; }
static inline bool x80_is_nan(enum x80_class class) { return class == X80_QNAN || class == X80_SNAN; }
struct x80 x80_quieted(struct x80 nan);
struct x80 x80_zero(bool negative);
struct x80 x80_infinity(bool negative);

/* Whether an operand is a NaN or no encoding at all. Then *result is the NaN that comes out, and *flags X87_IE or 0. An
 * instruction of one operand passes it twice. */
bool x80_no_number(struct x80 a, struct x80 b, struct x80 *result, uint16_t *flags);
/* X87_DE if one of them is denormal. */
uint16_t x80_denormal_flag(struct x80 a, struct x80 b);

/* A finite number that is not zero: significand * 2^(exponent - X80_BIAS - 63), its highest bit set. The exponent is
 * below 1 if the number is denormal. */
struct x80_parts {
    uint64_t significand;
    int exponent;
    bool negative;
};
struct x80_parts x80_unpack(struct x80 a);
/* The significand may be anything, also zero, as long as the number needs no rounding. */
struct x80 x80_pack(struct x80_parts parts);

/* The rounding control of the x87 control word. */
enum x80_rounding { X80_NEAREST, X80_DOWN, X80_UP, X80_TO_ZERO };

/* `kept` rounded by what is cut off behind it, in units of 2^-64; a carry out of 64 bits is lost. Adds to *flags. */
uint64_t x80_rounded_bits(uint64_t kept, uint64_t cut, bool negative, enum x80_rounding rounding, uint16_t *flags);

/* bits * 2^(exponent - X80_BIAS - 127), the highest bit set; the lowest one is also set if anything follows it. */
struct x80_wide {
    unsigned __int128 bits;
    int exponent;
    bool negative;
};
/* Rounded to 64 bits, or to what a denormal number has. Adds to *flags the masked X87_PE, X87_OE and X87_UE, and X87_C1
 * if the magnitude was rounded up. */
struct x80 x80_rounded(const struct x80_wide *wide, enum x80_rounding rounding, uint16_t *flags);

/* ------------------------------------------------------------------ the register stack (interpret_x87_stack.c) */
uint8_t *x87_st(uint8_t *image, unsigned i);
bool x87_is_empty(const uint8_t *image, unsigned i);
/* ORs exception flags, X87_SF or condition bits into the status word. */
void x87_raise(uint8_t *image, uint16_t flags);
void x87_set_conditions(uint8_t *image, uint16_t which, uint16_t value);
enum x80_rounding x87_rounding(const uint8_t *image);
/* The register becomes valid. */
void x87_set(uint8_t *image, unsigned i, struct x80 value);
void x87_push(uint8_t *image, struct x80 value);
void x87_pop(uint8_t *image);

#endif
