/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * errors PART: calls with arguments that are wrong, each with what the kernel answers. Run in an empty directory, by a
 * user without rights.
 *
 * sockets      making, binding, connecting, options, shutting down
 * messages     sending and receiving
 * descriptors  dup, fcntl, chroot
 * scheduling   priorities of all kinds
 * processes    clone3, unshare, kcmp, signals for threads
 * endings      what wait is told of signals that leave a core, and of those that do not
 * timers       overruns of a timer whose signal waits, and wrong arguments
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The words of the call and its answer. */
#define TRY(...) say(__LINE__, #__VA_ARGS__, (long)(__VA_ARGS__))
#define BAD ((void *)-1L)

static void say(int line, const char *what, long value)
{
    if (value < 0)
        printf("%d %s: %s\n", line, what, strerrorname_np(errno));
    else
        printf("%d %s: %ld\n", line, what, value);
    fflush(stdout);
}

static int null, file, path, ends[2], tcp, tcp6, udp, stream, datagrams;
static struct sockaddr_in inet = {.sin_family = AF_INET};
static struct sockaddr *const address = (struct sockaddr *)&inet;
static socklen_t length = sizeof inet;

static void open_all(void)
{
    null = open("/dev/null", O_RDWR);
    file = open("file", O_RDWR | O_CREAT, 0600);
    path = open("/tmp", O_PATH);
    if (pipe(ends) < 0)
        exit(1);
    tcp = socket(AF_INET, SOCK_STREAM, 0);
    tcp6 = socket(AF_INET6, SOCK_STREAM, 0);
    udp = socket(AF_INET, SOCK_DGRAM, 0);
    stream = socket(AF_UNIX, SOCK_STREAM, 0);
    datagrams = socket(AF_UNIX, SOCK_DGRAM, 0);
}

static void set(int family, uint32_t host, uint16_t port)
{
    inet = (struct sockaddr_in){.sin_family = (sa_family_t)family, .sin_addr = {htonl(host)}, .sin_port = htons(port)};
    length = sizeof inet;
}

static int try_unix(int socket, const char *name, int (*call)(int, const struct sockaddr *, socklen_t))
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    strcpy(to.sun_path, name);
    return call(socket, (struct sockaddr *)&to, sizeof to);
}

/* ------------------------------------------------------------------ sockets */

static void making(void)
{
    int pair[2];
    TRY(socket(0, SOCK_STREAM, 0));
    TRY(socket(-1, SOCK_STREAM, 0));
    TRY(socket(45, SOCK_STREAM, 0));
    TRY(socket(46, SOCK_STREAM, 0));
    TRY(socket(PF_INET, 75, 0));
    TRY(socket(PF_INET, 15, 0));
    TRY(socket(PF_INET, -1, 0));
    TRY(socket(PF_UNIX, 15, 0));
    TRY(socket(PF_UNIX, SOCK_STREAM, 5));
    TRY(socket(PF_UNIX, SOCK_RDM, 0));
    TRY(socket(PF_INET, SOCK_RAW, 0));
    TRY(socket(PF_INET, SOCK_RAW, 1));
    TRY(socket(PF_INET6, SOCK_RAW, 0));
    TRY(socket(PF_INET, SOCK_STREAM, IPPROTO_UDP));
    TRY(socket(PF_INET, SOCK_DGRAM, IPPROTO_TCP));
    TRY(socket(PF_INET, SOCK_STREAM, 1));
    TRY(socket(PF_INET, SOCK_STREAM, 300));
    TRY(socket(PF_INET, SOCK_SEQPACKET, 0));
    TRY(socketpair(0, SOCK_STREAM, 0, pair));
    TRY(socketpair(PF_INET, 75, 0, pair));
    TRY(socketpair(PF_INET, 15, 0, pair));
    TRY(socketpair(PF_UNIX, 75, 0, pair));
    TRY(socketpair(PF_UNIX, SOCK_STREAM, 0, BAD));
    TRY(socketpair(PF_UNIX, SOCK_STREAM, 6, pair));
    TRY(socketpair(PF_INET, SOCK_DGRAM, 17, pair));
    TRY(socketpair(PF_INET, SOCK_DGRAM, 6, pair));
    TRY(socketpair(PF_INET, SOCK_STREAM, 6, pair));
    TRY(socketpair(PF_INET, SOCK_STREAM, 1, pair));
    TRY(socketpair(PF_INET, SOCK_RAW, 0, pair));
    TRY(socketpair(PF_INET6, SOCK_STREAM, 0, pair));
}

