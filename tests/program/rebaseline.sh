#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# rebaseline.sh BUILD-DIRECTORY [NAME]...: writes the goldens anew from a release build and prints what changed.
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: rebaseline.sh BUILD-DIRECTORY [NAME]...}" && pwd) || exit
shift
C2EMU=$build/c2emu GUESTS=$build/tests/program/guests C2EMU_MACHINES=$here/../../machines \
    exec /usr/bin/python3 -B "$here/golden.py" rebaseline "$@"
