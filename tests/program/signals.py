# SPDX-License-Identifier: GPL-2.0-or-later
"""signals.py PART: what programs do with signals, as on Linux; with guests/signals.c,
guests/accesses.c, guests/traps.c and guests/segments.c.

faults   what handlers are told of faults, and a crash handler that shows its callers
queues   real-time signals are kept, and come in order
timers   alarm, setitimer, timer_create, in guest time: to the instruction
threads  signals for one thread, waits that they interrupt, and calls that go on
accesses what handlers are told of accesses that cannot be, and of returns to segments that are none
segments what far returns, calls and jumps and IRET do, and where they fault
traps    floating-point exceptions that are not masked: of SSE as on Linux, of the x87 unit refused
"""

import os
import sys

from common import contains, done, emulate, equal, run

GUEST = os.path.join(os.environ["GUESTS"], "signals")
ACCESSES = os.path.join(os.environ["GUESTS"], "accesses")
TRAPS = os.path.join(os.environ["GUESTS"], "traps")


def as_natively(what, quanta=("50000",), guest=GUEST):
    native = run([guest, what])
    for more in [["--quantum", quantum] for quantum in quanta]:
        got = emulate(["-q", "--no-sim"] + more + [guest, what])
        equal(got.stdout.decode(), native.stdout.decode(), what)
        equal(got.returncode, native.returncode, "exit status of " + what)
        equal(got.stderr.decode(), "", "messages of " + what)


def expect(what, text, quanta=("50000",)):
    """What a loaded host may do otherwise."""
    for quantum in quanta:
        got = emulate(["-q", "--no-sim", "--quantum", quantum, GUEST, what])
        equal((got.stdout.decode(), got.returncode, got.stderr), (text, 0, b""), what)


def timers():
    expect("posix", "posix 1 1 value 7 overruns 1\nleft 1\nthread 7 delete 0 0 -1\n")
    got = emulate(["-q", "--no-sim", GUEST, "timers"])
    equal(got.stdout.decode(), "ALRM 1 1\nVTALRM 1 1\nPROF 1 1\nalarm 10 1 ALRM\n", "timers")
    traces = [emulate(["-q", "--no-sim", "-v", GUEST, "timers"]).stderr for _ in range(2)]
    equal(traces[0] == traces[1], True, "timers go off at the same instructions")


def faults():
    as_natively("faults")
    as_natively("crash")


def threads():
    expect("restarts", "read -1 EINTR after 1 nanosleep -1 EINTR rest 1\n"
                       "read 1 - after 1 nanosleep -1 EINTR rest 1\n", ("50000", "97"))
    as_natively("directed", ("50000", "97"))


def traps():
    as_natively("sse", ("50000", "7"), TRAPS)
    as_natively("libc", guest=TRAPS)
    as_natively("threads", ("50000", "97", "7"), TRAPS)
    got = emulate(["-q", "--no-sim", TRAPS, "x87"])
    equal((got.stdout.decode(), got.returncode), ("", 125), "an x87 exception that traps")
    contains(got.stderr.decode(), ["an x87 instruction before this one", "exception that traps"], "where it occurs")


def accesses():
    as_natively("faults", ("50000", "1"), ACCESSES)
    as_natively("halves", ("50000", "1"), ACCESSES)
    as_natively("selectors", guest=ACCESSES)
    got = emulate(["-q", ACCESSES, "32"])
    equal(got.returncode, 125, "status of a return to 32-bit code")
    contains(got.stderr.decode(), ["returns to 32-bit code (CS 0x23)", "build for x86-64"], "a return to 32-bit code")


def segments():
    guest = os.path.join(os.environ["GUESTS"], "segments")
    as_natively("all", ("50000", "1"), guest)
    native = run([guest]).stdout
    for engine in "auto", "unicorn":
        equal(emulate(["-q", "--engine", engine, guest]).stdout, native, "the same, simulated, by " + engine)


PARTS = {"accesses": accesses, "faults": faults, "queues": lambda: as_natively("queues"), "timers": timers,
         "threads": threads, "segments": segments, "traps": traps}
PARTS[sys.argv[1]]()
done()
