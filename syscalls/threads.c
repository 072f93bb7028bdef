/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The guest's threads: how they start and end, and what the blocked ones wait for.
 *
 * Model
 *   A thread is what the kernel keeps of it (struct kernel_thread); its executor keeps its registers and states
 *   which one runs (syscalls_switch). A call that has to wait leaves a struct kernel_wait behind and has done nothing
 *   else, but for the bytes of a write that fitted. When that can have come true, or its time has come, the call is
 *   made once more, by the same registers. A signal that has a handler ends the wait before.
 *   The first thread is the process: when it ends before the others its number stays taken, and its exit status is that
 *   of the process when the last one has ended.
 *
 * Invariants
 *   Numbers count up from the process's own.
 *
 * Not modelled
 *   Threads that share less than everything (CLONE_VM, CLONE_FS, CLONE_FILES, CLONE_SIGHAND, CLONE_SYSVSEM): Linux has
 *   them, no library makes them; those without CLONE_FS or CLONE_FILES are refused with EINVAL.
 */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>
#include <time.h>

#include "syscalls/daemons_priv.h"
#include "syscalls/kernel_priv.h"
#include "syscalls/pollable_priv.h"
#include "syscalls/sockets_priv.h"
#include "syscalls/trace_priv.h"

/* ------------------------------------------------------------------ the list */

/* Processes and threads have one row of numbers. */
static uint32_t threads_next_number(struct syscalls *kernel)
{
    struct processes *all = kernel->processes;
    if (all && all->last > kernel->last_tid)
        kernel->last_tid = all->last;
    kernel->last_tid++;
    if (all)
        all->last = kernel->last_tid;
    return kernel->last_tid;
}

struct kernel_thread *threads_create(struct syscalls *kernel)
{
    if (!c2_grow((void **)&kernel->threads, &kernel->thread_room, kernel->thread_count, sizeof *kernel->threads))
        return NULL;
    struct kernel_thread *thread = c2_calloc(1, sizeof *thread);
    if (!thread)
        return NULL;
    thread->tid = threads_next_number(kernel);
    thread->number = kernel->started++;
    priorities_inherit(kernel, kernel->pid, thread->tid);
    thread->timer_slack = KERNEL_TIMER_SLACK_NS;
    thread->opening = -1;
    signals_mask_create(&thread->signals);
    kernel->threads[kernel->thread_count++] = thread;
    return thread;
}

void kernel_wait_release(struct syscalls *kernel, struct kernel_wait *wait)
{
    c2_free(wait->fds);
    words_release(kernel, wait);
    *wait = (struct kernel_wait){.kind = KERNEL_RUNS};
}

static void syscalls_threads_destroy(struct syscalls *kernel, struct kernel_thread *thread)
{
    kernel_wait_release(kernel, &thread->wait);
    if (thread->opening >= 0)
        close(thread->opening);
    pending_release(&thread->pending);
    c2_free(thread);
}

void threads_destroy(struct syscalls *kernel)
{
    for (uint32_t i = 0; i < kernel->thread_count; i++)
        syscalls_threads_destroy(kernel, kernel->threads[i]);
    c2_free(kernel->threads);
}

struct kernel_thread *threads_find(const struct syscalls *kernel, uint32_t tid)
{
    for (uint32_t i = 0; i < kernel->thread_count; i++)
        if (kernel->threads[i]->tid == tid)
            return kernel->threads[i];
    return NULL;
}

bool threads_alone(const struct syscalls *kernel)
{
    return kernel->thread_count == 1 && kernel->timers_armed == 0 && !processes_shared(kernel) &&
           daemons_next(kernel) == KERNEL_NEVER;
}

static void threads_forget(struct syscalls *kernel, struct kernel_thread *thread)
{
    uint32_t i = 0;
    while (kernel->threads[i] != thread)
        i++;
    kernel->thread_count--;
    priorities_end(kernel, thread->tid);
    memmove(&kernel->threads[i], &kernel->threads[i + 1], (kernel->thread_count - i) * sizeof *kernel->threads);
    syscalls_threads_destroy(kernel, thread);
}

void threads_keep_current(struct syscalls *kernel)
{
    struct kernel_thread *kept = kernel->current;
    for (uint32_t i = 0; i < kernel->thread_count; i++)
        if (kernel->threads[i] != kept)
            syscalls_threads_destroy(kernel, kernel->threads[i]);
    kernel->threads[0] = kept;
    kernel->thread_count = 1;
    kept->tid = kernel->pid;
    kept->number = 0;
    kernel->started = 1;
}

