#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports as they look on screens of 80, 100 and 160 columns: screens/NAME.WIDTH.txt, byte for byte.

    screens.py compare NAME        the screens of one row of SCREENS are those of the files
    screens.py rebaseline [NAME]   writes them anew and prints what changed; read it before it is committed

A screen is that of the program and the libraries that it was made with: with other ones it is skipped.
PROGRAMS is the directory of the programs."""

import difflib
import hashlib
import os
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "program"))
from common import check, done, emulate, equal, fail, skip  # noqa: E402

PROGRAMS = os.environ.get("PROGRAMS", "")
WIDTHS = (80, 100, 160)
CORES = ["--set", "cores=4"]
# All patterns, and all languages. name: (options, command)
SCREENS = {
    "volume": ([], ["./volume"]),                          # loop-order
    "arrays_apart": ([], ["./arrays_apart"]),              # set-conflicts: members of a structure
    "pillars": ([], ["./pillars"]),                        # set-conflicts: a dimension, Fortran
    "frames": (["--pages", "random"], ["./frames"]),       # page-placement
    "sweeps": ([], ["./sweeps"]),                          # capacity: several loops and arrays, Fortran
    "full_table": ([], ["./full_table"]),                  # streaming, C++
    "customers": ([], ["./customers"]),                    # partial-lines, Rust
    "std_map": ([], ["./std_map", "10"]),                  # pointer-chasing: names of C++ templates
    "boxes": ([], ["./boxes", "10"]),                      # pointer-chasing: names of Rust
    "lookups": ([], ["./lookups"]),                        # scattered-accesses, Rust
    "diagonal": ([], ["./diagonal"]),                      # tlb, C++
    "kernels": ([], ["./kernels"]),                        # instruction-cache: templates
    "hello": ([], ["./hello"]),                            # startup
    "slots": (CORES, ["./slots"]),                         # false-sharing: threads of C++
    "tally": (CORES, ["./tally"]),                         # true-sharing: threads of Rust
    "processes": ([], ["/bin/sh", "-c", "./hello; ./cube"]),  # a list of programs, and the findings of all
}


def allocated(path):
    """A hash of the sections that are in memory, but for notes: where the sources lie is no matter."""
    with open(path, "rb") as file:
        data = file.read()
    table, size, count = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 58)
    made = hashlib.sha256()
    for at in range(table, table + size * count, size):
        kind, flags, _, offset, length = struct.unpack_from("<IQQQQ", data, at + 4)
        if flags & 2 and kind not in (7, 8):  # SHF_ALLOC; SHT_NOTE, SHT_NOBITS
            made.update(data[offset:offset + length])
    return made.hexdigest()


def own(name):
    """The programs of ours that a row runs."""
    words = SCREENS[name][1]
    return [os.path.join(PROGRAMS, word) for word in (words[-1].split("; ") if "-c" in words else words[:1])]


def fingerprint(name):
    """Of the programs and of all libraries that they are linked with."""
    words = SCREENS[name][1]
    files = own(name) + ([words[0]] if "-c" in words else [])
    for path in files[:]:
        if not os.path.exists(path):
            skip("%s was not built: there is no compiler of its language" % path)
        linked = subprocess.run(["ldd", path], stdout=subprocess.PIPE, universal_newlines=True, check=False).stdout
        files += [word for word in linked.split() if word.startswith("/")]
    seen = sorted({(os.path.basename(path), allocated(path)) for path in files})
    return "".join("%s %s\n" % (digest[:16], base) for base, digest in seen)


def produce(name):
    """By width. The programs lie in a directory whose name is always as long: a shell copies its name, and the start of
    Rust's programs reads that of the program."""
    options, words = SCREENS[name]
    screens = {}
    with tempfile.TemporaryDirectory(prefix="c2emu-screens-", dir="/tmp") as directory:
        for program in own(name):
            shutil.copy(program, directory)
        for width in WIDTHS:
            result = emulate(["--width", str(width)] + options + words, cwd=directory)
            equal(result.returncode, 0, "exit status of " + name)
            screens[width] = result.stderr.decode()
    for width in WIDTHS:
        for line in screens[width].splitlines():
            check(len(line) <= width, "%s: of %d columns, not %d: %s" % (name, len(line), width, line))
    return screens


def path_of(name, suffix):
    return os.path.join(HERE, "screens", "%s.%s" % (name, suffix))


def read(path):
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read()


def differences(name, suffix, new):
    old = read(path_of(name, suffix)).splitlines(True)
    return "".join(difflib.unified_diff(old, new.splitlines(True), "screens/%s.%s" % (name, suffix), "now"))


def compare(name):
    if fingerprint(name) != read(path_of(name, "made_with")):
        skip("the compiler or a library here is another one than that of the screens of " + name)
    for width, new in produce(name).items():
        text = differences(name, "%d.txt" % width, new)
        if text:
            fail("%s: another screen of %d columns" % (name, width))
            print(text)


def rebaseline(*names):
    os.makedirs(os.path.join(HERE, "screens"), exist_ok=True)
    for name in names or SCREENS:
        contents = {"%d.txt" % width: text for width, text in produce(name).items()}
        contents["made_with"] = fingerprint(name)
        for suffix, new in contents.items():
            print(differences(name, suffix, new), end="")
            with open(path_of(name, suffix), "w", encoding="utf-8") as file:
                file.write(new)


if __name__ == "__main__":
    {"compare": compare, "rebaseline": rebaseline}[sys.argv[1]](*sys.argv[2:])
    done()
