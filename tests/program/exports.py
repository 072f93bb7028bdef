# SPDX-License-Identifier: GPL-2.0-or-later
"""exports.py PART: --callgrind, --evictors and --cachegrind, read by our own reader of the format and by Valgrind's
tools.

calls_FORM   guests/calls.c, whose calls are known by its source, linked in several ways
exceptions   guests/throws.cc
valgrind     the same calls and the same instructions as `valgrind --tool=callgrind` says, but for what is explained
machines     the sums are the report's without L1I, of one level, with cached walks, with --against; no file from
             --callgrind -
faults       calls of a handler by an instruction that never completes
annotate     callgrind_annotate shows the numbers that the file has
evictors     conflict misses by victim and evictor are the report's
cachegrind   cg_annotate and cg_diff show the numbers that the report has
"""

import json
import os
import re
import sys
import tempfile

import callgrind_file
from common import check, contains, done, emulate, equal, fail, need, run

GUESTS = os.environ["GUESTS"]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
IMAGES = os.environ["IMAGES"]
directory = tempfile.TemporaryDirectory()


def path(name):
    return os.path.join(directory.name, name)


def read_text(name):
    with open(path(name)) as file:
        return file.read()


def c2emu(words, options=()):
    """The report and the three profiles of a run."""
    names = ["callgrind", "evictors", "cachegrind", "json-full"]
    result = emulate(["-q"] + [word for name in names for word in ("--" + name, path(name))] + list(options) + words)
    if not equal((result.returncode, result.stderr), (0, b""), "status and messages of " + " ".join(words)):
        done()
    profile = callgrind_file.read(path("callgrind"))
    with open(path("json-full")) as file:
        report = json.load(file)
    compare_totals(profile, report)
    return report, profile


def level(report, name):
    return next((level for level in report["levels"] if level["name"] == name), None)


def events_of(report):
    """The totals as the report has them, in the order of the file."""
    n = report["run"]["measured"]
    l1d, l1i, last = level(report, "L1D"), level(report, "L1I"), report["levels"][-1]
    out = {"Ir": n["instructions"], "Dr": n["reads"], "Dw": n["writes"]}
    if l1i is not None:
        out["I1mr"] = l1i["misses"]
    out.update(D1mr=l1d["read_misses"], D1mw=l1d["write_misses"])
    if last is not l1d:
        if l1i is not None:
            out["ILmr"] = None  # the report has the sum of the two only
        out.update(DLmr=None, DLmw=last["write_misses"])
    for side in ("D", "I"):
        first = [tlb["misses"] for tlb in report["tlb"] if tlb["name"].startswith(side + "TLB")]
        if first:
            out["miss%sTLB" % side] = sum(first)
    if report["tlb"]:
        out["pageWalks"] = report["walks"]["count"]
        out["walkReads"] = report["walks"]["reads"]
    for one in report["levels"]:
        for name in ("cold", "capacity", "conflict"):
            out[name + one["name"]] = one[name]
    return out


def compare_totals(profile, report):
    expected = events_of(report)
    equal(profile.events, list(expected), "events")
    equal(sorted(profile.long), sorted(profile.events), "events with a long name")
    totals = dict(zip(profile.events, profile.totals))
    equal(profile.summary, profile.totals, "summary and totals")
    for name, value in expected.items():
        if value is not None:
            equal(totals[name], value, "total of " + name)
    if "DLmr" in totals:
        equal(totals["DLmr"] + totals.get("ILmr", 0), report["levels"][-1]["read_misses"],
              "read misses of the last level")
    compare_functions(profile, report)
    for table in (profile.self, profile.lines):
        equal([sum(column) for column in zip(*table.values())], profile.totals, "sum of all lines")


def function_costs(functions, names):
    """{(module, function): [costs]} of the report's entries; nameless code of a module is one function."""
    out = {}
    for one in functions:
        cost = {"Ir": one["executed"], "Dr": one["reads"], "Dw": one["writes"], "pageWalks": one.get("walks", 0),
                "walkReads": one.get("walk_reads", 0)}
        for level_of_it in one["levels"]:
            for kind in ("cold", "capacity", "conflict"):
                cost[kind + level_of_it["name"]] = level_of_it[kind]
        out[one.get("module", "???"), one.get("name", "unnamed")] = [cost.get(name, 0) for name in names]
    return out


