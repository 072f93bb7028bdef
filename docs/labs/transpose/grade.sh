#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# grade.sh [DIRECTORY]: the scale of part B of the Cache Lab, 26 points, for DIRECTORY/transpose.c.
. "$(dirname "$0")/../lab.sh"
lab_start "$@"
lab_build transpose "$submission" transpose

# Misses of what transpose_submit does to the two matrices: as in the lab, what lies above 4 GiB, the stack, is taken
# out of the trace, and the cache is empty at first.
misses() # M N
{
    "$c2emu" csim -v -s 5 -E 1 -b 5 --roi transpose_submit "$scratch/transpose" "$1" "$2" 2>"$scratch/lines" ||
        return 1
    awk '$2 ~ /,/ { split($2, at, ","); if (length(at[1]) <= 8) print " " $1, $2 }' "$scratch/lines" |
        "$c2emu" csim -s 5 -E 1 -b 5 -t - | sed 's/.*misses:\([0-9]*\).*/\1/'
}

# Full points up to BEST misses, none from WORST on, in between a straight line.
grade() # M N POINTS BEST WORST
{
    local count
    if ! count=$(misses "$1" "$2"); then
        lab_points 0 $(($3 * 10)) "$1 x $2: the result is wrong"
        return
    fi
    lab_report naive.json -m "$lab/cache.ini" --roi transpose_naive ./transpose "$1" "$2" naive
    lab_report yours.json -m "$lab/cache.ini" --roi transpose_submit ./transpose "$1" "$2"
    if ! "$c2emu" diff "$scratch/naive.json" "$scratch/yours.json" --fail-if 'L1D.misses>+0' >/dev/null; then
        lab_points 0 $(($3 * 10)) "$1 x $2: $count misses, more than without any change"
        return
    fi
    lab_points "$(awk -v m="$count" -v full="$3" -v best="$4" -v worst="$5" 'BEGIN {
        share = m <= best ? 1 : m >= worst ? 0 : 1 - (m - best) / (worst - best)
        printf "%.0f", share * full * 10
    }')" $(($3 * 10)) "$1 x $2: $count misses"
}

grade 32 32 8 300 600
grade 64 64 8 1300 2000
grade 61 67 10 2000 3000
lab_end
