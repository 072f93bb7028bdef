#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""sharing.py PART: what --sharing-estimate says.

hand      Traces of a few lines, worked out by hand: the patterns of Weidendorfer's section 4.2.
twin      Random traces of up to four threads, beside a search through all ways to pair accesses.
objects   A recording of two threads, made of a run: objects and lines of the program, and a replay of it.
"""

import functools
import json
import os
import random
import subprocess
import sys
import tempfile

from common import check, contains, done, emulate, equal, need, run

GUESTS = os.environ["GUESTS"]
MACHINE = ["-m", "teach"]
THREADS_OF = sys.argv[2] if len(sys.argv) > 2 else None


def estimate(lines):
    result = emulate(["replay", "-q", "--json-full", "-", "--sharing-estimate"] + MACHINE + ["-"], stdin=None,
                     input="".join(line + "\n" for line in lines).encode())
    equal((result.returncode, result.stderr), (0, b""), "status and messages")
    return json.loads(result.stdout)["sharing"]


def access(kind, thread, address, size=4):
    return "%s 1000 %x 0 %d %d" % (kind, address, size, thread)


def events(of):
    return [of[key] for key in ("worst", "exchanged", "false_sharing")]


# ---------------------------------------------------------------------------------------------- by hand

def both(lines):
    """Of sections of two threads: the first line of each thread, somewhere private, starts it."""
    return [access("R", 1, 0x700000), access("R", 2, 0x710000)] + lines


def hand():
    # figure 4.1 (a): two bytes stored by one, two others loaded by the other: three events in the worst order
    a = estimate(both([access("W", 1, 0x1000, 1), access("W", 1, 0x1001, 1), access("R", 2, 0x1002, 1),
                       access("R", 2, 0x1003, 1)]))
    equal(events(a), [3, 0, 3], "disjoint")
    equal(a["cycles"], 300, "cycles of 100 each")
    # figure 4.2: two loads match two stores, a third the other way: six events that may be exchanges
    b = estimate(both([access("W", 2, 0x1000), access("W", 2, 0x1008), access("W", 1, 0x1010), access("R", 1, 0x1000),
                       access("R", 1, 0x1008), access("R", 2, 0x1010)]))
    equal(events(b), [5, 6, 0], "exchange")
    # the benchmark: k modifications each, 4 bytes apart: every access but the first
    k = 50
    turn = [access(kind, thread, 0x1000 + 4 * thread) for thread in (1, 2) for kind in "RW"]
    c = estimate(both(turn * k))
    equal(events(c), [4 * k - 1, 0, 4 * k - 1], "the benchmark")
    equal((c["threads"], c["section_count"], len(c["blocks"])), (2, 2, 1), "threads, sections, blocks")
    equal([c["blocks"][0][key] for key in ("address", "threads", "sections", "loads", "stores")],
          ["0x1000", 2, 1, 2 * k, 2 * k], "the block")
    # the same with a line each, the same bytes in turn, and loads alone
    own = [access(kind, thread, 0x1000 + 64 * thread) for thread in (1, 2) for kind in "RW"]
    equal(events(estimate(both(own * k))), [0, 0, 0], "a line each")
    equal(events(estimate(both([access(kind, thread, 0x1000) for thread in (1, 2) for kind in "RW"] * k))),
          [4 * k - 1, 4 * k, 0], "the same bytes")
    equal(events(estimate(both([access("R", thread, 0x1000) for thread in (1, 2)] * k))), [0, 0, 0], "loads alone")
    # barriers: what one stores before and the other loads behind moves once; three stores by each in between
    d = estimate(both([access("W", 1, 0x1000)] * 3 + ["B"] + [access("R", 2, 0x1000)] * 3 + ["B", "B"] +
                      [access("W", 1, 0x1000), access("W", 2, 0x1004)] * 3))
    equal(events(d), [1 + 1 + 5, 1 + 1, 5], "barriers")
    equal((d["carried"], d["section_count"]), (2, 4), "carried, sections")
    equal([events(one) + [one["number"], one["threads"]] for one in d["parallel_sections"]],
          [[6, 1, 5, 4, 2], [1, 1, 0, 3, 2]], "sections, most first")
    # on two lines: what lies on each
    e = estimate(both([access("W", 1, 0x103c, 8), access("R", 2, 0x1038, 4), access("R", 2, 0x1044, 4)]))
    equal([(block["address"], events(block)) for block in e["blocks"]], [("0x1000", [1, 0, 1]), ("0x1040", [1, 0, 1])],
          "on two lines")
    text = emulate(["replay", "--sharing-estimate"] + MACHINE + ["-"], stdin=None,
                   input="\n".join(both(turn * k) + [""]).encode()).stderr.decode()
    contains(text, ["some 199 events of false sharing between 2 threads in 2 sections"], "text")
    alone = emulate(["--sharing-estimate"] + MACHINE + [os.path.join(GUESTS, "strides")]).stderr.decode()
    contains(alone, ["sharing     the run has one thread: nothing is shared"], "one thread")
    for line, why in (("R 1000 1000 0 4 0", "no thread has this number"), ("R 1000 1000 0 4", "this is no line"),
                      ("B 1", "this is no line")):
        bad = emulate(["replay", "-", "-q", "--format", "text"], stdin=None, input=(line + "\n").encode())
        equal(bad.returncode, 125, line)
        contains(bad.stderr.decode(), [why], line)
    bad = emulate(["--sharing-estimate", "--no-attribution", "true"])
    contains(bad.stderr.decode(), ["--sharing-estimate tells of instructions and objects"], "without attribution")


# ---------------------------------------------------------------------------------------------- the twin

@functools.lru_cache(maxsize=None)
def pairs(left, exchange):
    """left: (loads, stores) of each thread: by trying everything."""
    best = 0
    for a, (loads, stores) in enumerate(left):
        for b, (other_loads, other_stores) in enumerate(left):
            if a == b or stores == 0:
                continue
            for kind, count in (0, other_loads), (1, other_stores):
                if count == 0 or (exchange and kind == 1):
                    continue
                rest = [list(one) for one in left]
                rest[a][1] -= 1
                rest[b][kind] -= 1
                best = max(best, 1 + pairs(tuple(sorted(map(tuple, rest))), exchange))
    return best


def counted(accesses):
    threads = {}
    for thread, _, _, store in accesses:
        threads.setdefault(thread, [0, 0])[store] += 1
    return tuple(sorted(map(tuple, threads.values())))


def twin(sections):
    """sections: lists of (block, thread, offset, size, store). Events by block."""
    result, held = {}, {}
    for section in sections:
        by_block = {}
        for block, *rest in section:
            by_block.setdefault(block, []).append(tuple(rest))
        for block, accesses in by_block.items():
            most = pairs(counted(accesses), False)
            worst = 2 * most - 1 if most else 0
            exchanged = 2 * sum(pairs(counted([one for one in accesses if one[1:3] == place]), True)
                                for place in {one[1:3] for one in accesses})
            moved, stored = {one[0] for one in accesses}, any(one[3] for one in accesses)
            before, stored_before = held.get(block, (set(), False))
            carried = bool(before) and len(before | moved) > 1 and (stored or stored_before)
            held[block] = (moved, stored)
            had = result.setdefault(block, [0, 0, 0])
            for i, more in enumerate((worst + carried, exchanged + carried, max(0, worst - exchanged))):
                had[i] += more
    return {block: had for block, had in result.items() if had[0]}


def random_traces():
    draw = random.Random(7)
    for trial in range(30):
        threads = 2 + trial % 3
        lines, sections = [access("R", 1, 0x700000)], [[]]
        for thread in range(2, threads + 1):  # each starts with an access of its own
            lines.append(access("R", thread, 0x700000 + 64 * thread))
        for _ in range(draw.randrange(1, 6)):
            for _ in range(draw.randrange(0, 40)):
                block, thread = draw.randrange(8), draw.randrange(1, threads + 1)
                offset, size, store = draw.choice((0, 4, 8, 60)), draw.choice((2, 4, 4)), draw.randrange(2)
                lines.append(access("RW"[store], thread, 0x1000 + 64 * block + offset, size))
                sections[-1].append((block, thread, offset, size, store))
            lines.append("B")
            sections.append([])
        got = estimate(lines)
        expected = twin(sections)
        blocks = {(int(block["address"], 16) - 0x1000) // 64: events(block) for block in got["blocks"]}
        equal(blocks, expected, "blocks of trace %d" % trial)
        equal(events(got), [sum(had[i] for had in expected.values()) for i in range(3)], "sums of trace %d" % trial)


# ---------------------------------------------------------------------------------------------- objects

def objects():
    need("nm")
    program = os.path.join(GUESTS, "sharing")
    symbols = {line.split()[2]: line.split()[0] for line in run(["nm", program]).stdout.decode().splitlines()
               if len(line.split()) == 3}
    with tempfile.TemporaryDirectory() as directory:
        one, two = os.path.join(directory, "one"), os.path.join(directory, "two")
        equal(emulate(["-q", "--no-sim", "--record", one, program]).returncode, 0, "recorded")
        made = run([THREADS_OF, one, two] + [symbols[name] for name in ("barrier", "turn_1", "turn_2")])
        equal((made.returncode, made.stderr), (0, b""), "threads of a recording")
        result = emulate(["replay", "-q", "--json-full", "-", "--sharing-estimate", "--by", "loop"] + MACHINE + [two])
        equal((result.returncode, result.stderr), (0, b""), "replay")
        report = json.loads(result.stdout)
        words = ["replay", "-q", "--json-full", "-", "--sharing-estimate"] + MACHINE + [one]
        single = json.loads(emulate(words).stdout)
    found = report["sharing"]
    by_name = {one["object"]: events(one) for one in found["objects"]}
    # 1000 modifications by each; what one stores the other loads, 100 times, is no false sharing; tables are
    equal(by_name.get("counters"), [3999, 0, 3999], "counters")
    equal(by_name.get("message"), [199, 200, 0], "message")
    for name in "padded", "table":
        check(name not in by_name, "%s is shared: %r" % (name, by_name.get(name)))
    equal((found["threads"], single["sharing"]["threads"]), (2, 1), "threads")
    equal(events(single["sharing"]), [0, 0, 0], "one thread shares nothing")
    equal(report["levels"], single["levels"], "levels are those of the run")
    lines = [(os.path.basename(line["file"]), line["loads"], line["stores"]) for line in found["lines"][:2]]
    equal(lines, [("sharing.c", 1000, 1000)] * 2, "lines that share")
    equal([(loop["function"], loop["loads"], loop["stores"]) for loop in found["loops"][:2]],
          [("main", 1000, 1000)] * 2, "their loops")
    check(found["loops"][0]["header"] != found["loops"][1]["header"] and "loops" not in single["sharing"], "two loops")
    equal([sum(of[key] for of in found["instructions"]) for key in ("loads", "stores")],
          [sum(of[key] for of in found["lines"]) for key in ("loads", "stores")], "instructions")


{"hand": hand, "twin": random_traces, "objects": objects}[sys.argv[1]]()
done()
