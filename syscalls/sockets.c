/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Sockets: a pair of the guest's own works; there is no network and nobody listens.
 *
 * Model
 *   socket(AF_UNIX) succeeds so that libraries which ask a local daemon find none (ENOENT) and go on, as on a machine
 *   without it. socketpair gives two connected host sockets; a call on one that only the other end, the guest's own,
 *   could end is a deadlock: the host is asked without waiting.
 *
 * Not modelled
 *   Other families (EAFNOSUPPORT), servers, addresses, control data, options that are not ints.
 */
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "syscalls/kernel_priv.h"

int64_t sockets_socket(struct call *c)
{
    int type = (int)c->arg[1];
    if ((int)c->arg[0] != AF_UNIX)
        return -EAFNOSUPPORT;
    if (sandbox_refuses_sockets(c->kernel))
        return -EACCES;
    return fds_add(c->kernel, socket(AF_UNIX, type | SOCK_CLOEXEC, (int)c->arg[2]), FD_WAIT_SELF, type & SOCK_CLOEXEC);
}

int64_t sockets_pair(struct call *c)
{
    int type = (int)c->arg[1], host[2];
    if ((int)c->arg[0] != AF_UNIX)
        return -EAFNOSUPPORT;
    if (sandbox_refuses_sockets(c->kernel))
        return -EACCES;
    if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, (int)c->arg[2], host) < 0)
        return -errno;
    return fds_add_pair(c->kernel, host, type & SOCK_CLOEXEC, c->ptr[3]);
}

/* 0, or what Linux says to a descriptor that is no socket: mostly -ENOTSOCK. */
static int64_t check_socket(const struct call *c)
{
    int type;
    socklen_t bytes = sizeof type;
    return getsockopt(c->fd[0], SOL_SOCKET, SO_TYPE, &type, &bytes) < 0 ? -errno : 0;
}

static int64_t refuse(const struct call *c, int64_t error)
{
    int64_t status = check_socket(c);
    return status < 0 ? status : error;
}

int64_t sockets_connect(struct call *c)
{
    const struct sockaddr_un *address = c->ptr[1];
    int64_t status = check_socket(c);
    if (status < 0)
        return status;
    if (c->arg[2] < sizeof(sa_family_t) || c->arg[2] > sizeof *address || address->sun_family != AF_UNIX)
        return -EINVAL;
    bool named = c->arg[2] > sizeof(sa_family_t) && address->sun_path[0] != '\0';
    return named ? -ENOENT : -ECONNREFUSED;
}

int64_t sockets_refused(struct call *c) { return refuse(c, -EACCES); }

int64_t sockets_invalid(struct call *c) { return refuse(c, -EINVAL); }

/* ------------------------------------------------------------------ data */

/* Whether a wait of this call could be ended by nobody but the guest: then the host must not begin it. */
static bool waits_for_itself(const struct call *c, int flags)
{
    const struct fd_entry *entry = fds_at(c->kernel, c->arg[0]);
    return !(flags & MSG_DONTWAIT) && entry->wait == FD_WAIT_SELF && !(fcntl(entry->host, F_GETFL) & O_NONBLOCK);
}

static bool is_stream(const struct call *c)
{
    int type = 0;
    socklen_t bytes = sizeof type;
    return getsockopt(c->fd[0], SOL_SOCKET, SO_TYPE, &type, &bytes) == 0 && type == SOCK_STREAM;
}

/* What is left of a message of which so many bytes are done. */
static struct msghdr rest_of(const struct msghdr *message, struct iovec rest[IOV_MAX], uint64_t done)
{
    struct msghdr left = *message;
    if (done == 0)
        return left;
    left.msg_iov = rest;
    left.msg_iovlen = (size_t)call_skip(rest, message->msg_iov, (int)message->msg_iovlen, done);
    return left;
}

