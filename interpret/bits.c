/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Integer instructions on bits: POPCNT, MOVBE, PDEP, PEXT, BZHI, BEXTR, RORX, BLSI, BLSR, BLSMSK, shifts and
 *   rotates of memory by CL, double shifts of memory, LOCK NEG of memory, TEST with an immediate by F6 /1 and F7 /1,
 *   which the manual leaves out and all CPUs execute as /0.
 * Invariants
 *   A shift by a count of 0 changes no flag, but it is a write of its operand all the same, as it is on a CPU.
 * Not modelled
 *   Flags that the manual leaves undefined: OF of a shift by more than 1, AF, CF of a shift beyond the operand, AF
 *   and PF of the BMI instructions. They come out as they do for the nearest defined case, always the same way.
 *   A double shift of 16 bits by more than 16 has no defined result either: it goes on with the destination, as on
 *   Intel's CPUs (AMD's repeat the source).
 * Source
 *   Intel SDM volume 2, the pages of these instructions.
 */
#include "interpret/interpret_priv.h"

static unsigned bits_of_operand(const struct interpret_run *run, unsigned index) { return run->operands[index].size; }

void interpret_popcnt(struct interpret_run *run)
{
    struct interpret_value v;
    if (!interpret_get(run, 1, MMU_ACCESS_READ, &v))
        return;
    interpret_change_flags(run, FLAGS_STATUS, v.value == 0 ? FLAG_ZF : 0);
    v.value = (uint64_t)__builtin_popcountll(v.value);
    interpret_put(run, 0, &v);
}

void interpret_test(struct interpret_run *run)
{
    struct interpret_value v;
    if (!interpret_get(run, 0, MMU_ACCESS_READ, &v))
        return;
    const uint64_t mask = run->operands[1].imm.value.u;
    interpret_change_flags(run, FLAGS_STATUS, interpret_flags_of_result(v.value & mask, bits_of_operand(run, 0)));
}

void interpret_movbe(struct interpret_run *run)
{
    struct interpret_value v, to = {0};
    bool stores = interpret_is_memory(&run->operands[0]);
    if (stores && !interpret_place(run, 0, MMU_ACCESS_WRITE, &to.address))
        return;
    if (!interpret_get(run, 1, MMU_ACCESS_READ, &v))
        return;
    to.value = __builtin_bswap64(v.value) >> (64 - bits_of_operand(run, 0));
    interpret_put(run, 0, &to);
}

/* ------------------------------------------------------------------ BMI */

static uint64_t deposit(uint64_t source, uint64_t mask)
{
    uint64_t result = 0;
    for (; mask != 0; mask &= mask - 1, source >>= 1)
        if (source & 1)
            result |= mask & (0 - mask);
    return result;
}

static uint64_t extract(uint64_t source, uint64_t mask)
{
    uint64_t result = 0;
    for (unsigned to = 0; mask != 0; mask &= mask - 1, to++)
        if (source & mask & (0 - mask))
            result |= (uint64_t)1 << to;
    return result;
}

static void deposit_or_extract(struct interpret_run *run, uint64_t (*move)(uint64_t source, uint64_t mask))
{
    struct interpret_value source, mask;
    if (!interpret_get(run, 1, MMU_ACCESS_READ, &source) || !interpret_get(run, 2, MMU_ACCESS_READ, &mask))
        return;
    source.value = move(source.value, mask.value);
    interpret_put(run, 0, &source);
}

void interpret_pdep(struct interpret_run *run) { deposit_or_extract(run, deposit); }
void interpret_pext(struct interpret_run *run) { deposit_or_extract(run, extract); }

void interpret_bzhi(struct interpret_run *run)
{
    struct interpret_value v, index;
    if (!interpret_get(run, 1, MMU_ACCESS_READ, &v) || !interpret_get(run, 2, MMU_ACCESS_READ, &index))
        return;
    unsigned bits = bits_of_operand(run, 0), first = index.value & 0xff;
    if (first < bits)
        v.value &= ((uint64_t)1 << first) - 1;
    uint64_t flags = interpret_flags_of_result(v.value, bits) & (FLAG_ZF | FLAG_SF);
    interpret_change_flags(run, FLAG_ZF | FLAG_SF | FLAG_CF | FLAG_OF, flags | (first < bits ? 0 : FLAG_CF));
    interpret_put(run, 0, &v);
}

void interpret_bextr(struct interpret_run *run)
{
    struct interpret_value v, control;
    if (!interpret_get(run, 1, MMU_ACCESS_READ, &v) || !interpret_get(run, 2, MMU_ACCESS_READ, &control))
        return;
    unsigned first = control.value & 0xff, count = control.value >> 8 & 0xff;
    v.value = first < 64 ? v.value >> first : 0;
    if (count < 64)
        v.value &= ((uint64_t)1 << count) - 1;
    interpret_change_flags(run, FLAG_ZF | FLAG_CF | FLAG_OF, v.value == 0 ? FLAG_ZF : 0);
    interpret_put(run, 0, &v);
}

