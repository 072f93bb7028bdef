# SPDX-License-Identifier: GPL-2.0-or-later
"""samples.py NAME: the sample NAME of images/ and NAME_padded give what their layout says.

samples.py advise NAME: `c2emu advise` on NAME proposes the cure, and predicts the counts of NAME_padded.

A sample runs its kernel as often as it is told. The counts of three sweeps less those of two are one sweep in the
steady state: nothing of the program's start is in them. The machine is c2sim, whose L1D has 64 sets of 8 ways, lines
of 64 bytes, and a virtual index: line n of memory is in set n mod 64. Its shadow holds 512 lines. Data accesses only.

Where the source alone decides, counts are exact. Where the order of the loads within a statement or a register kept
on the stack may matter, bounds are derived that hold for every order.
"""

import math
import json
import os
import sys

from common import check, done, equal, failures, report, run

IMAGES = os.environ["IMAGES"]
SOURCES = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "images")
MACHINE = ["-m", "c2sim", "--pages", "colored"]  # colored: the L2 is indexed as if by virtual address
COUNTS_ONLY = ["--no-attribution"]
SPILLS = 8  # lines of stack that a compiler short of registers may touch in a sweep

# Who evicts whom in one sweep of the sample as it is (not of the padded one), where one answer dominates. A row is one
# kind of conflict miss: the victim is the object that misses, the evictor the object whose access had evicted it.
#   victims, evictors: names of static variables, or HEAP(text): blocks allocated on the line with this text
#   miss, evicted_at: where: the first and the last line of the statement, by a text of the source
#   reason: as in docs/model.md
#   count: how many, or share: at least this part of the level's conflict misses (both derived below); the objects of a
#   row count together


def HEAP(text):
    return ("heap", text)


def kind(reason, victims, evictors, miss, evicted_at=None, **much):
    return dict(much, level="L1D", reason=reason, victims=victims, evictors=evictors, miss=miss,
                evicted_at=evicted_at or miss)


HERE = ("/* the conflict */",) * 2
STATEMENT = ("/* the conflict: from here */", "/* to here */")
SEVEN = ["x", "y", "centre", "along", "across", "above", "source"]
C4 = [HEAP("*c4 = aligned_alloc(")]
TEN = [HEAP("struct problem p = {new_array(1)"),
       HEAP("new_array(1), new_array(1), new_array(1), new_array(0.125)")]
