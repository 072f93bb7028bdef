# SPDX-License-Identifier: GPL-2.0-or-later
"""verbs.py diff|annotate|own|help|mistakes: the verbs that read reports, on reports of real runs; help, and programs
called like verbs.

diff      a report and itself; a program and its cure; exit statuses
annotate  what Valgrind's own writer says of a program, beside its source and its instructions
mistakes  words that were meant for c2emu, or for one of its verbs
help      asked for, on standard output; after mistakes, how a program of the verb's name is run, and that it is
own       the same of c2emu's own writer: the totals are those of report.json, the lines those that it names
"""

import json
import os
import re
import sys
import tempfile

from common import check, contains, done, emulate, equal, need, run

IMAGES = os.environ["IMAGES"]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def text(result):
    return result.stdout.decode(errors="replace")


def status(words, expected):
    result = emulate(words)
    equal(result.returncode, expected, "exit status of c2emu " + " ".join(words))
    return result


def diff():
    with tempfile.TemporaryDirectory() as directory:
        a, b, c = (os.path.join(directory, name) for name in ("a.json", "b.json", "c.json"))
        for path, options, program in ((a, [], "list"), (b, [], "list_padded"), (c, ["-m", "zen3"], "list")):
            emulate(["-q", "--json-full", path] + options + [os.path.join(IMAGES, program)])
        contains(text(status(["diff", a, a, "--fail-if", "L1D.misses!=0"], 0)), ["\nno counter differs\n"], "the same")
        # the cure takes every conflict miss from the loop
        result = status(["diff", "--fail-if=function:walk.L1D.conflict>=+0", a, b, "--fail-if", "L1D.conflict>+5%"], 0)
        contains(text(result), ["\nfunction walk in the program\n  level  counter"], "the cure")
        check("MACHINES" not in text(result), "machines are the same: " + text(result))
        result = status(["diff", b, a, "--fail-if", "L1D.conflict>+0", "--fail-if", "function:walk.L1D.conflict>+100"],
                        1)
        equal(text(result).count("\nFAILED: "), 2, "lines of conditions that hold")
        contains(text(status(["diff", a, c], 0)), ["MACHINES DIFFER: A ran on skylake, B on zen3\n"], "machines")
        for words, says in (([a], "give two reports"), ([a, b, c], "give two reports"),
                            ([a, b, "--fail-if"], "--fail-if needs a value"),
                            ([a, b, "--brief"], "unknown option --brief (see c2emu help diff)"),
                            ([a, b, "--fail-if", "L1D.conflcit>0"], 'did you mean "conflict"?'),
                            ([a, os.path.join(directory, "d.json")], "cannot be opened")):
            result = status(["diff"] + words, 125)
            contains(result.stderr.decode(), ["c2emu: diff: ", says], "diff " + " ".join(words))
            equal(result.stdout, b"", "output of a comparison that fails")


def annotated_totals(output):
    return int(re.search(r"^total +([\d,]+)", output, re.M).group(1).replace(",", ""))


def annotate():
    need("valgrind")
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "cg.out")
        program = os.path.join(IMAGES, "list")
        made = run(["valgrind", "--tool=callgrind", "--dump-instr=yes", "--cache-sim=yes",
                    "--callgrind-out-file=" + path,
                    program])
        equal(made.returncode, 0, "valgrind's exit status")
        with open(path) as file:
            totals = re.search(r"^totals: (\d+)", file.read(), re.M).group(1)
        source = text(status(["annotate", path], 0))
        equal(annotated_totals(source), int(totals), "the total of Ir")
        contains(source, [os.path.join(ROOT, "images", "list.c") + ": ", "sum += node->value;", "\nleft out: "],
                 "the source")
        # every instruction of the function that walks the list is there, with counts
        code = text(status(["annotate", "--asm", "--event=Dr", "--event", "Ir", path], 0))
        walk = re.search(r"^walk in .*?(?=\n\n\S|\Z)", code, re.M | re.S).group()
        check(re.search(r"addq .*# list\.c:36$", walk, re.M) is not None, "the addition in walk: " + walk)
        for words, says in ((["--event", "Drr", path], 'did you mean "Dr"?'), ([], "give a file"),
                            ([path, path], "one file"),
                            (["--evnt", "Dr", path], 'did you mean --event?'), (["--event"], "needs a value"),
                            ([program], "is no whole callgrind file"), ([path + ".no"], "cannot be opened")):
            result = status(["annotate"] + words, 125)
            contains(result.stderr.decode(), ["c2emu: annotate: ", says], "annotate " + " ".join(words))


