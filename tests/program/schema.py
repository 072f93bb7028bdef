# SPDX-License-Identifier: GPL-2.0-or-later
"""schema.py PART: docs/report.schema.json and the reports that are written.

valid    reports of all kinds, slim and whole, and the goldens
strict   a report that lacks a required key is not, nor is one with a key that the schema does not name, or another kind
         of value: tried at every place of a report that the schema describes
number   the schema's number is that of docs/reports.md, and its first part the reports' version
"""

import copy
import glob
import json
import os
import re
import sys
import tempfile

from common import check, done, emulate, equal, skip

try:
    import jsonschema
except ImportError:
    skip("python3-jsonschema is not installed")

IMAGES = os.environ["IMAGES"]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIST, MATMUL = os.path.join(IMAGES, "list"), [os.path.join(IMAGES, "matmul"), "40"]
with open(os.path.join(ROOT, "docs", "report.schema.json"), encoding="utf-8") as file:
    SCHEMA = json.load(file)
jsonschema.Draft202012Validator.check_schema(SCHEMA)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

RUNS = [
    (["/bin/true"], 0), (["-m", "zen3", LIST], 0), (["--no-sim", LIST], 0), (["--no-attribution", LIST], 0),
    (["--roi", "main", "--by", "loop", "--rcd", LIST], 0),
    (["-m", "teach", "-m", "zen3", "--vary", "L2.ways=4,8", LIST], 0),
    (["--against", "random", LIST], 0), (["--windows", "auto", "--reuse", "--line-use", "--bandwidth", "--histogram",
                                         "--sets", *MATMUL], 0),
    (["--period", "9k", "--measure", "4k", LIST], 0), (["--start", "9k", "--period", "9k", "--measure", "4k", LIST], 0),
    (["--separate-callers", "2", "--callgrind", "/dev/null", LIST], 0),
    (["-m", "haswell-ep", "--set", "cores=4", "--set", "L2.prefetch=stream", LIST], 0),
    (["--huge", "thp", "--zero-page", "--place", "heap=same-color", *MATMUL], 0),
    (["--set", "walks.mode=cached", "--fifo-detector", "--set", "L1D.write=through", "--set", "L1D.allocate=no", LIST],
     0),
    (["--clock", "2024-02-29T12:30:00Z", "/bin/sh", "-c", "kill -9 $$"], 137), (["/bin/sh", "-c", "exit 3"], 3),
]


def complaint(report):
    if VALIDATOR.is_valid(report):
        return None
    worst = jsonschema.exceptions.best_match(VALIDATOR.iter_errors(report))
    return "%s: %s" % ("".join("[%r]" % key for key in worst.absolute_path), worst.message[:300])


def reports(words, status):
    with tempfile.TemporaryDirectory() as directory:
        paths = [os.path.join(directory, name) for name in ("slim.json", "full.json")]
        result = emulate(["-q", "--json", paths[0], "--json-full", paths[1], *words])
        equal(result.returncode, status, "status of " + " ".join(words))
        for path in paths:
            with open(path, encoding="utf-8") as file:
                yield json.load(file)


def valid():
    for words, status in RUNS:
        for report in reports(words, status):
            form = "slim" if "slim" in report else "whole"
            equal(complaint(report), None, "%s, %s" % (" ".join(words), form))
    goldens = glob.glob(os.path.join(ROOT, "tests", "program", "golden", "*.json"))
    check(len(goldens) > 5, "goldens: %r" % goldens)
    for path in goldens:
        with open(path, encoding="utf-8") as file:
            equal(complaint(json.load(file)), None, os.path.basename(path))


# ---------------------------------------------------------------- what is not valid

def resolved(schema):
    while "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    return schema


def described(value, schema, way, places):
    """Places of a report and what the schema has of them, one for each place in the schema; of what may be one of
    several, the one that it is."""
    schema = resolved(schema)
    if "anyOf" in schema:
        fits = [one for one in schema["anyOf"]
                if jsonschema.Draft202012Validator({**one, "$defs": SCHEMA["$defs"]}).is_valid(value)]
        check(len(fits) == 1, "%r fits %d of the schema's alternatives" % (way, len(fits)))
        described(value, fits[0], way, places)
    elif isinstance(value, dict) and "properties" in schema:
        places.setdefault(id(schema), (way, schema))
        for key, part in value.items():
            if key in schema["properties"]:
                described(part, schema["properties"][key], way + (key,), places)
    elif isinstance(value, list) and "items" in schema:
        for number, part in enumerate(value[:400]):
            described(part, schema["items"], way + (number,), places)


def changed(report, way, change):
    report = copy.deepcopy(report)
    at = report
    for key in way:
        at = at[key]
    change(at)
    return report


def refused(report, what):
    check(not VALIDATOR.is_valid(report), "%s is valid" % what)


def strict():
    tried = set()
    for words, status in (RUNS[2], RUNS[4], RUNS[5], RUNS[11]):
        report = next(reports(words, status))
        places = {}
        described(report, SCHEMA, (), places)
        for number, (way, schema) in places.items():
            if number in tried:
                continue
            tried.add(number)
            for key in schema.get("required", ()):
                if way[:1] != ("functions",) or key != "rest": # a function may lack its name and its module
                    refused(changed(report, way, lambda at, key=key: at.pop(key)), "%r without %s" % (way, key))
                refused(changed(report, way, lambda at, key=key: at.update({key: [None]})),
                        "%r with another %s" % (way, key))
            if schema.get("additionalProperties") is False:
                refused(changed(report, way, lambda at: at.update({"new": 1})), "%r with a new key" % (way,))
    check(len(tried) > 30, "%d places tried" % len(tried))
    whole = next(reports(*RUNS[0]))
    for key, value in (("version", 2), ("format", "c2emu-advice"), ("slim", False), ("exit_status", -1)):
        refused({**whole, key: value}, "%s = %r" % (key, value))
    refused({key: value for key, value in whole.items() if key != "cost"}, "objects without what they cost")


def number():
    with open(os.path.join(ROOT, "docs", "reports.md"), encoding="utf-8") as file:
        told = re.search(r"^The schema's number is \*\*(\d+)\.(\d+)\*\*", file.read(), re.M)
    check(told, "docs/reports.md has the schema's number")
    equal(SCHEMA["$id"], "urn:c2emu:report:%s.%s" % told.groups(), "$id")
    equal(SCHEMA["properties"]["version"]["const"], int(told.group(1)), "version")


{"valid": valid, "strict": strict, "number": number}[sys.argv[1]]()
done()
