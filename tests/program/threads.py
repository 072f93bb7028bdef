# SPDX-License-Identifier: GPL-2.0-or-later
"""threads.py PART: programs with threads, with guests/threads.c and others. Parts:

locks     mutexes, conditions, barriers, rwlocks, semaphores, spinning: as natively, under three quanta
owners    robust mutexes and those with priority inheritance; cancellation, detached threads, the first one leaving
waits     sleeps overlap in guest time; pipes between threads; input from outside
deadlock  is recognised, with what each thread waits for, and where
same      reports and traces are equal byte for byte, on several cores too, while the host is busy
stream    a trace has the thread of each reference
programs  OpenMP with 1 to 64 threads, C++, Python, xz and zstd where they are installed: as natively
torture   random futexes and random signals leave the same state as natively, under three quanta
processors  the program finds as many as the machine has cores
calls     cost what their own thread executes
watched   the schedule of several cores is the same whoever watches
grain     on several cores turns are of as many whole blocks as 100 instructions have room for; what that does to misses
saved     a run that is saved between two instructions goes on from there, and reports what a whole one does
"""

import collections
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

from common import check, done, emulate, equal, report, run, without_receipt

GUEST = os.path.join(os.environ["GUESTS"], "threads")
QUANTA = ("50000", "777", "31")


def as_natively(what, count, quanta=QUANTA):
    native = run([GUEST, what, str(count)])
    for quantum in quanta:
        got = emulate(["-q", "--no-sim", "--quantum", quantum, GUEST, what, str(count)])
        name = "%s with %d threads, quantum %s" % (what, count, quantum)
        equal(got.stdout, native.stdout, name)
        equal(got.returncode, native.returncode, "exit status of " + name)
        equal(got.stderr, b"", "messages of " + name)


def locks():
    as_natively("locks", 5)
    as_natively("spins", 3, ("777",))
    as_natively("locks", 64, ("50000",))


def owners():
    as_natively("owners", 4, ("777",))
    as_natively("cancels", 3, ("31",))
    got = emulate(["-q", "--no-sim", GUEST, "leaves", "3"])
    equal(got.stdout, b"late 0\nlate 1\nlate 2\n", "threads that outlive the first")
    equal(got.returncode, 0, "its exit status")


def waits():
    got = emulate(["-q", "--no-sim", "--quantum", "777", GUEST, "sleeps", "6"])
    equal(got.stdout.decode(), "sleeps overlap Connection timed out\n", "sleeping threads")
    as_natively("chain", 3, ("50000",))
    said = []
    for delay in 0, 0.3:  # when the input comes does not change who runs when
        with subprocess.Popen(["/bin/sh", "-c", "sleep %g; echo now" % delay], stdout=subprocess.PIPE) as writer:
            got = emulate(["-q", "--no-sim", "--quantum", "3000", GUEST, "input", "3"], stdin=writer.stdout)
        said.append((got.stdout.decode(), got.returncode))
    equal(said[0], said[1], "a program with threads whose input comes at once, and late")
    check(said[0][0].endswith("2.4 input 1 4 now\n"), "it is read when the others are done: " + said[0][0])


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


def files_of(options, what):
    """What a run of 8 threads writes, and what it says."""
    with tempfile.TemporaryDirectory() as directory:
        out, trace = os.path.join(directory, "out"), os.path.join(directory, "trace")
        result = emulate(["-q", "-o", out, "--trace", trace, "-m", "teach", "--quantum", "500", *options, GUEST, what,
                          "8"])
        found = [(result.returncode, result.stdout, result.stderr)]
        for path in (os.path.join(out, "report.txt"), os.path.join(out, "report.json"), trace):
            with open(path, "rb") as file:
                found.append(without_receipt(file.read()) if path.endswith(".json") else file.read())
        return tuple(found)


# Threads that spin and yield, threads that sleep, and threads that wait for each other, on several cores and on one.
def same():
    with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as load:
        for cores, what, jobs in (("4", "spins", "123"), ("8", "sleeps", "123"), ("1", "locks", "12")):
            runs = {files_of(["--set", "cores=" + cores, "--jobs", number], what) for number in jobs}
            equal(len(runs), 1, "different reports of 8 threads on %s cores, %s" % (cores, what))
        load.kill()
    check(files_of(["--set", "cores=1", "--quantum", "501"], "locks") not in runs, "another quantum, the same reports")


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
    shown = ["type", "level", "size", "ways_of_associativity", "number_of_sets", "shared_cpu_list"]
    for cache, want in enumerate(("Data 1 32K 8 64 1", "Instruction 1 32K 8 64 1", "Unified 2 1024K 16 1024 1",
                                  "Unified 3 22528K 11 32768 0-3")):
        where = "/sys/devices/system/cpu/cpu1/cache/index%d/" % cache
        files = emulate(["-q", "--no-sim", "-m", "skylake-sp", "--set", "cores=4", "/bin/cat"] +
                        [where + name for name in shown]).stdout.decode()
        equal(files.split(), want.split(), "a cache of skylake-sp")


