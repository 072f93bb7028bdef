/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   An instruction is copied byte by byte. Only what is relative to RIP is written anew: as an absolute address where
 *   a displacement has it (below 2 GiB), as are programs and libraries; else through a free register. GS, which is the
 *   context's, is the guest's for the one instruction that has a place behind it. Where instructions cannot set bases
 *   (native_sets_bases) what lies behind FS or GS is addressed through a free register, too. Effective addresses are
 *   calculated by LEA, which changes no flag, from registers as they are before the instruction; the rules are those
 *   of interpret_address(), which calculates the rest of them in C.
 * Source
 *   Intel SDM volume 2, 2.1.5, 2.2.1 (RIP-relative addressing: 2.2.1.6).
 */
#include <string.h>

#include "native/translate_priv.h"

enum { MODRM_RIP = 5, MODRM_SIB = 4, SIB_ABSOLUTE = 0x25 };

static bool operands_is_memory(const ZydisDecodedOperand *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->mem.type == ZYDIS_MEMOP_TYPE_MEM;
}

/* ------------------------------------------------------------------ registers */

static unsigned operands_look_up(ZydisRegister reg)
{
    C2_PROMISE(reg <= ZYDIS_REGISTER_MAX_VALUE);
    if (reg == ZYDIS_REGISTER_NONE || reg == ZYDIS_REGISTER_RIP || reg == ZYDIS_REGISTER_EIP)
        return NATIVE_NO_REGISTER;
    const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    if (ZydisRegisterGetClass(whole) != ZYDIS_REGCLASS_GPR64)
        return NATIVE_NO_REGISTER;
    return (unsigned)ZydisRegisterGetId(whole);
}

/* It is asked ten times an instruction. */
static unsigned operands_number_of(ZydisRegister reg)
{
    C2_PROMISE(reg <= ZYDIS_REGISTER_MAX_VALUE);
    static uint8_t numbers[ZYDIS_REGISTER_MAX_VALUE + 1];
    static bool known;
    for (unsigned i = 0; !known && i <= ZYDIS_REGISTER_MAX_VALUE; i++)
        numbers[i] = (uint8_t)operands_look_up((ZydisRegister)i);
    known = true;
    return numbers[reg];
}

static unsigned operands_bit_of(ZydisRegister reg)
{
    const unsigned number = operands_number_of(reg);
    return number < NATIVE_NO_REGISTER ? 1u << number : 0;
}

/* The general registers that it reads, writes or addresses by, a bit each; of these *written may be other ones then. */
static unsigned native_registers(const struct decode_insn *insn, unsigned *written)
{
    C2_PROMISE(insn->insn.operand_count <= ZYDIS_MAX_OPERAND_COUNT);
    unsigned registers = 0;
    *written = 0;
    for (unsigned i = 0; i < insn->insn.operand_count; i++) {
        const ZydisDecodedOperand *o = &insn->operands[i];
        const unsigned bit = o->type == ZYDIS_OPERAND_TYPE_REGISTER ? operands_bit_of(o->reg.value) : 0;
        registers |= bit;
        if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
            *written |= bit;
        if (o->type == ZYDIS_OPERAND_TYPE_MEMORY)
            registers |= operands_bit_of(o->mem.base) | operands_bit_of(o->mem.index);
    }
    if (insn->insn.mnemonic == ZYDIS_MNEMONIC_XLAT)
        registers |= 1u << NATIVE_RAX | 1u << NATIVE_RBX;
    return registers;
}

/* ------------------------------------------------------------------ which operand a slot is of */

static bool only_reads(const ZydisDecodedOperand *operand)
{
    return !(operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE);
}

enum { OPERANDS_IN_MEMORY = 4 };

/* In the order of decode_slots. */
const ZydisDecodedOperand *native_operand(const struct decode_insn *insn, unsigned slot)
{
    C2_PROMISE(slot < OPERANDS_IN_MEMORY);
    const ZydisDecodedOperand *found[OPERANDS_IN_MEMORY] = {NULL};
    unsigned count = 0;
    for (unsigned i = 0; i < insn->insn.operand_count && count < OPERANDS_IN_MEMORY; i++)
        if (operands_is_memory(&insn->operands[i]))
            found[count++] = &insn->operands[i];
    const ZydisDecodedOperand *source = decode_compared_source(insn);
    const bool swapped = count == 2 && (source ? found[1] == source : only_reads(found[1]) && !only_reads(found[0]));
    return slot >= count ? NULL : found[swapped ? 1 - slot : slot];
}

