/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The guest's own network: a loopback of the run's processes alone.
 *
 * Model
 *   Every socket of the guest, whatever its family, is a socket of the host's AF_UNIX: what is sent is there at once,
 *   in the order of sending, so that a run does not depend on the host's timing; ports of the host are never taken or
 *   reached. A socket that has a name for the guest - a path, an abstract name, an address with a port - has one on the
 *   host that cannot be guessed, and a table, shared by all processes of the run, says which belongs to which. INET
 *   sockets get theirs when they are made, as their ends must be told by address.
 *   A path is a file of its own as on Linux, made like any other; a connection to it finds it by its inode.
 *   127.0.0.0/8 and ::1 are there; everything else is unreachable. A port that the guest leaves open is the next one
 *   from 32768 on.
 *
 * Invariants
 *   No two sockets of one type that are open have the same name.
 *
 * Not modelled
 *   A datagram for a full queue is lost, and how long that queue is, is the host's net.unix.max_dgram_qlen. Ports that
 *   are kept for a while after use. Of several listeners at one address (SO_REUSEPORT) the last has all connections.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "syscalls/kernel_priv.h"
#include "syscalls/network_priv.h"
#include "syscalls/paths_priv.h"

enum { NAMES = 1024, FIRST_PORT = 32768, LAST_PORT = 60999, PRIVILEGED_PORTS = 1024 };
#define PREFIX "c2emu-"
#define SIX_LEAST (offsetof(struct sockaddr_in6, sin6_scope_id)) /* Linux takes an address without a scope */

struct network {
    uint64_t secret, last_id, last_bound, autobound;
    uint16_t next_port;
    struct network_name name[NAMES];
};

enum c2_status network_create(struct network **out, struct c2_error *err)
{
    struct network *network = mmap(NULL, sizeof *network, PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *out = network == MAP_FAILED ? NULL : network;
    return *out ? C2_OK : c2_fail_memory(err, "the guest's network");
}

void network_destroy(struct network *network)
{
    if (network)
        munmap(network, sizeof *network);
}

bool network_is_datagrams(const struct network_name *name)
{
    return name && name->family != AF_UNIX && name->type == SOCK_DGRAM;
}

/* ------------------------------------------------------------------ names on the host */

static socklen_t host_address(struct network *network, uint64_t id, struct sockaddr_un *out)
{
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    while (network->secret == 0)
        if (getrandom(&network->secret, sizeof network->secret, 0) < 0)
            network->secret = (uint64_t)getpid();
    const int bytes = snprintf(out->sun_path + 1, sizeof out->sun_path - 1, PREFIX "%016" PRIx64 "-%" PRIu64,
                               network->secret, id);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)bytes);
}

struct network_name *network_at(struct network *network, const struct sockaddr_un *host, socklen_t bytes)
{
    struct sockaddr_un own;
    uint64_t id;
    char text[sizeof host->sun_path] = "";
    const size_t head = offsetof(struct sockaddr_un, sun_path) + 1;
    if (bytes <= head || host->sun_path[0] != '\0')
        return NULL;
    memcpy(text, host->sun_path + 1, bytes - head);
    if (sscanf(text, PREFIX "%*16c-%" SCNu64, &id) != 1 || host_address(network, id, &own) != bytes ||
        memcmp(&own, host, bytes) != 0)
        return NULL;
    for (int i = 0; i < NAMES; i++)
        if (network->name[i].id == id)
            return &network->name[i];
    return NULL;
}

struct network_name *network_of(struct network *network, int host)
{
    struct sockaddr_un at;
    socklen_t bytes = sizeof at;
    return getsockname(host, (struct sockaddr *)&at, &bytes) == 0 ? network_at(network, &at, bytes) : NULL;
}

/* Whether a socket has this name still: then no other can take it. */
static bool network_is_alive(struct network *network, const struct network_name *name)
{
    struct sockaddr_un at;
    const socklen_t bytes = host_address(network, name->id, &at);
    const int probe = socket(AF_UNIX, name->type | SOCK_CLOEXEC, 0);
    const bool taken = probe >= 0 && bind(probe, (struct sockaddr *)&at, bytes) < 0;
    if (probe >= 0)
        close(probe);
    return taken;
}

static struct network_name *free_place(struct network *network)
{
    for (int i = 0; i < NAMES; i++)
        if (network->name[i].id == 0)
            return &network->name[i];
    struct network_name *found = NULL;
    for (int i = 0; i < NAMES; i++)
        if (!network_is_alive(network, &network->name[i])) {
            found = &network->name[i];
            found->id = 0;
        }
    return found;
}

