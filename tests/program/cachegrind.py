# SPDX-License-Identifier: GPL-2.0-or-later
"""cachegrind.py GUEST: the guest under c2emu and under Valgrind's Lackey and Cachegrind.

Three comparisons, from the strictest on:

1. Reference by reference with `lackey --trace-mem=yes`: kind, address, size and instruction of every one, in order.
   Three habits of Valgrind are undone first:
     - a REP instruction is a loop to it: one I record for each element, and one more when the count ran out. Here it is
       one instruction.
     - a LOCK prefix (XCHG has it by itself) becomes a load of the old value and then a compare-and-swap, so that the
       same bytes are read twice. CMPXCHG is the swap itself and has no such load.
     - CMPS reads its destination first. Here it is the source first, as the manual names them.
   (A fourth one cannot be undone: Valgrind leaves out a load whose value nobody uses. The guests use what they load.)

2. Cachegrind's nine numbers from our trace, by Cachegrind's rules where they are other than ours:
     - a modify is one read;
     - an access that touches two lines is one access, and one miss if either line misses; when it misses, both lines
       are looked up in the last level, the one that hit as well;
     - the last level counts the misses of I1 and D1 only, has no write-backs.

3. report.json itself against Cachegrind, for two geometries. Where no access touches two lines, all misses are equal;
   elsewhere the difference is what rule 2 makes of it, and stands below as a number.
"""

import json
import os
import re
import sys
import tempfile

import twin
from common import done, emulate, equal, fail, need, run

GUESTS = os.environ["GUESTS"]

# (name, I1 = D1, LL) as size, ways
GEOMETRIES = [("32K,8 256K,8", (32768, 8), (262144, 8)), ("4K,2 64K,4", (4096, 2), (65536, 4))]

# REP instructions of strings.S in order: (elements, whether the count ran out). Valgrind counts an instruction for each
# element and one for each count that ran out; here each of the REPs is one.
STRINGS = [(1000, 1), (1, 1), (0, 1), (700, 1), (300, 1), (300, 1),              # stos
           (2000, 1), (900, 1), (200, 1), (200, 1), (0, 1), (50, 1), (500, 1),   # movs
           (100, 1),                                                             # stos
           (2000, 1), (301, 0), (0, 1),                                  # cmps: byte 300 differs the second time
           (1, 0), (301, 0), (100, 1), (40, 1), (0, 1)]                  # scas: byte 0 differs, byte 300 is found

# What Valgrind counts on top of ours: (instructions, reads). rmw: 200 rounds of two XCHG, LOCK XADD, LOCK INC, LOCK OR
# and LOCK BTS.
EXTRA = {"strings": (sum(elements + ended - 1 for elements, ended in STRINGS), 0), "rmw": (0, 200 * 6)}

# report.json's misses minus Cachegrind's, (I1mr, D1mr, D1mw, LLmr, LLmw) for each geometry; elsewhere all are equal.
MERGED = {
    # Accesses of which both lines miss are two misses here. 6 reads: `movups` at the 6 places of AT that cross into a
    # line not seen before from one not seen before (4096*2-1, *3-2, *4-4, *5-8, *6-15, *7-3).
    "sse": [(0, 6, 0, 6, 0), (0, 6, 0, 6, 0)],
    # 1 write: the first MOVSQ of the run to data+4096*9-4.
    "strings": [(0, 0, 1, 0, 1), (0, 0, 1, 0, 1)],
    # Instructions at the target of a jump that cross a line's end: MOVQ of far_0, 24 in each of 5 rounds, and the
    # MOVABS behind the jump of near_0, 96 in each of 3 rounds, are 408 in all; some find one of their lines in I1. In
    # LL the first round misses of far_0 (24) and near_0 (96) remain where it is large enough for the rest.
    "fetch": [(400, 0, 0, 120, 0), (406, 0, 0, 392, 0)],
    # Here one miss less: an instruction crosses from a line that hits I1 into one that misses it. Cachegrind looks up
    # both in LL, so that the first stays young there; another line has to go instead.
    "strides": [(0, 0, 0, -1, 0), (0, 0, 0, 0, 0)],
}


# ---------------------------------------------------------------------------------------------- streams

def our_stream(lines):
    """(kind, address, size, pc); the two halves of a modify are one M."""
    out = []
    for kind, pc, parts in twin.references(lines):
        record = ({"F": "I", "R": "L", "W": "S"}[kind], parts[0][0], sum(part[2] for part in parts), pc)
        if kind == "W" and out[-1] == ("L",) + record[1:]:
            out[-1] = ("M",) + record[1:]
        else:
            out.append(record)
    return out


def lackey_stream(text):
    out, pc = [], 0
    for kind, address, size in re.findall(r"^(I | [LSM]) ([0-9a-f]+),(\d+)$", text, re.M):
        address = int(address, 16)
        if kind == "I ":
            pc = address
        out.append((kind.strip(), address, int(size), pc))
    return out


def undo_habits(stream):
    """Returns the stream and how many instructions and reads were taken out."""
    out, repeats, loads, pc = [], 0, 0, None
    for before, record in zip([(None,)] + stream, stream):
        if record[0] == "I" and record[1] == pc:
            repeats += 1
            continue
        if record[0] == "I":
            pc = record[1]
        if record[0] == "M" and out[-1] == ("L",) + record[1:]:
            out.pop()
            loads += 1
        if before[0] == record[0] == "L":  # two loads by one instruction: CMPS
            out.insert(-1, record)
        else:
            out.append(record)
    return out, repeats, loads


def compare_streams(ours, theirs):
    for i, (a, b) in enumerate(zip(ours, theirs)):
        if a != b:
            text = ["%s %x %d by %x" % record for record in (a, b)]
            fail("reference %d is %s, Valgrind has %s" % (i, text[0], text[1]))
            return
    equal(len(ours), len(theirs), "length of the stream")


