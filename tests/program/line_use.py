# SPDX-License-Identifier: GPL-2.0-or-later
"""line_use.py PART: --line-use by hand, by a twin that keeps a set of bytes for each stay, by published tables, by
Callgrind, and by a replay."""

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile

import callgrind_file
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
        result = emulate(["replay", "-q", "--json-full", told] + TINY + ["--line-use", tape])
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
        told = report(more + ["--line-use"], guest("matmul_small"))["line_use"]
        check(told["levels"][0]["accesses"] > 20 ** 3, " ".join(more))


# The machine of Weidendorfer's Tables 3.5 and 3.6: 32 KiB and 1 MiB, both of 8 ways, by virtual addresses as Callgrind.
PENTIUM_M = ["-m", "weidendorfer", "--set", "L2.size=1M", "--set", "L2.ways=8", "--set", "L2.inclusion=non-inclusive",
             "--set", "L2.index=virtual", "--line-use"]
LINES = 62500 # of a matrix: 4,000,000 bytes in lines of 64


class Lru:
    def __init__(self, sets, ways):
        self.sets, self.ways = [{} for _ in range(sets)], ways

    def access(self, line):
        """Whether it was there; it is the youngest now."""
        lines = self.sets[line % len(self.sets)]
        found = lines.pop(line, None) is not None
        if not found and len(lines) == self.ways:
            del lines[next(iter(lines))]
        lines[line] = True
        return found


def by_symbol(run):
    return {row["function"]: levels_of(row) for row in run["line_use"]["instructions"]}


