/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   The loop around translated code. It is entered where a block begins in C: one that is new, that is watched,
 *   that may have changed, that is to be interpreted, or that does not fit below the limit; and left for whatever a
 *   translation cannot do by itself. From one block to the next translations go by themselves, once linked (link.c).
 *   A budget that ends amid a block: its first instructions have a translation of their own, for one use.
 *   Signals from outside wait while translated code runs, as their handlers would find the guest's FS base and stack;
 *   they are let in where a run begins and ends, and every POLL instructions.
 * Counting
 *   Not recording, the pace counts instructions; recording, the headers of the records that a stay has written are
 *   summed up when it ends. As many are let go by as can be without looking at the count: no more words of records than
 *   the densest block known could reach the budget with.
 * Invariants
 *   Between two stays the batch has whole records only, but for that of a block that a stay has left for help.
 */
#include <string.h>

#include "engine/code.h"
#include "engine/shapes.h"
#include "native/native_priv.h"

enum { POLL = 1 << 22 };
enum { FLAG_TF = 1 << 8, RCX = 1, R11 = 11 };

static uint64_t *run_words_of(const struct native *n)
{
    C2_PROMISE(n->base.config.writer);
    return (uint64_t *)(void *)((char *)n->base.config.writer->batch + offsetof(struct stream_batch, words));
}

static void native_run_fail(struct native *n, struct engine_event *event, struct c2_error *err)
{
    event->stop = ENGINE_FAILED;
    if (err)
        *err = n->failure;
}

static bool run_check(struct native *n, enum c2_status status, struct engine_event *event, struct c2_error *err)
{
    if (status != C2_OK)
        native_run_fail(n, event, err);
    return status == C2_OK;
}

/* ------------------------------------------------------------------ counting */

static unsigned run_slots_of(const struct native_block *block, unsigned insns)
{
    C2_PROMISE(insns <= block->insns && !block->special);
    return insns == block->insns ? block->slots : block->block->insns[insns].first_slot;
}

static void run_count_executed(struct native *n, const struct native_block *block, int64_t insns)
{
    C2_PROMISE(block->counter < CONTEXT_COUNTERS_MOST);
    if (n->codes.counting && !n->recording)
        n->context->executed[block->counter] += (uint64_t)insns;
}

/* The first `insns` instructions of the block have been executed, which have not been counted. */
static void close_partly(struct native *n, const struct native_block *block, unsigned insns)
{
    C2_PROMISE(insns <= block->insns);
    n->instructions += insns;
    run_count_executed(n, block, insns);
    if (!n->recording || insns == 0)
        return;
    struct stream_batch *batch = n->base.config.writer->batch;
    const unsigned slots = run_slots_of(block, insns);
    C2_PROMISE(batch->used + 1 + slots <= STREAM_BATCH_WORDS);
    run_words_of(n)[batch->used] = stream_header(block->number, insns, slots);
    batch->used += 1 + slots;
}

/* The block, all of which counts already where nothing is recorded, in all of its copies, was left in this one before
 * instruction `insn`. */
static void run_take_back(struct native *n, const struct native_code *code, unsigned copy, unsigned insn)
{
    C2_PROMISE(insn <= code->insns && copy < code->copies);
    C2_PROMISE(code->copies == 1 || !n->codes.counting);
    if (code != n->codes.part && !n->recording) {
        n->instructions -= (uint64_t)(code->copies - copy) * code->block->insns;
        run_count_executed(n, code->block, -(int64_t)code->block->insns);
    }
    close_partly(n, code->block, insn);
}

/* ------------------------------------------------------------------ a stay in translated code */

