/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Calls that name a file, and those that ask about an open one.
 *
 * Model
 *   A path is first walked (walk.c): a file of the host goes to the host's *at() call with the guest's own path, a
 *   synthetic one is answered here. No name in /proc or /sys can be changed (EPERM). The guest's umask is the host
 *   process's for the length of a call that makes a file.
 *
 * Not modelled
 *   Inode numbers and the order of names in a directory are the host's, and so are the rights: the user of c2emu may do
 *   by it what he may do without it. But the guest is a plain user who makes no devices and gives no file away.
 */
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include "base/root.h"
#include "syscalls/filetimes_priv.h"
#include "syscalls/kernel_priv.h"
#include "syscalls/locks_priv.h"
#include "syscalls/notices_priv.h"
#include "syscalls/paths_priv.h"
#include "syscalls/shm_priv.h"
#include "syscalls/terminals_priv.h"

#define HERE ((uint64_t)(int64_t)AT_FDCWD)

static int64_t syscalls_paths_find(struct call *c, struct paths_place *p, uint64_t dir, int path, bool follow)
{
    return paths_find(c, p, dir, c->ptr[path], follow);
}

/* A place that may be the descriptor itself: "" with AT_EMPTY_PATH. Follows unless AT_SYMLINK_NOFOLLOW. */
static int64_t find_flagged(struct call *c, struct paths_place *p, uint64_t dir, int path, int flags)
{
    const char *text = c->ptr[path];
    if (text[0] != '\0' || !(flags & AT_EMPTY_PATH))
        return syscalls_paths_find(c, p, dir, path, !(flags & AT_SYMLINK_NOFOLLOW));
    const struct fd_entry *entry = dir == HERE ? NULL : fds_at(c->kernel, dir);
    if (!entry && dir != HERE)
        return -EBADF;
    p->synthetic = entry && entry->path;
    if (p->synthetic)
        strcpy(p->text, entry->path);
    p->dirfd = entry ? entry->host : c->kernel->fds.cwd;
    p->path = "";
    p->text[0] = p->synthetic ? p->text[0] : '\0'; /* it is no name */
    return 0;
}

int64_t paths_find_argument(struct call *c, struct paths_place *out, uint64_t dirfd, int argument, int flags)
{
    return find_flagged(c, out, dirfd, argument, flags);
}

/* For calls that change something. */
static int64_t find_host(struct call *c, struct paths_place *p, uint64_t dir, int path, bool follow)
{
    int64_t status = syscalls_paths_find(c, p, dir, path, follow);
    if (status == 0 && p->synthetic)
        return synthetic_kind(c->kernel, p->text) == SYNTHETIC_NONE ? -ENOENT : -EPERM;
    return status;
}

/* The same, of what a guest that is confined may change as well. */
static int64_t find_change(struct call *c, struct paths_place *p, uint64_t dir, int path, enum sandbox_change change)
{
    int64_t status = find_host(c, p, dir, path, change == SANDBOX_TARGET);
    if (status == -EPERM && change == SANDBOX_MAKES)
        return -EEXIST;
    if (status == 0 && (change == SANDBOX_NAME || change == SANDBOX_REPLACES) && shm_is_top(p->text))
        return -EBUSY; /* something is mounted there */
    return status < 0 ? status : sandbox_confine(c, p, c->ptr[path], change);
}

/* Of a place that may be the descriptor itself, or the link itself. */
static int64_t confine_flagged(struct call *c, struct paths_place *p, int path, int flags)
{
    if (p->path[0] == '\0')
        return sandbox_descriptor(c, p->dirfd);
    return sandbox_confine(c, p, c->ptr[path], flags & AT_SYMLINK_NOFOLLOW ? SANDBOX_NAME : SANDBOX_TARGET);
}

