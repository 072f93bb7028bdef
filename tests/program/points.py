# SPDX-License-Identifier: GPL-2.0-or-later
"""points.py PART: `c2emu points`, and runs of the points that it finds.

phases     A guest of four kinds of phases has one point a kind, with the share of the kind as its weight.
twin       The points of intervals made up here are those of points_twin.py, whatever dimensions and clusters.
files      Vectors that are written and read again give the same points; so do those of Valgrind's exp-bbv.
compilers  Other compilers and optimisation give the same bits.
measured   A run of the points measures those intervals and nothing else, and weighs them as it should.
errors     Bad words and files: what is wrong, and where.
"""

import os
import random
import sys
import tempfile

import points_twin as twin
from common import check, contains, done, emulate, equal, need, report, run

GUESTS = os.environ["GUESTS"]
PHASES = os.path.join(GUESTS, "phases")
LENGTH = 10003  # of a phase: phases.S
BEFORE, BEHIND = 2, 3  # instructions before the first phase, behind the last one


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def write(text, *path):
    with open(os.path.join(*path), "w", encoding="utf-8") as file:
        file.write(text)
    return os.path.join(*path)


def points(words, what):
    """Runs `c2emu points` in a new directory; returns the texts of the two files and of the report."""
    with tempfile.TemporaryDirectory() as folder:
        result = emulate(["points", "--output", folder] + words)
        if not check(result.returncode == 0, "%s: %s" % (what, result.stderr.decode())):
            return "", "", ""
        files = sorted(os.listdir(folder))
        equal([file.rpartition(".")[2] for file in files], ["simpoints", "weights"], what + ": files")
        return read(folder, files[0]), read(folder, files[1]), result.stderr.decode()


# ---------------------------------------------------------------- a guest of phases

ORDER = "AABABCABDCAB"
TOTAL = BEFORE + len(ORDER) * LENGTH + BEHIND


def weights_of(counts):
    return "".join("%.12g %d\n" % (count / TOTAL, i) for i, count in enumerate(counts))


def phases():
    # The first interval of A has the first two instructions of the run, of B and of C it has a block that a page fault
    # has cut: the others of A and B are nearer to the middle; of C there is one other. The last two instructions of a
    # phase belong to the next interval, and the last interval of all has five, which count as A's.
    expected = "1 0\n4 1\n5 2\n8 3\n"
    counts = [ORDER.count(kind) * LENGTH for kind in "ABCD"]
    counts[0] += TOTAL - len(ORDER) * LENGTH
    found = points(["--interval", str(LENGTH), PHASES], "phases")
    equal(found[0], expected, "points of phases")
    equal(found[1], weights_of(counts), "weights of phases")
    rows = "".join("%d %s %.6f %d interval%s " % (interval, "{:,}".format(interval * LENGTH), count / TOTAL, intervals,
                                                 "s" * (intervals > 1))
                   for interval, count, intervals in zip((1, 4, 5, 8), counts, (6, 4, 2, 1)))
    expected = "points 4 of 13 intervals of 10,003 instructions interval first instruction weight stands for " + rows
    equal(found[2].split()[:-4], (expected + "to measure them:").split(), "report of phases")
    contains(found[2], ["/phases.simpoints --interval %d\n" % LENGTH], "report of phases")
    # twice as long: AA BA BC AB DC AB, of which BA and AB are one kind
    found = points(["--interval", str(2 * LENGTH), PHASES], "pairs of phases")
    equal(found[0].split()[1::2], ["0", "1", "2", "3"], "clusters of pairs")
    # one interval is all there is
    equal(points([PHASES], "one interval")[:2], ("0 0\n", "1 0\n"), "one interval")
    equal(points(["--interval", "100k", PHASES], "100k")[2].split()[:5], "points 1 of 2 intervals".split(), "100k")


# ---------------------------------------------------------------- against the twin

def made_up(seed):
    """Intervals of some kinds of code, disturbed a little; the last one may be short."""
    draw = random.Random(seed)
    kinds = [{block: draw.randrange(1, 1000) for block in draw.sample(range(1, 200), draw.randrange(1, 40))}
             for _ in range(draw.randrange(1, 7))]
    noise = draw.choice([0, 3, 300])
    intervals = []
    for _ in range(draw.randrange(1, 41)):
        kind = draw.choice(kinds)
        intervals.append({block: count + draw.randint(0, noise) for block, count in kind.items()})
    if draw.random() < 0.5:
        intervals.append({draw.randrange(1, 200): draw.randrange(1, 200)})
    return intervals


def text_of(intervals):
    return "".join("T" + " ".join(":%d:%d" % entry for entry in interval.items()) + "\n" for interval in intervals)


