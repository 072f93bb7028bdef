# SPDX-License-Identifier: GPL-2.0-or-later
diff <(sort fixture.txt | head -n 40) <(sort -r fixture.txt | tail -n 40)
echo "diff $?"
cmp <(head -c 100 binary) binary
echo "cmp $?"
mapfile -t lines < <(grep -n 7 sorted.txt)
echo "${#lines[@]} ${lines[1]}"
{ sleep 0.02; echo later; } & echo now; wait
false | true | (exit 3) | cat
echo "${PIPESTATUS[@]}"
read -r word rest <<<"a here string"; echo "$rest $word"
for i in 1 2 3; do echo $i; done | while read -r n; do echo "$((n * n))" & wait; done | tac | tee copy | (read -r first; echo "first $first"; cat)
seq 2000 | (head -n 1; cat >/dev/null)
yes | head -n 2
exec 7< <(echo in the background); read -r line <&7; echo "$line"
