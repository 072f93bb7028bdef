# SPDX-License-Identifier: GPL-2.0-or-later
"""table.py DIR RUNS [unicorn|attribution]: prints the tables of compare.sh: medians of the rounds 1..RUNS in DIR, as
ratios.
table.py DIR RUNS misses NAME: from a report on standard input, `NAME share`: misses of L1D per line access."""
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


def against_unicorn(directory, runs):
    seconds = {label: median(directory, "unicorn", label, runs)
               for label in ("hooks", "none", "model", "c2sim", "alone", "skip")}
    print("\n| what runs it | seconds | speed of bare Unicorn with empty hooks = 1 |")
    print("|---|---|---|")
    for label, what in (("hooks", "bare Unicorn, empty hooks"), ("none", "bare Unicorn, no hooks"),
                        ("model", "c2emu, the complete default model"), ("c2sim", "c2emu -m c2sim"),
                        ("alone", "c2emu --no-sim"), ("skip", "c2emu --skip 450M --measure 100k")):
        print(f"| {what} | {seconds[label]:.2f} s | {seconds['hooks'] / seconds[label]:.2f} |")


def attribution(directory, runs):
    print("\n| program | L1D miss rate | without attribution | with it | ratio | with --callgrind | ratio |")
    print("|---|---|---|---|---|---|---|")
    with open(f"{directory}/attributed") as names:
        for line in names:
            name, share = line.split()
            counts, whole, callgrind = (median(directory, name, label, runs)
                                        for label in ("counts", "attribution", "callgrind"))
            print(f"| {name} | {float(share):.1%} | {counts:.2f} s | {whole:.2f} s | {whole / counts:.2f} | "
                  f"{callgrind:.2f} s | {callgrind / counts:.2f} |")


def misses(name):
    report = sys.stdin.read()
    level = json.loads(report[report.index("{"):])["levels"][0]
    print(name, level["misses"] / level["accesses"])


def main():
    directory, runs = sys.argv[1], int(sys.argv[2])
    if sys.argv[3:] == ["unicorn"]:
        return against_unicorn(directory, runs)
    if sys.argv[3:] == ["attribution"]:
        return attribution(directory, runs)
    if sys.argv[3:4] == ["misses"]:
        return misses(sys.argv[4])
    print("| program | instructions | native | Cachegrind | c2emu | c2emu speed | Cachegrind / c2emu | --no-sim "
          "| its speed |")
    print("|---|---|---|---|---|---|---|---|---|")
    with open(f"{directory}/names") as names:
        for line in names:
            name, instructions = line.split()
            print(row(directory, name, int(instructions), runs))


main()
