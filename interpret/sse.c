/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   SSE and MMX instructions: DPPS, DPPD and two conversions by the arithmetic of the CPU that c2emu runs on (IEEE,
 *   so the same on every CPU), under the guest's MXCSR; RCPPS, RSQRTPS and kin by its division, rounded to nearest;
 *   ROUNDSS and ROUNDSD on the bits of the number; PHADDx and PHSUBx of a register with itself; MASKMOVQ and
 *   MASKMOVDQU; unpacking and conversions of MMX with memory.
 * Not modelled
 *   RCPPS, RCPSS, RSQRTPS and RSQRTSS give the rounded quotient, where a CPU gives 12 good bits of it.
 *   DPPS and DPPD with exceptions that are not masked: refused.
 * Counting
 *   MASKMOVQ and MASKMOVDQU are one write of the whole operand, whatever the mask selects.
 * Source
 *   Intel SDM volume 2: DPPS and DPPD (the order of their additions), ROUNDSD, MASKMOVDQU; volume 1, 9.2 (MMX state
 *   in x87).
 */
#include <emmintrin.h>
#include <math.h>
#include <signal.h>

#include "interpret/interpret_priv.h"

static unsigned register_number(const ZydisDecodedOperand *operand)
{
    return (unsigned)ZydisRegisterGetId(operand->reg.value);
}

static void get_xmm(const struct interpret_run *run, unsigned index, uint8_t out[16])
{
    run->cpu->get_xmm(run->cpu->self, register_number(&run->operands[index]), out);
}

static void set_xmm(const struct interpret_run *run, unsigned index, const uint8_t in[16])
{
    run->cpu->set_xmm(run->cpu->self, register_number(&run->operands[index]), in);
}

/* Operand `index`, XMM or memory, of `bytes` bytes. */
static bool get_vector(struct interpret_run *run, unsigned index, void *out, unsigned bytes)
{
    uint8_t whole[16];
    uint64_t address;
    if (!interpret_is_memory(&run->operands[index])) {
        get_xmm(run, index, whole);
        memcpy(out, whole, bytes);
        return true;
    }
    if (!interpret_place(run, index, MMU_ACCESS_READ, &address))
        return false;
    memcpy(out, (const void *)(uintptr_t)address, bytes);
    return true;
}

/* ------------------------------------------------------------------ exceptions */

static uint32_t unmasked_of(uint32_t mxcsr) { return ~mxcsr >> MXCSR_MASKS_AT & MXCSR_EXCEPTIONS; }

uint32_t interpret_float_raised(uint32_t flags, uint32_t unmasked)
{
    enum { OF_OPERANDS = 0x07 };
    return flags & unmasked & OF_OPERANDS ? flags & OF_OPERANDS : flags;
}

int interpret_float_code(uint32_t mxcsr)
{
    enum { INVALID = 0x01, BY_ZERO = 0x04, OVERFLOWED = 0x08, UNDERFLOWED = 0x12 /* and denormal operands */ };
    const uint32_t raised = mxcsr & unmasked_of(mxcsr);
    return raised & INVALID       ? FPE_FLTINV
           : raised & BY_ZERO     ? FPE_FLTDIV
           : raised & OVERFLOWED  ? FPE_FLTOVF
           : raised & UNDERFLOWED ? FPE_FLTUND
           : raised               ? FPE_FLTRES
                                  : 0;
}

/* The instruction has raised the flags. Whether it may write its result: none of them traps. */
static bool sse_raise_flags(struct interpret_run *run, uint32_t flags)
{
    const uint32_t before = run->cpu->get_mxcsr(run->cpu->self), unmasked = unmasked_of(before);
    flags = interpret_float_raised(flags, unmasked);
    if (flags & ~before)
        run->cpu->set_mxcsr(run->cpu->self, before | flags);
    if (flags & unmasked)
        interpret_signal(run, SIGFPE, interpret_float_code(before | flags));
    return !(flags & unmasked);
}

/* ------------------------------------------------------------------ the host's arithmetic
 * All of it in volatile assembly between the two changes of MXCSR, so that no compiler moves it across them. The host
 * masks all exceptions. */

struct guest_rounding {
    uint32_t host, guest;
};

