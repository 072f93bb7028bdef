/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * How programs and libraries ask which networks there are: netlink sockets of NETLINK_ROUTE (getifaddrs), and ioctl.
 *
 * Model
 *   There is one, the loopback, with its two addresses. A socket is one of AF_UNIX of the host's that is connected to
 *   itself: what the program sends is looked at here, and the answer is put into the socket's own queue, where poll and
 *   recv find it. Each answer is one datagram, as long as any buffer that a library uses for these.
 *
 * Not modelled
 *   Changes of networks (EPERM), other questions than those for links, addresses, routes, rules and neighbours
 *   (EOPNOTSUPP), news that were not requested, other families of netlink.
 *
 * Source: netlink(7), rtnetlink(7), netdevice(7); Linux's uapi headers.
 */
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "syscalls/kernel_priv.h"
#include "syscalls/network_priv.h"
#include "syscalls/sockets_priv.h"

enum { ANSWER_BYTES = 2048, LOOPBACK = 1, LOOPBACK_MTU = 65536, QUEUE = 1000 };

bool netlink_is(const struct call *c) { return fds_at(c->kernel, c->arg[0])->kind == FD_NETLINK; }

/* ------------------------------------------------------------------ making */

/* Only it can send to itself. */
static int connect_to_itself(int host)
{
    struct sockaddr_un own = {.sun_family = AF_UNIX};
    socklen_t bytes = sizeof own;
    if (bind(host, (const struct sockaddr *)&own, sizeof own.sun_family) < 0 ||
        getsockname(host, (struct sockaddr *)&own, &bytes) < 0)
        return -1;
    return connect(host, (const struct sockaddr *)&own, bytes);
}

int64_t netlink_socket(struct call *c)
{
    const int type = (int)c->arg[1], kind = type & 0xf;
    if (kind != SOCK_RAW && kind != SOCK_DGRAM)
        return -ESOCKTNOSUPPORT;
    if ((int)c->arg[2] != NETLINK_ROUTE)
        return -EPROTONOSUPPORT;
    if (fds_lowest_free(c->kernel, 0) < 0)
        return -EMFILE;
    const int host = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | (type & SOCK_NONBLOCK), 0);
    if (host < 0 || connect_to_itself(host) < 0) {
        if (host >= 0)
            close(host);
        return -ENOBUFS;
    }
    const int64_t fd = fds_add(c->kernel, host, FD_WAIT_SELF, type & SOCK_CLOEXEC);
    if (fd >= 0)
        fds_at(c->kernel, (uint64_t)fd)->kind = FD_NETLINK;
    return fd;
}

void netlink_address(uint32_t port, struct network_address *out)
{
    const struct sockaddr_nl shown = {.nl_family = AF_NETLINK, .nl_pid = port};
    *out = (struct network_address){.bytes = sizeof shown};
    memcpy(&out->at, &shown, sizeof shown);
}

/* ------------------------------------------------------------------ answers */

struct answer {
    uint8_t bytes[ANSWER_BYTES] __attribute__((aligned(NLMSG_ALIGNTO)));
    uint32_t used;
    const struct nlmsghdr *to;
    uint32_t port;
    struct nlmsghdr *message; /* the last one */
};

static void netlink_put(struct answer *answer, const void *from, uint32_t bytes)
{
    C2_ASSERT(answer->used + NLMSG_ALIGN(bytes) <= sizeof answer->bytes);
    memcpy(&answer->bytes[answer->used], from, bytes);
    answer->used += NLMSG_ALIGN(bytes);
    if (answer->message)
        answer->message->nlmsg_len = (uint32_t)(&answer->bytes[answer->used] - (uint8_t *)answer->message);
}

static void netlink_begin(struct answer *answer, uint16_t type, uint16_t flags, const void *body, uint32_t bytes)
{
    const struct nlmsghdr head = {
        .nlmsg_type = type, .nlmsg_flags = flags, .nlmsg_seq = answer->to->nlmsg_seq, .nlmsg_pid = answer->port};
    answer->message = (struct nlmsghdr *)(void *)&answer->bytes[answer->used];
    netlink_put(answer, &head, sizeof head);
    netlink_put(answer, body, bytes);
}

static void put_attribute(struct answer *answer, uint16_t type, const void *from, uint32_t bytes)
{
    const struct rtattr head = {.rta_len = (uint16_t)RTA_LENGTH(bytes), .rta_type = type};
    netlink_put(answer, &head, sizeof head);
    netlink_put(answer, from, bytes);
}

