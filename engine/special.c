/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Instructions that an engine does not execute itself: decoded once, as long as their bytes are there, and handed to
 *   interpret/. Where no instruction could be decoded, what a CPU does there takes its place.
 * Counting
 *   A record of one that is alone has all of its slots. A repeated string instruction that a fault interrupts has a
 *   record of the elements done, of no instruction (stream.h).
 * Not modelled
 *   A repeated string instruction that is single-stepped (TF) would trap after each element: refused.
 */
#include <signal.h>
#include <string.h>

#include "engine/code.h"

/* ------------------------------------------------------------------ finding */

/* Slots of an instruction alone in its block. */
static enum c2_status special_add_block(struct engine_code *code, struct engine_special *special, struct c2_error *err)
{
    C2_PROMISE(special->decoded == DECODE_GOOD);
    struct stream_slot slots[DECODE_INSN_SLOTS];
    struct stream_insn insn = {.length = special->insn.insn.length, .flops = (uint8_t)decode_flops(&special->insn)};
    special->slots = (uint8_t)decode_slots(slots, &special->insn, 0);
    struct stream_block block = {.pc = {special->pc},
                                 .bytes = insn.length,
                                 .insn_count = 1,
                                 .slot_count = special->slots,
                                 .insns = &insn,
                                 .slots = slots,
                                 .ending = decode_ending(&special->insn, slots, special->slots)};
    return stream_blocks_add(&special->number, code->blocks, &block, err);
}

/* Whether what was decoded is still there. What was no instruction may be one by now: its second page has come. */
static bool is_current(const struct engine_special *special)
{
    return !special->stale && special->decoded == DECODE_GOOD &&
           memcmp(special->bytes, (const void *)(uintptr_t)special->pc, special->insn.insn.length) == 0;
}

static bool has_room(struct engine_code *code)
{
    C2_PROMISE(code->special_count <= code->special_capacity);
    if (code->special_count < code->special_capacity)
        return true;
    const size_t grown = code->special_capacity ? 2 * code->special_capacity : C2_HOST_SIZE(256, 2);
    struct engine_special **bigger = c2_realloc(code->all_specials, grown * sizeof *bigger);
    if (!bigger)
        return false;
    code->all_specials = bigger;
    code->special_capacity = grown;
    return true;
}

static enum c2_status add_special(struct engine_special **out, struct engine_code *code, uint64_t pc,
                                  struct c2_error *err)
{
    C2_PROMISE(!c2_map_get(code->specials, pc, &(uint64_t){0}));
    struct engine_special *special = has_room(code) ? c2_calloc(1, sizeof *special) : NULL;
    if (!special)
        return c2_fail_memory(err, "an instruction to interpret");
    special->pc = pc;
    code->all_specials[code->special_count++] = special;
    *out = special;
    return c2_map_put(code->specials, pc, (uint64_t)(uintptr_t)special, err);
}

bool engine_special_is_masked(const struct engine_special *special, const struct cpu_model *cpu)
{
    const struct decode_insn *insn = &special->insn;
    return special->decoded == DECODE_GOOD && interpret_is_masked(&insn->insn, insn->operands) &&
           !interpret_refused(cpu, &insn->insn, insn->operands);
}

enum c2_status engine_special_at(struct engine_special **out, struct engine_code *code, uint64_t pc,
                                 struct c2_error *err)
{
    C2_ASSERT(code->specials);
    uint64_t known;
    struct engine_special *special = c2_map_get(code->specials, pc, &known) ? (void *)(uintptr_t)known : NULL;
    *out = special;
    if (special && is_current(special))
        return C2_OK;
    enum c2_status status = special ? C2_OK : add_special(&special, code, pc, err);
    if (status != C2_OK)
        return status;
    *out = special;
    special->stale = false;
    special->decoded = decode_one(&special->insn, (struct guest_va){pc}, engine_code_readable(code, pc));
    if (special->decoded != DECODE_GOOD)
        return C2_OK;
    memcpy(special->bytes, (const void *)(uintptr_t)pc, special->insn.insn.length);
    const bool has_block = decode_is_alone(&special->insn, code->cpu) && !engine_special_is_masked(special, code->cpu);
    return has_block ? special_add_block(code, special, err) : C2_OK;
}

void engine_specials_forget(struct engine_code *code, uint64_t start, uint64_t bytes)
{
    for (size_t i = 0; i < code->special_count; i++)
        if (engine_code_overlaps(start, bytes, code->all_specials[i]->pc, ZYDIS_MAX_INSTRUCTION_LENGTH))
            code->all_specials[i]->stale = true;
}

