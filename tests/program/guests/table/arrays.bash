# SPDX-License-Identifier: GPL-2.0-or-later
declare -A m; for i in {1..200}; do m[$((i % 13))]+=x$i; done; echo "${#m[@]} ${m[5]}"; a=(3 1 2)
[[ foo123 =~ ([a-z]+)([0-9]+) ]] && echo "${BASH_REMATCH[2]}-${BASH_REMATCH[1]}"
s=abcdef; echo "${s:2:3} ${s^^} ${s/cd/XY}"
printf -v p '%s;' "${a[@]}"; echo "$p"; mapfile -t l <fixture.txt; echo "${#l[@]} ${l[7]}"
echo $((16#ff ** 3 % 1000)); exit 9