/* Records that a stay has written: the batch has them, and their instructions are counted. */
static void run_take_records(struct native *n)
{
    struct stream_batch *batch = n->base.config.writer->batch;
    const uint64_t *words = run_words_of(n), *end = (const uint64_t *)(uintptr_t)n->context->pace;
    const uint64_t *at = words + batch->used;
    C2_PROMISE(end <= words + STREAM_BATCH_WORDS);
    while (at < end) {
        n->instructions += stream_header_insns(*at);
        at += 1 + stream_header_slots(*at);
    }
    C2_PROMISE(at == end);
    batch->used = (uint32_t)(end - words);
}

/* No record begins behind the limit: there is room in the batch, and what is left of the budget is enough. */
static void run_set_limit(struct native *n)
{
    C2_PROMISE(n->instructions <= n->budget_at && n->codes.densest != 0);
    const uint64_t left = n->budget_at - n->instructions;
    uint64_t *const from = run_words_of(n) + n->base.config.writer->batch->used;
    uint64_t *limit = run_words_of(n) + STREAM_BATCH_WORDS - (1 + n->codes.most_slots);
    const uint64_t words = left < STREAM_BLOCK_INSNS ? 0 : (left - STREAM_BLOCK_INSNS) / n->codes.densest;
    C2_PROMISE(from <= run_words_of(n) + STREAM_BATCH_WORDS);
    if (limit < from)
        limit = from; /* one record, for which there is room */
    if (words < (uint64_t)(limit - from))
        limit = from + words;
    n->context->pace = (uint64_t)(uintptr_t)from;
    n->context->limit = (uint64_t)(uintptr_t)limit;
    n->context->beyond = 0 - (n->context->limit + 1);
}

static void run_set_pace(struct native *n)
{
    C2_PROMISE(n->instructions <= n->budget_at);
    const uint64_t left = n->budget_at - n->instructions;
    const uint64_t most = left < NATIVE_RUNWAY_BYTES ? left : NATIVE_RUNWAY_BYTES;
    n->context->pace = n->kind == NATIVE_PLAIN ? n->runway + NATIVE_RUNWAY_BYTES - most : 0 - most - 1;
}

static void stay(struct native *n, const uint8_t *host)
{
    C2_PROMISE(host >= n->codes.cache.executed && host < native_cache_end(n->codes.cache.executed));
    struct native_context *context = n->context;
    if (n->recording)
        run_set_limit(n);
    else
        run_set_pace(n);
    const uint64_t pace = context->pace;
    n->fault.number = 0;
    n->fault.limit = false;
    context->flags &= NATIVE_FLAGS;
    native_enter_code(context, host);
    C2_PROMISE(!n->fault.limit || n->fault.number == 0);
    context->flags &= NATIVE_FLAGS;
    if (n->recording)
        run_take_records(n);
    else
        n->instructions += context->pace - pace;
}

/* ------------------------------------------------------------------ how a stay ends; true: the run goes on */

static bool run_decode_at(const struct native_block *block, unsigned insn, struct decode_insn *out)
{
    C2_PROMISE(insn < block->insns);
    const struct guest_va pc = {block->pc + block->block->insns[insn].offset};
    return decode_one(out, pc, block->block->insns[insn].length) == DECODE_GOOD;
}

static uint64_t run_pc_of(const struct native_block *block, unsigned insn)
{
    C2_PROMISE(insn <= block->insns && !block->special);
    return block->pc + (insn < block->insns ? block->block->insns[insn].offset : block->extent);
}

static void leave_before(struct native *n, const struct native_code *code, unsigned copy, unsigned insn)
{
    n->rip = run_pc_of(code->block, insn);
    run_take_back(n, code, copy, insn);
}

static bool after_fault(struct native *n, struct engine_event *event, struct c2_error *err)
{
    C2_PROMISE(n->fault.in);
    leave_before(n, n->fault.in, n->fault.copy, n->fault.insn);
    if (!native_fault_event(n, event))
        native_run_fail(n, event, err);
    return false;
}

