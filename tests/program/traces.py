# SPDX-License-Identifier: GPL-2.0-or-later
"""traces.py: traces of other tools are simulated as what they say.

text    c2emu's own trace of a run gives the levels, TLBs and references of that run.
din     the same of the din form; and a trace that is made up has the counts that the twin works out.
lackey  Valgrind's, of programs without libc, gives the counts of c2emu's own run of them.
refused What is not understood is an error with its line, and leaves no file.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

import twin
from common import EMULATOR, check, contains, done, emulate, equal, skip

GUESTS = os.environ["GUESTS"]


def reported(words, **options):
    result = emulate(words + ["-q", "--json-full", "-"], **options)
    equal((result.returncode, result.stderr), (0, b""), "status and messages of " + " ".join(words))
    return json.loads(result.stdout)


def live(directory, name, options, trace):
    """The report of a run, whose trace is in directory/trace."""
    path = os.path.join(directory, "report")
    result = emulate(["-q", "--json-full", path, "--trace", os.path.join(directory, trace)] + options + name)
    equal(result.returncode, 0, "status of " + name[0])
    with open(path) as file:
        return json.load(file)


def bare(name):
    return [os.path.join(GUESTS, name)]


# A modify is a read and a write here.
def text():
    for program, options in ((bare("matmul_small"), ["-m", "teach"]), (bare("strings"), []), (bare("odd"), []),
                             (bare("fetch"), ["-m", "zen3"]), (bare("rmw"), ["-m", "teach"]), (["/bin/true"], []),
                             (bare("strides"), ["-m", "skylake", "--pages", "random"])):
        with tempfile.TemporaryDirectory() as directory:
            expected = live(directory, program, options, "trace")
            played = reported(["replay", os.path.join(directory, "trace")] + options)
            what = "trace of %s %s" % (program[0], " ".join(options))
            equal(played["run"]["measured"]["instructions"], expected["run"]["measured"]["instructions"], what)
            for key in ("reads", "writes", "refs", "line_accesses", "straddles", "fetches"):
                equal(played["run"]["measured"][key], expected["run"]["measured"][key], what + ": " + key)
            for mine, other in zip(played["levels"], expected["levels"]):
                if mine["name"] in ("L1D", "L1I"):
                    equal(mine, other, what + ": " + mine["name"])
            check(played["trace"] == "text" and played["command"], what + ": says not that it is one")
            # Where each page has the frame that it had, all levels are equal. (A page that goes and comes has several.)
            if "random" not in options and program != ["/bin/true"]:
                frames(directory, program, options, expected, what)


def frames(directory, program, options, expected, what):
    path = os.path.join(directory, "map")
    emulate(["-q", "--dump-pagemap", path] + options + program)
    played = reported(["replay", os.path.join(directory, "trace"), "--pages", "file=" + path] + options)
    equal(played["levels"], expected["levels"], what + ": levels")


def din():
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "trace.din")
        expected = live(directory, bare("strides"), ["-m", "teach"], "trace.din")
        played = reported(["replay", "-m", "teach", "--pages", "identity", path])
        equal(played["levels"], expected["levels"], "din form of a run")
        draw = random.Random(5)
        for machine in ("teach", "c2sim"):
            lines = []
            for _ in range(20000):
                label = draw.choice((0, 0, 0, 1, 1, 2))
                lines.append("%d %x" % (label, draw.choice((0x1000, 0x40000, 0x7f0000)) + draw.randrange(1 << 14)))
            data = "\n".join(lines).encode() + b"\n"
            played = reported(["replay", "-m", machine, "--pages", "identity", "-"], input=data, stdin=None)
            levels, records = twin.from_din(played["machine"], lines)
            equal(played["levels"], levels, "made up, " + machine)
            n = played["run"]["measured"]
            equal([n["reads"], n["writes"], n["fetches"], n["instructions"]], records + [records[2]], "records")
        # Data alone: no instruction is counted, none is fetched.
        played = reported(["replay", "-"], input=b"0 0\n1 40 8\n0 7fffffffffff\n0 7ffc00001000 4\n", stdin=None)
        n = played["run"]["measured"]
        equal([n["instructions"], n["fetches"], n["reads"], n["writes"]], [0, 0, 3, 1], "data alone")
        # Sizes: two lines, two pages.
        played = reported(["replay", "-"], input=b"0 3c 8\n1 ffc 8\n", stdin=None)
        n = played["run"]["measured"]
        equal([n["refs"], n["line_accesses"], n["straddles"], played["pages"]["small"]], [2, 4, 2, 2], "sizes")


# Programs whose data lies in their files, as Valgrind has the stack elsewhere, and without REP and LOCK, of which
# lackey writes more references than there are.
def lackey():
    if shutil.which("valgrind") is None:
        skip("valgrind is not installed")
    for name in ("matmul_small", "strides", "fetch", "stack", "chase"):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "report")
            emulate(["-q", "-m", "teach", "--json-full", path] + bare(name))
            with open(path) as file:
                expected = json.load(file)
        words = 'valgrind --log-fd=3 --tool=lackey --trace-mem=yes "$0" 3>&1 >/dev/null 2>&1 | "$1" replay -q -m teach '
        result = subprocess.run(["bash", "-c", words + "--json - -", bare(name)[0], EMULATOR], capture_output=True)
        if not equal(result.returncode, 0, "status of lackey's %s: %s" % (name, result.stderr)):
            continue
        played = json.loads(result.stdout)
        equal(played["run"]["measured"], expected["run"]["measured"], "lackey, %s" % name)
        for mine, other in zip(played["levels"], expected["levels"]):
            if mine["name"] in ("L1D", "L1I"):
                equal(mine, other, "lackey, %s, %s" % (name, mine["name"]))


def refused():
    cases = ((b"0 10\n0 zz\n", ["line 2", '"0 zz"']), (b"0 10\n3 10\n", ["line 2"]), (b"0 10 0\n", ["line 1", "size"]),
             (b"0 10 9999\n", ["line 1", "size"]), (b"\n\n0 800000000000\n", ["line 3", "2^47"]),
             (b"0 8000000000\n", ["line 1", "0x8000000000"]), (b"0 7ffffffffc 8\n", ["line 1", "0x8000000000"]),
             (b"I  1000,3\n L 2000\n", ["line 2", '"lackey"']), (b"F 10 10 10 3 1\nr 10 1000 1000 4 1\n", ["line 2"]),
             (b"F 10 10 10 3 1\nX 10 10 10 3 1\n", ["line 2", '"text"']), (b"hello\n", ["no recording", '"hello"']),
             (b"0 ffffffffffffffffff\n", ["no recording"]), (b"(\xb5\x2f\xfdxxxx", ["cut or has changed"]),
             (b"0 10\n" + b"1" * 5000 + b"\n", ["line 2"]), (b"", ["ends at byte 0"]))
    with tempfile.TemporaryDirectory() as directory:
        path, out = os.path.join(directory, "trace"), os.path.join(directory, "out")
        for data, parts in cases:
            with open(path, "wb") as file:
                file.write(data)
            result = emulate(["replay", "--json-full", out, path])
            got = (result.returncode, result.stdout, os.path.exists(out))
            equal(got, (125, b"", False), "status of %r" % data[:40])
            contains(result.stderr.decode(errors="replace"), parts, "message of %r" % data[:40])
        with open(path, "w") as file:
            file.write("0 10\n")
        result = emulate(["replay", "--place", "A=random", path])
        contains(result.stderr.decode(), ["--place A: a trace has no symbols"], "a symbol of a trace")
        result = emulate(["replay", "--format", "lackye", path])
        contains(result.stderr.decode(), ['did you mean "lackey"?'], "a form that is none")
        result = emulate(["replay", "--format", "lackey", path])
        contains(result.stderr.decode(), ["line 1", '"lackey"'], "another form")


{"text": text, "din": din, "lackey": lackey, "refused": refused}[sys.argv[1]]()
done()
