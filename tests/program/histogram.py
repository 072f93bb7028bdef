# SPDX-License-Identifier: GPL-2.0-or-later
"""Histograms of accesses and misses by address (--histogram), and monitors of few counters.

exact     guests/pieces.S: lines, pages and objects in three phases, by thought; the same from a recording
twin      accesses of L1D and L1I line by line as a trace has them, and their misses as small LRU caches have them
lu        images/lu.c: the phases between its barriers, two kinds of them; calls of one function (--roi); monitors:
          exact with one line a counter, fewer swap-outs with more counters and longer pieces
radix     images/radix.c: the lines of each of its steps, and what keys that are dealt out miss
water     images/water.c: the lines of molecules that each step takes
loops     accesses and misses by loop, function and line
refused   what contradicts
"""

import csv
import json
import os
import re
import sys
import tempfile

from common import check, contains, done, emulate, equal, run

GUESTS, IMAGES = os.environ["GUESTS"], os.environ["IMAGES"]
directory = tempfile.TemporaryDirectory()
PIECES = os.path.join(GUESTS, "pieces")
LU = os.path.join(IMAGES, "lu")


def path(name):
    return os.path.join(directory.name, name)


def histogram(words, program, verb=()):
    """The histogram of the report and the lines of the file, whose sums are those of all levels."""
    files = ["--json-full", path("json"), "--histogram-csv", path("csv")]
    result = emulate(list(verb) + files + ["--histogram"] + words + program)
    equal(result.returncode, 0, "status of " + " ".join(words + program))
    with open(path("json")) as file:
        report = json.load(file)
    with open(path("csv")) as file:
        rows = [{key: value if key == "object" else int(value) for key, value in row.items()}
                for row in csv.DictReader(file)]
    for level in report["levels"]:
        for counter in ("accesses", "misses"):
            sums = sum(part[counter] for phase in report["histogram"]["phases"] for part in phase["levels"]
                       if part["name"] == level["name"])
            key = "%s.%s" % (level["name"], counter)
            equal((sums, sum(row[key] for row in rows)), (level[counter],) * 2, key + " of phases and of the file")
            for kind in [kind for kind in ("functions", "loops") if kind in report["histogram"]]:
                equal(sum(part[counter] for of in report["histogram"][kind] for part in of["levels"]
                          if part["name"] == level["name"]), level[counter], key + " of " + kind)
    return report["histogram"], rows, re.sub(r"\s+", " ", result.stderr.decode())


def of_l1d(rows, key="address"):
    return [(row["phase"], row[key], row["L1D.accesses"], row["L1D.misses"], row["L2.accesses"], row["L2.misses"])
            for row in rows if row["L1D.accesses"]]


