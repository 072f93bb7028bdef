# SPDX-License-Identifier: GPL-2.0-or-later
"""advise.py PART: `c2emu advise` beside the samples' cures.

itself   played back, a run is itself
layouts  rows and huge pages together, and what helps nothing
words    errors, --dim, and the guest's own output and status
"""

import json
import os
import sys

from common import check, contains, done, emulate, equal, report, run

IMAGES = os.environ["IMAGES"]
GUESTS = os.environ["GUESTS"]


def image(name, *words):
    return [os.path.join(IMAGES, name), *words]


def advise(options, program, status=0, **more):
    result = emulate(["advise"] + options + program, **more)
    equal(result.returncode, status, "exit status of advise " + " ".join(options + program))
    return result


def advice(options, program, status=0):
    text = advise(["-q", "--json", "/dev/stdout"] + options, program, status).stdout.decode()
    return json.loads(text[text.index('{\n  "format"'):]) # behind the guest's own output


# ---------------------------------------------------------------- played back, a run is itself

PLACEMENTS = [["--pages", policy] for policy in ("sequential", "random", "colored", "identity", "buddy,age=0.5")]
PLACEMENTS += [["--huge", "thp"], ["--huge", "all"], ["--huge", "never"], ["--huge", "heap"], ["--zero-page"],
               ["--place", "heap=random"], ["--place", "libc.so.6=random"], ["--place", "text=random"]]


def itself():
    """Every count of every level, whatever the placement: first touches by the kernel and the loader are in the
    recording. Each placement with a small program and one of the others in turn."""
    # None asks ld.so.cache, which may change between two runs while packages are installed.
    small = ([os.path.join(GUESTS, "hello_static")], 1) # and its exit status
    others = [(image("list", "40"), 0), (image("sparse", "2"), 0), (image("doitgen", "1"), 0)]
    for i, placement in enumerate(PLACEMENTS):
        for program, status in (small, others[i % len(others)]):
            what = " ".join(placement + program)
            played, ran = advice(placement, program, status), report(placement, program, status)
            check(played["same_as_run"], "played back, another run: " + what)
            equal([{key: level[key] for key in level} for level in played["before"]["levels"]],
                  [{key: level[key] for key in played["before"]["levels"][0]} for level in ran["levels"]], what)


# ---------------------------------------------------------------- huge pages and rows together

def together():
    """doitgen in frames drawn at random: longer rows cure L1D, and L2 only in pages of 2 MiB (Sato & Endo, section 4).

    In L2 the 3200 lines of the padded panel lie in 512 sets by their frames: 320 rows of 10 lines, nearly each row in a
    page of its own. In one huge page no set has more than 7 of them (samples.py), beside which the 64 lines of the
    stack and the code and the 200 of the other arrays are random as well. So L2 conflicts go from thousands, where
    sets of more than 8 lines are walked round 4 * 8 times, to hundreds at most.
    """
    document = advice(["-m", "c2sim", "--pages", "random"], image("doitgen"))
    layouts = {tuple(layout["means"]): layout for layout in document["layouts"]}
    rows, huge, both = (layouts[means] for means in (("pad_rows",), ("huge_pages",), ("pad_rows", "huge_pages")))
    by = {name: {level["name"]: level["conflict"] for level in layout["levels"]}
          for name, layout in (("rows", rows), ("huge", huge), ("both", both))}
    check(by["rows"]["L1D"] < 1000 and by["both"]["L1D"] < 1000 and by["huge"]["L1D"] > 100000, "L1D: %s" % by)
    check(by["both"]["L2"] * 10 < by["rows"]["L2"], "L2: %s" % by)
    check(both["cost"] < rows["cost"] < huge["cost"], "costs")


def simulated():
    """A finding has the gain of the best of its layouts, those in pages of 2 MiB besides only where they spare more
    than twice as much; the list is ordered by it. Loops that could be swapped, in doitgen, have an estimate, and no
    layout is theirs."""
    for program in ("stencil3d", "histogram", "bodies"):
        best_of_its_own(advice(["-m", "c2sim"], image(program)))
    document = advice(["-m", "c2sim"], image("doitgen", "1"))
    equal([one["gain_by"] for one in document["findings"] if one["pattern"] == "loop-order"], ["estimated"], "a swap")
    check(all(1 not in layout["findings"] for layout in document["layouts"]), "layouts of a swap")


