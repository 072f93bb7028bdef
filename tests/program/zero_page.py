# SPDX-License-Identifier: GPL-2.0-or-later
"""--zero-page on a guest that reads 128 untouched pages ten times and then writes 16 of them (guests/zero.S).

The machine is c2sim: L1D of 64 sets and 8 ways, L2 of 512 sets and 8 ways, so 8 page colours. Each page is accessed at
its first bytes only: one line a page.

Without the option the pages have 128 consecutive frames, 128 lines. In L1D they are all in one set, in L2 in 8 sets, 16
in each. Both have 8 ways and replace the least recently used, so every read misses both, and so do the 16 writes, which
come to lines that the last ones of the tenth round have driven out. The first round is cold; the caches hold 512 and
4096 lines, so all other misses are conflicts: 9 * 128 + 16.

With it the reads are of one line: one cold miss. Each write is to a page that gets a frame for it: 16 cold misses.

Pages beside those: one of code, two of the initial stack (strings, vectors)."""

import os
import tempfile

from common import contains, done, equal, report, run, EMULATOR

PROGRAM = [os.path.join(os.environ["GUESTS"], "zero")]
OTHERS = 3


def both(options):
    result = report(["-m", "c2sim"] + options, PROGRAM)
    return result["pages"], {level["name"]: level for level in result["levels"]}


def counts(level, keys):
    return tuple(level[key] for key in keys.split())


pages, levels = both([])
equal(pages["small"], OTHERS + 128, "pages without the zero page")
equal("zero_pages" in pages, False, "keys without the option")
for name in ("L1D", "L2"):
    equal(counts(levels[name], "accesses misses cold conflict"), (1296, 1296, 128, 9 * 128 + 16), name)
without = pages

for placement in ("sequential", "random", "buddy", "colored"):
    pages, levels = both(["--zero-page", "--pages", placement])
    equal((pages["zero_pages"], pages["zero_copies"], pages["small"]), (128, 16, OTHERS + 16), placement)
    equal(counts(levels["L1D"], "accesses misses cold conflict"), (1296, 17, 17, 0), placement + " L1D")
    for name in ("L2", "L3"):
        equal(counts(levels[name], "accesses misses cold"), (17, 17, 17), "%s %s" % (placement, name))

# Transparent huge pages: the array lies in no whole aligned 2 MiB, so nothing changes.
pages, levels = both(["--zero-page", "--huge", "thp"])
equal(pages["zero_pages"], 128, "with thp")

text = run([EMULATOR, "-m", "c2sim", "--zero-page"] + PROGRAM).stderr.decode()
contains(text, ["19 pages of 4 KiB touched",
                "zero page   128 pages were read before they were written, 16 of them written "
                "later"], "text report")
equal("zero page" in run([EMULATOR, "-m", "c2sim"] + PROGRAM).stderr.decode(), False, "text without the option")

# guests/moves.S: what an instruction reads is read first, and only that: the sources of a MOVS, of a PUSH, and of a
# MOVS in place, which then writes its page. Pages with frames beside OTHERS: the stack, two that are written, that one.
pages = report(["-m", "c2sim", "--zero-page"], [os.path.join(os.environ["GUESTS"], "moves")])["pages"]
equal((pages["zero_pages"], pages["zero_copies"], pages["small"]), (3, 1, OTHERS + 4), "pages of moves")

# A map holds what got a frame; with it and the option the run is the same, without it the first read has no line.
with tempfile.TemporaryDirectory() as directory:
    path = os.path.join(directory, "map")
    first = report(["-m", "c2sim", "--zero-page", "--pages", "random", "--dump-pagemap", path], PROGRAM)
    with open(path) as file:
        lines = [line for line in file if not line.startswith("#")]
    equal(len(lines), OTHERS + 16, "lines of the map")
    again = report(["-m", "c2sim", "--zero-page", "--pages", "file=" + path], PROGRAM)
    first["pages"].pop("policy"), again["pages"].pop("policy")
    equal(again, first, "played back")
    refused = run([EMULATOR, "-m", "c2sim", "--pages", "file=" + path] + PROGRAM)
    equal(refused.returncode, 125, "status without --zero-page")
    contains(refused.stderr.decode(), ["the map has no page 0x"], "without --zero-page")
done()
