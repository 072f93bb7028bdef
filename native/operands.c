/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   An instruction is copied byte by byte. Only what is relative to RIP is written anew: as an absolute address where
 *   a displacement has it (below 2 GiB), as are programs and libraries; else through a free register. GS, which is the
 *   context's, is the guest's for the one instruction that has a place behind it. Effective addresses are calculated by
 *   LEA, which changes no flag, from registers as they are before the instruction; the rules are those of
 *   interpret_address(), which calculates the rest of them in C.
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

unsigned native_registers(const struct decode_insn *insn, unsigned *written)
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

/* In the order of decode_slots. */
const ZydisDecodedOperand *native_operand(const struct decode_insn *insn, unsigned slot)
{
    C2_PROMISE(slot < DECODE_INSN_SLOTS);
    const ZydisDecodedOperand *found[DECODE_INSN_SLOTS] = {NULL};
    unsigned count = 0;
    for (unsigned i = 0; i < insn->insn.operand_count && count < DECODE_INSN_SLOTS; i++)
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

static uint64_t relative_target(const struct translated *t)
{
    C2_PROMISE(is_relative(&t->insn->insn));
    const uint64_t target = t->pc + t->insn->insn.length + (uint64_t)t->insn->insn.raw.disp.value;
    return t->insn->insn.address_width == 32 ? (uint32_t)target : target;
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
    C2_PROMISE(operands_is_memory(operand));
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

static bool has_base_of_segment(const ZydisDecodedOperand *operand)
{
    return has_segment(operand, ZYDIS_REGISTER_FS) || has_segment(operand, ZYDIS_REGISTER_GS);
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
    for (unsigned i = 0; i < DECODE_INSN_SLOTS && (operand = native_operand(t->insn, i)); i++)
        if (!is_near_constant(t, operand) && !is_bare(t, operand))
            return true;
    return false;
}

/* ------------------------------------------------------------------ instructions */

static bool is_far(const struct translated *t)
{
    const ZydisDecodedInstruction *insn = &t->insn->insn;
    return is_relative(insn) && insn->mnemonic != ZYDIS_MNEMONIC_NOP && insn->mnemonic != ZYDIS_MNEMONIC_LEA &&
           ((!is_near(relative_target(t)) && insn->address_width == 64) ||
            insn->length == ZYDIS_MAX_INSTRUCTION_LENGTH);
}

const char *native_refusal(const struct decode_insn *insn, uint64_t pc)
{
    const struct translated t = {.insn = insn, .pc = pc};
    const bool branch = insn->insn.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE;
    if (is_behind_gs(insn) && (is_far(&t) || (branch && insn->insn.address_width != 64)))
        return "the native engine does not model this form of an address behind GS: use --engine unicorn";
    return NULL;
}

void native_examine(struct translated *t, uint64_t pc, bool records)
{
    C2_PROMISE(t->insn);
    t->pc = pc;
    t->why = native_refusal(t->insn, pc)           ? NATIVE_REFUSES
             : pushes_flags(&t->insn->insn)        ? NATIVE_EXECUTES
             : records && has_odd_address(t->insn) ? NATIVE_ADDRESSES
                                                   : NATIVE_GOES;
    t->gs = is_behind_gs(t->insn);
    t->far_place = is_far(t);
    t->wants_pad = t->far_place || t->gs || (records && address_wants_pad(t));
}

/* Prefixes and opcode, up to ModR/M. The bits for an index and a base are of none, or of one of the first eight. */
static void emit_front(struct emit *e, const struct translated *t)
{
    C2_PROMISE(t->insn->insn.attributes & ZYDIS_ATTRIB_HAS_MODRM);
    const ZydisDecodedInstruction *insn = &t->insn->insn;
    const uint8_t *bytes = (const uint8_t *)(uintptr_t)t->pc;
    const bool rex = insn->attributes & ZYDIS_ATTRIB_HAS_REX;
    const bool vex = insn->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX && insn->raw.vex.size == 3;
    const bool evex = insn->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
    for (unsigned i = 0; i < insn->raw.modrm.offset; i++) {
        uint8_t byte = bytes[i];
        if (rex && i == insn->raw.rex.offset)
            byte &= 0xfc;
        if ((vex && i == insn->raw.vex.offset + 1u) || (evex && i == insn->raw.evex.offset + 1u)) /* upside down */
            byte |= 0x60;
        emit_byte(e, byte);
    }
}

/* What comes behind ModR/M, SIB and displacement. */
static void emit_back(struct emit *e, const struct translated *t)
{
    const ZydisDecodedInstruction *insn = &t->insn->insn;
    const unsigned displacement = insn->raw.disp.size / 8;
    const unsigned sib = insn->attributes & ZYDIS_ATTRIB_HAS_SIB ? 1 : 0;
    const unsigned from = insn->raw.modrm.offset + 1u + sib + displacement;
    C2_PROMISE(from <= insn->length);
    emit_bytes(e, (const uint8_t *)(uintptr_t)t->pc + from, insn->length - from);
}

static uint8_t modrm_of(const struct translated *t, unsigned mod, unsigned rm)
{
    C2_PROMISE(mod < 4 && rm < 8);
    return (uint8_t)(mod << 6 | t->insn->insn.raw.modrm.reg << 3 | rm);
}

static void emit_absolute(struct emit *e, const struct translated *t)
{
    C2_PROMISE(is_near(relative_target(t)) || t->insn->insn.address_width == 32 ||
               t->insn->insn.mnemonic == ZYDIS_MNEMONIC_LEA);
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
static bool emit_relative_lea(struct emit *e, const struct translated *t)
{
    const ZydisDecodedInstruction *insn = &t->insn->insn;
    if (insn->mnemonic != ZYDIS_MNEMONIC_LEA || !is_relative(insn) || insn->operand_width == 16)
        return false;
    const uint64_t target = relative_target(t);
    emit_constant(e, operands_number_of(t->insn->operands[0].reg.value),
                  insn->operand_width == 32 ? (uint32_t)target : target);
    return true;
}

static bool does_nothing(const ZydisDecodedInstruction *insn)
{
    return insn->mnemonic == ZYDIS_MNEMONIC_NOP || insn->meta.category == ZYDIS_CATEGORY_WIDENOP ||
           insn->mnemonic == ZYDIS_MNEMONIC_RDSSPD || insn->mnemonic == ZYDIS_MNEMONIC_RDSSPQ ||
           insn->mnemonic == ZYDIS_MNEMONIC_ENDBR64 || insn->mnemonic == ZYDIS_MNEMONIC_ENDBR32;
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

void native_emit_copy(struct emit *e, const struct translated *t, unsigned pad, const struct native_context *context)
{
    C2_PROMISE((!t->gs && !t->far_place) || pad < NATIVE_NO_REGISTER);
    C2_PROMISE(t->why == NATIVE_GOES || t->why == NATIVE_ADDRESSES);
    const ZydisDecodedInstruction *insn = &t->insn->insn;
    if (does_nothing(insn) || emit_relative_lea(e, t))
        return;
    if (t->gs)
        emit_guests_gs(e, pad);
    if (t->far_place)
        emit_through(e, t, pad);
    else if (is_relative(insn))
        emit_absolute(e, t);
    else
        emit_bytes(e, (const void *)(uintptr_t)t->pc, insn->length);
    if (t->gs)
        emit_own_gs(e, pad, context);
}

void native_emit_target(struct emit *e, const struct translated *t, const ZydisDecodedOperand *operand, unsigned to)
{
    C2_PROMISE(to < NATIVE_NO_REGISTER && operand->size == 64);
    if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
        emit_move(e, to, operands_number_of(operand->reg.value));
    } else if (is_constant(t, operand) || has_segment(operand, ZYDIS_REGISTER_GS)) {
        native_emit_place(e, t, operand, to);
        emit_load(e, to, emit_at(to, 0));
    } else {
        emit_load(e, to, operands_place_of(t->insn, operand));
    }
}
