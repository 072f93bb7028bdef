# SPDX-License-Identifier: GPL-2.0-or-later
"""twin_test.py GUEST [OPTION]...: every count of report.json against twin.py, from the text trace and the machine file.

Also: the machine in the report is the machine in the file with its overrides, and the frames are where the placement
policy puts them, in the order of the first touch.
twin_test.py mutants: the comparison can fail. Each deliberate mistake in the twin must make a difference.
twin_test.py din|zst: the other two forms of the trace.
"""

import configparser
import json
import os
import sys
import tempfile

import twin
from common import but_short, SKIPPED, check, contains, done, emulate, equal, fail, need, run

GUESTS = os.environ["GUESTS"]
MACHINES = os.environ["C2EMU_MACHINES"]

# Pages that the kernel's side touches before the first instruction: the strings of argv, envp and auxv, and the
# vectors. The guests never look at them, so the trace does not have them.
LOADER_PAGES = 2
# MOVS (and each element of REP MOVSQ) with equal source and destination, 21 references of odd.S in each of 30 rounds:
# read and write of the same bytes by one instruction, and no modify. Only the trace cannot tell.
NOT_MODIFIES = {"odd": 21 * 30}


def trace(guest, options, name="trace.txt"):
    """(report, the trace as bytes)"""
    with tempfile.TemporaryDirectory() as directory:
        report_path, trace_path = os.path.join(directory, "r.json"), os.path.join(directory, name)
        words = ["-q", "--json-full", report_path, "--trace", trace_path] + options + ["./" + guest]
        result = emulate(words, cwd=GUESTS)
        if not equal((result.returncode, but_short(result.stderr)), (0, b""), "exit status and messages"):
            done()
        equal(sorted(os.listdir(directory)), sorted(["r.json", name]), "files left")
        with open(report_path) as report_file, open(trace_path, "rb") as trace_file:
            return json.load(report_file), trace_file.read()


# ---------------------------------------------------------------------------------------------- the machine file

UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def size(text):
    return int(text[:-1]) * UNITS[text[-1]] if text[-1] in UNITS else int(text)


def machine_file(options):
    """(the report's "machine" object, physical memory in bytes) as file and overrides say."""
    name = options[options.index("-m") + 1] if "-m" in options else "skylake"
    parser = configparser.ConfigParser(inline_comment_prefixes=";")
    parser.read(os.path.join(MACHINES, name + ".ini"))
    for i, word in enumerate(options):
        if word == "--set":
            key, value = options[i + 1].split("=", 1)
            section, key = key.split(".")
            parser.set(section, key, value)
    line = int(parser["machine"]["line"])
    levels = []
    for section in [s for s in ("L1D", "L1I", "L2", "L3", "L4") if s in parser]:
        keys = parser[section]
        slices, ways = int(keys.get("slices", "1")), int(keys["ways"])
        level = {"name": section, "size": size(keys["size"]), "ways": ways,
                 "sets": size(keys["size"]) // (ways * line * slices), "slices": slices, "policy": keys["policy"],
                 "index": keys["index"], "inclusion": keys["inclusion"]}
        if slices > 1:
            level["hash"] = keys["hash"]
        if "latency" in keys:
            level["latency"] = int(keys["latency"])
        levels.append(level)
    keys = parser["machine"]
    return {"name": keys["name"], "line": line, "levels": levels}, size(keys["physical_memory"])


# ---------------------------------------------------------------------------------------------- comparisons

