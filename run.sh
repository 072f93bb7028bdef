#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs what is missing, builds, and runs c2emu with the words given; without any, on a sample of ours. What it says
# itself goes to standard error, and only when there is something to install or to build.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
c2_patience=2
. "$root/cmake/setup.sh"

c2_need $c2_build_packages
if [ $# -gt 0 ]; then
    c2_build build c2emu -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF
    exec "$root/build/c2emu" "$@"
fi
c2_build build "c2emu images" -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF
exec "$root/build/c2emu" "$root/build/images/matmul"
