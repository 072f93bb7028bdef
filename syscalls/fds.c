/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The guest's descriptors.
 *
 * Model
 *   The guest has a table of its own: 0, 1 and 2 at start, then always the lowest free number, whatever c2emu itself
 *   has open. Each entry owns one host descriptor, never 0 to 2 and always close-on-exec; the guest's close-on-exec
 *   flag is a bit here. Status flags, file positions and locks are the host's.
 *
 * Invariants
 *   No number of the guest ever reaches the host unmapped. Two entries never own the same host descriptor.
 */
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/root.h"
#include "syscalls/filetimes_priv.h"
#include "syscalls/kernel_priv.h"
#include "syscalls/pollable_priv.h"
#include "syscalls/locks_priv.h"
#include "syscalls/notices_priv.h"
#include "syscalls/terminals_priv.h"

/* The descriptor is not moved higher: to close the first one would release the guest's locks (fcntl) of that file. */
int fds_keep(int host)
{
    if (host > 2) {
        fcntl(host, F_SETFD, FD_CLOEXEC);
        return host;
    }
    if (host < 0)
        return host;
    int high = fcntl(host, F_DUPFD_CLOEXEC, 3), error = errno;
    close(host);
    errno = error;
    return high;
}

/* A pipe or a socket: no file of the host is behind it. */
static bool fds_is_anonymous(int host)
{
    enum { PIPEFS_MAGIC = 0x50495045 };
    struct stat st;
    struct statfs fs;
    if (fstat(host, &st) < 0)
        return false;
    return S_ISSOCK(st.st_mode) || (S_ISFIFO(st.st_mode) && fstatfs(host, &fs) == 0 && fs.f_type == PIPEFS_MAGIC);
}

/* The guest may know it by its name; its own do not get the same number. */
static void note_terminal(struct fds *fds, int fd)
{
    char link[64], name[64] = "";
    unsigned number;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (isatty(fd) && readlink(link, name, sizeof name - 1) > 0 && sscanf(name, "/dev/pts/%u", &number) == 1)
        fds->outside[fd] = number + 1;
}

/* One of the descriptors that c2emu was started with. */
static enum c2_status inherit(struct syscalls *kernel, int fd, struct c2_error *err)
{
    struct fds *fds = &kernel->fds;
    const int mode = fcntl(fd, F_GETFL);
    if (mode >= 0 && mode & O_PATH) /* c2emu's, in place of one that was closed */
        return C2_OK;
    int host = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (host < 0)
        return errno == EBADF
                   ? C2_OK
                   : c2_fail(err, C2_ERR_IO, "cannot keep descriptor %d for the program: %s", fd, strerror(errno));
    fds_put(fds, (uint64_t)fd,
            &(struct fd_entry){.host = host,
                               .kind = FD_HOST,
                               .wait = FD_WAIT_OUTSIDE,
                               .standard = (uint8_t)(fd + 1),
                               .description = (uint64_t)fd + 1});
    note_terminal(fds, fd);
    filetimes_know(&fds->entry[fd], NULL);
    inputs_opened(kernel, &fds->entry[fd], NULL, fd == STDIN_FILENO);
    if (fds_is_anonymous(host) && attributes_inherit(kernel, host, fd) < 0)
        return c2_fail_memory(err, "the guest's kernel");
    return C2_OK;
}

