# SPDX-License-Identifier: GPL-2.0-or-later
"""replay.py: a recording, played by any machine, placement and analysis, gives what the run itself gives, byte by byte.

Each program is recorded once for what its guest can see (the heap's pages, the zero page) and then played under many
options, beside live runs with the same ones: text, JSON (but for the receipt, which only a run has) and every other
file are compared, and the exit status.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time

from common import EMULATOR, check, contains, done, emulate, equal, without_receipt

GUESTS, IMAGES, MACHINES = os.environ["GUESTS"], os.environ["IMAGES"], os.environ["C2EMU_MACHINES"]


def guest(name):
    return [os.path.join(GUESTS, name)]


def contents(directory):
    files = {}
    for name in os.listdir(directory):
        with open(os.path.join(directory, name), "rb") as file:
            files[name] = without_receipt(file.read()) if name == "json" else file.read()
    return files


FILES = ("callgrind", "evictors", "cachegrind", "folded", "pprof", "misses", "trace", "dump-pagemap")


def outcome(words, files):
    """Exit status, text and every file of a run or a replay."""
    with tempfile.TemporaryDirectory() as directory:
        out = []
        for name in ("json",) + files:
            out += ["--" + name, os.path.join(directory, name)]
        result = emulate(words[:1] + out + words[1:] if words[0] == "replay" else out + words)
        return result.returncode, result.stderr, contents(directory)


def record(path, options, program):
    result = emulate(["-q", "--record", path] + options + program)
    check(os.path.exists(path), "no recording of %s: %r" % (program, result.stderr))
    return result.returncode


def same(path, options, program, files=()):
    live, played = outcome(options + program, files), outcome(["replay"] + options + [path], files)
    for what, a, b in zip(("status", "text", "files"), played, live):
        equal(a, b, "%s of %s of %s" % (what, " ".join(options + list(files)), " ".join(program)))


# ---------------------------------------------------------------------------------------------- the matrix

SMALL = ["--no-attribution"]  # where it does not matter: half the time
PROGRAMS = [guest("strings"), [os.path.join(IMAGES, "matmul"), "12"], ["/bin/ls", "/etc/passwd"]]


def machines():
    names = sorted(name[:-4] for name in os.listdir(MACHINES) if name.endswith(".ini"))
    check(len(names) >= 9, "machine files: %s" % names)
    with tempfile.TemporaryDirectory() as directory:
        paths = [os.path.join(directory, str(i)) for i in range(len(PROGRAMS))]
        for path, program in zip(paths, PROGRAMS):
            record(path, SMALL, program)
        for i, name in enumerate(names): # each machine with two of them
            for k in (0, 1 + i % 2):
                same(paths[k], ["-m", name], PROGRAMS[k])
        same(paths[-1], ["-m", "teach", "--set", "L2.policy=random", "--set", "L2.ways=4"], PROGRAMS[-1])


PLACEMENTS = (["--pages", "random", "--seed", "9"], ["--pages", "identity"], ["--pages", "colored"],
              ["--pages", "same-color,color=1,level=L2"], ["--pages", "buddy"], ["--pages", "buddy,age=0.7"],
              ["--huge", "never"], ["--huge", "thp"], ["--place", "heap=random", "--place", "stack=same-color"],
              ["--place", "libc.so.6=random"], ["--place", "mmap=buddy"], ["--against", "random"])
HEAP = (["--huge", "heap"], ["--huge", "all"], ["--against", "huge"], ["--huge", "all", "--against", "colored"])


def placements():
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "run")
        for program in PROGRAMS[1:]:
            record(path, [], program)
            for options in PLACEMENTS:
                seeded = ["--seed", "9"] if "--seed" in options else []
                if seeded:
                    record(path + "9", seeded, program)
                same(path + "9" if seeded else path, SMALL * ("--against" not in options) + options, program)
            record(path, ["--huge", "heap"], program)
            for options in HEAP:
                same(path, SMALL * ("--against" not in options) + options, program)
            record(path, ["--huge", "all", "--huge-size", "1G"], program)
            same(path, SMALL + ["--huge", "all", "--huge-size", "1G"], program)
            record(path, ["--zero-page"], program)
            same(path, ["--zero-page"], program)
        # A map of one's own: the frames of one run are those of another.
        path, frames = os.path.join(directory, "run"), os.path.join(directory, "map")
        program = PROGRAMS[0]
        record(path, ["--pages", "random", "--dump-pagemap", frames], program)
        same(path, ["--pages", "file=" + frames], program, ("dump-pagemap",))


def analyses():
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "run")
        for program in PROGRAMS + [guest("calls_dynamic"), [os.path.join(IMAGES, "transpose")]]:
            record(path, [], program)
            same(path, ["-m", "teach"], program, FILES)
            same(path, ["--fifo-detector", "--against", "random"], program, FILES[:1])


def ends():
    """However a run ends, and whatever it was: samples, signals, a clock, a run without any lane."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "run")
        for program, status in ((["/bin/sh", "-c", "exit 7"], 7), (["/bin/sh", "-c", "kill -SEGV $$"], 139)):
            equal(record(path, [], program), status, "status of %s" % program)
            same(path, [], program)
        program = [os.path.join(IMAGES, "matmul"), "12"]
        for options in (["--skip", "5k", "--warmup", "500", "--measure", "1k", "--samples", "9"],
                        ["--period", "9k", "--measure", "700", "--offsets", "random"], ["--clock", "2024-02-29"],
                        ["--roi", "main"], ["--from", "main", "--warm", "none"]):
            record(path, options, program)
            live, played = outcome(options + program, FILES[1:2]), outcome(["replay", path], FILES[1:2])
            equal(played, live, "replay of " + " ".join(options))
        record(path, ["--no-sim"], program)
        same(path, ["-m", "teach"], program)
        # The same run is the same file, whatever is simulated beside.
        kept = []
        for options in ([], ["--no-sim"], ["--pages", "random", "--no-attribution"]):
            record(path, options, program)
            with open(path, "rb") as file:
                kept.append(file.read())
        check(kept[0] == kept[1] == kept[2], "recordings of one run differ")
        # Through a pipe, from one c2emu to the other.
        words = '"$0" -q --record /dev/fd/3 "$1" 12 3>&1 >/dev/null | "$0" replay -'
        result = subprocess.run(["bash", "-c", words, EMULATOR, program[0]], capture_output=True)
        equal(result.returncode, 0, "status behind a pipe")
        equal(result.stderr, emulate(program, stdout=subprocess.DEVNULL).stderr, "report behind a pipe")


