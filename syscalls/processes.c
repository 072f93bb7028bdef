/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The guest's processes: how they are made, end and are waited for, their groups, and signals between them.
 *
 * Model
 *   Each is a process of the host, made by its fork (emu/), so that memory, descriptors and what is shared are as
 *   natively. What is common to them is a list in memory that all of them share; only the one that has the turn
 *   looks at it. Numbers count up from the first process's and are not used again.
 *   A process that has ended is a zombie until its parent has waited for it; of one whose parent is gone, or does not
 *   care (SIGCHLD ignored, SA_NOCLDWAIT), nothing is left.
 *   vfork, and clone with CLONE_VFORK as posix_spawn makes it: the parent waits until the child is another program or
 *   has ended. The child has a copy of the memory, as any other; what it has changed is handed back to the parent then
 *   (handed.c), which is how posix_spawn learns of failures. Without CLONE_VFORK both go on, and what they have in
 *   common by CLONE_VM is made the same at each turn (joint.c).
 *   A signal for another process lies in the list until that gets its turn.
 *
 * Invariants
 *   A process in the list has a parent in it, or IDENTITY_PARENT. Groups and sessions are those of living processes.
 *
 * Not modelled
 *   The file of a core dump; ptrace. Processes that have descriptors, directories, handlers or undone semaphores in
 *   common (CLONE_FILES, CLONE_FS, CLONE_SIGHAND, CLONE_SYSVSEM).
 */
#include "syscalls/processes_priv.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "syscalls/daemons_priv.h"
#include "syscalls/handed_priv.h"
#include "syscalls/kernel_priv.h"
#include "syscalls/notices_priv.h"
#include "syscalls/terminals_priv.h"

#define PROCESSES_NAMESPACES \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | \
     CLONE_NEWTIME)

/* ------------------------------------------------------------------ the list */

enum c2_status processes_create(struct syscalls *kernel, struct c2_error *err)
{
    struct processes *all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
                                 -1, 0);
    kernel->handed_back = -1;
    if (all == MAP_FAILED)
        return c2_fail(err, C2_ERR_NO_MEMORY, "the list of processes: %s", strerror(errno));
    kernel->processes = all;
    kernel->self = &all->list[0];
    all->last = all->foreground = IDENTITY_PID;
    all->running = all->used = all->started = 1;
    kernel->remapped = true;
    all->list[0] = (struct process){.pid = IDENTITY_PID,
                                    .parent = IDENTITY_PARENT,
                                    .group = IDENTITY_PID,
                                    .session = IDENTITY_PID,
                                    .host = getpid(),
                                    .state = PROCESS_RUNS};
    return C2_OK;
}

void processes_destroy(struct syscalls *kernel)
{
    if (kernel->processes)
        munmap(kernel->processes, sizeof *kernel->processes);
    if (kernel->processes && kernel->handed_back >= 0)
        close(kernel->handed_back);
}

struct process *processes_find(const struct syscalls *kernel, uint32_t pid)
{
    struct process *list = kernel->processes->list;
    for (uint32_t i = 0; i < kernel->processes->used; i++)
        if (list[i].state != PROCESS_NONE && list[i].pid == pid)
            return &list[i];
    return NULL;
}

struct process *processes_self(const struct syscalls *kernel) { return kernel->self; }

/* What others have sent it. */
static struct processes_sent *sent_to(const struct syscalls *kernel, const struct process *process)
{
    return &kernel->processes->sent[process - kernel->processes->list];
}

static void processes_take_back(struct processes_sent *sent, uint64_t signals)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < sent->count; i++)
        if (!(signals & signals_bit(sent->list[i].info.signal)))
            sent->list[kept++] = sent->list[i];
    sent->count = kept;
    sent->set &= ~signals;
}

/* As pending_add: of the first 31 one of a kind to the process; to a thread it sees to that itself. */
static bool syscalls_processes_tell(struct syscalls *kernel, struct process *process, uint32_t thread,
                                    const struct signals_info *info)
{
    struct processes_sent *sent = sent_to(kernel, process);
    const uint64_t bit = thread == 0 ? signals_bit(info->signal) : 0;
    processes_take_back(sent, stops_taken_back(info->signal));
    stops_end(kernel, process, info->signal);
    if (sent->set & bit && info->signal < SIGNALS_REAL_TIME)
        return true;
    if (sent->count == PROCESSES_SENT)
        return false;
    sent->list[sent->count++] = (struct process_signal){*info, thread};
    kernel->processes->events++;
    sent->set |= bit;
    return true;
}

bool processes_tell(struct syscalls *kernel, struct process *process, const struct signals_info *info)
{
    return syscalls_processes_tell(kernel, process, 0, info);
}

bool processes_has_ended(const struct syscalls *kernel, uint32_t pid)
{
    const struct process *process = processes_find(kernel, pid);
    return !process || process->state == PROCESS_ZOMBIE;
}

bool processes_shared(const struct syscalls *kernel) { return kernel->processes && kernel->processes->running > 1; }

bool syscalls_has_company(const struct syscalls *kernel) { return processes_shared(kernel); }

bool syscalls_is_interrupted(const struct syscalls *kernel) { return kernel->interrupted && *kernel->interrupted; }

uint64_t syscalls_events(const struct syscalls *kernel) { return kernel->processes->events; }

uint64_t syscalls_calls(const struct syscalls *kernel) { return kernel->processes->calls; }