def measured(directory, words):
    path = os.path.join(directory, "report.json")
    verb = words[:1] if words[0] == "restore" else []
    got = emulate(verb + ["-q", "--json-full", path, "-m", "teach"] + words[len(verb):])
    equal((got.returncode, got.stderr), (0, b""), "status and messages of " + " ".join(words))
    with open(path, "rb") as file:
        return without_receipt(file.read()), got.stdout


PYTHON = """
import concurrent.futures, queue, threading
numbers = queue.Queue()
def work(number):
    for i in range(30):
        numbers.put(number * i)
threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
with concurrent.futures.ThreadPoolExecutor(3) as pool:
    print(sum(numbers.queue), list(pool.map(lambda x: x * x, range(10))))
woken = threading.Event()
threading.Timer(0.3, woken.set).start()
print(woken.wait(5), woken.wait(0.1))
"""


def same_output(words, options=(), **more):
    native, got = run(words, **more), emulate(["-q", "--no-sim", *options, *words], **more)
    equal((got.returncode, got.stdout), (native.returncode, native.stdout), " ".join(words)[:60])


def programs():
    guests = os.environ["GUESTS"]
    for count in 1, 7, 64:
        same_output([os.path.join(guests, "openmp"), str(count)])
    same_output([os.path.join(guests, "openmp"), "3"], ["--env", "OMP_WAIT_POLICY=active", "--quantum", "20000"])
    same_output([os.path.join(guests, "threads_cxx")])
    same_output([os.path.realpath(sys.executable), "-c", PYTHON])
    with tempfile.TemporaryDirectory() as directory:
        text = os.path.join(directory, "text")
        with open(text, "w") as file:
            file.write("".join("%d %d\n" % (i, i * i % 9973) for i in range(9000)))
        for command in ["xz", "-T2", "--block-size=32KiB", "-0", "-kc"], ["zstd", "-q", "-T2", "-B65536", "-c"]:
            if shutil.which(command[0]):
                same_output([shutil.which(command[0])] + command[1:] + [text])


def torture():
    guest = os.path.join(os.environ["GUESTS"], "torture")
    for what in "futex", "signals":
        native = run([guest, what, "8", "60", "1"])
        for quantum in QUANTA:
            got = emulate(["-q", "--no-sim", "--quantum", quantum, guest, what, "8", "60", "1"])
            name = "%s torture, quantum %s" % (what, quantum)
            equal(got.stdout.decode(), native.stdout.decode(), name)
            equal(got.returncode, 0, "exit status of " + name)


def inclusive(path, name):
    """Of all calls of the function: how many, and the instructions in them; of a file for Callgrind's tools."""
    calls = cost = 0
    names = {}
    with open(path) as file:
        lines = file.read().split("\n")
    for i, line in enumerate(lines):
        if "fn=(" in line:
            number, _, rest = line.split("=", 1)[1].partition(" ")
            names.setdefault(number, rest)
            if line.startswith("cfn=") and names[number].split("'")[0] == name:
                calls += int(lines[i + 1].split("=")[1].split()[0])
                cost += int(lines[i + 2].split()[1])
    return calls, cost


def calls():
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "calls")
        costs = []
        for quantum in "1G", "71":
            emulate(["-q", "-m", "teach", "--quantum", quantum, "--callgrind", path, GUEST, "calls", "3"])
            costs.append((inclusive(path, "outer"), inclusive(path, "inner")))
        equal(costs[1], costs[0], "what calls cost, in long turns and in short ones")
        equal([count for count, _ in costs[0]], [3, 6000], "calls")
        # With callers, each is that of one caller, in whatever thread, and costs the same.
        emulate(["-q", "-m", "teach", "--quantum", "71", "--separate-callers", "1", "--callgrind", path, GUEST, "calls",
                 "3"])
        equal((inclusive(path, "outer"), inclusive(path, "inner")), costs[0], "what calls cost, told apart by callers")


def saved():
    draw = random.Random("threads")
    for program in [GUEST, "locks", "3"], [GUEST, "owners", "2"]:
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


def turns_of(path):
    """Of a trace: for each turn its thread, the addresses of its instructions, and those of its data."""
    turns = []
    with open(path) as file:
        for line in file:
            kind, _, address, _, _, thread = line.split()
            if not turns or turns[-1][0] != int(thread):
                turns.append((int(thread), [], []))
            turns[-1][1 if kind == "F" else 2].append(int(address, 16))
    return turns


def within(turns, start, end):
    """Those that have no instruction elsewhere, and that another thread's follows."""
    return [turn for turn in turns[:-1] if all(start <= address < end for address in turn[1])]


