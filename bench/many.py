#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""many.py [RUNS]: what eight machines in one pass cost against one, in turn, medians: processor time and wall time.

C2EMU names the program, else build/c2emu. On a busy host only processor time means something.
"""

import os
import sys

import paired

PROGRAMS = (["matmul", "160"], ["sort"], ["doitgen", "60"])


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    print("| program | attribution | one: processor, wall | eight: processor, wall | ratios |\n|---|---|---|---|---|")
    for program in PROGRAMS:
        command = [os.path.join(paired.IMAGES, program[0])] + program[1:]
        for attribution in ([], ["--no-attribution"]):
            options = ["-q", "--pages", "random"] + attribution
            one, eight = paired.in_turn([options + command, options + ["--vary", "pages.seed=1..8"] + command], rounds)
            print("| %s | %s | %.2f s, %.2f s | %.2f s, %.2f s | %.2f, %.2f |" % (
                "-".join(program), "no" if attribution else "yes", *one, *eight, eight[0] / one[0], eight[1] / one[1]),
                flush=True)


main()
