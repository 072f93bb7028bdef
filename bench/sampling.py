#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""bench/sampling.py [RUNS [SETTING]]: the tables of docs/sampling.md: sampled runs beside full ones.

Each program runs in full and sampled (SETTING, or the one of the page). Counts are the same every time (with the same
C library); times are of RUNS pairs of a full and a sampled run (3), taken in turn, and the median of their ratios is
shown: wall, and processor time in user mode. Takes ten minutes and more; wants a Release build in build/, gzip and
sort.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EMULATOR = os.environ.get("C2EMU", os.path.join(ROOT, "build", "c2emu"))
IMAGES = os.environ.get("IMAGES", os.path.join(ROOT, "build", "images"))
SETTING = ["--period", "50M", "--warmup", "10M", "--measure", "7M"]
CLASSES = ("cold", "capacity", "conflict")
DATA = ("L1D", "L2", "L3") # L1I is asked at each change of line alone, in loops hardly ever
KERNELS = [("matmul", "400"), ("adi", "1000"), ("doitgen", "500"), ("jacobi", "1000", "40"), ("lu", "512", "16"),
           ("nw", "700"), ("poisson", "800"), ("stencil", "500", "100"), ("stencil3d", "500"), ("transpose", "1000")]


def write_text(path, lines):
    """Lines of words, the same every time."""
    state = 1

    def below(n):
        nonlocal state
        state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
        return (state >> 33) % n
    words = ["".join(chr(97 + below(16)) for _ in range(2 + below(8))) for _ in range(3000)]
    with open(path, "w") as file:
        for _ in range(lines):
            file.write(" ".join(words[below(3000)] for _ in range(9)) + "\n")


def programs(directory):
    text, long_text = os.path.join(directory, "text"), os.path.join(directory, "long_text")
    write_text(text, 60000)
    write_text(long_text, 240000)
    out = [(name[0], [os.path.join(IMAGES, name[0]), *name[1:]]) for name in KERNELS]
    return out + [("gzip", ["gzip", "-c", text]), ("sort", ["sort", "--parallel=1", long_text])]


def run(options, words, directory):
    """(the report, seconds, seconds in user mode)"""
    path = os.path.join(directory, "report.json")
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime, time.monotonic()
    subprocess.run([EMULATOR, "-q", "--json-full", path, *options, *words], stdout=subprocess.DEVNULL,
                   stdin=subprocess.DEVNULL, check=True)
    seconds = time.monotonic() - start
    with open(path) as file:
        return json.load(file), seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def rates(report):
    """{level: {rate: per cent; "per 1000": misses in 1000 instructions}} of a full run, those that there are."""
    out, instructions = {}, report["run"]["measured"]["instructions"]
    for level in report["levels"]:
        mine = out[level["name"]] = {"per 1000": 1000 * level["misses"] / instructions}
        if level["accesses"]:
            mine["miss rate"] = 100 * level["misses"] / level["accesses"]
        if level["misses"]:
            mine.update({name: 100 * level[name] / level["misses"] for name in CLASSES})
    return out


def estimates(report, what):
    """The same of a sampled run, as its samples tell; what: mean, or margin, how far the interval goes to a side."""
    out, keys = {}, {"misses_per_1000": "per 1000", "miss_rate": "miss rate"}
    keys.update(zip(CLASSES, CLASSES))
    for level in report["samples"]["levels"]:
        out[level["name"]] = {keys[key]: level[key].get(what, float("inf")) for key in keys if key in level}
    return out


def errors(full, sampled, names, levels=DATA):
    """Of the rates that both have: (level, rate) -> points."""
    return {(level, name): abs(full[level][name] - sampled[level][name])
            for level in levels for name in names if name in full[level] and name in sampled[level]}


class Row:
    def __init__(self, name, words, setting, runs, directory):
        self.name = name
        walls, users = [], []
        for _ in range(runs):
            full, full_wall, full_user = run([], words, directory)
            sampled, wall, user = run(setting, words, directory)
            walls.append(full_wall / wall)
            users.append(full_user / user)
        self.wall, self.user = statistics.median(walls), statistics.median(users)
        self.instructions = full["run"]["instructions"]
        self.samples = sampled["samples"]["count"]
        self.simulated = 1 - sum(row["instructions"] for row in sampled["run"]["phases"]
                                 if row["kind"] == "skip") / self.instructions
        self.full, self.sampled, self.margins = rates(full), estimates(sampled, "mean"), estimates(sampled, "margin")

    def errors(self, names):
        return errors(self.full, self.sampled, names)

    def inside(self, names):
        """(how many of the rates their interval holds, of how many)"""
        found = self.errors(names)
        found = {of: error for of, error in found.items() if self.margins[of[0]][of[1]] != float("inf")}
        held = sum(error <= self.margins[level][name] + 1e-6 for (level, name), error in found.items())
        return held, len(found)


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def cell(row, level, name):
    full, sampled = row.full[level], row.sampled.get(level, {})
    if name not in full or name not in sampled:
        return "-"
    off, margin = abs(full[name] - sampled[name]), row.margins[level][name]
    return "%.2f: %.2f%s" % (full[name], off, " !" if margin == float("inf") else "" if off <= margin + 1e-6 else " *")


def speeds(rows):
    table(("program", "instructions", "samples", "simulated", "speed", "user time"),
          [(row.name, "%d M" % (row.instructions // 10 ** 6), str(row.samples), "%.0f %%" % (100 * row.simulated),
            "%.1f" % row.wall, "%.1f" % row.user)
           for row in rows])


def levels(rows, name):
    names = [level for level in rows[0].full]
    table(("program",) + tuple(names),
          [(row.name,) + tuple(cell(row, level, name) for level in names) for row in rows])


def classes(rows):
    names = [level for level in rows[0].full]
    body = []
    for row in rows:
        found = errors(row.full, row.sampled, CLASSES, names)
        worst = [max([points for (of, _), points in found.items() if of == level], default=None) for level in names]
        body.append((row.name,) + tuple("-" if points is None else "%.1f" % points for points in worst))
    table(("program",) + tuple(names), body)


def means(rows):
    body = []
    for what, chosen in (("kernels", rows[:len(KERNELS)]), ("others", rows[len(KERNELS):]), ("all", rows)):
        rate = [row.errors(("miss rate",)).values() for row in chosen]
        shares = [points for row in chosen for points in row.errors(CLASSES).values()]
        misses = [max(row.errors(("per 1000",)).values()) / 10 for row in chosen]
        held = [row.inside(("miss rate", "per 1000")) for row in chosen]
        body.append((what, "%.2f" % statistics.mean(max(points) for points in rate),
                     "%.2f" % statistics.mean(one for points in rate for one in points),
                     "%.4f" % statistics.mean(misses), "%.2f" % statistics.mean(shares),
                     "%d of %d" % tuple(map(sum, zip(*held))), "%.1f" % statistics.mean(row.wall for row in chosen),
                     "%.1f" % statistics.mean(row.user for row in chosen)))
    table(("programs", "miss rate, mean of the largest", "miss rate, mean",
           "misses in 100 instructions, mean of the largest", "shares of classes, mean", "in their interval", "speed",
           "user time"), body)


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    setting = sys.argv[2].split() if len(sys.argv) > 2 else SETTING
    with tempfile.TemporaryDirectory() as directory:
        rows = [Row(name, words, setting, runs, directory) for name, words in programs(directory)]
    print("## " + " ".join(setting) + "\n")
    means(rows)
    speeds(rows)
    levels(rows, "miss rate")
    classes(rows)


main()