/* For the host's calls that know no directory descriptor. */
static int64_t plain_path(const struct paths_place *p, char out[PATH_MAX])
{
    int bytes = p->path[0] == '/' ? snprintf(out, PATH_MAX, "%s", p->path)
                                  : snprintf(out, PATH_MAX, "/proc/self/fd/%d/%s", p->dirfd, p->path);
    return bytes < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static int64_t find_no_synthetic(struct call *c, struct paths_place *p, bool follow, int64_t if_synthetic)
{
    int64_t status = syscalls_paths_find(c, p, HERE, 0, follow);
    if (status == 0 && p->synthetic)
        return synthetic_kind(c->kernel, p->text) == SYNTHETIC_NONE ? -ENOENT : if_synthetic;
    return status;
}

static int64_t find_plain(struct call *c, char out[PATH_MAX], bool follow, int64_t if_synthetic)
{
    struct paths_place p;
    int64_t status = find_no_synthetic(c, &p, follow, if_synthetic);
    return status < 0 ? status : plain_path(&p, out);
}

static int64_t find_plain_change(struct call *c, char out[PATH_MAX], bool follow, int64_t if_synthetic)
{
    struct paths_place p;
    int64_t status = find_no_synthetic(c, &p, follow, if_synthetic);
    if (status == 0)
        status = sandbox_confine(c, &p, c->ptr[0], follow ? SANDBOX_TARGET : SANDBOX_NAME);
    return status < 0 ? status : plain_path(&p, out);
}

/* ------------------------------------------------------------------ open */

/* Whatever way led there: the host's own process files are not shown. */
static bool leaks(int host)
{
    enum { PROC_MAGIC = 0x9fa0, SYSFS_MAGIC = 0x62656572 };
    struct statfs fs;
    return fstatfs(host, &fs) == 0 && (fs.f_type == PROC_MAGIC || fs.f_type == SYSFS_MAGIC);
}

bool paths_is_random(const struct stat *st)
{
    return S_ISCHR(st->st_mode) && (st->st_rdev == makedev(1, 8) || st->st_rdev == makedev(1, 9));
}

/* Whether this is a pipe of the guest's own, opened again by way of /proc/self/fd. */
static bool is_own_pipe(struct syscalls *kernel, const struct stat *pipe)
{
    struct stat st;
    for (uint64_t fd = 0; fd < kernel->fds.end; fd++) {
        const struct fd_entry *entry = fds_at(kernel, fd);
        if (entry && entry->wait == FD_WAIT_SELF && fstat(entry->host, &st) == 0 && st.st_dev == pipe->st_dev &&
            st.st_ino == pipe->st_ino)
            return true;
    }
    return false;
}

static enum fd_wait wait_of(struct syscalls *kernel, const struct stat *st)
{
    if (S_ISFIFO(st->st_mode))
        return is_own_pipe(kernel, st) ? FD_WAIT_SELF : FD_WAIT_OUTSIDE;
    return S_ISCHR(st->st_mode) || S_ISSOCK(st->st_mode) ? FD_WAIT_OUTSIDE : FD_WAIT_NEVER;
}

/* Whether open makes the file: it is not there yet. */
static bool makes_file(const struct paths_place *p, int flags)
{
    struct stat st;
    return flags & O_CREAT && (flags & O_EXCL || fstatat(p->dirfd, p->path, &st, 0) < 0);
}

static void open_dates(struct call *c, const struct paths_place *p, const struct stat *st, int flags, bool made)
{
    if (made)
        filetimes_now_around(c->kernel, p);
    if (made || (flags & O_TMPFILE) == O_TMPFILE)
        filetimes_now(c->kernel, st, FILETIMES_MADE);
    else if (flags & O_TRUNC && !(flags & O_PATH) && S_ISREG(st->st_mode))
        filetimes_now(c->kernel, st, FILETIMES_WRITTEN);
}

static int64_t add_opened(struct call *c, int host, const struct paths_place *p, int flags, bool made)
{
    const char *path = synthetic_covers(c->kernel, p->text) ? NULL : p->text;
    struct stat st;
    if (fstat(host, &st) < 0 || leaks(host)) {
        close(host);
        return -ENOENT;
    }
    open_dates(c, p, &st, flags, made);
    int64_t fd = fds_add(c->kernel, host, wait_of(c->kernel, &st), flags & O_CLOEXEC);
    if (fd < 0)
        return fd;
    struct fd_entry *entry = fds_at(c->kernel, (uint64_t)fd);
    entry->kind = paths_is_random(&st) ? FD_RANDOM : entry->kind;
    entry->named = S_ISFIFO(st.st_mode) && entry->wait == FD_WAIT_OUTSIDE;
    filetimes_know(entry, &st);
    inputs_opened(c->kernel, entry, path, false);
    return fd;
}

/* ------------------------------------------------------------------ pipes with names */

/* To open one end waits for an opening of the other. That may be another thread or process of the guest's, so it is
 * asked for without waiting, where there are others, or were when it began to wait. */
static bool is_pipe_end(const struct call *c, const struct paths_place *p, int flags)
{
    struct stat st;
    return (c->again || !threads_alone(c->kernel)) && !(flags & (O_NONBLOCK | O_PATH)) &&
           (flags & O_ACCMODE) != O_RDWR && fstatat(p->dirfd, p->path, &st, 0) == 0 && S_ISFIFO(st.st_mode);
}

/* Nothing is there to be read, and no writer has gone: whether one has come. */
static bool has_writer(int host)
{
    struct pollfd query = {.fd = host, .events = POLLIN};
    char byte;
    return poll(&query, 1, 0) != 0 || (read(host, &byte, 1) < 0 && errno == EAGAIN);
}

static int64_t wait_for_other_end(struct call *c, int host)
{
    const int64_t value = call_wait_end(c);
    c->kernel->current->opening = host;
    return value;
}

/* The end for reading stays open while it waits: the opening of the other one looks for it. */
static int64_t open_pipe_end(struct call *c, const struct paths_place *p, int path, int flags)
{
    struct kernel_thread *self = c->kernel->current;
    int host = c->again ? self->opening : -1;
    if (!c->again && self->opening >= 0)
        close(self->opening); /* of a call that a signal has ended */
    self->opening = -1;
    if (host < 0)
        host = sandbox_open(c, p, c->ptr[path], flags | O_NONBLOCK, 0);
    if (host < 0)
        return errno == ENXIO ? wait_for_other_end(c, -1) : -errno;
    if ((flags & O_ACCMODE) == O_RDONLY && !has_writer(host))
        return wait_for_other_end(c, host);
    fcntl(host, F_SETFL, fcntl(host, F_GETFL) & ~O_NONBLOCK);
    threads_wake_locks(c->kernel);
    return host;
}

/* By the name that the dynamic linker has for it; once. */
static bool paths_is_hidden(struct syscalls *kernel, const char *path)
{
    const bool hidden = kernel->hides_library_cache && strcmp(path, "/etc/ld.so.cache") == 0;
    kernel->hides_library_cache &= !hidden;
    return hidden;
}

/* A lease of the run's own is given up by its holder when that goes on: not while the host waits for it. */
static int64_t open_host(struct call *c, const struct paths_place *p, int path, int flags, mode_t mode)
{
    const bool asks = notices_has_leases(c->kernel) && !(flags & (O_NONBLOCK | O_PATH));
    const int64_t host = CALL_HOST(c, sandbox_open(c, p, c->ptr[path], flags | (asks ? O_NONBLOCK : 0), mode));
    if (asks && host == -EWOULDBLOCK)
        return call_wait_lock(c, c->kernel->pid, LOCKS_FLOCK);
    if (asks && host >= 0)
        fcntl((int)host, F_SETFL, fcntl((int)host, F_GETFL) & ~O_NONBLOCK);
    return host;
}

static int64_t open_resolved(struct call *c, uint64_t dir, int path, int flags, mode_t mode, uint64_t resolve)
{
    struct paths_place p;
    bool new_only = (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
    if (fds_lowest_free(c->kernel, 0) < 0)
        return -EMFILE; /* before a file is made or cut */
    int64_t status = paths_resolve(c, &p, dir, c->ptr[path], !(flags & O_NOFOLLOW) && !new_only, resolve);
    if (status < 0)
        return status;
    if (p.synthetic)
        return synthetic_open(c, p.text, flags);
    if (terminals_is_own(c->kernel, p.text))
        return terminals_open_own(c, flags);
    if (paths_is_hidden(c->kernel, c->ptr[path]))
        return -ENOENT;
    const bool makes = makes_file(&p, flags);
    mode_t old = umask(c->kernel->identity.mask);
    int64_t host = is_pipe_end(c, &p, flags) ? open_pipe_end(c, &p, path, flags) : open_host(c, &p, path, flags, mode);
    umask(old);
    if (c->result->action == SYSCALLS_BLOCKED)
        return host;
    if (host < 0)
        return inputs_looked(c->kernel, p.text, host);
    return add_opened(c, (int)host, &p, flags, makes);
}

static int64_t open_at(struct call *c, uint64_t dir, int path, int flags, mode_t mode)
{
    return open_resolved(c, dir, path, flags, mode, 0);
}

int64_t paths_open(struct call *c) { return open_at(c, HERE, 0, (int)c->arg[1], (mode_t)c->arg[2]); }

int64_t paths_openat(struct call *c) { return open_at(c, c->arg[0], 1, (int)c->arg[2], (mode_t)c->arg[3]); }

int64_t paths_creat(struct call *c) { return open_at(c, HERE, 0, O_CREAT | O_WRONLY | O_TRUNC, (mode_t)c->arg[1]); }

/* ------------------------------------------------------------------ openat2 */

#define OPEN_FLAGS \
    (O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_SYNC | O_ASYNC | O_DIRECT | \
     00100000 /* O_LARGEFILE */ | O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_CLOEXEC | O_PATH | O_TMPFILE)
#define OPEN_PATH_FLAGS (O_DIRECTORY | O_NOFOLLOW | O_PATH | O_CLOEXEC)
#define OPEN_RESOLVE \
    (RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH | RESOLVE_IN_ROOT | RESOLVE_CACHED)

static int64_t take_how(struct call *c, struct open_how *how)
{
    if (c->arg[3] < sizeof *how)
        return -EINVAL;
    if (c->arg[3] > C2_PAGE_BYTES)
        return -E2BIG;
    return guest_read_extended(c, how, sizeof *how, c->arg[2], c->arg[3]);
}

static int64_t check_how(const struct open_how *how)
{
    const bool temporary = (how->flags & O_TMPFILE) == O_TMPFILE, makes = how->flags & O_CREAT || temporary;
    if (how->flags & ~(uint64_t)OPEN_FLAGS || how->resolve & ~(uint64_t)OPEN_RESOLVE)
        return -EINVAL;
    if (how->mode & ~(uint64_t)07777 || (how->mode && !makes))
        return -EINVAL;
    if (how->resolve & RESOLVE_BENEATH && how->resolve & RESOLVE_IN_ROOT)
        return -EINVAL;
    if (temporary && (how->flags & O_ACCMODE) == O_RDONLY)
        return -EINVAL;
    if (how->flags & O_PATH && how->flags & ~(uint64_t)OPEN_PATH_FLAGS)
        return -EINVAL;
    return how->resolve & RESOLVE_CACHED && how->flags & (O_TRUNC | O_CREAT | (O_TMPFILE & ~O_DIRECTORY)) ? -EAGAIN : 0;
}

int64_t paths_openat2(struct call *c)
{
    const char *path = c->ptr[1];
    struct open_how how;
    int64_t status = take_how(c, &how);
    if (status == 0)
        status = check_how(&how);
    if (status < 0)
        return status;
    /* the canonical path that the host gets has lost it */
    const bool directory = how.resolve & RESOLVE_IN_ROOT && path[0] && path[strlen(path) - 1] == '/';
    const int flags = (int)how.flags | (directory ? O_DIRECTORY : 0);
    return open_resolved(c, c->arg[0], 1, flags, (mode_t)how.mode, how.resolve);
}

/* ------------------------------------------------------------------ stat */

static int64_t shown(const struct call *c, struct stat *out, int64_t status)
{
    return status == 0 ? attributes_show(c->kernel, out) : status;
}

static int64_t stat_place(struct call *c, const struct paths_place *p, struct stat *out, int flags)
{
    if (p->synthetic)
        return synthetic_stat(c->kernel, p->text, out);
    const int64_t status = CALL_HOST(c, fstatat(p->dirfd, p->path, out, flags));
    if (status == 0 && p->path[0])
        filetimes_looked(c->kernel, out->st_mode, out->st_dev, out->st_ino, &out->st_mtim);
    return shown(c, out, inputs_looked(c->kernel, p->text, status));
}

static int64_t stat_at(struct call *c, uint64_t dir, int path, int out, int flags)
{
    struct paths_place p;
    int64_t status = find_flagged(c, &p, dir, path, flags);
    return status < 0 ? status : stat_place(c, &p, c->ptr[out], flags);
}

int64_t paths_stat(struct call *c) { return stat_at(c, HERE, 0, 1, 0); }

int64_t paths_lstat(struct call *c) { return stat_at(c, HERE, 0, 1, AT_SYMLINK_NOFOLLOW); }

int64_t paths_fstatat(struct call *c)
{
    int flags = (int)c->arg[3];
    if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH | AT_STATX_SYNC_TYPE))
        return -EINVAL;
    return stat_at(c, c->arg[0], 1, 2, flags);
}