def compare_functions(profile, report):
    """report.json lists functions up to a number; those it lists cost the same here."""
    names = [name for name in profile.events
             if name in ("Ir", "Dr", "Dw", "pageWalks", "walkReads") or name[:4] in ("cold", "capa", "conf")]
    indices = [profile.events.index(name) for name in names]
    ours = {}
    for (module, _, function), cost in profile.self.items():
        key = os.path.basename(module), "unnamed" if function.startswith("unnamed ") else function
        ours[key] = [a + cost[i] for a, i in zip(ours.get(key, [0] * len(indices)), indices)]
    theirs = function_costs(report["functions"], names)
    check(len(theirs) > 0, "the report has no functions")
    equal({key: ours.get(key) for key in theirs}, theirs, "functions of report.json")


def is_tree(profile, names):
    """What a call into these functions costs is what they cost themselves and what they call costs."""
    for index, event in enumerate(profile.events):
        for name in names:
            into = sum(cost[index] for (_, callee), (_, cost) in profile.calls.items() if callee[2] == name)
            out = sum(cost[index] for (caller, _), (_, cost) in profile.calls.items() if caller[2] == name)
            equal(into, profile.by_name(name, event) + out, "inclusive cost of %s, %s" % (name, event))


# ---------------------------------------------------------------------------------------------- known programs

# fib(10) makes 2 F(11) - 1 = 177 calls in all. is_even(9) calls is_odd(8) ... is_odd(0). first(0..4) tail-call
# middle(1..5), which tail-call last(), and that calls leaf() 1 + ... + 5 times. ring_a is entered with 1000, 998 ... 0,
# ring_b with 999, 997 ... 1. Each of 4 jumper() calls deep(2), deep(1), deep(0), which jumps back. Two signals.
CALLS = {
    ("main", "fib"): 1, ("fib", "fib"): 176,
    ("main", "is_even"): 1, ("is_even", "is_odd"): 5, ("is_odd", "is_even"): 4,
    ("main", "first"): 5, ("first", "middle"): 5, ("middle", "last"): 5, ("last", "leaf"): 15,
    ("main", "ring_a"): 1, ("ring_a", "ring_b"): 500, ("ring_b", "ring_a"): 500,
    ("main", "jumper"): 4, ("jumper", "deep"): 4, ("deep", "deep"): 8, ("jumper", "leaf"): 4,
    ("main", "signaller"): 2, ("handler", "leaf"): 4, ("signaller", "leaf"): 2,
    ("main", "switcher"): 1, ("coroutine", "leaf"): 3,
    ("main", "summing"): 1, ("main", "library"): 1, ("library", "strtoul"): 4,
}


def callers(arcs, callee):
    return sum(count for (_, name), (count, _) in arcs.items() if name == callee)


def calls(form):
    _, profile = c2emu([os.path.join(GUESTS, "calls_" + form)])
    arcs = profile.arcs()
    ours = {name for pair in CALLS for name in pair} - {"strtoul"}
    got = {pair: count for pair, (count, _) in arcs.items() if pair[0] in ours and pair[1] in ours | {"strtoul"}}
    equal(got, CALLS, "calls of the program's functions")
    equal((callers(arcs, "handler"), callers(arcs, "compare"), callers(arcs, "coroutine")), (2, 1, 1),
          "calls of handler, compare, coroutine")
    is_tree(profile, ["leaf", "first", "middle", "last", "signaller", "summing", "library", "handler", "compare"])
    # A ring of tail calls is a loop: the cost of all rounds is that of the one call from outside.
    equal(arcs["main", "ring_a"][1], profile.by_name("ring_a") + profile.by_name("ring_b"), "cost of the ring")
    equal(arcs["ring_b", "ring_a"][1], 0, "cost of going on with the ring")
    # What recursive calls cost counts for each of them: fib(n) for each of its calls.
    costs = fib_costs(profile)
    equal(arcs["main", "fib"][1], costs[10], "cost of fib(10)")
    equal(arcs["fib", "fib"][1], sum(times * costs[n] for n, times in fib_times(10).items()) - costs[10],
          "cost of the recursive calls")
    inlined = sum(cost[0] for (file, function, _), cost in profile.lines.items()
                  if file.endswith("/calls_inline.h") and function == "summing")
    check(inlined >= 10 and inlined % 10 == 0, "%d instructions of the inlined function in 10 rounds" % inlined)
    equal({key[1].rpartition("/")[2] for key in profile.self if key[2] == "summing"}, {"calls.c"},
          "the file of summing")
    through_stubs(profile)
    symbols_of(profile, os.path.join(GUESTS, "calls_" + form))


