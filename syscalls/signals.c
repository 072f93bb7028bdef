/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The guest's signals.
 *
 * Model
 *   Signals come from faults, from broken pipes, from timers and from the guest itself; none come from outside. Those
 *   that are sent are pending for a thread or for the process (pending.c). Of the process's a thread takes those
 *   that no thread before it would: the first one first, as on Linux. Actions, masks, the alternate stack and the
 *   default actions are Linux's; of stopping see stops.c.
 *
 * Invariants
 *   SIGKILL and SIGSTOP are never blocked and have no action.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "syscalls/kernel_priv.h"
#include "syscalls/trace_priv.h"

#define HANDLER_DEFAULT 0
#define HANDLER_IGNORE 1

static uint64_t unblockable(void) { return signals_bit(SIGKILL) | signals_bit(SIGSTOP); }

void signals_mask_create(struct signals_mask *mask) { mask->stack.flags = SS_DISABLE; }
bool signals_mask_holds(const struct signals_mask *mask) { return !(mask->blocked & unblockable()); }

void signals_mask_check(const struct signals_mask *mask) { C2_ASSERT(signals_mask_holds(mask)); }

void signals_mask_dump(const struct signals_mask *mask, FILE *to)
{
    fprintf(to, "signals blocked %#llx%s\n", (unsigned long long)mask->blocked,
            mask->suspended ? ", in sigsuspend" : "");
}

bool signals_hold(const struct signals *signals)
{
    for (int signal = 1; signal <= SIGNALS_COUNT; signal++)
        if (signals->action[signal].mask & unblockable())
            return false;
    if (!pending_holds(&signals->pending))
        return false;
    return signals->action[SIGKILL].handler == HANDLER_DEFAULT && signals->action[SIGSTOP].handler == HANDLER_DEFAULT;
}

void signals_check(const struct signals *signals) { C2_ASSERT(signals_hold(signals)); }

void signals_dump(const struct signals *signals, FILE *to)
{
    fprintf(to, "signals: pending %#llx\n", (unsigned long long)signals->pending.set);
    for (int signal = 1; signal <= SIGNALS_COUNT; signal++)
        if (signals->action[signal].handler != HANDLER_DEFAULT)
            fprintf(to, "%s: handler %#llx, flags %#llx, mask %#llx\n", syscalls_signal_name(signal),
                    (unsigned long long)signals->action[signal].handler,
                    (unsigned long long)signals->action[signal].flags,
                    (unsigned long long)signals->action[signal].mask);
}

static bool ignored_by_default(int signal)
{
    switch (signal) {
    case SIGCHLD:
    case SIGCONT:
    case SIGURG:
    case SIGWINCH:
        return true;
    default:
        return false;
    }
}

static bool is_ignored(const struct signals *signals, int signal)
{
    uint64_t handler = signals->action[signal].handler;
    return handler == HANDLER_IGNORE || (handler == HANDLER_DEFAULT && ignored_by_default(signal));
}

/* Whether a thread that may take it blocks it, and would get it later. */
static bool is_blocked(const struct syscalls *kernel, const struct kernel_thread *thread, uint64_t bit)
{
    if (thread)
        return thread->signals.blocked & bit;
    for (uint32_t i = 0; i < kernel->thread_count; i++)
        if (!(kernel->threads[i]->signals.blocked & bit))
            return false;
    return true;
}

static void drop_pending(struct syscalls *kernel, int signal)
{
    pending_drop(&kernel->signals.pending, signal);
    for (uint32_t i = 0; i < kernel->thread_count; i++)
        pending_drop(&kernel->threads[i]->pending, signal);
}

bool signals_raise(struct syscalls *kernel, struct kernel_thread *thread, const struct signals_info *info)
{
    struct signals_pending *pending = thread ? &thread->pending : &kernel->signals.pending;
    const uint64_t bit = signals_bit(info->signal);
    for (uint64_t left = stops_taken_back(info->signal); left; left &= left - 1)
        drop_pending(kernel, __builtin_ctzll(left) + 1);
    stops_end(kernel, kernel->self, info->signal);
    if (is_ignored(&kernel->signals, info->signal) && !is_blocked(kernel, thread, bit))
        return false;
    return pending_add(pending, info);
}

