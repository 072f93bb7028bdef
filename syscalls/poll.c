/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Waiting for descriptors: poll, select, epoll.
 *
 * Model
 *   Something is ready: the call returns at once and no guest time passes. Nothing is: the thread waits for one of the
 *   descriptors, until the timeout; if it is the only one and only the guest itself could make one ready, the timeout
 *   passes in guest time at once (without one it is a deadlock). If something outside could - a terminal, the shell's
 *   pipe - the host waits, when all threads do, and guest time goes on by the timeout only when it ran out. Before that
 *   such descriptors are not asked for, but by epoll: when something comes must not decide which thread runs. A timer
 *   of the guest's own (pollable proxy.c) may go off before; then the question is put again.
 *
 * Not modelled
 *   The part of the timeout that passed before something became ready: it would be the host's time.
 */
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/personality.h>
#include <sys/select.h>
#include <time.h>

#include "syscalls/kernel_priv.h"
#include "syscalls/pollable_priv.h"
#include "syscalls/terminals_priv.h"

#define FOREVER KERNEL_NEVER

int poll_milliseconds(uint64_t ns)
{
    if (ns == FOREVER)
        return -1;
    uint64_t ms = (ns + 999999) / 1000000;
    return ms > INT_MAX ? INT_MAX : (int)ms;
}

static uint64_t from_milliseconds(int64_t ms) { return (int)ms < 0 ? FOREVER : (uint64_t)(int)ms * 1000000; }

static uint64_t poll_now(const struct call *c) { return syscalls_time_ns(c->kernel, c->instructions); }

/* Asks the host what is ready, and waits so long for an answer: how many, or -errno. */
typedef int64_t ask_host(struct call *c, void *what, int milliseconds);

/* The only thread waits for something outside. Timers may go off before the time is over. */
static int64_t poll_wait_outside(struct call *c, ask_host *ask, void *what, uint64_t deadline)
{
    int64_t ready = 0;
    bool over = false;
    while (ready == 0 && !over) {
        const uint64_t next = pollables_next(c->kernel), begun = poll_now(c);
        over = deadline <= next && deadline != FOREVER;
        const uint64_t then = over ? deadline : next;
        ready = ask(c, what, poll_milliseconds(then == FOREVER ? FOREVER : then - begun));
        if (ready != 0)
            break;
        kernel_sleep(c->kernel, then - begun);
        pollables_refresh(c->kernel, c->instructions);
        ready = ask(c, what, 0);
    }
    return ready;
}

/* The thread waits for one of the descriptors. */
static int64_t wait_blocked(struct call *c, const struct pollfd *fds, unsigned count, bool outside, uint64_t deadline)
{
    struct pollfd *copy = c2_alloc((count + 1) * sizeof *copy);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, fds, count * sizeof *copy);
    return call_wait(c, (struct kernel_wait){.kind = KERNEL_WAITS_FDS,
                                             .outside = outside,
                                             .deadline = deadline,
                                             .fds = copy,
                                             .fd_count = count,
                                             .why = "none of its descriptors can become ready by anybody else"});
}

/* What a wait is for: `what` for ask_host, and the same as descriptors. */
struct question {
    ask_host *ask;
    void *what;
    const struct pollfd *fds;
    unsigned count;
    bool outside;
};

static int64_t poll_wait_for(struct call *c, const struct question *question, uint64_t ns)
{
    pollables_refresh(c->kernel, c->instructions);
    const int64_t ready = question->ask(c, question->what, 0);
    if (ready != 0 || ns == 0 || call_is_late(c))
        return ready;
    const uint64_t deadline = c->again ? c->waited->deadline : ns == FOREVER ? FOREVER : kernel_deadline(c, ns);
    if (question->outside && threads_alone(c->kernel))
        return poll_wait_outside(c, question->ask, question->what, deadline);
    return wait_blocked(c, question->fds, question->count, question->outside, deadline);
}

/* ------------------------------------------------------------------ poll */

