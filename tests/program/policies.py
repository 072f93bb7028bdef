# SPDX-License-Identifier: GPL-2.0-or-later
"""policies.py PART: what each placement policy promises, on the whole program.

colours   on every preset and for every level: frame mod C = page mod C (or the colour), C from the machine file alone
chance    one seed, one report; another seed, other frames just where the policy draws; what draws does not hear of what
          else draws
maps      each policy's run again under its own map, in one form or the other: the same report, the same map
huge      the frames of pages of 2 MiB and of 1 GiB are aligned, so that the low bits of both addresses are the same
asked     MAP_HUGETLB and madvise, and what is split later
refused   bad values: the message names option and remedy; nothing is run, no file is left or lost
exhausted memory that does not last, by the side that it does not last for
ends      it ends the run at the same page every time, on one processor and on several, with what was done until then
"""

import configparser
import glob
import json
import os
import sys
import tempfile

from common import check, contains, done, emulate, equal, report

GUESTS, MACHINES = os.environ["GUESTS"], os.environ["C2EMU_MACHINES"]
REGIONS, BARE, SMALL = (os.path.join(GUESTS, name) for name in ("regions", "strides", "matmul_small"))
RANDOM_L1 = ["-m", "teach", "--set", "L1D.policy=random", "--set", "L3.inclusion=non-inclusive"]
PAGE = 4096
POLICIES = ["identity", "sequential", "random", "colored", "colored,level=L3", "same-color", "same-color,color=3",
            "buddy",
            "buddy,age=0.7", "buddy,age=1"]
DRAWN = ("random", "buddy,age=0.7", "buddy,age=1")


def page_map(options, program):
    """[(page, frame, size)] in order of first touch"""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "map")
        result = emulate(["-q", "--no-sim", "--dump-pagemap", path] + options + program)
        if not equal((result.returncode, result.stderr), (0, b""), "run under " + " ".join(options)):
            done()
        with open(path) as file:
            lines = [line.split() for line in file if not line.startswith("#")]
    return [(int(line[0], 16), int(line[1], 16), line[2]) for line in lines]


# ---------------------------------------------------------------- colours

def number(text):
    return int(text[:-1]) << {"K": 10, "M": 20, "G": 30}[text[-1]] if text[-1] in "KMG" else int(text)


