#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Findings of programs whose trouble is known: truth.tsv has it, written from their sources.

    findings.py found NAME     the first finding is what the truth says; of a tuned program, none is worth anything;
                               the others are those of further.tsv
    findings.py cured NAME     the cured form prints the same and costs less
    findings.py both NAME      found and cured, of one run of the sick form
    findings.py stripped NAME  what is said of a program without symbols
    findings.py truth          the table fits the sources: marks, kinds of programs, gains
    findings.py judge          the comparison with the truth, tried on findings made up here, right ones and wrong ones
    findings.py table [NAME]   all programs, or one, for people: what was found, foretold and gained

PROGRAMS is the directory of the programs."""

import collections
import fnmatch
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "program"))
from common import check, contains, done, emulate, equal, fail, skip  # noqa: E402

PROGRAMS = os.environ.get("PROGRAMS", "")
MACHINE = "skylake"  # to which the sizes of the programs are made
EXTENSIONS = {"c": "c", "c++": "cc", "fortran": "F90", "rust": "rs"}
PATTERNS = ("loop-order", "set-conflicts", "page-placement", "capacity", "streaming", "partial-lines",
            "pointer-chasing", "tlb", "scattered-accesses", "false-sharing", "true-sharing", "instruction-cache",
            "non-temporal-stores", "write-allocate", "useless-prefetches", "late-prefetches", "cyclic-distribution",
            "sorted-elements", "startup")
NO_GAIN_HERE = ("page-placement", "write-allocate")  # on the processor that gains were measured on: README.md
COLUMNS = "name language cores pattern where object remedy gain native flags note"
MARK = re.compile(r"(/\*|//|!) here\b")

# A tuned program may have findings of which none is worth the reader's time: what each could gain is at most a
# twentieth of the instructions. A cycle an instruction is what a program without misses takes on a plain processor, so
# this is at most 5 % of its time; with what its misses cost in the sum, the bound would be the laxer the more it
# misses.
WORTHLESS = 20

Program = collections.namedtuple("Program", COLUMNS)
Further = collections.namedtuple("Further", "name pattern where object remedy truth")


def programs():
    with open(os.path.join(HERE, "truth.tsv"), encoding="utf-8") as table:
        rows = [line.rstrip("\n").split("\t") for line in table if not line.startswith("#")]
    return {row[0]: Program(*row) for row in rows}


def further_of(name):
    with open(os.path.join(HERE, "further.tsv"), encoding="utf-8") as table:
        rows = [Further(*line.rstrip("\n").split("\t")) for line in table if not line.startswith("#")]
    return [row for row in rows if name in (row.name, None)]


def source(program):
    return "%s.%s" % (program.name, EXTENSIONS[program.language])


# ---------------------------------------------------------------- the comparison

def is_at(where, accepted):
    """Whether a place of a finding is one of `FILE:LINE,FILE:*`."""
    if accepted == "*":
        return True
    place = "%s:%s" % (os.path.basename(where.get("file", "")), where.get("line", ""))
    return any(fnmatch.fnmatchcase(place, one) for one in accepted.split(","))


def is_named(name, accepted):
    """Whether an object's name, None where there is none, is one of the patterns."""
    if accepted == "*":
        return True
    return name is not None and any(fnmatch.fnmatchcase(name, one) for one in accepted.split(","))


def wrong_form(finding):
    """What a finding must have whatever it is about."""
    wrong = []
    if finding.get("pattern") not in PATTERNS:
        wrong.append("pattern is %r" % finding.get("pattern"))
    for key in ("cost", "gain"):
        if not isinstance(finding.get(key), int) or finding[key] < 0:
            wrong.append("%s is %r" % (key, finding.get(key)))
    if not wrong and finding["gain"] > finding["cost"]:
        wrong.append("gain %d is more than the cost %d" % (finding["gain"], finding["cost"]))
    if finding.get("gain_by") not in ("simulated", "estimated", "none"):
        wrong.append("gain_by is %r" % finding.get("gain_by"))
    if finding.get("gain_by") == "none" and finding.get("gain") != 0:
        wrong.append("gain is %r, by none" % finding.get("gain"))
    if not isinstance(finding.get("where", {}), dict):
        wrong.append("where is %r" % finding["where"])
    if not finding.get("remedy"):
        wrong.append("there is no remedy")
    return wrong


def judge(program, findings, instructions):
    """What is wrong with a report's findings, as sentences."""
    wrong = [text for finding in findings for text in wrong_form(finding)]
    if wrong:
        return wrong
    if program.pattern == "none":
        return ["%s, gain %d of %d instructions: %s" % (one["pattern"], one["gain"], instructions, one["remedy"])
                for one in findings if one["gain"] * WORTHLESS > instructions]
    if not findings:
        return ["nothing was found"]
    first = findings[0]
    if first["pattern"] not in program.pattern.split(","):
        wrong.append("the first finding is %s, not %s" % (first["pattern"], program.pattern))
    if not is_at(first.get("where", {}), program.where):
        wrong.append("it is at %s, not at %s" % (json.dumps(first.get("where")), program.where))
    if not is_named(first.get("object"), program.object):
        wrong.append("its object is %r, not %s" % (first.get("object"), program.object))
    if not re.search(program.remedy, first["remedy"]):
        wrong.append("the remedy is %r, without %s" % (first["remedy"], program.remedy))
    return wrong


