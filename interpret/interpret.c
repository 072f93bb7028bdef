/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Each instruction is judged once, by its form alone: it is the engine's to execute, or it is interpreted here, or
 *   it is refused. The judgement is an allowlist (interpret_forms.c): what is not known to come out right is refused
 *   by name.
 * Invariants
 *   interpret_wants() and interpret_execute() judge by the same function, so that they cannot disagree.
 * Not modelled
 *   See the cards of the files that interpret: _string, _bits, _flags, _sse, _x87, _transcendental, _fpstate, _system,
 *   _far.
 */
#include "interpret/interpret_priv.h"

enum verdict { VERDICT_NATIVE, VERDICT_RUN, VERDICT_REFUSED };

struct judgement {
    enum verdict verdict;
    interpret_handler *run;
    const char *reason; /* REFUSED */
};

static bool has_prefix(const ZydisDecodedInstruction *insn, uint8_t value)
{
    for (unsigned i = 0; i < insn->raw.prefix_count; i++)
        if (insn->raw.prefixes[i].value == value)
            return true;
    return false;
}

static bool uses_segment_register(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
    for (unsigned i = 0; i < insn->operand_count_visible; i++)
        if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            ZydisRegisterGetClass(operands[i].reg.value) == ZYDIS_REGCLASS_SEGMENT)
            return true;
    return false;
}

/* REX.R or REX.B on an MMX register means nothing to a CPU. */
static bool extends_mmx(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
    if (!(insn->attributes & ZYDIS_ATTRIB_HAS_REX))
        return false;
    for (unsigned i = 0; i < insn->operand_count_visible; i++) {
        const ZydisDecodedOperand *o = &operands[i];
        bool mmx = o->type == ZYDIS_OPERAND_TYPE_REGISTER && ZydisRegisterGetClass(o->reg.value) == ZYDIS_REGCLASS_MMX;
        if (mmx && (o->encoding == ZYDIS_OPERAND_ENCODING_MODRM_REG ? insn->raw.rex.R : insn->raw.rex.B))
            return true;
    }
    return false;
}

static bool is_near_branch(const ZydisDecodedInstruction *insn)
{
    return insn->meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR || insn->meta.branch_type == ZYDIS_BRANCH_TYPE_SHORT;
}

/* ------------------------------------------------------------------ prefixes that decoders read differently
 * A CPU ignores a REX prefix that does not stand right before the opcode, prefers F2 and F3 to 66 where they choose
 * between instructions, and ignores CS, DS, ES and SS; engines may not, and for some combinations the manuals promise
 * nothing. Compilers use none of them. */

static bool is_rex(uint8_t prefix) { return (prefix & 0xf0) == 0x40; }
static bool is_segment(uint8_t prefix) { return (prefix & 0xe7) == 0x26 || prefix == 0x64 || prefix == 0x65; }

static bool rex_before_prefix(const ZydisDecodedInstruction *insn)
{
    for (unsigned i = 0; i + 1 < insn->raw.prefix_count; i++)
        if (is_rex(insn->raw.prefixes[i].value))
            return true;
    return false;
}

/* FS or GS, and behind it another one. */
static bool segment_overridden(const ZydisDecodedInstruction *insn)
{
    uint8_t used = 0;
    for (unsigned i = 0; i < insn->raw.prefix_count; i++) {
        uint8_t prefix = insn->raw.prefixes[i].value;
        if (is_segment(prefix) && used && prefix != used)
            return true;
        if (prefix == 0x64 || prefix == 0x65)
            used = prefix;
    }
    return false;
}

/* Instructions that F2 or F3 choose or repeat and whose operand size 66 chooses. */
static bool takes_66_and_repeat(const ZydisDecodedInstruction *insn)
{
    switch (insn->mnemonic) {
    case ZYDIS_MNEMONIC_POPCNT:
    case ZYDIS_MNEMONIC_LZCNT:
    case ZYDIS_MNEMONIC_TZCNT:
    case ZYDIS_MNEMONIC_CRC32:
    case ZYDIS_MNEMONIC_PAUSE:
        return true;
    default:
        return interpret_is_rep_string(insn);
    }
}

static const char *refused_prefixes(const ZydisDecodedInstruction *insn)
{
    bool f2 = has_prefix(insn, 0xf2), f3 = has_prefix(insn, 0xf3);
    if (insn->raw.prefix_count < 2)
        return NULL;
    if (rex_before_prefix(insn))
        return "a REX prefix in front of another prefix is not modelled";
    if (segment_overridden(insn))
        return "two segment prefixes, the first of them FS or GS, are not modelled";
    if (f2 && f3)
        return "F2 and F3 on the same instruction are not modelled";
    if ((f2 || f3) && has_prefix(insn, 0x66) && !takes_66_and_repeat(insn))
        return "66 together with F2 or F3 is not modelled on this instruction: CPUs and decoders differ on it";
    return NULL;
}