static bool run_refuse(struct native *n, const struct native_site *site, struct engine_event *event)
{
    C2_PROMISE(site->why == NATIVE_REFUSES);
    struct decode_insn insn;
    leave_before(n, site->code, 0, site->insn);
    C2_ASSERT(run_decode_at(site->code->block, site->insn, &insn));
    *event = engine_refusal(native_refusal(&insn, n->rip));
    return false;
}

static void run_put_addresses(struct native *n, const struct native_site *site)
{
    C2_PROMISE(n->recording);
    const struct native_block *block = site->code->block;
    const unsigned first = block->block->insns[site->insn].first_slot, end = run_slots_of(block, site->insn + 1u);
    const struct guest_va pc = {run_pc_of(block, site->insn)};
    struct decode_insn insn;
    C2_ASSERT(run_decode_at(block, site->insn, &insn));
    uint64_t *const slots = run_words_of(n) + n->base.config.writer->batch->used + 1;
    for (unsigned slot = first; slot < end; slot++)
        interpret_address(&slots[slot], &n->cpu, pc, &insn.insn, native_operand(&insn, slot - first));
}

/* Whether the instruction may write, and writes, into the bytes of its block. */
static bool stores_into_block(const struct native *n, const struct native_block *block, unsigned index)
{
    struct decode_insn insn;
    struct engine_event ignored;
    uint64_t start;
    C2_ASSERT(run_decode_at(block, index, &insn));
    for (unsigned i = 0; i < insn.insn.operand_count; i++)
        if (insn.operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
            interpret_address(&start, &n->cpu, (struct guest_va){run_pc_of(block, index)}, &insn.insn,
                              &insn.operands[i]) &&
            start < block->pc + block->extent && block->pc < start + insn.operands[i].size / 8)
            return !native_first_failure(n, &insn, &ignored);
    return false;
}

static bool run_begin_block(struct native *n, struct native_block *block, struct engine_event *event,
                            struct c2_error *err);

/* Help amid a block is done: on with it. */
static bool run_resume(struct native *n, const struct native_site *site)
{
    C2_PROMISE(site->resume);
    n->resume = site->resume;
    return true;
}

static bool help_executes(struct native *n, const struct native_site *site, struct engine_event *event)
{
    C2_PROMISE(site->why == NATIVE_EXECUTES);
    struct decode_insn insn;
    n->rip = run_pc_of(site->code->block, site->insn);
    C2_ASSERT(run_decode_at(site->code->block, site->insn, &insn));
    if (n->recording)
        run_put_addresses(n, site);
    if (native_push_flags(n, &insn, event))
        return run_resume(n, site);
    run_take_back(n, site->code, 0, site->insn);
    return false;
}

/* The store is a block of its own: the rest of this one is another when it comes back. */
static bool help_stores(struct native *n, const struct native_site *site, struct engine_event *event,
                        struct c2_error *err)
{
    C2_PROMISE(site->why == NATIVE_STORES && site->code->block->changes);
    struct native_block *alone;
    n->rip = run_pc_of(site->code->block, site->insn);
    if (!stores_into_block(n, site->code->block, site->insn))
        return run_resume(n, site);
    run_take_back(n, site->code, 0, site->insn);
    if (!run_check(n, native_blocks_alone(&alone, n->blocks, n->rip, &n->failure), event, err))
        return false;
    if (n->instructions == n->budget_at) {
        n->cut_pc = n->rip;
        n->cut_at = n->instructions;
        return true;
    }
    return run_begin_block(n, alone, event, err);
}

static bool run_after_syscall(struct native *n, const struct native_site *site, struct engine_event *event)
{
    C2_PROMISE(site->why == NATIVE_SYSCALL);
    n->rip = site->target;
    n->context->gpr[RCX] = n->rip;
    n->context->gpr[R11] = native_get_flags(n);
    event->stop = ENGINE_SYSCALL;
    return false;
}

