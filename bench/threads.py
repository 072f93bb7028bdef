#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""threads.py [RUNS [PROGRAM...]]: which thread a run waits for: the tables of bench/README.md, "Threads".

Processor time of each thread of a default run - the guest's, of machines (records, translation, TLBs, contents), of
classes (shadows, classes, evictors) -, the lowest of the runs, beside Cachegrind's, whose is 1 in the last columns. A
run takes no less than its longest thread, with a processor for each as long: with --jobs 1 the guest's or the two
others, which are one then, with more the longest of the three; and on two processors no less than half of the sum.
Processor time is read from /proc while a thread runs, every few milliseconds, so that a busy host changes little, and
the last of them are missing. Wants a Release build in build/, its images, gzip, mawk, python3 and valgrind.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time

import bars
import paired

STAGES = ("c2emu machines", "c2emu classes")
POLL = 0.003  # seconds


def read_threads(pid, found):
    """{name: processor seconds} of the threads that there are."""
    try:
        for tid in os.listdir("/proc/%d/task" % pid):
            task = "/proc/%d/task/%s/" % (pid, tid)
            with open(task + "comm") as comm, open(task + "schedstat") as stat:
                name = comm.read().strip()
                found[name if name in STAGES else "guest"] = int(stat.read().split()[0]) * 1e-9
    except (FileNotFoundError, ProcessLookupError, IndexError):
        pass  # it has just ended


def by_thread(command):
    """Processor seconds of the guest's thread, of machines and of classes."""
    found = dict.fromkeys(("guest",) + STAGES, 0.0)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        read_threads(process.pid, found)
        time.sleep(POLL)
    if process.returncode != 0:
        sys.exit("threads.py: %s: status %d" % (" ".join(command), process.returncode))
    return tuple(found.values())


def processor_time(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,)


def lowest(rows):
    return tuple(min(column) for column in zip(*rows))


def main():
    runs, wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 3, sys.argv[2:]
    cachegrind = ["valgrind", "-q", "--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=/dev/null"]
    bounds = []
    print("| program | guest | machines | classes | Cachegrind | --jobs 1 | 2 and more | the same on two processors |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as directory:
        for name, command in bars.programs(directory):
            if wanted and name not in wanted:
                continue
            rows = [by_thread([paired.C2EMU, "-q"] + command) + processor_time(cachegrind + command)
                    for _ in range(runs)]
            *threads, other = lowest(rows)
            guest, machines, classes = threads
            bounds.append([seconds / other for seconds in (
                max(guest, machines + classes), max(threads), max(max(threads), sum(threads) / 2))])
            print("| %s | %.2f s | %.2f s | %.2f s | %.2f s | %.2f | %.2f | %.2f |" % (
                name, *threads, other, *bounds[-1]), flush=True)
    print("| geometric mean | | | | | %.2f | %.2f | %.2f |" % tuple(map(bars.mean, zip(*bounds))))


main()
