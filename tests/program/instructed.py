# SPDX-License-Identifier: GPL-2.0-or-later
"""Instructions made for caches: exact counts of a guest with two streams, stores past the caches, flushes and hints.

L1D has 16 sets of 2 lines, L2 room for all. First a byte is written in each of 16 pages.

near   reads lines 0 to 255 and prefetches 8 further, five instructions a line: nothing else comes into a set in
       between, so all 256 are useful, the last 8 in `far`. Lines 64, 128, 192, 256 are the first of a page: L2 has
       them, and the others come from memory. A line is read 41 instructions behind its prefetch: memory takes 200
       cycles, which is late, L2 12. What is waited for them is added up in near_waits().
far    goes on with lines 256 to 511, and prefetches 44 further. In each set a line that was read and one that was
       prefetched come every 16 lines, so what was prefetched leaves long before it is read: all 256 are useless, and
       the 212 of them that are read (300 to 511) miss because of that. 320, 384, 448 and 512 are in L2.
whole  writes page 8 past the caches, 64 lines by four stores each. The first store to a line finds what `far` has
       prefetched, lines 512 to 555, and takes it; the first of them was dirty. Nobody reads them again.
pieces stores 4 bytes each to 12 lines. There are 10 buffers, and no line is ever whole.
flushes of a dirty line, of no line; write-back of a dirty line, of a clean one.
hints  of no page; to L2, twice; past L2; and for writing. Each line is read once, four instructions behind, before it
       can be there: the first waits 196 cycles more, in which the others come.
"""

import json
import os
import tempfile

from common import done, emulate, equal, report

GUEST = os.path.join(os.environ["GUESTS"], "instructed")
MACHINE = """[machine]
name = two
line = 64
[L1D]
size = 2K
ways = 2
[L2]
size = 128K
ways = 8
"""
PREFETCH = ("executed", "nowhere", "present", "issued", "from_memory", "useful", "late", "late_ahead", "late_cycles",
            "useless", "polluting")
STORE = ("executed", "cached", "written_back", "refetched", "bytes", "full", "partial", "partial_bytes")
FLUSH = ("executed", "cached", "written_back")


def prefetch(kind, *values):
    return dict(zip(PREFETCH, values), instruction=kind)


def store(*values):
    return dict(zip(STORE, values), instruction="non-temporal store")


def flush(kind, *values):
    return dict(zip(FLUSH, values), instruction=kind)


def near_waits(step=0):
    """Cycles waited for the lines that `near` prefetches. L1D has 4 cycles, L2 12: a miss waits 8 or 196. step: what
    each read waits besides, for L2 where they are fetched no further."""
    waited, total, before = 0, 0, {}
    for line in range(256 + 8):
        before[line + 8] = waited
        if line < 8:
            waited += 196 if line else 8
            continue
        wait = max(0, (200 if line % 64 else 12) - 41 - (waited - before[line]))
        waited += wait + step
        total += wait
    return total


