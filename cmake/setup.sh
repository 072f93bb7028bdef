# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by run.sh and test.sh: Debian packages, and builds that say how far they are. The caller has set `root` to the
# source directory, and `c2_patience` to the seconds after which a stage is worth a line.
c2_heartbeat=20 # seconds between two lines of a stage that takes long

c2_build_packages="cmake gcc g++ make pkg-config libunicorn-dev libcapstone-dev libelf-dev libdw-dev libinih-dev
    libjansson-dev libzstd-dev zlib1g-dev libdeflate-dev liblzma-dev libzydis-dev libmpfr-dev libgcrypt20-dev
    libseccomp-dev libiberty-dev node-d3"
c2_test_packages="libcmocka-dev openssl clang-format valgrind musl-tools clang libclang-rt-14-dev python3 perl gawk mawk
    grep sed coreutils gzip bzip2 xz-utils zstd bc file python3-numpy python3-jsonschema python3-pandas git gfortran
    rustc groff zsh fish snakemake slurmctld slurmd slurm-client chromium"

# ---------------------------------------------------------------- stages

c2_elapsed() # SECONDS
{
    if [ "$1" -lt 100 ]; then echo "$1 s"; else echo "$(($1 / 60)) min $(($1 % 60)) s"; fi
}

# Runs beside a stage: a line after the patience, and every heartbeat how far it is. Ends with the script. It holds no
# file of the caller but standard error.
c2_watch() # STAGE LOG
{
    local begin=$SECONDS next=$((SECONDS + c2_patience)) script=$$
    while kill -0 "$script" 2>/dev/null; do
        if [ "$SECONDS" -ge "$next" ]; then
            if [ "$next" = "$((begin + c2_patience))" ]; then
                echo "$1 ..."
            else
                echo "$1: $(c2_elapsed $((SECONDS - begin))) so far: $(tail -n 1 "$2" 2>/dev/null | cut -c 1-90)"
            fi
            next=$((SECONDS + c2_heartbeat))
        fi
        sleep 0.5 2>/dev/null
    done
} >&2 </dev/null

# A command, with a line on standard error when it begins and one when it has ended; none when it takes no longer than
# the patience.
c2_stage() # STAGE LOG COMMAND...
{
    local stage=$1 log=$2 begin=$SECONDS watch status=0
    shift 2
    c2_watch "$stage" "$log" 9>&- >/dev/null &
    watch=$!
    "$@" || status=$?
    { kill "$watch" && wait "$watch"; } 2>/dev/null || true
    if [ $((SECONDS - begin)) -ge "$c2_patience" ]; then
        echo "$stage: $([ "$status" = 0 ] && echo done || echo failed) in $(c2_elapsed $((SECONDS - begin)))" >&2
    fi
    return "$status"
}

c2_quietly() # LOG COMMAND...: the output's end is shown only when the command fails
{
    local log=$1
    shift
    "$@" >"$log" 2>&1 || { tail -n 60 "$log" >&2; echo "failed: $*" >&2; return 1; }
}

# ---------------------------------------------------------------- packages

c2_missing() # PACKAGE...: prints those that are not installed
{
    { dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true; } |
        awk -v wanted="$*" '$2 == "installed" { there[$1] }
            END { n = split(wanted, names, " "); for (i = 1; i <= n; i++) if (!(names[i] in there)) print names[i] }'
}

c2_apt_get() # PACKAGE...: as root, or by sudo; the package lists are fetched only when those at hand do not do
{
    local as_root=()
    [ "$(id -u)" = 0 ] || as_root=(sudo)
    as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get)
    "${as_root[@]}" install -y --no-install-recommends "$@" ||
        { "${as_root[@]}" update && "${as_root[@]}" install -y --no-install-recommends "$@"; }
}

# Root may; so may who has sudo and either needs no password or can be asked for it.
c2_may_install()
{
    [ "$(id -u)" = 0 ] || { command -v sudo && { sudo -n true || [ -t 0 ]; }; } >/dev/null 2>&1
}

c2_need() # PACKAGE...: installs what is missing
{
    command -v dpkg-query >/dev/null || return 0 # no Debian: CMake will name what it cannot find
    local missing log status=0
    missing=$(c2_missing "$@")
    [ -n "$missing" ] || return 0
    missing=$(echo $missing)
    if c2_may_install; then
        echo "packages that are missing: $missing" >&2
        log=$(mktemp)
        c2_patience=0 c2_stage "installing packages" "$log" c2_quietly "$log" c2_apt_get $missing || status=1
        rm -f "$log"
        [ "$status" != 0 ] || return 0
    fi
    echo "packages are missing; have them installed by root: apt-get install --no-install-recommends $missing" >&2
    return 1
}

# ---------------------------------------------------------------- builds

c2_made_here() # DIR: configured for this source directory; it may have been moved or copied
{
    grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$1/CMakeCache.txt" 2>/dev/null && [ -e "$1/Makefile" ]
}

c2_configured() # DIR [CMAKE-OPTION]...: and has tests if asked to
{
    c2_made_here "$1" || return 1
    case " $* " in
    *" -DBUILD_TESTING=ON "*) grep -qxF "BUILD_TESTING:BOOL=ON" "$1/CMakeCache.txt" ;;
    esac
}

# Below root. A directory that has tests keeps them when none are asked for, as both scripts build in `build`. What
# could not be configured is forgotten, so that it does not hold up the other script.
c2_configure() # DIR [CMAKE-OPTION]...
{
    local name=$1 dir=$root/$1
    shift
    mkdir -p "$dir"
    ! c2_configured "$dir" "$@" || return 0
    c2_made_here "$dir" || rm -rf "$dir/CMakeCache.txt" "$dir/CMakeFiles"
    c2_stage "configuring $name" "$dir/configure.log" \
        c2_quietly "$dir/configure.log" cmake -G "Unix Makefiles" -S "$root" -B "$dir" "$@" ||
        { rm -f "$dir/CMakeCache.txt"; return 1; }
}

c2_make() # DIR [TARGET]...
{
    local name=$1 dir=$root/$1 targets=()
    shift
    [ $# = 0 ] || targets=(--target "$@")
    c2_stage "building $name" "$dir/build.log" \
        c2_quietly "$dir/build.log" cmake --build "$dir" -j "$(nproc)" "${targets[@]}"
}

c2_build() # DIR "TARGETS" [CMAKE-OPTION]...: one build at a time in one directory
{
    local dir=$1 targets=$2
    shift 2
    mkdir -p "$root/$dir"
    (
        flock -n 9 || c2_stage "waiting for another build in $dir" /dev/null flock 9
        c2_configure "$dir" "$@" && c2_make "$dir" $targets
    ) 9>"$root/$dir/.lock"
}
