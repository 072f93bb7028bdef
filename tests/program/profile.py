# SPDX-License-Identifier: GPL-2.0-or-later
"""profile.py sums|conflict|off|cxx: what a run says of its instructions and objects.

sums      real programs: conflicts by pair, by reason, by object and by function are the conflict misses of their level,
          and so on for every class; executions, reads and writes by function are those of the run
conflict  a guest whose conflict misses are known one by one (golden/conflict.md)
cxx       blocks of the C++ library: their site is the program's line, the header's is in the chain of inlined calls
off       without attribution the keys are left out, and every count is the same
"""

import os
import sys

from common import check, contains, done, emulate, equal, need, report

GUESTS = os.environ["GUESTS"]
IMAGES = os.environ["IMAGES"]
CLASSES = ("misses", "cold", "capacity", "conflict")


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


def check_sums(found, what):
    measured = found["run"]["measured"]
    for level in found["levels"]:
        where = "%s, %s" % (what, level["name"])
        check_conflicts(found, level, where)
        for key in CLASSES:
            for kind in ("objects", "functions"):
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
    contains(emulate(["-m", "teach", "./conflict"], cwd=GUESTS).stderr.decode(),
             [": 99 conflict misses in L1D at round+0x", "; 100.0 % evicted by the same array (intra-array)\n"],
             "the text")


def off():
    program = [os.path.join(IMAGES, "list")]
    with_it, without = report([], program), report(["--no-attribution"], program)
    for key in ("conflicts", "reasons", "objects", "functions"):
        check(key in with_it and key not in without, "key %s with and without attribution" % key)
        del with_it[key]
    equal(without, with_it, "the rest of the report")
    text = emulate(["--no-attribution"] + program).stderr.decode()
    check("conflict misses by" not in text and "references  size" not in text, "the text without attribution: " + text)


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


{"sums": sums, "conflict": conflict, "off": off, "cxx": cxx}[sys.argv[1]]()
done()