def symbols_of(profile, guest):
    """Addresses are those of the file, wherever it was mapped."""
    need("nm")
    for line in run(["nm", "--defined-only", guest]).stdout.decode().splitlines():
        address, _, name = line.split()
        if name in OWN:
            equal(min(profile.addresses[name]), int(address, 16), "address of " + name)
            equal({key for key, at in profile.insns if at == int(address, 16)
                   and key.endswith(os.path.basename(guest))},
                  {os.path.realpath(guest)}, "object of " + name)


def through_stubs(profile):
    """Nobody is called by or calls the unnamed code of a PLT, which is executed all the same."""
    for (caller, callee) in profile.calls:
        for key in (caller, callee):
            if key[2].startswith("unnamed in calls_"):
                fail("call %s -> %s" % (caller, callee))


def fib_times(n):
    """How often fib(m) is called, by m."""
    times = {n: 1}
    for m in range(n, 1, -1):
        for below in (m - 1, m - 2):
            times[below] = times.get(below, 0) + times[m]
    return times


def fib_costs(profile):
    """The cost of fib(n): a for n < 2, else b + fib(n - 1) + fib(n - 2). One instruction that every call makes and one
    that only those with n >= 2 make tell a and b."""
    counts = sorted(cost[0] for (_, address), (_, _, cost) in profile.insns.items()
                    if address in addresses_of(profile, "fib"))
    often, seldom = fib_times(10)[0] + fib_times(10)[1], sum(t for n, t in fib_times(10).items() if n > 1)
    equal(often + seldom, 177, "calls of fib")
    check(set(counts) <= {177, often, seldom}, "executions of fib's instructions: %s" % counts)
    a, b = counts.count(177) + counts.count(often), counts.count(177) + counts.count(seldom)
    costs = {0: a, 1: a}
    for n in range(2, 11):
        costs[n] = b + costs[n - 1] + costs[n - 2]
    return costs


def addresses_of(profile, name):
    return profile.addresses.get(name, set())


def exceptions():
    guest = os.path.join(GUESTS, "throws")
    if not os.path.exists(guest):
        print("not run: there is no C++ compiler")
        sys.exit(77)
    _, profile = c2emu([guest])
    arcs = profile.arcs()
    # catcher(0..3) call cleaner(0..3) call dive(0..3), which calls itself n times and throws.
    expected = {("main", "catcher"): 4, ("catcher", "cleaner"): 4, ("cleaner", "dive"): 4, ("dive", "dive"): 6,
                ("catcher", "leaf"): 8, ("main", "leaf"): 1}
    equal({pair: arcs.get(pair, (0,))[0] for pair in expected}, expected, "calls of the program's functions")
    equal(arcs["dive", "__cxa_throw"][0], 4, "calls of __cxa_throw")
    equal(sum(count for (caller, callee), (count, _) in arcs.items() if caller == "cleaner" and "guard" in callee), 4,
          "destructors on the way")
    is_tree(profile, ["leaf"])
    # Frames that were left are over: all that main() costs is in main() and its calls.
    into = sum(count * 0 + cost for (_, callee), (count, cost) in arcs.items() if callee == "main")
    equal(into, profile.by_name("main") + arcs["main", "catcher"][1] + arcs["main", "leaf"][1], "cost of main")