def grain():
    guest = os.path.join(os.environ["GUESTS"], "turns")
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "trace")

        def traced(what, *options):
            found = report(["-m", "teach", "--cores", "2", "--trace", path, *options], [guest, what])
            return found, turns_of(path)

        run_of_short, turns = traced("short")
        line = next(of for of in run_of_short["coherence"]["lines"] if of["object"] == "word")
        word = int(line["address"], 16)
        adding = [i for i, turn in enumerate(turns) if word in turn[2]]
        check(max(len(code) for _, code, _ in turns[adding[1]:adding[-2]]) <= 100, "no turn is longer than 100")
        first = min(turns[adding[1]][1])
        loop = within(turns, first, first + 64)
        # 14 rounds of 7 instructions: 98, and 7 more are too many. All of a thread are a hundred such turns, or, where
        # the first has less room, one more.
        equal({len(code) for _, code, _ in loop}, {98}, "turns in a loop of one block of 7")
        check(196 <= len(loop) <= 200, "turns that are in the loop from end to end: %d" % len(loop))
        # Of each thread's additions in a turn the first one misses, and for what the other has written; but at first
        # the line is cold.
        equal((line["true_sharing"], line["false_sharing"]), (len(adding) - 2, 0), "misses of the word")
        check(all(turns[i][0] != turns[k][0] for i, k in zip(adding, adding[1:])), "threads add in turn")
        # Turns ten times as long: of each thread's the first that misses in ten.
        expected = {10: set(), 100: set()}
        number = {1: 0, 2: 0}
        for i, (thread, _, data) in enumerate(turns):
            number[thread] += 1
            for times in expected:
                if word in data and i not in adding[:2]:
                    expected[times].add((thread, number[thread] // times))
        others = run_of_short["coherence"]["lines"]
        more = sum(of["true_sharing"] + of["false_sharing"] for of in others if of is not line)
        found = {row["times"]: row["coherence_misses"] for row in run_of_short["coherence"]["longer_turns"]}
        equal(sorted(found), [10, 100], "longer turns")
        for times in expected:
            check(len(expected[times]) <= found[times] <= len(expected[times]) + more,
                  "misses in turns %d times as long: %d of the word, %d in all" % (times, len(expected[times]),
                                                                                  found[times]))
        equal(run_of_short["coherence"]["turn"], 100, "the length of turns")

        _, turns = traced("long")
        often = collections.Counter(address for _, code, _ in turns for address in code)
        loop = {address for address, count in often.items() if count == 2 * 1400}
        check(len(loop) >= 132, "instructions of the loop")
        inside = [turn for turn in turns if set(turn[1]) <= loop and len(turn[1]) in (32, 100)]
        # A block of 100 is a turn; the next has 32, and 100 more are too many. When one thread is through, the other is
        # alone, and its turn does not end.
        check(2 * 2 * 1400 - 8 <= len(inside) <= 2 * 2 * 1400, "turns of 100 and of 32: %d" % len(inside))

        # An exact quantum is exact still.
        run_of_short, turns = traced("short", "--quantum", "50")
        loop = within(turns, first, first + 64)
        equal({len(code) for _, code, _ in loop}, {50}, "turns of 50")
        equal(run_of_short["coherence"]["turn"], 50, "their length")


def watched():
    """Where turns of whole blocks end does not depend on who watches: a recording, a checkpoint and what goes on from
    it, a place that is waited for."""
    program, options = [GUEST, "locks", "3"], ["-m", "teach", "--cores", "4"]
    plain = report(options, program)
    with tempfile.TemporaryDirectory() as directory:
        file = os.path.join(directory, "file")
        equal(report(options + ["--record", file], program), plain, "a run that is recorded")
        replayed = os.path.join(directory, "report")
        emulate(["replay", "-q", "--json-full", replayed] + options + [file])
        with open(replayed, "rb") as of:
            equal(json.loads(without_receipt(of.read())), plain, "and played back")
        at = str(plain["run"]["instructions"] - 40007)
        saved = options + ["--checkpoint", file, "--checkpoint-caches", "--checkpoint-at", at]
        equal(report(saved, program), plain, "a run that is saved")
        emulate(["restore", "-q", "--json-full", replayed] + options + [file])
        with open(replayed, "rb") as of:
            equal(json.loads(without_receipt(of.read())), plain, "and gone on with")
    parts = [report(options + [option, "main"], program)["run"]["measured"]["instructions"]
             for option in ("--to", "--from")]
    equal(sum(parts), plain["run"]["instructions"], "instructions before main and from there on")


PARTS = {"grain": grain, "watched": watched, "locks": locks, "owners": owners, "waits": waits, "deadlock": deadlock,
         "same": same, "stream": stream, "saved": saved, "calls": calls, "torture": torture, "programs": programs,
         "processors": processors}
PARTS[sys.argv[1]]()
done()
