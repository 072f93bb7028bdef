#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# grade.sh [DIRECTORY]: 10 points, for DIRECTORY/answers.txt and DIRECTORY/blocking.c.
. "$(dirname "$0")/../lab.sh"
lab_start "$@"
lab_build blocking "$lab" blocking
lab_build blocking "$submission" yours
mkdir "$scratch/longer"
sed 's/^#define ROW .*/#define ROW (N + 8)/' "$lab/blocking.c" >"$scratch/longer/blocking.c"
lab_build blocking "$scratch/longer" padded

multiply=(-m c2sim --roi multiply --warm none)
lab_report given.json "${multiply[@]}" ./blocking
lab_report padded.json "${multiply[@]}" ./padded
lab_report yours.json "${multiply[@]}" ./yours

lab_question Q1 "$(lab_count given.json object:b.L1D.misses)"
lab_question Q2 "$(lab_count given.json object:b.L1D.conflict)"
lab_question Q3 "$(lab_count padded.json object:b.L1D.misses)"
lab_question Q4 "$(lab_count padded.json object:a.L1D.misses)"
lab_task 2 "hardly a conflict" given.json yours.json 'L1D.conflict>-99%'
lab_task 2 "an eighth of the misses" given.json yours.json 'L1D.misses>-87%'
lab_task 2 "a fiftieth of the misses" given.json yours.json 'L1D.misses>-98%'
lab_end
