/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Unicorn executes the guest in the window itself: the whole window is one region of it, mapped once, and CR3 holds
 *   the root of mmu/'s page tables, which Unicorn walks for presence and rights (it ignores the frames). So every
 *   first touch, and every forbidden access, arrives as a restartable page fault with exact RIP and CR2.
 *   A hook at each translation block and the translations themselves write the reference stream (stream.h):
 *
 *       block hook:  close the record of the block before - look the block up - open its record
 *       load/store:  store the address into its slot (unicorn_inline.c)
 *
 *   A translation whose block is known and asks for nothing else does without the hook: it counts the instructions,
 *   writes the header of the record and makes room for the slots by itself. It calls the hook where the next pause or
 *   the end of the batch comes first, or where what it does next depends on what was before (needs_hook).
 *   Where a translation makes other accesses than its block, and where Unicorn cannot be made to record so, a hook at
 *   each load and store appends the address instead, from there to the end of the run.
 *
 *   Rare causes fold into one number, the instruction count to pause at. A budget of whole blocks ends there as well.
 *   A translation is the block of the stream (code.c), or a part of it: then the record stays open and is joined with
 *   the translations behind it. What Unicorn executes wrongly, or not at all, is interpreted between two of them
 *   (interpret/interpret.h), within the record as well: the stream does not show what has executed an instruction.
 *   Where a budget ends within a block, its first instructions are executed one by one, each in a translation of its
 *   own, which is kept beside that of the block, and the record is closed there.
 *   Recording off: instructions are counted in the same way; on request those of each block, by the hook.
 *   Unicorn has three sets of translations - those that record, those with hooks, those with neither - and uses the one
 *   of the time (unicorn_state.c): so a switch drops nothing.
 * Counting
 *   Instructions in unicorn_record.c; events become slots in unicorn_events.c.
 * Cost
 *   A block 2 to 3 ns, with the hook some 5 more; a load or store one instruction of the host more than without
 *   recording, 2 to 3 ns with hooks (unicorn_access.c; 10 and 60 by Unicorn itself): bench/README.md. An instruction
 *   that is executed alone 30 ns, and 3 us the first time; a switch of recording off and on 4 us with hooks, and
 *   nothing runs slower after it.
 * Invariants
 *   current is null except while Unicorn runs its translations, or is stopped between two of them.
 * Not modelled
 *   Debug registers; alignment checks (AC); exceptions of the x87 unit that trap (refused where one occurs). A branch
 *   to an address that is not canonical faults at its target. Unicorn reads a whole block before it executes any of it:
 *   the page that it goes on to is touched, and may fault, when the block starts.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "unicorn/engine_priv.h"
#include "unicorn/unicorn_engine.h"

static struct unicorn *unicorn_engine_self_of(struct engine *engine) { return (struct unicorn *)engine; }

static void pause_run(struct unicorn *u, enum unicorn_pause cause)
{
    u->cause = cause;
    uc_emu_stop(u->state.uc);
}

static void pause_failed(struct unicorn *u) { pause_run(u, PAUSE_FAILED); }

/* ------------------------------------------------------------------ blocks left early */

/* The instruction of the current block at pc, or -1: then the block was completed. */
static int engine_insn_at(const struct unicorn_block *block, uint64_t pc)
{
    uint64_t offset = pc - block->pc;
    if (pc < block->pc || offset >= block->extent || !block->block)
        return -1;
    for (unsigned i = 0; i < block->insns; i++)
        if (block->block->insns[i].offset == offset)
            return (int)i;
    return -1;
}

/* Closes the record after a stop at rip, an instruction that did not complete or the first one behind the block. */
static enum c2_status close_at(struct unicorn *u, uint64_t rip)
{
    int insn = u->run_state.current ? engine_insn_at(u->run_state.current, rip) : -1;
    if (insn < 0)
        return unicorn_record_close(u);
    unicorn_code_mmx_leave(u->code, u->run_state.current, rip);
    return unicorn_record_close_partly(u, (unsigned)insn);
}

/* ------------------------------------------------------------------ hooks */

/* Whether the guest has come to the block by a jump, call, return or from outside, and not by running on. */
static bool engine_arrives(struct unicorn *u, const struct unicorn_block *block)
{
    const bool again = block->pc == u->began_pc && u->run_state.instructions == u->began_at; /* it faulted */
    u->arrived = again ? u->arrived : block->pc != u->behind;
    u->began_pc = block->pc;
    u->began_at = u->run_state.instructions;
    u->behind = block->pc + block->extent;
    return u->arrived;
}

/* Whether it has come there with the stack pointer where engine_guard() says. */
static bool engine_is_beyond(struct unicorn *u, const struct unicorn_block *block)
{
    const bool arrived = engine_arrives(u, block);
    u->beyond = arrived && u->guard_bytes != 0 &&
                unicorn_get(&u->state, UC_X86_REG_RSP) - u->guard_from < u->guard_bytes;
    return u->beyond;
}

/* Watchers are notified of the block. False: the run pauses. */
static bool engine_tell(struct unicorn *u, const struct unicorn_block *block)
{
    const struct engine_watch *watch = &u->base.config.watch;
    u->stopped = false;
    if (watch->reached(watch->self, &u->base, (struct guest_va){block->pc}, &u->failure) != C2_OK) {
        pause_failed(u);
        return false;
    }
    if (!u->stopped)
        return true;
    u->cut_pc = block->pc;
    u->cut_at = u->run_state.instructions;
    pause_run(u, PAUSE_STOP);
    return false;
}

/* A block that asks for more than being recorded. False: the run pauses. The rest of a block that was cut is not what a
 * watch looks for, nor is one that it has stopped at. */
static __attribute__((noinline)) bool admit_rare(struct unicorn *u, struct unicorn_block *block)
{
    if (!unicorn_code_fresh(block)) {
        pause_run(u, PAUSE_CHANGED);
        return false;
    }
    const bool rest = block->pc == u->cut_pc && u->run_state.instructions == u->cut_at;
    if (!rest && (block->watched || u->beyond) && !engine_tell(u, block))
        return false;
    if (block->part && unicorn_code_name(u->code, block, &u->failure) != C2_OK) {
        pause_failed(u);
        return false;
    }
    if (block->special)
        pause_run(u, PAUSE_SPECIAL);
    else if (block->mmx)
        unicorn_code_mmx_begin(u->code, block);
    u->joined = block->joins;
    return !block->special;
}

/* The block begins, if nothing keeps it from it; then the run pauses. */
static inline void engine_begin_block(struct unicorn *u, struct unicorn_block *block, bool guards)
{
    C2_PROMISE(!u->run_state.current && !block->stale);
    const bool beyond = guards && engine_is_beyond(u, block);
    if (C2_UNLIKELY(block->rare || beyond) && !admit_rare(u, block))
        return;
    if (u->recording && C2_UNLIKELY(!unicorn_record_open(u, block))) {
        pause_failed(u);
        return;
    }
    if (C2_UNLIKELY(u->counting) && !u->recording)
        block->executed += block->insns;
    u->run_state.current = block;
    u->run_state.instructions += block->insns;
    if (C2_UNLIKELY(block->first))
        pause_run(u, PAUSE_INTERPRET);
}

/* ------------------------------------------------------------------ hooks: what goes on within a block
 * Each returns whether that is all there is to the translation that starts at pc; otherwise it starts a block. */

