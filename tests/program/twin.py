# SPDX-License-Identifier: GPL-2.0-or-later
"""A second memory system, slow and plain: every count of report.json once more, from a trace and the machine's
parameters alone.

Model
    A reference is one data line of the trace, with the small-letter line behind it when it crosses a page. A modify
    is a read followed by a write of the same bytes within one instruction; since every instruction begins with its F
    line, a load and a store of the same bytes by two instructions are told apart by the F line between them, even
    when both stand at the same pc in a loop. A MOVS whose source is its destination would look like a modify here;
    the trace alone cannot tell (programs that do it say so and give the number).

    Hierarchy follows the written model: ask the levels from the top down until one has the line; then fill the ones
    that missed from the lowest up, an empty way before a victim. True LRU only. A set is a dictionary in order of
    use, line to dirty.

    Who missed: each level counts its misses by the pc. Start-up is what comes before the first fetch at `entry`, and
    whatever an instruction within `interpreter` does.

    Who evicted whom: each level keeps for a line the pc at whose access it lost the line last; a conflict miss counts
    for (pc that misses, that pc), None where the level never lost the line.

    Slices: masks and closed forms as published (McCalpin TR-2021-03; Maurice et al. RAID 2015; the structure of the
    closed forms after Rainer et al. 2025).
"""

import json
import sys
from collections import OrderedDict

PAGE = 4096

# ---------------------------------------------------------------------------------------------- slices

O = [0x1b5f575440, 0x2eb5faa880, 0x3cccc93100, 0x31aeeb1200]
A = [0x254c896c740, 0x0a57f311c0, 0x2c56e59300, 0x26552c6a7a00]
P = {6: 0x49c5e51840, 7: 0x138bca3080, 8: 0x2717946100, 9: 0x4e2f28c200, 10: 0x1c5e518400, 11: 0x38bca30800}
H0 = 0x02020900


def parity(n):
    return bin(n).count("1") & 1


def linear(masks):
    return lambda pa: sum(parity(pa & mask) << i for i, mask in enumerate(masks))


def core(pa):
    p = {k: parity(pa & mask) for k, mask in P.items()}
    return p, p[9] & (p[10] | p[11])


def m3(pa):
    p, t = core(pa)
    return 2 if p[6] and (p[8] or t) else p[7]


def m5(pa):
    p, t = core(pa)
    return 4 if p[7] and t else 2 * p[6] + p[8]


HASHES = {
    "lin2": linear(O[:1]), "lin4": linear(O[:2]), "lin8": linear(O[:3]), "lin16": linear(O),
    "teach2": linear([O[0] & (64 * 1024 * 1024 - 1)]),
    "cf6": lambda pa: parity(pa & A[0]) + 2 * m3(pa),
    "cf10": lambda pa: parity(pa & A[0]) + 2 * m5(pa),
    "cf12": lambda pa: parity(pa & A[0]) + 2 * parity(pa & A[3]) + 4 * m3(pa),
    "cf20": lambda pa: parity(pa & A[0]) + 2 * parity(pa & A[1]) + 4 * m5(pa),
    "cf24": lambda pa: parity(pa & A[0]) + 2 * parity(pa & A[1]) + 4 * parity(pa & A[2]) + 8 * m3(pa),
    "cf40": lambda pa: parity(pa & A[0]) + 2 * parity(pa & A[1]) + 4 * m5(pa) + 20 * parity(pa & H0),
    "amd-low4": lambda pa: pa >> 6 & 3, "amd-low8": lambda pa: pa >> 6 & 7,
}
INTERLEAVED = ("modulo", "amd-low4", "amd-low8")  # the slice bits are no index bits


def slice_function(level):
    if level["slices"] == 1:
        return lambda pa: 0
    if level["hash"] == "modulo":
        return lambda pa: (pa >> 6) % level["slices"]
    return HASHES[level["hash"]]


# ---------------------------------------------------------------------------------------------- one level

COUNTERS = ("accesses", "hits", "misses", "reads", "read_misses", "writes", "write_misses", "cold", "capacity",
            "conflict", "coherence", "fa_misses", "fa_only_misses", "writebacks", "back_invalidations")


