#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of ten thousand million instructions, sampled at one per cent: the table of README.md, "One per cent of a
long run". usage: bench/one_percent.py [RUNS [PROGRAM...]]

Processor time, user and system, without c2emu, with --no-sim and sampled, with its report in a file: medians of RUNS
runs (3), those of a program in turn. C2EMU names another than build/c2emu; PROGRAM: rows of the table (all).
"""

import json
import os
import sys
import tempfile

from engines import numbers, write
from paired import C2EMU, IMAGES, in_turn, timed

# Of ten thousand million instructions one per cent is simulated.
SAMPLED = ["--skip", "10M", "--period", "100M", "--warmup", "600k", "--measure", "300k"]


def programs(directory):
    text, shorter = write(directory, "t.txt", numbers(6000000)), write(directory, "s.txt", numbers(3400000))
    return [("multiplication of 1130 x 1130", [os.path.join(IMAGES, "matmul"), "1130"]),
            ("sort", ["sort", "--parallel=1", text]),
            ("gzip -6c", ["gzip", "-6c", shorter]),
            ("mawk, a loop", ["mawk", "BEGIN{for(i=0;i<17500000;i++)s+=i%7;print s}"]),
            ("python3, a loop", ["/usr/bin/python3", "-I", "-S", "-c", "print(sum(i*i%7 for i in range(13000000)))"])]


def row(name, command, runs, directory):
    report = os.path.join(directory, "report.json")
    before = [C2EMU, "-q"]
    measured = in_turn([command, [*before, "--no-sim", "--", *command],
                        [*before, *SAMPLED, "--json", report, "--", *command]], runs, timed)
    native, alone, sampled = (processor for processor, _ in measured)
    with open(report) as file:
        run = json.load(file)["run"]
    print("| %s | %.1f G | %.1f %% | %.2f | %.2f | %.2f | %.2f | %.2f |"
          % (name, run["instructions"] / 1e9, 100 * (run["measured"]["instructions"] / run["instructions"]), native,
             alone, sampled, alone / native, sampled / native), flush=True)


def main(runs="3", *wanted):
    print("| program | instructions | measured | without c2emu | `--no-sim` | sampled | `--no-sim` / without | "
          "sampled / without |\n|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as directory:
        for name, command in programs(directory):
            if not wanted or name in wanted:
                row(name, command, int(runs), directory)


main(*sys.argv[1:])
