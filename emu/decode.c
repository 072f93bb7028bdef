/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Slots come from the operand table of Zydis, explicit and hidden operands alike. Reads come in operand order, then
 *   a modify, then writes: so PUSH m reads and then pushes, POP m pops and then writes, MOVS reads RSI and then
 *   writes RDI. CMPS reads RSI before RDI (the order of the manual's pseudo-code).
 *   A block ends as its last instruction does: by a near call, a near return, or any other way.
 *   No slot: LEA, NOP m, PREFETCHh, CLFLUSH - they make no data reference.
 * Source
 *   Intel SDM volume 2, through Zydis 4.0.
 */
#include "emu/decode_priv.h"

#include "emu/interpret.h"

static const ZydisDecoder *the_decoder(void)
{
    static ZydisDecoder decoder;
    static bool ready;
    if (!ready) {
        ready = ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64));
        C2_ASSERT(ready);
    }
    return &decoder;
}

enum decode_result decode_one(struct decode_insn *out, struct guest_va pc, uint64_t bytes)
{
    ZyanStatus status = ZydisDecoderDecodeFull(the_decoder(), (const void *)(uintptr_t)pc.v, bytes, &out->insn,
                                               out->operands);
    if (ZYAN_SUCCESS(status))
        return DECODE_GOOD;
    return status == ZYDIS_STATUS_NO_MORE_DATA           ? DECODE_CUT
           : status == ZYDIS_STATUS_INSTRUCTION_TOO_LONG ? DECODE_LONG
                                                         : DECODE_BAD;
}

static bool touches_no_data(const ZydisDecodedInstruction *insn)
{
    return insn->mnemonic == ZYDIS_MNEMONIC_NOP || insn->meta.category == ZYDIS_CATEGORY_PREFETCH ||
           insn->meta.category == ZYDIS_CATEGORY_WIDENOP || insn->mnemonic == ZYDIS_MNEMONIC_CLFLUSH ||
           insn->mnemonic == ZYDIS_MNEMONIC_LEA;
}

static bool is_memory(const ZydisDecodedOperand *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->mem.type == ZYDIS_MEMOP_TYPE_MEM;
}

static enum stream_kind kind_of(const ZydisDecodedOperand *operand)
{
    bool reads = operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
    bool writes = operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
    return reads && writes ? STREAM_MODIFY : writes ? STREAM_WRITE : STREAM_READ;
}

static bool has_repeat(const ZydisDecodedInstruction *insn)
{
    return insn->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
}

static bool is_destination(const ZydisDecodedOperand *operand)
{
    return operand->mem.base == ZYDIS_REGISTER_RDI || operand->mem.base == ZYDIS_REGISTER_EDI;
}

static unsigned repeat_slots(struct stream_slot out[DECODE_INSN_SLOTS], const struct decode_insn *insn, uint16_t index)
{
    struct stream_slot source = {.insn = index, .kind = STREAM_SOURCE};
    struct stream_slot destination = {.insn = index, .kind = STREAM_DESTINATION};
    for (unsigned i = 0; i < insn->insn.operand_count; i++) {
        const ZydisDecodedOperand *operand = &insn->operands[i];
        if (!is_memory(operand))
            continue;
        struct stream_slot *slot = is_destination(operand) ? &destination : &source;
        slot->size = operand->size / 8;
        slot->store = kind_of(operand) == STREAM_WRITE;
    }
    out[0] = source;
    out[1] = destination;
    out[2] = (struct stream_slot){.insn = index, .kind = STREAM_BEFORE};
    out[3] = (struct stream_slot){.insn = index, .kind = STREAM_AFTER};
    return 4;
}

/* An interpreted instruction may be a call only in forms that are refused; those have slots of other sizes. */
enum stream_ending decode_ending(const struct decode_insn *insn, const struct stream_slot *slots, unsigned count)
{
    if (insn->insn.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR || count == 0)
        return STREAM_JUMP;
    if (insn->insn.mnemonic == ZYDIS_MNEMONIC_CALL && slots[count - 1].size == 8)
        return STREAM_CALL;
    if (insn->insn.mnemonic == ZYDIS_MNEMONIC_RET && slots[0].size == 8)
        return STREAM_RETURN;
    return STREAM_JUMP;
}

