/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Reading and writing open files.
 *
 * Model
 *   The host does the work on the guest's buffers. Reads of the random devices give the seeded stream instead. A
 *   blocking call on a pipe of the guest's own is made without blocking: where the host would wait (EAGAIN, or a part
 *   only) the thread waits, for only the guest could end the wait; what is written already it remembers. So it
 *   does for a lock that the guest holds itself.
 *
 *   A file grows no further than the guest's own RLIMIT_FSIZE: what fits is written, and where nothing does, there is
 *   SIGXFSZ; of sendfile and splice, which go on until they must not, behind what fits as well. The host's limit holds
 *   beside it (filelimit.c).
 *
 * Not modelled
 *   Interruption of a transfer by a signal: the guest has no signals from outside.
 */
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "syscalls/filetimes_priv.h"
#include "syscalls/kernel_priv.h"
#include "syscalls/pollable_priv.h"
#include "syscalls/locks_priv.h"
#include "syscalls/paths_priv.h"
#include "syscalls/sockets_priv.h"
#include "syscalls/terminals_priv.h"

#define COPIES_ITSELF "it copies to or from itself"
#define NOTHING_TO_READ "it reads from itself, and nothing is there"

enum { AT_POSITION = -1 }; /* a transfer at the file's own position */

/* ------------------------------------------------------------------ transfers */

/* What is read or written: one buffer, which Linux looks at even if it is empty, or `count` of them. */
struct transfer {
    const struct iovec *iov;
    int count; /* ONE_BUFFER: read, write and the like */
    int flags;
    int64_t offset;
};
#define ONE_BUFFER (-1)

static int64_t random_bytes(struct call *c, const struct transfer *t)
{
    int64_t total = 0;
    int count = t->count == ONE_BUFFER ? 1 : t->count;
    for (int i = 0; i < count; i++) {
        int64_t status = guest_check_write(c, (uintptr_t)t->iov[i].iov_base, t->iov[i].iov_len);
        if (status < 0)
            return status;
        c2_rng_fill(&c->kernel->random, t->iov[i].iov_base, t->iov[i].iov_len);
        total += (int64_t)t->iov[i].iov_len;
    }
    return total;
}

/* Of all that is written, or read. */
static uint64_t files_bytes_of(const struct transfer *t)
{
    const int count = t->count == ONE_BUFFER ? 1 : t->count;
    uint64_t total = 0;
    for (int i = 0; i < count; i++)
        total += t->iov[i].iov_len;
    return total;
}

static int64_t host_read(struct call *c, int host, const struct transfer *t)
{
    void *buffer = t->count == ONE_BUFFER ? t->iov->iov_base : NULL;
    if (t->count == ONE_BUFFER && t->offset == AT_POSITION)
        return CALL_HOST(c, read(host, buffer, t->iov->iov_len));
    if (t->count == ONE_BUFFER)
        return CALL_HOST(c, pread(host, buffer, t->iov->iov_len, t->offset));
    if (t->offset != AT_POSITION || t->flags)
        return CALL_HOST(c, preadv2(host, t->iov, t->count, t->offset, t->flags));
    return CALL_HOST(c, readv(host, t->iov, t->count));
}