static void after_cold(struct native *n, const struct native_code *code)
{
    const uint64_t insns = (uint64_t)code->copies * code->block->insns;
    C2_PROMISE(n->recording || n->instructions >= insns);
    n->rip = code->block->pc;
    if (!n->recording)
        n->instructions -= insns;
}

static void after_part(struct native *n, const struct native_site *site)
{
    C2_PROMISE(site->why == NATIVE_ENDS && site->code == n->codes.part);
    n->rip = run_pc_of(site->code->block, site->insn);
    close_partly(n, site->code->block, site->insn);
    n->cut_pc = n->rip;
    n->cut_at = n->instructions;
}

static bool after_stay(struct native *n, struct engine_event *event, struct c2_error *err)
{
    if (n->fault.limit) {
        after_cold(n, n->fault.in);
        return true;
    }
    if (n->fault.number)
        return after_fault(n, event, err);
    C2_PROMISE(n->context->exit < n->codes.site_count);
    const struct native_site site = n->codes.sites[n->context->exit];
    switch ((enum native_why)site.why) {
    case NATIVE_GOES:
    case NATIVE_INDIRECT:
        n->rip = site.why == NATIVE_GOES ? site.target : n->context->target;
        n->from = (int64_t)n->context->exit;
        n->from_drops = n->codes.drops;
        return true;
    case NATIVE_COLD:
        after_cold(n, site.code);
        return true;
    case NATIVE_CHANGED:
        after_cold(n, site.code);
        return run_check(n, native_forget_code(n, n->rip, site.code->block->extent), event, err);
    case NATIVE_SYSCALL:
        return run_after_syscall(n, &site, event);
    case NATIVE_ADDRESSES:
        run_put_addresses(n, &site);
        return run_resume(n, &site);
    case NATIVE_STORES:
        return help_stores(n, &site, event, err);
    case NATIVE_EXECUTES:
        return help_executes(n, &site, event);
    case NATIVE_REFUSES:
        return run_refuse(n, &site, event);
    default:
        after_part(n, &site);
        return true;
    }
}

/* ------------------------------------------------------------------ instructions to interpret */

static bool after_effect(struct native *n, struct engine_special *special, const struct interpret_effect *effect,
                         bool traced, struct engine_event *event)
{
    C2_PROMISE(n->instructions < n->budget_at);
    if (effect->status == INTERPRET_DONE) {
        n->instructions++;
        special->executed += n->codes.counting && !n->recording;
    }
    return engine_special_finish(special, effect, traced, &n->rip, event);
}

static enum c2_status record_masked(struct native *n, const struct engine_special *special,
                                    const struct interpret_touched *touched)
{
    C2_PROMISE(touched->count <= INTERPRET_TOUCHES);
    struct stream_writer *writer = n->base.config.writer;
    uint32_t number;
    enum c2_status status = shapes_find(&number, native_blocks_shapes(n->blocks), (struct guest_va){special->pc},
                                        &special->insn, touched, &n->failure);
    if (status == C2_OK)
        status = stream_writer_room(writer, touched->count, &n->failure);
    if (status != C2_OK)
        return status;
    uint64_t *record = run_words_of(n) + writer->batch->used;
    C2_PROMISE(writer->batch->used + touched->count + 1 <= STREAM_BATCH_WORDS);
    *record++ = stream_header(number, 1, touched->count);
    for (unsigned i = 0; i < touched->count; i++)
        *record++ = touched->list[i].address;
    writer->batch->used += touched->count + 1;
    return C2_OK;
}

static bool do_masked(struct native *n, struct engine_special *special, struct engine_event *event,
                      struct c2_error *err)
{
    struct interpret_touched touched;
    struct interpret_effect effect;
    const bool traced = n->flags & FLAG_TF;
    native_do_masked(n, special, &touched, &effect);
    const bool records = n->recording && effect.status == INTERPRET_DONE;
    return run_check(n, records ? record_masked(n, special, &touched) : C2_OK, event, err) &&
           after_effect(n, special, &effect, traced, event);
}