static void accepting(void)
{
    TRY(accept(-1, address, &length));
    TRY(accept(null, address, &length));
    TRY(accept(ends[0], address, &length));
    TRY(accept(path, address, &length));
    TRY(accept(tcp, (void *)3, &length));
    TRY(accept(udp, address, &length));
    TRY(accept(stream, address, &length));
    TRY(accept(datagrams, address, &length));
    TRY(accept4(tcp, address, &length, 12345));
    TRY(listen(-1, 0));
    TRY(listen(null, 0));
    TRY(listen(udp, 0));
}

static void binding(void)
{
    TRY(bind(-1, address, sizeof inet));
    TRY(bind(null, address, sizeof inet));
    TRY(bind(tcp, BAD, sizeof inet));
    TRY(bind(tcp, address, 3));
    TRY(bind(tcp, address, -1));
    TRY(bind(tcp, address, 1000));
    set(AF_INET, 0x0afffefd, 0);
    TRY(bind(tcp, address, sizeof inet));
    set(200, INADDR_ANY, 0);
    TRY(bind(tcp, address, sizeof inet));
    set(AF_UNIX, INADDR_ANY, 0);
    TRY(bind(udp, address, sizeof inet));
    set(AF_UNSPEC, INADDR_LOOPBACK, 0);
    TRY(bind(udp, address, sizeof inet));
    set(AF_UNSPEC, INADDR_ANY, 0);
    TRY(bind(udp, address, sizeof inet));
    set(AF_INET, INADDR_ANY, 0);
    TRY(bind(tcp6, address, sizeof inet));
    TRY(bind(stream, address, sizeof inet));
    set(AF_INET, INADDR_LOOPBACK, 0);
    TRY(bind(tcp, address, sizeof inet));
    TRY(bind(tcp, address, sizeof inet));
    TRY(try_unix(stream, "nowhere/socket", bind));
    TRY(try_unix(stream, "file", bind));
    TRY(try_unix(stream, "file/socket", bind));
    TRY(try_unix(stream, "socket", bind));
    TRY(try_unix(stream, "socket", bind));
    TRY(try_unix(datagrams, "socket", bind));
}

static void connecting(void)
{
    struct pollfd ready = {.events = POLLOUT};
    const int fresh = socket(AF_INET, SOCK_STREAM, 0), other = socket(AF_UNIX, SOCK_STREAM, 0);
    TRY(connect(-1, address, sizeof inet));
    TRY(connect(null, address, sizeof inet));
    TRY(connect(fresh, BAD, sizeof inet));
    TRY(connect(fresh, address, 3));
    TRY(connect(fresh, address, 1000));
    set(47, INADDR_LOOPBACK, 1);
    TRY(connect(fresh, address, sizeof inet));
    TRY(connect(udp, address, sizeof inet));
    TRY(connect(other, address, sizeof inet));
    set(AF_INET, INADDR_LOOPBACK, 1);
    TRY(connect(fresh, address, sizeof inet));
    TRY(try_unix(other, "nothing", connect));
    TRY(try_unix(other, "file", connect));
    TRY(try_unix(other, "socket", connect));
    TRY(try_unix(datagrams, "socket", connect));
    TRY(listen(tcp, 5));
    TRY(getsockname(tcp, address, &length));
    TRY(connect(fresh, address, sizeof inet));
    TRY(connect(fresh, address, sizeof inet));
    ready.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    TRY(connect(ready.fd, address, sizeof inet));
    TRY(poll(&ready, 1, 1000));
    TRY(connect(ready.fd, address, sizeof inet));
    TRY(connect(ready.fd, address, sizeof inet));
}