/* The lowest of a set, or 0; those that a CPU raises come first. */
static int signals_first_of(uint64_t set)
{
    const uint64_t faults = signals_bit(SIGSEGV) | signals_bit(SIGBUS) | signals_bit(SIGILL) | signals_bit(SIGTRAP) |
                            signals_bit(SIGFPE) | signals_bit(SIGSYS);
    set = set & faults ? set & faults : set;
    return set ? __builtin_ctzll(set) + 1 : 0;
}

static void signals_show(struct syscalls *kernel, const struct signals_info *info)
{
    if (!kernel->trace)
        return;
    trace_thread(kernel, kernel->current ? kernel->current->tid : kernel->pid);
    trace_signal(kernel->trace, info);
}

/* One without a handler stops the process, or is ignored: at its delivery, which it has come to. */
static bool signals_is_over(struct syscalls *kernel, int signal)
{
    const bool stops = stops_is_stop(signal) && kernel->signals.action[signal].handler == HANDLER_DEFAULT;
    if (stops && !stops_is_for_nothing(kernel, signal))
        stops_stop(kernel, signal);
    return stops || is_ignored(&kernel->signals, signal);
}

/* The lowest one that is pending and not blocked; those that are over without a handler are dropped. */
static int deliverable(struct syscalls *kernel, struct signals_pending *pending, uint64_t blocked)
{
    int signal;
    struct signals_info info;
    while ((signal = signals_first_of(pending->set & ~blocked)) != 0 && !stops_is_stopped(kernel) &&
           signals_is_over(kernel, signal)) {
        pending_take(pending, signal, &info);
        pending_drop(pending, signal);
        if (stops_is_stop(signal))
            signals_show(kernel, &info);
    }
    return stops_is_stopped(kernel) ? 0 : signal;
}

/* What threads before it block: the process's signals that it takes. */
static uint64_t left_by_others(const struct syscalls *kernel, const struct kernel_thread *thread)
{
    uint64_t left = UINT64_MAX;
    for (uint32_t i = 0; kernel->threads[i] != thread; i++)
        left &= kernel->threads[i]->signals.blocked;
    return left;
}

int signals_deliverable(struct syscalls *kernel, struct kernel_thread *thread)
{
    struct signals *signals = &kernel->signals;
    const uint64_t blocked = thread->signals.blocked;
    const int own = deliverable(kernel, &thread->pending, blocked);
    if (own || !(signals->pending.set & ~blocked))
        return own;
    return deliverable(kernel, &signals->pending, blocked | ~left_by_others(kernel, thread));
}

int syscalls_pending(struct syscalls *kernel) { return signals_deliverable(kernel, kernel->current); }

bool signals_wait(struct call *c, uint64_t wanted)
{
    struct signals_mask *mask = &c->kernel->current->signals;
    if (!c->again)
        mask->after = mask->suspended ? mask->after : mask->blocked;
    mask->suspended = true;
    mask->blocked = wanted & ~unblockable();
    return signals_deliverable(c->kernel, c->kernel->current);
}

void signals_waited(struct call *c)
{
    struct signals_mask *mask = &c->kernel->current->signals;
    if (!mask->suspended || c->result->action == SYSCALLS_BLOCKED)
        return;
    mask->suspended = false;
    mask->blocked = mask->after;
}

bool signals_are_pending(const struct syscalls *kernel, const struct kernel_thread *thread, uint64_t set)
{
    return ((thread ? thread->pending.set : 0) | kernel->signals.pending.set) & set;
}

/* ------------------------------------------------------------------ delivery */

/* Takes it out of those that are pending: for the thread, or else for the process. */
static bool take_pending(struct signals_info *info, struct syscalls *kernel, int signal)
{
    struct signals_pending *own = &kernel->current->pending, *all = &kernel->signals.pending;
    if (!pending_take(own, signal, info) && !pending_take(all, signal, info))
        return false;
    timers_taken(kernel, info);
    return true;
}

int signals_take(struct syscalls *kernel, uint64_t set, struct signals_info *info)
{
    const uint64_t pending = kernel->current->pending.set | kernel->signals.pending.set;
    const int signal = signals_first_of(pending & set & ~unblockable());
    if (signal)
        take_pending(info, kernel, signal);
    return signal;
}

