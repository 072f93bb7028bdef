#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""bench/prefetching.py [C2EMU]: Weidendorfer's table 3.4 made again, with interleaved.c, as docs/papers.md has it.

An L2 of 1 MiB with a stream prefetcher, as the Pentium M's; for each number of passes, without and with interleaved
block prefetching: the lines that the L2 has read in because the program asked for them, by access or by instruction,
and those that the prefetcher has, in per cent of the lines that must be read; of the instructions what became of the
lines. The first block of a run is nobody's to prefetch."""

import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
OPTIONS = ["-q", "--roi", "sum_up", "-m", "c2sim", "--set", "L2.size=1M", "--set", "L2.prefetch=stream"]
LINES = (8 << 20) // 64
TIMES = 30
PAPER = {1: (4.2, 130, 134, 0.45), 2: (2.1, 65, 67, 0.54), 3: (1.4, 44, 45, 0.27), 10: (0.4, 13, 13, 0.15)}  # MEv.


def run(c2emu, program, passes, ahead, directory):
    to = os.path.join(directory, "report.json")
    subprocess.run([c2emu] + OPTIONS + ["--json-full", to, program, str(passes), str(TIMES)] + ["1"] * ahead,
                   check=True, stdout=subprocess.DEVNULL)
    with open(to, "rb") as file:
        return json.load(file)


def counts(report):
    """Lines read into L2: on demand, by instructions, by the prefetcher; and the instructions' counts."""
    level = next(one for one in report["prefetch"]["levels"] if one["name"] == "L2")
    prefetcher = next(one for one in report["prefetch"]["prefetchers"] if one["level"] == "L2")
    of = report.get("cache_instructions", {}).get("prefetches", {})
    return level["misses"], of.get("issued", 0), prefetcher["issued"], of


def main(c2emu):
    with tempfile.TemporaryDirectory() as directory:
        program = os.path.join(directory, "interleaved")
        subprocess.run(["gcc", "-O2", "-g", "-o", program, os.path.join(HERE, "interleaved.c")], check=True)
        print("| N | demand, paper | ours | by its prefetcher | ours |"
              " with IBPF: demand, paper | ours | by its prefetcher | ours | useful, late, useless |")
        print("|" + "---|" * 10)
        for passes, (demand, fetched, demand_ahead, fetched_ahead) in PAPER.items():
            all_lines, theirs = LINES * TIMES / passes / 100, 2**27 / passes / 1e8
            misses, _, issued, _ = counts(run(c2emu, program, passes, 0, directory))
            missed, by_program, issued_ahead, of = counts(run(c2emu, program, passes, 1, directory))
            print("| %d | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.1f %% |"
                  " %.1f, %.1f, %.1f %% |" % (
                      passes, demand / theirs, misses / all_lines, fetched / theirs, issued / all_lines,
                      demand_ahead / theirs, (missed + by_program) / all_lines, fetched_ahead / theirs,
                      issued_ahead / all_lines, of["useful"] * 100 / of["executed"], of["late"] * 100 / of["executed"],
                      of["useless"] * 100 / of["executed"]))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "build/c2emu")
