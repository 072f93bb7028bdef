#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# installed.sh: run by package.sh inside the new Debian. The package and what it depends on, nothing that it recommends;
# then what a user would do first.
set -euo pipefail
expect() # WHAT IS WANTED
{
    [ "$2" = "$3" ] && return
    printf '%s\n  is      %s\n  wanted  %s\n' "$1" "$2" "$3"
    exit 1
}
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
! command -v gcc cmake c2emu || { echo "this Debian is not clean"; exit 1; }
apt-get install -y -qq --no-install-recommends /tmp/c2emu_*.deb >/tmp/apt.log 2>&1 || {
  tail -n 20 /tmp/apt.log
  exit 1
}
expect "state" "$(dpkg-query -W -f '${db:Status-Abbrev}' c2emu)" "ii "
expect "version" "$(c2emu --version | cut -d ' ' -f 2)" "$(dpkg-query -W -f '${Version}' c2emu)"
cd /root
expect "output" "$(c2emu -q -m zen4 --json r.json -- /bin/echo hello)" "hello"
expect "verify" "$(c2emu verify r.json | sed 's/[0-9][0-9,]*/N/g')" "equal: N inputs, N values"
c2emu --no-sim -- /bin/sh -c 'exit 7' 2>err && status=0 || status=$?
expect "status" "$status" 7
c2emu html r.json -o r.html
expect "slim" "$(grep -c '^  "slim": true,$' r.json)" 1
[ "$(stat -c %s r.json)" -lt 30000 ] || { echo "r.json is large"; exit 1; }
expect "machines" "$(c2emu machines zen4 | head -n 2 | tail -n 1)" "name = zen4"

# Documents are left out by minimal systems, but not by this one.
for page in c2emu $(sed 's/^/c2emu-/' /tmp/verbs); do
    gzip -t "/usr/share/man/man1/$page.1.gz"
    expect "the head of $page.1" "$(zcat "/usr/share/man/man1/$page.1.gz" | grep -c '^\.TH ')" 1
done
expect "pages" "$(find /usr/share/man/man1 -name 'c2emu*.1.gz' | wc -l)" "$(($(wc -l </tmp/verbs) + 1))"
[ -s /usr/lib/python3/dist-packages/c2emu.py ] || { echo "c2emu.py is missing"; exit 1; }
for file in bash-completion/completions/c2emu zsh/vendor-completions/_c2emu fish/vendor_completions.d/c2emu.fish \
    doc/c2emu/docs/report.schema.json doc/c2emu/copyright; do
    [ -s "/usr/share/$file" ] || { echo "/usr/share/$file is missing"; exit 1; }
done

# And it goes without a trace.
apt-get purge -y -qq c2emu >/tmp/apt.log 2>&1
expect "files left" "$(find /usr -name '*c2emu*' | head -n 3)" ""
echo "package.sh: installed, run and removed"
