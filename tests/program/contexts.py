# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions that are told apart by arguments, recursion and callers (--separate-par, -recs, -callers).

fib2         guests/fib2.S: calls, own and inclusive instructions of each context, counted by hand, in the report, the
             JSON and Callgrind's format; ranges; the same from a recording; what a recording cannot say
parameters   guests/parameters.cc: what debug information says of parameters
cycles       guests/calls.c: functions that call each other
loops        guests/walk.S: what contexts cost themselves, by loop
threads      images/halo.c: a file a thread, as `valgrind --tool=callgrind --separate-threads=yes` has them
valgrind     guests/calls.c: names, instructions and calls as `valgrind --tool=callgrind` has them with the same options
refused      what contradicts
"""

import json
import os
import re
import sys
import tempfile

import callgrind_file
from common import check, contains, done, emulate, equal, need, run, skip

GUESTS = os.environ["GUESTS"]
IMAGES = os.environ["IMAGES"]
directory = tempfile.TemporaryDirectory()


def path(name):
    return os.path.join(directory.name, name)


def text(result):
    return result.stderr.decode(errors="replace")


def load(name):
    with open(name) as file:
        return json.load(file)


def report(words, status=0):
    verb = 1 if words[0] == "replay" else 0
    result = emulate(words[:verb] + ["--json-full", path("json")] + words[verb:])
    equal(result.returncode, status, "status of " + " ".join(words))
    return load(path("json")), text(result)


# ---------------------------------------------------------------------------------------------- fib2, by hand

def fib2_calls():
    """{(i, j): calls} of fib2(4, 4)."""
    calls = {}

    def enter(i, j):
        calls[i, j] = calls.get((i, j), 0) + 1
        if i >= 2 and j >= 2:
            enter(i, j - 1)
            enter(i - 1, j)
            enter(i - 1, j - 1)
    enter(4, 4)
    return calls


def own(i, j):
    return 4 if i < 2 else 6 if j < 2 else 25


def whole(i, j):
    below = whole(i, j - 1) + whole(i - 1, j) + whole(i - 1, j - 1) if i >= 2 and j >= 2 else 0
    return own(i, j) + below


def figures(contexts):
    return {context["name"]: (context["calls"], context["self"]["Ir"], context["inclusive"]["Ir"])
            for context in contexts if context["name"].startswith("fib2")}


def fib2():
    words = ["--separate-par", "fib2:1", "--separate-par", "fib2:2", os.path.join(GUESTS, "fib2")]
    calls = fib2_calls()
    equal((sum(calls.values()), calls[4, 4], calls[2, 2], calls[1, 2]), (94, 1, 13, 18), "calls by thought")
    expected = {"fib2:p1=%d:p2=%d" % at: (n, n * own(*at), n * whole(*at)) for at, n in calls.items()}
    found, shown = report(["--callgrind", path("callgrind")] + words)
    equal(figures(found["contexts"]), expected, "contexts of fib2")
    equal(found["cycles"], [], "cycles of contexts that differ")
    contains(shown, ["contexts    17 of functions, told apart by fib2:1, fib2:2"], "the text")
    check(re.search(r"^ +13 +325 +%d +\d+ +fib2:p1=2:p2=2$" % (13 * whole(2, 2)), shown, re.M), "a row of the text")
    profile = callgrind_file.read(path("callgrind"))
    for name, (_, alone, _) in expected.items():
        equal(profile.by_name(name), alone, "callgrind's instructions of " + name)
    arcs = {pair: got for pair, got in profile.arcs().items() if pair[0].startswith("fib2")}
    equal(arcs, arcs_by_hand(calls), "callgrind's calls")
    ranges()
    recursion()
    recorded(words, found)


def arcs_by_hand(calls):
    arcs = {}
    for (i, j), n in calls.items():
        for k, m in ((i, j - 1), (i - 1, j), (i - 1, j - 1)) if i >= 2 and j >= 2 else ():
            arcs["fib2:p1=%d:p2=%d" % (i, j), "fib2:p1=%d:p2=%d" % (k, m)] = (n, n * whole(k, m))
    return arcs


def ranges():
    """fib2 with j <= 1, 1 < j <= 3, j > 3. Inclusive: while any call of the range goes on."""
    found, _ = report(["--separate-par", "fib2:2:1,3", os.path.join(GUESTS, "fib2")])
    expected = {"fib2:p2<=1": 0, "fib2:1<p2<=3": 0, "fib2:p2>3": 0}
    for (i, j), n in fib2_calls().items():
        expected["fib2:p2<=1" if j <= 1 else "fib2:1<p2<=3" if j <= 3 else "fib2:p2>3"] += n * own(i, j)
    got = figures(found["contexts"])
    equal({name: alone for name, (_, alone, _) in got.items()}, expected, "ranges")
    equal(got["fib2:p2>3"][2], whole(4, 4), "fib2(4, 4) is there all the time")
    equal(found["cycles"], [], "cycles of ranges: j never grows")


def recursion():
    """The outermost call, the calls by it, and all that lie deeper; one function is no cycle."""
    found, shown = report(["--separate-recs", "3", os.path.join(GUESTS, "fib2")])
    second = [(4, 3), (3, 4), (3, 3)]
    expected = {"fib2": (1, own(4, 4), whole(4, 4)),
                "fib2'2": (3, sum(own(*at) for at in second), sum(whole(*at) for at in second))}
    deeper = 94 - 4, whole(4, 4) - expected["fib2"][1] - expected["fib2'2"][1]
    expected["fib2'3"] = deeper + (deeper[1],)
    equal(figures(found["contexts"]), expected, "levels of recursion")
    equal(found["cycles"], [], "cycles")
    contains(shown, ["contexts    4 of functions, told apart by 3 levels of recursion"], "the text of levels")
    found, _ = report(["--separate-callers", "2", "--separate-recs", "2", os.path.join(GUESTS, "fib2")])
    names = sorted(context["name"] for context in found["contexts"])
    equal(names, ["_start", "fib2'2'_start", "fib2'_start"], "callers: a recursion is none of itself")


def recorded(words, live):
    result = emulate(["-q", "--record", path("r")] + words)
    equal((result.returncode, result.stderr), (0, b""), "recording")
    found, _ = report(["replay"] + words[:4] + [path("r")])
    equal(found["contexts"], live["contexts"], "contexts from a recording")
    found, _ = report(["replay", "--separate-par", "fib2:2"] + [path("r")])
    equal(sum(calls for calls, _, _ in figures(found["contexts"]).values()), 94, "calls by another option")
    emulate(["-q", "--record", path("plain"), words[-1]])
    result = emulate(["replay", "-q", "--separate-par", "fib2:2:1,3", path("plain")])
    equal(result.returncode, 125, "status of what a recording does not say")
    contains(text(result), ["does not say what fib2 was called with", "--record FILE --separate-par fib2:2:1,3"],
             "what a recording does not say")
    found, _ = report(["replay", "--separate-recs", "2", path("plain")])
    check("fib2'2" in figures(found["contexts"]), "levels from a recording need no marks")


# ---------------------------------------------------------------------------------------------- debug information

def arguments(option, function):
    """{what stands behind the name: calls}"""
    found, _ = report(["--separate-par", option, os.path.join(GUESTS, "parameters")])
    return {context["arguments"]: context["calls"] for context in found["contexts"]
            if "arguments" in context and context["function"].startswith(function)}


def parameters():
    if not os.path.exists(os.path.join(GUESTS, "parameters")):
        skip("there was no C++ compiler")
    name = "kinds::all"
    equal(arguments(name + ":u", name), {"u=%d" % ((250 + i) % 256): 1 for i in range(-3, 9)}, "unsigned bytes")
    equal(arguments(name + ":flag", name), {"flag=true": 6, "flag=false": 6}, "booleans")
    equal(arguments(name + ":number:-2,0,5", name),
          {"number<=-2": 3, "-2<number<=0": 1, "number>5": 8}, "ranges of long")
    equal(arguments(name + ":4", name), {"number=%d" % (i * 10 ** 12): 1 for i in range(-3, 9)}, "by register")
    equal(arguments(name + ":word:2147483647", name), {"word>2147483647": 12}, "unsigned words")
    equal(arguments(name + ":tone", name), {"tone=1": 12}, "enumerations")
    pointers = arguments(name + ":p", name)
    check(len(pointers) == 1 and re.fullmatch("p=0x[0-9a-f]+", list(pointers)[0]), "pointers: %s" % pointers)
    equal(arguments("kinds::made:n", "kinds::made"), {"n=7": 1, "n=9": 1}, "behind the address of a result")
    equal(arguments("kinds::point::get:deep", "kinds::point::get"), {"deep=true": 4, "deep=false": 4}, "behind this")
    result = emulate(["-q", "--separate-par", name + ":d", os.path.join(GUESTS, "parameters")])
    equal(result.returncode, 125, "status of a parameter in another register")
    contains(text(result), ['no debug information says that a parameter "d" of kinds::all'], "another register")


# ---------------------------------------------------------------------------------------------- calls.c

def cycles():
    """is_even and is_odd call each other; 10 and 4 levels apart they do not. A cycle's inclusive cost is what main's
    call cost, and what the two executed themselves."""
    words = ["--callgrind", path("callgrind"), os.path.join(GUESTS, "calls_static"), "no other stack"]
    found, _ = report(["--separate-recs", "1"] + words)
    members = {context["name"]: context for context in found["contexts"] if context["name"] in ("is_even", "is_odd")}
    names = {context.get("cycle") for context in members.values()}
    equal(len(names), 1, "cycles of is_even and is_odd")
    cycle = [row for row in found["cycles"] if row["name"] in names][0]
    calls = callgrind_file.read(path("callgrind")).arcs()
    equal((cycle["contexts"], cycle["calls"]), (2, 1), "the cycle and who calls it")
    equal(cycle["self"]["Ir"], sum(context["self"]["Ir"] for context in members.values()), "the cycle's own cost")
    equal(cycle["inclusive"]["Ir"], calls["main", "is_even"][1], "the cycle's cost and main's call of it")
    equal(members["is_even"]["inclusive"]["Ir"], calls["main", "is_even"][1], "is_even is there all the time")
    check("cycle" not in [c for c in found["contexts"] if c["name"] == "fib"][0], "a recursion is no cycle")
    found, _ = report(["--separate-recs", "5"] + words)
    check(not [c for c in found["contexts"] if c["name"].startswith("is_") and "cycle" in c and
               not re.search("'5$", c["name"])], "told apart they are no cycle but for the last level")


# Frames that longjmp left end here where the program goes on in a function further out, and there at once.
OWN = ["main", "fib", "is_even", "is_odd", "first", "middle", "last", "leaf", "deep", "jumper", "summing", "library",
       "compare", "signaller"]


def is_own(name):
    return name.split("'")[0] in OWN


def without_outside(name):
    """The C library in front of main has other names there, and a handler has no callers."""
    return re.sub("'(main|handler)'.*", r"'\1", re.sub("^(main|handler)('[2-9])?'.*", r"\1\2", name))


def self_of(profile):
    sums = {}
    for (_, _, name), cost in profile.self.items():
        name = without_outside(name)
        if is_own(name):
            sums[name] = sums.get(name, 0) + cost[0]
    return sums


def valgrind():
    need("valgrind")
    words = [os.path.join(GUESTS, "calls_static"), "no other stack"]
    for options in (["--separate-recs=4"], ["--separate-callers=2", "--separate-recs=2"]):
        result = run(["valgrind", "--tool=callgrind", "--dump-instr=yes", "--callgrind-out-file=" + path("theirs")]
                     + options + words)
        equal(result.returncode, 0, "status of valgrind")
        result = emulate(["-q", "--callgrind", path("ours")] + options + words)
        equal((result.returncode, result.stderr), (0, b""), "status of c2emu")
        compare(callgrind_file.read(path("ours")), callgrind_file.read(path("theirs")), " ".join(options))


def compare(ours, theirs, what):
    """The differences: a ring of tail calls is one loop here, and a nesting of 1000 calls there, so ring_a and ring_b
    are left out, and leaf where they stand for its callers; a handler has no callers there; and costs of calls that
    reach the C library, which chooses its code by the CPU."""
    equal(self_of(ours), self_of(theirs), "instructions with " + what)
    got, expected = ({tuple(map(without_outside, pair)): cost for pair, cost in profile.arcs().items()}
                     for profile in (ours, theirs))
    for pair in expected:
        if not is_own(pair[0]) or not is_own(pair[1]):
            continue
        if check(pair in got, "%s -> %s is missing with %s" % (pair + (what,))):
            equal(got[pair][0], expected[pair][0], "calls %s -> %s with %s" % (pair + (what,)))
            if not re.match("deep|jumper|library|signaller|main", pair[1]):
                equal(got[pair][1], expected[pair][1], "cost of %s -> %s with %s" % (pair + (what,)))


THREADS = 3


def of_threads(name):
    """The profiles of all threads; their file's head says whose they are."""
    files = sorted(file for file in os.listdir(directory.name) if file.startswith(name + "-"))
    equal(files, ["%s-%02d" % (name, thread + 1) for thread in range(THREADS)], "files of " + name)
    for thread, file in enumerate(files):
        with open(path(file)) as lines:
            contains(lines.read(), ["\npart: 1\nthread: %d\n" % (thread + 1)], file)
    return [callgrind_file.read(path(file)) for file in files]


