# SPDX-License-Identifier: GPL-2.0-or-later
"""placed.py PROGRAM: a real program, natively, and under each placement policy (those that take long: under four of
them in two runs): the same output, messages and status.

What a program does depends on no frame: instructions and references are the same under all policies too, and the sums
of the report hold: classes of misses, the labels of --against, pages by kind, reads of walks.
"""

import json
import os
import sys
import tempfile

from common import EMULATOR, check, done, equal, need, run

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/", "LANG": "C"}
C_PROGRAM = "int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\nint main(void) { return f(10) != 55; }\n"
PROGRAMS = {
    "ls": ["ls", "-goA", "--full-time", "/usr/include/asm-generic"],
    "bash": ["bash", "--norc", "-c", "for i in {1..40}; do m+=($((i * i % 7))); done; echo \"${m[@]}\"; exit 9"],
    "python3": ["/usr/bin/python3", "-I", "-S", "-c",
                "print(sum(hash(str(i)) % 7 >= 0 for i in range(300)), sorted({3, 1}))"],
    "gcc": ["cc1", "-quiet", "-O1", "-o", "/dev/stdout", "program.c"],
    "perl": ["perl", "-e", "print join(',', map { $_ ** 2 } grep { $_ % 3 } 1 .. 40), qq(\\n); exit 3"],
    "openssl": ["openssl", "dgst", "-sha256", "program.c"],
}
POLICIES = [["--pages", policy] for policy in ("identity", "sequential", "random", "colored", "colored,level=L3",
                                               "same-color,level=L2", "buddy", "buddy,age=0.7")]
POLICIES += [["--pages", "random", "--against", "huge"], ["--huge", "thp", "--against", "same-color", "--zero-page"]]
FEW = [["--pages", "identity", "--against", "buddy,age=0.7"], POLICIES[-1]] # for a program that takes long


def classes(levels, what):
    for level in levels:
        equal(level["cold"] + level["capacity"] + level["conflict"] + level["coherence"], level["misses"],
              "classes of %s, %s" % (level["name"], what))
        equal(level["hits"] + level["misses"], level["accesses"], "accesses of %s, %s" % (level["name"], what))


def of_objects(written, level, key):
    return sum(entry.get(key, 0) for one in written["objects"] for entry in one.get("levels", [])
               if entry["name"] == level)


def sums(written, what):
    for side in [written] + ([written["against"]] if "against" in written else []):
        classes(side["levels"], what)
        walks = sum(entry["reads"] for entry in side["walks"].get("served_by", []))
        equal(walks, side["walks"]["reads"] if side["walks"]["mode"] == "cached" else 0, "reads of walks, " + what)
    for label, level in zip(written.get("against", {}).get("labels", []), written["levels"]):
        equal(label["inherent"] + label["placement"] + label["walks"], level["conflict"], "labels of %s, %s"
              % (level["name"], what))
        equal(of_objects(written, level["name"], "placement"), label["placement"], "objects' labels, " + what)
    for level in written["levels"]:
        equal(of_objects(written, level["name"], "conflict"), level["conflict"], "objects' conflict misses, " + what)
    for entry in written["conflicts"]:
        check(entry.get("placement", 0) <= entry["count"] <= next(
            level["conflict"] for level in written["levels"] if level["name"] == entry["level"]), "conflict of " + what)
    equal(written["levels"][0]["accesses"], written["run"]["measured"]["line_accesses"], "accesses of L1D, " + what)


def main(name):
    words = PROGRAMS[name]
    if name == "gcc": # which starts the compiler proper as another process
        need("gcc")
        words = run(["gcc", "-print-prog-name=cc1"]).stdout.decode().split() + words[1:]
    need(words[0])
    with tempfile.TemporaryDirectory() as directory:
        with open(os.path.join(directory, "program.c"), "w") as file:
            file.write(C_PROGRAM)
        native = run(words, cwd=directory, env=ENVIRONMENT)
        check(native.stdout, "no output natively")
        counted = {}
        for options in FEW if name in ("gcc", "python3", "openssl") else POLICIES:
            what = " ".join(options)
            path = os.path.join(directory, "..", os.path.basename(directory) + ".json")
            emulated = run([EMULATOR, "-q", "--json-full", path] + options + ["--"] + words, cwd=directory)
            equal((emulated.returncode, emulated.stdout, emulated.stderr),
                  (native.returncode, native.stdout, native.stderr), "%s under %s" % (name, what))
            with open(path) as file:
                written = json.load(file)
            os.remove(path)
            sums(written, what)
            # The heap lies otherwise where it may get huge pages: then addresses differ, and what hashes them.
            if "huge" not in what:
                counted[what] = written["run"]
        first = next(iter(counted.values()))
        for what, counts in counted.items():
            equal(counts, first, "instructions and references of %s under %s" % (name, what))
    done()


main(sys.argv[1])