/* One query of up to FDS_MAX descriptors, in guest numbers and in the host's. */
struct query {
    struct pollfd fd[FDS_MAX];
    unsigned count;
    bool outside; /* another process or the host can make one ready */
    bool from_outside[FDS_MAX];
    bool hides; /* those are not asked now: other threads may run, and when something comes must not matter */
};

/* Closed descriptors get the host's number -1, which poll passes over, and POLLNVAL afterwards. */
static void query_add(struct query *q, struct syscalls *kernel, int guest_fd, short events)
{
    const struct fd_entry *entry = guest_fd < 0 ? NULL : fds_at(kernel, (uint64_t)guest_fd);
    q->from_outside[q->count] = entry && entry->wait == FD_WAIT_OUTSIDE;
    q->outside |= q->from_outside[q->count];
    q->fd[q->count++] = (struct pollfd){.fd = entry ? entry->host : -1, .events = events & ~TERMINALS_ANY_BYTE};
}

static void set_hidden(struct query *q, bool hidden)
{
    for (unsigned i = 0; i < q->count; i++)
        if (q->from_outside[i])
            q->fd[i].fd = hidden ? POLL_HIDDEN(q->fd[i].fd) : POLL_SHOWN(q->fd[i].fd);
}

static int64_t ask_poll(struct call *c, void *what, int milliseconds)
{
    struct query *q = what;
    if (q->hides)
        set_hidden(q, true);
    const int64_t ready = CALL_HOST(c, fds_poll(c->kernel, q->fd, q->count, milliseconds));
    if (q->hides)
        set_hidden(q, false);
    return ready;
}

static int64_t query_wait(struct call *c, struct query *q, uint64_t ns)
{
    q->hides = q->outside && ns != 0 && !threads_alone(c->kernel) && !c->kernel->looks_outside;
    const int64_t ready = poll_wait_for(c, &(struct question){ask_poll, q, q->fd, q->count, q->outside}, ns);
    struct kernel_wait *wait = &c->kernel->current->wait;
    for (uint32_t i = 0; c->result->action == SYSCALLS_BLOCKED && i < wait->fd_count; i++)
        if (q->from_outside[i])
            wait->fds[i].fd = POLL_HIDDEN(wait->fds[i].fd);
    return ready;
}

static int64_t poll_until(struct call *c, uint64_t ns)
{
    const struct pollfd *asked = c->ptr[0];
    struct pollfd *guest = guest_pointer(c->arg[0]); /* all of it may be written: the row says so */
    unsigned count = (unsigned)c->arg[1], invalid = 0;
    struct query q = {.count = 0};
    for (unsigned i = 0; i < count; i++) {
        query_add(&q, c->kernel, asked[i].fd, asked[i].events);
        invalid += asked[i].fd >= 0 && q.fd[i].fd < 0;
    }
    int64_t ready = query_wait(c, &q, invalid ? 0 : ns);
    if (ready < 0)
        return ready;
    for (unsigned i = 0; i < count; i++)
        guest[i].revents = asked[i].fd >= 0 && q.fd[i].fd < 0 ? POLLNVAL : q.fd[i].revents;
    return ready + invalid;
}

int64_t poll_poll(struct call *c) { return poll_until(c, from_milliseconds((int64_t)c->arg[2])); }

/* A timespec and the mask of ppoll, pselect6: the time in *ns; -EINTR if a signal comes first. */
static int64_t begin_wait(struct call *c, const struct timespec *time, const void *mask, uint64_t mask_bytes,
                          uint64_t *ns)
{
    uint64_t set;
    *ns = FOREVER;
    if ((time && !kernel_timespec_ns(ns, time)) || (mask && mask_bytes != sizeof set))
        return -EINVAL;
    if (!mask)
        return 0;
    memcpy(&set, mask, sizeof set);
    return signals_wait(c, set) ? -EINTR : 0;
}

/* Linux leaves the time that is left in the caller's timeout: all of it, or nothing, if it is to be changed at all. */
static bool time_is_up(const struct call *c, int64_t ready)
{
    return ready == 0 && !(c->kernel->identity.personality & STICKY_TIMEOUTS);
}

static void leave_time(const struct call *c, struct timespec *time, int64_t ready)
{
    if (time && time_is_up(c, ready))
        *time = (struct timespec){0};
}