/* ------------------------------------------------------------------ starting */

/* What clone and clone3 ask for. */
struct start {
    uint64_t flags, stack, parent_tid, child_tid, tls;
};

/* RLIMIT_NPROC: the threads of this process, and one of each other. */
bool threads_are_too_many(const struct syscalls *kernel)
{
    const uint64_t tasks = kernel->thread_count - 1 + kernel->processes->running;
    return kernel->thread_count >= THREADS_MOST || tasks >= kernel->identity.limit[RLIMIT_NPROC].soft;
}

static int64_t threads_check(struct call *c, const struct start *start)
{
    const uint64_t all = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;
    const uint64_t known = all | CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID |
                           CLONE_CHILD_SETTID | CLONE_DETACHED | CLONE_UNTRACED | CLONE_IO;
    if ((start->flags & all) != all || start->flags & ~known)
        return -EINVAL;
    return threads_are_too_many(c->kernel) ? -EAGAIN : 0;
}

static int64_t threads_give_number(struct call *c, const struct start *start, uint32_t tid)
{
    int64_t status = 0;
    if (start->flags & CLONE_PARENT_SETTID)
        status = guest_write(c, start->parent_tid, &tid, sizeof tid);
    if (status == 0 && start->flags & CLONE_CHILD_SETTID)
        status = guest_write(c, start->child_tid, &tid, sizeof tid);
    return status;
}

static int64_t threads_start_thread(struct call *c, const struct start *start)
{
    struct syscalls *kernel = c->kernel;
    const struct kernel_thread *self = kernel->current;
    int64_t status = threads_check(c, start);
    if (status < 0)
        return status;
    struct kernel_thread *thread = threads_create(kernel);
    if (!thread)
        return -EAGAIN;
    memcpy(thread->name, self->name, sizeof thread->name);
    thread->signals.blocked = self->signals.blocked;
    thread->no_new_privileges = self->no_new_privileges;
    thread->timer_slack = self->timer_slack;
    thread->clear_tid = start->flags & CLONE_CHILD_CLEARTID ? start->child_tid : 0;
    if ((status = threads_give_number(c, start, thread->tid)) < 0) {
        threads_forget(kernel, thread);
        return status;
    }
    c->result->action = SYSCALLS_STARTED;
    c->result->thread.tid = thread->tid;
    c->result->thread.stack = start->stack;
    c->result->thread.fs_base = start->flags & CLONE_SETTLS ? start->tls : c->cpu->fs_base;
    return thread->tid;
}

int64_t threads_clone(struct call *c)
{
    if ((c->arg[0] & (CLONE_PIDFD | CLONE_PARENT_SETTID)) == (CLONE_PIDFD | CLONE_PARENT_SETTID))
        return -EINVAL; /* both would be written to one place */
    const int signal = (int)(c->arg[0] & CSIGNAL);
    const int64_t status = processes_check_flags((uint32_t)c->arg[0] & ~(uint64_t)CSIGNAL);
    if (status < 0)
        return status;
    if (!(c->arg[0] & CLONE_THREAD))
        return processes_start(c, &(struct processes_start){.flags = (uint32_t)c->arg[0] & ~(uint64_t)CSIGNAL,
                                                            .exit_signal = signal <= SIGNALS_COUNT ? signal : 0,
                                                            .stack = c->arg[1],
                                                            .parent_tid = c->arg[2],
                                                            .pidfd_at = c->arg[2],
                                                            .child_tid = c->arg[3],
                                                            .tls = c->arg[4]});
    const struct start start = {
        .flags = (uint32_t)c->arg[0] & ~(uint64_t)CSIGNAL,
        .stack = c->arg[1],
        .parent_tid = c->arg[2],
        .child_tid = c->arg[3],
        .tls = c->arg[4],
    };
    return threads_start_thread(c, &start);
}

/* struct clone_args, and how many of its words the first version had. */
enum {
    FLAGS,
    PIDFD,
    CHILD_TID,
    PARENT_TID,
    EXIT_SIGNAL,
    STACK,
    STACK_BYTES,
    TLS,
    FIRST_WORDS,
    SET_TID = FIRST_WORDS,
    SET_TID_COUNT,
    CGROUP,
    CLONE_WORDS
};