static int64_t read_into(struct call *c, const struct transfer *t)
{
    const struct fd_entry *entry = fds_at(c->kernel, c->arg[0]);
    if (entry->kind == FD_RANDOM)
        return random_bytes(c, t);
    if (presence_is(c->kernel, entry))
        return presence_read(c, entry, t->iov, t->count == ONE_BUFFER ? 1 : t->count, t->offset);
    if (entry->kind == FD_TERMINAL)
        return t->offset == AT_POSITION ? terminals_read(c, entry, t->iov, t->count == ONE_BUFFER ? 1 : t->count)
                                        : -ESPIPE;
    if (entry->pollable && t->offset == AT_POSITION && !t->flags)
        return pollable_read(c, entry, t->iov, t->count == ONE_BUFFER ? 1 : t->count, t->count != ONE_BUFFER);
    inputs_reading(c->kernel, entry);
    if (call_must_wait(c, entry, POLLIN))
        return call_wait_fd(c, entry, POLLIN, NOTHING_TO_READ, 0);
    bool self = fds_unblock(entry);
    int64_t value = host_read(c, entry->host, t);
    fds_reblock(entry, self);
    if (t->offset == AT_POSITION && files_bytes_of(t) > 0)
        value = resets_read(c, entry->host, value);
    if (value > 0)
        filetimes_read(c->kernel, entry);
    if (value > 0)
        inputs_took(c->kernel, entry, t->iov, (uint64_t)value);
    if (self && value == -EAGAIN && !(t->flags & RWF_NOWAIT))
        return fds_is_shut(entry) ? 0 : call_wait_fd(c, entry, POLLIN, NOTHING_TO_READ, 0);
    return value == -EINVAL && sockets_lacks_peer(c, 0) ? -ENOTCONN : value;
}

static int64_t host_write(struct call *c, int host, const struct transfer *t)
{
    const void *buffer = t->count == ONE_BUFFER ? t->iov->iov_base : NULL;
    if (t->count == ONE_BUFFER && t->offset == AT_POSITION)
        return CALL_HOST(c, write(host, buffer, t->iov->iov_len));
    if (t->count == ONE_BUFFER)
        return CALL_HOST(c, pwrite(host, buffer, t->iov->iov_len, t->offset));
    if (t->offset != AT_POSITION || t->flags)
        return CALL_HOST(c, pwritev2(host, t->iov, t->count, t->offset, t->flags));
    return CALL_HOST(c, writev(host, t->iov, t->count));
}

/* ------------------------------------------------------------------ RLIMIT_FSIZE, the guest's own */

static uint64_t size_limit(const struct syscalls *kernel) { return kernel->identity.limit[RLIMIT_FSIZE].soft; }

static int64_t too_large(struct call *c)
{
    c->result->action = SYSCALLS_SIGNAL;
    c->result->signal = SIGXFSZ;
    return -EFBIG;
}

int64_t files_check_size(struct call *c, const struct stat *st, uint64_t size)
{
    const bool grows = S_ISREG(st->st_mode) && size > (uint64_t)st->st_size;
    return grows && size > size_limit(c->kernel) ? too_large(c) : 0;
}

/* How much may be written there: of what is no file, or is not written at all, all. -EFBIG: nothing. */
static int64_t room_in_file(struct call *c, const struct fd_entry *entry, int64_t offset)
{
    const uint64_t limit = size_limit(c->kernel);
    const int mode = limit < INT64_MAX ? fcntl(entry->host, F_GETFL) : O_RDONLY;
    struct stat st;
    if ((mode & O_ACCMODE) == O_RDONLY || fstat(entry->host, &st) < 0 || !S_ISREG(st.st_mode))
        return INT64_MAX;
    if (offset == AT_POSITION)
        offset = mode & O_APPEND ? st.st_size : lseek(entry->host, 0, SEEK_CUR);
    return (uint64_t)offset >= limit ? too_large(c) : (int64_t)limit - offset;
}

static int64_t write_in_room(struct call *c, const struct fd_entry *entry, const struct transfer *t)
{
    struct iovec part[IOV_MAX];
    struct transfer first = *t;
    uint64_t left = files_bytes_of(t);
    const int64_t room = left ? room_in_file(c, entry, t->offset) : INT64_MAX;
    if (room < 0 || left <= (uint64_t)room)
        return room < 0 ? room : host_write(c, entry->host, t);
    first.iov = part;
    left = (uint64_t)room;
    for (first.count = 0; left > 0; left -= part[first.count++].iov_len) {
        part[first.count] = t->iov[first.count];
        if (part[first.count].iov_len > left)
            part[first.count].iov_len = left;
    }
    return host_write(c, entry->host, &first);
}

/* What of a write does not fit at once into the guest's own pipe waits for a reader. */
static bool does_not_fit(int64_t value, const struct transfer *t)
{
    return value == -EAGAIN || (value >= 0 && (uint64_t)value < files_bytes_of(t));
}