/* ------------------------------------------------------------------ what cannot be done here */

static bool has_segment(const ZydisDecodedOperand *operand, ZydisRegister segment)
{
    return operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->mem.segment == segment;
}

static bool is_behind_gs(const struct decode_insn *insn)
{
    for (unsigned i = 0; i < insn->insn.operand_count; i++)
        if (has_segment(&insn->operands[i], ZYDIS_REGISTER_GS) && operands_is_memory(&insn->operands[i]))
            return true;
    return false;
}

static bool has_base_of_segment(const ZydisDecodedOperand *operand)
{
    return has_segment(operand, ZYDIS_REGISTER_FS) || has_segment(operand, ZYDIS_REGISTER_GS);
}

/* The operand behind FS or GS, where the host's processor has neither base; else NULL. */
static const ZydisDecodedOperand *native_based(const struct decode_insn *insn)
{
    for (unsigned i = 0; i < insn->insn.operand_count && !native_sets_bases(); i++)
        if (has_base_of_segment(&insn->operands[i]) && operands_is_memory(&insn->operands[i]))
            return &insn->operands[i];
    return NULL;
}

static bool is_in_modrm(const ZydisDecodedOperand *operand)
{
    return operand->encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM;
}

/* It would show more of the host's flags than the guest may see. */
static bool pushes_flags(const ZydisDecodedInstruction *insn)
{
    return insn->mnemonic == ZYDIS_MNEMONIC_PUSHF || insn->mnemonic == ZYDIS_MNEMONIC_PUSHFQ;
}

static bool is_bit_test(const ZydisDecodedInstruction *insn)
{
    return insn->mnemonic == ZYDIS_MNEMONIC_BT || insn->mnemonic == ZYDIS_MNEMONIC_BTS ||
           insn->mnemonic == ZYDIS_MNEMONIC_BTR || insn->mnemonic == ZYDIS_MNEMONIC_BTC;
}

/* Whether the address is more than a sum that LEA has. */
static bool is_odd(const struct decode_insn *insn, const ZydisDecodedOperand *operand)
{
    C2_PROMISE(operands_is_memory(operand));
    const bool segment = has_segment(operand, ZYDIS_REGISTER_FS) || has_segment(operand, ZYDIS_REGISTER_GS);
    return insn->insn.mnemonic == ZYDIS_MNEMONIC_XLAT ||
           (is_bit_test(&insn->insn) && insn->operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER) ||
           (insn->insn.address_width != 64 && (segment || operand->visibility != ZYDIS_OPERAND_VISIBILITY_EXPLICIT)) ||
           operand->mem.base == ZYDIS_REGISTER_EIP;
}

static bool has_odd_address(const struct decode_insn *insn)
{
    for (unsigned i = 0; i < insn->insn.operand_count; i++)
        if (operands_is_memory(&insn->operands[i]) && is_odd(insn, &insn->operands[i]))
            return true;
    return false;
}

/* ------------------------------------------------------------------ places */

static bool is_relative(const ZydisDecodedInstruction *insn)
{
    return (insn->attributes & ZYDIS_ATTRIB_HAS_MODRM) && insn->raw.modrm.mod == 0 && insn->raw.modrm.rm == MODRM_RIP;
}

/* Their last bytes, but for an immediate behind a displacement, are what Zydis has. */
uint64_t native_distant(const struct translated *t)
{
    C2_PROMISE(t->form.relative || t->form.branch != NATIVE_OTHER);
    const uint8_t *bytes = (const uint8_t *)(uintptr_t)t->pc;
    int32_t distance = (int8_t)bytes[t->length - 1];
    if (t->form.relative)
        memcpy(&distance, bytes + t->form.modrm + 1, sizeof distance);
    else if (!t->form.near)
        memcpy(&distance, bytes + t->length - sizeof distance, sizeof distance);
    return t->pc + t->length + (uint64_t)(int64_t)distance;
}

static uint64_t relative_target(const struct translated *t)
{
    C2_PROMISE(t->form.relative);
    const uint64_t target = native_distant(t);
    return t->insn && t->insn->insn.address_width == 32 ? (uint32_t)target : target;
}

/* A displacement has it, whose sign is extended. */
static bool is_near(uint64_t address) { return (int64_t)address == (int32_t)address; }

