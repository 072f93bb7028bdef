#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""explain.py PART: `c2emu explain`, held to what is derived here from the source, and to naive caches.

explained.S on teach (L1D: 16 sets of 2 ways, 32 lines, virtual index; physical lines go by first touch):
  first, +1024, +2048 lie in set 0, and are accessed in turn, four times: load, load, load, store. Two ways hold two of
  three, so the store alone hits: 12 misses, 3 of them cold, the others conflicts, as 2 other lines are in use and the
  level has 32. Then 40 lines in a row, twice: 40 cold misses; 40 are more than 32, so the second time what misses is
  capacity: of sets 0 to 7, which three lines share, all 24. The lines of sets 8 to 15 are still there.
  76 misses: 43 cold, 24 capacity, 9 conflict.

story     the text of one miss, word by word, by line and by number; typical ones
policies  what is said of the victim, policy by policy; the ways, and the victim of each miss, are those of naive caches
counts    each miss of the report is one of explain's, level by level and line by line
twin      the ways before each access, classes and distances against naive LRU caches of L1D and L2
inclusion what an inclusive level below takes away; exclusive levels; several cores; prefetchers
files     reports and recordings tell the same story; what cannot be made again
words     what is refused
step      steps as text, and by keys on a terminal
page      the page in a headless Chromium: each step's boxes are those of the JSON, by buttons, by keys and as it plays;
          names that are tags stay text; nothing is wider than a narrow screen
"""

import json
import os
import pty
import re
import select
import sys
import tempfile
import time
from collections import OrderedDict

from common import EMULATOR, check, contains, done, emulate, equal, fail, need_terminals, report

GUESTS = os.environ["GUESTS"]
GUEST = [os.path.join(GUESTS, "explained")]
TEACH = ["-m", "teach"]
MISSES = 76
LINE_FIRST, LINE_SECOND, LINE_THIRD, LINE_ROW = 9, 10, 11, 16


def explain(options, program=None, status=0, **more):
    result = emulate(["explain"] + options + (GUEST if program is None else program), **more)
    equal(result.returncode, status, "exit status of explain " + " ".join(options))
    return result.stderr.decode()


def story(options, program=None):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "story.json")
        explain(["-q", "--json", path] + options, program)
        with open(path, encoding="utf-8") as file:
            told = json.load(file)
    equal((told["format"], told["version"]), ("c2emu-explain", 1), "the format")
    return told


# ---------------------------------------------------------------- the story

STORY = """\
A conflict miss of L1D on teach
Miss 3 of the 4 at explained.S:9, number 2 of the 3 conflict misses, which most of them are; the
  level has 76 misses. --miss 3 is this one again, others are told in the same way.

load        by _start (explained.S:9)
code        movq 0x406000, %rax, at 0x40100d
data        first, at 0x406000
line        0xc0 of physical memory, in a page of 4 KiB
L1D         conflict miss: set 0 of 16, by bits 6 to 9 of the virtual address; line 0xd0 makes room
L2          hit: set 64 of 128, by bits 6 to 12 of the physical address

Before it, set 0 of L1D held (brought, touched: accesses of L1D before; LRU: ways in the order of
  touches)
  way          touched later  brought  touched         line  of              brought by
    0                      0        2        1  dirty  0xe0  first + 2048 B  _start (explained.S:11)
    1  leaves              1        3        3         0xd0  first + 1024 B  _start (explained.S:10)

victim      lru: way 1 was touched longest ago, 3 accesses before
the line    it came 4 accesses before, by _start (explained.S:9), was touched last 4 before, and
            left 2 before: it made room for line 0xe0 (first + 2048 B), which _start
            (explained.S:11) brought
ideal       a fully associative LRU cache of this size has the line: 2 other lines were asked for
            since, and it holds 32
kept by     3 ways under LRU instead of 2: so many lines of its set were in use; or these lines in
            other sets: padding, another placement

Then, in the same set:
  step  later         of              line  result                 by
     0      0  load   first           0xc0  conflict, 0xd0 leaves  _start (explained.S:9)
     1      1  load   first + 1024 B  0xd0  conflict, 0xe0 leaves  _start (explained.S:10)
     2      2  load   first + 2048 B  0xe0  conflict, 0xc0 leaves  _start (explained.S:11)
     3      3  store  first + 2048 B  0xe0  hit, way 0             _start (explained.S:11)
     4      4  load   first           0xc0  conflict, 0xd0 leaves  _start (explained.S:9)
