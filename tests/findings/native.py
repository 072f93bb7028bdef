#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the cures gain on this processor; by hand, on a machine that does nothing else:

    native.py BUILD [NAME]...

builds both forms of each program as CMake does, with what the column `native` of truth.tsv adds, so that they are large
enough for the caches of today, and prints the medians of their times by hyperfine. The forms take turns, so that what
else the machine does meets both."""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from findings import programs

TURNS, RUNS = 5, 5


def compiled(command, form, flags, directory):
    """The form, built once more with flags of its own; `command` ends with -o, what comes out, and the source."""
    out = os.path.join(directory, form)
    subprocess.run(command[:-3] + flags + ["-o", out, command[-1]], check=True)
    return out


def seconds(commands, directory):
    """The median of each command."""
    to = os.path.join(directory, "times.json")
    times = [[] for _ in commands]
    for _ in range(TURNS):
        subprocess.run(["hyperfine", "-N", "--warmup", "1", "--runs", str(RUNS), "--style", "none", "--export-json", to]
                       + commands, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(to, encoding="utf-8") as file:
            for all_times, result in zip(times, json.load(file)["results"]):
                all_times += result["times"]
    return [statistics.median(each) for each in times]


def main(build, *names):
    if not shutil.which("hyperfine"):
        sys.exit("hyperfine is not installed: apt-get install hyperfine")
    with open(os.path.join(build, "tests", "findings", "commands.tsv"), encoding="utf-8") as file:
        commands = dict(line.rstrip("\n").split("\t", 1) for line in file)
    for program in programs().values():
        if program.pattern == "none" or (names and program.name not in names):
            continue
        words = [word for word in program.native.split() if word != "-"]
        flags = [word for word in words if word.startswith("-D")]
        arguments = " ".join(word for word in words if not word.startswith("-D"))
        with tempfile.TemporaryDirectory() as directory:
            forms = [compiled(commands[form].split("\t"), form, flags, directory) + " " + arguments
                     for form in (program.name, program.name + "_cured")]
            sick, well = seconds(forms, directory)
        print("%-16s %-18s %7.1f ms %7.1f ms %6.2f" % (
            program.name, program.pattern, 1000 * sick, 1000 * well, sick / well), flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
