# SPDX-License-Identifier: GPL-2.0-or-later
"""line_use.py PART: --line-use by hand, by a twin that keeps a set of bytes for each stay, and by a replay."""

import csv
import json
import os
import sys
import tempfile

import twin
from common import check, done, emulate, equal, report
from windows import TINY, guest, traced

IMAGES = os.environ["IMAGES"]
KEYS = ("loads", "accesses", "used_bytes", "access_cost")
COUNTERS = ("loads", "accesses", "used_bytes", "unused", "access_cost", "unused_bytes")


def image(name, *arguments):
    return [os.path.join(IMAGES, name)] + list(arguments)


def levels_of(of):
    return {level["level"]: tuple(level[key] for key in COUNTERS) for level in of["levels"]}


def hand():
    """walk.S reads the first byte of each of the 512 lines of an array, twice. L1D has 32 of them, so each read loads
    its line again: 1024 loads, one access, 1 of 64 bytes. L2 has 4 ways and 128 sets, so 4 of the lines in each set;
    the code's line, which is fetched once, is the oldest of its set and goes first: 512 loads, two accesses each. Those
    of L3, too, and there all stays."""
    run = report(["-m", "teach", "--line-use"], guest("walk_32K"))
    of = levels_of(run["line_use"]["objects"][0])
    equal(of["L1D"], (1024, 1024, 1024, 0, 1024 * 1000, 1024 * 63), "the array in L1D")
    for name in ("L2", "L3"):
        equal(of[name], (512, 1024, 512, 0, 512 * 500, 512 * 63), "the array in " + name)
    row = [row for row in run["line_use"]["instructions"] if row["object"] == "walk_32K"]
    equal([levels_of(one) for one in row], [of], "the instruction that reads")
    level = run["line_use"]["levels"][0]
    equal((level["evicted"], level["invalidated"], level["left"]), (992, 0, 32), "how stays in L1D end")
    equal(level["by_bytes"], [0, 1024] + [0] * 7, "an eighth of each line")
    pairs = [(pair["level"], pair["loads"], "evictor" in pair) for pair in run["line_use"]["pairs"]
             if pair["level"] == "L1D"]
    equal(pairs, [("L1D", 992, True), ("L1D", 32, False)], "who evicts")
    text = " ".join(emulate(["-m", "teach", "--line-use"] + guest("walk_32K")).stderr.decode().split())
    check("of what came into L1D (64.0 KiB) 1.6 % was used before it left, L3 (32.1 KiB) 1.7 %; most is "
          "wasted on" in text, "the finding: " + text)
    check("its own next access lets 992 lines go with 98.4 % of their bytes unused" in text, "who evicts: " + text)


class StayLevel(twin.Level):
    """A level that keeps of each line it has: who loaded it, whether that was measured, accesses, and bytes."""

    ended = []
    measured = fetching = False

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.stays = {}

    def put(self, virtual, physical, dirty):
        super().put(virtual, physical, dirty)
        self.stays[physical] = [(self.actor[0], StayLevel.fetching), StayLevel.measured, 0, set()]

    def take(self, physical):
        self.end(physical, (self.actor[0], StayLevel.fetching) if StayLevel.measured else None)
        return super().take(physical)

    def end(self, physical, evictor):
        StayLevel.ended.append((self.name, evictor, self.stays.pop(physical)))

    def touch(self, physical, touched):
        if physical in self.stays:
            self.stays[physical][2] += 1
            self.stays[physical][3].update(touched)


