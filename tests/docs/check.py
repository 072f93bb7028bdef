#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks README.md and docs/ against the program and the sources.

usage: C2EMU=BUILD/c2emu check.py [--update] [PART|PAGE]...
       check.py pages

commands  Every ```console block is run: its lines that begin with `$ ` are given to bash, the lines below them are what
          must come out, on standard output and standard error together. The commands see the source tree's directories
          and `build` in their working directory. A number of at least 1,000 in the text around must stand in a block of
          the same page. PAGE (docs/model.md) stands for the commands of that page alone, and `pages` prints those
          with commands.
comparison  What counts as the same output, on outputs made up here.
options   The tables of docs/options.md and `c2emu --help` name the same options and verbs.
machines  The machine table of docs/machine-files.md is what machines/*.ini say.
keys      docs/ name every key of report.json, every key and word of a machine file.
files     Every file that a page names exists; every file with a "Not modelled" paragraph is named in
          docs/deviations.md. (The names of docs/architecture.md: architecture.py.)

--update writes new outputs, numbers of the text that changed with them, and the machine table into the pages.

Counts depend on the compiler that made the guests and on the C library that they load. Where these are not those of
made_with.txt, the numbers of an output may differ by a little, and rows of small counts may be others.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
EMULATOR = os.path.realpath(os.environ.get("C2EMU", os.path.join(ROOT, "build", "c2emu")))
BUILD = os.path.dirname(EMULATOR)
MADE_WITH = os.path.join(HERE, "made_with.txt")
PAGES = ["README.md", "docs/tour.md", "docs/options.md", "docs/model.md", "docs/machine-files.md", "docs/placement.md",
         "docs/reports.md", "docs/sampling.md", "docs/placement-lab.md", "docs/prefetch.md", "docs/exports.md",
         "docs/advise.md", "docs/points.md", "docs/many.md", "docs/replay.md", "docs/receipts.md", "docs/regions.md",
         "docs/sandbox.md", "docs/loops.md", "docs/rcd.md", "docs/reuse.md",
         "docs/line-use.md", "docs/findings.md", "docs/sweep.md", "docs/teaching.md", "docs/explain.md"] # with commands
OTHER_PAGES = sorted({"docs/" + name for name in os.listdir(os.path.join(ROOT, "docs")) if name.endswith(".md")}
                     - set(PAGES)) + ["CONTRIBUTING.md", "tests/README.md"]
OPTIONAL = ("callgrind_annotate", "cg_annotate") # of Valgrind
NUMBER = re.compile(r"(?<!\w)\d[\d,]*(?:\.\d+)?(?: ?%)?")
GROUPED = re.compile(r"(?<![\w.,-])\d{1,3}(?:,\d{3})+(?![\w,])")
COUNTED = re.compile(GROUPED.pattern + r"|(?<![\w.,-])\d+\.\d %") # what --update follows in the text

failures = []
update = False


def fail(text):
    failures.append(text)
    print("FAILED:", text, flush=True)


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def write(name, text):
    with open(os.path.join(ROOT, name), "w", encoding="utf-8") as file:
        file.write(text)


def source(name):
    """A source file, comments and all; empty when it does not exist."""
    return read(name) if os.path.exists(os.path.join(ROOT, name)) else ""


# ---------------------------------------------------------------- what the guests were made with

def output_of(*words):
    try:
        return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              check=True).stdout.decode().strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def made_with():
    """The loader looks for libraries made for a processor in directories beside the C library; usually there are none.
    """
    compiler = os.environ.get("CC", "cc")
    library = os.path.dirname(os.path.realpath(output_of(compiler, "-print-file-name=libc.so.6")))
    there = [name for name in ("glibc-hwcaps", "tls", "haswell", "x86_64")
             if os.path.exists(os.path.join(library, name))]
    return "compiler %s\nlibc6 %s\nlibraries for processors: %s\n" % (
        output_of(compiler, "--version").split("\n")[0].split(" ", 1)[-1],
        output_of("dpkg-query", "-W", "-f=${Version}", "libc6:amd64"), " ".join(there) or "none")


def same_guests():
    if not os.path.exists(MADE_WITH):
        return False
    with open(MADE_WITH, encoding="utf-8") as file:
        return file.read() == made_with()


# ---------------------------------------------------------------- commands

class Block:
    """A console block: pairs of a command and the lines that it must print."""

    def __init__(self, text):
        self.steps = []
        for line in text.splitlines():
            if line.startswith("$ "):
                self.steps.append([line[2:], []])
            else:
                self.steps[-1][1].append(line)

    def text(self):
        return "".join("$ %s\n%s" % (command, "".join(line + "\n" for line in lines)) for command, lines in self.steps)

    def outputs(self):
        return "\n".join("\n".join(lines) for _, lines in self.steps)


def run(command, status, directory):
    """(output, exit status) of a command that follows one with this status."""
    done = subprocess.run(["bash", "-c", "(exit %d)\n%s" % (status, command)], cwd=directory, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=dict(os.environ, C2EMU_MACHINES=os.path.join(ROOT, "machines"), LC_ALL="C.UTF-8"))
    return done.stdout.decode("utf-8", "replace"), done.returncode


def workspace(directory):
    for name in ("machines", "images", "docs", "tests"):
        os.symlink(os.path.join(ROOT, name), os.path.join(directory, name))
    os.symlink(BUILD, os.path.join(directory, "build"))


# Where the guests are others than those of the page, a line of it must come out with about its numbers; what the start
# of a program makes of a table's small rows, and so which rows there are and in which order, may be another.

START_UP = 50000  # more than any count of a guest's start, but for its instructions
NEAR, NEAR_PART, NEAR_PERCENT = 5000, 0.1, 3 # in random frames one page more at the start is another draw for all


def close_to(expected, got):
    a, b = (float(text.rstrip("% ").replace(",", "")) for text in (expected, got))
    if expected.endswith("%") != got.endswith("%"):
        return False
    return abs(a - b) <= (NEAR_PERCENT if expected.endswith("%") else max(NEAR, NEAR_PART * max(a, b)))


def without_addresses(line):
    """Hexadecimal numbers are addresses, which move with the C library."""
    return re.sub(r"\b(?=[a-f]*\d)(?:[0-9a-f]*[a-f][0-9a-f]*|\d{7,})\b", "@", line)


def shape(line):
    """Blanks of a table's columns follow its numbers; shares near 0 and 100 % are bounds."""
    return re.sub(r"\s+", " ", re.sub(r"[<>]?#", "#", NUMBER.sub("#", line)))


def is_of_start_up(line):
    counts = [float(text.replace(",", "")) for text in NUMBER.findall(line) if not text.endswith("%")]
    return bool(counts) and max(counts) < START_UP


def about_the_same(expected, got):
    return shape(expected) == shape(got) and all(map(close_to, NUMBER.findall(expected), NUMBER.findall(got)))


def agrees(expected, got, exact):
    if exact:
        return expected == got
    expected, got = ([without_addresses(line) for line in lines] for lines in (expected, got))
    return bool(expected) == bool(got) and all(
        is_of_start_up(line) or any(about_the_same(line, other) for other in got) for line in expected)


def check_comparison():
    level = "L1D    33,851,662  16,951,131     50.1 %%    0.2 %%  %s"
    page = ["c[1] = 7.5", level % "2,140,246", "PSC   2  -   16   11  68.8 %", "stack   156   8.7 %", "lines of L2"]
    small = ["c[1] = 7.5",
             level.replace("0.2", "<0.1") % "2,140,300", "stack   170   9.9 %", "heap   1  0.1 %", "lines of L2"]
    for exact, got, same in ((True, page, True), (True, small, False), (False, page, True), (False, small, True),
                             (False, small[:1] + [level % "2,440,246"] + small[2:], False),
                             (False, small[:1] + small[2:], False), (False, small[:-1], False), (False, [], False),
                             (False, [line.replace("50.1", "54.1") for line in page], False),
                             (False, [line.replace("L2", "L3") for line in page], False)):
        if agrees(page, got, exact) != same:
            fail("%s compared %s: %s and %s" % ("exactly" if exact else "roughly", not same, page, got))


def run_block(page, block, directory, exact):
    """The block as it comes out now."""
    new = Block("")
    status = 0
    for command, lines in block.steps:
        if command.split()[0] in OPTIONAL and shutil.which(command.split()[0]) is None:
            print("not run, it is not installed:", command)
            new.steps.append([command, lines])
            continue
        text, status = run(command, status, directory)
        got = text.splitlines()
        new.steps.append([command, got])
        if not update and not agrees(lines, got, exact):
            fail("%s: $ %s" % (page, command))
            for expected in lines:
                print("  page:", expected)
            for line in got:
                print("  now: ", line)
    return new


def by_shape(text):
    """{line with its numbers blanked: [its numbers, line by line]}"""
    lines = {}
    for line in text.splitlines():
        lines.setdefault(re.sub(r"\s+", " ", NUMBER.sub("#", line)), []).append(NUMBER.findall(line))
    return lines


def renamed_numbers(pairs):
    """old number -> new number, from lines that differ in their numbers only; ambiguous ones left out."""
    names = {}
    for old, new in pairs:
        after = by_shape(new)
        for shape, lines in by_shape(old).items():
            for old_numbers, new_numbers in zip(lines, after.get(shape, [])):
                for a, b in zip(old_numbers, new_numbers):
                    names.setdefault(a, set()).add(b)
    return {a: next(iter(b)) for a, b in names.items() if len(b) == 1}


FENCED = re.compile(r"^```.*?^```$", re.M | re.S)


def map_text(page, change):
    """Applies change to what stands between the fenced blocks."""
    parts, at = [], 0
    for match in FENCED.finditer(page):
        parts += [change(page[at:match.start()]), match.group()]
        at = match.end()
    return "".join(parts) + change(page[at:])


def check_numbers(name, page):
    quoted = set(GROUPED.findall("\n".join(FENCED.findall(page))))

    def look(text):
        for number in GROUPED.findall(text):
            if number not in quoted:
                fail("%s: %s is not in any output quoted on the page" % (name, number))
        return text
    map_text(page, look)


def check_page(name, directory, exact):
    page = read(name)
    pairs = []

    def again(match):
        block = Block(match.group(1))
        new = run_block(name, block, directory, exact)
        pairs.append((block.outputs(), new.outputs()))
        return "```console\n%s```" % new.text()
    new_page = re.sub(r"^```console\n(.*?)^```$", again, page, flags=re.M | re.S)
    if not pairs:
        fail("%s: nothing to run" % name)
    if update:
        names = renamed_numbers(pairs)
        new_page = map_text(new_page, lambda text: COUNTED.sub(lambda m: names.get(m.group(), m.group()), text))
        write(name, new_page)
    check_numbers(name, new_page if update else page)


def check_commands(pages=PAGES):
    exact = same_guests()
    if update:
        with open(MADE_WITH, "w", encoding="utf-8") as file:
            file.write(made_with())
    elif not exact:
        print("another compiler or C library than in %s: numbers are compared roughly" % MADE_WITH)
    for name in pages:
        with tempfile.TemporaryDirectory() as directory:
            workspace(directory)
            check_page(name, directory, exact)


# ---------------------------------------------------------------- options

def section(page, heading):
    """The text under a heading, up to the next one of the same depth or above."""
    depth = heading.split(" ")[0]
    match = re.search(r"^%s$(.*?)(?=^#{1,%d} |\Z)" % (re.escape(heading), len(depth)), page, re.M | re.S)
    if match is None:
        fail("there is no heading \"%s\"" % heading)
        return ""
    return match.group(1)


def first_cells(text):
    return [line.split("|")[1].strip() for line in text.splitlines() if re.match(r"\| `", line)]


