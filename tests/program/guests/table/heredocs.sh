# SPDX-License-Identifier: GPL-2.0-or-later
name=World
cat <<END | tr a-z A-Z
Hello $name $((6 * 7)) $(echo nested | rev)
END
cat <<'END'
as it is: $name `no`
END
sort -n <<-END | head -n 2
	30
	1
	2
END
count() { n=0; while read -r line; do n=$((n + 1)); done; echo "$n lines"; }
count <sorted.txt
(cd sub && pwd | sed 's/.*\///'; exit 7) || echo "status $?"
find . -name '*.txt' -print0 | sort -z | xargs -0 wc -c
find sub -type f -exec cksum {} + | sort
mkfifo pipe; seq 2000 >pipe & wc -l <pipe; wait $!; echo "wrote $?"; rm pipe
tar cf - sub | tar tf - | sort
trap 'echo caught' USR1; kill -USR1 $$
(trap 'exit 9' TERM; kill -TERM $(sh -c 'echo $PPID'); sleep 5) || echo "ended $?"
ls nowhere || echo failed
[ "$(echo 1 | (read -r a; echo $((a + 1)); cat))" = 2 ] && exec sh -c 'exit 6'