static bool waits_for_calls(const struct kernel_wait *wait)
{
    return wait->kind == KERNEL_WAITS_FDS || wait->kind == KERNEL_WAITS_LOCK;
}

bool syscalls_polls(const struct syscalls *kernel)
{
    for (uint32_t i = 0; i < kernel->thread_count; i++)
        if (waits_for_calls(&kernel->threads[i]->wait))
            return true;
    return false;
}

bool syscalls_is_asleep(const struct syscalls *kernel)
{
    const uint32_t kinds = 1u << KERNEL_WAITS_CHILD | 1u << KERNEL_WAITS_VFORK | 1u << KERNEL_WAITS_SIGNAL |
                           1u << KERNEL_WAITS_OBJECT | 1u << KERNEL_WAITS_TIME | 1u << KERNEL_WAITS_WORD |
                           1u << KERNEL_WAITS_WORDS | 1u << KERNEL_WAITS_OWNER | 1u << KERNEL_WAITS_MEMORY;
    for (uint32_t i = 0; i < kernel->thread_count && !stops_is_stopped(kernel); i++) {
        const struct kernel_wait *wait = &kernel->threads[i]->wait;
        const bool by_calls = waits_for_calls(wait) && !kernel_wait_asks_outside(wait) && !kernel->processes->notices;
        if (!(kinds >> wait->kind & 1) && !by_calls)
            return false;
    }
    return true;
}

const struct process *processes_of_thread(const struct syscalls *kernel, uint32_t tid)
{
    const struct process *list = kernel->processes->list;
    if (threads_find(kernel, tid))
        return kernel->self;
    for (uint32_t i = 0; i < kernel->processes->used; i++)
        if (list[i].state != PROCESS_NONE &&
            (list[i].pid == tid || (list[i].state == PROCESS_RUNS && &list[i] != kernel->self &&
                                    views_thread(views_of(kernel, &list[i]), tid))))
            return &list[i];
    return NULL;
}

/* Of more threads than a process shows those that it does not show are taken to be there. */
bool processes_have_thread(const struct syscalls *kernel, uint32_t tid)
{
    const struct process *list = kernel->processes->list, *process = processes_of_thread(kernel, tid);
    bool hidden = false;
    for (uint32_t i = 0; i < kernel->processes->used; i++)
        hidden |= list[i].state == PROCESS_RUNS && views_of(kernel, &list[i])->threads > PROCESSES_THREADS;
    return process ? process->state == PROCESS_RUNS : hidden;
}

uint32_t processes_number(const struct syscalls *kernel, pid_t host)
{
    const struct process *list = kernel->processes->list;
    for (uint32_t i = 0; i < kernel->processes->used; i++)
        if (list[i].state == PROCESS_RUNS && list[i].host == host)
            return list[i].pid;
    return 0;
}

void processes_number_own(struct syscalls *kernel)
{
    const uint64_t last = ++kernel->processes->memories << 32;
    mmu_number_memory(kernel->mmu, last);
    kernel->fds.descriptions = last;
}

/* ------------------------------------------------------------------ starting */

int64_t processes_check_flags(uint64_t flags)
{
    const uint64_t namespaces = PROCESSES_NAMESPACES;
    if ((flags & (CLONE_NEWNS | CLONE_FS)) == (CLONE_NEWNS | CLONE_FS) ||
        (flags & (CLONE_NEWUSER | CLONE_FS)) == (CLONE_NEWUSER | CLONE_FS) ||
        (flags & (CLONE_THREAD | CLONE_SIGHAND)) == CLONE_THREAD ||
        (flags & (CLONE_SIGHAND | CLONE_VM)) == CLONE_SIGHAND)
        return -EINVAL;
    return flags & namespaces ? -EPERM : 0;
}

static int64_t processes_check(struct call *c, const struct processes_start *start)
{
    const uint64_t known = CLONE_VM | CLONE_VFORK | CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID |
                           CLONE_CHILD_SETTID | CLONE_IO | CLONE_UNTRACED | CLONE_DETACHED | CLONE_PIDFD |
                           CLONE_PARENT | PROCESSES_CLEAR_HANDLERS;
    const uint64_t common = CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_SYSVSEM;
    if (!c->kernel->may_fork)
        return call_complain(c, "would start a process, and only this one is run");
    if (start->flags & ~(known | common) || start->exit_signal < 0 || start->exit_signal > SIGNALS_COUNT)
        return -EINVAL;
    if (start->flags & CLONE_PIDFD && start->flags & CLONE_DETACHED)
        return -EINVAL;
    if (start->flags & common)
        return call_complain(c, "would start a process that has descriptors, directories or handlers in common with "
                                "this one");
    return 0;
}

/* Whether parent and child go on with one memory. */
static bool is_joint(const struct processes_start *start)
{
    return (start->flags & (CLONE_VM | CLONE_VFORK)) == CLONE_VM;
}

