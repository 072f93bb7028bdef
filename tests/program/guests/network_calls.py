# SPDX-License-Identifier: GPL-2.0-or-later
"""Sockets of all kinds, in the directory given: prints what they say, which is the same wherever it runs."""

import asyncio
import errno
import os
import select
import socket as S
import struct
import sys
import threading

HERE = "127.0.0.1"


def error(call, *arguments):
    try:
        return call(*arguments)
    except OSError as problem:
        return errno.errorcode[problem.errno]


def tcp():
    server = S.socket()
    server.setsockopt(S.SOL_SOCKET, S.SO_REUSEADDR, 1)
    server.bind((HERE, 0))
    server.listen(1)
    port = server.getsockname()[1]
    client = S.create_connection((HERE, port))
    end, peer = server.accept()
    print(peer == client.getsockname(), end.getpeername() == peer, end.getsockname() == (HERE, port),
          client.getpeername() == (HERE, port), end.family, end.type)
    client.sendall(b"hello")
    print(end.recv(3), end.recv(10))
    end.send(b"x" * 1000)
    print(len(client.recv(2000)))
    client.setsockopt(S.IPPROTO_TCP, S.TCP_NODELAY, 1)
    print(client.getsockopt(S.IPPROTO_TCP, S.TCP_NODELAY) != 0, client.getsockopt(S.SOL_SOCKET, S.SO_TYPE),
          client.getsockopt(S.SOL_SOCKET, S.SO_ERROR))
    print(error(S.create_connection, (HERE, 1)))
    other = S.socket()
    print(error(other.bind, (HERE, port)), error(other.getpeername), error(other.recv, 5))
    client.shutdown(S.SHUT_WR)
    print(end.recv(5))
    end.close()
    print(client.recv(10))
    watch = select.epoll()
    watch.register(server.fileno(), select.EPOLLIN)
    client = S.create_connection((HERE, port))
    print(len(watch.poll(1)))


def all_addresses():
    six = S.socket(S.AF_INET6)
    six.bind(("::", 0))
    six.listen()
    port = six.getsockname()[1]
    client = S.socket(S.AF_INET6)
    client.connect(("::1", port))
    end, peer = six.accept()
    print(peer[0], end.getsockname()[0], six.getsockname()[0])
    client = S.socket()
    client.connect((HERE, port))
    end, peer = six.accept()
    print(peer[0], end.getsockname()[0], client.getpeername()[0])
    server = S.socket()
    server.bind(("", 0))
    server.listen()
    client = S.socket()
    client.connect(("127.0.0.5", server.getsockname()[1]))
    end, peer = server.accept()
    print(server.getsockname()[0], end.getsockname()[0], peer[0])


def udp():
    to, sender, alone = (S.socket(S.AF_INET, S.SOCK_DGRAM) for _ in range(3))
    to.bind((HERE, 0))
    print(sender.getsockname(), sender.sendto(b"abc", to.getsockname()))
    data, address = to.recvfrom(10)
    print(data, address[0], address[1] == sender.getsockname()[1])
    sender.connect(to.getsockname())
    sender.send(b"de")
    os.write(sender.fileno(), b"fgh")
    print(to.recv(10), to.recv(10), sender.getpeername() == to.getsockname(), sender.getsockname()[0])
    six = S.socket(S.AF_INET6, S.SOCK_DGRAM)
    for address in ("::1", "::ffff:127.0.0.1"):
        six.connect((address, 9))
        print(six.getsockname()[0], six.getpeername()[0])
    print(S.getaddrinfo("localhost", 80, type=S.SOCK_STREAM)[0][1:3])
    print(sender.sendmsg([b"a", b"bc"]), to.recvmsg(10)[0])
    print(error(alone.send, b"x"), error(alone.getpeername), alone.sendto(b"zz", (HERE, 9)))