static int64_t write_rest(struct call *c, const struct transfer *t, uint64_t done)
{
    const struct fd_entry *entry = fds_at(c->kernel, c->arg[0]);
    if (entry->kind == FD_TERMINAL)
        return t->offset == AT_POSITION ? terminals_write(c, entry, t->iov, t->count == ONE_BUFFER ? 1 : t->count, done)
                                        : -ESPIPE;
    if (synthetic_is_setting(entry))
        return t->offset == AT_POSITION
                   ? synthetic_set(c, entry, t->iov, t->count == ONE_BUFFER ? 1 : t->count, t->count != ONE_BUFFER)
                   : -ESPIPE;
    if (entry->kind == FD_MQUEUE)
        return -EINVAL;
    if (entry->kind == FD_NETLINK)
        return sockets_write(c, t->iov, t->count == ONE_BUFFER ? 1 : t->count);
    bool self = fds_unblock(entry);
    int64_t value = write_in_room(c, entry, t);
    fds_reblock(entry, self);
    if (value > 0)
        filetimes_wrote(c->kernel, entry);
    if (self && !(t->flags & RWF_NOWAIT) && does_not_fit(value, t)) {
        value = call_wait_fd(c, entry, POLLOUT, "it writes to itself, and there is no room",
                             done + (value > 0 ? (uint64_t)value : 0));
        return value;
    }
    if (value == -ENOTCONN) /* a socket of datagrams that c2emu directs itself */
        return sockets_write(c, t->iov, t->count == ONE_BUFFER ? 1 : t->count);
    if (value == -EPIPE)
        value = resets_write(c, entry->host, files_bytes_of(t));
    if (value == -EPIPE)
        value = call_broken_pipe(c, entry->host);
    return done == 0 ? value : (int64_t)done + (value > 0 ? value : 0);
}

static int64_t files_write_from(struct call *c, const struct transfer *t)
{
    const uint64_t done = c->again ? c->waited->done : 0;
    struct iovec rest[IOV_MAX];
    struct transfer left = *t;
    if (done == 0)
        return write_rest(c, t, 0);
    left.iov = rest;
    left.count = call_skip(rest, t->iov, t->count == ONE_BUFFER ? 1 : t->count, done);
    return write_rest(c, &left, done);
}

static int64_t one_buffer(struct call *c, int64_t (*transfer)(struct call *, const struct transfer *), int64_t offset)
{
    const struct iovec one = {.iov_base = c->ptr[1], .iov_len = c->arg[2]};
    return transfer(c, &(struct transfer){.iov = &one, .count = ONE_BUFFER, .offset = offset});
}

int64_t files_read(struct call *c) { return one_buffer(c, read_into, AT_POSITION); }

int64_t files_write(struct call *c) { return one_buffer(c, files_write_from, AT_POSITION); }

int64_t files_pread(struct call *c)
{
    return (int64_t)c->arg[3] < 0 ? -EINVAL : one_buffer(c, read_into, (int64_t)c->arg[3]);
}

int64_t files_pwrite(struct call *c)
{
    return (int64_t)c->arg[3] < 0 ? -EINVAL : one_buffer(c, files_write_from, (int64_t)c->arg[3]);
}

static struct transfer vector_of(const struct call *c)
{
    return (struct transfer){.iov = c->ptr[1], .count = (int)c->arg[2], .offset = AT_POSITION};
}

int64_t files_readv(struct call *c)
{
    const struct transfer t = vector_of(c);
    return read_into(c, &t);
}

int64_t files_writev(struct call *c)
{
    const struct transfer t = vector_of(c);
    return files_write_from(c, &t);
}

/* preadv has no flags and no position -1; preadv2 has both. On x86-64 the fifth argument (the offset's high half of
 * 32-bit systems) is not looked at. */
static bool positional(const struct call *c, struct transfer *t)
{
    bool second = c->row->arg[5].kind != CALL_NONE;
    *t = vector_of(c);
    t->offset = (int64_t)c->arg[3];
    t->flags = second ? (int)c->arg[5] : 0;
    return t->offset >= 0 || (second && t->offset == AT_POSITION);
}

