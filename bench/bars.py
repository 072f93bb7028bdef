#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""bars.py [RUNS]: how fast the simulation is beside what it should be: the table of bench/README.md, "Bars".

Complete default runs beside --no-sim and --no-attribution, in turn, medians by the clock and of processor time;
caches_bench and caches_bench with evictors, the lowest of the runs; and host memory a line of footprint, from two
sizes of one program. Wants a Release build in build/ with the target caches_bench, gzip, mawk and python3. C2EMU names
another program. By the clock nothing means anything on a host that does something else.
"""

import math
import os
import shutil
import subprocess
import sys
import tempfile

import paired

LINE = 64
CACHES_BENCH = os.path.join(os.path.dirname(paired.C2EMU), "caches", "caches_bench")
PATTERNS = (("hits", "L1 hit, no repeat"), ("l2", "L1 miss, L2 serves"), ("l3", "random line of 4 MiB, L3 serves"))
MATMUL_BEFORE = 15.95  # seconds by the clock, before contents and verdicts were two stages; the machine of the table


def text(path):
    """Some megabytes that repeat themselves as text does, the same everywhere."""
    state, words = 1, ["line", "cache", "set", "way", "miss", "the", "of", "a", "0x1f", "conflict", "page", "array"]
    with open(path, "w") as out:
        for _ in range(40000):
            row = []
            for _ in range(8):
                state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
                row.append(words[(state >> 33) % len(words)])
            out.write(" ".join(row) + "\n")


def programs(directory):
    path = os.path.join(directory, "text")
    text(path)
    image = lambda name, *words: [os.path.join(paired.IMAGES, name)] + list(words)
    return (("matmul-400", image("matmul", "400")), ("chase-32M", image("chase")), ("sort-200k", image("sort")),
            ("gzip", [shutil.which("gzip"), "-c", path]),
            ("mawk", [shutil.which("mawk"), "{ for (i = 1; i <= NF; i++) n[$i]++ } END { for (w in n) print w, n[w] }",
                      path]),
            ("python3", ["/usr/bin/python3", "-S", "-c", "print(sum(i * i % 7 for i in range(300000)))"]))


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def whole_runs(runs, directory):
    print("| program | complete: processor, wall | --no-sim | complete / --no-sim | --no-attribution | attribution |")
    print("|---|---|---|---|---|---|")
    slower, attribution = [], []
    for name, command in programs(directory):
        full, alone, counts = paired.in_turn([["-q"] + command, ["-q", "--no-sim"] + command,
                                              ["-q", "--no-attribution"] + command], runs)
        slower.append((full[0] / alone[0], full[1] / alone[1]))
        attribution.append((full[0] / counts[0], full[1] / counts[1]))
        print("| %s | %.2f s, %.2f s | %.2f s, %.2f s | %.2f, %.2f | %.2f s, %.2f s | %.2f, %.2f |" % (
            name, *full, *alone, *slower[-1], *counts, *attribution[-1]), flush=True)
        if name == "matmul-400":
            matmul = full[1]
    wall = [row[1] for row in slower]
    print("\n| bar | wanted | here |\n|---|---|---|")
    print("| complete / --no-sim by the clock, geometric mean | 1.4 | %.2f |" % mean(wall))
    print("| the same, at most | 2.0 | %.2f |" % max(wall))
    print("| matmul-400, times as fast as before | 2.5 | %.2f |" % (MATMUL_BEFORE / matmul))
    print("| attribution by the clock, geometric mean | 1.25 | %.2f |" % mean([row[1] for row in attribution]))


def findings(runs, directory):
    """What excerpts and findings cost, with a report to write, which they are for."""
    print("| program | with findings: processor, wall | --no-findings | ratio |\n|---|---|---|---|")
    report = ["-q", "--json", os.path.join(directory, "report.json")]
    ratios = []
    for name, command in programs(directory):
        whole, without = paired.in_turn([report + command, report + ["--no-findings"] + command], runs)
        ratios.append((whole[0] / without[0], whole[1] / without[1]))
        print("| %s | %.2f s, %.2f s | %.2f s, %.2f s | %.2f, %.2f |" % (name, *whole, *without, *ratios[-1]),
              flush=True)
    print("geometric means: %.2f, %.2f" % tuple(mean([row[i] for row in ratios]) for i in range(2)))


def accesses(runs):
    wanted = {"hits": 4, "l2": 12, "l3": 40}
    for name, what in PATTERNS:
        words = [subprocess.run([CACHES_BENCH, "16", name, "4000000", "stages"], stdout=subprocess.PIPE,
                                check=True).stdout.decode().split("\n") for _ in range(runs)]
        both = min(float(lines[0].split()[1]) for lines in words)
        contents, verdicts = (min(float(lines[1].split()[i]) for lines in words) for i in (0, 3))
        print("| %s, ns: contents, verdicts; both on one thread | %d | %.1f, %.1f; %.1f |" % (
            what, wanted[name], contents, verdicts, both), flush=True)


def peak(command):
    """KiB of host memory at most."""
    pid = os.posix_spawn(command[0], command, os.environ,
                         file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    return os.wait4(pid, 0)[2].ru_maxrss


def memory():
    """What a line more of footprint takes, without what the program itself takes."""
    sizes = (65536, 131072)  # KiB: more than L3, whose own tables are full then; few steps: lines are touched as linked
    taken = [peak([paired.C2EMU, "-q"] + options + [os.path.join(paired.IMAGES, "chase"), str(kib), "1000"])
             for options in ([], ["--no-sim"]) for kib in sizes]
    lines = (sizes[1] - sizes[0]) * 1024 / LINE
    print("| host memory a line of footprint, bytes | 24 | %.0f |" % (
        ((taken[1] - taken[0]) - (taken[3] - taken[2])) * 1024 / lines))


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as directory:
        whole_runs(runs, directory)
        findings(runs, directory)
    accesses(runs)
    memory()


if __name__ == "__main__":
    main()