static struct process *processes_add(struct call *c, const struct processes_start *start)
{
    struct syscalls *kernel = c->kernel;
    struct processes *all = kernel->processes;
    const struct process *self = processes_self(kernel);
    for (uint32_t i = 0; i < PROCESSES_MOST; i++) {
        if (all->list[i].state != PROCESS_NONE)
            continue;
        all->used = i < all->used ? all->used : i + 1;
        all->sent[i].set = all->sent[i].count = 0;
        all->list[i] = (struct process){.pid = ++all->last,
                                        .parent = start->flags & CLONE_PARENT ? self->parent : self->pid,
                                        .group = self->group,
                                        .session = self->session,
                                        .state = PROCESS_RUNS,
                                        .memory = is_joint(start) ? self->memory : 0,
                                        .holds_parent = start->flags & CLONE_VFORK,
                                        .ignores_children = self->ignores_children,
                                        .oom_score_adj = self->oom_score_adj,
                                        .undumpable = kernel->identity.dumpable != 1,
                                        .detached = self->detached,
                                        .exit_signal = start->flags & CLONE_PARENT ? self->exit_signal
                                                                                   : start->exit_signal};
        all->running++;
        all->started++;
        priorities_inherit(kernel, all->last, all->last);
        views_begin(kernel, &all->list[i], syscalls_time_ns(kernel, c->instructions));
        return &all->list[i];
    }
    return NULL;
}

/* The call is made once more when the child has let go. */
static bool processes_is_over(struct call *c, int64_t *value)
{
    if (!c->again || c->waited->kind != KERNEL_WAITS_VFORK)
        return false;
    *value = (int64_t)c->waited->word;
    handed_take(c);
    return true;
}

static int64_t give_pidfd(struct call *c, uint32_t child)
{
    const int64_t fd = pidfds_add(c->kernel, child, 0);
    const int32_t number = (int32_t)fd;
    const int64_t status = fd < 0 ? fd : guest_write(c, c->kernel->start.pidfd_at, &number, sizeof number);
    c->kernel->start.pidfd = fd;
    return status;
}

static void take_pidfd_back(struct syscalls *kernel)
{
    if (kernel->start.pidfd >= 0)
        fds_release(fds_at(kernel, (uint64_t)kernel->start.pidfd));
    kernel->start.pidfd = -1;
}

int64_t processes_start(struct call *c, const struct processes_start *start)
{
    struct syscalls *kernel = c->kernel;
    int64_t status;
    if (processes_is_over(c, &status))
        return status;
    status = processes_check(c, start);
    if (status < 0)
        return status;
    if (kernel->processes->last < kernel->last_tid)
        kernel->processes->last = kernel->last_tid;
    if ((status = ipc_ready(kernel)) < 0 || (status = terminals_ready(kernel)) < 0 ||
        (start->flags & CLONE_VFORK && (status = handed_begin(kernel)) < 0))
        return status;
    joint_give(kernel);
    if (is_joint(start) && (status = joint_begin(kernel)) < 0)
        return status;
    const bool full = threads_are_too_many(kernel);
    const struct process *child = full ? NULL : processes_add(c, start);
    if (!child) {
        handed_end(kernel);
        if (is_joint(start))
            joint_cancel(kernel);
        return -EAGAIN;
    }
    kernel->start = *start;
    kernel->start.pidfd = -1;
    ipc_fork(kernel, true);
    terminals_fork(kernel, true);
    if (start->flags & CLONE_PIDFD && (status = give_pidfd(c, child->pid)) < 0) {
        syscalls_fork_failed(kernel, child->pid);
        return status;
    }
    if (start->flags & CLONE_PARENT_SETTID)
        (void)guest_write(c, start->parent_tid, &child->pid, sizeof child->pid);
    c->result->action = SYSCALLS_FORK;
    c->result->thread.tid = child->pid;
    c->result->thread.stack = start->stack;
    c->result->thread.fs_base = start->flags & CLONE_SETTLS ? start->tls : c->cpu->fs_base;
    return child->pid;
}

/* ------------------------------------------------------------------ behind the host's fork */

void syscalls_fork_failed(struct syscalls *kernel, uint32_t child)
{
    take_pidfd_back(kernel);
    processes_find(kernel, child)->state = PROCESS_NONE;
    kernel->processes->running--;
    priorities_end(kernel, child);
    ipc_fork(kernel, false);
    terminals_fork(kernel, false);
    handed_end(kernel);
    if (is_joint(&kernel->start))
        joint_cancel(kernel);
}

bool syscalls_fork_waits(struct syscalls *kernel, uint32_t child)
{
    if (!processes_find(kernel, child)->holds_parent)
        return false;
    kernel->current->wait = (struct kernel_wait){.kind = KERNEL_WAITS_VFORK,
                                                 .deadline = KERNEL_NEVER,
                                                 .word = child,
                                                 .call = 58, /* or clone */
                                                 .why = "its child goes on as it is"};
    return true;
}

/* Guest time goes on; the processor's time of this process begins. */
static void restart_clocks(struct syscalls *kernel, uint64_t instructions)
{
    kernel->slept_ns += kernel_cpu_ns(kernel, instructions);
    kernel->instructions_before = 0 - instructions;
    kernel->instructions = instructions;
}