/* What is known of a signal without a sender. */
static struct signals_info signals_info_of(struct syscalls *kernel, int signal)
{
    struct signals_info info = {.signal = signal, .code = SI_USER};
    if (!take_pending(&info, kernel, signal)) {
        info.sender.pid = (int32_t)kernel->pid;
        info.sender.uid = IDENTITY_USER;
    }
    return info;
}

/* What the handler's run blocks, after the frame has kept the mask from before. */
static void signals_enter_handler(struct signals_mask *mask, struct signals_action *action, int signal)
{
    mask->suspended = false;
    mask->blocked |= action->mask;
    if (!(action->flags & SA_NODEFER))
        mask->blocked |= signals_bit(signal);
    mask->blocked &= ~unblockable();
    if (action->flags & SA_RESETHAND)
        action->handler = HANDLER_DEFAULT;
    if (mask->stack.flags & SIGNALS_AUTODISARM)
        mask->stack = (struct signals_stack){.flags = SS_DISABLE};
}

static enum syscalls_delivery deliver_to_handler(struct syscalls *kernel, struct syscalls_cpu *cpu,
                                                 const struct signals_info *info, const struct syscalls_fault *fault)
{
    struct c2_error err = {.status = C2_OK};
    if (frame_build(kernel, cpu, info, fault, &err) != C2_OK) {
        if (kernel->complaints)
            fprintf(kernel->complaints, "%sthe handler of %s cannot be called: %s\n", kernel->complaint_prefix,
                    syscalls_signal_name(info->signal), err.text);
        return SYSCALLS_KILLED;
    }
    signals_enter_handler(&kernel->current->signals, &kernel->signals.action[info->signal], info->signal);
    return SYSCALLS_HANDLED;
}

static enum syscalls_delivery signals_deliver(struct syscalls *kernel, struct syscalls_cpu *cpu,
                                              const struct signals_info *info, const struct syscalls_fault *fault)
{
    const struct signals *signals = &kernel->signals;
    const uint64_t handler = signals->action[info->signal].handler;
    const bool blocked = kernel->current->signals.blocked & signals_bit(info->signal);
    signals_show(kernel, info);
    if (fault && (blocked || handler == HANDLER_IGNORE))
        return SYSCALLS_KILLED;
    if (signals_is_over(kernel, info->signal))
        return SYSCALLS_IGNORED;
    return handler == HANDLER_DEFAULT ? SYSCALLS_KILLED : deliver_to_handler(kernel, cpu, info, fault);
}

enum syscalls_delivery syscalls_deliver(struct syscalls *kernel, struct syscalls_cpu *cpu, int signal)
{
    C2_ASSERT(signal >= 1 && signal <= SIGNALS_COUNT);
    const struct signals_info info = signals_info_of(kernel, signal);
    if (!(kernel->current->signals.blocked & signals_bit(signal)))
        return signals_deliver(kernel, cpu, &info, NULL);
    signals_raise(kernel, kernel->current, &info);
    return SYSCALLS_IGNORED;
}

enum syscalls_delivery syscalls_fault(struct syscalls *kernel, struct syscalls_cpu *cpu,
                                      const struct syscalls_fault *fault)
{
    const struct signals_info info = {.signal = fault->signal, .code = fault->code, .address = fault->address};
    C2_ASSERT(fault->signal >= 1 && fault->signal <= SIGNALS_COUNT);
    return signals_deliver(kernel, cpu, &info, fault);
}

/* ------------------------------------------------------------------ actions and masks */

enum { SET_BYTES = 8 };

int64_t signals_sigaction(struct call *c)
{
    struct signals *signals = &c->kernel->signals;
    int signal = (int)c->arg[0];
    if (c->arg[3] != SET_BYTES || signal < 1 || signal > SIGNALS_COUNT)
        return -EINVAL;
    struct signals_action old = signals->action[signal];
    if (c->ptr[1]) {
        if (unblockable() & signals_bit(signal))
            return -EINVAL;
        memcpy(&signals->action[signal], c->ptr[1], sizeof old);
        signals->action[signal].mask &= ~unblockable();
        if (is_ignored(signals, signal))
            drop_pending(c->kernel, signal);
    }
    if (c->ptr[2])
        memcpy(c->ptr[2], &old, sizeof old);
    return 0;
}

