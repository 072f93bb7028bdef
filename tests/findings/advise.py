#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What `c2emu advise` foretells of a remedy, and a plain run of loops that are swapped, beside the cured form itself.

    advise.py foretold NAME THOUSANDTHS [MACHINE]
                                           the cost that the first finding's remedy leaves is that of the cured form, up
                                           to so many thousandths of the sick form's
    advise.py table [NAME]                 all programs that have a remedy, or one, for people

PROGRAMS is the directory of the programs."""

import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "program"))
sys.path.insert(0, HERE)
from common import check, done, emulate, equal  # noqa: E402
from findings import MACHINE, options, path, programs  # noqa: E402

# What has no layout to be simulated: another order of loops, sums for each thread, other stores, other code.
ESTIMATED_PATTERNS = ("loop-order", "true-sharing", "instruction-cache", "non-temporal-stores",
                      "write-allocate", "cyclic-distribution", "sorted-elements")
ESTIMATED = ("settings",)  # neighbours of two threads that are no rows of an array


def document(verb, program, form="", machine=MACHINE):
    with tempfile.TemporaryDirectory() as directory:
        to = os.path.join(directory, "report.json")
        result = emulate(verb + ["-q", "--json", to] + options(program, machine) + [path(program, form)])
        equal(result.returncode, 0, "exit status of %s %s%s: %s" % (" ".join(verb), program.name, form, result.stderr))
        with open(to, "rb") as file:
            return json.load(file)


def costs(program, machine=MACHINE):
    """Of the sick form, as its remedy would leave it, and of the cured form; and who has foretold that. A swap of loops
    is the cure of all objects that the loops go through."""
    advised = document(["advise"], program, machine=machine)
    before, found = advised["before"]["cost"], [one for one in advised["findings"] if one["pattern"] == program.pattern]
    check(found, "%s: advise has a finding of %s" % (program.name, program.pattern))
    check(advised["same_as_run"], "%s: played back, the run is itself" % program.name)
    gain = sum(one["gain"] for one in found) if program.pattern == "loop-order" else found[0]["gain"]
    return before, before - gain, document([], program, "_cured", machine)["cost"]["cost"], found[0]["gain_by"]


def foretold(name, thousandths, machine=MACHINE):
    program = programs()[name]
    before, left, well, by = costs(program, machine)
    estimated = program.pattern in ESTIMATED_PATTERNS or name in ESTIMATED
    equal(by, "estimated" if estimated else "simulated", "who has foretold %s" % name)
    check(abs(left - well) * 1000 <= before * int(thousandths),
          "%s: of %d the remedy leaves %d, and the cured form costs %d" % (name, before, left, well))


def table(*names):
    print("%-16s %-17s %11s %11s %11s %9s" % ("program", "pattern", "cost", "foretold", "cured", "apart"))
    for program in [programs()[name] for name in names or programs()]:
        if program.pattern in ("none", "startup", "streaming"):
            continue
        before, left, well, by = costs(program)
        print("%-16s %-17s %11d %11d %11d %7.1f %%  %s" % (
            program.name, program.pattern, before, left, well, 100 * (left - well) / before, by), flush=True)


if __name__ == "__main__":
    {"foretold": foretold, "table": table}[sys.argv[1]](*sys.argv[2:])
    done()