def own():
    with tempfile.TemporaryDirectory() as directory:
        profile, report = os.path.join(directory, "callgrind"), os.path.join(directory, "json")
        emulate(["-q", "--callgrind", profile, "--json-full", report, os.path.join(IMAGES, "list")])
        with open(report) as file:
            found = json.load(file)
        for level in found["levels"]:
            for key in ("cold", "capacity", "conflict"):
                output = text(status(["annotate", "--asm", "--event", "%s.%s" % (key, level["name"]), profile], 0))
                equal(annotated_totals(output), level[key], "%s of %s" % (key, level["name"]))
        # without a choice: the class of misses at one level that costs most, and what the dearest line has of it
        cycles = {level["name"]: level["miss_cycles"] for level in found["cost"]["levels"]}
        classes = [(level[key] * cycles[level["name"]], key + level["name"], key, level["name"])
                   for level in found["levels"] for key in ("cold", "capacity", "conflict")]
        _, event, key, name = max(classes, key=lambda one: one[0])
        source = text(status(["annotate", profile], 0))
        total = next(level[key] for level in found["levels"] if level["name"] == name)
        contains(source, ["\ntotal    {:,} {} (100.0 %)\n".format(total, event)], "the costliest event")
        walk = [line for line in found["lines"] if line.get("function") == "walk"]
        count = {line["line"]: level["conflict"] for line in walk for level in line["levels"]
                 if level["name"] == "L1D" and level["conflict"] > 0}
        check(count, "no line of walk with conflicts")
        source = text(status(["annotate", "--event", "conflict.L1D", profile], 0))
        code = text(status(["annotate", "--asm", "--event", "conflict.L1D", profile], 0))
        for line, misses in count.items():
            check(re.search(r"^ *%d +[\d.]+ %% +%d  " % (misses, line), source, re.M) is not None,
                  "line %d with %d: %s" % (line, misses, source))
            check(re.search(r"^ *%d +[\d.]+ %% .*# list.c:%d$" % (misses, line), code, re.M) is not None,
                  "the instruction with %d: %s" % (misses, code))


def help():
    for words in (["help"], ["--help"], ["-h"]):
        result = status(words, 0)
        contains(text(result), ["Usage: c2emu [OPTION...] [--] PROGRAM", "\n  c2emu diff      compare two reports\n"],
                 "help")
        equal(result.stderr, b"", "errors of help")
    for verb in ("advise", "annotate", "diff", "explain", "help", "machines", "pagemap", "points"):
        result = status([verb, "--help"], 0)
        equal(text(status(["help", verb], 0)), text(result), "help " + verb)
        contains(text(result), ["Usage: c2emu %s [OPTION...]" % verb, "is run by `c2emu -- %s`" % verb], verb)
        equal(result.stderr, b"", "errors of help " + verb)
    machines = sorted(name[:-4] for name in os.listdir(os.path.join(ROOT, "machines")))
    equal([line.split()[0] for line in text(status(["--list-machines"], 0)).splitlines()], machines, "machines")
    with tempfile.TemporaryDirectory() as directory:
        os.symlink("/bin/echo", os.path.join(directory, "diff"))
        path = dict(os.environ, PATH=directory)
        for words, says, env, where in ((["diff", "a", "b"], "/diff is run by `c2emu -- diff`", path, "/"),
                                        (["diff", "-r"], "the program here is run by `c2emu ./diff`", path, directory),
                                        (["diff", "a", "b"], None, dict(path, PATH="/nowhere"), "/")):
            result = run([os.environ["C2EMU"]] + words, env=env, cwd=where)
            equal((result.returncode, result.stdout), (125, b""), "a verb in need of words")
            equal(says is not None and says in result.stderr.decode(), says is not None, result.stderr.decode())
            equal("is run by" in result.stderr.decode(), says is not None, result.stderr.decode())
        for words, where in ((["-q", "--", "diff", "x"], "/"), (["-q", "./diff", "x"], directory)):
            result = run([os.environ["C2EMU"]] + words, env=path, cwd=where)
            equal((result.returncode, result.stdout), (0, b"x\n"), "a program called diff")


