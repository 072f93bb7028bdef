/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   A block of the stream becomes one piece of host code:
 *
 *       look whether it fits below the limit; if not, leave      (R10, R11: pace, free register)
 *       recording: the header
 *       for each instruction: its addresses into the record; itself
 *       R10 on by the record; on to the next block, or leave
 *
 *   Between blocks R10 is the pace - an address on the runway, or minus the instructions that are left, less one;
 *   recording, where the next record goes - and R11 is free; the guest's are in the context. Where instructions use R10
 *   or R11 themselves, others that they do not use take their parts, and those are in the context meanwhile: from one
 *   instruction to another, if a block uses too many for one choice (struct part). No instruction is made another one
 *   for that.
 *   The look at the limit must change no flag that the guest may see. In long stays without recording it is a step
 *   along the runway: pages of zeros that end where the instructions do. A byte is read there, and the page behind
 *   faults: 3 us at the end of a stay, in place of eight instructions in each block, a fifth of a program's time. Else
 *   it is an ADD or CMP where instructions that cannot fault overwrite all flags before they read any, or LEA, and a
 *   JRCXZ on the upper 16 bits of the difference, which are zero where it is not negative.
 *   A loop of one block has its instructions several times, with one step for all: what leaves it earlier takes back
 *   what was not executed, and a fault's place gives its copy and instruction (struct native_code).
 *   Most instructions are translated from what is remembered of their form (engine/forms.c) and their bytes; those that
 *   are not light (struct native_form) are decoded.
 *   Where an instruction must be done in C, or its address, the translation leaves before it and is entered again.
 *   Code that may change without a word (code.c) is compared with what was translated, four bytes at a time, behind the
 *   look at the limit; and before each of its stores stands the question whether it reaches the block itself: only then
 *   is C asked. Blocks of JITs go on to each other like others: node's and java's loops take a tenth of what they took
 *   when every block of theirs began in C, and every store left for C.
 * Counting
 *   The pace, not recording, and context.executed; recording, the headers have the count.
 * Invariants
 *   Nothing of a translation changes a flag or a register of the guest, but its instructions and the look at the limit.
 */
#include <string.h>
#include <sys/mman.h>

#include "native/translate_priv.h"

enum { CONDITION_NOT_EQUAL = 5, CONDITION_ABOVE = 7, CONDITION_NOT_SIGN = 9 };
enum { RECORD_WORD = 8 };
enum { MOST_EXITS = 2 }; /* to addresses that are known */

/* Instructions for which one choice of registers is good. */
struct part {
    unsigned first, end;
    unsigned uses, writes; /* registers of the guest, a bit each */
    unsigned pace, pad;
    bool padded;
};

/* Of one translation after the other: room for the largest is more than is made anew for each. */
struct native_workspace {
    struct translated insn[STREAM_BLOCK_INSNS];
    struct part part[STREAM_BLOCK_INSNS];
    struct decode_insn decoded[STREAM_BLOCK_INSNS];
    _Alignas(struct native_code) char once[]; /* of a part of a block: as much as the longest one takes */
};

struct translation {
    struct native_codes *codes;
    struct native_block *block;
    struct native_code *code;
    struct emit e, cold; /* cold: what is executed once, if ever */
    bool records, whole;
    unsigned insns; /* of the block, from the first one */
    struct translated *insn;
    struct part *part;
    unsigned parts;
    const struct part *in; /* the part whose choice holds; NULL: R10 and R11 */
    uint32_t site[MOST_EXITS];
    unsigned sites;
    struct c2_error *err;
    enum c2_status status;
};

static const uint8_t *executed(const struct translation *t) { return native_executed(&t->codes->cache, t->e.at); }

static uint32_t of_gpr(unsigned number)
{
    C2_PROMISE(number < 16);
    return CONTEXT_GPR + 8 * number;
}

/* ------------------------------------------------------------------ sites */

static struct native_site *site_of(struct translation *t, uint32_t number)
{
    C2_PROMISE(number < t->codes->site_count);
    return &t->codes->sites[number];
}

/* Room for so many more. */
static enum c2_status grow_sites(struct native_codes *codes, size_t more, struct c2_error *err)
{
    C2_PROMISE(codes->site_count <= codes->site_capacity && more != 0);
    if (codes->site_count + more <= codes->site_capacity)
        return C2_OK;
    const size_t grown = codes->site_capacity ? 2 * codes->site_capacity : C2_HOST_SIZE(4096, 16);
    struct native_site *bigger = c2_realloc(codes->sites, grown * sizeof *bigger);
    if (!bigger || grown > INT32_MAX)
        return c2_fail_memory(err, "the exits of translations");
    codes->sites = bigger;
    codes->site_capacity = grown;
    return C2_OK;
}

/* Where memory fails it is site 0; status says so. */
static uint32_t translate_new_site(struct translation *t, enum native_why why, unsigned insn, uint64_t target)
{
    C2_PROMISE(insn <= t->insns);
    if (t->status == C2_OK)
        t->status = grow_sites(t->codes, 1, t->err);
    if (t->status != C2_OK)
        return 0;
    t->codes->sites[t->codes->site_count] = (struct native_site){
        .why = (uint8_t)why, .insn = (uint16_t)insn, .code = t->code, .target = target};
    return (uint32_t)t->codes->site_count++;
}

/* Leaves for C; R11 keeps what it has. */
static void emit_leave_whole(struct emit *e, uint32_t site)
{
    C2_PROMISE(site <= INT32_MAX);
    emit_put_constant(e, CONTEXT_EXIT, site);
    emit_jump_to(e, CONTEXT_LEAVE);
}

/* Leaves for C: half as long. */
static void emit_leave(struct translation *t, struct emit *e, uint32_t site)
{
    C2_PROMISE(t->codes->gate);
    emit_constant(e, NATIVE_R11, site);
    uint8_t *const jump = emit_jump(e);
    emit_aim(jump, t->codes->gate - (jump + 4));
}