void syscalls_become_child(struct syscalls *kernel, uint32_t child, uint64_t instructions)
{
    const struct processes_start *start = &kernel->start;
    struct syscalls_result result = {.action = SYSCALLS_RETURN};
    struct c2_error err;
    struct call c = {.kernel = kernel, .result = &result, .err = &err};
    restart_clocks(kernel, instructions);
    kernel->unborn = true;
    kernel->pid = child;
    kernel->self = processes_find(kernel, child);
    words_become_child(kernel);
    if (!is_joint(start))
        joint_separate(kernel);
    threads_keep_current(kernel);
    kernel->current->wait = (struct kernel_wait){.kind = KERNEL_RUNS};
    pending_release(&kernel->signals.pending);
    pending_release(&kernel->current->pending);
    timers_forget_all(kernel);
    if (kernel->identity.limit[RLIMIT_CPU].soft != RLIM_INFINITY)
        (void)timers_limit_cpu(kernel, instructions); /* for which there is room: the limit is the parent's */
    processes_number_own(kernel);
    kernel->current->ran = 0;
    kernel->turn = instructions;
    kernel->current->death_signal = 0;
    take_pidfd_back(kernel);
    inputs_become_child(&kernel->inputs);
    locked_clear(&kernel->locked);
    kernel->self->host = getpid();
    kernel->self->faults -= mmu_usage(kernel->mmu).faults; /* those before are its parent's */
    kernel->current->clear_tid = start->flags & CLONE_CHILD_CLEARTID ? start->child_tid : 0;
    if (start->flags & CLONE_CHILD_SETTID)
        (void)guest_write(&c, start->child_tid, &child, sizeof child);
    if (start->flags & PROCESSES_CLEAR_HANDLERS)
        exec_reset_signals(&kernel->signals);
}

/* ------------------------------------------------------------------ leaving the memory */

/* CLONE_CHILD_CLEARTID is for those that have the memory as well. */
static void clear_number(struct syscalls *kernel)
{
    struct syscalls_result result = {.action = SYSCALLS_RETURN};
    struct c2_error err;
    struct call c = {.kernel = kernel, .result = &result, .err = &err};
    threads_clear_number(&c, kernel->threads[0]);
}

static void release_parent(struct syscalls *kernel)
{
    struct process *self = processes_self(kernel);
    if (kernel->joint.store)
        clear_number(kernel);
    joint_leave(kernel);
    if (!self || !self->holds_parent)
        return;
    if (kernel->handed_back >= 0) {
        clear_number(kernel);
        handed_give(kernel);
    }
    self->holds_parent = false;
    kernel->processes->events++;
    handed_end(kernel);
}

/* What its threads hold in memory that others have as well is given on. */
static void leave_words(struct syscalls *kernel)
{
    struct syscalls_result result = {.action = SYSCALLS_RETURN};
    struct c2_error err;
    struct call c = {.kernel = kernel, .result = &result, .err = &err};
    struct kernel_thread *current = kernel->current;
    for (uint32_t i = 0; i < kernel->thread_count; i++) {
        kernel->current = kernel->threads[i];
        futex_exit(&c);
    }
    kernel->current = current;
}

void syscalls_leave_memory(struct syscalls *kernel)
{
    leave_words(kernel);
    const struct mmu_usage usage = mmu_usage(kernel->mmu);
    struct process *self = processes_self(kernel);
    self->faults += usage.faults;
    self->resident_bytes = usage.resident_bytes > self->resident_bytes ? usage.resident_bytes : self->resident_bytes;
    release_parent(kernel);
}

void processes_executed(struct syscalls *kernel)
{
    processes_self(kernel)->executed = true;
    if (processes_self(kernel)->pid != IDENTITY_PID)
        processes_self(kernel)->exit_signal = SIGCHLD;
    release_parent(kernel);
    remote_forget(kernel);
}

/* ------------------------------------------------------------------ ending */

/* CLD_EXITED ... of a status as wait4 tells it. */
static int processes_code_of(int status)
{
    return WCOREDUMP(status) ? CLD_DUMPED : WIFSIGNALED(status) ? CLD_KILLED : CLD_EXITED;
}

static void processes_tell_parent(struct syscalls *kernel, struct process *child)
{
    struct process *parent = processes_find(kernel, child->parent);
    if (!parent || parent->state == PROCESS_ZOMBIE || parent->ignores_children) {
        child->state = PROCESS_NONE;
        if (!parent || parent->state == PROCESS_ZOMBIE)
            return;
    }
    if (child->exit_signal == 0)
        return;
    const bool killed = WIFSIGNALED(child->status);
    struct signals_info info = {.signal = child->exit_signal, .code = processes_code_of(child->status)};
    info.sender.pid = (int32_t)child->pid;
    info.sender.uid = IDENTITY_USER;
    info.sender.value = (uint64_t)(killed ? WTERMSIG(child->status) : WEXITSTATUS(child->status));
    processes_tell(kernel, parent, &info);
}

/* The new parent of its children: the nearest above that adopts them; NULL: none of the run. */
static const struct process *reaper_of(const struct syscalls *kernel)
{
    const struct process *above = processes_find(kernel, kernel->self->parent);
    while (above && !(above->adopts && above->state == PROCESS_RUNS))
        above = processes_find(kernel, above->parent);
    return above;
}

static void leave_child(struct syscalls *kernel, struct process *child, const struct process *reaper)
{
    const struct signals_info death = {.signal = child->death_signal, .code = SI_USER};
    child->parent = reaper ? reaper->pid : IDENTITY_PARENT;
    child->exit_signal = SIGCHLD;
    if (child->state == PROCESS_ZOMBIE)
        processes_tell_parent(kernel, child);
    else if (child->death_signal != 0)
        processes_tell(kernel, child, &death);
}

static void leave_children(struct syscalls *kernel)
{
    const struct process *reaper = reaper_of(kernel);
    struct process *list = kernel->processes->list;
    for (uint32_t i = 0; i < kernel->processes->used; i++)
        if (list[i].state != PROCESS_NONE && list[i].parent == kernel->pid)
            leave_child(kernel, &list[i], reaper);
}

