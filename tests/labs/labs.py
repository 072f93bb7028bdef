#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""labs.py LAB: what docs/labs/LAB/grade.sh says of the lab as it is handed out, and of its solution; and of submissions
that are wrong, or take a way around the lesson. The numbers are derived in docs/labs/solutions/README.md."""

import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
LABS = os.path.join(ROOT, "docs/labs")

# lab: what is said of it as it is handed out, and of its solution
EXPECTED = {
    "transpose": ("""\
   0.0 of  8  32 x 32: 1180 misses
   0.0 of  8  64 x 64: 4720 misses
   0.0 of 10  61 x 67: 4420 misses
   0.0 of 26  points
""", """\
   8.0 of  8  32 x 32: 284 misses
   8.0 of  8  64 x 64: 1176 misses
  10.0 of 10  61 x 67: 1947 misses
  26.0 of 26  points
"""),
    "stride": ("""\
   0.0 of  1  Q1: no answer
   0.0 of  1  Q2: no answer
   0.0 of  1  Q3: no answer
   0.0 of  1  Q4: no answer
   0.0 of  1  Q5: no answer
   0.0 of  1  Q6: no answer
   0.0 of  2  8 rows without a conflict: object:a.L1D.conflict>-100%: 72 in A, 72 in B, +0
   0.0 of  2  12 rows without a conflict: object:a.L1D.conflict>-100%: 108 in A, 108 in B, +0
   0.0 of 10  points
""", """\
   1.0 of  1  Q1: 80
   1.0 of  1  Q2: 72
   1.0 of  1  Q3: 80
   1.0 of  1  Q4: 8
   1.0 of  1  Q5: 256
   1.0 of  1  Q6: 144
   2.0 of  2  8 rows without a conflict
   2.0 of  2  12 rows without a conflict
  10.0 of 10  points
"""),
    "blocking": ("""\
   0.0 of  1  Q1: no answer
   0.0 of  1  Q2: no answer
   0.0 of  1  Q3: no answer
   0.0 of  1  Q4: no answer
   0.0 of  2  hardly a conflict: L1D.conflict>-99%: 1,866,784 in A, 1,866,784 in B, +0
   0.0 of  2  an eighth of the misses: L1D.misses>-87%: 2,133,025 in A, 2,133,025 in B, +0
   0.0 of  2  a fiftieth of the misses: L1D.misses>-98%: 2,133,025 in A, 2,133,025 in B, +0
   0.0 of 10  points
""", """\
   1.0 of  1  Q1: 2097152
   1.0 of  1  Q2: 1835008
   1.0 of  1  Q3: 262144
   1.0 of  1  Q4: 2048
   2.0 of  2  hardly a conflict
   2.0 of  2  an eighth of the misses
   2.0 of  2  a fiftieth of the misses
  10.0 of 10  points
"""),
    "sharing": ("""\
   0.0 of  1  Q1: no answer
   0.0 of  1  Q2: no answer
   0.0 of  1  Q3: no answer
   0.0 of  1  Q4: no answer
   0.0 of  4  no counter is taken away: object:counters.L1D.coherence>-99%: 3,996 in A, 3,996 in B, +0
   0.0 of  8  points
""", """\
   1.0 of  1  Q1: 4000
   1.0 of  1  Q2: 4000
   1.0 of  1  Q3: 4000
   1.0 of  1  Q4: 1
   4.0 of  4  no counter is taken away
   8.0 of  8  points
"""),
    "pages": ("""\
   0.0 of  1  Q1: no answer
   0.0 of  1  Q2: no answer
   0.0 of  1  Q3: no answer
   0.0 of  1  Q4: no answer
   0.0 of  1  Q5: no answer
   0.0 of  3  options: no conflict in L2: L2.conflict>-100%: 231 in A, 231 in B, +0
   0.0 of  2  program: no conflict in L1D: L1D.conflict>-100%: 448 in A, 448 in B, +0
   0.0 of  2  program: nor in L2, wherever pages lie: L2.conflict>-100%: 448 in A, 448 in B, +0
   0.0 of 12  points
""", """\
   1.0 of  1  Q1: 448
   1.0 of  1  Q2: 0
   1.0 of  1  Q3: 448
   1.0 of  1  Q4: 512
   1.0 of  1  Q5: 0
   3.0 of  3  options: no conflict in L2
   2.0 of  2  program: no conflict in L1D
   2.0 of  2  program: nor in L2, wherever pages lie
  12.0 of 12  points
