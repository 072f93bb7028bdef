#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# grade.sh [DIRECTORY]: 12 points, for DIRECTORY/answers.txt, DIRECTORY/pages.c and DIRECTORY/options.txt.
. "$(dirname "$0")/../lab.sh"
lab_start "$@"
lab_build pages "$lab" pages
lab_build pages "$submission" yours

walk=(-m c2sim --roi walk --warm none)
same=(--pages same-color)
read -r -a options < <(sed '/^#/d' "$submission/options.txt" 2>/dev/null)
case " ${options[*]-} " in
*' -'[^-]* | *' --'[^ph]* | *' --'[ph][^alu]*)
    lab_fail "options.txt: only --pages, --place, --huge and --huge-size are about pages"
    ;;
esac

lab_report given.json "${walk[@]}" --pages sequential ./pages
lab_report same.json "${walk[@]}" "${same[@]}" ./pages
lab_report huge.json "${walk[@]}" "${same[@]}" --huge all ./pages
lab_report random.json "${walk[@]}" --pages random ./pages
lab_report random_yours.json "${walk[@]}" --pages random "${options[@]}" ./pages
lab_report same_yours.json "${walk[@]}" "${same[@]}" ./yours
lab_report given_yours.json "${walk[@]}" --pages sequential ./yours

lab_question Q1 "$(lab_count given.json object:memory.L1D.conflict)"
lab_question Q2 "$(lab_count given.json object:memory.L2.conflict)"
lab_question Q3 "$(lab_count same.json object:memory.L2.conflict)"
lab_question Q4 "$(lab_count same.json object:memory.L2.misses)"
lab_question Q5 "$(lab_count huge.json object:memory.L2.conflict)"
lab_task 3 "options: no conflict in L2" random.json random_yours.json 'L2.conflict>-100%' 'L1D.accesses<+0'
lab_task 2 "program: no conflict in L1D" given.json given_yours.json 'L1D.conflict>-100%' 'L1D.accesses<+0'
lab_task 2 "program: nor in L2, wherever pages lie" same.json same_yours.json 'L2.conflict>-100%' 'L1D.accesses<+0'
lab_end
