# SPDX-License-Identifier: GPL-2.0-or-later
"""A working set of exactly a level's capacity fits: walked twice, the second pass misses nothing at that level.

That is so where the frames are contiguous and begin at a multiple of what the index and the hash repeat after. What
else a sliced cache holds follows from its hash alone: a line goes to (slice, set); under a walk with LRU a place with
at most `ways` lines keeps them all, one with more keeps none. So the misses of the second pass are the lines of the
overfull places, and all of them are conflicts, because a fully associative cache of that size would have kept the
whole array.

How much is lost: lin8 has for each set index 8 lines in each aligned MiB, one for each slice (bits 17, 18 and 19 make
the slices differ): 20 aligned MiB are 20 lines in each place, and nothing is lost. A 20 MiB array that begins 12 KiB
behind such a border leaves out 3 pages of its first MiB and has 3 pages of a 21st instead. Each of the 192 set
indices concerned has one line less in the slice of the one and one line more in the slice of the other. Here these
are two slices for each of the 192, and the second has 21 lines for 20 ways: all 21 miss again, 4032 of 327680 lines,
1.2 %.
"""

import os
import re
import sys
import tempfile
from collections import Counter

import twin
from common import done, equal, report

GUESTS, MACHINES = os.environ["GUESTS"], os.environ["C2EMU_MACHINES"]
LINE = 64

# Machine: its walks by level, and what the second pass misses in L3 when the array begins 12 KiB behind the border.
# In each of the 192 set indices of 3 pages one slice has a line too many.
CASES = {
    "c2sim": ({"L1D": "32K", "L2": "256K", "L3": "20M"}, 192 * 21),
    "skylake": ({"L1D": "32K", "L2": "256K", "L3": "8M"}, 192 * 17),
    "teach": ({"L1D": "2K", "L2": "32K", "L3": "256K"}, 192 * 9),
}
LOADER_PAGES = 2  # of the initial stack, the first frames of all


def data_only(machine, directory):
    """The machine's data caches alone: neither code lines nor page tables are part of the working set."""
    with open(os.path.join(MACHINES, machine + ".ini")) as file:
        sections = re.split(r"^(?=\[)", file.read(), flags=re.M)
    text = "".join(section for section in sections if re.match(r"\[(machine|L1D|L[2-9])\]", section))
    path = os.path.join(directory, machine + "-data.ini")
    with open(path, "w") as file:
        file.write(text)
    return path


def overfull(level, first_line, lines):
    """Lines in places that have more of them than ways."""
    slice_of = twin.slice_function(level)
    divisor = level["slices"] if level.get("hash") in twin.INTERLEAVED else 1
    places = Counter((slice_of(line * LINE), line // divisor % level["sets"])
                     for line in range(first_line, first_line + lines))
    return sum(n for n in places.values() if n > level["ways"]), max(places.values())


def walk(machine_path, machine, name, size, placement, expected):
    result = report(["-m", machine_path, "--pages", placement], [os.path.join(GUESTS, "walk_" + size)])
    what = "%s, %s walked twice, %s" % (machine, size, placement)
    lines = bytes_of(size) // LINE
    n = result["run"]["measured"]
    equal((n["refs"], n["reads"], n["line_accesses"]), (2 * lines, 2 * lines, 2 * lines), what + ": references")
    levels = {level["name"]: level for level in result["machine"]["levels"]}
    equal(levels[name]["size"], bytes_of(size), what + ": capacity of " + name)
    # One page of code is touched before the first page of the array; its frame is the fourth.
    first_line = (LOADER_PAGES + 1) * twin.PAGE // LINE if placement == "sequential" else 0
    again, fullest = overfull(levels[name], first_line if name != "L1D" else 0, lines)
    equal(again, expected, what + ": lines in overfull places")
    counts = {level["name"]: level for level in result["levels"]}[name]
    equal({key: counts[key] for key in ("accesses", "misses", "cold", "capacity", "conflict", "fa_misses")},
          {"accesses": 2 * lines, "misses": lines + again, "cold": lines, "capacity": 0, "conflict": again,
           "fa_misses": lines}, "%s: counts of %s" % (what, name))
    for level in result["levels"]:
        if level["name"] == name:
            break  # nothing above it has kept anything
        equal((level["misses"], level["cold"]), (2 * lines, lines), "%s: misses of %s" % (what, level["name"]))
    print("%s: %s misses %d of %d lines again (%.2f %%), %d in the fullest place of %d ways" %
          (what, name, again, lines, 100 * again / lines, fullest, levels[name]["ways"]))


def bytes_of(text):
    return int(text[:-1]) * {"K": 1 << 10, "M": 1 << 20}[text[-1]]


def main(machine):
    walks, misplaced = CASES[machine]
    with tempfile.TemporaryDirectory() as directory:
        path = data_only(machine, directory)
        for name, size in walks.items():
            walk(path, machine, name, size, "identity", 0)
            walk(path, machine, name, size, "sequential", misplaced if name == "L3" else 0)
    done()


main(sys.argv[1])
