# SPDX-License-Identifier: GPL-2.0-or-later
"""phases.py: what is skipped, warmed up and measured is exactly what the options say, instruction by instruction.

The trace of a whole run, cut at its fetches, says what each instruction does. The trace of samples must be those
pieces of it, whatever the lengths; phases sum to the run; and what a warm-up of N instructions counts not, is what a
measurement of the first N counts.
"""

import os
import random
import sys
import tempfile

from common import but_short, check, contains, done, emulate, equal, report

GUESTS = os.environ["GUESTS"]
PROGRAMS = [[os.path.join(GUESTS, name)] for name in ("matmul_small", "strings", "strides", "stack", "odd", "rmw")]
PROGRAMS.append(["/bin/true"])


def traced(options, program):
    """The text of the trace."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "trace")
        result = emulate(["-q", "-m", "teach", "--trace", path] + options + program)
        equal((result.returncode, but_short(result.stderr)), (0, b""), "run of " + " ".join(options + program))
        with open(path) as file:
            return file.read()


def by_instruction(text):
    """A list of what each instruction does, its fetch first."""
    pieces = []
    for line in text.splitlines():
        if line[0] == "F":
            pieces.append([])
        pieces[-1].append(line)
    return pieces


def expected(skip, warmup, measure, samples, period, total):
    """[(kind, instructions)] of a run, and [(start, end)] of what is measured: counted one by one."""
    phases, measured, now, sample = [], [], 0, 0

    def phase(kind, length):
        nonlocal now
        length = min(length, total - now)
        if length:
            phases.append((kind, length))
            if kind == "measure":
                measured.append((now, now + length))
        now += length

    while now < total and (samples is None or sample < samples):
        phase("skip", skip if period is None else skip + sample * period - now)
        phase("warmup", warmup)
        phase("measure", measure)
        sample += 1
    phase("skip", total - now)
    return phases, measured


def options_of(skip, warmup, measure, samples, period):
    options = []
    for name, value in (("skip", skip), ("warmup", warmup), ("measure", measure), ("samples", samples),
                        ("period", period)):
        if value is not None:
            options += ["--" + name, str(value)]
    return options


def pieces():
    draw = random.Random(1)
    for program in PROGRAMS:
        whole = by_instruction(traced([], program))
        total = len(whole)
        for _ in range(4):
            measure, skip = draw.randint(1, total // 5), draw.randint(0, total // 4)
            warmup = draw.choice((0, draw.randint(0, 99)))
            period = draw.choice((None, measure + warmup + draw.randint(0, total // 6)))
            samples = draw.choice((1, 3, 50)) if period is None else draw.choice((None, 2))
            shape = (skip, warmup, measure, samples, period)
            options, what = options_of(*shape), "%s of %s" % (shape, program[0])
            phases, measured = expected(*shape, total)
            wanted = [line for start, end in measured for piece in whole[start:end] for line in piece]
            check(traced(options, program).splitlines() == wanted, "the pieces of the trace, " + what)
            run = report(options + ["-m", "teach"], program)["run"]
            equal([(row["kind"], row["instructions"]) for row in run["phases"]], phases, "phases, " + what)
            equal(run["measured"]["instructions"], sum(end - start for start, end in measured), "measured, " + what)


def counts(run):
    levels = {level["name"]: {key: value for key, value in level.items() if isinstance(value, int)}
              for level in run["levels"]}
    return {"run": run["run"]["measured"], "levels": levels, "walks": run["walks"].get("count")}


def add(a, b):
    return {key: add(a[key], b[key]) for key in a} if isinstance(a, dict) else a if a is None else a + b


def sums():
    """A warm-up and a measurement, each of what the other leaves out, are the whole run."""
    for program in PROGRAMS:
        whole = counts(report([], program))
        for cut in (1, 77, 1000, whole["run"]["instructions"] // 2):
            first = counts(report(["--measure", str(cut)], program))
            rest = counts(report(["--warmup", str(cut)], program))
            same = add(first, rest)
            for level in same["levels"].values():
                for key in ("size", "ways", "sets", "slices", "line"): # no counts
                    level.pop(key, None)
            for level in whole["levels"].values():
                for key in ("size", "ways", "sets", "slices", "line"):
                    level.pop(key, None)
            equal(same, whole, "first and rest at %d of %s" % (cut, program[0]))


def offsets():
    """Drawn ones lie in their periods, differ with the seed, and are the same again."""
    program = [os.path.join(GUESTS, "strides")]
    drawn = {}
    for seed in (1, 2):
        options = ["--start", "0", "--period", "5000", "--warmup", "100", "--measure", "400", "--offsets", "random",
                   "--seed", str(seed)]
        phases = report(options, program)["run"]["phases"]
        equal(report(options, program)["run"]["phases"], phases, "the same again")
        now, starts = 0, []
        for row in phases:
            if row["kind"] == "warmup":
                starts.append(now)
            now += row["instructions"]
        for i, start in enumerate(starts):
            check(i * 5000 <= start <= i * 5000 + 4500, "sample %d begins at %d" % (i, start))
        drawn[seed] = starts
    check(drawn[1] != drawn[2], "another seed draws other places")


def many():
    """Of more phases than are listed the sums are."""
    run = report(["--skip", "3", "--measure", "2", "--samples", "6000"], [os.path.join(GUESTS, "strides")])["run"]
    rows = run["phases"]
    listed = [("skip", 3), ("measure", 2)] * 5000
    equal([(row["kind"], row["instructions"]) for row in rows[:10000]], listed, "phases that are listed")
    rest = run["instructions"] - 5 * 5000 - 2 * 1000
    equal(rows[10000:], [{"kind": "measure", "instructions": 2000, "rest": 1000},
                         {"kind": "skip", "instructions": rest, "rest": 1001}], "the others")
    equal(run["measured"]["instructions"], 12000, "what was measured")


def refused():
    guest = [os.path.join(GUESTS, "strides")]
    for options, said in (
            (["--samples", "3"], "--samples needs to know how long a sample is; add --measure N"),
            (["--start", "3", "--measure", "9"],
             "--start is measured beside the samples of a period; add --period N"),
            (["--start", "3", "--skip", "1", "--period", "9"],
             "--start measures what --skip leaves out; leave one out"),
            (["--start", "3", "--period", "9", "--roi", "main"],
             "--start is of samples of the whole run; leave --roi out"),
            (["--measure", "3", "--offsets", "random"],
             "--offsets random draws a place in each period; add --period N"),
            (["--measure", "9", "--warmup", "2", "--period", "10"],
             "--period 10 is shorter than a sample of 9 instructions and its warm-up of 2"),
            (["--measure", "0"], "--measure 0: must be 1 to 10^18"),
            (["--skip", "-1"], "--skip"), (["--skip", "many"], "--skip"),
            (["--measure", "3", "--period", "9", "--offsets", "randm"], 'did you mean "random"?'),
            (["--skip", "1", "--no-sim"], "--no-sim skips everything"),
            (["--skip", "1", "--callgrind", "x"],
             "--callgrind follows every call, also of what is not measured; add --warm functional"),
            (["--skip", "1", "--callgrind", "x", "--warm", "flush"],
             "--callgrind follows every call, also of what is not measured; leave it out, or take --warm functional")):
        result = emulate(options + guest)
        equal((result.returncode, result.stdout), (125, b""), "status of " + " ".join(options))
        contains(result.stderr.decode(), [said], " ".join(options))


if __name__ == "__main__":
    {"pieces": pieces, "sums": sums, "offsets": offsets, "many": many, "refused": refused}[sys.argv[1]]()
    done()
