# SPDX-License-Identifier: GPL-2.0-or-later
"""profile.py sums|conflict|off|cxx|charged|triad|startup: what a run says of its instructions and objects.

sums      real programs: conflicts by pair, by reason, by object and by function are the conflict misses of their level,
          and so on for every class; executions, reads and writes by function are those of the run
conflict  a guest whose conflict misses are known one by one (golden/conflict.md)
cxx       blocks of the C++ library: their site is the program's line, the header's is in the chain of inlined calls
charged   inlined code of the C++ library is charged to the program's line, in the text with the way to the header's
triad     a loop bound by capacity: the report names each array, the line and the function
startup   what the dynamic linker does, and what comes before the program, against the second memory system of twin.py
off       without attribution the keys are left out, and every count is the same
"""

import os
import re
import struct
import sys
import tempfile

import twin
import twin_test
from common import check, contains, done, emulate, equal, need, report

GUESTS = os.environ["GUESTS"]
IMAGES = os.environ["IMAGES"]
CLASSES = ("misses", "cold", "capacity", "conflict")
KINDS = ("objects", "functions", "lines")
MEMORY_CYCLES = 200


def by_level(entries, key):
    """{level: sum of key} over the `levels` of objects or functions."""
    sums = {}
    for entry in entries:
        for level in entry["levels"]:
            sums[level["name"]] = sums.get(level["name"], 0) + level[key]
    return sums


def total(entries, key):
    return sum(entry[key] for entry in entries)


def check_conflicts(found, level, what):
    entries = [entry for entry in found["conflicts"] if entry["level"] == level["name"]]
    equal(total(entries, "count"), level["conflict"], what + ": conflicts by pair")
    for entry in entries:
        if "rest" not in entry:
            equal(total(entry["originators"], "count"), entry["count"], what + ": originators of one conflict")
    reasons = next(entry for entry in found["reasons"] if entry["level"] == level["name"])
    equal(sum(count for key, count in reasons.items() if key != "level"), level["conflict"], what + ": reasons")
    counts = [entry["count"] for entry in entries if "rest" not in entry]
    equal(counts, sorted(counts, reverse=True), what + ": order of conflicts")


def miss_cycles(machine):
    """{level: cycles from it to the next}, of a machine whose latencies are all known"""
    latency = {level["name"]: level["latency"] for level in machine["levels"]}
    names = [name for name in latency if name != "L1I"]
    below = {name: latency[lower] for name, lower in zip(names, names[1:])}
    return {name: below.get("L1D" if name == "L1I" else name, MEMORY_CYCLES) - own for name, own in latency.items()}


def translation_cost(found, thing):
    """Cycles that its translations have cost. The prices are those of cost.py."""
    prices = found["cost"]
    return (thing.get("tlb_misses", 0) * prices.get("tlb_cycles", 0) +
            thing.get("walk_reads", 0) * prices.get("walk_read_cycles", 0))


def check_costs(found, what):
    """What each thing has cost, from its misses, its translations and the machine's latencies; in which order; and all
    of it. How many of its translations are start-up's is not told, so that its cost is known to these only."""
    cycles = miss_cycles(found["machine"])
    given = {level["name"]: level["miss_cycles"] for level in found["cost"]["levels"]}
    equal(given, cycles, what + ": cycles of a miss")
    for kind in KINDS:
        own = []
        for thing in found[kind]:
            costs = [sum(level[key] * cycles[level["name"]] for level in thing["levels"])
                     for key in ("misses", "startup")]
            name, translations = "%s: the cost of %s" % (what, thing.get("name", thing)), translation_cost(found, thing)
            equal(thing["cost"], costs[0] + translations, name)
            check(0 <= thing["startup"] - costs[1] <= translations, name + ": start-up %d" % thing["startup"])
            own += [] if "rest" in thing else [thing["cost"] - thing["startup"]]
        equal(own, sorted(own, reverse=True), "%s: order of %s" % (what, kind))
        equal([total(found[kind], key) for key in ("cost", "startup")],
              [found["cost"]["cost"], found["cost"]["startup"]], "%s: costs of all %s" % (what, kind))