static void options(void)
{
    int value = 0;
    socklen_t room = sizeof value;
    TRY(getsockopt(-1, SOL_SOCKET, SO_TYPE, &value, &room));
    TRY(getsockopt(null, SOL_SOCKET, SO_TYPE, &value, &room));
    TRY(getsockopt(tcp, SOL_SOCKET, SO_TYPE, BAD, &room));
    TRY(getsockopt(tcp, SOL_SOCKET, SO_TYPE, &value, BAD));
    TRY(getsockopt(tcp, SOL_SOCKET, -1, &value, &room));
    TRY(getsockopt(tcp, 500, SO_TYPE, &value, &room));
    TRY(getsockopt(udp, 500, SO_TYPE, &value, &room));
    TRY(getsockopt(stream, 500, SO_TYPE, &value, &room));
    TRY(getsockopt(stream, IPPROTO_TCP, 1, &value, &room));
    TRY(getsockopt(tcp, IPPROTO_UDP, 1, &value, &room));
    TRY(getsockopt(udp, IPPROTO_TCP, 1, &value, &room));
    TRY(getsockopt(udp, IPPROTO_UDP, -1, &value, &room));
    TRY(getsockopt(tcp, IPPROTO_IP, -1, &value, &room));
    TRY(getsockopt(tcp, IPPROTO_TCP, -1, &value, &room));
    room = (socklen_t)-1;
    TRY(getsockopt(tcp, SOL_SOCKET, SO_TYPE, &value, &room));
    TRY(setsockopt(-1, SOL_SOCKET, SO_OOBINLINE, &value, 4));
    TRY(setsockopt(null, SOL_SOCKET, SO_OOBINLINE, &value, 4));
    TRY(setsockopt(tcp, SOL_SOCKET, SO_OOBINLINE, BAD, 4));
    TRY(setsockopt(tcp, SOL_SOCKET, SO_OOBINLINE, &value, 0));
    TRY(setsockopt(tcp, SOL_SOCKET, SO_REUSEADDR, &value, (socklen_t)-1));
    TRY(setsockopt(tcp, SOL_SOCKET, -1, &value, 4));
    TRY(setsockopt(tcp, 500, 1, &value, 4));
    TRY(setsockopt(udp, 500, 1, &value, 4));
    TRY(setsockopt(stream, 500, 1, &value, 4));
    TRY(setsockopt(stream, IPPROTO_TCP, 1, &value, 4));
    TRY(setsockopt(tcp, IPPROTO_UDP, 1, &value, 4));
    TRY(setsockopt(udp, IPPROTO_UDP, -1, &value, 4));
}

static void shutting_down(void)
{
    const int fresh = socket(AF_INET, SOCK_STREAM, 0), other = socket(AF_UNIX, SOCK_STREAM, 0);
    const int to_nobody = socket(AF_INET, SOCK_DGRAM, 0);
    TRY(shutdown(-1, SHUT_WR));
    TRY(shutdown(null, SHUT_WR));
    TRY(shutdown(fresh, SHUT_RD));
    TRY(shutdown(fresh, 4));
    TRY(shutdown(to_nobody, SHUT_RD));
    TRY(shutdown(to_nobody, 7));
    TRY(shutdown(other, SHUT_WR));
    TRY(shutdown(other, -1));
    TRY(getpeername(tcp, address, &length));
    TRY(getpeername(null, address, &length));
    TRY(getsockname(-1, address, &length));
    TRY(getsockname(tcp, address, BAD));
    length = (socklen_t)-1;
    TRY(getsockname(tcp, address, &length));
}

static void sockets(void)
{
    making();
    accepting();
    binding();
    connecting();
    options();
    shutting_down();
}

/* ------------------------------------------------------------------ messages */

static char text[200000] = "x";

/* Both ends of a connection. */
static void connect_pair(int end[2])
{
    set(AF_INET, INADDR_LOOPBACK, 0);
    if (bind(tcp, address, sizeof inet) < 0 || listen(tcp, 1) < 0 || getsockname(tcp, address, &length) < 0)
        exit(1);
    end[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(end[0], address, sizeof inet) < 0)
        exit(1);
    end[1] = accept(tcp, NULL, NULL);
}

static void sending(int end)
{
    const int fresh = socket(AF_INET, SOCK_STREAM, 0);
    set(AF_INET, INADDR_LOOPBACK, 9);
    TRY(send(-1, text, 1, 0));
    TRY(send(null, text, 1, 0));
    TRY(send(end, BAD, 1, 0));
    TRY(send(udp, text, 1, 0));
    TRY(sendto(udp, text, 131072, 0, address, sizeof inet));
    TRY(sendto(udp, text, 65508, 0, address, sizeof inet));
    TRY(sendto(udp, text, 65507, 0, address, sizeof inet));
    TRY(sendto(udp, text, 1, MSG_OOB, address, sizeof inet));
    TRY(sendto(udp, text, 1, 0, address, -1));
    TRY(sendto(udp, text, 1, 0, BAD, sizeof inet));
    TRY(sendto(udp, text, 1, 0, address, 3));
    set(47, INADDR_LOOPBACK, 9);
    TRY(sendto(udp, text, 1, 0, address, sizeof inet));
    set(AF_INET, INADDR_LOOPBACK, 0);
    TRY(sendto(udp, text, 1, 0, address, sizeof inet));
    TRY(send(fresh, text, 1, MSG_NOSIGNAL));
    TRY(sendto(fresh, text, 1, MSG_NOSIGNAL, address, sizeof inet));
    TRY(recv(fresh, text, 1, 0));
}

