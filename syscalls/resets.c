/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * TCP connections of which one end has gone.
 *
 * Model
 *   The host's sockets are AF_UNIX's, and say EPIPE at the first write to an end that is closed, and end of file where
 *   that end was closed with SO_LINGER of 0 seconds. TCP finds out by its packets: the first write goes out and is
 *   answered by a reset, so it succeeds and the next one is EPIPE; a close without lingering is a reset itself, which
 *   the next read or write says once, as ECONNRESET, or SO_ERROR, if it is asked before.
 *   What the ends have done is kept with the name of the one that connected, as the accepted ones share a name.
 *
 * Not modelled
 *   poll says POLLHUP of a reset, but not POLLERR.
 */
#include <poll.h>
#include <sys/socket.h>

#include "syscalls/kernel_priv.h"
#include "syscalls/network_priv.h"
#include "syscalls/sockets_priv.h"

struct ends {
    struct network_end *own, *other; /* NULL: no connection of TCP */
};

static struct ends ends_of(struct network *network, int host)
{
    struct sockaddr_un at;
    socklen_t bytes = sizeof at;
    struct network_name *name = network_of(network, host);
    if (!name || name->family == AF_UNIX || name->type != SOCK_STREAM)
        return (struct ends){0};
    if (!name->listens)
        return (struct ends){&name->end[0], &name->end[1]};
    name = getpeername(host, (struct sockaddr *)&at, &bytes) == 0 ? network_at(network, &at, bytes) : NULL;
    return name ? (struct ends){&name->end[1], &name->end[0]} : (struct ends){0};
}

/* Closed, and not only shut for sending or receiving. */
static bool other_is_closed(int host)
{
    struct pollfd query = {.fd = host};
    return poll(&query, 1, 0) > 0 && query.revents & POLLHUP;
}

static bool resets_pending(const struct ends *ends, int host)
{
    return ends->own && ends->other->resets && !ends->own->told && !ends->own->shut && other_is_closed(host);
}

void resets_linger(struct call *c, const struct linger *linger)
{
    const struct ends ends = ends_of(c->kernel->network, c->fd[0]);
    if (ends.own)
        ends.own->resets = linger->l_onoff && linger->l_linger == 0;
}

void resets_shut(struct call *c, int how)
{
    const struct ends ends = ends_of(c->kernel->network, c->fd[0]);
    if (ends.own && how != SHUT_RD)
        ends.own->shut = true;
}

int64_t resets_read(struct call *c, int host, int64_t value)
{
    if (value != 0 && value != -ECONNRESET) /* the host says so where the other end has left something unread */
        return value;
    const struct ends ends = ends_of(c->kernel->network, host);
    if (value == 0 && resets_pending(&ends, host))
        value = -ECONNRESET;
    if (value < 0 && ends.own)
        ends.own->told = true;
    return value;
}

static int64_t error_of_host(int host)
{
    int error = 0;
    socklen_t bytes = sizeof error;
    return getsockopt(host, SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 ? -error : 0;
}

int64_t resets_write(struct call *c, int host, uint64_t bytes)
{
    const struct ends ends = ends_of(c->kernel->network, host);
    if (!ends.own || ends.own->shut || bytes == 0)
        return -EPIPE;
    const int64_t status = resets_read(c, host, error_of_host(host));
    if (status < 0)
        return status;
    if (ends.own->told || ends.own->answered || !other_is_closed(host))
        return -EPIPE;
    ends.own->answered = true;
    return (int64_t)bytes;
}