int64_t signals_procmask(struct call *c)
{
    struct signals_mask *mask = &c->kernel->current->signals;
    uint64_t old = mask->blocked, set;
    if (c->arg[3] != SET_BYTES)
        return -EINVAL;
    if (c->ptr[1]) {
        memcpy(&set, c->ptr[1], sizeof set);
        switch ((int)c->arg[0]) {
        case SIG_BLOCK:
            mask->blocked |= set;
            break;
        case SIG_UNBLOCK:
            mask->blocked &= ~set;
            break;
        case SIG_SETMASK:
            mask->blocked = set;
            break;
        default:
            return -EINVAL;
        }
        mask->blocked &= ~unblockable();
    }
    if (c->ptr[2])
        memcpy(c->ptr[2], &old, sizeof old);
    return 0;
}

int64_t signals_sigpending(struct call *c)
{
    const struct kernel_thread *self = c->kernel->current;
    uint64_t set = (self->pending.set | c->kernel->signals.pending.set) & self->signals.blocked;
    if (c->arg[1] > SET_BYTES)
        return -EINVAL;
    memcpy(c->ptr[0], &set, sizeof set);
    return 0;
}

int64_t signals_altstack(struct call *c)
{
    enum { MINIMUM = 2048 };
    struct signals_stack *stack = &c->kernel->current->signals.stack, old = *stack;
    bool on = frame_on_stack(stack, c->cpu->gpr[4]);
    old.flags |= on ? SS_ONSTACK : 0;
    if (c->ptr[0]) {
        struct signals_stack wanted = *(const struct signals_stack *)c->ptr[0];
        int mode = wanted.flags & ~SIGNALS_AUTODISARM;
        if (on)
            return -EPERM;
        if (mode != SS_DISABLE && mode != SS_ONSTACK && mode != 0)
            return -EINVAL;
        if (mode != SS_DISABLE && wanted.bytes < MINIMUM)
            return -ENOMEM;
        if (mode == SS_DISABLE)
            wanted.base = wanted.bytes = 0;
        wanted.flags &= ~SS_ONSTACK;
        *stack = wanted;
    }
    if (c->ptr[1])
        memcpy(c->ptr[1], &old, sizeof old);
    return 0;
}

int64_t signals_return(struct call *c)
{
    const bool restored = frame_restore(c) == 0;
    if (restored && c->result->action == SYSCALLS_RETURN) {
        c->result->action = SYSCALLS_RESTORE;
    } else if (c->result->action == SYSCALLS_RETURN) {
        c->result->action = SYSCALLS_SIGNAL;
        c->result->signal = SIGSEGV;
    }
    return 0;
}

/* ------------------------------------------------------------------ waiting */

#define NOBODY_SENDS "no signal is pending, and nobody else sends one"

static int64_t suspend(struct call *c, uint64_t mask)
{
    if (signals_wait(c, mask))
        return -EINTR;
    return call_wait(c,
                     (struct kernel_wait){.kind = KERNEL_WAITS_SIGNAL, .deadline = KERNEL_NEVER, .why = NOBODY_SENDS});
}

int64_t signals_sigsuspend(struct call *c)
{
    uint64_t mask;
    if (c->arg[1] != SET_BYTES)
        return -EINVAL;
    memcpy(&mask, c->ptr[0], sizeof mask);
    return suspend(c, mask);
}

int64_t signals_pause(struct call *c) { return suspend(c, c->kernel->current->signals.blocked); }

int64_t signals_timedwait(struct call *c)
{
    struct signals_info info;
    uint64_t set, ns = 0;
    if (c->arg[3] != SET_BYTES || (c->ptr[2] && !kernel_timespec_ns(&ns, c->ptr[2])))
        return -EINVAL;
    memcpy(&set, c->ptr[0], sizeof set);
    int signal = signals_take(c->kernel, set, &info);
    if (signal && c->ptr[1])
        memcpy(c->ptr[1], &info, sizeof info);
    if (signal)
        return signal;
    if (c->again)
        return call_is_late(c) ? -EAGAIN : call_wait(c, *c->waited);
    return call_wait(c, (struct kernel_wait){.kind = KERNEL_WAITS_SIGNAL,
                                             .deadline = c->ptr[2] ? kernel_deadline(c, ns) : KERNEL_NEVER,
                                             .signals = set & ~unblockable(),
                                             .why = NOBODY_SENDS});
}