def exact():
    found, rows, text = histogram(["--phase-at", "here"], [PIECES])
    table = min(row["address"] for row in rows if row["L1D.accesses"])
    stack = max(row["address"] for row in rows)
    expected = [(1, table, 5, 1, 1, 1), (1, stack, 1, 1, 1, 1),
                (2, table + 64, 7, 1, 1, 1), (2, table + 128, 2, 1, 1, 1), (2, stack, 2, 0, 0, 0),
                (3, table + 128, 1, 0, 0, 0), (3, table + 192, 1, 1, 1, 1), (3, stack, 1, 0, 0, 0)]
    equal(of_l1d(rows), expected, "lines in three phases")
    equal([(phase.get("at"), phase["start"]) for phase in found["phases"]],
          [(None, 0), ("here", 1 + 10 + 1), ("here", 12 + 1 + 1 + 14 + 2 + 1)], "phases")
    contains(text, ["histogram 7 pieces of 64 B were touched", "; 3 phases"], "the text")
    _, rows, _ = histogram(["--granularity", "page"], [PIECES])
    equal(of_l1d(rows), [(1, table, 16, 4, 4, 4), (1, stack // 4096 * 4096, 4, 1, 1, 1)], "pages")
    _, rows, _ = histogram(["--granularity", "128"], [PIECES])
    equal(of_l1d(rows), [(1, table, 12, 2, 2, 2), (1, table + 128, 4, 2, 2, 2), (1, stack // 128 * 128, 4, 1, 1, 1)],
          "pieces of 128 bytes")
    _, rows, _ = histogram(["--granularity", "object", "--phase-at", "here"], [PIECES])
    equal(of_l1d(rows, "object"),
          [(1, "table", 5, 1, 1, 1), (1, "stack", 1, 1, 1, 1), (2, "table", 9, 2, 2, 2), (2, "stack", 2, 0, 0, 0),
           (3, "table", 2, 1, 1, 1), (3, "stack", 1, 0, 0, 0)], "objects")
    live, live_rows, _ = histogram(["--phase-at", "here"], [PIECES])
    equal(run([os.environ["C2EMU"], "-q", "--record", path("r"), PIECES]).returncode, 0, "recording")
    again, again_rows, _ = histogram(["--phase-at", "here"], [path("r")], ["replay"])
    equal((again, again_rows), (live, live_rows), "a replay")
    _, _, text = histogram(["--phase-at", "nowhere"], [path("r")], ["replay"])
    contains(text, ["the program never came to nowhere"], "a function that is not there")
    refused = emulate(["--histogram", "--phase-at", "heer", PIECES])
    equal((refused.returncode, refused.stderr), (125, b'c2emu: --phase-at heer: no function has this name; did you '
                                                      b'mean "here"?\n'), "before the run")


# ---------------------------------------------------------------------------------------------- from a trace

def lru(lines, sets, ways):
    """{line: [accesses, misses]}"""
    content, counts = {}, {}
    for line in lines:
        here = content.setdefault(line % sets, [])
        count = counts.setdefault(line, [0, 0])
        count[0] += 1
        count[1] += line not in here
        if line in here:
            here.remove(line)
        here.append(line)
        del here[:-ways]
    return counts


def twin():
    """The machine teach: L1D and L1I of 2 KiB, 2 ways, 16 sets; so sets are chosen within the page."""
    for guest in ("rmw", "strings", "fetch"):
        program = [os.path.join(GUESTS, guest)]
        _, rows, _ = histogram(["-m", "teach", "--pages", "identity", "--trace", path("trace")], program)
        data, code, last = [], [], None
        with open(path("trace")) as file:
            for words in map(str.split, file):
                match = parse(words)
                if match is None:
                    continue
                kind, address, size = match
                touched = range(address // 64, (address + size - 1) // 64 + 1)
                if kind != "I":
                    data.extend(touched)
                    continue
                for line in touched:
                    if line != last:
                        code.append(line)
                    last = line
        for name, lines in (("L1D", data), ("L1I", code)):
            got = {row["address"] // 64: [row[name + ".accesses"], row[name + ".misses"]] for row in rows
                   if row[name + ".accesses"]}
            equal(got, lru(lines, 16, 2), "%s of %s" % (name, guest))


def parse(words):
    """Lines of --trace: kind, pc, address, physical address, size, thread."""
    kind = {"F": "I", "R": "D", "W": "D"}.get(words[0].upper()) # in small letters: the rest, in the next page
    return (kind, int(words[2], 16), int(words[-2])) if kind else None


# ---------------------------------------------------------------------------------------------- lu

def lu():
    small = [LU, "64", "16"]
    monitors = ["%d:%d" % (c, g) for c in (16, 64) for g in (1, 4)] + ["16:4:32:aligned", "64:4:32:aligned", "16:1:3"]
    monitors += ["64:1:L2", "4096:1:lru:L2", "8:16:aligned:L3"]
    found, rows, text = histogram(["--phase-at", "barriers", "--monitor", ",".join(monitors)], small)
    phases = found["phases"]
    equal(len(phases), 1 + 2 + 2 * 4, "phases: the beginning, two barriers of main, and two for each block")
    equal({phase["at"] for phase in phases[1:]}, {"pthread_barrier_wait"}, "where they begin")
    between = [phase["pieces"] for phase in phases[1:-1]]
    check(between[1] < between[2] > between[3] < between[4], "few lines and many in turn: %s" % between)
    check_monitors(found["monitors"], found, rows)
    calls, _, _ = histogram(["--roi", "update", "--phase-at", "regions"], small)
    equal(len(calls["phases"]), 9 + 4 + 1, "calls of update()")
    equal({phase["pieces"] // 3 for phase in calls["phases"][1:]} <= {32, 33, 34, 35}, True,
          "three blocks of 32 lines each")


def check_monitors(monitors, found, rows):
    accesses = {level["name"]: sum(part["accesses"] for phase in found["phases"] for part in phase["levels"]
                                   if part["name"] == level["name"]) for level in found["phases"][0]["levels"]}
    equal([monitor["level"] for monitor in monitors], 7 * ["L1D"] + ["L2", "L2", "L3"], "where monitors are")
    equal([monitor["events"] for monitor in monitors], [accesses[monitor["level"]] for monitor in monitors],
          "what monitors see is all that their level is asked for")
    few1, few4, many1, many4, aligned16, aligned64, full, l2, wide, l3 = monitors
    touched = sum(1 for row in rows if int(row["L2.accesses"]) != 0)
    equal((l2["error"], wide["error"], wide["evicted"], wide["flushed"]), (0, 0, 0, touched),
          "a monitor of L2 with counters enough for all lines is emptied of each that a phase asked for")
    check(l2["evicted"] > 0 and l3["error"] > 0, "monitors of L2 and L3 with fewer")
    equal((few1["error"], many1["error"]), (0, 0), "errors of counters for one line")
    check(few1["swap_outs"] > many1["swap_outs"] and few4["swap_outs"] > many4["swap_outs"] and
          few1["swap_outs"] > few4["swap_outs"], "swap-outs")
    check(0 < few4["error"] < 0.5, "the error of four lines a counter: %s" % few4["error"])
    check(aligned16["error"] > 0 and aligned16["error"] == aligned64["error"],
          "where pieces have boundaries the error does not depend on the counters")
    check(full["full"] > 0 and full["error"] == 0 and full["evicted"] == few1["evicted"],
          "counters of three bits are swapped out at 7")


def between_barriers(program):
    """Lines that are touched in each phase but the first and the last, without the code's."""
    found, rows, _ = histogram(["--phase-at", "barriers", "--granularity", "line"], [os.path.join(IMAGES, program)])
    lines = [sum(1 for row in rows if row["phase"] == phase and row["L1D.accesses"] != 0)
             for phase in range(2, len(found["phases"]))]
    return lines, found["phases"][1:-1]


def few_more(lines, expected, what):
    """Than what the source says: stack, barrier and what else the program keeps in memory."""
    check(all(0 <= have - want <= 16 for have, want in zip(lines, expected)) and len(lines) == len(expected),
          "%s: lines %s, expected %s and a few" % (what, lines, expected))


def radix():
    """65,536 keys of 4 bytes are 4,096 lines, 1,024 counters 64; of each pass three steps and the clearing."""
    lines, phases = between_barriers("radix")
    few_more(lines, [4096 + 64, 64, 2 * 4096 + 64, 64, 4096 + 64, 64, 2 * 4096 + 64][:len(lines)], "radix")
    equal(len(lines), 7, "phases of two passes")
    misses = [phase["levels"][0]["misses"] for phase in phases]
    check(misses[0] < 4200 and misses[2] > 40000, "keys in order miss once a line, those dealt out nearly each: %s" %
          misses)


def water():
    """A molecule is 8 lines; positions are in the first two, forces in the last two, velocities and mass in three."""
    lines, _ = between_barriers("water")
    few_more(lines, [512, 256, 512, 192, 512, 256, 512], "water")


def loops():
    """walk.S reads a byte of each of 512 lines, twice: the inner loop makes all accesses of data, and L1D of 32 lines
    misses each, L2 the first of each line. Its code is one line, whose fetch is outside of it."""
    found, _, _ = histogram(["--by", "loop", "-m", "teach"], [os.path.join(GUESTS, "walk_32K")])
    counts = {(loop.get("function"), "outside" in loop): {part["name"]: (part["accesses"], part["misses"])
                                                          for part in loop["levels"]} for loop in found["loops"]}
    equal(counts[("line", False)], {"L1D": (1024, 1024), "L1I": (0, 0), "L2": (1024, 512), "L3": (512, 512)},
          "the loop that reads")
    equal(counts[(None, True)], {"L1D": (0, 0), "L1I": (1, 1), "L2": (1, 1), "L3": (1, 1)}, "what is outside")
    equal(len(counts), 2, "loops with accesses")
    equal([(of["function"], of["levels"][0]["misses"]) for of in found["lines"] if of["levels"][0]["misses"]],
          [("line", 1024)], "lines")
    plain, _, _ = histogram(["-m", "teach"], [os.path.join(GUESTS, "walk_32K")])
    check("loops" not in plain, "loops that nobody asked for")
    equal(found["functions"], plain["functions"], "functions, whatever else is asked")


def refused():
    for words, said in [
            (["--granularity", "page"], "--histogram"),
            (["--histogram", "--granularity", "100"], "multiple of the line"),
            (["--histogram", "--phase-at", ""], "must be barriers"),
            (["--histogram", "--monitor", "16"], "must be C:G"),
            (["--histogram", "--no-sim"], "--no-sim"), (["--histogram", "--no-attribution"], "--no-attribution"),
            (["--histogram", "-m", "teach", "--set", "walks.mode=cached"], "walks.mode=counted")]:
        result = emulate(["-q"] + words + [PIECES])
        equal(result.returncode, 125, "status with " + " ".join(words))
        contains(result.stderr.decode(), [said], " ".join(words))


{"exact": exact, "twin": twin, "lu": lu, "radix": radix, "water": water, "loops": loops,
 "refused": refused}[sys.argv[1]]()
done()
