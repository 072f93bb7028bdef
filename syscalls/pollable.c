/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * timerfd and signalfd; and how the host shows epoll what is ready of other objects of the guest's own.
 *
 * Model
 *   The host knows neither the guest's time nor its signals, but it is the host that is asked what is ready (poll,
 *   select, epoll). So each has a descriptor of the host that is readable when c2emu says so: a timer of the host's
 *   that is set to a moment long ago, or disarmed: a pollable proxy. Before each such question all of them are brought
 *   up to date; what is read from one comes from here.
 *   Timers count expirations in guest time: CLOCK_REALTIME goes on with it and is never set. A wait may let guest time
 *   go on to the next expiration of any of them, and asks again.
 *
 * Invariants
 *   A pollable proxy is lit if a read would not wait: a timer with expirations that are not read yet, a signal of the
 *   set pending.
 *
 * Not modelled
 *   A timer that two processes share after fork: each has its own from there on.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "syscalls/kernel_priv.h"
#include "syscalls/pollable_priv.h"
#include "syscalls/terminals_priv.h"

/* ------------------------------------------------------------------ pollable proxies */

int64_t pollable_add(struct syscalls *kernel, enum fd_kind kind, const struct fd_pollable *made, int flags)
{
    if (fds_lowest_free(kernel, 0) < 0)
        return -EMFILE;
    struct fd_pollable *pollable = c2_alloc(sizeof *pollable);
    if (!pollable)
        return -ENOMEM;
    const int host = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | (flags & O_NONBLOCK));
    const int64_t fd = fds_add(kernel, host, FD_WAIT_SELF, flags & O_CLOEXEC);
    if (fd < 0) {
        c2_free(pollable);
        return fd;
    }
    struct fd_entry *entry = fds_at(kernel, (uint64_t)fd);
    *pollable = *made;
    pollable->users = 1;
    entry->kind = (uint8_t)kind;
    entry->pollable = pollable;
    kernel->fds.pollables = true;
    return fd;
}

void pollable_show(int host, bool readable, bool writable)
{
    const uint64_t value = !readable ? 0 : writable ? 1 : UINT64_MAX - 1;
    const short wanted = (short)((readable ? POLLIN : 0) | (writable || !readable ? POLLOUT : 0));
    struct pollfd shows = {.fd = host, .events = POLLIN | POLLOUT};
    uint64_t old;
    if (poll(&shows, 1, 0) >= 0 && shows.revents == wanted)
        return;
    if (shows.revents & POLLIN && read(host, &old, sizeof old) != sizeof old)
        return;
    ssize_t ignored = value ? write(host, &value, sizeof value) : 0;
    (void)ignored; /* it is 0 now and takes any value */
}

void pollable_release(struct fd_entry *entry)
{
    if (entry->pollable && entry->kind == FD_TERMINAL)
        terminals_release(entry);
    if (entry->pollable && entry->kind == FD_MQUEUE)
        mqueue_release(entry);
    if (entry->pollable && --entry->pollable->users == 0)
        c2_free(entry->pollable);
    entry->pollable = NULL;
}

static void pollable_set(const struct fd_entry *entry, bool lit)
{
    const struct itimerspec long_ago = {.it_value.tv_nsec = 1}, never = {.it_value.tv_nsec = 0};
    struct pollfd query = {.fd = entry->host, .events = POLLIN};
    if (entry->pollable->lit == lit)
        return;
    entry->pollable->lit = lit;
    timerfd_settime(entry->host, TFD_TIMER_ABSTIME, lit ? &long_ago : &never, NULL);
    while (lit && poll(&query, 1, -1) < 1) /* it takes the host a moment */
        continue;
}

static void count_ticks(struct fd_pollable *timer, uint64_t now)
{
    if (timer->due > now)
        return;
    const uint64_t more = timer->interval ? (now - timer->due) / timer->interval : 0;
    timer->ticks += 1 + more;
    timer->due = timer->interval ? timer->due + (1 + more) * timer->interval : LAMPS_NEVER;
}

static bool shines(const struct syscalls *kernel, const struct fd_entry *entry)
{
    if (entry->kind == FD_TIMER)
        return entry->pollable->ticks > 0;
    return entry->kind == FD_PROCESS
               ? entry->pollable->process != IDENTITY_PARENT && processes_has_ended(kernel, entry->pollable->process)
               : signals_are_pending(kernel, kernel->current, entry->pollable->mask);
}

