# SPDX-License-Identifier: GPL-2.0-or-later
"""cost.py PART: `cost` is the cycles that accesses would wait one after the other, for whatever makes them wait.

walks     guests/shuffled.S: what pages of 2 MiB save, to the cycle.
sharing   Counters of four threads in one line, and padded, to the cycle; and those of images/.
pairs     Each sample of images/ costs less with its cure.
sums      The parts are counts times prices, and all lists add up to the whole: one core and several, counted and cached
          walks, samples.
refused   A price that is none.

The prices are those of the machines' files: a miss of a level the step to the next one's latency, memory being 200.
"""

import json
import os
import sys

from common import check, contains, done, emulate, equal, report

GUESTS, IMAGES = os.environ["GUESTS"], os.environ["IMAGES"]
HUGE = ["--huge", "thp"]


# ---------------------------------------------------------------- TLBs
# Each sweep reads a line of each of the pages. They come by all the others before they come again, so every page that
# the TLBs have not room for is a walk, and as the directory entries are all in the page-walk cache, a walk reads one
# entry. The lines are as many as L2 has room for, and more than L1D has: all of them are misses that L2 serves. Pages
# of 2 MiB are few enough for the first level of the TLBs.

# (machine, pages): step from L1D to L2, the second TLB's latency, a read of a walk
WALKS = {("icelake-sp", 16384): (14 - 5, 7, 14), ("haswell-ep", 2048): (12 - 4, 7, 12),
         ("skylake", 2048): (12 - 4, 7, 12), ("sandybridge-ep", 2048): (12 - 4, 7, 12)}


def sweep(machine, pages, options):
    """The parts of the cost of one sweep: three less two."""
    costs = [report(["-m", machine] + options, [os.path.join(GUESTS, "shuffled_%d_%d" % (pages, rounds))])["cost"]
             for rounds in (2, 3)]
    return {key: costs[1][key] - costs[0][key] for key in ("cost", "caches", "translations", "walks")}


def walks():
    for (machine, pages), (step, second, read) in WALKS.items():
        small, huge = sweep(machine, pages, []), sweep(machine, pages, HUGE)
        equal(small, {"cost": pages * (step + second + read), "caches": pages * step, "translations": pages * second,
                      "walks": pages * read}, "%s, pages of 4 KiB" % machine)
        equal(huge, {"cost": pages * step, "caches": pages * step, "translations": 0, "walks": 0},
              "%s, pages of 2 MiB" % machine)
        check(small["cost"] >= 2.5 * huge["cost"], "%s: %d is not 2.5 times %d" %
              (machine, small["cost"], huge["cost"]))
    # Through the caches each read waits for L1D, 4 cycles, and 590 of them for L2: of 64 tables' lines the last ones of
    # each set are still there. A walk's wait is counted once.
    cached = sweep("haswell-ep", 2048, ["--set", "walks.mode=cached"])
    equal(cached, {"cost": 2048 * (8 + 7 + 4) + 590 * 8, "caches": (2048 + 590) * 8, "translations": 2048 * 7,
                   "walks": 2048 * 4}, "haswell-ep, reads of walks through the caches")
    # and the price of a read is the machine's
    dear = sweep("haswell-ep", 2048, ["--set", "walks.latency=40"])
    equal(dear["walks"], 2048 * 40, "haswell-ep with another price")


# ---------------------------------------------------------------- coherence
# Of machine teach: 7 cycles for a miss of L1D, 20 of L2, 170 of L3; a line takes 100 from core to core, which is 90
# more than L2's 10; an upgrade waits for L3, 30 - 3; a translation 6, and 10 for each read of its walk.

def trace(rounds, step):
    lines = ["%s %x %x %x 8 %d" % (kind, 0x400000 + 16 * thread, 0x10000 + step * (thread - 1),
                                   0x10000 + step * (thread - 1), thread)
             for _ in range(rounds) for thread in (1, 2, 3, 4) for kind in "RW"]
    result = emulate(["replay", "-q", "--json-full", "-", "-m", "teach", "--set", "cores=4", "-"], stdin=None,
                     input="".join(line + "\n" for line in lines).encode())
    equal((result.returncode, result.stderr), (0, b""), "status and messages")
    return json.loads(result.stdout)["cost"]


def parts(cost):
    return [cost[key] for key in ("caches", "translations", "walks", "coherence")]


# In one line each thread's first read is cold and all others are coherence misses of L1D and L2; L3 has the line but
# for the first of all; each write but that of the first thread's first round is an upgrade. A line each: one cold miss
# of each level, and nothing else. On each core one translation, whose walk reads four entries.
def sharing():
    rounds = 50
    taken, upgrades = 4 * rounds - 4, 4 * rounds - 1
    tlb = [4 * 6, 4 * 4 * 10]
    equal(parts(trace(rounds, 8)), [4 * (7 + 20) + 170] + tlb + [taken * (7 + 90) + upgrades * 27], "one line")
    equal(parts(trace(rounds, 64)), [4 * (7 + 20 + 170)] + tlb + [0], "a line each")
    for machine in ("teach", "haswell-ep", "icelake-sp", "zen3"):
        options = ["-m", machine, "--set", "cores=4", "--quantum", "100"]
        sick, cured = (report(options, [os.path.join(IMAGES, name)])["cost"]
                       for name in ("counters", "counters_padded"))
        check(sick["cost"] > 1.3 * cured["cost"], "%s: counters cost %d, padded %d" % (machine, sick["cost"],
                                                                                     cured["cost"]))
        check(sick["coherence"] > 30 * cured["coherence"], "%s: coherence of counters %d, padded %d" %
              (machine, sick["coherence"], cured["coherence"]))


