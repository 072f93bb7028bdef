/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Options of TCP, UDP and IP, which the guest's sockets remember.
 *
 * Model
 *   A row an option: which sockets have it, what it is where nobody has set it, what it may be, and what Linux makes of
 *   that. The values are ints; IP's are bytes as well. They change nothing, but IPV6_V6ONLY, which network.c looks at.
 *   The loopback carries no groups: none can be joined (ENODEV), and multicast leaves by the loopback or by nothing.
 *
 * Not modelled
 *   Options of packets on their way (IP_OPTIONS, IPV6_RTHDR ...), TCP_INFO, filters by source.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#include "syscalls/kernel_priv.h"
#include "syscalls/network_priv.h"

enum option_owner { ANY, STREAMS, DATAGRAMS };

enum option_rule {
    FREE,     /* as it is */
    FLAG,     /* 1 where it is not 0 */
    WITHIN,   /* least .. most, else EINVAL */
    OR_USUAL, /* the same, and -1 for what it was at first */
    CLASS,    /* a byte, of which TCP keeps the two lowest bits to itself */
    LINGERS,  /* TCP_LINGER2: seconds, negative for none, 0 for the usual */
    SENDER,   /* IP_MULTICAST_IF: an address */
    LINK,     /* IPV6_MULTICAST_IF: the loopback's number, or 0 */
    JOINS,    /* a group: there is none */
    LEAVES
};

struct option_row {
    int level, option;
    enum option_owner owner;
    int usual;
    enum option_rule rule;
    int least, most; /* JOINS, LEAVES: bytes at least */
};

#define HIGHEST_BYTE 255
#define ROUND_TRIPS 127
#define LONGEST_IDLE 32767

