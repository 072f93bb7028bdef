# SPDX-License-Identifier: GPL-2.0-or-later
"""stores.py counts|shown|masks: where stores go from a level, and which ways the accesses of a core may fill.

counts  five accesses of a trace, with write = back or through and allocate = yes or no: the counts that the rules of
        Dinero IV give for -dwback and -dwalloc; of a program, every store goes on from L1D, or past it
shown   the report names what the machine does, and analyses that do not know such stores refuse them
masks   two cores that sweep in turn: in ways of their own they do not disturb each other
"""

import json
import os
import sys

from common import contains, done, emulate, equal

MATMUL = os.path.join(os.environ["IMAGES"], "matmul")

FIVE = b"1 0\n1 0\n0 0\n0 1000\n1 1000\n"  # write A, write A, read A, read B, write B, in two sets of each level
ASKED = ("accesses", "misses", "writes", "write_misses", "write_throughs", "write_arounds")


def reported(words, **options):
    json_to = ["-q", "--json-full"]
    result = emulate(words + json_to + ["-"] if words[0] == "replay" else json_to + ["/dev/fd/2"] + words, **options)
    equal(result.returncode, 0, "status of " + " ".join(words))
    return json.loads(result.stdout if words[0] == "replay" else result.stderr)


def of(levels, name, keys):
    level = [level for level in levels if level["name"] == name][0]
    return [level.get(key, 0) for key in keys]


def counts():
    # L2 with back and yes is asked for A, on behalf of a write, and for B. Through: for A and B, and by three writes.
    # Past L1D: by two writes of A, for A and for B, and back or through for the write of B.
    for options, l1d, l2 in (
            ([], [5, 2, 3, 1, 0, 0], [2, 2, 1, 1, 0, 0]),
            (["L1D.write=through"], [5, 2, 3, 1, 3, 0], [5, 2, 4, 1, 0, 0]),
            (["L1D.allocate=no"], [5, 4, 3, 2, 0, 2], [4, 2, 2, 1, 0, 0]),
            (["L1D.write=through", "L1D.allocate=no"], [5, 4, 3, 2, 1, 2], [5, 2, 3, 1, 0, 0]),
            (["L1D.write=through", "L1D.allocate=no", "L2.write=through", "L2.allocate=no"],
             [5, 4, 3, 2, 1, 2], [5, 4, 3, 2, 1, 2])):
        words = ["replay", "-m", "teach", "--pages", "identity"] + [word for key in options for word in ("--set", key)]
        levels = reported(words + ["-"], input=FIVE, stdin=None)["levels"]
        equal((of(levels, "L1D", ASKED), of(levels, "L2", ASKED)), (l1d, l2), " ".join(options) or "back, yes")
        equal("write_throughs" in levels[0], options != [], "keys of machines whose stores go on alone")
    program = [MATMUL, "12"]
    for options in (["L1D.write=through"], ["L1D.write=through", "L1D.allocate=no"]):
        report = reported(["-m", "teach"] + [word for key in options for word in ("--set", key)] + program)
        levels = {level["name"]: level for level in report["levels"]}
        gone = levels["L1D"]["write_throughs"] + levels["L1D"]["write_arounds"]
        equal(gone, levels["L1D"]["writes"], "stores that went on")
        asked = levels["L1D"]["misses"] + levels["L1I"]["misses"] + levels["L1D"]["write_throughs"]
        equal((levels["L1D"]["writebacks"], levels["L2"]["accesses"]), (0, asked), "what L2 is asked")


def shown():
    options = ["-m", "teach", "--set", "L1D.write=through", "--set", "L1D.allocate=no", "--set",
               "L3.ways_of=core 0: 0x3; core 1: 0xfc", "--cores", "2"]
    program = [MATMUL, "4"]
    text = " ".join(emulate(options + program).stderr.decode().split())
    contains(text, ["L1D 2 KiB 2-way lru write-through write-around",
                    "(teach2) ways 0x3 of core 0, 0xfc of core 1 shared"], "the head of the report")
    machine = reported(options + program)["machine"]["levels"]
    equal((machine[0]["write"], machine[0]["allocate"], "write" in machine[1]), ("through", "no", False), "machine")
    equal(machine[3]["ways_of"], [{"first": 0, "last": 0, "ways": "0x3"}, {"first": 1, "last": 1, "ways": "0xfc"}],
          "ways_of")
    for option in ("--reuse", "--line-use", "--bandwidth"):
        result = emulate(["-m", "teach", "--set", "L1D.write=through", option] + program)
        equal(result.returncode, 125, option)
        contains(result.stderr.decode(), [option + " does not follow stores that go on from a level"], option)


# L2 is shared, 4 ways of 128 sets. In one of its sets core 0 comes back to three lines again and again, and core 1 to
# four of its own in between. All lie in one of the 16 sets of two ways of a core's L1D, too, which has lost each by
# then.
ROUNDS = 50


def masks():
    step = 128 * 64
    lines = []
    for _ in range(ROUNDS):
        lines += ["R 0 %x 0 8 1" % (0x100000 + i * step) for i in range(3)]
        lines += ["R 0 %x 0 8 2" % (0x200000 + i * step) for i in range(4)]
    data = "\n".join(lines).encode() + b"\n"
    options = ["replay", "-m", "teach", "--format", "text", "--pages", "identity", "--cores", "2", "--set",
               "L2.shared=yes"]
    missed = []
    for ways in ([], ["--set", "L2.ways_of=core 0: 0x7; core 1: 0x8"], ["--set", "L2.ways_of=core 1: 0x8"],
                 ["--set", "L2.ways_of=core 0: 0x3; core 1: 0xc"]):
        report = reported(options + ways + ["-"], input=data, stdin=None)
        missed.append([thread["levels"][2]["misses"] for thread in report["coherence"]["threads"]])
    # Without masks all miss: 7 lines in 4 ways. With three ways for itself core 0 misses each line once; core 1, with
    # one, always. If core 1 alone is bound, core 0 may fill its way as well, but the three lowest are empty first, and
    # hold all that it has. With two ways for three lines, and two for four, all miss.
    every = [3 * ROUNDS, 4 * ROUNDS]
    equal(missed, [every, [3, 4 * ROUNDS], [3, 4 * ROUNDS], every], "misses of L2, by thread")


{"counts": counts, "shown": shown, "masks": masks}[sys.argv[1]]()
done()
