# SPDX-License-Identifier: GPL-2.0-or-later
"""exchange.py: traces in records, for and of other simulators, read back by readers of their own.

champsim   Every record of a program with each kind of branch is what its source says; ChampSim's rules, as its
           inc/instruction.h has them, make the right kind of branch of its registers. Of other programs the addresses
           are the line accesses of the run.
played     Such a trace, played, has the run's accesses and misses of L1D, however it is compressed.
memtrace   drcachesim's entries: the head, each instruction's kind, size and accesses, threads, the end; their numbers
           are the run's. With physical addresses the markers say where every page lies.
misses     Lines as perf script prints them: as many of each level, kind and class as the report counts; times rise, and
           each has its instruction's function.
stacks     Folded stacks and pprof's profile, read by a decoder of our own, add up to the report's numbers; a function's
           stacks to the calls of it in Callgrind's format; functions that call each other to what their source says.
jumps      In Callgrind's format are those that Valgrind's Callgrind has, of programs without libc.
writebacks Write-backs by line and instruction add up to the report's, with samples, regions and several cores.
jit        Code in no file has the names and lines of a perf map or a jitdump, written here by their specification.
refused    What a form cannot have, and what is none of its files, is named.
"""

import gzip
import json
import lzma
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import callgrind_file
from common import check, contains, done, emulate, equal, skip

GUESTS = os.environ["GUESTS"]
RECORD = struct.Struct("<QBB2B4B2Q4Q")
ENTRY = struct.Struct("<HHQ")


def guest(name):
    return os.path.join(GUESTS, name)


def reported(words, **options):
    result = emulate(words + ["-q", "--json", "-"], **options)
    equal((result.returncode, result.stderr), (0, b""), "status and messages of " + " ".join(words))
    return json.loads(result.stdout)


def traced(directory, name, words, status=0):
    """The report of a run, and the bytes of its trace."""
    report, trace = os.path.join(directory, "report"), os.path.join(directory, name)
    result = emulate(["-q", "--json", report, "--trace", trace] + words)
    equal(result.returncode, status, "status of " + " ".join(words))
    with open(report) as file, open(trace, "rb") as data:
        return json.load(file), data.read()


def unpacked(name, data):
    if name.endswith(".gz"):
        return gzip.decompress(data)
    if name.endswith(".xz"):
        return lzma.decompress(data)
    if name.endswith(".zst"):
        return subprocess.run(["zstd", "-dc"], input=data, stdout=subprocess.PIPE, check=True).stdout
    return data


# ---------------------------------------------------------------- ChampSim

class Record:
    def __init__(self, fields):
        self.ip, self.is_branch, self.taken = fields[0:3]
        self.written, self.read = [sorted(filter(None, regs)) for regs in (fields[3:5], fields[5:9])]
        self.stores, self.loads = [list(filter(None, addresses)) for addresses in (fields[9:11], fields[11:15])]


def records(data):
    equal(len(data) % RECORD.size, 0, "bytes behind the last record")
    return [Record(fields) for fields in RECORD.iter_unpack(data)]


def kind(record):
    """What ChampSim takes it for."""
    sp, flags, ip = 6, 25, 26
    reads_sp, reads_flags, reads_ip = (register in record.read for register in (sp, flags, ip))
    writes_sp, writes_ip = (register in record.written for register in (sp, ip))
    reads_other = any(register not in (sp, flags, ip) for register in record.read)
    if not writes_ip:
        return None
    if not reads_sp and not reads_flags and not reads_other:
        return "jump"
    if not reads_sp and not reads_ip and not reads_flags and reads_other:
        return "indirect"
    if not reads_sp and reads_ip and not writes_sp and (reads_flags or reads_other):
        return "conditional"
    if reads_sp and reads_ip and writes_sp and not reads_flags:
        return "indirect call" if reads_other else "call"
    if reads_sp and not reads_ip and writes_sp:
        return "return"
    return "other"


RDI, RSI, RSP, RCX, RAX, FLAGS, RIP, MEMORY = 3, 4, 6, 9, 10, 25, 26, 127
XMM1 = 65


def symbols(path):
    text = subprocess.run(["nm", path], stdout=subprocess.PIPE, check=True).stdout.decode()
    return {name: int(address, 16) for address, _, name in (line.split() for line in text.splitlines())}


