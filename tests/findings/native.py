#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the cures gain on this processor, by hand:

    native.py BUILD [NAME]...

builds both forms of each program as CMake does, with what the column `native` of truth.tsv adds, so that they are large
enough for the caches of today, and prints the medians of the processor time that they take. The forms take turns, and
what else the machine does is not counted; that it leaves threads no second processor, or takes the caches, is."""

import os
import statistics
import subprocess
import sys
import tempfile

from findings import programs

TURNS = 5


def compiled(command, form, flags, directory):
    """The form, built once more with flags of its own; `command` ends with -o, what comes out, and the source."""
    out = os.path.join(directory, form)
    subprocess.run(command[:-3] + flags + ["-o", out, command[-1]], check=True)
    return out


def seconds(words):
    """Of all its threads, in the program and in the kernel."""
    silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    child = os.posix_spawn(words[0], words, {}, file_actions=silent)
    _, status, used = os.wait4(child, 0)
    if status != 0:
        sys.exit("%s failed: status %d" % (" ".join(words), status))
    return used.ru_utime + used.ru_stime


def main(build, *names):
    with open(os.path.join(build, "tests", "findings", "commands.tsv"), encoding="utf-8") as file:
        commands = dict(line.rstrip("\n").split("\t", 1) for line in file)
    for program in programs().values():
        if program.gain == "-" or (names and program.name not in names):
            continue
        words = [word for word in program.native.split() if word != "-"]
        flags = [word for word in words if word.startswith("-D")]
        arguments = [word for word in words if not word.startswith("-D")]
        with tempfile.TemporaryDirectory() as directory:
            forms = [compiled(commands[form].split("\t"), form, flags, directory)
                     for form in (program.name, program.name + "_cured")]
            times = [[seconds([form] + arguments) for form in forms] for _ in range(TURNS)]
        sick, well = (statistics.median(each) for each in zip(*times))
        print("%-16s %-18s %7.1f ms %7.1f ms %6.2f" % (
            program.name, program.pattern, 1000 * sick, 1000 * well, sick / well), flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
