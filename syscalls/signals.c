/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The guest's signals.
 *
 * Model
 *   Signals come from faults, from broken pipes and from the guest itself; none come from outside. One of a kind can be
 *   pending, with what its siginfo says. Actions, masks, the alternate stack and the default actions are Linux's;
 *   stopping is ignored, for nobody could continue the process.
 *
 * Invariants
 *   SIGKILL and SIGSTOP are never blocked and have no action.
 *
 * Not modelled
 *   Queues of real-time signals; signals for a thread rather than the process.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
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
    for (int signal = 1; signal <= SIGNALS_COUNT; signal++) {
        const bool pending = signals->pending & signals_bit(signal);
        if (signals->action[signal].mask & unblockable() || (pending && signals->info[signal].signal != signal))
            return false;
    }
    return signals->action[SIGKILL].handler == HANDLER_DEFAULT && signals->action[SIGSTOP].handler == HANDLER_DEFAULT;
}

void signals_check(const struct signals *signals) { C2_ASSERT(signals_hold(signals)); }

void signals_dump(const struct signals *signals, FILE *to)
{
    fprintf(to, "signals: pending %#llx\n", (unsigned long long)signals->pending);
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
    case SIGSTOP: /* these four would stop the process */
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
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

void signals_raise(struct syscalls *kernel, const struct signals_info *info)
{
    struct signals *signals = &kernel->signals;
    uint64_t bit = signals_bit(info->signal);
    if (signals->pending & bit || (is_ignored(signals, info->signal) && !(kernel->thread.signals.blocked & bit)))
        return;
    signals->pending |= bit;
    signals->info[info->signal] = *info;
}

/* The lowest of a set, or 0. */
static int first_of(uint64_t set) { return set ? __builtin_ctzll(set) + 1 : 0; }

/* The lowest pending signal outside `blocked`; those that are ignored are dropped, as at their delivery. */
static int deliverable(struct signals *signals, uint64_t blocked)
{
    int signal;
    while ((signal = first_of(signals->pending & ~blocked)) != 0 && is_ignored(signals, signal))
        signals->pending &= ~signals_bit(signal);
    return signal;
}

int syscalls_pending(struct syscalls *kernel) { return deliverable(&kernel->signals, kernel->thread.signals.blocked); }

bool signals_wait(struct syscalls *kernel, uint64_t wanted)
{
    struct signals_mask *mask = &kernel->thread.signals;
    wanted &= ~unblockable();
    if (!deliverable(&kernel->signals, wanted))
        return false;
    mask->after = mask->suspended ? mask->after : mask->blocked;
    mask->suspended = true;
    mask->blocked = wanted;
    return true;
}

bool signals_are_pending(const struct syscalls *kernel, uint64_t set) { return kernel->signals.pending & set; }

int signals_take(struct syscalls *kernel, uint64_t set, struct signals_info *info)
{
    struct signals *signals = &kernel->signals;
    const int signal = first_of(signals->pending & set & ~unblockable());
    if (signal) {
        signals->pending &= ~signals_bit(signal);
        *info = signals->info[signal];
    }
    return signal;
}

/* ------------------------------------------------------------------ delivery */

static struct signals_info info_of(struct signals *signals, int signal, int code, uint64_t address, bool forced)
{
    struct signals_info info = {.signal = signal, .code = code};
    if (!forced && signals->pending & signals_bit(signal)) {
        info = signals->info[signal];
        signals->pending &= ~signals_bit(signal);
    } else if (forced) {
        info.address = address;
    } else {
        info.sender.pid = IDENTITY_PID;
        info.sender.uid = IDENTITY_USER;
    }
    return info;
}

/* What the handler's run blocks, after the frame has kept the mask from before. */
static void enter_handler(struct signals_mask *mask, struct signals_action *action, int signal)
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
                                                 const struct signals_info *info, bool forced)
{
    struct c2_error err = {.status = C2_OK};
    if (frame_build(kernel, cpu, info, forced, &err) != C2_OK) {
        if (kernel->complaints)
            fprintf(kernel->complaints, "%sthe handler of %s cannot be called: %s\n", kernel->complaint_prefix,
                    syscalls_signal_name(info->signal), err.text);
        return SYSCALLS_KILLED;
    }
    enter_handler(&kernel->thread.signals, &kernel->signals.action[info->signal], info->signal);
    return SYSCALLS_HANDLED;
}

