#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""processes.py [RUNS]: what processes and threads cost: the tables of bench/README.md, "Processes".

All commands of a row in turn, medians, by the clock: the processes of a run are in lockstep, so that their times add
up. The guest is processes.c, which this compiles. C2EMU names the program, else build/c2emu. On a host that does
something else: chrt -f 50 bench/processes.py, as root.
"""

import os
import subprocess
import sys
import tempfile

import paired

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "processes.c")
SIMULATED = ["-q", "-m", "teach"]
ROUNDS = "20000000"
EACH = (("fork and wait", "fork", 100), ("posix_spawn of /bin/true", "spawn", 20),
        ("a byte there and back", "pipe", 1000))
FEW, MANY = 20, 60 # the first few leave their findings in words
CHILD = (("native", []), ("--no-sim", [paired.C2EMU, "-q", "--no-sim"]), ("-q", [paired.C2EMU, "-q"]),
         ("with the findings of all", [paired.C2EMU]))


def walls(commands, runs):
    """The medians by the clock, of commands as lists of words for a shell's exec."""
    return [wall for _, wall in paired.in_turn(commands, runs, paired.timed)]


def each(guest, runs):
    """What one time more costs: of a run with many and one with none."""
    print("| | native | --no-sim | simulated | --no-sim / native | simulated / --no-sim |\n|---|---|---|---|---|---|")
    for name, what, times in EACH:
        ways = [[], [paired.C2EMU, "-q", "--no-sim"], [paired.C2EMU, *SIMULATED]]
        found = walls([way + [guest, what, str(n)] for way in ways for n in (0, times)], runs)
        native, alone, full = [(found[i + 1] - found[i]) / times * 1e6 for i in (0, 2, 4)]
        print("| %s | %.0f us | %.0f us | %.0f us | %.1f | %.1f |" % (name, native, alone, full, alone / native,
                                                                      full / alone), flush=True)


def children(guest, runs):
    """A child that becomes /bin/true, by the difference of many and few, and a run of one program."""
    print("\n| | a run of /bin/true | a child that becomes /bin/true |\n|---|---|---|")
    for name, way in CHILD:
        commands = [way + ["/bin/true"]] + [way + [guest, "spawn", str(n)] for n in (FEW, MANY)]
        alone, few, many = walls([["sh", "-c", 'exec "$@" 2>/dev/null', "sh", *words] for words in commands], runs)
        print("| %s | %.1f ms | %.1f ms |" % (name, alone * 1e3, (many - few) / (MANY - FEW) * 1e3), flush=True)


def shared_out(guest, runs):
    """A loop on one thread, and shared out; and a switch, where there are so many that they are most of the time."""
    print("\n| a loop shared out to | quantum | --no-sim | simulated | a switch, --no-sim | simulated |")
    print("|---|---|---|---|---|---|")
    instructions = 5 * int(ROUNDS) # of work()
    for kind, what in (("processes", "loop"), ("threads", "threads")):
        for quantum, parts in ((50000, 2), (50000, 8), (5000, 2), (500, 2)):
            options = ["--quantum", str(quantum)]
            commands = [[paired.C2EMU, *way, *options, guest, what, ROUNDS, str(n)]
                        for way in (["-q", "--no-sim"], SIMULATED) for n in (1, parts)]
            found = walls(commands, runs)
            switch = ["%.0f us" % ((found[i + 1] - found[i]) / (instructions / quantum) * 1e6) for i in (0, 2)]
            print("| %d %s | %d | %.2f | %.2f | %s |" % (
                parts, kind, quantum, found[1] / found[0], found[3] / found[2],
                " | ".join(switch if quantum == 500 else ["", ""])), flush=True)


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as directory:
        guest = os.path.join(directory, "processes")
        subprocess.run(["gcc", "-O1", "-pthread", "-o", guest, SOURCE], check=True)
        children(guest, runs)
        each(guest, runs)
        shared_out(guest, runs)


main()
