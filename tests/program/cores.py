#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""cores.py PART: machines of several cores, on traces of several threads; all numbers worked out by hand.

false     Counters of four threads in one line, and padded.
true      A producer and a consumer.
mixed     What a line is lost for, and what is read then: true sharing by a later access, upgrades, write-backs.
private   A shared L3, and one for each core.
tlbs      TLBs of each core, and memory that is taken away from them.
analyses  Reuse, use of lines, distances of misses and the FIFO detector, of each core's caches and of shared ones.
prefetch  What a prefetcher of a core does to others, and their writes to what it has brought.
filtered  A snoop filter that is full.
samples   Samples that are all of the run, and such that are not.
twin      Random traces of eight lines, which all caches have room for, beside a model of states and bytes.
refused   What does not go with several cores.
advised   `c2emu advise` tries the padding.
bandwidth Windows and curves by thread.
counters, handoff, halo  The samples of images/, live: exact counts, the estimate beside them, phases at barriers, and
          the replay of a recording.
"""

import csv
import json
import os
import random
import sys
import tempfile

import callgrind_file
from common import but_short, check, contains, done, emulate, equal

IMAGES = sys.argv[2] if len(sys.argv) > 2 else None

MACHINE = ["-m", "teach", "--set", "cores=4"]


def replay(lines, *options):
    text = "".join(line + "\n" for line in lines).encode()
    result = emulate(["replay", "-q", "--json-full", "-"] + MACHINE + list(options) + ["-"], stdin=None, input=text)
    equal((result.returncode, result.stderr), (0, b""), "status and messages")
    return json.loads(result.stdout)


def access(kind, thread, address, size=8, pc=None):
    return "%s %x %x %x %d %d" % (kind, pc or 0x400000 + 16 * thread, address, address, size, thread)


def level(report, name):
    return next(level for level in report["levels"] if level["name"] == name)


def classes(report, name):
    return [level(report, name)[key] for key in ("misses", "cold", "capacity", "conflict", "coherence")]


def cores(report, *keys):
    return [[core[key] for key in keys] for core in report["coherence"]["cores"]]


def counters(rounds, step):
    return [access(kind, thread, 0x10000 + step * (thread - 1))
            for _ in range(rounds) for thread in (1, 2, 3, 4) for kind in "RW"]


# Each reads its counter and adds to it, in turns. In one line: each read misses, as the writes of the three others have
# come between, but for the first of each thread, which are cold; what it reads nobody else has written. The last writer
# has it dirty. Each write finds the line shared, but the very first, which nobody else has.
def false():
    n = 50
    report = replay(counters(n, 8))
    equal(classes(report, "L1D"), [4 * n, 4, 0, 0, 4 * n - 4], "one line, L1D")
    equal(classes(report, "L2"), [4 * n, 4, 0, 0, 4 * n - 4], "one line, L2")
    equal(classes(report, "L3"), [1, 1, 0, 0, 0], "one line, L3: the data is there, or on the way through it")
    equal(cores(report, "coherence_misses", "true_sharing", "false_sharing"), [[n - 1, 0, n - 1]] * 4, "false sharing")
    equal(cores(report, "upgrades"), [[n - 1], [n], [n], [n]], "upgrades")
    equal(cores(report, "interventions", "interventions_given"), [[n - 1, n]] + [[n, n]] * 2 + [[n, n - 1]],
          "interventions")
    # each write takes it from the core before, which alone had it beside; so the last one keeps it
    equal(cores(report, "invalidations_sent", "invalidations_received"), [[n - 1, n]] + [[n, n]] * 2 + [[n, n - 1]],
          "invalidations")
    equal([(t["thread"], t["core"], t["refs"]) for t in report["coherence"]["threads"]],
          [(t, t - 1, 2 * n) for t in (1, 2, 3, 4)], "threads")
    line = report["coherence"]["lines"][0]
    equal((line["address"], line["false_sharing"], line["true_sharing"], line["padding"]),
          ("0x10000", 4 * n - 4, 0, 56), "the line")
    equal([(c["core"], c["read"], c["written"]) for c in line["cores"]],
          [(i, "%d-%d" % (8 * i, 8 * i + 7), "%d-%d" % (8 * i, 8 * i + 7)) for i in range(4)], "its bytes")
    equal([(p["misser_core"], p["misser"]["pc"], p["taker_core"], p["taker"]["pc"]) for p in line["pairs"]
           if p["misser_core"] == 2], [(2, "0x400030", 3, "0x400040")], "both sides")
    # two that modify words 4 bytes apart, each n times: 4 n - 3 events
    words = replay([access(kind, thread, 0x1000 + 4 * thread, 4)
                    for _ in range(n) for thread in (1, 2) for kind in "RW"])
    equal(cores(words, "false_sharing", "upgrades")[:2], [[n - 1, n - 1], [n - 1, n]], "two threads in turns")
    padded = replay(counters(n, 8 + line["padding"]))
    equal(classes(padded, "L1D"), [4, 4, 0, 0, 0], "padded, L1D")
    equal(cores(padded, "coherence_misses", "upgrades", "invalidations_sent"), [[0, 0, 0]] * 4, "padded")
    # two threads a core: threads 1 and 5 are on core 0
    five = replay([access("W", thread, 0x10000) for thread in (1, 5, 1, 5)])
    equal(cores(five, "invalidations_sent")[0], [0], "one core has no other")


# A line of eight words: one fills it, the other reads it. From the second round on the consumer misses with the first
# word, and the producer finds the line shared.
def true():
    n = 20
    words = range(0x10000, 0x10040, 8)
    report = replay([access(kind, thread, word) for _ in range(n) for thread, kind in ((1, "W"), (2, "R"))
                     for word in words])
    equal(cores(report, "coherence_misses", "true_sharing", "false_sharing")[:2], [[0, 0, 0], [n - 1, n - 1, 0]],
          "true sharing only")
    equal(cores(report, "upgrades", "interventions", "interventions_given")[:2], [[n - 1, 0, n], [0, n, 0]],
          "exchanges")
    equal(classes(report, "L1D"), [2 + n - 1, 2, 0, 0, n - 1], "misses")
    check("padding" not in report["coherence"]["lines"][0], "padding does not help")


def mixed():
    a = 0x10000
    # core 1 comes back for its own bytes, and then, before it loses the line, for one that was written
    late = replay([access("R", 2, a + 8), access("W", 1, a), access("R", 2, a + 8), access("R", 2, a)])
    equal(cores(late, "true_sharing", "false_sharing")[1], [1, 0], "a later access")
    # it loses the line before that
    lost = replay([access("R", 2, a + 8), access("W", 1, a), access("R", 2, a + 8), access("W", 1, a),
                   access("R", 2, a)])
    equal(cores(lost, "true_sharing", "false_sharing")[1], [1, 1], "lost in between")
    # an overlap of one byte
    one = replay([access("R", 2, a + 8), access("W", 1, a + 7, 2), access("R", 2, a + 8, 1)])
    equal(cores(one, "true_sharing", "false_sharing")[1], [1, 0], "one byte")
    none = replay([access("R", 2, a + 8), access("W", 1, a + 7, 1), access("R", 2, a + 8, 1)])
    equal(cores(none, "true_sharing", "false_sharing")[1], [0, 1], "no byte")
    # a reference across two lines takes both
    both = replay([access("R", 2, a), access("R", 2, a + 64), access("W", 1, a + 60, 8), access("R", 2, a),
                   access("R", 2, a + 64, 4)])
    equal(cores(both, "invalidations_received", "true_sharing", "false_sharing")[1], [2, 1, 1], "two lines")
    equal([(c["read"], c["written"]) for line in both["coherence"]["lines"] for c in line["cores"] if c["core"] == 0],
          [("", "60-63"), ("", "0-3")], "bytes of two lines")
    # a dirty line that another core reads is written back, once; one that it writes is not
    equal(level(replay([access("W", 1, a), access("R", 2, a)]), "L2")["writebacks"], 1, "a downgrade")
    equal(level(replay([access("W", 1, a), access("W", 2, a)]), "L2")["writebacks"], 0, "a dirty line passed on")
    # of a line that nobody has any more: L1D and L2 of `teach` have 16 and 128 sets of 64 bytes, 2 and 4 ways
    many = [access("R", 2, a + i * 128 * 64) for i in range(1, 7)]
    gone = replay([access("R", 2, a)] + many + [access("W", 1, a), access("R", 2, a)], "--pages", "identity")
    equal(cores(gone, "invalidations_received")[1], [0], "nothing to take")
    equal([level(gone, "L1D")["coherence"], level(gone, "L2")["coherence"]], [1, 1], "but from the shadows")


def private():
    report = replay(counters(50, 8))
    own = replay(counters(50, 8), "--set", "L3.shared=no")
    equal([classes(own, "L3"), classes(report, "L3")[0]], [[200, 4, 0, 0, 196], 1], "L3")
    equal([sum(core[0] for core in cores(r, "forwards")) for r in (report, own)], [0, 199], "data of other cores")
    # what does not share anything: two cores with 3 x 128 KiB each have one L3 of 256 KiB, or one each
    lines = [access("R", thread, (thread << 20) + 64 * i) for _ in range(3) for thread in (1, 2) for i in range(2048)]
    equal([classes(replay(lines, *more), "L3")[:3] for more in ([], ["--set", "L3.shared=no"])],
          [[4096, 4096, 0]] * 2, "L3 that is large enough for both")


def tlbs():
    lines = [access("R", thread, 0x10000 + 4096 * page) for page in range(4) for thread in (1, 2, 3)]
    report = replay(lines)
    equal([t["tlb_misses"] for t in report["coherence"]["threads"]], [4, 4, 4], "each core has TLBs of its own")
    equal(cores(report, "shootdowns_sent", "shootdowns_received"), [[0, 0]] * 4, "nothing was taken away")
    # of the pages that the other thread has touched, each change of a block is one; of the others none
    path = os.path.join(os.environ["GUESTS"], "shootdowns")
    counts = []
    for arguments in (("0", "0"), ("3", "0"), ("0", "2"), ("3", "2")):
        result = emulate(["-q", "--json-full", "/dev/stderr", "-m", "haswell-ep", "--set", "cores=2", path, *arguments])
        counts.append(cores(json.loads(result.stderr), "shootdowns_sent", "shootdowns_received"))
    equal([[[a - b for a, b in zip(core, base)] for core, base in zip(count, counts[0])] for count in counts[1:]],
          [[[n, 0], [0, n]] for n in (3, 2, 5)], "shootdowns")


def picked(of, *keys):
    return [of[key] for key in keys]


def analyses():
    n = 50
    report = replay(counters(n, 8), "--reuse", "--line-use")
    # Of each core the first access is cold, each later read finds that others have written, and each write the line
    # where it was just read. L3 is asked for it by each miss.
    equal([picked(s, "name", "accesses", "cold", "taken", "distances") for s in report["reuse"]["stacks"]
           if s["name"] != "code"],
          [["data", 8 * n, 4, 4 * n - 4, [4 * n]], ["L2", 4 * n, 4, 4 * n - 4, []], ["L3", 4 * n, 1, 0, [4 * n - 1]]],
          "reuse of one line")
    # A stay in L1D or L2 is a read and a write of 8 bytes, and the next core's write ends it, but for the last; in L3
    # it is one, for all of them.
    keys = ("level", "loads", "accesses", "used_bytes", "taken", "evicted", "invalidated", "left")
    equal([picked(l, *keys) for l in report["line_use"]["levels"] if l["level"] != "L1I"],
          [[name, 4 * n, 8 * n, 4 * n * 8, 4 * n - 1, 0, 0, 1] for name in ("L1D", "L2")] +
          [["L3", 1, 8 * n, 32, 0, 0, 0, 1]], "use of one line")
    # Two threads in turns, each over six lines of one set of its L1D, which has two ways: all miss, and each is found
    # among the four that the set evicted last. No core's misses are between those of another.
    rounds = 10
    lines = [access("R", thread, 0x10000 + 64 * thread + 1024 * (6 * thread + i))
             for _ in range(rounds) for i in range(6) for thread in (1, 2)]
    report = replay(lines, "--rcd", "--fifo-detector", "--pages", "identity")
    equal(picked(report["rcd"], "misses", "conflicts", "first", "below", "periods", "mean_period"),
          [12 * rounds, 12 * (rounds - 1), 2, 12 * rounds - 2, 2, 6 * rounds - 1], "distances of each core's misses")
    equal(picked(level(report, "L1D")["fifo"], "both_conflict", "only_fifo", "only_fa", "fifo_capacity"),
          [12 * (rounds - 1), 0, 0, 0], "the FIFO of each core's sets")
    # L3 is asked for each line once, in turns; core 0's and core 1's lines lie in neighbouring sets
    shared = replay(lines, "--rcd", "--rcd-level", "L3", "--pages", "identity")["rcd"]
    equal(picked(shared, "misses", "first", "of_sets"), [12, 12, 512], "a shared level's")


# Core 0 writes line 1, and its prefetcher brings line 2. Core 1 reads line 0, whose next line core 0 has dirty: both
# share it then. So core 0's next write has to ask, and takes what nobody has asked for. Core 1 reads what was written;
# then it is line 2 that core 0 had alone.
def prefetch():
    a = 0x10000
    steps = [access("W", 1, a + 64), access("R", 2, a), access("W", 1, a + 64), access("R", 2, a + 64)]
    report = replay(steps, "--set", "L1D.prefetch=next-line", "--line-use")
    equal(cores(report, "upgrades", "interventions", "invalidations_received", "true_sharing", "prefetch_downgrades",
                "prefetches_taken")[:2], [[1, 0, 0, 0, 0, 0], [0, 2, 1, 1, 2, 1]], "exchanges")
    of = report["prefetch"]["prefetchers"][0]
    equal(picked(of, "issued", "present", "useful", "useless"), [3, 1, 0, 1], "prefetches of both")
    equal(picked(report["prefetch"]["levels"][0]["unaided"], "misses", "cold", "coherence"), [3, 3, 0], "without them")
    equal(report["line_use"]["levels"][0]["taken"], 1, "stays that a write has ended")
    # Of a shared level: what a core has is not fetched there
    shared = replay([access("W", 1, a + 64), access("R", 2, a)], "--set", "L3.prefetch=next-line",
                    "--set", "L3.inclusion=non-inclusive")
    equal(picked(shared["prefetch"]["prefetchers"][0], "issued", "present"), [1, 1], "a shared level's")
    equal(cores(shared, "interventions", "prefetch_downgrades")[:2], [[0, 0]] * 2, "nobody is asked")


# Four entries, in two sets: lines 0, 2, 4 and 6 share one. Core 0 reads 0, 2 and 4, which takes 0 from it. Core 1 reads
# 2, and its write of 6 takes 4, the oldest. For 0 both lose 2; for 2 core 1 loses 6, which is dirty.
def filtered():
    lines = [(1, "R", 0), (1, "R", 2), (1, "R", 4), (2, "R", 2), (2, "W", 6), (1, "R", 0), (1, "R", 2)]
    options = ["--set", "L3.inclusion=non-inclusive", "--set", "L3.slices=1", "--set", "L3.hash=none",
               "--pages", "identity", "--line-use", "--reuse"]
    trace = [access(kind, thread, 0x10000 + 64 * line) for thread, kind, line in lines]
    report = replay(trace, "--set", "machine.snoop_filter=4", "--set", "machine.snoop_filter_ways=2", *options)
    equal(cores(report, "filter_evictions", "filter_invalidations")[:2], [[3, 3], [1, 2]], "entries and lines")
    # what the filter has taken and is asked for again, a cache without sets would have
    equal(classes(report, "L1D"), [7, 5, 0, 2, 0], "L1D")
    equal([level(report, "L2")["writebacks"], classes(report, "L3")[:2]], [1, [4, 4]], "what goes down")
    equal([of["filtered"] for of in report["line_use"]["levels"] if of["level"] != "L1I"], [5, 5, 0],
          "stays it has ended")
    equal(report["machine"]["snoop_filter"], {"lines": 4, "ways": 2}, "the machine says so")
    equal(classes(replay(trace, *options), "L1D"), [5, 5, 0, 0, 0], "without bounds")


def cached(size, steps):
    """Hits of a cache of that many lines for each core, whose lines others' writes take."""
    caches, hits = [[] for _ in range(4)], 0
    for core, write, line in steps:
        hits += line in caches[core]
        caches[core] = [line] + [other for other in caches[core] if other != line]
        del caches[core][size:]
        for other in range(4):
            if write and other != core and line in caches[other]:
                caches[other].remove(line)
    return hits


