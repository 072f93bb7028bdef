#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs what is missing, builds, and runs every test: all of them in the release build, the unit tests under the
# sanitizers, and unit tests and goldens with tiny host-side buffers and no shortcuts (the same numbers must come out).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$root/cmake/setup.sh"

failed=
run_tests() # DIR [CTEST-OPTION]...: goes on after a failure, so that one run shows all of them
{
    local dir=$root/$1
    shift
    ctest --test-dir "$dir" -j "$(nproc)" --output-on-failure --no-tests=error "$@" || failed="$failed ${dir##*/}"
}

# The sanitizer build needs the programs of the unit tests only: the targets test_NAME of the tests unit_NAME.
unit_programs() # DIR
{
    cmake --build "$root/$1" --target help | sed -n 's/^\.\.\. \(test_[a-z0-9_]*\)$/\1/p' |
        grep -Fx -f <(ctest --test-dir "$root/$1" -N -L unit | sed -n 's/^ *Test *#[0-9]*: unit_\(.*\)$/test_\1/p')
}

c2_need $c2_build_packages $c2_test_packages

echo "== release build: all tests"
c2_build build "" -DCMAKE_BUILD_TYPE=Release
run_tests build

echo "== sanitizers: unit tests"
c2_configure build-asan -DCMAKE_BUILD_TYPE=Release -DC2_SANITIZE=ON
c2_build build-asan "$(unit_programs build-asan)" -DCMAKE_BUILD_TYPE=Release -DC2_SANITIZE=ON
run_tests build-asan -L unit

echo "== stress, no shortcuts: unit tests and goldens"
c2_build build-stress "" -DCMAKE_BUILD_TYPE=Release -DC2_STRESS=ON -DC2_NO_SHORTCUTS=ON
run_tests build-stress -L 'unit|golden'

[ -z "$failed" ] || { echo "tests failed in:$failed" >&2; exit 1; }
echo "all tests passed"