static int64_t threads_take_arguments(struct call *c, uint64_t words[CLONE_WORDS])
{
    memset(words, 0, CLONE_WORDS * sizeof *words);
    if (c->arg[1] < FIRST_WORDS * sizeof *words)
        return -EINVAL;
    if (c->arg[1] > C2_PAGE_BYTES)
        return -E2BIG;
    return guest_read_extended(c, words, CLONE_WORDS * sizeof *words, c->arg[0], c->arg[1]);
}

/* What clone3 looks at before it begins, Linux 6.1's kernel/fork.c. Numbers may be chosen with rights only. */
static int64_t check_arguments(const uint64_t words[CLONE_WORDS])
{
    enum { NAMESPACES_DEEP = 32 };
    const uint64_t flags = words[FLAGS], clears = PROCESSES_CLEAR_HANDLERS, known = UINT32_MAX | clears | 1ull << 33;
    const bool numbers = words[SET_TID] != 0;
    if (words[SET_TID_COUNT] > NAMESPACES_DEEP || numbers != (words[SET_TID_COUNT] != 0) ||
        words[EXIT_SIGNAL] > SIGNALS_COUNT || (flags & 1ull << 33 && words[CGROUP] > INT32_MAX))
        return -EINVAL;
    if (flags & ~known || flags & (CLONE_DETACHED | (CSIGNAL & ~CLONE_NEWTIME)) ||
        (flags & CLONE_SIGHAND && flags & clears) || (flags & (CLONE_THREAD | CLONE_PARENT) && words[EXIT_SIGNAL]) ||
        (words[STACK] == 0) != (words[STACK_BYTES] == 0) || words[STACK] + words[STACK_BYTES] < words[STACK])
        return -EINVAL;
    const int64_t status = processes_check_flags(flags);
    return status == 0 && numbers ? -EPERM : status;
}

int64_t threads_clone3(struct call *c)
{
    uint64_t words[CLONE_WORDS];
    int64_t status = threads_take_arguments(c, words);
    if (status == 0)
        status = check_arguments(words);
    if (status < 0)
        return status;
    if (!(words[FLAGS] & CLONE_THREAD))
        return processes_start(c, &(struct processes_start){.flags = words[FLAGS],
                                                            .exit_signal = (int)words[EXIT_SIGNAL],
                                                            .stack = words[STACK] + words[STACK_BYTES],
                                                            .parent_tid = words[PARENT_TID],
                                                            .pidfd_at = words[PIDFD],
                                                            .child_tid = words[CHILD_TID],
                                                            .tls = words[TLS]});
    const struct start start = {
        .flags = words[FLAGS],
        .stack = words[STACK] + words[STACK_BYTES],
        .parent_tid = words[PARENT_TID],
        .child_tid = words[CHILD_TID],
        .tls = words[TLS],
    };
    return threads_start_thread(c, &start);
}

/* ------------------------------------------------------------------ ending */

void threads_clear_number(struct call *c, struct kernel_thread *thread)
{
    const uint32_t none = 0;
    if (thread->clear_tid && guest_write(c, thread->clear_tid, &none, sizeof none) == 0)
        futex_wake_one(c->kernel, thread->clear_tid);
    thread->clear_tid = 0;
}

int64_t threads_exit(struct call *c)
{
    struct syscalls *kernel = c->kernel;
    struct kernel_thread *self = kernel->current;
    const int status = (int)c->arg[0] & 0xff;
    if (self->tid == kernel->pid)
        kernel->leader_status = status;
    if (kernel->thread_count == 1) {
        c->result->action = SYSCALLS_EXIT;
        c->result->status = kernel->leader_status;
        return 0;
    }
    futex_exit(c);
    threads_clear_number(c, self);
    if (c->result->action == SYSCALLS_FAILED)
        return 0;
    threads_forget(kernel, self);
    kernel->current = NULL;
    c->result->action = SYSCALLS_ENDED;
    return 0;
}

/* ------------------------------------------------------------------ waiting */

int64_t call_wait(struct call *c, struct kernel_wait wait)
{
    struct kernel_thread *self = c->kernel->current;
    wait.call = (uint32_t)c->cpu->gpr[0];
    kernel_wait_release(c->kernel, &self->wait);
    self->wait = wait;
    c->result->action = SYSCALLS_BLOCKED;
    return -EINTR;
}

