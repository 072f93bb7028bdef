/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   The loop between the engine and the guest's kernel: run until an event; a page fault is a first touch (go on) or a
 *   signal; a system call is done by syscalls/; a signal that the guest handles changes its registers, one that it
 *   does not ends it. Threads take turns (schedule.c): the engine has the registers of the one that runs, and the
 *   batches of the stream have its number. One that waits in a call makes it again when it may go on.
 * Not modelled
 *   Signals from outside: the guest gets only those that it raises itself.
 */
#include "emu/emu.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu/allocations_priv.h"
#include "emu/arguments_priv.h"
#include "emu/barriers_priv.h"
#include "emu/arrival_priv.h"
#include "emu/disassemble_priv.h"
#include "emu/locals_priv.h"
#include "emu/parts_priv.h"
#include "emu/requests_priv.h"
#include "emu/schedule_priv.h"
#include "emu/stacks_priv.h"
#include "emu/turns_priv.h"

/* Beside its memory and its kernel, which config names. Calls that have not returned lie in the allocations and the
 * locals, a thread's in a struct of its own; what the kernel keeps of it, there. */
struct emu_process {
    struct engine *engine;
    struct allocations *allocations; /* NULL: no marks */
    struct locals *locals;           /* with those */
    struct parts *parts;             /* NULL: all of the run is one */
    struct arrival *arrival;         /* NULL: no place is waited for */
    struct arguments *arguments;     /* NULL: no function's are marked */
    struct barriers *barriers;       /* NULL: nobody wants to know */
    struct engine_watch watches[6];  /* theirs */
    unsigned watch_count;
};

struct emu {
    struct emu_config config;
    struct emu_process process;
    struct schedule *schedule;
    struct emu_thread *thread; /* the one that runs */
    bool blocked;              /* it waits in its call */
    uint64_t turn;             /* instructions at which the process's turn began */
    enum turns_news news;      /* why no turn has come, when none has */
    bool interrupted;          /* from outside, while it waited for its turn */
    uint64_t phase_end;        /* instructions; UINT64_MAX: that of the run */
    uint64_t tick;             /* instructions at which progress is told next */
    uint64_t moment;           /* instructions; UINT64_MAX: it has been, or never comes */
    bool over;                 /* the moment has come that ends the run */
    bool resumed;              /* the stream has begun elsewhere */
    struct emu_end *end;
    struct c2_error *err;
};

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
    engine_get_cpu(emu->process.engine, &emu->thread->cpu);
    memset(emu->thread->cpu.gpr, 0, sizeof emu->thread->cpu.gpr);
    emu->thread->cpu.gpr[4] = image->stack;
    emu->thread->cpu.rip = image->entry;
    emu->thread->cpu.rflags = 0x202; /* IF and the bit that is always set */
    engine_set_cpu(emu->process.engine, &emu->thread->cpu);
}

/* ------------------------------------------------------------------ who watches where the guest comes to */

static enum c2_status any_wants(bool *out, void *self, struct guest_va pc, struct c2_error *err)
{
    const struct emu_process *process = &((const struct emu *)self)->process;
    enum c2_status status = C2_OK;
    *out = false;
    for (unsigned i = 0; i < process->watch_count && status == C2_OK; i++) {
        bool wanted = false;
        status = process->watches[i].wants(&wanted, process->watches[i].self, pc, err);
        *out |= wanted;
    }
    return status;
}

static bool any_splits(void *self, struct guest_va pc)
{
    const struct emu_process *process = &((const struct emu *)self)->process;
    for (unsigned i = 0; i < process->watch_count; i++) {
        const struct engine_watch *watch = &process->watches[i];
        if (watch->splits && watch->splits(watch->self, pc))
            return true;
    }
    return false;
}

static enum c2_status all_reached(void *self, struct engine *engine, struct guest_va pc, struct c2_error *err)
{
    const struct emu_process *process = &((const struct emu *)self)->process;
    enum c2_status status = C2_OK;
    for (unsigned i = 0; i < process->watch_count && status == C2_OK; i++)
        status = process->watches[i].reached(process->watches[i].self, engine, pc, err);
    return status;
}

static void add_watch(struct emu *emu, struct engine_watch watch)
{
    C2_ASSERT(emu->process.watch_count < sizeof emu->process.watches / sizeof emu->process.watches[0]);
    emu->process.watches[emu->process.watch_count++] = watch;
}

