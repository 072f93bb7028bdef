/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   PCMPESTRI, PCMPESTRM, PCMPISTRI, PCMPISTRM in five steps: lengths of both strings, comparison of all pairs,
 *   aggregation by one of four rules, polarity, and the result as an index or a mask.
 * Source
 *   Intel SDM volume 1, 14.12 (STTNI), volume 2, 4.1 (imm8 control byte).
 */
#include "interpret/interpret_priv.h"

/* The control byte. */
enum { EQUAL_ANY, RANGES, EQUAL_EACH, EQUAL_ORDERED };
static bool is_words(uint8_t control) { return control & 1; }
static bool is_signed(uint8_t control) { return control & 2; }
static unsigned aggregation(uint8_t control) { return control >> 2 & 3; }
static bool is_negative(uint8_t control) { return control & 0x10; }
static bool is_masked(uint8_t control) { return control & 0x20; }
static bool wants_last_or_expanded(uint8_t control) { return control & 0x40; }

struct text {
    int32_t at[16];
    unsigned valid; /* elements before the end */
};

static unsigned element_count(uint8_t control) { return is_words(control) ? 8 : 16; }

static struct text pcmpstr_text_of(const uint8_t bytes[16], uint8_t control)
{
    struct text t = {.valid = 0};
    for (unsigned i = 0; i < element_count(control); i++) {
        uint32_t raw = is_words(control) ? bytes[2 * i] | (uint32_t)bytes[2 * i + 1] << 8 : bytes[i];
        if (is_signed(control))
            t.at[i] = is_words(control) ? (int16_t)raw : (int8_t)raw;
        else
            t.at[i] = (int32_t)raw;
    }
    return t;
}

/* The length of an explicit-length string: the absolute value of EAX or EDX (RAX, RDX with REX.W), at most all. */
static unsigned explicit_length(const struct interpret_run *run, unsigned gpr, uint8_t control)
{
    uint64_t raw = run->cpu->get_gpr(run->cpu->self, gpr);
    bool wide = run->insn->operand_width == 64;
    int64_t length = wide ? (int64_t)raw : (int32_t)raw;
    uint64_t absolute = length < 0 ? 0 - (uint64_t)length : (uint64_t)length;
    return absolute > element_count(control) ? element_count(control) : (unsigned)absolute;
}

static unsigned implicit_length(const struct text *t, uint8_t control)
{
    unsigned i = 0;
    while (i < element_count(control) && t->at[i] != 0)
        i++;
    return i;
}

static bool any_equal(const struct text *set, int32_t value)
{
    for (unsigned i = 0; i < set->valid; i++)
        if (set->at[i] == value)
            return true;
    return false;
}

static bool in_ranges(const struct text *bounds, int32_t value)
{
    for (unsigned i = 0; i + 1 < bounds->valid; i += 2) /* a lower bound without an upper one is no range */
        if (bounds->at[i] <= value && value <= bounds->at[i + 1])
            return true;
    return false;
}

static bool equal_at(const struct text *a, const struct text *b, unsigned i)
{
    bool a_valid = i < a->valid, b_valid = i < b->valid;
    return a_valid && b_valid ? a->at[i] == b->at[i] : a_valid == b_valid;
}

/* The needle lies in the haystack from `start` on, as far as the haystack's register reaches. */
static bool begins_at(const struct text *needle, const struct text *haystack, unsigned start, unsigned elements)
{
    for (unsigned i = 0; i < needle->valid && start + i < elements; i++)
        if (start + i >= haystack->valid || needle->at[i] != haystack->at[start + i])
            return false;
    return true;
}

static uint32_t aggregate(const struct text *a, const struct text *b, uint8_t control)
{
    uint32_t result = 0;
    for (unsigned i = 0; i < element_count(control); i++) {
        bool hit = false;
        switch (aggregation(control)) {
        case EQUAL_ANY:
            hit = i < b->valid && any_equal(a, b->at[i]);
            break;
        case RANGES:
            hit = i < b->valid && in_ranges(a, b->at[i]);
            break;
        case EQUAL_EACH:
            hit = equal_at(a, b, i);
            break;
        case EQUAL_ORDERED:
            hit = begins_at(a, b, i, element_count(control));
            break;
        }
        result |= (uint32_t)hit << i;
    }
    return result;
}

static uint32_t with_polarity(uint32_t result, const struct text *b, uint8_t control)
{
    if (!is_negative(control))
        return result;
    unsigned inverted = is_masked(control) ? b->valid : element_count(control);
    return result ^ (uint32_t)(((uint64_t)1 << inverted) - 1);
}

static void give_index(struct interpret_run *run, uint32_t result, uint8_t control)
{
    unsigned index = element_count(control);
    if (result != 0)
        index = wants_last_or_expanded(control) ? c2_log2(result) : (unsigned)__builtin_ctz(result);
    run->cpu->set_gpr(run->cpu->self, RCX, index);
}

static void give_mask(struct interpret_run *run, uint32_t result, uint8_t control)
{
    uint8_t mask[16] = {0};
    unsigned element_bytes = is_words(control) ? 2 : 1;
    if (!wants_last_or_expanded(control)) {
        mask[0] = (uint8_t)result;
        mask[1] = (uint8_t)(result >> 8);
    } else {
        for (unsigned i = 0; i < 16; i++)
            mask[i] = result >> (i / element_bytes) & 1 ? 0xff : 0;
    }
    run->cpu->set_xmm(run->cpu->self, 0, mask);
}

static bool load_strings(struct interpret_run *run, uint8_t first[16], uint8_t second[16])
{
    const struct interpret_cpu *cpu = run->cpu;
    cpu->get_xmm(cpu->self, (unsigned)ZydisRegisterGetId(run->operands[0].reg.value), first);
    if (!interpret_is_memory(&run->operands[1])) {
        cpu->get_xmm(cpu->self, (unsigned)ZydisRegisterGetId(run->operands[1].reg.value), second);
        return true;
    }
    uint64_t address;
    if (!interpret_place(run, 1, MMU_ACCESS_READ, &address))
        return false;
    memcpy(second, (const void *)(uintptr_t)address, 16);
    return true;
}

void interpret_pcmpstr(struct interpret_run *run)
{
    uint8_t first[16], second[16], control = (uint8_t)run->operands[2].imm.value.u;
    ZydisMnemonic mnemonic = run->insn->mnemonic;
    bool is_explicit = mnemonic == ZYDIS_MNEMONIC_PCMPESTRI || mnemonic == ZYDIS_MNEMONIC_PCMPESTRM;
    if (!load_strings(run, first, second))
        return;
    struct text a = pcmpstr_text_of(first, control), b = pcmpstr_text_of(second, control);
    a.valid = is_explicit ? explicit_length(run, RAX, control) : implicit_length(&a, control);
    b.valid = is_explicit ? explicit_length(run, RDX, control) : implicit_length(&b, control);

    uint32_t result = with_polarity(aggregate(&a, &b, control), &b, control);
    if (mnemonic == ZYDIS_MNEMONIC_PCMPESTRI || mnemonic == ZYDIS_MNEMONIC_PCMPISTRI)
        give_index(run, result, control);
    else
        give_mask(run, result, control);
    interpret_change_flags(run, FLAGS_STATUS,
                           (result != 0 ? FLAG_CF : 0) | (b.valid < element_count(control) ? FLAG_ZF : 0) |
                               (a.valid < element_count(control) ? FLAG_SF : 0) | (result & 1 ? FLAG_OF : 0));
}
