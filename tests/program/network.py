# SPDX-License-Identifier: GPL-2.0-or-later
"""network.py PART: the sockets of the guest's own loopback.

peers   all kinds of sockets say under c2emu what they say natively
links   programs find the loopback, and no other network
closed  --no-net and --sandbox refuse them, and nobody of the host is reached or reaches them
"""

import os
import socket
import sys
import tempfile

from common import EMULATOR, done, equal, run

GUEST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "guests", "network_calls.py")
PYTHON = "/usr/bin/python3"


def guest(*words, options=()):
    return run([EMULATOR, "-q", "--no-sim", *options, PYTHON, "-I", "-S", "-B", *words])


def peers(top):
    outputs = []
    for name, prefix in (("native", []), ("emulated", [EMULATOR, "-q", "--no-sim"])):
        directory = os.path.join(top, name)
        os.mkdir(directory)
        result = run([*prefix, PYTHON, "-I", "-S", "-B", GUEST, directory])
        equal((result.returncode, result.stderr), (0, b""), name)
        outputs.append(result.stdout.decode().splitlines())
    for native, emulated in zip(*outputs):
        equal(emulated, native, "what the sockets say")
    equal(len(outputs[1]), len(outputs[0]), "lines")


# By the module below `socket`, which starts faster.
TRY = """import _socket as socket
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK, socket.AF_UNIX):
    try:
        print(socket.socket(family, socket.SOCK_DGRAM).family == family)
    except OSError as problem:
        print(problem.strerror)
"""
CONNECT = """import _socket as socket, sys
try:
    print(socket.socket().connect(("127.0.0.1", int(sys.argv[1]))))
except OSError as problem:
    print(problem.strerror)
socket.socket().bind(("127.0.0.1", int(sys.argv[1])))
"""
CONNECT_PATH = """import _socket as socket, sys
try:
    socket.socket(socket.AF_UNIX).connect(sys.argv[1])
except OSError as problem:
    print(problem.strerror)
"""


# Flags, address, mask, MTU, hardware address and number by ioctl; what if_nameindex says; and messages of netlink:
# sequence number, type, process, body.
LINKS = """import _socket as socket, fcntl, struct
with_name = struct.pack("40s", b"lo")
for number in 0x8913, 0x8915, 0x891b, 0x8921, 0x8927, 0x8933:
    print(fcntl.ioctl(socket.socket(), number, with_name)[16:24].hex())
try:
    fcntl.ioctl(socket.socket(), 0x8913, struct.pack("40s", b"eth0"))
except OSError as problem:
    print(problem.strerror)
print(socket.if_nameindex())
link = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
link.bind((0, 0))
print(link.getsockname())
def ask(kind, flags, body):
    link.send(struct.pack("IHHII", 16 + len(body), kind, flags, 7, 0) + body)
    data, sender = link.recvfrom(4096)
    while data:
        size, kind, flags, sequence, port = struct.unpack("IHHII", data[:16])
        print(sender, sequence, kind, port, data[16:size].hex())
        data = data[size + 3 & ~3:]
ask(22, 0x301, bytes(8))         # all addresses
ask(26, 0x301, bytes(12))        # all routes
ask(18, 1, struct.pack("4I", 0, 2, 0, 0))  # the link 2
ask(16, 1, bytes(16))            # a new link
"""
DONE = "(0, 0) 7 3 1000 00000000\n"


def links(_):
    address = "(0, 0) 7 20 1000 "
    label, flags = "07000300" + "6c6f0000", "0800080080000000"
    expected = [
        "4900000000000000\n", "020000007f000001\n", "02000000ff000000\n", "0000010000000000\n",
        "0403000000000000\n", "0100000000000000\n", "No such device\n",
        "[(1, 'lo')]\n", "(1000, 0)\n",
        address + "02088" + "0fe01000000" + "080001007f000001" + "080002007f000001" + label + flags + "\n",
        address + "0a8080fe01000000" + "14000100" + 30 * "0" + "01" + flags + "\n",
        DONE, DONE,
        "(0, 0) 7 2 1000 edffffff" + "20000000120001000700000000000000\n",
        "(0, 0) 7 2 1000 ffffffff" + "20000000100001000700000000000000\n",
    ]
    result = guest("-c", LINKS)
    equal(result.stderr, b"", "messages")
    for said, wanted in zip(result.stdout.decode().splitlines(True), expected):
        equal(said, wanted, "what netlink says")
    equal(result.stdout.count(b"\n"), len(expected), "lines")


def closed(top):
    denied = b"Permission denied\n"
    equal(guest("-c", TRY).stdout, 4 * b"True\n", "as it is")
    equal(guest("-c", TRY, options=["--no-net"]).stdout, 3 * denied + b"True\n", "--no-net")
    equal(guest("-c", TRY, options=["--sandbox"]).stdout, 4 * denied, "--sandbox")
    with socket.socket() as server, socket.socket(socket.AF_UNIX) as local:
        server.bind(("127.0.0.1", 0))
        server.listen()
        result = guest("-c", CONNECT, str(server.getsockname()[1]))
        equal((result.stdout, result.stderr), (b"Connection refused\n", b""), "a port of the host")
        path = os.path.join(top, "local")
        local.bind(path)
        local.listen()
        equal(guest("-c", CONNECT_PATH, path).stdout, b"Connection refused\n", "a socket of the host")


PARTS = {"peers": peers, "links": links, "closed": closed}
with tempfile.TemporaryDirectory() as directory:
    PARTS[sys.argv[1]](directory)
done()