static void receiving(int end, int other)
{
    int pair[2];
    TRY(recv(-1, text, 1, 0));
    TRY(recv(null, text, 1, 0));
    TRY(recv(end, text, 1, MSG_OOB));
    TRY(recv(end, text, 1, MSG_ERRQUEUE));
    TRY(recv(udp, text, 1, MSG_ERRQUEUE));
    TRY(recv(udp, text, 1, MSG_OOB | MSG_DONTWAIT));
    TRY(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
    TRY(recv(pair[0], text, 1, MSG_OOB));
    TRY(send(pair[0], text, 1, MSG_OOB));
    TRY(write(other, "hello", 5));
    TRY(recvfrom(end, text, 2, MSG_WAITALL, address, BAD));
    TRY(recvfrom(end, text, 2, 0, NULL, BAD));
    TRY(recvfrom(end, text, 1, 0, BAD, &length));
}

static void structures(int end)
{
    struct iovec part = {text, 4};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_name = address, .msg_namelen = (socklen_t)-1};
    TRY(recvmsg(end, &message, MSG_DONTWAIT));
    TRY(sendmsg(end, &message, 0));
    message = (struct msghdr){.msg_iov = &part, .msg_iovlen = (size_t)-1};
    TRY(recvmsg(end, &message, MSG_DONTWAIT));
    TRY(sendmsg(end, &message, 0));
    message = (struct msghdr){.msg_iov = BAD, .msg_iovlen = 1};
    TRY(recvmsg(end, &message, MSG_DONTWAIT));
    TRY(sendmsg(end, &message, 0));
    message.msg_iov = &part;
    TRY(recvmsg(end, &message, MSG_ERRQUEUE));
    TRY(recvmsg(end, &message, MSG_OOB));
    TRY(sendmsg(udp, &message, MSG_OOB));
    TRY(recvmsg(end, BAD, 0));
    TRY(sendmsg(end, BAD, 0));
    message.msg_control = BAD;
    message.msg_controllen = 20;
    TRY(sendmsg(end, &message, 0));
    part.iov_base = BAD;
    TRY(sendmsg(end, &(struct msghdr){.msg_iov = &part, .msg_iovlen = 1}, 0));
}

static void messages(void)
{
    int end[2];
    connect_pair(end);
    sending(end[0]);
    receiving(end[1], end[0]);
    structures(end[1]);
}

/* ------------------------------------------------------------------ descriptors */

static void descriptors(void)
{
    static char longest[5000];
    TRY(dup3(file, file, O_CLOEXEC));
    TRY(dup3(file, 50, -1));
    TRY(dup3(file, 50, O_NONBLOCK));
    TRY(dup3(-1, 50, 0));
    TRY(dup3(-1, -1, 0));
    TRY(dup3(file, -1, 0));
    TRY(dup3(file, 5000000, 0));
    TRY(dup3(file, 50, O_CLOEXEC));
    TRY(fcntl(50, F_GETFD));
    TRY(dup2(file, -1));
    TRY(dup2(-1, 5000000));
    TRY(dup(-1));
    TRY(fcntl(file, F_DUPFD, -1));
    memset(longest, 'a', sizeof longest - 1);
    TRY(chroot(longest));
    longest[300] = 0;
    TRY(chroot(longest));
    TRY(symlink("loop", "loop"));
    TRY(chroot("loop"));
    TRY(chroot("nothing"));
    TRY(chroot("file"));
    TRY(chroot(""));
    TRY(chroot(BAD));
    TRY(chroot("."));
}

/* ------------------------------------------------------------------ scheduling */

#define NOBODY 4000000 /* no process has this number */