/* The current block was left before the instruction at pc, which changes it. */
static bool leave_abandoned(struct unicorn *u, uint64_t pc)
{
    u->access.abandoned = false;
    u->cut = NULL;
    if (u->step == STEP_BEHIND)
        u->step = STEP_BEFORE;
    if (close_at(u, pc) != C2_OK) {
        pause_failed(u);
        return true;
    }
    if (u->access.unreported)
        pause_run(u, PAUSE_DEAF);
    return u->access.unreported;
}

/* The instructions before pc have changed what follows. */
static bool leave_changed(struct unicorn *u, uint64_t pc)
{
    u->cut = NULL;
    if (close_at(u, pc) == C2_OK)
        return false;
    pause_failed(u);
    return true;
}

/* What is at pc goes on with the record of the current block: a translation, unless it is interpreted. */
static void aim(struct unicorn *u, uint64_t pc)
{
    const unsigned insn = (unsigned)engine_insn_at(u->run_state.current, pc);
    u->run_state.part = pc;
    if (unicorn_interprets(u->run_state.current, insn))
        pause_run(u, PAUSE_INTERPRET);
    else if (u->inlined)
        u->run_state.base = u->run_state.next - (1 + u->run_state.current->slots) +
                            unicorn_record_slots(u->run_state.current, insn);
}

/* An instruction is about to be executed alone, unless those before it were the last, or have changed it. One that was
 * abandoned is a block of its own. */
static bool step_over(struct unicorn *u, uint64_t pc)
{
    bool over = u->step == STEP_BEHIND && (!u->cut || --u->steps == 0);
    u->step = STEP_BEHIND;
    if (!over && !u->cut)
        return false;
    if (!over && u->run_state.current && !unicorn_code_fresh(u->run_state.current)) {
        if (leave_changed(u, pc))
            return true;
        over = true;
    }
    if (over)
        pause_run(u, PAUSE_STEP);
    else if (unicorn_code_refused(u->code))
        pause_run(u, PAUSE_REFUSED);
    else if (!u->run_state.current)
        engine_begin_block(u, u->cut, true);
    else
        aim(u, pc);
    return true;
}

/* The current block goes on with the translation. */
static bool engine_join(struct unicorn *u, uint64_t pc, uint32_t size)
{
    const struct unicorn_block *whole = u->run_state.current;
    C2_PROMISE(engine_insn_at(whole, pc) > 0);
    if (!unicorn_code_fresh(whole))
        return leave_changed(u, pc);
    const bool interpreted = unicorn_interprets(whole, (unsigned)engine_insn_at(whole, pc));
    const struct unicorn_block *part = unicorn_code_find(u->code, u->front, pc, size);
    if (part && !unicorn_code_fresh(part))
        pause_run(u, PAUSE_CHANGED);
    else if (!interpreted && pc + size > whole->pc + whole->extent)
        pause_run(u, PAUSE_TRIM);
    else if (!part)
        pause_run(u, PAUSE_LEARN);
    else if (interpreted)
        pause_run(u, PAUSE_INTERPRET);
    else {
        aim(u, pc);
        u->joined = pc + size < whole->pc + whole->extent;
    }
    return true;
}

static __attribute__((noinline)) bool engine_goes_on(struct unicorn *u, uint64_t pc, uint32_t size)
{
    if (u->access.abandoned && leave_abandoned(u, pc))
        return true;
    if (u->step != STEP_NONE && step_over(u, pc))
        return true;
    if (unicorn_code_refused(u->code)) {
        pause_run(u, PAUSE_REFUSED);
        return true;
    }
    u->joined = u->joined && u->run_state.current;
    return u->joined && engine_join(u, pc, size);
}

/* A turn of whole blocks ends where it would if nothing watched. */
static inline unsigned engine_needed_for(const struct unicorn *u, const struct unicorn_block *block)
{
    return block->cost + (u->whole ? block->rest : 0u);
}

static inline void enter_translation(struct unicorn *u, uint64_t pc, uint32_t size, bool guards)
{
    u->pause_pc = pc;
    u->pause_size = size;
    u->run_state.part = 0;
    const bool refused = unicorn_code_refused(u->code);
    if (C2_UNLIKELY(u->access.abandoned || u->step != STEP_NONE || u->joined || refused) && engine_goes_on(u, pc, size))
        return;
    if (C2_UNLIKELY(unicorn_record_close(u) != C2_OK)) {
        pause_failed(u);
        return;
    }
    struct unicorn_block *block = unicorn_code_find(u->code, u->front, pc, size);
    if (C2_UNLIKELY(!block || u->run_state.instructions + engine_needed_for(u, block) > u->pause_at)) {
        u->cut = block;
        pause_run(u, block || u->run_state.instructions >= u->pause_at ? PAUSE_BUDGET : PAUSE_LEARN);
        return;
    }
    engine_begin_block(u, block, guards);
}

/* What a translation has done by itself when it began is taken back. */
static void engine_take_back(struct unicorn *u, const struct unicorn_translation *entry)
{
    u->run_state.current = u->run_state.before;
    u->run_state.instructions -= entry->insns;
    if (u->recording)
        u->run_state.next -= entry->bytes / sizeof *u->run_state.next;
}

/* Whether the translation that begins next must call the block hook, whatever is left of the budget. */
static bool needs_hook(const struct unicorn *u)
{
    return u->access.abandoned || u->step != STEP_NONE || u->joined || u->run_state.part ||
           unicorn_code_refused(u->code);
}

/* An interrupt may come at any time. */
static void engine_set_pace(struct unicorn *u)
{
    u->run_state.pause_at = needs_hook(u) ? 0 : u->pause_at;
    if (u->interrupted)
        u->run_state.pause_at = 0;
}

/* A translation with an entry, whose block has begun: from now on by itself. */
static void enter_itself(struct unicorn *u, struct unicorn_translation *entry)
{
    engine_take_back(u, entry);
    enter_translation(u, entry->pc, entry->size, false);
    struct unicorn_block *block = u->run_state.current;
    if (block && block->pc == entry->pc && block->size == entry->size && u->cause == PAUSE_NONE)
        unicorn_code_attach(entry, block);
    engine_set_pace(u);
}

static void on_block(uc_engine *uc, uint64_t pc, uint32_t size, void *self)
{
    (void)uc;
    if (size == 0)
        enter_itself(self, (struct unicorn_translation *)(uintptr_t)pc);
    else
        enter_translation(self, pc, size, false);
}

/* The same where the stack pointer may be guarded. */
static void on_block_guarded(uc_engine *uc, uint64_t pc, uint32_t size, void *self)
{
    (void)uc;
    enter_translation(self, pc, size, true);
}

static void on_access(uc_engine *uc, uc_mem_type type, uint64_t address, int size, int64_t value, void *self)
{
    struct unicorn *u = self;
    (void)uc, (void)type, (void)size, (void)value;
    *u->access.next++ = address;
}

static void on_interrupt(uc_engine *uc, uint32_t number, void *self)
{
    struct unicorn *u = self;
    (void)uc;
    u->pause_number = number;
    pause_run(u, PAUSE_EXCEPTION);
}

static void on_syscall(uc_engine *uc, void *self)
{
    (void)uc;
    pause_run(self, PAUSE_SYSCALL);
}