# Of each level, options that there are, and some that there are not.
OPTIONS = {S.IPPROTO_IP: (1, 2, 6, 7, 8, 10, 11, 12, 13, 15, 20, 21, 24, 32, 33, 34, 35, 36, 49),
           S.IPPROTO_TCP: (1, 3, 4, 5, 6, 7, 8, 12, 16, 18, 25, 30),
           S.IPPROTO_IPV6: (16, 17, 18, 19, 20, 21, 23, 25, 26, 49, 51, 60, 66, 67, 99)}
VALUES = (b"\1", -2, -1, 0, 1, 2, 3, 64, 127, 128, 255, 256, 40000)
SET_BY_THE_HOST = {(S.IPPROTO_TCP, number) for number in (4, 5, 6, 7, 8, 25)}  # what they are at first


def options(family, kind):
    for level, numbers in OPTIONS.items():
        for number in numbers:
            by_the_host = (level, number) in SET_BY_THE_HOST
            said = [None if by_the_host else error(S.socket(family, kind).getsockopt, level, number)]
            values = [value for value in VALUES if value != 0] if by_the_host else VALUES
            for value in values[:5] if (level, number) == (S.IPPROTO_IPV6, 17) else values:  # other links' numbers
                socket = S.socket(family, kind)
                done = error(socket.setsockopt, level, number, value)
                said += [done, None if done and by_the_host else error(socket.getsockopt, level, number)]
            print(level, number, said)


def groups():
    """There is one link only, the loopback, on which groups are not for everybody: what is wrong is wrong anywhere."""
    fd = S.socket(S.AF_INET, S.SOCK_DGRAM)
    group, here, nowhere = (S.inet_aton(text) for text in ("239.255.0.1", HERE, "192.0.2.1"))
    for value in (here, here[:3], nowhere, group + here, group + nowhere, group + here + b"\1\0\0\0", bytes(4)):
        print(value, error(fd.setsockopt, S.IPPROTO_IP, S.IP_MULTICAST_IF, value),
              fd.getsockopt(S.IPPROTO_IP, S.IP_MULTICAST_IF, 4))
    print(error(fd.setsockopt, S.IPPROTO_IP, S.IP_ADD_MEMBERSHIP, here + here),
          error(fd.setsockopt, S.IPPROTO_IP, S.IP_ADD_MEMBERSHIP, group),
          error(fd.setsockopt, S.IPPROTO_IP, S.IP_DROP_MEMBERSHIP, group + here))


def same_port(kind, *options):
    """What a socket with these options says to one at the same port; with and without a listener."""
    for first, second in ((HERE, HERE), (HERE, ""), ("", HERE), ("", ""), (HERE, "127.0.0.5")):
        for listens in (False, True):
            for others in ((), options):
                one, other = S.socket(S.AF_INET, kind), S.socket(S.AF_INET, kind)
                for option in options:
                    one.setsockopt(S.SOL_SOCKET, option, 1)
                for option in others:
                    other.setsockopt(S.SOL_SOCKET, option, 1)
                    print(other.getsockopt(S.SOL_SOCKET, option))
                one.bind((first, 0))
                if listens and kind == S.SOCK_STREAM:
                    one.listen()
                said = error(other.bind, (second, one.getsockname()[1]))
                print(first, second, listens, len(others), said,
                      said or kind == S.SOCK_DGRAM or (error(other.listen), error(one.listen)))


def nearest():
    """Of sockets at one port the datagram goes to the one that says most of it."""
    def bound(address, port=0):
        made = S.socket(S.AF_INET, S.SOCK_DGRAM)
        made.setsockopt(S.SOL_SOCKET, S.SO_REUSEADDR, 1)
        made.bind((address, port))
        return made

    sender = bound(HERE)
    anywhere = bound("")
    port = anywhere.getsockname()[1]
    here, later, connected, foreign = (bound(HERE, port) for _ in range(4))
    connected.connect(sender.getsockname())
    foreign.connect((HERE, 9))
    ends = {"anywhere": anywhere, "here": here, "later": later, "connected": connected, "foreign": foreign}
    while len(ends) > 1:
        sender.sendto(b"to whom", (HERE, port))
        print([name for name, end in ends.items() if end in select.select([end], [], [], 0)[0]])
        for name, end in list(ends.items()):
            if select.select([end], [], [], 0)[0]:
                ends.pop(name).close()
    print(list(ends))