static void niceness(void)
{
    for (int which = -1; which <= 3; which++)
        if (which != PRIO_USER) /* natively that is the least of all processes of the user */
            TRY(getpriority(which, 0));
    TRY(getpriority(PRIO_PROCESS, NOBODY));
    TRY(getpriority(PRIO_PGRP, NOBODY));
    TRY(getpriority(PRIO_USER, NOBODY));
    TRY(setpriority(PRIO_PROCESS, 0, 9));
    TRY(getpriority(PRIO_PROCESS, 0));
    TRY(setpriority(PRIO_PROCESS, 0, 8));
    TRY(setpriority(PRIO_PROCESS, NOBODY, 12));
    TRY(setpriority(PRIO_PROCESS, 1, 12));
    TRY(setpriority(3, 0, 12));
    TRY(nice(1));
    TRY(nice(-5));
    if (fork() == 0) {
        TRY(getpriority(PRIO_PROCESS, getppid())); /* that of the host's process 1 is the host's choice */
        TRY(sched_getscheduler(getppid()));
        TRY(nice(3));
        TRY(setpriority(PRIO_PROCESS, getppid(), 12));
        _exit(0);
    }
    wait(NULL);
    TRY(getpriority(PRIO_PROCESS, 0));
    TRY(setpriority(PRIO_PROCESS, 0, 50));
    TRY(getpriority(PRIO_PROCESS, 0));
}

static void policies(void)
{
    struct sched_param param = {0};
    for (int policy = -1; policy < 7; policy++) {
        TRY(sched_get_priority_max(policy));
        TRY(sched_get_priority_min(policy));
    }
    TRY(sched_getscheduler(NOBODY));
    TRY(sched_getscheduler(-1));
    TRY(sched_getparam(0, NULL));
    TRY(sched_getparam(0, BAD));
    TRY(sched_getparam(-1, &param));
    TRY(sched_setparam(0, NULL));
    TRY(sched_setparam(NOBODY, &param));
    TRY(sched_setparam(1, &param));
    for (int policy = -1; policy < 7; policy++) {
        param.sched_priority = policy == SCHED_FIFO || policy == SCHED_RR;
        TRY(sched_setscheduler(0, policy, &param));
        TRY(sched_getscheduler(0));
    }
    param.sched_priority = 1;
    TRY(sched_setscheduler(0, SCHED_IDLE, &param));
    param.sched_priority = 100;
    TRY(sched_setscheduler(0, SCHED_FIFO, &param));
    TRY(sched_setscheduler(0, 1000, &param));
    TRY(sched_setscheduler(-1, 0, &param));
    TRY(sched_setscheduler(0, 0, NULL));
    TRY(sched_rr_get_interval(-1, (struct timespec *)&param));
    TRY(sched_rr_get_interval(NOBODY, (struct timespec *)&param));
    TRY(sched_rr_get_interval(0, BAD));
}