enum syscalls_delivery syscalls_deliver(struct syscalls *kernel, struct syscalls_cpu *cpu, int signal, int code,
                                        uint64_t address, bool forced)
{
    struct signals *signals = &kernel->signals;
    C2_ASSERT(signal >= 1 && signal <= SIGNALS_COUNT);
    bool blocked = kernel->thread.signals.blocked & signals_bit(signal);
    if (blocked && !forced) {
        struct signals_info info = info_of(signals, signal, code, address, false);
        signals_raise(kernel, &info);
        return SYSCALLS_IGNORED;
    }
    struct signals_info info = info_of(signals, signal, code, address, forced);
    if (kernel->trace)
        trace_signal(kernel->trace, &info);
    if (forced && (blocked || signals->action[signal].handler == HANDLER_IGNORE))
        return SYSCALLS_KILLED;
    if (is_ignored(signals, signal))
        return SYSCALLS_IGNORED;
    if (signals->action[signal].handler == HANDLER_DEFAULT)
        return SYSCALLS_KILLED;
    return deliver_to_handler(kernel, cpu, &info, forced);
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
            signals->pending &= ~signals_bit(signal);
    }
    if (c->ptr[2])
        memcpy(c->ptr[2], &old, sizeof old);
    return 0;
}

int64_t signals_procmask(struct call *c)
{
    struct signals_mask *mask = &c->kernel->thread.signals;
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
    uint64_t set = c->kernel->signals.pending & c->kernel->thread.signals.blocked;
    if (c->arg[1] > SET_BYTES)
        return -EINVAL;
    memcpy(c->ptr[0], &set, sizeof set);
    return 0;
}

int64_t signals_altstack(struct call *c)
{
    enum { MINIMUM = 2048 };
    struct signals_stack *stack = &c->kernel->thread.signals.stack, old = *stack;
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
    if (frame_restore(c) == 0) {
        c->result->action = SYSCALLS_RESTORE;
    } else if (c->result->action == SYSCALLS_RETURN) {
        c->result->action = SYSCALLS_SIGNAL;
        c->result->signal = SIGSEGV;
    }
    return 0;
}

/* ------------------------------------------------------------------ waiting */

static int64_t suspend(struct call *c, uint64_t mask)
{
    return signals_wait(c->kernel, mask) ? -EINTR : call_deadlock(c, "no signal is pending, and nobody else sends one");
}

int64_t signals_sigsuspend(struct call *c)
{
    uint64_t mask;
    if (c->arg[1] != SET_BYTES)
        return -EINVAL;
    memcpy(&mask, c->ptr[0], sizeof mask);
    return suspend(c, mask);
}

int64_t signals_pause(struct call *c) { return suspend(c, c->kernel->thread.signals.blocked); }

int64_t signals_timedwait(struct call *c)
{
    struct signals_info info;
    uint64_t set, ns;
    if (c->arg[3] != SET_BYTES || (c->ptr[2] && !kernel_timespec_ns(&ns, c->ptr[2])))
        return -EINVAL;
    memcpy(&set, c->ptr[0], sizeof set);
    int signal = signals_take(c->kernel, set, &info);
    if (signal && c->ptr[1])
        memcpy(c->ptr[1], &info, sizeof info);
    if (signal)
        return signal;
    if (!c->ptr[2])
        return call_deadlock(c, "no signal is pending, and nobody else sends one");
    kernel_sleep(c->kernel, ns);
    return -EAGAIN;
}

/* ------------------------------------------------------------------ sending */

static int64_t send(struct call *c, int signal, int code)
{
    struct signals_info info = {.signal = signal, .code = code};
    info.sender.pid = IDENTITY_PID;
    info.sender.uid = IDENTITY_USER;
    if (signal < 0 || signal > SIGNALS_COUNT)
        return -EINVAL;
    if (signal != 0)
        signals_raise(c->kernel, &info);
    return 0;
}

int64_t signals_kill(struct call *c)
{
    int to = (int)c->arg[0];
    if (to != 0 && to != IDENTITY_PID && to != -IDENTITY_PID)
        return (int)c->arg[1] < 0 || (int)c->arg[1] > SIGNALS_COUNT ? -EINVAL : -ESRCH;
    return send(c, (int)c->arg[1], SI_USER);
}

static int64_t send_to_thread(struct call *c, int thread, int signal)
{
    if (thread <= 0)
        return -EINVAL;
    return thread == IDENTITY_PID ? send(c, signal, SI_TKILL) : -ESRCH;
}

int64_t signals_tkill(struct call *c) { return send_to_thread(c, (int)c->arg[0], (int)c->arg[1]); }

int64_t signals_tgkill(struct call *c)
{
    if ((int)c->arg[0] <= 0)
        return -EINVAL;
    return (int)c->arg[0] == IDENTITY_PID ? send_to_thread(c, (int)c->arg[1], (int)c->arg[2]) : -ESRCH;
}

int64_t signals_queue(struct call *c)
{
    struct signals_info info;
    if ((int)c->arg[0] != IDENTITY_PID)
        return -ESRCH;
    if ((int)c->arg[1] < 0 || (int)c->arg[1] > SIGNALS_COUNT)
        return -EINVAL;
    memcpy(&info, c->ptr[2], sizeof info);
    info.signal = (int)c->arg[1];
    if (info.signal != 0)
        signals_raise(c->kernel, &info);
    return 0;
}
