# SPDX-License-Identifier: GPL-2.0-or-later
"""native.py DIR SAMPLE...: prints the table of native.sh: medians of all runs in DIR, and their ratio."""
import glob
import json
import statistics
import sys


def median(directory, program):
    times = []
    for name in glob.glob(f"{directory}/{program}.*.json"):
        with open(name) as file:
            times += json.load(file)["results"][0]["times"]
    return 1000 * statistics.median(times)


def main():
    directory = sys.argv[1]
    print("| sample | as it is | padded | ratio |\n|---|---|---|---|")
    for sample in sys.argv[2:]:
        before, after = median(directory, sample), median(directory, sample + "_padded")
        print(f"| {sample} | {before:.1f} ms | {after:.1f} ms | {before / after:.2f} |")


main()
