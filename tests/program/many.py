# SPDX-License-Identifier: GPL-2.0-or-later
"""many.py PART: one execution on several machines and placements.

alone     every lane counts what a run of its own counts, all counts of all levels, TLBs and walks; the report of the
          first is that of its own run, and so are the files
threads   the same bytes for any number of threads: of machines side by side, and of the two stages of one (stages)
loaded    the same for 1 to 8 threads on a host whose processors are wanted by others
named     how many threads of which kind --jobs makes, in the host's eyes
replayed  a recorded run gives the report of the live one
shared    machines of a run that share what they simulate alike give the report that they give where nothing can be kept
          to share: one that departs, a fork, a temporary file that is full; what --stats says of them
compared  least, quartiles, most, what changes most and where the first lies, worked out again from the lanes; which
          rows the text has
ends      where memory ends in one of them: the run ends at the same page, with the same words, whatever threads
seen      what the program sees of memory is the largest of all, and is said
csv       --vary-csv has the lanes of the report, with their values as they were given; more than 256
refused   bad values: nothing is run, no file is left
"""

import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

from common import EMULATOR, check, contains, done, emulate, equal, without_receipt

GUESTS = os.environ["GUESTS"]
COUNTS = ("machine", "pages", "levels", "tlb", "walks")
COMPARED = ("lanes", "spread", "changed")
STRIDES, CHASE, MATMUL, REGIONS = (os.path.join(GUESTS, n) for n in ("strides", "chase", "matmul_small", "regions"))


def reports_in(directory):
    data, text = (os.path.join(directory, name) for name in ("report.json", "report.txt"))
    with open(data, "rb") as data_file, open(text) as text_file:
        return without_receipt(data_file.read()).decode(), text_file.read()


def run(options, program):
    """(report, text, standard output)"""
    with tempfile.TemporaryDirectory() as directory:
        result = emulate(["-q", "-o", directory] + options + program)
        if not equal((result.returncode, result.stderr), (0, b""), "run with " + " ".join(options)):
            done()
        return reports_in(directory) + (result.stdout,)


# ---------------------------------------------------------------- alone

# (program, options of all, options that make the lanes, those of each lane's own run)
CASES = [
    ([STRIDES], ["-m", "teach"],
     ["--vary", "pages=sequential,random,same-color,color=1,buddy,age=0.7", "--vary", "pages.seed=1..2"],
     [["--pages", "%s,seed=%d" % (policy, seed)]
      for policy in ("sequential", "random", "same-color,color=1", "buddy,age=0.7") for seed in (1, 2)]),
    ([MATMUL], ["--pages", "random", "--seed", "3", "--set", "machine.physical_memory=64M"],
     ["-m", "teach", "-m", "zen3", "-m", "skylake", "--vary", "L1D.policy=lru,random"],
     [["-m", machine, "--set", "L1D.policy=" + policy]
      for machine in ("teach", "zen3", "skylake") for policy in ("lru", "random")]),
    ([STRIDES], ["-m", "teach", "--zero-page", "--set", "walks.mode=cached", "--fifo-detector"],
     ["--vary", "L2.size=16K..64K*2", "--vary", "huge=off,thp"],
     [["--set", "L2.size=" + size, "--huge", huge] for size in ("16K", "32K", "64K") for huge in ("off", "thp")]),
    ([CHASE], ["-m", "teach", "--set", "L3.slices=1", "--set", "L3.hash=none", "--skip", "2000", "--warmup", "1000",
               "--measure", "5000", "--samples", "3",
               "--place", "heap=same-color"],
     ["--vary", "machine.line=32,64", "--vary", "pages=identity,random"],
     [["--set", "machine.line=" + line, "--pages", pages]
      for line in ("32", "64") for pages in ("identity", "random")]),
    ([REGIONS], ["-m", "teach", "--pages", "random"], ["--vary", "pages.seed=5,1..3"],
     [["--pages", "random,seed=%d" % seed] for seed in (5, 1, 2, 3)]),
    ([MATMUL], ["-m", "teach", "--no-attribution"], ["--vary", "L1D.ways=1,2,4"],
     [["--set", "L1D.ways=" + ways] for ways in ("1", "2", "4")]),
]