int64_t files_preadv(struct call *c)
{
    struct transfer t;
    return positional(c, &t) ? read_into(c, &t) : -EINVAL;
}

int64_t files_pwritev(struct call *c)
{
    struct transfer t;
    return positional(c, &t) ? files_write_from(c, &t) : -EINVAL;
}

/* ------------------------------------------------------------------ between two files */

/* The host would copy its own random bytes. */
static bool from_random(const struct call *c, int i) { return fds_at(c->kernel, c->arg[i])->kind == FD_RANDOM; }

/* A setting is written by write alone. */
static bool into_setting(const struct call *c, int i) { return synthetic_is_setting(fds_at(c->kernel, c->arg[i])); }

static int64_t copied(struct call *c, int to, int64_t value)
{
    return value == -EPIPE ? call_broken_pipe(c, c->fd[to]) : value;
}

/* Both ends of a copy. Those of the guest's own are made not to block for the call of the host. */
struct copy {
    const struct fd_entry *from, *to;
    const off_t *from_at, *to_at; /* NULL: at the file's own position */
    uint64_t count;
    bool from_self, to_self;
    bool cut; /* count is what the file may grow by, and more was to be copied */
};

static struct copy files_copy_of(const struct call *c, int from, int to, uint64_t count)
{
    return (struct copy){.from = fds_at(c->kernel, c->arg[from]), .to = fds_at(c->kernel, c->arg[to]), .count = count};
}

static void copy_begin(struct call *c, struct copy *copy)
{
    inputs_reading(c->kernel, copy->from);
    copy->from_self = fds_unblock(copy->from);
    copy->to_self = copy->to->host != copy->from->host && fds_unblock(copy->to);
}

static void copy_end(const struct copy *copy)
{
    fds_reblock(copy->from, copy->from_self);
    fds_reblock(copy->to, copy->to_self);
}

static int64_t copy_wait_inside(struct call *c, const struct copy *copy)
{
    struct pollfd from = {.fd = copy->from->host, .events = POLLIN};
    const bool empty = copy->from_self && poll(&from, 1, 0) == 0;
    return call_wait_fd(c, empty ? copy->from : copy->to, empty ? POLLIN : POLLOUT, COPIES_ITSELF, 0);
}

static bool waits_outside(const struct fd_entry *entry)
{
    return entry->wait == FD_WAIT_OUTSIDE && !(fcntl(entry->host, F_GETFL) & O_NONBLOCK);
}

/* After a copy that gave EAGAIN: positive once something outside has happened, so that it may go on. */
static int64_t copy_wait(struct call *c, const struct copy *copy)
{
    struct pollfd from = {.fd = copy->from->host, .events = POLLIN}, to = {.fd = copy->to->host, .events = POLLOUT};
    poll(&from, 1, 0);
    poll(&to, 1, 0);
    if ((copy->from_self && !from.revents) || (copy->to_self && !to.revents))
        return copy_wait_inside(c, copy);
    if (!from.revents && waits_outside(copy->from))
        return CALL_HOST(c, poll(&from, 1, -1));
    if (!to.revents && waits_outside(copy->to))
        return CALL_HOST(c, poll(&to, 1, -1));
    return -EAGAIN;
}

static bool copy_has_more(const struct copy *copy)
{
    char next;
    struct pollfd query = {.fd = copy->from->host, .events = POLLIN};
    const off_t at = copy->from_at ? *copy->from_at : lseek(copy->from->host, 0, SEEK_CUR);
    return at < 0 ? poll(&query, 1, 0) > 0 && query.revents & POLLIN : pread(copy->from->host, &next, 1, at) == 1;
}