"""


def part_story():
    at = TEACH + ["--at", "explained.S:%d" % LINE_FIRST, "--steps", "4"]
    equal(explain(at), STORY, "the story of a line")
    # the same miss by its number at the line, and among those of the level: 6 before it in two rounds
    named = explain(at + ["--miss", "3"])
    equal(named.splitlines()[1], "Miss 3 of the 4 at explained.S:9; the level has 76 misses.", "by its number")
    equal(named.split("\n\n", 1)[1], STORY.split("\n\n", 1)[1], "the rest of it")
    counted = explain(TEACH + ["--steps", "4", "--miss", "7"])
    equal(counted.splitlines()[1], "Miss 7 of the 76; the level has 76 misses.", "of the level")
    equal(counted.split("\n\n", 1)[1], STORY.split("\n\n", 1)[1], "the rest, of the level")
    # cold ones are most: the 32nd of 43 is the 41st miss (12, then the 29th line of the row)
    text = explain(TEACH + ["--steps", "0"])
    contains(text, ["A cold miss of L1D on teach\nMiss 41 of the 76, number 32 of the 43 cold misses, which most of "
                    "them are;", "data        row + 1792 B, at 0x407700\n", "set 12 of 16", "memory      has the line",
                    "ideal       a fully associative LRU cache of this size misses, too: the level was never asked for",
                    "the line    it was never asked for here before\n", "nothing keeps what never was there"],
             "a typical miss")
    check("Then" not in text and "Nothing else" not in text, "no steps were asked for")
    # capacity: line 0 of the row comes back after 39 others, of which lines 16 and 32 are in its set
    text = explain(TEACH + ["--miss", "53", "--steps", "3"])
    contains(" ".join(text.split()), ["A capacity miss of L1D", "data row, at 0x407000",
                                      "39 other lines were asked for",
                                      "kept by a level of 40 lines (2.5 KiB) instead of 32, or to use the line again "
                                      "before so many others"], "a capacity miss")
    # a page's first line of code, of L1I, and the widths of pages
    text = explain(TEACH + ["--level", "L1I", "--miss", "1"])
    contains(text, ["A cold miss of L1I on teach", "fetch       by _start (explained.S:",
                    "data        code of explained, at 0x401000"], "a fetch")
    for width in (80, 120, 200):
        lines = explain(at + ["--width", str(width)]).splitlines()
        check(max(map(len, lines)) <= width, "lines of %d columns at --width %d" % (max(map(len, lines)), width))


# ---------------------------------------------------------------- naive caches

class Set:
    """The ways of one set, by number, and what each policy keeps of them; the rules as docs/model.md has them."""

    def __init__(self, policy, ways):
        self.policy, self.ways = policy, ways
        self.line = [None] * ways
        self.order = []  # ways, the one touched (fifo: filled) last first
        self.tree = [0] * (2 * ways)
        self.value = [1 if policy == "nru" else 3] * ways

    def touch(self, way, fill):
        if fill or self.policy != "fifo":
            self.order = [way] + [other for other in self.order if other != way]
        if self.policy == "nru":
            self.value[way] = 0
        if self.policy == "srrip":
            self.value[way] = 2 if fill else 0
        node = way + self.ways
        while node > 1:
            self.tree[node // 2] = 1 - node % 2
            node //= 2

    def victim(self):
        if None in self.line:
            return self.line.index(None)
        if self.policy in ("lru", "fifo"):
            return self.order[-1]
        if self.policy == "tree-plru":
            node = 1
            while node < self.ways:
                node = 2 * node + self.tree[node]
            return node - self.ways
        farthest = 1 if self.policy == "nru" else 3
        while farthest not in self.value:
            self.value = [1] * self.ways if self.policy == "nru" else [value + 1 for value in self.value]
        return self.value.index(farthest)

    def state(self):
        """What explain shows: of LRU by age, else by number."""
        ways = [way for way in self.order] if self.policy == "lru" else range(self.ways)
        shown = [{"line": self.line[way], "state": self.shown(way)} for way in ways]
        return shown + [{"line": None}] * (self.ways - len(shown))

    def shown(self, way):
        if self.line[way] is None:
            return None
        if self.policy in ("lru", "fifo"):
            return str(self.order.index(way))
        return "" if self.policy == "tree-plru" else str(self.value[way])

    def access(self, line):
        """The way that it is found in, or that it takes, by number; and whether it was there."""
        hit = line in self.line
        way = self.line.index(line) if hit else self.victim()
        self.line[way] = line
        self.touch(way, not hit)
        return hit


class Level:
    """A level with its sets; every access is noted with the set before it, its class and its distance."""

    def __init__(self, policy, sets, ways):
        self.sets = [Set(policy, ways) for _ in range(sets)]
        self.capacity, self.recent, self.log = sets * ways, OrderedDict(), []

    def access(self, index, line):
        at = self.sets[index % len(self.sets)]
        before, cold = at.state(), line not in self.recent
        lines = list(self.recent)
        distance = 0 if cold else len(lines) - 1 - lines.index(line)
        self.recent.pop(line, None)
        self.recent[line] = True
        hit = at.access(line)
        verdict = "hit" if hit else "cold" if cold else "capacity" if distance >= self.capacity else "conflict"
        self.log.append({"set": index % len(self.sets), "line": line, "before": before, "result": verdict,
                         "distance": distance})
        return hit


def trace_of(options, program=None):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "trace")
        emulate(["-q", "--trace", path] + options + (GUEST if program is None else program))
        with open(path, encoding="utf-8") as file:
            return [line.split() for line in file]


def play(trace, data, code, below):
    """Lines as the levels are asked for them; fetches that stay on their line are none."""
    fetched = None
    for kind, _, virtual, physical, size, _ in trace:
        virtual, physical, last = int(virtual, 16), int(physical, 16) // 64, int(virtual, 16) + int(size) - 1
        for line in range(virtual // 64, last // 64 + 1):
            if kind == "F" and line == fetched:
                continue
            fetched = line if kind == "F" else fetched
            at = physical + line - virtual // 64
            if not (code if kind == "F" else data).access(line, at):
                below.access(at, at)


def compare_step(step, expected, what):
    equal((int(step["line"], 16), step["result"]), (expected["line"], expected["result"]), what)
    ways = [{"line": int(way["line"], 16), "state": way["state"]} if way["holds"] else {"line": None}
            for way in step["ways"]]
    for way in expected["before"]:
        if way["line"] is None:
            way.pop("state", None)
    equal(ways, expected["before"], what + ", the ways")
    if expected["result"] not in ("cold", "hit"):
        equal(step["distance"], expected["distance"], what + ", the distance")


def compare_log(log, options, numbers, steps):
    """Misses by their numbers, each with so many accesses of its set behind it."""
    misses = [i for i, entry in enumerate(log) if entry["result"] != "hit"]
    for number in numbers:
        told = story(options + ["--miss", str(number), "--steps", str(steps)])
        equal((told["miss"]["of"], told["miss"]["number"]), (len(misses), number), "the miss")
        at = misses[number - 1]
        expected = [log[at]] + [entry for entry in log[at + 1:] if entry["set"] == log[at]["set"]][:steps]
        equal(len(told["steps"]), len(expected), "how many steps")
        for i, (step, entry) in enumerate(zip(told["steps"], expected)):
            compare_step(step, entry, "%s, miss %d, step %d" % (" ".join(options), number, i))


def part_twin():
    trace = trace_of(TEACH)
    data, code, below = Level("lru", 16, 2), Level("lru", 16, 2), Level("lru", 128, 4)
    play(trace, data, code, below)
    equal(sum(entry["result"] != "hit" for entry in data.log), MISSES, "misses of the naive L1D")
    compare_log(data.log, TEACH, [1, 2, 3, 4, 5, 7, 11, 12, 13, 28, 29, 44, 52, 53, 54, 60, 61, 68, 69, 75, 76], 1000)
    compare_log(below.log, TEACH + ["--level", "L2"], [1, 2, 3, 20, 45], 5)
    compare_log(code.log, TEACH + ["--level", "L1I"], [1, 2], 1000)


SAID = {
    "lru": r"lru: way 1 was touched longest ago, \d+ accesses before",
    "fifo": r"fifo: way \d was filled longest ago, \d+ accesses before; that it was touched \d+ before does not count",
    "tree-plru": r"tree-plru: the bits of the tree lead from the root to way \d: (left|right) at node 1",
    "nru": r"nru: (way \d is the lowest whose bit says that it was not touched of late|all ways were touched of late, "
           r"so all bits are set again, and way 0 is the lowest)",
    "srrip": r"srrip: (way \d is the lowest with the prediction 3|no way has the prediction 3, so [12] is added to "
             r"all, and way \d is the lowest that comes to 3)",
}


def check_said(policy, step):
    """The way that is said to leave is the one whose line is gone in the next step of the set."""
    if not step["ways"][step["way"]]["holds"]:
        contains(step["why"], ["is empty: nothing has to leave"], policy)
        return
    check(re.match(SAID[policy], step["why"]), "%s: what is said of the victim: %s" % (policy, step["why"]))
    named = [int(number) for number in re.findall(r"way (\d+)", step["why"])]
    equal(named[0], step["way"], policy + ": the way that is named")


def part_policies():
    trace = trace_of(TEACH)
    for policy in SAID:
        for size, ways in (("2K", 2), ("2K", 4)):
            options = TEACH + ["--set", "L1D.policy=" + policy, "--set", "L1D.size=" + size,
                               "--set", "L1D.ways=%d" % ways]
            data, code, below = Level(policy, 32 // ways, ways), Level("lru", 16, 2), Level("lru", 128, 4)
            play(trace, data, code, below)
            misses = sum(entry["result"] != "hit" for entry in data.log)
            compare_log(data.log, options, [5, 7, misses - 8, misses], 12)
            for step in story(options + ["--miss", "5", "--steps", "40"])["steps"]:
                if step["result"] != "hit" and ways == 2:
                    check_said(policy, step)
    one = TEACH + ["--miss", "7", "--steps", "0", "--set"]
    contains(explain(one + ["L1D.policy=random"]), ["victim      random: a draw among 2 ways came to way "], "random")
    contains(explain(one + ["L1D.policy=brrip"]), ["victim      brrip: "], "brrip")
    # set 0 of 16 leads by srrip: eight regions of two sets each, the first of the first one
    contains(explain(one + ["L1D.policy=drrip"]), ["victim      drrip: ", "; the set leads by srrip"], "drrip")
    contains(explain(one + ["L1D.policy=ship"]), ["victim      ship: "], "ship")
    # a mask: way 0 alone may be filled, so what comes takes it, however young its line is
    text = explain(TEACH + ["--miss", "7", "--steps", "0", "--set", "L1D.ways_of=core 0: 0x1"])
    contains(" ".join(text.split()), ["(the core may fill 1 of the 2 ways)", "3 ways under LRU instead of 1"],
             "a mask of ways")


# ---------------------------------------------------------------- counts

def part_counts():
    levels = {level["name"]: level for level in report(TEACH, GUEST)["levels"]}
    equal({key: levels["L1D"][key] for key in ("misses", "cold", "capacity", "conflict")},
          {"misses": MISSES, "cold": 43, "capacity": 24, "conflict": 9}, "derived")
    for name in ("L1D", "L1I", "L2", "L3"):
        told = story(TEACH + ["--level", name])["miss"]
        equal(told["of_level"], levels[name]["misses"], "misses of " + name)
        equal({key: told["classes"][key] for key in ("cold", "capacity", "conflict")},
              {key: levels[name][key] for key in ("cold", "capacity", "conflict")}, "classes of " + name)
    seen = [story(TEACH + ["--miss", str(number), "--steps", "0"]) for number in range(1, MISSES + 1)]
    classes = [told["steps"][0]["result"] for told in seen]
    equal({key: classes.count(key) for key in set(classes)}, {"cold": 43, "capacity": 24, "conflict": 9}, "all of them")
    when = [told["steps"][0]["level_access"] for told in seen]
    check(when == sorted(set(when)), "misses in the order of the program, each once")
    by = [told["steps"][0]["by"] for told in seen]
    for line, expected in ((LINE_FIRST, 4), (LINE_SECOND, 4), (LINE_THIRD, 4), (LINE_ROW, 64)):
        place = "explained.S:%d" % line
        equal(by.count("_start (%s)" % place), expected, "misses of " + place)
        equal(story(TEACH + ["--at", place])["miss"]["of"], expected, "as --at counts them")
    # what is not measured is not counted, and is in the ways all the same
    told = story(TEACH + ["--warmup", "18", "--miss", "1"])
    contains(told["steps"][0]["past"], ["it came "], "a line that came before the measurement")


# ---------------------------------------------------------------- other machines

def part_inclusion():
    # L1D has one set, which holds the three lines; an inclusive L2 of 16 sets of one way does not, and takes them back.
    small = TEACH + ["--set", "L2.size=1K", "--set", "L2.ways=1", "--set", "L2.inclusion=inclusive", "--set",
                     "L1D.ways=32", "--steps", "0"]
    text = explain(small + ["--at", "explained.S:9"])
    contains(text, ["conflict miss: set 0 of 1, the only set", "an inclusive level below evicted it, for line",
                    "a level below that does not take back"], "inclusion")
    # An exclusive L2 is not filled by what misses it.
    told = story(TEACH + ["--set", "L2.inclusion=exclusive", "--level", "L2", "--miss", "1"])
    contains(told["steps"][0]["why"], ["the level is exclusive"], "an exclusive level")
    check("way" not in told["steps"][0], "no way is taken there")
    # A prefetcher brings the next line; no distance is told.
    ahead = TEACH + ["--set", "L1D.prefetch=next-line", "--steps", "30"]
    told = story(ahead + ["--at", "explained.S:%d" % LINE_ROW])
    brought = {way["brought_by"] for step in told["steps"] for way in step["ways"] if way["holds"]}
    check(any("the next-line prefetcher behind _start (explained.S:16)" == who for who in brought), repr(brought))
    check(all("distance" not in step for step in told["steps"]), "distances beside prefetches")


# ---------------------------------------------------------------- reports and recordings

def part_files():
    with tempfile.TemporaryDirectory() as top:
        kept, saved, out = (os.path.join(top, name) for name in ("kept", "report.json", "story.json"))
        emulate(["-q", "--record", kept, "--json", saved] + TEACH + GUEST, cwd=top)
        at = ["--at", "explained.S:9", "--steps", "4"]
        equal(explain(at + [saved], []), STORY, "of a report")
        equal(explain([saved] + at, []), STORY, "with options behind it")
        equal(explain([kept] + TEACH + at, []), STORY, "of a recording")
        explain(["-q", saved, "--json", "story.json"] + at, [], cwd=top)
        equal(json.load(open(out, encoding="utf-8"))["miss"]["number"], 3, "what is written, where it was asked for")
        equal(emulate(["verify", out]).stdout.decode()[:7], "equal: ", "the story made again")
        contains(explain([saved, "--miss", "77"], [], 125), ["--miss 77: L1D had 76 misses"], "no such miss")
        contains(explain([saved, "-m", "zen3"], [], 125), ["--machine says how a program is run and simulated"], "no")
        contains(explain([kept, "--env", "A=1"], [], 125), ["replay takes no --env"], "refused of a recording")
        contains(explain([saved, saved], [], 125), ["one report at a time"], "two reports")
        whole = json.load(open(saved, encoding="utf-8"))
        data = [level for level in whole["levels"] if level["name"] == "L1D"]
        data[0]["misses"] -= 1
        json.dump(whole, open(saved, "w", encoding="utf-8"))
        contains(explain([saved] + at, [], 125), ["this run is not that of", "L1D had 75 misses, and has 76 now",
                                                  "c2emu verify"], "another run")
        data[0]["misses"] += 1
        whole["receipt"]["directory"] = "/nowhere"
        json.dump(whole, open(saved, "w", encoding="utf-8"))
        contains(explain([saved] + at, [], 125), ["which cannot be entered"], "its directory is gone")
        open(saved, "w", encoding="utf-8").write("{}")
        contains(explain([saved] + at, [], 125), [saved], "no report")


def part_words():
    for words, said in (
            (["--at", "explained.S"], "--at explained.S: must be FILE:LINE"),
            (["--at", "explained.S:0"], "must be FILE:LINE"),
            (["--miss", "0"], "--miss 0: must be a number, 1 for the first miss"),
            (["--miss", "many"], "--miss many: must be a number"),
            (["--level", "L7"], "--level L7: the levels of machine teach are L1D, L2, L3, L1I"),
            (["--steps", "1001"], "--steps 1001: must be a number, 0 to 1000"),
            (["--at", "explained.S:8"], "no access of explained.S:8 missed in L1D, which had 76 misses; lines of the "
                                        "file that did: 16 (64), 9 (4), 10 (4), 11 (4)"),
            (["--at", "other.c:8"], "of other.c no line did"),
            (["--at", "explained.S:9", "--miss", "5"], "--miss 5: L1D had 4 misses at explained.S:9"),
            (["--set", "L1D.write=through"], "explain does not follow stores that go on from a level"),
            (["--no-attribution"], "--no-attribution"), (["--output", "d"], "leave --output out")):
        contains(explain(TEACH + words, status=125), [said], " ".join(words))
    contains(explain(["-q", "--json", "/dev/null", "--miss", "77"] + TEACH, status=125), ["L1D had 76 misses"], "-q")
    shell = ["/bin/sh", "-c", GUEST[0] + "; exit 3"]
    contains(explain(TEACH, shell, 3), ["the run has several programs; --follow explained tells of this one"], "two")
    contains(explain(TEACH + ["--follow", "explained"], shell, 3), ["A cold miss of L1D", "Miss 41 of the 76,"], "one")
    contains(emulate(["--miss", "3"] + GUEST).stderr.decode(), ["--miss belongs to `c2emu explain`"], "no verb")


# ---------------------------------------------------------------- step by step

def part_step():
    at = TEACH + ["--at", "explained.S:9", "--steps", "2", "--step"]
    text = explain(at)
    for i, (line, outcome) in enumerate((("0xc0", "conflict, 0xd0 leaves"), ("0xd0", "conflict, 0xe0 leaves"),
                                         ("0xe0", "conflict, 0xc0 leaves"))):
        contains(text, ["Step %d of 2: %s\nload        of first" % (i, outcome), "line %s, by _start" % line],
                 "step %d as text" % i)
    contains(text, ["    0                      0        1        1         0xc0  first           _start "
                    "(explained.S:9)\n    1  leaves              1        3        2  dirty  0xe0"], "before step 1")
    by_keys(at)


def read_until(terminal, word):
    """What comes up to this word; the program may be slow."""
    text, end = "", time.monotonic() + 60
    while word not in text and time.monotonic() < end:
        if select.select([terminal], [], [], 1)[0]:
            try:
                text += os.read(terminal, 65536).decode()
            except OSError:
                break
    check(word in text, "the screen does not come to %r: %r" % (word, text[-300:]))
    return text


def by_keys(words):
    need_terminals()
    child, terminal = pty.fork()
    if child == 0:
        os.execv(EMULATOR, [EMULATOR, "explain"] + words + GUEST)
    read_until(terminal, "step 0 of 2")
    for key, step in ((b"\x1b[C", 1), (b"\x1b[B", 2), (b"\x1b[C", 2), (b"\x1b[D", 1), (b"\x1b[H", 0), (b"\x1b[F", 2),
                      (b"\x1bOA", 1), (b"n", 2), (b"p", 1), (b"x", 1), (b" ", 2)):
        os.write(terminal, key)
        screen = read_until(terminal, "step %d of 2" % step)
        contains(screen, ["\x1b[H\x1b[2J", "Step %d of 2: conflict" % step], "the screen behind %r" % key)
    os.write(terminal, b"q")
    _, status = os.waitpid(child, 0)
    equal(os.waitstatus_to_exitcode(status), 0, "the exit status")
    os.close(terminal)


# ---------------------------------------------------------------- the page

SHOWN = """({number: document.querySelector("#step-number").textContent,
    said: document.querySelector(".said").innerText,
    ways: [...document.querySelectorAll(".way")].map(way => [way.dataset.line, way.className.split(" ")[1] || ""]),
    comes: [...document.querySelectorAll(".comes .code")].map(line => line.textContent)})"""


def shown(told, number):
    """What the page is to show of a step."""
    step = told["steps"][number]
    fate = lambda way: "" if step.get("way") != way["way"] else "hit" if step["result"] == "hit" else \
        "leaves" if way["holds"] else "filled"
    return {"number": "step %d of %d" % (number, len(told["steps"]) - 1),
            "ways": [[way.get("line", ""), fate(way)] for way in step["ways"]],
            "comes": [step["line"]] if step["result"] != "hit" else []}


def compare_shown(seen, told, number, what):
    contains(seen.pop("said"), ["%(kind)s of %(to)s, line %(line)s, by %(by)s: " % told["steps"][number]], what)
    equal(seen, shown(told, number), what)


def part_page():
    import browser # here: the other parts need no Chromium
    with tempfile.TemporaryDirectory() as top:
        page, saved, again, bad = (os.path.join(top, name) for name in ("a.html", "a.json", "b.html", "bad.html"))
        explain(["-q", "--html", page, "--json", saved, "--at", "explained.S:9", "--steps", "4"] + TEACH)
        equal(emulate(["html", saved, "-o", again]).returncode, 0, "a page of the JSON")
        check(open(page, encoding="utf-8").read() == open(again, encoding="utf-8").read(), "it is another page")
        told = json.load(open(saved, encoding="utf-8"))
        seen = browser.ask(page, """(() => {
            const look = () => %s, player = document.querySelector("#player"), taken = [look()];
            const click = id => { document.getElementById(id).click(); taken.push(look()); };
            const press = key => {
                player.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
                taken.push(look());
            };
            ["next", "next", "back", "last", "next", "first"].forEach(click);
            ["ArrowRight", "ArrowDown", "ArrowLeft", "End", "ArrowRight", "Home", "ArrowUp"].forEach(press);
            const slider = document.querySelector("#player input");
            slider.value = 3;
            slider.dispatchEvent(new Event("input"));
            taken.push(look());
            press("Home");
            const wait = ms => new Promise(done => setTimeout(done, ms));
            return (async () => {
                press(" ");
                await wait(2 * 1400 + 700);
                const playing = [look(), document.querySelector("#play").textContent];
                await wait(3 * 1400);
                return {taken, playing, ended: [look(), document.querySelector("#play").textContent],
                    drawn: document.documentElement.dataset.drawn, broken: window.broken || null,
                    loaded: performance.getEntriesByType("resource").map(entry => entry.name),
                    title: document.title, terms: [...document.querySelectorAll("dl.story dt")].map(t => t.innerText),
                    text: document.querySelector("dl.story").innerText};
            })();
        })()""" % SHOWN)
        order = [0, 1, 2, 1, 4, 4, 0, 1, 2, 1, 4, 4, 0, 0, 3, 0, 0]
        equal(len(seen["taken"]), len(order), "looks")
        for i, (look, number) in enumerate(zip(seen["taken"], order)):
            compare_shown(look, told, number, "look %d" % i)
        compare_shown(seen["playing"][0], told, 2, "as it plays")
        compare_shown(seen["ended"][0], told, 4, "when it has played")
        equal((seen["playing"][1], seen["ended"][1]), ("Stop", "Play"), "the button")
        equal((seen["drawn"], seen["broken"], seen["loaded"]), ("yes", None, []), "drawn, errors, files loaded")
        equal(seen["title"], "A conflict miss of L1D on teach - c2emu", "the title")
        equal(seen["terms"], ["load", "code", "data", "line", "L1D", "L2", "victim", "the line", "ideal", "kept by"],
              "what is told")
        contains(seen["text"], ["2 other lines were asked for since", told["steps"][0]["why"]], "the story")
        wide = browser.ask(page, "[document.documentElement.scrollWidth, innerWidth]", width=400, dark=True)
        check(wide[0] <= wide[1], "the page is %d wide on a screen of %d" % tuple(wide))
        hostile = "</script><script>window.broken=1</script><img src=x onerror=window.broken=2>"
        for step in told["steps"]:
            step["to"] = step["by"] = step["why"] = hostile
        json.dump(told, open(saved, "w", encoding="utf-8"))
        equal(emulate(["html", saved, "-o", bad]).returncode, 0, "a page of hostile names")
        seen = browser.ask(bad, "[window.broken || null, document.images.length, "
                                "document.querySelector('.said').innerText]")
        equal(seen[:2], [None, 0], "what hostile names did")
        contains(seen[2], [hostile], "names as text")
        for text, said in (('{"format": "c2emu-explain", "version": 2}', "has another version than 1"),
                           ('{"format": "c2emu-explain", "version": 1, "steps": []}', "has no miss and no steps")):
            open(saved, "w", encoding="utf-8").write(text)
            contains(emulate(["html", saved, "-o", bad]).stderr.decode(), [said], text)


PARTS = {name[5:]: function for name, function in list(globals().items()) if name.startswith("part_")}
PARTS[sys.argv[1]]()
done()
