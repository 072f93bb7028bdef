/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Sockets: AF_UNIX, and TCP and UDP of the guest's own loopback.
 *
 * Model
 *   Each is a socket of the host's AF_UNIX (network.c says what its name is). The socket of a name is found among
 *   the sockets of the run alone: daemons of the host are not reached, and libraries that ask for one find none and go
 *   on. Of a call that only the guest's own sockets could end, the host is asked without waiting; the thread waits.
 *   How long at most (SO_RCVTIMEO, SO_SNDTIMEO) the host's socket keeps, for all processes that have it: as so many
 *   seconds as the guest says microseconds, for the host rounds to its own clock. The host never waits there.
 *
 * Not modelled
 *   Families other than AF_UNIX, AF_INET, AF_INET6 and AF_NETLINK (EAFNOSUPPORT), raw sockets, addresses beyond the
 *   loopback (ENETUNREACH). A connection is there or refused at once: a TCP socket that does not wait hears EINPROGRESS
 *   where it is there, but ECONNREFUSED where there is no listener.
 */
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "syscalls/kernel_priv.h"
#include "syscalls/network_priv.h"
#include "syscalls/sockets_priv.h"

/* ------------------------------------------------------------------ making */

enum { TYPE = 0xf, TYPES = 11, FAMILIES = 46, PROTOCOLS = 263 }; /* one more than Linux's highest */

/* TCP or UDP: the number of the protocol, or -errno. */
static int64_t protocol_of(int type, int protocol)
{
    const int own = (type & TYPE) == SOCK_STREAM ? IPPROTO_TCP : (type & TYPE) == SOCK_DGRAM ? IPPROTO_UDP : 0;
    if (protocol < 0 || protocol >= PROTOCOLS)
        return -EINVAL;
    if ((type & TYPE) == SOCK_RAW)
        return protocol == 0 ? -EPROTONOSUPPORT : -EPERM;
    if (!own)
        return -ESOCKTNOSUPPORT;
    return protocol == 0 || protocol == own ? own : -EPROTONOSUPPORT;
}

static int64_t sockets_check_type(int family, int type)
{
    if (type & ~TYPE & ~(SOCK_CLOEXEC | SOCK_NONBLOCK))
        return -EINVAL;
    return family >= 0 && family < FAMILIES && (type & TYPE) >= TYPES ? -EINVAL : 0;
}

/* 0, or why there are no sockets of this family. */
static int64_t check_family(const struct call *c, int family)
{
    const bool inet = family == AF_INET || family == AF_INET6 || family == AF_NETLINK;
    if (family != AF_UNIX && !inet)
        return -EAFNOSUPPORT;
    return sandbox_refuses_sockets(c->kernel) || (inet && c->kernel->no_network) ? -EACCES : 0;
}

/* Takes the host's. */
static int64_t add_inet(struct call *c, int host, int family, int type, int protocol)
{
    struct network_name *name;
    const int64_t status = host < 0 ? -errno
                                    : network_add(c->kernel->network, host, family, type & TYPE, protocol, &name);
    if (status == 0)
        return fds_add(c->kernel, host, FD_WAIT_SELF, type & SOCK_CLOEXEC);
    if (host >= 0)
        close(host);
    return status;
}

int64_t sockets_socket(struct call *c)
{
    const int family = (int)c->arg[0], type = (int)c->arg[1];
    int64_t protocol = sockets_check_type(family, type);
    if (protocol == 0)
        protocol = check_family(c, family);
    if (protocol == 0 && family == AF_NETLINK)
        return netlink_socket(c);
    if (protocol == 0 && family != AF_UNIX)
        protocol = protocol_of(type, (int)c->arg[2]);
    if (protocol < 0)
        return protocol;
    if (fds_lowest_free(c->kernel, 0) < 0)
        return -EMFILE;
    const int host = socket(AF_UNIX, type | SOCK_CLOEXEC, family == AF_UNIX ? (int)c->arg[2] : 0);
    return family == AF_UNIX ? fds_add(c->kernel, host, FD_WAIT_SELF, type & SOCK_CLOEXEC)
                             : add_inet(c, host, family, type, (int)protocol);
}