# ---------------------------------------------------------------------------------------------- refusals

def said(words, text, what, status=125):
    result = emulate(words)
    equal((result.returncode, result.stdout), (status, b""), "status of " + what)
    contains(result.stderr.decode(), [text], what)


def refused():
    with tempfile.TemporaryDirectory() as directory:
        path, program = os.path.join(directory, "run"), os.path.join(directory, "program")
        subprocess.run(["cp", os.path.join(IMAGES, "matmul"), program], check=True)
        record(path, [], [program, "12"])
        said(["replay", "--huge", "all", path], "want a heap that grows by 2 MiB", "huge pages that were not recorded")
        said(["replay", "--against", "huge", path], "record the run with the same --huge", "--against huge")
        said(["replay", "--zero-page", path], "record the run with --zero-page", "--zero-page")
        said(["replay", path + "s"], "cannot read the recording %ss: No such file or directory" % path, "no file")
        said(["replay", "--place", "nosuch=random", path], "neither a region nor a symbol of program", "no symbol")
        said(["replay", program], "a zero byte, so this is no trace in lines", "a program")
        # What names come from has changed, or has gone.
        with open(program, "ab") as file:
            file.write(b"x")
        said(["replay", path], program + " is another file than the one that was recorded", "another program")
        whole = emulate(["replay", "--full", "--no-attribution", path])
        equal(whole.returncode, 0, "counts without names")
        os.remove(program)
        gone = emulate(["replay", "--full", path])
        equal(gone.returncode, 0, "counts without the program")
        text = gone.stderr.decode()
        contains(text, ["c2emu: %s cannot be read (No such file or directory)" % program], "a program that is gone")
        check("matmul.c" not in text, "names of a program that is gone")
        counts = [line for line in whole.stderr.decode().splitlines() if line.startswith(("references", "L1D", "L2"))]
        contains(text, counts, "counts of a program that is gone")
        # Cut anywhere, it is refused and leaves nothing.
        with open(path, "rb") as file:
            whole = file.read()
        for at in list(range(0, 40)) + list(range(40, len(whole), len(whole) // 12)):
            with open(path, "wb") as file:
                file.write(whole[:at])
            json = os.path.join(directory, "json")
            result = emulate(["replay", "--json-full", json, path])
            equal((result.returncode, os.path.exists(json)), (125, False), "cut at %d" % at)


def killed():
    """A run that is killed, or whose disk is full, leaves the old recording, and nothing else."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "run")
        with open(path, "w") as file:
            file.write("old")
        for wait in (0.1, 0.3, 0.6):
            process = subprocess.Popen([EMULATOR, "-q", "--record", path, os.path.join(IMAGES, "matmul"), "300"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(wait)
            process.send_signal(signal.SIGKILL)
            process.wait()
            equal(contents(directory), {"run": b"old"}, "folder of a run that was killed")
        words = 'ulimit -f 8; exec "$0" -q --record "$1" "$2" 40'
        program = os.path.join(IMAGES, "sort")
        result = subprocess.run(["bash", "-c", words, EMULATOR, path, program], capture_output=True)
        equal(result.returncode, 125, "status of a full disk")
        contains(result.stderr.decode(), [path, "File too large"], "a full disk")
        equal(contents(directory), {"run": b"old"}, "folder of a full disk")
        said(["-q", "--record", "/dev/full"] + guest("strings"), "/dev/full", "a full device")


def fuzz(path, inputs, what):
    words = [sys.argv[2], os.path.join(MACHINES, "teach.ini"), path, str(inputs), "1"]
    result = subprocess.run(words, capture_output=True)
    equal((result.returncode, result.stderr), (0, b""), what)
    print(what, result.stdout.decode(), end="")


def fuzzed():
    """Changed recordings, with right checksums, and traces through the whole lane; C2_FUZZ_INPUTS says how many."""
    inputs = int(os.environ.get("C2_FUZZ_INPUTS", "10000"))
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "run")
        for name, share in (("strings", 35), ("zero", 35), ("regions_static", 10)):
            emulate(["--no-sim", "--record", path] + guest(name))
            fuzz(path, inputs * share // 100, "changed recordings of " + name)
        for name in ("text", "x.din"):
            path = os.path.join(directory, name)
            emulate(["-q", "--trace", path] + guest("rmw"))
            fuzz(path, inputs // 15, "changed traces, " + name)
        path = os.path.join(directory, "lackey")
        with open(path, "w") as file:
            for i in range(200):
                file.write("==7== said\nI  %x,4\n L %x,8\n M 1ffefffe%02x,4\n" % (0x4000 + 4 * i, 0x60000 + 72 * i, i))
        fuzz(path, inputs // 15, "changed traces, lackey")


{"machines": machines, "placements": placements, "analyses": analyses, "ends": ends, "refused": refused,
 "killed": killed, "fuzzed": fuzzed}[sys.argv[1]]()
done()