def expected(at):
    """The records of branches.S: (kind, taken, read, written, loads, stores), from its source. "stack" is
    where calls write their return addresses."""
    buffer = at["buffer"]
    rounds = []
    for taken in (1, 1, 0):
        rounds += [(None, 0, [RDI, RCX], [FLAGS], [buffer], [buffer]), (None, 0, [RCX], [RCX, FLAGS], [], []),
                   ("conditional", taken, [FLAGS, RIP], [RIP], [], [])]
    back = ("return", 1, [RSP], [RSP, RIP], ["stack"], [])
    return ([(None, 0, [RIP], [RDI], [], []), (None, 0, [], [RCX], [], [])] + rounds +
            [("conditional", 1, [RCX, RIP], [RIP], [], []),
             ("call", 1, [RSP, RIP], [RSP, RIP], [], ["stack"]), back,
             (None, 0, [RIP], [RAX], [], []),
             ("indirect call", 1, [RSP, RAX, RIP], [RSP, RIP], [], ["stack"]), back,
             ("indirect call", 1, [RSP, RIP, MEMORY], [RSP, RIP], [at["to_function"]], ["stack"]), back,
             ("indirect", 1, [MEMORY], [RIP], [at["to_back"]], []),
             (None, 0, [RDI], [XMM1], [buffer + 60, buffer + 64], []),
             (None, 0, [RDI, XMM1], [], [], [buffer + 64]),
             ("jump", 1, [RIP], [RIP], [], []),
             (None, 0, [], [RCX], [], [])])


def champsim():
    with tempfile.TemporaryDirectory() as directory:
        report, data = traced(directory, "t.champsim", ["-m", "teach", guest("branches")])
        at, found = symbols(guest("branches")), records(data)
        whole = expected(at)
        stack = {address for record in found for address in record.loads + record.stores if address > 1 << 40}
        equal(len(stack), 1, "addresses of the stack")
        for number, (record, row) in enumerate(zip(found, whole)):
            what, taken, read, written, loads, stores = row
            mine = (kind(record), record.taken, record.read, record.written, record.loads, record.stores)
            loads, stores = [[min(stack) if a == "stack" else a for a in row] for row in (loads, stores)]
            equal(mine, (what, taken, sorted(read), sorted(written), loads, stores), "record %d" % number)
            equal(record.is_branch, int(what is not None), "record %d: is_branch" % number)
        rest = found[len(whole):]
        equal([(r.loads, r.stores) for r in rest],
              [([], [at["buffer"] + i]) for i in range(3)] + [([], [])] * 6, "string instructions, and what follows")
        equal(len({r.ip for r in rest[:3]}), 1, "the elements of REP STOSB")
        # An element is an instruction to ChampSim: two more than were executed.
        equal(len(found), report["run"]["measured"]["instructions"] + 2, "records")
    # Of other programs: one record an instruction and element; the addresses are the line accesses.
    for words in (["matmul_small"], ["strides"], ["odd"], ["rmw"], ["sse"], ["moves"], ["strings"]):
        with tempfile.TemporaryDirectory() as directory:
            report, data = traced(directory, "t.champsimtrace.gz", ["-m", "teach", guest(words[0])] + words[1:])
            found = records(gzip.decompress(data))
            n = report["run"]["measured"]
            equal(sum(len(r.loads) + len(r.stores) for r in found), n["line_accesses"], words[0] + ": addresses")
            check(len(found) >= n["instructions"], words[0] + ": records")
    physical()


def physical():
    """Physical addresses are those of the text form."""
    with tempfile.TemporaryDirectory() as directory:
        words = ["-m", "teach", "--pages", "random", guest("strides")]
        _, data = traced(directory, "t.champsim", ["--trace-addresses", "physical"] + words)
        _, text = traced(directory, "t.txt", words)
        mine = []
        for record in records(data):
            mine += [("F", record.ip)] + [("R", a) for a in record.loads] + [("W", a) for a in record.stores]
        theirs = []
        for line in text.decode().splitlines():
            letter, _, _, pa, size, _ = line.split()
            start, end = int(pa, 16), int(pa, 16) + int(size)
            if letter == "F":
                theirs.append((letter, start))
            elif letter != "f":
                theirs += [(letter.upper(), a) for a in [start] + list(range((start | 63) + 1, end, 64))]
            else:
                continue
        equal(mine, theirs, "physical addresses of strides")