def alone():
    for program, common, many, own in CASES:
        report, _, output = run(common + many, program)
        report = json.loads(report)
        equal(len(report["lanes"]), len(own), "lanes of " + " ".join(many))
        for i, (lane, options) in enumerate(zip(report["lanes"], own)):
            what = "%s: %s" % (lane["name"], " ".join(options))
            single, _, own_output = run(common + options, program)
            single = json.loads(single)
            equal(output, own_output, what + ": what the program wrote")
            for key in COUNTS:
                if key in single:
                    equal(lane[key], single[key], "%s: %s" % (what, key))
            if "cost" in single:
                equal(lane["cost"], single["cost"]["cost"], what + ": cost")
            if i == 0:
                equal({k: v for k, v in report.items() if k not in COMPARED}, single, what + ": all of the report")
        different = {json.dumps(lane["levels"]) for lane in report["lanes"]}
        check(len(different) > 1, "%s: the lanes are all the same, which shows nothing" % " ".join(many))
    files()
    done()


def files():
    """Of the first lane, with the names of a run's."""
    names = {"--trace": "t.txt", "--callgrind": "c.out", "--evictors": "e.out", "--cachegrind": "g.out",
             "--dump-pagemap": "p.map"}
    contents = []
    for options in (["--vary", "pages.seed=2..4"], ["--pages", "random,seed=2"]):
        with tempfile.TemporaryDirectory() as directory:
            words = [w for option, name in names.items() for w in (option, os.path.join(directory, name))]
            result = emulate(["-q", "-m", "teach", "--pages", "random"] + words + options + [MATMUL])
            equal((result.returncode, result.stderr), (0, b""), "run with files")
            contents.append({name: open(os.path.join(directory, name), "rb").read() for name in names.values()})
    for name in names.values():
        check(contents[0][name] == contents[1][name], name + " is not that of the first lane's own run")


# ---------------------------------------------------------------- threads

def threads():
    for program, options in (([STRIDES], ["-m", "teach", "--pages", "random", "--vary", "pages.seed=1..9"]),
                             ([MATMUL], ["-m", "teach", "-m", "zen3", "-m", "c2sim", "--vary", "L2.ways=2,8"])):
        first = run(options + ["--jobs", "1"], program)
        for jobs in ("2", "3", "8"):
            check(run(options + ["--jobs", jobs], program) == first, "--jobs %s: another report" % jobs)
    done()


# One machine in two stages: usual ones, one that has one stage, walks that enter at L1D, at L2, and are not cached;
# what is counted by windows, by the program's wish, for others, and what waits for each batch or reference.
STAGES = [
    ([MATMUL], []),
    ([MATMUL], ["--no-attribution", "--set", "walks.mode=cached"]),
    ([MATMUL], ["-m", "teach", "--set", "L2.inclusion=inclusive", "--set", "L3.slices=1", "--set", "L3.hash=none",
                "--set", "walks.mode=cached", "--set", "walks.from=L2", "--fifo-detector"]),
    ([CHASE], ["-m", "teach", "--skip", "2000", "--warmup", "1000", "--measure", "3000", "--samples", "20"]),
    ([CHASE], ["--skip", "2000", "--warmup", "1000", "--measure", "3000", "--samples", "9", "--warm", "flush"]),
    ([REGIONS], ["--requests", "yes"]),
    ([STRIDES], ["-m", "teach", "--against", "random"]),
    ([STRIDES], ["-m", "zen3"]),
]


