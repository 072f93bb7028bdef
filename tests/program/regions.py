# SPDX-License-Identifier: GPL-2.0-or-later
"""regions.py PART: what --roi, --from and --to measure is what they say, instruction by instruction.

The trace of a whole run, cut at its fetches, says what each instruction does. The trace of a region must be those
pieces of it: of roi.S, whose functions have so many instructions that they are counted by hand; of leaves.cc from the
entry of a function up to where the guest is in main again, as nm says where these are.
"""

import collections
import os
import random
import sys
import tempfile

import twin
from common import check, contains, done, emulate, equal, need, report, run, skip, without_receipt

GUESTS = os.environ["GUESTS"]
ROI = [os.path.join(GUESTS, "roi")]
LOOPS = 3


def traced(options, program):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "trace")
        result = emulate(["-q", "-m", "teach", "--trace", path] + options + program)
        equal((result.returncode, result.stderr), (0, b""), "run of " + " ".join(options + program))
        with open(path) as file:
            return file.read().splitlines()


def by_instruction(lines):
    pieces = []
    for line in lines:
        if line[0] == "F":
            pieces.append([])
        pieces[-1].append(line)
    return pieces


def address_of(instruction):
    return int(instruction[0].split()[1], 16)


def symbols(path):
    """name -> (address, bytes)"""
    need("nm")
    found = {}
    for line in run(["nm", "-S", "--defined-only", path]).stdout.decode().splitlines():
        words = line.split()
        if len(words) >= 3:
            found[words[-1]] = (int(words[0], 16), int(words[1], 16) if len(words) == 4 else 0)
    return found


def flat(whole, pieces):
    return [line for start, end in pieces for instruction in whole[start:end] for line in instruction]


# What each function of roi.S executes when it is called: its lengths in one loop of _start.
LENGTHS = {"leaf": [4, 4, 4, 4, 4], "twice": [13], "recurse": [4 * 5 + 3], "tail": [6], "escape": [6], "deeper": [3],
           "lies": [4], "switches": [9], "before": [3], "fallen": [2, 2], "repeats": [4]}


def calls_of(whole, entry, lengths):
    """[(start, end)] of calls that have these lengths, one after the other."""
    pieces, now = [], 0
    for length in lengths:
        while address_of(whole[now]) != entry:
            now += 1
        pieces.append((now, now + length))
        now += length
    check(all(address_of(instruction) != entry for instruction in whole[now:]), "no more calls")
    return pieces


def phases_of(pieces, total, outside):
    phases, now = [], 0
    for start, end in pieces:
        if start != now:
            phases.append((outside, start - now))
        phases.append(("measure", end - start))
        now = end
    if now != total:
        phases.append((outside, total - now))
    return phases


def compare(options, program, whole, pieces, name, traces=True):
    for word in ("functional", "none") if traces else ("none",):
        what = " ".join(options + ["--warm", word] + program)
        outside = {"functional": "warmup", "none": "skip"}[word]
        if traces:
            lines = traced(options + ["--warm", word], program)
            check(lines == flat(whole, pieces), "the pieces of the trace, " + what)
        told = report(options + ["--warm", word, "-m", "teach"], program)["run"]
        equal([(row["kind"], row["instructions"]) for row in told["phases"]], phases_of(pieces, len(whole), outside),
              "phases, " + what)
        measured = sum(end - start for start, end in pieces)
        equal(told["measured"]["instructions"], measured, "measured, " + what)
        if name is None:
            continue
        equal([{key: row[key] for key in ("name", "begun", "instructions", "measured")} for row in told["regions"]],
              [{"name": name, "begun": len(pieces), "instructions": measured, "measured": measured}],
              "regions, " + what)
        equal([row.get("region") for row in told["phases"] if row["kind"] == "measure"], [name] * len(pieces),
              "the phases' regions, " + what)


def exact():
    whole, names = by_instruction(traced([], ROI)), symbols(ROI[0])
    for name, lengths in LENGTHS.items():
        pieces = calls_of(whole, names[name][0], lengths * LOOPS)
        compare(["--roi", name], ROI, whole, pieces, name)
    last = [i for i, instruction in enumerate(whole) if address_of(instruction) == names["quits"][0]]
    compare(["--roi", "quits"], ROI, whole, [(last[0], len(whole))], "quits")
    equal(len(whole) - last[0], 3, "instructions of quits")
    compare(["--roi", "_start"], ROI, whole, [(0, len(whole))], "_start")