def sweeps():
    """Table 3.5: a matrix of 1000 x 1000 is summed by rows, then by columns. There: 62,500 loads into L1 with 100 % and
    16 accesses, then 999,992 with 6 % and 1; into L2 62,500 and 60,190, all of 100 % and 16. So its numbers have 4
    bytes, though its source says double: 4,000,000 bytes are 62,500 lines of 16 numbers.

    By rows each line comes once into either level and is read 16 times, all of it: 16 * 1000 / 16 is 62 each by
    AcCost's division.
    By columns 1000 lines lie between two reads of a line, 62 or 63 lines apart, which are spread evenly over the 64
    sets of L1: 15 or 16 to a set of 8 ways. So each of the 1,000,000 reads misses, and uses 4 of 64 bytes. (Why eight
    of its reads hit is not said.) What the rows have left in L1 are the last 512 lines, 8 of each set; when a column
    comes to those, 14 others of each set have come before.
    L2 has room for 16,384 lines: a column's 1000 lines are read 16 times before the next ones come (8 times in odd
    rows at first, which begin within a line). So it would be 62,500 loads, were it not for the last 16,384 lines of
    the rows, which are still there: some are read before new ones push them out. That is 2310 of them by a list of
    125 passes of 8 columns over a cache of 2048 sets of 8 ways, and so 60,190 loads: its number exactly."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "ours")
        run = report(PENTIUM_M + ["--callgrind", path], guest("sweeps"))
        callgrind(run, callgrind_file.read(path), os.path.join(directory, "theirs"))
    told = by_symbol(run)
    equal(told["by_rows"]["L1D"], (LINES, 1000000, 4000000, 0, LINES * 62, 0), "rows in L1")
    equal(told["by_columns"]["L1D"], (1000000, 1000000, 4000000, 0, 1000000 * 1000, 1000000 * 60), "columns in L1")
    second, stays = Lru(2048, 8), []  # of lines in L2: whether columns have loaded it, and how often it was read
    current = {}

    def read(line, columns, times):
        if not second.access(line):
            current[line] = [columns, 0]
            stays.append(current[line])
        current[line][1] += times

    for line in range(LINES):
        read(line, False, 16)
    for group in range(125):
        for row in range(1000):
            read((4000 * row + 32 * group) // 64, True, 8)
    for name, columns in (("by_rows", False), ("by_columns", True)):
        of = [reads for loader, reads in stays if loader == columns]
        used = 4 * sum(min(reads, 16) for reads in of)
        equal(told[name]["L2"], (len(of), sum(of), used, 0, sum(1000 // reads for reads in of), 64 * len(of) - used),
              name + " in L2")
    equal(told["by_columns"]["L2"][0], 60190, "as published")


def products():
    """Table 3.6: a[i][j] += b[i][j] * b[j][i]. There, into L1: 1,123,993 loads, 68 %, 2.65 accesses; in blocks of 50 x
    50 219,513, 81 % and 13.0. Into L2: 176,398 and 175,791.

    In one block: a and the rows of b are loaded once, line by line, 62,500 each, and used whole. Of the columns of b
    each read misses, but that of the diagonal: b[i][i] was read as of its row just before. So 999,000, of 4 bytes; and
    1,124,000 in all. 16 numbers of a row are in use for 16 steps, in which 16 lines of the column come to sets of their
    own.
    68 % is the mean of the three references, 100, 100 and 6.25 %; of the bytes it is 16.7 %. Its accesses are three a
    number, so 2.67; here the addition in memory is a read and a write, so four, and 3.56. That of a line of a: 32.
    In blocks the 50 columns of a block are within 4 or 5 lines of each of its 50 rows, which with the rows and those of
    a are more than the 512 lines of L1 and far fewer than those of a sweep: counted. Its matrices lie otherwise than
    these, which begin at multiples of 2 MiB: the difference of 3 % in L1, and 0.3 % in L2."""
    whole, blocked = report(PENTIUM_M, guest("product")), report(PENTIUM_M, guest("product_50"))
    told = by_symbol(whole)
    equal(told["row_of_a"]["L1D"], (LINES, 2000000, 4000000, 0, LINES * 31, 0), "a in L1")
    equal(told["row_of_b"]["L1D"], (LINES, 1001000, 4000000, 0, 61500 * 62 + 1000 * 58, 0), "rows of b in L1")
    equal(told["column_of_b"]["L1D"], (999000, 999000, 3996000, 0, 999000000, 999000 * 60), "columns of b in L1")
    equal(told["row_of_a"]["L2"], told["row_of_a"]["L1D"], "a in L2")
    equal(sum(levels["L2"][0] for levels in told.values()), 176780, "into L2")
    equal(sum(levels["L2"][1] for levels in told.values()), 4000000, "accesses count for L2, whatever L1 has")
    in_blocks = by_symbol(blocked)
    equal([sum(levels[level][0] for levels in in_blocks.values()) for level in ("L1D", "L2")], [212353, 176341],
          "in blocks")
    equal([in_blocks[name]["L1D"][0] for name in ("row_of_a", "row_of_b", "column_of_b")], [68313, 66393, 77647],
          "in blocks, by reference")


def callgrind(run, ours, theirs_path):
    """What `valgrind --tool=callgrind --cacheuse=yes` says of the same caches. L1: the same. L2: the same bytes, and
    the same accesses but for this: Callgrind adds those of a line of L1 to L2 when it leaves L1, to whatever lies then
    where its copy was in L2. The two lines of code leave L2 for good, and never L1; so when the run ends the accesses
    of each count for a line of data that has its place, whose 62 (1000 / 16) become 0."""
    equal(ours.events[-4:], ["AcCost1", "SpLoss1", "AcCost2", "SpLoss2"], "events")
    told = {int(row["pc"], 16): row for row in run["line_use"]["instructions"]}
    got = {address: cost[-4:] for (_, address), (_, _, cost) in ours.insns.items() if any(cost[-4:])}
    equal(got, {pc: [number for level in ("L1D", "L2") for number in levels_of(row)[level][4:]]
                for pc, row in told.items()}, "what each instruction has loaded")
    equal(ours.totals[-4:], [sum(cost[i] for cost in got.values()) for i in range(4)], "totals")
    if shutil.which("valgrind") is None:
        return
    words = ["--tool=callgrind", "--cacheuse=yes", "--dump-instr=yes", "--I1=32768,8,64", "--D1=32768,8,64",
             "--LL=1048576,8,64", "--callgrind-out-file=" + theirs_path]
    equal(subprocess.run(["valgrind"] + words + guest("sweeps"), stderr=subprocess.DEVNULL, check=False).returncode,
          0, "valgrind")
    theirs = callgrind_file.read(theirs_path)
    equal(theirs.events[-4:], ours.events[-4:], "its events")
    for (_, address), (_, _, cost) in theirs.insns.items():
        if address in got:
            columns = told[address]["function"] == "by_columns"
            got[address][2] -= 2 * 62 if columns else 0
            equal(cost[-4:], got[address], told[address]["function"] + " in Callgrind")


def struct_of(run, name):
    return next((row for row in run["line_use"]["structs"] if row["name"] == name), None)


def fields_of(run, name, level):
    """{name of a field, None of what is between: [(start, bytes, loaded, used)]}"""
    out = {}
    for field in struct_of(run, name)["fields"]:
        of = [row for row in field["levels"] if row["level"] == level] or [{"loaded_bytes": 0, "used_bytes": 0}]
        out.setdefault(field.get("name"), []).append((field["start"], field["bytes"], of[0]["loaded_bytes"],
                                                      of[0]["used_bytes"]))
    return out


def check_moved(run):
    """What the paths have read is what the levels above have loaded; and so is what was used of it."""
    told = {of["level"]: of for of in run["line_use"]["levels"]}
    first = {key: told["L1D"][key] + told["L1I"][key] for key in ("loads", "used_bytes")}
    flows = [of for of in run["bandwidth"]["flows"] if of.get("direction") == "read"]
    equal([(of["path"], of["bytes"], of.get("used_bytes")) for of in flows[1:]],
          [(path, 64 * of["loads"], of["used_bytes"]) for path, of in
           (("L1D-L2", first), ("L2-L3", told["L2"]), ("L3-memory", told["L3"]))], "what was moved and used")


def bodies():
    """20,000 bodies of 64 bytes, one a line: each of three sweeps loads 20,000 lines into every level of the teaching
    machine, whose last has room for 4096, and uses x, y and z of each, 24 bytes. Split, 8 bodies are 3 lines: 7500
    lines a sweep, of which all is used. The start, which has touched each body, and mass, is not measured."""
    told = {}
    for name, lines, more in (("bodies", 60000, []), ("bodies_split", 22500, ["--bandwidth"])):
        told[name] = report(["-m", "teach", "--line-use", "--roi", "sum_of_squares"] + more, image(name))
        of = levels_of(next(row for row in told[name]["line_use"]["objects"] if row["name"] == "bodies"))
        equal({level: counters[:3] for level, counters in of.items()},
              {level: (lines, 3 * 60000, 3 * 480000) for level in ("L1D", "L2", "L3")}, name)
    check_moved(told["bodies_split"])
    before, after = told["bodies"], told["bodies_split"]
    each = 3 * 20000
    equal(fields_of(before, "struct body", "L3"),
          {"x": [(0, 8, 8 * each, 8 * each)], "y": [(8, 8, 8 * each, 8 * each)], "z": [(16, 8, 8 * each, 8 * each)],
           "mass": [(24, 8, 8 * each, 0)], "id": [(32, 8, 8 * each, 0)], "name": [(40, 24, 24 * each, 0)]},
          "fields of a body")
    equal(struct_of(before, "struct body")["split"],
          {"level": "L3", "hot": ["x", "y", "z"], "hot_bytes": 24, "cold": ["mass", "id", "name"], "cold_bytes": 40},
          "the split")
    equal(struct_of(before, "struct body")["object"], "bodies", "what they are in")
    check("split" not in struct_of(after, "struct body"), "nothing to split")
    equal(struct_of(after, "struct body")["unused_bytes"], 0, "all of them is used")
    text = emulate(["-m", "teach", "--line-use"] + image("bodies")).stderr.decode()
    chapter = text[text.index("line use:"):].split("\n\n")[0]
    equal(len(chapter.splitlines()), 10, "lines of the chapter")
    text = " ".join(text.split())
    check("fields: 24 of 64 bytes of struct body (bodies at bodies.c:" in text and
          "were used in most of their loads into L3: split hot and cold fields: {x, y, z} and "
          "{mass, id (never), name (never)}" in text, "the text: " + text)


def fields():
    """guests/fields.c: 64 items of 32 bytes in caches that hold all of them, so each line comes once: of each item
    value and half of pair are read. 64 nodes that malloc has given, whose text is never touched; malloc itself has
    loaded their lines."""
    run = report(["--line-use"], guest("fields"))
    # low is in the first byte behind kind: 5 bits of it; high does not fit its word any more.
    equal(fields_of(run, "item", "L1D"),
          {"kind": [(0, 1, 64, 0)], "low": [(1, 1, 64, 0)], None: [(2, 2, 128, 0), (7, 1, 64, 0), (12, 4, 256, 0)],
           "high": [(4, 3, 192, 0)], "pair": [(8, 4, 256, 128)], "value": [(16, 8, 512, 512)],
           "{...}": [(24, 8, 512, 0)]}, "items")
    equal(fields_of(run, "struct node", "L1D"),
          {"next": [(0, 8, 512, 512)], "key": [(8, 8, 512, 512)], "text": [(16, 48, 3072, 0)]}, "nodes")
    equal(struct_of(run, "struct node")["split"]["cold"], ["text"], "what is cold of a node")
    with tempfile.TemporaryDirectory() as directory:
        tape, told = os.path.join(directory, "tape"), os.path.join(directory, "json")
        equal(emulate(["-q", "--no-sim", "--record", tape] + guest("fields")).returncode, 0, "the recording")
        equal(emulate(["replay", "-q", "--json-full", told, "--line-use", tape]).returncode, 0, "replay")
        with open(told, encoding="utf-8") as file:
            equal(json.load(file)["line_use"], run["line_use"], "a replay")


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
    {"hand": hand, "stays": stays, "alike": alike, "refused": refused, "sweeps": sweeps, "products": products,
     "bodies": bodies, "fields": fields}[sys.argv[1]]()
    done()
