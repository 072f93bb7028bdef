/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * rounds: one thread's turn ends and another's begins, of this process (schedule.c) or of another (turns.c).
 */
#include "emu/emu_priv.h"

void emu_end_without_turn(struct emu *emu)
{
    if (emu->exhausted)
        emu_stop_for(emu, EMU_EXHAUSTED, emu->err->text);
    else
        emu_finish(emu, emu->interrupted ? EMU_INTERRUPTED : EMU_ABANDONED);
}

bool emu_take_over(struct emu *emu, enum turns_news news, uint64_t now)
{
    emu->news = news;
    emu->turn = emu_instructions(emu);
    if (news == TURNS_STUCK || news == TURNS_BROKEN)
        return false;
    emu->turn_events = syscalls_events(emu->config.kernel);
    emu->exhausted = syscalls_take_turn(emu->config.kernel, emu->turn, now, emu->err) != C2_OK;
    emu->interrupted = syscalls_is_interrupted(emu->config.kernel);
    if (news == TURNS_OUTSIDE)
        syscalls_look_outside(emu->config.kernel, turns_look_ns(emu->config.family.turns));
    return !emu->interrupted && !emu->exhausted;
}

/* The thread that runs leaves the engine. */
static void leave_engine(struct emu *emu)
{
    enum { RSP = 4 };
    struct engine *engine = emu->process.engine;
    struct emu_thread *thread = emu->thread;
    if (!thread)
        return;
    C2_PROMISE(!thread->inside);
    if (!thread->kept)
        thread->kept = engine_registers_create(engine);
    thread->inside = SHORTCUT(thread->kept);
    if (!thread->inside) {
        emu_take_registers(emu);
        return;
    }
    engine_keep(engine, thread->kept);
    thread->amid = engine_amid_block(engine);
    thread->cpu.gpr[RSP] = engine_gpr(engine, RSP);
}

static void enter_engine(struct engine *engine, struct emu_thread *thread)
{
    C2_PROMISE(!thread->inside || thread->kept);
    if (thread->inside)
        engine_take(engine, thread->kept);
    else
        engine_set_cpu(engine, &thread->cpu);
    thread->inside = false;
    engine_set_amid_block(engine, thread->amid);
}

/* The engine is given to another thread. */
static enum c2_status rounds_switch_to(struct emu *emu, struct emu_thread *next, struct c2_error *err)
{
    C2_PROMISE(next && next == schedule_running(emu->schedule));
    struct engine *engine = emu->process.engine;
    struct stream_writer *writer = emu->config.writer;
    if (emu->thread == next)
        return C2_OK;
    leave_engine(emu);
    enum c2_status status = writer ? stream_writer_flush(writer, err) : C2_OK;
    if (writer)
        writer->batch->tid = next->number;
    emu->thread = next;
    syscalls_switch(emu->config.kernel, next->tid, emu_instructions(emu));
    enter_engine(engine, next);
    if (status == C2_OK)
        status = watchers_switched(&emu->process.watchers, engine, next->number, err);
    return status;
}

/* A signal comes while the thread waits: its call is over, or begins anew behind the handler. */
static bool interrupt_wait(struct emu *emu)
{
    C2_PROMISE(emu->thread);
    enum { SYSCALL_BYTES = 2 };
    struct engine *engine = emu->process.engine;
    int64_t value;
    if (syscalls_interrupt(emu->config.kernel, emu_instructions(emu), &value)) {
        engine_set_result(engine, (uint64_t)value, NULL);
        return emu_raise_pending(emu);
    }
    engine_get_cpu(engine, &emu->thread->cpu);
    emu->thread->cpu.rip -= SYSCALL_BYTES;
    engine_set_cpu(engine, &emu->thread->cpu);
    return emu_raise_pending(emu);
}

static bool all_wait(struct emu *emu)
{
    const uint32_t count = schedule_count(emu->schedule);
    C2_PROMISE(count != 0);
    if (syscalls_is_stopped(emu->config.kernel) && !turns_shared(emu->config.family.turns)) {
        c2_fail(emu->err, C2_ERR_UNSUPPORTED, "the program has stopped itself, and no other process can continue it");
        return emu_deadlocked(emu);
    }
    c2_fail(emu->err, C2_ERR_UNSUPPORTED, "deadlock: %s the program's %u thread%s can ever go on",
            count == 1 ? "not even" : "none of", count, count == 1 ? "" : "s");
    return emu_deadlocked(emu);
}