/* Reasons that lie in prefixes and operands, whatever the mnemonic; NULL: none. */
static const char *refused_shape(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
    const char *prefixes = refused_prefixes(insn);
    if (prefixes)
        return prefixes;
    if (insn->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR && insn->mnemonic != ZYDIS_MNEMONIC_RET && insn->raw.rex.W)
        return "far calls and jumps by a pointer of 64 bits are not modelled: CPUs of different makers differ on them";
    if (is_near_branch(insn) && has_prefix(insn, 0x66) && !(insn->attributes & ZYDIS_ATTRIB_HAS_REX && insn->raw.rex.W))
        return "a near branch with an operand-size prefix (66h) is not modelled: CPUs of different makers differ on it";
    bool reads_segment = insn->mnemonic == ZYDIS_MNEMONIC_MOV && operands[0].type != ZYDIS_OPERAND_TYPE_UNUSED &&
                         !(operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                           ZydisRegisterGetClass(operands[0].reg.value) == ZYDIS_REGCLASS_SEGMENT);
    if (uses_segment_register(insn, operands) && !reads_segment)
        return "loading, pushing and popping segment registers is not modelled";
    if (extends_mmx(insn, operands))
        return "a REX prefix that extends an MMX register is not modelled";
    return NULL;
}

/* Of one that a processor with some feature has, or refuses. */
static struct judgement judge_extension(const struct cpu_model *model, const ZydisDecodedInstruction *insn)
{
    const char *reason = interpret_extension_refused(model, insn);
    if (reason)
        return (struct judgement){.verdict = VERDICT_REFUSED, .reason = reason};
    interpret_handler *run = interpret_form_of(insn->mnemonic)->run;
    return (struct judgement){.verdict = run ? VERDICT_RUN : VERDICT_NATIVE, .run = run};
}

/* POPCNT, LZCNT and TZCNT of VEX, and others, were those of the first Xeon Phi, which was no x86-64 processor. */
bool interpret_is_foreign(const ZydisDecodedInstruction *insn) { return insn->meta.isa_ext == ZYDIS_ISA_EXT_KNC; }

static struct judgement interpret_judge(const struct cpu_model *model, const ZydisDecodedInstruction *insn,
                                        const ZydisDecodedOperand *operands)
{
    if (interpret_is_foreign(insn))
        return (struct judgement){.verdict = VERDICT_RUN, .run = interpret_undefined};
    const char *reason = refused_shape(insn, operands);
    if (reason)
        return (struct judgement){.verdict = VERDICT_REFUSED, .reason = reason};
    if (interpret_is_rep_string(insn))
        return (struct judgement){.verdict = VERDICT_RUN, .run = interpret_rep_string};
    if (interpret_is_extension(insn))
        return judge_extension(model, insn);
    const struct interpret_form *form = interpret_form_of(insn->mnemonic);
    if (form->not &&form->not(insn, operands))
        return (struct judgement){.verdict = VERDICT_REFUSED, .reason = form->refusal};
    if (form->run && (!form->only || form->only(insn, operands)))
        return (struct judgement){.verdict = VERDICT_RUN, .run = form->run};
    if (form->native)
        return (struct judgement){.verdict = VERDICT_NATIVE};
    reason = form->refusal ? form->refusal : interpret_refusal(insn);
    return (struct judgement){.verdict = VERDICT_REFUSED, .reason = reason};
}

bool interpret_wants(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands)
{
    return interpret_judge(NULL, insn, operands).verdict != VERDICT_NATIVE;
}

const char *interpret_refused(const struct cpu_model *model, const ZydisDecodedInstruction *insn,
                              const ZydisDecodedOperand *operands)
{
    return interpret_judge(model, insn, operands).reason;
}

void interpret_execute(const struct interpret_cpu *cpu, struct guest_va pc, const ZydisDecodedInstruction *insn,
                       const ZydisDecodedOperand *operands, struct interpret_effect *effect)
{
    struct judgement judgement = interpret_judge(cpu->model, insn, operands);
    struct interpret_run run = {.cpu = cpu, .pc = pc, .insn = insn, .operands = operands, .effect = effect};
    C2_ASSERT(judgement.verdict != VERDICT_NATIVE);
    *effect = (struct interpret_effect){.status = INTERPRET_DONE};
    if (judgement.verdict == VERDICT_REFUSED)
        interpret_refuse(&run, judgement.reason);
    else
        judgement.run(&run);
}