/* What Linux dumps memory for, where it is asked to: the status says so. There is no file. */
static bool dumps_core(const struct syscalls *kernel, int status)
{
    const uint64_t dumping = signals_bit(SIGQUIT) | signals_bit(SIGILL) | signals_bit(SIGTRAP) | signals_bit(SIGABRT) |
                             signals_bit(SIGBUS) | signals_bit(SIGFPE) | signals_bit(SIGSEGV) | signals_bit(SIGXCPU) |
                             signals_bit(SIGXFSZ) | signals_bit(SIGSYS);
    return WIFSIGNALED(status) && dumping & signals_bit(WTERMSIG(status)) && kernel->identity.dumpable == 1 &&
           kernel->identity.limit[RLIMIT_CORE].soft >= C2_PAGE_BYTES;
}

uint64_t syscalls_end(struct syscalls *kernel, int status, uint64_t instructions)
{
    struct process *self = processes_self(kernel);
    status |= dumps_core(kernel, status) ? WCOREFLAG : 0;
    if (kernel->pid != IDENTITY_PID)
        inputs_tell(&kernel->inputs);
    else
        daemons_first_ended(kernel, syscalls_time_ns(kernel, instructions));
    stops_leave_groups(kernel);
    self->status = status;
    self->cpu_ns = kernel_cpu_ns(kernel, instructions);
    self->state = PROCESS_ZOMBIE;
    kernel->processes->ended_ns += self->cpu_ns;
    kernel->processes->running--;
    kernel->processes->events++;
    kernel->processes->releases++;
    leave_children(kernel);
    ipc_end(kernel);
    words_leave(kernel);
    remote_forget(kernel);
    priorities_end_others(kernel, kernel->pid, 0, 0);
    fds_destroy(&kernel->fds); /* readers of its pipes see their end */
    terminals_end(kernel);
    processes_tell_parent(kernel, self);
    return syscalls_time_ns(kernel, instructions);
}

/* ------------------------------------------------------------------ waiting for children */

bool processes_has_children(const struct syscalls *kernel)
{
    const struct process *list = kernel->processes->list;
    for (uint32_t i = 0; i < kernel->processes->used; i++)
        if (list[i].state != PROCESS_NONE && list[i].parent == kernel->pid)
            return true;
    return false;
}

/* pid as waitpid has it. A child that does not end with SIGCHLD is one for __WCLONE and __WALL alone. */
static bool processes_is_meant(const struct syscalls *kernel, const struct process *child, int64_t pid,
                               unsigned options)
{
    const bool is_clone = child->exit_signal != SIGCHLD;
    if (child->state == PROCESS_NONE || child->parent != kernel->pid)
        return false;
    if (!(options & __WALL) && is_clone != !!(options & __WCLONE))
        return false;
    if (pid > 0)
        return child->pid == (uint64_t)pid;
    return pid == -1 || child->group == (pid == 0 ? processes_self(kernel)->group : (uint64_t)-pid);
}

/* What a wait with these options tells of a child: how it is now, as wait4 has it, and why that is told. */
struct change {
    struct process *child;
    int status, code;
};

static bool has_changed(struct change *out, struct process *child, unsigned options)
{
    *out = (struct change){.child = child, .status = child->status};
    if (child->state == PROCESS_ZOMBIE) {
        out->code = processes_code_of(child->status);
        return options & WEXITED;
    }
    if (child->news == PROCESS_STOPPED) {
        out->status = W_STOPCODE(child->stopped);
        out->code = CLD_STOPPED;
        return options & WSTOPPED;
    }
    out->status = __W_CONTINUED;
    out->code = CLD_CONTINUED;
    return child->news == PROCESS_CONTINUED && options & WCONTINUED;
}

/* The first that has changed; *any: there are some that may. */
static bool find_changed(struct change *out, const struct syscalls *kernel, int64_t pid, unsigned options, bool *any)
{
    struct process *list = kernel->processes->list;
    struct change change;
    *out = (struct change){.child = NULL};
    *any = false;
    for (uint32_t i = 0; i < kernel->processes->used; i++) {
        if (!processes_is_meant(kernel, &list[i], pid, options))
            continue;
        *any |= list[i].state == PROCESS_RUNS || options & WEXITED;
        if (has_changed(&change, &list[i], options) && (!out->child || list[i].pid < out->child->pid))
            *out = change;
    }
    return out->child;
}

bool processes_wait_over(const struct syscalls *kernel, const struct kernel_wait *wait)
{
    struct change change;
    bool any;
    if (wait->kind == KERNEL_WAITS_VFORK) {
        const struct process *child = processes_find(kernel, (uint32_t)wait->word);
        return !child || child->state == PROCESS_ZOMBIE || !child->holds_parent;
    }
    return find_changed(&change, kernel, (int64_t)wait->word, wait->bits, &any) || !any;
}

static struct timeval time_of(uint64_t ns)
{
    return (struct timeval){(time_t)(ns / KERNEL_NS), (suseconds_t)(ns % KERNEL_NS / 1000)};
}

