# SPDX-License-Identifier: GPL-2.0-or-later
"""golden.py NAME: report.json, but for its receipt, and report.txt are golden/NAME.json and golden/NAME.txt, byte for
byte; of some, report.txt of other widths are golden/NAME.WIDTH.txt.

Every build must give them: the one with tiny buffers and without shortcuts too. What their main numbers come from
stands in golden/NAME.md, and the numbers derived there are checked here on their own, so that a new golden cannot
carry a wrong one.

golden.py rebaseline [NAME]...: writes them anew and prints what changed; read it before it is committed.
"""

import difflib
import hashlib
import json
import os
import sys
import tempfile

from common import check, done, emulate, equal, fail, skip, without_receipt

GUESTS = os.environ.get("GUESTS", "")
HERE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "golden")

# name: (options, program, numbers derived in NAME.md)
GOLDENS = {
    "conflict": (["-m", "teach"], ["./conflict"], {
        "run.measured.instructions": 2 + 100 * 5 + 3, "run.measured.refs": 300, "L1D.accesses": 300, "L1D.misses": 300,
        "L1D.cold": 3, "L1D.conflict": 297, "L1D.capacity": 0, "L1D.fa_misses": 3, "L1I.accesses": 1, "L1I.misses": 1,
        "L2.accesses": 301, "L2.misses": 4, "L2.cold": 4, "L3.accesses": 4, "L3.misses": 4, "pages.small": 4,
        "DTLB.accesses": 300, "DTLB.misses": 1, "ITLB.accesses": 1, "ITLB.misses": 1, "STLB.misses": 2,
        "walks.count": 2, "walks.reads": 4 + 1}),
    "stores": (["-m", "teach"], ["./stores"], {
        "run.measured.instructions": 2 + 64 * 4 + 2 + 63 * 4 + 3, "run.measured.writes": 127, "run.measured.reads": 0,
        "run.measured.straddles": 63, "run.measured.line_accesses": 64 + 126, "L1D.accesses": 190, "L1D.misses": 128,
        "L1D.hits": 62, "L1D.cold": 64, "L1D.capacity": 64, "L1D.conflict": 0, "L1D.writebacks": 96, "L2.writebacks": 0,
        "L2.cold": 65, "L2.misses": 65, "L2.accesses": 129}),
    "walk": (["-m", "c2sim", "--pages", "identity"], ["./walk_32K"], {
        "run.measured.refs": 1024, "L1D.misses": 512, "L1D.cold": 512, "L1D.hits": 512, "L2.accesses": 512,
        "L3.accesses": 512, "L3.cold": 512, "pages.small": 8 + 1 + 2}),
    "strides": (["--pages", "same-color", "--set", "L3.size=160K"], ["./strides"], {
        "run.measured.instructions": 160928, "L1D.accesses": 41591, "pages.small": 257 + 2}),
    "fetch": (["-m", "zen3", "--pages", "random", "--seed", "3"], ["./fetch"], {
        "run.measured.instructions": 14320, "L1I.misses": 1396, "L1D.misses": 97, "pages.small": 53 + 2}),
    "many": (["-m", "teach", "--vary", "L1D.ways=1,2,4"], ["./conflict"], {
        "lanes.0.levels.0.misses": 201, "lanes.1.levels.0.misses": 300, "lanes.2.levels.0.misses": 3,
        "lanes.0.levels.0.conflict": 198, "lanes.1.levels.0.conflict": 297, "lanes.2.levels.0.conflict": 0,
        "lanes.0.levels.2.accesses": 202, "lanes.1.levels.2.accesses": 301, "lanes.2.levels.2.accesses": 4,
        "lanes.1.levels.2.misses": 4, "L1D.misses": 201}),
    "matmul": (["-m", "teach"], ["./sample_matmul", "24"], {}),
    "chase": (["--set", "L2.size=32K"], ["./sample_chase", "64", "3000"], {}),
}
# Whose screens of other widths are goldens, too.
SCREENS = {"matmul": (80, 160), "chase": (80, 160)}


def lookup(report, path):
    words = path.split(".")
    level = next((level for level in report["levels"] + report["tlb"] if level["name"] == words[0]), None)
    value = report if level is None else level
    for word in words[level is not None:]:
        value = value[int(word)] if isinstance(value, list) else value[word]
    return value


def reports(options, program):
    """The text and the JSON."""
    with tempfile.TemporaryDirectory() as directory:
        result = emulate(["-q", "-o", directory] + options + program, cwd=GUESTS)
        if not equal((result.returncode, result.stderr), (0, b""), "exit status and messages"):
            done()
        contents = []
        for suffix in ("txt", "json"):
            with open(os.path.join(directory, "report." + suffix), "rb") as file:
                contents.append(file.read())
        return contents


def check_width(text, width):
    """Words are not broken: a line without a blank behind its indent may be wider."""
    for line in text.splitlines():
        check(len(line) <= width or " " not in line.strip(), "wider than %d columns: %s" % (width, line))


def produce(name):
    options, program, _ = GOLDENS[name]
    text, report = reports(options, program)
    contents = {"json": without_receipt(report).decode(), "txt": text.decode()}
    check_width(contents["txt"], 100)
    for width in SCREENS.get(name, ()):
        screen, same = reports(["--width", str(width)] + options, program)
        contents["%d.txt" % width] = screen.decode()
        check_width(screen.decode(), width)
        check(without_receipt(same) == without_receipt(report), "the width changes the JSON")
    return contents


def path_of(name, suffix):
    return os.path.join(HERE, "%s.%s" % (name, suffix))


def fingerprint(name):
    """The samples are compiled here; their goldens hold for the bytes that they were made with."""
    with open(os.path.join(GUESTS, GOLDENS[name][1][0]), "rb") as file:
        return hashlib.sha256(file.read()).hexdigest() + "\n"


def read(path):
    if not os.path.exists(path):
        return ""
    with open(path) as file:
        return file.read()


def differences(name, suffix, new):
    old = read(path_of(name, suffix)).splitlines(True)
    return "".join(difflib.unified_diff(old, new.splitlines(True), "golden/%s.%s" % (name, suffix), "now"))


def is_sample(name):
    return GOLDENS[name][1][0].startswith("./sample_")


def check_derived(name, report):
    for path, expected in GOLDENS[name][2].items():
        equal(lookup(report, path), expected, "%s, derived in golden/%s.md" % (path, name))


def compare(name):
    if is_sample(name):
        if not os.path.exists(os.path.join(GUESTS, GOLDENS[name][1][0])):
            skip("there is no musl-gcc, with which the samples are compiled")
        if fingerprint(name) != read(path_of(name, "sha256")):
            skip("the compiler or the C library here makes another program of %s than the golden's" % name)
    contents = produce(name)
    check_derived(name, json.loads(contents["json"]))
    check(os.path.exists(path_of(name, "md")), "golden/%s.md does not exist" % name)
    for suffix, new in contents.items():
        if new != read(path_of(name, suffix)):
            fail("report.%s is another" % suffix)
            print(differences(name, suffix, new))
    done()


def rebaseline(names):
    for name in names or GOLDENS:
        contents = produce(name)
        if is_sample(name):
            contents["sha256"] = fingerprint(name)
        check_derived(name, json.loads(contents["json"]))
        for suffix, new in contents.items():
            print(differences(name, suffix, new), end="")
            with open(path_of(name, suffix), "w") as file:
                file.write(new)
    done()


if sys.argv[1] == "rebaseline":
    rebaseline(sys.argv[2:])
else:
    compare(sys.argv[1])