static void enter_guest_rounding(struct guest_rounding *rounding, const struct interpret_run *run)
{
    rounding->guest = (run->cpu->get_mxcsr(run->cpu->self) & ~MXCSR_EXCEPTIONS) | MXCSR_EXCEPTIONS << MXCSR_MASKS_AT;
    __asm__ volatile("stmxcsr %0" : "=m"(rounding->host));
    __asm__ volatile("ldmxcsr %0" : : "m"(rounding->guest));
}

static uint32_t flags_of_host(void)
{
    uint32_t mxcsr;
    __asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
    return mxcsr & MXCSR_EXCEPTIONS;
}

/* Whether the result may be written. */
static bool leave_guest_rounding(struct interpret_run *run, const struct guest_rounding *rounding)
{
    const uint32_t flags = flags_of_host();
    __asm__ volatile("ldmxcsr %0" : : "m"(rounding->host));
    return sse_raise_flags(run, flags);
}

static float multiply_single(float a, float b)
{
    __asm__ volatile("mulss %1, %0" : "+x"(a) : "x"(b));
    return a;
}

static float add_single(float a, float b)
{
    __asm__ volatile("addss %1, %0" : "+x"(a) : "x"(b));
    return a;
}

static double multiply_double(double a, double b)
{
    __asm__ volatile("mulsd %1, %0" : "+x"(a) : "x"(b));
    return a;
}

static double add_double(double a, double b)
{
    __asm__ volatile("addsd %1, %0" : "+x"(a) : "x"(b));
    return a;
}

/* Which of its operations trap, and what the others raise then, is not modelled. */
static bool all_masked(struct interpret_run *run)
{
    if (unmasked_of(run->cpu->get_mxcsr(run->cpu->self)) != 0)
        interpret_refuse(run, "DPPS and DPPD with floating-point exceptions that trap are not modelled: mask them");
    return run->effect->status == INTERPRET_DONE;
}

/* The upper half of the control byte selects which products are added, the lower half where the sum goes. */
void interpret_dpps(struct interpret_run *run)
{
    float a[4], b[4], product[4] = {0, 0, 0, 0}, result[4] = {0, 0, 0, 0};
    uint8_t bytes[16];
    unsigned select = (unsigned)run->operands[2].imm.value.u;
    if (!get_vector(run, 1, b, 16) || !get_vector(run, 0, a, 16) || !all_masked(run))
        return;
    struct guest_rounding rounding;
    enter_guest_rounding(&rounding, run);
    for (unsigned i = 0; i < 4; i++)
        if (select >> (4 + i) & 1)
            product[i] = multiply_single(a[i], b[i]);
    float sum = add_single(add_single(product[0], product[1]), add_single(product[2], product[3]));
    if (!leave_guest_rounding(run, &rounding))
        return;
    for (unsigned i = 0; i < 4; i++)
        if (select >> i & 1)
            result[i] = sum;
    memcpy(bytes, result, 16);
    set_xmm(run, 0, bytes);
}

void interpret_dppd(struct interpret_run *run)
{
    double a[2], b[2], product[2] = {0, 0}, result[2] = {0, 0};
    uint8_t bytes[16];
    unsigned select = (unsigned)run->operands[2].imm.value.u;
    if (!get_vector(run, 1, b, 16) || !get_vector(run, 0, a, 16) || !all_masked(run))
        return;
    struct guest_rounding rounding;
    enter_guest_rounding(&rounding, run);
    for (unsigned i = 0; i < 2; i++)
        if (select >> (4 + i) & 1)
            product[i] = multiply_double(a[i], b[i]);
    double sum = add_double(product[0], product[1]);
    if (!leave_guest_rounding(run, &rounding))
        return;
    for (unsigned i = 0; i < 2; i++)
        if (select >> i & 1)
            result[i] = sum;
    memcpy(bytes, result, 16);
    set_xmm(run, 0, bytes);
}

void interpret_cvtps2pd(struct interpret_run *run)
{
    uint8_t vector[16] = {0};
    if (!get_vector(run, 1, vector, 8))
        return;
    struct guest_rounding rounding;
    enter_guest_rounding(&rounding, run);
    __asm__ volatile("movups %0, %%xmm0; cvtps2pd %%xmm0, %%xmm0; movups %%xmm0, %0" : "+m"(vector) : : "xmm0");
    if (!leave_guest_rounding(run, &rounding))
        return;
    set_xmm(run, 0, vector);
}