static void put_link(struct answer *answer, uint16_t flags)
{
    const struct ifinfomsg link = {.ifi_family = AF_UNSPEC,
                                   .ifi_type = ARPHRD_LOOPBACK,
                                   .ifi_index = LOOPBACK,
                                   .ifi_flags = IFF_UP | IFF_LOOPBACK | IFF_RUNNING | IFF_LOWER_UP};
    const uint8_t address[6] = {0}, state = 0 /* IF_OPER_UNKNOWN */;
    const uint32_t mtu = LOOPBACK_MTU, queue = QUEUE;
    netlink_begin(answer, RTM_NEWLINK, flags, &link, sizeof link);
    put_attribute(answer, IFLA_IFNAME, "lo", 3);
    put_attribute(answer, IFLA_TXQLEN, &queue, sizeof queue);
    put_attribute(answer, IFLA_OPERSTATE, &state, sizeof state);
    put_attribute(answer, IFLA_MTU, &mtu, sizeof mtu);
    put_attribute(answer, IFLA_ADDRESS, address, sizeof address);
    put_attribute(answer, IFLA_BROADCAST, address, sizeof address);
    put_attribute(answer, IFLA_QDISC, "noqueue", 8);
}

static void netlink_put_address(struct answer *answer, uint8_t family, uint8_t prefix, const uint8_t *at,
                                uint32_t bytes)
{
    const struct ifaddrmsg address = {.ifa_family = family,
                                      .ifa_prefixlen = prefix,
                                      .ifa_flags = IFA_F_PERMANENT,
                                      .ifa_scope = RT_SCOPE_HOST,
                                      .ifa_index = LOOPBACK};
    const uint32_t flags = IFA_F_PERMANENT;
    netlink_begin(answer, RTM_NEWADDR, NLM_F_MULTI, &address, sizeof address);
    put_attribute(answer, IFA_ADDRESS, at, bytes);
    if (family == AF_INET)
        put_attribute(answer, IFA_LOCAL, at, bytes);
    if (family == AF_INET)
        put_attribute(answer, IFA_LABEL, "lo", 3);
    put_attribute(answer, IFA_FLAGS, &flags, sizeof flags);
}

static void netlink_put_addresses(struct answer *answer, uint8_t family)
{
    static const uint8_t four[4] = {127, 0, 0, 1}, six[16] = {[15] = 1};
    if (family != AF_INET6)
        netlink_put_address(answer, AF_INET, 8, four, sizeof four);
    if (family != AF_INET)
        netlink_put_address(answer, AF_INET6, 128, six, sizeof six);
}

static void put_error(struct answer *answer, int error)
{
    const struct nlmsgerr body = {.error = -error, .msg = *answer->to};
    netlink_begin(answer, NLMSG_ERROR, 0, &body, sizeof body);
}

static void netlink_put_all(struct answer *answer, uint8_t family)
{
    const int done = 0;
    if (answer->to->nlmsg_type == RTM_GETLINK)
        put_link(answer, NLM_F_MULTI);
    if (answer->to->nlmsg_type == RTM_GETADDR)
        netlink_put_addresses(answer, family);
    netlink_begin(answer, NLMSG_DONE, NLM_F_MULTI, &done, sizeof done);
}

/* Whether the program means the loopback: by its number, or by its name. */
static bool means_loopback(const struct nlmsghdr *message)
{
    const struct ifinfomsg *link = NLMSG_DATA(message);
    if (message->nlmsg_len < NLMSG_LENGTH(sizeof *link))
        return false;
    if (link->ifi_index != 0)
        return link->ifi_index == LOOPBACK;
    const struct rtattr *at = IFLA_RTA(link);
    long left = (long)message->nlmsg_len - (long)NLMSG_LENGTH(sizeof *link);
    for (; RTA_OK(at, left); at = RTA_NEXT(at, left))
        if (at->rta_type == IFLA_IFNAME && RTA_PAYLOAD(at) >= 3 && memcmp(RTA_DATA(at), "lo", 3) == 0)
            return true;
    return false;
}