static void refresh(struct syscalls *kernel, const struct fd_entry *entry, uint64_t now)
{
    if (entry->kind == FD_MQUEUE) {
        mqueue_refresh(kernel, entry);
        return;
    }
    if (entry->kind == FD_TERMINAL) {
        terminals_refresh(kernel, entry);
        return;
    }
    if (entry->kind == FD_TIMER)
        count_ticks(entry->pollable, now);
    pollable_set(entry, shines(kernel, entry));
}

void pollables_refresh(struct syscalls *kernel, uint64_t instructions)
{
    const uint64_t now = syscalls_time_ns(kernel, instructions);
    for (uint32_t fd = 0; kernel->fds.pollables && fd < kernel->fds.end; fd++)
        if (kernel->fds.entry[fd].pollable)
            refresh(kernel, &kernel->fds.entry[fd], now);
}

uint64_t pollables_next(const struct syscalls *kernel)
{
    uint64_t next = LAMPS_NEVER;
    for (uint32_t fd = 0; kernel->fds.pollables && fd < kernel->fds.end; fd++) {
        const struct fd_entry *entry = &kernel->fds.entry[fd];
        if (entry->kind == FD_TIMER && !entry->pollable->lit && entry->pollable->due < next)
            next = entry->pollable->due;
    }
    return next;
}

/* ------------------------------------------------------------------ reading */

static uint64_t pollable_now_of(const struct call *c) { return syscalls_time_ns(c->kernel, c->instructions); }

/* Nothing is there to be read. */
static int64_t wait_for_light(struct call *c, const struct fd_entry *entry)
{
    if (fcntl(entry->host, F_GETFL) & O_NONBLOCK)
        return -EAGAIN;
    return call_wait_fd(
        c, entry, POLLIN,
        entry->kind == FD_TIMER ? "the timer is not armed" : "no signal is pending, and nobody else sends one", 0);
}

static struct signalfd_siginfo signal_record(const struct signals_info *info)
{
    struct signalfd_siginfo out = {
        .ssi_signo = (uint32_t)info->signal, .ssi_errno = info->error, .ssi_code = info->code};
    if (info->code > 0 && info->signal != SIGCHLD) {
        out.ssi_addr = info->address;
        return out;
    }
    out.ssi_pid = (uint32_t)info->sender.pid;
    out.ssi_uid = info->sender.uid;
    if (info->code < 0) {
        out.ssi_ptr = info->sender.value;
        out.ssi_int = (int32_t)info->sender.value;
    }
    return out;
}

/* All signals that are pending and have room. */
static int64_t read_signals(struct call *c, const struct fd_entry *entry, const struct iovec *iov, int count,
                            uint64_t room)
{
    struct signals_info info;
    uint64_t done = 0;
    int64_t status = 0;
    while (status == 0 && room - done >= sizeof(struct signalfd_siginfo) &&
           signals_take(c->kernel, entry->pollable->mask, &info)) {
        const struct signalfd_siginfo record = signal_record(&info);
        status = guest_scatter(c, iov, count, done, &record, sizeof record);
        done += sizeof record;
    }
    return status < 0 ? status : (int64_t)done;
}

static int64_t read_ticks(struct call *c, const struct fd_entry *entry, const struct iovec *iov, int count)
{
    const uint64_t ticks = entry->pollable->ticks;
    entry->pollable->ticks = 0;
    const int64_t status = guest_scatter(c, iov, count, 0, &ticks, sizeof ticks);
    return status < 0 ? status : (int64_t)sizeof ticks;
}

int64_t pollable_read(struct call *c, const struct fd_entry *entry, const struct iovec *iov, int count, bool is_vector)
{
    const bool timer = entry->kind == FD_TIMER;
    uint64_t room = 0;
    if (entry->kind == FD_MQUEUE || entry->kind == FD_PROCESS)
        return -EINVAL;
    for (int i = 0; i < count; i++)
        room += iov[i].iov_len;
    if (room == 0 && is_vector)
        return 0;
    if (room < (timer ? sizeof(uint64_t) : sizeof(struct signalfd_siginfo)))
        return -EINVAL;
    refresh(c->kernel, entry, pollable_now_of(c));
    int64_t value = entry->pollable->lit ? 0 : wait_for_light(c, entry);
    if (value == 0)
        value = timer ? read_ticks(c, entry, iov, count) : read_signals(c, entry, iov, count, room);
    refresh(c->kernel, entry, pollable_now_of(c));
    return value;
}