static enum c2_status record_special(struct native *n, const struct engine_special *special,
                                     const struct interpret_effect *effect)
{
    return n->recording ? engine_special_record(special, effect, n->base.config.writer, &n->failure) : C2_OK;
}

static bool do_special(struct native *n, struct engine_event *event, struct c2_error *err)
{
    struct engine_special *special;
    struct interpret_effect effect = {.status = INTERPRET_DONE};
    bool traced;
    if (!run_check(n, engine_special_at(&special, native_blocks_guest(n->blocks), n->rip, &n->failure), event, err))
        return false;
    if (native_x87_trapped(n)) {
        *event = native_x87_trap();
        return false;
    }
    if (engine_special_is_masked(special, n->base.config.cpu))
        return do_masked(n, special, event, err);
    return engine_special_execute(special, &n->cpu, &effect, &traced, event) &&
           run_check(n, record_special(n, special, &effect), event, err) &&
           after_effect(n, special, &effect, traced, event);
}

/* ------------------------------------------------------------------ where a block begins */

/* Whether the guest has come to the block by a jump, call, return or from outside, and not by running on. */
static bool run_arrives(struct native *n, const struct native_block *block)
{
    const bool again = block->pc == n->began_pc && n->instructions == n->began_at; /* it faulted */
    n->arrived = again ? n->arrived : block->pc != n->behind;
    n->began_pc = block->pc;
    n->began_at = n->instructions;
    n->behind = block->pc + block->extent;
    return n->arrived;
}

/* Whether it has come there with the stack pointer where engine_guard() says. */
static bool run_is_beyond(struct native *n, const struct native_block *block)
{
    C2_PROMISE(n->base.config.watch.guards);
    enum { RSP = 4 };
    const bool arrived = run_arrives(n, block);
    n->beyond = arrived && n->guard_bytes != 0 && n->context->gpr[RSP] - n->guard_from < n->guard_bytes;
    return n->beyond;
}

/* Watchers are notified of the block. False: the run ends. */
static bool run_tell(struct native *n, const struct native_block *block, struct engine_event *event,
                     struct c2_error *err)
{
    C2_PROMISE(n->base.config.watch.reached);
    const struct engine_watch *watch = &n->base.config.watch;
    n->stopped = false;
    if (!run_check(n, watch->reached(watch->self, &n->base, (struct guest_va){block->pc}, &n->failure), event, err))
        return false;
    if (!n->stopped)
        return true;
    n->cut_pc = block->pc;
    n->cut_at = n->instructions;
    event->stop = ENGINE_STOPPED;
    return false;
}

static bool run_is_rest(const struct native *n, const struct native_block *block)
{
    return block->pc == n->cut_pc && n->instructions == n->cut_at;
}

/* Whether the block begins; else *goes_on says whether the run does. */
static bool admit(struct native *n, struct native_block *block, bool *goes_on, struct engine_event *event,
                  struct c2_error *err)
{
    C2_PROMISE(block->pc == n->rip);
    const bool beyond = n->base.config.watch.guards && run_is_beyond(n, block);
    if (!native_block_is_fresh(block)) {
        *goes_on = run_check(n, native_forget_code(n, block->pc, block->extent), event, err);
        return false;
    }
    if (!run_is_rest(n, block) && (block->watched || beyond) && !run_tell(n, block, event, err)) {
        *goes_on = false;
        return false;
    }
    if (block->special)
        *goes_on = do_special(n, event, err);
    return !block->special;
}

static enum native_kind run_kind_of(const struct native *n, bool loose)
{
    const bool guarded = n->base.config.watch.guards && n->guard_bytes != 0;
    if (loose || guarded)
        return n->recording ? NATIVE_LOOSE_RECORDING : NATIVE_LOOSE;
    if (n->recording)
        return NATIVE_RECORDING;
    return n->budget_at - n->instructions < NATIVE_BRIEF_BELOW ? NATIVE_BRIEF : NATIVE_PLAIN;
}