def stages():
    for program, options in STAGES:
        first = run(options + ["--jobs", "1"], program)
        for jobs in ("2", "5"):
            check(run(options + ["--jobs", jobs], program) == first,
                  "%s --jobs %s: another report" % (" ".join(options), jobs))
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "recording")
        equal(emulate(["-q", "--record", path, MATMUL]).returncode, 0, "recording")
        reports = []
        for jobs in ("1", "2"):
            result = emulate(["replay", path, "-q", "-o", directory, "--jobs", jobs])
            equal((result.returncode, result.stderr), (0, b""), "replay")
            reports.append(reports_in(directory))
        check(reports[0] == reports[1] == run([], [MATMUL])[:2], "replayed: another report")
    done()


# ---------------------------------------------------------------- loaded, named

def loaded():
    spinning = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(len(os.sched_getaffinity(0)) + 1)]
    try:
        for program, options in (([MATMUL], []), ([CHASE], ["-m", "teach", "-m", "zen3", "-m", "skylake"])):
            first = run(options + ["--jobs", "1"], program)
            for jobs in range(2, 9):
                check(run(options + ["--jobs", str(jobs)], program) == first, "--jobs %d: another report" % jobs)
    finally:
        for process in spinning:
            process.kill()
            process.wait()
    done()


ONE_STAGE = ["-m", "skylake", "--set", "L2.prefetch=next-line"]
# (options, --jobs, threads of machines, of classes)
NAMED = [([], 1, 1, 0), ([], 2, 1, 1), ([], 8, 1, 1), (["-m", "teach", "-m", "zen3"], 1, 1, 0),
         (["-m", "teach", "-m", "zen3"], 2, 2, 0), (["-m", "teach", "-m", "zen3"], 3, 2, 1),
         (["-m", "teach", "-m", "zen3"], 8, 2, 2), (ONE_STAGE, 8, 1, 0)]
LINES = b"2 401000 4\n0 7fff00001000 8\n" * 40000  # more than is read ahead


def names_of(pid):
    found = []
    for tid in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/comm" % (pid, tid)) as comm:
            found.append(comm.read().strip())
    return found.count("c2emu machines"), found.count("c2emu classes")


def named():
    """A trace that does not end: the threads are there until it does."""
    for options, jobs, machines, classes in NAMED:
        process = subprocess.Popen([EMULATOR, "replay", "-q"] + options + ["--jobs", str(jobs), "-"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        process.stdin.write(LINES)
        process.stdin.flush()
        deadline = time.monotonic() + 30
        while names_of(process.pid) != (machines, classes) and time.monotonic() < deadline:
            time.sleep(0.01)
        equal(names_of(process.pid), (machines, classes), "%s --jobs %d: threads" % (" ".join(options), jobs))
        equal(process.communicate()[0], b"", "%s --jobs %d: messages" % (" ".join(options), jobs))
        equal(process.returncode, 0, "exit status")
    done()


# ---------------------------------------------------------------- replayed

def replayed():
    options = ["-m", "teach", "-m", "c2sim", "--pages", "random", "--vary", "pages.seed=1..3"]
    live = run(options, [MATMUL])[:2]
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "recording")
        equal(emulate(["-q", "--record", path, MATMUL]).returncode, 0, "recording")
        result = emulate(["replay", path, "-q", "-o", directory] + options)
        equal((result.returncode, result.stderr), (0, b""), "replay")
        check(reports_in(directory) == live, "replayed: another report")
    done()


# ---------------------------------------------------------------- shared

SEEDS = ["-m", "teach", "--pages", "random", "--vary", "pages.seed=1..4"]
TAKES = ["-m", "teach", "--set", "L2.inclusion=inclusive", "--set", "L3.slices=1", "--set", "L3.hash=none"]
# (program, options, of --stats: how many follow and how many are simulated again, bytes of a file)
SHARED = [
    ([MATMUL], SEEDS, (3, 0), None),
    ([MATMUL], SEEDS + ["--no-attribution"], (3, 0), None),
    ([CHASE], TAKES + ["--vary", "L2.size=8K,16K,32K,64K"], (2, 2), None),
    ([MATMUL], ["-m", "teach", "-m", "c2sim", "--vary", "L3.ways=8,16,4"], (4, 0), None),
    ([MATMUL], ["-m", "teach", "--vary", "L2.ways=4,8"], None, None),
    ([MATMUL], ["-m", "teach", "--vary", "L1D.ways=1,2,4"], None, None),
    (["/bin/gzip", "-c", "numbers"], SEEDS, (3, 3), 2048),
    ([REGIONS], SEEDS + ["--requests", "yes"], (3, 0), None),
    (["/bin/sh", "-c", "%s; :" % CHASE], SEEDS + ["--follow", "sh"], (3, 3), None),
]
SAID = "L1 and TLBs of another one; %d of them were simulated again"


def lanes_of(options, program, limit=None, directory=None):
    """What --stats says of the machines, and the report."""
    command = [EMULATOR, "-q", "--stats", "--json-full", "/dev/stdout"] + options + program
    bounded = (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))) if limit else None
    env = dict(os.environ, TMPDIR=directory) if directory else None
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            preexec_fn=bounded, env=env, check=False)
    equal(result.returncode, 0, "exit status of " + " ".join(options))
    return [line for line in result.stderr.decode().splitlines() if " machines had " in line], result.stdout


