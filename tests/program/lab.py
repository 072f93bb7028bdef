# SPDX-License-Identifier: GPL-2.0-or-later
"""lab.py PART: what docs/placement-lab.md says, from page maps by arithmetic.

colours   L2 misses of the list: the nodes whose colour more than 8 nodes have.
places    L3 misses of the list: the nodes whose slice and set more than 20 nodes have.
contract  L2 misses of doitgen_padded: a small LRU cache of frames, fed with the fetches that its loops make.
against   Which of c4's conflict misses go away with 2 MiB pages.
zero      L1D misses of sparse, with a frame for each page and with the zero page.
text      The sums on the page come out, and its expectations; other numbers stand in an output or in a sum.
"""

import os
import re
import sys
import tempfile
from collections import Counter, OrderedDict
from math import comb

import twin
from common import check, done, emulate, equal, fail, report

IMAGES = os.environ["IMAGES"]
PAGE_OF_DOCS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "docs", "placement-lab.md")
MACHINE = ["-m", "c2sim", "--no-attribution"]
LINE, PAGE, LINES_A_PAGE = 64, 4096, 64
HEAP = 0x1120000  # first page of the heap (mmu/mmu.h)


def sweep(options, program, *arguments):
    """{level: misses of one sweep}; all of them must be conflicts."""
    two, three = (report(MACHINE + options, [os.path.join(IMAGES, program), str(times), *arguments])
                  for times in (2, 3))
    for less, more in zip(two["levels"][1:], three["levels"][1:]):
        if more["name"] != "L2" or arguments != ("4096",):  # 4096 nodes are all that the shadow of L2 can keep
            equal(more["capacity"] - less["capacity"], 0, "capacity misses of " + more["name"])
    return {more["name"]: more["misses"] - less["misses"] for less, more in zip(two["levels"], three["levels"])}


def frames_of(options, program, *arguments):
    """{page: frame}"""
    frames = {}
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "map")
        words = ["--dump-pagemap", path, os.path.join(IMAGES, program), "3", *arguments]
        run = emulate(["-q"] + MACHINE + options + words)
        equal(run.returncode, 0, "exit status")
        with open(path) as file:
            for line in file:
                if not line.startswith("#"):
                    page, frame, size = line.split()[:3]
                    for i in range({"4K": 1, "2M": 512}[size]):
                        frames[int(page, 0) + i] = int(frame, 0) + i
    return frames


def lost(places, ways):
    """Walked in turn under LRU, the members of a place with more than `ways` all miss, the others never."""
    return sum(n for n in Counter(places).values() if n > ways)


POLICIES = [["--pages", policy] for policy in
            ("sequential", "colored", "same-color", "random", "buddy", "buddy,age=0.5", "buddy,age=1")]


def colours():
    for nodes in (32, 64, 72):
        for options in POLICIES + [["--pages", "random", "--seed", str(seed)] for seed in range(2, 8)] + [
                ["--pages", "random", "--huge", "heap"], ["--pages", "buddy,age=1", "--huge", "heap"]]:
            frames = frames_of(options, "list", str(nodes))
            expected = lost([frames[HEAP + i] % 8 for i in range(nodes)], 8)
            equal(sweep(options, "list", str(nodes))["L2"], expected, "%d nodes, %s" % (nodes, " ".join(options)))
            print(nodes, options, expected)