def colours_of(level, line):
    """A page's lines are in successive sets; so colours = bytes of one way of one slice / 4096, at least 1."""
    bytes_of_way = number(level["size"]) // int(level["ways"]) // int(level.get("slices", "1"))
    return max(1, bytes_of_way // line * line // PAGE)


def lowest(taken, colours, colour):
    frame = colour
    while frame in taken:
        frame += colours
    return frame


# strides frees no page: each takes the lowest frame of its colour that no page has.
def foretold(lines, colours, colour, what):
    taken = set()
    for page, frame, size in lines:
        wanted = lowest(taken, colours, page % colours if colour is None else colour)
        if not equal((frame, size), (wanted, "4K"), "frame of page %#x, %s" % (page, what)):
            return
        taken.add(frame)


def colours():
    paths = sorted(glob.glob(os.path.join(MACHINES, "*.ini")))
    check(len(paths) >= 9, "machine files: %d" % len(paths))
    several = 0
    for path in paths:
        machine = configparser.ConfigParser(inline_comment_prefixes=";")
        machine.read(path)
        name = os.path.basename(path)[:-len(".ini")]
        for level in ("L1D", "L2", "L3"):
            if level not in machine: # weidendorfer has two levels
                continue
            count = colours_of(machine[level], int(machine["machine"]["line"]))
            several += count > 1
            options = ["-m", name, "--pages"]
            foretold(page_map(options + ["colored,level=" + level], [BARE]), count, None, name + " " + level)
            same = "same-color,level=%s,color=%d"
            foretold(page_map(options + [same % (level, count - 1)], [BARE]), count, count - 1, name + " " + level)
            result = emulate(options + [same % (level, count), BARE])
            contains(result.stderr.decode(), ["color=%d: %s of machine " % (count, level),
                                              "has %d colours, 0 to %d" % (count, count - 1)], name + " " + level)
    check(several >= 2 * len(paths) - 2, "levels with several colours: %d" % several)


# ---------------------------------------------------------------- chance

def draws(options):
    """What the run's own streams gave: the report of L1D, and the frames."""
    level = report(RANDOM_L1 + options, [SMALL])["levels"][0]
    level.pop("fifo", None)
    return level, page_map(["-m", "teach"] + [word for word in options if word != "--fifo-detector"], [SMALL])


def chance():
    for policy in POLICIES:
        options = ["--pages", policy]
        with tempfile.TemporaryDirectory() as directory:
            bytes_of = []
            for seed, name in (("1", "a"), ("1", "b"), ("2", "c")):
                path = os.path.join(directory, name)
                result = emulate(["-q", "--json-full", path, "--seed", seed] + options + [BARE])
                equal(result.returncode, 0, "status under " + policy)
                with open(path, "rb") as file:
                    bytes_of.append(file.read())
            check(bytes_of[0] == bytes_of[1], policy + ": two reports of one seed differ")
        first, other = (page_map(options + ["--seed", seed], [BARE]) for seed in "12")
        check((first != other) == (policy in DRAWN),
              policy + ": another seed, " + ("the same" if first == other else "other")
              + " frames")
    fresh, aged = (page_map(["--pages", policy], [BARE]) for policy in ("buddy", "buddy,age=0.7"))

    def neighbours(lines):
        return sum(a[1] + 1 == b[1] for a, b in zip(lines, lines[1:]))
    # Fresh: one ascending run. Aged: a run has 8 frames at the mean, and even those are handed out in another order.
    equal(neighbours(fresh), len(fresh) - 1, "ascending frames of a fresh machine")
    check(neighbours(aged) < len(aged) / 2, "ascending frames of an aged machine: %d" % neighbours(aged))
    # L1D sees virtual addresses and nothing takes its lines away, so it draws alike wherever the pages lie, and
    # whatever else draws; and the pages lie alike whatever the caches draw.
    levels, frames = draws(["--pages", "random"])
    for more in (["--set", "L2.policy=random"], ["--set", "L3.policy=brrip"], ["--fifo-detector"],
                 ["--set", "L2.policy=ship", "--set", "L3.policy=drrip"], ["--place", "stack=random"]):
        got = draws(["--pages", "random"] + more)
        equal(got[0], levels, "L1D with " + " ".join(more))
        if "--place" not in more: # the stack's frames are not free for the others
            equal(got[1], frames, "frames with " + " ".join(more))
    both = report(RANDOM_L1 + ["--pages", "random", "--against", "random"], [SMALL])
    equal((both["levels"][0], both["against"]["levels"][0]), (levels, levels), "L1D on both sides")
    equal(draws(["--pages", "sequential"])[0], levels, "L1D in frames that are not drawn")
    check(draws(["--pages", "random", "--seed", "2"])[0] != levels, "another seed gives the same L1D")
    # what the program reads as random: no matter how its pages are placed
    words = ["/usr/bin/od", "-An", "-tx8", "-N64", "/dev/urandom"]
    said = {emulate(["-q", "--pages", policy] + words).stdout for policy in ("sequential", "random", "buddy,age=0.7")}
    said |= {emulate(["-q", "--set", "L1D.policy=random", "--against", "random"] + words).stdout}
    equal(len(said), 1, "different random bytes under four placements")
    check(emulate(["-q", "--seed", "2"] + words).stdout not in said, "another seed gives the same random bytes")


# ---------------------------------------------------------------- maps

def maps():
    program = [REGIONS, "40", "30"]
    forms = [(policy, ("map", "textproto")[i % 2]) for i, policy in enumerate(POLICIES)]
    for policy, ending in forms + [("random", "textproto"), ("colored", "map")]: # two in both
        with tempfile.TemporaryDirectory() as directory:
            path, again = (os.path.join(directory, name + "." + ending) for name in ("first", "again"))
            huge = ["--huge", "B"] if policy in ("random", "colored", "buddy") else []
            first = report(["--pages", policy, "--dump-pagemap", path] + huge, program, stdout=None)
            second = report(["--pages", "file=" + path, "--dump-pagemap", again], program, stdout=None)
            with open(path) as a, open(again) as b:
                check(a.read() == b.read(), "%s: the map of a replay differs, %s" % (policy, ending))
            for key in ("policy", "huge_regions"):
                first["pages"].pop(key, None), second["pages"].pop(key, None)
            equal(second, first, "%s replayed from %s" % (policy, ending))


# ---------------------------------------------------------------- huge

def huge():
    memory = ["--set", "machine.physical_memory=3G", "--set", "L3.hash=modulo"]
    found = {"2M": 0, "1G": 0}
    for policy in ("sequential", "random", "colored", "colored,level=L3", "same-color", "buddy", "buddy,age=0.3"):
        for options in (["--huge", "all"], ["--huge", "thp"], ["--huge", "heap", "--huge-size", "1G"], ["--huge", "B"]):
            for page, frame, size in page_map(["--pages", policy] + memory + options, [REGIONS, "40", "30"]):
                if size == "4K":
                    continue
                found[size] += 1
                pages = {"2M": 1 << 9, "1G": 1 << 18}[size]
                equal((page % pages, frame % pages), (0, 0),
                      "%s page %#x in frame %#x, %s" % (size, page, frame, policy))
    check(min(found.values()) > 3, "huge pages seen: %r" % found)
    # An aged machine has next to no aligned 2 MiB: small pages, and the report says how often.
    pages = report(["--pages", "buddy,age=1", "--huge", "B"], [REGIONS], stdout=None)["pages"]
    equal((pages["huge_2m"], pages["huge_fallbacks"], pages["huge_regions"][0]["huge_fallbacks"]), (0, 2, 2), "B, aged")
    text = emulate(["--pages", "buddy,age=1", "--huge", "B", REGIONS]).stderr.decode()
    contains(text, ["(2 more found no huge frame)"], "the text says how often")


# ---------------------------------------------------------------- asked

# guests/asked.c: MAP_HUGETLB for 8 MiB, all written, and for 1 GiB, one byte written; MADV_HUGEPAGE for 4 MiB, two
# bytes written and one more read. Huge: 4 + 2 of 2 MiB, 1 of 1 GiB. Small: 2048 + 1 + 3 pages in their stead. What is
# split keeps its frames, so the pages that got a frame are these however the program changes them then. 2 GiB have
# pages in the one half and page tables in the other; of 3 GiB one is whole.
def asked():
    program, said = [os.path.join(GUESTS, "asked")], b"1 3 1\n"

    def pages(options, memory="64G"):
        with tempfile.TemporaryDirectory() as directory:
            path, again = os.path.join(directory, "r.json"), os.path.join(directory, "map")
            words = ["--set", "machine.physical_memory=" + memory, "--set", "L3.hash=modulo"]
            result = emulate(["-q", "--json-full", path, "--dump-pagemap", again] + words + options + program)
            equal((result.returncode, result.stdout, result.stderr), (0, said, b""), " ".join(options))
            with open(path) as file:
                first = json.load(file)
            if "thp" not in options:
                second = report(words + ["--pages", "file=" + again], program, stdout=None)
                equal([second[key] for key in ("levels", "tlb", "walks")],
                      [first[key] for key in ("levels", "tlb", "walks")],
                      "replayed: " + " ".join(options))
            return tuple(first["pages"][key] for key in ("small", "huge_2m", "huge_1g", "huge_fallbacks"))

    never = pages(["--huge", "never"])
    equal(never[1:], (0, 0, 0), "nobody is asked")
    small = never[0] - 2048 - 1 - 3
    for policy in ("sequential", "random", "colored", "same-color", "buddy", "identity"):
        equal(pages(["--pages", policy]), (small, 6, 1, 0), "huge pages asked for, " + policy)
    equal(pages([], "2G"), (small + 1, 6, 0, 1), "1 GiB in 2 GiB")
    equal(pages([], "3G"), (small, 6, 1, 0), "1 GiB in 3 GiB")
    equal(pages(["--pages", "buddy,age=1"]), (never[0], 0, 0, 7), "fragmented memory")
    thp = pages(["--huge", "thp"])
    check(thp[1] >= 6 and thp[2] == 1 and thp[0] <= small, "with thp: %r" % (thp,))


# ---------------------------------------------------------------- refused

BAD = [  # words, what is said
    (["--pages", ""], ["--pages: ", "known: sequential"]),
    (["--pages", "rendom"], ["--pages: ", 'did you mean "random"?']),
    (["--pages", "buddy,age=1.5"], ["--pages: age=1.5", "0 (fresh) to 1"]),
    (["--pages", "buddy,age=0.7,age=0.1"], ["--pages: ", 'behind the key of placement policy "buddy"', "age=0.1"]),
    (["--pages", "colored,level=L2,level=L3"], ["--pages colored", "level is given twice"]),
    (["--pages", "same-color,color=-1"], ["--pages: color", "-1", "not a number"]),
    (["--pages", "file="], ["--pages: ", "file=PATH"]), (["--pages", "file=/nonexistent"], ["/nonexistent"]),
    (["--place", "stack=buddi"], ["--place stack: ", 'did you mean "buddy"?']),
    (["--against", "rendom"], ["--against: ", 'did you mean "random"?']),
    (["--against", "random,level=L2"], ["--against random,level=L2: the key level belongs to"]),
    (["--against", "colored,level=L9"], ["--against: ", "L9", "L2"]),
    (["--against", "Huge"], ["--against Huge", "`huge=WORD`"]),
    (["--against", "huge,size=1G"], ["--against", "--huge-size"]),
    (["--against", "huge=al"], ["--against huge=al", '"all"']), (["--against", "file=/nonexistent"], ["/nonexistent"]),
    (["--huge", "tph"], ["--huge tph", '"thp"']), (["--huge", "al"], ["--huge al", '"all"']),
    (["--huge-size", "4M", "--huge", "all"], ["--huge-size", 'did you mean "2M"?']),
    (["--huge-size", "1G"], ["--huge-size", "--huge all"]),
    (["--huge-size", "1G", "--against", "random"], ["--against huge"]),
    (["--seed", "x"], ["--seed"]), (["--no-sim", "--against", "random"], ["--against", "--no-sim"]),
    (["--dump-pagemap", "/nonexistent/map"], ["/nonexistent/map"]),
]
HOLES = [  # a map, what is said
    ("", ":0: the map has no page 0x401"), ("0x400 0 4K\n", ":1: the map has no page 0x"),
    ("0x401 0 4K\n0x401 1 4K\n", ":2: overlaps line 1: page 0x401"),
    ("1 7 4K\n\n2 7 4K\n", ":3: overlaps line 1: frame 0x7"),
    ("0x200 0 2M\n0x201 4096 4K\n", ":2: overlaps line 1: page 0x201"),
    ("0x201 0 2M\n", ":1: page 0x201 is not aligned"),
    ("0x200 1 2M\n", ":1: frame 0x1 is not aligned"), ("1 0x1000000 4K\n", ":1: frame 0x1000000 lies outside"),
    ("0x800000000 1 4K\n", ":1: page 0x800000000"), ("1 1 8K\n", ":1: the size must be 4K, 2M or 1G"),
]


def nothing_happens(words, said, directory, old):
    before = sorted(os.listdir(directory))
    result = emulate(words + ["/bin/echo", "ran"], cwd=directory)
    equal((result.returncode, result.stdout), (125, b""), "status and output of " + " ".join(words))
    contains(result.stderr.decode(), ["c2emu: "] + said, " ".join(words))
    equal(result.stderr.count(b"\n"), 1, "lines said by " + " ".join(words))
    equal(sorted(os.listdir(directory)), before, "files left by " + " ".join(words))
    with open(os.path.join(directory, "old")) as file:
        equal(file.read(), old, "the old file after " + " ".join(words))


def refused():
    with tempfile.TemporaryDirectory() as directory:
        with open(os.path.join(directory, "old"), "w") as file:
            file.write("the old one")
        for words, said in BAD:
            nothing_happens((["--dump-pagemap", "old"] if "--dump-pagemap" not in words else ["--json", "old"]) + words,
                            said,
                            directory, "the old one")
        for one, other in (("--json", "--dump-pagemap"), ("--json-full", "--trace"), ("--dump-pagemap", "--trace")):
            nothing_happens([one, "old", other, "old"], ["are both to write old"], directory, "the old one")
        for text, said in HOLES:
            with open(os.path.join(directory, "map"), "w") as file:
                file.write(text)
            said = said.replace("0x401", "0x") if "has no page" in said else said
            for option in (["--pages", "file=map"], ["--pages", "file:map"], ["--against", "file=map"]):
                nothing_happens(["--json-full", "old"] + option, ["map" + said], directory, "the old one")


# ---------------------------------------------------------------- exhausted

# teach with 4 MiB: 1024 frames, 512 of each of 2 colours; regions touches 600 pages of the heap and 600 of a mapping.
# Of an aged machine's 8 MiB one half belongs to page tables, and of the other every second frame to others: 1536.
def exhausted():
    small = ["-m", "teach", "--set", "L3.hash=modulo", "--set"]
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "old")
        with open(path, "w") as file:
            file.write("the old one")
        for options, words, said in (
                ([], ["600", "600"], "physical memory (4 MiB) is exhausted at the first touch of page 0x"),
                (["--pages", "same-color,color=1"], ["600", "1"],
                 "the frames of colour 1 of 2 in physical memory (4 MiB)"),
                (["--against", "same-color,color=1"], ["600", "1"],
                 "placement same-color,color=1 with huge pages off: the frames of colour 1 of 2"),
                (["--pages", "same-color", "--against", "random"], ["600", "1"],
                 "placement same-color,color=0 with huge pages off: the frames of colour 0 of 2"),
                (["--pages", "identity", "--against", "random"], ["5", "4"],
                 "placement identity with huge pages off: identity placement: page 0x"),
                (["--against", "buddy,age=1"], ["600", "1200"],
                 "placement buddy,age=1.000 with huge pages off: physical memory (8 MiB) is exhausted"),
                (["--against", "identity"], ["5", "4"],
                 "placement identity with huge pages off: identity placement: page 0x"),
                (["--place", "heap=same-color,color=1"], ["600", "1"], ", by the rule for heap; ")):
            memory = ["machine.physical_memory=" + ("8M" if "8 MiB" in said else "4M")]
            result = emulate(["-q", "--json-full", path] + small + memory + options + [REGIONS] + words)
            equal((result.returncode, result.stdout), (125, b""), "status and output, " + " ".join(options))
            contains(result.stderr.decode(), [said, "give the machine more with --set machine.physical_memory=SIZE"],
                     " ".join(options))
            with open(path) as file:
                equal((file.read(), os.listdir(directory)), ("the old one", ["old"]),
                      "the old file, " + " ".join(options))