int64_t call_wait_fd(struct call *c, const struct fd_entry *entry, short events, const char *why, uint64_t done)
{
    if (call_is_late(c))
        return done ? (int64_t)done : -EAGAIN;
    struct pollfd *fd = c2_alloc(sizeof *fd);
    if (!fd)
        return -ENOMEM;
    const bool outside = entry->wait == FD_WAIT_OUTSIDE;
    const uint64_t deadline = c->again ? c->waited->deadline : sockets_deadline(c, entry, events);
    *fd = (struct pollfd){.fd = outside ? POLL_HIDDEN(entry->host) : entry->host, .events = events};
    return call_wait(c, (struct kernel_wait){.kind = KERNEL_WAITS_FDS,
                                             .restarts = deadline == KERNEL_NEVER,
                                             .outside = outside,
                                             .deadline = deadline,
                                             .fds = fd,
                                             .fd_count = 1,
                                             .done = done,
                                             .partial = done,
                                             .why = why});
}

bool call_must_wait(const struct call *c, const struct fd_entry *entry, short events)
{
    struct pollfd query = {.fd = entry->host, .events = events};
    return entry->wait == FD_WAIT_OUTSIDE && c->kernel->timers_armed != 0 &&
           !(fcntl(entry->host, F_GETFL) & O_NONBLOCK) && poll(&query, 1, 0) == 0;
}

int64_t call_wait_lock(struct call *c, uint32_t holder, enum locks_kind kind)
{
    return call_wait(c, (struct kernel_wait){.kind = KERNEL_WAITS_LOCK,
                                             .restarts = true,
                                             .deadline = KERNEL_NEVER,
                                             .word = holder,
                                             .bits = kind,
                                             .wakes = c->kernel->processes->releases,
                                             .why = holder == c->kernel->pid
                                                        ? "it holds the lock itself, by another descriptor"
                                                        : "another process of the program holds the lock"});
}

int64_t call_wait_end(struct call *c)
{
    return call_wait(c, (struct kernel_wait){.kind = KERNEL_WAITS_LOCK,
                                             .restarts = true,
                                             .outside = true,
                                             .deadline = KERNEL_NEVER,
                                             .wakes = c->kernel->processes->releases,
                                             .why = "nobody opens the other end of the pipe"});
}

int call_skip(struct iovec *out, const struct iovec *in, int count, uint64_t bytes)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        const uint64_t part = bytes < in[i].iov_len ? bytes : in[i].iov_len;
        bytes -= part;
        if (part < in[i].iov_len)
            out[kept++] = (struct iovec){(char *)in[i].iov_base + part, in[i].iov_len - part};
    }
    return kept;
}

bool call_is_late(const struct call *c)
{
    return c->again && kernel_has_come(c->kernel, c->instructions, c->waited->deadline);
}

void threads_wake_locks(struct syscalls *kernel) { kernel->processes->releases++; }

/* ------------------------------------------------------------------ which can go on */

enum { LOOK_NS = 20000000 }; /* where the host cannot wait for what comes from outside, it looks as often */

static int poll_host(struct pollfd *all, uint32_t count, uint64_t ns)
{
    const struct timespec most = {.tv_sec = (time_t)(ns / KERNEL_NS), .tv_nsec = (long)(ns % KERNEL_NS)};
    return ppoll(all, count, ns == KERNEL_NEVER ? NULL : &most, NULL);
}

/* Those that are hidden as well; how many. */
static uint32_t show_all(const struct kernel_wait *wait, struct pollfd *all)
{
    for (uint32_t i = 0; i < wait->fd_count; i++) {
        all[i] = wait->fds[i];
        all[i].fd = all[i].fd < -1 ? POLL_SHOWN(all[i].fd) : all[i].fd;
    }
    return wait->fd_count;
}

void kernel_wait_for_outside(const struct kernel_wait *wait)
{
    struct pollfd *all = c2_alloc((wait->fd_count + 1) * sizeof *all);
    if (all)
        poll_host(all, show_all(wait, all), wait->fd_count ? KERNEL_NEVER : LOOK_NS);
    c2_free(all);
}

bool kernel_wait_asks_outside(const struct kernel_wait *wait)
{
    for (uint32_t i = 0; i < wait->fd_count; i++)
        if (wait->fds[i].fd < -1)
            return false;
    return wait->outside;
}

