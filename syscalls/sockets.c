/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Sockets: a pair of the guest's own works; there is no network and nobody listens.
 *
 * Model
 *   socket(AF_UNIX) succeeds so that libraries which ask a local daemon find none (ENOENT) and go on, as on a machine
 *   without it. socketpair gives two connected host sockets.
 *
 * Not modelled
 *   Other families (EAFNOSUPPORT), servers, addresses, control data, options that are not ints.
 */
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "syscalls/kernel_priv.h"

int64_t sockets_socket(struct call *c)
{
    int type = (int)c->arg[1];
    if ((int)c->arg[0] != AF_UNIX)
        return -EAFNOSUPPORT;
    return fds_add(c->kernel, socket(AF_UNIX, type | SOCK_CLOEXEC, (int)c->arg[2]), FD_WAIT_SELF, type & SOCK_CLOEXEC);
}

int64_t sockets_pair(struct call *c)
{
    int type = (int)c->arg[1], host[2];
    if ((int)c->arg[0] != AF_UNIX)
        return -EAFNOSUPPORT;
    if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, (int)c->arg[2], host) < 0)
        return -errno;
    return fds_add_pair(c->kernel, host, type & SOCK_CLOEXEC, c->ptr[3]);
}

static bool is_socket(const struct call *c)
{
    int type;
    socklen_t bytes = sizeof type;
    return getsockopt(c->fd[0], SOL_SOCKET, SO_TYPE, &type, &bytes) == 0;
}

int64_t sockets_connect(struct call *c)
{
    const struct sockaddr_un *address = c->ptr[1];
    if (!is_socket(c))
        return -ENOTSOCK;
    if (c->arg[2] < sizeof(sa_family_t) || c->arg[2] > sizeof *address || address->sun_family != AF_UNIX)
        return -EINVAL;
    bool named = c->arg[2] > sizeof(sa_family_t) && address->sun_path[0] != '\0';
    return named ? -ENOENT : -ECONNREFUSED;
}

int64_t sockets_refused(struct call *c) { return is_socket(c) ? -EACCES : -ENOTSOCK; }

int64_t sockets_invalid(struct call *c) { return is_socket(c) ? -EINVAL : -ENOTSOCK; }

/* ------------------------------------------------------------------ data */

static bool would_wait(const struct call *c, int flags, short events)
{
    return !(flags & MSG_DONTWAIT) && fds_never_ready(fds_at(c->kernel, c->arg[0]), events);
}

static int64_t sent(struct call *c, int flags, int64_t value)
{
    return value == -EPIPE && !(flags & MSG_NOSIGNAL) ? call_broken_pipe(c) : value;
}

int64_t sockets_send(struct call *c)
{
    int flags = (int)c->arg[3];
    if (c->arg[4])
        return is_socket(c) ? -EISCONN : -ENOTSOCK;
    if (would_wait(c, flags, POLLOUT))
        return call_deadlock(c, "it sends to itself, and there is no room");
    return sent(c, flags, CALL_HOST(c, send(c->fd[0], c->ptr[1], c->arg[2], flags)));
}

int64_t sockets_receive(struct call *c)
{
    const uint32_t none = 0;
    int flags = (int)c->arg[3];
    if (would_wait(c, flags, POLLIN))
        return call_deadlock(c, "it receives from itself, and nothing is there");
    int64_t value = CALL_HOST(c, recv(c->fd[0], c->ptr[1], c->arg[2], flags));
    if (value >= 0 && c->arg[4] && c->arg[5]) {
        int64_t status = guest_write(c, c->arg[5], &none, sizeof none);
        return status < 0 ? status : value;
    }
    return value;
}

/* The iovecs of a message, checked for the access the kernel makes. */
static int64_t check_message(struct call *c, const struct msghdr *message, unsigned prot)
{
    if (message->msg_iovlen > IOV_MAX)
        return -EMSGSIZE;
    int64_t status = guest_check_read(c, (uintptr_t)message->msg_iov, message->msg_iovlen * sizeof(struct iovec));
    for (size_t i = 0; i < message->msg_iovlen && status == 0; i++) {
        uint64_t base = (uintptr_t)message->msg_iov[i].iov_base, bytes = message->msg_iov[i].iov_len;
        if (!guest_allows(c->kernel, base, bytes, prot))
            return -EFAULT;
        if (prot == MMU_READ)
            status = guest_touch(c, base, bytes, MMU_ACCESS_READ);
    }
    return status;
}

