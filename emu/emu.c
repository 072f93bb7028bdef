/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   The loop between the engine and the guest's kernel: run until an event (events.c). Threads take turns (rounds.c):
 *   the engine has the registers of the one that runs, and the batches of the stream have its number. One that waits in
 *   a call makes it again when it may go on.
 */
#include "emu/emu_priv.h"

#include <string.h>

#include "watch/allocations.h"
#include "watch/arguments.h"
#include "watch/arrival.h"
#include "watch/region_tracker.h"
#include "watch/requests.h"

static uint64_t time_ns(void *self, uint64_t instructions)
{
    return syscalls_time_ns(((struct emu *)self)->config.kernel, instructions);
}

static void print_guest(void *self, FILE *to)
{
    struct emu *emu = self;
    struct syscalls_cpu cpu;
    engine_get_cpu(emu->process.engine, &cpu);
    fprintf(to, "guest: %llu instructions, rip 0x%llx\n", (unsigned long long)emu_instructions(emu),
            (unsigned long long)cpu.rip);
}

static void set_entry(struct emu *emu, const struct loader_image *image)
{
    C2_ASSERT(emu->thread && emu->thread == schedule_running(emu->schedule));
    engine_get_cpu(emu->process.engine, &emu->thread->cpu);
    memset(emu->thread->cpu.gpr, 0, sizeof emu->thread->cpu.gpr);
    emu->thread->cpu.gpr[4] = image->stack;
    emu->thread->cpu.rip = image->entry;
    emu->thread->cpu.rflags = 0x202; /* IF and the bit that is always set */
    engine_set_cpu(emu->process.engine, &emu->thread->cpu);
}

static bool begins_recording(const struct emu_config *config)
{
    C2_PROMISE(!config->record || config->writer);
    return config->record && (config->begun.instructions == 0 || config->begun.phase != STREAM_SKIP);
}

static enum c2_status make_engine(struct emu *emu, const struct loader_image *image, struct c2_error *err)
{
    const struct emu_config *config = &emu->config;
    enum c2_status status = emu_make_watches(emu, image, err);
    const struct engine_config engine = {.mmu = config->mmu,
                                         .blocks = config->blocks,
                                         .writer = config->writer,
                                         .time_ns = time_ns,
                                         .time_self = emu,
                                         .watch = watchers_reached(&emu->process.watchers),
                                         .cpu = config->cpu,
                                         .count_blocks = config->count_blocks};
    const struct engine_ops *ops = NULL;
    if (status == C2_OK)
        status = emu_engine(&ops, config->engine, err);
    if (status == C2_OK)
        status = engine_reuse(&emu->process.engine, config->retired, ops, &engine, err);
    else
        engine_destroy(config->retired);
    return status == C2_OK ? engine_set_recording(emu->process.engine, begins_recording(config), err) : status;
}

static void emu_release(struct emu *emu)
{
    engine_destroy(emu->process.engine);
    watchers_release(&emu->process.watchers);
    schedule_destroy(emu->schedule);
    c2_free(emu);
}

enum c2_status emu_create(struct emu **out, const struct emu_config *config, const struct loader_image *image,
                          struct c2_error *err)
{
    C2_ASSERT(config->mmu && config->kernel && config->engine);
    struct emu *emu = c2_calloc(1, sizeof *emu);
    *out = NULL;
    if (!emu) {
        engine_destroy(config->retired);
        return c2_fail_memory(err, "the run");
    }
    emu->config = *config;
    enum c2_status status = make_engine(emu, image, err);
    if (status == C2_OK)
        status = schedule_create(&emu->schedule, config->kernel, config->quantum, config->whole_blocks,
                                 (struct schedule_idle){emu, emu_wait_for_anything, emu_quiet_until}, err);
    if (status != C2_OK) {
        emu_release(emu);
        return status;
    }
    emu->thread = schedule_running(emu->schedule);
    emu->checkpoint_trigger = config->checkpoint_trigger.reached && !config->checkpoint_trigger.place
                                  ? config->checkpoint_trigger.instructions
                                  : UINT64_MAX;
    set_entry(emu, image);
    c2_assert_context(print_guest, emu);
    *out = emu;
    return C2_OK;
}

