# SPDX-License-Identifier: GPL-2.0-or-later
"""threads.py locks|owners|waits|deadlock|same|stream|saved|processors: programs with threads, with guests/threads.c.

locks     mutexes, conditions, barriers, rwlocks, semaphores, spinning: as natively, under three quanta
owners    robust mutexes and those with priority inheritance; cancellation, detached threads, the first one leaving
waits     sleeps overlap in guest time; pipes between threads
deadlock  is recognised, with what each thread waits for, and where
same      reports are equal byte for byte
stream    a trace has the thread of each reference
processors  the program finds as many as the machine has cores
saved     a run that is saved between two instructions goes on from there, and reports what a whole one does
"""

import json
import os
import random
import sys
import tempfile

from common import check, done, emulate, equal, run, without_receipt

GUEST = os.path.join(os.environ["GUESTS"], "threads")
QUANTA = ("50000", "777", "31")


def as_natively(what, count):
    native = run([GUEST, what, str(count)])
    for quantum in QUANTA:
        got = emulate(["-q", "--no-sim", "--quantum", quantum, GUEST, what, str(count)])
        name = "%s with %d threads, quantum %s" % (what, count, quantum)
        equal(got.stdout, native.stdout, name)
        equal(got.returncode, native.returncode, "exit status of " + name)
        equal(got.stderr, b"", "messages of " + name)


def locks():
    as_natively("locks", 5)
    as_natively("spins", 3)
    as_natively("locks", 64)


def owners():
    as_natively("owners", 4)
    as_natively("cancels", 3)
    got = emulate(["-q", "--no-sim", GUEST, "leaves", "3"])
    equal(got.stdout, b"late 0\nlate 1\nlate 2\n", "threads that outlive the first")
    equal(got.returncode, 0, "its exit status")


def waits():
    as_natively("sleeps", 6)
    as_natively("chain", 3)


def deadlock():
    got = emulate(["--no-sim", GUEST, "deadlock"])
    equal(got.returncode, 125, "exit status of a deadlock")
    said = got.stderr.decode().split("\n")
    equal(said[0], "c2emu: deadlock: none of the program's 2 threads can ever go on", "what is said of a deadlock")
    stacks = {}
    for line in said[1:]:
        if line.startswith("thread"):
            stack = stacks.setdefault(line.split(" for the word")[0], [])
        elif line:
            stack.append(line.split()[0])
    equal(sorted(stacks), ["thread 1000 waits in futex", "thread 1001 waits in futex"], "threads of a deadlock")
    equal([[name for name in stack if name in ("main", "deadlock", "other_way")] for stack in stacks.values()],
          [["deadlock", "main"], ["other_way"]], "their functions")


def same():
    reports = set()
    for _ in range(4):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "report.json")
            emulate(["-q", "--json", path, "-m", "teach", "--quantum", "500", GUEST, "locks", "8"])
            with open(path, "rb") as file:
                reports.add(file.read())
    equal(len(reports), 1, "different reports of one program with threads")


def stream():
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "trace")
        emulate(["-q", "--trace", path, "-m", "teach", GUEST, "locks", "3"])
        with open(path) as file:
            threads = [int(line.split()[5]) for line in file if line[0] in "RWF"]
    equal(sorted(set(threads)), [1, 2, 3, 4], "threads of a trace")
    equal((threads[0], threads[-1]), (1, 1), "the first and the last thread")
    check(all(threads.count(thread) > 5000 for thread in (2, 3, 4)), "each thread has references")


def processors():
    guest = os.path.join(os.environ["GUESTS"], "processors")
    for options, want in ((["-m", "teach"], "1 of 1: 0 0 0 0 0 0, allowed 1, of none -1\n"),
                          (["-m", "teach", "--set", "cores=4"], "4 of 4: 0 1 2 3 0 1, allowed 1, of none -1\n"),
                          (["-m", "teach", "--vary", "cores=1,2"], "2 of 2: 0 1 0 1 0 1, allowed 1, of none -1\n")):
        equal(emulate(["-q", *options, guest, "6"]).stdout.decode(), want, " ".join(options))
    files = emulate(["-q", "--no-sim", "--set", "cores=3", "/bin/cat", "/sys/devices/system/cpu/online", "/proc/stat",
                     "/proc/cpuinfo"]).stdout.decode()
    equal(files.split("\n")[0], "0-2", "the processors that are on")
    equal([files.count("cpu%d " % i) for i in range(4)], [1, 1, 1, 0], "processors in /proc/stat")
    equal([line for line in files.split("\n") if line.startswith("core id")],
          ["core id\t\t: %d" % i for i in range(3)], "processors in /proc/cpuinfo")


def measured(directory, words):
    path = os.path.join(directory, "report.json")
    verb = words[:1] if words[0] == "restore" else []
    got = emulate(verb + ["-q", "--json", path, "-m", "teach"] + words[len(verb):])
    equal((got.returncode, got.stderr), (0, b""), "status and messages of " + " ".join(words))
    with open(path, "rb") as file:
        return without_receipt(file.read()), got.stdout


def saved():
    draw = random.Random("threads")
    for program in [GUEST, "locks", "5"], [GUEST, "sleeps", "3"], [GUEST, "owners", "3"]:
        with tempfile.TemporaryDirectory() as directory:
            checkpoint = os.path.join(directory, "checkpoint")
            whole, output = measured(directory, ["--quantum", "300"] + program)
            at = draw.randrange(70000, json.loads(whole)["run"]["instructions"])
            same_run, _ = measured(directory, ["--quantum", "300", "--checkpoint", checkpoint, "--checkpoint-caches",
                                               "--checkpoint-at", str(at)] + program)
            rest, end = measured(directory, ["restore", checkpoint])
            what = "%s, saved at %d" % (" ".join(program[1:]), at)
            check(same_run == whole, "the report of %s is another" % what)
            check(rest == whole, "%s goes on otherwise" % what)
            check(output.endswith(end), "the output of %s is another" % what)


PARTS = {"locks": locks, "owners": owners, "waits": waits, "deadlock": deadlock, "same": same, "stream": stream,
         "saved": saved, "processors": processors}
PARTS[sys.argv[1]]()
done()