/* struct sched_attr, its first version. */
struct attributes {
    uint32_t bytes, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

static long get_attributes(int tid, void *to, unsigned bytes, unsigned flags)
{
    return syscall(SYS_sched_getattr, tid, to, bytes, flags);
}

static long set_attributes(int tid, struct attributes wanted, unsigned flags)
{
    return syscall(SYS_sched_setattr, tid, &wanted, flags);
}

static void attributes(void)
{
    struct attributes has, wanted = {.bytes = sizeof wanted, .policy = SCHED_IDLE, .nice = 19};
    TRY(get_attributes(0, &has, sizeof has, 0));
    TRY((int)(has.bytes * 1000 + has.policy * 100 + (unsigned)has.nice));
    TRY(get_attributes(NOBODY, &has, sizeof has, 0));
    TRY(get_attributes(-1, &has, sizeof has, 0));
    TRY(get_attributes(0, NULL, sizeof has, 0));
    TRY(get_attributes(0, BAD, sizeof has, 0));
    TRY(get_attributes(0, &has, 10, 0));
    TRY(get_attributes(0, &has, 5000, 0));
    TRY(get_attributes(0, &has, sizeof has, 1));
    TRY(set_attributes(0, wanted, 0));
    TRY(set_attributes(0, wanted, 1));
    TRY(set_attributes(NOBODY, wanted, 0));
    TRY(syscall(SYS_sched_setattr, 0, NULL, 0));
    TRY(syscall(SYS_sched_setattr, 0, BAD, 0));
    wanted.bytes = 10;
    TRY(set_attributes(0, wanted, 0));
    wanted = (struct attributes){.bytes = sizeof wanted, .policy = SCHED_OTHER, .nice = 19};
    TRY(set_attributes(0, wanted, 0));
    wanted.policy = 99;
    TRY(set_attributes(0, wanted, 0));
    wanted = (struct attributes){.bytes = sizeof wanted, .policy = SCHED_IDLE, .flags = 0x100};
    TRY(set_attributes(0, wanted, 0));
    wanted = (struct attributes){.bytes = sizeof wanted, .policy = 6, .runtime = 1};
    TRY(set_attributes(0, wanted, 0));
    wanted.runtime = 10000000;
    wanted.deadline = wanted.period = 30000000;
    TRY(set_attributes(0, wanted, 0));
}

static void processors(void)
{
    unsigned long set[16] = {0};
    TRY(syscall(SYS_sched_getaffinity, NOBODY, sizeof set, set));
    TRY(syscall(SYS_sched_getaffinity, 0, 7, set));
    TRY(syscall(SYS_sched_getaffinity, 0, 8, BAD));
    TRY(syscall(SYS_sched_setaffinity, NOBODY, sizeof set, set));
    TRY(syscall(SYS_sched_setaffinity, 0, sizeof set, set));
    TRY(syscall(SYS_sched_setaffinity, 0, 8, BAD));
    set[0] = 1;
    TRY(syscall(SYS_sched_setaffinity, 1, sizeof set, set));
}

enum { WHO_PROCESS = 1, WHO_GROUP, WHO_USER };
static int io(int class, int level) { return class << 13 | level; }

static void input(void)
{
    for (int class = 0; class < 5; class ++)
        for (int level = 0; level < 8; level += 4) {
            TRY(syscall(SYS_ioprio_set, WHO_PROCESS, 0, io(class, level)));
            TRY(syscall(SYS_ioprio_get, WHO_PROCESS, 0));
        }
    TRY(syscall(SYS_ioprio_set, WHO_PROCESS, 0, -1));
    TRY(syscall(SYS_ioprio_set, 0, 0, io(2, 4)));
    TRY(syscall(SYS_ioprio_set, 9, 0, io(2, 4)));
    TRY(syscall(SYS_ioprio_set, WHO_PROCESS, NOBODY, io(2, 4)));
    TRY(syscall(SYS_ioprio_set, WHO_PROCESS, 1, io(2, 4)));
    TRY(syscall(SYS_ioprio_set, WHO_GROUP, NOBODY, io(2, 4)));
    TRY(syscall(SYS_ioprio_set, WHO_USER, NOBODY, io(2, 4)));
    TRY(syscall(SYS_ioprio_get, WHO_GROUP, NOBODY));
    TRY(syscall(SYS_ioprio_set, WHO_PROCESS, 0, io(2, 5)));
    if (fork() == 0) {
        TRY(syscall(SYS_ioprio_get, WHO_PROCESS, 0));
        _exit(0);
    }
    wait(NULL);
}

static void scheduling(void)
{
    niceness();
    input();
    processors();
    policies();
    attributes();
}

/* ------------------------------------------------------------------ processes */

static void clones(void)
{
    uint64_t *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct clone_args *edge = (struct clone_args *)(pages + 512) - 1, *wide = (struct clone_args *)pages;
    mprotect(pages + 512, 4096, PROT_NONE);
    const struct clone_args usual = {.exit_signal = SIGCHLD};
    *edge = *wide = usual;
    TRY(syscall(SYS_clone3, edge, 0));
    TRY(syscall(SYS_clone3, edge, sizeof *edge + 1));
    TRY(syscall(SYS_clone3, edge, 8000));
    TRY(syscall(SYS_clone3, NULL, sizeof *edge));
    pages[20] = 1;
    TRY(syscall(SYS_clone3, wide, 200));
    const uint64_t flags[] = {
        0x80,         1ull << 40,     CLONE_THREAD, CLONE_SIGHAND, CLONE_FS | CLONE_NEWNS,
        CLONE_NEWUTS, CLONE_DETACHED, CLONE_PARENT, CLONE_NEWNS,   CLONE_SIGHAND | CLONE_VM | CLONE_CLEAR_SIGHAND};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        edge->flags = flags[i];
        TRY(syscall(SYS_clone3, edge, sizeof *edge));
    }
    *edge = (struct clone_args){.exit_signal = 256};
    TRY(syscall(SYS_clone3, edge, sizeof *edge));
    *edge = (struct clone_args){.exit_signal = 65};
    TRY(syscall(SYS_clone3, edge, sizeof *edge));
    *edge = (struct clone_args){.stack = (uintptr_t)pages};
    TRY(syscall(SYS_clone3, edge, sizeof *edge));
    *edge = (struct clone_args){.stack_size = 4096};
    TRY(syscall(SYS_clone3, edge, sizeof *edge));
    *edge = (struct clone_args){.set_tid = (uintptr_t)pages};
    TRY(syscall(SYS_clone3, edge, sizeof *edge));
    *edge = (struct clone_args){.set_tid_size = 1};
    TRY(syscall(SYS_clone3, edge, sizeof *edge));
    TRY(syscall(SYS_clone, CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0));
    TRY(syscall(SYS_clone, CLONE_SIGHAND | SIGCHLD, 0, 0, 0, 0));
    TRY(syscall(SYS_clone, CLONE_THREAD | SIGCHLD, 0, 0, 0, 0));
    TRY(syscall(SYS_unshare, 0));
    TRY(syscall(SYS_unshare, CLONE_FS | CLONE_FILES));
    TRY(syscall(SYS_unshare, CLONE_NEWNS));
    TRY(syscall(SYS_unshare, -1));
    TRY(syscall(SYS_setns, -1, 0));
    TRY(syscall(SYS_setns, 0, 0));
}

