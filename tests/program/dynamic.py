# SPDX-License-Identifier: GPL-2.0-or-later
"""dynamic.py arrays|reasons|text: variable-length arrays and alloca, with guests/dynamic.c.

arrays   by two compilers, optimised and not: each has its name, function, line and type, the size of the largest, and
         exactly the references that the source makes, in loops, blocks, recursion and around longjmp; flags that are
         set before RSP moves are the same behind (the guest's exit status)
reasons  conflicts in such an array are its own (intra-array), those of two are inter-array, none is a scalar's; its
         misses are those that the source and the cache make
text     how the text report says it
"""

import os
import sys

from common import check, contains, done, emulate, equal, report

GUESTS = os.environ["GUESTS"]
HERE = os.path.dirname(os.path.realpath(__file__))
with open(os.path.join(HERE, "guests", "dynamic.c")) as source:
    LINES = source.read().split("\n")

# name: text of its line, function, declaration, bytes asked for, references: two for each row of a sweep
ARRAYS = {
    "row": ("double row[", "loop", "double row[]", 64 * 30, 2 * (10 + 20 + 30) + 2 * (10 + 20)),
    "outer": ("double outer[", "nested", "double outer[]", 64 * 50, 2 * 2 * 50),
    "inner": ("double inner[", "nested", "double inner[][8]", 64 * 50, 2 * 50),
    "piece": ("*piece =", "heap", None, 64 * 30, 4 * 2 * 30),
    "alloca": ("sweep(alloca(", "unnamed", None, 64 * 70, 2 * 70),
    "level": ("double level[", "deep", "double level[]", 64 * 40, 2 * (20 + 30 + 40) + 3),
    "left": ("double left[", "leaves", "double left[]", 64 * 90, 2 * 90),
    "columns": ("double columns[", "lines", "double columns[][512]", 64 * 4096, 20 * 64),
}
BUILDS = ["%s_%s" % (compiler, level) for compiler in ("gcc", "clang") for level in ("O0", "O2")]


def line_of(text):
    return next(number for number, line in enumerate(LINES, 1) if text in line)


def objects(build):
    found = report([], [os.path.join(GUESTS, "dynamic_" + build)])["objects"]
    return {o["name"]: o for o in found if o.get("file", "").endswith("dynamic.c") and o["kind"] == "stack"}


def expect(found, build, names, touched):
    for name in names:
        text, function, declaration, size, refs = ARRAYS[name]
        entry = found[name]
        got = (entry["function"].split(".")[0], entry.get("type"), entry["line"])
        equal(got, (function, declaration, line_of(text)), "%s: %s" % (build, name))
        # gcc takes 16 bytes more for alloca, to align what it gives
        check(entry["size"] in (size, size + 16), "%s: %s has %d bytes" % (build, name, entry["size"]))
        check(refs <= entry["refs"] <= refs + touched, "%s: %d references to %s" % (build, entry["refs"], name))


def arrays():
    for build in BUILDS:
        found = objects(build)
        equal(sorted(found), sorted(ARRAYS), build + ": what lies on the stack")
        expect(found, build, ARRAYS, 0)
    # made page by page: the compiler's own touches, at most two an array, are references as well
    expect(objects("gcc_O2_pages"), "gcc_O2_pages", set(ARRAYS) - {"columns"}, 10)


def reasons():
    found = report(["-m", "teach"], [os.path.join(GUESTS, "dynamic_gcc_O0")])
    columns = next(o for o in found["objects"] if o["name"] == "columns")
    # 64 lines in one set of L1D and L2: in twenty rounds none is found again
    misses = {level["name"]: level["misses"] for level in columns["levels"]}
    equal((misses["L1D"], misses["L2"]), (20 * 64, 20 * 64), "misses of columns")
    pairs = {}
    for entry in found["conflicts"]:
        for one in entry.get("originators", []):
            key = (entry["miss"].get("object"), one.get("object"), one["reason"])
            pairs[key] = pairs.get(key, 0) + one["count"]
    check(pairs.get(("columns", "columns", "intra-array"), 0) > 18 * 64, "conflicts of columns: %s" % pairs)
    wrong = [key for key in pairs if key[2] == "scalar" and (key[0] in ARRAYS or key[1] in ARRAYS)]
    equal(wrong, [], "reasons of conflicts")


def text():
    said = " ".join(emulate(["-m", "teach", os.path.join(GUESTS, "dynamic_gcc_O0")]).stderr.decode().split())
    contains(said, ["double columns[][512] in lines (dynamic.c:%d) (256.0 KiB): " % line_of("double columns["),
                    "evicted by the same array (intra-array)"], "the text")


{"arrays": arrays, "reasons": reasons, "text": text}[sys.argv[1]]()
done()