def played():
    # The line of each fetch is its first one's, so L1I may differ; L1D has every access. (None of these programs stores
    # past the caches, which the form does not know.)
    for name in ("matmul_small", "strides", "rmw", "strings", "sse", "chase"):
        for ending in ("champsim", "champsim.gz", "champsimtrace.xz", "champsim.zst")[:4 if name == "strides" else 1]:
            with tempfile.TemporaryDirectory() as directory:
                report, _ = traced(directory, "t." + ending, ["-m", "teach", guest(name)])
                other = reported(["replay", "-m", "teach", os.path.join(directory, "t." + ending)])
                what = "%s, %s" % (name, ending)
                equal(other["trace"], "champsim", what)
                equal(other["run"]["measured"]["line_accesses"], report["run"]["measured"]["line_accesses"], what)
                pick = lambda levels: next(level for level in levels if level["name"] == "L1D")
                equal(pick(other["levels"]), pick(report["levels"]), what + ": L1D")
    # From standard input, with the form said. Two instructions of three bytes' distance on one line; 4 loads, 2 stores.
    data = (RECORD.pack(0x401000, 0, 0, 9, 0, 3, 0, 0, 0, 0x5000, 0x5040, 0x6000, 0x6040, 0x6080, 0x60c0) +
            RECORD.pack(0x401003, 1, 1, 26, 0, 26, 25, 0, 0, 0, 0, 0, 0, 0, 0))
    halves = gzip.compress(data[:64]) + gzip.compress(data[64:])
    for packed in (data, gzip.compress(data), halves, lzma.compress(data)):
        other = reported(["replay", "-m", "teach", "--format", "champsim", "-"], input=packed, stdin=None)
        n = other["run"]["measured"]
        got = [n[key] for key in ("instructions", "fetches", "reads", "writes", "line_accesses")]
        equal(got, [2, 2, 4, 2, 6], "made up")


# ---------------------------------------------------------------- drcachesim

MARKER, HEADER, FOOTER, THREAD, EXIT, PROCESS, NO_FETCH = 28, 25, 26, 22, 23, 24, 29
INSTRUCTIONS = {10: None, 11: "jump", 12: "indirect", 13: "conditional", 14: "call", 15: "indirect call", 16: "return"}
TIMESTAMP, CPU, FILETYPE, LINE, VERSION, PHYSICAL, VIRTUAL, PAGE = 2, 3, 9, 10, 12, 15, 17, 18


def entries(data):
    equal(len(data) % ENTRY.size, 0, "bytes behind the last entry")
    return list(ENTRY.iter_unpack(data))


def memtrace():
    with tempfile.TemporaryDirectory() as directory:
        report, data = traced(directory, "t.memtrace.gz", ["-m", "teach", guest("branches")])
        found = entries(gzip.decompress(data))
        head = [(HEADER, 0, 3), (MARKER, VERSION, 3), (MARKER, FILETYPE, 0x40), (THREAD, 4, 1), (PROCESS, 4, 1),
                (MARKER, LINE, 64), (MARKER, PAGE, 4096), (MARKER, TIMESTAMP, 1), (MARKER, CPU, 2**64 - 1)]
        equal(found[:9], head, "the head")
        equal(found[-2:], [(EXIT, 4, 1), (FOOTER, 0, 0)], "the end")
        at = symbols(guest("branches"))
        kinds = [INSTRUCTIONS[entry[0]] for entry in found if entry[0] in INSTRUCTIONS]
        equal(kinds[:len(expected(at))], [row[0] for row in expected(at)], "kinds of instructions")
        equal(len(kinds), report["run"]["measured"]["instructions"], "instructions")
        equal([entry[1:] for entry in found if entry[0] == 3], [(1, at["buffer"] + 3)], "PREFETCHT0")
        elements = [i for i, entry in enumerate(found) if entry[0] == NO_FETCH]
        further = [(1, 1, at["buffer"] + 1), (1, 1, at["buffer"] + 2)]
        equal([found[i + 1] for i in elements], further, "further elements")
        check(all(found[i][1] == 2 for i in elements), "bytes of REP STOSB")
        equal([entry[1:] for entry in found if entry[0] == 0 and entry[1] == 16], [(16, at["buffer"] + 60)], "MOVUPS")
    for words in (["matmul_small"], ["strides"], ["strings"], ["instructed"]):
        with tempfile.TemporaryDirectory() as directory:
            report, data = traced(directory, "t.memtrace", ["-m", "teach", guest(words[0])])
            found, n = entries(data), report["run"]["measured"]
            count = lambda *types: sum(entry[0] in types for entry in found)
            equal([count(*INSTRUCTIONS), count(0), count(1)], [n["instructions"], n["reads"], n["writes"]], words[0])
    threads_and_frames()


