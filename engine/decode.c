/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Slots come from the operand table of Zydis, explicit and hidden operands alike. Reads come in operand order, then
 *   a modify, then writes: so PUSH m reads and then pushes, POP m pops and then writes, MOVS reads RSI and then
 *   writes RDI. CMPS reads RSI before RDI (the order of the manual's pseudo-code).
 *   Blocks are cut by the rule of stream.h. A block ends as its last instruction does: by a near call, a near return,
 *   or any other way.
 *   No slot: LEA, NOP m - they make no data reference. Neither do PREFETCHh, CLFLUSH, CLFLUSHOPT and CLWB, but
 *   they have a slot, of the kind CACHE.
 * Source
 *   Intel SDM volume 2, through Zydis 4.0.
 */
#include "engine/decode.h"

#include "interpret/interpret.h"

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
    if (ZYAN_SUCCESS(status)) {
        C2_PROMISE(out->insn.length != 0 && out->insn.length <= bytes);
        return DECODE_GOOD;
    }
    return status == ZYDIS_STATUS_NO_MORE_DATA           ? DECODE_CUT
           : status == ZYDIS_STATUS_INSTRUCTION_TOO_LONG ? DECODE_LONG
                                                         : DECODE_BAD;
}

static bool touches_no_data(const ZydisDecodedInstruction *insn)
{
    return insn->mnemonic == ZYDIS_MNEMONIC_NOP || insn->meta.category == ZYDIS_CATEGORY_WIDENOP ||
           insn->mnemonic == ZYDIS_MNEMONIC_LEA;
}

/* What it wants of the caches; STREAM_CACHES: it is none of those. */
static enum stream_cache cache_instruction(const ZydisDecodedInstruction *insn)
{
    switch (insn->mnemonic) {
    case ZYDIS_MNEMONIC_PREFETCH:
    case ZYDIS_MNEMONIC_PREFETCHT0:
        return STREAM_PREFETCH_T0;
    case ZYDIS_MNEMONIC_PREFETCHT1:
        return STREAM_PREFETCH_T1;
    case ZYDIS_MNEMONIC_PREFETCHT2:
        return STREAM_PREFETCH_T2;
    case ZYDIS_MNEMONIC_PREFETCHNTA:
        return STREAM_PREFETCH_NTA;
    case ZYDIS_MNEMONIC_PREFETCHW:
        return STREAM_PREFETCH_W;
    case ZYDIS_MNEMONIC_CLFLUSH:
    case ZYDIS_MNEMONIC_CLFLUSHOPT:
        return STREAM_FLUSH;
    case ZYDIS_MNEMONIC_CLWB:
        return STREAM_WRITE_BACK;
    default:
        return STREAM_CACHES;
    }
}

static bool is_non_temporal(const ZydisDecodedInstruction *insn)
{
    switch (insn->mnemonic) {
    case ZYDIS_MNEMONIC_MOVNTI:
    case ZYDIS_MNEMONIC_MOVNTPS:
    case ZYDIS_MNEMONIC_MOVNTPD:
    case ZYDIS_MNEMONIC_MOVNTDQ:
    case ZYDIS_MNEMONIC_MOVNTQ:
    case ZYDIS_MNEMONIC_MASKMOVQ:
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_VMOVNTPS:
    case ZYDIS_MNEMONIC_VMOVNTPD:
    case ZYDIS_MNEMONIC_VMOVNTDQ:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
        return true;
    default:
        return false;
    }
}

static bool decode_is_memory(const ZydisDecodedOperand *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->mem.type == ZYDIS_MEMOP_TYPE_MEM;
}

static enum stream_kind decode_kind_of(const ZydisDecodedOperand *operand)
{
    C2_PROMISE(decode_is_memory(operand));
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
    C2_PROMISE(decode_is_memory(operand));
    return operand->mem.base == ZYDIS_REGISTER_RDI || operand->mem.base == ZYDIS_REGISTER_EDI;
}

