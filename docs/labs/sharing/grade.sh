#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# grade.sh [DIRECTORY]: 8 points, for DIRECTORY/answers.txt and DIRECTORY/sharing.c.
. "$(dirname "$0")/../lab.sh"
lab_start "$@"
lab_build sharing "$lab" sharing -pthread
lab_build sharing "$submission" yours -pthread
mkdir "$scratch/pairs"
sed 's/^    volatile long count;/    _Alignas(32) volatile long count;/' "$lab/sharing.c" >"$scratch/pairs/sharing.c"
lab_build sharing "$scratch/pairs" halves -pthread

lab_report given.json --cores 4 ./sharing
lab_report halves.json --cores 4 ./halves
lab_report cores2.json --cores 2 ./sharing
lab_report cores1.json --cores 1 ./sharing
lab_report yours.json --cores 4 ./yours

# To the nearest hundred: who comes first behind the barrier decides on one or two.
hundreds() # REPORT.json
{
    local count
    count=$(lab_count "$1" object:counters.L1D.coherence) || exit 2
    echo $(((count + 50) / 100 * 100))
}

lab_question Q1 "$(hundreds given.json)"
lab_question Q2 "$(hundreds halves.json)"
lab_question Q3 "$(hundreds cores2.json)"
lab_question Q4 "$(lab_count cores1.json object:counters.L1D.misses)"
lab_task 4 "no counter is taken away" given.json yours.json 'object:counters.L1D.coherence>-99%'
lab_end
