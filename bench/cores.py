#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What turns of at most 100 instructions, those of several cores, cost more than longer ones: the table of README.md,
"Several cores". usage: bench/cores.py [RUNS]; C2EMU and IMAGES name others than build/c2emu and build/images.

Processor time, all threads of c2emu together, the lowest of RUNS runs (3), those of a row in turn: so other work on the
machine shows little. The columns are ratios to the turns of 50,000."""

import os
import sys

C2EMU = os.environ.get("C2EMU", "build/c2emu")
IMAGES = os.environ.get("IMAGES", "build/images")
PROGRAMS = (["halo", "4", "32", "64", "100"], ["halo", "4", "4", "32", "1000"])
TURNS = (["--quantum", "50000"], ["--quantum", "1000"], ["--quantum", "100"], [])


def seconds(words):
    nothing = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
    _, status, used = os.wait4(os.posix_spawn(words[0], words, dict(os.environ), file_actions=nothing), 0)
    if status != 0:
        sys.exit("%s failed: status %d" % (" ".join(words), status))
    return used.ru_utime + used.ru_stime


def main(runs="3"):
    print("| program, on four cores | | 50,000 | 1,000 | 100 exactly | usual |\n|---|---|---|---|---|---|")
    for program in PROGRAMS:
        path = [os.path.join(IMAGES, program[0])] + program[1:]
        for name, options in (("simulated", []), ("--no-sim", ["--no-sim"])):
            rows = [[seconds([C2EMU, "-q", "--cores", "4"] + options + turns + path) for turns in TURNS]
                    for _ in range(int(runs))]
            best = [min(column) for column in zip(*rows)]
            ratios = " | ".join("%.2f" % (each / best[0]) for each in best[1:])
            print("| %s | %s | %.2f s | %s |" % (" ".join(program), name, best[0], ratios), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