def shared():
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        with open("numbers", "w") as numbers:
            numbers.write("".join("%d\n" % (i * i) for i in range(5000)))
        shared_in()
        os.chdir("/")
    done()


def shared_in():
    for program, options, followed, limit in SHARED:
        what = " ".join(options)
        said, report = lanes_of(options, program, limit)
        equal([line.split(" machines had ")[1] for line in said],
              [SAID % followed[1]] if followed else [], what + ": what --stats says")
        if followed:
            equal(said[0].split(" of ")[0], "c2emu: %d" % followed[0], what + ": how many follow")
        for jobs in ("1", "3", "8"):
            check(lanes_of(options + ["--jobs", jobs], program, limit) == (said, report), "%s --jobs %s" % (what, jobs))
        said, apart = lanes_of(options, program, directory="/does/not/exist")
        equal(said, [], what + ": there is no place to keep the stream")
        check(apart == report, what + ": another report where nothing is shared")


# ---------------------------------------------------------------- compared

def rank(values, quarter):
    """Nearest rank: the smallest of them that so many quarters do not exceed."""
    values = sorted(values)
    return next(v for v in values if sum(w <= v for w in values) * 4 >= quarter * len(values))


def compared():
    report, text, _ = run(["-m", "teach", "--pages", "random", "--vary", "pages.seed=1..17"], [STRIDES])
    report = json.loads(report)
    lanes = report["lanes"]
    costs = {level["name"]: level["miss_cycles"] for level in report["cost"]["levels"]}
    apart = {}
    for row in report["spread"]:
        if "level" not in row:
            continue
        values = [next(l[row["counter"]] for l in lane["levels"] if l["name"] == row["level"]) for lane in lanes]
        what = "%s.%s" % (row["level"], row["counter"])
        for key, quarter in (("least", 0), ("lower_quartile", 1), ("median", 2), ("upper_quartile", 3), ("most", 4)):
            equal(row[key], rank(values, quarter), "%s of %s" % (key, what))
        equal(row["least_lane"], lanes[values.index(min(values))]["name"], "the lane of the least " + what)
        equal(values[[lane["name"] for lane in lanes].index(row["most_lane"])], max(values), "the most " + what)
        equal(row["below_first"], sum(v < values[0] for v in values), "below the first, " + what)
        equal(row["above_first"], sum(v > values[0] for v in values), "above the first, " + what)
        if row["counter"] == "misses":
            apart[row["level"]] = (max(values) - min(values)) * costs[row["level"]]
            if row["level"] == "L2":
                l2 = values
    equal(len(report["spread"]), 15 * 4 + 1, "counters of four levels, and the cost")
    changed = report["changed"]
    equal(changed["level"], max(apart, key=apart.get), "what changes most")
    objects = changed["objects"]
    check(objects == sorted(objects, key=lambda o: o["least"] - o["most"]) and objects[0]["most"] > objects[0]["least"],
          "objects by how far they lie apart")
    contains(text, ["17 side by side, of one execution; above is the first, pages.seed=1:\n", "the same in all: L1D ",
                    "\nleast ", "\nlower quartile ", "\nmedian ", "\nmost ", "\nchanges most: ", "\nis it luck? "],
             "text of 17")
    check("\npages.seed=" not in text, "17 lanes: no row a lane")
    if changed["level"] == "L2":
        below, above = sum(v < l2[0] for v in l2), sum(v > l2[0] for v in l2)
        percentile = int((below + (16 - below - above) / 2) * 100 / 16 + 0.5)
        contains(" ".join(text.split()), ["L2 misses of the first, %s (pages.seed=1), are more than those of %d of 16 "
                                          "others" % (format(l2[0], ","), below), ": percentile %d;" % percentile],
                 "text of 17")
    median = next(line for line in text.splitlines() if line.startswith("median "))
    contains(median, [format(rank([level["misses"] for lane in lanes for level in lane["levels"]
                                   if level["name"] == name], 2), ",") for name in ("L2", "L3")], "the row of medians")
    text_of_few()
    done()