static int64_t write_usage(struct call *c, uint64_t address, const struct process *child)
{
    struct rusage usage = {.ru_utime = time_of(child->cpu_ns + child->children_ns)};
    usage.ru_maxrss = (long)(child->resident_bytes / 1024);
    usage.ru_minflt = (long)(child->faults + child->children_faults);
    return address ? guest_write(c, address, &usage, sizeof usage) : 0;
}

/* It has been told of the child. */
static void forget_change(struct syscalls *kernel, struct process *child)
{
    struct process *self = processes_self(kernel);
    if (child->state == PROCESS_RUNS) {
        child->news = PROCESS_NO_NEWS;
        return;
    }
    self->children_ns += child->cpu_ns + child->children_ns;
    self->children_faults += child->faults + child->children_faults;
    child->state = PROCESS_NONE;
}

/* A child that has changed, 0 with WNOHANG, or -errno: SYSCALLS_BLOCKED as well. */
static int64_t processes_wait_for(struct call *c, int64_t pid, unsigned options, struct change *out)
{
    bool any;
    if (find_changed(out, c->kernel, pid, options, &any))
        return out->child->pid;
    if (!any)
        return -ECHILD;
    if (options & WNOHANG)
        return 0;
    return call_wait(c, (struct kernel_wait){.kind = KERNEL_WAITS_CHILD,
                                             .restarts = true,
                                             .deadline = KERNEL_NEVER,
                                             .word = (uint64_t)pid,
                                             .bits = options,
                                             .why = "no child of it ever ends"});
}

int64_t processes_wait4(struct call *c)
{
    const unsigned options = (unsigned)c->arg[2];
    struct change change;
    if (options & ~(unsigned)(WNOHANG | WUNTRACED | WCONTINUED | __WNOTHREAD | __WALL | __WCLONE))
        return -EINVAL;
    if ((int)c->arg[0] == INT32_MIN)
        return -ESRCH;
    const int64_t pid = processes_wait_for(c, (int)c->arg[0], options | WEXITED, &change);
    if (pid <= 0)
        return pid;
    int64_t status = c->arg[1] ? guest_write(c, c->arg[1], &change.status, sizeof change.status) : 0;
    if (status == 0)
        status = write_usage(c, c->arg[3], change.child);
    forget_change(c->kernel, change.child);
    return status < 0 ? status : pid;
}

/* si_status: a signal, or what it has said itself. */
static int said_of(const struct change *change)
{
    switch (change->code) {
    case CLD_EXITED:
        return WEXITSTATUS(change->status);
    case CLD_KILLED:
    case CLD_DUMPED:
        return WTERMSIG(change->status);
    case CLD_STOPPED:
        return WSTOPSIG(change->status);
    default:
        return SIGCONT;
    }
}

static int64_t write_info(struct call *c, const struct change *change)
{
    struct signals_info info = {.signal = 0};
    if (change->child) {
        info = (struct signals_info){.signal = SIGCHLD, .code = change->code};
        info.sender.pid = (int32_t)change->child->pid;
        info.sender.uid = IDENTITY_USER;
        info.sender.value = (uint64_t)said_of(change);
    }
    return c->arg[2] ? guest_write(c, c->arg[2], &info, sizeof info) : 0;
}

/* As wait4 has it. */
static int64_t meant_by(struct syscalls *kernel, unsigned which, int id)
{
    switch (which) {
    case P_ALL:
        return -1;
    case P_PID:
        return id;
    case P_PIDFD:
        return pidfds_process(kernel, (uint64_t)id);
    default:
        return -(int64_t)id;
    }
}

int64_t processes_waitid(struct call *c)
{
    const unsigned options = (unsigned)c->arg[3], which = (unsigned)c->arg[0];
    const int id = (int)c->arg[1];
    struct change change;
    if (options & ~(unsigned)(WNOHANG | WNOWAIT | WEXITED | WSTOPPED | WCONTINUED | __WNOTHREAD | __WALL | __WCLONE) ||
        !(options & (WEXITED | WSTOPPED | WCONTINUED)) || which > P_PIDFD || (which == P_PID && id <= 0) ||
        (which != P_ALL && id < 0))
        return -EINVAL;
    if (which == P_PIDFD && !pidfds_process(c->kernel, (uint64_t)id))
        return -EBADF;
    const bool waits = which != P_PIDFD || pidfds_waits(c->kernel, (uint64_t)id);
    const int64_t pid = processes_wait_for(c, meant_by(c->kernel, which, id), options | (waits ? 0 : WNOHANG), &change);
    if (pid == 0 && !waits && !(options & WNOHANG))
        return -EAGAIN;
    if (pid < 0 && pid != -ECHILD)
        return pid;
    if (pid < 0)
        change.child = NULL;
    int64_t status = write_info(c, &change);
    if (pid < 0)
        return status < 0 ? status : pid;
    if (status == 0 && change.child)
        status = write_usage(c, c->arg[4], change.child);
    if (change.child && !(options & WNOWAIT))
        forget_change(c->kernel, change.child);
    return status;
}

/* ------------------------------------------------------------------ turns */

/* Of several threads that wait so, the last one counts. */
static uint32_t waits_for(const struct syscalls *kernel)
{
    uint32_t holder = 0;
    for (uint32_t i = 0; i < kernel->thread_count; i++) {
        const struct kernel_wait *wait = &kernel->threads[i]->wait;
        holder = wait->kind == KERNEL_WAITS_LOCK && wait->bits == LOCKS_POSIX ? (uint32_t)wait->word : holder;
    }
    return holder;
}

