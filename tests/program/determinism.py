# SPDX-License-Identifier: GPL-2.0-or-later
"""determinism.py GUEST: one command line, one program, one set of inputs - one report.json, but for its receipt, and
one report.txt, byte for byte. In the same circumstances the receipt is the same, too.

The reference run is repeated: as it is; from other directories, by a link to c2emu and by a copy of it; with a host
environment of nothing, of 100 KiB, with variables that libraries look at; with address randomisation off; while all
host processors are busy; on one processor; with a lower stack limit and open files; with other standard streams. (Of
python, which takes long, several of these at once, and with more in the directory that it looks at.) A change of the
seed, of the placement or of the guest's environment must change it: the comparison can fail.
"""

import contextlib
import multiprocessing
import os
import resource
import shutil
import sys
import tempfile

from common import EMULATOR, check, done, fail, run, without_receipt

GUESTS = os.environ["GUESTS"]
# Its addresses hash, its table of pages and its times show what leaks in from the host.
PROGRAMS = {
    "bare": ["./fetch"],
    "libc": ["./hello_dynamic", "pear", "apple"],
    "python": ["/usr/bin/python3", "-I", "-S", "-c",
               "import time, os; print(hash('seeded'), id(object()), time.time(), os.getpid(), sorted(os.environ));"
               "print(os.fstat(os.pipe()[0]), os.fstat(os.memfd_create('m')), os.fstat(os.eventfd(0)));"
               "print(os.statvfs('/'), os.stat('.')[:7], os.readlink('/proc/self/fd/3'))"],
    "shell": ["/bin/dash", "-c",
              "i=0; while [ $i -lt 99 ]; do i=$((i+1)); done; echo $$ $PPID $i; times; ulimit -a; umask"],
}
OPTIONS = ["--pages", "random", "--set", "L2.policy=random", "--set", "L3.size=1280K"]


class Runs:
    def __init__(self, program, directory):
        self.program = program
        self.directory = directory
        self.cwd = GUESTS
        self.count = 0

    def reports(self, prefix=(), emulator=EMULATOR, options=(), program=None, **more):
        """(report.json without its receipt, report.txt, the guest's output and status, report.json)"""
        self.count += 1
        out = os.path.join(self.directory, "out%d" % self.count)
        more.setdefault("cwd", self.cwd)
        words = list(prefix) + [emulator, "-q", "-o", out] + OPTIONS + list(options) + (program or self.program)
        result = run(words, **more)
        if not os.path.exists(out):
            fail("status %d of %s: %s" % (result.returncode, " ".join(words), result.stderr.decode()))
            done()
        contents = []
        for name in ("report.json", "report.txt"):
            with open(os.path.join(out, name), "rb") as file:
                contents.append(file.read())
        whole, output = contents[0], result.stdout + b"status %d" % result.returncode
        return without_receipt(whole), contents[1], output, whole

    def expect_same(self, reference, what, circumstances=False, **more):
        got = self.reports(**more)
        names = ("report.json", "report.txt", "the guest's output", "the receipt")
        for name, a, b in zip(names[:len(names) if circumstances else -1], got, reference):
            if a == b:
                continue
            fail("%s differs: %s" % (name, what))
            for old, new in zip(b.splitlines(), a.splitlines()):
                if old != new:
                    print("   was %r\n   now %r" % (old, new))

    def expect_other(self, reference, what, **more):
        check(self.reports(**more)[0] != reference[0], "report.json is the same: " + what)


def spin():
    while True:
        pass


@contextlib.contextmanager
def busy():
    loops = [multiprocessing.Process(target=spin, daemon=True) for _ in range(os.cpu_count())]
    for loop in loops:
        loop.start()
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.join()


def limit_stack():
    resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))
    for _ in range(20):
        os.dup(0)