int64_t network_add(struct network *network, int host, int family, int type, int protocol, struct network_name **out)
{
    struct sockaddr_un at;
    struct network_name *name = free_place(network);
    if (!name)
        return -ENOBUFS;
    *name = (struct network_name){
        .id = ++network->last_id, .family = family, .type = type, .protocol = protocol, .own.at.ss_family = AF_UNSPEC};
    const socklen_t bytes = host_address(network, name->id, &at);
    if (bind(host, (struct sockaddr *)&at, bytes) < 0) {
        name->id = 0;
        return -errno;
    }
    *out = name;
    return 0;
}

/* ------------------------------------------------------------------ INET addresses */

static in_port_t *port_of(struct network_address *address)
{
    return address->at.ss_family == AF_INET ? &((struct sockaddr_in *)&address->at)->sin_port
                                            : &((struct sockaddr_in6 *)&address->at)->sin6_port;
}

static uint16_t port(const struct network_address *address)
{
    struct network_address copy = *address;
    return address->bytes == 0 ? 0 : ntohs(*port_of(&copy));
}

static const struct in6_addr *address6(const struct network_address *address)
{
    return &((const struct sockaddr_in6 *)&address->at)->sin6_addr;
}

static uint32_t address4(const struct network_address *address)
{
    return ntohl(((const struct sockaddr_in *)&address->at)->sin_addr.s_addr);
}

static struct network_address inet4(uint32_t host, uint16_t port)
{
    struct network_address out = {.bytes = sizeof(struct sockaddr_in)};
    *(struct sockaddr_in *)&out.at = (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(host)};
    return out;
}

static struct network_address inet6(struct in6_addr host, uint16_t port)
{
    struct network_address out = {.bytes = sizeof(struct sockaddr_in6)};
    *(struct sockaddr_in6 *)&out.at = (struct sockaddr_in6){
        .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = host};
    return out;
}

static bool is_any(const struct network_address *address)
{
    return address->at.ss_family == AF_INET ? address4(address) == INADDR_ANY
                                            : IN6_IS_ADDR_UNSPECIFIED(address6(address));
}

static bool is_loopback(const struct network_address *address)
{
    return address->at.ss_family == AF_INET ? address4(address) >> 24 == IN_LOOPBACKNET
                                            : IN6_IS_ADDR_LOOPBACK(address6(address));
}

/* An address of IPv4 that is written as one of IPv6 is one of IPv4. */
static void network_unmap(struct network_address *address)
{
    if (address->at.ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(address6(address)))
        return;
    uint32_t host;
    memcpy(&host, &address6(address)->s6_addr[12], sizeof host);
    *address = inet4(ntohl(host), port(address));
}

/* As a socket of this family sees it. */
static void map_for(struct network_address *address, int family)
{
    struct in6_addr mapped = {.s6_addr = {[10] = 0xff, [11] = 0xff}};
    if (family != AF_INET6 || address->at.ss_family != AF_INET)
        return;
    const uint32_t host = htonl(address4(address));
    memcpy(&mapped.s6_addr[12], &host, sizeof host);
    *address = inet6(mapped, port(address));
}

static struct network_address any_of(int family, uint16_t port)
{
    return family == AF_INET ? inet4(INADDR_ANY, port) : inet6(in6addr_any, port);
}

/* The address itself, and not that of all. */
static void network_settle(struct network_address *address)
{
    if (is_any(address))
        *address = address->at.ss_family == AF_INET ? inet4(INADDR_LOOPBACK, port(address))
                                                    : inet6(in6addr_loopback, port(address));
}

static bool same_host(const struct network_address *a, const struct network_address *b)
{
    if (a->at.ss_family != b->at.ss_family)
        return false;
    return a->at.ss_family == AF_INET ? address4(a) == address4(b)
                                      : memcmp(address6(a), address6(b), sizeof(struct in6_addr)) == 0;
}

static bool is_for_six_only(const struct network_name *name)
{
    for (unsigned i = 0; i < name->options; i++)
        if (name->option[i].level == IPPROTO_IPV6 && name->option[i].name == IPV6_V6ONLY)
            return name->option[i].value;
    return false;
}

/* Whether an address that may be that of all, of a socket of IPv6 that may be for IPv6 only, covers the other. */
static bool network_covers(const struct network_address *all, bool six_only, const struct network_address *other)
{
    if (!is_any(all))
        return same_host(all, other);
    return all->at.ss_family == other->at.ss_family || (all->at.ss_family == AF_INET6 && !six_only);
}