/* What the displacement of a SIB without base is, Zydis may not say (interpret/operands.c). */
static bool native_operands_has_no_base(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operand)
{
    return (insn->attributes & ZYDIS_ATTRIB_HAS_SIB) && is_in_modrm(operand) && insn->raw.modrm.mod == 0 &&
           insn->raw.sib.base == 5;
}

/* PUSH and CALL write below RSP; POP into memory addressed by RSP uses RSP as it is behind the pop. */
static int32_t stack_offset(const struct decode_insn *insn, const ZydisDecodedOperand *operand)
{
    C2_PROMISE(operands_is_memory(operand));
    const bool hidden = operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
    if (operand->mem.base != ZYDIS_REGISTER_RSP && operand->mem.base != ZYDIS_REGISTER_ESP)
        return 0;
    if (hidden && !only_reads(operand))
        return -(int32_t)(operand->size / 8);
    return !hidden && insn->insn.mnemonic == ZYDIS_MNEMONIC_POP ? operand->size / 8 : 0;
}

/* Not of RIP-relative operands, nor of those with an address of 64 bits. */
static struct emit_place operands_place_of(const struct decode_insn *insn, const ZydisDecodedOperand *operand)
{
    C2_PROMISE(operands_is_memory(operand));
    const bool no_base = native_operands_has_no_base(&insn->insn, operand);
    const bool stack = operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
    const int64_t displacement = no_base ? insn->insn.raw.disp.value : operand->mem.disp.value;
    return (struct emit_place){
        .base = no_base ? NATIVE_NO_REGISTER : operands_number_of(operand->mem.base),
        .index = operands_number_of(operand->mem.index),
        .scale = operand->mem.index == ZYDIS_REGISTER_NONE || operand->mem.scale == 0 ? 1 : operand->mem.scale,
        .displacement = (int32_t)displacement + stack_offset(insn, operand),
        .narrow = insn->insn.address_width == 32 && !stack,
        .fs = operand->mem.segment == ZYDIS_REGISTER_FS};
}

static bool is_constant(const struct translated *t, const ZydisDecodedOperand *operand)
{
    C2_PROMISE(operands_is_memory(operand) && t->insn);
    const bool no_register = operands_number_of(operand->mem.base) == NATIVE_NO_REGISTER &&
                             operands_number_of(operand->mem.index) == NATIVE_NO_REGISTER;
    return is_relative(&t->insn->insn) && is_in_modrm(operand)
               ? true
               : no_register && !native_operands_has_no_base(&t->insn->insn, operand);
}

static uint64_t constant_of(const struct translated *t, const ZydisDecodedOperand *operand)
{
    C2_PROMISE(is_constant(t, operand));
    return is_relative(&t->insn->insn) && is_in_modrm(operand) ? relative_target(t) : (uint64_t)operand->mem.disp.value;
}

static void emit_segment_base(struct emit *e, const ZydisDecodedOperand *operand, unsigned to)
{
    C2_PROMISE(has_base_of_segment(operand) && to < NATIVE_NO_REGISTER);
    emit_get(e, to, has_segment(operand, ZYDIS_REGISTER_FS) ? CONTEXT_FS_BASE : CONTEXT_GS_BASE);
}

/* to = the address; in two steps where a segment's base comes to base and index. */
void native_emit_place(struct emit *e, const struct translated *t, const ZydisDecodedOperand *operand, unsigned to)
{
    C2_PROMISE(operands_is_memory(operand) && to < NATIVE_NO_REGISTER);
    struct emit_place place = operands_place_of(t->insn, operand);
    C2_PROMISE(!has_base_of_segment(operand) || place.index != to);
    if (!has_base_of_segment(operand)) {
        if (is_constant(t, operand))
            emit_constant(e, to, constant_of(t, operand));
        else
            emit_lea(e, to, place);
        return;
    }
    emit_segment_base(e, operand, to);
    if (is_constant(t, operand)) { /* of 32 bits, or RIP-relative and near */
        emit_lea(e, to, emit_at(to, (int32_t)constant_of(t, operand)));
        return;
    }
    if (place.base == NATIVE_RSP) /* it can be no index */
        emit_lea(e, to, (struct emit_place){.base = NATIVE_RSP, .index = to, .scale = 1});
    else if (place.base != NATIVE_NO_REGISTER)
        emit_lea(e, to, (struct emit_place){.base = to, .index = place.base, .scale = 1});
    emit_lea(e, to,
             (struct emit_place){
                 .base = to, .index = place.index, .scale = place.scale, .displacement = place.displacement});
}