def threads():
    """What each thread executes in the program's own functions, and who calls these; all threads together are the
    profile that does not tell them apart. Each thread works on as many rows; the first one makes the grids."""
    need("valgrind")
    words = [os.path.join(IMAGES, "halo"), str(THREADS), "4", "32", "3"]
    result = run(["valgrind", "--tool=callgrind", "--separate-threads=yes", "--skip-plt=no", "--dump-instr=yes",
                  "--callgrind-out-file=" + path("theirs")] + words)
    equal(result.returncode, 0, "status of valgrind")
    if os.path.exists(path("theirs")):
        os.remove(path("theirs"))
    found, _ = report(["--separate-threads", "--callgrind", path("ours")] + words)
    together, _ = report(["--separate-callers", "1", "--separate-recs", "2", "--callgrind", path("whole")] + words)
    whole, ours, theirs = callgrind_file.read(path("whole")), of_threads("ours"), of_threads("theirs")
    check(not os.path.exists(path("ours")), "no file of all")
    equal([sum(column) for column in zip(*(profile.totals for profile in ours))], whole.totals, "all threads")
    for function in ("work", "make_grid", "main"):
        equal([profile.by_name(function) for profile in ours], [profile.by_name(function) for profile in theirs],
              "instructions of %s by thread" % function)
    for profiles in (ours, theirs):
        equal([sum(count for (_, callee), (count, _) in profile.arcs().items() if callee == "work")
               for profile in profiles], [1] * THREADS, "calls of work")
    works = [context for context in found["contexts"] if context["name"] == "work"]
    equal([(context["thread"], context["calls"], context["self"]["Ir"]) for context in
           sorted(works, key=lambda context: context["thread"])],
          [(thread + 1, 1, profile.by_name("work")) for thread, profile in enumerate(ours)], "contexts of the report")
    # with callers the names are those of one thread
    names = sorted((context["name"], context["calls"]) for context in together["contexts"]
                   if context["function"] == "work")
    equal(names, [("work'main", 1), ("work'start_thread", THREADS - 1)], "callers of work")


