# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by run.sh and test.sh: Debian packages and quiet builds. The caller has set `root` to the source directory.

c2_build_packages="cmake gcc g++ make pkg-config libunicorn-dev libcapstone-dev libelf-dev libdw-dev libinih-dev
    libjansson-dev libzstd-dev libcmocka-dev libzydis-dev"
c2_test_packages="valgrind musl-tools clang python3 perl gawk mawk grep sed coreutils gzip bzip2 xz-utils zstd bc file"

c2_missing() # PACKAGE...: prints those that are not installed
{
    local package
    for package in "$@"; do
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
    done
}

c2_need() # PACKAGE...: installs what is missing
{
    command -v dpkg-query >/dev/null || return 0 # no Debian: CMake will name what it cannot find
    local missing log as_root=()
    missing=$(c2_missing "$@")
    [ -n "$missing" ] || return 0
    [ "$(id -u)" = 0 ] || as_root=(sudo)
    echo "installing:" $missing >&2
    log=$(mktemp)
    export DEBIAN_FRONTEND=noninteractive
    # The package lists are fetched only when those at hand do not do.
    if ! "${as_root[@]}" apt-get install -y --no-install-recommends $missing >"$log" 2>&1 &&
       ! { "${as_root[@]}" apt-get update && "${as_root[@]}" apt-get install -y --no-install-recommends $missing; } \
             >>"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        echo "cannot install:" $missing "- install them by hand and try again" >&2
        return 1
    fi
    rm -f "$log"
}

c2_quietly() # LOG COMMAND...: the output is shown only when the command fails
{
    local log=$1
    shift
    "$@" >"$log" 2>&1 || { cat "$log" >&2; echo "failed: $*" >&2; return 1; }
}

c2_configure() # DIR [CMAKE-OPTION]...: below root, unless it is configured already
{
    local dir=$root/$1
    shift
    mkdir -p "$dir"
    if [ -e "$dir/CMakeCache.txt" ]; then # made for this source directory? it may have been moved or copied
        grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$dir/CMakeCache.txt" && [ -e "$dir/Makefile" ] && return
        rm -rf "$dir/CMakeCache.txt" "$dir/CMakeFiles"
    fi
    c2_quietly "$dir/configure.log" cmake -G "Unix Makefiles" -S "$root" -B "$dir" "$@"
}

c2_make() # DIR [TARGET]...
{
    local dir=$root/$1 targets=()
    shift
    [ $# = 0 ] || targets=(--target "$@")
    c2_quietly "$dir/build.log" cmake --build "$dir" -j "$(nproc)" "${targets[@]}"
}

c2_build() # DIR "TARGETS" [CMAKE-OPTION]...: one build at a time in one directory
{
    local dir=$1 targets=$2
    shift 2
    mkdir -p "$root/$dir"
    (
        flock 9
        c2_configure "$dir" "$@" && c2_make "$dir" $targets
    ) 9>"$root/$dir/.lock"
}