int64_t paths_fstat(struct call *c)
{
    const struct fd_entry *entry = fds_at(c->kernel, c->arg[0]);
    if (entry->path)
        return synthetic_stat(c->kernel, entry->path, c->ptr[1]);
    return shown(c, c->ptr[1], CALL_HOST(c, fstat(entry->host, c->ptr[1])));
}

static int64_t statx_shown(const struct call *c, struct statx *out, bool by_name)
{
    const struct timespec written = {.tv_sec = out->stx_mtime.tv_sec, .tv_nsec = out->stx_mtime.tv_nsec};
    if (by_name)
        filetimes_looked(c->kernel, out->stx_mode, makedev(out->stx_dev_major, out->stx_dev_minor), out->stx_ino,
                         &written);
    return attributes_show_extended(c->kernel, out);
}

int64_t paths_statx(struct call *c)
{
    struct paths_place p;
    int64_t status = find_flagged(c, &p, c->arg[0], 1, (int)c->arg[2]);
    if (status < 0)
        return status;
    if (p.synthetic)
        return synthetic_statx(c->kernel, p.text, c->ptr[4]);
    status = CALL_HOST(c, statx(p.dirfd, p.path, (int)c->arg[2], (unsigned)c->arg[3], c->ptr[4]));
    if (status == 0)
        status = statx_shown(c, c->ptr[4], p.path[0]);
    return inputs_looked(c->kernel, p.text, status);
}

