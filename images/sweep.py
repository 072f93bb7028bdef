#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts of one sweep of a sample: its run of three sweeps less its run of two.

usage: sweep.py LEVEL.COUNT[,LEVEL.COUNT]... [OPTION OF C2EMU]... PROGRAM [ARG]...

PROGRAM is one of the samples that take TIMES as their first argument; ARG is what follows TIMES. The counts are those
of report.json: sweep.py L1D.conflict,L2.conflict -m c2sim --pages random build/images/list 64
"""

import json
import os
import subprocess
import sys


def usage(why):
    sys.exit("sweep.py: %s\n%s" % (why, __doc__.split("\n\n")[1]))


def split(words):
    """(options, program, arguments): the program is the first word whose name is that of a file to run."""
    for at, word in enumerate(words):
        if not word.startswith("-") and os.path.isfile(word) and os.access(word, os.X_OK):
            return words[:at], word, words[at + 1:]
    usage("no PROGRAM: build the samples first")


def levels(options, program, arguments, times):
    emulator = os.environ.get("C2EMU", "build/c2emu")
    words = [emulator, "-q", "--no-attribution", "--json", "/dev/fd/2"] + options + [program, str(times)] + arguments
    done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        return {level["name"]: level for level in json.loads(done.stderr)["levels"]}
    except (ValueError, KeyError):
        sys.exit(done.stderr.decode(errors="replace").rstrip() or "sweep.py: there is no report")


def main():
    if len(sys.argv) < 3:
        usage("nothing to count")
    two, three = (levels(*split(sys.argv[2:]), times) for times in (2, 3))
    numbers = []
    for word in sys.argv[1].split(","):
        level, _, count = word.partition(".")
        if level not in three or not isinstance(three[level].get(count), int):
            usage("no count is called " + word)
        numbers.append(three[level][count] - two[level][count])
    print(*numbers)


main()