def fits(row, one):
    return (one["pattern"] == row.pattern and is_at(one.get("where", {}), row.where) and
            is_named(one.get("object"), row.object) and re.search(row.remedy, one["remedy"]))


def judge_further(rows, findings):
    """What is wrong with the findings behind the first, as sentences."""
    wrong = ["%s at %s of %s is in no row of further.tsv: %s" % (
        one["pattern"], json.dumps(one.get("where")), one.get("object"), one["remedy"])
        for one in findings if not any(fits(row, one) for row in rows)]
    return wrong + ["%s of further.tsv was not found: %s" % (row.pattern, row.truth)
                    for row in rows if not any(fits(row, one) for one in findings)]


# ---------------------------------------------------------------- runs

def options(program, machine=MACHINE):
    """What frames do needs frames that are drawn."""
    if program.pattern == "page-placement":
        return ["-m", machine, "--pages", "random"]
    return ["-m", machine] + ([] if program.cores == "1" else ["--set", "cores=" + program.cores])


def path(program, form=""):
    there = os.path.join(PROGRAMS, program.name + form)
    if not os.path.exists(there):
        skip("%s was not built: there is no compiler of %s" % (there, program.language))
    return there


@functools.lru_cache(maxsize=1)  # what compares the sick form twice runs it once; the table keeps no reports
def run(program, form=""):
    """The report, and what the program printed."""
    with tempfile.TemporaryDirectory() as directory:
        to = os.path.join(directory, "report.json")
        result = emulate(["-q", "--json-full", to] + options(program) + [path(program, form)])
        equal(result.returncode, 0, "exit status of %s%s" % (program.name, form))
        with open(to, "rb") as file:
            return json.load(file), result.stdout


def found(name):
    program = programs()[name]
    got, _ = run(program)
    if check("findings" in got, "the report has findings"):
        for wrong in judge(program, got["findings"], got["run"]["instructions"]):
            fail("%s: %s" % (name, wrong))
        for wrong in judge_further(further_of(name), got["findings"][program.pattern != "none":]):
            fail("%s: %s" % (name, wrong))


def cured(name):
    program = programs()[name]
    (sick, printed), (well, printed_well) = run(program), run(program, "_cured")
    equal(printed_well, printed, "what the cured form prints")
    check(cycles(program, well) < cycles(program, sick),
          "%s: the cured form costs %d, the sick one %d" % (name, cycles(program, well), cycles(program, sick)))


def both(name):
    for form in ("", "_cured"):
        path(programs()[name], form)  # what is not there is known before anything is compared
    found(name)
    cured(name)


def stripped(name):
    """Without symbols the first finding is of the same pattern; it has the file's name, and says what is missing."""
    program = programs()[name]
    with tempfile.TemporaryDirectory() as directory:
        bare = os.path.join(directory, name)
        if not shutil.which("strip"):
            skip("there is no strip")
        subprocess.run(["strip", "-o", bare, path(program)], check=True)
        to = os.path.join(directory, "report.json")
        result = emulate(["--width", "200", "--json", to] + options(program) + [bare])
        equal(result.returncode, 0, "exit status of " + name)
        with open(to, "rb") as file:
            first = json.load(file)["findings"][0]
    equal(first["pattern"], program.pattern, "pattern of " + name)
    equal((first["where"].get("function"), first["where"]["module"]), (None, name), "place of " + name)
    text = result.stderr.decode()
    note = "%s has no names for its code: its symbols (a -dbgsym package, in Debian) would give function" % name
    equal(text.count(note), 1, "how often the report says what is missing")


def cycles(program, document):
    """What the cure is to spare: of prefetches also what is no cost, instructions and what late ones keep waiting."""
    sums = document.get("cache_instructions", {}).get("prefetches", {})
    beside = {"useless-prefetches": document["run"]["instructions"], "late-prefetches": sums.get("late_cycles", 0)}
    return document["cost"]["cost"] + beside.get(program.pattern, 0)


# ---------------------------------------------------------------- the table

def marks(program):
    with open(os.path.join(HERE, source(program)), encoding="utf-8") as file:
        return [number for number, line in enumerate(file, 1) if MARK.search(line)]