static bool has_port(const struct network_name *name, int type, uint16_t wanted)
{
    return name->id && name->family != AF_UNIX && name->type == type && name->own.bytes && port(&name->own) == wanted;
}

/* ------------------------------------------------------------------ who is where */

/* Of sockets that say so, several may have one address; of listeners, by SO_REUSEPORT only. */
static bool may_share(const struct network_name *a, const struct network_name *b)
{
    const bool one_listens = a->type == SOCK_STREAM && (a->listens || b->listens);
    return (a->shares && b->shares) || (a->reuses && b->reuses && !one_listens);
}

/* The first socket, or listener, that another one at this address would be in the way of. */
static struct network_name *network_in_the_way(struct network *network, const struct network_name *of,
                                               const struct network_address *wanted, bool of_listeners)
{
    for (int i = 0; i < NAMES; i++) {
        struct network_name *name = &network->name[i];
        if (name != of && has_port(name, of->type, port(wanted)) && !may_share(name, of) &&
            (!of_listeners || name->listens) &&
            (network_covers(&name->own, is_for_six_only(name), wanted) ||
             network_covers(wanted, is_for_six_only(of), &name->own)) &&
            network_is_alive(network, name))
            return name;
    }
    return NULL;
}

/* A socket that is connected takes datagrams of its peer alone. */
static bool takes_from(const struct network_name *name, const struct network_name *from,
                       const struct network_address *to)
{
    struct network_address sender = from->own;
    if (name->type != SOCK_DGRAM || name->to.bytes == 0)
        return true;
    if (is_any(&sender))
        sender = to->at.ss_family == AF_INET ? inet4(INADDR_LOOPBACK, port(&sender))
                                             : inet6(in6addr_loopback, port(&sender));
    return port(&sender) == port(&name->to) && same_host(&sender, &name->to);
}

static int closeness(const struct network_name *name)
{
    return (name->type == SOCK_DGRAM && name->to.bytes ? 2 : 0) + !is_any(&name->own);
}

/* Who gets what is sent to this address: of several the one that says most of it, then the last. */
static struct network_name *who_takes(struct network *network, const struct network_name *from,
                                      const struct network_address *to)
{
    struct network_name *best = NULL;
    for (int i = 0; i < NAMES; i++) {
        struct network_name *name = &network->name[i];
        if (!has_port(name, from->type, port(to)) || (name->type == SOCK_STREAM && !name->listens) ||
            !network_covers(&name->own, is_for_six_only(name), to) || !takes_from(name, from, to))
            continue;
        const int closer = best ? closeness(name) - closeness(best) : 1;
        if ((closer > 0 || (closer == 0 && name->bound > best->bound)) && network_is_alive(network, name))
            best = name;
    }
    return best;
}

bool *network_sharing(struct network_name *name, int level, int option)
{
    if (!name || name->family == AF_UNIX || level != SOL_SOCKET)
        return NULL;
    return option == SO_REUSEADDR ? &name->reuses : option == SO_REUSEPORT ? &name->shares : NULL;
}

int64_t network_listen(struct network *network, struct network_name *name)
{
    const bool before = name->listens;
    name->listens = true;
    if (before || !network_in_the_way(network, name, &name->own, true))
        return 0;
    name->listens = false;
    return -EADDRINUSE;
}

/* The first port that nobody has, of this socket's type. */
static uint16_t free_port(struct network *network, const struct network_name *name, struct network_address wanted)
{
    struct network_name alone = *name;
    alone.reuses = alone.shares = false;
    for (int tries = FIRST_PORT; tries <= LAST_PORT; tries++) {
        if (network->next_port < FIRST_PORT || network->next_port > LAST_PORT)
            network->next_port = FIRST_PORT;
        const uint16_t next = network->next_port++;
        *port_of(&wanted) = htons(next);
        if (!network_in_the_way(network, &alone, &wanted, false))
            return next;
    }
    return 0;
}

static socklen_t least_bytes(int family) { return family == AF_INET ? sizeof(struct sockaddr_in) : SIX_LEAST; }

