#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: tests/engine/sequences.sh BUILD [PROGRAMS [FIRST]]
# The long way of test_engine_sequences, by hand: PROGRAMS brief random programs (1000000) for each processor, from seed
# FIRST (1) on, against the host's processor; a million takes some ten minutes a processor. Those of x86-64-v2 run in
# both engines, the others in the native one alone. Fails if one differs; tried again with "explain-brief" and its
# seed, that one is told in instructions.
set -euo pipefail
build=${1:?usage: tests/engine/sequences.sh BUILD [PROGRAMS [FIRST]]}
first=${3:-1}
last=$((first + ${2:-1000000} - 1))
failed=0

try() # ENGINE [PROCESSOR]
{
    echo "== ${2:-x86-64-v2}, $1"
    C2_TEST_ENGINE=$1 "$build/tests/engine/test_engine_sequences" brief ${2:+"$2"} "$first" "$last" || failed=1
}

try unicorn
try native
for processor in x86-64-v3 x86-64-v4 host; do
    try native "$processor"
done
exit "$failed"
