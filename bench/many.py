#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""many.py [RUNS]: what eight machines in one pass cost against one, in turn, medians: processor time and wall time.
Live, where the stream is kept while machines share what they simulate alike, and of a recording.

C2EMU names the program, else build/c2emu. On a busy host only processor time means something.
"""

import os
import subprocess
import sys
import tempfile

import paired

PROGRAMS = (["matmul", "160"], ["sort"], ["doitgen", "60"])
MANY = (["--vary", "pages.seed=1..8"], ["--vary", "L2.ways=2,4,8,16", "--vary", "L3.ways=8,16"])


def row(name, what, attribution, one, eight, rounds):
    one, eight = paired.in_turn([one, eight], rounds)
    print("| %s | %s | %s | %.2f s, %.2f s | %.2f s, %.2f s | %.2f, %.2f |" % (
        name, what, attribution, *one, *eight, eight[0] / one[0], eight[1] / one[1]), flush=True)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    print("| program | machines | attribution | one: processor, wall | eight: processor, wall | ratios |\n"
          "|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as directory:
        for program in PROGRAMS:
            name = "-".join(program)
            recording = os.path.join(directory, name)
            command = [os.path.join(paired.IMAGES, program[0])] + program[1:]
            subprocess.run([paired.C2EMU, "-q", "--no-sim", "--record", recording] + command,
                           stdout=subprocess.DEVNULL, check=True)
            for attribution in ([], ["--no-attribution"]):
                yes = "no" if attribution else "yes"
                options = ["-q", "--pages", "random"] + attribution
                for many, what in zip(MANY, ("seeds", "L2 and L3")):
                    replay = ["replay", recording] + options
                    row(name, "live, " + what, yes, options + command, options + many + command, rounds)
                    row(name, "recorded, " + what, yes, replay, replay + many, rounds)


main()
