# SPDX-License-Identifier: GPL-2.0-or-later
"""slim.py PART: the slim report of --json beside the whole one of --json-full.

same      all but the rankings is the same; a ranking has the first rows of the whole one and the same sums; a trivial
          program has less than 30 KB; --json-full is the report.json of -o, byte for byte
verified  either is made again in its own form
compared  diff of slim reports: no number of what one of them does not list
page      a page of a slim report has what the report has, and says what it has not
"""

import json
import os
import sys
import tempfile

import browser
from common import EMULATOR, check, contains, done, emulate, equal, run

IMAGES = os.environ["IMAGES"]
LIST, PADDED = os.path.join(IMAGES, "list"), os.path.join(IMAGES, "list_padded")
RANKINGS = ("objects", "functions", "lines", "loops")
directory = tempfile.TemporaryDirectory()


def path(name):
    return os.path.join(directory.name, name)


def load(name):
    with open(path(name), encoding="utf-8") as file:
        return json.load(file)


def make(name, words):
    """NAME.slim.json and NAME.full.json of one run."""
    result = emulate(["-q", "--json", path(name + ".slim.json"), "--json-full", path(name + ".full.json"), *words])
    equal((result.returncode, result.stderr), (0, b""), "status and messages of " + " ".join(words))
    return load(name + ".slim.json"), load(name + ".full.json")


# ---------------------------------------------------------------- what is in them

def sums(value, into, where=""):
    """Every integer below a list's entries, added up by its keys; levels by their names; addresses are no sums."""
    if isinstance(value, dict):
        name = value.get("name", "") if where.endswith(".levels") else ""
        for key, part in value.items():
            if key not in ("rest", "site", "sites", "miss", "charged", "line", "blocks", "depth", "entries",
                           "iterations", "trip_count", "coverage"):
                sums(part, into, "%s[%s].%s" % (where, name, key))
    elif isinstance(value, list):
        for part in value:
            sums(part, into, where)
    elif isinstance(value, int) and not isinstance(value, bool):
        into[where] = into.get(where, 0) + value
    return into


def check_ranking(slim, full, key):
    rows = [row for row in slim[key] if "rest" not in row]
    equal(rows, full[key][:len(rows)], key + ": rows")
    equal(sums(slim[key], {}), sums(full[key], {}), key + ": sums")
    check(len(full[key]) <= 10 or len(rows) == 10, "%s: %d rows" % (key, len(rows)))
    if len(full[key]) > 11:
        hidden = full[key][10:]
        number = len(hidden) - ("rest" in hidden[-1]) + hidden[-1].get("rest", {}).get(key, 0)
        equal(slim[key][-1]["rest"], {key: number}, key + ": how many more")


def check_conflicts(slim, full):
    for level in {entry["level"] for entry in full}:
        ours, theirs = ([entry for entry in of if entry["level"] == level] for of in (slim, full))
        equal(sum(e["count"] for e in ours), sum(e["count"] for e in theirs), "conflicts of " + level)
        equal([e["miss"] for e in ours if "miss" in e], [e["miss"] for e in theirs if "miss" in e][:3], "victims")
        for entry in ours:
            if "originators" in entry:
                equal(sum(o["count"] for o in entry["originators"]), entry["count"], "originators of " + level)
                check(len(entry["originators"]) <= 3, "originators of a victim")


def same():
    for name, words in (("true", ["/bin/true"]), ("list", ["--by", "loop", "--windows", "auto", "--reuse", LIST]),
                        ("cores", ["-m", "zen3", "-m", "teach", LIST]), ("none", ["--no-sim", LIST]),
                        ("plain", ["--no-attribution", LIST])):
        slim, full = make(name, words)
        equal(slim.get("slim"), True, name + ": the mark")
        equal([key for key in slim if key != "slim"], list(full), name + ": keys")
        for key in full:
            if key in RANKINGS:
                check_ranking(slim, full, key)
            elif key == "conflicts":
                check_conflicts(slim[key], full[key])
            else:
                equal(slim[key], full[key], "%s: %s" % (name, key))
    size = os.path.getsize(path("true.slim.json"))
    check(10000 < size < 30000, "the report of /bin/true has %d bytes" % size)
    check(os.path.getsize(path("true.full.json")) > 10 * size, "the whole report is not much larger")
    check(all(key in load("list.slim.json") for key in (*RANKINGS, "windows", "reuse", "findings")), "keys of the list")
    equal(emulate(["-q", "-o", path("out"), LIST]).returncode, 0, "status with -o")
    make("alone", [LIST])
    with open(path("out/report.json"), "rb") as whole, open(path("alone.full.json"), "rb") as alone:
        equal(whole.read(), alone.read(), "report.json of -o and --json-full")


