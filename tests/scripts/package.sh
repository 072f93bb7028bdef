#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# package.sh BUILD: the Debian package of a build, installed on a Debian 12 that has nothing else, and run there. The
# steps of the Containerfile's second stage, in a chroot. Needs root, debootstrap and a mirror; takes some minutes.
# C2_DEBIAN names a directory with what debootstrap has made, which is copied; else one is made and removed again.
set -euo pipefail
build=$(realpath "$1")
[ "$(id -u)" = 0 ] || { echo "package.sh: only root can change the root directory" >&2; exit 1; }
place=$(mktemp -d)
root=$place/root
end()
{
    ! mountpoint -q "$root/proc" || umount "$root/proc"
    rm -rf --one-file-system "$place"
}
trap end EXIT

# The package, of this build: the old ones are no witnesses.
rm -f "$build"/c2emu_*.deb
(cd "$build" && cpack -G DEB >"$place/cpack.log" 2>&1) || { tail -n 30 "$place/cpack.log"; exit 1; }

if [ -n "${C2_DEBIAN:-}" ]; then
    cp -a "$C2_DEBIAN" "$root"
else
    mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
        grep -oE 'https?://[^ ]+/debian/?( |$)' | sed -n '1s/ *$//p')
    debootstrap --variant=minbase bookworm "$root" "$mirror" >"$place/debootstrap.log" 2>&1 ||
        { tail -n 30 "$place/debootstrap.log"; exit 1; }
fi
find /etc/apt/apt.conf.d -type f ! -name 'docker-*' -exec cp {} "$root/etc/apt/apt.conf.d/" \;
cp /etc/resolv.conf /etc/hosts "$root/etc/"
mount -t proc proc "$root/proc"
cp "$build"/c2emu_*.deb "$root/tmp/"
cp "$(dirname "$0")/installed.sh" "$root/tmp/"

# Of the environment only what leads to the mirror; names of verbs are asked of the program that was built.
"$build/c2emu" complete | sed -n 's/^verb\t\([^\t]*\)\t.*/\1/p' >"$root/tmp/verbs"
env -i $(env | grep -iE '^(https?|no)_proxy=' || true) PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    chroot "$root" /bin/bash /tmp/installed.sh