void interpret_rorx(struct interpret_run *run)
{
    struct interpret_value v;
    if (!interpret_get(run, 1, MMU_ACCESS_READ, &v))
        return;
    unsigned bits = bits_of_operand(run, 0), by = run->operands[2].imm.value.u & (bits - 1);
    if (by != 0)
        v.value = v.value >> by | v.value << (bits - by);
    interpret_put(run, 0, &v);
}

/* BLSI keeps the lowest set bit, BLSR clears it, BLSMSK sets all below it too. CF tells of a zero source, for BLSI of
 * one that is not. */
static void lowest_bit(struct interpret_run *run, uint64_t (*change)(uint64_t value), bool carry_if_zero)
{
    struct interpret_value v;
    if (!interpret_get(run, 1, MMU_ACCESS_READ, &v))
        return;
    unsigned bits = bits_of_operand(run, 0);
    bool carry = (v.value == 0) == carry_if_zero;
    v.value = change(v.value) & c2_mask(0, bits - 1);
    uint64_t flags = interpret_flags_of_result(v.value, bits) & (FLAG_ZF | FLAG_SF);
    interpret_change_flags(run, FLAG_ZF | FLAG_SF | FLAG_CF | FLAG_OF, flags | (carry ? FLAG_CF : 0));
    interpret_put(run, 0, &v);
}

static uint64_t keep_lowest(uint64_t v) { return v & (0 - v); }
static uint64_t clear_lowest(uint64_t v) { return v & (v - 1); }
static uint64_t mask_lowest(uint64_t v) { return v ^ (v - 1); }

void interpret_blsi(struct interpret_run *run) { lowest_bit(run, keep_lowest, false); }
void interpret_blsr(struct interpret_run *run) { lowest_bit(run, clear_lowest, true); }
void interpret_blsmsk(struct interpret_run *run) { lowest_bit(run, mask_lowest, true); }

/* ------------------------------------------------------------------ shifts and rotates */

struct shifted {
    uint64_t value;
    bool carry;
    bool overflow; /* defined for a count of 1 */
};

static bool bits_bit_of(uint64_t value, unsigned bit) { return value >> bit & 1; }

static struct shifted shift_left(uint64_t value, unsigned bits, unsigned count)
{
    struct shifted s = {.value = count < bits ? value << count & c2_mask(0, bits - 1) : 0};
    s.carry = count <= bits && bits_bit_of(value, bits - count);
    s.overflow = bits_bit_of(s.value, bits - 1) != s.carry;
    return s;
}

static struct shifted shift_right(uint64_t value, unsigned bits, unsigned count)
{
    struct shifted s = {.value = count < bits ? value >> count : 0};
    s.carry = count <= bits && bits_bit_of(value, count - 1);
    s.overflow = bits_bit_of(value, bits - 1);
    return s;
}

static struct shifted shift_right_signed(uint64_t value, unsigned bits, unsigned count)
{
    int64_t extended = (int64_t)(value << (64 - bits)) >> (64 - bits);
    struct shifted s = {.value = (uint64_t)(extended >> count) & c2_mask(0, bits - 1)};
    s.carry = extended >> (count - 1) & 1;
    return s;
}

static struct shifted bits_rotate_left(uint64_t value, unsigned bits, unsigned count)
{
    unsigned by = count % bits;
    struct shifted s = {.value = by == 0 ? value : (value << by | value >> (bits - by)) & c2_mask(0, bits - 1)};
    s.carry = s.value & 1;
    s.overflow = bits_bit_of(s.value, bits - 1) != s.carry;
    return s;
}

static struct shifted rotate_right(uint64_t value, unsigned bits, unsigned count)
{
    unsigned by = count % bits;
    struct shifted s = bits_rotate_left(value, bits, bits - by);
    s.carry = bits_bit_of(s.value, bits - 1);
    s.overflow = bits_bit_of(s.value, bits - 1) != bits_bit_of(s.value, bits - 2);
    return s;
}

/* RCL and RCR turn the operand and CF together, one bit more than the operand has. */
static struct shifted rotate_carry_left(uint64_t value, unsigned bits, unsigned count, bool carry)
{
    struct shifted s = {.value = value, .carry = carry};
    for (unsigned i = count % (bits + 1); i > 0; i--) {
        bool out = bits_bit_of(s.value, bits - 1);
        s.value = (s.value << 1 | s.carry) & c2_mask(0, bits - 1);
        s.carry = out;
    }
    s.overflow = bits_bit_of(s.value, bits - 1) != s.carry;
    return s;
}