def places():
    """The link of node i is in the line 10 of heap page i: behind 0x290 bytes of the C library and a header of 16.

    Only which nodes share a place matters, and that is the same for each line of the page: the hash is linear.
    """
    slice_of = twin.slice_function({"slices": 8, "hash": "lin8"})
    for policy in ("sequential", "same-color", "random", "buddy,age=1"):
        options = ["--pages", policy]
        frames = frames_of(options, "list", "4096")
        lines = [frames[HEAP + i] * LINES_A_PAGE + 0x2a0 // LINE for i in range(4096)]
        expected = lost([(slice_of(line * LINE), line % 2048) for line in lines], 20)
        equal(sweep(options, "list", "4096")["L3"], expected, "L3, " + " ".join(options))
        print(options, expected)


def fetches(c4, a, out):
    """The lines that L1D fetches in one sweep of doitgen_padded, in order, as (page, line of the page).

    Of c4 10 lines of each of 320 rows, line by line, for each of 4 rows of a; a line of a when the first walk comes to
    its first element, a line of out after the first walk down a chunk.
    """
    def line(base, number):
        return base + number // LINES_A_PAGE, number % LINES_A_PAGE
    for q in range(4):
        for c in range(10):
            for s in range(320):
                if c == 0 and s % 8 == 0:
                    yield line(a, 40 * q + s // 8)
                yield line(c4, 65 * s + c)
            yield line(out, 10 * q + c)


def lru_misses(lines, sets, ways, sweeps):
    """Misses of the last of some sweeps."""
    content = [OrderedDict() for _ in range(sets)]
    for _ in range(sweeps):
        misses = 0
        for line in lines:
            ways_of = content[line % sets]
            if line in ways_of:
                ways_of.move_to_end(line)
                continue
            misses += 1
            ways_of[line] = True
            if len(ways_of) > ways:
                ways_of.popitem(last=False)
    return misses


def contract():
    """c4 is aligned to 2 MiB; a and out are aligned to pages behind the heap's first one, out behind a and a header."""
    for options in [["--pages", "random", "--seed", str(seed)] for seed in range(1, 5)] + [
            ["--pages", "random", "--huge", "all"], ["--pages", "random", "--huge", "mmap"], ["--pages", "colored"],
            ["--pages", "random", "--place", "mmap=colored"], ["--pages", "same-color"]]:
        frames = frames_of(options, "doitgen_padded")
        bases = [page for page in frames if page % 512 == 0 and page > HEAP + 512
                 and all(page + i in frames for i in range(325))]
        lines = None
        for c4 in bases[:1]:
            lines = [frames[page] * LINES_A_PAGE + at for page, at in fetches(c4, HEAP + 1, HEAP + 5)]
        if not check(lines is not None, "c4 is not in the page map"):
            continue
        expected = lru_misses(lines, 512, 8, 3)
        equal(sweep(options, "doitgen_padded")["L2"], expected, "doitgen_padded, " + " ".join(options))
        print(options, expected)


def zero():
    """64 words at one place of their pages: 64 lines in a set of L1D; with the zero page one, and 4 that were
    written."""
    for options, misses in ((["--pages", "colored"], 64), (["--pages", "colored", "--zero-page"], 0)):
        equal(sweep(options, "sparse"), {"L1D": misses, "L2": 0, "L3": 0}, "sparse, " + " ".join(options))
    with_frames, without = (len(frames_of(options, "sparse")) for options in ([], ["--zero-page"]))
    check(with_frames - without >= 60, "%d pages without a frame, expected at least 60" % (with_frames - without))


def c4_of(program, options):
    result = report(["-m", "c2sim", "--pages", "random"] + options, [os.path.join(IMAGES, program), "3"])
    c4 = next(thing for thing in result["objects"] if thing["name"] == "c4")
    return c4["refs"], {level["name"]: level for level in c4["levels"]}


def against():
    """320 rows of 80 elements are written, then three sweeps read 4 * 80 * 320. In L2 3200 lines are cold when written,
    and in doitgen all reads miss by conflict, under both placements. In doitgen_padded 2 MiB pages leave none."""
    writes, reads = 320 * 80, 3 * 4 * 80 * 320
    for program in ("doitgen", "doitgen_padded"):
        refs, levels = c4_of(program, ["--against", "huge=all"])
        equal(refs, writes + reads, program + ": references to c4")
        plain_refs, plain = c4_of(program, [])
        for name, level in plain.items():
            equal(dict(levels[name], placement=0), dict(level, placement=0), "%s, c4 in %s" % (program, name))
        equal(plain_refs, refs, program + ": references to c4 without --against")
        conflict, placement = levels["L2"]["conflict"], levels["L2"]["placement"]
        equal((levels["L1D"]["placement"], levels["L3"]["conflict"]), (0, 0), program + ": L1D and L3")
        if program == "doitgen":
            equal((conflict, placement), (reads, 0), "doitgen: L2")
        else:
            check(placement == conflict > 2 * 2000, "padded: L2: %d of %d by placement" % (placement, conflict))


# ---------------------------------------------------------------- the page

def at_least(n, p, k):
    """P(B(n, p) >= k)"""
    return 1 - sum(comb(n, i) * p ** i * (1 - p) ** (n - i) for i in range(k))


EXPECTED = [  # what the page says, and what it is
    ("64 P(B(63, 1/8) >= 8) = %.1f", 64 * at_least(63, 1 / 8, 8)),
    ("4 * 3200 P(B(49, 1/8) >= 8) = %.1f", 4 * 3200 * at_least(49, 1 / 8, 8)),
]


def text():
    with open(PAGE_OF_DOCS) as file:
        page = file.read()
    prose = re.sub(r"\s+", " ", re.sub(r"^```.*?^```$", "", page, flags=re.M | re.S))
    for form, value in EXPECTED:
        check(form % value in prose, "the page does not say " + form % value)
    sums = re.findall(r"`([\d .*/+()-]+) = ([\d.]+)`", prose)
    for left, right in sums:
        check(eval(left) == float(right), "%s is not %s" % (left, right))
    known = set(re.findall(r"\d+", "".join(re.findall(r"^```console.*?^```$", page, re.M | re.S))))
    known |= set(re.findall(r"\d+", " ".join(left + " " + right for left, right in sums)))
    known |= set(re.findall(r"\d+", " ".join(form % value for form, value in EXPECTED)))
    known |= {"2017", "65", "334", "55", "3200", "4096", "49"}  # a year; the rest is checked below
    for number in re.findall(r"(?<![\w.])\d\d+(?![\w.]*[x\w])", prose):
        check(number in known, "%s stands in no output and no sum" % number)
    equal((64 + 1, 64 - 9, 320 * 10, 64 * 64, 3200 // 64 - 1, 264 + 70), (65, 55, 3200, 4096, 49, 334), "the rest")
    check(len(sums) >= 15, "only %d sums on the page" % len(sums))


PARTS = {"colours": colours, "places": places, "contract": contract, "against": against, "zero": zero, "text": text}
if sys.argv[1] not in PARTS:
    fail("no part is called " + sys.argv[1])
else:
    PARTS[sys.argv[1]]()
done()
