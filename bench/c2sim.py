#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""bench/c2sim.py [--keep DIR] [--placement] [KERNEL...]: tables 1, 2 and 3 of Sato and Endo, "C2Sim" (Euro-Par 2017).

The 21 kernels of bench/c2sim_kernels.c run on the machine of the paper (`-m c2sim`), with pages where Linux would have
them on the paper's system: frames at random, and 2 MiB pages wherever a block has room for them. Of each, the miss
rates of the three levels stand beside those that the paper has from C2Sim and from a processor (table 1), and the
shares of conflicts, by the fully associative cache and by a FIFO of twice the ways, beside the paper's (table 3).
--placement makes table 2: virtual or physical addresses, one slice or eight. --keep DIR keeps the reports there, and
takes those that are there already. Takes an hour or two; wants a Release build in build/.

How much of a run is simulated is said in its row (KERNELS): all of it; a few steps of those that repeat themselves,
from the first line of the kernel on; or samples.
"""

import argparse
import json
import os
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EMULATOR = os.environ.get("C2EMU", os.path.join(ROOT, "build", "c2emu"))
LEVELS = ("L1D", "L2", "L3")
BASE = ["-q", "-m", "c2sim", "--no-attribution"]
PLACED = ["--pages", "random", "--huge", "thp"]
SOME = ["--period", "500M", "--start", "300M", "--warmup", "50M", "--measure", "25M"]
FEW = ["--period", "2G", "--start", "500M", "--warmup", "60M", "--measure", "15M"]


def steps(number, function):
    """So many steps of a kernel that repeats itself, without what fills its arrays."""
    return [str(number)], ["--roi", function]


WHOLE = [], []
SAMPLES = [], SOME
FEW_SAMPLES = [], FEW
# kernel: (how), then of L1, L2 and L3 in per cent: misses by the processor, misses by C2Sim, conflicts by the FIFO,
# conflicts by C2Sim
KERNELS = {
    "floyd-warshall": (steps(20, "floyd_warshall"), (6.24, 50, 100), (6.25, 50.06, 99.98), (49.98, 0, .11),
                       (0, .08, .03)),
    "correlation": (SAMPLES, (66.97, 52, 0), (66.45, 51.63, .02), (0, 88.03, 0), (0, 88.01, 0)),
    "3mm": (SAMPLES, (38.24, 11, 1), (37.51, 11.12, .26), (23.17, 0, 0), (0, 0, 0)),
    "gemm": (WHOLE, (3.15, 100, 1), (3.13, 100, .17), (0, 0, 0), (0, 0, 0)),
    "ludcmp": (FEW_SAMPLES, (31.39, 37, 22), (32.59, 38.28, 20.53), (2.51, 71.04, 21.38), (1.74, 71.12, .02)),
    "2mm": (SAMPLES, (38.06, 12, 1), (36.27, 11.50, .31), (.29, .41, 0), (0, .42, 0)),
    "covariance": (SAMPLES, (67.01, 53, 0), (66.42, 51.18, .02), (0, 88.04, 0), (0, 88.04, 0)),
    "trmm": (SAMPLES, (60, 7, 2), (61.06, 7.62, .08), (25.75, 2.25, 0), (.62, 2.01, 0)),
    "lu": (FEW_SAMPLES, (29.29, 37, 23), (29.63, 38.84, 20.97), (2.51, 71.45, 21.42), (1.76, 71.58, .07)),
    "cholesky": (FEW_SAMPLES, (25.44, 13, 80), (25.07, 13.19, 83.20), (.01, .12, 87.47), (0, .51, .24)),
    "gramschmidt": (WHOLE, (57.05, 13, 1), (57.16, 17.20, .05), (0, 84.19, 0), (0, 84.57, 0)),
    "heat-3d": (steps(10, "heat_step"), (9.99, 100, 46), (6.37, 99.84, 50.66), (0, 47.02, 50.69), (0, 0, 0)),
    "jacobi-2d": (steps(20, "jacobi_step"), (3.69, 48, 93), (8.35, 50, 100), (50, 0, 100), (0, 0, 0)),
    "nussinov": (SAMPLES, (34.47, 12, 19), (34.21, 12.24, 26.34), (21.23, .05, 24.78), (.45, .02, 5.89)),
    "symm": (SAMPLES, (33.96, 29, 3), (33.36, 21.46, 1.65), (10.12, 37.14, .73), (10.04, 37.30, .73)),
    "fdtd-2d": (steps(10, "fdtd_2d"), (7.91, 85, 66), (7.73, 87.23, 75.13), (12.51, 0, 73.26), (0, 0, 5.36)),
    "syrk": (SAMPLES, (23.96, 23, 2), (23.71, 13.19, .26), (45.08, 0, 0), (.06, 0, 0)),
    "syr2k": (SAMPLES, (33.77, 23, 4), (33.48, 12.48, 1.61), (9.84, .26, 2.02), (.53, .27, 2.02)),
    "doitgen": (WHOLE, (33.95, 3, 14), (34.23, 2.71, 2.80), (87.62, 98.90, 0), (87.68, 98.90, 0)),
    "adi": (steps(10, "adi"), (16.77, 43, 81), (17.03, 30.56, 79.75), (11.91, 6.20, 81.34), (1.09, 6.21, .99)),
    "seidel-2d": (steps(10, "seidel_2d"), (8.35, 48, 93), (3.75, 33.37, 100), (66.63, 0, 95.90), (0, 0, 0)),
}
PLACEMENTS = ( # of table 2: what, its error in the paper, options
    ("virtual addresses", 48.76, ["--pages", "identity", "--set", "L3.slices=1", "--set", "L3.hash=none"]),
    ("physical addresses", 40.73, [*PLACED, "--set", "L3.slices=1", "--set", "L3.hash=none"]),
    ("virtual addresses and slices", 9.33, ["--pages", "identity"]),
    ("physical addresses and slices", 5.18, PLACED),
)


def simulate(kernel, options, directory, tag):
    """The report of a run; one that is kept already is not made again."""
    path = os.path.join(directory, f"{kernel}.{tag}.json")
    if not os.path.exists(path):
        words, extent = KERNELS[kernel][0]
        program = os.path.join(directory, "c2sim_kernels")
        made = path + ".part"
        subprocess.run([EMULATOR, *BASE, *options, *extent, "--json-full", made, program, kernel, *words], check=True)
        os.rename(made, path)
    with open(path) as file:
        return json.load(file)


def rates(report):
    """Miss rates of the levels, in per cent; of the whole run, where samples stand for it."""
    estimates = {row["name"]: row for row in report.get("samples", {}).get("levels", ())}
    out = []
    for level in LEVELS:
        counts = next(row for row in report["levels"] if row["name"] == level)
        if level in estimates:
            out.append(estimates[level]["miss_rate"]["mean"])
        else:
            out.append(100 * counts["misses"] / counts["accesses"] if counts["accesses"] else 0)
    return out


def conflicts(report):
    """Shares of the misses that are conflicts: by the FIFO, and by the fully associative cache."""
    fifo, shadow = [], []
    for level in LEVELS:
        counts = next(row for row in report["levels"] if row["name"] == level)
        misses = counts["misses"] or 1
        fifo.append(100 * counts["fifo"]["fifo_conflict"] / misses)
        shadow.append(100 * counts["conflict"] / misses)
    return fifo, shadow


def far(a, b):
    return max(abs(x - y) for x, y in zip(a, b))


def show(numbers):
    return " · ".join(f"{number:.2f}" for number in numbers)


def mean(numbers):
    return sum(numbers) / len(numbers)


def print_misses(kernels, reports):
    print("| kernel | processor | C2Sim | ours | C2Sim off by | ours off by | ours from C2Sim |")
    print("|---|---|---|---|---|---|---|")
    theirs, ours, between = [], [], []
    for kernel in kernels:
        _, processor, c2sim, _, _ = KERNELS[kernel]
        found = rates(reports[kernel])
        theirs.append(far(c2sim, processor))
        ours.append(far(found, processor))
        between.append(far(found, c2sim))
        print(f"| {kernel} | {show(processor)} | {show(c2sim)} | {show(found)} | {theirs[-1]:.2f} | {ours[-1]:.2f} | "
              f"{between[-1]:.2f} |")
    print(f"| mean | | | | {mean(theirs):.2f} | {mean(ours):.2f} | {mean(between):.2f} |")


def print_conflicts(kernels, reports):
    print("| kernel | FIFO there | FIFO here | C2Sim | ours | FIFO off by, there | FIFO off by, here | "
          "ours from C2Sim |")
    print("|---|---|---|---|---|---|---|---|")
    there, here, between = [], [], []
    for kernel in kernels:
        _, _, _, fifo, c2sim = KERNELS[kernel]
        fifo_found, found = conflicts(reports[kernel])
        there.append(far(fifo, c2sim))
        here.append(far(fifo_found, found))
        between.append(far(found, c2sim))
        print(f"| {kernel} | {show(fifo)} | {show(fifo_found)} | {show(c2sim)} | {show(found)} | {there[-1]:.2f} | "
              f"{here[-1]:.2f} | {between[-1]:.2f} |")
    print(f"| mean | | | | | {mean(there):.2f} | {mean(here):.2f} | {mean(between):.2f} |")


def print_placements(kernels, directory):
    print("| addresses | C2Sim off by | ours off by |")
    print("|---|---|---|")
    for number, (name, error, options) in enumerate(PLACEMENTS):
        found = [far(rates(simulate(kernel, options, directory, f"placement{number}")), KERNELS[kernel][1])
                 for kernel in kernels]
        print(f"| {name} | {error:.2f} | {mean(found):.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--keep", metavar="DIR", help="where reports are kept, and those that are there are taken from")
    parser.add_argument("--placement", action="store_true", help="make table 2")
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help="these only: " + ", ".join(KERNELS))
    words = parser.parse_args()
    unknown = [kernel for kernel in words.kernels if kernel not in KERNELS]
    if unknown:
        parser.error(f"there is no kernel {unknown[0]}; there are {', '.join(KERNELS)}")
    kernels = words.kernels or list(KERNELS)
    with tempfile.TemporaryDirectory() as temporary:
        directory = words.keep or temporary
        os.makedirs(directory, exist_ok=True)
        subprocess.run(["gcc", "-g", "-O2", "-fno-tree-vectorize", "-o", os.path.join(directory, "c2sim_kernels"),
                        os.path.join(ROOT, "bench", "c2sim_kernels.c"), "-lm"], check=True)
        if words.placement:
            print_placements(kernels, directory)
            return
        reports = {kernel: simulate(kernel, [*PLACED, "--fifo-detector"], directory, "paper") for kernel in kernels}
        print_misses(kernels, reports)
        print()
        print_conflicts(kernels, reports)


if __name__ == "__main__":
    main()