/* Of all of them. */
static struct engine_watch the_watch(struct emu *emu)
{
    struct engine_watch watch = {.self = emu, .wants = any_wants, .splits = any_splits, .reached = all_reached};
    for (unsigned i = 0; i < emu->process.watch_count; i++)
        watch.guards |= emu->process.watches[i].guards;
    return emu->process.watch_count == 0 ? (struct engine_watch){0} : watch;
}

static enum c2_status make_allocations(struct emu *emu, const struct loader_image *image, struct c2_error *err)
{
    const struct emu_config *config = &emu->config;
    if (!config->mark_allocations || !config->writer)
        return C2_OK;
    C2_ASSERT(config->symbols);
    const struct allocations_config allocations = {config->mmu, config->symbols, config->wrappers,
                                                   config->wrapper_count};
    enum c2_status status = allocations_create(&emu->process.allocations, &allocations, err);
    if (status == C2_OK)
        status = locals_create(&emu->process.locals, config->mmu, config->symbols,
                               (struct guest_va){image->program_entry}, err);
    if (status != C2_OK)
        return status;
    add_watch(emu, allocations_watch(emu->process.allocations));
    add_watch(emu, locals_watch(emu->process.locals));
    return C2_OK;
}

static enum c2_status make_arrival(struct emu *emu, const struct loader_image *image, struct c2_error *err)
{
    const struct emu_config *config = &emu->config;
    if (!config->moment.place)
        return C2_OK;
    const struct arrival_config arrival = {config->mmu, config->symbols, image, config->moment.place,
                                           config->moment.arrival};
    enum c2_status status = arrival_create(&emu->process.arrival, &arrival, err);
    if (status == C2_OK)
        add_watch(emu, arrival_watch(emu->process.arrival));
    return status;
}

static bool begins_recording(const struct emu_config *config)
{
    return config->record && (config->begun.instructions == 0 || config->begun.phase != STREAM_SKIP);
}

static enum c2_status make_regions(struct emu *emu, const struct loader_image *image, struct c2_error *err)
{
    const struct emu_config *config = &emu->config;
    if (!config->regions)
        return C2_OK;
    C2_ASSERT(config->symbols && config->phase);
    const struct parts_config regions = {config->mmu, config->symbols, image, config->regions};
    enum c2_status status = parts_create(&emu->process.parts, &regions, err);
    if (status == C2_OK)
        add_watch(emu, parts_watch(emu->process.parts));
    return status;
}

static enum c2_status make_arguments(struct emu *emu, const struct loader_image *image, struct c2_error *err)
{
    const struct emu_config *config = &emu->config;
    if (config->argued_count == 0 || !config->writer)
        return C2_OK;
    C2_ASSERT(config->symbols);
    const struct arguments_config arguments = {config->mmu, config->symbols, image, config->argued,
                                               config->argued_count};
    enum c2_status status = arguments_create(&emu->process.arguments, &arguments, err);
    if (status == C2_OK)
        add_watch(emu, arguments_watch(emu->process.arguments));
    return status;
}

static enum c2_status make_barriers(struct emu *emu, struct c2_error *err)
{
    const struct emu_config *config = &emu->config;
    if (!config->mark_barriers || !config->writer)
        return C2_OK;
    C2_ASSERT(config->symbols);
    const struct barriers_config barriers = {config->mmu, config->symbols, &emu->schedule};
    enum c2_status status = barriers_create(&emu->process.barriers, &barriers, err);
    if (status == C2_OK)
        add_watch(emu, barriers_watch(emu->process.barriers));
    return status;
}

static enum c2_status make_engine(struct emu *emu, const struct loader_image *image, struct c2_error *err)
{
    const struct emu_config *config = &emu->config;
    enum c2_status status = make_allocations(emu, image, err);
    if (status == C2_OK)
        status = make_regions(emu, image, err);
    if (status == C2_OK)
        status = make_arrival(emu, image, err);
    if (status == C2_OK)
        status = make_arguments(emu, image, err);
    if (status == C2_OK)
        status = make_barriers(emu, err);
    const struct engine_config engine = {.mmu = config->mmu,
                                         .blocks = config->blocks,
                                         .writer = config->writer,
                                         .time_ns = time_ns,
                                         .time_self = emu,
                                         .watch = the_watch(emu),
                                         .count_blocks = config->count_blocks};
    if (status == C2_OK)
        status = engine_create(&emu->process.engine, config->engine, &engine, err);
    return status == C2_OK ? engine_set_recording(emu->process.engine, begins_recording(config), err) : status;
}

