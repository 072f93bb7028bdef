#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The style of the sources, as far as a program can tell:
#   check.sh ROOT
# - C is formatted as .clang-format says (clang-format 14 of Debian 12). Guests are left out: tests know their lines.
# - A pointer is tested by itself (`!p`), never against NULL.
# - An engine is named in its room, and where engines are listed.
# - Static functions of different files of the rooms do not share a name: a profile or a stack names one of them.
# - No header of a room declares a function that nothing calls (unused.py).
# - No line of a source is longer than 120 columns, and none of a page but for tables and what commands print.
# Before that the checks are tried on a small tree made up here, with violations that must be named.
set -uo pipefail
export LC_ALL=C.UTF-8 # a column is a character
failed=0

sources() # PATTERN...: those of the tree that are no guests, build directories left out
{
    find . -name build\* -prune -o -name .git -prune -o -type f \( "$@" \) -print |
        grep -vE '/guests/|/loader_guest' | LC_ALL=C sort
}

headed() # TEXT, lines on standard input: a heading for them, if there are any
{
    local lines
    lines=$(cat)
    [ -z "$lines" ] || printf '%s\n%s\n' "$1" "$lines"
}

prose() # PAGE...: FILE:LINE:TEXT of what is no table and stands in no fenced block
{
    awk 'FNR == 1 { fenced = 0 } /^```/ { fenced = !fenced } !fenced && !/^\|/ { print FILENAME ":" FNR ":" $0 }' "$@"
}

# Names of an engine stand in its room, in the list of engines, and in what tests and measures it; and in a message that
# refers a user to it.
engines_rooms='^\./(unicorn|tests|bench)/|^\./emu/engines\.c:|define (EMU_ENGINES?|REPORT_ENGINE) |--engine unicorn'

shared_names() # FILE.c...: static functions that more than one file defines or declares, with the files
{
    awk '/^static [^=]*\(/ {
            name = $0
            gsub(/__attribute__\(\([a-z_]*(\([^)]*\))?\)\)/, "", name)
            sub(/\(.*/, "", name)
            sub(/.*[ *]/, "", name)
            if (name !~ /^[A-Z_]+$/ && !seen[FILENAME, name]++) {
                files[name] = files[name] " " FILENAME
                count[name]++
            }
        }
        END { for (name in count) if (count[name] > 1) print name ":" files[name] }' "$@" | LC_ALL=C sort
}

violations() # ROOT
(
    cd "$1" || return
    mapfile -t c_files < <(sources -name '*.c' -o -name '*.h')
    mapfile -t all_files < <(sources -name '*.c' -o -name '*.h' -o -name '*.S' -o -name '*.py' -o -name '*.sh' \
        -o -name '*.cmake' -o -name CMakeLists.txt -o -name '*.js' -o -name '*.css' -o -name 'page.html')
    clang-format --dry-run --Werror "${c_files[@]}" 2>&1 | sed -n 's/:[0-9]*:[0-9]*: error: .*//p' | uniq |
        headed "not as clang-format would have it (clang-format -i FILE):"
    grep -nHE '[!=]= NULL\b|\bNULL [!=]=' "${c_files[@]}" | headed "a comparison with NULL:"
    grep -nHi unicorn "${c_files[@]}" | grep -vE "$engines_rooms" | cut -d : -f 1,2 |
        headed "names an engine outside of its room:"
    mapfile -t room_files < <(printf '%s\n' "${c_files[@]}" | grep '\.c$' | grep -vE '^\./(tests|images|bench|docs)/')
    shared_names "${room_files[@]}" | headed "static functions of one name:"
    mapfile -t pages < <(sources -name '*.md')
    { grep -nH '' "${all_files[@]}" && prose "${pages[@]}"; } | grep -E '^[^:]*:[0-9]*:.{121}' | cut -d : -f 1,2 |
        headed "longer than 120 columns:"
)

# ---------------------------------------------------------------- the checks themselves

expect() # EXPECTED CHANGE...: after the change was done to a tree without violations
{
    local expected=$1 found
    shift
    rm -rf "$scratch/tree"
    mkdir -p "$scratch/tree"/{room,tests/guests,build}
    cp "$root/.clang-format" "$scratch/tree"
    printf 'int f(int *p) { return !p; }\n' | tee "$scratch/tree/room/a.c" >"$scratch/tree/room/a.h"
    printf '%0120d\n' 0 | tee "$scratch/tree/room/CMakeLists.txt" >"$scratch/tree/room/b.py"
    printf '```\n%0121d\n```\n|%0121d\n' 0 0 >"$scratch/tree/page.md"
    printf 'int  x = NULL == 0;' | tee "$scratch/tree/tests/guests/x.c" >"$scratch/tree/build/x.c"
    (cd "$scratch/tree" && eval "$*")
    found=$(violations "$scratch/tree")
    [ "$found" = "$expected" ] && return
    echo "after { $* } the checks say: ${found:-nothing}; expected: ${expected:-nothing}"
    failed=1
}

formatted='not as clang-format would have it (clang-format -i FILE):'
root=$(cd "$1" && pwd) || exit 2
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
expect '' true
expect "$formatted"$'\n./room/a.h' "echo 'int  x;' >>room/a.h"
expect "$formatted"$'\n./room/a.c' "printf 'void f(void) {\n}\nvoid g(void) {\n}\n' >>room/a.c"
expect $'a comparison with NULL:\n./room/a.c:2:int y = 0 == NULL;' "echo 'int y = 0 == NULL;' >>room/a.c"
expect $'a comparison with NULL:\n./room/a.h:2:int y = NULL != 0;' "echo 'int y = NULL != 0;' >>room/a.h"
expect $'longer than 120 columns:\n./room/CMakeLists.txt:2\n./room/b.py:1' \
    "printf '%0121d\n' 0 | tee room/b.py >>room/CMakeLists.txt"
expect $'longer than 120 columns:\n./page.md:5' "printf '%0121d\n' 0 >>page.md"
expect $'names an engine outside of its room:\n./room/a.c:2' "echo '/* Unicorn */' >>room/a.c"
expect '' "mkdir unicorn && echo '/* Unicorn */' >unicorn/a.c && echo '/* use --engine unicorn */' >>room/a.c"
expect $'static functions of one name:\ng: ./room/a.c ./room/b.c' \
    "echo 'static int *g(int x) { return 0; }' | tee -a room/a.c >room/b.c"
expect '' "echo 'static int g(int x) { return x; }' | tee -a room/a.c >tests/b.c"
expect '' "printf '%0119dé' 0 >room/b.py"

# ---------------------------------------------------------------- the tree

found=$(violations "$root"
    python3 -B "$root/tests/style/unused.py" "$root" 2>&1 | headed "declared for others, and nothing calls it:")
[ -z "$found" ] || { echo "$found"; failed=1; }
files=$(cd "$root" && sources -name '*.[ch]' | wc -l)
[ "$files" -gt 200 ] || { echo "only $files C files in $root"; failed=1; }
exit $failed