void emu_destroy(struct emu *emu)
{
    if (!emu)
        return;
    c2_assert_context(NULL, NULL);
    emu_release(emu);
}

struct engine *emu_retire(struct emu *emu)
{
    C2_ASSERT(emu->process.engine);
    struct engine *engine = emu->process.engine;
    engine_retire(engine);
    emu->process.engine = NULL;
    emu_destroy(emu);
    return engine;
}

void emu_engine_destroy(struct engine *engine) { engine_destroy(engine); }

uint64_t emu_turn(const struct emu *emu) { return schedule_quantum(emu->schedule); }
uint64_t emu_instructions(const struct emu *emu) { return engine_instructions(emu->process.engine); }
void emu_take_executed(struct emu *emu, void (*take)(void *self, struct guest_va pc, uint64_t instructions), void *self)
{
    engine_take_executed(emu->process.engine, take, self);
}

bool emu_wrapper_met(const struct emu *emu, size_t wrapper)
{
    return emu->process.allocations && allocations_met(emu->process.allocations, wrapper);
}

enum c2_status emu_find_checkpoint_trigger(struct emu *emu, struct c2_error *err)
{
    return emu->process.arrival ? arrival_find(emu->process.arrival, err) : C2_OK;
}

enum c2_status emu_find_argued(struct emu *emu, struct c2_error *err)
{
    return emu->process.arguments ? arguments_find(emu->process.arguments, err) : C2_OK;
}

enum c2_status emu_find_regions(struct emu *emu, struct c2_error *err)
{
    return emu->process.region_tracker ? region_tracker_find(emu->process.region_tracker, err) : C2_OK;
}

void emu_take_registers(struct emu *emu)
{
    if (!emu->thread)
        return;
    engine_get_cpu(emu->process.engine, &emu->thread->cpu);
    emu->thread->amid = engine_amid_block(emu->process.engine);
}

void emu_take_all_registers(struct emu *emu)
{
    emu_take_registers(emu);
    for (uint32_t i = 0; i < schedule_count(emu->schedule); i++) {
        struct emu_thread *thread = schedule_at(emu->schedule, i);
        C2_PROMISE(!thread->inside || thread->kept);
        if (thread->inside)
            engine_read_kept(emu->process.engine, thread->kept, &thread->cpu);
    }
}

/* After a checkpoint was read: the engine has been made, and nothing has run. */
static void emu_resume(struct emu *emu, uint64_t instructions, struct checkpoint *c)
{
    C2_ASSERT(!emu->resumed);
    struct engine *engine = emu->process.engine;
    emu->thread = schedule_running(emu->schedule);
    emu->resumed = true;
    engine_resume(engine, instructions);
    if (!emu->thread)
        return;
    engine_set_cpu(engine, &emu->thread->cpu);
    engine_set_amid_block(engine, emu->thread->amid);
    struct c2_error err;
    if (watchers_switched(&emu->process.watchers, engine, emu->thread->number, &err) != C2_OK)
        checkpoint_fail(c, &err);
}

void emu_checkpoint(struct emu *emu, struct checkpoint *c)
{
    C2_PROMISE(!emu->thread || !emu->thread->inside);
    uint64_t instructions = emu_instructions(emu);
    checkpoint_part(c, "the registers");
    if (checkpoint_writes(c))
        emu_take_all_registers(emu);
    schedule_checkpoint(emu->schedule, c);
    CHECKPOINT_NUMBER(c, emu->blocked, 1);
    checkpoint_number(c, &instructions, INT64_MAX);
    watchers_checkpoint(&emu->process.watchers, c);
    if (!checkpoint_writes(c) && checkpoint_status(c, NULL) == C2_OK)
        emu_resume(emu, instructions, c);
}