/* What Linux says to a descriptor of another kind: one with O_PATH is as good as closed. */
static int64_t other_kind(const struct fd_entry *entry)
{
    return fcntl(entry->host, F_GETFL) & O_PATH ? -EBADF : -EINVAL;
}

/* ------------------------------------------------------------------ timerfd */

static bool is_real_clock(int clock) { return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_ALARM; }

int64_t pollable_timer_create(struct call *c)
{
    const int clock = (int)c->arg[0], flags = (int)c->arg[1];
    const struct fd_pollable made = {.clock = clock, .due = LAMPS_NEVER};
    if (flags & ~(TFD_NONBLOCK | TFD_CLOEXEC))
        return -EINVAL;
    if (clock == CLOCK_REALTIME_ALARM || clock == CLOCK_BOOTTIME_ALARM)
        return -EPERM;
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME)
        return -EINVAL;
    return pollable_add(c->kernel, FD_TIMER, &made, flags);
}

static struct timespec pollable_timespec_of(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / KERNEL_NS), .tv_nsec = (long)(ns % KERNEL_NS)};
}

static struct itimerspec setting_of(const struct fd_pollable *timer, uint64_t now)
{
    return (struct itimerspec){
        .it_interval = pollable_timespec_of(timer->interval),
        .it_value = pollable_timespec_of(timer->due == LAMPS_NEVER ? 0 : timer->due - now),
    };
}

/* Of the time of a setting, the moment since boot. */
static uint64_t pollable_moment_of(const struct call *c, const struct fd_pollable *timer, uint64_t ns, bool absolute)
{
    const uint64_t boot = is_real_clock(timer->clock) ? c->kernel->boot_seconds * KERNEL_NS : 0;
    if (!absolute)
        return pollable_now_of(c) + ns;
    return ns > boot ? ns - boot : 0;
}

int64_t pollable_timer_settime(struct call *c)
{
    const struct fd_entry *entry = fds_at(c->kernel, c->arg[0]);
    const struct itimerspec *wanted = c->ptr[2];
    uint64_t first, interval;
    if (c->arg[1] & ~(uint64_t)(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET) ||
        !kernel_timespec_ns(&first, &wanted->it_value) || !kernel_timespec_ns(&interval, &wanted->it_interval))
        return -EINVAL;
    if (entry->kind != FD_TIMER)
        return other_kind(entry);
    refresh(c->kernel, entry, pollable_now_of(c));
    if (c->ptr[3])
        *(struct itimerspec *)c->ptr[3] = setting_of(entry->pollable, pollable_now_of(c));
    entry->pollable->ticks = 0;
    entry->pollable->interval = interval;
    entry->pollable->due = first ? pollable_moment_of(c, entry->pollable, first, c->arg[1] & TFD_TIMER_ABSTIME)
                                 : LAMPS_NEVER;
    refresh(c->kernel, entry, pollable_now_of(c));
    return 0;
}

int64_t pollable_timer_gettime(struct call *c)
{
    const struct fd_entry *entry = fds_at(c->kernel, c->arg[0]);
    if (entry->kind != FD_TIMER)
        return other_kind(entry);
    refresh(c->kernel, entry, pollable_now_of(c));
    *(struct itimerspec *)c->ptr[1] = setting_of(entry->pollable, pollable_now_of(c));
    return 0;
}

/* ------------------------------------------------------------------ signalfd */

static int64_t watch_signals(struct call *c, int flags)
{
    const int fd = (int)c->arg[0];
    uint64_t mask;
    if (flags & ~(SFD_NONBLOCK | SFD_CLOEXEC))
        return -EINVAL;
    memcpy(&mask, c->ptr[1], sizeof mask);
    const struct fd_pollable made = {.due = LAMPS_NEVER, .mask = mask};
    if (fd == -1)
        return pollable_add(c->kernel, FD_SIGNALS, &made, flags);
    const struct fd_entry *entry = fds_at(c->kernel, c->arg[0]);
    if (!entry)
        return -EBADF;
    if (entry->kind != FD_SIGNALS)
        return other_kind(entry);
    entry->pollable->mask = mask;
    return fd;
}

int64_t pollable_signals(struct call *c) { return watch_signals(c, 0); }

int64_t pollable_signals_flags(struct call *c) { return watch_signals(c, (int)c->arg[3]); }