bool processes_wait_for_self(const struct syscalls *kernel, uint32_t pid)
{
    enum { MOST = 10 }; /* as Linux looks */
    const struct process *process = processes_find(kernel, pid);
    for (int i = 0; i < MOST && process && process->waits_for != 0; i++) {
        if (process->waits_for == kernel->pid)
            return true;
        process = processes_find(kernel, process->waits_for);
    }
    return false;
}

void syscalls_give_turn(struct syscalls *kernel, uint64_t instructions)
{
    const struct signals_action *action = &kernel->signals.action[SIGCHLD];
    struct process *self = processes_self(kernel);
    self->waits_for = waits_for(kernel);
    self->death_signal = kernel->threads[0]->death_signal;
    self->undumpable = kernel->identity.dumpable != 1;
    views_publish(kernel, instructions);
    const bool ignored = action->handler == (uint64_t)(uintptr_t)SIG_IGN;
    self->ignores_children = ignored || action->flags & SA_NOCLDWAIT;
    self->ignores_stops = ignored || action->flags & SA_NOCLDSTOP;
    joint_give(kernel);
}

enum c2_status syscalls_take_turn(struct syscalls *kernel, uint64_t instructions, uint64_t now, struct c2_error *err)
{
    struct processes_sent *sent = sent_to(kernel, processes_self(kernel));
    const uint64_t mine = syscalls_time_ns(kernel, instructions);
    kernel->slept_ns += now > mine ? now - mine : 0;
    const enum c2_status status = joint_take(kernel, err);
    if (!kernel->unborn)
        remote_serve(kernel);
    for (uint32_t i = 0; i < sent->count; i++) {
        struct kernel_thread *thread = threads_find(kernel, sent->list[i].thread);
        if (thread || sent->list[i].thread == 0) /* else it has ended meanwhile */
            signals_raise(kernel, thread, &sent->list[i].info);
    }
    sent->set = sent->count = 0;
    notices_collect(kernel);
    mqueue_take_notices(kernel);
    stops_tell(kernel);
    syscalls_expire(kernel, instructions);
    return status;
}

/* ------------------------------------------------------------------ signals to others */

static bool is_addressed(const struct syscalls *kernel, const struct process *process, int to)
{
    if (process->state == PROCESS_NONE)
        return false;
    if (to > 0)
        return process == processes_of_thread(kernel, (uint32_t)to); /* a process may be called by any of its threads */
    if (to == -1)
        return process->pid != kernel->pid;
    return process->group == (to == 0 ? processes_self(kernel)->group : (uint32_t)-to);
}

bool processes_send_to(struct syscalls *kernel, struct process *process, const struct signals_info *info)
{
    if (info->signal == 0 || process->state == PROCESS_ZOMBIE)
        return true;
    if (process->pid != kernel->pid)
        return processes_tell(kernel, process, info);
    signals_raise(kernel, NULL, info);
    return true;
}

void processes_send_group(struct syscalls *kernel, uint32_t group, const struct signals_info *info)
{
    struct process *list = kernel->processes->list;
    for (uint32_t i = 0; group != 0 && i < kernel->processes->used; i++)
        if (list[i].state != PROCESS_NONE && list[i].group == group)
            (void)processes_send_to(kernel, &list[i], info);
}

void processes_signal_group(struct syscalls *kernel, uint32_t group, int signal)
{
    const struct signals_info info = {.signal = signal, .code = SI_KERNEL};
    processes_send_group(kernel, group, &info);
}

bool processes_has_group(const struct syscalls *kernel, uint32_t group)
{
    const struct process *list = kernel->processes->list;
    for (uint32_t i = 0; i < kernel->processes->used; i++)
        if (list[i].state != PROCESS_NONE && list[i].group == group)
            return true;
    return false;
}

int64_t processes_send(struct call *c, int to, const struct signals_info *info)
{
    struct process *list = c->kernel->processes->list;
    bool any = false, full = false;
    if (info->signal < 0 || info->signal > SIGNALS_COUNT)
        return -EINVAL;
    if (to == IDENTITY_PARENT)
        return -EPERM; /* it is there, and another user's */
    for (uint32_t i = 0; i < c->kernel->processes->used; i++)
        if (is_addressed(c->kernel, &list[i], to)) {
            full |= !processes_send_to(c->kernel, &list[i], info);
            any = true;
        }
    return full ? -EAGAIN : any ? 0 : -ESRCH;
}

int64_t processes_send_thread(struct call *c, uint32_t group, uint32_t thread, const struct signals_info *info)
{
    struct syscalls *kernel = c->kernel;
    const struct process *of = processes_of_thread(kernel, thread);
    if (info->signal < 0 || info->signal > SIGNALS_COUNT)
        return -EINVAL;
    if (thread == IDENTITY_PARENT && (group == 0 || group == thread))
        return -EPERM;
    if (!of || (group != 0 && of->pid != group))
        return -ESRCH;
    if (info->signal == 0 || of->state == PROCESS_ZOMBIE)
        return 0;
    return syscalls_processes_tell(kernel, processes_find(kernel, of->pid), thread, info) ? 0 : -EAGAIN;
}

int64_t signals_kill(struct call *c)
{
    struct signals_info info = {.signal = (int)c->arg[1], .code = SI_USER};
    info.sender.pid = (int32_t)c->kernel->pid;
    info.sender.uid = IDENTITY_USER;
    return processes_send(c, (int)c->arg[0], &info);
}