def threads_and_frames():
    with tempfile.TemporaryDirectory() as directory:
        words = ["-m", "teach", "--quantum", "500", guest("threads"), "locks", "3"]
        report, data = traced(directory, "t.memtrace.zst", words)
        found = entries(unpacked("t.zst", data))
        tids = {entry[2] for entry in found if entry[0] == THREAD}
        equal(tids, {entry[2] for entry in found if entry[0] == EXIT}, "threads that exit")
        check(len(tids) > 1, "threads")
        times = [entry[2] for entry in found if entry[:2] == (MARKER, TIMESTAMP)]
        check(times == sorted(set(times)), "times rise")
        equal(sum(entry[0] in INSTRUCTIONS for entry in found), report["run"]["measured"]["instructions"], "threads")
    with tempfile.TemporaryDirectory() as directory:
        words = ["-m", "teach", "--pages", "random", guest("strides")]
        _, data = traced(directory, "t.memtrace", ["--trace-addresses", "physical"] + words)
        _, text = traced(directory, "t.txt", words)
        theirs = {}
        for line in text.decode().splitlines():
            _, _, va, pa, _, _ = line.split()
            theirs[int(va, 16) >> 12] = int(pa, 16) >> 12
        markers = [entry for entry in entries(data) if entry[0] == MARKER and entry[1] in (PHYSICAL, VIRTUAL)]
        equal([entry[1] for entry in markers], [PHYSICAL, VIRTUAL] * len(theirs), "a pair a page")
        equal({v[2] >> 12: p[2] >> 12 for p, v in zip(markers[::2], markers[1::2])}, theirs, "frames")


# ---------------------------------------------------------------- misses

MISS = re.compile(r"(\S+) +1/(\d+) +(\d+\.\d{9}): (\w+)-(load|store|fetch|walk)-misses/(\w+)/: "
                  r"+([0-9a-f]+) +([0-9a-f]+) (.+?)(?:\+0x([0-9a-f]+))? \((.+)\)")


def misses():
    columns = {"load": "read_misses", "store": "write_misses", "fetch": "read_misses", "walk": "read_misses"}
    for words in (["-m", "teach", guest("strides")], ["-m", "zen3", guest("fetch")], ["/bin/true"],
                  ["-m", "teach", "--set", "walks.mode=cached", guest("strides")],
                  ["-m", "teach", "--cores", "2", "--quantum", "500", guest("threads"), "locks", "3"]):
        with tempfile.TemporaryDirectory() as directory:
            out, path = os.path.join(directory, "report"), os.path.join(directory, "m.gz")
            result = emulate(["-q", "--json", out, "--misses", path] + words)
            what = "misses of " + " ".join(words)
            equal((result.returncode, result.stderr), (0, b""), what)
            with open(out) as file, gzip.open(path, "rt") as lines:
                report, rows = json.load(file), [MISS.fullmatch(line.rstrip("\n")) for line in lines]
        check(all(rows), what + ": a line that is none")
        for level in report["levels"]:
            mine = [row for row in rows if row[4] == level["name"]]
            equal(len(mine), level["misses"], "%s: %s" % (what, level["name"]))
            for name in ("cold", "capacity", "conflict", "coherence"):
                counted = sum(row[6] == name for row in mine)
                equal(counted, level.get(name, 0), "%s: %s %s" % (what, level["name"], name))
            for column in ("read_misses", "write_misses"):
                equal(sum(columns[row[5]] == column for row in mine), level[column], "%s: %s" % (what, column))
        equal({row[1] for row in rows}, {os.path.basename([w for w in words if w.startswith("/")][0])}, what + ": name")
        times = [float(row[3]) for row in rows]
        check(times == sorted(times), what + ": times")
        check(len({row[2] for row in rows}) > ("--cores" in words), what + ": threads")
    # Which instruction: all of strides' lies in one function, by its address in the file.
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "m")
        emulate(["-q", "-m", "teach", "--misses", path, guest("branches")])
        at = symbols(guest("branches"))
        with open(path) as file:
            rows = [MISS.fullmatch(line.rstrip("\n")) for line in file]
        stores = [row for row in rows if row[5] == "store" and row[4] == "L1D"]
        equal([(int(row[7], 16), row[9], row[11]) for row in stores[-1:]],
              [(int(stores[-1][7], 16), "forward", guest("branches"))], "the store of the first call")
        first = [row for row in rows if row[4] == "L1D" and row[5] == "load"][0]
        equal([int(first[7], 16), int(first[8], 16), first[9], first[10], first[6]],
              [at["buffer"], at["again"], "again", "0", "cold"], "the first load")