static int64_t send_message(struct call *c, const struct msghdr *message, int flags)
{
    bool self = waits_for_itself(c, flags);
    struct iovec rest[IOV_MAX];
    uint64_t total = 0, done = c->again ? c->waited->done : 0;
    const struct msghdr left = rest_of(message, rest, done);
    for (size_t i = 0; i < left.msg_iovlen; i++)
        total += left.msg_iov[i].iov_len;
    int64_t value = CALL_HOST(c, sendmsg(c->fd[0], &left, flags | (self ? MSG_DONTWAIT : 0)));
    if (self && (value == -EAGAIN || (value >= 0 && (uint64_t)value < total)))
        return call_wait_fd(c, fds_at(c->kernel, c->arg[0]), POLLOUT, "it sends to itself, and there is no room",
                            done + (value > 0 ? (uint64_t)value : 0));
    if (value == -EPIPE && !(flags & MSG_NOSIGNAL))
        value = call_broken_pipe(c, c->fd[0]);
    return done == 0 ? value : (int64_t)done + (value > 0 ? value : 0);
}

/* MSG_WAITALL waits on after `bytes` of `total` bytes: unless the other end is closed. */
static bool waits_for_more(const struct call *c, int flags, uint64_t bytes, uint64_t total)
{
    char next;
    if (!(flags & MSG_WAITALL) || bytes == 0 || bytes >= total || !is_stream(c))
        return false;
    return recv(c->fd[0], &next, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

static int64_t receive_message(struct call *c, struct msghdr *message, int flags)
{
    bool self = waits_for_itself(c, flags);
    struct iovec rest[IOV_MAX];
    uint64_t total = 0, done = c->again ? c->waited->done : 0;
    struct msghdr left = rest_of(message, rest, done);
    for (size_t i = 0; i < left.msg_iovlen; i++)
        total += left.msg_iov[i].iov_len;
    int64_t value = CALL_HOST(c, recvmsg(c->fd[0], &left, flags | (self ? MSG_DONTWAIT : 0)));
    message->msg_flags = left.msg_flags;
    if (value > 0 && !(flags & MSG_PEEK))
        inputs_took(c->kernel, fds_at(c->kernel, c->arg[0]), left.msg_iov, (uint64_t)value);
    if (self && value == -EAGAIN && fds_is_shut(fds_at(c->kernel, c->arg[0]))) {
        message->msg_flags = 0;
        return (int64_t)done;
    }
    if (self && (value == -EAGAIN || (value >= 0 && waits_for_more(c, flags, (uint64_t)value, total))))
        return call_wait_fd(c, fds_at(c->kernel, c->arg[0]), POLLIN, "it receives from itself, and nothing is there",
                            done + (value > 0 ? (uint64_t)value : 0));
    return done == 0 ? value : (int64_t)done + (value > 0 ? value : 0);
}

int64_t sockets_send(struct call *c)
{
    struct iovec one = {.iov_base = c->ptr[1], .iov_len = c->arg[2]};
    const struct msghdr message = {.msg_iov = &one, .msg_iovlen = 1};
    if (c->arg[4])
        return refuse(c, -EISCONN);
    return send_message(c, &message, (int)c->arg[3]);
}

/* The sender has no address: its length is 0. */
static int64_t give_no_address(struct call *c, uint64_t length)
{
    int32_t room;
    const int32_t none = 0;
    int64_t status = guest_read(c, &room, length, sizeof room);
    if (status < 0)
        return status;
    return room < 0 ? -EINVAL : guest_write(c, length, &none, sizeof none);
}

int64_t sockets_receive(struct call *c)
{
    struct iovec one = {.iov_base = c->ptr[1], .iov_len = c->arg[2]};
    struct msghdr message = {.msg_iov = &one, .msg_iovlen = 1};
    int64_t value = receive_message(c, &message, (int)c->arg[3]), status = 0;
    if (value >= 0 && c->arg[4])
        status = give_no_address(c, c->arg[5]);
    return status < 0 ? status : value;
}

/* The guest's message with a copy of its iovecs. */
static int64_t copy_message(struct call *c, struct msghdr *message, unsigned access)
{
    *message = *(const struct msghdr *)c->ptr[1];
    if (message->msg_iovlen > IOV_MAX)
        return -EMSGSIZE;
    return guest_copy_iov(c, &message->msg_iov, (uintptr_t)message->msg_iov, message->msg_iovlen, access);
}

int64_t sockets_send_message(struct call *c)
{
    struct msghdr message;
    int64_t status = copy_message(c, &message, CALL_READS);
    if (status < 0)
        return status;
    if (message.msg_name || message.msg_controllen)
        return refuse(c, -EOPNOTSUPP);
    return send_message(c, &message, (int)c->arg[2]);
}

/* What Linux writes to the guest's own structure, after the data: no name, no control data, the flags. */
static int64_t give_message(struct call *c, const struct msghdr *asked, int flags)
{
    const uint64_t at = c->arg[1], none = 0;
    int64_t status = asked->msg_name ? give_no_address(c, at + offsetof(struct msghdr, msg_namelen)) : 0;
    if (status == 0)
        status = guest_write(c, at + offsetof(struct msghdr, msg_flags), &flags, sizeof flags);
    return status < 0 ? status : guest_write(c, at + offsetof(struct msghdr, msg_controllen), &none, sizeof none);
}

int64_t sockets_receive_message(struct call *c)
{
    struct msghdr message, asked;
    int64_t status = copy_message(c, &message, CALL_WRITES);
    if (status < 0)
        return status;
    asked = message;
    message.msg_name = message.msg_control = NULL;
    message.msg_namelen = 0;
    message.msg_controllen = 0;
    int64_t value = receive_message(c, &message, (int)c->arg[2]);
    if (value < 0)
        return value;
    status = guest_touch_iov(c, message.msg_iov, message.msg_iovlen, (uint64_t)value);
    if (status == 0)
        status = give_message(c, &asked, message.msg_flags);
    return status < 0 ? status : value;
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

int64_t sockets_name(struct call *c)
{
    int64_t status = check_socket(c);
    return status < 0 ? status : give_name(c);
}

int64_t sockets_peer(struct call *c)
{
    struct sockaddr_un peer;
    socklen_t bytes = sizeof peer;
    if (getpeername(c->fd[0], (struct sockaddr *)&peer, &bytes) < 0)
        return -errno;
    return give_name(c);
}

/* Options with an int that say nothing about c2emu itself (SO_PEERCRED would) and do not change when a call waits
 * (SO_RCVLOWAT would). */
static bool is_known_option(int option)
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

int64_t sockets_set_option(struct call *c)
{
    int64_t status = check_socket(c);
    if (status < 0)
        return status;
    if ((int)c->arg[1] != SOL_SOCKET || c->arg[4] != sizeof(int) || !is_known_option((int)c->arg[2]))
        return -ENOPROTOOPT;
    return CALL_HOST(c, setsockopt(c->fd[0], SOL_SOCKET, (int)c->arg[2], c->ptr[3], sizeof(int)));
}

int64_t sockets_get_option(struct call *c)
{
    int value = 0;
    socklen_t bytes = sizeof value;
    uint32_t *room = c->ptr[4];
    int64_t status = check_socket(c);
    if (status < 0)
        return status;
    if ((int)c->arg[1] != SOL_SOCKET || !is_known_option((int)c->arg[2]))
        return -ENOPROTOOPT;
    if ((int32_t)*room < 0)
        return -EINVAL;
    if (getsockopt(c->fd[0], SOL_SOCKET, (int)c->arg[2], &value, &bytes) < 0)
        return -errno;
    *room = *room < bytes ? *room : bytes;
    return guest_write(c, c->arg[3], &value, *room);
}
