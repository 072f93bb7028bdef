/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * alone: which instructions are a block of their own, by the rule of stream.h. That lies in what an instruction is, and
 * not in what some engine can do: with all of them blocks are the same.
 *
 * Source
 *   Intel SDM volume 2, through Zydis 4.0.
 */
#include "engine/decode.h"

#include "interpret/interpret.h"

/* What they give is the host's, in place of which the guest gets something else. */
#define OF_THE_HOST(X) X(CPUID) X(XGETBV) X(RDTSC) X(RDTSCP)

/* They are there for the exception that they raise, or a program may not execute them. */
/* clang-format off */
#define TRAPS(X) \
    X(INT3) X(INT1) X(INT) X(UD0) X(UD1) X(UD2) X(HLT) X(CLI) X(STI) X(IN) X(OUT) X(INSB) X(INSW) X(INSD) X(OUTSB) \
    X(OUTSW) X(OUTSD) X(RDMSR) X(WRMSR) X(RDPMC) X(LGDT) X(LIDT) X(LLDT) X(LTR) X(LMSW) X(CLTS) X(INVD) X(WBINVD) \
    X(INVLPG) X(SWAPGS) X(SYSRET) X(SYSEXIT)
/* clang-format on */

/* Behind them every instruction may end in a trap (TF). */
#define CHANGES_HOW_IT_RUNS(X) X(POPF) X(POPFQ) X(IRET) X(IRETD) X(IRETQ)

/* CPUs differ in what they give, so it is calculated. */
#define APPROXIMATE(X) \
    X(RCPPS) X(RCPSS) X(RSQRTPS) X(RSQRTSS) X(FSIN) X(FCOS) X(FSINCOS) X(FPTAN) X(FPATAN) X(F2XM1) X(FYL2X) X(FYL2XP1)

/* They load or store the state of a unit as one piece. */
#define IMAGES(X) \
    X(FXSAVE) \
    X(FXSAVE64) \
    X(FXRSTOR) X(FXRSTOR64) X(FNSTENV) X(FLDENV) X(FNSAVE) X(FRSTOR) X(XSAVE) X(XSAVE64) X(XRSTOR) X(XRSTOR64)

#define ALONE(mnemonic) [ZYDIS_MNEMONIC_##mnemonic] = true,
static const bool alone[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {OF_THE_HOST(ALONE) TRAPS(ALONE) CHANGES_HOW_IT_RUNS(ALONE)
                                                             APPROXIMATE(ALONE) IMAGES(ALONE)};

/* Segment registers (their selectors are made up), control and debug registers (privileged). */
static bool moves_system_register(const struct decode_insn *insn)
{
    C2_PROMISE(insn->insn.operand_count_visible <= ZYDIS_MAX_OPERAND_COUNT);
    for (unsigned i = 0; insn->insn.mnemonic == ZYDIS_MNEMONIC_MOV && i < insn->insn.operand_count_visible; i++) {
        const ZydisDecodedOperand *operand = &insn->operands[i];
        const ZydisRegisterClass class = operand->type == ZYDIS_OPERAND_TYPE_REGISTER
                                             ? ZydisRegisterGetClass(operand->reg.value)
                                             : ZYDIS_REGCLASS_INVALID;
        if (class == ZYDIS_REGCLASS_SEGMENT || class == ZYDIS_REGCLASS_CONTROL || class == ZYDIS_REGCLASS_DEBUG)
            return true;
    }
    return false;
}

/* They load CS, and what the host would do with the guest's selector is the host's. */
static bool branches_far(const ZydisDecodedInstruction *insn)
{
    return insn->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
}

/* Of 16 bits shifted by more than 16 CPUs leave different ones. */
static bool shifts_two_words(const ZydisDecodedInstruction *insn)
{
    return (insn->mnemonic == ZYDIS_MNEMONIC_SHLD || insn->mnemonic == ZYDIS_MNEMONIC_SHRD) &&
           insn->operand_width == 16;
}

bool decode_is_alone(const struct decode_insn *insn, const struct cpu_model *cpu)
{
    C2_PROMISE(insn->insn.mnemonic <= ZYDIS_MNEMONIC_MAX_VALUE);
    return alone[insn->insn.mnemonic] || branches_far(&insn->insn) || shifts_two_words(&insn->insn) ||
           moves_system_register(insn) || interpret_is_rep_string(&insn->insn) ||
           interpret_is_masked(&insn->insn, insn->operands) || interpret_is_foreign(&insn->insn) ||
           interpret_enter_level(&insn->insn, insn->operands) > 0 ||
           interpret_refused(cpu, &insn->insn, insn->operands);
}