static struct shifted rotate_carry_right(uint64_t value, unsigned bits, unsigned count, bool carry)
{
    unsigned by = count % (bits + 1);
    struct shifted s = rotate_carry_left(value, bits, bits + 1 - by, carry);
    s.overflow = bits_bit_of(s.value, bits - 1) != bits_bit_of(s.value, bits - 2);
    return s;
}

static bool is_rotate(ZydisMnemonic mnemonic)
{
    return mnemonic == ZYDIS_MNEMONIC_ROL || mnemonic == ZYDIS_MNEMONIC_ROR || mnemonic == ZYDIS_MNEMONIC_RCL ||
           mnemonic == ZYDIS_MNEMONIC_RCR;
}

static struct shifted shift(ZydisMnemonic mnemonic, uint64_t value, unsigned bits, unsigned count, bool carry)
{
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_SHL:
        return shift_left(value, bits, count);
    case ZYDIS_MNEMONIC_SHR:
        return shift_right(value, bits, count);
    case ZYDIS_MNEMONIC_SAR:
        return shift_right_signed(value, bits, count);
    case ZYDIS_MNEMONIC_ROL:
        return bits_rotate_left(value, bits, count);
    case ZYDIS_MNEMONIC_ROR:
        return rotate_right(value, bits, count);
    case ZYDIS_MNEMONIC_RCL:
        return rotate_carry_left(value, bits, count, carry);
    default:
        return rotate_carry_right(value, bits, count, carry);
    }
}

static void finish_shift(struct interpret_run *run, struct interpret_value *v, struct shifted s, bool all_flags)
{
    uint64_t flags = (s.carry ? FLAG_CF : 0) | (s.overflow ? FLAG_OF : 0), which = FLAG_CF | FLAG_OF;
    if (all_flags) {
        flags |= interpret_flags_of_result(s.value, bits_of_operand(run, 0));
        which |= FLAG_ZF | FLAG_SF | FLAG_PF;
    }
    interpret_change_flags(run, which, flags);
    v->value = s.value;
    interpret_put(run, 0, v);
}

static unsigned masked_count(uint64_t count, unsigned bits) { return count & (bits == 64 ? 63 : 31); }

void interpret_shift(struct interpret_run *run)
{
    struct interpret_value v, by;
    if (!interpret_get(run, 0, MMU_ACCESS_WRITE, &v) || !interpret_get(run, 1, MMU_ACCESS_READ, &by))
        return;
    unsigned bits = bits_of_operand(run, 0), count = masked_count(by.value, bits);
    if (count == 0) {
        interpret_put(run, 0, &v);
        return;
    }
    bool carry = run->cpu->get_flags(run->cpu->self) & FLAG_CF;
    ZydisMnemonic mnemonic = run->insn->mnemonic;
    finish_shift(run, &v, shift(mnemonic, v.value, bits, count, carry), !is_rotate(mnemonic));
}

/* Shifts destination:source:destination, so that a 16-bit shift by more than 16 - left undefined by the manual - gives
 * what Intel's CPUs and the engine give. */
static struct shifted shift_double(bool left, uint64_t destination, uint64_t source, unsigned bits, unsigned count)
{
    struct shifted s = {.value = destination};
    uint64_t mask = c2_mask(0, bits - 1), next = source, after = destination;
    for (; count > 0; count--) {
        unsigned out = left ? bits - 1 : 0, in = bits - 1 - out;
        s.carry = bits_bit_of(s.value, out);
        s.value = (left ? s.value << 1 : s.value >> 1) & mask;
        s.value |= (uint64_t)bits_bit_of(next, out) << in;
        next = (left ? next << 1 : next >> 1) & mask;
        next |= (uint64_t)bits_bit_of(after, out) << in;
        after = (left ? after << 1 : after >> 1) & mask;
    }
    s.overflow = bits_bit_of(s.value ^ destination, bits - 1);
    return s;
}

void interpret_shift_double(struct interpret_run *run)
{
    struct interpret_value v, source, by;
    if (!interpret_get(run, 0, MMU_ACCESS_WRITE, &v) || !interpret_get(run, 1, MMU_ACCESS_READ, &source) ||
        !interpret_get(run, 2, MMU_ACCESS_READ, &by))
        return;
    unsigned bits = bits_of_operand(run, 0), count = masked_count(by.value, bits);
    if (count == 0) {
        interpret_put(run, 0, &v);
        return;
    }
    bool left = run->insn->mnemonic == ZYDIS_MNEMONIC_SHLD;
    finish_shift(run, &v, shift_double(left, v.value, source.value, bits, count), true);
}

void interpret_neg(struct interpret_run *run)
{
    struct interpret_value v;
    if (!interpret_get(run, 0, MMU_ACCESS_WRITE, &v))
        return;
    interpret_change_flags(run, FLAGS_STATUS, interpret_flags_of_subtraction(0, v.value, bits_of_operand(run, 0)));
    v.value = 0 - v.value;
    interpret_put(run, 0, &v);
}