# ---------------------------------------------------------------- stacks

def folded(words, event):
    """{stack of names: count}, and the report and Callgrind's profile of the run."""
    with tempfile.TemporaryDirectory() as directory:
        names = {name: os.path.join(directory, name) for name in ("json", "callgrind", "folded", "pprof")}
        options = [word for name, path in names.items() for word in ("--" + name, path)]
        result = emulate(["-q"] + options + (["--folded-event", event] if event else []) + words)
        equal((result.returncode, result.stderr), (0, b""), "status and messages of " + " ".join(words))
        lines = {}
        with open(names["folded"]) as file:
            for line in file:
                stack, count = line.rstrip("\n").rsplit(" ", 1)
                lines[tuple(stack.split(";"))] = lines.get(tuple(stack.split(";")), 0) + int(count)
        with open(names["json"]) as file, open(names["pprof"], "rb") as packed:
            pprof = Pprof(gzip.decompress(packed.read()))
            return lines, json.load(file), callgrind_file.read(names["callgrind"]), pprof


class Pprof:
    """A message Profile, decoded field by field: events, their units, default, and {stack of names: values}."""

    def __init__(self, data):
        fields = list(self.fields(data))
        self.strings = [value.decode() for field, value in fields if field == 6]
        functions, locations, mappings = {}, {}, {}
        for field, value in fields:
            if field == 5:
                one = dict(self.fields(value))
                functions[one[1]] = self.strings[one[2]]
            if field == 4:
                one = dict(self.fields(value))
                line = dict(self.fields(one[4]))
                locations[one[1]] = line[1], one.get(3, 0), one.get(2, 0)
            if field == 3:
                one = dict(self.fields(value))
                mappings[one[1]] = self.strings[one[5]]
        types = [dict(self.fields(value)) for field, value in fields if field == 1]
        self.events, self.units = [[self.strings[one[key]] for one in types] for key in (1, 2)]
        self.default = [self.strings[value] for field, value in fields if field == 14]
        self.stacks, self.files = {}, {}
        for field, value in fields:
            if field != 2:
                continue
            one = dict(self.fields(value))
            ids, values = self.packed(one[1]), self.packed(one[2])
            stack = tuple(functions[locations[i][0]].replace(";", ":") for i in reversed(ids))
            before = self.stacks.get(stack, [0] * len(values))
            self.stacks[stack] = [a + b for a, b in zip(before, values)]
            for i in ids:
                self.files[functions[locations[i][0]]] = mappings.get(locations[i][2]), locations[i][1]

    @staticmethod
    def varint(data, at):
        value = shift = 0
        while True:
            value |= (data[at] & 0x7f) << shift
            shift += 7
            at += 1
            if not data[at - 1] & 0x80:
                return value, at

    def fields(self, data):
        at = 0
        while at < len(data):
            key, at = self.varint(data, at)
            value, at = self.varint(data, at)
            check(key & 7 in (0, 2), "a field of another kind")
            if key & 7 == 2:
                value, at = data[at:at + value], at + value
            yield key >> 3, value

    def packed(self, data):
        at, out = 0, []
        while at < len(data):
            value, at = self.varint(data, at)
            out.append(value)
        return out


def stacks():
    for words in (["-m", "teach", os.path.join(os.environ["IMAGES"], "transpose")], [guest("calls_static")],
                  [guest("calls_dynamic")], ["-m", "teach", "--cores", "2", guest("threads"), "locks", "3"]):
        for event in ("Ir", "conflictL1D", "missDTLB", None):
            what = "%s, %s" % (words[-1], event)
            lines, report, calls, pprof = folded(words, event)
            names = pprof.events[:-1]
            equal(names, calls.events, what + ": events")
            equal([pprof.events[-1], pprof.units[-1], pprof.default], ["waitCycles", "cycles", ["waitCycles"]], what)
            sums = [sum(column) for column in zip(*pprof.stacks.values())]
            equal(sums[:-1], calls.totals, what + ": sums of pprof's")
            factors = calls.formulas["waitCycles"]
            waits = sum(factors.get(name, 0) * n for name, n in zip(names, calls.totals))
            equal(sums[-1], waits, what + ": waitCycles")
            equal(sum(lines.values()), sums[pprof.events.index(event or "waitCycles")], what + ": sum of lines")
            index = pprof.events.index(event or "waitCycles")
            same = {stack: row[index] for stack, row in pprof.stacks.items() if row[index] != 0}
            equal(lines, same, what + ": stacks")
            if event is None:
                continue
            # What is below a function that does not call itself is what calls of it have cost.
            for name in ("main", "transpose"):
                arcs = [cost for (_, callee), (_, cost) in calls.arcs(event).items() if callee == name]
                if arcs:
                    below = sum(count for stack, count in lines.items() if name in stack[1:])
                    equal(below, sum(arcs), "%s: inclusive of %s" % (what, name))
    recursive()