static void release(struct emu *emu)
{
    engine_destroy(emu->process.engine);
    allocations_destroy(emu->process.allocations);
    locals_destroy(emu->process.locals);
    parts_destroy(emu->process.parts);
    arrival_destroy(emu->process.arrival);
    arguments_destroy(emu->process.arguments);
    barriers_destroy(emu->process.barriers);
    schedule_destroy(emu->schedule);
    c2_free(emu);
}

static bool wait_for_anything(void *self, uint64_t instructions);

enum c2_status emu_create(struct emu **out, const struct emu_config *config, const struct loader_image *image,
                          struct c2_error *err)
{
    struct emu *emu = c2_calloc(1, sizeof *emu);
    *out = NULL;
    if (!emu)
        return c2_fail_memory(err, "the run");
    emu->config = *config;
    enum c2_status status = make_engine(emu, image, err);
    if (status == C2_OK)
        status = schedule_create(&emu->schedule, config->kernel, config->quantum,
                                 (struct schedule_idle){emu, wait_for_anything}, err);
    if (status != C2_OK) {
        release(emu);
        return status;
    }
    emu->thread = schedule_running(emu->schedule);
    emu->moment = config->moment.reached && !config->moment.place ? config->moment.instructions : UINT64_MAX;
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
    release(emu);
}

uint64_t emu_instructions(const struct emu *emu) { return engine_instructions(emu->process.engine); }
void emu_take_executed(struct emu *emu, void (*take)(void *self, struct guest_va pc, uint64_t instructions), void *self)
{
    engine_take_executed(emu->process.engine, take, self);
}

bool emu_wrapper_met(const struct emu *emu, size_t wrapper)
{
    return emu->process.allocations && allocations_met(emu->process.allocations, wrapper);
}

enum c2_status emu_find_moment(struct emu *emu, struct c2_error *err)
{
    return emu->process.arrival ? arrival_find(emu->process.arrival, err) : C2_OK;
}

enum c2_status emu_find_argued(struct emu *emu, struct c2_error *err)
{
    return emu->process.arguments ? arguments_find(emu->process.arguments, err) : C2_OK;
}

enum c2_status emu_find_regions(struct emu *emu, struct c2_error *err)
{
    return emu->process.parts ? parts_find(emu->process.parts, err) : C2_OK;
}

static void take_registers(struct emu *emu)
{
    if (!emu->thread)
        return;
    engine_get_cpu(emu->process.engine, &emu->thread->cpu);
    emu->thread->amid = engine_amid_block(emu->process.engine);
}

/* After a checkpoint was read: the engine has been made, and nothing has run. */
static void resume(struct emu *emu, uint64_t instructions)
{
    struct engine *engine = emu->process.engine;
    emu->thread = schedule_running(emu->schedule);
    emu->resumed = true;
    engine_resume(engine, instructions);
    if (!emu->thread)
        return;
    engine_set_cpu(engine, &emu->thread->cpu);
    engine_set_amid_block(engine, emu->thread->amid);
    if (emu->process.parts)
        parts_switch(emu->process.parts, engine, emu->thread->number);
}

void emu_checkpoint(struct emu *emu, struct checkpoint *c)
{
    uint64_t instructions = emu_instructions(emu);
    checkpoint_part(c, "the registers");
    if (checkpoint_writes(c))
        take_registers(emu);
    schedule_checkpoint(emu->schedule, c);
    CHECKPOINT_NUMBER(c, emu->blocked, 1);
    checkpoint_number(c, &instructions, INT64_MAX);
    allocations_checkpoint(emu->process.allocations, c);
    locals_checkpoint(emu->process.locals, c);
    if (!checkpoint_writes(c) && checkpoint_status(c, NULL) == C2_OK)
        resume(emu, instructions);
}

void emu_interrupt(struct emu *emu) { engine_interrupt(emu->process.engine); }

/* ------------------------------------------------------- how a run ends; each returns false: it has ended */

