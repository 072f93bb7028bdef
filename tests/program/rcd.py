# SPDX-License-Identifier: GPL-2.0-or-later
"""rcd.py CASE: --rcd on the samples of images/.

told      column: one set, all conflicts; its loop is named, by samples as well. nw, whose cure is nw_padded.
sums      misses by loop and by object are the level's, of another level, too; a replay says the same; the distribution.
refused   what goes with no distances.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

from common import EMULATOR, check, contains, done, equal

IMAGES = os.environ["IMAGES"]


def run(words):
    result = subprocess.run([EMULATOR] + words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return result.returncode, result.stderr.decode()


def report(directory, options, program):
    path = os.path.join(directory, "report.json")
    equal(run(["-q", "--json-full", path] + options + program), (0, ""), "exit status and messages")
    with open(path) as file:
        return json.load(file)


def image(name, *arguments):
    return [os.path.join(IMAGES, name)] + list(arguments)


def told(directory):
    rcd = report(directory, ["--rcd", "--rcd-sample", "7,100x16"], image("column", "200"))["rcd"]
    equal((rcd["level"], rcd["of_sets"], rcd["threshold"]), ("L1D", 64, 9), "what is counted")
    loop = rcd["loops"][0]
    equal((loop["function"], loop["sets"], loop["suffers"], loop["named"]), ("read_columns", 1, True, True), "column")
    # of each round after the first of a column every row misses, one after the other
    check(loop["below"] >= loop["conflicts"] > 0.95 * loop["misses"], "column: %s" % loop)
    equal([(method["kind"], method.get("period"), method["right"], method["wrong"], method["f1"])
           for method in rcd["methods"] if method["missed"] == 0],
          [("single", None, 1, 0, 1.0), ("deep", None, 1, 0, 1.0), ("single", 7, 1, 0, 1.0),
           ("single", 100, 1, 0, 1.0)], "the methods")
    cured = report(directory, ["--rcd"], image("nw_padded"))["rcd"]
    sick = report(directory, ["--rcd"], image("nw"))["rcd"]
    align = [loop for loop in sick["loops"] if loop.get("function") == "align" and "suffers" in loop]
    equal([(loop["suffers"], loop["named"]) for loop in align], [(True, True)] * len(align), "nw")
    equal(len(align), 2, "its copying loops")
    check(all(loop["sets"] < 64 for loop in align), "sets of nw: %s" % align)
    check(not any(loop["suffers"] or loop["named"] for loop in cured["loops"] if loop.get("function") == "align" and
                  "suffers" in loop), "nw_padded: %s" % cured["loops"][:2])
    text = run(["--rcd", "--rcd-sample", "50"] + image("nw"))[1]
    contains(text, ["re-conflict L1D: the shadow finds conflicts in 2 of ", "told by  right", "1 of 50\n"], "the text")


def check_sums(rcd, level):
    for key in ("misses", "conflicts", "first", "below", "deep", "periods"):
        equal(sum(loop[key] for loop in rcd["loops"]), rcd[key], key + " of loops")
        equal(sum(of[key] for of in rcd["objects"]), rcd[key], key + " of objects")
    equal((rcd["misses"], rcd["conflicts"]), (level["misses"], level["conflict"]), "misses of the level")


def sums(directory):
    cdf, recording = (os.path.join(directory, name) for name in ("cdf", "recording"))
    asked = ["--rcd", "--rcd-sample", "20,50x70"]
    live = report(directory, asked + ["--rcd-cdf", cdf, "--record", recording], image("nw"))
    check_sums(live["rcd"], live["levels"][0])
    replayed = os.path.join(directory, "replayed.json")
    equal(run(["replay", "-q", "--json-full", replayed] + asked + [recording]), (0, ""), "replay")
    with open(replayed) as file:
        equal(json.load(file)["rcd"], live["rcd"], "a replay")
    with open(cdf) as file:
        blocks = file.read().split("\n\n\n")
    equal(len(blocks) - 1, sum("suffers" in loop for loop in live["rcd"]["loops"]), "distributions")
    steps = [line.split() for line in blocks[0].split("\n") if line and line[0] != "#"]
    check(all(int(a[0]) < int(b[0]) and float(a[1]) < float(b[1]) for a, b in zip(steps, steps[1:])), "it rises")
    below = [float(share) for distance, share in steps if int(distance) <= 8]
    check(abs(below[-1] - live["rcd"]["contribution"]) < 1e-6, "the share of eight or shorter")
    check(abs(float(steps[-1][1]) - 1 + live["rcd"]["first"] / live["rcd"]["misses"]) < 2e-6, "its end")
    of_l2 = report(directory, ["--rcd", "--rcd-level", "L2", "--rcd-below", "20"], image("nw"))
    check_sums(of_l2["rcd"], next(level for level in of_l2["levels"] if level["name"] == "L2"))
    equal((of_l2["rcd"]["level"], of_l2["rcd"]["threshold"]), ("L2", 20), "another level")
    check("methods" not in of_l2["rcd"] and not any("named" in loop for loop in of_l2["rcd"]["loops"]), "no verdicts")


def refused(directory):
    nw = image("nw")
    for words, message in (
            (["--rcd-below", "8"], "--rcd-below belongs to --rcd; add that, or leave it out"),
            (["--rcd", "--no-attribution"],
             "--rcd tells of instructions and objects, which --no-attribution does not note; leave one out"),
            (["--rcd", "--no-sim"], "--rcd needs the references that --no-sim does not record; leave one out"),
            (["--rcd", "--rcd-level", "L9"],
             "--rcd-level L9: the machine has no such level of data (did you mean \"L2\"?)"),
            (["--rcd", "--rcd-sample", "9x3"],
             "--rcd-sample 9x3: a burst must have more than 9 misses, as distances below that are counted")):
        equal(run(words + nw), (125, "c2emu: %s\n" % message), " ".join(words))
    cdf = os.path.join(directory, "missing", "cdf")
    status, message = run(["--rcd", "--rcd-cdf", cdf] + nw)
    equal(status, 125, "a file that cannot be written")
    check(re.search("missing", message), "a file that cannot be written: " + message)


with tempfile.TemporaryDirectory() as temporary:
    {"told": told, "sums": sums, "refused": refused}[sys.argv[1]](temporary)
done()
