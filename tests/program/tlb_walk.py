# SPDX-License-Identifier: GPL-2.0-or-later
"""tlb_walk.py: guests/pages.S on machine teach, whose TLBs are small enough to say beforehand what a walk over pages
does.

DTLB and ITLB have 4 sets of 2 ways, STLB 8 sets of 4, all LRU and by the low bits of the page number; the page-walk
cache has the last 4 page-directory entries. The guest reads N pages, S apart, ROUNDS times; its first page has a number
with 12 low zeros. So page i lies in DTLB set i*S mod 4 and in STLB set i*S mod 8. A set that is asked for k pages in
turn, with w ways under LRU, misses k times in all if k <= w, else each time: k*ROUNDS.
The code is one page (STLB set 1): the first access of ITLB and of STLB, one walk of 4 reads, never asked for again. A
walk of a small page reads one entry if the page-walk cache has its directory's (one for each 2 MiB), else 4; of a page
of 2 MiB, for which that cache is not asked, 3.
"""

import os
import re

from common import check, done, emulate, equal, report

GUESTS = os.environ["GUESTS"]
ROUNDS = 4
HUGE = ["--huge", "all"]
LOADER_PAGES = 2  # strings and vectors of the initial stack, written before the first instruction, 2 MiB apart

# (pages, stride, options): misses of DTLB, of STLB by data, reads of walks, (accesses, misses) of the page-walk cache
EXPECTED = {
    # 2 pages in each set of DTLB: everything fits
    (8, 1, ()): (8, 8, 4 + 4 + 7, (9, 2)),
    # 3 in set 0, 2 in the others: 3 pages miss each round, and the STLB has them
    (9, 1, ()): (6 + 3 * ROUNDS, 9, 4 + 4 + 8, (10, 2)),
    (12, 1, ()): (12 * ROUNDS, 12, 4 + 4 + 11, (13, 2)),
    # 4 in each set of STLB; in set 1 the last of them takes the way of the code page
    (32, 1, ()): (32 * ROUNDS, 32, 4 + 4 + 31, (33, 2)),
    # 5 in set 0 of STLB
    (33, 1, ()): (33 * ROUNDS, 28 + 5 * ROUNDS, 4 + 4 + 27 + 5 * ROUNDS, (29 + 5 * ROUNDS, 2)),
    (40, 1, ()): (40 * ROUNDS, 40 * ROUNDS, 4 + 4 + 40 * ROUNDS - 1, (1 + 40 * ROUNDS, 2)),
    # all in one set of DTLB, in two of STLB
    (3, 4, ()): (3 * ROUNDS, 3, 4 + 4 + 2, (4, 2)),
    # all in one set of both
    (5, 8, ()): (5 * ROUNDS, 5 * ROUNDS, 4 + 4 + 5 * ROUNDS - 1, (1 + 5 * ROUNDS, 2)),
    # each in a directory entry of its own: 4 (and the code's before) are never asked for twice; 5 push each other out
    (4, 512, ()): (4 * ROUNDS, 4, 4 + 4 * 4, (5, 5)),
    (5, 512, ()): (5 * ROUNDS, 5 * ROUNDS, 4 + 4 * 5 * ROUNDS, (1 + 5 * ROUNDS, 1 + 5 * ROUNDS)),
    # the same with pages of 2 MiB, whose numbers follow one another: 8, 9, 17 of them are as those of 4 KiB above
    (5, 512, tuple(HUGE)): (5, 5, 4 + 3 * 5, (1, 1)),
    (9, 512, tuple(HUGE)): (6 + 3 * ROUNDS, 9, 4 + 3 * 9, (1, 1)),
    (17, 512, tuple(HUGE)): (17 * ROUNDS, 17, 4 + 3 * 17, (1, 1)),
}


def measured(pages, stride, options):
    guest = os.path.join(GUESTS, "pages_%d_%d" % (pages, stride))
    return report(["-m", "teach"] + list(options), [guest])


def summary(written):
    tlb = {entry["name"]: (entry["accesses"], entry["misses"]) for entry in written["tlb"]}
    return {"tlb": tlb, "count": written["walks"]["count"], "reads": written["walks"]["reads"]}