def best_of_its_own(document):
    cost = document["before"]["cost"]
    tried = [one for one in document["findings"] if one["gain_by"] == "simulated" and one["pattern"] != "capacity"]
    check(tried, "a finding whose remedy was tried")
    for number, finding in enumerate(document["findings"], 1):
        if finding not in tried:
            continue
        own = [layout for layout in document["layouts"] if number in layout["findings"]]
        spared = {True: [0], False: [0]}
        for layout in own:
            besides = "huge_pages" in layout["means"] and layout["means"] != ["huge_pages"]
            spared[besides].append(max(0, cost - layout["cost"]))
        of = spared[True] if max(spared[True]) // 2 > max(spared[False]) else spared[False]
        check(finding["gain"] in of and finding["gain"] * 100 >= max(of) * 99,
              "gain of finding %d: %d, of %s" % (number, finding["gain"], of))
    gains = [one["gain"] for one in document["findings"] if one["gain"] != 0]
    equal(gains, sorted(gains, reverse=True), "the order of findings")


# ---------------------------------------------------------------- words

def nothing():
    result = advise(["-m", "c2sim"], [os.path.join(GUESTS, "hello_static")], 1)
    contains(result.stderr.decode(), ["nothing to try: no variable, block or mapping"], "a program that does nothing")
    result = advise(["-m", "c2sim"], image("nw_padded", "20"))
    contains(result.stderr.decode(), ["nothing helps: no layout costs 1 % less"], "a cured program")


def dims():
    machine = ["-m", "c2sim"]
    for options, text in (
            (["--dim", "bb=1024"],
             '--dim bb=1024: no variable of the program is called "bb" (did you mean "b"?)'),
            (["--dim", "b b=1024"],
             '--dim b b=1024: the run has no object "b b" that can be moved; with '
                                     'conflict misses: '),
            (["--dim", "b"], "--dim b: must be OBJECT=ROWBYTES, e.g. A=4096"),
            (["--dim", "b=70000"], "--dim b=70000: b has 131072 bytes, so its rows have 1 to 65536"),
            (["--dim", "b=x"], "--dim: ")):
        contains(advise(machine + options, image("transpose", "1"), 125).stderr.decode(), [text], " ".join(options))
    layouts = advice(machine + ["--dim", "a=2K"], image("transpose", "1"))["layouts"]
    rows = {layout["objects"][0]["name"]: layout["objects"][0]["row"]
            for layout in layouts if layout["means"] == ["pad_rows"] and len(layout["objects"]) == 1}
    equal(rows, {"a": 2048, "b": 1024}, "rows by --dim and by themselves")


def the_guest_first():
    """Exit status, output and the failure of a temporary file."""
    result = advise([], ["/bin/sh", "-c", "echo out; exit 7"], 7)
    equal(result.stdout, b"out\n", "the guest's output")
    environment = dict(os.environ, TMPDIR="/nonexistent")
    contains(advise([], ["/bin/true"], 125, env=environment).stderr.decode(),
             ["cannot make a temporary file /nonexistent/c2emu-", "TMPDIR names another"], "TMPDIR")
    limited = run(["bash", "-c", 'ulimit -f 4; exec "$C2EMU" advise -q "$@"', "bash", *image("list", "40")])
    equal((limited.returncode, limited.stderr),
          (125, b"c2emu: cannot write the recording in a temporary file (TMPDIR names another directory): File too "
                b"large\n"), "a file that may not grow")
    command = [os.environ["C2EMU"], "advise", "-m", "c2sim", *image("nw")]
    equal(run(command).stderr, run(command).stderr, "twice the same")


PARTS = {"itself": [itself], "layouts": [together, simulated, nothing], "words": [dims, the_guest_first]}
for part in PARTS[sys.argv[1]]:
    part()
done()
