#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# setup.sh ROOT CMAKE: the functions of cmake/setup.sh on made-up machines, whose commands write down how they were
# called; and that a build without tests asks for nothing that only tests need.
set -u
root=$1
cmake=$2
failures=0

# ---------------------------------------------------------------- a machine

# Real commands that the scripts may take for granted, and nothing else: no sudo, no apt-get, no cmake.
machine()
{
    rm -rf "$scratch/bin" "$scratch/calls" "$scratch/project"
    mkdir -p "$scratch/bin" "$scratch/project"
    touch "$scratch/calls"
    for name in bash awk cat cut env flock grep kill mkdir mktemp nproc rm sed sleep tail touch; do
        ln -s "$(command -v "$name")" "$scratch/bin/$name"
    done
    command_is id 'echo 1000'
    command_is dpkg-query 'for p; do case $p in -*|gone*) ;; *) echo "$p installed";; esac; done'
}

command_is() # NAME SCRIPT
{
    printf '#!/bin/bash\necho "%s $*" >>"%s/calls"\n%s\n' "$1" "$scratch" "$2" >"$scratch/bin/$1"
    chmod +x "$scratch/bin/$1"
}

# SCRIPT after setup.sh was sourced, with a patience that no stage here outlasts on a busy host; what it printed and how
# it ended is in out, err, status and calls.
try() # SCRIPT
{
    (cd "$scratch/project" && PATH=$scratch/bin bash -c "set -euo pipefail
        root=$scratch/project; c2_patience=600; . '$root/cmake/setup.sh'; c2_heartbeat=1
        $1") >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    out=$(cat "$scratch/out")
    err=$(cat "$scratch/err")
    calls=$(grep -vE '^(id|dpkg-query) ' "$scratch/calls")
    : >"$scratch/calls"
}

is() # WHAT GOT EXPECTED-PATTERN
{
    [[ $2 == $3 ]] || { echo "FAILED: $1: got {$2}, expected {$3}"; failures=$((failures + 1)); }
}

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# ---------------------------------------------------------------- packages

ask='packages are missing; have them installed by root: apt-get install --no-install-recommends'

machine
try 'c2_need here there'
is 'all packages are there' "$status/$out/$err/$calls" '0///'

try 'c2_need here gone1 there gone2'
is 'no root, no sudo' "$status/$out/$err/$calls" "1//$ask gone1 gone2/"

command_is sudo 'exit 1'
try 'c2_need gone1'
is 'no root, a sudo that needs a password and no terminal' "$status/$out/$err/$calls" "1//$ask gone1/sudo -n true"

command_is sudo '[ "$1" = -n ] || "$@"'
command_is apt-get 'case "$*" in install*) [ -e listed ];; update) touch listed;; esac'
install='sudo env DEBIAN_FRONTEND=noninteractive apt-get'
try 'c2_need gone1 here'
is 'sudo, after an update' "$status/$out/$err" $'0//packages that are missing: gone1\ninstalling packages ...
installing packages: done in ? s'
is 'calls of it' "$calls" "sudo -n true
$install install -y --no-install-recommends gone1
apt-get install -y --no-install-recommends gone1
$install update
apt-get update
$install install -y --no-install-recommends gone1
apt-get install -y --no-install-recommends gone1"

command_is id 'echo 0'
try 'c2_need gone1'
is 'root' "$status/$out/$calls" '0//apt-get install -y --no-install-recommends gone1'

command_is apt-get 'echo "E: no network"; exit 100'
try 'c2_need gone1'
is 'nothing can be installed' "$status/$out/$err" "1//packages that are missing: gone1
installing packages ...
E: no network
E: no network
failed: c2_apt_get gone1
installing packages: failed in ? s
$ask gone1"

# ---------------------------------------------------------------- stages

machine
try 'c2_stage quick /dev/null true; c2_stage "quick too" /dev/null echo printed'
is 'stages that take no time' "$status/$out/$err" '0/printed/'

try 'c2_patience=1; c2_stage slow log bash -c "echo first >log; echo last >>log; sleep 3.2"'
is 'a slow stage' "$status/$out/$err" $'0//slow ...\nslow: ? s so far: last*\nslow: done in ? s'

try 'c2_patience=0; c2_stage bad /dev/null bash -c "exit 7" || echo $?'
is 'a stage that fails' "$status/$out/$err" $'0/7/*bad: failed in ? s'

# ---------------------------------------------------------------- one directory for run.sh and test.sh

machine
command_is cmake 'case $1 in -G) dir=$6
    [ ! -e fail ] || { echo "CMake Error: no cmocka" >&2; touch "$dir/CMakeCache.txt"; exit 1; }
    { echo "CMAKE_HOME_DIRECTORY:INTERNAL=$4"; echo "BUILD_TESTING:BOOL=${7##*=}"; } >"$dir/CMakeCache.txt"
    touch "$dir/Makefile";; esac'
project=$scratch/project
build="cmake --build $project/build -j $(nproc)"
run='c2_build build c2emu -DBUILD_TESTING=OFF'
test='c2_build build "" -DBUILD_TESTING=ON'
configure="cmake -G Unix Makefiles -S $project -B $project/build -DBUILD_TESTING="

try "$run; $run"
is 'run.sh twice' "$status/$out/$err/$calls" "0///${configure}OFF
$build --target c2emu
$build --target c2emu"
touch "$project/build/object"

try "$test; $run; $test"
is 'tests after it, in the same directory' "$status/$out/$err/$calls" "0///${configure}ON
$build
$build --target c2emu
$build"
is 'what was built' "$(ls "$project/build")" '*object*'

touch "$project/fail"
rm "$project/build/Makefile"
try "$test"
is 'tests that cannot be configured' "$status/$out/$err" '1//CMake Error: no cmocka*failed: cmake *'
rm "$project/fail"
try "$run"
is 'run.sh after that' "$status/$calls" "0/${configure}OFF
$build --target c2emu"

sed -i 's,INTERNAL=.*,INTERNAL=/elsewhere,' "$project/build/CMakeCache.txt"
try "$run"
is 'a directory that was moved' "$status/$calls" "0/${configure}OFF
$build --target c2emu"

# ---------------------------------------------------------------- new builds

C2EMU=$scratch/new/c2emu "$cmake" -S "$root" -B "$scratch/new" >"$scratch/log" 2>&1 || cat "$scratch/log"
is 'tests of a build of which nothing is there yet' \
    "$(ctest --test-dir "$scratch/new" -N | grep -c docs_commands_)" '[1-9]*'

# What one without tests looks for
"$cmake" -S "$root" -B "$scratch/build" -DBUILD_TESTING=OFF >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
is 'tools of the tests' "$(grep -iE '^\w*(cmocka|python|musl|clang|gxx|cxx)' "$scratch/build/CMakeCache.txt")" ''
is 'programs of the tests' "$("$cmake" --build "$scratch/build" --target help | grep -E 'test_|guest')" ''
is 'c2emu and the samples' "$("$cmake" --build "$scratch/build" --target help | grep -cE '^\.\.\. (c2emu|images)$')" 2

[ "$failures" = 0 ] && echo "setup: packages, stages and directories as they should be"
exit $((failures > 0))
