# SPDX-License-Identifier: GPL-2.0-or-later
"""place.py PART: --place and --huge by region and object, on guests/regions.c.

exact    every frame of a run, foretold from the order of first touches alone: which rule a page belongs to follows from
         the guest's /proc/self/maps and from nm, which frame it gets from the policies' rules
replay   a run with rules and the same under its own map give one report
huge     huge pages for a symbol, the stack, the heap; where memory has none to give
errors   what is refused, and what is warned of
"""

import os
import re
import sys
import tempfile

from common import check, contains, done, emulate, equal, need, report, run

GUESTS = os.environ["GUESTS"]
DYNAMIC, STATIC = os.path.join(GUESTS, "regions"), os.path.join(GUESTS, "regions_static")
PIE_BASE, PAGE = 0x10000000, 4096
L2_COLORS, L3_COLORS = 16, 32  # skylake: 1024 and 2048 sets of 64 bytes in a slice, / 4096


def symbols(program):
    bias = 0 if program == STATIC else PIE_BASE
    rows = [line.split() for line in run(["nm", "-S", program]).stdout.decode().splitlines()]
    return {row[3]: (int(row[0], 16) + bias, int(row[1], 16)) for row in rows if len(row) == 4}


def placements(options, program, words=("5", "4")):
    """The lines of the run's map (page, frame, size) in order of first touch, and the guest's areas."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "map")
        result = emulate(["-q", "--no-sim", "--dump-pagemap", path] + options + [program] + list(words))
        equal((result.returncode, result.stderr), (0, b""), "status of " + " ".join(options))
        with open(path) as file:
            lines = [line.split() for line in file if not line.startswith("#")]
    areas = []
    for line in result.stdout.decode().splitlines():
        words = line.split(None, 5)
        start, end = (int(part, 16) for part in words[0].split("-"))
        areas.append((start, end, words[1], words[5] if len(words) > 5 else ""))
    return [(int(line[0], 16), int(line[1], 16), line[2]) for line in lines], areas


# ---------------------------------------------------------------- every frame foretold

def holder(rules, page, areas, names):
    """Index of the rule that the page belongs to, or None: symbols first, then files, then the rest."""
    address = page * PAGE
    area = next((a for a in areas if a[0] <= address < a[1]), (0, 0, "----", "unmapped by now"))
    path = area[3]
    kinds = {"heap": path == "[heap]", "stack": path == "[stack]", "mmap": path == "",
             "text": path.startswith("/") and "x" in area[2]}
    found = []
    for i, (region, _) in enumerate(rules):
        if region in kinds:
            found += [(2, i)] if kinds[region] else []
        elif region in names:
            start, size = names[region]
            found += [(0, i)] if start < address + PAGE and address < start + size else []
        elif os.path.basename(path) == region:
            found.append((1, i))
    return min(found)[1] if found else None


def lowest(taken, colors=1, color=0):
    frame = color
    while frame in taken:
        frame += colors
    return frame


def foretell(policy, page, taken):
    if policy == "sequential":
        return lowest(taken)
    if policy == "colored":
        return lowest(taken, L2_COLORS, page % L2_COLORS)
    if policy == "colored,level=L3":
        return lowest(taken, L3_COLORS, page % L3_COLORS)
    match = re.fullmatch(r"same-color,level=L3,color=(\d+)", policy)
    return lowest(taken, L3_COLORS, int(match.group(1)))


def give_back(page, taken, areas):
    """The mapping around the page was unmapped meanwhile (as the loader's own are), if it is not there in the end."""
    def gone(page):
        return page in taken.values() and not any(a[0] <= page * PAGE < a[1] for a in areas)
    run_of = [page]
    while gone(run_of[-1] + 1):
        run_of.append(run_of[-1] + 1)
    while gone(run_of[0] - 1):
        run_of.insert(0, run_of[0] - 1)
    if gone(page):
        for frame in [frame for frame, owner in taken.items() if owner in run_of]:
            del taken[frame]


def foretold(program, rules, expected_pages):
    """expected_pages: pages by rule, those known beforehand."""
    options = []
    for region, policy in rules:
        options += ["--place", "%s=%s" % (region, policy)]
    lines, areas = placements(options, program)
    names, taken, pages = symbols(program), {}, [0] * len(rules)
    for page, frame, size in lines:
        rule = holder(rules, page, areas, names)
        policy = rules[rule][1] if rule is not None else "sequential"
        expected = foretell(policy, page, taken)
        if frame != expected and frame in taken:
            give_back(taken[frame], taken, areas)
            expected = foretell(policy, page, taken)
        what = "page %#x, by %s" % (page, rules[rule] if rule is not None else "--pages")
        if not equal((frame, size), (expected, "4K"), what):
            return
        taken[frame] = page
        if rule is not None:
            pages[rule] += 1
    for region, count in expected_pages.items():
        equal(pages[[name for name, _ in rules].index(region)], count, "pages of " + region)
    written = report(options, [program, "5", "4"], stdout=None)["pages"]
    equal([(r["region"], r["policy"], r["small"], r["huge_2m"], r["huge_1g"]) for r in written["rules"]],
          [(region, policy, count, 0, 0) for (region, policy), count in zip(rules, pages)], "rules of the report")
    equal(written["small"], len(lines), "pages of the report")


def exact():
    for program in (DYNAMIC, STATIC):
        foretold(program, [("A", "same-color,level=L3,color=2"), ("I", "same-color,level=L3,color=7")],
                 {"A": 3, "I": 2})
        foretold(program, [("stack", "colored"), ("text", "colored,level=L3"), ("B", "same-color,level=L3,color=9")],
                 {"B": 4})
        # bss is anonymous memory: mmap has B's and A's neighbours too, but for what is A's
        foretold(program, [("mmap", "colored"), ("A", "same-color,level=L3,color=31")], {"A": 3})
        # the more precise one wins wherever it stands
        foretold(program, [("A", "same-color,level=L3,color=3"), ("mmap", "colored")], {"A": 3})
        # the whole page goes with a small object
        foretold(program, [("small", "same-color,level=L3,color=1")], {"small": 1})
        # 5 pages by sbrk, of a heap that the C library may have begun
        foretold(program, [("heap", "same-color,level=L3,color=30")], {})
    foretold(DYNAMIC, [("text", "colored"), ("libc.so.6", "same-color,level=L3,color=4"), ("main", "colored,level=L3")],
             {})
    foretold(DYNAMIC, [("regions", "same-color,level=L3,color=4"), ("ld-linux-x86-64.so.2", "colored")], {})
    lines, _ = placements(["--place", "A=same-color,color=0"], DYNAMIC)
    by_path, _ = placements(["--place", "A=same-color,color=0", "--place", "/libc.so.6=sequential"], DYNAMIC)
    equal(by_path, lines, "sequential beside sequential")


# ---------------------------------------------------------------- replay

MIXED = ["--place", "heap=buddy,age=0.7", "--place", "stack=random", "--place", "A=same-color,color=1",
         "--place", "text=colored", "--place", "libc.so.6=buddy,age=0.7", "--huge", "B"]


def replay():
    program = [DYNAMIC, "40", "30"]
    with tempfile.TemporaryDirectory() as directory:
        path, again = os.path.join(directory, "map"), os.path.join(directory, "again")
        first = report(MIXED + ["--dump-pagemap", path], program, stdout=None)
        equal(report(MIXED, program, stdout=None), first, "the same rules again")
        equal(report(MIXED[2:4] + MIXED[:2] + MIXED[4:], program, stdout=None)["levels"], first["levels"],
              "the rules in another order")
        other = report(MIXED + ["--seed", "2"], program, stdout=None)
        check(other["levels"] != first["levels"], "another seed gives the same misses")
        second = report(["--pages", "file=" + path, "--dump-pagemap", again], program, stdout=None)
        with open(path) as a, open(again) as b:
            equal(b.read(), a.read(), "the map of a replay")
        # the names of the policy and of what --huge was, and the rules, are all that differs
        for key in ("policy", "huge", "rules", "huge_regions"):
            first["pages"].pop(key, None), second["pages"].pop(key, None)
        equal(second, first, "the replay's report")
        # one object by a map of its own: those three pages, and no other, lie where it says
        start = symbols(DYNAMIC)["A"][0] // PAGE
        with open(path, "w") as file:
            file.write("".join("%d %d 4K\n" % (start + i, 1000 * i) for i in range(3)))
        for form in ("file=", "file:"):
            lines, _ = placements(["--place", "A=" + form + path], DYNAMIC)
            equal([line[1] for line in lines if start <= line[0] < start + 3], [0, 1000, 2000], "frames of A by a map")
            others = {line[1] for line in lines if not start <= line[0] < start + 3}
            equal((min(others), others & {0, 1000, 2000}), (1, set()), "the others' frames: 0 is kept for the map")


# ---------------------------------------------------------------- huge

def huge_lines(options, words=("5", "4")):
    lines, areas = placements(options, DYNAMIC, words)
    return [line for line in lines if line[2] != "4K"], areas


def huge():
    b = symbols(DYNAMIC)["B"][0] // PAGE
    lines, _ = huge_lines(["--huge", "B"])
    # small pages lie in frames 0 to 511 by then: the lowest whole 2 MiB are frames 512 and 1024
    equal(lines, [(b, 512, "2M"), (b + 512, 1024, "2M")], "huge pages of B")
    written = report(["--huge", "B", "--place", "B=same-color,color=3"], [DYNAMIC], stdout=None)["pages"]
    equal((written["huge"], written["huge_2m"], written["rules"][0]["huge_2m"], written["rules"][0]["small"],
           written["huge_regions"]),
          ("off", 2, 2, 0, [{"region": "B", "huge_2m": 2, "huge_1g": 0, "huge_fallbacks": 0}]), "B in report.json")
    # 5 pages of the heap fit its first 2 MiB; it grows by those
    lines, areas = huge_lines(["--huge", "heap", "--huge", "B"])
    equal([line[2] for line in lines], ["2M"] * 3, "heap and B")
    heap = next(area for area in areas if area[3] == "[heap]")
    equal((heap[0] * 1 % (2 << 20), (heap[1] - heap[0]) % (2 << 20)), (0, 0), "bounds of a huge heap")
    # 4 pages of a mapping of 1 GiB: at its low end, where an aligned 2 MiB lies whole
    lines, areas = huge_lines(["--huge", "mmap"])
    check(len(lines) >= 3, "mmap: B's two and the mapping's: %r" % lines)
    check(all(next(a for a in areas if a[0] <= line[0] * PAGE < a[1])[3] == "" for line in lines),
          "others than mappings")
    lines, areas = huge_lines(["--huge", "stack"])
    check(lines and all(next(a for a in areas if a[0] <= line[0] * PAGE < a[1])[3] == "[stack]" for line in lines),
          "huge pages of the stack: %r" % lines)
    # 2 GiB: pages lie in the first, page tables in the second, no 1 GiB is whole. 3 GiB: the one between is.
    for memory, of_1g, fallbacks in (("2G", 0, 1), ("3G", 1, 0)):
        for pages in ("sequential", "buddy"):
            options = ["--huge", "heap", "--huge-size", "1G", "--pages", pages,
                       "--set", "machine.physical_memory=" + memory]
            written = report(options, [DYNAMIC], stdout=None)["pages"]
            equal((written["huge_1g"], written["huge_fallbacks"]), (of_1g, fallbacks), "1 GiB pages in " + memory)
    options = ["--huge", "thp", "--huge", "heap", "--huge-size", "1G", "--set", "machine.physical_memory=3G"]
    written = report(options, [DYNAMIC], stdout=None)["pages"]
    equal((written["huge"], written["huge_1g"], written["huge_regions"][0]["huge_1g"]), ("thp", 1, 1),
          "thp, and the heap 1G")


# ---------------------------------------------------------------- errors and warnings

REFUSED = [  # words, what is said
    (["--place", "heap"], ["--place 'REGION=POLICY'"]), (["--place", "=random"], ["--place 'REGION=POLICY'"]),
    (["--place", "heap="], ["--place 'REGION=POLICY'"]),
    (["--place", "heep=random"], ['did you mean "heap"?', "/heep"]),
    (["--place", "smal=random"], ['did you mean "small"?', "a symbol of regions"]),
    (["--place", "heap=rondom"], ['did you mean "random"?']),
    (["--place", "A=same-color,color=16"], ["--place A: color=16", "16 colours, 0 to 15"]),
    (["--place", "A=colored,level=L9"], ["--place A:", "L9"]),
    (["--place", "A=random,color=1"], ['"random" has no key "color"']),
    (["--place", "local=random"], ["local of regions is thread-local"]),
    (["--place", "A=random", "--place", "A=colored"], ["two placement rules for A"]),
    (["--place", "heap=buddy,age=0.7", "--place", "A=buddy"], ["rule for A", "one age"]),
    (["--pages", "buddy,age=0.1", "--place", "A=buddy"], ["rule for A", "another age than --pages"]),
    (["--place", "A=file=/nonexistent"], ["/nonexistent"]),
    (["--huge", "I"], ["--huge I: it is code or has initial values"]),
    (["--huge", "A"], ["--huge A: no aligned 2 MiB lies within its pages"]),
    (["--huge", "B", "--huge-size", "1G"], ["--huge B: no aligned 1 GiB lies within its pages"]),
    (["--huge", "libc.so.6"], ["libc.so.6 cannot have huge pages"]),
    (["--huge", "text"], ["text cannot have huge pages"]),
    (["--huge", "never", "--huge", "B"], ["B and never contradict"]),
    (["--huge", "all", "--huge", "B"], ["all have those for B"]),
    (["--huge", "B", "--huge", "B"], ["asked for twice"]), (["--huge", "heap", "--huge", "heap"], ["asked for twice"]),
    (["--huge", "never", "--huge", "all"], ["contradict each other"]), (["--huge", "stak"], ['did you mean "stack"?']),
]


def errors():
    for words, said in REFUSED:
        result = emulate(words + [DYNAMIC])
        equal((result.returncode, result.stdout), (125, b""), "status and output of " + " ".join(words))
        contains(result.stderr.decode(), ["c2emu: "] + said, " ".join(words))
    equal(emulate(["--place", "A=random", "/nonexistent/program"]).returncode, 127, "a program that is not there")
    equal(emulate(["--place", "A=random", "/etc/passwd"]).returncode, 126, "a program that is none")
    for options in ([], ["--no-sim"]):
        result = emulate(options + ["--place", "never=random", "--place", "libnot.so=random", "--place", "A=random",
                                    DYNAMIC])
        contains(result.stderr.decode(), ["WARNING: --place never=random placed nothing: none of its pages was touched",
                                          "WARNING: --place libnot.so=random placed nothing",
                                          "A=random: 3 pages of 4 KiB"],
                 "warnings")
        equal(result.stderr.decode().count("WARNING"), 2, "how many")
    # 4 MiB are 1024 frames, 128 of each of 8 colours; a rule's colour runs out, memory does not
    small = ["--set", "machine.physical_memory=4M", "--set", "L3.hash=modulo"]
    result = emulate(["-q", "--place", "heap=same-color,color=3"] + small + [DYNAMIC, "200", "1"])
    equal((result.returncode, result.stdout), (125, b""), "the heap has no more frames")
    contains(result.stderr.decode(), ["the frames of colour 3 of 16 in physical memory (4 MiB) are exhausted",
                                      ", by the rule for heap; give the machine more"], "a colour that runs out")
    # all 1024 frames, from rules of any policy
    result = emulate(["-q", "--place", "heap=buddy", "--place", "mmap=random"] + small + [DYNAMIC, "600", "600"])
    contains(result.stderr.decode(), ["physical memory (4 MiB) is exhausted at the first touch of page"], "no memory")


need("nm")
{"exact": exact, "replay": replay, "huge": huge, "errors": errors}[sys.argv[1]]()
done()