def same_program_elsewhere(runs, reference, directory):
    """The guest's path is part of its command line; so the whole folder moves, and the words stay the same. (A shell
    asks for the working directory when it starts: to that one it is input.)"""
    other = os.path.join(directory, "a much longer name of a directory", "below")
    shutil.copytree(GUESTS, other)
    runs.expect_same(reference, "a copy of the directory", cwd=other)
    link = os.path.join(directory, "link")
    os.symlink(EMULATOR, link)
    runs.expect_same(reference, "c2emu by a link", emulator=link)
    copy = os.path.join(directory, "copy-of-c2emu")
    shutil.copy(EMULATOR, copy)
    runs.expect_same(reference, "a copy of c2emu", emulator=copy, env=dict(os.environ, **MACHINES))


MACHINES = {"C2EMU_MACHINES": os.environ["C2EMU_MACHINES"]}
BIG = {"VARIABLE_%d" % i: "x" * 1000 for i in range(100)}
STRANGE = {"LANG": "de_DE.UTF-8", "LC_ALL": "tr_TR.UTF-8", "TZ": "Asia/Kathmandu", "MALLOC_ARENA_MAX": "1",
           "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0", "LD_BIND_NOW": "1", "COLUMNS": "40", "HOME": "/tmp",
           "PYTHONHASHSEED": "7", "SOURCE_DATE_EPOCH": "1", "PATH": "/bin"}
FIXED = ["setarch", "-R"] if shutil.which("setarch") else []


def environments(runs, reference):
    for what, env in (("no host environment", {}), ("100 KiB of host environment", BIG), ("other locales", STRANGE)):
        runs.expect_same(reference, what, env=dict(env, **MACHINES))
    if FIXED:
        runs.expect_same(reference, "without address randomisation", prefix=FIXED)
    with busy():
        runs.expect_same(reference, "while the host is busy")


def all_at_once(runs, reference):
    with busy():
        runs.expect_same(reference, "in another environment, without address randomisation, while the host is busy",
                         env=dict(BIG, **STRANGE, **MACHINES), prefix=FIXED)


def odd_circumstances(runs, reference, directory):
    same_program_elsewhere(runs, reference, directory)
    if shutil.which("taskset"):
        runs.expect_same(reference, "on one processor", prefix=["taskset", "-c", "0"])
    runs.expect_same(reference, "another stack limit, more open files", preexec_fn=limit_stack)
    with tempfile.TemporaryFile() as file:
        file.write(b"not read by anyone\n")
        runs.expect_same(reference, "another standard input", stdin=file)
    runs.expect_same(reference, "in a session of its own", start_new_session=True)
    runs.expect_same(reference, "with --stats and a trace", options=["--stats", "--trace", "/dev/null"])


def among_others(runs, reference):
    """What else lies in the directory shows in what the host tells of it."""
    for i in range(200):
        os.mkdir(os.path.join(runs.cwd, "a directory with a rather long name, number %d" % i))
    runs.expect_same(reference, "in a directory with 200 others")


def main(name):
    program = PROGRAMS[name]
    with tempfile.TemporaryDirectory() as directory:
        runs = Runs(program, directory)
        if name == "python":
            runs.cwd = os.path.join(directory, "here")
            os.mkdir(runs.cwd)
        reference = runs.reports()
        runs.expect_same(reference, "simply again", circumstances=True)
        (all_at_once if name == "python" else environments)(runs, reference)
        if name == "python":
            among_others(runs, reference)
        if name in ("bare", "libc"):
            odd_circumstances(runs, reference, directory)

        runs.expect_other(reference, "another seed", options=["--seed", "2"])
        if name == "libc":
            runs.expect_other(reference, "another placement", options=["--pages", "sequential"])
            runs.expect_other(reference, "another argument", program=program + ["more"])
            runs.expect_other(reference, "another clock", options=["--clock", "2024-02-29"])
            runs.expect_other(reference, "more in the guest's environment", options=["-E", "MORE=1"])
    done()


main(sys.argv[1])
