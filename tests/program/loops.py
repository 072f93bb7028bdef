# SPDX-License-Identifier: GPL-2.0-or-later
"""loops.py CASE: --by loop on programs whose loops are known.

known     guests/loops.c by several compilers: entries and rounds of every loop as its comments say, and no others.
sums      what loops and the rest miss is what the levels missed; a replay says the same; without symbols as well.
shown     the text, diff, --fail-if, the callgrind file and annotate.
analyses  what --reuse, --bandwidth and prefetchers say by loop is what they say of the run, and of the loops.
refused   what goes with no loops.
"""

import collections
import json
import os
import re
import subprocess
import sys
import tempfile

from common import EMULATOR, check, contains, done, emulate, equal

GUESTS = os.environ["GUESTS"]
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "guests", "loops.c")
TEACH = ["-m", "teach"]


def report(options, program, directory):
    path = os.path.join(directory, "report.json")
    result = emulate(["-q", "--json-full", path] + TEACH + options + program, cwd=GUESTS)
    equal((result.returncode, result.stderr), (0, b""), "exit status and messages")
    with open(path) as file:
        return json.load(file)


def expected():
    """{line: (entries, rounds)}, the lines that an irreducible loop may begin at"""
    loops, irreducible = {}, []
    with open(SOURCE) as file:
        for number, line in enumerate(file, 1):
            found = re.search(r"/\* loop (\d+) (\d+)", line)
            if found:
                loops[number] = (int(found[1]), int(found[2]))
            if "/* irreducible" in line:
                irreducible.append(number)
    return loops, irreducible


def check_known(directory, guest):
    loops, irreducible = expected()
    found = collections.defaultdict(lambda: (0, 0))
    for loop in report(["--by", "loop"], ["./" + guest], directory)["loops"]:
        if os.path.basename(loop.get("file", "")) != "loops.c":
            continue
        if "irreducible" in loop:
            # compilers may exchange the two ways in: their headers run 7 and 8 times
            check(any(abs(loop["line"] - line) <= 1 for line in irreducible), "%s: %s" % (guest, loop))
            equal((loop["function"], loop["entries"]), ("two_ways", 2), guest + ": the irreducible one")
            check(loop["iterations"] in (7, 8), "%s: %s" % (guest, loop))
            irreducible = []
            continue
        entries, rounds = found[loop["line"]]
        found[loop["line"]] = entries + loop["entries"], rounds + loop["iterations"]
    equal(irreducible, [], guest + ": an irreducible loop")
    for line in sorted(set(loops) | set(found)):
        equal(found[line], loops.get(line, (0, 0)), "%s: the loop in line %d" % (guest, line))


def known(directory):
    for guest in sorted(os.listdir(GUESTS)):
        if guest.startswith("loops_") and not guest.endswith("stripped"):
            check_known(directory, guest)


def check_sums(what, loops):
    for level in what["levels"]:
        for counter in ("misses", "cold", "capacity", "conflict"):
            equal(sum(of[counter] for loop in loops for of in loop["levels"] if of["name"] == level["name"]),
                  level[counter], "%s of %s" % (counter, level["name"]))
    for counter, total in (("executed", "instructions"), ("reads", "reads"), ("writes", "writes")):
        equal(sum(loop[counter] for loop in loops), what["run"]["measured"][total], counter)


def sums(directory):
    recording = os.path.join(directory, "recording")
    live = report(["--by", "loop", "--record", recording], ["./loops_2"], directory)
    check_sums(live, live["loops"])
    equal(sum("outside" in loop for loop in live["loops"]), 1, "what is outside of loops")
    path = os.path.join(directory, "replayed.json")
    result = emulate(["replay", "-q", "--by", "loop", "--json-full", path] + TEACH + [recording])
    equal((result.returncode, result.stderr), (0, b""), "a replay")
    with open(path) as file:
        equal(json.load(file)["loops"], live["loops"], "loops of a replay")
    without = report([], ["./loops_2"], directory)
    check("loops" not in without, "loops that nobody has asked for")
    for key in ("levels", "objects", "functions", "lines", "conflicts"):
        equal(without[key], live[key], key + " without --by loop")
    stripped = report(["--by", "loop"], ["./loops_stripped"], directory)
    check_sums(stripped, stripped["loops"])
    mine = [loop for loop in stripped["loops"] if loop.get("module") == "loops_stripped"]
    check(all("line" not in loop and "header" in loop for loop in mine), "names without symbols")
    counts = [(loop["depth"], loop["entries"], loop["iterations"]) for loop in mine]
    check((2, 7, 77) in counts, "loops without symbols: %s" % counts)
    many = report(["--by", "loop", "-m", "c2sim"], ["./loops_2"], directory)
    equal(many["loops"], live["loops"], "loops of the first of several machines")