void emu_interrupt(struct emu *emu) { engine_interrupt(emu->process.engine); }

/* ------------------------------------------------------------------ the loop */

static enum c2_status mark_requests(struct emu *emu, const struct watch_part *part, struct c2_error *err)
{
    C2_PROMISE(emu->config.writer);
    C2_PROMISE(!part->dump || strlen(part->dump) <= REQUESTS_TEXT);
    uint64_t words[STREAM_DUMP_WORDS] = {emu_instructions(emu)};
    _Static_assert(REQUESTS_TEXT == (STREAM_DUMP_WORDS - 1) * sizeof *words, "the text's room");
    enum c2_status status = C2_OK;
    if (part->dump) {
        memcpy(words + 1, part->dump, strlen(part->dump));
        status = stream_writer_mark(emu->config.writer, STREAM_DUMPED, words, STREAM_DUMP_WORDS, err);
    }
    return status == C2_OK && part->zeroes ? stream_writer_mark(emu->config.writer, STREAM_ZEROED, NULL, 0, err)
                                           : status;
}

static enum c2_status emu_begin_phase(struct emu *emu, struct c2_error *err)
{
    C2_ASSERT(emu->config.phase);
    const uint64_t now = emu_instructions(emu);
    const struct watch_part part = emu->process.region_tracker ? region_tracker_part(emu->process.region_tracker)
                                                               : (struct watch_part){.where = WATCH_INSIDE};
    const struct emu_phase next = emu->config.phase(emu->config.phase_self, now, &part);
    const uint64_t word = next.phase;
    C2_ASSERT(next.instructions != 0);
    emu->phase_end = next.instructions == EMU_TO_THE_END ? UINT64_MAX : now + next.instructions;
    C2_ASSERT(emu->config.record || next.phase == STREAM_SKIP);
    if (!emu->config.writer)
        return C2_OK;
    enum c2_status status = stream_writer_mark(emu->config.writer, STREAM_PHASE, &word, 1, err);
    if (status == C2_OK)
        status = mark_requests(emu, &part, err);
    if (status == C2_OK && next.empties)
        status = stream_writer_mark(emu->config.writer, STREAM_EMPTIED, NULL, 0, err);
    return status == C2_OK ? engine_set_recording(emu->process.engine, next.phase != STREAM_SKIP, err) : status;
}

/* Instructions until something else is to be done than to run; 0: nothing is. *ends_turn: it is the end of a turn. */
static uint64_t budget_of(const struct emu *emu, bool *ends_turn)
{
    const uint64_t now = emu_instructions(emu);
    const uint64_t end = emu->phase_end < emu->checkpoint_trigger ? emu->phase_end : emu->checkpoint_trigger;
    C2_PROMISE(end > now);
    const uint64_t tick = emu->config.progress ? emu->tick - now : UINT64_MAX;
    C2_PROMISE(tick != 0);
    const uint64_t turn = schedule_budget(emu->schedule, now);
    const uint64_t rest = end == UINT64_MAX ? UINT64_MAX : end - now;
    uint64_t budget = rest < tick ? rest : tick;
    budget = turn < budget ? turn : budget;
    const uint64_t alarm = syscalls_alarm(emu->config.kernel, now);
    budget = alarm - now < budget ? alarm - now : budget;
    C2_PROMISE(budget != 0);
    *ends_turn = turn != UINT64_MAX && turn <= budget;
    return budget == UINT64_MAX ? 0 : budget;
}

/* What is to be done where the guest is now. */
static enum c2_status at_instruction(struct emu *emu, struct c2_error *err)
{
    C2_PROMISE(emu_instructions(emu) <= emu->phase_end);
    enum c2_status status = C2_OK;
    if (emu_instructions(emu) == emu->checkpoint_trigger && emu->config.checkpoint_trigger.reached) {
        emu->checkpoint_trigger = UINT64_MAX;
        emu->over = emu->config.checkpoint_trigger.ends;
        status = emu->config.checkpoint_trigger.reached(emu->config.checkpoint_trigger.self, err);
    }
    if (status == C2_OK && !emu->over && emu_instructions(emu) == emu->phase_end)
        status = emu_begin_phase(emu, err);
    return status;
}