def expected(pages, stride, options):
    data, second, reads, cache = EXPECTED[pages, stride, options]
    return {"tlb": {"DTLB": (pages * ROUNDS, data), "ITLB": (1, 1), "STLB": (data + 1, second + 1), "PSC-PDE": cache},
            "count": second + 1, "reads": reads}


def check_owners(written, pages, stride, options):
    """The data's misses and walks are of the object that is read and of the instruction that reads; the code's one of
    the code and of the first instruction. The objects, functions and lines have all of them."""
    what = "%s, of %d pages, %d apart, %s" % ("%s", pages, stride, options)
    data, second, _, _ = EXPECTED[pages, stride, options]
    kinds = {entry["kind"]: (entry["tlb_misses"], entry["walks"]) for entry in written["objects"]}
    equal({kind: kinds[kind] for kind in kinds if kinds[kind] != (0, 0)}, {"file": (data, second), "code": (1, 1)},
          what % "objects")
    lines = [(line["tlb_misses"], line["walks"]) for line in written["lines"] if line["tlb_misses"] != 0]
    equal(sorted(lines), sorted([(1, 1), (data, second)]), what % "lines")
    for kind in ("functions", "lines"):
        equal((sum(e["tlb_misses"] for e in written[kind]), sum(e["walks"] for e in written[kind])),
              (data + 1, second + 1), what % kind)


def columns():
    """The tables have translations where they are not rare: 160 in some hundred instructions, all of them walks."""
    words = ["-m", "teach", os.path.join(GUESTS, "pages_40_1")]
    text = emulate(words).stderr.decode()
    check(re.search(r"^ *cost +classes .* TLB misses +walks +size  object$", text, re.M), "no columns: " + text)
    check(re.search(r" {0} +{0} +-  data of pages_40_1$".format(40 * ROUNDS), text, re.M), "the object: " + text)
    text = emulate(["-m", "teach", os.path.join(GUESTS, "matmul_small")]).stderr.decode()
    check(re.search(r"^ *cost +classes ", text, re.M) and "TLB misses" not in text, "columns of few: " + text)


def counted():
    for case in EXPECTED:
        written = measured(*case)
        equal(summary(written), expected(*case), "TLBs of %d pages, %d apart, %s" % case)
        check_owners(written, *case)
        equal((written["pages"]["huge_2m"], written["pages"]["huge_fallbacks"]),
              (case[0] + LOADER_PAGES if case[2] else 0, 0),
              "huge pages of %d, %d apart, %s" % case)
        # entries times the sizes of pages
        equal({entry["name"]: entry["coverage"] for entry in written["tlb"]},
              {"DTLB": {"4K": 8 << 12, "2M": 8 << 21}, "ITLB": {"4K": 8 << 12, "2M": 8 << 21},
               "STLB": {"4K": 32 << 12, "2M": 32 << 21}, "PSC-PDE": {}}, "coverage")


def served(written):
    return {entry["level"]: entry["reads"] for entry in written["walks"]["served_by"]}


# Eight pages, and the code in the 2 MiB of another. The top two tables serve both walks; the code's directory entry is
# in line 0 of the directory, the data's (number 8) in line 1; each has a table, and eight entries of the data's are a
# line. So there are 6 lines of tables: 6 reads from memory. Seven reads find the line that the read before them
# brought. In L1D (2 ways) the four lines of the code's walk lie in set 0: the last two are left, and the data's first
# walk finds the upper two in L2. With walks.from=L2 all hits are there.
def cached():
    for level, by in (("L1D", {"L1D": 7, "L2": 2, "L3": 0, "memory": 6}), ("L2", {"L2": 9, "L3": 0, "memory": 6})):
        written = measured(8, 1, ("--set", "walks.mode=cached", "--set", "walks.from=" + level))
        equal({name: reads for name, reads in served(written).items() if name in by or reads}, by,
              "reads of walks from " + level)
    for case in EXPECTED:
        written = measured(case[0], case[1], case[2] + ("--set", "walks.mode=cached"))
        equal(summary(written), expected(*case), "TLBs with walks that are cached: %d pages, %d apart, %s" % case)
        equal(sum(served(written).values()), written["walks"]["reads"], "reads of walks by level")


def can_fail():
    broken = measured(33, 1, ("--set", "STLB.ways=2", "--set", "STLB.entries=16"))
    check(summary(broken) != expected(33, 1, ()), "another STLB gives the same counts")


columns()
counted()
cached()
can_fail()
done()