def check_translations(found, what):
    """What the first level of the TLBs missed, and the walks, by each list."""
    first = [tlb["misses"] for tlb in found["tlb"] if re.match("(D|I)TLB", tlb["name"])]
    for kind in KINDS:
        equal((total(found[kind], "tlb_misses"), total(found[kind], "walks")), (sum(first), found["walks"]["count"]),
              "%s: translations of %s" % (what, kind))


def check_sums(found, what):
    check_costs(found, what)
    check_translations(found, what)
    measured = found["run"]["measured"]
    for level in found["levels"]:
        where = "%s, %s" % (what, level["name"])
        check_conflicts(found, level, where)
        for key in CLASSES:
            for kind in KINDS:
                equal(by_level(found[kind], key).get(level["name"], 0), level[key], "%s: %s of %s" % (where, key, kind))
    for key, expected in (("executed", "instructions"), ("reads", "reads"), ("writes", "writes")):
        equal(total(found["functions"], key), measured[expected], "%s: %s of functions" % (what, key))


def sums():
    need("bash")
    guests = [os.path.join(GUESTS, name) for name in ("strides", "fetch", "chase", "matmul_small")]
    programs = [[guest] for guest in guests] + [[os.path.join(IMAGES, "doitgen")], [os.path.join(IMAGES, "list")],
                                                ["bash", "-c", "for i in 1 2 3; do echo $i; done"]]
    for program in programs:
        for options in (["-m", "teach"], ["--pages", "random"], ["-m", "zen3", "--set", "L2.size=16K"]):
            check_sums(report(options, program), " ".join(options + program))
    # a page walk's reads miss too, and have an object and no instruction of their own
    found = report(["-m", "teach", "--set", "walks.mode=cached"], [os.path.join(GUESTS, "strides")])
    check_sums(found, "cached walks")
    check(any(entry.get("kind") == "tables" for entry in found["objects"]), "cached walks: no object for page tables")


def conflict():
    """Three loads, each 100 times; L1D's two ways hold what the last two fetched, so the load that comes next has
    always been evicted by the one before it: 99 conflict misses for each load, all in `data`, evicted by itself. But
    for symbols without a size, which `data` is: then the object is the file."""
    found = report(["-m", "teach"], [os.path.join(GUESTS, "conflict")])
    check_sums(found, "conflict")
    entries = [entry for entry in found["conflicts"] if entry["level"] == "L1D"]
    equal([entry["count"] for entry in entries], [99, 99, 99], "misses of the three loads")
    pcs = [entry["miss"]["pc"] for entry in entries]
    for place, entry in enumerate(entries):
        equal([(o["pc"], o["reason"], o["count"]) for o in entry["originators"]],
              [(pcs[place - 1], "intra-array", 99)], "who evicted for load %d" % place)
    equal([(f.get("name"), f["executed"], f["reads"], f["writes"]) for f in found["functions"]],
          [("round", 503, 300, 0), ("_start", 2, 0, 0)], "functions")
    contains(emulate(["-m", "teach", "--width", "160", "./conflict"], cwd=GUESTS).stderr.decode(),
             [": 99 conflict misses in L1D at round+0x", "; 100.0 % evicted by the same array (intra-array)\n"],
             "the text")


def off():
    program = [os.path.join(IMAGES, "list")]
    with_it, without = report([], program), report(["--no-attribution"], program)
    for key in ("conflicts", "reasons", "cost", "findings") + KINDS:
        check(key in with_it and key not in without, "key %s with and without attribution" % key)
        del with_it[key]
    equal(without, with_it, "the rest of the report")
    text = emulate(["--no-attribution"] + program).stderr.decode()
    check("conflict misses by" not in text and "\ncost " not in text, "the text without attribution: " + text)