def by_depth(i, j, depth, out):
    """Instructions of fib2(i, j) itself: 4, 6, or 25 and three calls, as fib2.S says."""
    out[depth] = out.get(depth, 0) + (4 if i < 2 else 6 if j < 2 else 25)
    if i >= 2 and j >= 2:
        for call in ((i, j - 1), (i - 1, j), (i - 1, j - 1)):
            by_depth(*call, depth + 1, out)
    return out


def recursive():
    lines, _, _, pprof = folded(["-m", "teach", guest("fib2")], "Ir")
    mine = {len(stack) - 1: count for stack, count in lines.items() if stack[-1] == "fib2"}
    equal(mine, by_depth(4, 4, 1, {}), "fib2(4, 4) by the depth of its recursion")
    equal(pprof.files["fib2"], (guest("fib2"), symbols(guest("fib2"))["fib2"]), "where fib2 is")


# ---------------------------------------------------------------- Callgrind's further lines

def profiled(words, *options):
    with tempfile.TemporaryDirectory() as directory:
        names = {name: os.path.join(directory, name) for name in ("json", "callgrind", "cachegrind")}
        files = [word for name, path in names.items() for word in ("--" + name, path)]
        result = emulate(["-q"] + files + list(options) + words)
        equal((result.returncode, result.stderr), (0, b""), "status and messages of " + " ".join(words))
        with open(names["json"]) as file, open(names["cachegrind"]) as lines:
            summary = [line.split()[1:] for line in lines if line.startswith("summary:")][0]
            shown = emulate(["annotate", "--asm", names["callgrind"]])
            equal((shown.returncode, shown.stderr), (0, b""), "annotate of " + " ".join(words))
            return json.load(file), callgrind_file.read(names["callgrind"]), [int(word) for word in summary]


# Of programs without libc, whose functions jump to themselves alone, and without REP, which is a loop to Valgrind.
def jumps():
    for name in ("chase", "matmul_small", "strides", "rmw", "odd", "fetch"):
        _, mine, _ = profiled([guest(name)], "--collect-jumps")
        check(mine.jumps, name + ": no jumps")
        for (_, address), targets in mine.jumps.items():
            executed = sum(cost[0] for (_, at), (_, _, cost) in mine.insns.items() if at == address)
            for to, (taken, times) in targets.items():
                check(taken <= executed and times in (None, executed), "%s: %x to %x" % (name, address, to))
        # Each label of matmul is a function here; odd has instructions that Valgrind does not.
        if shutil.which("valgrind") is None or name in ("matmul_small", "odd"):
            continue
        with tempfile.TemporaryDirectory() as directory:
            out = os.path.join(directory, "out")
            subprocess.run(["valgrind", "-q", "--tool=callgrind", "--collect-jumps=yes", "--dump-instr=yes",
                            "--callgrind-out-file=" + out, guest(name)], capture_output=True)
            theirs = callgrind_file.read(out)
            taken = lambda jumps: {at: {to: n for to, n in targets.items() if n[0] != 0}
                                   for (_, at), targets in jumps.items() if any(n[0] for n in targets.values())}
            equal(taken(mine.jumps), taken(theirs.jumps), name + ": jumps as Valgrind has them")
    report, mine, _ = profiled([os.path.join(os.environ["IMAGES"], "transpose")], "--collect-jumps")
    equal(mine.totals[0], report["run"]["measured"]["instructions"], "totals with jumps")