def text_of_few():
    _, text, _ = run(["-m", "teach", "--pages", "random", "--vary", "pages.seed=1..4"], [STRIDES])
    equal(sum(line.startswith("pages.seed=") for line in text.splitlines()), 4, "rows of 4 lanes")
    check("median" not in text and "luck" not in text, "4 lanes: no quartiles")
    _, text, _ = run(["-m", "teach", "--vary", "pages.seed=1..4"], [STRIDES])
    contains(text, ["nothing changes: all have the same misses at every level\n"], "sequential frames are not drawn")
    _, text, _ = run(["-m", "teach", "--vary", "L2.ways=4"], [STRIDES])
    check("side by side" not in text and text.startswith("findings"), "one value is a run as any other")


# ---------------------------------------------------------------- ends

def ends():
    options = ["-q", "-m", "teach", "--vary", "pages=sequential,random",
               "--vary", "machine.physical_memory=64M,160K,128K"]
    first = None
    for jobs in ("1", "2", "3", "7", "2"):
        result = emulate(options + ["--jobs", jobs, REGIONS])
        first = first or result
        equal(result.returncode, 125, "exit status")
        equal((result.stdout, result.stderr), (first.stdout, first.stderr), "--jobs %s: words" % jobs)
    contains(first.stderr.decode(), ["pages=sequential machine.physical_memory=128K: ", "physical memory"],
             "which lane has failed")
    done()


# ---------------------------------------------------------------- seen

def seen():
    _, text, _ = run(["-m", "teach", "--vary", "huge=off,heap"], [MATMUL])
    contains(" ".join(text.split()), ["the program saw 64 MiB of memory and a heap for pages of 2 MiB"], "heap")
    _, text, _ = run(["-m", "teach", "-m", "c2sim"], [MATMUL])
    contains(" ".join(text.split()), ["the program saw 64 GiB of memory and a heap for pages of 4 KiB"], "memory")
    _, text, _ = run(["-m", "teach", "--vary", "huge=off,thp"], [MATMUL])
    check("the program saw" not in text, "nothing differs that it can see")
    done()


# ---------------------------------------------------------------- csv

COUNTERS = ("accesses", "misses", "cold", "capacity", "conflict", "coherence", "writebacks")


def table(options, program):
    """The rows of --vary-csv, and the report."""
    with tempfile.TemporaryDirectory() as directory:
        path, to = os.path.join(directory, "v.csv"), os.path.join(directory, "r.json")
        result = emulate(["-q", "--vary-csv", path, "--json", to] + options + program)
        equal((result.returncode, result.stderr), (0, b""), "run with " + " ".join(options))
        with open(path, newline="", encoding="utf-8") as file, open(to, encoding="utf-8") as report:
            return list(csv.DictReader(file)), json.load(report)


