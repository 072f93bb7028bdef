/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Processes that are stopped, and go on.
 *
 * Model
 *   SIGSTOP, and SIGTSTP, SIGTTIN and SIGTTOU where they have no handler, stop a process where a thread of it would
 *   take them: none of its threads can go on then (syscalls_ready), whatever they wait for. SIGCONT lets it go on where
 *   it is sent, be it handled, blocked or ignored, and takes back stops that are pending; a stop takes back SIGCONT.
 *   SIGKILL is taken by stopped processes, all other signals wait. The last three of the four do nothing in an orphaned
 *   group, where none of the session could let it go on: the first process's is one. A group that becomes one, and
 *   has stopped members, gets SIGHUP and SIGCONT.
 *   The parent is told by SIGCHLD, if it does not say SA_NOCLDSTOP, and by wait4 and waitid.
 *
 * Invariants
 *   `stopped` is set by the process itself, and cleared by the sender.
 *
 * Not modelled
 *   Reads and writes of a terminal of the host's in the background. EINTR of epoll_wait
 *   and sigtimedwait behind SIGCONT without a handler: they wait on. Timers of a stopped process do not let guest time
 *   go on.
 */
#include <signal.h>

#include "syscalls/kernel_priv.h"
#include "syscalls/trace_priv.h"

static uint64_t stopping(void)
{
    return signals_bit(SIGSTOP) | signals_bit(SIGTSTP) | signals_bit(SIGTTIN) | signals_bit(SIGTTOU);
}

bool stops_is_stop(int signal) { return stopping() & signals_bit(signal); }

bool stops_is_stopped(const struct syscalls *kernel) { return kernel->self->stopped != 0; }

bool syscalls_is_stopped(const struct syscalls *kernel) { return stops_is_stopped(kernel); }

uint64_t stops_taken_back(int signal)
{
    return signal == SIGCONT ? stopping() : stops_is_stop(signal) ? signals_bit(SIGCONT) : 0;
}

/* ------------------------------------------------------------------ orphaned groups */

static const struct process *parent_of(const struct processes *all, const struct process *process)
{
    for (uint32_t i = 0; i < all->used; i++)
        if (all->list[i].state == PROCESS_RUNS && all->list[i].pid == process->parent)
            return &all->list[i];
    return NULL;
}

/* But for `leaving`, which is at its end: none of the group has a parent in its session and out of the group. */
static bool is_orphaned(const struct processes *all, uint32_t group, const struct process *leaving)
{
    for (uint32_t i = 0; i < all->used; i++) {
        const struct process *member = &all->list[i];
        if (member->state != PROCESS_RUNS || member->group != group || member == leaving)
            continue;
        const struct process *parent = parent_of(all, member);
        if (parent && parent != leaving && parent->group != group && parent->session == member->session)
            return false;
    }
    return true;
}

static bool has_stopped(const struct processes *all, uint32_t group)
{
    for (uint32_t i = 0; i < all->used; i++)
        if (all->list[i].state == PROCESS_RUNS && all->list[i].group == group && all->list[i].stopped != 0)
            return true;
    return false;
}

static void wake_group(struct syscalls *kernel, uint32_t group)
{
    struct processes *all = kernel->processes;
    const int signals[] = {SIGHUP, SIGCONT};
    for (uint32_t i = 0; i < all->used; i++)
        for (int j = 0; j < 2 && all->list[i].state == PROCESS_RUNS && all->list[i].group == group; j++) {
            const struct signals_info info = {.signal = signals[j], .code = SI_KERNEL};
            if (&all->list[i] != kernel->self)
                processes_tell(kernel, &all->list[i], &info);
        }
}

/* Whether this process is what keeps the group from being orphaned. */
static void leave_group(struct syscalls *kernel, uint32_t group)
{
    const struct processes *all = kernel->processes;
    if (has_stopped(all, group) && !is_orphaned(all, group, NULL) && is_orphaned(all, group, kernel->self))
        wake_group(kernel, group);
}

void stops_leave_groups(struct syscalls *kernel)
{
    const struct processes *all = kernel->processes;
    leave_group(kernel, kernel->self->group);
    for (uint32_t i = 0; i < all->used; i++)
        if (all->list[i].state == PROCESS_RUNS && all->list[i].parent == kernel->pid)
            leave_group(kernel, all->list[i].group);
}

/* ------------------------------------------------------------------ stopping, and going on */

bool stops_is_for_nothing(const struct syscalls *kernel, int signal)
{
    return signal != SIGSTOP && is_orphaned(kernel->processes, kernel->self->group, NULL);
}

static void stops_tell_parent(struct syscalls *kernel, int code, int status)
{
    struct processes *all = kernel->processes;
    struct process *parent = (struct process *)parent_of(all, kernel->self);
    all->events++; /* for one that waits */
    if (!parent || parent->ignores_stops)
        return;
    struct signals_info info = {.signal = SIGCHLD, .code = code};
    info.sender.pid = (int32_t)kernel->pid;
    info.sender.uid = IDENTITY_USER;
    info.sender.value = (uint64_t)status;
    processes_tell(kernel, parent, &info);
}

void stops_stop(struct syscalls *kernel, int signal)
{
    kernel->self->stopped = signal;
    kernel->self->news = PROCESS_STOPPED;
    stops_tell_parent(kernel, CLD_STOPPED, signal);
}

/* To the process comes SIGCONT, or SIGKILL. */
void stops_end(struct syscalls *kernel, struct process *process, int signal)
{
    if (process->stopped == 0 || (signal != SIGCONT && signal != SIGKILL))
        return;
    process->stopped = 0;
    process->news = signal == SIGCONT ? PROCESS_CONTINUED : PROCESS_NO_NEWS;
    process->tells = signal == SIGCONT;
    kernel->processes->events++;
}

void stops_tell(struct syscalls *kernel)
{
    if (kernel->self->tells)
        stops_tell_parent(kernel, CLD_CONTINUED, SIGCONT);
    kernel->self->tells = false;
}