NO_LINGER = struct.pack("ii", 1, 0)


def connection():
    server = S.create_server((HERE, 0))
    client = S.create_connection(server.getsockname())
    return client, server.accept()[0]


def settle():
    """What goes over the loopback has arrived."""
    select.select([], [], [], 0.02)


def say_end(what, end):
    """The errors of a socket whose other end has gone."""
    print(what, error(end.recv, 5), error(end.send, b"x"), settle(), error(end.send, b"y"), error(end.send, b"z"),
          end.getsockopt(S.SOL_SOCKET, S.SO_ERROR), error(end.recv, 5))


def resets():
    for turned in (False, True):
        def pair():
            return connection()[::-1] if turned else connection()
        one, other = pair()
        other.close()
        say_end("closed", one)
        one, other = pair()
        one.send(b"unread")
        settle()
        other.close()
        say_end("closed without reading", one)
        for linger in (NO_LINGER, bytes(8), struct.pack("ii", 1, 5)):
            one, other = pair()
            other.setsockopt(S.SOL_SOCKET, S.SO_LINGER, linger)
            print(other.getsockopt(S.SOL_SOCKET, S.SO_LINGER, 8))
            other.send(b"said")
            other.close()
            settle()
            say_end("closed, linger", one)
            print(error(one.recv, 5))
        one, other = pair()
        other.setsockopt(S.SOL_SOCKET, S.SO_LINGER, NO_LINGER)
        other.close()
        settle()
        print("asked", one.getsockopt(S.SOL_SOCKET, S.SO_ERROR), error(one.recv, 5), error(one.send, b"x"))
        one, other = pair()
        other.setsockopt(S.SOL_SOCKET, S.SO_LINGER, NO_LINGER)
        copy = other.dup()
        other.close()
        one.send(b"to the copy")
        print(copy.recv(20))
        copy.close()
        settle()
        print("written", error(os.write, one.fileno(), b"x"), error(os.write, one.fileno(), b"x"),
              error(os.read, one.fileno(), 5))
        one, other = pair()
        one.shutdown(S.SHUT_WR)
        print("shut", error(one.send, b"x"), error(other.recv, 5), other.send(b"y"), one.recv(5))
        for option in (S.SO_OOBINLINE, S.SO_PRIORITY):
            print(one.getsockopt(S.SOL_SOCKET, option), one.setsockopt(S.SOL_SOCKET, option, 1),
                  one.getsockopt(S.SOL_SOCKET, option))


def local():
    server, client, other, third = (S.socket(S.AF_UNIX) for _ in range(4))
    name = b"\0" + os.urandom(8).hex().encode()  # others on this host may run the same
    server.bind("socket")
    server.listen()
    print(oct(os.stat("socket").st_mode), server.getsockname())
    client.connect("socket")
    end, peer = server.accept()
    print(repr(peer), client.getpeername(), end.getsockname(), repr(client.getsockname()))
    print(error(other.bind, "socket"), error(other.connect, "nothing"), error(other.connect, "."),
          error(other.connect, name))
    other.bind(name)
    other.listen()
    third.connect(name)
    print(other.getsockname() == name, third.getpeername() == name)
    listeners = []
    for number in range(4):  # the next file may get the number of the one that is gone; its socket is open
        listeners.append(S.socket(S.AF_UNIX))
        listeners[-1].bind("again")
        listeners[-1].listen()
        caller = S.socket(S.AF_UNIX)
        caller.connect("again")
        print(number, [select.select([each], [], [], 0)[0] != [] for each in listeners])
        listeners[-1].accept()[0].close()
        os.unlink("again")
    first, second = (S.socket(S.AF_UNIX, S.SOCK_DGRAM) for _ in range(2))
    first.bind("first")
    second.bind("second")
    second.sendto(b"q", "first")
    print(first.recvfrom(5))
    second.connect("first")
    second.send(b"r")
    print(first.recv(5), second.getpeername())
    return client, end


