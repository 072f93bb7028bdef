# SPDX-License-Identifier: GPL-2.0-or-later
"""reuse.py PART: the distances of --reuse by hand, by a naive list, and by caches of many sizes."""

import csv
import os
import sys
import tempfile

import twin
from common import check, done, emulate, equal, report
from windows import GUESTS, TINY, guest, traced

IMAGES = os.environ["IMAGES"]


def stacks_of(run):
    return {stack["name"]: stack for stack in run["reuse"]["stacks"]}


def buckets(distances):
    """[of distance 0, 1, 2-3, 4-7 ...], of lines that were accessed before."""
    out = []
    for distance in distances:
        out += [0] * (distance.bit_length() + 1 - len(out))
        out[distance.bit_length()] += 1
    return out


def hand():
    """walk.S reads the 512 lines of an array twice, in order: 512 cold, then 512 with all the others between. Its code
    is one line, which is entered once. L2 is asked for all of it by an L1D of 32 lines."""
    run = report(["-m", "teach", "--reuse"], guest("walk_32K"))
    distances, data = [0] * 9 + [512], stacks_of(run)["data"]
    equal((data["accesses"], data["cold"], data["distances"]), (1024, 512, distances), "data")
    equal(data["sizes"], [{"bytes": 64 << k, "misses": 1024 if k < 9 else 512} for k in range(10)], "sizes")
    equal(data["knees"], [{"bytes": 32768, "accesses": 512}], "where the curve falls")
    equal(data["level"], {"name": "L1D", "bytes": 2048, "fa_misses": 1024}, "level of the data")
    code = stacks_of(run)["code"]
    equal((code["accesses"], code["cold"], code["distances"]), (1, 1, []), "code")
    second = stacks_of(run)["L2"]
    equal((second["accesses"], second["cold"], second["distances"]), (1025, 513, distances), "L2")
    equal(second["level"], {"name": "L2", "bytes": 32768, "fa_misses": 513}, "level of L2")
    objects = [(row["kind"], row["accesses"], row["cold"], row["distances"]) for row in run["reuse"]["objects"]]
    equal(objects, [("file", 1024, 512, distances), ("code", 1, 1, [])], "objects")
    instruction = run["reuse"]["instructions"]
    equal([(row["object"], row["accesses"], row["distances"]) for row in instruction], [("walk_32K", 1024, distances)],
          "instructions")
    text = emulate(["-m", "teach", "--reuse"] + guest("walk_32K")).stderr.decode()
    check("the miss curve falls at 32.0 KiB by 50.0 % of the accesses; 50.0 % are cold" in " ".join(text.split()),
          "the finding in the text: " + text)


class Stack:
    """The lines accessed, the youngest last."""

    def __init__(self):
        self.lines, self.distances, self.cold = [], [], 0

    def access(self, line, measured):
        at = len(self.lines) - 1 - self.lines[::-1].index(line) if line in self.lines else -1
        if measured and at >= 0:
            self.distances.append(len(self.lines) - 1 - at)
        self.cold += measured and at < 0
        if at >= 0:
            del self.lines[at]
        self.lines.append(line)


def by_list(whole, run):
    """Data and code of the phases that are measured, by lists."""
    data, code, now, measured = Stack(), Stack(), 0, False
    second = twin.Twin(run["machine"])
    second.hierarchy.access = lambda write, virtual, physical, fetch=False: (code if fetch else data).access(physical,
                                                                                                        measured)
    for row in run["run"]["phases"]:
        measured = row["kind"] == "measure"
        if row["kind"] != "skip":
            second.eat([line for instruction in whole[now:now + row["instructions"]] for line in instruction])
        now += row["instructions"]
    return {name: (len(stack.distances) + stack.cold, stack.cold, buckets(stack.distances))
            for name, stack in (("data", data), ("code", code))}


def lists():
    for name, options in (("strings", []), ("roi", []), ("roi", ["--roi", "recurse", "--roi", "repeats"]),
                          ("strides", ["--skip", "700", "--warmup", "100", "--measure", "900", "--samples", "4",
                                       "--warm", "none"])):
        whole = traced(guest(name))
        run = report(TINY + options + ["--reuse"], guest(name))
        told = {key: (stack["accesses"], stack["cold"], stack["distances"]) for key, stack in stacks_of(run).items()
                if key in ("data", "code")}
        equal(told, by_list(whole, run), " ".join([name] + options))


SIZES = ["512", "1K", "8K", "64K", "1M"]


def sizes():
    """What caches of many sizes would have missed, fully associative: as many as those caches say in the same run."""
    program, size_of = [os.path.join(IMAGES, "matmul"), "9"], {"K": 1 << 10, "M": 1 << 20}
    options = ["-m", "teach", "--set", "walks.mode=cached", "--reuse"]
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "csv")
        run = report(options + ["--reuse-csv", path, "--vary", "L1D.size=" + ",".join(SIZES), "--set",
                                "L1D.index=physical"], program)
        code = report(options + ["--vary", "L1I.size=512,2K,32K", "--set", "L1I.index=physical"], program)
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
    for told, level, stack in ((run, "L1D", "data"), (code, "L1I", "code")):
        for lane in told["lanes"]:
            size = next(row["size"] for row in lane["machine"]["levels"] if row["name"] == level)
            misses = next(row["fa_misses"] for row in lane["levels"] if row["name"] == level)
            told_misses = [row["misses"] for row in stacks_of(told)[stack]["sizes"] if row["bytes"] <= size][-1]
            equal(told_misses, misses, "%s of %d bytes" % (level, size))
            if told is run:
                fallen = [row for row in rows if int(row["bytes"]) <= size][-1]
                equal(int(fallen["data.misses"]), misses, "the file, %d bytes" % size)
    equal(len(run["lanes"]), len(SIZES), "machines")
    equal([stack["name"] for stack in run["reuse"]["stacks"]], ["data", "code", "L2", "L3"], "stacks")
    # A walk that enters at L1D is among its accesses; every level is held to its shadow when the run ends.
    for more in (["--set", "walks.from=L1D"], ["-m", "zen3"], ["--set", "L2.policy=srrip"],
                 ["--set", "L3.inclusion=exclusive"], ["--pages", "random", "--against", "colored"]):
        check(stacks_of(report(options + more, program))["data"]["accesses"] > 0, " ".join(more))


def alike():
    """A replay says the same, and whatever else is listened to."""
    program = guest("strings")
    with tempfile.TemporaryDirectory() as directory:
        tape, told = os.path.join(directory, "tape"), os.path.join(directory, "json")
        run = report(TINY + ["--reuse", "--record", tape], program)
        result = emulate(["replay", "-q", "--json-full", told] + TINY + ["--reuse", tape])
        equal((result.returncode, result.stderr), (0, b""), "replay")
        more = report(TINY + ["--reuse", "--windows", "100", "--fifo-detector", "--trace", "/dev/null"], program)
        equal(more["reuse"], run["reuse"], "with others")
        with open(told, encoding="utf-8") as file:
            check('"reuse": {' in file.read(), "the replay's report has it")
        equal({key: run[key] for key in ("levels", "objects", "conflicts")},
              {key: value for key, value in report(TINY, program).items() if key in ("levels", "objects", "conflicts")},
              "the run without")


if __name__ == "__main__":
    {"hand": hand, "lists": lists, "sizes": sizes, "alike": alike}[sys.argv[1]]()
    done()
