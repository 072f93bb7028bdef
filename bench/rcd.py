#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""rcd.py train|test: the classifier of --rcd, trained and judged.

train   Builds rcd_loops.c, runs its loops one by one, and prints the coefficients of the logistic regressions for
        analyses/rcd_classifier.c: of the contribution factor of all misses, and of single samples of three periods.
test    Runs the samples in images/, no loop of which was trained with, and prints precision, recall and F1 of each way
        to tell and each sampling period, as docs/rcd.md has them. Truth is the fully associative shadow.

C2EMU is the emulator (build/c2emu), IMAGES the directory of the samples (build/images).
"""

import collections
import json
import math
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EMULATOR = os.environ.get("C2EMU", os.path.join(ROOT, "build", "c2emu"))
IMAGES = os.environ.get("IMAGES", os.path.join(ROOT, "build", "images"))
KERNELS = 24
TRAINED_PERIODS = (171, 404, 1212)
TESTED_PERIODS = "17,171,404,1212,171x16,1212x16,171x128,1212x128"
PENALTY = 0.02
# each with how often it is to do its work, so that its loops miss some million times
PROGRAMS = {"adi": 20, "chase": None, "column": 1000, "doitgen": 8, "histogram": 1000, "list": 1000, "matmul": None,
            "nw": 150, "poisson": 8, "sort": None, "sparse": 1000, "stencil": None, "stencil3d": 5, "transpose": 50}
PADDED = ("adi", "doitgen", "histogram", "list", "nw", "poisson", "stencil3d", "transpose")


def rcd(command, samples):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "report.json")
        subprocess.run([EMULATOR, "-q", "--rcd", "--rcd-sample", samples, "--json", path] + command, check=True,
                       stdout=subprocess.DEVNULL)
        with open(path) as file:
            return json.load(file)["rcd"]


def fit(points):
    """(constant, factor) of a logistic regression of [(x, whether)], by Newton's method."""
    a = b = 0.0
    for _ in range(100):
        gradient = [-PENALTY * a, -PENALTY * b]
        hessian = [[PENALTY, 0.0], [0.0, PENALTY]]
        for x, whether in points:
            p = 1 / (1 + math.exp(-(a + b * x)))
            for i, u in enumerate((1.0, x)):
                gradient[i] += (whether - p) * u
                for k, v in enumerate((1.0, x)):
                    hessian[i][k] += p * (1 - p) * u * v
        determinant = hessian[0][0] * hessian[1][1] - hessian[0][1] * hessian[1][0]
        a += (hessian[1][1] * gradient[0] - hessian[0][1] * gradient[1]) / determinant
        b += (hessian[0][0] * gradient[1] - hessian[1][0] * gradient[0]) / determinant
    return a, b


def train():
    points = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as directory:
        program = os.path.join(directory, "rcd_loops")
        subprocess.run(["gcc", "-O2", "-g", "-fno-tree-vectorize", "-o", program,
                        os.path.join(ROOT, "bench", "rcd_loops.c")], check=True)
        for kernel in range(KERNELS):
            of = rcd([program, str(kernel)], ",".join(map(str, TRAINED_PERIODS)))
            loop = max((loop for loop in of["loops"] if "suffers" in loop and loop.get("module") == "rcd_loops"
                        and loop["function"] != "run"), key=lambda loop: loop["misses"])
            suffers = loop["suffers"]
            print("%2d %-14s %9d misses, %5.1f %% conflicts  below %.3f  deep %.3f" %
                  (kernel, loop["function"], loop["misses"], 100 * loop["conflicts"] / loop["misses"],
                   loop["contribution"], loop["deep_contribution"]))
            points["single", "all misses"].append((loop["contribution"], suffers))
            points["deep", "all misses"].append((loop["deep_contribution"], suffers))
            for sampled in loop["samples"]:
                if sampled["judged"] >= 20:
                    points["single", "samples"].append((sampled["below"] / sampled["judged"], suffers))
    for name, list_of in sorted(points.items()):
        a, b = fit(list_of)
        print("%s, %s: {%.4f, %.4f}, even at %.3f; of %d, %d suffer" %
              (name + (a, b, -a / b, len(list_of), sum(suffers for _, suffers in list_of))))


def test():
    sums = {}
    loops = suffering = 0
    programs = [(name, times) for name, times in PROGRAMS.items()] + [
        (name + "_padded", PROGRAMS[name]) for name in PADDED]
    for program, times in programs:
        of = rcd([os.path.join(IMAGES, program)] + ([str(times)] if times else []), TESTED_PERIODS)
        judged = [loop["suffers"] for loop in of["loops"] if "suffers" in loop]
        if "-v" in sys.argv:
            for loop in of["loops"]:
                if "suffers" in loop:
                    print("%-18s %s:%s %9d misses, %5.1f %% conflicts  below %.3f  deep %.3f  %s" %
                          (program, os.path.basename(loop.get("file", loop.get("module", "?"))), loop.get("line"),
                           loop["misses"], 100 * loop["conflicts"] / loop["misses"], loop["contribution"],
                           loop["deep_contribution"], "suffers" if loop["suffers"] else ""))
        loops, suffering = loops + len(judged), suffering + sum(judged)
        for method in of["methods"]:
            key = method["kind"], method.get("period", 0), method.get("burst", 1)
            counts = sums.setdefault(key, [0, 0, 0])
            for i, what in enumerate(("right", "wrong", "missed")):
                counts[i] += method[what]
    print("%d loops of %d programs, %d suffer from conflicts" % (loops, len(programs), suffering))
    print("| told by | of | precision | recall | F1 |\n|---|---|---|---|---|")
    for (kind, period, burst), (right, wrong, missed) in sums.items():
        name = "all misses" if period == 0 else "1 of %d" % period
        print("| %s | %s%s | %.2f | %.2f | %.2f |" %
              (kind, name, ", bursts of %d" % burst if burst > 1 else "", right / max(1, right + wrong),
               right / max(1, right + missed), 2 * right / max(1, 2 * right + wrong + missed)))


if __name__ == "__main__":
    {"train": train, "test": test}[sys.argv[1]]()