void interpret_cvtdq2pd(struct interpret_run *run)
{
    uint8_t vector[16] = {0};
    if (!get_vector(run, 1, vector, 8))
        return;
    __asm__ volatile("movups %0, %%xmm0; cvtdq2pd %%xmm0, %%xmm0; movups %%xmm0, %0" : "+m"(vector) : : "xmm0");
    set_xmm(run, 0, vector);
}

/* ------------------------------------------------------------------ RCP, RSQRT
 * Whatever MXCSR holds: denormal numbers and results are zeros of their sign, and nothing is raised. */

static float without_denormals(float a) { return fpclassify(a) == FP_SUBNORMAL ? copysignf(0, a) : a; }

/* A NaN comes back quiet, as it is; what a negative number has no root for is the indefinite one. */
static float reciprocal(float a, bool of_root)
{
    a = without_denormals(a);
    if (isnan(a))
        return a + a;
    if (of_root && a < 0)
        return -NAN;
    return without_denormals(1 / (of_root ? _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(a))) : a));
}

void interpret_reciprocal(struct interpret_run *run)
{
    const ZydisMnemonic mnemonic = run->insn->mnemonic;
    const bool of_root = mnemonic == ZYDIS_MNEMONIC_RSQRTPS || mnemonic == ZYDIS_MNEMONIC_RSQRTSS;
    const unsigned count = mnemonic == ZYDIS_MNEMONIC_RCPSS || mnemonic == ZYDIS_MNEMONIC_RSQRTSS ? 1 : 4;
    float from[4], to[4];
    uint8_t bytes[16];
    if (!get_vector(run, 1, from, count * (unsigned)sizeof *from))
        return;
    get_xmm(run, 0, bytes);
    for (unsigned i = 0; i < count; i++)
        to[i] = reciprocal(from[i], of_root);
    memcpy(bytes, to, count * sizeof *to);
    set_xmm(run, 0, bytes);
}

/* ------------------------------------------------------------------ ROUNDSS, ROUNDSD */

struct layout {
    unsigned fraction_bits, bias;
    uint64_t sign, infinity; /* infinity: the exponent's bits */
};
static const struct layout single_layout = {23, 127, 0x80000000, 0x7f800000};
static const struct layout double_layout = {52, 1023, 0x8000000000000000, 0x7ff0000000000000};

#define MXCSR_IE 0x01u
#define MXCSR_PE 0x20u
#define MXCSR_DAZ 0x40u
enum { NEAREST, DOWN, UP, TO_ZERO };

static bool goes_up(unsigned mode, bool negative, uint64_t cut, uint64_t half, bool odd)
{
    switch (mode) {
    case NEAREST:
        return cut > half || (cut == half && odd);
    case DOWN:
        return negative;
    case UP:
        return !negative;
    default:
        return false;
    }
}

/* A number below 1 becomes 0 or 1. */
static uint64_t round_fraction(const struct layout *l, uint64_t magnitude, bool negative, unsigned mode)
{
    uint64_t one = (uint64_t)l->bias << l->fraction_bits, half = one - ((uint64_t)1 << l->fraction_bits);
    return goes_up(mode, negative, magnitude, half, false) ? one : 0;
}

static uint64_t round_bits(const struct layout *l, uint64_t bits, unsigned mode, bool daz, uint32_t *flags)
{
    uint64_t sign = bits & l->sign, magnitude = bits & ~l->sign, quiet = (uint64_t)1 << (l->fraction_bits - 1);
    unsigned exponent = (unsigned)(magnitude >> l->fraction_bits);
    if (magnitude > l->infinity) {
        *flags = magnitude & quiet ? 0 : MXCSR_IE;
        return bits | quiet;
    }
    if (magnitude == 0 || exponent >= l->bias + l->fraction_bits)
        return bits;
    if (exponent == 0 && daz)
        return sign;
    if (exponent < l->bias) {
        *flags = MXCSR_PE;
        return sign | round_fraction(l, magnitude, sign != 0, mode);
    }
    uint64_t unit = (uint64_t)1 << (l->fraction_bits - (exponent - l->bias)), cut = magnitude & (unit - 1);
    if (cut == 0)
        return bits;
    *flags = MXCSR_PE;
    /* the lowest bit kept is the implied one if the whole fraction is cut off */
    bool odd = exponent == l->bias || (magnitude & unit);
    magnitude -= cut;
    return sign | (magnitude + (goes_up(mode, sign != 0, cut, unit / 2, odd) ? unit : 0));
}

