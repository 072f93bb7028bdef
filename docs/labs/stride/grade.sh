#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# grade.sh [DIRECTORY]: 10 points, for DIRECTORY/answers.txt and DIRECTORY/stride.c.
. "$(dirname "$0")/../lab.sh"
lab_start "$@"
lab_build stride "$lab" stride
lab_build stride "$submission" yours
lab_build stride "$lab/../solutions/stride" padded

walk=(-m teach --roi walk --warm none)
lab_report given.json "${walk[@]}" ./stride
lab_report ways4.json "${walk[@]}" --set L1D.ways=4 ./stride
lab_report ways8.json "${walk[@]}" --set L1D.ways=8 ./stride
lab_report padded40.json "${walk[@]}" ./padded 40
lab_report yours.json "${walk[@]}" ./yours
lab_report given12.json "${walk[@]}" ./stride 12
lab_report yours12.json "${walk[@]}" ./yours 12

lab_question Q1 "$(lab_count given.json object:a.L1D.misses)"
lab_question Q2 "$(lab_count given.json object:a.L1D.conflict)"
lab_question Q3 "$(lab_count ways4.json object:a.L1D.misses)"
lab_question Q4 "$(lab_count ways8.json object:a.L1D.misses)"
lab_question Q5 "$(lab_count padded40.json object:a.L1D.misses)"
lab_question Q6 "$(lab_count padded40.json L1D.fa_only_misses)"
lab_task 2 "8 rows without a conflict" given.json yours.json 'object:a.L1D.conflict>-100%' \
    'L1D.accesses<+0'
lab_task 2 "12 rows without a conflict" given12.json yours12.json 'object:a.L1D.conflict>-100%' \
    'L1D.accesses<+0'
lab_end