static bool on_invalid(uc_engine *uc, void *self)
{
    struct unicorn *u = self;
    (void)uc;
    u->cause = PAUSE_INVALID;
    return false;
}

/* ------------------------------------------------------------------ what a pause was for */

/* What the instruction at pc does to the byte at address, as actions of its operands; 0: nothing. */
static unsigned actions_at(struct unicorn *u, const struct decode_insn *insn, uint64_t pc, uint64_t address)
{
    unsigned actions = 0;
    for (unsigned i = 0; i < insn->insn.operand_count; i++) {
        uint64_t start;
        if (interpret_address(&start, &u->cpu, (struct guest_va){pc}, &insn->insn, &insn->operands[i]) &&
            address - start < insn->operands[i].size / 8)
            actions |= insn->operands[i].actions;
    }
    return actions;
}

/* An instruction of the current block, as far as that reaches. */
static bool engine_decode_at(struct unicorn *u, struct decode_insn *insn, uint64_t rip)
{
    return decode_one(insn, (struct guest_va){rip}, u->run_state.current->pc + u->run_state.current->extent - rip) ==
           DECODE_GOOD;
}

static bool engine_is_canonical(uint64_t address) { return (uint64_t)((int64_t)(address << 16) >> 16) == address; }

static struct engine_event engine_protection_fault(bool stack)
{
    return (struct engine_event){.stop = ENGINE_TRAP, .signal = stack ? SIGBUS : SIGSEGV, .code = 0x80 /* SI_KERNEL */};
}

/* ------------------------------------------------------------------ which access of an instruction faults
 * Unicorn does not make them in a CPU's order (CMPS), nor does it know addresses that are not canonical. */

/* Whether the operand, which lies at start, cannot be accessed: *event is the fault. */
static bool engine_fails(const struct unicorn *u, const ZydisDecodedOperand *operand, uint64_t start,
                         struct engine_event *event)
{
    const enum mmu_access access = operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE ? MMU_ACCESS_WRITE
                                                                                      : MMU_ACCESS_READ;
    const struct guest_va first = {start}, last = {start + operand->size / 8 - 1};
    const bool canonical = engine_is_canonical(first.v) && engine_is_canonical(last.v);
    if (!canonical) {
        *event = engine_protection_fault(operand->mem.segment == ZYDIS_REGISTER_SS);
        return true;
    }
    *event = (struct engine_event){.stop = ENGINE_FAULT, .address = first, .access = access};
    if (!mmu_ready(u->base.config.mmu, first, access))
        return true;
    event->address.v = c2_align_down(last.v, C2_PAGE_BYTES);
    return !mmu_ready(u->base.config.mmu, last, access);
}