int64_t network_bind_inet(struct network *network, struct network_name *name, const struct network_address *wanted)
{
    struct network_address own = *wanted;
    if (name->own.bytes)
        return -EINVAL;
    if (own.bytes < least_bytes(name->family))
        return -EINVAL;
    if (own.at.ss_family == AF_UNSPEC && name->family == AF_INET && address4(&own) == INADDR_ANY)
        own.at.ss_family = AF_INET; /* as old programs have it */
    if (own.at.ss_family != name->family)
        return -EAFNOSUPPORT;
    network_unmap(&own);
    if (!is_any(&own) && !is_loopback(&own))
        return -EADDRNOTAVAIL;
    if (port(&own) != 0 && port(&own) < PRIVILEGED_PORTS)
        return -EACCES;
    if (port(&own) == 0)
        *port_of(&own) = htons(free_port(network, name, own));
    if (port(&own) == 0 || network_in_the_way(network, name, &own, false))
        return -EADDRINUSE;
    name->own = own;
    name->bound = ++network->last_bound;
    return 0;
}

int64_t network_bind_any(struct network *network, struct network_name *name)
{
    const struct network_address any = any_of(name->family, 0);
    return name->own.bytes ? 0 : network_bind_inet(network, name, &any);
}

int64_t network_check_inet(const struct network_name *name, struct network_address *to)
{
    const int family = to->at.ss_family;
    const bool fourth = family == AF_INET && network_is_datagrams(name); /* which one of IPv6 sends to as well */
    if (to->bytes < least_bytes(fourth ? AF_INET : name->family))
        return -EINVAL;
    if (family != name->family && !fourth)
        return -EAFNOSUPPORT;
    network_unmap(to);
    network_settle(to);
    return is_loopback(to) ? 0 : -ENETUNREACH;
}

void network_connected(struct network_name *name, const struct network_address *to)
{
    name->to = *to;
    if (!is_any(&name->own))
        return;
    name->settled = true;
    name->own = to->at.ss_family == AF_INET ? inet4(INADDR_LOOPBACK, port(&name->own))
                                            : inet6(in6addr_loopback, port(&name->own));
}

void network_disconnected(struct network_name *name)
{
    name->to.bytes = 0;
    if (name->settled)
        name->own = any_of(name->family, port(&name->own));
    name->settled = false;
}

bool network_has_port(const struct network_address *to) { return port(to) != 0; }

int64_t network_find_inet(struct network *network, const struct network_name *from, const struct network_address *to,
                          struct sockaddr_un *host, socklen_t *bytes)
{
    const struct network_name *name = who_takes(network, from, to);
    if (!name)
        return -ECONNREFUSED;
    *bytes = host_address(network, name->id, host);
    return 0;
}

/* ------------------------------------------------------------------ AF_UNIX */

static const struct sockaddr_un *unix_of(const struct network_address *address)
{
    return (const struct sockaddr_un *)&address->at;
}

enum { PATH_AT = offsetof(struct sockaddr_un, sun_path) };

static struct network_name *by_bytes(struct network *network, int type, const struct network_address *wanted)
{
    for (int i = 0; i < NAMES; i++) {
        struct network_name *name = &network->name[i];
        if (name->id && name->family == AF_UNIX && name->type == type && name->own.bytes == wanted->bytes &&
            memcmp(&name->own.at, &wanted->at, wanted->bytes) == 0 && network_is_alive(network, name))
            return name;
    }
    return NULL;
}

static struct network_name *by_file(struct network *network, uint64_t device, uint64_t inode)
{
    for (int i = 0; i < NAMES; i++) {
        struct network_name *name = &network->name[i];
        if (name->id && name->inode == inode && name->device == device && network_is_alive(network, name))
            return name;
    }
    return NULL;
}

/* A file that has just been made has a number that was another one's, if that one is gone: nobody finds its socket. */
static void forget_file(struct network *network, const struct stat *made)
{
    for (int i = 0; i < NAMES; i++)
        if (network->name[i].inode == made->st_ino && network->name[i].device == made->st_dev)
            network->name[i].inode = 0;
}

static int64_t check_unix(const struct network_address *address)
{
    return unix_of(address)->sun_family != AF_UNIX || address->bytes > sizeof(struct sockaddr_un) ? -EINVAL : 0;
}

static bool network_is_path(const struct network_address *address)
{
    return address->bytes > PATH_AT && unix_of(address)->sun_path[0] != '\0';
}

/* A path with its NUL, and no more. */
static struct network_address trimmed(const struct network_address *address)
{
    struct network_address out = *address;
    if (network_is_path(address))
        out.bytes = (socklen_t)(PATH_AT + strnlen(unix_of(address)->sun_path, address->bytes - PATH_AT) + 1);
    return out;
}

/* A socket that only wants a name gets one of five digits. */
static void autobind(struct network *network, struct network_address *own)
{
    struct sockaddr_un *at = (struct sockaddr_un *)&own->at;
    at->sun_path[0] = '\0';
    snprintf(at->sun_path + 1, sizeof at->sun_path - 1, "%05x", (unsigned)++network->autobound & 0xfffff);
    own->bytes = PATH_AT + 6;
}