def machines():
    guest = os.path.join(GUESTS, "calls_static")
    with open(path("bare.ini"), "w") as file:
        file.write("[machine]\nname = bare\nline = 64\nphysical_memory = 64G\n"
                   "[L1D]\nsize = 2K\nways = 2\npolicy = lru\nindex = virtual\ninclusion = non-inclusive\n")
    _, profile = c2emu([guest], ["-m", path("bare.ini")])
    equal(profile.events, ["Ir", "Dr", "Dw", "D1mr", "D1mw", "coldL1D", "capacityL1D", "conflictL1D"], "events")
    for options in (["-m", "haswell-ep", "--set", "walks.mode=cached"], ["-m", "zen3"],
                    ["-m", "teach", "--pages", "same-color", "--against", "random"]):
        _, profile = c2emu([guest], options)
        is_tree(profile, ["leaf", "first", "middle", "last", "summing", "library", "compare"])
    result = emulate(["-q", "-m", "teach", "--callgrind", "/dev/stdout", guest])
    with open(path("whole"), "wb") as file:
        file.write(result.stdout)
    equal(callgrind_file.read(path("whole")).arcs()["main", "first"][0], 5, "--callgrind /dev/stdout")


def faults():
    """guests/faulting.c: 3 loads that fault are left by longjmp from the handler, 2 more are repeated after it."""
    _, profile = c2emu([os.path.join(GUESTS, "faulting")])
    arcs = profile.arcs()
    expected = {("main", "forbidden"): 3, ("forbidden", "leave"): 3, ("main", "repeated"): 2, ("repeated", "repair"): 2,
                ("leave", "leaf"): 3, ("repair", "leaf"): 2}
    equal({pair: arcs.get(pair, (0,))[0] for pair in expected}, expected, "calls")
    is_tree(profile, ["leaf"])
    text = read_text("callgrind")
    loads = [address for (_, address), callees in profile.sites.items() if any(key[2] == "leave" for key in callees)]
    equal(len(loads), 1, "instructions that call leave()")
    check(all((key, address) not in profile.insns for key, _ in profile.insns for address in loads),
          "the load that never completed has a cost in " + text[:200])


# ---------------------------------------------------------------------------------------------- against Valgrind

OWN = ["fib", "is_even", "is_odd", "first", "middle", "last", "leaf", "ring_a", "ring_b", "deep", "jumper", "summing",
       "library", "compare", "signaller", "handler"]


def plain(name):
    """Callgrind numbers the levels of a recursion: fib'2."""
    return name.split("'")[0]


def valgrind_arcs(profile):
    out = {}
    for (caller, callee), (count, cost) in profile.arcs().items():
        before = out.get((plain(caller), plain(callee)), (0, 0))
        out[plain(caller), plain(callee)] = (before[0] + count, before[1] + cost)
    return out


def valgrind():
    need("valgrind")
    words = [os.path.join(GUESTS, "calls_static"), "no other stack"]
    _, ours = c2emu(words)
    result = run(["valgrind", "--tool=callgrind", "--dump-instr=yes", "--callgrind-out-file=" + path("valgrind")]
                 + words)
    equal(result.returncode, 0, "status of valgrind")
    theirs = callgrind_file.read(path("valgrind"))
    for name in OWN:
        equal(ours.by_name(name), sum(cost[0] for key, cost in theirs.self.items() if plain(key[2]) == name),
              "instructions of " + name)
    got, expected = ours.arcs(), valgrind_arcs(theirs)
    for pair in expected:
        if pair[0] in OWN and pair[1] in OWN:
            compare_arc(pair, got.get(pair), expected[pair], ours)


def compare_arc(pair, got, expected, ours):
    """The differences: a ring of tail calls is one loop here, and a nesting of 1000 calls there; frames that longjmp
    left are over at the next call here, and at once there, so that what jumper() executes in between counts for deep().
    And what no function of the program calls: handlers have a stack of calls of their own there, and costs of the C
    library differ because the CPU is another one."""
    count, cost = expected
    if not check(got is not None, "%s -> %s is missing" % pair):
        return
    equal(got[0], count, "calls %s -> %s" % pair)
    if pair in (("ring_a", "ring_b"), ("ring_b", "ring_a"), ("main", "ring_a")):
        return
    if pair in (("jumper", "deep"), ("deep", "deep")):
        between = late_instructions(ours)
        equal(got[1], cost + count * between, "cost of %s -> %s" % pair)
    else:
        equal(got[1], cost, "cost of %s -> %s" % pair)