static const struct option_row ROWS[] = {
    {IPPROTO_IP, IP_TOS, ANY, 0, CLASS, 0, 0},
    {IPPROTO_IP, IP_TTL, ANY, 64, OR_USUAL, 1, HIGHEST_BYTE},
    {IPPROTO_IP, IP_RECVOPTS, ANY, 0, FLAG, 0, 0},
    {IPPROTO_IP, IP_RETOPTS, ANY, 0, FLAG, 0, 0},
    {IPPROTO_IP, IP_PKTINFO, ANY, 0, FLAG, 0, 0},
    {IPPROTO_IP, IP_MTU_DISCOVER, ANY, IP_PMTUDISC_WANT, WITHIN, IP_PMTUDISC_DONT, IP_PMTUDISC_OMIT},
    {IPPROTO_IP, IP_RECVERR, ANY, 0, FLAG, 0, 0},
    {IPPROTO_IP, IP_RECVTTL, ANY, 0, FLAG, 0, 0},
    {IPPROTO_IP, IP_RECVTOS, ANY, 0, FLAG, 0, 0},
    {IPPROTO_IP, IP_FREEBIND, ANY, 0, FLAG, 0, 0},
    {IPPROTO_IP, IP_RECVORIGDSTADDR, ANY, 0, FLAG, 0, 0},
    {IPPROTO_IP, IP_MINTTL, ANY, 0, WITHIN, 0, HIGHEST_BYTE},
    {IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, ANY, 0, FLAG, 0, 0},
    {IPPROTO_IP, IP_MULTICAST_IF, DATAGRAMS, 0, SENDER, 0, 0},
    {IPPROTO_IP, IP_MULTICAST_TTL, DATAGRAMS, 1, OR_USUAL, 0, HIGHEST_BYTE},
    {IPPROTO_IP, IP_MULTICAST_LOOP, ANY, 1, FLAG, 0, 0},
    {IPPROTO_IP, IP_MULTICAST_ALL, ANY, 1, WITHIN, 0, 1},
    {IPPROTO_IP, IP_ADD_MEMBERSHIP, DATAGRAMS, 0, JOINS, sizeof(struct ip_mreq), 0},
    {IPPROTO_IP, IP_DROP_MEMBERSHIP, DATAGRAMS, 0, LEAVES, sizeof(struct ip_mreq), 0},
    {IPPROTO_TCP, TCP_NODELAY, STREAMS, 0, FLAG, 0, 0},
    {IPPROTO_TCP, TCP_CORK, STREAMS, 0, FLAG, 0, 0},
    {IPPROTO_TCP, TCP_KEEPIDLE, STREAMS, 7200, WITHIN, 1, LONGEST_IDLE},
    {IPPROTO_TCP, TCP_KEEPINTVL, STREAMS, 75, WITHIN, 1, LONGEST_IDLE},
    {IPPROTO_TCP, TCP_KEEPCNT, STREAMS, 9, WITHIN, 1, ROUND_TRIPS},
    {IPPROTO_TCP, TCP_SYNCNT, STREAMS, 6, WITHIN, 1, ROUND_TRIPS},
    {IPPROTO_TCP, TCP_LINGER2, STREAMS, 60, LINGERS, 0, 0},
    {IPPROTO_TCP, TCP_DEFER_ACCEPT, STREAMS, 0, FREE, 0, 0},
    {IPPROTO_TCP, TCP_WINDOW_CLAMP, STREAMS, 0, FREE, 0, 0},
    {IPPROTO_TCP, TCP_QUICKACK, STREAMS, 1, FLAG, 0, 0},
    {IPPROTO_TCP, TCP_CONGESTION, STREAMS, 0, FREE, 0, 0},
    {IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS, STREAMS, 0, WITHIN, 0, 1},
    {IPPROTO_TCP, TCP_USER_TIMEOUT, STREAMS, 0, WITHIN, 0, INT32_MAX},
    {IPPROTO_TCP, TCP_FASTOPEN, STREAMS, 0, WITHIN, 0, INT32_MAX},
    {IPPROTO_TCP, TCP_NOTSENT_LOWAT, STREAMS, 0, FREE, 0, 0},
    {IPPROTO_TCP, TCP_FASTOPEN_CONNECT, STREAMS, 0, WITHIN, 0, 1},
    {IPPROTO_IPV6, IPV6_UNICAST_HOPS, ANY, 64, OR_USUAL, 0, HIGHEST_BYTE},
    {IPPROTO_IPV6, IPV6_MULTICAST_IF, DATAGRAMS, 0, LINK, 0, 0},
    {IPPROTO_IPV6, IPV6_MULTICAST_HOPS, DATAGRAMS, 1, OR_USUAL, 0, HIGHEST_BYTE},
    {IPPROTO_IPV6, IPV6_MULTICAST_LOOP, ANY, 1, WITHIN, 0, 1},
    {IPPROTO_IPV6, IPV6_JOIN_GROUP, ANY, 0, JOINS, sizeof(struct ipv6_mreq), 0},
    {IPPROTO_IPV6, IPV6_LEAVE_GROUP, ANY, 0, LEAVES, sizeof(struct ipv6_mreq), 0},
    {IPPROTO_IPV6, IPV6_MTU_DISCOVER, ANY, IPV6_PMTUDISC_WANT, WITHIN, IPV6_PMTUDISC_DONT, IPV6_PMTUDISC_OMIT},
    {IPPROTO_IPV6, IPV6_RECVERR, ANY, 0, FLAG, 0, 0},
    {IPPROTO_IPV6, IPV6_V6ONLY, ANY, 0, FLAG, 0, 0},
    {IPPROTO_IPV6, IPV6_RECVPKTINFO, ANY, 0, FLAG, 0, 0},
    {IPPROTO_IPV6, IPV6_RECVHOPLIMIT, ANY, 0, FLAG, 0, 0},
    {IPPROTO_IPV6, IPV6_RECVPATHMTU, ANY, 0, FLAG, 0, 0},
    {IPPROTO_IPV6, IPV6_DONTFRAG, ANY, 0, FLAG, 0, 0},
    {IPPROTO_IPV6, IPV6_RECVTCLASS, ANY, 0, FLAG, 0, 0},
    {IPPROTO_IPV6, IPV6_TCLASS, ANY, 0, CLASS, 0, 0},
};

static const struct option_row *row_of(const struct network_name *name, int level, int option)
{
    if (!name || name->family == AF_UNIX || (level == IPPROTO_IPV6 && name->family != AF_INET6) ||
        (level == IPPROTO_TCP && name->type != SOCK_STREAM))
        return NULL;
    for (unsigned i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++)
        if (ROWS[i].level == level && ROWS[i].option == option)
            return &ROWS[i];
    return NULL;
}

static int usual_of(const struct network_name *name, const struct option_row *row)
{
    const bool groups_of_others = row->level == IPPROTO_IP && row->option == IP_MULTICAST_ALL;
    return groups_of_others && name->family == AF_INET6 ? 0 : row->usual;
}

static const struct network_option *set_before(const struct network_name *name, const struct option_row *row)
{
    for (unsigned i = 0; i < name->options; i++)
        if (name->option[i].level == row->level && name->option[i].name == row->option)
            return &name->option[i];
    return NULL;
}

static int64_t keep(struct network_name *name, const struct option_row *row, int value)
{
    struct network_option *kept = (struct network_option *)set_before(name, row);
    if (!kept && name->options == NETWORK_OPTIONS)
        return -ENOBUFS;
    if (!kept)
        kept = &name->option[name->options++];
    *kept = (struct network_option){.level = row->level, .name = row->option, .value = value};
    return 0;
}