def writebacks():
    for words in (["-m", "teach", guest("strides")], ["-m", "c2sim", guest("rmw")], ["-m", "zen3", "/bin/true"],
                  ["-m", "teach", "--set", "walks.mode=cached", guest("strides")], ["-m", "teach", guest("instructed")],
                  ["-m", "teach", "--roi", "main", os.path.join(os.environ["IMAGES"], "transpose")],
                  ["-m", "teach", "--cores", "2", guest("threads"), "locks", "3"],
                  ["-m", "teach", "--skip", "500", "--warmup", "300", "--measure", "900", "--samples", "4", "--warm",
                   "functional", guest("strides")]):
        report, mine, summary = profiled(words, "--collect-writebacks")
        what = "write-backs of " + " ".join(words)
        levels = [level for level in report["levels"] if level["name"] != "L1I"]
        names = ["writebacks" + level["name"] for level in levels]
        equal(mine.events[-len(names):], names, what + ": events")
        equal(mine.totals[-len(names):], [level["writebacks"] for level in levels], what)
        equal(summary, mine.totals, what + ": Cachegrind's")
        equal([sum(column) for column in zip(*mine.lines.values())], mine.totals, what + ": lines")


# ---------------------------------------------------------------- code in no file

WALK, IDLE = 0x20000000, 0x20000100
TIMES = {"walk": 2 + 4 * 1000, "idle": 2} # of jitted.S


def jitdump(*records, pad=0):
    """Records are (kind, content); the head is Linux's, of an x86-64 process."""
    head = struct.pack("<IIIIIIQQ", 0x4a695444, 1, 40, 62, pad, 1000, 0, 0)
    return head + b"".join(struct.pack("<IIQ", kind, 16 + len(data), 1) + data for kind, data in records)


def load(address, size, name):
    return 0, struct.pack("<IIQQQQ", 1000, 1000, address, address, size, 1) + name.encode() + b"\0" + b"\xc3" * size


def lines_of(address, *rows):
    """(offset, line, file); \xff: the file of the row before."""
    rows = [struct.pack("<QII", address + offset, line, 0) + file + b"\0" for offset, line, file in rows]
    return 2, struct.pack("<QQ", address, len(rows)) + b"".join(rows)


def jit():
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "perf-1000.map")
        words = ["-m", "teach", "--perf-map", path, guest("jitted")]

        def run_with(data):
            with open(path, "wb") as file:
                file.write(data)
            report, profile, _ = profiled(words)
            named = {one.get("name"): one for one in report["functions"] if one.get("module") == "perf-1000.map"}
            return {name: one["executed"] for name, one in named.items()}, profile

        # The last that lay there has its name; names go to the end of the line.
        names, profile = run_with(b"20000000 200 gone\n0x20000100 0x40 idle\n20000000 40 LazyCompile:*walk a b.js:3\n")
        equal(names, {"LazyCompile:*walk a b.js:3": TIMES["walk"], "idle": TIMES["idle"]}, "a perf map")
        equal(profile.by_name("LazyCompile:*walk a b.js:3"), TIMES["walk"], "in Callgrind's format")
        # A jitdump: code that has moved there, and lines, which come before it.
        data = jitdump(lines_of(0x1000, (0, 7, b"/src/a.js"), (5, 8, b"\xff"), (14, 9, b"/src/b.js")),
                       load(0x1000, 64, "walk"), load(IDLE, 16, "old"), load(IDLE, 16, "idle"), (4, b"12345678"),
                       (1, struct.pack("<IIQQQQQ", 1, 1, WALK, 0x1000, WALK, 64, 1)), (3, b""))
        names, profile = run_with(data)
        equal(names, TIMES, "a jitdump")
        mine = {(file, line): cost[0] for (file, _, line), cost in profile.lines.items() if file.startswith("/src/")}
        # mov; then four instructions a round of 3, 4, 2 and 2 bytes, from 5 on; ret at 16.
        equal(mine, {("/src/a.js", 7): 1, ("/src/a.js", 8): 3000, ("/src/b.js", 9): 1001}, "lines of a jitdump")
        # V8's lines are 64 bytes off.
        _, profile = run_with(jitdump(lines_of(WALK, (64, 7, b"/src/a.js"), (69, 8, b"\xff"), (78, 9, b"/src/b.js")),
                                      load(WALK, 64, "walk"), pad=0xdeadbeef))
        same = {(file, line): cost[0] for (file, _, line), cost in profile.lines.items() if file.startswith("/src/")}
        equal(same, mine, "lines of V8's")
        # Names of files that are none: no lines at all, and the functions all the same.
        for rows in (((64, 7, b"\xdc\x8a\1"), (69, 8, b"\xff")), ((64, 7, b"\xff"),), ((64, 7, b""),)):
            names, profile = run_with(jitdump(lines_of(WALK, *rows), load(WALK, 64, "walk"), pad=0xdeadbeef))
            equal(names, {"walk": TIMES["walk"]}, "a name of a file that is none")
            check(not any(line for file, function, line in profile.lines if function == "walk"), "lines of such a one")
        # What is none gives no names, and all counts.
        for bad, part in ((b"20000000 40\n", "line 1"), (b"20000000 40 a\nhello\n", "line 2"), (data[:-30], "damaged"),
                          (data[:4] + b"\7" + data[5:], "version"), (None, "cannot be read")):
            if bad is None:
                os.remove(path)
            else:
                with open(path, "wb") as file:
                    file.write(bad)
            result = emulate(["-q"] + words)
            equal(result.returncode, 0, "status with %r" % (bad or b"")[:20])
            contains(result.stderr.decode(), ["--perf-map", part, "has no names"], "message of %r" % (bad or b"")[:20])


