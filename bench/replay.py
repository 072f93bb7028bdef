#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""replay.py [RUNS]: what a replay costs against the live run and one that records, in turn, medians of processor
time and wall time; and the bytes of a recording.

C2EMU names the program, else build/c2emu. On a busy host only processor time means something.
"""

import json
import os
import sys
import tempfile

import paired

PROGRAMS = (("matmul-400", ["matmul", "400"]), ("sort", ["sort"]), ("stencil", ["stencil"]))


def references(command):
    with tempfile.NamedTemporaryFile() as report:
        paired.spent(["-q", "--no-attribution", "--json", report.name] + command)
        return json.load(open(report.name))["run"]["measured"]["refs"]


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    print("| program | live: processor, wall | recording | replay | replay / live | bytes a reference |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as directory:
        recording = os.path.join(directory, "recording")
        for name, words in PROGRAMS:
            command = [os.path.join(paired.IMAGES, words[0])] + words[1:]
            paired.spent(["-q", "--record", recording] + command)
            live, record, replay = paired.in_turn([["-q"] + command, ["-q", "--record", recording + ".again"] + command,
                                                   ["replay", "-q", recording]], rounds)
            print("| %s | %.2f s, %.2f s | %.2f s, %.2f s | %.2f s, %.2f s | %.2f, %.2f | %.3f |" % (
                name, *live, *record, *replay, replay[0] / live[0], replay[1] / live[1],
                os.path.getsize(recording) / references(command)), flush=True)


main()