static unsigned repeat_slots(struct stream_slot out[DECODE_INSN_SLOTS], const struct decode_insn *insn, uint16_t index)
{
    C2_PROMISE(has_repeat(&insn->insn));
    struct stream_slot source = {.insn = index, .kind = STREAM_SOURCE};
    struct stream_slot destination = {.insn = index, .kind = STREAM_DESTINATION};
    for (unsigned i = 0; i < insn->insn.operand_count; i++) {
        const ZydisDecodedOperand *operand = &insn->operands[i];
        if (!decode_is_memory(operand))
            continue;
        struct stream_slot *slot = is_destination(operand) ? &destination : &source;
        slot->size = operand->size / 8;
        slot->how = decode_kind_of(operand) == STREAM_WRITE;
    }
    out[0] = source;
    out[1] = destination;
    out[2] = (struct stream_slot){.insn = index, .kind = STREAM_DONE};
    out[3] = (struct stream_slot){.insn = index, .kind = STREAM_REMAINING};
    return 4;
}

/* ENTER with a nesting level. */
static unsigned enter_slots(struct stream_slot out[DECODE_INSN_SLOTS], unsigned level, uint16_t index)
{
    enum { FRAME_POINTER = 8 };
    unsigned count = 0;
    const struct stream_slot push = {.insn = index, .size = FRAME_POINTER, .kind = STREAM_WRITE};
    out[count++] = push;
    for (unsigned i = 1; i < level; i++) {
        out[count++] = (struct stream_slot){.insn = index, .size = FRAME_POINTER, .kind = STREAM_READ};
        out[count++] = push;
    }
    out[count++] = push;
    return count;
}

