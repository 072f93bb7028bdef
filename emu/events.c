/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   What is done when the engine has stopped: a page fault is a first touch (go on) or a signal; a system call is done
 *   by syscalls/; a signal that the guest handles changes its registers, one that it does not ends the run.
 * Not modelled
 *   Signals from outside: the guest gets only those that it raises itself.
 */
#include "emu/emu_priv.h"

#include <signal.h>
#include <string.h>

#include "watch/arrival.h"
#include "emu/disassemble_priv.h"
#include "watch/region_tracker.h"
#include "emu/stacks_priv.h"

/* ------------------------------------------------------- how a run ends; each returns false: it has ended */

bool emu_finish(struct emu *emu, enum emu_end_kind kind)
{
    C2_ASSERT(emu->end);
    struct syscalls_cpu cpu;
    emu->end->kind = kind;
    engine_get_cpu(emu->process.engine, &cpu);
    emu->end->rip.v = cpu.rip;
    if (kind == EMU_KILLED || kind == EMU_REFUSED)
        disassemble(emu->end->disassembly, sizeof emu->end->disassembly, emu->config.mmu, emu->end->rip);
    return false;
}

static bool events_exited(struct emu *emu, int status)
{
    emu->end->status = status;
    return emu_finish(emu, EMU_EXITED);
}

static bool killed(struct emu *emu, int sig, int code)
{
    C2_ASSERT(sig > 0 && sig <= 64);
    emu->end->signal = sig;
    emu->end->code = code;
    emu->end->status = 128 + sig;
    return emu_finish(emu, EMU_KILLED);
}

bool emu_stop_for(struct emu *emu, enum emu_end_kind kind, const char *why)
{
    _Static_assert(sizeof emu->end->refusal == sizeof((struct engine_event *)0)->refusal, "no refusal is cut");
    C2_ASSERT(why && strlen(why) < sizeof emu->end->refusal);
    snprintf(emu->end->refusal, sizeof emu->end->refusal, "%s", why);
    return emu_finish(emu, kind);
}

/* None of the threads can ever go on; *err says so. */
bool emu_deadlocked(struct emu *emu)
{
    C2_ASSERT(!emu->end->stacks);
    const struct stacks_config config = {emu->schedule, emu->config.kernel, emu->config.mmu, emu->config.symbols};
    emu_take_all_registers(emu);
    emu->end->stacks = stacks_text(&config);
    return emu_finish(emu, EMU_FAILED);
}

/* ------------------------------------------------------------------ events; each returns whether the guest goes on */

static bool events_enter_handler(struct emu *emu)
{
    C2_PROMISE(emu->thread);
    return watchers_interrupted(&emu->process.watchers, emu->thread->cpu.gpr[4], emu->err) == C2_OK ||
           emu_finish(emu, EMU_FAILED);
}

static bool after_delivery(struct emu *emu, enum syscalls_delivery delivery, int sig, int code)
{
    C2_PROMISE(sig > 0);
    switch (delivery) {
    case SYSCALLS_HANDLED:
        engine_set_cpu(emu->process.engine, &emu->thread->cpu);
        return events_enter_handler(emu);
    case SYSCALLS_IGNORED:
        return true;
    default:
        return killed(emu, sig, code);
    }
}

/* Delivers a signal; the thread's registers are scratch. */
static bool raise_signal(struct emu *emu, int sig)
{
    C2_PROMISE(emu->thread && sig > 0);
    engine_get_cpu(emu->process.engine, &emu->thread->cpu);
    return after_delivery(emu, syscalls_deliver(emu->config.kernel, &emu->thread->cpu, sig), sig, SI_USER);
}

bool emu_raise_pending(struct emu *emu)
{
    C2_PROMISE(emu->thread);
    int sig;
    while ((sig = syscalls_pending(emu->config.kernel)) != 0)
        if (!raise_signal(emu, sig))
            return false;
    if (syscalls_is_stopped(emu->config.kernel))
        schedule_give_up(emu->schedule);
    return true;
}

/* What becomes of a thread, for readers of the stream. */
enum c2_status emu_mark_thread(struct emu *emu, const struct emu_thread *thread, enum stream_thread what,
                               struct c2_error *err)
{
    C2_PROMISE(thread->number != 0);
    const uint64_t words[] = {thread->number, what};
    return emu->config.writer ? stream_writer_mark(emu->config.writer, STREAM_THREAD, words, 2, err) : C2_OK;
}

static bool events_start_thread(struct emu *emu, const struct syscalls_result *result)
{
    C2_ASSERT(result->thread.tid != 0);
    enum { RAX = 0, RSP = 4 };
    struct emu_thread *thread = schedule_add(emu->schedule, result->thread.tid);
    if (!thread) {
        c2_fail_memory(emu->err, "the guest's threads");
        return emu_finish(emu, EMU_FAILED);
    }
    thread->cpu = emu->thread->cpu;
    thread->cpu.gpr[RAX] = 0;
    thread->cpu.fs_base = result->thread.fs_base;
    if (result->thread.stack)
        thread->cpu.gpr[RSP] = result->thread.stack;
    engine_set_result(emu->process.engine, (uint64_t)result->value, NULL);
    enum c2_status status = emu_mark_thread(emu, thread, STREAM_START, emu->err);
    const struct watch_thread start = {thread->number, thread->cpu.fs_base, thread->cpu.gpr[RSP]};
    if (status == C2_OK)
        status = watchers_started(&emu->process.watchers, emu->process.engine, &start, emu->err);
    return status == C2_OK || emu_finish(emu, EMU_FAILED);
}