static int64_t system_shown(struct statfs *out, int64_t status)
{
    if (status == 0)
        attributes_show_system(out);
    return status;
}

int64_t paths_statfs(struct call *c)
{
    struct paths_place p;
    char path[PATH_MAX];
    int64_t status = syscalls_paths_find(c, &p, HERE, 0, true);
    if (status < 0)
        return status;
    if (p.synthetic) {
        synthetic_statfs(c->ptr[1]);
        return synthetic_kind(c->kernel, p.text) == SYNTHETIC_NONE ? -ENOENT : 0;
    }
    status = plain_path(&p, path);
    return status < 0 ? status : system_shown(c->ptr[1], CALL_HOST(c, statfs(path, c->ptr[1])));
}

int64_t paths_fstatfs(struct call *c)
{
    const struct fd_entry *entry = fds_at(c->kernel, c->arg[0]);
    if (!entry->path)
        return system_shown(c->ptr[1], CALL_HOST(c, fstatfs(entry->host, c->ptr[1])));
    synthetic_statfs(c->ptr[1]);
    return 0;
}

static int64_t access_at(struct call *c, uint64_t dir, int path, int mode, int flags)
{
    struct paths_place p;
    int64_t status = find_flagged(c, &p, dir, path, flags);
    if (status < 0)
        return status;
    if (p.synthetic)
        return synthetic_access(c->kernel, p.text, mode);
    return inputs_looked(c->kernel, p.text, CALL_HOST(c, faccessat(p.dirfd, p.path, mode, flags)));
}

int64_t paths_access(struct call *c) { return access_at(c, HERE, 0, (int)c->arg[1], 0); }

int64_t paths_faccessat(struct call *c) { return access_at(c, c->arg[0], 1, (int)c->arg[2], 0); }

int64_t paths_faccessat2(struct call *c) { return access_at(c, c->arg[0], 1, (int)c->arg[2], (int)c->arg[3]); }

static int64_t readlink_synthetic(struct call *c, const char *path, int out, uint64_t bytes)
{
    char text[PATH_MAX];
    int64_t length = synthetic_link(c->kernel, path, text, sizeof text);
    if (length < 0)
        return length;
    if ((uint64_t)length > bytes)
        length = (int64_t)bytes;
    int64_t status = guest_write(c, c->arg[out], text, (uint64_t)length);
    return status < 0 ? status : length;
}

static int64_t readlink_at(struct call *c, uint64_t dir, int path, int out)
{
    struct paths_place p;
    if ((int)c->arg[out + 1] <= 0)
        return -EINVAL;
    int64_t status = find_flagged(c, &p, dir, path, AT_SYMLINK_NOFOLLOW | (dir == HERE ? 0 : AT_EMPTY_PATH));
    if (status < 0)
        return status;
    if (p.synthetic) {
        status = readlink_synthetic(c, p.text, out, c->arg[out + 1]);
        return status == -EINVAL && *(const char *)c->ptr[path] == '\0' ? -ENOENT : status; /* no link is open there */
    }
    const int64_t bytes = CALL_HOST(c, readlinkat(p.dirfd, p.path, c->ptr[out], c->arg[out + 1]));
    if (bytes >= 0)
        inputs_link(c->kernel, p.text, c->ptr[out], (uint64_t)bytes);
    return inputs_looked(c->kernel, p.text, bytes);
}

int64_t paths_readlink(struct call *c) { return readlink_at(c, HERE, 0, 1); }

