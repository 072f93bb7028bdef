# SPDX-License-Identifier: GPL-2.0-or-later
"""512 lines far apart, each read once: 512 cold misses on every level here, whatever the step, and under every policy
that places pages. Callgrind 3.19 with --simulate-wb=yes keeps 32 bits of a tag: docs/valgrind-wide-addresses.md has
the table that is checked here."""

import os
import re
import shutil

from common import done, equal, report, run

GUESTS = os.environ["GUESTS"]
STEPS = {"256M": 15, "512M": 7, "1G": 3, "2G": 1, "4G": 0}  # step: LLd misses that Callgrind reports
GEOMETRY = ["--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64"]

COLD = {"accesses": 512, "hits": 0, "misses": 512, "reads": 512, "read_misses": 512, "writes": 0, "write_misses": 0,
        "cold": 512, "capacity": 0, "conflict": 0, "coherence": 0, "fa_misses": 512, "fa_only_misses": 0,
        "writebacks": 0}


def here(step):
    program = [os.path.join(GUESTS, "far_" + step)]
    for placement in ("sequential", "random", "same-color"):
        levels = report(["-m", "c2sim", "--pages", placement], program)["levels"]
        for level in levels:
            what = "step %s, %s, %s" % (step, placement, level["name"])
            equal({key: level[key] for key in COLD}, COLD, what)


def callgrind(step, options):
    words = ["valgrind", "--tool=callgrind", "--cache-sim=yes", "--callgrind-out-file=/dev/null"] + GEOMETRY + options
    said = run(words + [os.path.join(GUESTS, "far_" + step)]).stderr.decode()
    numbers = [re.search(name + r" +misses: +([\d,]+)", said).group(1) for name in ("D1", "LLd")]
    return tuple(int(number.replace(",", "")) for number in numbers)


for step in STEPS:
    here(step)
version = shutil.which("valgrind") and run(["valgrind", "--version"]).stdout.decode().strip()
if version and version.startswith("valgrind-3.19"):
    for step, misses in STEPS.items():
        equal(callgrind(step, ["--simulate-wb=yes"]), (512, misses), "Callgrind's D1 and LLd misses, " + step)
    equal(callgrind("4G", []), (512, 512), "Callgrind's D1 and LLd misses without --simulate-wb=yes")
else:
    print("Callgrind's part was not run: it is about 3.19, here is", version)
done()