static bool end_thread(struct emu *emu)
{
    C2_ASSERT(emu->thread && emu->thread == schedule_running(emu->schedule));
    const uint32_t number = emu->thread->number;
    enum c2_status status = watchers_exited(&emu->process.watchers, emu->process.engine, number, emu->err);
    if (status != C2_OK || emu_mark_thread(emu, emu->thread, STREAM_EXIT, emu->err) != C2_OK)
        return emu_finish(emu, EMU_FAILED);
    schedule_end(emu->schedule);
    emu->thread = NULL;
    return true;
}

void emu_set_result(struct emu *emu, const struct syscalls_cpu *before, const struct syscalls_result *result)
{
    C2_PROMISE(emu->thread);
    const struct syscalls_cpu *cpu = &emu->thread->cpu;
    const bool moved = before->fs_base != cpu->fs_base || before->gs_base != cpu->gs_base;
    if (before->fs_base != cpu->fs_base)
        watchers_pointed(&emu->process.watchers, cpu->fs_base);
    engine_set_result(emu->process.engine, (uint64_t)result->value, moved ? cpu : NULL);
}

static bool raise_fault(struct emu *emu, const struct syscalls_fault *fault)
{
    C2_PROMISE(fault->signal > 0);
    engine_get_cpu(emu->process.engine, &emu->thread->cpu);
    return after_delivery(emu, syscalls_fault(emu->config.kernel, &emu->thread->cpu, fault), fault->signal,
                          fault->code);
}

/* fault: 0, or the signal that the return itself raises. */
static bool on_restored(struct emu *emu, int fault)
{
    C2_PROMISE(emu->thread);
    engine_set_cpu(emu->process.engine, &emu->thread->cpu);
    watchers_resumed(&emu->process.watchers);
    if (fault && !raise_fault(emu, &(struct syscalls_fault){.signal = fault, .code = SI_KERNEL}))
        return false;
    return emu_raise_pending(emu);
}

bool emu_on_syscall(struct emu *emu)
{
    C2_PROMISE(emu->thread && !emu->thread->inside);
    struct syscalls_result result = {.action = SYSCALLS_RETURN};
    engine_get_cpu(emu->process.engine, &emu->thread->cpu);
    struct syscalls_cpu before = emu->thread->cpu;
    syscalls_call(emu->config.kernel, &emu->thread->cpu, emu_instructions(emu), &result, emu->err);
    C2_PROMISE(result.action != SYSCALLS_FORK || emu->config.family.turns);
    emu->blocked = result.action == SYSCALLS_BLOCKED;
    switch (result.action) {
    case SYSCALLS_EXIT:
        return events_exited(emu, result.status);
    case SYSCALLS_EXECUTE:
        return emu_finish(emu, EMU_EXECUTED);
    case SYSCALLS_FAILED:
        return result.deadlock ? emu_deadlocked(emu) : emu_finish(emu, EMU_FAILED);
    case SYSCALLS_RESTORE:
        return on_restored(emu, result.signal);
    case SYSCALLS_STARTED:
        return events_start_thread(emu, &result);
    case SYSCALLS_FORK:
        return emu_start_process(emu, &before, &result);
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
    emu_set_result(emu, &before, &result);
    if (result.action == SYSCALLS_SIGNAL && !raise_signal(emu, result.signal))
        return false;
    return emu_raise_pending(emu);
}

/* A page fault that the guest must hear of; the address is told at the end only if it dies of it. */
static bool raise_page_fault(struct emu *emu, const struct engine_event *event, int sig, int code)
{
    C2_PROMISE(event->stop == ENGINE_FAULT);
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
    C2_PROMISE(event->stop == ENGINE_FAULT);
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
        return emu_finish(emu, EMU_FAILED);
    }
}

/* si_addr is the instruction, except where Linux gives none (general protection, breakpoints). */
static bool on_trap(struct emu *emu, const struct engine_event *event)
{
    C2_PROMISE(event->stop == ENGINE_TRAP && event->signal > 0);
    struct syscalls_fault fault = {.signal = event->signal, .code = event->code};
    engine_get_cpu(emu->process.engine, &emu->thread->cpu);
    fault.address = event->code == SI_KERNEL ? 0 : emu->thread->cpu.rip;
    return raise_fault(emu, &fault);
}

/* Another part of the run begins here, or it is what the moment waits for, or both. */
static void on_place(struct emu *emu)
{
    C2_PROMISE(emu->process.arrival || emu->process.region_tracker);
    if (emu->process.arrival && arrival_take(emu->process.arrival))
        emu->checkpoint_trigger = emu_instructions(emu);
    if (emu->process.region_tracker && region_tracker_changed(emu->process.region_tracker))
        emu->phase_end = emu->config.phase ? emu_instructions(emu) : UINT64_MAX;
}

bool emu_on_event(struct emu *emu, const struct engine_event *event)
{
    C2_PROMISE(emu->thread);
    switch (event->stop) {
    case ENGINE_BUDGET:
        return true;
    case ENGINE_STOPPED:
        on_place(emu);
        return true;
    case ENGINE_SYSCALL:
        return emu_on_syscall(emu);
    case ENGINE_FAULT:
        return on_fault(emu, event);
    case ENGINE_TRAP:
        return on_trap(emu, event);
    case ENGINE_REFUSED:
        return emu_stop_for(emu, EMU_REFUSED, event->refusal);
    case ENGINE_INTERRUPT:
        return emu_finish(emu, EMU_INTERRUPTED);
    default:
        return emu_finish(emu, EMU_FAILED);
    }
}