static bool fds_ready(struct syscalls *kernel, const struct kernel_wait *wait, uint64_t instructions)
{
    pollables_refresh(kernel, instructions);
    struct pollfd *all = kernel->looks_outside && wait->outside ? c2_alloc((wait->fd_count + 1) * sizeof *all) : NULL;
    if (!all)
        return wait->fd_count != 0 && fds_poll(kernel, wait->fds, wait->fd_count, 0) > 0;
    const bool ready = fds_poll(kernel, all, show_all(wait, all), 0) > 0;
    c2_free(all);
    return ready;
}

/* But for descriptors. */
static bool came_true(const struct syscalls *kernel, const struct kernel_thread *thread)
{
    switch (thread->wait.kind) {
    case KERNEL_RUNS:
        return true;
    case KERNEL_WAITS_SIGNAL:
        return signals_are_pending(kernel, thread, thread->wait.signals);
    case KERNEL_WAITS_TAKEN:
        return !signals_are_pending(kernel, thread, thread->wait.signals);
    case KERNEL_WAITS_LOCK:
        return thread->wait.wakes != kernel->processes->releases || (thread->wait.outside && kernel->looks_outside);
    case KERNEL_WAITS_WORD:
    case KERNEL_WAITS_WORDS:
    case KERNEL_WAITS_OWNER:
        return words_woken(kernel, &thread->wait);
    case KERNEL_WAITS_OBJECT:
        return ipc_is_done(kernel, &thread->wait);
    case KERNEL_WAITS_CHILD:
    case KERNEL_WAITS_VFORK:
        return processes_wait_over(kernel, &thread->wait);
    case KERNEL_WAITS_MEMORY:
        return remote_is_answered(kernel, &thread->wait);
    default:
        return false;
    }
}

enum syscalls_readiness syscalls_ready(struct syscalls *kernel, uint32_t tid, uint64_t instructions)
{
    struct kernel_thread *thread = threads_find(kernel, tid);
    C2_ASSERT(thread);
    if (stops_is_stopped(kernel))
        return SYSCALLS_WAITS;
    if (thread->wait.kind == KERNEL_RUNS)
        return SYSCALLS_RUNS;
    if (came_true(kernel, thread) || kernel_has_come(kernel, instructions, thread->wait.deadline))
        return SYSCALLS_AGAIN;
    if (thread->wait.kind == KERNEL_WAITS_FDS && fds_ready(kernel, &thread->wait, instructions))
        return SYSCALLS_AGAIN;
    if (thread->wait.kind == KERNEL_WAITS_VFORK || thread->wait.kind == KERNEL_WAITS_MEMORY)
        return SYSCALLS_WAITS;
    return signals_deliverable(kernel, thread) ? SYSCALLS_INTERRUPTED : SYSCALLS_WAITS;
}

uint64_t kernel_wait_ends(const struct syscalls *kernel, const struct kernel_wait *wait)
{
    const uint64_t pollables = wait->kind == KERNEL_WAITS_FDS ? pollables_next(kernel) : KERNEL_NEVER;
    return wait->kind == KERNEL_RUNS ? KERNEL_NEVER : wait->deadline < pollables ? wait->deadline : pollables;
}

/* Before the one that runs does something. Descriptors that nothing from outside makes ready, or is not asked for now,
 * are so by calls of the guest's, or at a moment. */
static bool may_go_on(struct syscalls *kernel, struct kernel_thread *thread)
{
    const struct kernel_wait *wait = &thread->wait;
    const bool fds = wait->kind == KERNEL_WAITS_FDS;
    const bool outside = kernel_wait_asks_outside(wait) || (wait->outside && kernel->looks_outside);
    return wait->kind == KERNEL_RUNS || (fds && outside) || came_true(kernel, thread) ||
           signals_deliverable(kernel, thread) || (fds && fds_ready(kernel, wait, kernel->instructions));
}

uint64_t syscalls_count_at(const struct syscalls *kernel, uint64_t moment, uint64_t instructions)
{
    const uint64_t at = moment < KERNEL_LAST_NS ? moment : KERNEL_LAST_NS;
    const uint64_t now = syscalls_time_ns(kernel, instructions);
    if (moment == KERNEL_NEVER)
        return UINT64_MAX;
    /* A nanosecond less: times are rounded down. */
    const uint64_t left = at > now ? at - now - 1 : 0;
    const unsigned __int128 more = (unsigned __int128)left * kernel->instructions_per_second / KERNEL_NS;
    return more < UINT64_MAX / 2 - instructions ? instructions + (uint64_t)more : UINT64_MAX / 2;
}