# ---------------------------------------------------------------- a sample and its cure

PAIRS = ["transpose", "doitgen", "stencil3d", "poisson", "adi", "nw", "histogram", "list"]


def pairs():
    for machine in ("c2sim", "haswell-ep"):  # L1D of 8 ways, as the samples want it
        for name in PAIRS:
            costs = [[report(["-m", machine], [os.path.join(IMAGES, name + suffix), times])["cost"]["cost"]
                      for times in ("2", "3")] for suffix in ("", "_padded")]
            check(costs[0][1] > costs[1][1], "%s on %s: %d, cured %d" % (name, machine, costs[0][1], costs[1][1]))
            sick, cured = costs[0][1] - costs[0][0], costs[1][1] - costs[1][0]
            check(sick > cured, "a sweep of %s on %s: %d, cured %d" % (name, machine, sick, cured))
    sick, cured = (report([], [os.path.join(IMAGES, name)])["cost"]["cost"] for name in ("bodies", "bodies_split"))
    check(sick > cured, "bodies: %d, split %d" % (sick, cured))


# ---------------------------------------------------------------- sums

def first_misses(found):
    """Of the first level of the TLBs, whose names begin so."""
    return sum(tlb["misses"] for tlb in found.get("tlb", []) if tlb["name"].startswith(("DTLB", "ITLB", "L1-")))


def adds_up(what, options, command):
    found = report(options, command)
    cost, cores = found["cost"], found["machine"].get("cores", 1)
    prices = {level["name"]: level for level in cost["levels"]}
    levels = found["levels"]
    caches = sum((level["misses"] - level["coherence"]) * prices[level["name"]]["miss_cycles"] for level in levels)
    expected = {"caches": caches}
    if "walks" in found:
        expected["translations"] = first_misses(found) * cost["tlb_cycles"]
        expected["walks"] = found["walks"]["reads"] * cost["walk_read_cycles"]
    if cores > 1:
        expected["coherence"] = sum(level["coherence"] * prices[level["name"]]["coherence_cycles"] for level in levels)
        expected["coherence"] += sum(core["upgrades"] for core in found["coherence"]["cores"]) * cost["upgrade_cycles"]
    equal({key: cost.get(key) for key in ("caches", "translations", "walks", "coherence")},
          {key: expected.get(key) for key in ("caches", "translations", "walks", "coherence")}, what + ": parts")
    equal(cost["cost"], sum(expected.values()), what + ": the whole")
    for key in ("objects", "functions", "lines"):
        equal(sum(entry["cost"] for entry in found[key]), cost["cost"], "%s: %s" % (what, key))
        equal(sum(entry["startup"] for entry in found[key]), cost["startup"], "%s: start-up of %s" % (what, key))
        for level in levels:
            misses = sum(of["misses"] for entry in found[key] for of in entry["levels"] if of["name"] == level["name"])
            equal(misses, level["misses"], "%s: misses of %s by %s" % (what, level["name"], key))
    return found


def sums():
    matmul, counters = os.path.join(GUESTS, "matmul_small"), os.path.join(IMAGES, "counters")
    shuffled = os.path.join(GUESTS, "shuffled_2048_2")
    check("walks" not in adds_up("c2sim", ["-m", "c2sim"], [matmul])["cost"], "a machine without TLBs has walks")
    adds_up("teach", ["-m", "teach"], [matmul])
    adds_up("haswell-ep", ["-m", "haswell-ep"], [shuffled])
    adds_up("cached", ["-m", "haswell-ep", "--set", "walks.mode=cached"], [shuffled])
    adds_up("cached from L2", ["-m", "teach", "--set", "walks.mode=cached", "--set", "walks.from=L2"], [matmul])
    adds_up("large pages", ["-m", "zen3", "--huge", "all"], [shuffled])
    for machine in ("teach", "skylake-sp"):
        adds_up("cores of " + machine, ["-m", machine, "--set", "cores=4", "--quantum", "50"], [counters])
    adds_up("cached, cores", ["-m", "teach", "--set", "cores=3", "--set", "walks.mode=cached"], [counters])
    adds_up("a part", ["-m", "teach", "--skip", "1000", "--warmup", "500", "--measure", "9000"], [matmul])
    adds_up("samples", ["-m", "teach", "--set", "cores=2", "--period", "5000", "--measure", "700"], [counters])


def refused():
    for value, why in (("x", "x"), ("1000001", "1000001 is out of range: 0 to 1000000")):
        result = emulate(["-m", "teach", "--set", "walks.latency=" + value, "true"])
        check(result.returncode != 0, "walks.latency=%s is taken" % value)
        contains(result.stderr.decode(), ["--set walks.latency=" + value, why], "walks.latency=" + value)


PARTS = {part.__name__: part for part in (walks, sharing, pairs, sums, refused)}
PARTS[sys.argv[1]]()
done()
