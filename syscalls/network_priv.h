/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The names of the guest's sockets: its own network (network.c).
 */
#ifndef C2_SYSCALLS_NETWORK_PRIV_H
#define C2_SYSCALLS_NETWORK_PRIV_H

#include <sys/socket.h>
#include <sys/un.h>

#include "syscalls/call_priv.h"

enum { NETWORK_OPTIONS = 24 };

struct network_address {
    struct sockaddr_storage at;
    socklen_t bytes; /* 0: none */
};

struct network_option {
    int level, name, value;
};

/* One end of a connection of TCP (resets.c). */
struct network_end {
    bool resets;   /* its close does not linger: it is a reset */
    bool shut;     /* for sending */
    bool told;     /* that the other end has reset the connection */
    bool answered; /* by a reset: it has sent to an end that was closed */
};

/* A socket with a name. */
struct network_name {
    uint64_t id;    /* part of its name on the host; 0: this place is free */
    uint64_t bound; /* INET: counts up, the last has the highest */
    int family, type, protocol;
    struct network_address own, to; /* for the guest; to: INET, its peer */
    bool reuses, shares;            /* SO_REUSEADDR, SO_REUSEPORT: others that say so too may have the same address */
    bool listens;                   /* TCP: then none may, by SO_REUSEADDR alone */
    bool settled;                   /* INET: the own address is the one that a connection needs */
    bool connecting;                /* connect has said that it goes on without the caller, which has not asked since */
    uint64_t device, inode;         /* of the file, where the own name is a path */
    struct network_end end[2];      /* TCP: of the connection that it has made: its own end and the accepted one */
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
/* Where it stands whether an INET socket bears others at its address: SO_REUSEADDR, SO_REUSEPORT; NULL: another option.
 * The host would refuse the second one, of a socket of AF_UNIX. */
bool *network_sharing(struct network_name *name, int level, int option);
/* listen: 0, or -EADDRINUSE where another does. */
int64_t network_listen(struct network *network, struct network_name *name);
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

/* Options of TCP, UDP and IP (options.c). Set and get are for those that there are: 0 or -errno. */
bool options_has(const struct network_name *name, int level, int option);
int64_t options_set(struct network_name *name, int level, int option, const void *from, uint64_t bytes);
int64_t options_get(const struct network_name *name, int level, int option, int *value);

#endif