# ---------------------------------------------------------------------------------------------- by loop

def by_event(costs):
    sums = {}
    for cost in costs:
        for event, count in cost.items():
            sums[event] = sums.get(event, 0) + count
    return sums


def loops():
    """The inner loop of walk.S is four instructions and 1024 rounds, each of which reads one byte and misses in L1D of
    32 lines. Its first round after a jump back to `walk` is of what that calls, all others of what _start does."""
    words = ["-m", "teach", "--separate-callers", "1"]
    found, _ = report(words + ["--by", "loop", os.path.join(GUESTS, "walk_32K")])
    for context in found["contexts"]:
        equal(by_event(loop["self"] for loop in context["loops"]), context["self"], "loops of " + context["name"])
    inner = {context["name"]: loop["self"] for context in found["contexts"] for loop in context["loops"]
             if loop.get("function") == "line"}
    whole = by_event(inner.values())
    equal([whole[event] for event in ("Ir", "Dr", "D1mr")], [4096, 1024, 1024], "the loop in all contexts")
    equal({name: cost["Ir"] for name, cost in inner.items()}, {"line'_start": 4092, "walk'line": 4}, "and by context")
    plain, _ = report(words + [os.path.join(GUESTS, "walk_32K")])
    for context in found["contexts"]:
        del context["loops"]
    equal(plain["contexts"], found["contexts"], "without loops")