# ---------------------------------------------------------------- what reads them

def verified():
    make("v", ["-m", "teach", LIST])
    for form in ("slim", "full"):
        result = emulate(["verify", path("v.%s.json" % form)])
        equal(result.returncode, 0, form + ": status of verify")
        contains(result.stdout.decode(), ["equal"], form)
        report = load("v.%s.json" % form)
        report["objects"][3]["refs"] += 1
        with open(path("changed.json"), "w", encoding="utf-8") as file:
            json.dump(report, file)
        result = emulate(["verify", path("changed.json")])
        equal(result.returncode, 1, form + ": status of verify of a changed report")
        refs = report["objects"][3]["refs"]
        contains(result.stdout.decode(), [".refs: %d, now %d\n" % (refs, refs - 1)], form + ", changed")


def compared():
    a, _ = make("a", ["--roi", "main", LIST])
    b, _ = make("b", ["--roi", "main", PADDED])
    result = emulate(["diff", path("a.slim.json"), path("b.slim.json"), "--all"])
    equal(result.returncode, 0, "status of diff")
    text = result.stdout.decode()
    names = [{(f.get("name"), f["module"]) for f in of["functions"] if "rest" not in f} for of in (a, b)]
    for name, module in names[0] ^ names[1]:
        check("\nfunction %s in %s" % (name, module) not in text, name + " is compared, though only one lists it")
    check(names[0] ^ names[1], "both reports list the same functions, which shows nothing")
    contains(text, ["\nfunction (not listed)\n", "not compared, for one report alone lists them: ",
                    "(--json-full lists more)\n"], "diff")
    alone = sorted(name for name, _ in names[0] - names[1] if name)[0]
    condition = ["--fail-if", "function:%s.run.executed>0" % alone]
    result = emulate(["diff", path("a.slim.json"), path("b.slim.json"), *condition])
    equal(result.returncode, 125, "status of a condition on what B does not list")
    contains(result.stderr.decode(), [alone, "b.slim.json lists", "--json-full"], "the condition")
    result = emulate(["diff", path("a.full.json"), path("b.full.json"), *condition])
    check(result.returncode in (0, 1), "the same of whole reports: %r" % result.stderr)


def page():
    slim, _ = make("p", [LIST])
    seen = {}
    for form in ("slim", "full"):
        html = path(form + ".html")
        result = run([EMULATOR, "html", path("p.%s.json" % form), "-o", html])
        equal((result.returncode, result.stderr), (0, b""), form + ": status of html")
        seen[form] = browser.ask(html, """({broken: window.broken || null, note: (document.querySelector("#slim") ||
            {}).innerText || null, objects: document.querySelectorAll("#objects + div tbody tr").length,
            first: document.querySelector("#objects + div tbody tr").innerText,
            others: document.querySelector("#objects + div").innerText,
            findings: [...document.querySelectorAll(".finding")].map(item => item.innerText)})""")
        equal(seen[form]["broken"], None, form + ": errors")
    equal(seen["full"]["note"], None, "the note of a whole report")
    contains(seen["slim"]["note"], ["--json-full", "dearest"], "the note")
    for key in ("first", "findings"):
        equal(seen["slim"][key], seen["full"][key], key)
    equal(seen["slim"]["objects"], len(slim["objects"]), "rows of objects")
    others = slim["objects"][-1]["rest"]["objects"]
    contains(seen["slim"]["others"], ["%d other objects" % others], "the row of the rest")


{"same": same, "verified": verified, "compared": compared, "page": page}[sys.argv[1]]()
done()
