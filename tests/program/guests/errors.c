/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * errors PART: calls with arguments that are wrong, each with what the kernel answers. Run in an empty directory, by a
 * user without rights.
 *
 * sockets      making, binding, connecting, options, shutting down
 * messages     sending and receiving
 * descriptors  dup, fcntl, chroot
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
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

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {{"sockets", sockets}, {"messages", messages}, {"descriptors", descriptors}};
    open_all();
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && argc > 1; i++)
        if (strcmp(argv[1], parts[i].name) == 0)
            parts[i].run();
    return 0;
}