static long compare(pid_t one, pid_t other, int type, unsigned long first, unsigned long second)
{
    return syscall(SYS_kcmp, one, other, type, first, second);
}

static void comparing(void)
{
    const pid_t self = getpid();
    const int copy = dup(file);
    TRY(compare(self, self, KCMP_FILE, (unsigned long)file, (unsigned long)copy));
    TRY(compare(self, self, KCMP_FILE, (unsigned long)file, (unsigned long)null) > 0);
    TRY(compare(self, self, KCMP_FILE, 0, -1ul));
    TRY(compare(self, self, KCMP_FILE, 0, INT32_MAX));
    TRY(compare(self, self, KCMP_VM, 0, 0));
    TRY(compare(self, self, KCMP_TYPES + 1, 0, 0));
    TRY(compare(self, self, -1, 0, 0));
    TRY(compare(NOBODY, self, KCMP_FILE, 0, 0));
    TRY(compare(self, NOBODY, KCMP_FILE, 0, 0));
    if (fork() == 0) {
        const unsigned long again = (unsigned long)dup(file), other = (unsigned long)open("file", O_RDONLY);
        TRY(compare(getpid(), self, KCMP_FILE, (unsigned long)file, (unsigned long)copy));
        TRY(compare(getpid(), self, KCMP_FILE, again, (unsigned long)file));
        TRY(compare(getpid(), self, KCMP_FILE, other, (unsigned long)file) > 0);
        TRY(compare(getpid(), self, KCMP_FILE, other, other));
        TRY(compare(getpid(), self, KCMP_VM, 0, 0) > 0);
        TRY(compare(getpid(), self, KCMP_FILES, 0, 0) > 0);
        TRY(compare(getpid(), self, KCMP_SYSVSEM, 0, 0));
        struct sembuf up = {.sem_op = 1, .sem_flg = SEM_UNDO};
        const int set = semget(IPC_PRIVATE, 1, 0600);
        TRY(semop(set, &up, 1));
        TRY(compare(getpid(), self, KCMP_SYSVSEM, 0, 0) > 0);
        TRY(semctl(set, 0, IPC_RMID));
        _exit(0);
    }
    wait(NULL);
}

static int heard[2]; /* a pipe: the value of each signal */

static void hears(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    if (write(heard[1], &info->si_value.sival_int, sizeof(int)) < 0)
        _exit(1);
}

static pthread_barrier_t barrier;