def machines():
    """A machine printed is a machine file: a run on it gives the same report, name and all."""
    names = text(status(["--list-machines"], 0))
    equal(text(status(["machines"], 0)), names, "the list")
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "mine.ini")
        for name, change in (("sandybridge-ep", []), ("zen3", ["--set", "L2.ways=4"]), ("teach", [])):
            with open(path, "wb") as file:
                file.write(status(["machines", name] + change, 0).stdout)
            with open(path) as file:
                contains(file.read(), ["[machine]\nname = %s\n" % name, "\n[L2]\nsize = "] +
                         ["\nways = 4\n"] * len(change), name)
            program = os.path.join(IMAGES, "transpose")
            equal(status(["--full", "-m", path, program], 0).stderr,
                  status(["--full", "-m", name] + change + [program], 0).stderr, "a report on " + name)
    contains(text(status(["machines", "--keys"], 0)), ["| `ways` | 1 to 64 | required |\n"], "keys")
    for words, says in ((["zen33"], "c2emu: there is no machine \"zen33\" (did you mean \"zen3\"?)"),
                        (["zen3", "zen4"], "machines: zen4 is one too many: name one machine, or none for the list"),
                        (["--set", "L2.ways=4"], "machines: --set L2.ways=4 changes no machine: name one"),
                        (["--keys", "zen3"], "machines: --keys is about every machine: give no NAME and no --set")):
        result = status(["machines"] + words, 125)
        equal(result.stdout, b"", "what is printed of %s" % words)
        contains(result.stderr.decode(), [says], "a wrong word")


NOTE = "c2emu: note: --%s behind %s is handed to it; an option of c2emu's goes in front: c2emu --%s %s\n"


def mistakes():
    def says(words, out, err, expected=0):
        result = emulate(words)
        equal((result.returncode, result.stdout.decode(), result.stderr.decode()), (expected, out, err),
              " ".join(words))

    for words, option in ((["--skip", "5"], "skip=N"), (["a", "--skip=5", "--jobs"], "skip=N"),
                          (["--sandbox"], "sandbox"), (["--zero-page", "--", "x"], "zero-page")):
        note = NOTE % (option.split("=")[0], "echo", option, "echo")
        says(["-q", "echo"] + words, " ".join(words) + "\n", note)
    for words in (["--ski", "5"], ["--skipp"], ["-q"], ["--", "--skip", "5"], ["-skip"], ["skip"], ["--nosuch"]):
        says(["-q", "echo"] + words, " ".join(words) + "\n", "")
    for words in (["--version"], ["--help"], ["--output=/dev/null", "-d", "/dev/null"]): # one of sort's own
        check(b"note" not in emulate(["-q", "sort"] + words).stderr, "sort " + " ".join(words))
    says(["-q", "env", "A=1", "echo", "--skip", "5"], "--skip 5\n", "")
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "script")
        for script, note in (("echo --skip-ahead", NOTE % ("skip", path, "skip=N", path)), ("echo --skip here", "")):
            with open(path, "w") as file:
                file.write("#!/bin/sh\n%s\n" % script)
            os.chmod(path, 0o755)
            says(["-q", path, "--skip", "5"], script[5:] + "\n", note)
    missing = "c2emu: replya: not found in PATH\n"
    says(["replya", "x"], "", missing + "c2emu: did you mean the verb `replay`? (c2emu help replay)\n", 127)
    says(["-q", "replya", "x"], "", missing, 127)
    says(["./replya"], "", "c2emu: ./replya: No such file or directory\n", 127)
    says(["zzz"], "", "c2emu: zzz: not found in PATH\n", 127)
    says(["-q", "sh", "-c", "exit 127"], "", "", 127)


{"diff": diff, "annotate": annotate, "own": own, "mistakes": mistakes, "help": help,
 "machines": machines}[sys.argv[1]]()
done()