class Line:
    """MESI with caches that nothing leaves: who has it, who alone, who lost it, and what others wrote since."""

    def __init__(self):
        self.had, self.sharers, self.owner, self.foreign, self.waits = set(), set(), None, {}, set()

    def access(self, counts, core, write, wanted):
        missed = core in self.had and core not in self.sharers
        if write:
            counts["upgrades"][core] += core in self.sharers and self.owner != core
            for other in self.sharers - {core}:
                counts["invalidations_sent"][core] += 1
                counts["false_sharing"][other] += other in self.waits
                self.waits.discard(other)
                self.foreign[other] = set()
            self.sharers &= {core}
            for other in self.had - self.sharers - {core}:
                self.foreign[other] |= wanted
            self.owner = core
        elif core not in self.sharers:
            self.owner = core if not self.sharers else None
        self.had.add(core)
        self.sharers.add(core)
        if missed:
            self.waits.add(core)
        if core in self.waits and self.foreign[core] & wanted:
            counts["true_sharing"][core] += 1
            self.waits.discard(core)


def twin():
    keys = ("upgrades", "invalidations_sent", "true_sharing", "false_sharing")
    for seed in range(6):
        draw = random.Random(seed)
        lines, trace, counts = [Line() for _ in range(9)], [], {key: [0] * 4 for key in keys}
        steps = []
        for _ in range(3000):
            thread, write = draw.randint(1, 7), draw.random() < 0.3
            start, size = draw.randrange(8 * 64), draw.choice((1, 2, 4, 8, 16, 32))
            trace.append(access("W" if write else "R", thread, 0x10000 + start, size))
            for line in range(start // 64, (start + size - 1) // 64 + 1):
                wanted = {byte - 64 * line for byte in range(start, start + size) if byte // 64 == line}
                lines[line].access(counts, (thread - 1) % 4, write, wanted)
                steps.append(((thread - 1) % 4, write, line))
        for line in lines:
            for core in line.waits:
                counts["false_sharing"][core] += 1
        report = replay(trace, "--reuse", "--line-use", "--rcd", "--fifo-detector")
        data = report["reuse"]["stacks"][0]
        for size in data["sizes"]:
            equal(data["accesses"] - cached(size["bytes"] // 64, steps), size["misses"],
                  "misses of %d bytes" % size["bytes"])
        ahead = replay(trace, "--line-use", "--set", "L1D.prefetch=next-line+stride", "--set", "L2.prefetch=adjacent")
        for of in (report, ahead):
            taken = sum(core["own_levels"][0]["invalidations"] for core in of["coherence"]["cores"])
            equal(of["line_use"]["levels"][0]["taken"], taken, "stays that a write has ended")
        for key in keys:
            equal([core[0] for core in cores(report, key)], counts[key], "%s of trace %d" % (key, seed))
        check(min(min(counts[key]) for key in keys) > 10, "all of it happens")


def refused():
    for options, words in ((["--set", "L1D.shared=yes"], "cannot be shared"),
                           (["--set", "L2.shared=yes", "--set", "L3.shared=no"], "below it is not"),
                           (["--set", "cores=65"], "65"),
                           (["--set", "machine.snoop_filter=64"], "[L3] is inclusive, so its lines say which cores"),
                           (["--set", "machine.snoop_filter=64", "--set", "L3.inclusion=exclusive"],
                            "64 lines are no whole number of sets of 0 ways in 2 slices"),
                           ):
        result = emulate(["replay"] + MACHINE + options + ["-"], stdin=None, input=b"R 1 1 1 1 1\n")
        check(result.returncode != 0, "%s is refused" % options)
        contains(result.stderr.decode(), [words], str(options))
    text = emulate(["replay"] + MACHINE + ["-"], stdin=None,
                   input="".join(line + "\n" for line in counters(5, 8)).encode()).stderr.decode()
    for words in ("4 threads on 4 cores: 16 misses of lines that another core had taken, 0 of true sharing, 16",
                  "56 bytes more behind each give each a line",
                  "cores take lines of memory of unknown origin from each other for different bytes, 16 times"):
        contains(" ".join(text.split()), [words], "text")
    without = replay(counters(5, 8), "--no-coherence-report")
    check("coherence" not in without, "no chapter")
    alone = replay(counters(5, 8), "--set", "cores=1")
    check("cores" not in alone["machine"] and "coherence" not in alone, "one core says nothing of cores")


# ---------------------------------------------------------------------------------------------- live

def live(image, *arguments, options=()):
    machine = [] if "-m" in options else ["-m", "haswell-ep"]
    result = emulate(["-q", "--json-full", "/dev/stderr", "--set", "cores=4"] + machine + list(options) +
                     [os.path.join(IMAGES, image)] + [str(a) for a in arguments])
    equal(result.returncode, 0, "status of " + image)
    return json.loads(but_short(result.stderr))


def of_object(report, name):
    found = [o for o in report["coherence"]["objects"] if o.get("object") == name]
    return [sum(o[key] for o in found) for key in ("lines", "true_sharing", "false_sharing")]


# The sums of the profiles are those of the report over all cores; the function that counts has the misses of false
# sharing, and reads them.
def exported(directory, image, threads, rounds, options):
    paths = {name: os.path.join(directory, name) for name in ("callgrind", "cachegrind")}
    report = live(image, threads, rounds,
                  options=options + [word for name, path in paths.items() for word in ("--" + name, path)])
    calls = callgrind_file.read(paths["callgrind"])
    totals = dict(zip(calls.events, calls.totals))
    for of in report["levels"]:
        equal([totals[key + of["name"]] for key in ("cold", "capacity", "conflict", "coherence")],
              [of[key] for key in ("cold", "capacity", "conflict", "coherence")], of["name"] + " in the profile")
    equal([totals["D1mr"], totals["D1mw"]], [level(report, "L1D")[key] for key in ("read_misses", "write_misses")],
          "misses by kind")
    with open(paths["cachegrind"], encoding="utf-8") as file:
        lines = file.read().splitlines()
    names = next(line for line in lines if line.startswith("events:")).split()[1:]
    equal(dict(zip(names, map(int, next(line for line in lines if line.startswith("summary:")).split()[1:]))), totals,
          "Cachegrind's form")
    false = sum(p["false_sharing"] for p in report["coherence"]["lines"][0]["pairs"])
    equal([calls.by_name("count", "coherenceL1D"), false], [threads * (rounds - 1)] * 2, "who misses")
    # thread 1 calls it from main, the others from where threads begin: each call costs what its own thread has missed
    arcs = [cost for (caller, callee), (count, cost) in calls.arcs("coherenceL1D").items() if callee == "count"]
    check(len(arcs) == 2 and rounds - 1 <= min(arcs) < 2 * rounds and
          3 * (rounds - 1) <= max(arcs) < 4 * rounds, "calls of count cost %s" % arcs)
    return report


# Each round a thread adds to its counter, and the others to theirs before it is its turn again: all but its first
# access miss. At the end the first thread reads what the others have written.
def live_counters():
    threads, rounds = 4, 200
    with tempfile.TemporaryDirectory() as directory:
        report = exported(directory, "counters", threads, rounds, options=["--sharing-estimate"])
    line = report["coherence"]["lines"][0]
    equal([line["object"], line["offset"], line["padding"], line["true_sharing"], line["false_sharing"]],
          ["counters", 0, 56, 1, threads * (rounds - 1)], "the line")
    equal({(p[side]["function"], p[side]["file"].split("/")[-1]) for p in line["pairs"] if p["false_sharing"]
           for side in ("misser", "taker")}, {("count", "counters.c")}, "both sides")
    # the estimate: at worst each of 2 x 800 accesses but the first is an event; here each addition misses, and then
    # finds the line shared
    estimate = next(o for o in report["sharing"]["objects"] if o["object"] == "counters")
    equal(estimate["false_sharing"], 2 * threads * rounds - 1, "the estimate")
    padded = live("counters_padded", threads, rounds)
    equal([of_object(padded, "counters"), of_object(padded, "counters_padded")[2]], [[0, 0, 0], 0], "padded")
    equal([t["core"] for t in report["coherence"]["threads"]], [0, 1, 2, 3], "cores")
    wide = live("counters", 6, 50)  # threads 5 and 6 are on the cores of 1 and 2, and find the line taken all the same
    equal([t["core"] for t in wide["coherence"]["threads"]], [0, 1, 2, 3, 0, 1], "more threads than cores")
    line = wide["coherence"]["lines"][0]  # the core that was last has it still, and then reads what others wrote
    equal([line["false_sharing"], line["true_sharing"]], [6 * 49 + 2 - 1, 1], "they miss as if on cores of their own")


def live_handoff():
    rounds = 100
    report = live("handoff", rounds)
    equal(of_object(report, "message"), [1, rounds - 1, 0], "the message: all but the first")
    equal(of_object(report, "turn")[2], 0, "whose turn it is")
    line = next(l for l in report["coherence"]["lines"] if l.get("object") == "message")
    equal([(c["core"], c["written"]) for c in line["cores"]], [(0, ""), (1, "0-63")], "who writes")
    check("padding" not in line, "no padding helps")


# Of a border each side is read by the other, in each step from one of two grids; the first time of each grid it was
# never there, else it was written since.
def live_halo():
    threads, columns, steps = 4, 64, 6
    report = live("halo", threads, 8, columns, steps, options=["--histogram", "--phase-at", "barriers"])
    grids = [of_object(report, name) for name in ("grids[0]", "grids[1]", "malloc#1", "malloc#2")]
    lines = 2 * (threads - 1) * columns // 8
    equal([sum(g[1] for g in grids), sum(g[2] for g in grids)], [lines * (steps - 2), 0], "rows exchanged")
    equal(len(report["histogram"]["phases"]), steps + 2, "a phase for each barrier")
    estimate = live("halo", threads, 8, columns, steps, options=["--sharing-estimate"])["sharing"]
    of_grids = [o["false_sharing"] for o in estimate["objects"]
                if o.get("object") in ("grids[0]", "grids[1]", "malloc#1", "malloc#2")]
    equal(len(of_grids), 2, "the grids are shared")
    equal(sum(of_grids), 0, "the estimate of the grids")
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "halo.rec")
        run = live("halo", threads, 8, columns, steps, options=["--record", path])
        again = json.loads(emulate(["replay", "-q", "--json-full", "-", "-m", "haswell-ep", "--set", "cores=4",
                                    path]).stdout)
        equal([again["coherence"], again["levels"]], [run["coherence"], run["levels"]], "the replay")
    apart = live("halo", threads, 8, columns, steps, options=["--set", "L3.shared=no"])
    equal([level(apart, "L2")[key] for key in ("misses", "coherence")],
          [level(run, "L2")[key] for key in ("misses", "coherence")], "the levels above a private L3")
    check(level(apart, "L3")["coherence"] >= lines * (steps - 2) and level(run, "L3")["coherence"] == 0, "private L3s")


# Samples one behind the other are the run; of others the means are theirs.
def live_samples():
    whole = live("counters", 4, 100)
    pieces = live("counters", 4, 100, options=["--measure", "3000", "--samples", "1000"])
    equal([pieces["levels"], pieces["coherence"]], [whole["levels"], whole["coherence"]], "samples that are the run")
    for options in (["--measure", "3000", "--samples", "1000"],
                    ["--measure", "700", "--period", "2100", "--start", "0"]):
        sampled = live("counters", 4, 100, options=options)
        for of in sampled["samples"]["levels"]:
            counts = level(sampled, of["name"])
            for key in ("cold", "capacity", "conflict", "coherence"):
                check(abs(of[key]["mean"] - 100 * counts[key] / counts["misses"]) < 1e-5, "%s: %s" % (of["name"], key))
        equal(sum(thread["instructions"] for thread in sampled["coherence"]["threads"]),
              sampled["run"]["measured"]["instructions"], "what threads did in samples")


# The other side is the run under the other placement; what it misses too is inherent.
def live_against():
    options = ["-m", "teach", "--pages", "same-color"]
    both = live("halo", 4, 8, 64, 6, options=options + ["--against", "random"])["against"]
    other = live("halo", 4, 8, 64, 6, options=["-m", "teach", "--pages", "random"])
    run = live("halo", 4, 8, 64, 6, options=options)
    equal(both["levels"], other["levels"], "the other side")
    equal([label["inherent"] + label["placement"] + label["walks"] for label in both["labels"]],
          [of["conflict"] for of in run["levels"]], "conflict misses")
    check(next(label["placement"] for label in both["labels"] if label["level"] == "L2") > 100, "due to placement")
    same = live("halo", 4, 8, 64, 6, options=options + ["--against", "same-color"])["against"]
    equal([label["placement"] for label in same["labels"]], [0] * len(same["labels"]), "the same placement again")


# Padded, no thread misses its counter any longer, and the first one, at the end, never had the lines of the others.
def live_advised():
    threads, rounds = 4, 100
    result = emulate(["advise", "-q", "--json", "/dev/stderr", "-m", "haswell-ep", "--set", "cores=4",
                      os.path.join(IMAGES, "counters"), str(threads), str(rounds)])
    advice = json.loads(result.stderr)
    check(advice["same_as_run"], "played back as it was")
    layout = next(l for l in advice["layouts"] if l["objects"] and l["objects"][0]["name"] == "counters")
    equal([layout["words"], layout["helps"]], ["counters: rows of 8 B -> 64 B (+56 B)", True], "the layout")
    equal(level(advice["before"], "L1D")["coherence"] - level(layout, "L1D")["coherence"],
          threads * (rounds - 1) + 1, "coherence misses that it does not have")


# Of each element 2 * from, two additions, and a quarter. A window belongs to one thread, so that a turn's ends are
# another's: of some 50,000 instructions 200 at most.
def live_bandwidth():
    threads, rows, columns, steps = 4, 20, 128, 6
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "curves.csv")
        recording = os.path.join(directory, "run")
        report = live("halo", threads, rows, columns, steps,
                      options=["-m", "weidendorfer", "--bandwidth", "--bandwidth-curves", path, "--quantum", "20000",
                               "--record", recording])
        again = emulate(["replay", "-q", "--json-full", "-", "-m", "weidendorfer", "--set", "cores=4", "--bandwidth",
                         recording])
        equal(json.loads(again.stdout)["bandwidth"], report["bandwidth"], "the replay")
        with open(path, encoding="utf-8") as file:
            curves = list(csv.DictReader(file))
    bandwidth = report["bandwidth"]
    equal([t["thread"] for t in bandwidth["threads"]], [1, 2, 3, 4], "threads")
    for key in ("windows", "instructions"):
        equal(sum(t[key] for t in bandwidth["threads"]), bandwidth[key], key)
    flops = [next(f for f in t["flows"] if f["path"] == "FLOPs")["operations"] for t in bandwidth["threads"]]
    equal(sum(flops), 4 * threads * rows * columns * steps, "FLOPs")
    check(all(abs(n - 4 * rows * columns * steps) < 1000 for n in flops), "FLOPs of each: %s" % flops)
    # What moves while more is asked for than the path gives takes as long as the path needs for it.
    together, lost = bandwidth["together"], 0
    for flow in together["flows"]:
        whole = next(f for f in bandwidth["flows"] if f["path"] == flow["path"] and
                     f["direction"] == flow["direction"])
        equal(sum(core["bytes"] for core in flow["cores"]), whole["bytes"], "bytes of all cores")
        moved = sum(core["contended_bytes"] for core in flow["cores"])
        check(abs(moved - whole["limit"] * (flow["dominated_cycles"] + flow["lost_cycles"])) < 1, "contended bytes")
        check(flow["most"] <= 4 * whole["limit"] + 1e-6, "no core asks for more than there is")
        lost += flow["lost_cycles"]
    check(abs(together["cycles"] + lost - together["contended_cycles"]) < 1e-3 and lost > 1000, "lost: %s" % lost)
    check(together["parallel_rounds"] > 4 and together["cycles"] < bandwidth["cycles"], "rounds of several cores")
    units = {(c["path"], c["direction"]): 0 for c in curves}
    for thread in bandwidth["threads"]:
        for flow in units:
            own = [c for c in curves if c["thread"] == str(thread["thread"]) and (c["path"], c["direction"]) == flow]
            equal(sum(int(c["units"]) for c in own), thread["instructions"], "instructions of a curve")
            units[flow] += sum(int(c["amount"]) for c in own)
    for flow, amount in units.items():
        equal(amount, sum(int(c["amount"]) for c in curves if c["thread"] == "" and c["unit"] == "instruction" and
                          (c["path"], c["direction"]) == flow), "what moved")


{"analyses": analyses, "prefetch": prefetch, "filtered": filtered, "samples": live_samples, "against": live_against,
 "advised": live_advised, "bandwidth": live_bandwidth, "counters": live_counters, "handoff": live_handoff, "halo":
 live_halo, "false": false, "true": true, "mixed": mixed, "private": private, "tlbs": tlbs, "twin": twin, "refused":
 refused}[sys.argv[1]]()
done()
