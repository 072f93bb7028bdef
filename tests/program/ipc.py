# SPDX-License-Identifier: GPL-2.0-or-later
"""ipc.py PART: System V IPC, with guests/ipc.c. Parts:

memory      as natively: segments between processes
semaphores  as natively, under two quanta
messages    as natively, under two quanta
queues      as natively: those of POSIX, under two quanta
shm         /dev/shm is the run's own: two runs at a time make the same names
own         nothing of it is the host's; who waits for ever is told; a program that has some is not saved
"""

import os
import subprocess
import sys
import tempfile

from common import EMULATOR, check, done, emulate, equal, run, same_as_natively

GUEST = os.path.join(os.environ["GUESTS"], "ipc")


def as_natively(part, quanta):
    for quantum in quanta:
        got = emulate(["-q", "--no-sim", "--quantum", quantum, GUEST, part])
        check(got.stdout.count(b"\n") > 20, "the program says something")
        same_as_natively([GUEST, part], got, "what is said under quantum " + quantum)


def memory():
    as_natively("memory", ["50000"])


def semaphores():
    as_natively("semaphores", ["50000", "777"])


def messages():
    as_natively("messages", ["50000", "777"])


def queues():
    as_natively("queues", ["50000", "777"])


def found(start, look, name):
    """What `look` says of the queue with this key that a program started by `start` has."""
    with subprocess.Popen([*start, GUEST, "kept", name], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        holder.stdout.readline()
        said = run([*look, GUEST, "find", name]).stdout
        holder.stdin.close()
    return said


def own():
    guest, name = [EMULATOR, "-q", "--no-sim"], str(0x5f000000 + os.getpid() % 0x100000)
    equal(found([], [], name), b"find: 0\n", "a queue of the host's, natively")
    equal(found([], guest, name), b"find: ENOENT\n", "a queue of the host's, under c2emu")
    equal(found(guest, [], name), b"find: ENOENT\n", "a queue of the guest's, natively")
    got = emulate(["--no-sim", GUEST, "stuck"])
    equal(got.returncode, 125, "exit status of a deadlock")
    said = got.stderr.decode().splitlines()
    equal(said[0], "c2emu: deadlock: the program waits for ever in semtimedop: nobody changes the semaphores so that "
          "it can go on", "a deadlock")
    check(any(line.strip().startswith("op (ipc.c:") for line in said), "where it waits")
    with tempfile.TemporaryDirectory() as top:
        got = emulate(["--no-sim", "--checkpoint-at", "on_saved", "--checkpoint", os.path.join(top, "c"), GUEST, "kept",
                       name])
        check(b"System V IPC" in got.stderr, "a checkpoint: " + got.stderr.decode())


def shm():
    script = "set -C; echo $1 > /dev/shm/c2test-name && cat /dev/shm/c2test-name && read line && ls /dev/shm"
    runs = [subprocess.Popen([EMULATOR, "-q", "--no-sim", "/bin/sh", "-c", script, "sh", word], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE) for word in ("first", "second")]
    for one, word in zip(runs, (b"first", b"second")):
        equal(one.stdout.readline(), word + b"\n", "what a run finds under its name")
    check(not os.path.exists("/dev/shm/c2test-name"), "the host has no such name")
    for one in runs:
        output, said = one.communicate(b"on\n")
        equal((one.returncode, output), (0, b"c2test-name\n"), "status and names")
        equal(said, b"c2emu: the program has left 1 name in its /dev/shm, which ends with the run: c2test-name\n",
              "what is said at the end")
    check(not [name for name in os.listdir("/dev/shm") if name.startswith("c2emu-%d-" % runs[0].pid)], "it is removed")
    with tempfile.TemporaryDirectory() as top:
        got = emulate(["--no-sim", "--checkpoint-at", "700000", "--checkpoint", os.path.join(top, "c"), "/bin/sh", "-c",
                       "echo > /dev/shm/c2test-name; i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done"])
        check(b"it has files in /dev/shm" in got.stderr, "a checkpoint: " + got.stderr.decode())


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    done()