# ---------------------------------------------------------------- what is refused

def refused():
    whole = RECORD.pack(0x401000, 0, 0, 9, 0, 3, 0, 0, 0, 0x5000, 0, 0x6000, 0, 0, 0)
    packed = gzip.compress(whole * 100)
    cases = ((whole + b"x" * 5, ["record 2", "behind 5 of its 64"]),
             (RECORD.pack(0x401000, 7, *[0] * 13), ["record 1", "none of ChampSim's"]),
             (whole + RECORD.pack(1 << 47, *[0] * 14), ["record 2", "2^47"]),
             (RECORD.pack(0x1000, *[0] * 10, 1 << 63, 0, 0, 0), ["record 1", "2^47"]),
             (packed[:-9], ["cut or has changed"]), (packed[:30] + b"\0" + packed[31:], ["cut or has changed"]),
             (lzma.compress(whole)[:-3], ["cut or has changed"]))
    with tempfile.TemporaryDirectory() as directory:
        path, out = os.path.join(directory, "t.champsim"), os.path.join(directory, "out")
        for data, parts in cases:
            with open(path, "wb") as file:
                file.write(data)
            result = emulate(["replay", "--json", out, path])
            got = (result.returncode, result.stdout, os.path.exists(out))
            equal(got, (125, b"", False), "status of %r" % data[:20])
            contains(result.stderr.decode(errors="replace"), parts + [path], "message of %r" % data[:20])
        with open(path, "wb") as file:
            file.write(whole)
        other = os.path.join(directory, "t.bin")
        shutil.move(path, other)
        contains(emulate(["replay", other]).stderr.decode(errors="replace"), ["--format champsim"], "without its name")
        # What a form cannot have.
        for words, parts in ((["--trace", path, guest("threads"), "locks", "2"], ["one thread", "FILE.memtrace"]),
                             (["--trace", path, guest("changing_code")], ["in no file", "FILE.memtrace"]),
                             (["--trace", "t", "--trace-addresses", "physical", guest("rmw")], ["has both"]),
                             (["--trace", path, "--trace-addresses", "linear", guest("rmw")],
                              ["known are virtual and physical"]),
                             (["--trace-addresses", "virtual", guest("rmw")], ["--trace-addresses"]),
                             (["--trace", "/dev/full", guest("rmw")], ["/dev/full"]),
                             (["--misses", "/dev/full", guest("rmw")], ["/dev/full"]),
                             (["--pprof", "/dev/full", guest("rmw")], ["/dev/full"]),
                             (["--folded", "/dev/full", guest("rmw")], ["/dev/full"]),
                             (["--folded", "t", "--folded-event", "I1mx", guest("rmw")],
                              ['no event "I1mx"', 'did you mean "I1mr"?']),
                             (["--folded-event", "Ir", guest("rmw")], ["belongs to --folded"]),
                             (["--collect-jumps", guest("rmw")], ["belongs to --callgrind"]),
                             (["--collect-writebacks", guest("rmw")], ["belongs to --callgrind"]),
                             (["--collect-jumps", "--callgrind", "t", "--separate-recs", "2", guest("rmw")],
                              ["--separate-recs", "leave one out"]),
                             (["--pprof", "t", "--no-sim", guest("rmw")], ["--pprof", "--no-sim"])):
            result = emulate(["-q"] + words)
            equal((result.returncode, os.path.exists(path)), (125, False), "status of " + " ".join(words))
            contains(result.stderr.decode(), parts, "message of " + " ".join(words))


if shutil.which("zstd") is None:
    skip("zstd is not installed")
{"champsim": champsim, "played": played, "memtrace": memtrace, "misses": misses, "stacks": stacks,
 "jumps": jumps, "writebacks": writebacks, "jit": jit, "refused": refused}[sys.argv[1]]()
done()