def same_words(documented, real, what):
    for word in sorted(real - documented):
        fail("%s: %s is not documented" % (what, word))
    for word in sorted(documented - real):
        fail("%s: %s is documented and does not exist" % (what, word))


# What is of one verb stands in its help, and in no other.
OWN_OPTIONS = {"advise": ["--dim"], "points": ["--dimensions", "--max-k", "--bbv", "--from-bbv"],
               "explain": ["--miss", "--at", "--level", "--steps", "--step"], "replay": ["--format"]}


def check_own_options(of_runs):
    for verb, options in OWN_OPTIONS.items():
        texts = {other: output_of(EMULATOR, "help", other) for other in list(OWN_OPTIONS) + ["restore"]}
        texts[""] = of_runs
        for option in options:
            named = [other for other, text in texts.items() if re.search("^ +%s\\b[^-]" % option, text, re.M)]
            if named != [verb]:
                fail("%s is in the help of %s, and belongs to %s" % (option, named, verb))


def check_options():
    shown = output_of(EMULATOR, "--help")
    check_own_options(shown)
    verbs = ("advise", "explain", "points", "replay", "restore")
    every = shown + "".join(output_of(EMULATOR, "help", verb) for verb in verbs)
    real = set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", every, re.M)) | set(re.findall(r"^ +(-\w), ", every, re.M))
    same_words(set(re.findall(r"^\| `c2emu (\w+)", section(read("docs/options.md"), "## Verbs"), re.M)),
               set(re.findall(r"^  c2emu (\w+)  ", shown, re.M)), "verbs")
    cells = " ".join(first_cells(section(read("docs/options.md"), "## Options")))
    same_words(set(re.findall(r"(?<![\w-])--?[a-zA-Z][a-z-]*", cells)), real, "options")