/* What all translations share. There is room for the sites. */
static void emit_common(struct native_codes *codes)
{
    C2_PROMISE(codes->site_count + NATIVE_LINKED_KINDS <= codes->site_capacity);
    struct emit e = {codes->cache.written + NATIVE_PART_BYTES};
    codes->gate = e.at;
    emit_put(&e, CONTEXT_EXIT, NATIVE_R11);
    emit_jump_to(&e, CONTEXT_LEAVE);
    for (unsigned kind = 0; kind < NATIVE_LINKED_KINDS; kind++) {
        codes->lost[kind] = e.at;
        emit_get(&e, NATIVE_RCX, CONTEXT_SPILL);
        emit_leave_whole(&e, (uint32_t)codes->site_count);
        codes->sites[codes->site_count++] = (struct native_site){.why = NATIVE_INDIRECT};
    }
    codes->cache.used = (size_t)(e.at - codes->cache.written);
    C2_PROMISE(codes->cache.used < NATIVE_PART_BYTES + NATIVE_BLOCK_BYTES);
    codes->cache.used_cold = NATIVE_COLD_AT;
}

/* A jump to another block: to a stub that leaves, until the two are linked. */
static void emit_exit(struct translation *t, uint8_t *jump, uint64_t target)
{
    C2_PROMISE(jump);
    const uint32_t site = translate_new_site(t, NATIVE_GOES, t->insns, target);
    if (t->status != C2_OK)
        return;
    C2_ASSERT(t->sites < MOST_EXITS);
    site_of(t, site)->jump = jump;
    t->site[t->sites++] = site;
}

static void emit_stubs(struct translation *t)
{
    C2_PROMISE(t->sites <= MOST_EXITS);
    for (unsigned i = 0; i < t->sites; i++) {
        struct native_site *site = site_of(t, t->site[i]);
        site->stub = t->cold.at;
        emit_aim(site->jump, site->stub - (site->jump + 4));
        emit_leave(t, &t->cold, t->site[i]);
    }
}

/* ------------------------------------------------------------------ register assignment */

/* One that is free, of those allowed: the highest. NATIVE_NO_REGISTER: none. */
static unsigned free_register(unsigned used, unsigned allowed)
{
    const unsigned left = allowed & ~used & 0xffff & ~(1u << NATIVE_RSP);
    return left ? 31u - (unsigned)__builtin_clz(left) : NATIVE_NO_REGISTER;
}

/* False: there are not enough. */
static bool translate_choose(struct part *part, bool far_place)
{
    C2_PROMISE(part->end < STREAM_BLOCK_INSNS);
    const unsigned own = 1u << NATIVE_R11 | 1u << NATIVE_R10;
    const bool uses_11 = part->uses >> NATIVE_R11 & 1, uses_10 = part->uses >> NATIVE_R10 & 1;
    unsigned used = part->uses | own;
    part->pad = uses_11 ? NATIVE_NO_REGISTER : NATIVE_R11;
    if (part->padded && (uses_11 || far_place))
        part->pad = free_register(used, far_place ? NATIVE_LOW : 0xffff);
    used |= part->pad < NATIVE_NO_REGISTER ? 1u << part->pad : 0;
    part->pace = uses_10 ? free_register(used, 0xffff) : NATIVE_R10;
    return (!part->padded || part->pad != NATIVE_NO_REGISTER) && part->pace != NATIVE_NO_REGISTER;
}

/* As far as one choice is good for. */
static void choose_part(struct translation *t, unsigned first)
{
    C2_PROMISE(first < t->insns && t->parts < STREAM_BLOCK_INSNS);
    struct part *part = &t->part[t->parts++];
    bool far_place = false;
    *part = (struct part){.first = first, .end = first};
    while (part->end < t->insns) {
        const struct translated *insn = &t->insn[part->end];
        struct part longer = *part;
        longer.uses |= insn->form.uses;
        longer.writes |= insn->form.writes;
        longer.padded |= insn->wants_pad;
        far_place |= insn->far_place;
        if (!translate_choose(&longer, far_place))
            break;
        longer.end++;
        *part = longer;
    }
    C2_ASSERT(part->end > first);
}

/* Whether another register than R11 is the pad. */
static bool has_other_pad(const struct part *part)
{
    return part->pad != NATIVE_R11 && part->pad != NATIVE_NO_REGISTER;
}

static bool translate_takes(const struct part *part, unsigned number) { return part->uses >> number & 1; }

static void emit_take_registers(struct translation *t, const struct part *part)
{
    C2_PROMISE(!t->in && part->pace < NATIVE_NO_REGISTER);
    C2_PROMISE(part->pad != part->pace);
    struct emit *e = &t->e;
    t->in = part;
    if (has_other_pad(part))
        emit_put(e, of_gpr(part->pad), part->pad);
    if (part->pace != NATIVE_R10) {
        emit_put(e, of_gpr(part->pace), part->pace);
        emit_move(e, part->pace, NATIVE_R10);
    }
    if (translate_takes(part, NATIVE_R11))
        emit_get(e, NATIVE_R11, of_gpr(NATIVE_R11));
    if (translate_takes(part, NATIVE_R10))
        emit_get(e, NATIVE_R10, of_gpr(NATIVE_R10));
}