def several():
    """Functions at once: the outermost call of any; a pattern is as many as there are."""
    whole, names = by_instruction(traced([], ROI)), symbols(ROI[0])
    wanted = {"leaf", "lies"}
    entries = {names[name][0]: name for name in wanted}
    pieces, now = [], 0
    while now < len(whole):
        if address_of(whole[now]) not in entries:
            now += 1
            continue
        pieces.append((now, now + 4)) # both have 4
        now += 4
    for options in (["--roi", "leaf", "--roi", "lies"], ["--roi", "l*"], ["--roi", "l[ei]*"]):
        compare(options, ROI, whole, pieces, None)
        rows = report(options, ROI)["run"]["regions"]
        equal({row["name"]: row["begun"] for row in rows}, {"leaf": 5 * LOOPS, "lies": LOOPS}, "regions")
        equal({row["asked"] for row in rows}, {"--roi " + word for word in options[1::2]}, "what was asked for")


def between():
    whole, names = by_instruction(traced([], ROI)), symbols(ROI[0])
    at = {name: [i for i, instruction in enumerate(whole) if address_of(instruction) == names[name][0]]
          for name in names}
    end = len(whole)
    marked, again, leaf = at["marked"], at["again"], at["leaf"]
    equal((len(marked), len(again), len(leaf)), (LOOPS, LOOPS, 5 * LOOPS), "arrivals")
    source = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "guests", "roi.S")).read().splitlines()
    line = "roi.S:%d" % (1 + next(i for i, text in enumerate(source) if "dec     %r12d" in text))
    for options, pieces in (
            (["--from", "marked"], [(marked[0], end)]),
            (["--from", "marked:2"], [(marked[1], end)]),
            (["--to", "marked"], [(0, marked[0])]),
            (["--to", "marked:3"], [(0, marked[2])]),
            (["--from", "again", "--to", "marked"], list(zip(again, marked))),
            (["--from", "again:2", "--to", "marked"], [(again[1], marked[1])]),
            (["--from", "again", "--to", "marked:2"], [(again[0], marked[1]), (again[2], end)]),
            (["--from", "leaf", "--to", "leaf"], list(zip(leaf, leaf[1:] + [end]))),
            (["--from", "leaf:2", "--to", "leaf:4"], [(leaf[1], leaf[3])]),
            (["--from", "0x%x" % names["again"][0], "--to", "0x%x:3" % names["marked"][0]], [(again[0], marked[2])]),
            (["--from", line, "--to", "again"], list(zip(marked, again[1:] + [end]))),
            (["--from", line + ":2", "--to", "guests/%s:3" % line], [(marked[1], marked[2])])):
        compare(options, ROI, whole, pieces, None)


def threads():
    """Between two places of a program with threads, whose turns end meanwhile: the parts add up to the whole."""
    program = [os.path.join(GUESTS, "threads"), "calls", "3"]
    whole = report(["--quantum", "71"], program)["run"]["instructions"]
    for place in "main", "inner:3000":
        parts = [report(["--quantum", "71", option, place], program)["run"]["measured"]["instructions"]
                 for option in ("--to", "--from")]
        check(all(parts), "both sides of %s are something: %r" % (place, parts))
        equal(sum(parts), whole, "instructions up to %s and from there on" % place)


def in_samples():
    """Samples count instructions of regions only, and go on from one region to the next."""
    draw = random.Random(1)
    whole, names = by_instruction(traced([], ROI)), symbols(ROI[0])
    for name in ("leaf", "recurse", "_start"):
        calls = calls_of(whole, names[name][0], LENGTHS[name] * LOOPS) if name in LENGTHS else [(0, len(whole))]
        inside = [i for start, end in calls for i in range(start, end)]
        for _ in range(6):
            skipped, warmup, measure = draw.randint(0, 9), draw.randint(0, 5), draw.randint(1, 9)
            samples, kinds, now = draw.randint(1, 4), [], 0
            for _ in range(samples):
                kinds += ["skip"] * skipped + ["warmup"] * warmup + ["measure"] * measure
            kinds = (kinds + ["skip"] * len(inside))[:len(inside)]
            of = ["skip"] * len(whole)
            for i, kind in zip(inside, kinds):
                of[i] = kind
            options = ["--roi", name, "--warm", "none", "--skip", str(skipped), "--warmup", str(warmup),
                       "--measure", str(measure), "--samples", str(samples)]
            what = " ".join(options)
            wanted = [line for i, instruction in enumerate(whole) if of[i] == "measure" for line in instruction]
            check(traced(options, ROI) == wanted, "the pieces of the trace, " + what)
            for row in report(options + ["-m", "teach"], ROI)["run"]["phases"]:
                equal(set(of[now:now + row["instructions"]]), {row["kind"]}, "phase at %d, %s" % (now, what))
                now += row["instructions"]
            equal(now, len(whole), "sum of the phases, " + what)


