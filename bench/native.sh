#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Times the samples of conflicts on the processor itself, each against its cure, and prints a Markdown table of medians.
# usage: bench/native.sh [RUNS [SAMPLE]...]     (needs hyperfine, python3 and a Release build in build/)
#
# Each program runs its kernel 1000 times: tens of milliseconds, against one for its start. The two of a pair run in
# turn, so that a drift of the machine meets both. Where chrt may, it keeps other processes away.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
images=${IMAGES:-$root/build/images}
runs=${1:-50}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- transpose doitgen adi nw stencil3d poisson histogram
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
for tool in hyperfine python3; do
    command -v "$tool" >/dev/null || { echo "native.sh: $tool is missing: apt-get install $tool" >&2; exit 1; }
done
first=
chrt -f 50 true 2>/dev/null && first="chrt -f 50"

time_one() # PROGRAM ROUND
{
    $first hyperfine -N --style none --warmup 1 --runs 5 --export-json "$out/$1.$2.json" "$images/$1 1000" \
        >/dev/null 2>&1 || {
        echo "native.sh: failed: $images/$1 1000" >&2
        exit 1
    }
}

for sample in "$@"; do
    round=0
    while [ "$round" -lt $(((runs + 4) / 5)) ]; do
        time_one "$sample" "$round"
        time_one "${sample}_padded" "$round"
        round=$((round + 1))
    done
done
python3 "$root/bench/native.py" "$out" "$@"
