# SPDX-License-Identifier: GPL-2.0-or-later
"""limits.py: a program's own limits on its memory and its stack end it where they do natively; as it sets them itself,
and as a shell sets them for it. How much a stack has beside what is asked for here is less than 64 KiB."""

import os
import tempfile

from common import EMULATOR, check, done, run, same_as_natively

GUEST = os.path.join(os.environ["GUESTS"], "memory_limits")
SHELL = ("{0} 900; ulimit -s 512; {0} 400; {0} 600; ulimit -s 128; {0} 40",
         "ulimit -v 100000; {0} 100", "ulimit -v 200000; {0} 100",
         "ulimit -d 50000; {0} 100", "ulimit -d 150000; {0} 100", "ulimit -s 1024; ulimit -v 20000; {0} 900")

with tempfile.TemporaryDirectory() as top:
    commands = [[GUEST, "6000"], [GUEST, "6000", "1024"], [GUEST, "900", "1024"], [GUEST, "1100", "1024"]]
    for words in commands + [["sh", "-c", "exec 2> /dev/null; " + line.format(GUEST)] for line in SHELL]:
        got = run([EMULATOR, "-q", "--no-sim"] + words, cwd=top)
        check(b"the stack may have" in got.stdout, "%s says something" % words)
        got.stderr = b""
        if got.returncode == 139:
            got.returncode = -11 if words[0] == GUEST else 139
        same_as_natively(words, got, "what is said by %s" % words)
done()