# ---------------------------------------------------------------------------------------------- Cachegrind's rules

class Cache:
    def __init__(self, size, ways):
        self.sets = [{} for _ in range(size // ways // 64)]
        self.ways = ways

    def misses_line(self, line):
        lines = self.sets[line % len(self.sets)]
        hit = line in lines
        if hit:
            lines.pop(line)
        elif len(lines) == self.ways:
            lines.pop(next(iter(lines)))
        lines[line] = True
        return not hit

    def misses(self, address, size):
        first, last = address // 64, (address + size - 1) // 64
        return any([self.misses_line(line) for line in range(first, last + 1)])


def by_cachegrinds_rules(stream, first, last):
    i1, d1, ll = Cache(*first), Cache(*first), Cache(*last)
    n = dict.fromkeys(("Ir", "I1mr", "ILmr", "Dr", "D1mr", "DLmr", "Dw", "D1mw", "DLmw"), 0)
    for kind, address, size, _ in stream:
        side, mode = ("I", "r") if kind == "I" else ("D", "w" if kind == "S" else "r")
        n[side + mode] += 1
        if (i1 if side == "I" else d1).misses(address, size):
            n[side + "1m" + mode] += 1
            n[side + "Lm" + mode] += ll.misses(address, size)
    return n


# ---------------------------------------------------------------------------------------------- runs

def cachegrind(guest, first, last, directory):
    out = os.path.join(directory, "cg.out")
    geometry = ["--%s=%d,%d,64" % (name, size, ways)
                for name, (size, ways) in (("I1", first), ("D1", first), ("LL", last))]
    result = run(["valgrind", "--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=" + out] + geometry +
                 ["./" + guest], cwd=GUESTS)
    equal(result.returncode, 0, "status of cachegrind")
    with open(out) as file:
        text = file.read()
    names = re.search(r"^events: (.*)$", text, re.M).group(1).split()
    values = re.search(r"^summary: (.*)$", text, re.M).group(1).split()
    return dict(zip(names, map(int, values)))


def c2emu(guest, first, last, directory, traced):
    """(report, stream); the stream is the same for every geometry, so one trace will do."""
    machine, report, trace = (os.path.join(directory, name) for name in ("m.ini", "r.json", "t.txt"))
    with open(machine, "w") as file:
        file.write("[machine]\nname = two-levels\nline = 64\nphysical_memory = 64G\n")
        for name, (size, ways), index in (("L1D", first, "virtual"), ("L1I", first, "virtual"),
                                          ("L2", last, "physical")):
            file.write("[%s]\nsize = %d\nways = %d\npolicy = lru\nindex = %s\ninclusion = non-inclusive\n" %
                       (name, size, ways, index))
    words = ["-q", "-m", machine, "--pages", "identity", "--json-full", report] + (["--trace", trace] if traced else [])
    result = emulate(words + ["./" + guest], cwd=GUESTS)
    if not equal((result.returncode, result.stderr), (0, b""), "exit status and messages"):
        done()
    with open(report) as file, open(trace) as lines:
        return json.load(file), our_stream(lines) if traced else None


def lackey(guest, directory):
    log = os.path.join(directory, "lackey.log")
    result = run(["valgrind", "--tool=lackey", "--trace-mem=yes", "--log-file=" + log, "./" + guest], cwd=GUESTS)
    equal(result.returncode, 0, "status of lackey")
    with open(log) as file:
        return lackey_stream(file.read())


def compare_report(report, theirs, extra, index, guest):
    geometry = GEOMETRIES[index][0]
    n = report["run"]["measured"]
    equal(n["instructions"] + extra[0], theirs["Ir"], "Ir")
    equal(n["reads"] + extra[1], theirs["Dr"], "Dr")
    equal(n["writes"] - n["modifies"], theirs["Dw"], "Dw")
    equal(n["refs"] - n["modifies"] + extra[1], theirs["Dr"] + theirs["Dw"], "D refs")
    l1d, l1i, ll = report["levels"]
    ours = (l1i["misses"], l1d["read_misses"], l1d["write_misses"], ll["read_misses"], ll["write_misses"])
    cg = (theirs["I1mr"], theirs["D1mr"], theirs["D1mw"], theirs["ILmr"] + theirs["DLmr"], theirs["DLmw"])
    differences = tuple(a - b for a, b in zip(ours, cg))
    expected = MERGED[guest][index] if guest in MERGED else (0, 0, 0, 0, 0)
    equal(differences, expected, "misses here minus Cachegrind's (I1mr, D1mr, D1mw, LLmr, LLmw) with " + geometry)
    print("%s: I1mr %d, D1mr %d, D1mw %d, LLmr %d, LLmw %d" % ((geometry,) + cg))


def main(guest):
    need("valgrind")
    extra = EXTRA.get(guest, (0, 0))
    with tempfile.TemporaryDirectory() as directory:
        theirs, repeats, loads = undo_habits(lackey(guest, directory))
        equal((repeats, loads), extra, "instructions and reads that only Valgrind counts")
        for index, (geometry, first, last) in enumerate(GEOMETRIES):
            report, read = c2emu(guest, first, last, directory, traced=index == 0)
            if read is not None:
                stream = read
                compare_streams(stream, theirs)
            numbers = cachegrind(guest, first, last, directory)
            expected = by_cachegrinds_rules(stream, first, last)
            expected["Ir"] += extra[0]
            expected["Dr"] += extra[1]
            equal(expected, numbers, "Cachegrind's numbers from our trace, " + geometry)
            compare_report(report, numbers, extra, index, guest)
    done()


main(sys.argv[1])