/* target: the pad has one, which R11 then has. */
static void emit_give_registers(struct translation *t, bool target)
{
    C2_PROMISE(t->in && !(target && t->in->pad == NATIVE_NO_REGISTER));
    struct emit *e = &t->e;
    const struct part *part = t->in;
    if (part->writes >> NATIVE_R10 & 1)
        emit_put(e, of_gpr(NATIVE_R10), NATIVE_R10);
    if (part->writes >> NATIVE_R11 & 1)
        emit_put(e, of_gpr(NATIVE_R11), NATIVE_R11);
    if (part->pace != NATIVE_R10) {
        emit_move(e, NATIVE_R10, part->pace);
        emit_get(e, part->pace, of_gpr(part->pace));
    }
    if (has_other_pad(part)) {
        if (target)
            emit_move(e, NATIVE_R11, part->pad);
        emit_get(e, part->pad, of_gpr(part->pad));
    }
    t->in = NULL;
}

static struct native_place place_of_part(const struct part *part)
{
    C2_PROMISE(part->pace < NATIVE_NO_REGISTER && part->pad <= NATIVE_NO_REGISTER);
    unsigned held = 0xffff & ~(1u << part->pad | 1u << part->pace);
    if (!translate_takes(part, NATIVE_R11))
        held &= ~(1u << NATIVE_R11);
    if (!translate_takes(part, NATIVE_R10))
        held &= ~(1u << NATIVE_R10);
    return (struct native_place){.held = (uint16_t)held, .pace = (uint8_t)part->pace};
}

/* ------------------------------------------------------------------ the look at the limit */

/* Whether the guest cannot see what its flags are where the block begins. */
static bool flags_are_dead(const struct translation *t)
{
    C2_PROMISE(t->insns != 0);
    enum { EVERY_FLAG = 0xd7 };
    unsigned left = EVERY_FLAG;
    for (unsigned i = 0; i < t->insns && left != 0; i++) {
        const struct translated *insn = &t->insn[i];
        if (insn->form.faults || insn->why != NATIVE_GOES || insn->form.tested & left)
            return false;
        left &= ~(unsigned)insn->form.overwritten;
    }
    return left == 0;
}

/* Recording: what the pace goes beyond the limit by, less one, in R11. */
static void emit_difference(struct translation *t)
{
    C2_PROMISE(t->records);
    emit_get(&t->e, NATIVE_R11, CONTEXT_BEYOND);
    emit_lea(&t->e, NATIVE_R11, (struct emit_place){.base = NATIVE_R11, .index = NATIVE_R10, .scale = 1});
}

/* RCX goes to R11, and the difference to RCX: then jumps back to `cold`, where R11 goes to RCX, unless its upper 16
 * bits are set. */
static void emit_keeping_flags(struct translation *t, const uint8_t *cold)
{
    C2_PROMISE(t->code->kind != NATIVE_PLAIN);
    static const uint8_t exchange[] = {0x49, 0x87, 0xcb};                      /* xchg %rcx,%r11 */
    static const uint8_t upper[] = {0x48, 0x0f, 0xc9, 0x0f, 0xb7, 0xc9, 0xe3}; /* bswap %rcx; movzwl %cx,%ecx; jrcxz */
    if (t->records) {
        emit_difference(t);
        emit_bytes(&t->e, exchange, sizeof exchange);
    } else {
        emit_lea(&t->e, NATIVE_R10, emit_at(NATIVE_R10, t->block->insns));
        emit_move(&t->e, NATIVE_R11, NATIVE_RCX);
        emit_move(&t->e, NATIVE_RCX, NATIVE_R10);
    }
    emit_bytes(&t->e, upper, sizeof upper);
    const ptrdiff_t back = cold - (t->e.at + 1);
    C2_ASSERT(back >= -128);
    emit_byte(&t->e, (uint8_t)back);
    emit_move(&t->e, NATIVE_RCX, NATIVE_R11);
}

/* Instructions of all copies. */
static unsigned translate_all_insns(const struct translation *t) { return t->code->copies * t->block->insns; }

/* A byte is read that lies behind the runway, where nothing can be read, if the block does not fit. */
static void emit_step(struct translation *t)
{
    C2_PROMISE(t->code->kind == NATIVE_PLAIN);
    emit_lea(&t->e, NATIVE_R10, emit_at(NATIVE_R10, (int32_t)translate_all_insns(t)));
    emit_read_byte(&t->e, NATIVE_R11, emit_at(NATIVE_R10, -1));
}

static void emit_with_flags(struct translation *t, const uint8_t *cold)
{
    uint8_t *jump;
    if (t->records) {
        emit_compare_with(&t->e, NATIVE_R10, CONTEXT_LIMIT);
        jump = emit_jump_if(&t->e, CONDITION_ABOVE);
    } else {
        emit_add(&t->e, NATIVE_R10, t->block->insns);
        jump = emit_jump_if(&t->e, CONDITION_NOT_SIGN);
    }
    emit_aim(jump, cold - (jump + 4));
}

/* Where the code is another one: registers and flags are as the look at the limit has left them. */
static const uint8_t *emit_changed(struct translation *t)
{
    C2_PROMISE(t->block->changes);
    const uint8_t *changed = t->e.at;
    emit_restore_flags(&t->e);
    emit_get(&t->e, NATIVE_RAX, CONTEXT_SPILL);
    emit_leave(t, &t->e, translate_new_site(t, NATIVE_CHANGED, 0, t->block->pc));
    return changed;
}

/* Compares the code with what was translated. */
static void emit_comparison(struct translation *t, const uint8_t *changed)
{
    C2_PROMISE(t->block->changes && t->block->bytes);
    const struct native_block *block = t->block;
    emit_put(&t->e, CONTEXT_SPILL, NATIVE_RAX);
    emit_save_flags(&t->e);
    emit_constant(&t->e, NATIVE_R11, block->pc);
    for (unsigned at = 0, bytes; at < block->extent; at += bytes) {
        const unsigned left = block->extent - at;
        uint32_t value = 0;
        bytes = left >= 4 ? 4 : left >= 2 ? 2 : 1;
        memcpy(&value, block->bytes + at, bytes);
        emit_compare_constant(&t->e, emit_at(NATIVE_R11, (int32_t)at), value, bytes);
        uint8_t *jump = emit_jump_if(&t->e, CONDITION_NOT_EQUAL);
        emit_aim(jump, changed - (jump + 4));
    }
    emit_restore_flags(&t->e);
    emit_get(&t->e, NATIVE_RAX, CONTEXT_SPILL);
}