def truth():
    table = programs()
    files = {name for name in os.listdir(HERE) if name.endswith(tuple("." + e for e in EXTENSIONS.values()))}
    equal(sorted(source(program) for program in table.values()), sorted(files), "the sources")
    for program in table.values():
        own = source(program) + ":"
        lines = [int(one[len(own):]) for one in program.where.split(",") if one.startswith(own)]
        equal(lines, marks(program), "marked lines of " + program.name)
        if program.pattern != "none":
            check(set(program.pattern.split(",")) <= set(PATTERNS), "%s: %s" % (program.name, program.pattern))
            if program.pattern not in NO_GAIN_HERE:
                check(float(program.gain) >= 1.1, "%s: a gain of %s" % (program.name, program.gain))
    kinds = collections.Counter(program.pattern for program in table.values())
    for pattern in PATTERNS + ("none",):
        least = {"loop-order": 4, "streaming": 1, "startup": 1, "page-placement": 1, "none": 10,
                 "useless-prefetches": 1, "late-prefetches": 1, "cyclic-distribution": 1}.get(pattern, 2)
        check(kinds[pattern] >= least, "%d programs of %s, at least %d" % (kinds[pattern], pattern, least))
    for row in further_of(None):
        check(row.name in table and row.pattern in PATTERNS and row.truth, "a row of further.tsv: %s" % row.name)
    for language in EXTENSIONS:
        check(any(program.language == language for program in table.values()), "a program in " + language)


def finding(**changes):
    made = {"pattern": "loop-order", "where": {"function": "f", "file": "/src/x.c", "line": 17}, "object": "b",
            "cost": 1000, "gain": 900, "gain_by": "simulated", "remedy": "swap the loops of lines 16 and 17",
            "evidence": {}}
    made.update(changes)
    return made


def judge_tried():
    sick = Program("x", "c", "1", "loop-order", "x.c:17,x.c:19", "a,b*", "swap|exchange", "2", "-", "-", "-")
    anywhere = sick._replace(where="*", object="*")
    library = sick._replace(where="x.c:3,stl_list.h:*")
    tuned = sick._replace(pattern="none")
    right = [
        (sick, [finding()]),
        (sick, [finding(), finding(pattern="tlb")]),
        (sick, [finding(object="b@main (x.c:4)")]),
        (anywhere, [finding(where={}, object=None)]),
        (library, [finding(where={"function": "f", "file": "stl_list.h", "line": 999})]),
        (sick._replace(pattern="capacity,loop-order"), [finding()]),
        (tuned, []),
        (tuned, [finding(gain=500), finding(gain=0, gain_by="none")]),
    ]
    for program, findings in right:
        equal(judge(program, findings, 10000), [], "right findings")
    wrong = [
        (sick, [], "nothing was found"),
        (sick, [finding(pattern="capacity"), finding()], "the first finding is capacity, not loop-order"),
        (sick, [finding(where={"function": "f", "file": "x.c", "line": 18})], "it is at"),
        (sick, [finding(where={"function": "f", "file": "y.c", "line": 17})], "it is at"),
        (sick, [finding(where={})], "it is at"),
        (sick, [finding(object="c")], "its object is 'c'"),
        (sick, [finding(object=None)], "its object is None"),
        (sick, [finding(remedy="use less")], "the remedy is 'use less'"),
        (sick, [finding(remedy="")], "there is no remedy"),
        (sick, [finding(pattern="magic")], "pattern is 'magic'"),
        (sick, [finding(cost=-1)], "cost is -1"),
        (sick, [finding(gain=1001)], "gain 1001 is more than the cost 1000"),
        (sick, [finding(gain_by="guessed")], "gain_by is 'guessed'"),
        (sick, [finding(gain_by="none")], "gain is 900, by none"),
        (library, [finding(where={"function": "f", "file": "stl_map.h", "line": 3})], "it is at"),
        (tuned, [finding(gain=0), finding(gain=501)], "loop-order, gain 501 of 10000 instructions"),
    ]
    for program, findings, text in wrong:
        contains("; ".join(judge(program, findings, 10000)), [text], "findings that are wrong")
    row = Further("x", "loop-order", "x.c:17", "b", "swap", "it is so")
    equal(judge_further([row], [finding()]), [], "right further findings")
    for findings in ([finding(pattern="tlb")], [finding(object="c")], [finding(remedy="use less")],
                     [finding(where={"file": "x.c", "line": 18})]):
        equal(len(judge_further([row], findings)), 2, "a finding of no row, and a row of no finding")
    equal(judge_further([row], []), ["loop-order of further.tsv was not found: it is so"], "no finding")


def table(*names):
    """What a run finds, what it says that could be gained, and what the cured form gains."""
    head = ("program", "truth", "first finding", "cost", "foretold", "gained", "wrong")
    print("%-16s %-17s %-17s %11s %11s %11s  %s" % head)
    for program in [programs()[name] for name in names or programs()]:
        got, _ = run(program)
        findings = got.get("findings", [])
        first = findings[0] if findings else {"pattern": "-", "gain": 0}
        gained = ""
        if program.pattern != "none":
            gained = got["cost"]["cost"] - run(program, "_cured")[0]["cost"]["cost"]
        print("%-16s %-17s %-17s %11d %11d %11s  %s" % (
            program.name, program.pattern, first["pattern"], got["cost"]["cost"], first["gain"], gained,
            "; ".join(judge(program, findings, got["run"]["instructions"]))), flush=True)


if __name__ == "__main__":
    {"found": found, "cured": cured, "both": both, "stripped": stripped, "truth": truth, "judge": judge_tried,
     "table": table}[sys.argv[1]](*sys.argv[2:])
    done()