def late_instructions(profile):
    """What jumper() executes after longjmp up to the call of leaf(): what is behind setjmp and executed 8 times, for
    both of its returns, and the way from there, or from behind the call of deep(), to the call of leaf()."""
    site = {callee[2]: address for (caller, address), callees in profile.sites.items() if caller[2] == "jumper"
            for callee in callees}
    behind = min(address for name, address in site.items() if "setjmp" in name)
    executed = {address: cost[0] for (_, address), (_, _, cost) in profile.insns.items()
                if address in profile.addresses["jumper"] and address > behind}
    both = [address for address, times in executed.items() if times == 8]
    start = max(address for address in both + [site["deep"]] if address < site["leaf"])
    return len(both) + sum(1 for address in executed if start < address <= site["leaf"])


# ---------------------------------------------------------------------------------------------- Valgrind's tools

def tool(words):
    """What a tool writes; it runs where no source lies, because it cuts the current folder off names."""
    result = run(words, cwd=directory.name)
    equal(result.returncode, 0, "status of " + " ".join(words))
    equal(result.stderr, b"", "messages of " + " ".join(words))
    return result.stdout.decode()


def numbers(text):
    return [0 if word == "." else int(word.replace(",", "")) for word in text.split()]


def table(text, count):
    """{"file:function": [numbers]} of the rows with so many numbers, object and call count left out."""
    out = {}
    for line in text.splitlines():
        match = re.match(r"\s*((?:[0-9,]+|\.)(?:\s+(?:[0-9,]+|\.)){%d})\s+(\S+:.*?)(?: \[[^\]]*\])?\s*$" % (count - 1),
                         line)
        if match:
            out[match.group(2)] = numbers(match.group(1))
    return out


def program_totals(text):
    return numbers(re.search(r"^([-0-9,. ]+?) +PROGRAM TOTALS$", text, re.M).group(1))


def by_file_and_function(profile, indices):
    out = {}
    for (file, function, _), cost in profile.lines.items():
        key = file + ":" + function
        out[key] = [a + cost[i] for a, i in zip(out.get(key, [0] * len(indices)), indices)]
    return {key: cost for key, cost in out.items() if any(cost)}


SHOWN = ["Ir", "Dw", "D1mr", "DLmw", "coldL1D", "conflictL1D", "capacityL2"]


def annotate():
    need("callgrind_annotate")
    _, profile = c2emu([os.path.join(GUESTS, "calls_static")], ["-m", "teach"])
    indices = [profile.events.index(name) for name in SHOWN]
    common = ["callgrind_annotate", "--threshold=100", "--show-percs=no", "--show=" + ",".join(SHOWN)]
    text = tool(common + ["--auto=no", path("callgrind")])
    equal(program_totals(text), [profile.totals[i] for i in indices], "callgrind_annotate's totals")
    equal({key: cost for key, cost in table(text, len(SHOWN)).items() if any(cost)},
          by_file_and_function(profile, indices),
          "callgrind_annotate's functions")
    contains(text, ["Events recorded:  " + " ".join(profile.events)], "callgrind_annotate")
    inclusive(profile, common, indices)
    tree(profile)
    lines(profile)


def inclusive(profile, common, indices):
    """Of a function that is called: the sum of its calls."""
    got = table(tool(common + ["--auto=no", "--inclusive=yes", path("callgrind")]), len(SHOWN))
    for name in OWN + ["main", "coroutine"]:
        into = [cost for (_, callee), (_, cost) in profile.calls.items() if callee[2] == name]
        file = next(key[1] for key in profile.self if key[2] == name)
        equal(got.get(file + ":" + name), [sum(cost[i] for cost in into) for i in indices], "inclusive cost of " + name)