int64_t sockets_pair(struct call *c)
{
    const int family = (int)c->arg[0], type = (int)c->arg[1];
    int host[2];
    int64_t status = sockets_check_type(family, type);
    if (status == 0 && (family == AF_INET || family == AF_INET6)) {
        status = protocol_of(type, (int)c->arg[2]);
        return status < 0 ? status : -EOPNOTSUPP;
    }
    if (status == 0)
        status = check_family(c, family);
    if (status < 0)
        return status;
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

static struct network_name *sockets_name_of(const struct call *c) { return network_of(c->kernel->network, c->fd[0]); }

static bool is_inet(const struct network_name *name) { return name && name->family != AF_UNIX; }

/* ------------------------------------------------------------------ names */

/* The address of bind and connect. */
static int64_t take_address(struct call *c, struct network_address *out)
{
    int64_t status = check_socket(c);
    if (status < 0)
        return status;
    *out = (struct network_address){.bytes = (socklen_t)c->arg[2]};
    memcpy(&out->at, c->ptr[1], out->bytes); /* the row says how long it may be */
    return out->bytes < sizeof(sa_family_t) ? -EINVAL : 0;
}

int64_t sockets_bind(struct call *c)
{
    struct network_address address;
    int64_t status = take_address(c, &address);
    if (status < 0)
        return status;
    if (sandbox_refuses_sockets(c->kernel))
        return -EACCES;
    if (netlink_is(c))
        return address.at.ss_family == AF_NETLINK ? 0 : -EINVAL;
    struct network_name *name = sockets_name_of(c);
    return is_inet(name) ? network_bind_inet(c->kernel->network, name, &address)
                         : network_bind_unix(c, c->fd[0], &address);
}

/* More than the host lets wait to be accepted cannot be open (listen): where it would wait, it says EAGAIN. */
static int64_t connect_host(struct call *c, const struct sockaddr_un *host, socklen_t bytes)
{
    const struct fd_entry *entry = fds_at(c->kernel, c->arg[0]);
    bool self = fds_unblock(entry);
    int64_t value = CALL_HOST(c, connect(c->fd[0], (const struct sockaddr *)host, bytes));
    fds_reblock(entry, self);
    return value;
}

/* One that does not wait hears that a connection comes; it is there when it asks again, or polls. */
static int64_t answer_connected(const struct call *c, struct network_name *name)
{
    name->connecting = fcntl(c->fd[0], F_GETFL) & O_NONBLOCK;
    return name->connecting ? -EINPROGRESS : 0;
}

static int64_t connect_inet(struct call *c, struct network_name *name, struct network_address *to)
{
    struct network *network = c->kernel->network;
    struct sockaddr_un host;
    socklen_t bytes;
    const bool datagrams = network_is_datagrams(name);
    if (to->at.ss_family == AF_UNSPEC && datagrams) {
        network_disconnected(name);
        return 0;
    }
    if (name->connecting) {
        name->connecting = false;
        return 0;
    }
    int64_t status = network_check_inet(name, to);
    if (status == 0)
        status = network_bind_any(network, name);
    if (status == 0 && !datagrams)
        status = network_find_inet(network, name, to, &host, &bytes);
    if (status == 0 && !datagrams)
        status = connect_host(c, &host, bytes);
    if (status < 0)
        return status;
    network_connected(name, to);
    return datagrams ? 0 : answer_connected(c, name);
}

static int64_t connect_unix(struct call *c, const struct network_address *to)
{
    struct sockaddr_un host = {.sun_family = AF_UNSPEC};
    socklen_t bytes = sizeof(sa_family_t);
    int type = 0;
    socklen_t type_bytes = sizeof type;
    getsockopt(c->fd[0], SOL_SOCKET, SO_TYPE, &type, &type_bytes);
    int64_t status = to->at.ss_family == AF_UNSPEC ? 0 : network_find_unix(c, type, to, &host, &bytes);
    return status < 0 ? status : connect_host(c, &host, bytes);
}

int64_t sockets_connect(struct call *c)
{
    struct network_address to;
    int64_t status = take_address(c, &to);
    if (status < 0)
        return status;
    if (netlink_is(c))
        return to.at.ss_family == AF_NETLINK ? 0 : -EINVAL;
    struct network_name *name = sockets_name_of(c);
    return is_inet(name) ? connect_inet(c, name, &to) : connect_unix(c, &to);
}

/* So many that a connection never waits for an accept before it. */
int64_t sockets_listen(struct call *c)
{
    enum { MANY = 4096 };
    struct network_name *name = sockets_name_of(c);
    if (sandbox_refuses_sockets(c->kernel)) {
        const int64_t status = check_socket(c);
        return status < 0 ? status : -EACCES;
    }
    if (is_inet(name) && !network_is_datagrams(name)) {
        int64_t status = network_bind_any(c->kernel->network, name);
        if (status == 0)
            status = network_listen(c->kernel->network, name);
        if (status < 0)
            return status;
    }
    return CALL_HOST(c, listen(c->fd[0], MANY));
}

/* An address to where the guest wants it: Linux writes as much as there is room for, and how much there was. */
static int64_t give_address(struct call *c, const struct network_address *from, uint64_t to, uint64_t length)
{
    int32_t room;
    int64_t status = guest_read(c, &room, length, sizeof room);
    if (status < 0)
        return status;
    if (room < 0)
        return -EINVAL;
    const uint64_t part = (uint64_t)room < from->bytes ? (uint64_t)room : from->bytes;
    status = part ? guest_write(c, to, &from->at, part) : 0;
    return status < 0 ? status : guest_write(c, length, &from->bytes, sizeof from->bytes);
}

static int64_t accepted(struct call *c, int host, const struct sockaddr_un *from, socklen_t bytes, int flags)
{
    struct network_address peer;
    struct network *network = c->kernel->network;
    const struct network_name *own = network_of(network, host);
    network_show(network_at(network, from, bytes), own ? own->family : AF_UNIX, &peer);
    const int64_t fd = fds_add(c->kernel, host, FD_WAIT_SELF, flags & SOCK_CLOEXEC);
    const int64_t status = fd >= 0 && c->arg[1] ? give_address(c, &peer, c->arg[1], c->arg[2]) : 0;
    if (status < 0)
        fds_release(fds_at(c->kernel, (uint64_t)fd));
    return status < 0 ? status : fd;
}

static int64_t accept_one(struct call *c, int flags)
{
    const struct fd_entry *entry = fds_at(c->kernel, c->arg[0]);
    struct sockaddr_un from;
    socklen_t bytes = sizeof from;
    if (flags & ~(SOCK_CLOEXEC | SOCK_NONBLOCK))
        return -EINVAL;
    if (check_socket(c) == -EBADF) /* open with O_PATH */
        return -EBADF;
    if (fds_lowest_free(c->kernel, 0) < 0)
        return -EMFILE;
    bool self = fds_unblock(entry);
    const int64_t host = CALL_HOST(c, accept4(c->fd[0], (struct sockaddr *)&from, &bytes, flags | SOCK_CLOEXEC));
    fds_reblock(entry, self);
    if (host == -EAGAIN && self)
        return call_wait_fd(c, entry, POLLIN, "nobody connects to it", 0);
    return host < 0 ? host : accepted(c, (int)host, &from, bytes, flags);
}

int64_t sockets_accept(struct call *c) { return accept_one(c, 0); }

int64_t sockets_accept4(struct call *c) { return accept_one(c, (int)c->arg[3]); }

/* ------------------------------------------------------------------ data */

/* Whether a wait of this call could be ended by the guest only: then the host must not begin it. */
static bool waits_for_itself(const struct call *c, int flags)
{
    const struct fd_entry *entry = fds_at(c->kernel, c->arg[0]);
    return !(flags & MSG_DONTWAIT) && entry->wait == FD_WAIT_SELF && !(fcntl(entry->host, F_GETFL) & O_NONBLOCK);
}

static bool is_of_type(const struct call *c, int wanted)
{
    int type = 0;
    socklen_t bytes = sizeof type;
    return getsockopt(c->fd[0], SOL_SOCKET, SO_TYPE, &type, &bytes) == 0 && type == wanted;
}

static bool is_stream(const struct call *c) { return is_of_type(c, SOCK_STREAM); }

/* What is left of a message of which so many bytes are done. */
static struct msghdr rest_of(const struct msghdr *message, struct iovec rest[IOV_MAX], uint64_t done)
{
    struct msghdr left = *message;
    if (done == 0)
        return left;
    left.msg_control = NULL; /* it went with the first */
    left.msg_controllen = 0;
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
    if (value == -EPIPE)
        value = resets_write(c, c->fd[0], total);
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
    message->msg_namelen = left.msg_namelen;
    message->msg_controllen = left.msg_controllen;
    if (total > 0 && done == 0)
        value = resets_read(c, c->fd[0], value);
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

/* ------------------------------------------------------------------ peers */

/* A destination without a socket: a datagram goes there, and is gone. */
enum { GONE = 1 };

/* The destination of an INET socket's datagrams. */
static int64_t find_inet(struct call *c, struct network_name *name, struct network_address *to, bool given,
                         struct msghdr *message)
{
    struct network *network = c->kernel->network;
    if (!given && name->to.bytes == 0)
        return -EDESTADDRREQ;
    if (!given)
        *to = name->to;
    int64_t status = network_check_inet(name, to);
    if (status == 0 && given && !network_has_port(to))
        status = -EINVAL;
    if (status == 0)
        status = network_bind_any(network, name);
    if (status == 0)
        status = network_find_inet(network, name, to, message->msg_name, &message->msg_namelen);
    return status == -ECONNREFUSED && given ? GONE : status;
}

/* Of a socket of datagrams: Linux finds this out before it looks for their destination. */
static bool is_shut_for_sending(const struct call *c)
{
    const struct sockaddr_un nobody = {.sun_family = AF_UNIX, .sun_path = "\0c2emu: nobody"};
    return sendto(c->fd[0], NULL, 0, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)&nobody, sizeof nobody) <
               0 &&
           errno == EPIPE;
}

static int64_t find_unix(struct call *c, const struct network_address *to, struct msghdr *message)
{
    struct sockaddr_un peer;
    socklen_t bytes = sizeof peer;
    if (is_stream(c))
        return getpeername(c->fd[0], (struct sockaddr *)&peer, &bytes) == 0 ? -EISCONN : -EOPNOTSUPP;
    const int64_t status = network_find_unix(c, SOCK_DGRAM, to, message->msg_name, &message->msg_namelen);
    return status < 0 && status != -EINVAL && is_shut_for_sending(c) ? -EPIPE : status;
}

/* Makes of the guest's address, if it gives one, the host's, in `room`. 0, GONE or -errno. */
static int64_t direct(struct call *c, struct msghdr *message, uint64_t address, uint64_t bytes,
                      struct sockaddr_un *room)
{
    struct network_name *name = sockets_name_of(c);
    struct network_address to = {.bytes = (socklen_t)bytes};
    message->msg_name = NULL;
    message->msg_namelen = 0;
    if (address && bytes > sizeof to.at)
        return -EINVAL;
    if (bytes == 0)
        address = 0;
    int64_t status = address ? guest_read(c, &to.at, address, bytes) : 0;
    if (status == 0)
        status = check_socket(c);
    if (status < 0)
        return status;
    if (is_inet(name) ? !network_is_datagrams(name) : !address || is_of_type(c, SOCK_SEQPACKET))
        return 0; /* it has but one other end */
    message->msg_name = room;
    return is_inet(name) ? find_inet(c, name, &to, address != 0, message) : find_unix(c, &to, message);
}

static uint64_t sockets_bytes_of(const struct msghdr *message)
{
    uint64_t total = 0;
    for (size_t i = 0; i < message->msg_iovlen; i++)
        total += message->msg_iov[i].iov_len;
    return total;
}

/* What UDP does not send. */
static int64_t check_datagram(const struct network_name *name, const struct msghdr *message, int flags)
{
    enum { MOST = 65535, HEADERS_4 = 28, HEADERS_6 = 8 };
    if (sockets_bytes_of(message) > MOST)
        return -EMSGSIZE;
    if (flags & MSG_OOB)
        return -EOPNOTSUPP;
    return sockets_bytes_of(message) > (name->family == AF_INET ? MOST - HEADERS_4 : MOST - HEADERS_6) ? -EMSGSIZE : 0;
}

static int64_t send_directed(struct call *c, struct msghdr *message, uint64_t address, uint64_t bytes, int flags)
{
    struct sockaddr_un room;
    const struct network_name *name = sockets_name_of(c);
    const bool drops = network_is_datagrams(name);
    if (netlink_is(c))
        return netlink_send(c, message);
    int64_t status = drops ? check_datagram(name, message, flags) : 0;
    if (status == 0)
        status = direct(c, message, address, bytes, &room);
    if (status < 0)
        return status;
    if (status == GONE)
        return (int64_t)sockets_bytes_of(message);
    status = send_message(c, message, drops ? flags | MSG_DONTWAIT : flags);
    if (status == -ENOTCONN && is_inet(name)) /* TCP has been shut down before it began */
        return flags & MSG_NOSIGNAL ? -EPIPE : call_broken_pipe(c, c->fd[0]);
    return drops && status == -EAGAIN ? (int64_t)sockets_bytes_of(message) : status;
}

int64_t sockets_send(struct call *c)
{
    struct iovec one = {.iov_base = c->ptr[1], .iov_len = c->arg[2]};
    struct msghdr message = {.msg_iov = &one, .msg_iovlen = 1};
    return send_directed(c, &message, c->arg[4], c->arg[5], (int)c->arg[3]);
}

int64_t sockets_write(struct call *c, const struct iovec *iov, int count)
{
    struct iovec copy[IOV_MAX];
    memcpy(copy, iov, (size_t)count * sizeof *iov);
    struct msghdr message = {.msg_iov = copy, .msg_iovlen = (size_t)count};
    return send_directed(c, &message, 0, 0, 0);
}

/* The sender of what came, of what the host says; none, where there is but one other end. */
static void show_sender(const struct call *c, const struct msghdr *message, struct network_address *out)
{
    struct network *network = c->kernel->network;
    const struct network_name *own = sockets_name_of(c),
                              *from = network_at(network, message->msg_name, message->msg_namelen);
    *out = (struct network_address){.bytes = 0};
    if (netlink_is(c)) {
        netlink_address(0, out);
        return;
    }
    if (message->msg_namelen > 0 && from && (!is_inet(own) || network_is_datagrams(own)))
        network_show(from, own ? own->family : AF_UNIX, out);
}

bool sockets_is_inet(const struct call *c, int argument)
{
    return is_inet(network_of(c->kernel->network, c->fd[argument]));
}

bool sockets_lacks_peer(const struct call *c, int argument)
{
    struct network_address peer;
    const struct network_name *name = network_of(c->kernel->network, c->fd[argument]);
    return is_inet(name) && !network_is_datagrams(name) &&
           network_peer(c->kernel->network, c->fd[argument], &peer) == -ENOTCONN;
}

static int64_t receive_from(struct call *c, struct msghdr *message, int flags)
{
    if (flags & MSG_ERRQUEUE && is_inet(sockets_name_of(c)))
        return -EAGAIN; /* no error is ever queued, and none waits for one */
    if (network_is_datagrams(sockets_name_of(c)))
        flags &= ~MSG_OOB;
    const int64_t value = receive_message(c, message, flags);
    return value == -EINVAL && sockets_lacks_peer(c, 0) ? -ENOTCONN : value;
}

int64_t sockets_receive(struct call *c)
{
    struct iovec one = {.iov_base = c->ptr[1], .iov_len = c->arg[2]};
    struct sockaddr_un host;
    struct msghdr message = {.msg_iov = &one, .msg_iovlen = 1, .msg_name = &host, .msg_namelen = sizeof host};
    struct network_address from;
    int64_t value = receive_from(c, &message, (int)c->arg[3]), status = 0;
    if (value < 0)
        return value;
    show_sender(c, &message, &from);
    if (c->arg[4])
        status = give_address(c, &from, c->arg[4], c->arg[5]);
    return status < 0 ? status : value;
}

/* ------------------------------------------------------------------ messages */

/* A message of the guest's at an address, with a copy of its iovecs. */
static int64_t copy_message(struct call *c, struct msghdr *message, uint64_t at, unsigned access)
{
    int64_t status = guest_read(c, message, at, sizeof *message);
    if (status < 0)
        return status;
    if (!message->msg_name)
        message->msg_namelen = 0;
    if ((int)message->msg_namelen < 0)
        return -EINVAL;
    if (message->msg_namelen > sizeof(struct sockaddr_storage))
        message->msg_namelen = sizeof(struct sockaddr_storage);
    if (message->msg_iovlen > IOV_MAX)
        return -EMSGSIZE;
    return guest_copy_iov(c, &message->msg_iov, (uintptr_t)message->msg_iov, message->msg_iovlen, access);
}

static int64_t send_one(struct call *c, uint64_t at, int flags)
{
    struct msghdr message;
    int64_t status = copy_message(c, &message, at, CALL_READS);
    const uint64_t name = (uintptr_t)message.msg_name, bytes = message.msg_namelen;
    if (status == 0)
        status = control_send(c, &message, is_inet(sockets_name_of(c)));
    return status < 0 ? status : send_directed(c, &message, name, bytes, flags);
}

int64_t sockets_send_message(struct call *c) { return send_one(c, c->arg[1], (int)c->arg[2]); }

/* What Linux writes to the guest's own structure, after the data: whose it is, control data, the flags. */
static int64_t give_message(struct call *c, const struct msghdr *asked, const struct msghdr *got, uint64_t at)
{
    struct network_address from;
    show_sender(c, got, &from);
    int64_t status = asked->msg_name
                         ? give_address(c, &from, (uintptr_t)asked->msg_name, at + offsetof(struct msghdr, msg_namelen))
                         : 0;
    if (status == 0)
        status = guest_write(c, at + offsetof(struct msghdr, msg_flags), &got->msg_flags, sizeof got->msg_flags);
    if (status == 0 && got->msg_controllen)
        status = guest_write(c, (uintptr_t)asked->msg_control, got->msg_control, got->msg_controllen);
    return status < 0 ? status
                      : guest_write(c, at + offsetof(struct msghdr, msg_controllen), &got->msg_controllen,
                                    sizeof got->msg_controllen);
}

static int64_t receive_one(struct call *c, uint64_t at, int flags)
{
    struct msghdr message, asked;
    struct sockaddr_un host;
    int64_t status = copy_message(c, &message, at, CALL_WRITES);
    if (status < 0)
        return status;
    asked = message;
    message.msg_name = &host;
    message.msg_namelen = sizeof host;
    control_room(c, &message);
    int64_t value = receive_from(c, &message,
                                 (flags & ~MSG_CMSG_CLOEXEC) | (message.msg_control ? MSG_CMSG_CLOEXEC : 0));
    if (value < 0)
        return value;
    control_receive(c, &message, flags & MSG_CMSG_CLOEXEC);
    message.msg_flags = (message.msg_flags & ~MSG_CMSG_CLOEXEC) | (flags & MSG_CMSG_CLOEXEC); /* Linux says it again */
    status = guest_touch_iov(c, message.msg_iov, message.msg_iovlen, (uint64_t)value);
    if (status == 0)
        status = give_message(c, &asked, &message, at);
    return status < 0 ? status : value;
}

int64_t sockets_receive_message(struct call *c) { return receive_one(c, c->arg[1], (int)c->arg[2]); }

/* sendmmsg and recvmmsg. */
struct messages {
    int64_t (*one)(struct call *c, uint64_t at, int flags);
    uint32_t count;
    int flags;
    uint64_t until; /* guest time behind which no further one is waited for; KERNEL_NEVER */
};

static uint64_t sockets_now_of(const struct call *c) { return syscalls_time_ns(c->kernel, c->instructions); }

static int64_t tell_length(struct call *c, uint64_t message, uint64_t bytes)
{
    const uint32_t length = (uint32_t)bytes;
    return guest_write(c, message + offsetof(struct mmsghdr, msg_len), &length, sizeof length);
}

/* The message at `at` waits, `done` are through: a signal that ends the wait leaves these, and what is sent of it. */
static int64_t wait_amid(struct call *c, const struct messages *all, uint64_t at, uint32_t done)
{
    struct kernel_wait *wait = &c->kernel->current->wait;
    wait->messages = done;
    wait->until = all->until;
    wait->partial = done + (wait->done > 0);
    return wait->done > 0 ? tell_length(c, at, wait->done) : 0;
}

/* One message after the other, until one fails: the error is that of the call if it is the first. */
static int64_t many(struct call *c, const struct messages *all)
{
    const uint64_t begun = c->kernel->copies.used;
    int64_t value = 0;
    uint32_t done = c->again ? c->waited->messages : 0;
    while (done < all->count && value >= 0) {
        const uint64_t at = c->arg[1] + done * sizeof(struct mmsghdr);
        const bool waits = done == 0 || !(all->flags & MSG_WAITFORONE);
        c->kernel->copies.used = begun;
        value = all->one(c, at, (all->flags & ~MSG_WAITFORONE) | (waits ? 0 : MSG_DONTWAIT));
        if (c->result->action == SYSCALLS_BLOCKED)
            return wait_amid(c, all, at, done) < 0 ? -EFAULT : value;
        c->again = false; /* the next one is new */
        if (value >= 0)
            value = tell_length(c, at, (uint64_t)value);
        done += value >= 0;
        if (sockets_now_of(c) >= all->until)
            break;
    }
    return done > 0 ? (int64_t)done : value;
}

int64_t sockets_send_messages(struct call *c)
{
    const uint32_t count = c->arg[2] < IOV_MAX ? (uint32_t)c->arg[2] : IOV_MAX;
    const struct messages all = {.one = send_one, .count = count, .flags = (int)c->arg[3], .until = KERNEL_NEVER};
    const int64_t status = check_socket(c);
    return status < 0 ? status : many(c, &all);
}

/* The timeout is looked at behind each message, and says then what is left of it. */
int64_t sockets_receive_messages(struct call *c)
{
    struct messages all = {.one = receive_one, .count = (uint32_t)c->arg[2], .flags = (int)c->arg[3]};
    struct timespec *timeout = c->ptr[4];
    uint64_t ns;
    if (timeout && !kernel_timespec_ns(&ns, timeout))
        return -EINVAL;
    all.until = c->again ? c->waited->until : timeout ? kernel_deadline(c, ns) : KERNEL_NEVER;
    int64_t value = check_socket(c);
    if (value == 0)
        value = many(c, &all);
    if (timeout && value > 0) {
        ns = all.until > sockets_now_of(c) ? all.until - sockets_now_of(c) : 0;
        *timeout = (struct timespec){.tv_sec = (time_t)(ns / KERNEL_NS), .tv_nsec = (long)(ns % KERNEL_NS)};
    }
    return value;
}

static bool listens(const struct call *c)
{
    int value = 0;
    socklen_t bytes = sizeof value;
    return getsockopt(c->fd[0], SOL_SOCKET, SO_ACCEPTCONN, &value, &bytes) == 0 && value;
}

int64_t sockets_shutdown(struct call *c)
{
    struct network_address peer;
    const int how = (int)c->arg[1];
    if (is_inet(sockets_name_of(c)) && how >= SHUT_RD && how <= SHUT_RDWR && !listens(c) &&
        network_peer(c->kernel->network, c->fd[0], &peer) == -ENOTCONN)
        return -ENOTCONN;
    const int64_t status = CALL_HOST(c, shutdown(c->fd[0], how));
    if (status == 0)
        resets_shut(c, how);
    return status;
}

/* ------------------------------------------------------------------ names and options */

int64_t sockets_name(struct call *c)
{
    struct network_address own;
    int64_t status = check_socket(c);
    if (status < 0)
        return status;
    if (netlink_is(c))
        netlink_address(c->kernel->pid, &own);
    else
        network_own(c->kernel->network, c->fd[0], &own);
    return give_address(c, &own, c->arg[1], c->arg[2]);
}

int64_t sockets_peer(struct call *c)
{
    struct network_address peer;
    int64_t status = check_socket(c);
    if (status == 0 && netlink_is(c))
        netlink_address(0, &peer);
    else if (status == 0)
        status = network_peer(c->kernel->network, c->fd[0], &peer);
    return status < 0 ? status : give_address(c, &peer, c->arg[1], c->arg[2]);
}

/* Options with an int that say nothing about c2emu itself and do not change when a call waits (SO_RCVLOWAT would): the
 * host's. */
static bool is_host_option(int option)
{
    switch (option) {
    case SO_TYPE:
    case SO_ERROR:
    case SO_DOMAIN:
    case SO_PROTOCOL:
    case SO_ACCEPTCONN:
    case SO_REUSEADDR:
    case SO_REUSEPORT:
    case SO_KEEPALIVE:
    case SO_BROADCAST:
    case SO_OOBINLINE:
    case SO_PRIORITY:
    case SO_PASSCRED:
    case SO_SNDBUF:
    case SO_RCVBUF:
        return true;
    default:
        return false;
    }
}

/* What Linux says to an option that there is none of: it depends on whether the protocol has such a level. */
static int64_t no_option(const struct network_name *name, int level, bool gets)
{
    if (level == SOL_SOCKET)
        return -ENOPROTOOPT;
    if (!is_inet(name))
        return -EOPNOTSUPP;
    const bool known = level == IPPROTO_IP || level == name->protocol || name->family == AF_INET6;
    return gets && !known ? -EOPNOTSUPP : -ENOPROTOOPT;
}

static bool is_linger(int level, int option) { return level == SOL_SOCKET && option == SO_LINGER; }

/* No close waits here, but one may be a reset. */
static int64_t set_linger(struct call *c)
{
    struct linger linger;
    if (c->arg[4] < sizeof linger)
        return -EINVAL;
    memcpy(&linger, c->ptr[3], sizeof linger);
    const int64_t status = CALL_HOST(c, setsockopt(c->fd[0], SOL_SOCKET, SO_LINGER, &linger, sizeof linger));
    if (status == 0)
        resets_linger(c, &linger);
    return status;
}

static int64_t get_linger(const struct call *c, struct linger *out)
{
    socklen_t bytes = sizeof *out;
    return getsockopt(c->fd[0], SOL_SOCKET, SO_LINGER, out, &bytes) < 0 ? -errno : (int64_t)sizeof *out;
}

/* ------------------------------------------------------------------ timeouts */

#define MICROSECONDS 1000000
#define LONGEST ((int64_t)1 << 50) /* microseconds: as good as never */
#define AT_ONCE ((int64_t)1 << 51) /* a negative time */

static bool is_timeout(int level, int option)
{
    return level == SOL_SOCKET && (option == SO_RCVTIMEO || option == SO_SNDTIMEO);
}

/* What the host keeps for this time; 0: for ever. */
static int64_t kept_time(const struct timeval *time)
{
    if (time->tv_sec < 0)
        return AT_ONCE;
    if (time->tv_sec >= LONGEST / MICROSECONDS)
        return 0;
    return time->tv_sec * MICROSECONDS + time->tv_usec;
}

static int64_t set_timeout(struct call *c, int option)
{
    struct timeval time;
    if (c->arg[4] < sizeof time)
        return -EINVAL;
    memcpy(&time, c->ptr[3], sizeof time);
    if (time.tv_usec < 0 || time.tv_usec >= MICROSECONDS)
        return -EDOM;
    if (fds_at(c->kernel, c->arg[0])->wait == FD_WAIT_SELF)
        time = (struct timeval){.tv_sec = kept_time(&time)};
    return CALL_HOST(c, setsockopt(c->fd[0], SOL_SOCKET, option, &time, sizeof time));
}

static int64_t get_timeout(const struct call *c, int option, struct timeval *out)
{
    socklen_t bytes = sizeof *out;
    if (getsockopt(c->fd[0], SOL_SOCKET, option, out, &bytes) < 0)
        return -errno;
    if (fds_at(c->kernel, c->arg[0])->wait == FD_WAIT_SELF) {
        const int64_t kept = out->tv_sec == AT_ONCE ? 0 : out->tv_sec;
        *out = (struct timeval){.tv_sec = kept / MICROSECONDS, .tv_usec = kept % MICROSECONDS};
    }
    return sizeof *out;
}

uint64_t sockets_deadline(const struct call *c, const struct fd_entry *entry, short events)
{
    struct timeval kept;
    socklen_t bytes = sizeof kept;
    const int option = events & POLLOUT ? SO_SNDTIMEO : SO_RCVTIMEO;
    if (entry->wait != FD_WAIT_SELF || getsockopt(entry->host, SOL_SOCKET, option, &kept, &bytes) < 0 ||
        kept.tv_sec == 0)
        return KERNEL_NEVER;
    return kernel_deadline(c, kept.tv_sec == AT_ONCE ? 0 : (uint64_t)kept.tv_sec * 1000);
}

/* ------------------------------------------------------------------ the calls */

int64_t sockets_set_option(struct call *c)
{
    const int level = (int)c->arg[1], option = (int)c->arg[2];
    struct network_name *name = sockets_name_of(c);
    int64_t status = check_socket(c);
    int value = 0;
    if (status < 0)
        return status;
    if ((int)c->cpu->gpr[8] < 0) /* the argument, before what is there shortened it */
        return -EINVAL;
    if (level == SOL_NETLINK && netlink_is(c)) /* what answers may say beside what is asked for: nothing */
        return 0;
    if (is_timeout(level, option))
        return set_timeout(c, option);
    if (is_linger(level, option))
        return set_linger(c);
    if (options_has(name, level, option))
        return options_set(name, level, option, c->ptr[3], c->arg[4]);
    if (level != SOL_SOCKET || !is_host_option(option))
        return netlink_is(c) ? -ENOPROTOOPT : no_option(name, level, false);
    if (c->arg[4] < sizeof value)
        return -EINVAL;
    memcpy(&value, c->ptr[3], sizeof value);
    bool *sharing = network_sharing(name, level, option);
    if (sharing)
        *sharing = value;
    return sharing ? 0 : CALL_HOST(c, setsockopt(c->fd[0], SOL_SOCKET, option, &value, sizeof value));
}

/* What the host has another answer for, as its socket is one of AF_UNIX. */
static void correct(struct call *c, const struct network_name *name, int option, int *value)
{
    if (option == SO_ERROR)
        *value = (int)-resets_read(c, c->fd[0], -*value);
    if (netlink_is(c) && option == SO_DOMAIN)
        *value = AF_NETLINK;
    if (is_inet(name) && option == SO_DOMAIN)
        *value = name->family;
    if (is_inet(name) && option == SO_PROTOCOL)
        *value = name->protocol;
}

static int64_t get_int(struct call *c, int level, int option, int *value)
{
    struct network_name *name = sockets_name_of(c);
    socklen_t bytes = sizeof *value;
    const bool *sharing = network_sharing(name, level, option);
    if (sharing) {
        *value = *sharing;
        return 0;
    }
    if (level == SOL_SOCKET && is_host_option(option)) {
        if (getsockopt(c->fd[0], SOL_SOCKET, option, value, &bytes) < 0)
            return -errno;
        correct(c, name, option, value);
        return 0;
    }
    if (options_has(name, level, option))
        return options_get(name, level, option, value);
    return netlink_is(c) ? -ENOPROTOOPT : no_option(name, level, true);
}

union option_value {
    int number;
    struct ucred who;
    struct linger linger;
    struct timeval time;
};

/* How many bytes of *out the option has, or -errno. */
static int64_t get_option(struct call *c, union option_value *out)
{
    const int level = (int)c->arg[1], option = (int)c->arg[2];
    if (is_timeout(level, option))
        return get_timeout(c, option, &out->time);
    if (is_linger(level, option))
        return get_linger(c, &out->linger);
    const bool who = level == SOL_SOCKET && option == SO_PEERCRED;
    const int64_t status = who ? control_peer(c, &out->who) : get_int(c, level, option, &out->number);
    return status < 0 ? status : (int64_t)(who ? sizeof out->who : sizeof out->number);
}

int64_t sockets_get_option(struct call *c)
{
    union option_value value = {0};
    uint32_t *room = c->ptr[4];
    int64_t bytes = check_socket(c);
    if (bytes == 0)
        bytes = (int32_t)*room < 0 ? -EINVAL : get_option(c, &value);
    if (bytes < 0)
        return bytes;
    *room = *room < bytes ? *room : (uint32_t)bytes;
    return guest_write(c, c->arg[3], &value, *room);
}