def leaves():
    """Whatever way a function is left, its region ends where main goes on."""
    program = [os.path.join(GUESTS, "leaves")]
    if not os.path.exists(program[0]):
        skip("no C++ compiler")
    whole, names = by_instruction(traced([], program)), symbols(program[0])
    addresses = [address_of(instruction) for instruction in whole]
    times = collections.Counter(addresses)
    base = next(address - names["main"][0] for address in times # it is position independent
                if (address - names["main"][0]) % 4096 == 0 and
                times[address - names["main"][0] + names["returns"][0]] == 3)
    main_start, main_end = base + names["main"][0], base + sum(names["main"])
    in_main = [main_start <= address < main_end for address in addresses]
    # parts of main that the compiler has moved away belong to it
    cold = names.get("main.cold")
    if cold:
        in_main = [inside or base + cold[0] <= address < base + sum(cold)
                   for inside, address in zip(in_main, addresses)]
    for name in ("returns", "throws", "catches", "jumps", "signals"):
        entry, pieces, now = base + names[name][0], [], 0
        while now < len(whole):
            if addresses[now] != entry:
                now += 1
                continue
            start = now
            while not in_main[now]:
                now += 1
            pieces.append((start, now))
        equal(len(pieces), 3, "calls of " + name)
        compare(["--roi", name], program, whole, pieces, name, False)
    compare(["--roi", "main"], program, whole, [(addresses.index(main_start), len(whole))], "main", False)


# ------------------------------------------------------------------------------------------- caches, by the twin

class Fifo(twin.Level):
    """A level that also keeps what its sets evicted last, to judge misses by it (docs/model.md)."""

    def __init__(self, *words):
        super().__init__(*words)
        self.evicted = {}
        self.judged = dict.fromkeys(("fifo_conflict", "fifo_capacity", "both_conflict", "only_fifo", "only_fa"), 0)

    def ask(self, write, virtual, physical):
        before = dict(self.n)
        found = super().ask(write, virtual, physical)
        conflict = self.n["conflict"] != before["conflict"]
        if conflict or self.n["capacity"] != before["capacity"]:
            known = physical in self.evicted.get(self.place(virtual, physical), [])
            self.judged["fifo_conflict" if known else "fifo_capacity"] += 1
            self.judged["both_conflict"] += known and conflict
            self.judged["only_fifo"] += known and not conflict
            self.judged["only_fa"] += conflict and not known
        return found

    def victim(self, virtual, physical):
        line = super().victim(virtual, physical)
        if line is not None:
            mine = self.evicted.setdefault(self.place(virtual, physical), [])
            mine.append(line)
            del mine[:-2 * self.ways]
        return line


def counted(second):
    return {level.name: dict(level.n, fifo=dict(level.judged)) for level in second.hierarchy.all}


def difference(a, b):
    return {key: difference(a[key], b[key]) for key in a} if isinstance(a, dict) else a - b


def total(a, b):
    return {key: total(a[key], b[key]) for key in a} if isinstance(a, dict) else a + b


def by_twin(whole, run):
    """The counts of levels that the run's phases have, of the trace of a run that was measured as a whole."""
    warm, flush = run["options"]
    twin.Level = Fifo
    second, sums, now, skipped = twin.Twin(run["machine"]), None, 0, False
    for row in run["run"]["phases"]:
        lines = [line for instruction in whole[now:now + row["instructions"]] for line in instruction]
        now += row["instructions"]
        if row["kind"] == "skip":
            skipped = True
            continue
        if skipped and flush:
            second = twin.Twin(run["machine"])
        skipped, before = False, counted(second)
        second.eat(lines)
        part = difference(counted(second), before)
        if row["kind"] == "measure":
            sums = part if sums is None else total(sums, part)
    check(warm or any(row["kind"] == "skip" for row in run["run"]["phases"]), "something is skipped")
    return sums


