/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * flops: the floating-point operations of one instruction.
 *
 * Model
 *   One operation is one addition, subtraction, multiplication, division, square root, minimum, maximum or approximate
 *   reciprocal (of a square root) of two numbers or one, in one lane. A fused multiplication and addition is two. A
 *   horizontal addition is one for each result; a dot product is the products that its immediate selects, and the
 *   additions that sum these up. Of x87 what computes is one, transcendental functions as well (FSINCOS two).
 *   None: moves, conversions, comparisons, roundings, signs and logic on the bits of numbers.
 * Counting
 *   Lanes are the destination's width by the element's, 1 of a scalar form. Of legacy SSE, VEX and EVEX forms alike;
 *   how many lanes a mask register leaves is not in the code. No engine executes EVEX forms.
 * Source
 *   Intel SDM volume 2; which operations are counted, and that FMA is two, is FP_ARITH_INST_RETIRED's choice (volume
 *   3B), but for the dot products, which it takes for two operations a lane.
 */
#include <string.h>

#include "engine/decode.h"

struct row {
    const char *name; /* of a mnemonic: of vectors without V before it and the element behind it */
    unsigned flops;   /* a lane */
};

static const struct row vectors[] = {
    {"add", 1},         {"sub", 1},         {"mul", 1},         {"div", 1},         {"sqrt", 1},
    {"min", 1},         {"max", 1},         {"rcp", 1},         {"rsqrt", 1},       {"rcp14", 1},
    {"rsqrt14", 1},     {"addsub", 1},      {"hadd", 1},        {"hsub", 1},        {"fmadd132", 2},
    {"fmadd213", 2},    {"fmadd231", 2},    {"fmsub132", 2},    {"fmsub213", 2},    {"fmsub231", 2},
    {"fnmadd132", 2},   {"fnmadd213", 2},   {"fnmadd231", 2},   {"fnmsub132", 2},   {"fnmsub213", 2},
    {"fnmsub231", 2},   {"fmaddsub132", 2}, {"fmaddsub213", 2}, {"fmaddsub231", 2}, {"fmsubadd132", 2},
    {"fmsubadd213", 2}, {"fmsubadd231", 2},
};

static const struct row x87[] = {
    {"fadd", 1},   {"faddp", 1},  {"fiadd", 1},  {"fsub", 1},    {"fsubp", 1},   {"fisub", 1},
    {"fsubr", 1},  {"fsubrp", 1}, {"fisubr", 1}, {"fmul", 1},    {"fmulp", 1},   {"fimul", 1},
    {"fdiv", 1},   {"fdivp", 1},  {"fidiv", 1},  {"fdivr", 1},   {"fdivrp", 1},  {"fidivr", 1},
    {"fsqrt", 1},  {"fprem", 1},  {"fprem1", 1}, {"fsin", 1},    {"fcos", 1},    {"fptan", 1},
    {"fpatan", 1}, {"f2xm1", 1},  {"fyl2x", 1},  {"fyl2xp1", 1}, {"fsincos", 2},
};

static unsigned flops_find(const struct row *rows, size_t count, const char *name, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(rows[i].name) == length && strncmp(rows[i].name, name, length) == 0)
            return rows[i].flops;
    return 0;
}

/* Of each 128 bits: the products that the upper half of the immediate selects. */
static unsigned dot_product(const struct decode_insn *insn, unsigned elements)
{
    C2_PROMISE(insn->insn.operand_count_visible > 1 && (elements == 2 || elements == 4));
    const unsigned last = insn->insn.operand_count_visible - 1u;
    const unsigned selected = insn->operands[last].imm.value.u >> 4 & ((1u << elements) - 1);
    const unsigned products = (unsigned)__builtin_popcount(selected);
    return products == 0 ? 0 : (2 * products - 1) * (insn->operands[0].size / 128u);
}

/* NAMEps, pd, ss, sd. */
static unsigned of_vector(const struct decode_insn *insn, const char *name)
{
    const size_t length = strlen(name);
    if (length < 4)
        return 0;
    const char width = name[length - 2], type = name[length - 1];
    if ((width != 'p' && width != 's') || (type != 's' && type != 'd'))
        return 0;
    const unsigned bits = type == 's' ? 32 : 64;
    if (length == 4 && strncmp(name, "dp", 2) == 0)
        return dot_product(insn, 128 / bits);
    const unsigned lanes = width == 's' ? 1 : insn->operands[0].size / bits;
    const unsigned flops = lanes * flops_find(vectors, sizeof vectors / sizeof vectors[0], name, length - 2);
    C2_PROMISE(flops <= UINT8_MAX); /* struct stream_insn */
    return flops;
}

unsigned decode_flops(const struct decode_insn *insn)
{
    const ZydisISAExt from = insn->insn.meta.isa_ext;
    if (from == ZYDIS_ISA_EXT_BASE)
        return 0;
    const char *name = ZydisMnemonicGetString(insn->insn.mnemonic);
    if (from == ZYDIS_ISA_EXT_X87)
        return flops_find(x87, sizeof x87 / sizeof x87[0], name, strlen(name));
    return of_vector(insn, name[0] == 'v' ? name + 1 : name);
}