NEAR = prefetch("prefetcht0", 256, 0, 0, 256, 252, 256, 252, 252 * 41, near_waits(), 0, 0)
EXPECTED = [
    NEAR,
    prefetch("prefetcht0", 256, 0, 0, 256, 252, 0, 0, 0, 0, 256, 212),
    store(64, 44, 1, 0, 1024, 0, 0, 0),
    store(64, 0, 0, 0, 1024, 0, 0, 0),
    store(64, 0, 0, 0, 1024, 0, 0, 0),
    store(64, 0, 0, 0, 1024, 64, 0, 0),
    store(12, 0, 0, 0, 48, 0, 12, 48),
    flush("flush", 1, 1, 1),
    flush("flush", 1, 0, 0),
    flush("write back", 1, 1, 1),
    flush("write back", 1, 1, 0),
    prefetch("prefetcht0", 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    prefetch("prefetcht1", 1, 0, 0, 1, 1, 1, 1, 4, 196, 0, 0),
    prefetch("prefetcht2", 1, 0, 0, 1, 1, 1, 1, 4, 0, 0, 0),
    prefetch("prefetchnta", 1, 0, 0, 1, 1, 1, 1, 4, 0, 0, 0),
    prefetch("prefetchw", 1, 0, 0, 1, 1, 1, 1, 4, 0, 0, 0),
]


def counts_of(text):
    places = ("pc", "module", "function", "file", "line")
    return [{key: value for key, value in row.items() if key not in places}
            for row in text["cache_instructions"]["instructions"]]


def level(text, name):
    return [row for row in text["levels"] if row["name"] == name][0]


def of(machine, *options):
    return report(["-m", machine] + list(options), [GUEST])


def exact(machine):
    text = of(machine)
    equal(counts_of(text), EXPECTED, "instructions")
    sums = text["cache_instructions"]
    equal([sums["prefetches"][key] for key in PREFETCH], [517, 1, 0, 516, 508, 260, 256, 252 * 41 + 4 * 4,
                                                                 near_waits() + 196, 256, 212], "prefetches")
    equal([sums["non_temporal_stores"][key] for key in STORE], [268, 44, 1, 0, 4144, 64, 12, 48], "stores")
    equal([sums["flushes"][key] for key in FLUSH], [4, 3, 2], "flushes")
    # 16 bytes written first, 512 lines read, a byte written twice, read; the four lines of hints
    equal(level(text, "L1D")["accesses"], 16 + 512 + 3 + 4, "accesses of L1D")
    # the first writes; lines 0 to 7 and 264 to 511 of the streams; line 0 of page 10 twice; the lines of t1 and t2
    equal(level(text, "L1D")["misses"], 16 + 8 + 248 + 2 + 2, "misses of L1D")
    # to memory: a line of page 8, and twice line 0 of page 10
    equal(level(text, "L2")["writebacks"], 3, "write-backs of L2")


def of_libraries():
    """libc's memcpy prefetches 8 MiB too late: nobody but its authors changes that, so it is no finding."""
    text = report([], ["/usr/bin/python3", "-I", "-S", "-c", "copy = bytes(bytearray(8 << 20))"])
    late = [row for row in text["cache_instructions"]["instructions"] if row.get("late", 0) * 2 > row.get("useful", 1)]
    equal({row["module"] for row in late}, {"libc.so.6"}, "whose prefetches are late")
    equal([row for row in text["findings"] if row["pattern"] == "late-prefetches"], [], "findings of prefetches")


def same_by_any_way(machine, directory):
    """Loops, listeners and recordings change nothing."""
    wanted = of(machine)
    for options in (["--no-findings"], ["--no-attribution"], ["--jobs", "1"], ["--line-use"], ["--reuse"],
                    ["--windows", "100"], ["--callgrind", os.path.join(directory, "out")], ["--histogram"]):
        text = of(machine, *options)
        equal(text["levels"], wanted["levels"], "levels with " + options[0])
        if options != ["--no-attribution"]:
            equal(counts_of(text), EXPECTED, "instructions with " + options[0])
    recording, trace = os.path.join(directory, "recording"), os.path.join(directory, "trace")
    equal(emulate(["-q", "-m", machine, "--record", recording, "--trace", trace, GUEST]).returncode, 0, "status")
    for source in recording, trace:
        path = os.path.join(directory, "json")
        equal(emulate(["replay", "-q", "-m", machine, "--json-full", path, source]).returncode, 0, "status of replay")
        with open(path, encoding="utf-8") as file:
            text = json.load(file)
        # a trace has no lines of pages that are not there
        expected = EXPECTED if source == recording else EXPECTED[:11] + EXPECTED[12:]
        equal(counts_of(text), expected, "instructions replayed")


def keys(machine):
    """T0 into L2 alone: there the first line of a page is, and L1D asks for all others when they are read. Memory
    takes 200 cycles, L2 none more."""
    near = counts_of(of(machine, "--set", "machine.prefetcht0=L2"))[0]
    equal(near, prefetch("prefetcht0", 256, 0, 4, 252, 252, 252, 252, 252 * 41, near_waits(8), 0, 0), "into L2")
    pieces = counts_of(of(machine, "--set", "machine.write_combining=4"))[6]
    equal(pieces, EXPECTED[6], "with 4 buffers")


with tempfile.TemporaryDirectory() as scratch:
    TWO = os.path.join(scratch, "two.ini")
    with open(TWO, "w", encoding="utf-8") as ini:
        ini.write(MACHINE)
    exact(TWO)
    same_by_any_way(TWO, scratch)
    keys(TWO)
of_libraries()
done()
