# SPDX-License-Identifier: GPL-2.0-or-later
"""strlen.py: guests/strlen.S, whose counts have their highest bit set: every reference of its string instructions, in
order, in the trace of the run and in that of its recording."""

import os
import tempfile

from common import check, contains, done, emulate, equal

GUESTS = os.environ["GUESTS"]
SCASB, SCASW, CMPSB, DOWN = range(4)  # the instructions with counts, in order


def expected(data):
    """The references of each of the four: kind, address, bytes."""
    text, other = data + 4056, data + 8192 + 8
    pairs = [reference for i in range(200) for reference in (("R", text + i, 1), ("R", other + i, 1))]
    return {SCASB: [("R", text + i, 1) for i in range(201)],
            SCASW: [("R", text + 2 * i, 2) for i in range(101)],
            CMPSB: pairs,
            DOWN: [("R", text + 199 - i, 1) for i in range(201)]}


def references(path):
    """Of each instruction that reads data, in order, and the first address that was written."""
    found, first = {}, None
    with open(path) as file:
        for kind, pc, va, _, size, _ in map(str.split, file):
            if kind == "W" and first is None:
                first = int(va, 16)
            if kind == "R":
                found.setdefault(pc, []).append((kind, int(va, 16), int(size)))
    return list(found.values()), first


def compare(path, what):
    found, first = references(path)
    equal(first % 4096, 4056, what + ": where the string begins")
    equal(len(found), 4, what + ": instructions that read")
    for which, wanted in expected(first - 4056).items():
        equal(found[which], wanted, "%s: instruction %d" % (what, which))


with tempfile.TemporaryDirectory() as directory:
    trace, recording, again = (os.path.join(directory, name) for name in ("trace", "recording", "again"))
    result = emulate(["-q", "--trace", trace, "--record", recording, os.path.join(GUESTS, "strlen")])
    equal((result.returncode, result.stderr), (0, b""), "status and messages")
    compare(trace, "the run")
    result = emulate(["replay", "-q", "--trace", again, recording])
    equal((result.returncode, result.stderr), (0, b""), "status and messages of the replay")
    compare(again, "the recording")
    with open(recording, "r+b") as file:
        file.seek(8)
        file.write(b"\x02")
    result = emulate(["replay", recording])
    check(result.returncode == 125, "a recording of an older format: status %d" % result.returncode)
    contains(result.stderr.decode(), ["has format 2, and this c2emu knows format 5", "record the run again"],
             "a recording of an older format")
done()
