# SPDX-License-Identifier: GPL-2.0-or-later
"""terminals.py PART: pseudo-terminals of the run's own. Parts:

guest      what guests/terminals.c says of both ends, of jobs and of hangups is what it says natively, under two quanta
script     script(1) runs a shell on one
directory  /dev/pts shows those of the run, and no other; another run has the same numbers
deadlock   who reads from a terminal that nobody else writes to waits for ever
"""

import os
import sys
import tempfile

from common import EMULATOR, check, contains, done, equal, need, need_terminals, run, same_as_natively

GUEST = os.path.join(os.environ["GUESTS"], "terminals")
EMULATE = [EMULATOR, "-q", "--no-sim"]


def guest(top):
    need_terminals()
    for part in "ends", "jobs", "hangups":
        for quantum in "50000", "31":
            got = run(EMULATE + ["--quantum", quantum, GUEST, part])
            check(got.stdout.count(b"\n") > 5, "%s says something" % part)
            same_as_natively([GUEST, part], got, "%s with --quantum %s" % (part, quantum))


def script(top):
    need("script")
    line = "tty; test -t 0 && stty -a | head -1; read line; echo the line is $line; exit 3"
    got = run(EMULATE + ["script", "-qec", line, "/dev/null"], input=b"word\n", stdin=None, cwd=top)
    equal(got.returncode, 3, "the status of the shell")
    contains(got.stdout, [b"/dev/pts/0\r\n", b"speed 38400 baud", b"the line is word\r\n"], "the terminal's text")


def directory(top):
    line = "ls /dev/pts; exec script -qec 'ls -l /dev/pts/0; ls /dev/pts' /dev/null"
    need("script")
    first, second = (run(EMULATE + ["sh", "-c", line], cwd=top) for _ in range(2))
    equal(first.stdout, second.stdout, "what two runs say")
    contains(first.stdout, [b"ptmx\n", b"crw--w----", b" 136, 0 Dec 31 23:00 /dev/pts/0\r\n", b"0  ptmx\r\n"],
             "the directory")


def deadlock(top):
    got = run(EMULATE + [sys.executable, "-c", "import os, pty; os.read(pty.openpty()[1], 1)"], cwd=top)
    equal(got.returncode, 125, "the status")
    contains(got.stderr, [b"waits for ever in read: nobody else writes to the terminal"], "the message")


with tempfile.TemporaryDirectory() as directory_of_test:
    globals()[sys.argv[1]](directory_of_test)
done()