def cxx():
    source = os.path.join(os.path.dirname(os.path.realpath(__file__)), "guests", "vector.cc")
    with open(source) as file:
        lines = [line.strip() for line in file]
    line_of = {what: next(i for i, text in enumerate(lines, 1) if what in text)
               for what in ("numbers(4096)", "push_back")}
    objects = [o for o in report([], [os.path.join(GUESTS, "vector")])["objects"] if "rest" not in o]
    vectors = [o for o in objects if o["kind"] == "heap" and o["size"] == 4096 * 8]
    equal(len(vectors), 1, "blocks of 32 KiB")
    equal((vectors[0]["site"]["function"], vectors[0]["site"]["line"]), ("main", line_of["numbers(4096)"]), "site")
    # filled and read once; the library may look at the first element, and free() writes two links into the block
    check(0 <= vectors[0]["refs"] - 2 * 4096 <= 4, "%d references" % vectors[0]["refs"])
    chain = vectors[0]["site"]["inlined"]
    check(chain[0]["file"] != chain[-1]["file"] and chain[-1]["line"] == line_of["numbers(4096)"], "chain %s" % chain)
    nodes = [o for o in objects if o["kind"] == "heap" and o["blocks"] == 100]
    equal(len(nodes), 1, "sites of a hundred blocks")
    equal(nodes[0]["size"], 100 * 24, "bytes of the list's nodes")


