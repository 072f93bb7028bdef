# SPDX-License-Identifier: GPL-2.0-or-later
"""locals.py arrays|frames|reasons|text|advise|threads: arrays on the stack and thread-local variables, with
guests/onstack.c.

arrays   by two compilers, optimised and not, with old and new debug information: each array has its name, function,
         line and type, and exactly the references that the source makes, whatever longjmp and signals do
frames   without debug information: frames of 4 KiB and more, by function
reasons  conflicts of arrays on the stack are those of arrays; only a known object of 16 bytes is a scalar
text     how the text report says it
advise   an array on the stack can be padded
threads  arrays on the stacks of threads, these stacks, and thread-local variables of all, with guests/stacks.c
"""

import json
import os
import re
import sys
import tempfile

from common import check, contains, done, emulate, equal, report

GUESTS = os.environ["GUESTS"]
HERE = os.path.dirname(os.path.realpath(__file__))
with open(os.path.join(HERE, "guests", "onstack.c")) as source:
    LINES = source.read().split("\n")


def line_of(text):
    return next(number for number, line in enumerate(LINES, 1) if text in line)


# name: function, declaration, references: two for each row of a sweep
ARRAYS = {
    "aligned": ("main", "double aligned[480]", 2 * 60 + 1),
    "level": ("deep", "double level[80]", 4 * (2 * 10 + 1)),
    "within": ("caller", "double within[320]", 2 * 2 * 40),
    "left": ("leaves", "double left[400]", 2 * 50),
    "meanwhile": ("handler", "double meanwhile[96]", 2 * 12),
    "columns": ("lines", "double columns[256][64]", 20 * 2 * 256),
}
BUILDS = ["%s_%s_%s" % (compiler, level, dwarf) for compiler in ("gcc", "clang") for level in ("O0", "O2")
          for dwarf in (4, 5)]


def objects(build, *options):
    return {o["name"]: o for o in report(list(options), [os.path.join(GUESTS, "onstack_" + build)])["objects"]}


def check_thread_local(found, build):
    counters, flag = found["counters"], found["flag"]
    equal((counters["kind"], counters["thread_local"], counters["size"]), ("static", True, 4096), build)
    equal((flag["size"], flag["refs"]), (1, 1), build)
    check(counters["refs"] == 1024, "%s: %d references to counters" % (build, counters["refs"]))


def arrays():
    for build in BUILDS:
        found = objects(build)
        for name, (function, declaration, refs) in ARRAYS.items():
            entry = found[name]
            got = [entry[key] for key in ("kind", "function", "type", "refs", "blocks")]
            got[1] = re.sub(r"\..*", "", got[1])
            equal(got, ["stack", function, declaration, refs, 1], "%s: %s" % (build, name))
            equal((os.path.basename(entry["file"]), entry["line"]), ("onstack.c", line_of("double " + name + "[")),
                  "%s: place of %s" % (build, name))
            equal(entry["size"], 8 * eval("*".join(re.findall(r"\[(\d+)\]", declaration))), "%s: size" % build)
        # where the two have one place they are one object
        both = [entry for name, entry in found.items() if name in ("early", "late", "early, late", "late, early")]
        equal(sum(entry["refs"] for entry in both), 2 * 20 + 2 * 30, build + ": two scopes")
        check_thread_local(found, build)


def frames():
    for build in ("gcc_O0_plain", "clang_O2_plain"):
        found = objects(build)
        frame = next(entry for name, entry in found.items() if name.startswith("frame of lines"))
        check(256 * 64 * 8 - 200 <= frame["size"] <= 256 * 64 * 8 + 400, "%s: %d bytes" % (build, frame["size"]))
        # what a function without calls keeps below RSP is not known to be its
        check(frame["refs"] >= 20 * 2 * 254, "%s: %d references" % (build, frame["refs"]))
        check_thread_local(found, build)


