# SPDX-License-Identifier: GPL-2.0-or-later
sort fixture.txt | uniq -c | sort -rn | head -n 3
echo $(echo nested | tr a-z A-Z) | rev | cat -n
(cd sub && ls | wc -l; exit 4) || echo "status $?"
while read -r n word; do echo "$word $n"; done <sorted.txt | tail -n 2
sleep 0.01 & wait $!; echo "waited $?"
trap 'echo left' EXIT
sh -c 'kill -TERM $$'
echo "killed $?"
exit 5
