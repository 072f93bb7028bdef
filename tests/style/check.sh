#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The style of the sources, as far as a program can tell:
#   check.sh ROOT
# - C is formatted as .clang-format says (clang-format 14 of Debian 12). Guests are left out: tests know their lines.
# - A pointer is tested by itself (`!p`), never against NULL.
# - No header of a room declares a function that nothing calls (unused.py).
# - No line of a source is longer than 120 columns, and none of a page but for tables and what commands print.
set -uo pipefail
cd "$1" || exit 2
failed=0

sources() # PATTERN...: those of the tree that are no guests
{
    find . -name build\* -prune -o -name .git -prune -o -type f \( "$@" \) -print |
        grep -vE '/guests/|/loader_guest' | LC_ALL=C sort
}

complain() # TEXT, lines on standard input: a heading for them, if there are any
{
    local lines
    lines=$(cat)
    [ -z "$lines" ] || { printf '%s\n%s\n' "$1" "$lines"; failed=1; }
}

mapfile -t c_files < <(sources -name '*.c' -o -name '*.h')
mapfile -t all_files < <(sources -name '*.c' -o -name '*.h' -o -name '*.S' -o -name '*.py' -o -name '*.sh' \
    -o -name '*.cmake' -o -name CMakeLists.txt)
[ "${#c_files[@]}" -gt 200 ] || { echo "only ${#c_files[@]} C files in $1"; exit 1; }

complain "not as clang-format would have it (clang-format -i FILE):" \
    < <(clang-format --dry-run --Werror "${c_files[@]}" 2>&1 | sed -n 's/:[0-9]*: error: .*//p' | uniq)
complain "a comparison with NULL:" < <(grep -nE '[!=]= NULL\b|\bNULL [!=]=' "${c_files[@]}")
mapfile -t pages < <(sources -name '*.md')
complain "longer than 120 columns:" < <(awk 'length > 120 { print FILENAME ":" FNR }' "${all_files[@]}")
complain "longer than 120 columns:" < <(awk 'FNR == 1 { fenced = 0 } /^```/ { fenced = !fenced }
    !fenced && !/^\|/ && length > 120 { print FILENAME ":" FNR }' "${pages[@]}")
complain "declared for others, and nothing calls it:" < <(python3 -B tests/style/unused.py . 2>&1)
exit $failed
