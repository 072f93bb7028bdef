# SPDX-License-Identifier: GPL-2.0-or-later
"""reader.py PART: python/c2emu.py, on what c2emu writes.

rows       tables have what the JSON has; sums with the rest are whole; what is missing names its option
files      --vary-csv, results of a sweep and recordings; what is none of them is refused by name
examples   those of python/examples run, and print what they are to
bare       the module needs nothing that is not Python's own: frame() imports pandas, and says so where it is not there
"""

import csv
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

from common import EMULATOR, check, contains, done, emulate, equal, skip

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
IMAGES = os.environ["IMAGES"]
LIST = os.path.join(IMAGES, "list")
MODULE = os.path.join(ROOT, "python")
sys.path.insert(0, MODULE)
import c2emu  # noqa: E402

directory = tempfile.TemporaryDirectory()


def path(name):
    return os.path.join(directory.name, name)


def made(*words):
    result = emulate(["-q", *words])
    equal((result.returncode, result.stderr), (0, b""), "run with " + " ".join(words))


def refuses(call, kind, text):
    try:
        call()
    except kind as why:
        contains(str(why), [text], "the error")
    else:
        check(False, "nothing is wrong with " + text)


def rows():
    made("--json", path("s.json"), "--json-full", path("f.json"), "--by", "loop", "--windows", "auto", LIST)
    slim, whole = (c2emu.load(path(name)) for name in ("s.json", "f.json"))
    equal((slim.slim, whole.slim), (True, False), "slim")
    data = whole.data
    equal(slim.levels(), data["levels"], "levels")
    equal(whole.instructions, data["run"]["measured"]["instructions"], "instructions")
    for key in ("objects", "functions", "lines", "loops"):
        for report in (slim, whole):
            table = getattr(report, key)()
            equal(sum(row["cost"] for row in table), data["cost"]["cost"], key + ": the whole cost")
            for level in data["levels"]:
                equal(sum(row.get(level["name"] + ".misses", 0) for row in table), level["misses"],
                      "%s: misses of %s" % (key, level["name"]))
        first = getattr(whole, key)(rest=False)[0]
        equal({name: first[name] for name in first if "." not in name},
              {name: value for name, value in data[key][0].items() if not isinstance(value, (dict, list))},
              key + ": the first row")
        check(all("rest" not in row for row in getattr(slim, key)(rest=False)), key + ": the rest is there")
    equal(slim.objects()[-1]["rest"], len(whole.objects()) - 10, "how many more")
    for name in ("L1D", "L2"):
        equal(sum(row["count"] for row in slim.conflicts() if row["level"] == name),
              sum(row["count"] for row in data["conflicts"] if row["level"] == name), "conflicts of " + name)
    dearest = data["conflicts"][0]
    equal({key: slim.conflicts()[0][key] for key in ("count", "miss.function", "evictor", "reason")},
          {"count": dearest["count"], "miss.function": "walk", "evictor": dearest["originators"][0]["object"],
           "reason": dearest["originators"][0]["reason"]}, "the first conflict")
    equal(sum(row["L1D.misses"] for row in slim.windows()), data["levels"][0]["misses"], "windows")
    equal([row["where.line"] for row in slim.findings() if "where.line" in row],
          [f["where"]["line"] for f in data["findings"] if "line" in f["where"]], "findings")
    refuses(slim.lanes, c2emu.Missing, "has no lanes: it needs --vary")
    refuses(slim.lanes, KeyError, path("s.json"))
    made("-m", "teach", "--json", path("l.json"), "--vary", "L2.ways=2,4", LIST)
    lanes = c2emu.load(path("l.json"))
    equal([(row["name"], row["machine"], row["cost"], row["L2.misses"]) for row in lanes.lanes()],
          [(lane["name"], "teach", lane["cost"], lane["levels"][-2]["misses"]) for lane in lanes.data["lanes"]],
          "lanes")


def files():
    made("-m", "teach", "--json", path("v.json"), "--vary-csv", path("v.csv"), "--vary", "L2.ways=2,4",
         "--vary", "pages=buddy,age=0.5,random", LIST)
    table = c2emu.load(path("v.csv"))
    equal([(row["machine"], row["L2.ways"], row["pages"]) for row in table],
          [("teach", ways, pages) for ways in (2, 4) for pages in ("buddy,age=0.5", "random")], "--vary-csv")
    equal([row["L2.misses"] for row in table], [row["L2.misses"] for row in c2emu.load(path("v.json")).lanes()],
          "counts of --vary-csv")
    for text, value in (("12", 12), ("-3", -3), ("0", 0), ("0.5", 0.5), ("", None), ("007", "007"), ("4K", "4K")):
        equal(c2emu.number(text), value, "a cell")
    results(path("results"))
    made("--record", path("r"), LIST)
    recording = c2emu.load(path("r"))
    chunks = recording.chunks()
    equal(chunks[-1]["offset"] + 4 + chunks[-1]["bytes"], os.path.getsize(path("r")), "the end of the last chunk")
    whole = b"".join(subprocess.run(["zstd", "-dcq"], input=part(path("r"), chunk), stdout=subprocess.PIPE,
                                    check=True).stdout for chunk in chunks)
    equal(sum(chunk["content"] for chunk in chunks), len(whole), "what is in the chunks")
    made("--json-full", path("live.json"), "-m", "teach", LIST)
    replayed = recording.report("-m", "teach", program=EMULATOR)
    equal(replayed.levels(), c2emu.load(path("live.json")).levels(), "replayed")
    with open(path("r"), "rb") as file, open(path("cut"), "wb") as cut:
        cut.write(file.read()[:-1])
    refuses(c2emu.load(path("cut")).chunks, c2emu.Error, "ends within a chunk")
    for name, content, says in (("no.json", b"{", "no.json is no JSON"), ("a.json", b"{}", "a.json is no report"),
                                ("n.json", b'{"format": "c2emu-report", "version": 2}', "this reader knows 1"),
                                ("x.rec", b"\x89C2REC\r\n\x09\0\0\0", "has version 9")):
        with open(path(name), "wb") as file:
            file.write(content)
        refuses(lambda name=name: c2emu.load(path(name)), c2emu.Error, says)
    refuses(lambda: c2emu.load(path("nowhere")), c2emu.Error, "nowhere cannot be read: No such file")
    refuses(lambda: c2emu.run(["/bin/true"], "-m", "tech", program=EMULATOR), c2emu.Error, "tech")
    equal(c2emu.run(["/bin/sh", "-c", "exit 4"], program=EMULATOR)["exit_status"], 4, "run")