# ---------------------------------------------------------------- machines

def read_machine(path):
    """{section: {key: (value, comment)}}"""
    machine, current = {}, None
    with open(path, encoding="utf-8") as file:
        for line in file:
            heading = re.match(r"\[(\w+)\]", line)
            setting = re.match(r"(\w+) *= *([^;]*?) *(?:; *(.*))?$", line.rstrip("\n"))
            if heading:
                current = machine.setdefault(heading.group(1), {})
            elif setting:
                current[setting.group(1)] = (setting.group(2).strip(), setting.group(3) or "")
    return machine


def sized(level):
    return "%s/%s" % (level["size"][0], level["ways"][0])


def bytes_of(text):
    return int(text.rstrip("KMG")) << {"K": 10, "M": 20, "G": 30}.get(text[-1], 0)


def third(machine):
    if "L3" not in machine:
        return "-"
    l3 = machine["L3"]
    slices = int(l3["slices"][0])
    sets = bytes_of(l3["size"][0]) // (int(l3["ways"][0]) * int(machine["machine"]["line"][0]) * slices)
    return "%s, %d x %d, `%s`, %s" % (sized(l3), slices, sets, l3["hash"][0], l3["inclusion"][0])


def machine_row(name, machine):
    return "| `%s` | %s | %s | %s | %s, %s | %s |" % (
        name, machine["machine"]["description"][0], sized(machine["L1D"]),
        sized(machine["L1I"]) if "L1I" in machine else "-", sized(machine["L2"]), machine["L2"]["inclusion"][0],
        third(machine))


