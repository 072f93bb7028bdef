/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What goes with a message (control.c): descriptors, and its sender. And how long a socket waits.
 */
#ifndef C2_SYSCALLS_SOCKETS_PRIV_H
#define C2_SYSCALLS_SOCKETS_PRIV_H

#include <sys/socket.h>

#include "syscalls/fds_priv.h"

/* The control data of the guest's message become a copy for the host: 0 or -errno. */
int64_t control_send(struct call *c, struct msghdr *message, bool inet);
/* Room for those of a message that is to come, as much as the guest has; where it can have none, none. */
void control_room(struct call *c, struct msghdr *message);
/* Those that came, made the guest's: descriptors are in its table. */
void control_receive(struct call *c, struct msghdr *message, bool cloexec);
/* SO_PEERCRED: 0 or -errno. */
struct ucred;
int64_t control_peer(struct call *c, struct ucred *out);

/* Until when a call waits that begins to wait for these events (poll's) of a descriptor: KERNEL_NEVER but of a socket
 * of the guest's that has a timeout. */
uint64_t sockets_deadline(const struct call *c, const struct fd_entry *entry, short events);

/* ------------------------------------------------------------------ netlink.c */
bool netlink_is(const struct call *c); /* the descriptor of argument 0 */
int64_t netlink_socket(struct call *c);
struct network_address;
void netlink_address(uint32_t port, struct network_address *out); /* 0: the kernel's */
/* ioctl of any socket, SIOCGIF...; -ENOTTY: another request. */
int64_t netlink_request(struct call *c, uint32_t number);
/* A question; its answer is there to be received. */
int64_t netlink_send(struct call *c, const struct msghdr *message);

/* Whether the descriptor of this argument is a socket of TCP or UDP, or one of TCP that has no other end: the host's
 * socket is of AF_UNIX, and answers otherwise. */
bool sockets_is_inet(const struct call *c, int argument);
bool sockets_lacks_peer(const struct call *c, int argument);

/* ------------------------------------------------------------------ resets.c */
struct linger;
void resets_linger(struct call *c, const struct linger *linger); /* of the descriptor of argument 0 has been set */
void resets_shut(struct call *c, int how);                       /* it has been shut down */
/* What a read is answered, or a question for the error, where the host says this: 0 may be a reset, -ECONNRESET. */
int64_t resets_read(struct call *c, int host, int64_t value);
/* What a write of these bytes is answered where the host says EPIPE: how many there were, or -errno. */
int64_t resets_write(struct call *c, int host, uint64_t bytes);

/* write and writev of a socket whose datagrams go to its peer. */
int64_t sockets_write(struct call *c, const struct iovec *iov, int count);

#endif