# ---------------------------------------------------------------- ends

def ends_once(options, processors):
    """What is left of a run: status, both outputs, and the count that the guest left in its file."""
    with tempfile.TemporaryDirectory() as directory:
        result = emulate(["-q", "-m", "teach", "--set", "L3.hash=modulo", "--set", "machine.physical_memory=8M"] +
                         options + [os.path.join(GUESTS, "exhausts"), "count", "3000"], cwd=directory,
                         preexec_fn=lambda: os.sched_setaffinity(0, processors))
        count = -1 # it did not come to its file
        if os.path.exists(os.path.join(directory, "count")):
            with open(os.path.join(directory, "count"), "rb") as file:
                count = int.from_bytes(file.read(8), "little")
        return result.returncode, result.stdout, result.stderr, count


def ends():
    every = os.sched_getaffinity(0)
    one = {min(every)}
    for options in ([], ["--pages", "random"], ["--pages", "same-color,color=1"], ["--pages", "identity"],
                    ["--against", "same-color,color=1"], ["--no-attribution"], ["--huge", "all"],
                    ["--place", "mmap=same-color,color=1"]):
        what = " ".join(options) or "default"
        runs = [ends_once(options, processors) for processors in (one, every, one, every)]
        for run in runs[1:]:
            equal(run, runs[0], "the same end, " + what)
        status, output, said, count = runs[0]
        equal(status, 125, "status, " + what)
        lines = output.decode().split()
        page = int(said.decode().split("page 0x")[1].split()[0].rstrip(";,:"), 16)
        if options != ["--pages", "identity"]: # which ends before that
            equal(page, int(lines[-1], 16) + count % 2 * PAGE, "the page that ends it comes next, " + what)
            check(len(lines) == count // 2 + 1, "%d lines and %d pages, %s" % (len(lines), count, what))


{"colours": colours, "chance": chance, "maps": maps, "huge": huge, "asked": asked, "refused": refused,
 "exhausted": exhausted, "ends": ends}[sys.argv[1]]()
done()