def tree(profile):
    text = tool(["callgrind_annotate", "--threshold=100", "--show=Ir", "--show-percs=no", "--auto=no", "--tree=both",
                 "--inclusive=yes", path("callgrind")])
    got, current, above = {}, None, []
    for line in text.splitlines():
        match = re.match(r"\s*([0-9,]+|\.)\s+([<*>])\s+\S+:(.*?)(?: \(([0-9,]+)x\))?(?: \[[^\]]*\])?\s*$", line)
        if match and match.group(2) == "*":
            current = match.group(3)
        elif match and match.group(2) == ">":
            pair = current, match.group(3)
            before = got.get(pair, (0, 0))
            got[pair] = before[0] + numbers(match.group(4))[0], before[1] + numbers(match.group(1))[0]
    expected = profile.arcs()
    equal({pair: got.get(pair) for pair in CALLS}, {pair: expected[pair] for pair in CALLS}, "the tree of calls")


def lines(profile):
    """Every line of calls.c that cost something stands in the annotated source with that cost (line 0: no line)."""
    text = tool(["callgrind_annotate", "--threshold=100", "--show=Ir", "--show-percs=no", "--auto=yes",
                 path("callgrind")])
    file = next(key[0] for key in profile.lines if key[0].endswith("/calls.c"))
    part = text[text.index("-- Auto-annotated source: " + file):]
    with open(file) as source:
        words = source.read().splitlines()
    costs = {}
    for (name, _, line), cost in profile.lines.items():
        if name == file and line != 0:
            costs[line] = costs.get(line, 0) + cost[0]
    for line, cost in costs.items():
        row = r"^\s*%s\s+%s$" % (format(cost, ","), re.escape(words[line - 1]))
        check(re.search(row, part, re.M) is not None, "line %d of calls.c is not annotated with %d" % (line, cost))


def evictions(words, options):
    """The report and the profile of evictors; its totals are the report's conflict misses, by victim and by pair."""
    report, _ = c2emu(words, options)
    profile = callgrind_file.read(path("evictors"))
    equal(profile.events, ["conflict" + one["name"] for one in report["levels"]], "events of the evictors")
    conflicts = [one["conflict"] for one in report["levels"]]
    equal((profile.summary, profile.totals), (conflicts, conflicts), "summary and totals of the evictors")
    equal([sum(column) for column in zip(*profile.self.values())], conflicts, "conflict misses of the victims")
    equal([sum(column) for column in zip(*[cost for _, cost in profile.calls.values()])], conflicts,
          "conflict misses of the pairs")
    for count, cost in profile.calls.values():
        equal(count, sum(cost), "evictions of a pair")
    check_arcs(report, profile)
    return profile


def object_text(report, name):
    """What the text calls an object of this name; None where that is not clear from the report: of blocks, and of two
    objects of one name."""
    things = [thing for thing in report["objects"] if thing.get("name") == name]
    if len(things) != 1 or things[0]["kind"] not in ("static", "code", "file"):
        return None
    thing = things[0]
    if thing["kind"] == "static":
        return "%s in %s" % (thing.get("type", name), thing["module"])
    return ("code of " if thing["kind"] == "code" else "data of ") + name


def check_arcs(report, profile):
    """The nodes are objects; an arc from one to another has the conflict misses of report.json."""
    expected, width = {}, len(profile.events)
    for entry in report["conflicts"]:
        for origin in entry.get("originators", []):
            if "rest" in entry or "rest" in origin or "object" not in origin:
                continue
            arc = object_text(report, entry["miss"]["object"]), object_text(report, origin["object"])
            cost = expected.setdefault(arc, [0] * width)
            cost[profile.events.index("conflict" + entry["level"])] += origin["count"]
    whole = not any("rest" in entry or any("rest" in o for o in entry["originators"]) for entry in report["conflicts"])
    for (victim, evictor), cost in expected.items():
        if victim is None or evictor is None:
            continue
        found = [got for (a, b), (_, got) in profile.calls.items() if (a[2], b[2]) == (victim, evictor)]
        if check(len(found) == 1, "%d arcs from %s to %s" % (len(found), victim, evictor)):
            check(found[0] == cost if whole else all(g >= c for g, c in zip(found[0], cost)),
                  "from %s to %s: %s, the report has %s" % (victim, evictor, found[0], cost))


