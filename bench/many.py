#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""many.py [RUNS]: what eight machines in one pass cost against one, in turn, medians: processor time and wall time.

C2EMU names the program, else build/c2emu. On a busy host only processor time means something.
"""

import os
import resource
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
C2EMU = os.environ.get("C2EMU", os.path.join(ROOT, "build", "c2emu"))
IMAGES = os.path.join(ROOT, "build", "images")
PROGRAMS = (["matmul", "160"], ["sort"], ["doitgen", "60"])


def spent(options, program):
    """(processor seconds, wall seconds)"""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    words = [C2EMU, "-q", "--pages", "random"] + options + [os.path.join(IMAGES, program[0])] + program[1:]
    subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - start)


def medians(runs):
    return [statistics.median(column) for column in zip(*runs)]


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    print("| program | attribution | one: processor, wall | eight: processor, wall | ratios |\n|---|---|---|---|---|")
    for program in PROGRAMS:
        for attribution in ([], ["--no-attribution"]):
            pairs = [(spent(attribution, program), spent(attribution + ["--vary", "pages.seed=1..8"], program))
                     for _ in range(rounds)]
            one, eight = medians(pair[0] for pair in pairs), medians(pair[1] for pair in pairs)
            print("| %s | %s | %.2f s, %.2f s | %.2f s, %.2f s | %.2f, %.2f |" % (
                "-".join(program), "no" if attribution else "yes", *one, *eight, eight[0] / one[0], eight[1] / one[1]),
                flush=True)


main()