int64_t sockets_send_message(struct call *c)
{
    struct msghdr message = *(const struct msghdr *)c->ptr[1];
    int flags = (int)c->arg[2];
    int64_t status = check_message(c, &message, MMU_READ);
    if (status < 0)
        return status;
    if (message.msg_name || message.msg_controllen)
        return is_socket(c) ? -EOPNOTSUPP : -ENOTSOCK;
    if (would_wait(c, flags, POLLOUT))
        return call_deadlock(c, "it sends to itself, and there is no room");
    return sent(c, flags, CALL_HOST(c, sendmsg(c->fd[0], &message, flags)));
}

static int64_t touch_received(struct call *c, const struct msghdr *message, uint64_t bytes)
{
    int64_t status = 0;
    for (size_t i = 0; i < message->msg_iovlen && status == 0 && bytes; i++) {
        uint64_t part = message->msg_iov[i].iov_len < bytes ? message->msg_iov[i].iov_len : bytes;
        status = guest_touch(c, (uintptr_t)message->msg_iov[i].iov_base, part, MMU_ACCESS_WRITE);
        bytes -= part;
    }
    return status;
}

int64_t sockets_receive_message(struct call *c)
{
    struct msghdr *guest = c->ptr[1], message = *guest;
    int flags = (int)c->arg[2];
    int64_t status = check_message(c, &message, MMU_WRITE);
    if (status < 0)
        return status;
    message.msg_name = message.msg_control = NULL;
    message.msg_namelen = 0;
    message.msg_controllen = 0;
    if (would_wait(c, flags, POLLIN))
        return call_deadlock(c, "it receives from itself, and nothing is there");
    int64_t value = CALL_HOST(c, recvmsg(c->fd[0], &message, flags));
    if (value < 0 || (status = touch_received(c, &message, (uint64_t)value)) < 0)
        return value < 0 ? value : status;
    guest->msg_namelen = 0;
    guest->msg_controllen = 0;
    guest->msg_flags = message.msg_flags;
    return value;
}

int64_t sockets_shutdown(struct call *c) { return CALL_HOST(c, shutdown(c->fd[0], (int)c->arg[1])); }

/* ------------------------------------------------------------------ names and options */

static int64_t give_name(struct call *c)
{
    const sa_family_t family = AF_UNIX;
    uint32_t *bytes = c->ptr[2], part = *bytes < sizeof family ? *bytes : (uint32_t)sizeof family;
    if ((int32_t)*bytes < 0)
        return -EINVAL;
    *bytes = sizeof family;
    return guest_write(c, c->arg[1], &family, part);
}

int64_t sockets_name(struct call *c) { return is_socket(c) ? give_name(c) : -ENOTSOCK; }

int64_t sockets_peer(struct call *c)
{
    struct sockaddr_un peer;
    socklen_t bytes = sizeof peer;
    if (getpeername(c->fd[0], (struct sockaddr *)&peer, &bytes) < 0)
        return -errno;
    return give_name(c);
}

int64_t sockets_set_option(struct call *c)
{
    if (!is_socket(c))
        return -ENOTSOCK;
    if ((int)c->arg[1] != SOL_SOCKET || c->arg[4] != sizeof(int))
        return -ENOPROTOOPT;
    return CALL_HOST(c, setsockopt(c->fd[0], SOL_SOCKET, (int)c->arg[2], c->ptr[3], sizeof(int)));
}

/* Options with an int that says nothing about c2emu itself (SO_PEERCRED would). */
static bool may_ask(int option)
{
    switch (option) {
    case SO_TYPE:
    case SO_ERROR:
    case SO_DOMAIN:
    case SO_PROTOCOL:
    case SO_ACCEPTCONN:
    case SO_REUSEADDR:
    case SO_KEEPALIVE:
    case SO_BROADCAST:
    case SO_PASSCRED:
    case SO_SNDBUF:
    case SO_RCVBUF:
        return true;
    default:
        return false;
    }
}

int64_t sockets_get_option(struct call *c)
{
    int value = 0;
    socklen_t bytes = sizeof value;
    uint32_t *room = c->ptr[4];
    if (!is_socket(c))
        return -ENOTSOCK;
    if ((int)c->arg[1] != SOL_SOCKET || !may_ask((int)c->arg[2]))
        return -ENOPROTOOPT;
    if ((int32_t)*room < 0)
        return -EINVAL;
    if (getsockopt(c->fd[0], SOL_SOCKET, (int)c->arg[2], &value, &bytes) < 0)
        return -errno;
    *room = *room < bytes ? *room : bytes;
    return guest_write(c, c->arg[3], &value, *room);
}