/* Counts the execution, where that is asked for. */
static void emit_count(struct translation *t)
{
    C2_PROMISE(t->block->counter < CONTEXT_COUNTERS_MOST);
    if (!t->codes->counting || t->records)
        return;
    const uint32_t counter = CONTEXT_COUNTERS + 8 * t->block->counter;
    emit_get(&t->e, NATIVE_R11, counter);
    emit_lea(&t->e, NATIVE_R11, emit_at(NATIVE_R11, t->block->insns));
    emit_put(&t->e, counter, NATIVE_R11);
}

static void emit_begin(struct translation *t)
{
    C2_PROMISE(t->whole && !t->in);
    const bool compares = t->block->changes;
    const bool dead = !compares && flags_are_dead(t); /* what the code is now may read them */
    const bool steps = t->code->kind == NATIVE_PLAIN;
    const uint8_t *changed = compares ? emit_changed(t) : NULL, *cold = t->e.at;
    if (!dead && !steps)
        emit_move(&t->e, NATIVE_RCX, NATIVE_R11);
    if (!steps)
        emit_leave(t, &t->e, translate_new_site(t, NATIVE_COLD, 0, t->block->pc));
    t->code->entry = executed(t);
    if (steps)
        emit_step(t);
    else if (dead)
        emit_with_flags(t, cold);
    else
        emit_keeping_flags(t, cold);
    if (compares)
        emit_comparison(t, changed);
    emit_count(t);
    if (!t->records)
        return;
    emit_constant(&t->e, NATIVE_R11, stream_header(t->block->number, t->block->insns, t->block->slots));
    emit_store(&t->e, emit_at(NATIVE_R10, 0), NATIVE_R11);
}

/* ------------------------------------------------------------------ the end of a block */

/* On to what R11 has, through its door: RCX is put aside. */
static void emit_indirect(struct translation *t)
{
    C2_PROMISE(!t->in);
    static const uint8_t index[] = {0x41, 0x0f, 0xb7, 0xcb}; /* movzwl %r11w,%ecx */
    struct emit *e = &t->e;
    if (native_is_loose(t->code->kind)) {
        emit_leave_whole(e, translate_new_site(t, NATIVE_INDIRECT, t->insns, 0));
        return;
    }
    emit_put(e, CONTEXT_SPILL, NATIVE_RCX);
    emit_bytes(e, index, sizeof index);
    emit_jump_indexed(e, CONTEXT_TABLES + CONTEXT_TABLE_BYTES * t->code->kind, NATIVE_RCX);
}

static uint64_t translate_behind(const struct translated *insn) { return insn->pc + insn->length; }

/* All of the block has been executed: registers are given back, and the record is behind us. */
static void emit_finish(struct translation *t, bool target)
{
    C2_PROMISE(t->in);
    emit_give_registers(t, target);
    if (t->records)
        emit_lea(&t->e, NATIVE_R10, emit_at(NATIVE_R10, RECORD_WORD * (1 + t->block->slots)));
}

static void emit_goes_on(struct translation *t, uint64_t target)
{
    C2_PROMISE(!t->in);
    emit_exit(t, emit_jump(&t->e), target);
}

static uint64_t branch_target(const struct translated *insn)
{
    if (insn->form.branch != NATIVE_OTHER)
        return native_distant(insn);
    C2_PROMISE(insn->insn->operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE);
    return translate_behind(insn) + (uint64_t)insn->insn->operands[0].imm.value.s;
}

/* JRCXZ, LOOP and their kin have only short forms. */
static void emit_short_branch(struct translation *t, const struct translated *insn)
{
    C2_PROMISE(insn->length > 1);
    enum { OVER_JUMP = 5 };
    const uint8_t *bytes = (const uint8_t *)(uintptr_t)insn->pc;
    emit_bytes(&t->e, bytes, insn->length - 1u);
    emit_byte(&t->e, OVER_JUMP);
    emit_goes_on(t, translate_behind(insn));
    emit_goes_on(t, branch_target(insn));
}

/* Its condition is in the byte before its distance. */
static unsigned condition_of(const struct translated *insn)
{
    C2_PROMISE(insn->form.branch == NATIVE_JUMPS_IF);
    return ((const uint8_t *)(uintptr_t)insn->pc)[insn->length - (insn->form.near ? 2 : 5)] & 15;
}

static void emit_conditional(struct translation *t, const struct translated *insn)
{
    emit_finish(t, false);
    if (insn->form.branch != NATIVE_JUMPS_IF) {
        emit_short_branch(t, insn);
        return;
    }
    emit_exit(t, emit_jump_if(&t->e, condition_of(insn)), branch_target(insn));
    emit_goes_on(t, translate_behind(insn));
}

/* Pushes what is a constant, at once or, where it has more than 31 bits, in a way that can only fault at once. */
static void emit_push(struct translation *t, uint64_t value)
{
    emit_byte(&t->e, 0x68);
    emit_word(&t->e, (uint32_t)value);
    if (value > INT32_MAX)
        emit_store_half(&t->e, emit_at(NATIVE_RSP, 4), (uint32_t)(value >> 32));
}