/* Where turns are of whole blocks, one is over where a block does not fit. */
static void run_guest(struct emu *emu, struct engine_event *event, struct c2_error *err)
{
    C2_PROMISE(emu->thread && !emu->thread->inside);
    bool ends_turn;
    const uint64_t budget = budget_of(emu, &ends_turn);
    if (!ends_turn || !schedule_has_whole_blocks(emu->schedule)) {
        engine_run(emu->process.engine, budget, event, err);
        return;
    }
    engine_run_blocks(emu->process.engine, budget, event, err);
    if (event->stop == ENGINE_BUDGET)
        schedule_end_turn(emu->schedule);
}

/* However often the guest comes out of the engine by itself. */
static void tell_progress(struct emu *emu)
{
    const uint64_t now = emu_instructions(emu);
    if (!emu->config.progress || now < emu->tick)
        return;
    emu->tick = now + emu->config.progress_every;
    emu->config.progress(emu->config.progress_self, now);
}

static void run_threads(struct emu *emu, struct c2_error *err)
{
    struct engine_event event;
    emu->phase_end = emu->config.phase ? emu->config.begun.instructions : UINT64_MAX;
    emu->tick = emu_instructions(emu) + emu->config.progress_every;
    do {
        tell_progress(emu);
        const bool failed = at_instruction(emu, err) != C2_OK;
        if (failed || emu->over) {
            emu_finish(emu, failed ? EMU_FAILED : EMU_STOPPED);
            return;
        }
        if (!emu_keep_turns(emu))
            return;
        run_guest(emu, &event, err);
        C2_PROMISE(!emu->config.writer || emu->config.writer->batch->tid == emu->thread->number);
    } while (emu_on_event(emu, &event));
}

/* A run that is interrupted has not come to the threads' end. The first one's is the last. */
static enum c2_status end_stream(struct emu *emu, struct c2_error *err)
{
    C2_ASSERT(emu->end);
    const enum emu_end_kind kind = emu->end->kind;
    const bool exits = kind == EMU_EXITED || kind == EMU_KILLED || kind == EMU_EXECUTED;
    enum c2_status status = C2_OK;
    for (uint32_t i = schedule_count(emu->schedule); exits && i-- > 0 && status == C2_OK;)
        status = emu_mark_thread(emu, schedule_at(emu->schedule, i), STREAM_EXIT, err);
    return status == C2_OK && emu->config.writer ? stream_writer_flush(emu->config.writer, err) : status;
}

/* Behind what led to a checkpoint the records are those of the thread that goes on. */
static enum c2_status begin_stream(struct emu *emu, struct c2_error *err)
{
    C2_ASSERT(emu->resumed || emu->thread);
    struct stream_writer *writer = emu->config.writer;
    if (!emu->resumed)
        return emu_mark_thread(emu, emu->thread, STREAM_START, err);
    enum c2_status status = writer ? stream_writer_flush(writer, err) : C2_OK;
    if (writer && emu->thread)
        writer->batch->tid = emu->thread->number;
    return status;
}

void emu_run(struct emu *emu, struct emu_end *end, struct c2_error *err)
{
    C2_ASSERT(!emu->end);
    *end = (struct emu_end){.kind = EMU_FAILED};
    emu->end = end;
    emu->err = err;
    if (begin_stream(emu, err) != C2_OK)
        return;
    run_threads(emu, err);
    syscalls_leave_memory(emu->config.kernel);
    if (end->kind != EMU_FAILED && end_stream(emu, err) != C2_OK)
        end->kind = EMU_FAILED;
}