RECORDS, NODES = [HEAP("*records = aligned_alloc(")], [HEAP("*node = malloc(")]
READS_REFERENCE, READS_SCORE = ("/* evicts score */",) * 2, ("/* evicts reference */",) * 2
DOMINANT = {
    "transpose": [kind("intra-array", ["b"], ["b"], HERE, count=(128 - 1) * 128 * 7 // 8)],
    "doitgen": [kind("intra-array", C4, C4, HERE, share=(89600 - 374) / 89934)],
    "stencil3d": [kind("inter-array", SEVEN, SEVEN, STATEMENT, share=7 / 9)],
    "poisson": [kind("inter-array", TEN, TEN, STATEMENT, share=0.99)],
    "adi": [kind("intra-array", ["x"], ["x"], HERE, share=(14336 - 144) / (14336 + 144))],
    "nw": [kind("inter-array", ["reference"], ["score"], READS_REFERENCE, READS_SCORE, count=8 * 11 * 16),
           kind("inter-array", ["score"], ["reference"], READS_SCORE, READS_REFERENCE, count=8 * 11 * 16),
           kind("intra-array", ["score"], ["score"], READS_SCORE, count=8 * 11)],
    "histogram": [kind("scalar", ["seen"], RECORDS, ("/* the victim */",) * 2, ("/* evicts seen */",) * 2, count=64),
                  kind("inter-array", ["bucket"], RECORDS, ("/* evicts seen */",) * 2, count=4)],
    "list": [kind("inter-array", NODES, NODES, HERE, count=64)],
}


def line_of(sample, text):
    """The only line of the sample's source with this text."""
    with open(os.path.join(SOURCES, sample + ".c")) as file:
        found = [number for number, line in enumerate(file, 1) if text in line]
    if not equal(len(found), 1, "lines of %s.c with %s" % (sample, text)):
        done()
    return found[0]


# ---------------------------------------------------------------- one sweep

COUNTS = ("accesses", "misses", "cold", "capacity", "conflict", "fa_misses", "fa_only_misses")


def runs(program, options, times=2):
    """The reports of two sweeps and of three; or from `times` sweeps on."""
    return tuple(report(options, [os.path.join(IMAGES, program), str(n)]) for n in (times, times + 1))


def sweep(two, three):
    """{level: counts of one sweep}"""
    return {more["name"]: {key: more[key] - less[key] for key in COUNTS}
            for less, more in zip(two["levels"], three["levels"])}


def exactly(counts, what, **expected):
    equal({key: counts[key] for key in expected}, expected, what)


def between(value, low, high, what):
    check(low <= value <= high, "%s: %d, expected between %d and %d" % (what, value, low, high))


def same_output(program):
    """The guest says the same as natively; and its counts depend on no cache of the loader, which any installation of a
    package changes."""
    words = [os.path.join(IMAGES, program), "2"]
    calls = run([os.environ["C2EMU"], "-q", "-v", "--no-sim"] + words).stderr.decode()
    check("libc.so.6" in calls and "ld.so.cache" not in calls, "files that %s opens: %s" % (program, calls))
    native, guest = run(words), run([os.environ["C2EMU"], "-q"] + words)
    equal((guest.returncode, guest.stdout, guest.stderr), (native.returncode, native.stdout, native.stderr), program)
    equal(native.returncode, 0, "exit status of " + program)
    return native.stdout


# ---------------------------------------------------------------- who evicted whom

def is_among(report_, sample, name, things):
    """Whether the object of this name is one of a row's. A block's site may be a call that was inlined elsewhere."""
    sites = {thing["name"]: thing.get("site", {}) for thing in report_["objects"]}
    site = sites.get(name, {})
    lines = {place["line"] for place in [site] + site.get("inlined", [])
             if os.path.basename(place.get("file", "")) == sample + ".c"}
    return any(name == thing if isinstance(thing, str) else line_of(sample, thing[1]) in lines for thing in things)


def is_at(sample, place, texts):
    first, last = (line_of(sample, text) for text in texts)
    return os.path.basename(place.get("file", "")) == sample + ".c" and first <= place["line"] <= last


def count_of(report_, sample, row):
    """(conflict misses of a run that are of this kind, those that may be: a long list ends with a sum of the rest)"""
    sure = maybe = 0
    for pair in report_["conflicts"]:
        if pair["level"] != row["level"]:
            continue
        if "rest" in pair:
            maybe += pair["count"]
        elif is_at(sample, pair["miss"], row["miss"]) and \
                is_among(report_, sample, pair["miss"]["object"], row["victims"]):
            for origin in pair["originators"]:
                if "rest" in origin:
                    maybe += origin["count"]
                elif origin["reason"] == row["reason"] and is_at(sample, origin, row["evicted_at"]) and \
                        is_among(report_, sample, origin["object"], row["evictors"]):
                    sure += origin["count"]
    return sure, maybe


def who_evicted_whom(sample, rows, two, three):
    all_of = sweep(two, three)
    for row in rows:
        (before, maybe_before), (after, maybe) = count_of(two, sample, row), count_of(three, sample, row)
        found, total = after - before, all_of[row["level"]]["conflict"]
        what = "%s: conflicts of %s, evicted by %s, %s" % (sample, row["victims"], row["evictors"], row["reason"])
        low, high = row.get("count"), row.get("count")
        if low is None:
            low, high = math.ceil(row["share"] * total), total
        between(found, low - maybe, high + maybe_before, what)
        print(what, found)


# ---------------------------------------------------------------- the answers

def transpose(plain, padded):
    """b is written down its columns; 16 lines a row, so column i has 32 lines in each of the 4 sets = i / 8 mod 16.

    In a set of 8 ways 32 lines in turn always miss: each of the 128 * 128 stores. a is read along its rows: each
    of its 2048 lines is fetched once and kept for its 8 elements, because between two of them there is one store
    only.
    The shadow keeps the 128 lines of a column, so it misses the first of the 8 columns on a line: 2048 lines of b
    and 2048 of a, which were last used a sweep, 4096 lines, ago.
    Each store evicts the line that was stored to 8 rows of the set before, save where a line of a stands there:
    one line of a in a row of a lies in one of the 4 sets. It evicts a line of b that is missed in the next column, by
    conflict but after the last of 8 columns: 128 * 7 / 8 of the 14336.
    Padded, a row has 17 lines: column i has 2 lines in each set, beside at most one or two of a. A row is 1088
    bytes, of which 1024 are used: 16 whole lines.
    """
    n = 128
    exactly(plain["L1D"], "transpose", accesses=2 * n * n, misses=n * n + n * n // 8, cold=0, capacity=2 * n * n // 8,
            conflict=n * n * 7 // 8, fa_misses=2 * n * n // 8)
    exactly(padded["L1D"], "padded", accesses=2 * n * n, misses=2 * n * n // 8, capacity=2 * n * n // 8, conflict=0)


def doitgen(plain, padded):
    """A column of c4 has 320 lines 4096 bytes apart: all in set c = p / 8, of 0 to 9. Each of its accesses misses.

    c4: 4 * 80 * 320 = 102400 misses. The shadow misses each line once for each q, as a panel has 3200 lines:
    12800 capacity, 89600 conflict.
    a begins a page; row q has 40 lines from set 40 q mod 64 on, so for q = 0, 1, 3 one line in each set from 0 to
    9, for q = 2 none. The one in set c is evicted in each of the 8 walks down a column with this c: it is fetched
    again in each of them and in the walk after the last, 9 conflicts, but 8 for c = 0, as the first fetch of a
    row is not one, and 8 for c = 9, as then another q begins: 3 * (10 * 9 - 2) = 264.
    out begins a page; row q has 10 lines from set 10 q on. Only for q = 0 the line being stored to, in set c, is
    lost to the column: its 8 stores miss, 7 of them by conflict: 70.
    The shadow misses the 160 lines of a and the 40 of out once a sweep. L1D misses of these only the ones in the
    sets 0 to 9, 30 and 10: nothing disturbs the other sets.
    Of 89934 conflicts 334 have a or out as victim, and at most 374 have one of their fetches as evictor.
    Padded, row s begins 65 s lines in: the 320 lines of a column are 5 in each set, at most 6 while one chunk
    follows another, and one line of a and one of out make 8.
    L2 under `colored`, 512 sets: rows 4096 apart are 10 line offsets in 8 colours: 40 lines in each of 80 sets,
    so each of the 102400 misses again; the shadow of 4096 lines holds the 3400 lines of the kernel: all are
    conflicts. So are those of a and out, if any: at most their L1D misses.
    Padded, line 65 s + c: as 65 is odd, for one c the 320 rows are in different sets; the fullest set is worked
    out below. a and out have different colours, as their pages are neighbours, so they add at most one line.
    """
    c4, others = 4 * 80 * 320, 264 + 70
    exactly(plain["L1D"], "doitgen", misses=c4 + others + 40, cold=0, capacity=c4 // 8 + 40,
            conflict=c4 * 7 // 8 + others, fa_misses=c4 // 8 + 160 + 40)
    exactly(padded["L1D"], "padded", misses=c4 // 8 + 200, cold=0, capacity=c4 // 8 + 200, conflict=0)
    between(plain["L2"]["misses"], c4, c4 + others + 40, "doitgen, misses of L2")
    exactly(plain["L2"], "doitgen, L2", conflict=plain["L2"]["misses"], fa_misses=0)
    sets = [0] * 512
    for s in range(320):
        for c in range(10):
            sets[(65 * s + c) % 512] += 1
    equal(max(sets), 7, "lines of the padded panel in the fullest set of L2")
    exactly(padded["L2"], "padded, L2", misses=0)


def stencil3d(plain, padded):
    """Element i of seven arrays, x[i - 1024] and x[i + 1024] lie in one set: nine lines for eight ways.

    Each of the eight beside x[i] itself is asked for once a point (the lines of x[i - 1], x[i], x[i + 1] are the
    same, or one of them is in the set), and the other eight lines of the set in between: it misses, at all 30^3
    points.
    The shadow misses a line when its plane comes. An array other than x: 4 lines a row, 30 * 30 rows, six arrays.
    x: in each of 30 planes the rows of the point and their neighbours (32 rows), and 30 rows of the plane behind
    and before, which were used 128 * 7 lines ago: 30 * (32 + 30 + 30) * 4.
    So at least 8 * 30^3 - 32640 conflicts. Of the nine pairs of neighbours in the order of the accesses at most
    two are both lines of x: at least 7/9 of the conflicts are between arrays.
    Padded, the arrays begin nine lines apart; 3 lines of x are in one set, and while a line of x is kept from row
    to row (4 lines each way) no other array comes past. No conflicts; the arrays are still too large for L1D.
    """
    points, lines = 30 ** 3, 6 * 30 * 30 * 4 + 30 * (32 + 30 + 30) * 4
    between(plain["L1D"]["misses"], 8 * points, 13 * points, "stencil3d, misses")
    between(plain["L1D"]["conflict"], 8 * points - lines - 30 * SPILLS, 13 * points, "stencil3d, conflicts")
    between(padded["L1D"]["misses"], lines, lines + 30 * SPILLS, "padded, misses")
    exactly(padded["L1D"], "padded", conflict=0, capacity=padded["L1D"]["misses"])


def poisson(plain, padded):
    """Ten arrays begin 16 bytes into a page each: element i of all is in one set, ten lines for eight ways.

    Nine of them are asked for once a point, and nine lines in between: they miss at all 126^2 points. (u is asked
    for again and again, its neighbours in the rows above and below are 16 sets away.)
    The shadow misses each line once a sweep: row by row there are 10 * 17 lines and two rows more of u. Elements
    1 to 126 of the rows 1 to 126 reach from byte 1024 + 24 to 127 * 1024 + 8: lines 16 to 2032 of nine arrays;
    the rows of u from 0 to 127: lines 0 to 2048.
    So at least 9 * 126^2 - 20202 conflicts, all between arrays, save at the ends of rows.
    Padded, the arrays begin 5 lines apart. A line of u is used in three rows, every 16 lines; while 16 lines
    pass, at most 4 of the other arrays come through its set.
    """
    points, lines = 126 ** 2, 9 * (2032 - 16 + 1) + 2049
    between(plain["L1D"]["misses"], 9 * points, 13 * points, "poisson, misses")
    between(plain["L1D"]["conflict"], 9 * points - lines - SPILLS, 13 * points, "poisson, conflicts")
    between(padded["L1D"]["misses"], lines, lines + SPILLS, "padded, misses")
    exactly(padded["L1D"], "padded", conflict=0, capacity=padded["L1D"]["misses"])


def adi(plain, padded):
    """Column j of x has 32 lines in each of the 4 sets = j / 8 mod 16: each of 128 * 128 elements misses once.

    x[i - 1][j] is there: it was the last. The shadow keeps the 128 lines of a column and the 16 of factor; it
    misses the 2048 lines of x once each: 14336 conflicts.
    factor has 16 lines in successive sets: one of them is in one of the 4 sets, and lost to x in each column, so
    fetched once, and once more when the next 8 columns begin: 0 to 128 + 16 conflicts, and it is the evictor as
    often.
    Padded, a row has 1056 bytes: two rows have 33 lines, so the even rows of a column are in 64 different sets
    (33 is odd), and so are the odd ones: 2 in a set, at most 3 while a line ends, and one of factor. 128 rows are
    2112 lines, each used once by 8 columns in turn (those at the ends of rows by 4): 2112 misses.
    """
    n = 128
    exactly(plain["L1D"], "adi", cold=0, capacity=n * n // 8, fa_misses=n * n // 8)
    between(plain["L1D"]["conflict"], n * n * 7 // 8, n * n * 7 // 8 + n + n // 8, "adi, conflicts")
    exactly(padded["L1D"], "padded", misses=n * 1056 // 64, capacity=n * 1056 // 64, conflict=0)


def nw(plain, padded):
    """Tile t of a pair reads 16 rows of reference and 17 of score, in each row the lines t and t + 1.

    Line t of an even row is in set t, of an odd one in set t + 32 (in every other pair the reverse): 8 lines of
    reference and 8 or 9 of score for 8 ways. So the tile's lines of reference evict all of score, and then those of
    score all of reference. On line t there are 15 of its columns (of score 16), and on line t + 1 one, which makes
    the line be fetched: the next tile has it as its line t, finds it evicted, and its line t + 1 is new. So in each
    of 8 pairs, in tiles 1 to 11, 16 lines of reference miss and were evicted by score; 17 of score miss, 16 evicted
    by reference, and one, the first of nine in a set, by the ninth. 8 * 11 * 33 conflicts; 8 * 33 * 13 lines, last
    used a sweep ago, are capacity misses. The copies, 16 and 19 lines, are in the sets 13 to 28 and 45 to 63, the
    matrices' 13 lines a row in 0 to 12 and 32 to 44.
    Padded, a row has 33 lines: row r, line t is in set 33 r + t mod 64: a set gets at most 2 lines of each matrix
    from a tile and the next, and one or two of the copies. Only the lines are fetched.
    """
    lines, again = 8 * 33 * 13, 8 * 11 * 33
    exactly(plain["L1D"], "nw", misses=lines + again, cold=0, capacity=lines, conflict=again, fa_misses=lines)
    exactly(padded["L1D"], "padded", cold=0, capacity=lines, fa_misses=lines)
    between(padded["L1D"]["conflict"], 0, SPILLS, "padded, conflicts")


def histogram(plain, padded):
    """1024 keys, all in set 0, each on a line of its own; `seen` in set 0; the buckets 0 to 7 too.

    The keys' lines were used 1024 lines ago: 1024 capacity misses. `seen` is updated after each 16 records: 16
    lines of set 0 came in between, so it misses, 64 times; the shadow has it. Record r has key r mod 256: the
    buckets 0 to 7 are used by 8 records in turn, and then not for 248: one miss in 256 records, 4. The shadow has
    them, after 248 records, 31 other lines of buckets and `seen`. The other buckets are in the sets 1 to 31,
    alone.
    Padded, the keys are in set 48, alone.
    """
    exactly(plain["L1D"], "histogram", misses=1024 + 64 + 4, cold=0, capacity=1024, conflict=64 + 4, fa_misses=1024)
    exactly(padded["L1D"], "padded", misses=1024, cold=0, capacity=1024, conflict=0)


def list_(plain, padded):
    """malloc(4080) makes chunks of 4096 bytes, one behind the other: 64 nodes in one set, walked in turn: all miss.

    The shadow has them all: 64 conflicts a walk. Each is another block: between arrays. In L2 under `colored` the
    64 pages have 8 colours, 8 nodes in a set of 8 ways: no misses. Padded, chunks have 4160 bytes, 65 lines: 64
    different sets. A block begins at a multiple of 16, so its first 16 bytes, link and value, are on one line.
    """
    exactly(plain["L1D"], "list", accesses=128, misses=64, cold=0, capacity=0, conflict=64)
    exactly(plain["L2"], "list, L2", accesses=64, misses=0)
    exactly(padded["L1D"], "padded", accesses=128, misses=0)


SAMPLES = {"transpose": transpose, "doitgen": doitgen, "stencil3d": stencil3d, "poisson": poisson, "adi": adi,
           "nw": nw, "histogram": histogram, "list": list_}


def main(name):
    equal(same_output(name + "_padded"), same_output(name), "the padded sample's output")
    plain = runs(name, MACHINE)
    padded = runs(name + "_padded", MACHINE + COUNTS_ONLY)
    SAMPLES[name](sweep(*plain), sweep(*padded))
    who_evicted_whom(name, DOMINANT[name], *plain)
    print(name, sweep(*plain)["L1D"], sweep(*padded)["L1D"])
    done()


def must_fail(what):
    found = len(failures)
    failures.clear()
    check(found > 0, what + " passes")


# ---------------------------------------------------------------- advice

# The layout that is the cure of the padded sample, a line a row where rows are padded (an element a row, which is tried
# beside it, may be better by a few per cent, as rows take less room): means, objects, row and pad of the first.
ADVICE = {
    "transpose": (["pad_rows"], ["b"], 1024),
    "doitgen": (["pad_rows"], ["c4"], 4096),
    "stencil3d": (["stagger"], SEVEN, None),
    "poisson": (["stagger"], None, None),
    "adi": (["pad_rows"], ["x"], 1024),
    "nw": (["pad_rows"], ["score", "reference"], 2048),
    "histogram": (["pad_rows"], ["records"], 4096),
    "list": (["pad_blocks"], None, 4096),
}


def advice(program, times):
    done_ = run([os.environ["C2EMU"], "advise", "-q", "--json", "/dev/stdout"] + MACHINE
                + [os.path.join(IMAGES, program), str(times)])
    equal(done_.returncode, 0, "exit status of advise " + program)
    text = done_.stdout.decode()
    return json.loads(text[text.index("{"):])  # behind the guest's own output


def cure(name, advised):
    means, objects, row = ADVICE[name]
    found = [layout for layout in advised["layouts"] if layout["means"] == means
             and (objects is None or sorted(moved["name"] for moved in layout["objects"]) == sorted(objects))
             and (means != ["pad_rows"] or layout["objects"][0]["pad"] == 64)]
    if not equal(len(found), 1, "layouts with the cure of " + name):
        done()
    check(found[0]["helps"], "the cure of %s does not help" % name)
    best = min(layout["cost"] for layout in advised["layouts"] if layout["means"] != ["in_blocks"])
    check(found[0]["cost"] * 100 <= best * 105, "%s: the cure costs %d, the best layout %d"
          % (name, found[0]["cost"], best))
    if row is not None:
        moved = found[0]["objects"][0]
        equal((moved["row"], moved["pad"]), (row, 64), "rows of " + name)
    return found[0]


def advised_adi(after):
    """Rows of 17 lines: 128 rows lie in each set twice, beside one line of factor; x has 16 lines a row to be
    fetched."""
    exactly(after["L1D"], "adi advised", misses=128 * 16, cold=0, capacity=128 * 16, conflict=0)


def advised_poisson(after, moved):
    """Arrays that were moved begin a line, the others 16 bytes behind one.

    One of the ten, u in odd sweeps, is asked for in all rows, and in the third it is the first block. The others'
    elements 129 to 126 * 128 + 126 are bytes 1032 to 130039: lines 16 to 2031; 16 bytes on, 16 to 2032. u's lines are 0
    to 2047, 16 bytes on 0 to 2048.
    """
    unmoved = 10 - moved  # the first block first, as it has the fewest conflicts
    lines = 9 * 2016 + max(unmoved - 1, 0) + 2048 + min(unmoved, 1)
    between(after["L1D"]["misses"], lines, lines + SPILLS, "poisson advised, misses")
    exactly(after["L1D"], "poisson advised", conflict=0, capacity=after["L1D"]["misses"])


def advise(name):
    """One sweep more, of the run played back as it was and of the cure, has the counts of the two samples.

    Where the cure is not quite that of the padded sample, the counts are the same: transpose needs only b padded, as a
    is read along its rows; of histogram's keys, on lines of 64 different sets now, 16 pass between two uses of `seen`,
    one at most in its set, and 248 between two uses of a bucket, 4 in a set.
    """
    times = 40 if name == "list" else 2  # fewer walks of a list are lost among the start of the program
    both = [advice(name, n) for n in (times, times + 1)]
    for advised in both:
        check(advised["same_as_run"], name + ": played back, the run is another")
    plain = sweep(*(advised["before"] for advised in both))
    padded = sweep(*(cure(name, advised) for advised in both))
    equal(plain, sweep(*runs(name, MACHINE, times)), name + ": a sweep of the run as it is")
    if name == "adi":
        advised_adi(padded)
    elif name == "poisson":
        advised_poisson(padded, len(cure(name, both[0])["objects"]))
    else:
        SAMPLES[name](plain, padded)
    done()


def mutants():
    """With twice the sets in L1D, with the padded sample for the plain one, or with another reason, victim, evictor
    or line in the table, each answer must be found wrong."""
    for name, answer in SAMPLES.items():
        padded = sweep(*runs(name + "_padded", MACHINE + COUNTS_ONLY))
        answer(sweep(*runs(name, MACHINE + COUNTS_ONLY + ["--set", "L1D.size=64K"])), padded)
        must_fail(name + " with twice the sets")
        answer(padded, padded)
        must_fail(name + " padded")
        plain = runs(name, MACHINE)
        for row in DOMINANT[name]:
            for change in ({"reason": "unknown"}, {"victims": ["sum"]}, {"evictors": ["sum"]},
                           {"miss": ("#include",) * 2}, {"evicted_at": ("#include",) * 2}):
                who_evicted_whom(name, [dict(row, **change)], *plain)
                must_fail("%s with %s" % (name, change))
    done()


if sys.argv[1] == "mutants":
    mutants()
elif sys.argv[1] == "advise":
    advise(sys.argv[2])
else:
    main(sys.argv[1])
