/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The control data of messages.
 *
 * Model
 *   SCM_RIGHTS: the guest's numbers become the host's descriptors, and those that come entries of the guest's table.
 *   SCM_CREDENTIALS, SO_PEERCRED: the guest's own process, user and group in place of c2emu's.
 *   A confined run (sandbox.c) neither sends nor gets any: a socket that was there at the start would lead out.
 *
 * Not modelled
 *   Timers and signals by descriptor are not sent (EINVAL): what they show is this process's.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "syscalls/filetimes_priv.h"
#include "syscalls/kernel_priv.h"
#include "syscalls/paths_priv.h"
#include "syscalls/sockets_priv.h"

enum { CONTROL_MOST = 8192, CONTROL_KEPT = 253 /* SCM_MAX_FD */ };

/* ------------------------------------------------------------------ to the host */

static int64_t send_descriptors(struct call *c, int *fd, size_t count)
{
    if (count > CONTROL_KEPT)
        return -EINVAL;
    for (size_t i = 0; i < count; i++) {
        const struct fd_entry *entry = fd[i] < 0 ? NULL : fds_at(c->kernel, (uint64_t)fd[i]);
        if (!entry)
            return -EBADF;
        if (entry->pollable || entry->kind == FD_NETLINK)
            return -EINVAL;
        fd[i] = entry->host;
    }
    return 0;
}

static int64_t send_identity(const struct syscalls *kernel, struct ucred *who)
{
    if (who->pid != (pid_t)kernel->pid || who->uid != IDENTITY_USER || who->gid != IDENTITY_USER)
        return -EPERM;
    *who = (struct ucred){.pid = getpid(), .uid = geteuid(), .gid = getegid()};
    return 0;
}

static int64_t send_part(struct call *c, struct cmsghdr *part)
{
    const size_t bytes = part->cmsg_len - CMSG_LEN(0);
    if (part->cmsg_level != SOL_SOCKET)
        return -EINVAL;
    if (part->cmsg_type == SCM_RIGHTS)
        return send_descriptors(c, (int *)CMSG_DATA(part), bytes / sizeof(int));
    if (part->cmsg_type == SCM_CREDENTIALS && bytes == sizeof(struct ucred))
        return send_identity(c->kernel, (struct ucred *)CMSG_DATA(part));
    return -EINVAL;
}

/* Whether this part lies in what the guest has given. */
static bool is_whole(const struct msghdr *message, const struct cmsghdr *part)
{
    const size_t left = message->msg_controllen - (size_t)((const char *)part - (const char *)message->msg_control);
    return part->cmsg_len >= sizeof *part && part->cmsg_len <= left;
}

int64_t control_send(struct call *c, struct msghdr *message, bool inet)
{
    void *copy;
    if (message->msg_controllen == 0 || !message->msg_control) {
        message->msg_control = NULL;
        message->msg_controllen = 0;
        return 0;
    }
    if (sandbox_refuses_sockets(c->kernel))
        return -EOPNOTSUPP;
    if (message->msg_controllen > CONTROL_MOST)
        return -ENOBUFS;
    int64_t status = guest_copy(c, &copy, (uintptr_t)message->msg_control, message->msg_controllen);
    message->msg_control = copy;
    if (status < 0)
        return status;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part && status == 0; part = CMSG_NXTHDR(message, part))
        status = is_whole(message, part) ? send_part(c, part) : -EINVAL;
    if (inet) /* nothing of it is for TCP or UDP */
        message->msg_controllen = 0;
    return status;
}

/* ------------------------------------------------------------------ to the guest */

void control_room(struct call *c, struct msghdr *message)
{
    size_t bytes = message->msg_control ? message->msg_controllen : 0;
    if (bytes > CONTROL_MOST)
        bytes = CONTROL_MOST;
    if (sandbox_refuses_sockets(c->kernel) ||
        !guest_allows(c->kernel, (uintptr_t)message->msg_control, bytes, MMU_WRITE))
        bytes = 0;
    message->msg_control = bytes ? guest_room(c, bytes) : NULL;
    message->msg_controllen = bytes;
}

/* Whether a pipe or a socket is one of those that c2emu was started with. */
static bool control_is_outside(struct syscalls *kernel, const struct stat *st)
{
    struct stat other;
    for (uint64_t fd = 0; fd < kernel->fds.end; fd++) {
        const struct fd_entry *entry = fds_at(kernel, fd);
        if (entry && entry->wait == FD_WAIT_OUTSIDE && fstat(entry->host, &other) == 0 && other.st_dev == st->st_dev &&
            other.st_ino == st->st_ino)
            return true;
    }
    return false;
}

static int64_t add_received(struct call *c, int host, bool cloexec)
{
    struct stat st;
    const bool own = fds_at(c->kernel, c->arg[0])->wait == FD_WAIT_SELF;
    if (fstat(host, &st) < 0)
        return -errno;
    const bool file = S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) || S_ISBLK(st.st_mode);
    const enum fd_wait wait = file                                                                 ? FD_WAIT_NEVER
                              : own && !S_ISCHR(st.st_mode) && !control_is_outside(c->kernel, &st) ? FD_WAIT_SELF
                                                                                                   : FD_WAIT_OUTSIDE;
    const int64_t fd = fds_add(c->kernel, host, wait, cloexec);
    if (fd >= 0)
        filetimes_know(fds_at(c->kernel, (uint64_t)fd), &st);
    if (fd >= 0 && paths_is_random(&st))
        fds_at(c->kernel, (uint64_t)fd)->kind = FD_RANDOM;
    return fd;
}

/* As many as there is room for in the table; what is left over is closed, and the flags say so. */
static void receive_descriptors(struct call *c, struct msghdr *message, struct cmsghdr *part, bool cloexec)
{
    int *fd = (int *)CMSG_DATA(part);
    const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof *fd;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const int64_t added = kept == i ? add_received(c, fd[i], cloexec) : -EMFILE;
        if (kept < i)
            close(fd[i]);
        if (added >= 0)
            fd[kept++] = (int)added;
    }
    if (kept < count)
        message->msg_flags |= MSG_CTRUNC;
    part->cmsg_len = CMSG_LEN(kept * sizeof *fd);
}

static struct ucred identity_of(const struct syscalls *kernel, const struct ucred *host)
{
    return (struct ucred){.pid = (pid_t)processes_number(kernel, host->pid),
                          .uid = host->uid == (uid_t)-1 ? host->uid : attributes_owner(host->uid, geteuid()),
                          .gid = host->gid == (gid_t)-1 ? host->gid : attributes_owner(host->gid, getegid())};
}

void control_receive(struct call *c, struct msghdr *message, bool cloexec)
{
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
        if (part->cmsg_level != SOL_SOCKET)
            continue;
        if (part->cmsg_type == SCM_RIGHTS)
            receive_descriptors(c, message, part, cloexec);
        if (part->cmsg_type == SCM_CREDENTIALS) {
            struct ucred *who = (struct ucred *)CMSG_DATA(part);
            *who = identity_of(c->kernel, who);
        }
    }
}

int64_t control_peer(struct call *c, struct ucred *out)
{
    socklen_t bytes = sizeof *out;
    if (getsockopt(c->fd[0], SOL_SOCKET, SO_PEERCRED, out, &bytes) < 0)
        return -errno;
    *out = identity_of(c->kernel, out);
    return 0;
}
