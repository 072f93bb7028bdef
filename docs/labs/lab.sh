# SPDX-License-Identifier: GPL-2.0-or-later
# What the labs' grade.sh share; each begins with
#     . "$(dirname "$0")/../lab.sh"
#     lab_start "$@"
# A grade.sh takes the directory of a submission, the lab's own without one. It prints a line for each question and
# task, and last the points. Exit status: 0 when all points are there, 1 when some are missing, 2 when nothing can be
# graded. C2EMU and CC name the emulator and the compiler, where it is not the build's and cc.
set -uo pipefail

lab_fail() # TEXT
{
    echo "grade: $1" >&2
    exit 2
}

lab_start() # [DIRECTORY]: of the submission
{
    lab=$(cd "$(dirname "$0")" && pwd)
    submission=$(cd "${1:-$lab}" && pwd) || exit 2
    c2emu=${C2EMU:-$lab/../../../build/c2emu}
    [ -x "$c2emu" ] || c2emu=$(command -v c2emu) || lab_fail "build c2emu first (./run.sh), or set C2EMU"
    command -v python3 >/dev/null || lab_fail "Python 3 is needed (apt-get install python3)"
    command -v "${CC:-cc}" >/dev/null || lab_fail "a C compiler is needed, in CC or as cc"
    scratch=$(mktemp -d) || exit 2
    trap 'rm -rf "$scratch"' EXIT
    tenths=0 full=0 # points
}

# Programs are built without vectors, whose references are not those of the source, and in one place, so that the
# length of a path changes no number.
lab_build() # NAME DIRECTORY OUTPUT [OPTION]...
{
    local name=$1 directory=$2 output=$3
    shift 3
    (cd "$scratch" && cp "$directory/$name.c" "$name.c" &&
        ${CC:-cc} -O1 -g -Wall -fno-tree-vectorize "$@" -o "$output" "$name.c") ||
        lab_fail "$directory/$name.c: no program"
}

lab_report() # REPORT.json [OPTION]... PROGRAM [ARG]...
{
    local report=$scratch/$1
    shift
    (cd "$scratch" && "$c2emu" -q --json-full "$report" "$@" >"$report.out") || lab_fail "the run of $* failed"
}

lab_count() # REPORT.json LEVEL.COUNTER, or object:NAME.LEVEL.COUNTER
{
    python3 - "$scratch/$1" "$2" <<'END' || lab_fail "$1 has no $2"
import json, sys
report, (*thing, level, counter) = json.load(open(sys.argv[1])), sys.argv[2].split(".")
if thing:
    name = thing[0].removeprefix("object:")
    report = next(each for each in report["objects"] if each["name"] == name)
print(next(each for each in report["levels"] if each["name"] == level)[counter])
END
}

lab_points() # TENTHS OF TEXT: got, and at most
{
    tenths=$((tenths + $1))
    full=$((full + $2))
    printf '%4d.%d of %2d  %s\n' $(($1 / 10)) $(($1 % 10)) $(($2 / 10)) "$3"
}

# The submission's answers.txt has a line `NAME = NUMBER` for each question; which number is right is for the model to
# say.
lab_question() # NAME NUMBER
{
    local answer
    [ -n "$2" ] || exit 2 # lab_count has said why
    answer=$(sed -n "s/^ *$1 *= *\([0-9][0-9,]*\) *\$/\1/p" "$submission/answers.txt" 2>/dev/null | tail -n 1 | tr -d ,)
    if [ -z "$answer" ]; then
        lab_points 0 10 "$1: no answer"
    elif [ "$answer" = "$2" ]; then
        lab_points 10 10 "$1: $answer"
    else
        lab_points 0 10 "$1: $answer is not what the model says"
    fi
}

# Both programs print the same, and none of the conditions of diff --fail-if holds.
lab_task() # POINTS TEXT A.json B.json CONDITION...
{
    local points=$1 text=$2 a=$3 b=$4 conditions=() failed status
    shift 4
    for condition in "$@"; do
        conditions+=(--fail-if "$condition")
    done
    if ! cmp -s "$scratch/$a.out" "$scratch/$b.out"; then
        lab_points 0 $((points * 10)) "$text: the program prints something else"
        return
    fi
    failed=$("$c2emu" diff "$scratch/$a" "$scratch/$b" "${conditions[@]}")
    status=$?
    [ $status -le 1 ] || lab_fail "the reports cannot be compared"
    if [ $status = 0 ]; then
        lab_points $((points * 10)) $((points * 10)) "$text"
    else
        lab_points 0 $((points * 10)) "$text: $(sed -n 's/^FAILED: //p' <<<"$failed" | head -n 1)"
    fi
}

lab_end()
{
    printf '%4d.%d of %2d  points\n' $((tenths / 10)) $((tenths % 10)) $((full / 10))
    [ $tenths = $full ]
}