/* An instruction alone in its block may be a call only if it is far, or refused; those have slots of other sizes. */
enum stream_ending decode_ending(const struct decode_insn *insn, const struct stream_slot *slots, unsigned count)
{
    C2_PROMISE(count <= DECODE_INSN_SLOTS);
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

const ZydisDecodedOperand *decode_compared_source(const struct decode_insn *insn)
{
    if (!is_string_compare(&insn->insn))
        return NULL;
    return is_destination(&insn->operands[0]) ? &insn->operands[1] : &insn->operands[0];
}

unsigned decode_slots(struct stream_slot out[DECODE_INSN_SLOTS], const struct decode_insn *insn, uint16_t index)
{
    C2_PROMISE(index < DECODE_MAX_INSNS);
    const enum stream_cache cache = cache_instruction(&insn->insn);
    if (touches_no_data(&insn->insn))
        return 0;
    if (cache != STREAM_CACHES) {
        out[0] = (struct stream_slot){.insn = index, .size = 1, .kind = STREAM_CACHE, .how = (uint8_t)cache};
        return 1;
    }
    if (has_repeat(&insn->insn) && (insn->insn.meta.category == ZYDIS_CATEGORY_STRINGOP))
        return repeat_slots(out, insn, index);
    const unsigned level = interpret_enter_level(&insn->insn, insn->operands);
    if (level > 0)
        return enter_slots(out, level, index);
    unsigned count = 0;
    for (unsigned i = 0; i < insn->insn.operand_count; i++) {
        const ZydisDecodedOperand *operand = &insn->operands[i];
        if (!decode_is_memory(operand))
            continue;
        C2_ASSERT(count < DECODE_INSN_SLOTS);
        const enum stream_kind kind = decode_kind_of(operand);
        out[count++] = (struct stream_slot){.insn = index,
                                            .size = operand->size / 8,
                                            .kind = kind,
                                            .how = kind == STREAM_WRITE && is_non_temporal(&insn->insn)};
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

struct stream_slot decode_touched_slot(const struct decode_insn *insn, const struct interpret_touch *touch)
{
    C2_PROMISE(touch->bytes != 0);
    return (struct stream_slot){
        .size = touch->bytes, .kind = touch->kind, .how = touch->kind == STREAM_WRITE && is_non_temporal(&insn->insn)};
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

bool decode_branches(const ZydisDecodedInstruction *insn)
{
    switch (insn->meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_SYSCALL:
        return true;
    default:
        return false;
    }
}

/* By the rule of stream.h. What else changes where the guest goes on is alone in its own block. */
static bool ends_block(const ZydisDecodedInstruction *insn)
{
    return decode_branches(insn) || insn->mnemonic == ZYDIS_MNEMONIC_PAUSE;
}

static bool engine_decode_is_split(struct decode_splits splits, struct guest_va pc)
{
    return splits.at && splits.at(splits.self, pc);
}

bool decode_is_split(const struct decode_block *block, struct decode_splits splits)
{
    C2_PROMISE(block->block.insn_count <= DECODE_MAX_INSNS);
    for (unsigned i = 1; splits.at && i < block->block.insn_count; i++)
        if (engine_decode_is_split(splits, (struct guest_va){block->block.pc.v + block->insns[i].offset}))
            return true;
    return false;
}

/* On x87 numbers. FISTTP is of them, too, though it came with SSE3. */
static bool on_x87(const ZydisDecodedInstruction *insn)
{
    return insn->meta.isa_ext == ZYDIS_ISA_EXT_X87 || insn->mnemonic == ZYDIS_MNEMONIC_FISTTP;
}

void decode_describe(struct decode_form *out, const struct decode_insn *insn)
{
    struct stream_slot slots[DECODE_INSN_SLOTS];
    const unsigned count = decode_slots(slots, insn, 0);
    C2_ASSERT(count <= sizeof out->slot / sizeof *out->slot);
    out->length = insn->insn.length;
    out->ends = ends_block(&insn->insn);
    out->interpreted = interpret_wants(&insn->insn, insn->operands);
    out->x87 = on_x87(&insn->insn);
    out->mmx = mmx_written(insn);
    out->mnemonic = (uint16_t)insn->insn.mnemonic;
    out->flops = (uint8_t)decode_flops(insn);
    out->ending = (uint8_t)decode_ending(insn, slots, count);
    out->slots = (uint8_t)count;
    for (unsigned i = 0; i < count; i++)
        out->slot[i] = slots[i];
}

static void decode_add_insn(struct decode_block *out, const struct decode_form *one)
{
    const uint16_t index = out->block.insn_count;
    struct stream_slot *slots = out->slots + out->block.slot_count;
    C2_ASSERT(index < DECODE_MAX_INSNS && out->block.slot_count + 2u <= DECODE_MAX_SLOTS);
    out->insns[index] = (struct stream_insn){
        .offset = out->block.bytes, .first_slot = out->block.slot_count, .length = one->length, .flops = one->flops};
    out->mnemonics[index] = one->mnemonic;
    out->mmx[index] = one->mmx;
    out->interpreted[index] = one->interpreted;
    if (one->x87 && index < out->first_x87)
        out->first_x87 = index;
    for (unsigned i = 0; i < one->slots; i++) {
        slots[i] = one->slot[i];
        slots[i].insn = index;
    }
    out->block.ending = one->ending; /* the last instruction's stays */
    out->block.slot_count += one->slots;
    out->block.insn_count++;
    out->block.bytes += one->length;
}

static enum decode_result form_at(struct decode_form *form, const struct decode_block *block,
                                  const struct cpu_model *cpu, struct guest_va pc, uint64_t bytes)
{
    return block->forms ? decode_form(form, block->forms, pc, bytes) : decode_form_anew(form, cpu, pc, bytes);
}

/* Adds the next instruction, or says why the block ends before it; DECODE_OPEN: it goes on. */
static enum decode_end extend(struct decode_block *out, uint64_t bytes, struct decode_splits splits)
{
    C2_PROMISE(out->block.insn_count < DECODE_MAX_INSNS && out->block.bytes < bytes);
    struct decode_form scratch, *one = out->kept ? &out->kept[out->block.insn_count] : &scratch;
    const struct guest_va here = {out->block.pc.v + out->block.bytes};
    if (out->block.insn_count > 0 && engine_decode_is_split(splits, here))
        return DECODE_WHOLE;
    switch (form_at(one, out, splits.cpu, here, bytes - out->block.bytes)) {
    case DECODE_GOOD:
        break;
    case DECODE_CUT:
        return DECODE_OPEN;
    default:
        return DECODE_INVALID;
    }
    if (one->alone)
        return DECODE_SPECIAL;
    decode_add_insn(out, one);
    return one->ends || out->block.insn_count == DECODE_MAX_INSNS ? DECODE_WHOLE : DECODE_OPEN;
}

void decode_block(struct decode_block *out, struct guest_va pc, uint64_t bytes, struct decode_splits splits)
{
    uint32_t before;
    out->block = (struct stream_block){.pc = pc, .insns = out->insns, .slots = out->slots};
    out->ended = DECODE_OPEN;
    out->first_x87 = DECODE_MAX_INSNS;
    do {
        before = out->block.bytes;
        if (before < bytes)
            out->ended = extend(out, bytes, splits);
    } while (out->ended == DECODE_OPEN && out->block.bytes > before);
    C2_PROMISE(out->block.bytes <= bytes);
    out->end = (struct guest_va){pc.v + out->block.bytes};
}