def warm():
    """What each --warm leaves in the caches, and the FIFO detector in parts of a run."""
    for guest, options in (("roi", ["--roi", "leaf"]), ("roi", ["--from", "again:2", "--to", "marked:3"]),
                           ("strides", ["--skip", "700", "--measure", "900", "--samples", "9"]),
                           ("chase", ["--period", "3001", "--warmup", "300", "--measure", "1000"])):
        program = [os.path.join(GUESTS, guest)]
        machine = ["-m", "teach", "--set", "L1D.size=1K", "--set", "L1I.size=128", "--set", "L1I.ways=1", "--set",
                   "L2.size=4K"]
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "trace")
            emulate(["-q", "--trace", path] + machine + program)
            with open(path) as file:
                whole = by_instruction(file.read().splitlines())
        for word in ("functional", "none", "flush"):
            told = report(machine + ["--fifo-detector", "--warm", word] + options, program)
            told["options"] = word == "functional", word == "flush"
            levels = {level.pop("name"): level for level in told["levels"]}
            equal(levels, by_twin(whole, told), "%s %s --warm %s" % (guest, " ".join(options), word))


def calls():
    """The call graph of a region: what was called in it, by whom, and the region's own call."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "out")
        result = emulate(["-q", "-m", "teach", "--callgrind", path, "--roi", "twice", "--roi", "tail"] + ROI)
        equal((result.returncode, result.stderr), (0, b""), "--callgrind --roi")
        with open(path) as file:
            text = file.read()
    names, arcs, function, called = {}, {}, None, None

    def name(word):
        number, _, rest = word.partition(" ")
        return names.setdefault(number, rest) if rest else names[number]

    for line in text.splitlines():
        if line.startswith("fn="):
            function = name(line[3:])
        elif line.startswith("cfn="):
            called = name(line[4:])
        elif line.startswith("calls="):
            arcs[function, called] = arcs.get((function, called), 0) + int(line.split("=")[1].split()[0])
    arcs.pop(("_start", "_start"), None) # jumps to its labels
    equal(arcs, {("_start", "twice"): LOOPS, ("_start", "tail"): LOOPS, ("twice", "leaf"): 2 * LOOPS,
                 ("tail", "leaf"): LOOPS}, "who called whom how often")
    contains(text, ["summary: %d " % (LOOPS * (13 + 6))], "the sum of instructions")


# ------------------------------------------------------------------------------------------- requests

SETUP, SEQUENCE, LAST = 6, 5, 3 # instructions of a request and at the end


def work(lines):
    return 1 + 3 * lines


def requested(part, word, *options):
    told = report(["-m", "teach", "--requests", word] + list(options), [os.path.join(GUESTS, "requests_%d" % part)])
    equal(told["exit_status"], 0, "the program is told that it is not under Valgrind")
    return told


def requests():
    first = 2 + work(10) + SETUP
    one, two, three = work(20) + SETUP, work(7) + SETUP, work(2) + SETUP
    gap = SEQUENCE + work(5) + SETUP + SEQUENCE
    uncounted = SEQUENCE + work(3) + SETUP + SEQUENCE
    end = SEQUENCE + SETUP + SEQUENCE + LAST
    for word, phases in (
            ("instr-atstart=no", [("warmup", first + SEQUENCE), ("measure", one), ("warmup", gap), ("measure", two),
                                  ("warmup", uncounted), ("measure", three), ("warmup", end)]),
            ("yes", [("measure", first + SEQUENCE + one), ("warmup", gap), ("measure", two), ("warmup", uncounted),
                     ("measure", three), ("warmup", end)]),
            ("collect-atstart=no", [("warmup", first + SEQUENCE + one), ("warmup", gap), ("warmup", two + SEQUENCE),
                                    ("measure", work(3) + SETUP), ("warmup", SEQUENCE + three), ("warmup", end)])):
        run = requested(1, word)["run"]
        equal([(row["kind"], row["instructions"]) for row in run["phases"]], phases, "--requests " + word)
        equal(run["measured"]["instructions"], sum(n for kind, n in phases if kind == "measure"), "measured, " + word)
    skipped = requested(1, "instr-atstart=no", "--warm", "none")["run"]["phases"]
    equal([row["kind"] for row in skipped], ["skip", "measure", "skip", "measure", "warmup", "measure", "skip"],
          "what is not collected is simulated all the same")
    whole = requested(1, "instr-atstart=no", "--roi", "_start")["run"]
    equal(whole["measured"]["instructions"], one + two + three, "in a function")
    untouched = report(["-m", "teach"], [os.path.join(GUESTS, "requests_1")])["run"]
    equal([row["kind"] for row in untouched["phases"]], ["measure"], "without --requests")
    result = emulate(["--requests", "instr-atstart=no", ROI[0]])
    equal(result.returncode, 125, "status without a request")
    contains(result.stderr.decode(), ["--requests: the program never came there, nothing was measured"], "no request")
    result = emulate(["--requests", "atstart=no", ROI[0]])
    contains(result.stderr.decode(), ["--requests atstart=no: unknown value"], "a misspelt word")


def dumps():
    told = requested(3, "yes")
    # ZERO_STATS drops all that is before it: what is reported is what --from reports, and later dumps
    other = report(["-m", "teach", "--from", "zeroed"], told["command"])
    lines = 1 + work(15) + SETUP
    equal([(dump["text"], dump["measured"]["instructions"]) for dump in told["run"]["dumps"]],
          [("odd ? ?", lines)], "dumps behind ZERO_STATS")
    equal(told["run"]["measured"]["instructions"], lines + SEQUENCE + work(8) + LAST, "measured")
    before = told["run"]["phases"][0]
    equal(before["kind"], "warmup", "what was dropped")
    for report_ in (told, other):
        for key in ("phases", "regions", "dumps"):
            report_["run"].pop(key, None)
    equal(told, other, "the report behind ZERO_STATS")


def replayed():
    """A recorded run gives the same reports."""
    for guest, options in (("requests_3", ["--requests", "yes"]), ("requests_1", ["--requests", "instr-atstart=no"]),
                           ("roi", ["--roi", "l*", "--warm", "flush"]),
                           ("roi", ["--from", "again:2", "--skip", "5", "--measure", "9", "--samples", "3"])):
        with tempfile.TemporaryDirectory() as directory:
            kept, live, again = (os.path.join(directory, name) for name in ("kept", "live.json", "again.json"))
            words = ["-m", "teach", "--json-full", live, "--record", kept] + options + ["./" + guest]
            first = emulate(words, cwd=GUESTS)
            second = emulate(["replay", "-m", "teach", "--json-full", again, kept])
            equal((first.returncode, second.returncode), (0, 0), "recorded and replayed, %s" % options)
            equal(second.stderr, first.stderr, "the text of a replay, %s" % options)
            with open(live, "rb") as one, open(again, "rb") as other:
                equal(without_receipt(other.read()), without_receipt(one.read()), "the replay's report, %s" % options)


def callgrind():
    """Callgrind counts the same instructions."""
    need("valgrind")
    program = os.path.join(GUESTS, "requests_2")
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "out")
        result = run(["valgrind", "--tool=callgrind", "--instr-atstart=no", "--callgrind-out-file=" + path, program])
        if not equal(result.returncode, 0, "valgrind: %r" % result.stderr):
            return
        with open(path) as file:
            total_ = next(int(line.split()[1]) for line in file if line.startswith(("totals:", "summary:"))
                          and line.split()[1] != "0")
    counted_ = requested(2, "instr-atstart=no")["run"]["measured"]["instructions"]
    equal(counted_, work(20) + 2 + LAST, "by hand")
    equal(counted_ - LAST, total_, "Ir of Callgrind, which leaves out the block that the program ends in")


def names():
    """The same function by each of its names; those in libraries."""
    program = [os.path.join(GUESTS, "leaves")]
    if not os.path.exists(program[0]):
        skip("no C++ compiler")

    def region(word):
        rows = report(["-m", "teach", "--roi", word], program)["run"]["regions"]
        return [(row["name"], row["begun"], row["instructions"]) for row in rows]

    mangled = region("_ZN4deep5namedEjPKc")
    equal((mangled[0][:2], len(mangled)), (("deep::named(unsigned int, char const*)", 3), 1), "by its symbol")
    for word in ("deep::named(unsigned int, char const*)", "deep::named", "deep::na*", "*named", "*named(uns*"):
        equal(region(word), mangled, "--roi " + word)
    equal([row[:2] for row in region("*deep::made*")], [("unsigned int deep::made<unsigned int>(unsigned int)", 3)],
          "a template")
    check(region("snprintf")[0][:2] == ("snprintf", 3), "a function of the C library: %r" % region("snprintf"))
    later = [os.path.join(GUESTS, "later")] # loads its library three times
    rows = report(["-m", "teach", "--roi", "__b64_ntop"], later)["run"]["regions"]
    equal([(row["name"], row["begun"]) for row in rows], [("__b64_ntop", 3)], "a library that is loaded later")
    for form in ("dynamic", "static"):
        rows = report(["-m", "teach", "--roi", "main"], [os.path.join(GUESTS, "calls_" + form)])["run"]["regions"]
        equal([(row["name"], row["begun"]) for row in rows], [("main", 1)], "main of a program linked " + form)
    copied = region("memcpy") # one of several, which the C library chooses at the start
    check(sum(row[1] for row in copied) >= 3, "memcpy: %r" % copied)


def nowhere():
    program = [os.path.join(GUESTS, "regions")] # a dynamic one in C
    for options, program, said in (
            (["--roi", "twcie"], ROI, '--roi twcie: no function has this name; did you mean "twice"?'),
            (["--roi", "x*z"], ROI, "--roi x*z: no function has a name like this"),
            (["--roi", "mian"], program, '--roi mian: no function has this name; did you mean "main"?'),
            (["--roi", "qsort_r"], program, "--roi qsort_r: the program never came there, nothing was measured"),
            (["--from", "roi.S:1"], ROI, "--from roi.S:1: no code begins on this line; the nearest one with code is"),
            (["--from", "ro.S:12"], ROI, "--from ro.S:12: no debug information names this source file"),
            (["--from", "0x10"], ROI, "--from 0x10: no code is mapped at this address"),
            (["--from", "leaf:16"], ROI, "--from leaf:16: the program never came there, nothing was measured"),
            (["--from", "leaf", "--to", "twcie"], ROI, "--to twcie: no function has this name; did you mean")):
        result = emulate(["--json-full", "/dev/stdout"] + options + program)
        equal((result.returncode, b"c2emu-report" in result.stdout), (125, False), "status of " + " ".join(options))
        contains(result.stderr.decode(), [said], " ".join(options))
    result = emulate(["--roi", "leaf", "--roi", "cell"] + ROI) # no code
    equal(result.returncode, 125, "one of two names is nowhere")


def before():
    """What is certainly nowhere is refused before the program has said anything; what may come later is not."""
    program = [os.path.join(GUESTS, "regions")]
    for options, said in (
            (["--roi", "mian"], '--roi mian: no function has this name; did you mean "main"?'),
            (["--roi", "main", "--roi", "x*z"], "--roi x*z: no function has a name like this, in the program and in "),
            (["--from", "memcppy"], '--from memcppy: no function has this name; did you mean "memcpy"?'),
            (["--from", "main", "--to", "mian:2"], "--to mian:2: no function has this name; did you mean"),
            (["--from", "nowhere.c:12"], "--from nowhere.c:12: no debug information names this source file"),
            (["--checkpoint", "/dev/null", "--checkpoint-at", "mian"], "--checkpoint-at mian: no function has"),
            (["--separate-par", "mian:1"], "--separate-par mian:1: no function has this name; did you mean"),
            (["--histogram", "--phase-at", "regions,main,mian"], "--phase-at mian: no function has this name; did"),
            (["--alloc-wrapper", "mallocc"], '--alloc-wrapper mallocc: no function has this name; did you mean')):
        result = emulate(["--no-sim" if "--checkpoint" in options else "-q"] + options + program)
        equal((result.returncode, result.stdout), (125, b""), "nothing is run: " + " ".join(options))
        contains(result.stderr.decode(), [said], " ".join(options))
        equal(result.stderr.count(b"\n"), 1, "one line: " + " ".join(options))
    for options in (["--roi", "m[ab]in*"], ["--roi", "memcpy"], ["--roi", "qsor*"]):
        check(b"name" not in emulate(["-q"] + options + program).stderr, "it is there: " + " ".join(options))
    for words in (["sh", "-c", "echo here"], [os.path.join(GUESTS, "later")]): # other programs, other libraries
        result = emulate(["-q", "--roi", "nowhere_at_all"] + words)
        check(b"libraries" not in result.stderr, "%s is run: %r" % (words[0], result.stderr))
        check(words[0] != "sh" or result.stdout == b"here\n", "what sh writes: %r" % result.stdout)
    result = emulate(["advise", "-q", "--dim", "smll=32"] + program)
    equal((result.returncode, result.stdout), (125, b""), "nothing is run: --dim")
    contains(result.stderr.decode(), ['--dim smll=32: no variable of the program is called "smll" (did you mean '
                                      '"small"?)'], "--dim")


PARTS = (exact, several, between, threads, in_samples, leaves, warm, calls, requests, dumps, replayed, callgrind, names,
         nowhere, before)
if __name__ == "__main__":
    {part.__name__: part for part in PARTS}[sys.argv[1]]()
    done()