static bool finish(struct emu *emu, enum emu_end_kind kind)
{
    struct syscalls_cpu cpu;
    emu->end->kind = kind;
    engine_get_cpu(emu->process.engine, &cpu);
    emu->end->rip.v = cpu.rip;
    disassemble(emu->end->disassembly, sizeof emu->end->disassembly, emu->config.mmu, emu->end->rip);
    return false;
}

static bool exited(struct emu *emu, int status)
{
    emu->end->status = status;
    return finish(emu, EMU_EXITED);
}

static bool killed(struct emu *emu, int sig, int code)
{
    emu->end->signal = sig;
    emu->end->code = code;
    emu->end->status = 128 + sig;
    return finish(emu, EMU_KILLED);
}

static bool refused(struct emu *emu, const char *why)
{
    snprintf(emu->end->refusal, sizeof emu->end->refusal, "%s", why);
    return finish(emu, EMU_REFUSED);
}

/* None of the threads can ever go on; *err says so. */
static bool deadlocked(struct emu *emu)
{
    const struct stacks_config config = {emu->schedule, emu->config.kernel, emu->config.mmu, emu->config.symbols};
    take_registers(emu);
    emu->end->stacks = stacks_text(&config);
    return finish(emu, EMU_FAILED);
}

/* ------------------------------------------------------------------ events; each returns whether the guest goes on */

static bool enter_handler(struct emu *emu)
{
    if (!emu->process.allocations ||
        allocations_interrupted(emu->process.allocations, emu->thread->cpu.gpr[4], emu->err) == C2_OK)
        return true;
    return finish(emu, EMU_FAILED);
}

static bool after_delivery(struct emu *emu, enum syscalls_delivery delivery, int sig, int code)
{
    switch (delivery) {
    case SYSCALLS_HANDLED:
        engine_set_cpu(emu->process.engine, &emu->thread->cpu);
        return enter_handler(emu);
    case SYSCALLS_IGNORED:
        return true;
    default:
        return killed(emu, sig, code);
    }
}

/* Delivers a signal; the thread's registers are scratch. */
static bool raise_signal(struct emu *emu, int sig)
{
    engine_get_cpu(emu->process.engine, &emu->thread->cpu);
    return after_delivery(emu, syscalls_deliver(emu->config.kernel, &emu->thread->cpu, sig), sig, SI_USER);
}

static bool raise_pending(struct emu *emu)
{
    int sig;
    while ((sig = syscalls_pending(emu->config.kernel)) != 0)
        if (!raise_signal(emu, sig))
            return false;
    return true;
}

/* What becomes of a thread, for who reads the stream. */
static enum c2_status mark_thread(struct emu *emu, const struct emu_thread *thread, enum stream_thread what,
                                  struct c2_error *err)
{
    const uint64_t words[] = {thread->number, what};
    return emu->config.writer ? stream_writer_mark(emu->config.writer, STREAM_THREAD, words, 2, err) : C2_OK;
}

static bool start_thread(struct emu *emu, const struct syscalls_result *result)
{
    enum { RAX = 0, RSP = 4 };
    struct emu_thread *thread = schedule_add(emu->schedule, result->thread.tid);
    if (!thread) {
        c2_fail_memory(emu->err, "the guest's threads");
        return finish(emu, EMU_FAILED);
    }
    thread->cpu = emu->thread->cpu;
    thread->cpu.gpr[RAX] = 0;
    thread->cpu.fs_base = result->thread.fs_base;
    if (result->thread.stack)
        thread->cpu.gpr[RSP] = result->thread.stack;
    engine_set_result(emu->process.engine, (uint64_t)result->value, NULL);
    return mark_thread(emu, thread, STREAM_START, emu->err) == C2_OK || finish(emu, EMU_FAILED);
}

static bool end_thread(struct emu *emu)
{
    if (mark_thread(emu, emu->thread, STREAM_EXIT, emu->err) != C2_OK)
        return finish(emu, EMU_FAILED);
    if (emu->process.allocations)
        allocations_ended(emu->process.allocations, emu->thread->number);
    schedule_end(emu->schedule);
    emu->thread = NULL;
    return true;
}

