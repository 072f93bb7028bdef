#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# layers.sh ROOT COMPILER: the rooms under ROOT obey tests/layers.txt, and each public header compiles alone.
# Before that the checks are tried on small trees made up here, each with one violation that must be named.
set -u
root=$1
compiler=$2

# Folders of code that stand beside the rooms: what links against any of them, and programs that are no part of it.
beside='tests|images|bench|docs|build.*'

code_files() { # FOLDER...
    find "$@" -name '*.[ch]' -o -name '*.inc' -o -name '*.def' | sort
}

# Prints one line for each violation of the table by the table itself, a folder, an #include or a link.
check_rooms() { # ROOT
    (cd "$1" && {
        cat tests/layers.txt
        for folder in */; do
            folder=${folder%/}
            [[ ! $folder =~ ^($beside)$ && $(code_files "$folder") ]] || continue
            echo "folder $folder"
            code_files "$folder" | xargs grep -nHE '^[[:blank:]]*#[[:blank:]]*include[[:blank:]]*"' |
                sed 's/^/include /'
            [[ -e $folder/CMakeLists.txt ]] || continue
            grep -oE '\bc2_[a-z]+\b' "$folder/CMakeLists.txt" | sed "s,^,link $folder ,"
        done
    }) | awk '
        $1 ~ /^#/ || NF == 0 { next }
        $1 ~ /^[0-9]+$/ { # a row of the table; a room may use its own headers
            floor[$2] = $1
            may[$2, $2] = 1
            for (i = 3; i <= NF; i++) {
                may[$2, $i] = 1
                if (!($i in floor) || floor[$i] >= $1)
                    print "tests/layers.txt: " $2 " may use " $i ", which is no lower floor"
            }
            next
        }
        $1 == "folder" && !($2 in floor) { print $2 "/: holds code and is no room of tests/layers.txt" }
        $1 == "link" {
            used = substr($3, 4)
            if (used in floor && !(($2, used) in may))
                print $2 "/CMakeLists.txt: may not link " $3
        }
        $1 == "include" {
            split($2, at, ":")
            match($0, /"[^"]*"/)
            header = substr($0, RSTART + 1, RLENGTH - 2)
            room = at[1]; sub(/\/.*/, "", room)
            used = header; sub(/\/.*/, "", used)
            if (!(room in floor))
                next
            where = at[1] ":" at[2] ": "
            if (!(used in floor))
                print where "\"" header "\" is not written from the root as \"room/header.h\""
            else if (!((room, used) in may))
                print where room " may not include \"" header "\""
            else if (room != used && header ~ /_priv\.h$/)
                print where room " includes the private header \"" header "\""
        }'
}

# Compiles each public header of a room twice in one otherwise empty file: once alone, once behind its own guard.
check_headers() { # ROOT
    local header report
    grep -vE '^#' "$1/tests/layers.txt" | while read -r _ room _; do
        for header in "$1/$room"/*.h; do
            [[ -e $header && $header != *_priv.h ]] || continue
            header=$room/${header##*/}
            report=$(printf '#include "%s"\n#include "%s"\n' "$header" "$header" |
                "$compiler" -std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Wstrict-prototypes -Wundef -Werror -fsyntax-only \
                    -I"$1" -x c - 2>&1) || printf '%s: does not compile alone:\n%s\n' "$header" "$report"
        done
    done
}

failures=0
fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# A small tree with three rooms that obeys everything.
make_tree() { # ROOT
    rm -rf "$1"
    mkdir -p "$1"/{tests/unit,low,mid/deep,high,build/high}
    printf '# floor room may-include\n0 low\n1 mid low\n2 high low mid\n' >"$1/tests/layers.txt"
    printf '#ifndef LOW_H\n#define LOW_H\nstruct low { int v; };\n#endif\n' >"$1/low/low.h"
    printf '#ifndef MID_H\n#define MID_H\n#include "low/low.h"\nint mid(struct low low);\n#endif\n' >"$1/mid/mid.h"
    printf '#include "mid/deep/x_priv.h"\n#include "mid/mid.h"\n#include <stdio.h>\n' >"$1/mid/mid.c"
    printf '/* "high/high.h" is not included */\n' >"$1/mid/deep/x_priv.h"
    printf '#include "low/low.h"\n  #  include "mid/mid.h"\n' >"$1/high/high.c"
    printf 'c2_room(mid SOURCES mid.c USES c2_low)\n' >"$1/mid/CMakeLists.txt"
    printf '#include "nonsense.h"\n' >"$1/tests/unit/test.c"
    printf '#include "generated.h"\n' >"$1/build/high/made.c"
}

# The checks must print exactly EXPECTED (a pattern for the whole of it) after `change` was done to the tree.
expect() { # EXPECTED CHANGE...
    local expected=$1 found
    shift
    make_tree "$scratch/tree"
    (cd "$scratch/tree" && eval "$*")
    found=$(check_rooms "$scratch/tree"; check_headers "$scratch/tree")
    [[ $found == $expected ]] || fail "after { $* } the checks say: ${found:-nothing}; expected: ${expected:-nothing}"
}

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
expect '' true
expect 'low/low.c:1: low may not include "mid/mid.h"' "echo '#include \"mid/mid.h\"' >low/low.c"
expect 'low/low.c:2: low may not include "high/high.h"' "printf '\n\t# include \"high/high.h\"\n' >low/low.c"
expect 'low/sub/deep.def:1: low may not include "mid/mid.h"' \
    "mkdir low/sub; echo '#include \"mid/mid.h\"' >low/sub/deep.def"
expect 'high/high.c:1: high includes the private header "mid/deep/x_priv.h"' \
    "echo '#include \"mid/deep/x_priv.h\"' >high/high.c"
expect 'mid/mid.c:1: "mid.h" is not written from the root as "room/header.h"' "echo '#include \"mid.h\"' >mid/mid.c"
expect 'mid/mid.c:1: "../low/low.h" is not written from the root as "room/header.h"' \
    "echo '#include \"../low/low.h\"' >mid/mid.c"
expect 'attic/: holds code and is no room of tests/layers.txt' "mkdir attic; echo >attic/x.c"
expect 'low/CMakeLists.txt: may not link c2_mid' "echo 'c2_room(low SOURCES low.c USES c2_mid)' >low/CMakeLists.txt"
expect 'tests/layers.txt: low may use mid, which is no lower floor' \
    "printf '0 low mid\n1 mid low\n2 high low mid\n' >tests/layers.txt"
expect 'low/low.h: does not compile alone:*unknown type name*size_t*' "echo 'size_t low(void);' >low/low.h"
expect 'low/low.h: does not compile alone:*redefinition*' "echo 'struct low { int v; };' >low/low.h"

violations=$(check_rooms "$root"; check_headers "$root")
[[ -z $violations ]] || fail "the rooms of this tree:"$'\n'"$violations"
rooms=$(grep -cvE '^#' "$root/tests/layers.txt")
[[ $rooms -gt 0 ]] || fail "$root/tests/layers.txt names no room"
[[ $failures -eq 0 ]] && echo "layers: $rooms rooms obey tests/layers.txt, every public header compiles alone"
exit $((failures > 0))