class StayTwin(twin.Twin):
    def lines_of(self, parts):
        self.parts = parts
        return super().lines_of(parts)

    def reference(self, kind, pc, parts):
        hierarchy = self.hierarchy
        access, first = hierarchy.access, hierarchy.instruction if kind == "F" else hierarchy.data[0]
        StayLevel.fetching, touched = kind == "F", {}
        for va, pa, size in parts:
            for byte in range(pa, pa + size):
                touched.setdefault(byte // self.line, set()).add(byte)

        def touch(physical):
            for level in [first] + hierarchy.data[1:]:
                if level:
                    level.touch(physical, touched.get(physical, set()))

        def access_and_touch(write, virtual, physical, fetch=False):
            access(write, virtual, physical, fetch)
            touch(physical)
            accessed.add(physical)

        accessed = set()
        hierarchy.access = access_and_touch
        super().reference(kind, pc, parts)
        del hierarchy.access
        for physical in touched:  # a fetch from the line of the fetch before
            if physical not in accessed and kind == "F" and self.has_l1i:
                touch(physical)


def add(table, key, numbers):
    sums = table.setdefault(key, [0] * len(numbers))
    for i, number in enumerate(numbers):
        sums[i] += number


def by_twin(whole, run):
    """By level, by level and who loads, and by level, that and who evicts: [loads, accesses, bytes, access cost]. Who:
    the pc, and whether by its fetch."""
    twin.Level, StayLevel.ended = StayLevel, []
    second, now = StayTwin(run["machine"]), 0
    for row in run["run"]["phases"]:
        StayLevel.measured = row["kind"] == "measure"
        if row["kind"] != "skip":
            second.eat([line for instruction in whole[now:now + row["instructions"]] for line in instruction])
        now += row["instructions"]
    for level in second.hierarchy.all:
        for physical in list(level.stays):
            level.end(physical, None)
    levels, loaders, pairs = {}, {}, {}
    for level, evictor, (loader, measured, accesses, touched) in StayLevel.ended:
        if not measured:
            continue
        for table, key in ((levels, level), (loaders, (level, loader)), (pairs, (level, loader, evictor))):
            add(table, key, [1, accesses, len(touched), 1000 // max(accesses, 1)])
    return levels, loaders, pairs


def stays():
    for name, options in (("strings", []), ("rmw", []), ("roi", ["--roi", "recurse", "--roi", "repeats"]),
                          ("strides", ["--skip", "700", "--warmup", "100", "--measure", "900", "--samples", "4",
                                       "--warm", "none"])):
        whole = traced(guest(name))
        run = report(TINY + options + ["--line-use"], guest(name))
        levels, loaders, pairs = by_twin(whole, run)
        use, name = run["line_use"], " ".join([name] + options)
        told = {of["level"]: [of[key] for key in KEYS]
                for of in use["levels"] if of["loads"]}
        equal(told, levels, name)
        told, named = {}, lambda one: (int(one["pc"], 16), False)
        for row in use["instructions"]:
            for of in row["levels"]:
                add(told, (of["level"], named(row)), [of[key] for key in KEYS])
        equal(told, {key: sums for key, sums in loaders.items() if not key[1][1]}, name + ", by instruction")
        told, named = {}, lambda one: (int(one["pc"], 16), one["kind"] == "code")
        for pair in use["pairs"]:
            add(told, (pair["level"], named(pair["loader"]), named(pair["evictor"]) if "evictor" in pair else None),
                [pair["loads"], 64 * pair["loads"] - pair["unused_bytes"]])
        check(not any("rest" in pair for pair in use["pairs"]), name + ": all pairs are listed")
        equal(told, {key: [sums[0], sums[2]] for key, sums in pairs.items()}, name + ", by pair")


def alike():
    """A replay says the same, whatever else is listened to; the file has the sums; every machine holds to its own."""
    program = guest("strings")
    with tempfile.TemporaryDirectory() as directory:
        tape, told, path = (os.path.join(directory, name) for name in ("tape", "json", "csv"))
        run = report(TINY + ["--line-use", "--line-use-csv", path, "--record", tape], program)
        result = emulate(["replay", "-q", "--json", told] + TINY + ["--line-use", tape])
        equal((result.returncode, result.stderr), (0, b""), "replay")
        with open(told, encoding="utf-8") as file:
            equal(json.load(file)["line_use"], run["line_use"], "a replay")
        more = report(TINY + ["--line-use", "--windows", "100", "--reuse", "--by", "loop", "--trace", "/dev/null"],
                      program)
        for key in ("levels", "objects", "lines", "pairs"):
            equal(more["line_use"][key], run["line_use"][key], key + " with others")
        sums = levels_of({"levels": [of for of in run["line_use"]["levels"] if of["level"] != "L1I"]})
        by_loop = {}
        for loop in more["line_use"]["loops"] + [row for row in run["line_use"]["objects"] if row["kind"] == "code"]:
            for level, counters in levels_of(loop).items():
                by_loop[level] = tuple(map(sum, zip(by_loop.get(level, (0,) * 6), counters)))
        equal({level: by_loop[level] for level in sums}, sums, "loops, and the code, add up to the levels")
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        equal({level: tuple(sum(int(row[key]) for row in rows if row["level"] == level) for key in COUNTERS)
               for level in {row["level"] for row in rows}},
              levels_of({"levels": [of for of in run["line_use"]["levels"] if of["loads"]]}), "the file")
        equal({key: run[key] for key in ("levels", "objects", "conflicts")},
              {key: value for key, value in report(TINY, program).items() if key in ("levels", "objects", "conflicts")},
              "the run without")
    # What is told is held to the counts of the levels when the run ends.
    for more in (["-m", "zen4"], ["-m", "teach", "--set", "walks.mode=cached"], ["-m", "weidendorfer"],
                 ["-m", "teach", "--set", "L3.inclusion=exclusive"], ["-m", "teach", "--set", "L2.prefetch=stream"],
                 ["-m", "teach", "--set", "L1D.prefetch=next-line", "--set", "L3.inclusion=exclusive"],
                 ["-m", "teach", "-m", "skylake"], ["-m", "teach", "--pages", "random", "--against", "colored"]):
        told = report(more + ["--line-use"], image("matmul", "20"))["line_use"]
        check(told["levels"][0]["accesses"] > 20 ** 3, " ".join(more))


def refused():
    program = guest("strings")
    for words, message in (
            (["--line-use-csv", "x"], "--line-use-csv belongs to --line-use; add that, or leave it out"),
            (["--line-use", "--no-attribution"],
             "--line-use tells of instructions and objects, which --no-attribution does not note; leave one out"),
            (["--line-use", "--no-sim"],
             "--line-use needs the references that --no-sim does not record; leave one out")):
        result = emulate(words + program)
        equal((result.returncode, result.stderr.decode()), (125, "c2emu: %s\n" % message), " ".join(words))


if __name__ == "__main__":
    {"hand": hand, "stays": stays, "alike": alike, "refused": refused}[sys.argv[1]]()
    done()