static void set_result(struct emu *emu, const struct syscalls_cpu *before, const struct syscalls_result *result)
{
    const struct syscalls_cpu *cpu = &emu->thread->cpu;
    const bool moved = before->fs_base != cpu->fs_base || before->gs_base != cpu->gs_base;
    if (emu->process.locals && before->fs_base != cpu->fs_base)
        locals_thread(emu->process.locals, cpu->fs_base);
    engine_set_result(emu->process.engine, (uint64_t)result->value, moved ? cpu : NULL);
}

/* ------------------------------------------------------------------ processes */

/* What follows is nobody's: there is no report of it. */
static bool stop_recording(struct emu *emu)
{
    emu->config.record = false;
    emu->config.phase = NULL;
    emu->phase_end = UINT64_MAX;
    return engine_set_recording(emu->process.engine, false, emu->err) == C2_OK || finish(emu, EMU_FAILED);
}

static void end_without_turn(struct emu *emu)
{
    if (emu->interrupted)
        finish(emu, EMU_INTERRUPTED);
    else
        finish(emu, EMU_ABANDONED);
}

static bool take_over(struct emu *emu, enum turns_news news, uint64_t now)
{
    emu->news = news;
    emu->turn = emu_instructions(emu);
    if (news == TURNS_STUCK || news == TURNS_BROKEN)
        return false;
    syscalls_take_turn(emu->config.kernel, emu->turn, now);
    emu->interrupted = syscalls_is_interrupted(emu->config.kernel);
    if (news == TURNS_OUTSIDE)
        syscalls_look_outside(emu->config.kernel);
    return !emu->interrupted;
}

/* The child begins when its turn comes: it is as its parent was, but for the result of the call. */
static bool begin_child(struct emu *emu, uint32_t seat, const struct syscalls_result *result)
{
    enum { RAX = 0, RSP = 4 };
    const struct emu_family *family = &emu->config.family;
    const uint32_t pid = result->thread.tid;
    struct syscalls_cpu *cpu = &emu->thread->cpu;
    bool followed = false;
    uint64_t now;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const enum turns_news news = turns_begin(family->turns, seat, pid, &now);
    syscalls_become_child(emu->config.kernel, pid, emu_instructions(emu));
    schedule_become_child(emu->schedule, pid);
    emu->config.progress = NULL;
    emu->moment = UINT64_MAX;
    emu->config.moment.reached = NULL;
    const bool begins = take_over(emu, news, now);
    if (family->child(family->self, pid, &followed, emu->err) != C2_OK)
        return finish(emu, EMU_FAILED);
    if (!begins) {
        end_without_turn(emu);
        return false;
    }
    if (result->thread.stack)
        cpu->gpr[RSP] = result->thread.stack;
    cpu->fs_base = result->thread.fs_base;
    engine_set_cpu(emu->process.engine, cpu);
    engine_set_result(emu->process.engine, 0, NULL);
    return (followed || stop_recording(emu)) && raise_pending(emu);
}

static bool start_process(struct emu *emu, const struct syscalls_cpu *before, struct syscalls_result *result)
{
    const struct emu_family *family = &emu->config.family;
    const uint32_t pid = result->thread.tid;
    uint32_t seat = 0;
    if (family->before(family->self, emu->err) != C2_OK)
        return finish(emu, EMU_FAILED);
    const bool room = turns_add(family->turns, &seat);
    const pid_t host = room ? fork() : -1;
    if (host == 0)
        return begin_child(emu, seat, result);
    if (host < 0) {
        if (room)
            turns_cancel(family->turns, seat);
        syscalls_fork_failed(emu->config.kernel, pid);
        result->value = -EAGAIN;
    } else {
        turns_made(family->turns, seat, pid, host);
    }
    while (waitpid(-1, NULL, WNOHANG) > 0) /* those that have ended; what the guest knows of them is elsewhere */
        ;
    if (family->parent(family->self, emu->err) != C2_OK)
        return finish(emu, EMU_FAILED);
    if (host > 0 && syscalls_fork_waits(emu->config.kernel, pid)) {
        emu->blocked = true;
        schedule_give_up(emu->schedule);
        return true;
    }
    set_result(emu, before, result);
    return raise_pending(emu);
}

static bool on_restored(struct emu *emu)
{
    engine_set_cpu(emu->process.engine, &emu->thread->cpu);
    if (emu->process.allocations)
        allocations_resumed(emu->process.allocations);
    return raise_pending(emu);
}