/* copy_file_range looks at the limit even where there is nothing to copy. */
static int64_t copy_limit(struct call *c, struct copy *copy, bool even_nothing)
{
    if (size_limit(c->kernel) >= INT64_MAX || (!even_nothing && !copy_has_more(copy)))
        return 0;
    const int64_t offset = copy->to_at ? *copy->to_at : AT_POSITION;
    const int64_t room = offset >= AT_POSITION ? room_in_file(c, copy->to, offset) : INT64_MAX;
    copy->cut = room >= 0 && (uint64_t)room < copy->count;
    copy->count = copy->cut ? (uint64_t)room : copy->count;
    return room < 0 ? room : 0;
}

/* What is left is tried, and is too much. */
static void copy_reached_limit(struct call *c, const struct copy *copy, int64_t value)
{
    if (copy->cut && value == (int64_t)copy->count && copy_has_more(copy))
        (void)too_large(c);
}

static void copy_dates(struct call *c, const struct copy *copy, int64_t value)
{
    if (value <= 0)
        return;
    filetimes_read(c->kernel, copy->from);
    filetimes_wrote(c->kernel, copy->to);
}

/* A copy into a socket goes on until all is sent, unless the file ends. */
static bool copy_is_short(const struct copy *copy, off_t offset, int64_t value, uint64_t count)
{
    char next;
    struct stat st;
    bool socket = copy->to_self && fstat(copy->to->host, &st) == 0 && S_ISSOCK(st.st_mode);
    return socket && value >= 0 && (uint64_t)value < count && pread(copy->from->host, &next, 1, offset) == 1;
}

int64_t files_sendfile(struct call *c)
{
    off_t *offset = c->ptr[2];
    struct copy copy = files_copy_of(c, 1, 0, c->arg[3]);
    copy.from_at = offset;
    if (from_random(c, 1) || into_setting(c, 0))
        return -EINVAL;
    if (copy_limit(c, &copy, false) < 0)
        return -EFBIG;
    copy_begin(c, &copy);
    int64_t value = CALL_HOST(c, sendfile(c->fd[0], c->fd[1], offset, copy.count));
    copy_end(&copy);
    if (value > 0)
        inputs_took(c->kernel, copy.from, NULL, (uint64_t)value);
    copy_dates(c, &copy, value);
    copy_reached_limit(c, &copy, value);
    off_t next = offset ? *offset : lseek(c->fd[1], 0, SEEK_CUR);
    const bool waits = copy.from_self || copy.to_self, alone = threads_alone(c->kernel);
    if (waits && (value == -EAGAIN || (alone && copy_is_short(&copy, next, value, c->arg[3]))))
        return copy_wait_inside(c, &copy);
    if (value == -ENOTCONN)
        value = sockets_lacks_peer(c, 0) ? -EPIPE : sockets_is_inet(c, 0) ? -EDESTADDRREQ : value;
    return copied(c, 0, value);
}

int64_t files_copy_range(struct call *c)
{
    struct copy copy = files_copy_of(c, 0, 2, c->arg[4]);
    copy.to_at = c->ptr[3];
    if (from_random(c, 0))
        return -EINVAL;
    if (into_setting(c, 2))
        return -EXDEV;
    if (copy_limit(c, &copy, true) < 0)
        return -EFBIG;
    inputs_reading(c->kernel, copy.from);
    const int64_t value = CALL_HOST(
        c, copy_file_range(c->fd[0], c->ptr[1], c->fd[2], c->ptr[3], copy.count, (unsigned)c->arg[5]));
    copy_dates(c, &copy, value);
    return value;
}

static bool is_pipe(int host)
{
    struct stat st;
    return fstat(host, &st) == 0 && S_ISFIFO(st.st_mode);
}

/* From one pipe to another, of which one does not wait: then neither does. */
static bool neither_waits(const struct call *c, int from, int to)
{
    return is_pipe(c->fd[from]) && is_pipe(c->fd[to]) &&
           (fcntl(c->fd[from], F_GETFL) | fcntl(c->fd[to], F_GETFL)) & O_NONBLOCK;
}