def run(words, cwd=GUESTS):
    result = subprocess.run([EMULATOR] + words, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return result.returncode, result.stdout.decode(), result.stderr.decode()


def shown(directory):
    nested = next(line for line, counts in expected()[0].items() if counts == (7, 77))
    text = run(TEACH + ["--by", "loop", "./loops_0"])[2]
    contains(text, ["entered  rounds each  loop"], "the text")
    first, second = (os.path.join(directory, name) for name in ("a.json", "b.json"))
    profile = os.path.join(directory, "profile")
    run(TEACH + ["-q", "--by", "loop", "--json-full", first, "--callgrind", profile, "./loops_0"])
    run(TEACH + ["-q", "--by", "loop", "--json-full", second, "./loops_2"])
    # of the one with registers less is read in the loop
    status, text, _ = run(["diff", "--all", first, second, "--fail-if", "loop:loops.c:%d.run.reads<+0" % nested])
    equal(status, 1, "--fail-if")
    contains(text, ["loop loops.c:%d in nested, the program\n" % nested, "FAILED: loop:loops.c:%d" % nested], "diff")
    with open(profile) as file:
        contains(file.read(), ["desc: Loop: line %d, entered 7, rounds 77, depth 2, file %s\n" % (nested, SOURCE)],
                 "the callgrind file")
    lines = run(["annotate", "--event", "Ir", profile])[1].split("\n")
    at = next(i for i, line in enumerate(lines) if re.search(r" %d      +for \(long k" % nested, line))
    equal(lines[at - 1].strip(), "loop 2 deep: entered 7 times, 11.0 rounds each", "annotate")


def named(loops):
    return {loop.get("header", "outside"): loop for loop in loops if "rest" not in loop}


def analyses(directory):
    run_of = report(["--by", "loop", "--reuse", "--bandwidth"], ["./loops_2"], directory)
    measured, loops = run_of["run"]["measured"], named(run_of["loops"])
    reuse, moved = named(run_of["reuse"]["loops"]), run_of["bandwidth"]["loops"]
    equal(sum(loop["accesses"] for loop in reuse.values()), measured["line_accesses"], "accesses by loop")
    beside = {header: reuse[header]["accesses"] - loops[header]["reads"] - loops[header]["writes"] for header in reuse}
    equal(sum(beside.values()), measured["line_accesses"] - measured["refs"], "accesses beside the references of loops")
    check(min(beside.values()) >= 0, "a loop with fewer accesses than references: %s" % beside)
    equal(sum(loop["instructions"] for loop in moved), measured["instructions"], "instructions of windows by loop")
    check(set(named(moved)) <= set(loops), "loops of windows that are none: %s" % named(moved).keys())
    run_of = report(["--by", "loop", "--set", "L2.prefetch=stream"], ["./loops_2"], directory)
    loops, helped = named(run_of["loops"]), named(run_of["prefetch"]["loops"])
    check("outside" in helped and len(helped) > 5, "loops that prefetching concerns: %s" % helped.keys())
    for header, loop in helped.items():
        misses = {level["name"]: level["misses"] for level in loop["levels"] if level["misses"]}
        equal(misses, {level["name"]: level["misses"] for level in loops[header]["levels"]
                       if level["misses"] and level["name"] in misses}, "misses of the loop at " + header)
    check(not {"loops"} & (report(["--reuse"], ["./loops_2"], directory)["reuse"].keys()), "loops without --by loop")


def refused(directory):
    for words, message in (
            (["--by", "line", "./loops_0"],
             "--by line: objects, lines and functions are always there; what can be added is loop"),
            (["--by", "loop", "--no-sim", "./loops_0"],
             "--by needs the references that --no-sim does not record; leave one out"),
            (["--by", "loop", "--no-attribution", "./loops_0"],
             "--by tells of instructions and objects, which --no-attribution does not note; leave one out")):
        equal(run(words), (125, "", "c2emu: %s\n" % message), " ".join(words))
    plain = os.path.join(directory, "plain.json")
    run(TEACH + ["-q", "--json-full", plain, "./loops_0"])
    status, _, message = run(["diff", plain, plain, "--fail-if", "loop:x.run.reads>0"])
    equal(status, 125, "--fail-if")
    contains(message, ["diff: --fail-if: the reports have no loop: they were written without --by loop\n"], "--fail-if")


with tempfile.TemporaryDirectory() as temporary:
    {"known": known, "sums": sums, "shown": shown, "analyses": analyses, "refused": refused}[sys.argv[1]](temporary)
done()