/* ------------------------------------------------------------------ sending */

/* To a thread, or to the process. */
static int64_t signals_send(struct call *c, struct kernel_thread *thread, int signal, int code)
{
    struct signals_info info = {.signal = signal, .code = code};
    info.sender.pid = (int32_t)c->kernel->pid;
    info.sender.uid = IDENTITY_USER;
    if (signal < 0 || signal > SIGNALS_COUNT)
        return -EINVAL;
    if (signal != 0)
        signals_raise(c->kernel, thread, &info);
    return 0;
}

/* group: the process whose thread it has to be; 0: any. */
static int64_t send_to_thread(struct call *c, int group, int thread, int signal)
{
    struct signals_info info = {.signal = signal, .code = SI_TKILL};
    info.sender.pid = (int32_t)c->kernel->pid;
    info.sender.uid = IDENTITY_USER;
    if (thread <= 0)
        return -EINVAL;
    struct kernel_thread *to = threads_find(c->kernel, (uint32_t)thread);
    if (to && (group == 0 || (uint32_t)group == c->kernel->pid))
        return signals_send(c, to, signal, SI_TKILL);
    return processes_send_thread(c, (uint32_t)group, (uint32_t)thread, &info);
}

int64_t signals_tkill(struct call *c) { return send_to_thread(c, 0, (int)c->arg[0], (int)c->arg[1]); }

int64_t signals_tgkill(struct call *c)
{
    if ((int)c->arg[0] <= 0)
        return -EINVAL;
    return send_to_thread(c, (int)c->arg[0], (int)c->arg[1], (int)c->arg[2]);
}

/* RLIMIT_SIGPENDING, of real-time signals that a program queues; kill and tkill get through. */
static bool queue_is_full(const struct syscalls *kernel, int signal)
{
    uint64_t count = kernel->signals.pending.count;
    for (uint32_t i = 0; i < kernel->thread_count; i++)
        count += kernel->threads[i]->pending.count;
    return signal >= SIGNALS_REAL_TIME && count >= kernel->identity.limit[RLIMIT_SIGPENDING].soft;
}

static int64_t queue(struct call *c, struct kernel_thread *thread, int signal, const void *said)
{
    struct signals_info info;
    if (signal < 0 || signal > SIGNALS_COUNT)
        return -EINVAL;
    memcpy(&info, said, sizeof info);
    info.signal = signal;
    if (queue_is_full(c->kernel, signal))
        return -EAGAIN;
    if (signal != 0)
        signals_raise(c->kernel, thread, &info);
    return 0;
}

/* Of a signal for others the sender cannot be given as the kernel, kill or tkill. */
static bool is_pretended(const struct call *c, uint64_t to, const void *said)
{
    const struct signals_info *info = said;
    return (info->code >= 0 || info->code == SI_TKILL) && to != c->kernel->current->tid;
}

int64_t signals_queue(struct call *c)
{
    struct signals_info info;
    if (is_pretended(c, c->arg[0], c->ptr[2]))
        return -EPERM;
    if (c->arg[0] == c->kernel->pid)
        return queue(c, NULL, (int)c->arg[1], c->ptr[2]);
    if ((int)c->arg[0] <= 0)
        return -ESRCH;
    memcpy(&info, c->ptr[2], sizeof info);
    info.signal = (int)c->arg[1];
    return processes_send(c, (int)c->arg[0], &info);
}

int64_t signals_queue_thread(struct call *c)
{
    struct kernel_thread *thread = threads_find(c->kernel, (uint32_t)c->arg[1]);
    struct signals_info info;
    if ((int)c->arg[0] <= 0 || (int)c->arg[1] <= 0)
        return -EINVAL;
    if (is_pretended(c, c->arg[1], c->ptr[3]))
        return -EPERM;
    if (c->arg[0] == c->kernel->pid && thread)
        return queue(c, thread, (int)c->arg[2], c->ptr[3]);
    memcpy(&info, c->ptr[3], sizeof info);
    info.signal = (int)c->arg[2];
    return processes_send_thread(c, (uint32_t)c->arg[0], (uint32_t)c->arg[1], &info);
}

/* What is interrupted by a handler is never begun again by this call here. */
int64_t signals_restart_call(struct call *c)
{
    (void)c;
    return -EINTR;
}
