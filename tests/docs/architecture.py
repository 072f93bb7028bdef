#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/architecture.md against the sources.

rooms  The first picture has the rooms of tests/layers.txt, each on its floor.
names  In a row of a table every file exists, and every name is defined in one of the row's files: functions, macros and
       structures as such, constants in capitals as words.
diffs  Every ```diff block applies, all of them one after the other, and the C sources that they change compile.

Before that each check is tried on a small page that is wrong in one place, which must be named.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = "docs/architecture.md"


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def floors_of_table():
    rows = (line.split() for line in read("tests/layers.txt").splitlines() if line and line[0] != "#")
    return {row[1]: int(row[0]) for row in rows}


# ---------------------------------------------------------------- rooms

def floors_of_picture(page):
    """Lines such as ` 2   machine, mmu        what they are`."""
    picture = re.search(r"^```text\n(.*?)^```", page, re.M | re.S)
    floors = {}
    for floor, rooms in re.findall(r"^ *(\d+) +(\w+(?:, \w+)*)  ", picture.group(1) if picture else "", re.M):
        floors.update((room, int(floor)) for room in rooms.split(", "))
    return floors


def check_rooms(page):
    shown, real = floors_of_picture(page), floors_of_table()
    return ["room %s is on floor %s in the picture, on %s in tests/layers.txt"
            % (room, shown.get(room, "none"), real.get(room, "none"))
            for room in sorted(set(shown) | set(real)) if shown.get(room) != real.get(room)]


# ---------------------------------------------------------------- names

def behind_parentheses(text, at):
    """The first character behind the parentheses that open at text[at], blanks left out."""
    depth = 0
    for i in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return text[i + 1:].lstrip()[:1]
    return ""


def defines(text, name):
    if re.search(r"^#define %s\b" % name, text, re.M) or re.search(r"^(?:struct|enum) %s \{" % name, text, re.M):
        return True
    if name.isupper():
        return bool(re.search(r"\b%s\b" % name, text))
    return any(behind_parentheses(text, match.end() - 1) == "{"
               for match in re.finditer(r"^[a-zA-Z_][^\n;={}]*\b%s\(" % name, text, re.M))


def rows_of(page):
    return [line for line in page.splitlines() if re.match(r"\| .*`", line)]


def check_row(row):
    words = re.findall(r"`([^`]+)`", row)
    files = [word for word in words if re.fullmatch(r"[\w.-]+(?:/[\w.-]+)+", word)]
    missing = [file for file in files if not os.path.isfile(os.path.join(ROOT, file))]
    text = "".join(read(file) for file in files if file not in missing)
    return ["there is no file %s" % file for file in missing] + \
        ["%s is not defined in %s" % (word, " or ".join(files) or "any file beside it")
         for word in words if re.fullmatch(r"[A-Za-z_]\w+", word) and not defines(text, word)]


def check_names(page):
    return [problem for row in rows_of(page) for problem in check_row(row)]


# ---------------------------------------------------------------- diffs

def copy_sources(to):
    folders = list(floors_of_table()) + ["machines"]
    for folder in folders:
        shutil.copytree(os.path.join(ROOT, folder), os.path.join(to, folder))


def run(tree, *command, **more):
    environment = dict(os.environ, GIT_CEILING_DIRECTORIES=os.path.dirname(tree))
    return subprocess.run(command, cwd=tree, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, timeout=300, **more)


def changed_sources(diff):
    return sorted(set(re.findall(r"^\+\+\+ b/(.*\.c)$", diff, re.M)))


def check_diffs(page):
    diffs = re.findall(r"^```diff\n(.*?)^```", page, re.M | re.S)
    with tempfile.TemporaryDirectory() as scratch:
        tree = os.path.join(os.path.realpath(scratch), "tree")
        os.mkdir(tree)
        copy_sources(tree)
        for diff in diffs:
            done = run(tree, "git", "apply", "--whitespace=error-all", "-", input=diff)
            if done.returncode != 0:
                return ["a diff does not apply: %s" % done.stdout.strip()]
        problems = []
        for source in changed_sources("".join(diffs)):
            done = run(tree, os.environ.get("CC", "cc"), "-std=gnu17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror",
                       "-fsyntax-only", "-I.", source)
            if done.returncode != 0:
                problems.append("%s of a diff does not compile: %s" % (source, done.stdout.strip()[:600]))
    return problems


# ---------------------------------------------------------------- the checks themselves

def picture_of(floors):
    return "```text\n%s```\n" % "".join(" %d   %s   words, and more\n" % (floors[room], room) for room in floors)


NEW_FILE = "--- /dev/null\n+++ b/base/%s.c\n@@ -0,0 +1 @@\n+%s\n"


def trials():
    """(check, page, the problems that it has, as patterns)"""
    floors = floors_of_table()
    yield check_rooms, picture_of(floors), []
    yield check_rooms, picture_of(dict(floors, base=1)), ["room base is on floor 1 in the picture, on 0 "]
    yield check_rooms, picture_of({room: floors[room] for room in floors if room != "cli"}), ["room cli .* none in the"]
    yield check_rooms, picture_of(dict(floors, attic=9)), ["room attic is .* on none in tests/layers.txt"]
    yield check_names, "| `c2_map_put`, `base/map.c` | `C2_ASSERT` of `base/base.h` |\n", []
    yield check_names, "| `c2_map_putt`, `base/map.c` | x |\n", ["c2_map_putt is not defined in base/map.c"]
    yield check_names, "| x | `c2_map_put` in `base/base.h` |\n", ["c2_map_put is not defined in base/base.h"]
    yield check_names, "| x | `c2_alloc`, `base/map.c` |\n", ["c2_alloc is not defined in base/map.c"]
    yield check_names, "| `base/mapp.c` | x |\n", ["there is no file base/mapp.c"]
    yield check_names, "| `c2_map_put` | x |\n", ["c2_map_put is not defined in any file beside it"]
    yield check_diffs, "```diff\n%s```\n" % (NEW_FILE % ("new", "int x;")), []
    yield check_diffs, "```diff\n%s```\n" % (NEW_FILE % ("new", "int x")), ["base/new.c of a diff does not compile"]
    yield check_diffs, "```diff\n%s```\n" % (NEW_FILE % ("map", "int x;")), ["a diff does not apply: .*base/map.c"]


def try_checks():
    failures = 0
    for check, page, expected in trials():
        found = check(page)
        if len(found) != len(expected) or not all(re.match(e, f) for e, f in zip(expected, found)):
            print("FAILED: %s says %s of this page, expected %s:\n%s" % (check.__name__, found, expected, page))
            failures += 1
    return failures


def main():
    page = read(PAGE)
    failures = try_checks()
    for check in check_rooms, check_names, check_diffs:
        for problem in check(page):
            print("FAILED: %s: %s" % (PAGE, problem))
            failures += 1
    rows, diffs = len(rows_of(page)), page.count("```diff\n")
    if rows < 40 or diffs != 2:
        print("FAILED: %s has %d rows and %d diffs; at least 40 rows and 2 diffs are looked for" % (PAGE, rows, diffs))
        failures += 1
    print("%s: %d rows, %d diffs" % (PAGE, rows, diffs))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