def charged():
    with open(os.path.join(os.path.dirname(os.path.realpath(__file__)), "guests", "charged.cc")) as file:
        number = next(i for i, text in enumerate(file, 1) if "// the line" in text)
    guest = os.path.join(GUESTS, "charged")
    found = report(["-m", "teach"], [guest])
    spent, own = 0, []
    for line in (line for line in found["lines"] if "rest" not in line):
        if "charged" in line:
            check("/include/c++/" in line["file"], "only lines of headers are charged to others: " + line["file"])
            equal(total(line["charged"], "cost"), line["cost"], "what is charged of line %d" % line["line"])
        places = line.get("charged", [line])
        here = [place for place in places if (place.get("line"), os.path.basename(place.get("file", "")))
                == (number, "charged.cc")]
        spent += total(here, "cost")
        own += here if places[0] is line else []
    check(spent > 0 and total(own, "cost") < spent // 10, "nearly all of the line is inlined: %d" % spent)
    text = emulate(["-m", "teach", "--width", "160", guest]).stderr.decode()
    row = re.search(r"^ *([\d.]+) %% .* main \(charged.cc:%d\) < map::find < stl_tree.h:\d+$" % number, text, re.M)
    if check(row, "no chain to the header's line: " + text):
        share = 100 * spent / found["cost"]["cost"]
        check(abs(float(row.group(1)) - share) < 0.06, "the line's share: %s, not %.2f" % (row.group(1), share))


def triad():
    """Each line of an array is asked for once a sweep and is gone by the next: 8192 misses of L1D and of L2 an array
    and sweep, of L3 in the first one only. So each of the three arrays has 20 * 8192 * (L1D + L2) + 8192 * L3 cycles,
    and those of its translations, one a page and sweep; each page is walked to once.
    A page of them may have a frame that start-up has used and given back: up to 64 of its lines are known already."""
    lines, sweeps, known = 65536 * 8 // 64, 20, 64
    found = report([], [os.path.join(GUESTS, "triad")])
    cycles = miss_cycles(found["machine"])
    source = os.path.join(os.path.dirname(os.path.realpath(__file__)), "guests", "triad.c")
    with open(source) as file:
        number = next(i for i, text in enumerate(file, 1) if "/* the line */" in text)
    arrays = [o for o in found["objects"]
              if o.get("module") == "triad" and o["kind"] == "static" and o["size"] == 65536 * 8]
    equal(sorted(o["name"] for o in arrays), ["a", "b", "c"], "arrays")
    equal(found["objects"][:3], arrays, "the three that cost most")
    cost = lines * (sweeps * (cycles["L1D"] + cycles["L2"]) + cycles["L3"])
    for array in arrays:
        for level, expected in zip(array["levels"], (sweeps * lines, sweeps * lines, lines)):
            what = "%s of %s: %%s %%d" % (level["name"], array["name"])
            check(expected - known <= level["misses"] <= expected, what % ("misses", level["misses"]))
            check(lines - known <= level["cold"] <= lines, what % ("cold", level["cold"]))
            equal((level["conflict"], level["startup"]), (0, 0), what % ("conflict, startup", 0))
        translated = translation_cost(found, array)
        check(sweeps * 128 <= array["tlb_misses"] <= sweeps * 129 and array["walks"] in (128, 129),
              "translations of %s: %d, %d walks" % (array["name"], array["tlb_misses"], array["walks"]))
        low, high = cost + translated - known * sum(cycles.values()), cost + translated
        check(low <= array["cost"] <= high, "%s has cost %d, not %d to %d" % (array["name"], array["cost"], low, high))
        equal(array["startup"], 0, "start-up in " + array["name"])
    line = found["lines"][0]
    equal((line["function"], line["line"], os.path.basename(line["file"])), ("main", number, "triad.c"),
          "the dearest line")
    spent = total(arrays, "cost")
    check(spent <= line["cost"] <= spent + 2000, "the cost of the line: %d, of the arrays %d" % (line["cost"], spent))
    equal(found["functions"][0]["name"], "main", "the dearest function")
    text = emulate([os.path.join(GUESTS, "triad")]).stderr.decode()
    for name in ("a", "b", "c"):
        check(re.search(r"^3[123]\.\d %%  [.=#]{10} +163,8[34]\d .*double %s\[65536\] in triad$" % name, text, re.M),
              "%s in the table: %s" % (name, text))
    contains(text, ["main (triad.c:%d)\n" % number, "main in triad\n", "start-up of libraries: "], "the text")
    first = found["findings"][0]
    equal((first["pattern"], first["where"]["function"], first["where"]["line"], first["evidence"]["level"]),
          ("capacity", "main", number, "L2"), "the first finding")
    check(first["object"] in ("a", "b", "c"), "its object: " + first["object"])
    contains(text, ["findings\n  1. main (triad.c:%d): " % number, "\n       %d | a[i] = " % number], "the finding")
    check(max(len(line) for line in text.splitlines()) <= 100, "lines of more than 100 columns: " + text)


def elf(path):
    """(entry, path of the interpreter, None: there is none, bytes of memory from 0 to the last segment's end)"""
    with open(path, "rb") as file:
        data = file.read()
    entry, table = struct.unpack_from("<QQ", data, 24)
    size, count = struct.unpack_from("<HH", data, 54)
    end, interpreter = 0, None
    for i in range(count):
        kind, _, offset, address, _, in_file, in_memory, _ = struct.unpack_from("<IIQQQQQQ", data, table + i * size)
        if kind == 1:
            end = max(end, address + in_memory)
        elif kind == 3:
            interpreter = data[offset:offset + in_file - 1].decode()
    return entry, interpreter, end


def startup():
    """A dynamic program at its linked address: start-up is what comes before its entry, and all of its interpreter,
    which begins where the first instruction less the interpreter's own entry lies."""
    program = os.path.join(GUESTS, "triad")
    entry, interpreter, _ = elf(program)
    first, _, end = elf(os.path.realpath(interpreter))
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "trace.txt")
        found = report(["-m", "teach", "--trace", path], [program, "64", "2"])
        with open(path) as file:
            base = int(file.readline().split()[1], 16) - first
            file.seek(0)
            second = twin.Twin(found["machine"], entry, range(base, base + end))
            second.eat(file)
    equal(second.hierarchy.counts(), found["levels"], "levels")
    missed = second.hierarchy.missed()
    cost = [sum(both) for both in zip(*twin_test.costs(found, missed).values())]
    translated = found["cost"]["translations"] + found["cost"]["walks"]
    equal(found["cost"]["caches"], cost[0], "cost of the caches")
    equal(found["cost"]["cost"], cost[0] + translated, "cost")
    check(cost[1] < found["cost"]["startup"] < cost[1] + translated, "start-up: %d" % found["cost"]["startup"])
    check(0.5 < cost[1] / cost[0] < 1, "start-up has cost %d of %d" % (cost[1], cost[0]))
    for name in ("main", "_start"):
        function = next(f for f in found["functions"] if f.get("name") == name and f["module"] == "triad")
        check(function["cost"] > 0, name + " has cost nothing")
        equal(function["startup"], 0, "start-up in " + name)
    linker = [f for f in found["functions"] if f["module"] == os.path.basename(interpreter)]
    equal(total(linker, "cost"), total(linker, "startup"), "the dynamic linker")
    for level, counts in zip(found["levels"], missed.values()):
        equal(by_level(found["functions"], "startup").get(level["name"], 0), sum(n[3] for n in counts.values()),
              "start-up's misses of " + level["name"])


{"sums": sums, "triad": triad, "startup": startup, "conflict": conflict, "off": off, "cxx": cxx,
 "charged": charged}[sys.argv[1]]()
done()
