# SPDX-License-Identifier: GPL-2.0-or-later
"""windows.py PART: what --windows counts is what the instructions of each window do, by another program.

The trace of a whole run, cut at its fetches, says what each instruction does; the twin simulates it, and is asked after
every N of them. The windows of the report must be those, to the last count, wherever phases begin and end.
"""

import csv
import json
import os
import sys
import tempfile

import twin
from common import check, done, emulate, equal, report, without_receipt
from regions import by_instruction, difference

GUESTS = os.environ["GUESTS"]
TINY = ["-m", "teach", "--set", "L1D.size=1K", "--set", "L1I.size=128", "--set", "L1I.ways=1", "--set", "L2.size=4K"]
SMALL = ["--no-attribution"]


def guest(name):
    return [os.path.join(GUESTS, name)]


def traced(program):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "trace")
        equal(emulate(["-q", "--trace", path] + TINY + program).returncode, 0, "run of " + " ".join(program))
        with open(path) as file:
            return by_instruction(file.read().splitlines())


def counted(second):
    return {level.name: dict(level.n) for level in second.hierarchy.all}


def by_twin(whole, run, length):
    """[(phase, start, instructions, {level: counts})]"""
    second, windows, now, phase, measured = twin.Twin(run["machine"]), [], 0, 0, 0
    for row in run["run"]["phases"]:
        end = now + row["instructions"]
        if row["kind"] != "measure":
            if row["kind"] == "warmup":
                second.eat([line for instruction in whole[now:end] for line in instruction])
            now = end
            continue
        phase += 1
        while now < end:
            to = min(now + length, end)
            before = counted(second)
            second.eat([line for instruction in whole[now:to] for line in instruction])
            windows.append((phase, measured, to - now, difference(counted(second), before)))
            measured += to - now
            now = to
    equal(now, len(whole), "the phases are the whole run")
    return windows


def shown(run):
    return [(row["phase"], row["start"], row["measured"]["instructions"],
             {level.pop("name"): level for level in row["levels"]}) for row in run["windows"]]


def numbers(row):
    """All counts of a window, by their names."""
    sums = {key: value for key, value in row["measured"].items()}
    for kind in ("levels", "tlb"):
        for of in row.get(kind, []):
            sums.update({(of["name"], key): value for key, value in of.items() if key != "name"})
    return sums


def automatic():
    """--windows auto: windows of 1,000 instructions, added up; in runs of one phase, of several, of very many."""
    images = os.environ["IMAGES"]
    for options, program, fewest in (
            ([], [os.path.join(images, "matmul"), "60"], 200),
            (["--roi", "main"], [os.path.join(images, "matmul"), "20"], 1),
            (["--skip", "30k", "--measure", "7500", "--samples", "40"], [os.path.join(images, "matmul"), "60"], 40),
            (["--skip", "500", "--measure", "1500", "--samples", "600"], [os.path.join(images, "matmul"), "60"], 600)):
        what = " ".join(options + program[1:])
        run = report(SMALL + options + ["--windows", "auto"], program)
        fine = report(SMALL + options + ["--windows", "1000"], program)["windows"]
        length, windows = run["window"]["length"], run["windows"]
        equal((run["window"]["count"], run["window"]["listed"]), (len(windows),) * 2, what + ": how many")
        check(fewest <= len(windows) <= max(400, 2 * fewest), "%s: %d windows" % (what, len(windows)))
        pieces = iter(fine)
        for window in windows:
            taken = [next(pieces)]
            equal((window["phase"], window["start"]), (taken[0]["phase"], taken[0]["start"]), what + ": a window")
            while sum(piece["measured"]["instructions"] for piece in taken) < window["measured"]["instructions"]:
                taken.append(next(pieces))
            equal({piece["phase"] for piece in taken}, {window["phase"]}, what + ": phases of a window")
            sums = {key: sum(numbers(piece)[key] for piece in taken) for key in numbers(window)}
            equal(sums, numbers(window), what + ": counts of a window")
            check(len(taken) * 1000 <= length, "%s: a window is too long" % what)
        equal(next(pieces, None), None, what + ": what is in no window")
        for one, after in zip(windows, windows[1:]):
            check(one["phase"] != after["phase"] or one["measured"]["instructions"] == length,
                  "%s: a window is shorter than others" % what)


def exact():
    for name, options, lengths in (("roi", [], (1, 10, 37)), ("strings", [], (3,)),
                                   ("roi", ["--roi", "recurse", "--roi", "switches"], (4,)),
                                   ("strides", ["--skip", "700", "--warmup", "100", "--measure", "900", "--samples",
                                                "9", "--warm", "none"], (250,))):
        whole = traced(guest(name))
        for length in lengths:
            run = report(TINY + SMALL + options + ["--windows", str(length)], guest(name))
            what = "%s %s, windows of %d" % (name, " ".join(options), length)
            equal(shown(run), by_twin(whole, run, length), what)
            equal(run["window"], {"length": length, "count": len(run["windows"]), "listed": len(run["windows"])}, what)
            for key, value in run["run"]["measured"].items():
                equal(sum(row["measured"][key] for row in run["windows"]), value, what + ": sum of " + key)


def alike():
    """A replay, a run that attributes, and one whose references are listened to have the same; so has the file."""
    program = guest("strides")
    options = ["-m", "teach", "--set", "walks.mode=cached", "--windows", "500"]
    with tempfile.TemporaryDirectory() as directory:
        tape, lines, trace, told = (os.path.join(directory, name) for name in ("tape", "csv", "trace", "json"))
        run = report(SMALL + options + ["--windows-csv", lines, "--record", tape], program)
        check(len(run["windows"]) > 5, "windows of strides: %d" % len(run["windows"]))
        for more in ([], ["--trace", trace], ["--callgrind", trace], ["--against", "random"]):
            equal(report(options + more, program)["windows"], run["windows"], "windows with " + " ".join(more))
        result = emulate(["replay", "-q", "--json-full", told] + SMALL + options + [tape])
        equal((result.returncode, result.stderr), (0, b""), "replay")
        with open(told, "rb") as file:
            equal(json.loads(without_receipt(file.read())), run, "the replay's report")
        with open(lines, newline="") as file:
            rows = list(csv.DictReader(file))
    for number, (row, window) in enumerate(zip(rows, run["windows"]), 1):
        want = {"window": number, "phase": window["phase"], "start": window["start"], **window["measured"]}
        for part in window["levels"] + window["tlb"]:
            want.update({"%s.%s" % (part["name"], key): n for key, n in part.items() if key != "name"})
        want.update({"walks." + key: window["walks"][key] for key in ("count", "reads")})
        want.update({"walks." + served["level"]: served["reads"] for served in window["walks"]["served_by"]})
        equal({key: int(n) for key, n in row.items()}, want, "line %d" % number)
    equal(len(rows), len(run["windows"]), "lines")
    # What the program asks to be dropped is in no window.
    run = report(SMALL + ["--requests", "yes", "--windows", "9"], guest("requests_3"))
    equal([sum(row["measured"][key] for row in run["windows"]) for key in ("instructions", "reads")],
          [run["run"]["measured"][key] for key in ("instructions", "reads")], "after a request to drop")
    equal(run["windows"][0]["start"], 0, "the first window after a request to drop")


if __name__ == "__main__":
    {"exact": exact, "automatic": automatic, "alike": alike}[sys.argv[1]]()
    done()
