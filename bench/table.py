# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints the table of compare.sh: medians of the rounds 1..RUNS in DIR, as ratios."""
import json
import statistics
import sys


def median(directory, name, label, runs):
    times = []
    for round_number in range(1, runs + 1):
        with open(f"{directory}/{name}.{label}.{round_number}.json") as file:
            times.append(json.load(file)["results"][0]["mean"])
    return statistics.median(times)


def row(directory, name, instructions, runs):
    native, cachegrind, model, alone = (
        median(directory, name, label, runs) for label in ("native", "cachegrind", "model", "alone"))
    return (f"| {name} | {instructions / 1e6:.0f} M | {native:.3f} s | {cachegrind:.2f} s | {model:.2f} s | "
            f"{instructions / model / 1e6:.0f} M/s | {cachegrind / model:.2f} | {alone:.2f} s | "
            f"{instructions / alone / 1e6:.0f} M/s |")


def main():
    directory, runs = sys.argv[1], int(sys.argv[2])
    print("| program | instructions | native | Cachegrind | c2emu | c2emu speed | Cachegrind / c2emu | --no-sim | its speed |")
    print("|---|---|---|---|---|---|---|---|---|")
    with open(f"{directory}/names") as names:
        for line in names:
            name, instructions = line.split()
            print(row(directory, name, int(instructions), runs))


main()