def against_twin():
    several = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(24):
            intervals = made_up(seed)
            path = write(text_of(intervals), folder, "made.up.bb")
            options = {"dimensions": seed % 16 + 1, "max_k": seed % 9 + 1, "seed": seed} if seed % 4 else {}
            words = ["--%s=%d" % (name.replace("_", "-"), value) for name, value in options.items()]
            found = points(words + ["--from-bbv", path], "seed %d" % seed)
            equal(found[:2], twin.text_of(twin.choose(intervals, **options)), "seed %d, %s" % (seed, options))
            several += found[0].count("\n") > 2
    check(several >= 6, "only %d of the made-up intervals have more than two points" % several)


# ---------------------------------------------------------------- files

def files():
    need("valgrind")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "phases.bbv")
        live = points(["--interval", str(LENGTH), "--bbv", path, PHASES], "with --bbv")
        vectors = twin.read_vectors(path)
        equal([sum(v.values()) for v in vectors], [LENGTH] * len(ORDER) + [TOTAL - LENGTH * len(ORDER)], "lengths")
        equal(points(["--from-bbv", path], "from --bbv")[:2], live[:2], "points of the file")
        equal(live[:2], twin.text_of(twin.choose(vectors)), "points of the file by the twin")
        text = read(path)
        points(["--interval", str(LENGTH), "--progress", "--bbv", path, PHASES], "with --progress")
        equal(read(path), text, "vectors while somebody looks on")
        foreign = os.path.join(folder, "bb.out")
        run(["valgrind", "--tool=exp-bbv", "--interval-size=%d" % LENGTH, "--bb-out-file=" + foreign,
             "--pc-out-file=" + os.path.join(folder, "pc.out"), PHASES])
        # nothing cuts a block there, and the end of the run is no interval: all of B and of C are alike
        found = points(["--from-bbv", foreign], "from Valgrind")
        equal(found[0], "1 0\n2 1\n5 2\n8 3\n", "points of Valgrind's file")
        equal([round(float(weight), 4) for weight in found[1].split()[::2]],
              [round(ORDER.count(kind) / len(ORDER), 4) for kind in "ABCD"], "weights of Valgrind's file")
        same_blocks(vectors, twin.read_vectors(foreign))


def same_blocks(ours, theirs):
    """Blocks are cut alike, but where a page fault, or an interval's end, does it: the numbers of instructions of an
    interval's blocks are the same, the greatest at least."""
    for i, (one, other) in enumerate(zip(ours, theirs)):
        a, b = max(one.values()), max(other.values())
        check(abs(a - b) <= 33, "interval %d: the greatest block has %d instructions, Valgrind says %d" % (i, a, b))


# ---------------------------------------------------------------- compilers

def compilers():
    need("gcc", "clang")
    root = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..")
    sources = [os.path.join(root, "points", name) for name in sorted(os.listdir(os.path.join(root, "points")))
               if name.endswith(".c")]
    driver = os.path.join(root, "tests", "program", "points_bits.c")
    said = {}
    with tempfile.TemporaryDirectory() as folder:
        path = write(text_of(i for seed in range(6) for i in made_up(seed)), folder, "vectors")
        for flags in (["gcc", "-O0"], ["gcc", "-O3"], ["clang", "-O1"], ["clang", "-O3"]):
            program = os.path.join(folder, "bits")
            built = run(flags + ["-std=gnu17", "-D_GNU_SOURCE", "-ffp-contract=off", "-I" + root, "-o", program,
                                 driver] + sources + [os.environ["C2_BASE"], "-lmpfr", "-lgmp", "-lm"])
            if check(built.returncode == 0, "%s: %s" % (flags, built.stderr.decode())):
                said[" ".join(flags)] = run([program, path]).stdout.decode()
    texts = sorted(set(said.values()))
    check(len(texts) == 1 and texts[0].count("\n") > 20, "compilers differ, or say nothing: %s" % said)


# ---------------------------------------------------------------- runs of points

CASE = [(1, 0, "0.25"), (2, 1, "0.125"), (4, 2, "0.5"), (12, 3, "0.125")]  # intervals 1 and 2 follow each other
MACHINE = ["-m", "c2sim"]


def write_case(folder, case=CASE):
    write("".join("%d %d\n" % (interval, cluster) for interval, cluster, _ in reversed(case)), folder, "a.simpoints")
    write("".join("%s %d\n" % (weight, cluster) for _, cluster, weight in case), folder, "a.weights")
    return ["--points", os.path.join(folder, "a.simpoints"), "--interval", str(LENGTH)]


def phases_of(found):
    return [(phase["kind"], phase["instructions"]) for phase in found["run"]["phases"]]


