# SPDX-License-Identifier: GPL-2.0-or-later
set -e; i=0; while [ $i -lt 300 ]; do i=$((i + 1)); case $i in *7) s="$s,$i";; esac; done; echo "$s"
f() { local x=$1; [ $x -le 1 ] && { r=1; return; }; f $((x - 1)); r=$((r * x)); }; f 12; echo $r
while read -r a b; do t=$((t + a)); done <fixture.txt; echo $t; printf '%05d %s %x\n' 42 word 255; cd sub && echo *