def check_row(row, lane, report, what):
    equal(row["instructions"], str(report["run"]["measured"]["instructions"]), what + ": instructions")
    equal(row["walks"], str(lane["walks"]["count"]) if "walks" in lane else "", what + ": walks")
    levels = {level["name"]: level for level in lane["levels"]}
    for name in {key.split(".")[0] for key in row if key.split(".")[-1] in COUNTERS}:
        for counter in COUNTERS:
            wanted = str(levels[name][counter]) if name in levels else ""
            equal(row["%s.%s" % (name, counter)], wanted, "%s: %s.%s" % (what, name, counter))


def as_csv():
    rows, report = table(["-m", "teach", "-m", "c2sim", "--vary", "L2.ways=2,4", "--vary",
                          "pages=sequential,buddy,age=0.7"], [STRIDES])
    equal([(row["machine"], row["L2.ways"], row["pages"]) for row in rows],
          [(machine, ways, pages) for machine in ("teach", "c2sim") for ways in ("2", "4")
           for pages in ("sequential", "buddy,age=0.7")], "values")
    for row, lane in zip(rows, report["lanes"]):
        check_row(row, lane, report, lane["name"])
        equal(row["cost"], str(lane["cost"]), lane["name"] + ": cost")
    check(len({row["L2.misses"] for row in rows}) > 2, "all lanes have the same misses, which shows nothing")
    rows, report = table(["-m", "teach", "--skip", "100", "--measure", "2000", "--vary", "L2.ways=2"], [MATMUL])
    equal([(row["machine"], row["L2.ways"], row["cost"]) for row in rows],
          [("teach", "2", str(report["cost"]["cost"]))], "one machine")
    check_row(rows[0], report, report, "one machine")
    # a lane behind the 256th counts what a run of its own counts
    options = ["-m", "teach", "--pages", "random", "--set", "machine.physical_memory=16M", "--no-attribution"]
    rows, report = table(options + ["--vary", "pages.seed=1..300"], [MATMUL])
    equal((len(rows), len(report["lanes"])), (300, 300), "lanes")
    alone, own = table(options[:2] + ["--pages", "random,seed=299"] + options[4:], [MATMUL])
    equal({key: rows[298][key] for key in alone[0]}, alone[0], "the lane of seed 299, and its own run")
    equal(report["lanes"][298]["levels"], own["levels"], "its levels")
    check(rows[298] != rows[297], "lanes 298 and 299 are the same, which shows nothing")
    done()


# ---------------------------------------------------------------- refused

REFUSED = [
    (["--vary", "L2.ways=4,3"], "L2.ways=3: --set L2.ways=3: "),
    (["-m", "teach", "-m", "tech"], "tech: "),
    (["--vary", "L2.wys=4"], "[L2] has no key \"wys\" (did you mean \"ways\"?)"),
    (["--vary", "pages=random,bdy"], "pages=bdy: --pages: there is no page placement policy \"bdy\""),
    (["--vary", "pages.foo=3,4"], "pages.foo=3: --pages: "),
    (["--vary", "seed=1..3"], "--vary seed: the program sees the seed, and runs once"),
    (["--vary", "pages.seed=1..256", "--set", "L3.size=2G", "--set", "L3.ways=16"],
     "256 machines side by side begin with "),
    (["--vary", "pages.seed=1..18446744073709551615"],
     "--vary pages.seed: 18,446,744,073,709,551,615 machines side by side take "),
]


def refused():
    for options, message in REFUSED:
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "r.json")
            result = emulate(["--json-full", path] + options + [STRIDES])
            equal((result.returncode, result.stdout), (125, b""), "%s: exit status and output" % " ".join(options))
            contains(result.stderr.decode(), ["c2emu: ", message], " ".join(options))
            equal(os.listdir(directory), [], "%s: files" % " ".join(options))
    done()


PARTS = {"alone": alone, "threads": threads, "stages": stages, "loaded": loaded, "named": named, "replayed": replayed,
         "shared": shared, "compared": compared, "ends": ends, "seen": seen, "csv": as_csv, "refused": refused}
PARTS[sys.argv[1]]()