/* Whether slot a's access comes before that of slot b although its operand comes later. */
static bool earlier(const struct stream_slot *a, const struct stream_slot *b)
{
    return a->kind == STREAM_READ && b->kind != STREAM_READ;
}

static bool is_string_compare(const ZydisDecodedInstruction *insn)
{
    switch (insn->mnemonic) {
    case ZYDIS_MNEMONIC_CMPSB:
    case ZYDIS_MNEMONIC_CMPSW:
    case ZYDIS_MNEMONIC_CMPSQ:
        return true;
    case ZYDIS_MNEMONIC_CMPSD: /* the string instruction shares its name with the SSE comparison */
        return insn->meta.category == ZYDIS_CATEGORY_STRINGOP;
    default:
        return false;
    }
}

unsigned decode_slots(struct stream_slot out[DECODE_INSN_SLOTS], const struct decode_insn *insn, uint16_t index)
{
    if (touches_no_data(&insn->insn))
        return 0;
    if (has_repeat(&insn->insn) && (insn->insn.meta.category == ZYDIS_CATEGORY_STRINGOP))
        return repeat_slots(out, insn, index);
    unsigned count = 0;
    for (unsigned i = 0; i < insn->insn.operand_count; i++) {
        const ZydisDecodedOperand *operand = &insn->operands[i];
        if (!is_memory(operand))
            continue;
        C2_ASSERT(count < DECODE_INSN_SLOTS);
        out[count++] = (struct stream_slot){.insn = index, .size = operand->size / 8, .kind = kind_of(operand)};
    }
    bool swap = count == 2 &&
                (earlier(&out[1], &out[0]) || (is_string_compare(&insn->insn) && is_destination(&insn->operands[0])));
    if (swap) {
        struct stream_slot first = out[1];
        out[1] = out[0];
        out[0] = first;
    }
    return count;
}

static uint8_t mmx_written(const struct decode_insn *insn)
{
    uint8_t registers = 0;
    for (unsigned i = 0; i < insn->insn.operand_count; i++) {
        const ZydisDecodedOperand *o = &insn->operands[i];
        bool mmx = o->type == ZYDIS_OPERAND_TYPE_REGISTER && ZydisRegisterGetClass(o->reg.value) == ZYDIS_REGCLASS_MMX;
        if (mmx && (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
            registers |= (uint8_t)(1u << ZydisRegisterGetId(o->reg.value));
    }
    return registers;
}

void decode_block(struct decode_block *out, struct guest_va pc, uint32_t bytes)
{
    uint32_t at = 0;
    out->block = (struct stream_block){.pc = pc, .insns = out->insns, .slots = out->slots};
    out->ended = DECODE_WHOLE;
    out->first_x87 = DECODE_MAX_INSNS;
    while (at < bytes) {
        struct decode_insn one;
        struct guest_va here = {pc.v + at};
        uint16_t index = out->block.insn_count;
        if (decode_one(&one, here, bytes - at) != DECODE_GOOD) {
            out->ended = DECODE_INVALID;
            break;
        }
        if (interpret_wants(&one.insn, one.operands)) {
            out->ended = DECODE_SPECIAL;
            break;
        }
        C2_ASSERT(index < DECODE_MAX_INSNS && out->block.slot_count + DECODE_INSN_SLOTS <= DECODE_MAX_SLOTS);
        out->insns[index] = (struct stream_insn){
            .offset = at, .first_slot = out->block.slot_count, .length = one.insn.length};
        out->mnemonics[index] = (uint16_t)one.insn.mnemonic;
        out->mmx[index] = mmx_written(&one);
        if (one.insn.meta.isa_ext == ZYDIS_ISA_EXT_X87 && index < out->first_x87)
            out->first_x87 = index;
        struct stream_slot *slots = out->slots + out->block.slot_count;
        unsigned slot_count = decode_slots(slots, &one, index);
        out->block.ending = decode_ending(&one, slots, slot_count); /* the last instruction's stays */
        out->block.slot_count += slot_count;
        out->block.insn_count++;
        at += one.insn.length;
    }
    out->block.bytes = at;
    out->end = (struct guest_va){pc.v + at};
}