static int network_type_of(int host)
{
    int type = 0;
    socklen_t bytes = sizeof type;
    getsockopt(host, SOL_SOCKET, SO_TYPE, &type, &bytes);
    return type;
}

int64_t network_bind_unix(struct call *c, int host, const struct network_address *wanted)
{
    struct network *network = c->kernel->network;
    struct network_address own = trimmed(wanted);
    struct network_name *name;
    struct stat file = {0};
    const int type = network_type_of(host);
    int64_t status = check_unix(wanted);
    if (status < 0)
        return status;
    const bool named = network_of(network, host);
    if (named && !network_is_path(&own))
        return own.bytes == PATH_AT ? 0 : -EINVAL; /* a name of its own it has */
    if (own.bytes == PATH_AT)
        autobind(network, &own);
    if (!network_is_path(&own) && by_bytes(network, type, &own))
        return -EADDRINUSE;
    if (network_is_path(&own)) {
        status = paths_make_socket(c, unix_of(&own)->sun_path, named ? NULL : &file);
        if (status < 0)
            return status == -EEXIST ? -EADDRINUSE : status;
        if (named)
            return -EINVAL; /* Linux finds it out when the file is made, too */
        forget_file(network, &file);
    }
    status = network_add(network, host, AF_UNIX, type, 0, &name);
    if (status < 0)
        return status;
    name->own = own;
    name->device = file.st_dev;
    name->inode = file.st_ino;
    return 0;
}

int64_t network_find_unix(struct call *c, int type, const struct network_address *to, struct sockaddr_un *host,
                          socklen_t *bytes)
{
    struct network *network = c->kernel->network;
    const struct network_address wanted = trimmed(to);
    struct network_name *name;
    struct stat file;
    int64_t status = check_unix(to);
    if (status < 0)
        return status;
    if (wanted.bytes == PATH_AT)
        return -EINVAL;
    if (network_is_path(&wanted)) {
        status = paths_find_socket(c, unix_of(&wanted)->sun_path, &file);
        if (status < 0)
            return status;
        name = by_file(network, file.st_dev, file.st_ino);
    } else {
        name = by_bytes(network, type, &wanted);
    }
    if (!name)
        return -ECONNREFUSED;
    if (name->type != type)
        return -EPROTOTYPE;
    *bytes = host_address(network, name->id, host);
    return 0;
}

/* ------------------------------------------------------------------ what the guest sees */

void network_show(const struct network_name *name, int family, struct network_address *out)
{
    *out = (struct network_address){.at.ss_family = AF_UNIX, .bytes = sizeof(sa_family_t)};
    if (!name)
        return;
    *out = name->own.bytes ? name->own : any_of(name->family, 0);
    if (name->family == AF_UNIX)
        return;
    network_settle(out);
    map_for(out, family);
}

/* The socket at the other end, as far as it has a name. */
static struct network_name *other_end(struct network *network, int host, int64_t *status)
{
    struct sockaddr_un at;
    socklen_t bytes = sizeof at;
    *status = getpeername(host, (struct sockaddr *)&at, &bytes) < 0 ? -errno : 0;
    return *status < 0 ? NULL : network_at(network, &at, bytes);
}

void network_own(struct network *network, int host, struct network_address *out)
{
    int64_t status;
    const struct network_name *name = network_of(network, host), *other;
    *out = (struct network_address){.at.ss_family = AF_UNIX, .bytes = sizeof(sa_family_t)};
    if (!name)
        return;
    *out = name->own.bytes || name->family == AF_UNIX ? name->own : any_of(name->family, 0);
    if (name->family != AF_UNIX && name->own.bytes && is_any(&name->own) && name->to.bytes == 0 &&
        (other = other_end(network, host, &status)) && other->to.bytes)
        *out = other->to; /* it was accepted: the address that the other has asked for */
    map_for(out, name->family);
}

int64_t network_peer(struct network *network, int host, struct network_address *out)
{
    int64_t status;
    const struct network_name *name = network_of(network, host);
    if (name && name->to.bytes && (network_is_datagrams(name) || other_end(network, host, &status) || status == 0)) {
        *out = name->to;
        map_for(out, name->family);
        return 0;
    }
    if (network_is_datagrams(name))
        return -ENOTCONN;
    const struct network_name *other = other_end(network, host, &status);
    network_show(other, name ? name->family : AF_UNIX, out);
    return status;
}