void interpret_round_scalar(struct interpret_run *run)
{
    const struct layout *l = run->insn->mnemonic == ZYDIS_MNEMONIC_ROUNDSD ? &double_layout : &single_layout;
    unsigned bytes = l == &double_layout ? 8 : 4, control = (unsigned)run->operands[2].imm.value.u;
    uint64_t bits = 0;
    uint32_t flags = 0, mxcsr = run->cpu->get_mxcsr(run->cpu->self);
    uint8_t vector[16];
    if (!get_vector(run, 1, &bits, bytes))
        return;
    unsigned mode = control & 4 ? mxcsr >> 13 & 3 : control & 3;
    bits = round_bits(l, bits, mode, mxcsr & MXCSR_DAZ, &flags);
    if (control & 8) /* inexact is not to be told */
        flags &= ~MXCSR_PE;
    if (!sse_raise_flags(run, flags))
        return;
    get_xmm(run, 0, vector);
    memcpy(vector, &bits, bytes);
    set_xmm(run, 0, vector);
}

/* ------------------------------------------------------------------ MMX registers */

/* What an MMX instruction does to the x87 unit: all registers valid, the top is 0, so that ST(i) is MMi. */
static void get_mmx_state(const struct interpret_run *run, struct x87_state *state)
{
    run->cpu->get_fxsave(run->cpu->self, state->image);
    image_rotate_to_top(state->image, 0);
    state->image[FXSAVE_TAGS] = 0xff;
}

static uint8_t *mmx_of(struct x87_state *state, const ZydisDecodedOperand *operand)
{
    return state->image + FXSAVE_ST + 16 * register_number(operand);
}

static void set_mmx(struct interpret_run *run, struct x87_state *state, const uint8_t value[8])
{
    uint8_t *mmx = mmx_of(state, &run->operands[0]);
    memcpy(mmx, value, 8);
    memset(mmx + 8, 0xff, 2);
    run->cpu->set_fxsave(run->cpu->self, state->image);
}

/* ------------------------------------------------------------------ MMX instructions with memory
 * Of these engines read more than is there, or enter MMX before the load, which may fault. */

void interpret_unpack_low(struct interpret_run *run)
{
    struct x87_state state;
    uint8_t source[4], result[8];
    const unsigned element = run->insn->mnemonic == ZYDIS_MNEMONIC_PUNPCKLBW   ? 1
                             : run->insn->mnemonic == ZYDIS_MNEMONIC_PUNPCKLWD ? 2
                                                                               : 4;
    if (!get_vector(run, 1, source, sizeof source))
        return;
    get_mmx_state(run, &state);
    const uint8_t *destination = mmx_of(&state, &run->operands[0]);
    for (unsigned i = 0; i < sizeof source; i += element) {
        memcpy(result + 2 * i, destination + i, element);
        memcpy(result + 2 * i + element, source + i, element);
    }
    set_mmx(run, &state, result);
}

/* Two integers in memory become two numbers of an XMM register. */
void interpret_from_integers(struct interpret_run *run)
{
    struct guest_rounding rounding;
    uint8_t vector[16] = {0}, result[16];
    const bool single = run->insn->mnemonic == ZYDIS_MNEMONIC_CVTPI2PS;
    if (!get_vector(run, 1, vector, 8))
        return;
    get_xmm(run, 0, result);
    enter_guest_rounding(&rounding, run);
    if (single)
        __asm__ volatile("movups %0, %%xmm0; cvtdq2ps %%xmm0, %%xmm0; movups %%xmm0, %0" : "+m"(vector) : : "xmm0");
    else
        __asm__ volatile("movups %0, %%xmm0; cvtdq2pd %%xmm0, %%xmm0; movups %%xmm0, %0" : "+m"(vector) : : "xmm0");
    if (!leave_guest_rounding(run, &rounding))
        return;
    memcpy(result, vector, single ? 8 : 16);
    set_xmm(run, 0, result);
}