def check_placement(report, frames, physical_bytes, options):
    policy = options[options.index("--pages") + 1] if "--pages" in options else "sequential"
    pages, placed = list(frames), list(frames.values())
    equal(report["pages"]["policy"], policy.split(",")[0], "pages.policy")
    if len(report["run"]["phases"]) != 1: # pages are touched that the trace does not have
        return
    equal(report["pages"]["small"], len(frames) + LOADER_PAGES, "pages.small")
    if policy == "sequential":
        equal(placed, list(range(LOADER_PAGES, LOADER_PAGES + len(placed))), "frames in the order of first touch")
    elif policy == "identity":
        equal(placed, [page % (physical_bytes // twin.PAGE) for page in pages], "frames under identity")
    elif policy.startswith("same-color"):
        l2 = next(level for level in report["machine"]["levels"] if level["name"] == "L2")
        colors = l2["sets"] * report["machine"]["line"] // twin.PAGE
        color = int(policy.partition("color=")[2] or "0")
        expected = [color + colors * (i + LOADER_PAGES) for i in range(len(placed))]
        equal(placed, expected, "frames of one colour")
    else:
        check(placed != sorted(placed), "random frames come in ascending order")
        check(max(placed) < physical_bytes // twin.PAGE, "a frame lies beyond the end of physical memory")


def eat(report, text, factory=twin.Twin):
    second = factory(report["machine"])
    second.eat(text.decode().splitlines())
    return second


def pairs(report):
    """(conflict misses by (pc that misses, pc that evicted), the sum of those that the list leaves out) by level; the
    objects are added up."""
    out = {level["name"]: ({}, 0) for level in report["levels"]}
    for entry in report["conflicts"]:
        listed, rest = out[entry["level"]]
        if "rest" in entry:
            out[entry["level"]] = (listed, rest + entry["count"])
            continue
        for originator in entry["originators"]:
            check("rest" not in originator, "a list of originators is not complete")
            evictor = int(originator["pc"], 16) if "pc" in originator else None
            pair = (int(entry["miss"]["pc"], 16), evictor)
            listed[pair] = listed.get(pair, 0) + originator["count"]
    return out


def compare_pairs(report, expected):
    """What is listed is right, and what is left out is the remainder."""
    for name, (listed, rest) in pairs(report).items():
        if rest == 0:
            equal(listed, expected[name], "who evicted whom in " + name)
            continue
        for pair, count in listed.items():
            check(count <= expected[name].get(pair, 0), "%s: %d for %s" % (name, count, pair))
        equal(sum(listed.values()) + rest, sum(expected[name].values()), "conflict misses in " + name)


def lines(report):
    """({pc: {level: [cold, capacity, conflict, those of start-up]}} of the lines listed, level: their sum). Of guests
    without line numbers, where each instruction is a line."""
    listed = {}
    for line in report["lines"]:
        if "rest" not in line:
            listed[int(line["pc"], 16)] = {
                level["name"]: [level[key] for key in ("cold", "capacity", "conflict", "startup")]
                for level in line["levels"]}
    return listed


def costs(report, missed):
    """{pc: (cycles, those of start-up)}"""
    cycles = {level["name"]: level["miss_cycles"] for level in report["cost"]["levels"]}
    sums = {}
    for name, by_pc in missed.items():
        for pc, n in by_pc.items():
            cost, startup = sums.get(pc, (0, 0))
            sums[pc] = (cost + sum(n[:3]) * cycles[name], startup + n[3] * cycles[name])
    return sums


def translation_cost(prices, thing):
    return (thing.get("tlb_misses", 0) * prices.get("tlb_cycles", 0) +
            thing.get("walk_reads", 0) * prices.get("walk_read_cycles", 0))


def compare_lines(report, missed):
    """Every instruction that missed is a line with its misses and its cost; the dearest are listed. What their
    translations cost, which the trace does not tell, comes on top of it."""
    prices = report["cost"]
    expected = {}
    for name, by_pc in missed.items():
        for pc, n in by_pc.items():
            expected.setdefault(pc, {})[name] = n
    cost = costs(report, missed)
    listed = {pc: levels for pc, levels in lines(report).items() if levels}
    equal(listed, {pc: expected[pc] for pc in listed}, "misses by instruction")
    given = [(l["cost"] - translation_cost(prices, l), l["startup"]) for l in report["lines"]
             if "rest" not in l and l["levels"]]
    equal(given, [cost[pc] for pc in listed], "costs")
    own = [l["cost"] - l["startup"] for l in report["lines"] if "rest" not in l]
    equal(own, sorted(own, reverse=True), "the dearest instructions first")
    check(all(cost[pc][0] - cost[pc][1] <= own[-1] for pc in expected if pc not in listed),
          "a dearer one is not listed")
    rest = report["lines"][-1].get("rest", {"lines": 0})
    check(len(listed) == len(expected) or (len(listed) < len(expected) <= len(listed) + rest["lines"]),
          "%d and %d lines, %d instructions that missed" % (len(listed), rest["lines"], len(expected)))
    caches, startup = [sum(both) for both in zip(*cost.values())]
    equal([prices["caches"], prices["startup"]], [caches, startup], "the cost of the caches")
    equal(prices["cost"] - caches, prices.get("translations", 0) + prices.get("walks", 0), "the whole cost")
    for kind in ("objects", "functions", "lines"):
        equal([sum(thing[key] for thing in report[kind]) for key in ("cost", "startup")], [prices["cost"], startup],
              "the cost of " + kind)
        equal(sum(translation_cost(prices, thing) for thing in report[kind]), prices["cost"] - caches,
              "the cost of translations by " + kind)


def compare_sets(report, second):
    """Misses by set and by page; each set's objects have filled it with no more than it missed; a page's frame is that
    of the trace, its slice that of its first line there."""
    found, pages = report["sets"], report["sets"]["pages"]
    equal(pages["more"], 0, "pages that are not listed")
    equal(dict(zip(pages["start"], pages["frame"])), {page: second.frames[page] for page in pages["start"]}, "frames")
    last = second.hierarchy.data[-1]
    if "slice" in pages:
        equal(pages["slice"], [last.slice_of(frame * twin.PAGE) for frame in pages["frame"]], "slices of pages")
    for level in second.hierarchy.all:
        sets, columns = ([of for of in part["levels"] if of["name"] == level.name][0] for part in (found, pages))
        equal((sets["sets"] * sets["slices"], sets["group"]), (len(sets["misses"]), 1), "sets of " + level.name)
        for key, at in (("misses", 0), ("conflict", 1)):
            equal({place: n for place, n in enumerate(sets[key]) if n},
                  {place: both[at] for place, both in level.by_set.items() if both[at]},
                  "%s of sets of %s" % (key, level.name))
            equal({page: n for page, n in zip(pages["start"], columns[key]) if n},
                  {page: both[at] for page, both in level.by_page.items() if both[at]},
                  "%s of pages of %s" % (key, level.name))
        for misses, fills in zip(sets["misses"], sets["fills"]):
            check(sum(fills[1::2]) == misses if len(fills) < 6 else sum(fills[1::2]) <= misses,
                  "%s: %d misses of a set, filled by %r" % (level.name, misses, fills))
        if level.name != "L1I":
            span = level.set_count * level.line_bytes // twin.PAGE
            equal(columns.get("colours"), None if level.virtual else max(1, span), "colours of " + level.name)
    check_fills(report)


def check_fills(report):
    """Where no set has more objects than are told, the misses of objects are those of the report."""
    names = [of["name"] for of in report["sets"]["objects"]]
    for level in report["sets"]["levels"]:
        if any(len(fills) == 6 for fills in level["fills"]):
            continue
        sums, expected = {}, {}
        for fills in level["fills"]:
            for number, misses in zip(fills[::2], fills[1::2]):
                sums[names[number]] = sums.get(names[number], 0) + misses
        for of in [of for of in report["objects"] if "rest" not in of]:
            for part in of["levels"]:
                if part["name"] == level["name"]:
                    expected[of["name"]] = expected.get(of["name"], 0) + part["misses"]
        equal(sums, expected, "misses of objects by set of " + level["name"])


def check_framed(report):
    """All pages are of 4 KiB."""
    machine = {level["name"]: level for level in report["machine"]["levels"]}
    for level, cost in zip(report["levels"], report["cost"]["levels"]):
        of = machine[level["name"]]
        spans = of["index"] == "physical" and of["sets"] * report["machine"]["line"] > twin.PAGE
        equal(cost["framed"], level["conflict"] if spans else 0, "conflicts that frames decide in " + level["name"])


def compare(guest, options):
    report, text = trace(guest, options)
    machine, physical_bytes = machine_file(options)
    equal(report["machine"], machine, "machine")
    second = eat(report, text)
    equal(second.problems, [], "problems of the trace")
    second.n["modifies"] -= NOT_MODIFIES.get(guest, 0)
    equal(report["run"]["measured"], second.n, "run.measured")
    equal(report["levels"], second.hierarchy.counts(), "levels")
    compare_pairs(report, second.hierarchy.pairs())
    compare_lines(report, second.hierarchy.missed())
    if "sets" in report:
        compare_sets(report, second)
    check_framed(report)
    measured = sum(row["instructions"] for row in report["run"]["phases"] if row["kind"] == "measure")
    equal(measured, second.n["instructions"], "run.phases")
    equal(sum(row["instructions"] for row in report["run"]["phases"]), report["run"]["instructions"],
          "run.instructions")
    equal((report["command"], report["exit_status"]), (["./" + guest], 0), "command and exit_status")
    check_placement(report, second.frames, physical_bytes, options)
    for level in report["levels"]:
        check(level["accesses"] > 0, "%s was never asked: the run shows nothing" % level["name"])
    print("%d references, %s" % (second.n["refs"], ", ".join(
        "%s %d/%d (%d cold, %d capacity, %d conflict, %d written back, %d back-invalidated)" %
        (n["name"], n["misses"], n["accesses"], n["cold"], n["capacity"], n["conflict"], n["writebacks"],
         n["back_invalidations"]) for n in report["levels"])))


# ---------------------------------------------------------------------------------------------- mistakes put in

Level = twin.Level  # the right one


def mutated_level(**changes):
    return type("Mutant", (Level,), changes)


def fifo_ask(self, write, virtual, physical):
    place = self.sets.get(self.place(virtual, physical), {})
    order = list(place)
    hit = Level.ask(self, write, virtual, physical)
    if hit:  # put back where it was
        self.sets[self.place(virtual, physical)] = {line: place[line] for line in order}
    return hit


class SmallShadow(Level):
    def __init__(self, level, line_bytes, actor=None):
        super().__init__(level, line_bytes, actor)
        self.capacity -= 1


class NoBackInvalidation(twin.Hierarchy):
    def make_room(self, level, depth, virtual, physical):
        kept, level.inclusion = level.inclusion, "non-inclusive"
        super().make_room(level, depth, virtual, physical)
        level.inclusion = kept


class LostWriteBacks(twin.Hierarchy):
    def write_down(self, depth, line):
        pass


class FetchEachInstruction(twin.Twin):
    def reference(self, kind, pc, parts):
        if kind == "F":
            self.fetch_line = None
        super().reference(kind, pc, parts)


MUTANTS = [
    ("fifo instead of lru", "Level", mutated_level(ask=fifo_ask)),
    ("a shadow one line too small", "Level", SmallShadow),
    ("one more address bit in the slice's parities", "Level", mutated_level(
        place=lambda self, v, p: Level.place(self, v, p) ^ (self.set_count if p >> 13 & 1 else 0))),
    ("an eviction is blamed on the line's last user", "Level", mutated_level(
        ask=lambda self, w, v, p: self.lost.__setitem__(p, self.actor[0]) or Level.ask(self, w, v, p))),
    ("no back-invalidation", "Hierarchy", NoBackInvalidation),
    ("write-backs get lost", "Hierarchy", LostWriteBacks),
    ("a fetch access each instruction", "Twin", FetchEachInstruction),
]
MUTANT_OPTIONS = ["--set", "L1D.size=2K", "--set", "L1D.ways=4", "--set", "L2.size=16K", "--set",
                  "L3.size=32K", "--set", "L3.ways=4"]


def mutants():
    report, text = trace("strides", MUTANT_OPTIONS)
    right = eat(report, text).hierarchy
    equal(right.counts(), report["levels"], "levels by the right twin")
    compare_pairs(report, right.pairs())
    listed = {name: part[0] for name, part in pairs(report).items()}
    for what, name, mutant in MUTANTS:
        original = getattr(twin, name)
        setattr(twin, name, mutant)
        wrong = eat(report, text, twin.Twin).hierarchy
        setattr(twin, name, original)
        check((wrong.counts(), wrong.pairs()) != (report["levels"], listed), "the mistake \"%s\" is not found" % what)


# ---------------------------------------------------------------------------------------------- .din and .zst

def din():
    """The records are line accesses; all of levels[] comes out of them."""
    for guest, options in (("strides", ["-m", "teach"]), ("sse", ["-m", "teach", "--pages", "random"]),
                           ("fetch", []), ("rmw", ["-m", "zen3"])):
        report, text = trace(guest, options, "trace.din")
        what = "%s %s: " % (guest, " ".join(options))
        counts, records = twin.from_din(report["machine"], text.decode().splitlines())
        n = report["run"]["measured"]
        equal(counts, report["levels"], what + "levels")
        equal(records[0] + records[1], n["line_accesses"], what + "records of data")
        first = report["levels"][0]
        equal([records[0], records[1]], [first["reads"], first["writes"]], what + "reads, writes")
        check(records[2] >= n["fetches"], what + "fewer fetch records than fetches")


def zst():
    """zstd yields the plain form byte for byte, and refuses a file that was altered or cut."""
    need("zstd")
    for plain_name in ("trace.txt", "trace.din"):
        _, plain = trace("fetch", [], plain_name)
        _, packed = trace("fetch", [], plain_name + ".zst")
        check(len(packed) < len(plain) / 4, "%s.zst is hardly smaller: %d of %d bytes" %
              (plain_name, len(packed), len(plain)))
        word = b"c2emu-trace 1 " + (b"din" if plain_name.endswith("din") else b"text") + b"\n"
        equal(packed[8:8 + len(word)], word, "the magic word of %s.zst" % plain_name)
        with tempfile.TemporaryDirectory() as directory:
            for what, content, status in (("whole", packed, 0), ("cut", packed[:-9], 1),
                                          ("altered", packed[:-2] + bytes([packed[-2] ^ 1]) + packed[-1:], 1)):
                path = os.path.join(directory, what + ".zst")
                with open(path, "wb") as file:
                    file.write(content)
                result = run(["zstd", "-dc", path])
                equal(result.returncode, status, "zstd -dc of the %s file" % what)
                if what == "whole":
                    check(result.stdout == plain, "%s.zst does not yield the plain form" % plain_name)


if __name__ == "__main__":
    special = {"mutants": mutants, "din": din, "zst": zst}
    if sys.argv[1] in special:
        special[sys.argv[1]]()
    else:
        compare(sys.argv[1], sys.argv[2:])
    done()