def part(name, chunk):
    with open(name, "rb") as file:
        file.seek(chunk["offset"] + 4)
        return file.read(chunk["bytes"])


def results(where):
    """What a sweep writes, as its own code writes it."""
    sys.path.insert(0, os.path.join(ROOT, "sweep"))
    import collect
    os.mkdir(where)
    rows_ = [{"program": "a", "machine": "teach", "pages": "random", "pages_seed": str(seed), "instructions": 1000,
              "L2.misses": 10 * seed, "receipt": "0"} for seed in (1, 2)]
    columns = collect.columns_of(rows_)
    collect.write_csv(os.path.join(where, "results.csv"), rows_, columns)
    collect.write_sqlite(os.path.join(where, "results.sqlite"), rows_, columns, {"0": "{}"})
    read = c2emu.load(where)
    equal(read, c2emu.load(os.path.join(where, "results.csv")), "results.sqlite and results.csv")
    cells = [(row["program"], row["pages_seed"], row["L2.misses"]) for row in read]
    equal(cells, [("a", 1, 10), ("a", 2, 20)], "cells")
    sqlite3.connect(path("other.sqlite")).execute("CREATE TABLE t (x)").connection.commit()
    refuses(lambda: c2emu.load(path("other.sqlite")), c2emu.Error, "has no results of a sweep")


# ---------------------------------------------------------------- examples

def example(name, *words):
    result = subprocess.run([sys.executable, "-B", os.path.join(MODULE, "examples", name), *words], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                            env={**os.environ, "PYTHONPATH": MODULE,
                                 "PATH": os.path.dirname(os.path.abspath(EMULATOR)) + ":" + os.environ["PATH"]})
    equal((result.returncode, result.stderr), (0, ""), name)
    return result.stdout


def examples():
    try:
        import pandas  # noqa: F401
    except ImportError:
        skip("python3-pandas is not installed")
    shown = example("report.py", LIST)
    report = c2emu.run([LIST], "--roi", "main", program=EMULATOR)
    first = report.levels()[0]
    check(re.search(r"^ *L1D +%d +%d " % (first["accesses"], first["misses"]), shown, re.M), "levels: " + shown)
    conflicts = max(row.get("L1D.conflict", 0) for row in report.lines(rest=False) if row["module"] == "list")
    check(re.search(r"^ *list\.c +36(\.0)? +%d" % conflicts, shown, re.M), "the line with most conflicts: " + shown)
    contains(shown, [finding["remedy"] for finding in report.findings()], "findings")

    made("-m", "c2sim", "--pages", "random", "--roi", "main", "--vary-csv", path("t.csv"), "--vary", "pages.seed=1..12",
         os.path.join(IMAGES, "column"), "20")
    with open(path("t.csv"), newline="", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    most = max(table, key=lambda row: int(row["L2.conflict"]))
    fewer = sum(int(row["L2.conflict"]) < int(most["L2.conflict"]) for row in table)
    contains(example("vary.py", path("t.csv")), ["seed %s: %s conflict misses of L2, %d of 12 have fewer"
                                                 % (most["pages.seed"], most["L2.conflict"], fewer)], "vary.py")
    results(path("sweep"))
    shown = example("sweep.py", path("sweep"))
    check(re.search(r"^a +random +15$", shown, re.M), "the median of 10 and 20: " + shown)
    check(re.search(r"^a +teach +10\.00 +20\.00 +2\.00$", shown, re.M), "the spread: " + shown)


def bare():
    words = ("import sys; sys.path.insert(0, %r); before = set(sys.modules); import c2emu; "
             "new = {name.split('.')[0] for name in set(sys.modules) - before} - {'c2emu'}; "
             "print(sorted(new - set(sys.stdlib_module_names)))\n"
             "sys.modules['pandas'] = None\n"
             "try:\n    c2emu.Rows([{}]).frame()\nexcept ImportError as why:\n    print(why)" % MODULE)
    shown = subprocess.run([sys.executable, "-I", "-B", "-c", words], text=True, stdout=subprocess.PIPE,
                           check=True).stdout
    equal(shown.splitlines()[0], "[]", "modules that are not Python's own")
    contains(shown, ["pandas"], "frame() without pandas")


{"rows": rows, "files": files, "examples": examples, "bare": bare}[sys.argv[1]]()
done()