/* Two singles in memory become two integers of an MMX register. */
void interpret_to_integers(struct interpret_run *run)
{
    struct guest_rounding rounding;
    struct x87_state state;
    uint8_t vector[16] = {0};
    if (!get_vector(run, 1, vector, 8))
        return;
    enter_guest_rounding(&rounding, run);
    if (run->insn->mnemonic == ZYDIS_MNEMONIC_CVTPS2PI)
        __asm__ volatile("movups %0, %%xmm0; cvtps2dq %%xmm0, %%xmm0; movups %%xmm0, %0" : "+m"(vector) : : "xmm0");
    else
        __asm__ volatile("movups %0, %%xmm0; cvttps2dq %%xmm0, %%xmm0; movups %%xmm0, %0" : "+m"(vector) : : "xmm0");
    const bool done = leave_guest_rounding(run, &rounding);
    get_mmx_state(run, &state); /* entered by one that traps, too */
    if (done)
        set_mmx(run, &state, vector);
    else
        run->cpu->set_fxsave(run->cpu->self, state.image);
}

/* ------------------------------------------------------------------ PHADDx, PHSUBx of a register with itself */

static int32_t saturated(int32_t value)
{
    return value > INT16_MAX ? INT16_MAX : value < INT16_MIN ? INT16_MIN : value;
}

static uint32_t sse_combine(ZydisMnemonic mnemonic, uint32_t even, uint32_t odd)
{
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_PHADDW:
    case ZYDIS_MNEMONIC_PHADDD:
        return even + odd;
    case ZYDIS_MNEMONIC_PHADDSW:
        return (uint32_t)saturated((int16_t)even + (int16_t)odd);
    case ZYDIS_MNEMONIC_PHSUBSW:
        return (uint32_t)saturated((int16_t)even - (int16_t)odd);
    default:
        return even - odd;
    }
}

/* Neighbours combined, in place; both halves of the result are the same. */
static void combine_neighbours(ZydisMnemonic mnemonic, uint8_t *vector, unsigned bytes)
{
    bool is_double = mnemonic == ZYDIS_MNEMONIC_PHADDD || mnemonic == ZYDIS_MNEMONIC_PHSUBD;
    unsigned element = is_double ? 4 : 2;
    for (unsigned i = 0; i < bytes / 2; i += element) {
        uint32_t even = 0, odd = 0;
        memcpy(&even, vector + 2 * i, element);
        memcpy(&odd, vector + 2 * i + element, element);
        even = sse_combine(mnemonic, even, odd);
        memcpy(vector + i, &even, element);
    }
    memcpy(vector + bytes / 2, vector, bytes / 2);
}

void interpret_horizontal(struct interpret_run *run)
{
    const ZydisDecodedOperand *operand = &run->operands[0];
    if (ZydisRegisterGetClass(operand->reg.value) == ZYDIS_REGCLASS_XMM) {
        uint8_t vector[16];
        get_xmm(run, 0, vector);
        combine_neighbours(run->insn->mnemonic, vector, 16);
        set_xmm(run, 0, vector);
        return;
    }
    struct x87_state state;
    get_mmx_state(run, &state);
    combine_neighbours(run->insn->mnemonic, mmx_of(&state, operand), 8);
    memset(mmx_of(&state, operand) + 8, 0xff, 2);
    run->cpu->set_fxsave(run->cpu->self, state.image);
}

/* ------------------------------------------------------------------ MASKMOVQ, MASKMOVDQU */

static void store_selected(uint64_t address, const uint8_t *data, const uint8_t *mask, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        if (mask[i] & 0x80)
            guest_store(address + i, 1, data[i]);
}

static void maskmovq(struct interpret_run *run, uint64_t address)
{
    struct x87_state state;
    get_mmx_state(run, &state);
    run->cpu->set_fxsave(run->cpu->self, state.image);
    store_selected(address, mmx_of(&state, &run->operands[0]), mmx_of(&state, &run->operands[1]), 8);
}

void interpret_maskmov(struct interpret_run *run)
{
    uint8_t data[16], mask[16];
    uint64_t address;
    if (!interpret_place(run, 2, MMU_ACCESS_WRITE, &address))
        return;
    if (run->insn->mnemonic == ZYDIS_MNEMONIC_MASKMOVQ) {
        maskmovq(run, address);
        return;
    }
    get_xmm(run, 0, data);
    get_xmm(run, 1, mask);
    store_selected(address, data, mask, 16);
}