def measured():
    with tempfile.TemporaryDirectory() as folder:
        words = write_case(folder)
        found = report(words + MACHINE, [PHASES])
        last = TOTAL - 12 * LENGTH
        equal(phases_of(found), [("skip", LENGTH), ("measure", LENGTH), ("measure", LENGTH), ("skip", LENGTH),
                                 ("measure", LENGTH), ("skip", 7 * LENGTH), ("measure", last)], "phases")
        weighed(found)
        found = report(words + ["--warmup", "11000"] + MACHINE, [PHASES])
        # there is room for it before the last one only
        equal(phases_of(found), [("warmup", LENGTH), ("measure", LENGTH), ("measure", LENGTH), ("warmup", LENGTH),
                                 ("measure", LENGTH), ("skip", 7 * LENGTH - 11000), ("warmup", 11000),
                                 ("measure", last)], "with --warmup")
        # recorded and played: the weights are kept
        recording = os.path.join(folder, "run")
        live = emulate(words + ["--record", recording] + MACHINE + [PHASES])
        played = emulate(["replay"] + MACHINE + [recording])
        check(b"each with its weight" in live.stderr and played.stderr == live.stderr,
              "replay says %s, live %s" % (played.stderr, live.stderr))
        # other weights for the same points; half of the run is not stood for
        write("0.125 0\n0.25 3\n0.0625 2\n0.0625 1\n", folder, "half")
        result = emulate(words + ["--weights", os.path.join(folder, "half")] + MACHINE + [PHASES])
        contains(result.stderr.decode(), ["the weights sum up to 0.5: the points stand for that much of the run"],
                 "half of the weights")


def weighed(found):
    """Intervals 2 and 4 are walks through the same 256 lines, 1111 loads each; the first misses each line once, the
    second none, as an L1D of 32 KiB holds them all. Each interval reads `order` once, which has two lines: the last one
    is in the second. Interval 12 has five instructions."""
    level, estimate = found["levels"][0], found["samples"]["levels"][0]
    equal((level["accesses"], level["misses"]), (2226, 258), "L1D in all points")
    accesses = (0.25 * 1 + 0.125 * 1112 + 0.5 * 1112) / LENGTH + 0.125 * 1 / 5
    misses = (0.25 * 1 + 0.125 * 256) / LENGTH + 0.125 * 1 / 5
    equal(estimate["miss_rate"]["mean"], round(100 * misses / accesses, 6), "miss rate")
    equal(estimate["misses_per_1000"]["mean"], round(1000 * misses, 6), "misses of an instruction")
    equal(estimate["run"]["misses"]["mean"], round(TOTAL * misses), "misses of the run")
    equal((found["samples"]["weighted"], found["samples"]["count"]), (True, len(CASE)), "samples")


# ---------------------------------------------------------------- what is refused

WORDS = [
    (["--interval", "10"], ["--interval 10", "1000 to 10^18"]),
    (["--dimensions", "1001"], ["--dimensions 1001", "1 to 1000"]),
    (["--max-k", "0"], ["--max-k 0", "must be 1"]),
    (["--json", "x"], ["leave --json out"]),
    (["--callgrind", "x"], ["leave --callgrind out"]),
    (["--measure", "1M"], ["leave --measure out"]),
    (["--no-sim"], ["leave --no-sim out"]),
    (["--pages", "random"], ["points simulates nothing; leave --pages out"]),
    (["--bbv", os.path.basename(PHASES) + ".weights"], [".weights: points writes that file itself; give the vectors"]),
    (["-o", "d", "--bbv", "d/%s.simpoints" % os.path.basename(PHASES)], ["points writes that file itself"]),
    (["--from-bbv", "x"], ["--from-bbv x", "takes the place of a run"]),
]
VECTORS = [
    ("", "has no frequency vector"),
    ("# nothing\n\n", "has no frequency vector"),
    ("T:1:2\nX:1:2\n", ":2: a line does not begin with T"),
    ("T:1:2\nT\n", ":2: an interval has no instructions"),
    ("T:1:0\n", ":1: an interval has no instructions"),
    ("T:0:5\n", ":1: a block has the number 0"),
    ("T:1\n", ":1: no colon behind a block"),
    ("T:1:\n", ":1: no count behind a block"),
    ("T:1:2:\n", ":1: no block behind a colon"),
    ("T:1:-2\n", ":1: no count behind a block"),
    ("T:1:2 3\n", ":1: what is no block is in an interval"),
    ("T:1:2.5\n", ":1: what is no block is in an interval"),
    ("T:1:1000000000000000001\n", ":1: a number is larger than 10^18"),
    ("T:1:1000000000000000000 :2:1\n", ":1: an interval has more than 10^18 instructions"),
]