def control(client, end):
    out, into = os.pipe()
    S.send_fds(client, [b"fd"], [into, out])
    message, descriptors, flags, address = S.recv_fds(end, 10, 5)
    os.write(descriptors[0], b"through")
    print(message, len(descriptors), os.read(out, 10), flags & ~S.MSG_CMSG_CLOEXEC, repr(address))
    print(error(S.send_fds, client, [b"fd"], [77]))
    for wanted in (0, S.MSG_CMSG_CLOEXEC):
        client.send(b"flags")
        print(end.recvmsg(10, 0, wanted)[2] == wanted)
    self = struct.pack("iII", os.getpid(), os.getuid(), os.getgid())
    end.setsockopt(S.SOL_SOCKET, S.SO_PASSCRED, 1)
    client.sendmsg([b"who"], [(S.SOL_SOCKET, S.SCM_CREDENTIALS, self)])
    message, parts, _, _ = end.recvmsg(10, 100)
    print(message, parts[0][2] == self, client.getsockopt(S.SOL_SOCKET, S.SO_PEERCRED, 12) == self)


def in_threads():
    """Each side waits for the other all the time."""
    server = S.create_server((HERE, 0))

    def serve():
        end, _ = server.accept()
        with end:
            while data := end.recv(100000):
                end.sendall(data[::-1])

    thread = threading.Thread(target=serve)
    thread.start()
    with S.create_connection(server.getsockname()) as client:
        for turn in range(5):
            client.sendall(b"%d" % turn * 3)
            print(client.recv(100))
        sender = threading.Thread(target=client.sendall, args=(b"x" * 500000,))
        sender.start()
        left = 500000
        while left:
            left -= len(client.recv(left))
        sender.join()
    thread.join()


def in_processes():
    """A child sends its number, a pipe, and over TCP."""
    one, other = S.socketpair()
    server = S.create_server((HERE, 0))
    other.setsockopt(S.SOL_SOCKET, S.SO_PASSCRED, 1)
    child = os.fork()
    if child == 0:
        out, into = os.pipe()
        os.write(into, b"by a pipe")
        S.send_fds(one, [b"fd"], [out])
        with S.create_connection(server.getsockname()) as client:
            client.sendall(b"by tcp")
        os._exit(7)
    message, parts, _, _ = other.recvmsg(10, 200)
    found = {kind: data for _, kind, data in parts}
    print(message, struct.unpack("iII", found[S.SCM_CREDENTIALS])[0] == child,
          os.read(struct.unpack("i", found[S.SCM_RIGHTS])[0], 20))
    end, _ = server.accept()
    print(end.recv(20), end.recv(20), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


async def answer(reader, writer):
    writer.write((await reader.readline()).upper())
    await writer.drain()
    writer.close()


async def loop():
    server = await asyncio.start_server(answer, HERE, 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    writer.write(b"by a loop of events\n")
    print(await reader.readline())
    writer.close()
    server.close()
    await asyncio.sleep(0.01)


os.chdir(sys.argv[1])
tcp()
all_addresses()
udp()
for family in (S.AF_INET, S.AF_INET6):
    for kind in (S.SOCK_STREAM, S.SOCK_DGRAM):
        options(family, kind)
groups()
for kind in (S.SOCK_STREAM, S.SOCK_DGRAM):
    same_port(kind)
    same_port(kind, S.SO_REUSEADDR)
    same_port(kind, S.SO_REUSEPORT)
    same_port(kind, S.SO_REUSEADDR, S.SO_REUSEPORT)
nearest()
resets()
control(*local())
in_threads()
in_processes()
asyncio.run(loop())