def evictors():
    need("callgrind_annotate")
    # Three lines of one set of two ways in turn: each takes away the one that is wanted next, 99 times after the first.
    profile = evictions([os.path.join(GUESTS, "conflict")], ["-m", "teach"])
    node, cost = ("???", "???", "data of conflict"), [297] + [0] * (len(profile.events) - 1)
    equal(profile.self, {node: cost}, "nodes of conflict")
    equal(profile.calls, {(node, node): [297, cost]}, "arcs of conflict")
    # b is written down its columns: in L2 it is in its own way, at the line that says so, and a beside it in L3.
    profile = evictions([os.path.join(IMAGES, "transpose")], ["-m", "teach"])
    with open(os.path.join(ROOT, "images", "transpose.c")) as file:
        line = next(i for i, text in enumerate(file, 1) if "/* the conflict */" in text)
    a, b = (("???", "???", "double %s[128][128] in transpose" % name) for name in "ab")
    l2 = profile.events.index("conflictL2")
    check(profile.calls[b, b][1][l2] > 0.98 * profile.totals[l2], "b by itself in L2: %s" % profile.calls[b, b])
    check((b, a) in profile.calls and (a, b) in profile.calls, "arcs between a and b")
    here = sum(cost[l2] for (file, function, number), cost in profile.lines.items()
               if (os.path.basename(file), function, number) == ("transpose.c", b[2], line))
    check(here > 0.98 * profile.totals[l2], "conflict misses of b at line %d: %d" % (line, here))
    text = tool(["callgrind_annotate", "--threshold=100", "--show-percs=no", "--auto=no", "--tree=both",
                 path("evictors")])
    equal(program_totals(text), profile.totals, "callgrind_annotate's totals of the evictors")
    evictions([os.path.join(GUESTS, "calls_dynamic")], ["-m", "teach", "--set", "L1D.ways=1", "--pages", "random"])


def cachegrind():
    need("cg_annotate", "cg_diff")
    report, profile = c2emu([os.path.join(GUESTS, "calls_static")], ["-m", "teach"])
    os.rename(path("cachegrind"), path("one"))
    indices = [profile.events.index(name) for name in SHOWN]
    common = ["cg_annotate", "--threshold=0", "--show-percs=no", "--auto=no", "--show=" + ",".join(SHOWN)]
    text = tool(common + [path("one")])
    equal(program_totals(text), [profile.totals[i] for i in indices], "cg_annotate's totals")
    got = table(text, len(SHOWN))
    expected = by_file_and_function(profile, indices)
    shown = {key for key, cost in expected.items() if cost[0] > 0}
    equal({key: cost for key, cost in got.items() if key in shown}, {key: expected[key] for key in shown},
          "cg_annotate's functions")
    text = tool(["cg_annotate", "--threshold=0", "--auto=yes", path("one")])
    contains(text, ["-- Auto-annotated source: ", "calls_inline.h", "return sum"], "cg_annotate --auto=yes")
    other, _ = c2emu([os.path.join(GUESTS, "calls_static"), "x"], ["-m", "teach"])
    with open(path("diff"), "w") as file:
        file.write(tool(["cg_diff", path("one"), path("cachegrind")]))
    text = tool(common + [path("diff")])
    a, b = events_of(report), events_of(other)
    known = [name for name in SHOWN if a[name] is not None]
    totals = dict(zip(SHOWN, program_totals(text)))
    equal({name: totals[name] for name in known}, {name: b[name] - a[name] for name in known}, "cg_diff's totals")


{"calls_dynamic": lambda: calls("dynamic"), "calls_now": lambda: calls("now"), "calls_static": lambda: calls("static"),
 "exceptions": exceptions, "valgrind": valgrind, "machines": machines, "faults": faults,
 "annotate": annotate, "evictors": evictors, "cachegrind": cachegrind}[sys.argv[1]]()
done()