int64_t poll_ppoll(struct call *c)
{
    uint64_t ns;
    int64_t status = begin_wait(c, c->ptr[2], c->ptr[3], c->arg[4], &ns);
    if (status < 0)
        return status;
    status = poll_until(c, ns);
    signals_waited(c);
    leave_time(c, c->ptr[2], status);
    return status;
}

/* ------------------------------------------------------------------ select */

/* POLLNVAL: what is open with O_PATH is always ready. */
#define SELECT_READ (POLLIN | POLLRDNORM | POLLRDBAND | POLLHUP | POLLERR | POLLNVAL)
#define SELECT_WRITE (POLLOUT | POLLWRNORM | POLLWRBAND | POLLERR | POLLNVAL)
#define SELECT_EXCEPT (POLLPRI | POLLNVAL)

struct sets {
    uint8_t bits[3][FDS_MAX / 8]; /* read, write, except */
    size_t bytes;
    int count;
};

static bool poll_has(const struct sets *sets, int which, int fd) { return sets->bits[which][fd / 8] >> fd % 8 & 1; }

static int64_t load_sets(struct call *c, struct sets *sets)
{
    int count = (int)c->arg[0];
    if (count < 0)
        return -EINVAL;
    sets->count = count > FDS_MAX ? FDS_MAX : count;
    sets->bytes = ((size_t)sets->count + 63) / 64 * 8;
    memset(sets->bits, 0, sizeof sets->bits);
    for (int i = 0; i < 3; i++) {
        int64_t status = c->arg[i + 1] ? guest_read(c, sets->bits[i], c->arg[i + 1], sets->bytes) : 0;
        if (status < 0)
            return status;
    }
    return 0;
}

static short poll_wanted(const struct sets *sets, int fd)
{
    return (short)((poll_has(sets, 0, fd) ? POLLIN | POLLRDNORM | POLLRDBAND : 0) |
                   (poll_has(sets, 1, fd) ? POLLOUT | POLLWRNORM | POLLWRBAND : 0) |
                   (poll_has(sets, 2, fd) ? POLLPRI : 0));
}

/* The bits that are ready replace the sets; their number. */
static int64_t answer_sets(struct sets *sets, const struct query *q, const int *guest_fd)
{
    static const short masks[3] = {SELECT_READ, SELECT_WRITE, SELECT_EXCEPT};
    int64_t ready = 0;
    struct sets old = *sets;
    memset(sets->bits, 0, sizeof sets->bits);
    for (unsigned i = 0; i < q->count; i++)
        for (int which = 0; which < 3; which++)
            if (poll_has(&old, which, guest_fd[i]) && q->fd[i].revents & masks[which]) {
                sets->bits[which][guest_fd[i] / 8] |= (uint8_t)(1 << guest_fd[i] % 8);
                ready++;
            }
    return ready;
}

static int64_t select_until(struct call *c, uint64_t ns)
{
    struct sets sets;
    struct query q = {.count = 0};
    int guest_fd[FDS_MAX];
    int64_t status = load_sets(c, &sets);
    if (status < 0)
        return status;
    for (int fd = 0; fd < sets.count; fd++) {
        short events = poll_wanted(&sets, fd);
        if (events && !fds_at(c->kernel, (uint64_t)fd))
            return -EBADF;
        guest_fd[q.count] = fd;
        if (events)
            query_add(&q, c->kernel, fd, events);
    }
    if ((status = query_wait(c, &q, ns)) < 0)
        return status;
    int64_t ready = answer_sets(&sets, &q, guest_fd);
    for (int i = 0; i < 3; i++)
        if (c->arg[i + 1] && (status = guest_write(c, c->arg[i + 1], sets.bits[i], sets.bytes)) < 0)
            return status;
    return ready;
}

