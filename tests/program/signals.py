# SPDX-License-Identifier: GPL-2.0-or-later
"""signals.py faults|queues|timers|threads: what programs do with signals, as natively; with guests/signals.c.

faults   what handlers are told of faults, and a crash handler that shows its callers
queues   real-time signals are kept, and come in order
timers   alarm, setitimer, timer_create, in guest time: to the instruction
threads  signals for one thread, waits that they interrupt, and calls that go on
"""

import os
import sys

from common import done, emulate, equal, run

GUEST = os.path.join(os.environ["GUESTS"], "signals")


def as_natively(what, **options):
    native = run([GUEST, what])
    for more in [], ["--quantum", "97"]:
        got = emulate(["-q", "--no-sim"] + more + [GUEST, what])
        equal(got.stdout.decode(), native.stdout.decode(), what)
        equal(got.returncode, native.returncode, "exit status of " + what)
        equal(got.stderr.decode(), "", "messages of " + what)


def timers():
    as_natively("posix")
    got = emulate(["-q", "--no-sim", GUEST, "timers"])
    equal(got.stdout.decode(), "ALRM 1 1\nVTALRM 1 1\nPROF 1 1\nalarm 10 1 ALRM\n", "timers")
    traces = [emulate(["-q", "--no-sim", "-v", GUEST, "timers"]).stderr for _ in range(2)]
    equal(traces[0] == traces[1], True, "timers go off at the same instructions")


def faults():
    as_natively("faults")
    as_natively("crash")


def threads():
    as_natively("restarts")
    as_natively("directed")


PARTS = {"faults": faults, "queues": lambda: as_natively("queues"), "timers": timers, "threads": threads}
PARTS[sys.argv[1]]()
done()