int64_t files_splice(struct call *c)
{
    const unsigned flags = (unsigned)c->arg[5] | (neither_waits(c, 0, 2) ? (unsigned)SPLICE_F_NONBLOCK : 0);
    int64_t value;
    if (from_random(c, 0) || into_setting(c, 2))
        return -EINVAL;
    for (;;) {
        struct copy copy = files_copy_of(c, 0, 2, c->arg[4]);
        copy.from_at = c->ptr[1];
        copy.to_at = c->ptr[3];
        if (copy_limit(c, &copy, false) < 0)
            return -EFBIG;
        copy_begin(c, &copy);
        bool self = copy.from_self || copy.to_self;
        unsigned now = flags | (self ? SPLICE_F_NONBLOCK : 0);
        value = CALL_HOST(c, splice(c->fd[0], c->ptr[1], c->fd[2], c->ptr[3], copy.count, now));
        copy_end(&copy);
        if (value > 0)
            inputs_took(c->kernel, copy.from, NULL, (uint64_t)value);
        copy_dates(c, &copy, value);
        if (value == -EINVAL && sockets_lacks_peer(c, 0))
            return -ENOTCONN;
        copy_reached_limit(c, &copy, value);
        if (value != -EAGAIN || flags & SPLICE_F_NONBLOCK || !self)
            return copied(c, 2, value);
        if ((value = copy_wait(c, &copy)) < 0)
            return value;
    }
}

int64_t files_tee(struct call *c)
{
    const unsigned flags = (unsigned)c->arg[3] | (neither_waits(c, 0, 1) ? (unsigned)SPLICE_F_NONBLOCK : 0);
    for (;;) {
        struct copy copy = files_copy_of(c, 0, 1, c->arg[2]);
        copy_begin(c, &copy);
        bool self = copy.from_self || copy.to_self;
        int64_t value = CALL_HOST(
            c, tee(c->fd[0], c->fd[1], copy.count, flags | (self ? (unsigned)SPLICE_F_NONBLOCK : 0)));
        copy_end(&copy);
        if (value != -EAGAIN || flags & SPLICE_F_NONBLOCK || !self)
            return copied(c, 1, value);
        if ((value = copy_wait(c, &copy)) < 0)
            return value;
    }
}

/* Before a transfer of vmsplice: 0 if it need not wait, or may. */
static int64_t may_begin(struct call *c, const struct fd_entry *entry, bool writes, bool nonblocking)
{
    struct pollfd query = {.fd = entry->host, .events = writes ? POLLOUT : POLLIN};
    if (poll(&query, 1, 0) > 0)
        return 0;
    if (nonblocking || fcntl(entry->host, F_GETFL) & O_NONBLOCK)
        return -EAGAIN;
    return entry->wait == FD_WAIT_SELF ? call_wait_fd(c, entry, query.events, COPIES_ITSELF, 0) : 0;
}

/* The pages themselves are not given away: what the guest writes to them later is not seen in the pipe. */
static int64_t copy_buffers(struct call *c, const struct fd_entry *entry, const struct iovec *iov, bool writes)
{
    const struct transfer t = {.iov = iov, .count = (int)c->arg[2], .offset = AT_POSITION};
    int64_t value = may_begin(c, entry, writes, c->arg[3] & SPLICE_F_NONBLOCK);
    if (value < 0)
        return value;
    bool self = fds_unblock(entry);
    value = writes ? host_write(c, entry->host, &t) : host_read(c, entry->host, &t);
    fds_reblock(entry, self);
    if (writes || value <= 0)
        return copied(c, 0, value);
    inputs_took(c->kernel, entry, iov, (uint64_t)value);
    int64_t status = guest_touch_iov(c, iov, c->arg[2], (uint64_t)value);
    return status < 0 ? status : value;
}