# ---------------------------------------------------------------------------------------------- what cannot be

def refused():
    guest = os.path.join(GUESTS, "fib2")
    for words, said in [
            (["--separate-par", "fib2"], "must be FUNCTION:ARG"), (["--separate-par", "fib2:7"], "1 to 6"),
            (["--separate-par", ":1"], "must be FUNCTION:ARG"), (["--separate-par", "fib2:1:5,3"], "ascending"),
            (["--separate-par", "fib2:1:5,"], "ascending"), (["--separate-par", "fib2:i"], "give its number"),
            (["--separate-par", "fib3:1"], 'did you mean "fib2"?'), (["--separate-callers", "61"], "at most 60"),
            (["--separate-callers", "0"], "must be 1 to"), (["--separate-recs", "2000000"], "at most 1000000"),
            (["--separate-recs", "2", "--no-sim"], "leave one out"),
            (["--separate-par", "fib2:1", "--no-attribution"], "leave one out"),
            (["--separate-callers", "2", "--skip", "5"], "follows every call")]:
        result = emulate(["-q"] + words + [guest])
        equal(result.returncode, 125, "status with " + " ".join(words))
        contains(text(result), [said], " ".join(words))
    for verb in ("advise", "points"):
        result = emulate([verb, "--separate-recs", "2", guest])
        equal(result.returncode, 125, "status of " + verb)
        contains(text(result), ["leave --separate-recs out"], verb)
    with open(path("trace"), "w") as file:
        file.write("0 1000\n1 1008\n2 400000\n")
    result = emulate(["replay", "--format", "din", "--separate-recs", "2", path("trace")])
    equal(result.returncode, 125, "status of a trace")
    contains(text(result), ["a trace does not say which there are"], "a trace")


{"fib2": fib2, "parameters": parameters, "cycles": cycles, "loops": loops, "threads": threads,
 "valgrind": valgrind,
 "refused": refused}[sys.argv[1]]()
done()