enum c2_status fds_create(struct syscalls *kernel, struct c2_error *err)
{
    kernel->fds.cwd = fds_keep(open(c2_root_start(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (kernel->fds.cwd < 0)
        return c2_fail(err, C2_ERR_IO, "cannot open the working directory: %s", strerror(errno));
    enum c2_status status = C2_OK;
    kernel->fds.descriptions = FDS_STANDARD;
    for (int fd = 0; fd < FDS_STANDARD && status == C2_OK; fd++)
        status = inherit(kernel, fd, err);
    return status;
}

void fds_put(struct fds *fds, uint64_t fd, const struct fd_entry *entry)
{
    C2_ASSERT(fd < FDS_MAX && entry->kind != FD_FREE);
    fds->entry[fd] = *entry;
    fds->end = fd < fds->end ? fds->end : (uint32_t)fd + 1;
}

int64_t fds_release(struct fd_entry *entry)
{
    int64_t value = close(entry->host) < 0 ? -errno : 0;
    c2_free(entry->path);
    pollable_release(entry);
    *entry = (struct fd_entry){.kind = FD_FREE};
    return value == -EINTR ? 0 : value; /* the descriptor is gone all the same */
}

void fds_destroy(struct fds *fds)
{
    for (uint32_t fd = 0; fd < fds->end; fd++)
        if (fds->entry[fd].kind != FD_FREE)
            fds_release(&fds->entry[fd]);
    if (fds->cwd >= 0)
        close(fds->cwd);
}

void fds_check(const struct fds *fds)
{
    for (uint32_t fd = 0; fd < FDS_MAX; fd++) {
        const struct fd_entry *entry = &fds->entry[fd];
        if (entry->kind == FD_FREE) {
            C2_ASSERT(!entry->path && !entry->pollable);
            continue;
        }
        C2_ASSERT(fd < fds->end);
        C2_ASSERT((entry->kind == FD_SYNTHETIC || entry->kind == FD_TERMINAL) == !!entry->path);
        C2_ASSERT((entry->kind >= FD_TIMER) == !!entry->pollable);
        C2_ASSERT(entry->host > 2 && entry->host != fds->cwd);
        C2_ASSERT(fcntl(entry->host, F_GETFD) == FD_CLOEXEC); /* open, and no program that c2emu starts inherits it */
        for (uint32_t other = 0; other < fd; other++)
            C2_ASSERT(fds->entry[other].kind == FD_FREE || fds->entry[other].host != entry->host);
    }
}

void fds_dump(const struct fds *fds, FILE *to)
{
    static const char *const kinds[] = {"free",  "host",    "random", "synthetic", "epoll",   "netlink",
                                        "timer", "signals", "queue",  "process",   "terminal"};
    static const char *const waits[] = {"nobody", "somebody outside", "the guest itself"};
    for (uint32_t fd = 0; fd < fds->end; fd++) {
        const struct fd_entry *entry = &fds->entry[fd];
        if (entry->kind != FD_FREE)
            fprintf(to, "fd %d: host %d, %s, waits for %s%s%s%s\n", fd, entry->host, kinds[entry->kind],
                    waits[entry->wait], entry->cloexec ? ", close-on-exec" : "", entry->path ? ", " : "",
                    entry->path ? entry->path : "");
    }
}

struct fd_entry *fds_at(struct syscalls *kernel, uint64_t guest_fd)
{
    if (guest_fd >= kernel->fds.end || kernel->fds.entry[guest_fd].kind == FD_FREE)
        return NULL;
    return &kernel->fds.entry[guest_fd];
}

static uint64_t table_end(const struct syscalls *kernel)
{
    uint64_t limit = kernel->identity.limit[RLIMIT_NOFILE].soft;
    return limit < FDS_MAX ? limit : FDS_MAX;
}

int64_t fds_lowest_free(const struct syscalls *kernel, uint64_t from)
{
    for (uint64_t fd = from; fd < table_end(kernel); fd++)
        if (kernel->fds.entry[fd].kind == FD_FREE)
            return (int64_t)fd;
    return -EMFILE;
}

int64_t fds_add(struct syscalls *kernel, int host, enum fd_wait wait, bool cloexec)
{
    host = fds_keep(host);
    if (host < 0)
        return -errno;
    int64_t status = wait == FD_WAIT_SELF ? attributes_add(kernel, host) : 0;
    int64_t fd = status < 0 ? status : fds_lowest_free(kernel, 0);
    if (fd < 0) {
        close(host);
        return fd;
    }
    fds_put(&kernel->fds, (uint64_t)fd,
            &(struct fd_entry){.host = host,
                               .kind = FD_HOST,
                               .wait = wait,
                               .cloexec = cloexec,
                               .description = ++kernel->fds.descriptions});
    return fd;
}

int64_t fds_add_pair(struct syscalls *kernel, const int host[2], bool cloexec, int pair[2])
{
    int64_t first = fds_add(kernel, host[0], FD_WAIT_SELF, cloexec);
    int64_t second = fds_add(kernel, host[1], FD_WAIT_SELF, cloexec);
    if (first < 0 || second < 0) {
        if (first >= 0)
            fds_release(&kernel->fds.entry[first]);
        if (second >= 0)
            fds_release(&kernel->fds.entry[second]);
        return first < 0 ? first : second;
    }
    pair[0] = (int)first;
    pair[1] = (int)second;
    return 0;
}

bool fds_unblock(const struct fd_entry *entry)
{
    if (entry->wait != FD_WAIT_SELF && !entry->named)
        return false;
    int status = fcntl(entry->host, F_GETFL);
    return !(status & O_NONBLOCK) && fcntl(entry->host, F_SETFL, status | O_NONBLOCK) == 0;
}

void fds_reblock(const struct fd_entry *entry, bool unblocked)
{
    if (unblocked)
        fcntl(entry->host, F_SETFL, fcntl(entry->host, F_GETFL) & ~O_NONBLOCK);
}

bool fds_is_shut(const struct fd_entry *entry)
{
    struct pollfd query = {.fd = entry->host, .events = POLLIN};
    return poll(&query, 1, 0) > 0;
}

/* ------------------------------------------------------------------ what is ready */

static const struct fd_entry *terminal_of(const struct syscalls *kernel, int host)
{
    for (uint32_t fd = 0; host >= 0 && fd < kernel->fds.end; fd++)
        if (kernel->fds.entry[fd].host == host && kernel->fds.entry[fd].kind == FD_TERMINAL)
            return &kernel->fds.entry[fd];
    return NULL;
}

static short shown_by(const struct syscalls *kernel, const struct pollfd *asked)
{
    const struct fd_entry *entry = terminal_of(kernel, asked->fd);
    return entry ? (short)(terminals_poll(kernel, entry) & (asked->events | POLLERR | POLLHUP)) : 0;
}

int64_t fds_poll(struct syscalls *kernel, struct pollfd *fds, unsigned count, int milliseconds)
{
    int64_t own = 0;
    if (!kernel->fds.terminals)
        return poll(fds, count, milliseconds);
    for (unsigned i = 0; i < count; i++)
        own += shown_by(kernel, &fds[i]) != 0;
    if (poll(fds, count, own ? 0 : milliseconds) < 0)
        return -1;
    int64_t ready = 0;
    for (unsigned i = 0; i < count; i++) {
        if (terminal_of(kernel, fds[i].fd))
            fds[i].revents = shown_by(kernel, &fds[i]);
        ready += fds[i].revents != 0;
    }
    return ready;
}

/* ------------------------------------------------------------------ calls */

int64_t fds_close(struct call *c)
{
    threads_wake_locks(c->kernel);
    return fds_release(fds_at(c->kernel, c->arg[0]));
}

int64_t fds_close_range(struct call *c)
{
    enum { UNSHARE = 2, CLOEXEC = 4 };
    uint64_t first = c->arg[0], last = c->arg[1];
    if (first > last || c->arg[2] & ~(uint64_t)(UNSHARE | CLOEXEC))
        return -EINVAL;
    threads_wake_locks(c->kernel);
    for (uint64_t fd = first; fd <= last && fd < c->kernel->fds.end; fd++) {
        struct fd_entry *entry = fds_at(c->kernel, fd);
        if (entry && c->arg[2] & CLOEXEC)
            entry->cloexec = true;
        else if (entry)
            fds_release(entry);
    }
    return 0;
}

/* A copy of entry in the slot `to`, which is closed first. */
static int64_t copy_to(struct syscalls *kernel, const struct fd_entry *entry, uint64_t to, bool cloexec)
{
    struct fd_entry copy = *entry;
    copy.cloexec = cloexec;
    copy.host = fcntl(entry->host, F_DUPFD_CLOEXEC, 3);
    if (copy.host < 0)
        return -errno;
    if (entry->path && !(copy.path = c2_strdup(entry->path))) {
        close(copy.host);
        return -ENOMEM;
    }
    if (copy.pollable)
        copy.pollable->users++;
    if (copy.kind == FD_MQUEUE)
        mqueue_copied(&copy);
    if (copy.kind == FD_TERMINAL)
        terminals_copied(&copy);
    if (fds_at(kernel, to)) {
        threads_wake_locks(kernel);
        fds_release(&kernel->fds.entry[to]);
    }
    fds_put(&kernel->fds, to, &copy);
    return (int64_t)to;
}

static int64_t copy_from(struct call *c, uint64_t from, bool cloexec)
{
    int64_t to = fds_lowest_free(c->kernel, from);
    return to < 0 ? to : copy_to(c->kernel, fds_at(c->kernel, c->arg[0]), (uint64_t)to, cloexec);
}

int64_t fds_dup(struct call *c) { return copy_from(c, 0, false); }

static int64_t dup_onto(struct call *c, bool cloexec)
{
    if (c->arg[1] >= table_end(c->kernel))
        return -EBADF;
    return copy_to(c->kernel, fds_at(c->kernel, c->arg[0]), c->arg[1], cloexec);
}

int64_t fds_dup2(struct call *c) { return c->arg[0] == c->arg[1] ? (int64_t)c->arg[1] : dup_onto(c, false); }

int64_t fds_dup3(struct call *c)
{
    const struct fd_entry *entry = fds_at(c->kernel, c->arg[0]);
    if (c->arg[0] == c->arg[1] || c->arg[2] & ~(uint64_t)O_CLOEXEC)
        return -EINVAL;
    if (!entry)
        return -EBADF;
    c->fd[0] = entry->host;
    return dup_onto(c, c->arg[2] & O_CLOEXEC);
}

/* ------------------------------------------------------------------ fcntl */

static int64_t wait_for_lock(struct call *c, int command, const struct flock *area)
{
    const enum locks_kind kind = command == F_SETLKW ? LOCKS_POSIX : LOCKS_DESCRIPTION;
    struct flock copy = *area;
    int64_t value = CALL_HOST(c, fcntl(c->fd[0], command == F_SETLKW ? F_SETLK : F_OFD_SETLK, &copy));
    if (value == 0)
        threads_wake_locks(c->kernel); /* a change of a lock gives up what it was before */
    if (value != -EAGAIN && value != -EACCES)
        return value;
    const struct locks_range range = locks_range_of(c->fd[0], kind, area);
    const uint32_t holder = locks_holder(c->kernel, c->arg[0], &range);
    if (holder && kind == LOCKS_POSIX && processes_wait_for_self(c->kernel, holder))
        return -EDEADLK;
    return holder ? call_wait_lock(c, holder, kind) : CALL_HOST(c, fcntl(c->fd[0], command, area));
}

/* The structure goes through a copy: the kernel writes it only when it answers F_GETLK. The process that holds the lock
 * may be the guest. */
static int64_t fds_lock(struct call *c, int command)
{
    struct flock area;
    int64_t value = guest_read(c, &area, c->arg[2], sizeof area);
    if (value == 0 && (command == F_SETLKW || command == F_OFD_SETLKW))
        return wait_for_lock(c, command, &area);
    if (value == 0)
        value = CALL_HOST(c, fcntl(c->fd[0], command, &area));
    if (value == 0 && (command == F_SETLK || command == F_OFD_SETLK))
        threads_wake_locks(c->kernel);
    if (processes_number(c->kernel, area.l_pid) != 0)
        area.l_pid = (pid_t)processes_number(c->kernel, area.l_pid);
    if (value == 0 && (command == F_GETLK || command == F_OFD_GETLK))
        value = guest_write(c, c->arg[2], &area, sizeof area);
    return value;
}

static int64_t fds_set_status(struct call *c)
{
    int allowed = O_APPEND | O_NONBLOCK | O_NOATIME | O_DIRECT | O_ASYNC;
    if (c->arg[2] & O_ASYNC)
        (void)notices_begin(c->kernel, fds_at(c->kernel, c->arg[0]));
    return CALL_HOST(c, fcntl(c->fd[0], F_SETFL, (int)c->arg[2] & allowed));
}

static int64_t get_status(struct call *c, const struct fd_entry *entry)
{
    const int64_t flags = CALL_HOST(c, fcntl(entry->host, F_GETFL));
    if (entry->nofollow)
        return flags | O_NOFOLLOW;
    return entry->kind == FD_TERMINAL && flags >= 0 ? (flags & ~(int64_t)O_ACCMODE) | entry->pollable->access : flags;
}

/* How long what is written will live. */
static int64_t write_hint(struct call *c, const struct fd_entry *entry, int command)
{
    uint64_t hint = 0;
    int64_t status = command == F_SET_RW_HINT ? guest_read(c, &hint, c->arg[2], sizeof hint) : 0;
    if (status == 0)
        status = CALL_HOST(c, fcntl(entry->host, command, &hint));
    return status < 0 || command == F_SET_RW_HINT ? status : guest_write(c, c->arg[2], &hint, sizeof hint);
}

int64_t fds_fcntl(struct call *c)
{
    struct fd_entry *entry = fds_at(c->kernel, c->arg[0]);
    int command = (int)c->arg[1];
    int64_t value;
    if (notices_fcntl(c, entry, command, &value))
        return value;
    switch (command) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
        if (c->arg[2] >= table_end(c->kernel))
            return -EINVAL;
        return copy_from(c, c->arg[2], command == F_DUPFD_CLOEXEC);
    case F_GETFD:
        return entry->cloexec ? FD_CLOEXEC : 0;
    case F_SETFD:
        entry->cloexec = c->arg[2] & FD_CLOEXEC;
        return 0;
    case F_SETFL:
        return fds_set_status(c);
    case F_GETFL:
        return get_status(c, entry);
    case F_GETPIPE_SZ:
    case F_SETPIPE_SZ:
    case F_GET_SEALS:
    case F_ADD_SEALS:
        return CALL_HOST(c, fcntl(entry->host, command, (int)c->arg[2]));
    case F_GET_RW_HINT:
    case F_SET_RW_HINT:
        return write_hint(c, entry, command);
    case F_GETLK:
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_GETLK:
    case F_OFD_SETLK:
    case F_OFD_SETLKW:
        return fds_lock(c, command);
    default:
        return -EINVAL;
    }
}

/* ------------------------------------------------------------------ descriptors without a path */

static int64_t new_pipe(struct call *c, int flags)
{
    int host[2];
    if (pipe2(host, flags | O_CLOEXEC) < 0)
        return -errno;
    return fds_add_pair(c->kernel, host, flags & O_CLOEXEC, c->ptr[0]);
}

int64_t fds_pipe(struct call *c) { return new_pipe(c, 0); }

int64_t fds_pipe2(struct call *c) { return new_pipe(c, (int)c->arg[1]); }

int64_t fds_eventfd(struct call *c)
{
    int flags = c->row->arg[1].kind == CALL_NONE ? 0 : (int)c->arg[1];
    if (fds_lowest_free(c->kernel, 0) < 0)
        return -EMFILE;
    return fds_add(c->kernel, eventfd((unsigned)c->arg[0], flags | EFD_CLOEXEC), FD_WAIT_SELF, flags & EFD_CLOEXEC);
}

int64_t fds_memfd(struct call *c)
{
    unsigned flags = (unsigned)c->arg[1];
    if (flags & ~(unsigned)(MFD_CLOEXEC | MFD_ALLOW_SEALING))
        return -EINVAL;
    int64_t fd = fds_add(c->kernel, memfd_create(c->ptr[0], flags | MFD_CLOEXEC), FD_WAIT_NEVER, flags & MFD_CLOEXEC);
    if (fd >= 0)
        filetimes_know(fds_at(c->kernel, (uint64_t)fd), NULL);
    int64_t status = fd < 0 ? fd : attributes_add(c->kernel, fds_at(c->kernel, (uint64_t)fd)->host);
    if (status < 0 && fd >= 0)
        fds_release(&c->kernel->fds.entry[fd]);
    return status < 0 ? status : fd;
}