uint64_t syscalls_contended(struct syscalls *kernel, uint64_t instructions)
{
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; i < kernel->thread_count; i++) {
        struct kernel_thread *thread = kernel->threads[i];
        if (thread == kernel->current)
            continue;
        if (may_go_on(kernel, thread))
            return instructions;
        const uint64_t at = syscalls_count_at(kernel, kernel_wait_ends(kernel, &thread->wait), instructions);
        first = at < first ? at : first;
    }
    return first;
}

/* The earliest moment that any waits for. */
uint64_t syscalls_next_time(const struct syscalls *kernel)
{
    const uint64_t ended = daemons_next(kernel);
    uint64_t next = timers_next(kernel);
    next = ended < next ? ended : next;
    if (stops_is_stopped(kernel))
        return KERNEL_NEVER;
    for (uint32_t i = 0; i < kernel->thread_count; i++) {
        const uint64_t ends = kernel_wait_ends(kernel, &kernel->threads[i]->wait);
        next = ends < next ? ends : next;
    }
    return next;
}

static uint32_t count_outside(const struct syscalls *kernel)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < kernel->thread_count; i++)
        count += kernel->threads[i]->wait.outside ? kernel->threads[i]->wait.fd_count : 0;
    return count;
}

static uint32_t gather_outside(const struct syscalls *kernel, struct pollfd *all)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < kernel->thread_count; i++) {
        const struct kernel_wait *wait = &kernel->threads[i]->wait;
        used += wait->outside ? show_all(wait, &all[used]) : 0;
    }
    return used;
}

bool syscalls_waits_outside(const struct syscalls *kernel)
{
    for (uint32_t i = 0; i < kernel->thread_count && !stops_is_stopped(kernel); i++)
        if (kernel->threads[i]->wait.outside)
            return true;
    return false;
}

/* One waits for an opening of the other end of a pipe, which the host does not report. */
static bool has_to_look(const struct syscalls *kernel)
{
    for (uint32_t i = 0; i < kernel->thread_count; i++)
        if (kernel->threads[i]->wait.outside && kernel->threads[i]->wait.fd_count == 0)
            return true;
    return false;
}

/* What has come of the descriptors, so long at most; below 0: a signal of c2emu's own. */
static int poll_outside(struct syscalls *kernel, uint64_t ns)
{
    struct pollfd *all = c2_alloc((count_outside(kernel) + 1) * sizeof *all);
    const int ready = all ? poll_host(all, gather_outside(kernel, all), ns) : 0;
    c2_free(all);
    kernel->looks_outside = ready > 0 || has_to_look(kernel);
    return ready;
}

/* The host waits for what others may send to any of the threads, at most until `next`. */
static bool threads_wait_outside(struct syscalls *kernel, uint64_t instructions, uint64_t next)
{
    if (!syscalls_waits_outside(kernel))
        return false;
    const uint64_t most = next == KERNEL_NEVER ? KERNEL_NEVER : next - syscalls_time_ns(kernel, instructions);
    const bool looks = has_to_look(kernel) && most > LOOK_NS;
    const int ready = poll_outside(kernel, looks ? LOOK_NS : most);
    if (looks && ready == 0 && next != KERNEL_NEVER)
        kernel_sleep(kernel, LOOK_NS);
    return looks || ready != 0;
}

void syscalls_look_outside(struct syscalls *kernel, uint64_t ns) { poll_outside(kernel, ns < LOOK_NS ? ns : LOOK_NS); }

bool syscalls_pass_time(struct syscalls *kernel, uint64_t instructions)
{
    const uint64_t next = syscalls_next_time(kernel);
    if (threads_wait_outside(kernel, instructions, next))
        return true;
    if (next == KERNEL_NEVER)
        return false;
    kernel_sleep_until(kernel, instructions, next);
    syscalls_expire(kernel, instructions);
    return true;
}