/* What the last stay ended with jumps to the block by itself from now on. */
static void link_from(struct native *n, struct native_code *to)
{
    if (n->from < 0 || n->from_drops != n->codes.drops || to->block->rare || native_is_loose(to->kind))
        return;
    const struct native_site *site = &n->codes.sites[n->from];
    C2_PROMISE((size_t)n->from < n->codes.site_count);
    if (site->why == NATIVE_INDIRECT)
        native_link_indirect(&n->codes, to);
    else if (!site->linked && site->code->kind == to->kind && site->target == to->block->pc)
        native_link(&n->codes, (uint32_t)n->from, to);
}

/* For any record, so that the stay does not end behind the first one. */
static enum c2_status run_make_room(struct native *n, const struct native_block *block)
{
    C2_PROMISE(!n->recording || n->base.config.writer);
    const unsigned slots = block->slots > n->codes.most_slots ? block->slots : n->codes.most_slots;
    return n->recording ? stream_writer_room(n->base.config.writer, slots, &n->failure) : C2_OK;
}

static bool run_execute(struct native *n, struct native_block *block, bool loose, struct engine_event *event,
                        struct c2_error *err)
{
    C2_PROMISE(!block->special && block->insns <= n->budget_at - n->instructions);
    const enum native_kind kind = run_kind_of(n, loose);
    struct native_code *code = block->code[kind];
    const int64_t from = n->from_drops == n->codes.drops ? n->from : -1;
    if (!code &&
        !run_check(n, native_translate(&code, &n->codes, block, kind, n->blocks, from, &n->failure), event, err))
        return false;
    if (!run_check(n, run_make_room(n, block), event, err))
        return false;
    C2_PROMISE(code->block == block && code->kind == kind && code->insns == block->insns);
    if (SHORTCUT(true))
        link_from(n, code);
    n->from = -1;
    n->kind = kind;
    stay(n, code->entry);
    return after_stay(n, event, err);
}

/* The first instructions of a block. */
static bool execute_part(struct native *n, struct native_block *block, unsigned insns, struct engine_event *event,
                         struct c2_error *err)
{
    C2_PROMISE(insns != 0 && insns <= block->insns && !block->special);
    struct native_code *code;
    n->from = -1;
    if (!run_check(n, native_translate_part(&code, &n->codes, block, insns, n->recording, &n->failure), event, err) ||
        !run_check(n, run_make_room(n, block), event, err))
        return false;
    n->kind = code->kind;
    stay(n, code->entry);
    return after_stay(n, event, err);
}

/* With TF one instruction is executed, and ends in a trap. */
static bool execute_traced(struct native *n, struct native_block *block, struct engine_event *event,
                           struct c2_error *err)
{
    const bool on = block->insns == 1 ? run_execute(n, block, true, event, err) : execute_part(n, block, 1, event, err);
    n->cut_pc = 0;
    n->from = -1;
    if (on)
        *event = (struct engine_event){.stop = ENGINE_TRAP, .signal = SIGTRAP, .code = TRAP_TRACE};
    return false;
}

static bool run_begin_block(struct native *n, struct native_block *block, struct engine_event *event,
                            struct c2_error *err)
{
    C2_PROMISE(block->pc == n->rip && n->instructions < n->budget_at);
    bool goes_on = true;
    const uint64_t left = n->budget_at - n->instructions;
    if (SHORTCUT(!block->rare && !block->changes && !n->base.config.watch.guards) ||
        admit(n, block, &goes_on, event, err)) {
        if (n->flags & FLAG_TF)
            return execute_traced(n, block, event, err);
        return left < block->insns ? execute_part(n, block, (unsigned)left, event, err)
                                   : run_execute(n, block, false, event, err);
    }
    n->from = -1;
    return goes_on;
}