static bool on_syscall(struct emu *emu)
{
    struct syscalls_result result = {.action = SYSCALLS_RETURN};
    engine_get_cpu(emu->process.engine, &emu->thread->cpu);
    struct syscalls_cpu before = emu->thread->cpu;
    syscalls_call(emu->config.kernel, &emu->thread->cpu, emu_instructions(emu), &result, emu->err);
    emu->blocked = result.action == SYSCALLS_BLOCKED;
    switch (result.action) {
    case SYSCALLS_EXIT:
        return exited(emu, result.status);
    case SYSCALLS_EXECUTE:
        return finish(emu, EMU_EXECUTED);
    case SYSCALLS_FAILED:
        return result.deadlock ? deadlocked(emu) : finish(emu, EMU_FAILED);
    case SYSCALLS_RESTORE:
        return on_restored(emu);
    case SYSCALLS_STARTED:
        return start_thread(emu, &result);
    case SYSCALLS_FORK:
        return start_process(emu, &before, &result);
    case SYSCALLS_ENDED:
        return end_thread(emu);
    case SYSCALLS_BLOCKED:
        schedule_give_up(emu->schedule);
        return true;
    case SYSCALLS_YIELD:
        schedule_give_up(emu->schedule);
        break;
    default:
        break;
    }
    set_result(emu, &before, &result);
    if (result.action == SYSCALLS_SIGNAL && !raise_signal(emu, result.signal))
        return false;
    return raise_pending(emu);
}

static bool raise_fault(struct emu *emu, const struct syscalls_fault *fault)
{
    engine_get_cpu(emu->process.engine, &emu->thread->cpu);
    return after_delivery(emu, syscalls_fault(emu->config.kernel, &emu->thread->cpu, fault), fault->signal,
                          fault->code);
}

/* A page fault that the guest must hear of; the address is told at the end only if it dies of it. */
static bool raise_page_fault(struct emu *emu, const struct engine_event *event, int sig, int code)
{
    const struct syscalls_fault fault = {.signal = sig,
                                         .code = code,
                                         .address = event->address.v,
                                         .present = mmu_ready(emu->config.mmu, event->address, MMU_ACCESS_READ),
                                         .access = event->access};
    emu->end->address = event->address;
    emu->end->has_address = !raise_fault(emu, &fault);
    return !emu->end->has_address;
}

static bool on_fault(struct emu *emu, const struct engine_event *event)
{
    enum { MAPERR = 1, ACCERR = 2, ADRERR = 2 };
    switch (mmu_touch(emu->config.mmu, event->address, event->access, emu->err)) {
    case MMU_FAULT_NONE:
        return true;
    case MMU_FAULT_UNMAPPED:
        return raise_page_fault(emu, event, SIGSEGV, MAPERR);
    case MMU_FAULT_DENIED:
        return raise_page_fault(emu, event, SIGSEGV, ACCERR);
    case MMU_FAULT_BUS:
        return raise_page_fault(emu, event, SIGBUS, ADRERR);
    default:
        return finish(emu, EMU_FAILED);
    }
}

/* si_addr is the instruction, except where Linux gives none (general protection, breakpoints). */
static bool on_trap(struct emu *emu, const struct engine_event *event)
{
    struct syscalls_fault fault = {.signal = event->signal, .code = event->code};
    engine_get_cpu(emu->process.engine, &emu->thread->cpu);
    fault.address = event->code == SI_KERNEL ? 0 : emu->thread->cpu.rip;
    return raise_fault(emu, &fault);
}

/* Another part of the run begins here, or it is what the moment waits for, or both. */
static void on_place(struct emu *emu)
{
    if (emu->process.arrival && arrival_take(emu->process.arrival))
        emu->moment = emu_instructions(emu);
    if (emu->process.parts && parts_changed(emu->process.parts))
        emu->phase_end = emu->config.phase ? emu_instructions(emu) : UINT64_MAX;
}