class Level:
    def __init__(self, level, line_bytes, actor=None):
        if level["policy"] != "lru":
            raise SystemExit("the twin knows true LRU only")
        self.name = level["name"]
        self.line_bytes = line_bytes
        self.ways = level["ways"]
        self.set_count = level["size"] // (level["ways"] * line_bytes * level["slices"])
        assert self.set_count == level["sets"]
        self.virtual = level["index"] == "virtual"
        self.inclusion = level["inclusion"]
        self.slice_of = slice_function(level)
        self.divisor = level["slices"] if level.get("hash") in INTERLEAVED else 1
        self.sets = {}
        self.where = {}  # physical line -> the place it was filled into
        self.capacity = level["size"] // line_bytes
        self.shadow = OrderedDict()
        self.asked = set()
        self.places = {}
        self.actor = [None, False] if actor is None else actor  # the pc at work, whether it is start-up; for all levels
        self.missed = {}  # pc -> [cold, capacity, conflict misses, those of start-up]
        self.lost = {}   # physical line -> pc
        self.by_set, self.by_page = {}, {}  # place, virtual page -> [misses, conflict misses]
        self.pairs = {}  # (pc that misses, pc that evicted) -> conflict misses
        self.n = dict.fromkeys(COUNTERS, 0)

    def place(self, virtual, physical):
        index = (virtual if self.virtual else physical) // self.divisor % self.set_count
        slice_number = self.places.get(physical)
        if slice_number is None:
            slice_number = self.places[physical] = self.slice_of(physical * self.line_bytes)
        return slice_number * self.set_count + index

    def ask(self, write, virtual, physical):
        """Counts and classifies; True: it is here (and is now the youngest)."""
        n = self.n
        n["accesses"] += 1
        n["writes" if write else "reads"] += 1
        shadow_hit = physical in self.shadow
        if shadow_hit:
            self.shadow.move_to_end(physical)
        else:
            n["fa_misses"] += 1
            self.shadow[physical] = None
            if len(self.shadow) > self.capacity:
                self.shadow.popitem(last=False)
        place = self.place(virtual, physical)
        lines = self.sets.setdefault(place, {})
        if physical in lines:
            n["hits"] += 1
            n["fa_only_misses"] += not shadow_hit
            lines[physical] = lines.pop(physical)
            return True
        n["misses"] += 1
        mine = self.missed.setdefault(self.actor[0], [0, 0, 0, 0])
        mine[3] += self.actor[1]
        conflict = physical in self.asked and shadow_hit
        for sums, key in ((self.by_set, place), (self.by_page, virtual * self.line_bytes // PAGE)):
            both = sums.setdefault(key, [0, 0])
            both[0] += 1
            both[1] += conflict
        n["write_misses" if write else "read_misses"] += 1
        if physical not in self.asked:
            self.asked.add(physical)
            n["cold"] += 1
            mine[0] += 1
        elif shadow_hit:
            n["conflict"] += 1
            mine[2] += 1
            pair = (self.actor[0], self.lost.get(physical))
            self.pairs[pair] = self.pairs.get(pair, 0) + 1
        else:
            n["capacity"] += 1
            mine[1] += 1
        return False

    def offer(self, physical):
        """To the shadow: a prefetch asks for it."""
        self.shadow[physical] = None
        self.shadow.move_to_end(physical)
        self.asked.add(physical)
        if len(self.shadow) > self.capacity:
            self.shadow.popitem(last=False)

    def touch(self, physical):
        lines = self.sets[self.where[physical]]
        lines[physical] = lines.pop(physical)

    def holds(self, physical):
        return physical in self.where

    def take(self, physical):
        """The line leaves; was it dirty?"""
        self.lost[physical] = self.actor[0]
        return self.sets[self.where.pop(physical)].pop(physical)

    def put(self, virtual, physical, dirty):
        """There must be room; two copies (of synonyms) in one level are not modelled here."""
        assert physical not in self.where
        place = self.place(virtual, physical)
        self.sets.setdefault(place, {})[physical] = dirty
        self.where[physical] = place

    def victim(self, virtual, physical):
        """The line that has to leave before this one can come, or None."""
        lines = self.sets.get(self.place(virtual, physical), {})
        return next(iter(lines)) if len(lines) == self.ways else None

    def mark_dirty(self, physical):
        self.sets[self.where[physical]][physical] = True  # keeps its place in the order


# ---------------------------------------------------------------------------------------------- the hierarchy

class Hierarchy:
    def __init__(self, machine):
        self.actor = [None, False]
        levels = [Level(level, machine["line"], self.actor) for level in machine["levels"]]
        self.all = levels
        self.instruction = next((level for level in levels if level.name == "L1I"), None)
        self.data = [level for level in levels if level.name != "L1I"]

    def access(self, write, virtual, physical, fetch=False):
        first = self.instruction if fetch else self.data[0]
        path = [first] + self.data[1:]
        depth = 0
        while depth < len(path) and not path[depth].ask(write, virtual, physical):
            depth += 1
        dirty = False
        if 0 < depth < len(path) and path[depth].inclusion == "exclusive":
            dirty = path[depth].take(physical)
            receivers = [i for i in range(depth - 1, -1, -1) if i == 0 or path[i].inclusion != "exclusive"]
            if dirty and fetch and receivers[0] == 0:  # L1I holds nothing dirty: the data goes down instead
                path[depth].n["writebacks"] += 1
                self.write_down(depth + 1, physical)
                dirty = False
        for i in range(depth - 1, -1, -1):
            if i > 0 and path[i].inclusion == "exclusive":
                continue
            self.make_room(path[i], i, virtual, physical)
            path[i].put(virtual, physical, dirty)
            dirty = False
        if write:
            first.mark_dirty(physical)

    def prefetch(self, hint, virtual, physical):
        """T0, T1, T2 fill from L1D, L2, L3 on, NTA L1D and inclusive levels; what is exclusive stands for what is
        above."""
        depth = min((0, 1, 2, 0, 0)[hint], len(self.data) - 1)
        while self.data[depth].inclusion == "exclusive":
            depth -= 1
        if any(level.holds(physical) for level in self.data[:depth]):
            return
        target = self.data[depth]
        if physical not in target.shadow:
            target.offer(physical)
        if target.holds(physical):
            return
        server = depth + 1
        while server < len(self.data):
            self.data[server].offer(physical)
            if self.data[server].holds(physical):
                break
            server += 1
        dirty = False
        if server < len(self.data):
            if self.data[server].inclusion == "exclusive":
                dirty = self.data[server].take(physical)
            else:
                self.data[server].touch(physical)
        for i in range(server - 1, depth - 1, -1):
            inclusion = self.data[i].inclusion
            if i > depth and (inclusion == "exclusive" or (hint == 3 and inclusion != "inclusive")):
                continue
            self.make_room(self.data[i], i, virtual, physical)
            self.data[i].put(virtual, physical, dirty)
            dirty = False

    def flush(self, physical):
        dirty = False
        for level in self.all:
            if level.holds(physical):
                dirty |= level.take(physical)
            level.shadow.pop(physical, None)
            level.asked.discard(physical)
            level.lost.pop(physical, None)
        self.data[-1].n["writebacks"] += dirty

    def write_back(self, physical):
        dirty = False
        for level in self.all:
            if level.holds(physical):
                lines = level.sets[level.where[physical]]
                dirty |= lines[physical]
                lines[physical] = False
        self.data[-1].n["writebacks"] += dirty

    def make_room(self, level, depth, virtual, physical):
        victim = level.victim(virtual, physical)
        if victim is None:
            return
        dirty = level.take(victim)
        if level.inclusion == "inclusive":
            above = self.data[:depth] + ([self.instruction] if self.instruction else [])
            for upper in above:
                if upper.holds(victim):
                    level.n["back_invalidations"] += 1
                    dirty |= upper.take(victim)
        level.n["writebacks"] += dirty
        if depth + 1 < len(self.data) and self.data[depth + 1].inclusion == "exclusive":
            self.insert(depth + 1, victim, dirty)
        elif dirty:
            self.write_down(depth + 1, victim)

    def insert(self, depth, line, dirty):
        level = self.data[depth]
        if level.holds(line):
            if dirty:
                level.mark_dirty(line)
            return
        self.make_room(level, depth, line, line)
        level.put(line, line, dirty)

    def write_down(self, depth, line):
        for level in self.data[depth:]:
            if level.holds(line):
                level.mark_dirty(line)
                return

    def pairs(self):
        return {level.name: level.pairs for level in self.all}

    def missed(self):
        return {level.name: level.missed for level in self.all}

    def counts(self):
        return [dict(name=level.name, **level.n) for level in self.all]


# ---------------------------------------------------------------------------------------------- the text trace

def references(lines):
    """(kind, pc, [(va, pa, size)] of one or two parts) for every reference."""
    waiting = None
    for line in lines:
        letter, pc, va, pa, size, _ = line.split()
        part = (int(va, 16), int(pa, 16), int(size))
        if letter.islower():
            waiting[2].append(part)
            continue
        if waiting:
            yield waiting
        waiting = (letter, int(pc, 16), [part])
    if waiting:
        yield waiting


class Twin:
    """Eats references; knows what report.json must say."""

    def __init__(self, machine, entry=None, interpreter=range(0)):
        self.hierarchy = Hierarchy(machine)
        self.entry = entry  # None: the program has begun
        self.interpreter = interpreter
        self.line = machine["line"]
        self.has_l1i = self.hierarchy.instruction is not None
        self.fetch_line = None
        self.before = None
        self.frames = OrderedDict()  # virtual page -> frame, in order of first appearance
        self.problems = []
        self.n = dict.fromkeys(("instructions", "refs", "reads", "writes", "modifies", "fetches", "line_accesses",
                                "straddles"), 0)

    def note_page(self, va, pa):
        page, frame = va // PAGE, pa // PAGE
        if va % PAGE != pa % PAGE:
            self.problems.append("offsets in the page differ: %x %x" % (va, pa))
        known = self.frames.setdefault(page, frame)
        if known != frame:
            self.problems.append("page %x lies in frame %x and in frame %x" % (page, known, frame))

    def lines_of(self, parts):
        """(virtual line, physical line) of each line touched, low to high; checks the parts."""
        out = []
        for i, (va, pa, size) in enumerate(parts):
            self.note_page(va, pa)
            if i == 1 and (va % PAGE or va != parts[0][0] + parts[0][2]):
                self.problems.append("the second part of a reference does not begin at a page: %x" % va)
            if va // PAGE != (va + size - 1) // PAGE:
                self.problems.append("a part crosses a page: %x %d" % (va, size))
            for line in range(va // self.line, (va + size - 1) // self.line + 1):
                out.append((line, pa // self.line + line - va // self.line))
        return out

    def instruction(self, kind, pc, va, pa, hint):
        self.hierarchy.actor[:] = pc, self.entry is not None or pc in self.interpreter
        self.note_page(va, pa)
        if kind == "P":
            self.hierarchy.prefetch(hint, va // self.line, pa // self.line)
        elif kind == "C":
            self.hierarchy.flush(pa // self.line)
        else:
            self.hierarchy.write_back(pa // self.line)

    def reference(self, kind, pc, parts):
        if kind in "PCK":
            self.instruction(kind, pc, *parts[0])
            return
        lines = self.lines_of(parts)
        if kind == "F" and pc == self.entry:
            self.entry = None
        self.hierarchy.actor[:] = pc, self.entry is not None or pc in self.interpreter
        if kind == "F":
            if parts[0][0] != pc:
                self.problems.append("a fetch at %x is not at its pc %x" % (parts[0][0], pc))
            self.n["instructions"] += 1
            self.n["fetches"] += 1
            self.before = None
            for virtual, physical in lines:
                if self.has_l1i and virtual != self.fetch_line:
                    self.hierarchy.access(False, virtual, physical, fetch=True)
                    self.fetch_line = virtual
            return
        write = kind in "WN"
        self.n["refs"] += 1
        self.n["writes" if write else "reads"] += 1
        self.n["line_accesses"] += len(lines)
        self.n["straddles"] += len(lines) > 1
        if write and self.before == ("R", pc, parts):
            self.n["modifies"] += 1
        self.before = (kind, pc, parts)
        for virtual, physical in lines:
            if kind == "N":
                self.hierarchy.flush(physical)
            else:
                self.hierarchy.access(write, virtual, physical)

    def eat(self, lines):
        for kind, pc, parts in references(lines):
            self.reference(kind, pc, parts)
        if len(set(self.frames.values())) != len(self.frames):
            self.problems.append("two pages share a frame")


def from_din(machine, lines):
    """levels[] from physical line accesses; right where virtual and physical index agree (4 KiB a way)."""
    hierarchy = Hierarchy(machine)
    fetch_line = None
    records = [0, 0, 0]
    for line in lines:
        label, address = line.split()
        physical = int(address, 16) // machine["line"]
        records[int(label)] += 1
        if label != "2":
            hierarchy.access(label == "1", physical, physical)
        elif hierarchy.instruction and physical != fetch_line:
            hierarchy.access(False, physical, physical, fetch=True)
            fetch_line = physical
    return hierarchy.counts(), records


if __name__ == "__main__":
    with open(sys.argv[1]) as report_file:
        report = json.load(report_file)
    twin = Twin(report["machine"])
    with open(sys.argv[2]) as trace_file:
        twin.eat(trace_file)
    json.dump({"measured": twin.n, "levels": twin.hierarchy.counts(), "pages": len(twin.frames),
               "problems": twin.problems[:20]}, sys.stdout, indent=2)
    print()
