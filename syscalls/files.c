/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Reading and writing open files.
 *
 * Model
 *   The host does the work on the guest's buffers. Reads of the random devices give the seeded stream instead. A
 *   blocking call on a pipe or socket pair of the guest's own that is not ready is a deadlock: nobody else could make
 *   it so.
 *
 * Not modelled
 *   Interruption of a transfer by a signal: the guest has no signals from outside.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "syscalls/kernel_priv.h"

enum { AT_POSITION = -1 }; /* a transfer at the file's own position */

/* ------------------------------------------------------------------ transfers */

static int64_t random_bytes(struct call *c, const struct iovec *iov, int count)
{
    int64_t total = 0;
    for (int i = 0; i < count; i++) {
        int64_t status = guest_check_write(c, (uintptr_t)iov[i].iov_base, iov[i].iov_len);
        if (status < 0)
            return status;
        c2_rng_fill(&c->kernel->random, iov[i].iov_base, iov[i].iov_len);
        total += (int64_t)iov[i].iov_len;
    }
    return total;
}

static int64_t read_into(struct call *c, const struct iovec *iov, int count, int64_t offset, int flags)
{
    const struct fd_entry *entry = fds_at(c->kernel, c->arg[0]);
    if (entry->kind == FD_RANDOM)
        return random_bytes(c, iov, count);
    if (offset != AT_POSITION)
        return CALL_HOST(c, preadv2(entry->host, iov, count, offset, flags));
    if (fds_never_ready(entry, POLLIN))
        return call_deadlock(c, "it reads from itself, and nothing is there");
    if (flags)
        return CALL_HOST(c, preadv2(entry->host, iov, count, AT_POSITION, flags));
    return CALL_HOST(c, readv(entry->host, iov, count));
}

static int64_t host_write(struct call *c, int host, const struct iovec *iov, int count, int64_t offset, int flags)
{
    if (offset != AT_POSITION || flags)
        return CALL_HOST(c, pwritev2(host, iov, count, offset, flags));
    return CALL_HOST(c, writev(host, iov, count));
}

/* A blocking write to a pipe of the guest's own: what does not fit at once never will, for nobody else reads. */
static int64_t write_to_itself(struct call *c, int host, const struct iovec *iov, int count)
{
    int status = fcntl(host, F_GETFL);
    uint64_t total = 0;
    for (int i = 0; i < count; i++)
        total += iov[i].iov_len;
    fcntl(host, F_SETFL, status | O_NONBLOCK);
    int64_t value = CALL_HOST(c, writev(host, iov, count));
    fcntl(host, F_SETFL, status);
    if (value >= 0 ? (uint64_t)value < total : value == -EAGAIN && !(status & O_NONBLOCK))
        return status & O_NONBLOCK ? value : call_deadlock(c, "it writes to itself, and there is no room");
    return value;
}

static int64_t write_from(struct call *c, const struct iovec *iov, int count, int64_t offset, int flags)
{
    const struct fd_entry *entry = fds_at(c->kernel, c->arg[0]);
    int64_t value;
    if (entry->wait == FD_WAIT_SELF && offset == AT_POSITION && !flags)
        value = write_to_itself(c, entry->host, iov, count);
    else
        value = host_write(c, entry->host, iov, count, offset, flags);
    return value == -EPIPE ? call_broken_pipe(c) : value;
}

static struct iovec buffer_of(const struct call *c)
{
    return (struct iovec){.iov_base = c->ptr[1], .iov_len = c->arg[2]};
}

int64_t files_read(struct call *c)
{
    struct iovec one = buffer_of(c);
    return read_into(c, &one, 1, AT_POSITION, 0);
}

int64_t files_write(struct call *c)
{
    struct iovec one = buffer_of(c);
    return write_from(c, &one, 1, AT_POSITION, 0);
}

int64_t files_pread(struct call *c)
{
    struct iovec one = buffer_of(c);
    return (int64_t)c->arg[3] < 0 ? -EINVAL : read_into(c, &one, 1, (int64_t)c->arg[3], 0);
}

int64_t files_pwrite(struct call *c)
{
    struct iovec one = buffer_of(c);
    return (int64_t)c->arg[3] < 0 ? -EINVAL : write_from(c, &one, 1, (int64_t)c->arg[3], 0);
}