void engine_specials_take(struct engine_code *code, void (*take)(void *self, struct guest_va pc, uint64_t instructions),
                          void *self)
{
    C2_PROMISE(take || code->special_count == 0);
    for (size_t i = 0; i < code->special_count; i++) {
        struct engine_special *special = code->all_specials[i];
        if (special->executed != 0)
            take(self, (struct guest_va){special->pc}, special->executed);
        special->executed = 0;
    }
}

/* ------------------------------------------------------------------ executing */

enum { FLAG_TRAP = 1 << 8, BY_KERNEL = 0x80 /* SI_KERNEL */ };

struct engine_event engine_refusal(const char *why)
{
    C2_ASSERT(why);
    struct engine_event event = {.stop = ENGINE_REFUSED};
    snprintf(event.refusal, sizeof event.refusal, "%s", why);
    return event;
}

/* What a CPU does where no instruction could be decoded. */
static struct engine_event no_instruction(const struct engine_special *special)
{
    C2_PROMISE(special->decoded != DECODE_GOOD);
    const struct guest_va next_page = {c2_align_down(special->pc, C2_PAGE_BYTES) + C2_PAGE_BYTES};
    switch (special->decoded) {
    case DECODE_CUT:
        return (struct engine_event){.stop = ENGINE_FAULT, .address = next_page, .access = MMU_ACCESS_EXEC};
    case DECODE_LONG:
        return (struct engine_event){.stop = ENGINE_TRAP, .signal = SIGSEGV, .code = BY_KERNEL};
    default:
        return (struct engine_event){.stop = ENGINE_TRAP, .signal = SIGILL, .code = ILL_ILLOPN};
    }
}

bool engine_special_execute(const struct engine_special *special, const struct interpret_cpu *cpu,
                            struct interpret_effect *effect, bool *traced, struct engine_event *event)
{
    if (special->decoded != DECODE_GOOD) {
        *event = no_instruction(special);
        return false;
    }
    *traced = cpu->get_flags(cpu->self) & FLAG_TRAP;
    if (*traced && interpret_is_rep_string(&special->insn.insn)) {
        *event = engine_refusal("a repeated string instruction that is single-stepped (TF) is not modelled");
        return false;
    }
    interpret_execute(cpu, (struct guest_va){special->pc}, &special->insn.insn, special->insn.operands, effect);
    return true;
}

enum c2_status engine_special_record(const struct engine_special *special, const struct interpret_effect *effect,
                                     struct stream_writer *writer, struct c2_error *err)
{
    C2_ASSERT(writer);
    const bool done = effect->status == INTERPRET_DONE;
    const bool progress = effect->address_count == 4 && stream_string_elements(effect->address) != 0;
    if (!done && !progress)
        return C2_OK;
    const unsigned level = interpret_enter_level(&special->insn.insn, special->insn.operands);
    C2_ASSERT(effect->address_count == special->slots || (level > 0 && special->slots == 2 * level));
    enum c2_status status = stream_writer_room(writer, special->slots, err);
    if (status != C2_OK)
        return status;
    struct stream_batch *batch = writer->batch;
    uint64_t *record = (uint64_t *)(void *)((char *)batch + offsetof(struct stream_batch, words)) + batch->used;
    record[0] = stream_header(special->number, done, special->slots);
    if (level > 0)
        interpret_enter_addresses(record + 1, effect, level);
    else
        memcpy(record + 1, effect->address, special->slots * sizeof *record);
    batch->used += special->slots + 1u;
    return C2_OK;
}

/* With TF set before it, an instruction ends in a trap. */
bool engine_special_finish(const struct engine_special *special, const struct interpret_effect *effect, bool traced,
                           uint64_t *rip, struct engine_event *event)
{
    C2_PROMISE(special->decoded == DECODE_GOOD);
    const uint64_t behind = special->pc + special->insn.insn.length;
    switch (effect->status) {
    case INTERPRET_DONE:
        *rip = effect->jumps ? effect->target.v : behind;
        if (traced)
            *event = (struct engine_event){.stop = ENGINE_TRAP, .signal = SIGTRAP, .code = TRAP_TRACE};
        return !traced;
    case INTERPRET_FAULT:
        *event = (struct engine_event){.stop = ENGINE_FAULT, .address = effect->fault, .access = effect->access};
        return false;
    case INTERPRET_SIGNAL:
        *event = (struct engine_event){.stop = ENGINE_TRAP, .signal = effect->signal, .code = effect->code};
        if (effect->behind)
            *rip = behind;
        return false;
    default:
        *event = engine_refusal(effect->reason);
        return false;
    }
}