/* A page of the code at rip is not there. */
static bool fetch_fault(struct guest_va page, struct engine_event *event)
{
    *event = (struct engine_event){.stop = ENGINE_FAULT, .address = page, .access = MMU_ACCESS_EXEC};
    return false;
}

/* A turn of whole blocks ends where it would if nothing watched. */
static unsigned run_needed_for(const struct native *n, const struct native_block *block)
{
    C2_PROMISE(block->special == (block->insns == 0));
    const unsigned cost = block->special ? 1 : block->insns;
    return cost + (n->whole ? block->rest : 0u);
}

static bool run_step(struct native *n, struct engine_event *event, struct c2_error *err)
{
    struct guest_va lacks = {0};
    const uint8_t *resumed = n->resume;
    n->resume = NULL;
    if (resumed) {
        stay(n, resumed);
        return after_stay(n, event, err);
    }
    struct native_block *block = native_blocks_find(n->blocks, n->rip);
    if (!block && !run_check(n, native_blocks_learn(&block, &lacks, n->blocks, n->rip, &n->failure), event, err))
        return false;
    if (!block)
        return fetch_fault(lacks, event);
    if (n->whole && run_needed_for(n, block) > n->budget_at - n->instructions)
        return false; /* ENGINE_BUDGET */
    return run_begin_block(n, block, event, err);
}

/* ------------------------------------------------------------------ runs */

static void let_signals_in(struct native *n)
{
    pthread_sigmask(SIG_UNBLOCK, &n->outside, NULL);
    pthread_sigmask(SIG_BLOCK, &n->outside, NULL);
    n->polled_at = n->instructions;
}

static bool run_is_over(struct native *n, struct engine_event *event)
{
    if (n->instructions - n->polled_at >= POLL)
        let_signals_in(n);
    if (!n->interrupted && n->instructions < n->budget_at)
        return false;
    event->stop = n->interrupted ? ENGINE_INTERRUPT : ENGINE_BUDGET;
    return true;
}

/* A first touch ends no run. A fault of the guest's is for the caller; what fails otherwise is not tried again, as the
 * memory has changed. */
static bool run_touches(struct native *n, struct engine_event *event, struct c2_error *err)
{
    if (event->stop != ENGINE_FAULT)
        return false;
    switch (mmu_touch(n->base.config.mmu, event->address, event->access, err)) {
    case MMU_FAULT_NONE:
        *event = (struct engine_event){.stop = ENGINE_BUDGET};
        return true;
    case MMU_FAULT_UNMAPPED:
    case MMU_FAULT_DENIED:
    case MMU_FAULT_BUS:
        return false;
    default:
        event->stop = ENGINE_FAILED;
        return false;
    }
}

void native_run_guest(struct engine *engine, uint64_t budget, bool whole, struct engine_event *event,
                      struct c2_error *err)
{
    struct native *n = (struct native *)engine;
    sigset_t before;
    *event = (struct engine_event){.stop = ENGINE_BUDGET};
    n->budget_at = budget ? n->instructions + budget : UINT64_MAX;
    C2_PROMISE(n->budget_at > n->instructions);
    C2_PROMISE(!n->resume);
    n->whole = whole;
    n->from = -1;
    if (n->failed) {
        native_run_fail(n, event, err);
        return;
    }
    native_begin_run(n);
    pthread_sigmask(SIG_BLOCK, &n->outside, &before);
    n->polled_at = n->instructions;
    while ((n->resume || !run_is_over(n, event)) && (run_step(n, event, err) || run_touches(n, event, err)))
        ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (event->stop != ENGINE_FAILED && native_x87_trapped(n))
        *event = native_x87_trap();
    n->interrupted = n->interrupted && event->stop != ENGINE_INTERRUPT;
    C2_PROMISE(event->stop == ENGINE_FAILED || n->instructions <= n->budget_at);
}
