# SPDX-License-Identifier: GPL-2.0-or-later
"""sandbox.py PART: --sandbox with real programs.

tools   Debian's own programs change what lies below the directory and --writable, and say "Read-only file system" of
        all else
report  a program that changes nothing has the same report
race    another process exchanges a directory and a link that leads out of it, while the program writes through the name
outputs reports and profiles are written where they were to go, though the program could not write there
root    on a terminal root is told, once, and not with --sandbox
"""

import ctypes
import json
import os
import pty
import subprocess
import sys
import tempfile

from common import EMULATOR, check, contains, done, equal, need_terminals, run

GUESTS = os.environ["GUESTS"]
RENAME_EXCHANGE = 2
AT_FDCWD = -100


def under(directory, *words, options=(), **more):
    return run([EMULATOR, "-q", "--no-sim", "--sandbox", *options, "--", *words], cwd=directory, **more)


def make(top):
    for name in ("in", "out", "more"):
        os.mkdir(os.path.join(top, name))
    with open(os.path.join(top, "out", "file"), "w") as file:
        file.write("kept\n")
    with open(os.path.join(top, "in", "own"), "w") as file:
        file.write("yes\n")
    return os.path.join(top, "in"), os.path.join(top, "out"), os.path.join(top, "more")


def tools(top):
    inside, outside, more = make(top)
    for words in (["touch", "a"], ["cp", "own", "b"], ["mv", "b", "c"], ["ln", "c", "d"], ["ln", "-s", "c", "e"],
                  ["mkdir", "-p", "f/g"], ["rmdir", "f/g"], ["chmod", "600", "c"], ["truncate", "-s", "9", "c"],
                  ["sed", "-i", "s/yes/no/", "own"], ["cp", "../out/file", "h"], ["dd", "if=/dev/zero", "of=/dev/null",
                                                                                "bs=1", "count=1", "status=none"]):
        result = under(inside, *words)
        equal((result.returncode, result.stdout, result.stderr), (0, b"", b""), " ".join(words))
    equal(sorted(os.listdir(inside)), ["a", "c", "d", "e", "f", "h", "own"], "what was made")
    equal(open(os.path.join(inside, "own")).read(), "no\n", "what sed wrote")
    for words in (["touch", "../out/file"], ["cp", "own", "../out/new"], ["mv", "own", "../out/new"],
                  ["rm", "-f", "../out/file"], ["ln", "../out/file", "i"], ["mkdir", "../out/d"],
                  ["chmod", "777", "../out/file"], ["truncate", "-s", "0", "../out/file"], ["touch", "../more/x"],
                  ["sed", "-i", "s/k/x/", "../out/file"]):
        result = under(inside, *words)
        check(result.returncode != 0, "%s has succeeded" % " ".join(words))
        contains(result.stderr.decode(), ["Read-only file system"], " ".join(words))
    equal(under(inside, "touch", "../more/x", options=["--writable", "../more"]).returncode, 0, "--writable")
    equal((os.listdir(more), os.listdir(outside), open(os.path.join(outside, "file")).read()),
          (["x"], ["file"], "kept\n"), "what lies outside")
    refused = run([EMULATOR, "--sandbox", "--writable", "nowhere", "/bin/true"], cwd=inside)
    equal((refused.returncode, refused.stderr), (125, b"c2emu: --writable nowhere: No such file or directory\n"),
          "a directory that is not there")


def same_report(top):
    inside, _, _ = make(top)
    written = []
    for options in ([], ["--sandbox"]):
        path = os.path.join(top, "report.json")
        run([EMULATOR, "-q", "--json", path, *options, "wc", "/usr/include/stdio.h"], cwd=inside)
        with open(path) as file:
            written.append(json.load(file))
        del written[-1]["receipt"]
    equal(written[1], written[0], "the report of a program that changes nothing")


def flip(directory, guest, options):
    """The guest's words and whether a file appeared outside, at any time."""
    libc = ctypes.CDLL(None, use_errno=True)
    paths = [os.path.join(directory, name).encode() for name in ("in/way", "in/link")]
    outside = os.path.join(directory, "out", "file")
    escaped = flips = 0
    process = subprocess.Popen([EMULATOR, "-q", "--no-sim", *options, os.path.join(GUESTS, "race"), "4000"],
                               cwd=os.path.join(directory, "in"), stdout=subprocess.PIPE)
    while process.poll() is None:
        if libc.renameat2(AT_FDCWD, paths[0], AT_FDCWD, paths[1], RENAME_EXCHANGE) != 0:
            return "renameat2: " + os.strerror(ctypes.get_errno()), 0
        flips += 1
        if os.path.exists(outside):
            escaped += 1
    return process.stdout.read().decode().split(), escaped + os.path.exists(outside)


def race(top):
    for name in ("in", "out", "in/way"):
        os.mkdir(os.path.join(top, name))
    os.symlink("../out", os.path.join(top, "in", "link"))
    words, escaped = flip(top, "race", ["--sandbox"])
    check(len(words) == 6 and int(words[0]) > 0 and int(words[2]) > 0, "the race was none: %s" % words)
    equal(escaped, 0, "files outside")
    words, escaped = flip(top, "race", [])
    check(escaped > 0, "without --sandbox the race leads nowhere: %s" % words)


def outputs(top):
    inside, _, _ = make(top)
    reports = os.path.join(top, "reports")
    os.mkdir(reports)
    files = {"--json": "r.json", "--record": "r.rec", "--callgrind": "r.cg", "--cachegrind": "r.cac",
             "--evictors": "r.evi", "--trace": "r.din", "--dump-pagemap": "r.map"}
    words = [word for option, name in files.items() for word in (option, os.path.join(reports, name))]
    result = run([EMULATOR, "-q", "--sandbox", "-o", os.path.join(top, "dir"), *words, "touch", "a", "../reports/x"],
                 cwd=inside)
    contains(result.stderr.decode(), ["touch: cannot touch '../reports/x': Read-only file system"], "its words")
    equal((result.returncode, sorted(os.listdir(reports))), (1, sorted(files.values())), "the files")
    equal(sorted(os.listdir(os.path.join(top, "dir"))), ["report.json", "report.txt"], "the directory")
    result = run([EMULATOR, "advise", "--sandbox", "-q", "--json", os.path.join(reports, "a.json"), "/bin/true"],
                 cwd=inside)
    equal((result.returncode, os.path.exists(os.path.join(reports, "a.json"))), (0, True), "advise")


def on_a_terminal(words, cwd):
    output = []

    def read(fd):
        output.append(os.read(fd, 4096))
        return b""

    here = os.getcwd()
    os.chdir(cwd)
    pty.spawn(words, read, lambda fd: b"")
    os.chdir(here)
    return b"".join(output).decode()


def root(top):
    need_terminals()
    said = "you are root"
    options = [EMULATOR, "--no-sim"]
    equal(on_a_terminal(options + ["/bin/true"], top).count(said), int(os.geteuid() == 0), "what root is told")
    for more in (["--sandbox"], ["-q"]):
        equal(on_a_terminal(options + more + ["/bin/true"], top).count(said), 0, "with " + more[0])


PARTS = {"tools": tools, "report": same_report, "race": race, "outputs": outputs, "root": root}
with tempfile.TemporaryDirectory() as directory:
    PARTS[sys.argv[1]](directory)
done()
