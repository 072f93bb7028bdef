# SPDX-License-Identifier: GPL-2.0-or-later
"""against.py CASE: --against, from two other runs alone.

CASES says the options of the run, the word for --against, and what the other placement is as a run of its own. What
must hold:
    the run's own counts, its trace and its page map are those of a run without --against;
    the other side's counts are those of a run under the other placement;
    the labels are those of two of twin.py's hierarchies that eat the two runs' traces access by access: a conflict miss
    of the first at some level is inherent when the second is asked for the line there too and misses, else it is due to
    placement.
Most cases are of the first instructions of their guest alone: to eat a trace takes long.
against.py mutants: a label that is wrong is found.
"""

import json
import os
import re
import sys
import tempfile

import twin
from common import check, done, emulate, equal

GUESTS = os.environ["GUESTS"]

# name: (guest, options of both, options of the run, the word for --against, options of the other run)
CASES = {
    "random": ("strides", ["-m", "teach"], [], "random", ["--pages", "random"]),
    "same_color": ("chase", [], ["--pages", "random"], "same-color", ["--pages", "same-color"]),
    "buddy": ("strides", ["--set", "L2.size=64K"], ["--pages", "identity"], "buddy,age=0.7",
              ["--pages", "buddy,age=0.7"]),
    "huge": ("strides", [], ["--pages", "random"], "huge", ["--pages", "random", "--huge", "all"]),
    "small": ("strides", [], ["--huge", "all", "--pages", "random"], "huge=off", ["--pages", "random"]),
    "walks": ("strides", ["-m", "teach", "--set", "walks.mode=cached"], [], "random", ["--pages", "random"]),
    "exclusive": ("strides", ["-m", "zen3", "--set", "L3.size=64K", "--set", "L3.ways=4"], ["--pages", "random"],
                  "sequential", []),
    # with other options: --place, which belongs to the run and not to another policy, but to `huge`; --zero-page; pages
    # of 1 GiB; everything at once
    "place": ("strides", ["-m", "teach"], ["--pages", "random", "--place", "mmap=same-color"], "colored",
              ["--pages", "colored"]),
    "place_huge": ("pages_17_512", ["-m", "teach"], ["--pages", "random", "--place", "data=colored,level=L3"], "huge",
                   ["--pages", "random", "--place", "data=colored,level=L3", "--huge", "all"]),
    "zero": ("strides", ["-m", "teach", "--zero-page"], ["--pages", "random"], "same-color", ["--pages", "same-color"]),
    "giant": ("regions", ["--huge", "heap", "--huge-size", "1G"], ["--pages", "same-color"], "random",
              ["--pages", "random"]),
    "together": ("strides", ["-m", "teach", "--zero-page", "--fifo-detector", "--set", "walks.mode=cached",
                             "--seed", "3"],
                 ["--place", "mmap=random", "--pages", "buddy,age=0.7"], "colored,level=L3",
                 ["--pages", "colored,level=L3"]),
}
FIRST, WHOLE = ["--measure", "40000"], ("random", "same_color")
COUNTS = ("levels", "tlb", "walks", "pages")  # what a placement decides


def run(guest, options):
    """(report, trace, page map)"""
    with tempfile.TemporaryDirectory() as directory:
        report, trace, pages = (os.path.join(directory, name) for name in ("r.json", "t.txt", "p.map"))
        files = ["--json-full", report, "--trace", trace, "--dump-pagemap", pages]
        result = emulate(["-q"] + files + options + ["./" + guest], cwd=GUESTS)
        said = re.sub(rb"^c2emu: --measure 40,000: the run had no more than .*\n", b"", result.stderr)
        if not equal((result.returncode, said), (0, b""), "exit status and messages"):
            done()
        with open(report) as report_file, open(trace) as trace_file, open(pages) as pages_file:
            return json.load(report_file), trace_file.read().splitlines(), pages_file.read()


class Recorder(twin.Hierarchy):
    """Remembers for each access where it was served, and at which depths it was a conflict miss."""

    def __init__(self, machine):
        super().__init__(machine)
        self.log = []

    def access(self, write, virtual, physical, fetch=False):
        path = [self.instruction if fetch else self.data[0]] + self.data[1:]
        before = [(level.n["misses"], level.n["conflict"]) for level in path]
        super().access(write, virtual, physical, fetch)
        after = [(level.n["misses"], level.n["conflict"]) for level in path]
        missed = [a[0] - b[0] for a, b in zip(after, before)]
        conflicts = [level.name for level, a, b in zip(path, after, before) if a[1] != b[1]]
        self.log.append((sum(missed), conflicts, [level.name for level in path]))


def accesses(report, lines):
    second = twin.Twin(report["machine"])
    second.hierarchy = Recorder(report["machine"])
    second.eat(lines)
    return second.hierarchy.log


def labels(first, second, wrong=False):
    """{level: [inherent, placement]}"""
    out = {}
    equal(len(first), len(second), "line accesses of the two runs")
    for (_, conflicts, path), (served_by, _, _) in zip(first, second):
        for name in conflicts:
            inherent = served_by > path.index(name) + (1 if wrong else 0)
            out.setdefault(name, [0, 0])[0 if inherent else 1] += 1
    return out


def labels_of(report):
    return {label["level"]: [label["inherent"], label["placement"]] for label in report["against"]["labels"]
            if label["inherent"] + label["placement"] != 0}


def case(name):
    guest, common, here, word, there = CASES[name]
    common = common + ([] if name in WHOLE else FIRST)
    both, both_trace, both_map = run(guest, common + here + ["--against", word])
    alone, trace, alone_map = run(guest, common + here)
    other, other_trace, _ = run(guest, common + there)
    check(both_trace == trace, "the trace is not that of the run alone")
    equal(both_map, alone_map, "the page map of the run alone")
    plain, _, _ = run(guest, common + here + ["--no-attribution", "--against", word])
    equal(plain["against"], both["against"], "the other placement without attribution")
    for key in COUNTS:
        equal(both[key], alone[key], "the run's own " + key)
        equal(both["against"][key], other[key], "the other placement's " + key)
    for label, level in zip(both["against"]["labels"], both["levels"]):
        equal(label["level"], level["name"], "order of the labels")
        equal(label["inherent"] + label["placement"] + label["walks"], level["conflict"], "labels of " + level["name"])
    return both, alone, trace, other, other_trace


def compare(name):
    both, alone, trace, other, other_trace = case(name)
    if "walks.mode=cached" in CASES[name][1]: # walks are not in a trace: no second opinion on the labels
        check(sum(label["walks"] for label in both["against"]["labels"]) > 0, "no conflict miss of a walk")
        return
    expected = labels(accesses(alone, trace), accesses(other, other_trace))
    equal(labels_of(both), expected, "labels")
    check(sum(map(sum, expected.values())) > 0, "no conflict miss: the run shows nothing")
    sums = {}
    for entry in both["objects"]:
        for level in entry.get("levels", []):
            sums[level["name"]] = sums.get(level["name"], 0) + level.get("placement", 0)
    for level_name, (_, placement) in expected.items():
        equal(sums.get(level_name, 0), placement, "objects' conflict misses due to placement in " + level_name)


def mutants():
    both, alone, trace, other, other_trace = case("place")
    first, second = accesses(alone, trace), accesses(other, other_trace)
    equal(labels_of(both), labels(first, second), "labels")
    check(labels_of(both) != labels(first, second, wrong=True), "labels of the wrong level are not found")
    check(labels_of(both) != labels(first, first), "labels of a run against itself are not found")


if __name__ == "__main__":
    mutants() if sys.argv[1] == "mutants" else compare(sys.argv[1])
    done()