int64_t files_readv(struct call *c) { return read_into(c, c->ptr[1], (int)c->arg[2], AT_POSITION, 0); }

int64_t files_writev(struct call *c) { return write_from(c, c->ptr[1], (int)c->arg[2], AT_POSITION, 0); }

/* preadv has no flags and no position -1; preadv2 has both. On x86-64 the fifth argument (the offset's high half of
 * 32-bit systems) is not looked at. */
static bool positional(const struct call *c, int64_t *offset, int *flags)
{
    bool second = c->row->arg[5].kind != CALL_NONE;
    *offset = (int64_t)c->arg[3];
    *flags = second ? (int)c->arg[5] : 0;
    return *offset >= 0 || (second && *offset == AT_POSITION);
}

int64_t files_preadv(struct call *c)
{
    int64_t offset;
    int flags;
    return positional(c, &offset, &flags) ? read_into(c, c->ptr[1], (int)c->arg[2], offset, flags) : -EINVAL;
}

int64_t files_pwritev(struct call *c)
{
    int64_t offset;
    int flags;
    return positional(c, &offset, &flags) ? write_from(c, c->ptr[1], (int)c->arg[2], offset, flags) : -EINVAL;
}

/* ------------------------------------------------------------------ between two files */

/* The host would copy its own random bytes. */
static bool from_random(const struct call *c, int i) { return fds_at(c->kernel, c->arg[i])->kind == FD_RANDOM; }

static bool copy_deadlocks(const struct call *c, int from, int to)
{
    return fds_never_ready(fds_at(c->kernel, c->arg[from]), POLLIN) ||
           fds_never_ready(fds_at(c->kernel, c->arg[to]), POLLOUT);
}

static int64_t copied(struct call *c, int64_t value) { return value == -EPIPE ? call_broken_pipe(c) : value; }

int64_t files_sendfile(struct call *c)
{
    if (from_random(c, 1))
        return -EINVAL;
    if (copy_deadlocks(c, 1, 0))
        return call_deadlock(c, "it copies to or from itself");
    return copied(c, CALL_HOST(c, sendfile(c->fd[0], c->fd[1], c->ptr[2], c->arg[3])));
}

int64_t files_copy_range(struct call *c)
{
    if (from_random(c, 0))
        return -EINVAL;
    return CALL_HOST(c, copy_file_range(c->fd[0], c->ptr[1], c->fd[2], c->ptr[3], c->arg[4], (unsigned)c->arg[5]));
}

int64_t files_splice(struct call *c)
{
    if (from_random(c, 0))
        return -EINVAL;
    if (!(c->arg[5] & SPLICE_F_NONBLOCK) && copy_deadlocks(c, 0, 2))
        return call_deadlock(c, "it copies to or from itself");
    return copied(c, CALL_HOST(c, splice(c->fd[0], c->ptr[1], c->fd[2], c->ptr[3], c->arg[4], (unsigned)c->arg[5])));
}

/* ------------------------------------------------------------------ the rest */

int64_t files_lseek(struct call *c) { return CALL_HOST(c, lseek(c->fd[0], (off_t)c->arg[1], (int)c->arg[2])); }

int64_t files_ftruncate(struct call *c) { return CALL_HOST(c, ftruncate(c->fd[0], (off_t)c->arg[1])); }

int64_t files_fallocate(struct call *c)
{
    return CALL_HOST(c, fallocate(c->fd[0], (int)c->arg[1], (off_t)c->arg[2], (off_t)c->arg[3]));
}

int64_t files_fadvise(struct call *c)
{
    return -posix_fadvise(c->fd[0], (off_t)c->arg[1], (off_t)c->arg[2], (int)c->arg[3]);
}

int64_t files_readahead(struct call *c) { return CALL_HOST(c, readahead(c->fd[0], (off_t)c->arg[1], c->arg[2])); }

int64_t files_fsync(struct call *c) { return CALL_HOST(c, fsync(c->fd[0])); }

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

int64_t files_flock(struct call *c) { return CALL_HOST(c, flock(c->fd[0], (int)c->arg[1])); }
