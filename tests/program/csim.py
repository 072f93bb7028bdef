# SPDX-License-Identifier: GPL-2.0-or-later
"""csim.py handout|lackey|run|refused: `c2emu csim`, as a course uses it.

handout  the output of the handout, and its results file
lackey   the lines of a program's own run are those of lackey's trace of it
run      standard streams, exit status, parts of a program, programs that become others
refused  options and traces that are wrong, and a full disk
"""

import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile

from common import EMULATOR, check, contains, done, emulate, equal, skip

GUESTS, IMAGES = os.environ["GUESTS"], os.environ["IMAGES"]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
TRACE = os.path.join(ROOT, "docs/labs/yi.trace")
LINES = b"""L 10,1 miss
M 20,1 miss hit
L 22,1 hit
S 18,1 hit
L 110,1 miss eviction
L 210,1 miss eviction
M 12,1 miss eviction hit
hits:4 misses:5 evictions:3
"""


def csim(words, sets=4, ways=1, block=4, **options):
    return emulate(["csim", "-s", str(sets), "-E", str(ways), "-b", str(block)] + words, **options)


def handout():
    result = csim(["-v", "-t", TRACE])
    equal((result.returncode, result.stdout, result.stderr), (0, LINES, b""), "csim -v")
    with open(TRACE, "rb") as file:
        result = csim(["-t", "-"], ways=2, stdin=file)
    equal((result.returncode, result.stdout), (0, b"hits:4 misses:5 evictions:2\n"), "csim of standard input")
    with tempfile.TemporaryDirectory() as directory:
        packed = os.path.join(directory, "packed")
        with open(TRACE, "rb") as file, gzip.open(packed, "wb") as to:
            to.write(file.read())
        equal(csim(["-t", packed, "-v"]).stdout, LINES, "csim of a compressed trace")
        os.remove(packed)
        csim(["-t", TRACE], cwd=directory)
        equal(os.listdir(directory), [], "files without --results")
        csim(["-t", TRACE, "--results"], cwd=directory)
        with open(os.path.join(directory, ".csim_results")) as file:
            equal(file.read(), "4 5 3\n", ".csim_results")


# lackey has references of its own in string instructions, and in such that read and write.
def lackey():
    if shutil.which("valgrind") is None:
        skip("valgrind is not installed")
    for name in ("matmul_small", "strides", "sse", "stack", "chase"):
        program = os.path.join(GUESTS, name)
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "trace")
            subprocess.run(["valgrind", "--tool=lackey", "--trace-mem=yes", "--log-file=" + path, program],
                           stdout=subprocess.DEVNULL, check=True)
            traced = csim(["-v", "-t", path], ways=2)
        ran = csim(["-v", program], ways=2)
        equal((traced.returncode, ran.returncode), (0, 0), "exit statuses of " + name)
        check(traced.stdout == ran.stderr, name + ": the lines of its run are not those of lackey's trace")
        check(traced.stdout.count(b"\n") > 500, name + ": there are hardly any lines")


def summary(text):
    return [int(number) for number in re.findall(r"^hits:(\d+) misses:(\d+) evictions:(\d+)$", text.decode(), re.M)[0]]


def run():
    program = os.path.join(IMAGES, "transpose")
    result = csim([program, "1"], sets=5, block=5)
    contains(result.stdout, [b"checksum"], "standard output is the program's")
    equal(result.stderr.count(b"\n"), 1, "lines on standard error")
    whole = summary(result.stderr)
    # with a region nothing before it is in the cache, and fewer references are counted
    part = csim(["-v", "--roi", "main", program, "1"], sets=5, block=5).stderr
    lines = part.splitlines()
    check(lines[0].endswith(b" miss"), "the first reference of a region: %r" % lines[0])
    check(sum(summary(part)) < sum(whole), "a region has less than all")
    accesses = sum(line.count(b"hit") + line.count(b"miss") for line in lines[:-1])
    hits, misses, evictions = summary(part)
    equal(accesses, hits + misses, "accesses of the lines")
    equal(misses - evictions, 32, "lines that were filled without an eviction")
    # whatever executes it
    for engine in ("unicorn", "native"):
        result = csim(["-v", "--roi", "main", "--engine", engine, program, "1"], sets=5, block=5)
        check(result.stderr == part, "the lines under --engine " + engine)
    # exit statuses; a shell that becomes a program goes on, one that starts it does not have its references
    equal(csim(["--", "sh", "-c", "exit 3"]).returncode, 3, "exit status of a program")
    start, becomes = (sum(summary(csim(["--", "sh", "-c", text]).stderr)[:2])
                      for text in (":", "exec /bin/true"))
    check(becomes > start + 1000, "references of a shell and of what it becomes: %d, %d" % (start, becomes))
    result = csim(["--", "sh", "-c", "/bin/true; exit 4"])
    equal((result.returncode, result.stderr.count(b"\n")), (4, 1), "a shell that starts a program")


def refused():
    with tempfile.TemporaryFile() as file:
        file.write(b" L 10,1\n L zz,1\n")
        file.seek(0)
        result = csim(["-t", "-"], stdin=file)
    equal(result.returncode, 125, "status of a wrong trace")
    contains(result.stderr, [b"standard input, line 2", b'" L zz,1"'], "a wrong trace")
    for words, says in ((["-s", "4", "-E", "1", "-t", TRACE], "csim: give -b"),
                        (["-E", "1", "-b", "4", "-t", TRACE], "csim: give -s"),
                        (["-s", "4", "-b", "4", "-t", TRACE], "csim: give -E"),
                        (["-s", "4", "-E", "1", "-b", "4"], "csim: give a trace"),
                        (["-s", "4", "-E", "65", "-b", "4", "-t", TRACE], "65 lines in a set"),
                        (["-s", "4", "-E", "x", "-b", "4", "-t", TRACE], "-E x: must be a number"),
                        (["-s", "4", "-E", "1", "-b", "4", "-t", TRACE, "/bin/true"], "one of them"),
                        (["-s", "4", "-E", "1", "-b", "4", "-t", TRACE, "--roi", "main"], "--roi main is of a program"),
                        (["-s", "4", "-E", "1", "-b", "4", "--engine", "steam", "/bin/true"],
                         "unknown engine \"steam\""),
                        (["-s", "4", "-E", "1", "-b", "4", "--cpu", "z80", "/bin/true"], "unknown processor \"z80\""),
                        (["-s", "4", "-E", "1", "-b", "4", "-t", "/nowhere"], "/nowhere cannot be opened"),
                        (["-s", "4", "-E", "1", "-b", "4", "--roi", "nowhere", os.path.join(IMAGES, "transpose")],
                         "--roi nowhere: no function")):
        result = emulate(["csim"] + words)
        equal((result.returncode, result.stdout), (125, b""), "csim " + " ".join(words))
        contains(result.stderr.decode(), [says], "csim " + " ".join(words))
        check(b"hits:" not in result.stderr, "counts of what was refused: csim " + " ".join(words))
    words = [EMULATOR, "csim", "-v", "-s", "4", "-E", "1", "-b", "4", "-t", TRACE]
    with open("/dev/full", "w") as full:
        result = subprocess.run(words, stdout=full, stderr=subprocess.PIPE)
    equal(result.returncode, 125, "status on a full disk")
    contains(result.stderr, [b"cannot be written"], "a full disk")


{"handout": handout, "lackey": lackey, "run": run, "refused": refused}[sys.argv[1]]()
done()
