/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The names of the guest's sockets: its own network (network.c).
 */
#ifndef C2_SYSCALLS_NETWORK_PRIV_H
#define C2_SYSCALLS_NETWORK_PRIV_H

#include <sys/socket.h>
#include <sys/un.h>

#include "syscalls/call_priv.h"

enum { NETWORK_OPTIONS = 8 };

struct network_address {
    struct sockaddr_storage at;
    socklen_t bytes; /* 0: none */
};

struct network_option {
    int level, name, value;
};

/* A socket with a name. */
struct network_name {
    uint64_t id; /* part of its name on the host; 0: this place is free */
    int family, type, protocol;
    struct network_address own, to; /* for the guest; to: INET, its peer */
    bool settled;                   /* INET: the own address is the one that a connection needs */
    bool connecting;                /* connect has said that it goes on without the caller, which has not asked since */
    uint64_t device, inode;         /* of the file, where the own name is a path */
    struct network_option option[NETWORK_OPTIONS];
    unsigned options;
};

struct network; /* shared by all processes of the run */

enum c2_status network_create(struct network **out, struct c2_error *err);
void network_destroy(struct network *network);

/* Gives a new socket of the host its place: it is bound there. -ENOBUFS where there is none. */
int64_t network_add(struct network *network, int host, int family, int type, int protocol, struct network_name **out);
/* The name of a socket, or of the one that it was accepted from: NULL if it has none. */
struct network_name *network_of(struct network *network, int host);
/* That of an address of the host, NULL. */
struct network_name *network_at(struct network *network, const struct sockaddr_un *host, socklen_t bytes);
bool network_is_datagrams(const struct network_name *name); /* UDP */

/* bind: 0 or -errno. */
int64_t network_bind_inet(struct network *network, struct network_name *name, const struct network_address *wanted);
int64_t network_bind_unix(struct call *c, int host, const struct network_address *wanted);
/* A port of its own, if it has none. */
int64_t network_bind_any(struct network *network, struct network_name *name);
/* It is connected to an address that network_check_inet has seen. */
void network_connected(struct network_name *name, const struct network_address *to);
void network_disconnected(struct network_name *name);
/* 0: an address that a socket of this family and type may send to. */
int64_t network_check_inet(const struct network_name *name, struct network_address *to);
bool network_has_port(const struct network_address *to); /* of INET */
/* The listener at the address, on the host: 0, or -errno: there is none. */
int64_t network_find_inet(struct network *network, const struct network_name *from, const struct network_address *to,
                          struct sockaddr_un *host, socklen_t *bytes);
int64_t network_find_unix(struct call *c, int type, const struct network_address *to, struct sockaddr_un *host,
                          socklen_t *bytes);
/* The own name and the other's, as the guest sees them. family: of the socket that asks. */
void network_own(struct network *network, int host, struct network_address *out);
int64_t network_peer(struct network *network, int host, struct network_address *out);
void network_show(const struct network_name *name, int family, struct network_address *out);

#endif
