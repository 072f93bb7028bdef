# SPDX-License-Identifier: GPL-2.0-or-later
"""exchange.py: traces in records, for and of other simulators, read back by readers of their own.

champsim   Every record of a program with each kind of branch is what its source says; ChampSim's rules, as its
           inc/instruction.h has them, make the right kind of branch of its registers. Of other programs the addresses
           are the line accesses of the run.
played     Such a trace, played, has the run's accesses and misses of L1D, however it is compressed.
memtrace   drcachesim's entries: the head, each instruction's kind, size and accesses, threads, the end; their numbers
           are the run's. With physical addresses the markers say where every page lies.
refused    What a form cannot have, and what is none of its files, is named.
"""

import gzip
import json
import lzma
import os
import shutil
import struct
import subprocess
import sys
import tempfile

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
                             (["--trace", "/dev/full", guest("rmw")], ["/dev/full"])):
            result = emulate(["-q"] + words)
            equal((result.returncode, os.path.exists(path)), (125, False), "status of " + " ".join(words))
            contains(result.stderr.decode(), parts, "message of " + " ".join(words))


if shutil.which("zstd") is None:
    skip("zstd is not installed")
{"champsim": champsim, "played": played, "memtrace": memtrace, "refused": refused}[sys.argv[1]]()
done()