static bool on_event(struct emu *emu, const struct engine_event *event)
{
    switch (event->stop) {
    case ENGINE_BUDGET:
        return true;
    case ENGINE_STOPPED:
        on_place(emu);
        return true;
    case ENGINE_SYSCALL:
        return on_syscall(emu);
    case ENGINE_FAULT:
        return on_fault(emu, event);
    case ENGINE_TRAP:
        return on_trap(emu, event);
    case ENGINE_REFUSED:
        return refused(emu, event->refusal);
    case ENGINE_INTERRUPT:
        return finish(emu, EMU_INTERRUPTED);
    default:
        return finish(emu, EMU_FAILED);
    }
}

static enum c2_status mark_requests(struct emu *emu, const struct emu_part *part, struct c2_error *err)
{
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

static enum c2_status begin_phase(struct emu *emu, struct c2_error *err)
{
    const uint64_t now = emu_instructions(emu);
    const struct emu_part part = emu->process.parts ? parts_part(emu->process.parts)
                                                    : (struct emu_part){.where = EMU_INSIDE};
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

/* Instructions until something else is to be done than to run; 0: nothing is. */
static uint64_t budget_of(const struct emu *emu)
{
    const uint64_t now = emu_instructions(emu);
    const uint64_t end = emu->phase_end < emu->moment ? emu->phase_end : emu->moment;
    const uint64_t tick = emu->config.progress ? emu->tick - now : UINT64_MAX;
    const uint64_t turn = schedule_budget(emu->schedule, now);
    const uint64_t rest = end == UINT64_MAX ? UINT64_MAX : end - now;
    uint64_t budget = rest < tick ? rest : tick;
    budget = turn < budget ? turn : budget;
    const uint64_t alarm = syscalls_alarm(emu->config.kernel, now);
    budget = alarm - now < budget ? alarm - now : budget;
    return budget == UINT64_MAX ? 0 : budget;
}

/* What is to be done where the guest is now. */
static enum c2_status at_instruction(struct emu *emu, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    if (emu_instructions(emu) == emu->moment && emu->config.moment.reached) {
        emu->moment = UINT64_MAX;
        emu->over = emu->config.moment.ends;
        status = emu->config.moment.reached(emu->config.moment.self, err);
    }
    if (status == C2_OK && !emu->over && emu_instructions(emu) == emu->phase_end)
        status = begin_phase(emu, err);
    return status;
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

/* ------------------------------------------------------------------ turns */

/* The engine is given to another thread. */
static enum c2_status switch_to(struct emu *emu, struct emu_thread *next, struct c2_error *err)
{
    struct engine *engine = emu->process.engine;
    struct stream_writer *writer = emu->config.writer;
    if (emu->thread == next)
        return C2_OK;
    take_registers(emu);
    enum c2_status status = writer ? stream_writer_flush(writer, err) : C2_OK;
    if (writer)
        writer->batch->tid = next->number;
    emu->thread = next;
    syscalls_switch(emu->config.kernel, next->tid, emu_instructions(emu));
    engine_set_cpu(engine, &next->cpu);
    engine_set_amid_block(engine, next->amid);
    if (status == C2_OK && emu->process.allocations)
        status = allocations_switch(emu->process.allocations, next->number, err);
    if (emu->process.parts)
        parts_switch(emu->process.parts, engine, next->number);
    return status;
}

/* A signal comes while the thread waits: its call is over, or begins anew behind the handler. */
static bool interrupt_wait(struct emu *emu)
{
    enum { SYSCALL_BYTES = 2 };
    struct engine *engine = emu->process.engine;
    int64_t value;
    if (syscalls_interrupt(emu->config.kernel, emu_instructions(emu), &value)) {
        engine_set_result(engine, (uint64_t)value, NULL);
        return raise_pending(emu);
    }
    engine_get_cpu(engine, &emu->thread->cpu);
    emu->thread->cpu.rip -= SYSCALL_BYTES;
    engine_set_cpu(engine, &emu->thread->cpu);
    return raise_pending(emu);
}

static bool all_wait(struct emu *emu)
{
    const uint32_t count = schedule_count(emu->schedule);
    c2_fail(emu->err, C2_ERR_UNSUPPORTED, "deadlock: %s the program's %u thread%s can ever go on",
            count == 1 ? "not even" : "none of", count, count == 1 ? "" : "s");
    return deadlocked(emu);
}

/* Gives the turn to other processes; false: none comes back. */
static bool share_turn(struct emu *emu, bool ready)
{
    struct syscalls *kernel = emu->config.kernel;
    const uint64_t instructions = emu_instructions(emu);
    const struct turns_state state = {.ready = ready,
                                      .moved = instructions != emu->turn,
                                      .asleep = !ready && syscalls_is_asleep(kernel),
                                      .events = syscalls_events(kernel),
                                      .outside = syscalls_waits_outside(kernel),
                                      .deadline = syscalls_next_time(kernel)};
    uint64_t now = syscalls_time_ns(kernel, instructions);
    syscalls_give_turn(kernel);
    const enum turns_news news = turns_pass(emu->config.family.turns, &state, &now);
    return take_over(emu, news, now);
}

static bool wait_for_anything(void *self, uint64_t instructions)
{
    struct emu *emu = self;
    if (!turns_shared(emu->config.family.turns))
        return syscalls_pass_time(emu->config.kernel, instructions);
    return share_turn(emu, false);
}

static bool has_lost_turn(const struct emu *emu) { return emu->interrupted || emu->news == TURNS_BROKEN; }

/* One thread's turn is over, and that of the next one that goes on begins; which it is again, where it is alone. */
static bool take_turn(struct emu *emu)
{
    enum syscalls_readiness how;
    emu->blocked = true;
    while (emu->blocked) {
        struct emu_thread *next = NULL;
        const bool shared = turns_shared(emu->config.family.turns);
        if (!shared || share_turn(emu, schedule_has_ready(emu->schedule, emu_instructions(emu))))
            next = schedule_next(emu->schedule, emu_instructions(emu), &how);
        if (!next && has_lost_turn(emu)) {
            end_without_turn(emu);
            return false;
        }
        if (!next)
            return all_wait(emu);
        if (switch_to(emu, next, emu->err) != C2_OK)
            return finish(emu, EMU_FAILED);
        emu->blocked = false;
        const bool goes_on = how == SYSCALLS_AGAIN         ? on_syscall(emu)
                             : how == SYSCALLS_INTERRUPTED ? interrupt_wait(emu)
                                                           : raise_pending(emu);
        if (!goes_on)
            return false;
    }
    return true;
}

/* Timers that are due send their signals, and the thread that runs takes them. */
static bool take_alarms(struct emu *emu, uint64_t now)
{
    if (syscalls_alarm(emu->config.kernel, now) != now)
        return true;
    syscalls_expire(emu->config.kernel, now);
    return !emu->thread || emu->blocked || raise_pending(emu);
}

static bool keep_turns(struct emu *emu)
{
    const uint64_t now = emu_instructions(emu);
    if (!take_alarms(emu, now))
        return false;
    while (schedule_is_due(emu->schedule, now))
        if (!take_turn(emu) || !take_alarms(emu, now))
            return false;
    return true;
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
            finish(emu, failed ? EMU_FAILED : EMU_STOPPED);
            return;
        }
        if (!keep_turns(emu))
            return;
        engine_run(emu->process.engine, budget_of(emu), &event, err);
        C2_PROMISE(!emu->config.writer || emu->config.writer->batch->tid == emu->thread->number);
    } while (on_event(emu, &event));
}

/* A run that is interrupted has not come to the threads' end. The first one's is the last. */
static enum c2_status end_stream(struct emu *emu, struct c2_error *err)
{
    const enum emu_end_kind kind = emu->end->kind;
    const bool exits = kind == EMU_EXITED || kind == EMU_KILLED || kind == EMU_EXECUTED;
    enum c2_status status = C2_OK;
    for (uint32_t i = schedule_count(emu->schedule); exits && i-- > 0 && status == C2_OK;)
        status = mark_thread(emu, schedule_at(emu->schedule, i), STREAM_EXIT, err);
    return status == C2_OK && emu->config.writer ? stream_writer_flush(emu->config.writer, err) : status;
}

/* Behind what led to a checkpoint the records are those of the thread that goes on. */
static enum c2_status begin_stream(struct emu *emu, struct c2_error *err)
{
    struct stream_writer *writer = emu->config.writer;
    if (!emu->resumed)
        return mark_thread(emu, emu->thread, STREAM_START, err);
    enum c2_status status = writer ? stream_writer_flush(writer, err) : C2_OK;
    if (writer && emu->thread)
        writer->batch->tid = emu->thread->number;
    return status;
}

void emu_run(struct emu *emu, struct emu_end *end, struct c2_error *err)
{
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