/* Whether operand i of the instruction is accessed in this round: what is only read comes first. */
static bool engine_is_turn(const struct decode_insn *insn, unsigned i, bool writes)
{
    return (insn->operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0 ? writes : !writes;
}

/* The first access of the instruction at rip that cannot be made; false: it is none of the current block's, or all can.
 * What is modified is written, as CPUs have it. */
static bool first_failure(struct unicorn *u, uint64_t rip, struct engine_event *event)
{
    struct decode_insn insn;
    uint64_t start;
    if (!u->run_state.current || engine_insn_at(u->run_state.current, rip) < 0 || !engine_decode_at(u, &insn, rip))
        return false;
    const struct guest_va pc = {rip};
    const ZydisDecodedOperand *source = decode_compared_source(&insn);
    if (source && interpret_address(&start, &u->cpu, pc, &insn.insn, source) && engine_fails(u, source, start, event))
        return true;
    for (int writes = 0; writes < 2; writes++)
        for (unsigned i = 0; i < insn.insn.operand_count; i++)
            if (engine_is_turn(&insn, i, writes) &&
                interpret_address(&start, &u->cpu, pc, &insn.insn, &insn.operands[i]) &&
                engine_fails(u, &insn.operands[i], start, event))
                return true;
    return false;
}

/* Whether a page fault at rip is that of a fetch: the current block is complete, and what follows it cannot be read. It
 * may follow inside the block, in a loop, if it goes on to the next page. */
static bool faults_in_fetch(struct unicorn *u, uint64_t rip, uint64_t address)
{
    struct decode_insn insn;
    if (!u->run_state.current || engine_insn_at(u->run_state.current, rip) < 0)
        return true;
    if (address != c2_align_down(rip, C2_PAGE_BYTES) + C2_PAGE_BYTES)
        return false;
    return engine_decode_at(u, &insn, rip) && actions_at(u, &insn, rip, address) == 0;
}

static void engine_fail(struct unicorn *u, struct engine_event *event, struct c2_error *err)
{
    event->stop = ENGINE_FAILED;
    if (err)
        *err = u->failure;
}

static bool executable(const struct unicorn *u, uint64_t pc, uint32_t bytes, struct engine_event *event)
{
    const struct mmu *mmu = u->base.config.mmu;
    struct guest_va last = {pc + bytes - 1};
    struct guest_va at = {pc};
    if (!mmu_ready(mmu, at, MMU_ACCESS_EXEC) || !mmu_ready(mmu, (at = last), MMU_ACCESS_EXEC)) {
        *event = (struct engine_event){.stop = ENGINE_FAULT, .address = at, .access = MMU_ACCESS_EXEC};
        return false;
    }
    return true;
}

/* Each handler returns true when the run goes on; otherwise *event says why it stops. */

static bool after_learn(struct unicorn *u, struct engine_event *event, struct c2_error *err)
{
    struct unicorn_block *block;
    struct guest_va absent = {0};
    if (!executable(u, u->pause_pc, u->pause_size, event) ||
        unicorn_code_lacks(&absent, u->code, u->pause_pc, u->pause_size)) {
        if (absent.v)
            *event = (struct engine_event){.stop = ENGINE_FAULT, .address = absent, .access = MMU_ACCESS_EXEC};
        unicorn_code_left(u->code, u->pause_pc, u->pause_size);
        if (close_at(u, u->pause_pc) != C2_OK)
            engine_fail(u, event, err);
        return false;
    }
    if (unicorn_access_code(&u->access, u->pause_pc, u->pause_size, &u->failure) == C2_OK &&
        unicorn_code_learn(&block, u->code, u->pause_pc, u->pause_size, u->run_state.current, &u->failure) == C2_OK)
        return true;
    engine_fail(u, event, err);
    return false;
}

/* Code in the range has changed. No record is open. */
static enum c2_status forget_code(struct unicorn *u, uint64_t start, uint64_t bytes)
{
    struct stream_writer *writer = u->base.config.writer;
    if (!unicorn_code_forget(u->code, start, bytes) || !writer)
        return C2_OK;
    return stream_writer_mark(writer, STREAM_CODE, (const uint64_t[]){start, bytes}, 2, &u->failure);
}

static bool engine_after_change(struct unicorn *u, struct engine_event *event, struct c2_error *err)
{
    if (close_at(u, u->pause_pc) == C2_OK && forget_code(u, u->pause_pc, u->pause_size) == C2_OK)
        return true;
    engine_fail(u, event, err);
    return false;
}

/* The translation has to end where the current block does. */
static bool after_trim(struct unicorn *u)
{
    const unsigned left = u->run_state.current->insns - (unsigned)engine_insn_at(u->run_state.current, u->pause_pc);
    unicorn_code_trim(u->code, u->pause_pc, u->pause_size, left);
    return true;
}

static uint64_t rip_of(struct unicorn *u) { return unicorn_get(&u->state, UC_X86_REG_RIP); }

/* Instructions of MMX that have come to their memory have entered MMX. (Those that trap have, too, as on CPUs.) */
static bool is_mmx(const struct decode_insn *insn)
{
    for (unsigned i = 0; i < insn->insn.operand_count_visible; i++)
        if (insn->operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            ZydisRegisterGetClass(insn->operands[i].reg.value) == ZYDIS_REGCLASS_MMX)
            return insn->insn.meta.isa_ext != ZYDIS_ISA_EXT_SSSE3 &&
                   insn->insn.meta.isa_set != ZYDIS_ISA_SET_SSSE3MMX; /* they do so behind it */
    return false;
}

static void leave_mmx(struct unicorn *u, uint64_t rip)
{
    struct decode_insn insn;
    unicorn_code_mmx_faulted(u->code, rip);
    if (u->run_state.current && engine_insn_at(u->run_state.current, rip) >= 0 && engine_decode_at(u, &insn, rip) &&
        is_mmx(&insn))
        unicorn_x87_leave_mmx();
}

static bool after_page_fault(struct unicorn *u, struct engine_event *event, struct c2_error *err)
{
    uint64_t rip = rip_of(u), address = unicorn_get(&u->state, UC_X86_REG_CR2);
    bool fetch = faults_in_fetch(u, rip, address);
    if (!fetch)
        leave_mmx(u, rip);
    if (fetch || !first_failure(u, rip, event))
        *event = (struct engine_event){
            .stop = ENGINE_FAULT, .address = {address}, .access = fetch ? MMU_ACCESS_EXEC : MMU_ACCESS_UNKNOWN};
    const bool complete = fetch && !u->joined; /* else a translation behind it belongs to the block, and is missing */
    if ((complete ? unicorn_record_close(u) : close_at(u, rip)) != C2_OK)
        engine_fail(u, event, err);
    else if (fetch && u->run_state.instructions == u->budget_at) /* it comes again when the guest goes on */
        event->stop = ENGINE_BUDGET;
    unicorn_forget_exception(&u->state);
    return false;
}

/* Of the x87 unit: a CPU raises it at the next x87 instruction that waits, which is behind us. */
static struct engine_event x87_trap(void)
{
    return engine_refusal(
        "an x87 instruction before this one has raised a floating-point exception that traps, which is not "
        "modelled: mask it (feenableexcept), or calculate with SSE");
}

static bool after_exception(struct unicorn *u, struct engine_event *event, struct c2_error *err)
{
    if (u->pause_number == 14)
        return after_page_fault(u, event, err);
    struct engine_event failure = engine_protection_fault(false);
    if (u->pause_number == 13) {
        leave_mmx(u, rip_of(u));
        first_failure(u, rip_of(u), &failure);
    } else {
        unicorn_code_mmx_faulted(u->code, rip_of(u));
    }
    enum c2_status status = close_at(u, rip_of(u));
    unicorn_forget_exception(&u->state);
    if (status != C2_OK) {
        engine_fail(u, event, err);
        return false;
    }
    switch (u->pause_number) {
    case 0:
        *event = (struct engine_event){.stop = ENGINE_TRAP, .signal = SIGFPE, .code = FPE_INTDIV};
        return false;
    case 1:
        *event = (struct engine_event){.stop = ENGINE_TRAP, .signal = SIGTRAP, .code = TRAP_TRACE};
        return false;
    case 13:
        *event = failure;
        return false;
    case 16:
        *event = x87_trap();
        return false;
    case UNICORN_FLOAT_TRAP:
        *event = (struct engine_event){
            .stop = ENGINE_TRAP, .signal = SIGFPE, .code = interpret_float_code(unicorn_get_mxcsr(&u->state))};
        return false;
    default:
        c2_fail(&u->failure, C2_ERR_INTERNAL, "the engine raised exception %u at 0x%llx, which c2emu does not know",
                u->pause_number, (unsigned long long)rip_of(u));
        engine_fail(u, event, err);
        return false;
    }
}

static bool after_invalid(struct unicorn *u, struct engine_event *event, struct c2_error *err)
{
    enum c2_status status = close_at(u, rip_of(u));
    unicorn_forget_exception(&u->state);
    if (status != C2_OK) {
        engine_fail(u, event, err);
        return false;
    }
    *event = engine_refusal("the engine does not know this instruction");
    return false;
}

static bool engine_after_syscall(struct unicorn *u, struct engine_event *event, struct c2_error *err)
{
    if (unicorn_record_close(u) != C2_OK) {
        engine_fail(u, event, err);
        return false;
    }
    unicorn_set(&u->state, UC_X86_REG_RCX, rip_of(u));
    unicorn_set(&u->state, UC_X86_REG_R11, unicorn_get(&u->state, UC_X86_REG_EFLAGS));
    event->stop = ENGINE_SYSCALL;
    return false;
}

/* ------------------------------------------------------------------ interpreted instructions */

/* Executes the instruction at pause_pc; false: it has not been, and *event says why. */
static bool interpret(struct unicorn *u, const struct engine_special *special, struct interpret_effect *effect,
                      bool *traced, struct engine_event *event)
{
    unicorn_set(&u->state, UC_X86_REG_RIP, u->pause_pc);
    if (unicorn_x87_trapped(&u->state)) {
        *event = x87_trap();
        return false;
    }
    return engine_special_execute(special, &u->cpu, effect, traced, event);
}

static bool engine_finish(struct unicorn *u, const struct engine_special *special,
                          const struct interpret_effect *effect, bool traced, struct engine_event *event)
{
    uint64_t rip = u->pause_pc;
    const bool goes_on = engine_special_finish(special, effect, traced, &rip, event);
    unicorn_set(&u->state, UC_X86_REG_RIP, rip);
    return goes_on;
}

static bool after_special(struct unicorn *u, struct engine_event *event, struct c2_error *err)
{
    struct engine_special *special;
    struct interpret_effect effect = {.status = INTERPRET_DONE};
    bool traced;
    if (unicorn_record_close(u) != C2_OK ||
        unicorn_code_special(&special, u->code, u->pause_pc, &u->failure) != C2_OK) {
        engine_fail(u, event, err);
        return false;
    }
    if (!interpret(u, special, &effect, &traced, event))
        return false;
    if (u->recording && engine_special_record(special, &effect, u->base.config.writer, &u->failure) != C2_OK) {
        engine_fail(u, event, err);
        return false;
    }
    if (effect.status == INTERPRET_DONE) {
        u->run_state.instructions++;
        special->executed += u->counting && !u->recording;
    }
    return engine_finish(u, special, &effect, traced, event);
}

/* ------------------------------------------------------------------ ... amid a block
 * What Unicorn cannot execute rightly is interpreted between two translations, and the record of the block goes on. */

/* The addresses of the current block's instruction `insn`. */
static void record_amid(struct unicorn *u, unsigned insn, const struct interpret_effect *effect)
{
    const struct unicorn_block *block = u->run_state.current;
    const unsigned first = unicorn_record_slots(block, insn);
    C2_ASSERT(effect->address_count == unicorn_record_slots(block, insn + 1) - first);
    if (u->recording && u->inlined)
        memcpy(u->run_state.next - block->slots + first, effect->address,
               effect->address_count * sizeof *u->run_state.next);
    else if (u->recording)
        u->access.next += unicorn_events_unfold(block, u->access.next, effect->address, first, effect->address_count);
}

/* The current block's instruction `insn` has been executed, by interpretation. Whether the run goes on as it did: it
 * ends here if that was the last one that the budget has left of the block, or `ends`. */
static enum c2_status come_behind(struct unicorn *u, unsigned insn, bool ends)
{
    const uint64_t rip = rip_of(u);
    const bool last = insn + 1u == u->run_state.current->insns, cut = u->cut && --u->steps == 0;
    u->joined = !last;
    if (last || cut || ends)
        u->cut = NULL;
    if (last) /* it may go on anywhere, in the block itself as well */
        return unicorn_record_close(u);
    if (cut) {
        u->cut_pc = rip;
        u->cut_at = u->budget_at;
    }
    return cut || ends ? close_at(u, rip) : C2_OK;
}

/* The instruction has not been executed. */
static enum c2_status stay_before(struct unicorn *u)
{
    u->cut = NULL;
    return close_at(u, u->pause_pc);
}

static bool after_interpret(struct unicorn *u, struct engine_event *event, struct c2_error *err)
{
    const unsigned insn = (unsigned)engine_insn_at(u->run_state.current, u->pause_pc);
    struct engine_special *special;
    struct interpret_effect effect = {.status = INTERPRET_REFUSED};
    bool traced, goes_on = false;
    enum c2_status status = unicorn_code_special(&special, u->code, u->pause_pc, &u->failure);
    if (status == C2_OK && interpret(u, special, &effect, &traced, event))
        goes_on = engine_finish(u, special, &effect, traced, event);
    if (status == C2_OK && effect.status == INTERPRET_DONE) {
        record_amid(u, insn, &effect);
        status = come_behind(u, insn, !goes_on);
    } else if (status == C2_OK) {
        status = stay_before(u);
    }
    if (status != C2_OK)
        engine_fail(u, event, err);
    return goes_on && status == C2_OK;
}

/* ------------------------------------------------------------------ running */

#define OUTSIDE 0x5a5a5a5a5a000000 /* an address that is not canonical, and never mapped */

/* Unicorn keeps translations of its own, with rights; mapping and unmapping a page anywhere drops them all (40 us). */
static enum c2_status drop_translations(struct unicorn *u)
{
    static uint8_t page[C2_PAGE_BYTES] __attribute__((aligned(4096)));
    uc_engine *uc = u->state.uc;
    u->translations_stale = false;
    unicorn_access_forget(&u->access);
    if (uc_mem_map_ptr(uc, OUTSIDE, sizeof page, UC_PROT_READ, page) == UC_ERR_OK &&
        uc_mem_unmap(uc, OUTSIDE, sizeof page) == UC_ERR_OK)
        return C2_OK;
    return c2_fail(&u->failure, C2_ERR_INTERNAL, "Unicorn cannot drop its page translations");
}

/* The block that did not fit below pause_at; if what is left of the budget cuts it, its first instructions are next. */
static bool after_budget(struct unicorn *u, struct engine_event *event, struct c2_error *err)
{
    struct unicorn_block *block = u->cut;
    unicorn_code_left(u->code, u->pause_pc, u->pause_size);
    const uint64_t left = u->budget_at - u->run_state.instructions;
    const bool fits = !block || left == 0 || left >= engine_needed_for(u, block);
    u->full = u->whole && !fits;
    if (fits || u->full)
        u->cut = NULL; /* out_of_budget() decides */
    u->steps = left;
    if (!u->cut || !u->cut->part || unicorn_code_name(u->code, u->cut, &u->failure) == C2_OK)
        return true;
    u->cut = NULL;
    engine_fail(u, event, err);
    return false;
}

static bool after_step(struct unicorn *u, struct engine_event *event, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    C2_PROMISE(!u->cut || u->steps == 0);
    if (u->cut) {
        u->cut = NULL;
        u->cut_pc = u->pause_pc;
        u->cut_at = u->budget_at;
        status = close_at(u, u->pause_pc);
    } else {
        status = unicorn_record_close(u);
    }
    if (status != C2_OK)
        engine_fail(u, event, err);
    return status == C2_OK;
}

static enum c2_status hook_accesses(struct unicorn *u)
{
    enum { ACCESSES = UC_HOOK_MEM_READ | UC_HOOK_MEM_WRITE };
    if (uc_hook_add(u->state.uc, &u->access_hook, ACCESSES, (void *)on_access, u, 1, 0) == UC_ERR_OK)
        return C2_OK;
    return c2_fail_memory(&u->failure, "Unicorn's hooks");
}

static enum unicorn_set engine_set_of(const struct unicorn *u)
{
    return !u->recording ? UNICORN_PLAIN : u->inlined ? UNICORN_INLINE : UNICORN_HOOKED;
}

static void choose_set(struct unicorn *u)
{
    unicorn_use_translations(&u->state, engine_set_of(u), false);
    const bool enters = u->state.layout.inlines && (u->inlined || !u->recording) && !u->base.config.watch.guards &&
                        (u->recording || !u->counting);
    const struct unicorn_run_mode way = {.records = engine_set_of(u) == UNICORN_INLINE,
                                         .run_state = &u->run_state,
                                         .hook = enters ? (void *)on_block : NULL,
                                         .self = u};
    unicorn_code_make(u->code, &way);
    u->access.record = engine_set_of(u) == UNICORN_HOOKED;
    u->single = false;
}

/* What translations have recorded of the current block's first instructions becomes what hooks would have reported. */
static void turn_into_events(struct unicorn *u, unsigned insns)
{
    const struct unicorn_block *block = u->run_state.current;
    const unsigned count = unicorn_record_slots(block, insns);
    uint64_t slots[DECODE_MAX_SLOTS];
    u->header = u->run_state.next - (1 + block->slots);
    u->batch->used = (uint32_t)(u->header - u->words);
    memcpy(slots, u->header + 1, count * sizeof *slots);
    u->access.next = u->header + 1 + unicorn_events_unfold(block, u->header + 1, slots, 0, count);
}

/* From here on hooks record. A block that goes on, joined or executed one by one, is theirs from its beginning. */
static bool after_refusal(struct unicorn *u, struct engine_event *event, struct c2_error *err)
{
    const bool amid = u->run_state.current && engine_insn_at(u->run_state.current, u->pause_pc) > 0 &&
                      (u->joined || u->cut);
    enum c2_status status = C2_OK;
    if (amid)
        turn_into_events(u, (unsigned)engine_insn_at(u->run_state.current, u->pause_pc));
    else
        status = unicorn_record_close(u);
    u->inlined = false;
    if (status == C2_OK)
        status = hook_accesses(u);
    choose_set(u);
    if (status != C2_OK)
        engine_fail(u, event, err);
    return status == C2_OK;
}

static bool after_pause(struct unicorn *u, struct engine_event *event, struct c2_error *err)
{
    bool before_block = u->cause == PAUSE_LEARN || u->cause == PAUSE_CHANGED || u->cause == PAUSE_BUDGET ||
                        u->cause == PAUSE_DEAF || u->cause == PAUSE_TRIM || u->cause == PAUSE_STEP ||
                        u->cause == PAUSE_STOP || u->cause == PAUSE_REFUSED;
    if (before_block) /* RIP itself may lag behind in blocks that are chained */
        unicorn_set(&u->state, UC_X86_REG_RIP, u->pause_pc);
    if (u->cause != PAUSE_BUDGET && u->cause != PAUSE_STEP && u->cause != PAUSE_REFUSED && u->cause != PAUSE_INTERPRET)
        u->cut = NULL;
    switch (u->cause) {
    case PAUSE_LEARN:
        return after_learn(u, event, err);
    case PAUSE_CHANGED:
        return engine_after_change(u, event, err);
    case PAUSE_SPECIAL:
        return after_special(u, event, err);
    case PAUSE_INTERPRET:
        return after_interpret(u, event, err);
    case PAUSE_EXCEPTION:
        return after_exception(u, event, err);
    case PAUSE_INVALID:
        return after_invalid(u, event, err);
    case PAUSE_SYSCALL:
        return engine_after_syscall(u, event, err);
    case PAUSE_BUDGET:
        return after_budget(u, event, err);
    case PAUSE_TRIM:
        return after_trim(u);
    case PAUSE_STEP:
        return after_step(u, event, err);
    case PAUSE_REFUSED:
        return after_refusal(u, event, err);
    case PAUSE_STOP:
        event->stop = ENGINE_STOPPED;
        return false;
    case PAUSE_DEAF:
        *event = engine_refusal("FSTP of 80 bits into the code that executes it is not modelled");
        return false;
    default:
        engine_fail(u, event, err);
        return false;
    }
}

static void choose_translations(struct unicorn *u, bool single)
{
    if (u->single || single)
        unicorn_use_translations(&u->state, engine_set_of(u), single);
    u->single = single;
    u->step = single ? STEP_BEFORE : STEP_NONE;
}

static uc_err run_unicorn(struct unicorn *u)
{
    u->cause = PAUSE_NONE;
    engine_set_pace(u);
    if (u->recording && !u->run_state.current)
        u->run_state.next = u->words + u->batch->used;
    unicorn_access_run(&u->access);
    unicorn_float_run(u->state.sse_traps);
    unicorn_code_run(u->code, u->single);
    unicorn_translate_for(u->code);
    uc_err code = uc_emu_start(u->state.uc, rip_of(u), 0, 0, 0);
    unicorn_translate_for(NULL);
    unicorn_access_run(NULL);
    u->step = STEP_NONE;
    return code;
}

/* Executes until a hook pauses it. RIP is then that of the next instruction. */
static void engine_execute(struct unicorn *u)
{
    if (u->cut && unicorn_code_singles(u->code, u->cut, u->steps, &u->failure) != C2_OK) {
        u->cause = PAUSE_FAILED;
        return;
    }
    choose_translations(u, u->cut);
    uc_err code = run_unicorn(u);
    if (u->cause == PAUSE_NONE) {
        c2_fail(&u->failure, C2_ERR_INTERNAL, "the engine stopped at 0x%llx without a cause (Unicorn: %s)",
                (unsigned long long)rip_of(u), uc_strerror(code));
        u->cause = PAUSE_FAILED;
    }
}

/* Unicorn's translation cache starts with 256 entries, and a miss costs half a microsecond. It doubles when it is
 * dropped while more than 70 % of it are in use, and only then: so it is dropped now and then, at first often. */
enum { FIRST_GROWTH = 1 << 20, LARGEST_GROWTH = 1 << 27 };

static void set_pause(struct unicorn *u)
{
    u->pause_at = u->interrupted ? 0 : u->budget_at < u->grow_at ? u->budget_at : u->grow_at;
}

static bool out_of_budget(struct unicorn *u, struct engine_event *event)
{
    if (u->run_state.current || u->cut) /* in the middle of a block, all of which is counted already */
        return false;
    if (u->run_state.instructions + STREAM_BLOCK_INSNS > u->grow_at) {
        u->translations_stale = true;
        u->grow_step = u->grow_step < LARGEST_GROWTH ? 2 * u->grow_step : LARGEST_GROWTH;
        u->grow_at = u->run_state.instructions + u->grow_step;
    }
    set_pause(u);
    if (!u->interrupted && !u->full && u->run_state.instructions < u->budget_at)
        return false;
    event->stop = u->interrupted ? ENGINE_INTERRUPT : ENGINE_BUDGET;
    return true;
}

static void unicorn_run(struct engine *engine, uint64_t budget, bool whole, struct engine_event *event,
                        struct c2_error *err)
{
    struct unicorn *u = unicorn_engine_self_of(engine);
    *event = (struct engine_event){.stop = ENGINE_BUDGET};
    u->budget_at = budget ? u->run_state.instructions + budget : UINT64_MAX;
    u->whole = whole;
    u->full = false;
    if (u->failed) {
        engine_fail(u, event, err);
        return;
    }
    do {
        if (out_of_budget(u, event))
            break;
        if (u->translations_stale && drop_translations(u) != C2_OK) {
            engine_fail(u, event, err);
            break;
        }
        engine_execute(u);
    } while (after_pause(u, event, err));
    if (event->stop != ENGINE_FAILED && unicorn_x87_trapped(&u->state))
        *event = x87_trap();
    u->interrupted = u->interrupted && event->stop != ENGINE_INTERRUPT;
    C2_PROMISE(event->stop == ENGINE_FAILED ||
               (!u->run_state.current && !u->cut && u->run_state.instructions <= u->budget_at));
}

static uint64_t unicorn_instructions(const struct engine *engine)
{
    return ((const struct unicorn *)engine)->run_state.instructions;
}

static void unicorn_take_executed(struct engine *engine,
                                  void (*take)(void *self, struct guest_va pc, uint64_t instructions), void *self)
{
    C2_PROMISE(!unicorn_engine_self_of(engine)->run_state.current && !unicorn_engine_self_of(engine)->cut);
    unicorn_code_take_executed(unicorn_engine_self_of(engine)->code, take, self);
}

static bool unicorn_amid_block(const struct engine *engine)
{
    const struct unicorn *u = (const struct unicorn *)engine;
    return u->cut_pc != 0 && u->cut_at == u->run_state.instructions;
}

static void unicorn_set_amid_block(struct engine *engine, bool amid)
{
    struct unicorn *u = unicorn_engine_self_of(engine);
    u->cut_pc = amid ? rip_of(u) : 0;
    u->cut_at = u->run_state.instructions;
}

static void unicorn_resume(struct engine *engine, uint64_t instructions)
{
    struct unicorn *u = unicorn_engine_self_of(engine);
    C2_ASSERT(u->run_state.instructions == 0);
    u->run_state.instructions = instructions;
    u->grow_at += instructions;
}

/* ------------------------------------------------------------------ recording on and off */

/* A hook that was deleted goes when Unicorn has run once more: here, up to the next block. */
static void let_hooks_go(struct unicorn *u)
{
    const uint64_t rip = rip_of(u);
    u->step = STEP_BEHIND;
    run_unicorn(u);
    if (u->cause == PAUSE_STEP)
        unicorn_code_left(u->code, u->pause_pc, u->pause_size);
    unicorn_forget_exception(&u->state);
    unicorn_set(&u->state, UC_X86_REG_RIP, rip);
}

/* What a switch does to Unicorn: from now on those translations are used that are of this kind, and where hooks record,
 * these are there or not. */
static enum c2_status unicorn_set_recording(struct engine *engine, bool on, struct c2_error *err)
{
    struct unicorn *u = unicorn_engine_self_of(engine);
    C2_PROMISE(!u->run_state.current && !u->cut);
    if (on == u->recording)
        return C2_OK;
    if (!u->inlined && on && hook_accesses(u) != C2_OK)
        return c2_fail_memory(err, "Unicorn's hooks");
    if (!u->inlined && !on) {
        uc_hook_del(u->state.uc, u->access_hook);
        let_hooks_go(u);
    }
    u->recording = on;
    choose_set(u);
    return C2_OK;
}

static uint64_t unicorn_gpr(struct engine *engine, unsigned gpr)
{
    return unicorn_get(&unicorn_engine_self_of(engine)->state, unicorn_gprs[gpr]);
}

static enum c2_status unicorn_watch(struct engine *engine, struct guest_va pc, struct c2_error *err)
{
    return unicorn_code_watch(unicorn_engine_self_of(engine)->code, pc.v, err);
}

static void unicorn_stop(struct engine *engine) { unicorn_engine_self_of(engine)->stopped = true; }

static void unicorn_guard(struct engine *engine, struct guest_va from, uint64_t bytes)
{
    unicorn_engine_self_of(engine)->guard_from = from.v;
    unicorn_engine_self_of(engine)->guard_bytes = bytes;
}

static bool unicorn_beyond(const struct engine *engine) { return ((const struct unicorn *)engine)->beyond; }

static void unicorn_interrupt(struct engine *engine)
{
    struct unicorn *u = unicorn_engine_self_of(engine);
    u->interrupted = 1;
    u->pause_at = u->run_state.pause_at = 0;
}

static void unicorn_get_cpu(struct engine *engine, struct syscalls_cpu *cpu)
{
    unicorn_get_registers(&unicorn_engine_self_of(engine)->state, cpu);
}

static void unicorn_set_cpu(struct engine *engine, const struct syscalls_cpu *cpu)
{
    struct unicorn *u = unicorn_engine_self_of(engine);
    u->cut_pc = 0;
    unicorn_set_registers(&u->state, cpu);
}

/* They are a context of Unicorn's. */
static uc_context *engine_context_of(struct engine_registers *registers) { return (uc_context *)(void *)registers; }

static struct engine_registers *unicorn_registers_create(struct engine *engine)
{
    return (struct engine_registers *)(void *)unicorn_context_create(&unicorn_engine_self_of(engine)->state);
}

static void unicorn_keep(struct engine *engine, struct engine_registers *to)
{
    unicorn_context_keep(&unicorn_engine_self_of(engine)->state, engine_context_of(to));
}

static void unicorn_take(struct engine *engine, struct engine_registers *from)
{
    struct unicorn *u = unicorn_engine_self_of(engine);
    u->cut_pc = 0;
    u->single = false;
    unicorn_context_take(&u->state, engine_context_of(from), engine_set_of(u));
}

static void unicorn_read_kept(struct engine *engine, struct engine_registers *from, struct syscalls_cpu *out)
{
    unicorn_context_read(&unicorn_engine_self_of(engine)->state, engine_context_of(from), out);
}

static void unicorn_set_result(struct engine *engine, uint64_t rax, const struct syscalls_cpu *bases)
{
    struct unicorn_state *state = &unicorn_engine_self_of(engine)->state;
    unicorn_set(state, UC_X86_REG_RAX, rax);
    if (bases) {
        unicorn_set(state, UC_X86_REG_FS_BASE, bases->fs_base);
        unicorn_set(state, UC_X86_REG_GS_BASE, bases->gs_base);
    }
}

/* ------------------------------------------------------------------ life */

static void unicorn_engine_after_change_of_areas(void *self, struct guest_va start, uint64_t bytes, bool code)
{
    struct unicorn *u = self;
    u->translations_stale = true;
    if (code && forget_code(u, start.v, bytes) != C2_OK)
        u->failed = true;
}

static bool hook(struct unicorn *u, int slot, int type, void *callback, int arg)
{
    return uc_hook_add(u->state.uc, &u->hooks[slot], type, callback, u, 1, 0, arg) == UC_ERR_OK;
}

static bool add_hooks(struct unicorn *u, bool guards)
{
    void *block = guards ? (void *)on_block_guarded : (void *)on_block;
    u->guarded = guards;
    return hook(u, 0, UC_HOOK_BLOCK, block, 0) && hook(u, 1, UC_HOOK_INTR, (void *)on_interrupt, 0) &&
           hook(u, 2, UC_HOOK_INSN, (void *)on_syscall, UC_X86_INS_SYSCALL) &&
           hook(u, 3, UC_HOOK_INSN_INVALID, (void *)on_invalid, 0);
}

/* Protected mode with paging over our tables. WP: rights hold for the most privileged level as well, at which the
 * guest runs (privileged instructions are screened out, so it cannot tell). */
static void enable_paging(struct unicorn *u)
{
    enum { PE = 1u << 0, MP = 1u << 1, ET = 1u << 4, NE = 1u << 5, WP = 1u << 16, PG = 1u << 31 };
    unicorn_set(&u->state, UC_X86_REG_CR3, mmu_root(u->base.config.mmu));
    unicorn_set(&u->state, UC_X86_REG_CR4, unicorn_get(&u->state, UC_X86_REG_CR4) | 1u << 5 /* PAE */);
    unicorn_set(&u->state, UC_X86_REG_CR0, (uint64_t)(uint32_t)(PE | MP | ET | NE | WP | PG));
}

/* The addresses around the window are regions too: of one that it does not know Unicorn would say so before it walks
 * the tables, and with a stale RIP. Known, they are absent pages (or no canonical addresses) like any other. Nothing is
 * ever read through their host pointers; but Unicorn looks up by host pointer which region a piece of code lies in, so
 * they must not be those of the window. A gap is left for drop_translations(): all 2^64 bytes are more than Unicorn
 * takes. */
static uc_err map_all_addresses(uc_engine *uc, const struct mmu *mmu)
{
    const uint64_t gap_end = OUTSIDE + (16u << 20), tables = (uintptr_t)mmu_tables(mmu);
    const bool apart = tables != MMU_TABLES_BASE; /* fewer regions are found faster */
    const struct {
        uint64_t start, bytes, host;
    } regions[] = {
        {MMU_WINDOW_START, (apart ? MMU_TABLES_BASE : MMU_WINDOW_END) - MMU_WINDOW_START, MMU_WINDOW_START},
        {0, MMU_WINDOW_START, OUTSIDE},
        {MMU_WINDOW_END, OUTSIDE - MMU_WINDOW_END, MMU_WINDOW_END},
        {gap_end, -gap_end, gap_end},
        {MMU_TABLES_BASE, MMU_TABLES_END - MMU_TABLES_BASE, tables},
        {MMU_TABLES_END, MMU_WINDOW_END - MMU_TABLES_END, MMU_TABLES_END},
    };
    const size_t count = sizeof regions / sizeof *regions - (apart ? 0 : 2);
    uc_err code = UC_ERR_OK;
    for (size_t i = 0; i < count && code == UC_ERR_OK; i++)
        code = uc_mem_map_ptr(uc, regions[i].start, regions[i].bytes, UC_PROT_ALL, (void *)(uintptr_t)regions[i].host);
    return code;
}

#define TRANSLATOR_BYTES ((size_t)1 << 30) /* for translations, of each engine */

static void *reserve_translator(void)
{
    return mmap(NULL, TRANSLATOR_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Unicorn ends the process where it cannot have this. There are two engines: that of unicorn_state.c probes. */
static enum c2_status engine_check_room(struct c2_error *err)
{
    void *first = reserve_translator(), *second = reserve_translator();
    enum c2_status status = C2_OK;
    if (first == MAP_FAILED || second == MAP_FAILED)
        status = c2_fail(
            err, C2_ERR_NO_MEMORY,
            "the host refuses 2 GiB of addresses for the engine's translations (%s): lift the limits on "
            "memory (ulimit -d unlimited, ulimit -v unlimited) and, where the host allots memory strictly, "
            "vm.overcommit_memory; little of it is ever used",
            strerror(errno));
    if (first != MAP_FAILED)
        munmap(first, TRANSLATOR_BYTES);
    if (second != MAP_FAILED)
        munmap(second, TRANSLATOR_BYTES);
    return status;
}

static enum c2_status open_unicorn(struct unicorn *u, const struct mmu *mmu, struct c2_error *err)
{
    uc_engine *uc;
    enum c2_status status = engine_check_room(err);
    if (status != C2_OK)
        return status;
    if (uc_open(UC_ARCH_X86, UC_MODE_64, &uc) != UC_ERR_OK)
        return c2_fail(err, C2_ERR_NO_MEMORY, "Unicorn cannot be opened (it reserves 1 GiB of address space)");
    u->state.uc = uc;
    uc_err code = map_all_addresses(uc, mmu);
    if (code == UC_ERR_OK)
        code = uc_ctl_exits_enable(uc);
    if (code == UC_ERR_OK)
        code = uc_ctl_set_exits(uc, NULL, 0);
    if (code != UC_ERR_OK)
        return c2_fail(err, C2_ERR_INTERNAL, "Unicorn cannot map the guest's window: %s", uc_strerror(code));
    return unicorn_state_init(&u->state, uc, err);
}

static void unicorn_retire(struct engine *engine)
{
    struct unicorn *u = unicorn_engine_self_of(engine);
    unicorn_code_leave(u->code);
    mmu_unlisten(u->base.config.mmu, u);
    u->base.config = (struct engine_config){0};
}

static void unicorn_destroy(struct engine *engine)
{
    struct unicorn *u = unicorn_engine_self_of(engine);
    if (u->base.config.mmu)
        mmu_unlisten(u->base.config.mmu, u);
    unicorn_code_destroy(u->code);
    unicorn_state_release(&u->state);
    unicorn_access_release(&u->access);
    if (u->state.uc)
        uc_close(u->state.uc);
    c2_free(u);
}

/* All that is of one program; nothing has run yet, or has since unicorn_retire(). */
static enum c2_status begin_program(struct unicorn *u, const struct engine_config *config, struct c2_error *err)
{
    u->base.config = *config;
    u->grow_at = u->grow_step = FIRST_GROWTH;
    u->counting = config->count_blocks;
    u->cpu = unicorn_cpu_functions;
    u->cpu.self = u;
    u->front = unicorn_code_front(u->code);
    u->inlined = config->writer && u->state.layout.inlines;
    unicorn_record_init(u);
    enum c2_status status = unicorn_access_init(&u->access, config->mmu, &u->run_state, err);
    if (status == C2_OK)
        status = unicorn_code_enter(u->code, config, err);
    if (status != C2_OK)
        return status;
    enable_paging(u);
    choose_set(u);
    struct mmu_listener listener = {.self = u, .after = unicorn_engine_after_change_of_areas};
    return mmu_listen(config->mmu, listener, err);
}

static enum c2_status engine_prepare(struct unicorn *u, const struct engine_config *config, struct c2_error *err)
{
    enum c2_status status = unicorn_library_load(err);
    if (status == C2_OK)
        status = open_unicorn(u, config->mmu, err);
    if (status == C2_OK)
        status = unicorn_code_create(&u->code, u->state.uc, err);
    if (status == C2_OK && !add_hooks(u, config->watch.guards))
        status = c2_fail_memory(err, "Unicorn's hooks");
    return status == C2_OK ? begin_program(u, config, err) : status;
}

static enum c2_status unicorn_create(struct engine **out, const struct engine_config *config, struct c2_error *err)
{
    struct unicorn *u = c2_calloc(1, sizeof *u);
    if (!u)
        return c2_fail_memory(err, "the engine");
    u->base.ops = &engine_unicorn_ops;
    enum c2_status status = engine_prepare(u, config, err);
    if (status != C2_OK) {
        unicorn_destroy(&u->base);
        return status;
    }
    *out = &u->base;
    return C2_OK;
}

/* Translations hold the hooks, and whether they begin and record by themselves. */
static bool unicorn_suits(const struct engine *engine, const struct engine_config *config)
{
    const struct unicorn *u = (const struct unicorn *)engine;
    return u->guarded == config->watch.guards && u->counting == config->count_blocks &&
           u->inlined == (config->writer && u->state.layout.inlines) && (u->inlined || !config->writer) &&
           unicorn_code_may_enter(u->code);
}

/* As it was when it was created, at the same place: translations have its address. */
static enum c2_status unicorn_reuse(struct engine *engine, const struct engine_config *config, struct c2_error *err)
{
    struct unicorn *u = unicorn_engine_self_of(engine);
    const struct unicorn_state state = u->state;
    struct unicorn_code *code = u->code;
    const bool guarded = u->guarded;
    unicorn_access_release(&u->access);
    memset(u, 0, sizeof *u);
    u->base.ops = &engine_unicorn_ops;
    u->state = state;
    u->code = code;
    u->guarded = guarded;
    u->translations_stale = true;
    unicorn_state_reset(&u->state);
    return begin_program(u, config, err);
}

static enum c2_status unicorn_version(char out[ENGINE_VERSION_BYTES], struct c2_error *err)
{
    enum c2_status status = unicorn_library_load(err);
    if (status != C2_OK)
        return status;
    const unsigned version = uc_version(NULL, NULL);
    snprintf(out, ENGINE_VERSION_BYTES, "%u.%u.%u", version >> 24, version >> 16 & 0xff, version >> 8 & 0xff);
    return C2_OK;
}

const struct engine_ops engine_unicorn_ops = {
    .name = "unicorn",
    .version = unicorn_version,
    .create = unicorn_create,
    .destroy = unicorn_destroy,
    .retire = unicorn_retire,
    .suits = unicorn_suits,
    .reuse = unicorn_reuse,
    .get_cpu = unicorn_get_cpu,
    .set_cpu = unicorn_set_cpu,
    .registers_create = unicorn_registers_create,
    .keep = unicorn_keep,
    .take = unicorn_take,
    .read_kept = unicorn_read_kept,
    .set_result = unicorn_set_result,
    .set_recording = unicorn_set_recording,
    .run = unicorn_run,
    .instructions = unicorn_instructions,
    .take_executed = unicorn_take_executed,
    .amid_block = unicorn_amid_block,
    .set_amid_block = unicorn_set_amid_block,
    .resume = unicorn_resume,
    .gpr = unicorn_gpr,
    .watch = unicorn_watch,
    .stop = unicorn_stop,
    .guard = unicorn_guard,
    .beyond = unicorn_beyond,
    .interrupt = unicorn_interrupt,
};