"""),
}

# lab: a file of the solution, what is changed in it, and the last line for that; 2: nothing can be graded
CHANGED = {
    "transpose": [("transpose.c", ("B[l][k] = A[k][l];", "B[l][k] = A[k][l] + 1;"), "  16.0 of 26  points\n"),
                  ("transpose.c", ("BLOCK = 17", "BLOCK = 13"), "  25.5 of 26  points\n"),
                  ("transpose.c", ("BLOCK = 17", "BLOCK = 8"), "  24.8 of 26  points\n"),
                  ("transpose.c", ("M == 32 && N == 32", "0"), "  18.0 of 26  points\n"),
                  ("transpose.c", ("int main(", "int mian("), 2)],
    "stride": [("answers.txt", ("Q5 = 256", "Q5 = 400"), "   9.0 of 10  points\n"),
               ("stride.c", ("i < rows", "i < rows - 1"), "   6.0 of 10  points\n"),
               ("stride.c", ("COLUMNS + 16", "COLUMNS + 32"), 2)],
    # without padding the block of b fills all ways of 16 sets, and a and c come there, too
    "blocking": [("blocking.c", ("N + 8", "N"), "   4.0 of 10  points\n"),
                 ("blocking.c", ("BLOCK = 32", "BLOCK = 128"), "   8.0 of 10  points\n")],
    "sharing": [("sharing.c", ("_Alignas(64) volatile", "_Alignas(32) volatile"), "   4.0 of  8  points\n"),
                ("sharing.c", ("_Alignas(64) volatile", "_Alignas(128) volatile"), 2)],
    "pages": [("options.txt", ("colored", "same-color"), "   9.0 of 12  points\n"),
              ("options.txt", ("--pages colored", "--place mmap=colored"), "  12.0 of 12  points\n"),
              ("options.txt", ("--pages colored", "--set L2.ways=16"), 2),
              ("pages.c", ("4096 + 64", "4096"), "   8.0 of 12  points\n")],
}


# ---------------------------------------------------------------- transpositions, counted here

def misses(accesses):
    """In 32 lines of 32 bytes, direct-mapped; A lies at 0, B behind 256 x 256 elements."""
    sets, count = [None] * 32, 0
    for matrix, index in accesses:
        line = (matrix * 65536 + index) // 8
        count += sets[line % 32] != line
        sets[line % 32] = line
    return count


def blocks(M, N, size):
    """B[l][k] = A[k][l], block by block."""
    for i in range(0, N, size):
        for j in range(0, M, size):
            for k in range(i, min(i + size, N)):
                for l in range(j, min(j + size, M)):
                    yield 0, k * M + l
                    yield 1, l * N + k


def rows_of_eight():
    """32 x 32: a row of a block is read whole before it is stored."""
    for i in range(0, 32, 8):
        for j in range(0, 32, 8):
            for k in range(i, i + 8):
                yield from ((0, k * 32 + l) for l in range(j, j + 8))
                yield from ((1, l * 32 + k) for l in range(j, j + 8))


def quarters():
    """64 x 64: the upper half of a block, then what waits in B against the lower left quarter, then the last one."""
    for i in range(0, 64, 8):
        for j in range(0, 64, 8):
            for k in range(4):
                yield from ((0, (i + k) * 64 + j + l) for l in range(8))
                yield from ((1, (j + l) * 64 + i + k) for l in range(4))
                yield from ((1, (j + l) * 64 + i + k + 4) for l in range(4))
            for k in range(4):
                yield from ((0, (i + 4 + l) * 64 + j + k) for l in range(4))
                yield from ((1, (j + k) * 64 + i + 4 + l) for l in range(4))
                yield from ((1, (j + k) * 64 + i + 4 + l) for l in range(4))
                yield from ((1, (j + k + 4) * 64 + i + l) for l in range(4))
            for k in range(4, 8):
                yield from ((0, (i + k) * 64 + j + l) for l in range(4, 8))
                yield from ((1, (j + l) * 64 + i + k) for l in range(4, 8))


def points(count, full, best, worst):
    return round(full * min(1, max(0, (worst - count) / (worst - best))), 1)


def check_transpositions():
    equal([misses(blocks(M, N, 256)) for M, N in ((32, 32), (64, 64), (61, 67))], [1180, 4720, 4420], "as given")
    equal([misses(rows_of_eight()), misses(quarters()), misses(blocks(61, 67, 17))], [284, 1176, 1947], "the solution")
    scores = [16 + points(misses(blocks(61, 67, size)), 10, 2000, 3000) for size in (13, 8)]
    equal(scores + [18 + points(misses(blocks(32, 32, 17)), 8, 300, 600)], [25.5, 24.8, 18.0], "points of other blocks")


# ---------------------------------------------------------------- grades

failed = False


def equal(got, expected, what):
    global failed
    if got != expected:
        failed = True
        print("%s:\n%s\nexpected:\n%s" % (what, got, expected))


def grade(lab, words):
    result = subprocess.run([os.path.join(LABS, lab, "grade.sh")] + words, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    return result.returncode, result.stdout.decode(), result.stderr.decode()


def changed(lab, name, words, expected):
    with tempfile.TemporaryDirectory() as directory:
        submission = shutil.copytree(os.path.join(LABS, "solutions", lab), os.path.join(directory, "mine"))
        path = os.path.join(submission, name)
        with open(path) as file:
            text = file.read()
        equal(text.count(words[0]), 1, "%s/%s: %s" % (lab, name, words[0]))
        with open(path, "w") as file:
            file.write(text.replace(*words))
        status, output, complaint = grade(lab, [submission])
        what = "%s with %s" % (lab, words[1])
        if expected == 2:
            equal((status, "points\n" in output, complaint != ""), (2, False, True), what)
        else:
            equal((output.splitlines(True) or [""])[-1], expected, what)
            equal(status, int(expected.split()[0] != expected.split()[2] + ".0"), what + ": status")


def main(lab):
    given, solved = EXPECTED[lab]
    if lab == "transpose":
        check_transpositions()
    equal(grade(lab, []), (1, given, ""), lab + " as it is handed out")
    equal(grade(lab, [os.path.join(LABS, "solutions", lab)]), (0, solved, ""), lab + ", the solution")
    for name, words, expected in CHANGED[lab]:
        changed(lab, name, words, expected)
    sys.exit(failed)


main(sys.argv[1])