static bool is_near_constant(const struct translated *t, const ZydisDecodedOperand *operand)
{
    return is_constant(t, operand) && !has_base_of_segment(operand) && is_near(constant_of(t, operand));
}

/* Whether it is what a register has. */
static bool is_bare(const struct translated *t, const ZydisDecodedOperand *operand)
{
    const struct emit_place place = operands_place_of(t->insn, operand);
    return !is_constant(t, operand) && place.index == NATIVE_NO_REGISTER && place.displacement == 0 && !place.narrow &&
           place.base != NATIVE_NO_REGISTER && !has_base_of_segment(operand);
}

void native_emit_address(struct emit *e, const struct translated *t, unsigned slot, unsigned pad, struct emit_place to)
{
    const ZydisDecodedOperand *operand = native_operand(t->insn, slot);
    C2_PROMISE(operand);
    if (is_near_constant(t, operand)) {
        emit_store_constant(e, to, (int32_t)constant_of(t, operand));
    } else if (is_bare(t, operand)) {
        emit_store(e, to, operands_place_of(t->insn, operand).base);
    } else {
        native_emit_place(e, t, operand, pad);
        emit_store(e, to, pad);
    }
}

const ZydisDecodedOperand *native_written(const struct translated *t)
{
    const ZydisDecodedOperand *found = NULL;
    for (unsigned i = 0; i < t->insn->insn.operand_count; i++) {
        const ZydisDecodedOperand *operand = &t->insn->operands[i];
        if (!operands_is_memory(operand) || only_reads(operand))
            continue;
        if (found || is_odd(t->insn, operand))
            return NULL;
        found = operand;
    }
    return found;
}

static bool address_wants_pad(const struct translated *t)
{
    const ZydisDecodedOperand *operand;
    for (unsigned i = 0; i < OPERANDS_IN_MEMORY && (operand = native_operand(t->insn, i)); i++)
        if (!is_near_constant(t, operand) && !is_bare(t, operand))
            return true;
    return false;
}

/* ------------------------------------------------------------------ instructions */

static bool is_far(const struct translated *t)
{
    const bool narrow = t->insn && t->insn->insn.address_width == 32;
    return t->form.relative && !t->form.nothing && !t->form.lea &&
           ((!is_near(relative_target(t)) && !narrow) || t->length == ZYDIS_MAX_INSTRUCTION_LENGTH);
}

/* ------------------------------------------------------------------ forms */

/* The six of arithmetic in a byte: of those that Zydis has, OF is in the place of the one that is always set. */
static uint8_t form_flags(ZydisAccessedFlagsMask mask)
{
    enum { IN_PLACE = 0xd5 };
    return (uint8_t)((mask & IN_PLACE) | (mask & ZYDIS_CPUFLAG_OF ? 2 : 0));
}

static bool may_leave_flags(const ZydisDecodedInstruction *insn)
{
    const ZydisInstructionCategory c = insn->meta.category;
    return c == ZYDIS_CATEGORY_SHIFT || c == ZYDIS_CATEGORY_ROTATE;
}

static void describe_flags(struct native_form *form, const ZydisDecodedInstruction *insn)
{
    const ZydisAccessedFlags *flags = insn->cpu_flags;
    form->tested = flags ? form_flags(flags->tested) : 0;
    if (flags && !may_leave_flags(insn))
        form->overwritten = form_flags(flags->modified | flags->set_0 | flags->set_1 | flags->undefined);
}

static bool does_nothing(const ZydisDecodedInstruction *insn)
{
    return insn->mnemonic == ZYDIS_MNEMONIC_NOP || insn->meta.category == ZYDIS_CATEGORY_WIDENOP ||
           insn->mnemonic == ZYDIS_MNEMONIC_RDSSPD || insn->mnemonic == ZYDIS_MNEMONIC_RDSSPQ ||
           insn->mnemonic == ZYDIS_MNEMONIC_ENDBR64 || insn->mnemonic == ZYDIS_MNEMONIC_ENDBR32;
}