def reasons():
    found = report(["-m", "teach"], [os.path.join(GUESTS, "onstack_gcc_O0_5")])
    own = [entry for entry in found["conflicts"] if entry.get("miss", {}).get("object") == "columns"]
    pairs = {}
    for entry in own:
        for one in entry["originators"]:
            key = (one.get("object"), one["reason"])
            pairs[key] = pairs.get(key, 0) + one["count"]
    # 256 rows of 512 bytes in a quarter of the sets: of twenty rounds all but the first miss, because of itself
    check(pairs.get(("columns", "intra-array"), 0) > 15 * 256, "conflicts of columns: %s" % pairs)
    wrong = [key for key in pairs if key[1] == "scalar"]
    equal(wrong, [], "reasons of an array's conflicts")
    scalars = {o["name"] for o in found["objects"] if o.get("size", 0) <= 16}
    for entry in found["conflicts"]:
        for one in entry.get("originators", []):
            if one["reason"] == "scalar":
                check({one["object"], entry["miss"]["object"]} & scalars, "a scalar of which size? %s" % one)


def text():
    said = " ".join(emulate(["-m", "teach", os.path.join(GUESTS, "onstack_gcc_O0_5")]).stderr.decode().split())
    where = "double columns[256][64] in lines (onstack.c:%d)" % line_of("double columns[")
    contains(said, [where + " (128.0 KiB): ", "evicted by the same array (intra-array)"], "the text")
    said = emulate(["-m", "teach", os.path.join(GUESTS, "onstack_gcc_O0_plain")]).stderr.decode()
    contains(said, ["frame of lines (12"], "the text without debug information")


def advise():
    guest = os.path.join(GUESTS, "onstack_gcc_O0_5")
    result = emulate(["advise", "-q", "-m", "teach", "--json", "/dev/stdout", guest])
    said = result.stdout.decode()
    advice = json.loads(said[said.index("{"):])
    check(advice["same_as_run"], "the playback differs from the run")
    padded = [one for one in advice["layouts"] if one["means"] == ["pad_rows"] and
              [(o["name"], o["row"], o["pad"]) for o in one["objects"]] == [("columns", 512, 64)]]
    equal(len(padded), 1, "layouts with longer rows of columns")
    levels = [{level["name"]: level for level in one["levels"]} for one in (advice["before"], padded[0])]
    # the lines of 256 rows are too many for L1D, and half of L2, where they had a quarter of the sets
    lost = levels[0]["L2"]["conflict"] - levels[1]["L2"]["conflict"]
    check(lost > 15 * 256 and padded[0]["helps"], "%d conflict misses less" % lost)
    # deep() calls itself: its arrays are several, so none of them is moved
    check(not any(o["name"] == "level" for one in advice["layouts"] for o in one["objects"]), "level was moved")


# Five calls, of 2 + 1 + 2 + 3 + 1 sweeps: each writes the array once, and then reads and writes each element in turn.
# What else lies on a thread's stack is little, but for the unwinding of one that exits. The fifth thread is where one
# of the others was.
def threads():
    sweeps, calls, size = 2 + 1 + 2 + 3 + 1, 5, 2048
    for words in ([], ["exit"]):
        with tempfile.TemporaryDirectory() as directory:
            recording = os.path.join(directory, "run")
            found = report(["--record", recording, "--quantum", "3000"],
                           [os.path.join(GUESTS, "stacks")] + words)["objects"]
            again = emulate(["replay", "-q", "--json-full", "-", recording])
            equal(json.loads(again.stdout)["objects"], found, "the replay")
        table = [o for o in found if o["name"] == "table"]
        equal([(o["kind"], o["function"], o["type"], o["size"], o["refs"]) for o in table],
              [("stack", "sweep", "volatile double table[2048]", 8 * size, size * (2 * sweeps + calls))], "table")
        counters = next(o for o in found if o["name"] == "counters")
        equal((counters["thread_local"], counters["size"], counters["refs"]), (True, 512, 2 * size * sweeps),
              "counters")
        stacks = {o["name"]: o for o in found if o["name"].startswith("stack of thread ")}
        equal(sorted(stacks), ["stack of thread %d" % thread for thread in (2, 3, 4, 5)], "stacks")
        check(all(o["kind"] == "stack" and 20 < o["refs"] and (words or o["refs"] < size) for o in stacks.values()),
              "what else is there: %s" % {name: o["refs"] for name, o in stacks.items()})
        check(stacks["stack of thread 5"]["base"] in [stacks["stack of thread %d" % i]["base"] for i in (2, 3, 4)],
              "a stack is used again")


{"arrays": arrays, "frames": frames, "reasons": reasons, "text": text, "advise": advise,
 "threads": threads}[sys.argv[1]]()
done()