/* ------------------------------------------------------------------ numbers and processes */

int64_t processes_pid(struct call *c) { return c->kernel->pid; }

int64_t processes_parent(struct call *c) { return processes_self(c->kernel)->parent; }

static struct process *processes_named(struct call *c, uint64_t pid)
{
    return processes_find(c->kernel, (int)pid == 0 ? c->kernel->pid : (uint32_t)pid);
}

static const struct process *named_by_thread(struct call *c, uint64_t tid)
{
    return (int)tid == 0 ? c->kernel->self : processes_of_thread(c->kernel, (uint32_t)tid);
}

int64_t processes_group(struct call *c) { return processes_self(c->kernel)->group; }

int64_t processes_group_of(struct call *c)
{
    const struct process *process = named_by_thread(c, c->arg[0]);
    if ((int)c->arg[0] == IDENTITY_PARENT)
        return IDENTITY_PARENT;
    return process ? (int64_t)process->group : -ESRCH;
}

int64_t processes_session_of(struct call *c)
{
    const struct process *process = named_by_thread(c, c->arg[0]);
    if ((int)c->arg[0] == IDENTITY_PARENT)
        return IDENTITY_PARENT;
    return process ? (int64_t)process->session : -ESRCH;
}

static bool is_group(const struct syscalls *kernel, uint32_t group, uint32_t session)
{
    const struct process *list = kernel->processes->list;
    for (uint32_t i = 0; i < kernel->processes->used; i++)
        if (list[i].state != PROCESS_NONE && list[i].group == group && list[i].session == session)
            return true;
    return false;
}

int64_t processes_check_group(const struct syscalls *kernel, uint32_t group)
{
    const struct process *list = kernel->processes->list;
    for (uint32_t i = 0; i < kernel->processes->used; i++)
        if (list[i].state != PROCESS_NONE && list[i].group == group)
            return list[i].session == kernel->self->session ? 0 : -EPERM;
    return -ESRCH;
}

int64_t processes_set_group(struct call *c)
{
    const struct process *self = processes_self(c->kernel);
    struct process *process = processes_named(c, c->arg[0]);
    if ((int)c->arg[0] < 0 || (int)c->arg[1] < 0)
        return -EINVAL;
    if (!process || (process != self && process->parent != self->pid))
        return -ESRCH;
    const uint32_t group = (int)c->arg[1] == 0 ? process->pid : (uint32_t)c->arg[1];
    if (process != self && process->executed)
        return -EACCES;
    if (process->session != self->session || process->session == process->pid)
        return -EPERM;
    if (group != process->pid && !is_group(c->kernel, group, self->session))
        return -EPERM;
    process->group = group;
    c->kernel->processes->events++; /* a waiter for a group may find none in it */
    return 0;
}

int64_t processes_set_session(struct call *c)
{
    struct process *self = processes_self(c->kernel);
    const struct process *list = c->kernel->processes->list;
    for (uint32_t i = 0; i < c->kernel->processes->used; i++)
        if (list[i].state != PROCESS_NONE && list[i].group == self->pid)
            return -EPERM;
    self->group = self->session = self->pid;
    self->detached = false;
    return self->session;
}

/* ------------------------------------------------------------------ namespaces */

int64_t processes_unshare(struct call *c)
{
    const uint64_t flags = (uint32_t)c->arg[0], own = CLONE_FS | CLONE_FILES | CLONE_SYSVSEM;
    const uint64_t of_threads = CLONE_THREAD | CLONE_SIGHAND | CLONE_VM;
    if (flags & ~(own | of_threads | PROCESSES_NAMESPACES))
        return -EINVAL;
    if (flags & of_threads && c->kernel->thread_count > 1)
        return -EINVAL;
    if (flags & own && c->kernel->thread_count > 1)
        return call_complain(c, "would give a thread descriptors or a directory of its own");
    return flags & PROCESSES_NAMESPACES ? -EPERM : 0;
}

int64_t processes_enter(struct call *c)
{
    const uint64_t wanted = (uint32_t)c->arg[1];
    if (fcntl(c->fd[0], F_GETFL) & O_PATH)
        return -EBADF;
    return pidfds_process(c->kernel, c->arg[0]) && wanted != 0 && !(wanted & ~(uint64_t)PROCESSES_NAMESPACES) ? -EPERM
                                                                                                              : -EINVAL;
}

/* ------------------------------------------------------------------ terminals */

int64_t processes_foreground(struct call *c)
{
    const int32_t group = (int32_t)c->kernel->processes->foreground;
    return guest_write(c, c->arg[2], &group, sizeof group);
}

int64_t processes_set_foreground(struct call *c)
{
    int32_t group;
    int64_t status = guest_read(c, &group, c->arg[2], sizeof group);
    if (status < 0)
        return status;
    if (group < 0)
        return -EINVAL;
    if (!is_group(c->kernel, (uint32_t)group, processes_self(c->kernel)->session))
        return -EPERM;
    c->kernel->processes->foreground = (uint32_t)group;
    return 0;
}

int64_t processes_fork(struct call *c) { return processes_start(c, &(struct processes_start){.exit_signal = SIGCHLD}); }

int64_t processes_vfork(struct call *c)
{
    return processes_start(c, &(struct processes_start){.flags = CLONE_VM | CLONE_VFORK, .exit_signal = SIGCHLD});
}