/* Questions have a number that is 2 beyond a multiple of 4; the others there make, remove and set something. */
static void answer_one(struct answer *answer)
{
    const struct nlmsghdr *message = answer->to;
    const bool asks = (message->nlmsg_type & 3) == 2, has_family = message->nlmsg_len > NLMSG_LENGTH(0);
    const uint16_t type = message->nlmsg_type;
    if (type < RTM_BASE)
        put_error(answer, 0);
    else if (!asks)
        put_error(answer, EPERM);
    else if (type != RTM_GETLINK && type != RTM_GETADDR && type != RTM_GETROUTE && type != RTM_GETRULE &&
             type != RTM_GETNEIGH)
        put_error(answer, EOPNOTSUPP);
    else if ((message->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP)
        netlink_put_all(answer, has_family ? *(const uint8_t *)NLMSG_DATA(message) : AF_UNSPEC);
    else if (type == RTM_GETLINK && means_loopback(message))
        put_link(answer, 0);
    else
        put_error(answer, type == RTM_GETLINK ? ENODEV : type == RTM_GETROUTE ? ENETUNREACH : EOPNOTSUPP);
}

/* ------------------------------------------------------------------ ioctl */

static struct sockaddr in_address(uint32_t address)
{
    const struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(address)};
    struct sockaddr out;
    memcpy(&out, &in, sizeof out);
    return out;
}

static int64_t list_interfaces(struct call *c)
{
    struct ifconf list;
    struct ifreq one = {.ifr_name = "lo", .ifr_addr = in_address(INADDR_LOOPBACK)};
    int64_t status = guest_read(c, &list, c->arg[2], sizeof list);
    if (status < 0)
        return status;
    const bool fits = !list.ifc_buf || list.ifc_len >= (int)sizeof one;
    if (list.ifc_buf && fits)
        status = guest_write(c, (uintptr_t)list.ifc_buf, &one, sizeof one);
    list.ifc_len = fits ? sizeof one : 0;
    return status < 0 ? status : guest_write(c, c->arg[2], &list, sizeof list);
}

/* What is asked of the loopback; -ENOTTY: it is no such question. */
static int64_t netlink_tell(struct ifreq *one, uint32_t number)
{
    switch (number) {
    case SIOCGIFFLAGS:
        one->ifr_flags = IFF_UP | IFF_LOOPBACK | IFF_RUNNING;
        return 0;
    case SIOCGIFADDR:
    case SIOCGIFDSTADDR:
        one->ifr_addr = in_address(INADDR_LOOPBACK);
        return 0;
    case SIOCGIFBRDADDR:
        one->ifr_addr = in_address(INADDR_ANY);
        return 0;
    case SIOCGIFNETMASK:
        one->ifr_addr = in_address(IN_CLASSA_NET);
        return 0;
    case SIOCGIFHWADDR:
        one->ifr_hwaddr = (struct sockaddr){.sa_family = ARPHRD_LOOPBACK};
        return 0;
    case SIOCGIFMTU:
        one->ifr_mtu = LOOPBACK_MTU;
        return 0;
    case SIOCGIFMETRIC:
        one->ifr_metric = 0;
        return 0;
    case SIOCGIFTXQLEN:
        one->ifr_qlen = QUEUE;
        return 0;
    case SIOCGIFINDEX:
        one->ifr_ifindex = LOOPBACK;
        return 0;
    default:
        return -ENOTTY;
    }
}

int64_t netlink_request(struct call *c, uint32_t number)
{
    struct ifreq one;
    if (number == SIOCGIFCONF)
        return list_interfaces(c);
    int64_t status = guest_read(c, &one, c->arg[2], sizeof one);
    if (status < 0)
        return status;
    if (number == SIOCGIFNAME && one.ifr_ifindex == LOOPBACK)
        strcpy(one.ifr_name, "lo");
    else if (number == SIOCGIFNAME || strncmp(one.ifr_name, "lo", sizeof one.ifr_name) != 0)
        status = -ENODEV;
    else
        status = netlink_tell(&one, number);
    return status < 0 ? status : guest_write(c, c->arg[2], &one, sizeof one);
}

/* ------------------------------------------------------------------ questions */

int64_t netlink_send(struct call *c, const struct msghdr *message)
{
    uint8_t asked[ANSWER_BYTES] __attribute__((aligned(NLMSG_ALIGNTO)));
    struct answer answer = {.port = c->kernel->pid};
    uint64_t bytes = 0;
    for (size_t i = 0; i < message->msg_iovlen; i++) {
        if (bytes + message->msg_iov[i].iov_len > sizeof asked)
            return -EMSGSIZE;
        memcpy(&asked[bytes], message->msg_iov[i].iov_base, message->msg_iov[i].iov_len);
        bytes += message->msg_iov[i].iov_len;
    }
    const struct nlmsghdr *one = (const struct nlmsghdr *)(const void *)asked;
    if (bytes < sizeof *one || one->nlmsg_len < sizeof *one || one->nlmsg_len > bytes)
        return (int64_t)bytes; /* as Linux: nothing is said to that */
    answer.to = one;
    answer_one(&answer);
    return send(c->fd[0], answer.bytes, answer.used, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -ENOBUFS : (int64_t)bytes;
}