void syscalls_switch(struct syscalls *kernel, uint32_t tid, uint64_t instructions)
{
    struct kernel_thread *thread = threads_find(kernel, tid);
    C2_ASSERT(thread);
    if (kernel->current)
        kernel->current->ran += instructions - kernel->turn;
    kernel->current = thread;
    kernel->turn = kernel->instructions = instructions;
}

uint32_t syscalls_thread(const struct syscalls *kernel) { return kernel->current ? kernel->current->tid : 0; }

bool syscalls_has_threads(const struct syscalls *kernel, const uint32_t *tids, uint32_t count)
{
    if (count != kernel->thread_count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!threads_find(kernel, tids[i]))
            return false;
    return true;
}

/* ------------------------------------------------------------------ interrupted waits */

/* What was left of a sleep. */
static int64_t tell_rest(struct syscalls *kernel, const struct kernel_wait *wait, uint64_t instructions)
{
    struct syscalls_result result = {.action = SYSCALLS_RETURN};
    struct c2_error err;
    struct call c = {.kernel = kernel, .result = &result, .err = &err};
    const uint64_t now = syscalls_time_ns(kernel, instructions), ns = wait->deadline > now ? wait->deadline - now : 0;
    const struct timespec rest = {.tv_sec = (time_t)(ns / KERNEL_NS), .tv_nsec = (long)(ns % KERNEL_NS)};
    return wait->rest == 0 || guest_write(&c, wait->rest, &rest, sizeof rest) == 0 ? -EINTR : -EFAULT;
}

bool syscalls_interrupt(struct syscalls *kernel, uint64_t instructions, int64_t *value)
{
    struct kernel_thread *self = kernel->current;
    const int signal = signals_deliverable(kernel, self);
    const bool again = self->wait.resumes ||
                       (self->wait.restarts && kernel->signals.action[signal].flags & SIGNALS_RESTART);
    const bool restarts = again && signal && self->wait.partial == 0;
    *value = self->wait.partial ? (int64_t)self->wait.partial : tell_rest(kernel, &self->wait, instructions);
    ipc_give_up(kernel, &self->wait);
    if (kernel->trace)
        trace_interrupted(kernel, self->wait.call, signal, restarts);
    kernel_wait_release(kernel, &self->wait);
    kernel->looks_outside = false;
    return !restarts;
}

/* ------------------------------------------------------------------ what they are stuck in */

/* One that can be shown: it is still there, and no other process has moved the wait to another one. */
static bool waits_at_word(const struct syscalls *kernel, const struct kernel_wait *wait)
{
    const struct words_waiter *waiter = words_waiter(kernel, wait);
    return waiter && wait->kind != KERNEL_WAITS_WORDS && waiter->address != 0 &&
           guest_allows(kernel, waiter->address, sizeof(uint32_t), MMU_READ);
}

/* The page may have been discarded meanwhile. */
static uint32_t word_of(const struct syscalls *kernel, const struct kernel_wait *wait)
{
    const struct guest_va va = {words_waiter(kernel, wait)->address};
    uint32_t word = 0;
    if (mmu_lend(kernel->mmu, va, sizeof word) == 0)
        memcpy(&word, guest_pointer(va.v), sizeof word);
    mmu_lend_end(kernel->mmu);
    return word;
}

void syscalls_describe_wait(const struct syscalls *kernel, uint32_t tid, char *out, size_t bytes)
{
    const struct kernel_thread *thread = threads_find(kernel, tid);
    const struct kernel_wait *wait = &thread->wait;
    if (stops_is_stopped(kernel))
        snprintf(out, bytes, "is stopped by %s, and nobody sends SIGCONT", syscalls_signal_name(kernel->self->stopped));
    else if (wait->kind == KERNEL_RUNS)
        snprintf(out, bytes, "%s", thread == kernel->current ? "runs" : "may run");
    else if (waits_at_word(kernel, wait))
        snprintf(out, bytes, "waits in %s for the word at %#llx, which holds %#x", syscalls_name(wait->call),
                 (unsigned long long)words_waiter(kernel, wait)->address, word_of(kernel, wait));
    else if (wait->kind == KERNEL_WAITS_LOCK && wait->word && wait->word != kernel->pid)
        snprintf(out, bytes, "waits in %s for a lock that process %llu of the program holds", syscalls_name(wait->call),
                 (unsigned long long)wait->word);
    else
        snprintf(out, bytes, "waits in %s: %s", syscalls_name(wait->call), wait->why);
}