def refused(words, parts, what):
    with tempfile.TemporaryDirectory() as folder:
        result = emulate(words, cwd=folder)
        equal((result.returncode, result.stdout), (125, b""), "status and output of " + what)
        contains(result.stderr.decode(), parts, what)
        equal(os.listdir(folder), [], "files left by " + what)


RUNS = [
    ([], ["a.simpoints does not say how long an interval is", "--interval N"]),
    (["--interval", "2k", "--skip", "1"], ["leave it out, or --skip"]),
    (["--interval", "2k", "--samples", "2"], ["leave it out, or --samples"]),
    (["--interval", "2k", "--precision", "5"], ["leave it out, or --precision"]),
    (["--interval", "2k", "--no-sim"], ["--no-sim skips everything; leave --points out"]),
    (["--interval", "2k", "--callgrind", "x"], ["add --warm functional"]),
    (["--interval", "2k", "--roi", "main"], ["leave it out, or --roi"]),
    (["--interval", "2k", "--max-k", "2"], ["--max-k", "c2emu points"]),
    (["--interval", "10M"], ["interval 12 begins at instruction 120000000", "ended after %d" % TOTAL]),
    (["--interval", "100000000G"], ["interval 12 of 100000000000000000 instructions begins behind 10^18"]),
    (["--interval", "2k", "--weights", "/nonexistent/w"], ["/nonexistent/w", "No such file"]),
]


def errors_of_runs():
    with tempfile.TemporaryDirectory() as folder:
        path = write_case(folder)[1]
        for words, parts in RUNS:
            refused(["--points", path] + words + [PHASES], parts, "--points " + " ".join(words))
        refused(["--points", "/dev/zero", "--interval", "2k", PHASES], ["/dev/zero:1: a line is longer"], "no text")
        refused(["points", "--points", path, PHASES], ["leave --points out"], "points --points")
        refused(["--weights", path, PHASES], ["--weights", "belongs to --points"], "--weights alone")
        write("0.3 0\n0.3 1\n0.3 2\n0.3 3\n", folder, "a.weights")
        refused(["--points", path, "--interval", "2k", PHASES], ["a.weights: the weights sum up to 1.2"], "weights")
        write("0.3 0\n0.3 x\n", folder, "a.weights")
        refused(["--points", path, "--interval", "2k", PHASES], ["a.weights:2: must be the number of a cluster"], "x")
        saved = os.path.join(folder, "saved")
        result = emulate(["--no-sim", "--checkpoint-at", "20000", "--checkpoint", saved, PHASES])
        check(result.returncode == 0, "checkpoint: %s" % result.stderr.decode())
        refused(["restore", "--points", path, "--interval", "2k", saved], ["counted from the start"], "restore")
        os.remove(os.path.join(folder, "a.weights"))
        refused(["--points", path, "--interval", "2k", PHASES], ["a.weights", "No such file"], "without weights")


def sees_the_machine():
    """The memory that the program is told of is the machine's, as in the run that measures."""
    with tempfile.TemporaryDirectory() as folder:
        for machine, kilobytes in (("teach", 64 << 10), ("sandybridge-ep", 64 << 20)):
            told = emulate(["points", "-q", "-m", machine, "cat", "/proc/meminfo"], cwd=folder).stdout.decode()
            equal(told.split()[:2], ["MemTotal:", str(kilobytes)], "memory of " + machine)


def errors():
    errors_of_runs()
    sees_the_machine()
    for words, parts in WORDS:
        refused(["points"] + words + [PHASES], parts, " ".join(words))
    for option in ("interval", "dimensions", "max-k"):
        refused(["--%s=2000" % option, PHASES], ["--" + option, "c2emu points"], "--%s of a run" % option)
    for words in (["--interval=2000"], ["--bbv=x"]):
        refused(["points", "--from-bbv=x"] + words, [words[0].partition("=")[0], "takes"], words[0])
    refused(["points", "--from-bbv", "/nonexistent/x"], ["/nonexistent/x", "No such file"], "a file that is not there")
    refused(["points"], ["no program given"], "points without a program")
    refused(["points", "--from-bbv", "/dev/zero"], ["/dev/zero:1: a line does not begin with T"], "an endless line")
    with tempfile.TemporaryDirectory() as folder:
        for text, part in VECTORS:
            path = write(text, folder, "bad.bb")
            refused(["points", "--from-bbv", path], [path, part], "vectors %r" % text)


{"phases": phases, "twin": against_twin, "files": files, "compilers": compilers, "measured": measured,
 "errors": errors}[sys.argv[1]]()
done()