/* ------------------------------------------------------------------ what it becomes */

static int64_t within(const struct option_row *row, int *value)
{
    if (row->rule == OR_USUAL && *value == -1)
        *value = row->usual;
    return *value < row->least || *value > row->most ? -EINVAL : 0;
}

static int64_t class_of(const struct network_name *name, const struct option_row *row, int *value)
{
    const int congestion = 3;
    if (row->level == IPPROTO_IPV6 && (*value < -1 || *value > HIGHEST_BYTE))
        return -EINVAL;
    if (row->level == IPPROTO_IPV6 && *value == -1)
        *value = 0;
    *value &= name->type == SOCK_STREAM ? HIGHEST_BYTE & ~congestion : HIGHEST_BYTE;
    return 0;
}

static int linger_seconds(const struct option_row *row, int value)
{
    const int longest = 120;
    if (value < 0)
        return -1;
    return value == 0 ? row->usual : value < longest ? value : longest;
}

static int64_t options_make(const struct network_name *name, const struct option_row *row, int *value)
{
    switch (row->rule) {
    case FLAG:
        *value = *value != 0;
        return 0;
    case WITHIN:
    case OR_USUAL:
        return within(row, value);
    case CLASS:
        return class_of(name, row, value);
    case LINK:
        return *value == 0 || *value == 1 ? 0 : -ENODEV;
    case LINGERS:
        *value = linger_seconds(row, *value);
        return 0;
    default:
        return 0;
    }
}

/* ------------------------------------------------------------------ multicast */

/* An address of the loopback or none, alone or behind that of a group, and the loopback's number or none. */
static int64_t set_sender(struct network_name *name, const struct option_row *row, const void *from, uint64_t bytes)
{
    struct ip_mreqn wanted = {0};
    if (bytes < sizeof wanted.imr_address)
        return -EINVAL;
    if (bytes < sizeof(struct ip_mreq))
        memcpy(&wanted.imr_address, from, sizeof wanted.imr_address);
    else
        memcpy(&wanted, from, bytes < sizeof wanted ? sizeof(struct ip_mreq) : sizeof wanted);
    const uint32_t host = ntohl(wanted.imr_address.s_addr);
    const bool loopback = wanted.imr_ifindex ? wanted.imr_ifindex == 1 : host == 0 || host >> 24 == IN_LOOPBACKNET;
    return loopback ? keep(name, row, (int)wanted.imr_address.s_addr) : -EADDRNOTAVAIL;
}

static int64_t join(const struct option_row *row, const void *from, uint64_t bytes)
{
    if (bytes < (uint64_t)row->least)
        return -EINVAL;
    const struct in_addr *group4 = from;
    const struct in6_addr *group6 = from;
    if (row->level == IPPROTO_IP ? !IN_MULTICAST(ntohl(group4->s_addr)) : !IN6_IS_ADDR_MULTICAST(group6))
        return -EINVAL;
    return row->rule == JOINS ? -ENODEV : -EADDRNOTAVAIL;
}

/* ------------------------------------------------------------------ the calls */

bool options_has(const struct network_name *name, int level, int option) { return row_of(name, level, option); }

int64_t options_set(struct network_name *name, int level, int option, const void *from, uint64_t bytes)
{
    const struct option_row *row = row_of(name, level, option);
    const enum option_owner owner = name->type == SOCK_STREAM ? STREAMS : DATAGRAMS;
    int value = 0;
    if (row->owner != ANY && row->owner != owner)
        return level != IPPROTO_IP ? -ENOPROTOOPT : row->rule == JOINS || row->rule == LEAVES ? -EPROTO : -EINVAL;
    if (row->rule == JOINS || row->rule == LEAVES)
        return join(row, from, bytes);
    if (row->rule == SENDER)
        return set_sender(name, row, from, bytes);
    if (bytes >= sizeof value)
        memcpy(&value, from, sizeof value);
    else if (level == IPPROTO_IP && bytes > 0)
        value = *(const unsigned char *)from;
    else
        return -EINVAL;
    const int64_t status = options_make(name, row, &value);
    return status < 0 ? status : keep(name, row, value);
}

int64_t options_get(const struct network_name *name, int level, int option, int *value)
{
    const struct option_row *row = row_of(name, level, option);
    const struct network_option *kept = set_before(name, row);
    if (row->rule == JOINS || row->rule == LEAVES)
        return -ENOPROTOOPT;
    *value = kept ? kept->value : usual_of(name, row);
    return 0;
}
