# SPDX-License-Identifier: GPL-2.0-or-later
"""network.py PART: the sockets of the guest's own loopback.

peers   all kinds of sockets say under c2emu what they say natively
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
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX):
    try:
        print(socket.socket(family).family == family)
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


def closed(top):
    denied = b"Permission denied\n"
    equal(guest("-c", TRY).stdout, 3 * b"True\n", "as it is")
    equal(guest("-c", TRY, options=["--no-net"]).stdout, 2 * denied + b"True\n", "--no-net")
    equal(guest("-c", TRY, options=["--sandbox"]).stdout, 3 * denied, "--sandbox")
    with socket.socket() as server, socket.socket(socket.AF_UNIX) as local:
        server.bind(("127.0.0.1", 0))
        server.listen()
        result = guest("-c", CONNECT, str(server.getsockname()[1]))
        equal((result.stdout, result.stderr), (b"Connection refused\n", b""), "a port of the host")
        path = os.path.join(top, "local")
        local.bind(path)
        local.listen()
        equal(guest("-c", CONNECT_PATH, path).stdout, b"Connection refused\n", "a socket of the host")


PARTS = {"peers": peers, "closed": closed}
with tempfile.TemporaryDirectory() as directory:
    PARTS[sys.argv[1]](directory)
done()