/* JRCXZ, LOOP and their kin have only short forms, and are other ones. */
static bool has_long_form(const ZydisDecodedInstruction *insn)
{
    return insn->opcode_map == ZYDIS_OPCODE_MAP_0F || (insn->opcode & 0xf0) == 0x70;
}

static enum native_branch native_branch_of(const struct decode_insn *insn)
{
    const ZydisDecodedInstruction *i = &insn->insn;
    const bool distance = insn->operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    if (i->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
        return NATIVE_OTHER;
    switch (i->meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
        return has_long_form(i) ? NATIVE_JUMPS_IF : NATIVE_OTHER;
    case ZYDIS_CATEGORY_UNCOND_BR:
        return distance ? NATIVE_JUMPS : NATIVE_OTHER;
    case ZYDIS_CATEGORY_CALL:
        return distance ? NATIVE_CALLS : NATIVE_OTHER;
    case ZYDIS_CATEGORY_RET:
        return distance ? NATIVE_OTHER : NATIVE_RETURNS;
    default:
        return NATIVE_OTHER;
    }
}

/* Of what may be light, and is if it has none of this: what is copied needs no look at its operands then. */
static bool is_simple(const struct decode_insn *insn)
{
    const ZydisDecodedInstruction *i = &insn->insn;
    const bool vex = i->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY;
    return !is_behind_gs(insn) && !native_based(insn) && !pushes_flags(i) &&
           !(is_relative(i) && (vex || i->address_width != 64));
}

/* Zydis's distance of a branch has 8 or 32 bits; of other sizes it is none that is light. */
static bool has_usual_distance(const ZydisDecodedInstruction *insn)
{
    return insn->meta.category == ZYDIS_CATEGORY_RET || insn->raw.imm[0].size == 8 || insn->raw.imm[0].size == 32;
}

static bool native_writes_memory(const struct decode_insn *insn)
{
    for (unsigned i = 0; i < insn->insn.operand_count; i++)
        if (operands_is_memory(&insn->operands[i]) && !only_reads(&insn->operands[i]))
            return true;
    return false;
}

static bool is_relative_lea(const ZydisDecodedInstruction *insn)
{
    return insn->mnemonic == ZYDIS_MNEMONIC_LEA && is_relative(insn) && insn->operand_width != 16 &&
           insn->address_width == 64;
}

void native_own(struct decode_own_form *out, const struct decode_insn *insn)
{
    _Static_assert(sizeof(struct native_form) <= sizeof *out, "room for it");
    const ZydisDecodedInstruction *i = &insn->insn;
    struct native_form form = {.branch = (uint8_t)native_branch_of(insn), .rex = NATIVE_NO_REX};
    unsigned writes;
    form.uses = (uint16_t)native_registers(insn, &writes);
    form.writes = (uint16_t)writes;
    describe_flags(&form, i);
    if (form.branch != NATIVE_OTHER && !has_usual_distance(i))
        form.branch = NATIVE_OTHER;
    form.near = i->raw.imm[0].size == 8;
    form.relative = is_relative(i);
    form.modrm = form.relative ? i->raw.modrm.offset : 0;
    if (i->attributes & ZYDIS_ATTRIB_HAS_REX)
        form.rex = i->raw.rex.offset;
    form.memory = native_operand(insn, 0);
    form.stores = native_writes_memory(insn);
    form.nothing = does_nothing(i);
    form.lea = is_relative_lea(i);
    form.light = is_simple(insn) && (form.branch != NATIVE_OTHER || !decode_branches(i));
    form.faults = form.memory || i->mnemonic == ZYDIS_MNEMONIC_DIV || i->mnemonic == ZYDIS_MNEMONIC_IDIV ||
                  i->meta.category == ZYDIS_CATEGORY_SYSCALL || i->meta.isa_ext != ZYDIS_ISA_EXT_BASE;
    memcpy(out, &form, sizeof form);
}

/* ------------------------------------------------------------------ how an instruction is translated */

/* A string or a store by a mask: where RSI or RDI says, with no ModR/M for it. */
static bool is_based_string(const struct decode_insn *insn)
{
    const ZydisDecodedOperand *based = native_based(insn);
    return based && based->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && insn->insn.mnemonic != ZYDIS_MNEMONIC_XLAT;
}

static unsigned moved_register(const struct decode_insn *insn)
{
    C2_PROMISE(is_based_string(insn));
    return operands_number_of(native_based(insn)->mem.base);
}

static bool can_be_based(const struct native_form *form, const struct decode_insn *insn)
{
    return (NATIVE_LOW & ~(unsigned)form->uses) != 0 && !(is_based_string(insn) && insn->insn.address_width != 64);
}

const char *native_refusal(const struct decode_insn *insn, uint64_t pc)
{
    const bool branch = insn->insn.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE;
    const ZydisDecodedOperand *based = native_based(insn);
    struct decode_own_form own;
    struct translated t = {.insn = insn, .pc = pc, .length = insn->insn.length};
    if (!based && !is_behind_gs(insn))
        return NULL;
    native_own(&own, insn);
    memcpy(&t.form, &own, sizeof t.form);
    if (based ? !can_be_based(&t.form, insn) : is_far(&t) || (branch && insn->insn.address_width != 64))
        return "the native engine does not model this form of an address behind FS or GS: use --engine unicorn";
    return NULL;
}

void native_examine(struct translated *t, bool records)
{
    C2_PROMISE(t->insn || (t->form.light && !(records && t->form.memory)));
    t->why = !t->insn                              ? NATIVE_GOES
             : native_refusal(t->insn, t->pc)      ? NATIVE_REFUSES
             : pushes_flags(&t->insn->insn)        ? NATIVE_EXECUTES
             : records && has_odd_address(t->insn) ? NATIVE_ADDRESSES
                                                   : NATIVE_GOES;
    t->based = t->insn && native_based(t->insn);
    t->moves = t->based && is_based_string(t->insn) ? (uint16_t)(1u << moved_register(t->insn)) : 0;
    t->gs = t->insn && !t->based && is_behind_gs(t->insn);
    t->far_place = t->based || is_far(t);
    t->wants_pad = t->far_place || t->gs || (records && t->insn && address_wants_pad(t));
}

/* Byte i of those before ModR/M. The bits for an index and a base are of none, or of one of the first eight. */
static uint8_t without_registers(const struct translated *t, unsigned i)
{
    C2_PROMISE(i < t->length);
    const ZydisDecodedInstruction *insn = t->insn ? &t->insn->insn : NULL;
    const bool vex = insn && insn->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX && insn->raw.vex.size == 3;
    const bool evex = insn && insn->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
    const uint8_t byte = ((const uint8_t *)(uintptr_t)t->pc)[i];
    if (i == t->form.rex)
        return byte & 0xfc;
    if ((vex && i == insn->raw.vex.offset + 1u) || (evex && i == insn->raw.evex.offset + 1u)) /* upside down */
        return byte | 0x60;
    return byte;
}

/* Prefixes and opcode, up to ModR/M. */
static void emit_front(struct emit *e, const struct translated *t)
{
    C2_PROMISE(t->form.relative && t->form.modrm != 0);
    for (unsigned i = 0; i < t->form.modrm; i++)
        emit_byte(e, without_registers(t, i));
}

/* What comes behind ModR/M and displacement. */
static void emit_back(struct emit *e, const struct translated *t)
{
    const unsigned from = t->form.modrm + 1u + (unsigned)sizeof(int32_t);
    C2_PROMISE(from <= t->length);
    emit_bytes(e, (const uint8_t *)(uintptr_t)t->pc + from, t->length - from);
}

static uint8_t modrm_of(const struct translated *t, unsigned mod, unsigned rm)
{
    C2_PROMISE(mod < 4 && rm < 8);
    const unsigned reg = ((const uint8_t *)(uintptr_t)t->pc)[t->form.modrm] >> 3 & 7;
    return (uint8_t)(mod << 6 | reg << 3 | rm);
}

static void emit_absolute(struct emit *e, const struct translated *t)
{
    C2_PROMISE(is_near(relative_target(t)) || t->insn);
    emit_front(e, t);
    emit_byte(e, modrm_of(t, 0, MODRM_SIB));
    emit_byte(e, SIB_ABSOLUTE);
    emit_word(e, (uint32_t)relative_target(t));
    emit_back(e, t);
}

static void emit_through(struct emit *e, const struct translated *t, unsigned pad)
{
    C2_ASSERT(pad < 8 && pad != NATIVE_RSP && pad != NATIVE_RBP);
    emit_constant(e, pad, relative_target(t));
    emit_front(e, t);
    emit_byte(e, modrm_of(t, 0, pad));
    emit_back(e, t);
}

/* LEA of what is relative to RIP is a constant. */
static void emit_relative_lea(struct emit *e, const struct translated *t)
{
    C2_PROMISE(t->form.lea && t->form.relative);
    enum { REX_R = 4, REX_W = 8 };
    const uint8_t *bytes = (const uint8_t *)(uintptr_t)t->pc;
    const unsigned rex = t->form.rex == NATIVE_NO_REX ? 0 : bytes[t->form.rex];
    const uint64_t target = native_distant(t);
    emit_constant(e, (bytes[t->form.modrm] >> 3 & 7) | (rex & REX_R ? 8 : 0), rex & REX_W ? target : (uint32_t)target);
}

/* GS is the guest's for one instruction. If that faults the handler of signals gives it back to the context. */
static void emit_guests_gs(struct emit *e, unsigned pad)
{
    C2_PROMISE(pad < NATIVE_NO_REGISTER);
    emit_get(e, pad, CONTEXT_GS_BASE);
    emit_set_gs(e, pad);
}

static void emit_own_gs(struct emit *e, unsigned pad, const struct native_context *context)
{
    C2_PROMISE(pad < NATIVE_NO_REGISTER && context);
    emit_constant(e, pad, (uint64_t)(uintptr_t)context);
    emit_set_gs(e, pad);
}

/* to += the base of the segment; `other` is put aside. */
static void emit_add_base(struct emit *e, const ZydisDecodedOperand *operand, unsigned to, unsigned other)
{
    C2_PROMISE(to != other && to < NATIVE_NO_REGISTER && other < NATIVE_NO_REGISTER);
    emit_put(e, CONTEXT_SPILL, other);
    emit_segment_base(e, operand, other);
    emit_lea(e, to, (struct emit_place){.base = other, .index = to, .scale = 1});
    emit_get(e, other, CONTEXT_SPILL);
}

/* to = the operand's address, of any form; `other` may be put aside. */
static void emit_based_place(struct emit *e, const struct translated *t, const ZydisDecodedOperand *operand,
                             unsigned to, unsigned other)
{
    C2_PROMISE(to != other && to < NATIVE_NO_REGISTER && other < NATIVE_NO_REGISTER);
    const bool constant = is_constant(t, operand), narrow = t->insn->insn.address_width == 32;
    if (!narrow && (!constant || is_near(constant_of(t, operand)))) {
        native_emit_place(e, t, operand, to);
        return;
    }
    if (constant)
        emit_constant(e, to, narrow ? (uint32_t)constant_of(t, operand) : constant_of(t, operand));
    else
        emit_lea(e, to, operands_place_of(t->insn, operand));
    emit_add_base(e, operand, to, other);
}

/* Whether byte i is a prefix that says how to address. */
static bool is_prefix_of_address(const struct translated *t, unsigned i)
{
    enum { FS = 0x64, GS, NARROW = 0x67 };
    const uint8_t byte = ((const uint8_t *)(uintptr_t)t->pc)[i];
    return i < t->insn->insn.raw.prefix_count && (byte == FS || byte == GS || byte == NARROW);
}

/* Prefixes and opcode without what is of the address. */
static void emit_front_of_based(struct emit *e, const struct translated *t, unsigned end)
{
    C2_PROMISE(t->insn && end <= t->length);
    for (unsigned i = 0; i < end; i++)
        if (!is_prefix_of_address(t, i))
            emit_byte(e, without_registers(t, i));
}

/* MOV of RAX and what lies at an address of 64 bits: the same with ModR/M. */
static void emit_based_move(struct emit *e, const struct translated *t, unsigned pad)
{
    enum { SAME_WITH_MODRM = 0x88, OTHER_WAY = 2 };
    const ZydisDecodedInstruction *insn = &t->insn->insn;
    emit_front_of_based(e, t, t->length - insn->raw.disp.size / 8u - 1);
    emit_byte(e, (uint8_t)(SAME_WITH_MODRM | ((insn->opcode & 3) ^ OTHER_WAY)));
    emit_byte(e, (uint8_t)pad);
}

static void emit_based_xlat(struct emit *e, const struct translated *t, unsigned pad, unsigned other)
{
    static const uint8_t extend[] = {0x0f, 0xb6, 0xc0}; /* movzbl %al,%eax */
    emit_put(e, CONTEXT_SPILL, NATIVE_RAX);
    emit_bytes(e, extend, sizeof extend);
    emit_lea(e, pad,
             (struct emit_place){
                 .base = NATIVE_RBX, .index = NATIVE_RAX, .scale = 1, .narrow = t->insn->insn.address_width == 32});
    emit_get(e, NATIVE_RAX, CONTEXT_SPILL);
    emit_add_base(e, native_based(t->insn), pad, other);
    emit_byte(e, 0x8a); /* mov (pad),%al */
    emit_byte(e, (uint8_t)pad);
}

/* The register has the base as well for one instruction; the guest's is in the context, for the handler of signals. */
static void emit_based_string(struct emit *e, const struct translated *t, unsigned pad)
{
    const ZydisDecodedOperand *operand = native_based(t->insn);
    const unsigned moved = moved_register(t->insn);
    C2_PROMISE(moved < NATIVE_NO_REGISTER && moved != pad);
    emit_put(e, CONTEXT_GPR + 8 * moved, moved);
    emit_segment_base(e, operand, pad);
    emit_lea(e, moved, (struct emit_place){.base = moved, .index = pad, .scale = 1});
    for (unsigned i = 0; i < t->length; i++)
        if (!is_prefix_of_address(t, i))
            emit_byte(e, ((const uint8_t *)(uintptr_t)t->pc)[i]);
    emit_segment_base(e, operand, pad);
    emit_complement(e, pad);
    emit_lea(e, moved,
             (struct emit_place){.base = moved, .index = pad, .scale = 1, .displacement = 1}); /* less the base */
}

/* With its operand where the pad says. */
static void emit_based(struct emit *e, const struct translated *t, unsigned pad, unsigned other)
{
    C2_ASSERT(pad < 8 && pad != NATIVE_RSP && pad != NATIVE_RBP);
    const ZydisDecodedInstruction *insn = &t->insn->insn;
    const ZydisDecodedOperand *operand = native_based(t->insn);
    if (is_based_string(t->insn)) {
        emit_based_string(e, t, pad);
        return;
    }
    if (insn->mnemonic == ZYDIS_MNEMONIC_XLAT) {
        emit_based_xlat(e, t, pad, other);
        return;
    }
    emit_based_place(e, t, operand, pad, other);
    if (!is_in_modrm(operand)) {
        emit_based_move(e, t, pad);
        return;
    }
    const unsigned sib = insn->attributes & ZYDIS_ATTRIB_HAS_SIB ? 1 : 0;
    const unsigned behind = insn->raw.modrm.offset + 1u + sib + insn->raw.disp.size / 8u;
    emit_front_of_based(e, t, insn->raw.modrm.offset);
    emit_byte(e, (uint8_t)(insn->raw.modrm.reg << 3 | pad));
    emit_bytes(e, (const uint8_t *)(uintptr_t)t->pc + behind, t->length - behind);
}

void native_emit_copy(struct emit *e, const struct translated *t, unsigned pad, unsigned pace,
                      const struct native_context *context)
{
    C2_PROMISE((!t->gs && !t->far_place) || pad < NATIVE_NO_REGISTER);
    C2_PROMISE(t->why == NATIVE_GOES || t->why == NATIVE_ADDRESSES);
    if (t->form.nothing)
        return;
    if (t->based) {
        emit_based(e, t, pad, pace);
        return;
    }
    if (t->gs)
        emit_guests_gs(e, pad);
    if (t->form.lea)
        emit_relative_lea(e, t);
    else if (t->far_place)
        emit_through(e, t, pad);
    else if (t->form.relative)
        emit_absolute(e, t);
    else
        emit_bytes(e, (const void *)(uintptr_t)t->pc, t->length);
    if (t->gs)
        emit_own_gs(e, pad, context);
}

void native_emit_target(struct emit *e, const struct translated *t, const ZydisDecodedOperand *operand, unsigned to,
                        unsigned pace)
{
    C2_PROMISE(to < NATIVE_NO_REGISTER && operand->size == 64);
    if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
        emit_move(e, to, operands_number_of(operand->reg.value));
    } else if (t->based) {
        emit_based_place(e, t, operand, to, pace);
        emit_load(e, to, emit_at(to, 0));
    } else if (is_constant(t, operand) || has_segment(operand, ZYDIS_REGISTER_GS)) {
        native_emit_place(e, t, operand, to);
        emit_load(e, to, emit_at(to, 0));
    } else {
        emit_load(e, to, operands_place_of(t->insn, operand));
    }
}