int64_t poll_select(struct call *c)
{
    struct timeval *time = c->ptr[4];
    uint64_t ns = FOREVER;
    if (time) {
        if (time->tv_sec < 0 || time->tv_usec < 0)
            return -EINVAL;
        struct timespec exact = {time->tv_sec + time->tv_usec / 1000000, time->tv_usec % 1000000 * 1000};
        kernel_timespec_ns(&ns, &exact);
    }
    int64_t ready = select_until(c, ns);
    if (time && time_is_up(c, ready))
        *time = (struct timeval){0};
    return ready;
}

int64_t poll_pselect(struct call *c)
{
    const uint64_t *mask = c->ptr[5]; /* address and size of the set */
    uint64_t ns, set;
    bool masked = mask && mask[0];
    int64_t status = masked ? guest_read(c, &set, mask[0], sizeof set) : 0;
    if (status == 0)
        status = begin_wait(c, c->ptr[4], masked ? &set : NULL, masked ? mask[1] : 0, &ns);
    if (status < 0)
        return status;
    status = select_until(c, ns);
    signals_waited(c);
    leave_time(c, c->ptr[4], status);
    return status;
}

/* ------------------------------------------------------------------ epoll */

static int64_t poll_create(struct call *c, int flags)
{
    if (fds_lowest_free(c->kernel, 0) < 0)
        return -EMFILE;
    int64_t fd = fds_add(c->kernel, epoll_create1(flags | EPOLL_CLOEXEC), FD_WAIT_SELF, flags & EPOLL_CLOEXEC);
    if (fd >= 0)
        fds_at(c->kernel, (uint64_t)fd)->kind = FD_EPOLL;
    return fd;
}

/* Descriptors from outside are watched now. A set can be reached by other descriptors and through other sets, so all of
 * them count as such from now on: at worst the host waits where guest time could have gone on. */
static void watch_outside(struct syscalls *kernel)
{
    for (uint64_t fd = 0; fd < kernel->fds.end; fd++)
        if (kernel->fds.entry[fd].kind == FD_EPOLL)
            kernel->fds.entry[fd].wait = FD_WAIT_OUTSIDE;
}

int64_t poll_epoll_create(struct call *c) { return (int)c->arg[0] <= 0 ? -EINVAL : poll_create(c, 0); }

int64_t poll_epoll_create1(struct call *c) { return poll_create(c, (int)c->arg[0]); }

int64_t poll_epoll_ctl(struct call *c)
{
    if (!c->ptr[3] && (int)c->arg[1] != EPOLL_CTL_DEL)
        return -EFAULT;
    int64_t status = CALL_HOST(c, epoll_ctl(c->fd[0], (int)c->arg[1], c->fd[2], c->ptr[3]));
    if (status == 0 && fds_at(c->kernel, c->arg[2])->wait == FD_WAIT_OUTSIDE)
        watch_outside(c->kernel);
    return status;
}

static int64_t ask_epoll(struct call *c, void *events, int milliseconds)
{
    return CALL_HOST(c, epoll_wait(c->fd[0], events, (int)c->arg[2], milliseconds));
}

static int64_t epoll_until(struct call *c, uint64_t ns)
{
    if ((int)c->arg[2] <= 0)
        return -EINVAL;
    const struct pollfd set = {.fd = c->fd[0], .events = POLLIN};
    const bool outside = fds_at(c->kernel, c->arg[0])->wait == FD_WAIT_OUTSIDE;
    return poll_wait_for(c, &(struct question){ask_epoll, c->ptr[1], &set, 1, outside}, ns);
}

int64_t poll_epoll_wait(struct call *c) { return epoll_until(c, from_milliseconds((int64_t)c->arg[3])); }

int64_t poll_epoll_pwait(struct call *c)
{
    uint64_t ns;
    int64_t status = begin_wait(c, NULL, c->ptr[4], c->arg[5], &ns);
    if (status < 0)
        return status;
    status = epoll_until(c, from_milliseconds((int64_t)c->arg[3]));
    signals_waited(c);
    return status;
}

int64_t poll_epoll_pwait2(struct call *c)
{
    uint64_t ns;
    int64_t status = begin_wait(c, c->ptr[3], c->ptr[4], c->arg[5], &ns);
    if (status < 0)
        return status;
    status = epoll_until(c, ns);
    signals_waited(c);
    return status;
}