/* Gives the turn to other processes; false: none comes back. */
static bool share_turn(struct emu *emu, bool ready)
{
    C2_PROMISE(emu->config.family.turns);
    struct syscalls *kernel = emu->config.kernel;
    const uint64_t instructions = emu_instructions(emu);
    const struct turns_state state = {.ready = ready,
                                      .moved = instructions != emu->turn || syscalls_events(kernel) != emu->turn_events,
                                      .asleep = !ready && syscalls_is_asleep(kernel),
                                      .events = syscalls_events(kernel),
                                      .polls = syscalls_polls(kernel),
                                      .calls = syscalls_calls(kernel),
                                      .outside = syscalls_waits_outside(kernel),
                                      .deadline = syscalls_next_time(kernel)};
    uint64_t now = syscalls_time_ns(kernel, instructions);
    syscalls_give_turn(kernel, instructions);
    const enum turns_news news = turns_pass(emu->config.family.turns, &state, &now);
    return emu_take_over(emu, news, now);
}

bool emu_wait_for_anything(void *self, uint64_t instructions)
{
    C2_PROMISE(instructions == emu_instructions(self));
    struct emu *emu = self;
    if (!turns_shared(emu->config.family.turns))
        return syscalls_pass_time(emu->config.kernel, instructions);
    return share_turn(emu, false);
}

uint64_t emu_quiet_until(void *self, uint64_t instructions)
{
    const struct emu *emu = self;
    struct syscalls *kernel = emu->config.kernel;
    const uint64_t moment = turns_quiet_until(emu->config.family.turns, syscalls_events(kernel),
                                              syscalls_calls(kernel));
    return syscalls_count_at(kernel, moment, instructions);
}

static bool has_lost_turn(const struct emu *emu)
{
    return emu->exhausted || emu->interrupted || emu->news == TURNS_BROKEN;
}

/* One thread's turn is over, and that of the next one that goes on begins; which it is again, where it is alone. */
static bool rounds_take_turn(struct emu *emu)
{
    enum syscalls_readiness how;
    emu->blocked = true;
    while (emu->blocked) {
        struct emu_thread *next = NULL;
        const bool shared = turns_shared(emu->config.family.turns) &&
                            !schedule_keeps_process(emu->schedule, emu_instructions(emu), emu->turn);
        if (!shared || share_turn(emu, schedule_has_ready(emu->schedule, emu_instructions(emu))))
            next = schedule_next(emu->schedule, emu_instructions(emu), &how);
        if (!next && has_lost_turn(emu)) {
            emu_end_without_turn(emu);
            return false;
        }
        if (!next)
            return all_wait(emu);
        if (rounds_switch_to(emu, next, emu->err) != C2_OK)
            return emu_finish(emu, EMU_FAILED);
        emu->blocked = false;
        const bool goes_on = how == SYSCALLS_AGAIN         ? emu_on_syscall(emu)
                             : how == SYSCALLS_INTERRUPTED ? interrupt_wait(emu)
                                                           : emu_raise_pending(emu);
        if (!goes_on)
            return false;
    }
    C2_PROMISE(emu->thread == schedule_running(emu->schedule));
    return true;
}

/* Timers that are due send their signals, and the thread that runs takes them. */
static bool take_alarms(struct emu *emu, uint64_t now)
{
    C2_PROMISE(now == emu_instructions(emu));
    if (syscalls_alarm(emu->config.kernel, now) != now)
        return true;
    syscalls_expire(emu->config.kernel, now);
    return !emu->thread || emu->blocked || emu_raise_pending(emu);
}

bool emu_keep_turns(struct emu *emu)
{
    const uint64_t now = emu_instructions(emu);
    if (!take_alarms(emu, now))
        return false;
    while (schedule_is_due(emu->schedule, now))
        if (!rounds_take_turn(emu) || !take_alarms(emu, now))
            return false;
    C2_PROMISE(emu->thread && !emu->blocked);
    return true;
}