def machine_table():
    names = sorted(name[:-4] for name in os.listdir(os.path.join(ROOT, "machines")) if name.endswith(".ini"))
    rows = ["| name | what it is | L1D | L1I | L2 | L3: slices x sets, hash |", "|---|---|---|---|---|---|"]
    rows += [machine_row(name, read_machine(os.path.join(ROOT, "machines", name + ".ini"))) for name in names]
    return "\n".join(rows) + "\n"


def check_machines():
    name = "docs/machine-files.md"
    page = read(name)
    match = re.search(r"(?<=<!-- machines -->\n).*?(?=<!-- /machines -->)", page, re.S)
    table = machine_table()
    if match is None:
        fail(name + " has no machine table")
    elif update:
        write(name, page[:match.start()] + table + page[match.end():])
    elif match.group() != table:
        fail(name + ": the machine table is not what machines/ says; it should be\n" + table)


# ---------------------------------------------------------------- keys

def keys_of(value):
    if isinstance(value, dict):
        return set(value).union(*map(keys_of, value.values()))
    return set().union(*map(keys_of, value)) if isinstance(value, list) else set()


def report_of(words):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "report.json")
        subprocess.run([EMULATOR, "-q", "--json-full", path, *words], stdout=subprocess.DEVNULL, check=True)
        with open(path, encoding="utf-8") as file:
            return json.load(file)