static bool is_relative_branch(const struct translated *insn)
{
    return insn->form.branch != NATIVE_OTHER ? insn->form.branch != NATIVE_RETURNS
                                             : insn->insn->operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

static void emit_call(struct translation *t, const struct translated *insn)
{
    const bool direct = is_relative_branch(insn);
    if (!direct)
        native_emit_target(&t->e, insn, &insn->insn->operands[0], t->in->pad, t->in->pace);
    emit_push(t, translate_behind(insn));
    emit_finish(t, !direct);
    if (direct)
        emit_goes_on(t, branch_target(insn));
    else
        emit_indirect(t);
}

static void emit_far_jump(struct translation *t, const struct translated *insn)
{
    native_emit_target(&t->e, insn, &insn->insn->operands[0], t->in->pad, t->in->pace);
    emit_finish(t, true);
    emit_indirect(t);
}

static void emit_return(struct translation *t, const struct translated *insn)
{
    const uint64_t pops = insn->form.branch == NATIVE_RETURNS ? 0 : insn->insn->operands[0].imm.value.u;
    emit_load(&t->e, t->in->pad, emit_at(NATIVE_RSP, 0));
    emit_lea(&t->e, NATIVE_RSP, emit_at(NATIVE_RSP, (int32_t)(8 + pops)));
    emit_finish(t, true);
    emit_indirect(t);
}

static bool is_indirect(const struct translated *insn)
{
    if (insn->form.branch != NATIVE_OTHER || insn->form.light)
        return insn->form.branch == NATIVE_RETURNS;
    const ZydisInstructionCategory c = insn->insn->insn.meta.category;
    return c == ZYDIS_CATEGORY_RET ||
           ((c == ZYDIS_CATEGORY_CALL || c == ZYDIS_CATEGORY_UNCOND_BR) && !is_relative_branch(insn));
}

static bool translate_branches(const struct translated *insn)
{
    return insn->form.branch != NATIVE_OTHER || (!insn->form.light && decode_branches(&insn->insn->insn));
}

static void emit_other_branch(struct translation *t, const struct translated *insn)
{
    C2_PROMISE(decode_branches(&insn->insn->insn));
    switch (insn->insn->insn.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
        emit_conditional(t, insn);
        return;
    case ZYDIS_CATEGORY_CALL:
        emit_call(t, insn);
        return;
    case ZYDIS_CATEGORY_RET:
        emit_return(t, insn);
        return;
    case ZYDIS_CATEGORY_SYSCALL:
        emit_finish(t, false);
        emit_leave(t, &t->e, translate_new_site(t, NATIVE_SYSCALL, t->insns, translate_behind(insn)));
        return;
    default:
        break;
    }
    if (!is_relative_branch(insn)) {
        emit_far_jump(t, insn);
        return;
    }
    emit_finish(t, false);
    emit_goes_on(t, branch_target(insn));
}

static void emit_branch(struct translation *t, const struct translated *insn)
{
    switch ((enum native_branch)insn->form.branch) {
    case NATIVE_JUMPS:
        emit_finish(t, false);
        emit_goes_on(t, branch_target(insn));
        return;
    case NATIVE_JUMPS_IF:
        emit_conditional(t, insn);
        return;
    case NATIVE_CALLS:
        emit_call(t, insn);
        return;
    case NATIVE_RETURNS:
        emit_return(t, insn);
        return;
    default:
        emit_other_branch(t, insn);
    }
}

/* ------------------------------------------------------------------ instructions */

/* Leaves before the instruction, and is entered again. */
static void emit_help(struct translation *t, unsigned index, enum native_why why)
{
    C2_PROMISE(t->in && index < t->insns);
    const struct part *part = t->in;
    emit_give_registers(t, false);
    const uint32_t site = translate_new_site(t, why, index, 0);
    emit_leave(t, &t->e, site);
    if (t->status == C2_OK)
        site_of(t, site)->resume = executed(t);
    emit_take_registers(t, part);
}

static void emit_addresses(struct translation *t, unsigned index)
{
    C2_PROMISE(t->records && index < t->insns);
    const unsigned first = t->block->block->insns[index].first_slot;
    const unsigned end = index + 1u < t->block->insns ? t->block->block->insns[index + 1].first_slot : t->block->slots;
    for (unsigned slot = first; slot < end; slot++)
        native_emit_address(&t->e, &t->insn[index], slot - first, t->in->pad,
                            emit_at(t->in->pace, (int32_t)(RECORD_WORD * (1 + slot))));
}

static bool may_store_into_block(const struct translation *t, const struct translated *insn)
{
    return t->block->changes && !t->block->alone && insn->form.stores;
}

static unsigned translate_bits_of(uint64_t number)
{
    C2_PROMISE(number != 0);
    return 64u - (unsigned)__builtin_clzll(number);
}

/* Help where the store may be into the block; this takes a little more for that than what is. Of the address less the
 * lowest one that reaches the block, upper bits are zero then: no flag is changed. */
static void emit_store_check(struct translation *t, unsigned index)
{
    C2_PROMISE(t->block->changes && !t->block->alone);
    static const uint8_t over_jump[] = {0xe3, 5}; /* jrcxz */
    struct emit *e = &t->e;
    const unsigned pad = t->in->pad;
    C2_PROMISE(pad < NATIVE_NO_REGISTER);
    const ZydisDecodedOperand *operand = native_written(&t->insn[index]);
    if (!operand || pad == NATIVE_RCX) {
        emit_help(t, index, NATIVE_STORES);
        return;
    }
    const uint64_t reach = operand->size / 8 - 1u;
    native_emit_place(e, &t->insn[index], operand, pad);
    emit_put(e, CONTEXT_SPILL, NATIVE_RCX);
    emit_constant(e, NATIVE_RCX, reach - t->block->pc);
    emit_lea(e, NATIVE_RCX, (struct emit_place){.base = NATIVE_RCX, .index = pad, .scale = 1});
    emit_constant(e, pad, translate_bits_of(reach + t->block->extent));
    emit_shift_rcx(e, pad);
    emit_bytes(e, over_jump, sizeof over_jump);
    uint8_t *const elsewhere = emit_jump(e);
    emit_get(e, NATIVE_RCX, CONTEXT_SPILL);
    emit_help(t, index, NATIVE_STORES);
    uint8_t *const helped = emit_jump(e);
    emit_aim(elsewhere, e->at - (elsewhere + 4));
    emit_get(e, NATIVE_RCX, CONTEXT_SPILL);
    emit_aim(helped, e->at - (helped + 4));
}

static uint16_t place_at(const struct translation *t)
{
    const ptrdiff_t at = executed(t) - t->code->start;
    C2_ASSERT(at >= 0 && at <= UINT16_MAX);
    return (uint16_t)at;
}

/* Where the instruction begins; of copies the first one's stays. */
static void emit_place_of(struct translation *t, unsigned index)
{
    C2_PROMISE(t->in && index < t->insns);
    struct native_place *place = &t->code->place[index];
    const uint16_t at = t->code->stride == 0 ? place_at(t) : place->at;
    *place = place_of_part(t->in);
    place->at = at;
    place->held &= (uint16_t)~t->insn[index].moves;
}

static void emit_insn(struct translation *t, unsigned index)
{
    C2_PROMISE(t->in && index < t->insns);
    const struct translated *insn = &t->insn[index];
    emit_place_of(t, index);
    if (may_store_into_block(t, insn))
        emit_store_check(t, index);
    if (insn->why != NATIVE_GOES) {
        emit_help(t, index, insn->why);
        if (insn->why != NATIVE_ADDRESSES)
            return;
    } else if (t->records) {
        emit_addresses(t, index);
    }
    if (!translate_branches(insn))
        native_emit_copy(&t->e, insn, t->in->pad, t->in->pace, t->codes->context);
    else
        emit_branch(t, insn);
}

/* ------------------------------------------------------------------ loops */

enum { LOOP_INSNS = 32, LOOP_COPIES = 8 };

/* Whether it is a loop of one block, all of which is done here. */
static bool is_loop(const struct translation *t)
{
    const struct translated *last = &t->insn[t->insns - 1];
    if (last->form.branch != NATIVE_JUMPS_IF || branch_target(last) != t->block->pc || t->parts != 1)
        return false;
    for (unsigned i = 0; i < t->insns; i++)
        if (t->insn[i].why != NATIVE_GOES)
            return false;
    return true;
}

/* How often a loop's instructions come one behind the other, with one look at the limit for all. */
static unsigned copies_of(const struct translation *t)
{
    _Static_assert(LOOP_INSNS < NATIVE_BRIEF_BELOW, "where all of them do not fit it is another kind");
    const bool may = t->whole && t->code->kind == NATIVE_PLAIN && !t->block->changes && !t->block->rare &&
                     !t->codes->counting;
    if (!SHORTCUT(may) || !is_loop(t))
        return 1;
    const unsigned copies = LOOP_INSNS / t->insns;
    return copies == 0 ? 1 : copies > LOOP_COPIES ? LOOP_COPIES : copies;
}

static void emit_copy_of_loop(struct translation *t)
{
    C2_PROMISE(!t->in && t->parts == 1);
    emit_take_registers(t, &t->part[0]);
    for (unsigned i = 0; i + 1 < t->insns; i++)
        emit_insn(t, i);
    emit_place_of(t, t->insns - 1);
    emit_finish(t, false);
}

/* Each copy but the last leaves the loop where the condition is not met, and gives back what it has not executed. */
static void emit_loop(struct translation *t)
{
    const unsigned copies = t->code->copies, condition = condition_of(&t->insn[t->insns - 1]);
    C2_PROMISE(copies > 1 && copies <= LOOP_COPIES);
    const uint8_t *const entry = t->codes->cache.written + (t->code->entry - t->codes->cache.executed);
    uint8_t *out[LOOP_COPIES];
    for (unsigned i = 0; i < copies; i++) {
        const uint8_t *const start = t->e.at;
        emit_copy_of_loop(t);
        out[i] = emit_jump_if(&t->e, i + 1 < copies ? condition ^ 1 : condition);
        if (i == 0)
            t->code->place[t->insns].at = place_at(t);
        t->code->stride = i == 0 ? (uint32_t)(t->e.at - start) : t->code->stride;
        C2_PROMISE(t->e.at - start == t->code->stride);
    }
    emit_aim(out[copies - 1], entry - (out[copies - 1] + 4));
    out[copies - 1] = emit_jump(&t->e);
    for (unsigned i = 0; i + 1 < copies; i++) {
        emit_aim(out[i], t->e.at - (out[i] + 4));
        emit_lea(&t->e, NATIVE_R10, emit_at(NATIVE_R10, -(int32_t)t->block->insns));
    }
    emit_aim(out[copies - 1], t->e.at - (out[copies - 1] + 4));
    emit_goes_on(t, translate_behind(&t->insn[t->insns - 1]));
}

static void emit_body(struct translation *t)
{
    C2_PROMISE(t->parts != 0 && t->part[t->parts - 1].end == t->insns);
    for (unsigned p = 0; p < t->parts; p++) {
        if (t->in)
            emit_give_registers(t, false);
        emit_take_registers(t, &t->part[p]);
        for (unsigned i = t->part[p].first; i < t->part[p].end; i++)
            emit_insn(t, i);
    }
    t->code->place[t->insns].at = place_at(t);
    if (translate_branches(&t->insn[t->insns - 1]))
        return;
    if (t->whole) {
        emit_finish(t, false);
        emit_goes_on(t, t->block->pc + t->block->extent);
    } else {
        emit_give_registers(t, false);
        emit_leave(t, &t->e, translate_new_site(t, NATIVE_ENDS, t->insns, 0));
    }
}

/* ------------------------------------------------------------------ all of it */

static const struct decode_insn *translate_decode(struct translation *t, uint64_t pc, unsigned i)
{
    struct decode_insn *insn = &t->codes->workspace->decoded[i];
    const enum decode_result result = decode_one(insn, (struct guest_va){pc}, t->block->block->insns[i].length);
    C2_ASSERT(result == DECODE_GOOD);
    return insn;
}

/* known: the form of the instruction; NULL: it is to be found. */
static void examine_insn(struct translation *t, unsigned i, const struct decode_form *known)
{
    struct translated *insn = &t->insn[i];
    struct decode_form found;
    insn->pc = t->block->pc + t->block->block->insns[i].offset;
    insn->length = t->block->block->insns[i].length;
    if (!known) {
        const uint64_t bytes = c2_align_down(insn->pc + insn->length - 1, C2_PAGE_BYTES) + C2_PAGE_BYTES - insn->pc;
        const enum decode_result result = decode_form(&found, t->codes->forms, (struct guest_va){insn->pc}, bytes);
        C2_ASSERT(result == DECODE_GOOD && found.length == insn->length);
    }
    memcpy(&insn->form, known ? &known->own : &found.own, sizeof insn->form);
    const bool wanted = !insn->form.light || (t->records && insn->form.memory) || may_store_into_block(t, insn);
    insn->insn = wanted ? translate_decode(t, insn->pc, i) : NULL;
    native_examine(insn, t->records);
    insn->wants_pad = insn->wants_pad || is_indirect(insn) || may_store_into_block(t, insn);
}

/* known: the forms of its instructions; NULL: they are to be found. */
static void examine(struct translation *t, const struct decode_form *known)
{
    C2_PROMISE(t->insns != 0 && t->insns <= STREAM_BLOCK_INSNS);
    for (unsigned i = 0; i < t->insns; i++)
        examine_insn(t, i, known ? &known[i] : NULL);
    for (unsigned first = 0; first < t->insns; first = t->part[t->parts - 1].end)
        choose_part(t, first);
}

static size_t code_bytes(unsigned insns)
{
    return sizeof(struct native_code) + (insns + 1) * sizeof(struct native_place);
}

static struct native_code *new_code(struct native_codes *codes, struct native_block *block, unsigned insns)
{
    C2_PROMISE(insns != 0 && insns == block->insns);
    struct native_code *code = c2_pool_get(&codes->pool, code_bytes(insns));
    if (!code)
        return NULL;
    code->block = block;
    code->insns = insns;
    return code;
}

static struct native_code *code_for_once(struct native_codes *codes, struct native_block *block, unsigned insns)
{
    C2_PROMISE(insns != 0 && insns <= block->insns && insns <= STREAM_BLOCK_INSNS);
    struct native_code *code = (struct native_code *)(void *)codes->workspace->once;
    *code = (struct native_code){.block = block, .insns = insns};
    return code;
}

static enum c2_status translate_translate(struct translation *t, const struct decode_form *known)
{
    t->code->start = executed(t);
    examine(t, known);
    t->code->copies = copies_of(t);
    if (t->whole)
        emit_begin(t);
    else
        t->code->entry = executed(t);
    if (t->code->copies > 1)
        emit_loop(t);
    else
        emit_body(t);
    emit_stubs(t);
    t->code->end = executed(t);
    C2_PROMISE(t->status != C2_OK || t->code->start + t->code->place[t->insns].at <= t->code->end);
    C2_PROMISE(t->code->end - t->code->start <= (ptrdiff_t)NATIVE_BLOCK_BYTES);
    return t->status;
}

static enum c2_status keep_code(struct native_codes *codes, struct native_code *code, struct c2_error *err)
{
    C2_PROMISE(codes->count == 0 || codes->all[codes->count - 1]->start < code->start);
    if (codes->count == codes->capacity) {
        const size_t grown = codes->capacity ? 2 * codes->capacity : C2_HOST_SIZE(1024, 2);
        struct native_code **bigger = c2_realloc(codes->all, grown * sizeof *bigger);
        if (!bigger)
            return c2_fail_memory(err, "translations");
        codes->all = bigger;
        codes->capacity = grown;
    }
    codes->all[codes->count++] = code;
    return C2_OK;
}

static void note_records(struct native_codes *codes, const struct native_block *block)
{
    C2_PROMISE(!block->special);
    const unsigned density = (block->insns + block->slots) / (1u + block->slots);
    codes->densest = density > codes->densest ? density : codes->densest;
    codes->most_slots = block->slots > codes->most_slots ? block->slots : codes->most_slots;
}

static void forget_part(struct native_codes *codes)
{
    if (codes->part)
        codes->site_count = codes->sites_before_part;
    codes->part = NULL;
}

static struct translation begin_translation(struct native_codes *codes, struct native_code *code, uint8_t *at,
                                            struct c2_error *err)
{
    C2_PROMISE(code->kind < NATIVE_KINDS && code->insns <= code->block->insns);
    return (struct translation){.codes = codes,
                                .block = code->block,
                                .code = code,
                                .e = {at},
                                .cold = {codes->cache.written + codes->cache.used_cold},
                                .records = native_records(code->kind),
                                .insns = code->insns,
                                .insn = codes->workspace->insn,
                                .part = codes->workspace->part,
                                .err = err};
}

/* To blocks that have a translation already it goes by itself from the start. */
static void link_ahead(const struct translation *t, struct native_blocks *blocks)
{
    C2_PROMISE(t->whole);
    const enum native_kind kind = t->code->kind;
    for (unsigned i = 0; i < t->sites && !native_is_loose(kind); i++) {
        const struct native_block *to = native_blocks_find(blocks, t->codes->sites[t->site[i]].target);
        if (SHORTCUT(to && !to->rare && to->code[kind]))
            native_link(t->codes, t->site[i], to->code[kind]);
    }
}

enum { JUMP_BYTES = 5, OPCODE_JCC = 0x80 };

static bool is_conditional(const struct native_site *site)
{
    C2_PROMISE(site->why == NATIVE_GOES && site->jump);
    return site->jump[-2] == 0x0f && (site->jump[-1] & 0xf0) == OPCODE_JCC;
}

/* The conditional jump and the one behind it, which leads on where the condition is not met, change places. */
static void exchange(struct native_site *conditional, struct native_site *other)
{
    int32_t distance;
    uint8_t *const first = conditional->jump, *const second = other->jump;
    C2_PROMISE(second == first + 4 + 1 && !conditional->linked && other->code == conditional->code);
    memcpy(&distance, second, sizeof distance);
    first[-1] ^= 1;
    emit_aim(first, second + 4 + distance - (first + 4));
    conditional->jump = second;
    other->jump = first;
}

/* Right behind the jump that leads to it, or behind a door of its own. */
static void lay(struct translation *t, uint32_t from)
{
    C2_PROMISE(from < t->codes->site_count);
    struct native_site *site = &t->codes->sites[from];
    uint8_t *const end = t->codes->cache.written + t->codes->cache.used;
    if (site->why == NATIVE_INDIRECT) {
        native_emit_door(t->codes, &t->e, t->code->kind, t->block->pc);
        return;
    }
    if (is_conditional(site) && site->jump + 4 + JUMP_BYTES == end)
        exchange(&t->codes->sites[from], &t->codes->sites[from + 1]);
    if (site->jump + 4 == end)
        t->e.at = end;
}

enum c2_status native_translate(struct native_code **out, struct native_codes *codes, struct native_block *block,
                                enum native_kind kind, struct native_blocks *blocks, int64_t from, struct c2_error *err)
{
    C2_PROMISE(!block->special && kind < NATIVE_KINDS && !block->code[kind]);
    const uint64_t drops = codes->drops;
    forget_part(codes);
    if (NATIVE_COLD_AT - codes->cache.used < NATIVE_BLOCK_BYTES ||
        native_cache_end(codes->cache.written) - (codes->cache.written + codes->cache.used_cold) < NATIVE_COLD_BYTES)
        native_drop(codes, blocks);
    if (!native_is_loose(kind) && native_open_table(codes, kind, err) != C2_OK)
        return C2_ERR_NO_MEMORY;
    native_cache_prepare(&codes->cache);
    struct native_code *code = new_code(codes, block, block->insns);
    if (!code)
        return c2_fail_memory(err, "a translation");
    code->kind = kind;
    struct translation t = begin_translation(codes, code, native_next(&codes->cache), err);
    t.whole = true;
    if (SHORTCUT(from >= 0 && drops == codes->drops && kind == NATIVE_PLAIN && !block->changes && !block->rare))
        lay(&t, (uint32_t)from);
    enum c2_status status = translate_translate(&t, native_blocks_decoded(blocks, block));
    if (status == C2_OK)
        status = keep_code(codes, code, err);
    if (status != C2_OK) { /* a door may lead there */
        native_drop(codes, blocks);
        return status;
    }
    codes->cache.used = (size_t)(t.e.at - codes->cache.written);
    codes->cache.used_cold = (size_t)(t.cold.at - codes->cache.written);
    C2_PROMISE(codes->cache.used <= NATIVE_COLD_AT &&
               codes->cache.used_cold <= NATIVE_CACHE_BYTES - NATIVE_MASKED_BYTES);
    block->code[kind] = *out = code;
    note_records(codes, block);
    link_ahead(&t, blocks);
    return C2_OK;
}

enum c2_status native_translate_part(struct native_code **out, struct native_codes *codes, struct native_block *block,
                                     unsigned insns, bool records, struct c2_error *err)
{
    forget_part(codes);
    struct native_code *code = code_for_once(codes, block, insns);
    code->kind = records ? NATIVE_LOOSE_RECORDING : NATIVE_LOOSE;
    codes->part = *out = code;
    codes->sites_before_part = codes->site_count;
    struct translation t = begin_translation(codes, code, codes->cache.written, err);
    return translate_translate(&t, NULL);
}

static void forget_translations(void *self, struct native_block *block)
{
    (void)self;
    memset(block->code, 0, sizeof block->code);
}

void native_drop(struct native_codes *codes, struct native_blocks *blocks)
{
    forget_part(codes);
    c2_pool_release(&codes->pool);
    codes->count = codes->site_count = 0;
    codes->drops++;
    native_close_tables(codes);
    emit_common(codes);
    if (blocks)
        native_blocks_each(blocks, forget_translations, NULL);
}

enum c2_status native_codes_create(struct native_codes *codes, struct c2_error *err)
{
    C2_ASSERT(codes->context && !codes->cache.written);
    codes->densest = 1;
    codes->workspace = c2_alloc(sizeof *codes->workspace + code_bytes(STREAM_BLOCK_INSNS));
    enum c2_status status = codes->workspace ? C2_OK : c2_fail_memory(err, "translations");
    if (status == C2_OK)
        status = decode_forms_create(&codes->forms, native_own, err);
    if (status == C2_OK)
        status = grow_sites(codes, NATIVE_LINKED_KINDS, err);
    if (status == C2_OK)
        status = native_cache_create(&codes->cache, err);
    if (status == C2_OK)
        emit_common(codes);
    return status;
}

void native_codes_release(struct native_codes *codes)
{
    native_close_tables(codes);
    c2_pool_release(&codes->pool);
    c2_free(codes->doors);
    c2_free(codes->all);
    c2_free(codes->sites);
    c2_free(codes->workspace);
    decode_forms_destroy(codes->forms);
    if (codes->cache.written)
        native_cache_release(&codes->cache);
    *codes = (struct native_codes){0};
}
