#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""bandwidth.py PART: what --bandwidth says of whole programs.

jacobi    Naive and blocked: bytes and FLOPs as they follow from the algorithm; files; the text.
flops     Every instruction of a run counted by what objdump calls it.
together  Replays, phases, several machines, what is refused.
"""

import csv
import json
import os
import re
import sys
import tempfile

from common import check, contains, done, emulate, equal, need, report, run

GUESTS, IMAGES = os.environ["GUESTS"], os.environ["IMAGES"]
JACOBI = os.path.join(IMAGES, "jacobi")
FLOPS = os.path.join(GUESTS, "flops")


def near(got, expected, share, what):
    check(abs(got - expected) <= share * expected, "%s: %r, expected %r" % (what, got, expected))


def flows(of):
    return {(flow["path"], flow.get("direction")): flow for flow in of["flows"]}


def level(result, name):
    return next(level for level in result["levels"] if level["name"] == name)


def check_levels(result):
    """The paths are what the levels have counted."""
    moved = flows(result["bandwidth"])
    names = [one["name"] for one in result["levels"] if one["name"] != "L1I"]
    equal(result["bandwidth"]["instructions"], result["run"]["measured"]["instructions"], "instructions")
    for above, below in zip(names, names[1:] + ["memory"]):
        lines = level(result, above)["misses"]
        if above == "L1D" and any(one["name"] == "L1I" for one in result["levels"]):
            lines += level(result, "L1I")["misses"]
        path = "%s-%s" % (above, below)
        equal(moved[path, "read"]["bytes"], lines * 64, path + " read")
        equal(moved[path, "written"]["bytes"], level(result, above)["writebacks"] * 64, path + " written")


# ---------------------------------------------------------------------------------------------- Jacobi

# A grid has 512 KiB, more than L2; sweeps of (N-2)^2 updates.
N, SWEEPS = 256, 6
UPDATES = (N - 2) ** 2 * SWEEPS
SMALL_L2 = ["-m", "weidendorfer", "--set", "L2.size=192K", "--bandwidth", "--no-attribution"]


def jacobi():
    results = {}
    with tempfile.TemporaryDirectory() as directory:
        curves, roofline = os.path.join(directory, "curves"), os.path.join(directory, "roofline")
        for at_once in ("1", "6"):
            files = ["--bandwidth-curves", curves, "--roofline", roofline] if at_once == "1" else []
            results[at_once] = report(SMALL_L2 + files, [JACOBI, str(N), str(SWEEPS), at_once])
            check_levels(results[at_once])
        check_curves(curves, results["1"]["bandwidth"])
        check_roofline(roofline, results["1"]["bandwidth"])
    naive, blocked = (flows(results[at_once]["bandwidth"]) for at_once in ("1", "6"))
    for moved in naive, blocked:  # four an update; the sum of all elements, and its division
        equal(moved["FLOPs", None]["operations"], 4 * UPDATES + N * N + 1, "FLOPs of Jacobi")
    # 16 bytes of memory read and 8 written an update; before, 8 touch the grids at the edge; behind, 8 are summed up
    near(naive["L2-memory", "read"]["bytes"], 16 * UPDATES + 8 * N * N, 0.05, "memory read by the naive one")
    near(naive["L2-memory", "written"]["bytes"], 8 * UPDATES, 0.05, "memory written by the naive one")
    near(blocked["L2-memory", "read"]["bytes"], (16 + 8) * N * N, 0.35, "memory read by the blocked one")
    check(results["1"]["bandwidth"]["slowdown"] > 1.4, "the naive one is not held up")
    check(results["6"]["bandwidth"]["slowdown"] < 1.3, "the blocked one is held up")
    check(results["1"]["bandwidth"]["dominant"].startswith("L2-memory"), "not the memory, but %s"
          % results["1"]["bandwidth"]["dominant"])
    check_model(results["1"]["bandwidth"])
    text = emulate(SMALL_L2 + [JACOBI, "64", "2"]).stderr.decode()
    contains(text, ["bandwidth   ", " windows of 200 instructions", "core-L1D", "L1D-L2", "L2-memory", "FLOPs",
                    "main: "], "the text")
    bandwidth = text[text.index("bandwidth   "):].split("\n\n")[0]
    check(len(bandwidth.splitlines()) <= 10, "more than ten lines: " + bandwidth)


def check_model(found):
    """Time is that of the instructions and what those paths lose that dominate; places add up."""
    lost = sum(flow.get("dominated_lost_cycles", 0) for flow in found["flows"])
    near(found["cycles"], found["peak_cycles"] + lost, 1e-9, "cycles")
    near(found["peak_cycles"], found["instructions"] / 4, 1e-9, "peak cycles")
    near(found["seconds"], found["cycles"] / 2.7e9, 2e-3, "seconds")
    near(found["slowdown"], found["cycles"] / found["peak_cycles"], 1e-5, "slowdown")
    for places in found["functions"], found["lines"]:
        for key in "windows", "instructions":
            equal(sum(place[key] for place in places), found[key], "%s of all places" % key)
        near(sum(place["cycles"] for place in places), found["cycles"], 1e-9, "cycles of all places")
    memory = flows(found)["L2-memory", "read"]
    near(memory["per_instruction"], memory["bytes"] / found["instructions"], 1e-3, "rate")
    check(memory["least"] <= memory["per_instruction"] <= memory["most"], "least, mean, most: %r" % memory)


def read_csv(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def check_curves(path, found):
    rows = read_csv(path)
    flops = flows(found)["FLOPs", None]["operations"]
    for (name, direction), flow in flows(found).items():
        for unit, whole in ("instruction", found["instructions"]), ("flop", flops):
            curve = [row for row in rows if (row["unit"], row["path"], row["direction"]) ==
                     (unit, name, direction or "")]
            what = "curve of %s %s by %s" % (name, direction, unit)
            equal(int(curve[-1]["until"]), whole, what)
            rates = [float(row["rate"]) for row in curve]
            equal(rates, sorted(rates), what)
            amount = sum(int(row["amount"]) for row in curve)
            if unit == "instruction":
                equal(amount, flow.get("bytes", flow.get("operations")), what)
    check(all(float(row["rate"]) == 1 for row in rows if row["unit"] == "flop" and row["path"] == "FLOPs"),
          "FLOPs by FLOP are one")


def check_roofline(path, found):
    rows = read_csv(path)
    roof = next(row for row in rows if row["kind"] == "roof" and row["path"] == "L2-memory")
    equal((roof["direction"], roof["bytes_per_cycle"], roof["flops_per_cycle"]), ("read", "5.519", "4.000"), "a roof")
    near(float(roof["flops_per_byte"]), 4 / 5.519, 1e-5, "the ridge")
    point = next(row for row in rows if row["kind"] == "run" and row["path"] == "L2-memory")
    moved = flows(found)
    near(float(point["flops_per_byte"]), moved["FLOPs", None]["operations"] / moved["L2-memory", "read"]["bytes"], 1e-4,
         "intensity")
    near(float(point["flops_per_cycle"]), moved["FLOPs", None]["operations"] / found["cycles"], 1e-4, "FLOPs a cycle")
    check(any(row["kind"] == "function" and row["name"] == "main" for row in rows), "main is not in the roofline")


# ---------------------------------------------------------------------------------------------- FLOPs

def operations(mnemonic, operands):
    """By the text of objdump, AT&T: lanes of 128 bits."""
    if re.match(r"^(h?(add|sub)|addsub|mul|div|r?sqrt|rcp|min|max)[ps][sd]$", mnemonic):
        return {"ps": 4, "pd": 2}.get(mnemonic[-2:], 1)
    if mnemonic == "fsincos":
        return 2
    return int(bool(re.match(r"^f(i?(add|sub|mul|div)r?p?|sqrt|prem1?|sin|cos|pa?tan|2xm1|yl2x(p1)?)[sl]{0,2}$",
                             mnemonic)))


def disassemble(path):
    found = {}
    for line in run(["objdump", "-d", "--no-show-raw-insn", path]).stdout.decode().splitlines():
        match = re.match(r"^ *([0-9a-f]+):\s+(\S+)\s*(.*)$", line)
        if match:
            found[int(match.group(1), 16)] = operations(match.group(2), match.group(3))
    return found


def flops():
    need("objdump")
    known = disassemble(FLOPS)
    with tempfile.TemporaryDirectory() as directory:
        trace = os.path.join(directory, "trace")
        result = report(["-m", "teach", "--bandwidth", "--trace", trace], [FLOPS])
        counted = 0
        with open(trace) as file:
            for line in file:
                if line.startswith("F "):
                    counted += known[int(line.split()[1], 16)]
    equal(flows(result["bandwidth"])["FLOPs", None]["operations"], counted, "FLOPs by objdump's names")
    # ten rounds of what stands in the source, one by one
    equal(counted, 10 * (1 + 2 + 4 + 1 + 4 + 2 + 4 + 1 + 2 + 1 + 1 + 1 + 1 + 2), "FLOPs by hand")
    equal(flows(result["bandwidth"])["core-L1D", "read"]["bytes"], 10 * (8 + 16 + 8) + 0, "bytes read by hand")
    check_levels(result)


# ---------------------------------------------------------------------------------------------- with other options

def refused(words, text):
    result = emulate(words + [JACOBI, "8", "1"])
    equal(result.returncode, 125, "status of " + " ".join(words))
    contains(result.stderr.decode(), [text], " ".join(words))


def replayed(options, recording):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "report.json")
        emulate(["replay", "-q", "--json-full", path] + options + [recording])
        with open(path) as file:
            return json.load(file)


def together():
    program = [JACOBI, "40", "2"]
    with tempfile.TemporaryDirectory() as directory:
        recording = os.path.join(directory, "recording")
        emulate(["-q", "--record", recording] + program)
        for options in (["-m", "teach", "--bandwidth-window", "1000"], ["-m", "zen3"]):
            live = report(options + ["--bandwidth"], program)
            played = replayed(options + ["--bandwidth"], recording)
            equal(played["bandwidth"], live["bandwidth"], "replay with " + " ".join(options))
            equal("slowdown" in live["bandwidth"], options[1] != "zen3", "a prediction on " + options[1])
    text = emulate(["-m", "zen3", "--bandwidth"] + program).stderr.decode()
    contains(text, ["the machine file says no limits to compare with"], "zen3")
    sampled = report(["-m", "teach", "--bandwidth", "--skip", "10000", "--measure", "1010", "--samples", "5"], program)
    equal(sampled["bandwidth"]["windows"], 5 * 6, "windows of samples: five of 200, and one of 10")
    check_levels(sampled)
    both = report(["-m", "teach", "-m", "skylake", "--bandwidth"], program)
    equal(both["bandwidth"]["window"], 200, "the first machine's")
    refused(["--no-sim", "--bandwidth"], "--bandwidth needs the references that --no-sim does not record")
    refused(["--bandwidth-window", "9"], "--bandwidth-window belongs to --bandwidth")
    refused(["--bandwidth", "--bandwidth-window", "0"], "--bandwidth-window 0: must be a number, 1 to 1000000000")


{"jacobi": jacobi, "flops": flops, "together": together}[sys.argv[1]]()
done()
