#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Times c2emu against Cachegrind and the program alone, against bare Unicorn, and with and without attribution, and
# prints Markdown tables.
# usage: bench/compare.sh [RUNS [cachegrind|unicorn|attribution]...]
# needs hyperfine, valgrind, python3 and a Release build in build/, or in the directory BUILD
#
# Machines drift, so the runs of all commands of a program are taken in turn, and only ratios of medians are quoted.
# Where chrt may, it keeps other processes away.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
runs=${1:-5}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- cachegrind unicorn attribution
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
for tool in hyperfine valgrind python3; do
    command -v "$tool" >/dev/null || { echo "compare.sh: $tool is missing: apt-get install $tool" >&2; exit 1; }
done

build=${BUILD:-$root/build}
images=$build/images
emu=$build/c2emu
cachegrind="valgrind --tool=cachegrind --cache-sim=yes --cachegrind-out-file=/dev/null"

first=
chrt -f 50 true 2>/dev/null && first="chrt -f 50"

time_one() # NAME ROUND LABEL COMMAND
{
    $first hyperfine -N --style none --warmup 0 --runs 1 --export-json "$out/$1.$3.$2.json" "$4" >/dev/null 2>&1 || {
        echo "compare.sh: failed: $4" >&2
        exit 1
    }
}

bench() # NAME PROGRAM ARGS...
{
    name=$1
    shift
    round=0
    while [ "$round" -le "$runs" ]; do # round 0 warms up
        time_one "$name" "$round" native "$*"
        time_one "$name" "$round" cachegrind "$cachegrind -q $*"
        time_one "$name" "$round" model "$emu -q $*"
        time_one "$name" "$round" alone "$emu -q --no-sim $*"
        round=$((round + 1))
    done
    instructions=$("$emu" -q --no-sim --json /dev/fd/3 "$@" 3>&1 >/dev/null |
        sed -n 's/.*"instructions": *\([0-9]*\).*/\1/p' | head -n 1)
    echo "$name $instructions" >>"$out/names"
}

against_cachegrind()
{
    bench matmul-400 "$images/matmul" 400
    bench chase-32M "$images/chase"
    bench sort-200k "$images/sort"
    bench stencil-500 "$images/stencil"
    python3 "$root/bench/table.py" "$out" "$runs"
}

# How much of Unicorn's own speed is left: the same multiplication without libc, on bare Unicorn with empty hooks and
# without hooks, and under c2emu with the complete model, with the data caches of the C2Sim paper alone, with none, and
# skipped before a sample.
against_unicorn()
{
    cmake --build "$build" --target unicorn_bare guest_matmul_400 >/dev/null
    bare=$build/unicorn/unicorn_bare
    guest=$build/tests/program/guests/matmul_400
    round=0
    while [ "$round" -le "$runs" ]; do
        time_one unicorn "$round" hooks "$bare $guest hooks"
        time_one unicorn "$round" none "$bare $guest none"
        time_one unicorn "$round" model "$emu -q $guest"
        time_one unicorn "$round" c2sim "$emu -q -m c2sim $guest"
        time_one unicorn "$round" alone "$emu -q --no-sim $guest"
        time_one unicorn "$round" skip "$emu -q --skip 450M --measure 100k $guest"
        round=$((round + 1))
    done
    python3 "$root/bench/table.py" "$out" "$runs" unicorn
}

# What attribution costs: the complete model without it, with it, and with the call graph of --callgrind on top.
bench_attribution() # NAME PROGRAM ARGS...
{
    name=$1
    shift
    round=0
    while [ "$round" -le "$runs" ]; do
        time_one "$name" "$round" counts "$emu -q --no-attribution $*"
        time_one "$name" "$round" attribution "$emu -q $*"
        time_one "$name" "$round" callgrind "$emu -q --callgrind /dev/null $*"
        round=$((round + 1))
    done
    "$emu" -q --no-attribution --json /dev/fd/3 "$@" 3>&1 >/dev/null |
        python3 "$root/bench/table.py" "$out" "$runs" misses "$name" >>"$out/attributed"
}

# From few misses to misses at every access; the first is little more than the start of a program.
costs_of_attribution()
{
    bench_attribution list-3 "$images/list" 3
    bench_attribution sort "$images/sort"
    bench_attribution nw-300 "$images/nw" 300
    bench_attribution adi_padded-500 "$images/adi_padded" 500
    bench_attribution stencil "$images/stencil"
    bench_attribution transpose_padded-1000 "$images/transpose_padded" 1000
    bench_attribution doitgen-300 "$images/doitgen" 300
    bench_attribution matmul "$images/matmul"
    bench_attribution transpose-1000 "$images/transpose" 1000
    bench_attribution poisson-100 "$images/poisson" 100
    bench_attribution stencil3d-100 "$images/stencil3d" 100
    bench_attribution chase "$images/chase"
    python3 "$root/bench/table.py" "$out" "$runs" attribution
}

for table in "$@"; do
    case $table in
    cachegrind) against_cachegrind ;;
    unicorn) against_unicorn ;;
    attribution) costs_of_attribution ;;
    *) echo "compare.sh: there is no table $table: cachegrind, unicorn, attribution" >&2; exit 1 ;;
    esac
done