int64_t files_vmsplice(struct call *c)
{
    enum { KNOWN = SPLICE_F_MOVE | SPLICE_F_NONBLOCK | SPLICE_F_MORE | SPLICE_F_GIFT };
    const struct fd_entry *entry = fds_at(c->kernel, c->arg[0]);
    const int mode = fcntl(entry->host, F_GETFL);
    const bool writes = (mode & O_ACCMODE) != O_RDONLY;
    struct iovec *iov;
    if (c->arg[3] & ~(uint64_t)KNOWN)
        return -EINVAL;
    if (mode & O_PATH)
        return -EBADF;
    if (c->arg[2] > IOV_MAX)
        return -EINVAL;
    const int64_t status = guest_copy_iov(c, &iov, c->arg[1], c->arg[2], writes ? CALL_READS : CALL_WRITES);
    if (status < 0)
        return status;
    if (files_bytes_of(&(struct transfer){.iov = iov, .count = (int)c->arg[2]}) == 0)
        return 0;
    return is_pipe(entry->host) ? copy_buffers(c, entry, iov, writes) : -EBADF;
}

/* ------------------------------------------------------------------ the rest */

int64_t files_lseek(struct call *c)
{
    if (fds_at(c->kernel, c->arg[0])->kind == FD_TERMINAL)
        return -ESPIPE;
    return CALL_HOST(c, lseek(c->fd[0], (off_t)c->arg[1], (int)c->arg[2]));
}

static int64_t date_written(struct call *c, int64_t status)
{
    if (status == 0)
        filetimes_wrote(c->kernel, fds_at(c->kernel, c->arg[0]));
    return status;
}

int64_t files_ftruncate(struct call *c)
{
    struct stat st;
    const int64_t status = fstat(c->fd[0], &st) == 0 && (int64_t)c->arg[1] > 0 ? files_check_size(c, &st, c->arg[1])
                                                                               : 0;
    if (synthetic_is_setting(fds_at(c->kernel, c->arg[0])))
        return 0;
    return status < 0 ? status : date_written(c, CALL_HOST(c, ftruncate(c->fd[0], (off_t)c->arg[1])));
}

int64_t files_fallocate(struct call *c)
{
    const bool grows = !(c->arg[1] & FALLOC_FL_KEEP_SIZE) && (int64_t)c->arg[2] >= 0 && (int64_t)c->arg[3] > 0;
    struct stat st;
    if (grows && fstat(c->fd[0], &st) == 0 && files_check_size(c, &st, c->arg[2] + c->arg[3]) < 0)
        return -EFBIG;
    return date_written(c, CALL_HOST(c, fallocate(c->fd[0], (int)c->arg[1], (off_t)c->arg[2], (off_t)c->arg[3])));
}

int64_t files_fadvise(struct call *c)
{
    return -posix_fadvise(c->fd[0], (off_t)c->arg[1], (off_t)c->arg[2], (int)c->arg[3]);
}

int64_t files_readahead(struct call *c) { return CALL_HOST(c, readahead(c->fd[0], (off_t)c->arg[1], c->arg[2])); }

int64_t files_fsync(struct call *c) { return CALL_HOST(c, fsync(c->fd[0])); }

/* Of what is no file, too. */
int64_t files_syncfs(struct call *c)
{
    const int64_t status = CALL_HOST(c, fsync(c->fd[0]));
    return status == -EINVAL || status == -EROFS ? 0 : status;
}

int64_t files_fdatasync(struct call *c) { return CALL_HOST(c, fdatasync(c->fd[0])); }

int64_t files_sync(struct call *c)
{
    (void)c;
    return 0;
}

int64_t files_sync_range(struct call *c)
{
    return CALL_HOST(c, sync_file_range(c->fd[0], (off_t)c->arg[1], (off_t)c->arg[2], (unsigned)c->arg[3]));
}

int64_t files_flock(struct call *c)
{
    int operation = (int)c->arg[1];
    struct locks_range all = {.kind = LOCKS_FLOCK, .writes = (operation & ~LOCK_NB) == LOCK_EX, .end = UINT64_MAX};
    int64_t value = CALL_HOST(c, flock(c->fd[0], operation | LOCK_NB));
    threads_wake_locks(c->kernel); /* a change of a lock gives up what it was before */
    if (value != -EAGAIN || operation & LOCK_NB)
        return value;
    const uint32_t holder = locks_holder(c->kernel, c->arg[0], &all);
    return holder ? call_wait_lock(c, holder, LOCKS_FLOCK) : CALL_HOST(c, flock(c->fd[0], operation));
}
