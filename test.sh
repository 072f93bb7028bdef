#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs what is missing, builds, and runs every test: all of them in the release build, the unit tests under the
# sanitizers, and unit tests, goldens and the engine's suite with tiny host-side buffers, no shortcuts and enforced
# rights (the same numbers must come out).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
c2_patience=0
. "$root/cmake/setup.sh"

failed=
logged() # LOG COMMAND...: what it prints goes into the log as well
{
    local log=$1
    shift
    "$@" | tee "$log"
}

# Goes on after a failure, so that one run shows all of them. One test more at a time than there are processors: some
# wait.
run_tests() # DIR [CTEST-OPTION]...
{
    local name=$1 dir=$root/$1
    shift
    c2_stage "testing $name" "$dir/test.log" logged "$dir/test.log" \
        ctest --test-dir "$dir" -j "$(($(nproc) + 1))" --output-on-failure --no-tests=error "$@" ||
        failed="$failed $name"
}

c2_need $c2_build_packages $c2_test_packages
options=(-DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=ON)

echo "== release build: all tests"
c2_build build "" "${options[@]}"
run_tests build

echo "== sanitizers: unit tests"
c2_build build-asan unit_tests "${options[@]}" -DC2_SANITIZE=ON
run_tests build-asan -L unit

echo "== stress, no shortcuts: unit tests, goldens, the engine's suite"
c2_build build-stress "unit_tests goldens engine_tests" "${options[@]}" -DC2_STRESS=ON -DC2_NO_SHORTCUTS=ON \
    -DC2_ENFORCE=ANY
run_tests build-stress -L 'unit|golden|engine'

[ -z "$failed" ] || { echo "tests failed in:$failed, after $(c2_elapsed "$SECONDS")" >&2; exit 1; }
echo "all tests passed, in $(c2_elapsed "$SECONDS")"
