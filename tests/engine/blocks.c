/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/blocks.h"

#include <string.h>

#include <Zydis/Zydis.h>

#include "interpret/interpret.h"

enum insn_kind { NO_INSN, ALONE, ORDINARY, LEAVES };

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

/* By name: all conditional jumps begin with a j, and nothing else does. */
static bool leaves(ZydisMnemonic mnemonic)
{
    static const char *const names[] = {"call", "ret", "loop", "loope", "loopne", "syscall", "pause", NULL};
    const char *name = ZydisMnemonicGetString(mnemonic);
    return name[0] == 'j' || is_one_of(name, names);
}

static bool repeats(const ZydisDecodedInstruction *insn)
{
    const ZydisInstructionAttributes any = ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
    return insn->meta.category == ZYDIS_CATEGORY_STRINGOP && insn->attributes & any;
}

/* Of what may stand in a program. */
static bool is_alone(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands,
                     const struct cpu_model *model)
{
    static const char *const names[] = {
        "cpuid",   "rdtsc", "rdtscp", "popf",  "popfq", "rcpps",  "rcpss",   "rsqrtps", "fsin",   "rsqrtss", "fcos",
        "fsincos", "fptan", "fpatan", "f2xm1", "fyl2x", "fldenv", "fyl2xp1", "fnsave",  "frstor", "fnstenv", "ud0",
        "ud1",     "ud2",   "int3",   "int",   "int1",  "hlt",    "in",      "out",     "cli",    NULL};
    const char *name = ZydisMnemonicGetString(insn->mnemonic);
    const bool selector = strcmp(name, "mov") == 0 && operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                          ZydisRegisterGetClass(operands[1].reg.value) == ZYDIS_REGCLASS_SEGMENT;
    return selector || repeats(insn) || is_one_of(name, names) || strncmp(name, "fxsave", 6) == 0 ||
           strncmp(name, "fxrstor", 7) == 0 || interpret_is_masked(insn, operands) || interpret_is_foreign(insn) ||
           (strcmp(name, "enter") == 0 && operands[1].imm.value.u % 32 != 0) ||
           interpret_refused(model, insn, operands);
}

static enum insn_kind kind_at(uint64_t pc, const struct cpu_model *model, unsigned *length)
{
    static ZydisDecoder decoder;
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, (const void *)(uintptr_t)pc, ZYDIS_MAX_INSTRUCTION_LENGTH, &insn,
                                             operands)))
        return NO_INSN;
    *length = insn.length;
    if (is_alone(&insn, operands, model))
        return ALONE;
    return leaves(insn.mnemonic) ? LEAVES : ORDINARY;
}

bool blocks_cut_by_rule(const struct stream_block *block, const struct c2_map *starts, const struct cpu_model *model)
{
    uint64_t pc = block->pc.v;
    unsigned insns = 0, length = 0;
    enum insn_kind kind;
    uint64_t ignored;
    do {
        kind = kind_at(pc, model, &length);
        if (kind == NO_INSN || (kind == ALONE && insns > 0))
            break;
        if (insns >= block->insn_count || pc - block->pc.v != block->insns[insns].offset ||
            length != block->insns[insns].length)
            return false;
        pc += length;
        insns++;
        if (insns == block->insn_count && starts && c2_map_get(starts, pc, &ignored))
            return true;
    } while (kind == ORDINARY && insns < 512);
    return insns == block->insn_count;
}