static void *is_called(void *tid)
{
    *(int *)tid = gettid();
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void signalling(void)
{
    siginfo_t info = {.si_code = SI_QUEUE};
    const struct sigaction action = {.sa_sigaction = hears, .sa_flags = SA_SIGINFO};
    pthread_t thread;
    int tid, value = 0;
    if (pipe(heard) < 0)
        exit(1);
    sigaction(SIGUSR1, &action, NULL);
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, is_called, &tid);
    pthread_barrier_wait(&barrier);
    info.si_value.sival_int = 77;
    TRY(syscall(SYS_rt_sigqueueinfo, tid, SIGUSR1, &info));
    TRY(read(heard[0], &value, sizeof value));
    TRY(value);
    TRY(kill(tid, 0));
    TRY(getpgid(tid) - getpgrp());
    TRY(getpriority(PRIO_PROCESS, tid));
    TRY(syscall(SYS_rt_sigqueueinfo, NOBODY, SIGUSR1, &info));
    TRY(syscall(SYS_rt_tgsigqueueinfo, getpid(), tid, 0, &info));
    info.si_code = SI_USER;
    TRY(syscall(SYS_rt_tgsigqueueinfo, getpid(), tid, 0, &info));
    TRY(syscall(SYS_rt_tgsigqueueinfo, -1, 1, 0, &info));
    TRY(syscall(SYS_rt_sigqueueinfo, 1, 0, &info));
    TRY(kill(1, 0));
    TRY(kill(NOBODY, 0));
    TRY(kill(0, 100));
    TRY(syscall(SYS_tkill, 0, 0));
    TRY(syscall(SYS_tkill, 1, 0));
    TRY(syscall(SYS_tkill, NOBODY, 9));
    TRY(syscall(SYS_tgkill, getpid(), -1, 9));
    TRY(syscall(SYS_tgkill, NOBODY, getpid(), 9));
    TRY(syscall(SYS_tgkill, getpid(), getpid(), 100));
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
}

static void processes(void)
{
    clones();
    comparing();
    signalling();
}

/* ------------------------------------------------------------------ endings */

static void end_by(int signal, rlim_t core)
{
    siginfo_t info;
    int status;
    if (fork() == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){core, core});
        raise(signal);
        _exit(9);
    }
    waitid(P_ALL, 0, &info, WEXITED | WNOWAIT);
    wait(&status);
    printf("signal %d, core of %ld: status %#x, why %d\n", signal, (long)core, (unsigned)status, info.si_code);
    fflush(stdout);
}

static void endings(void)
{
    const int signals[] = {SIGHUP, SIGQUIT, SIGILL,  SIGTRAP, SIGABRT, SIGBUS,
                           SIGFPE, SIGKILL, SIGSEGV, SIGTERM, SIGSYS};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        end_by(signals[i], 0);
}

/* ------------------------------------------------------------------ timers */

static timer_t make_timer(void)
{
    timer_t timer;
    TRY(timer_create(CLOCK_MONOTONIC, &(struct sigevent){.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1},
                     &timer));
    return timer;
}

static void timers(void)
{
    const struct itimerspec often = {.it_interval = {0, 1}, .it_value = {0, 1}}, never = {{0, 0}, {0, 0}};
    const struct timespec pause = {2, 200000000}, no_time = {0, 0};
    struct itimerspec wrong = {.it_value = {0, -1}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = 99};
    sigset_t set;
    siginfo_t info;
    int number;
    const timer_t timer = make_timer();
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    TRY(timer_settime(timer, 0, &often, NULL));
    nanosleep(&pause, NULL);
    TRY(timer_getoverrun(timer));
    TRY(sigwaitinfo(&set, &info));
    TRY(info.si_overrun == INT32_MAX);
    TRY(timer_getoverrun(timer) == INT32_MAX);
    TRY(timer_settime(timer, 0, &never, NULL));
    sigtimedwait(&set, NULL, &no_time);
    TRY(timer_settime(timer, 0, NULL, NULL));
    TRY(timer_settime(timer, 0, BAD, NULL));
    TRY(timer_settime(timer, 0, &wrong, NULL));
    wrong = (struct itimerspec){.it_interval = {0, 1000000000}, .it_value = {0, 1}};
    TRY(timer_settime(timer, 0, &wrong, NULL));
    TRY(syscall(SYS_timer_settime, 77, 0, &never, NULL));
    TRY(syscall(SYS_timer_gettime, 77, &wrong));
    TRY(syscall(SYS_timer_getoverrun, 77));
    TRY(syscall(SYS_timer_delete, 77));
    for (int clock = -1; clock < 8; clock++)
        TRY(syscall(SYS_timer_create, clock, NULL, &number) < 0 ? -1 : 0);
    TRY(syscall(SYS_timer_create, 0, &event, &number));
    TRY(syscall(SYS_timer_create, 0, BAD, &number));
    event = (struct sigevent){.sigev_notify = 99, .sigev_signo = SIGUSR1};
    TRY(syscall(SYS_timer_create, 0, &event, &number));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {{"sockets", sockets},       {"messages", messages},   {"descriptors", descriptors},
                 {"scheduling", scheduling}, {"processes", processes}, {"endings", endings},
                 {"timers", timers}};
    open_all();
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && argc > 1; i++)
        if (strcmp(argv[1], parts[i].name) == 0)
            parts[i].run();
    return 0;
}
