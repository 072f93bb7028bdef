#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# symbols.sh PROGRAM SYMBOLS_H: the functions of Unicorn's that the program takes the place of are those of the list.
set -euo pipefail
export LC_ALL=C
replaced=$(nm -D --defined-only "$1" | awk '$2 == "T" && $3 ~ /_x86_64$/ { print $3 }' | sort)
listed=$(sed -n '/define UNICORN_REPLACED/,/^$/p' "$2" | grep -oE ' X\([A-Za-z0-9_]+\)' |
    sed 's/ X(\(.*\))/\1_x86_64/' | sort)
[ -n "$replaced" ] && diff <(echo "$listed") <(echo "$replaced") && exit
echo "< listed in $2, > defined in $1"
exit 1