def check_report_keys():
    page = "".join(read("docs/%s.md" % name) for name in ("reports", "findings", "receipts")) # chapters of their own
    keys = set()
    for words in (["-m", "zen3", "/bin/true"], ["--no-sim", "/bin/true"],
                  ["--period", "9k", "--measure", "4k", "--precision", "1", "/bin/true"],
                  *([os.path.join(BUILD, "images", name)] for name in ("bodies", "chase", "matmul", "stencil"))):
        keys |= keys_of(report_of(words))
    for key in sorted(keys):
        if "`%s`" % key not in page and "`%s[]`" % key not in page:
            fail("neither docs/reports.md nor the page of its chapter explains the key `%s`" % key)


def check_words(page, heading, real, what):
    if not real:
        fail("%s: nothing found in the sources" % what)
    cells = " ".join(first_cells(section(page, heading)))
    same_words(set(re.findall(r"`([^`]+)`", cells)), set(real), "docs/machine-files.md, " + what)


def check_machine_words():
    """The tables of keys are compared by unit_machine_write."""
    page, names = read("docs/machine-files.md"), source("caches/names.c")
    check_words(page, "### Sections", ["[%s]" % name for name in re.findall(
        r'^ +(?:\[SECTION_\w+\] = )?\{(?:\.name = )?"([\w-]+)", (?:\.kind = )?KIND_', source("machine/keys.c"), re.M)],
        "sections")
    policies = re.findall(r'^ +X\([A-Z_0-9]+, "([\w-]+)", CACHES_OF_LEVELS', source("caches/caches_machine.h"), re.M)
    check_words(page, "### Policies", policies, "policies")
    found = re.search(r"caches_inclusion_names\[[^\]]*\] = *\{([^}]*)\}", names)
    check_words(page, "### Inclusion", re.findall(r'"([^"]+)"', found.group(1)) if found else [], "inclusion")
    check_words(page, "### Slice hashes", re.findall(r'^ +X\("([\w-]+)", \d', source("caches/slices.c"), re.M)
                + ["modulo"], "hashes")


def check_keys():
    check_report_keys()
    check_machine_words()


# ---------------------------------------------------------------- files

ROOMS = [line.split()[1] for line in source("tests/layers.txt").splitlines() if line[0] != "#"]


def check_files():
    deviations = read("docs/deviations.md")
    for name in PAGES + OTHER_PAGES:
        for path in re.findall(r"`((?:%s|machines|images|bench|docs|tests|cmake)/[\w./-]+)`" % "|".join(ROOMS),
                               read(name)):
            if not re.search(r"(?:NAME|ROOM|TOPIC)", path) and not os.path.exists(os.path.join(ROOT, path)):
                fail("%s names %s, which does not exist" % (name, path))
    for room in ROOMS:
        for file in sorted(os.listdir(os.path.join(ROOT, room))):
            path = "%s/%s" % (room, file)
            if file.endswith(".c") and re.search(r"^ \* Not modelled", read(path), re.M) and path not in deviations:
                fail("%s has a paragraph \"Not modelled\" that docs/deviations.md does not reflect: name the file there"
                     % path)


# ---------------------------------------------------------------- all of it

PARTS = {"commands": check_commands, "pages": lambda: print(" ".join(PAGES)),
         "comparison": check_comparison, "options": check_options,
         "machines": check_machines, "keys": check_keys,
         "files": check_files}


def main():
    global update
    words = sys.argv[1:]
    update = "--update" in words
    chosen = [word for word in words if word != "--update"] or [part for part in PARTS if part != "pages"]
    if chosen != ["pages"] and not os.access(EMULATOR, os.X_OK):
        sys.exit("there is no %s: build c2emu, or name it in C2EMU" % EMULATOR)
    for word in chosen:
        if word in PAGES:
            check_commands([word])
        elif word in PARTS:
            PARTS[word]()
        else:
            sys.exit("no part is called %s; there are %s" % (word, ", ".join(list(PARTS) + PAGES)))
    sys.exit(1 if failures else 0)


main()