int64_t paths_readlinkat(struct call *c) { return readlink_at(c, c->arg[0], 1, 2); }

/* ------------------------------------------------------------------ directories */

int64_t paths_getdents(struct call *c)
{
    const struct fd_entry *entry = fds_at(c->kernel, c->arg[0]);
    if (entry->path && fcntl(entry->host, F_GETFL) & O_PATH)
        return -EBADF;
    if (entry->path)
        return synthetic_entries(c, entry->host, entry->path, c->ptr[1], c->arg[2]);
    inputs_listing(c->kernel, entry);
    const int64_t bytes = CALL_HOST(c, getdents64(entry->host, c->ptr[1], c->arg[2]));
    const int64_t status = bytes > 0 ? attributes_show_entries(c->kernel, entry->host, c->ptr[1], (size_t)bytes) : 0;
    return status < 0 ? status : bytes;
}

int64_t paths_getcwd(struct call *c)
{
    char link[64], text[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", c->kernel->fds.cwd);
    ssize_t bytes = readlink(link, text, sizeof text - 1);
    struct stat st;
    if (bytes < 0 || fstat(c->kernel->fds.cwd, &st) < 0 || st.st_nlink == 0)
        return -ENOENT;
    text[bytes] = '\0';
    const char *inside = c2_root_inside(text) ? c2_root_inside(text) : text;
    bytes = (ssize_t)strlen(inside) + 1;
    if ((uint64_t)bytes > c->arg[1])
        return -ERANGE;
    int64_t status = guest_write(c, c->arg[0], inside, (uint64_t)bytes);
    return status < 0 ? status : bytes;
}

/* Takes host. */
static int64_t paths_enter(struct call *c, int host)
{
    host = fds_keep(host);
    if (host < 0)
        return -errno;
    if (faccessat(host, ".", X_OK, 0) < 0) {
        int error = errno;
        close(host);
        return -error;
    }
    close(c->kernel->fds.cwd);
    c->kernel->fds.cwd = host;
    return 0;
}

int64_t paths_chdir(struct call *c)
{
    struct paths_place p;
    int64_t status = find_host(c, &p, HERE, 0, true);
    if (status < 0)
        return status == -EPERM ? -EACCES : status;
    return paths_enter(c, openat(p.dirfd, p.path, O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* What is wrong with the directory comes first. */
int64_t paths_chroot(struct call *c)
{
    struct paths_place p;
    int64_t status = find_host(c, &p, HERE, 0, true);
    if (status < 0)
        return status;
    const int host = openat(p.dirfd, p.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (host < 0)
        return -errno;
    status = faccessat(host, ".", X_OK, 0) < 0 ? -errno : -EPERM;
    close(host);
    return status;
}

int64_t paths_fchdir(struct call *c)
{
    if (fds_at(c->kernel, c->arg[0])->path)
        return -EACCES;
    return paths_enter(c, openat(c->fd[0], ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* A name has been made: of a new inode. */
static int64_t date_made(struct call *c, const struct paths_place *p, int64_t status)
{
    if (status < 0)
        return status;
    filetimes_now_at(c->kernel, p, AT_SYMLINK_NOFOLLOW, FILETIMES_MADE);
    filetimes_now_around(c->kernel, p);
    return status;
}

static int64_t mkdir_at(struct call *c, uint64_t dir, int path, mode_t mode)
{
    struct paths_place p;
    int64_t status = find_change(c, &p, dir, path, SANDBOX_MAKES);
    if (status < 0)
        return status;
    mode_t old = umask(c->kernel->identity.mask);
    status = CALL_HOST(c, mkdirat(p.dirfd, p.path, mode));
    umask(old);
    return date_made(c, &p, status);
}

int64_t paths_mkdir(struct call *c) { return mkdir_at(c, HERE, 0, (mode_t)c->arg[1]); }

int64_t paths_mkdirat(struct call *c) { return mkdir_at(c, c->arg[0], 1, (mode_t)c->arg[2]); }

static int64_t mknod_at(struct call *c, uint64_t dir, int path, mode_t mode, dev_t device)
{
    struct paths_place p;
    int64_t status = find_change(c, &p, dir, path, SANDBOX_MAKES);
    if (status < 0)
        return status;
    if ((S_ISCHR(mode) && device != 0) || S_ISBLK(mode)) /* the device 0 is none: anybody may make one */
        return -EPERM;
    mode_t old = umask(c->kernel->identity.mask);
    status = CALL_HOST(c, mknodat(p.dirfd, p.path, mode, S_ISCHR(mode) ? device : 0));
    umask(old);
    return date_made(c, &p, status);
}

int64_t paths_mknod(struct call *c) { return mknod_at(c, HERE, 0, (mode_t)c->arg[1], (dev_t)c->arg[2]); }

int64_t paths_mknodat(struct call *c) { return mknod_at(c, c->arg[0], 1, (mode_t)c->arg[2], (dev_t)c->arg[3]); }

int64_t paths_make_socket(struct call *c, const char *path, struct stat *out)
{
    struct paths_place p;
    int64_t status = paths_find(c, &p, HERE, path, false);
    if (status == 0 && p.synthetic)
        status = -EPERM;
    if (status == 0)
        status = sandbox_confine(c, &p, path, SANDBOX_MAKES);
    if (status < 0)
        return status;
    mode_t old = umask(c->kernel->identity.mask);
    status = date_made(c, &p, CALL_HOST(c, mknodat(p.dirfd, p.path, S_IFSOCK | 0777, 0)));
    umask(old);
    if (status == 0 && !out)
        return CALL_HOST(c, unlinkat(p.dirfd, p.path, 0));
    return status < 0 ? status : CALL_HOST(c, fstatat(p.dirfd, p.path, out, AT_SYMLINK_NOFOLLOW));
}

int64_t paths_find_socket(struct call *c, const char *path, struct stat *out)
{
    struct paths_place p;
    int64_t status = paths_find(c, &p, HERE, path, true);
    if (status == 0 && p.synthetic)
        status = synthetic_kind(c->kernel, p.text) == SYNTHETIC_NONE ? -ENOENT : -ECONNREFUSED;
    if (status == 0)
        status = CALL_HOST(c, fstatat(p.dirfd, p.path, out, 0));
    if (status == 0)
        status = CALL_HOST(c, faccessat(p.dirfd, p.path, W_OK, 0));
    return status == 0 && !S_ISSOCK(out->st_mode) ? -ECONNREFUSED : status;
}

int64_t paths_umask(struct call *c)
{
    unsigned old = c->kernel->identity.mask;
    c->kernel->identity.mask = (unsigned)c->arg[0] & 0777;
    return old;
}

static int64_t unlink_at(struct call *c, uint64_t dir, int path, int flags)
{
    struct paths_place p;
    struct stat st = {0};
    int64_t status = find_change(c, &p, dir, path, SANDBOX_NAME);
    if (status < 0)
        return status;
    (void)fstatat(p.dirfd, p.path, &st, AT_SYMLINK_NOFOLLOW);
    status = CALL_HOST(c, unlinkat(p.dirfd, p.path, flags));
    if (status < 0)
        return status;
    filetimes_now(c->kernel, &st, FILETIMES_CHANGE);
    filetimes_now_around(c->kernel, &p);
    attributes_removed(c->kernel, &st);
    return 0;
}

int64_t paths_unlink(struct call *c) { return unlink_at(c, HERE, 0, 0); }

int64_t paths_rmdir(struct call *c) { return unlink_at(c, HERE, 0, AT_REMOVEDIR); }

int64_t paths_unlinkat(struct call *c) { return unlink_at(c, c->arg[0], 1, (int)c->arg[2]); }

/* ------------------------------------------------------------------ two names */

static int64_t rename_at(struct call *c, uint64_t dir, int path, uint64_t new_dir, int new_path, unsigned flags)
{
    struct paths_place from, to;
    int64_t status = find_change(c, &from, dir, path, SANDBOX_NAME);
    if (status == 0)
        status = find_change(c, &to, new_dir, new_path, SANDBOX_REPLACES);
    if (status < 0)
        return status;
    struct stat moved = {0}, replaced;
    (void)fstatat(from.dirfd, from.path, &moved, AT_SYMLINK_NOFOLLOW);
    const bool replaces = fstatat(to.dirfd, to.path, &replaced, AT_SYMLINK_NOFOLLOW) == 0;
    status = CALL_HOST(c, renameat2(from.dirfd, from.path, to.dirfd, to.path, flags));
    if (status < 0 || (replaces && replaced.st_dev == moved.st_dev && replaced.st_ino == moved.st_ino))
        return status; /* two names of one inode stay */
    if (replaces)
        filetimes_now(c->kernel, &replaced, FILETIMES_CHANGE);
    filetimes_now_at(c->kernel, &to, AT_SYMLINK_NOFOLLOW, FILETIMES_CHANGE);
    filetimes_now_around(c->kernel, &from);
    filetimes_now_around(c->kernel, &to);
    return 0;
}

int64_t paths_rename(struct call *c) { return rename_at(c, HERE, 0, HERE, 1, 0); }

int64_t paths_renameat(struct call *c)
{
    unsigned flags = c->row->arg[4].kind == CALL_NONE ? 0 : (unsigned)c->arg[4];
    return rename_at(c, c->arg[0], 1, c->arg[2], 3, flags);
}

static int64_t link_at(struct call *c, uint64_t dir, int path, uint64_t new_dir, int new_path, int flags)
{
    struct paths_place from, to;
    int walk = (flags & AT_SYMLINK_FOLLOW ? 0 : AT_SYMLINK_NOFOLLOW) | (flags & AT_EMPTY_PATH);
    int64_t status = find_flagged(c, &from, dir, path, walk);
    if (status == 0 && from.synthetic)
        return -EPERM;
    if (status == 0) /* a second name is a way to change the file */
        status = confine_flagged(c, &from, path, walk);
    if (status == 0)
        status = find_change(c, &to, new_dir, new_path, SANDBOX_MAKES);
    if (status == 0)
        status = CALL_HOST(c, linkat(from.dirfd, from.path, to.dirfd, to.path, flags));
    if (status < 0)
        return status;
    filetimes_now_at(c->kernel, &to, AT_SYMLINK_NOFOLLOW, FILETIMES_CHANGE);
    filetimes_now_around(c->kernel, &to);
    return 0;
}

int64_t paths_link(struct call *c) { return link_at(c, HERE, 0, HERE, 1, 0); }

int64_t paths_linkat(struct call *c) { return link_at(c, c->arg[0], 1, c->arg[2], 3, (int)c->arg[4]); }

static int64_t symlink_at(struct call *c, uint64_t dir, int path)
{
    struct paths_place p;
    int64_t status = find_change(c, &p, dir, path, SANDBOX_MAKES);
    return status < 0 ? status : date_made(c, &p, CALL_HOST(c, symlinkat(c->ptr[0], p.dirfd, p.path)));
}

int64_t paths_symlink(struct call *c) { return symlink_at(c, HERE, 1); }

int64_t paths_symlinkat(struct call *c) { return symlink_at(c, c->arg[1], 2); }

/* ------------------------------------------------------------------ rights, owners, size, times */

/* What stands in the inode has changed: of a name; of an open file. */
static int64_t date_changed(struct call *c, const struct paths_place *p, int flags, int64_t status)
{
    if (status == 0)
        filetimes_now_at(c->kernel, p, flags & (AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH), FILETIMES_CHANGE);
    return status;
}

static int64_t date_changed_open(struct call *c, int64_t status)
{
    if (status == 0)
        filetimes_now_open(c->kernel, c->fd[0], FILETIMES_CHANGE);
    return status;
}

static int64_t chmod_at(struct call *c, uint64_t dir, int path, mode_t mode)
{
    struct paths_place p;
    int64_t status = find_change(c, &p, dir, path, SANDBOX_TARGET);
    return status < 0 ? status : date_changed(c, &p, 0, CALL_HOST(c, fchmodat(p.dirfd, p.path, mode, 0)));
}

int64_t paths_chmod(struct call *c) { return chmod_at(c, HERE, 0, (mode_t)c->arg[1]); }

int64_t paths_fchmodat(struct call *c) { return chmod_at(c, c->arg[0], 1, (mode_t)c->arg[2]); }

int64_t paths_fchmod(struct call *c)
{
    const int64_t status = sandbox_descriptor(c, c->fd[0]);
    return status < 0 ? status : date_changed_open(c, CALL_HOST(c, fchmod(c->fd[0], (mode_t)c->arg[1])));
}

/* As for a user without privileges: of files of his own, to himself and his group or that of the file. -1 leaves a
 * number as it is: 0, with the numbers for the host in *user and *group, or -EPERM. */
static int64_t may_give(const struct call *c, const struct stat *st, int first, uid_t *user, gid_t *group)
{
    const struct attributes *own = &c->kernel->attributes;
    uint32_t to_user = (uint32_t)c->arg[first], to_group = (uint32_t)c->arg[first + 1];
    bool owner = st->st_uid == own->host_user;
    *user = to_user == UINT32_MAX ? UINT32_MAX : own->host_user;
    *group = to_group == IDENTITY_USER ? own->host_group : to_group == UINT32_MAX ? UINT32_MAX : st->st_gid;
    bool user_fits = to_user == UINT32_MAX || (owner && to_user == IDENTITY_USER);
    bool group_fits = to_group == UINT32_MAX || (owner && (to_group == IDENTITY_USER ||
                                                           to_group == attributes_owner(st->st_gid, own->host_group)));
    return user_fits && group_fits ? 0 : -EPERM;
}

static int64_t chown_at(struct call *c, uint64_t dir, int path, int first, int flags)
{
    struct paths_place p;
    struct stat st;
    uid_t user;
    gid_t group;
    int64_t status = find_flagged(c, &p, dir, path, flags);
    if (status < 0 || p.synthetic)
        return status < 0 ? status : -EPERM;
    status = CALL_HOST(c, fstatat(p.dirfd, p.path, &st, flags));
    if (status == 0)
        status = may_give(c, &st, first, &user, &group);
    if (status == 0)
        status = confine_flagged(c, &p, path, flags);
    if (status == 0)
        status = CALL_HOST(c, fchownat(p.dirfd, p.path, user, group, flags));
    return date_changed(c, &p, flags, status);
}

int64_t paths_chown(struct call *c) { return chown_at(c, HERE, 0, 1, 0); }

int64_t paths_lchown(struct call *c) { return chown_at(c, HERE, 0, 1, AT_SYMLINK_NOFOLLOW); }

int64_t paths_fchownat(struct call *c) { return chown_at(c, c->arg[0], 1, 2, (int)c->arg[4]); }

int64_t paths_fchown(struct call *c)
{
    struct stat st;
    uid_t user;
    gid_t group;
    int64_t status = CALL_HOST(c, fstat(c->fd[0], &st));
    if (status == 0)
        status = may_give(c, &st, 1, &user, &group);
    if (status == 0)
        status = sandbox_descriptor(c, c->fd[0]);
    return status < 0 ? status : date_changed_open(c, CALL_HOST(c, fchown(c->fd[0], user, group)));
}

int64_t paths_truncate(struct call *c)
{
    char path[PATH_MAX];
    struct stat st = {0};
    int64_t status = find_plain_change(c, path, true, -EPERM);
    if (status == 0 && stat(path, &st) == 0 && (int64_t)c->arg[1] > 0)
        status = files_check_size(c, &st, c->arg[1]);
    if (status == 0)
        inputs_changing(c->kernel, path);
    if (status == 0)
        status = CALL_HOST(c, truncate(path, (off_t)c->arg[1]));
    if (status == 0 && st.st_size != (off_t)c->arg[1])
        filetimes_now(c->kernel, &st, FILETIMES_WRITTEN);
    return status;
}

static int64_t date_given(struct call *c, int dirfd, const char *path, const struct timespec *times, int flags,
                          int64_t status)
{
    struct stat st;
    if (status == 0 && fstatat(dirfd, path, &st, flags) == 0)
        filetimes_given(c->kernel, &st, times);
    return status;
}

static int64_t set_times(struct call *c, uint64_t dir, int path, const struct timespec *times, int flags)
{
    struct paths_place p;
    if (!c->ptr[path]) { /* no path: the descriptor itself */
        const struct fd_entry *entry = fds_at(c->kernel, dir);
        if (!entry)
            return dir == HERE ? -EFAULT : -EBADF;
        const int64_t status = sandbox_descriptor(c, entry->host);
        return status < 0
                   ? status
                   : date_given(c, entry->host, "", times, AT_EMPTY_PATH, CALL_HOST(c, futimens(entry->host, times)));
    }
    int64_t status = find_flagged(c, &p, dir, path, flags);
    if (status < 0 || p.synthetic)
        return status < 0 ? status : -EPERM;
    status = confine_flagged(c, &p, path, flags);
    if (status == 0)
        status = CALL_HOST(c, utimensat(p.dirfd, p.path, times, flags));
    return date_given(c, p.dirfd, p.path, times, flags & (AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH), status);
}

int64_t paths_utime(struct call *c)
{
    const struct utimbuf *given = c->ptr[1];
    if (!given)
        return set_times(c, HERE, 0, NULL, 0);
    const struct timespec times[2] = {{.tv_sec = given->actime}, {.tv_sec = given->modtime}};
    return set_times(c, HERE, 0, times, 0);
}

static int64_t set_timevals(struct call *c, uint64_t dir, int path)
{
    const struct timeval *given = c->ptr[path + 1];
    struct timespec times[2];
    if (!given)
        return set_times(c, dir, path, NULL, 0);
    for (int i = 0; i < 2; i++) {
        if (given[i].tv_usec < 0 || given[i].tv_usec >= 1000000)
            return -EINVAL;
        times[i] = (struct timespec){.tv_sec = given[i].tv_sec, .tv_nsec = given[i].tv_usec * 1000};
    }
    return set_times(c, dir, path, times, 0);
}

int64_t paths_utimes(struct call *c) { return set_timevals(c, HERE, 0); }

int64_t paths_futimesat(struct call *c) { return set_timevals(c, c->arg[0], 1); }

int64_t paths_utimensat(struct call *c) { return set_times(c, c->arg[0], 1, c->ptr[2], (int)c->arg[3]); }

/* ------------------------------------------------------------------ extended attributes */

static int64_t get_attribute(struct call *c, bool follow)
{
    char path[PATH_MAX];
    int64_t status = find_plain(c, path, follow, -EOPNOTSUPP);
    if (status < 0)
        return status;
    return CALL_HOST(c, follow ? getxattr(path, c->ptr[1], c->ptr[2], c->arg[3])
                               : lgetxattr(path, c->ptr[1], c->ptr[2], c->arg[3]));
}

int64_t paths_getxattr(struct call *c) { return get_attribute(c, true); }

int64_t paths_lgetxattr(struct call *c) { return get_attribute(c, false); }

int64_t paths_fgetxattr(struct call *c) { return CALL_HOST(c, fgetxattr(c->fd[0], c->ptr[1], c->ptr[2], c->arg[3])); }

static int64_t list_attributes(struct call *c, bool follow)
{
    char path[PATH_MAX];
    int64_t status = find_plain(c, path, follow, -EOPNOTSUPP);
    if (status < 0)
        return status;
    return CALL_HOST(c, follow ? listxattr(path, c->ptr[1], c->arg[2]) : llistxattr(path, c->ptr[1], c->arg[2]));
}

int64_t paths_listxattr(struct call *c) { return list_attributes(c, true); }

int64_t paths_llistxattr(struct call *c) { return list_attributes(c, false); }

int64_t paths_flistxattr(struct call *c) { return CALL_HOST(c, flistxattr(c->fd[0], c->ptr[1], c->arg[2])); }

static int64_t date_changed_plain(struct call *c, const char *path, bool follow, int64_t status)
{
    struct stat st;
    if (status == 0 && (follow ? stat(path, &st) : lstat(path, &st)) == 0)
        filetimes_now(c->kernel, &st, FILETIMES_CHANGE);
    return status;
}

static int64_t set_attribute(struct call *c, bool follow)
{
    char path[PATH_MAX];
    int64_t status = find_plain_change(c, path, follow, -EOPNOTSUPP);
    if (status < 0)
        return status;
    return date_changed_plain(c, path, follow,
                              CALL_HOST(c, follow ? setxattr(path, c->ptr[1], c->ptr[2], c->arg[3], (int)c->arg[4])
                                                  : lsetxattr(path, c->ptr[1], c->ptr[2], c->arg[3], (int)c->arg[4])));
}

int64_t paths_setxattr(struct call *c) { return set_attribute(c, true); }

int64_t paths_lsetxattr(struct call *c) { return set_attribute(c, false); }

int64_t paths_fsetxattr(struct call *c)
{
    const int64_t status = sandbox_descriptor(c, c->fd[0]);
    if (status < 0)
        return status;
    return date_changed_open(c, CALL_HOST(c, fsetxattr(c->fd[0], c->ptr[1], c->ptr[2], c->arg[3], (int)c->arg[4])));
}

static int64_t remove_attribute(struct call *c, bool follow)
{
    char path[PATH_MAX];
    int64_t status = find_plain_change(c, path, follow, -EOPNOTSUPP);
    if (status < 0)
        return status;
    return date_changed_plain(c, path, follow,
                              CALL_HOST(c, follow ? removexattr(path, c->ptr[1]) : lremovexattr(path, c->ptr[1])));
}

int64_t paths_removexattr(struct call *c) { return remove_attribute(c, true); }

int64_t paths_lremovexattr(struct call *c) { return remove_attribute(c, false); }

int64_t paths_fremovexattr(struct call *c)
{
    const int64_t status = sandbox_descriptor(c, c->fd[0]);
    return status < 0 ? status : date_changed_open(c, CALL_HOST(c, fremovexattr(c->fd[0], c->ptr[1])));
}
