# SPDX-License-Identifier: GPL-2.0-or-later
"""checkpoint.py files|signals|registers|places|elsewhere|library|refused|changed|damaged: a run that is saved, goes on.

files, signals, registers  kept.c, cut at random instructions: the run that is saved, and the run that goes on, report
                           what a whole run does. C2_CHECKPOINT_POINTS: so many points, 100 made by hand
places     at the n-th arrival at a function, a line, an address; beside regions and samples; the run may end there
elsewhere  another machine, placement, seed or analysis; no simulation; a checkpoint of a run that goes on from one
library    dynamic programs with allocations, functions with arrays, code that changes
refused    what cannot be saved, and options that go with none, each with its message
changed    files that are others by now are named; those that the program writes get their old length
damaged    cut and changed files are refused, whatever is hit
"""

import json
import os
import random
import shutil
import sys
import tempfile

from common import check, contains, done, emulate, equal, without_receipt

GUESTS = os.environ["GUESTS"]
KEPT = os.path.join(GUESTS, "kept")
POINTS = int(os.environ.get("C2_CHECKPOINT_POINTS", "4"))
CACHES = "--checkpoint-caches"


class Place:
    """A folder of its own, with a file to read."""

    def __init__(self):
        self.directory = tempfile.TemporaryDirectory()
        self.path = os.path.realpath(self.directory.name)
        self.guest = self.file("guest")
        os.mkdir(self.guest)
        with open(self.file("guest/in"), "w") as file:
            file.write("".join("line %d of the input\n" % number for number in range(500)))
        self.checkpoint = self.file("checkpoint")

    def file(self, name):
        return os.path.join(self.path, name)

    def run(self, words, stdin="guest/in"):
        """Exit status, output, text of the report, report without its receipt."""
        report = self.file("report.json")
        if os.path.exists(report):
            os.remove(report)
        with open(self.file(stdin) if stdin else os.devnull) as input_file:
            verb = words[0] == "restore"
            result = emulate(words[:1] * verb + ["--json-full", report] + words[verb:], stdin=input_file)
        text = b""
        if os.path.exists(report):
            with open(report, "rb") as file:
                text = without_receipt(file.read())
        return result.returncode, result.stdout, result.stderr.decode(), text.decode()

    def save(self, at, program, *options):
        return self.run(["--checkpoint-at", str(at), "--checkpoint", self.checkpoint] + list(options) + program)

    def restore(self, *options, **more):
        return self.run(["restore", self.checkpoint] + list(options), **more)


def same(got, expected, what):
    """Of runs: all of it; of the output what comes at the end."""
    equal((got[0], got[2]), (expected[0], expected[2]), "status and text of " + what)
    equal(json.loads(got[3] or "{}"), json.loads(expected[3] or "{}"), "report of " + what)
    check(got[3] == expected[3], "the bytes of the report of " + what)
    check(expected[1].endswith(got[1]), "the output of %s is no end of the whole one" % what)


def length(run):
    return json.loads(run[3])["run"]["instructions"]


def points(way, program):
    place = Place()
    whole = place.run(program(place))
    draw = random.Random("points of " + way)
    for number in range(POINTS):
        at = draw.randrange(1, length(whole))
        caches = [CACHES] if number % 2 else []
        what = "%s at %d %s" % (way, at, " ".join(caches))
        same(place.save(at, program(place), *caches), whole, "saving " + what)
        same(place.restore(), whole if caches else place.run(["--skip", str(at)] + program(place)), what)


def files():
    points("files", lambda place: [KEPT, "files", place.guest])


def signals():
    points("signals", lambda place: [KEPT, "signals"])


def registers():
    points("registers", lambda place: [KEPT, "registers"])


# ---------------------------------------------------------------- places

def position(place):
    """The instruction that the checkpoint is at, as a refusal names it."""
    text = place.restore("--checkpoint-at", "1", "--checkpoint", place.file("none"))[2]
    return int(text.split("is at instruction ")[1].split()[0])


def at_place(place, program, whole, what):
    same(place.save(what, program), whole, "saving at " + what)
    at = position(place)
    same(place.restore(), place.run(["--skip", str(at)] + program), "at " + what)
    same(place.save(what, program, CACHES), whole, "saving with caches at " + what)
    equal(position(place), at, "position of %s with caches" % what)
    same(place.restore(), whole, "with caches at " + what)
    return at


def places():
    place = Place()
    program = [KEPT, "signals"]
    whole = place.run(program)
    ats = [at_place(place, program, whole, what) for what in ("on_user:4", "on_user:5", "on_fault", "raise:3")]
    check(ats[0] < ats[1], "the fifth arrival is behind the fourth: %r" % ats)
    status, output, text, report = place.save("on_user:4", program, "--checkpoint-stop")
    equal((status, output), (0, b""), "a run that ends at its checkpoint")
    said = json.loads(report)
    equal((said["ending"], said["run"]["instructions"]), ("ended at its checkpoint", ats[0]), "its report")
    same(place.restore(), place.run(["--skip", str(ats[0])] + program), "a run that had ended")
    for options in (["--roi", "raise"], ["--roi", "on_user"], ["--measure", "700", "--samples", "9"]):
        same(place.save("on_user:4", program, *options), place.run(options + program), "beside " + " ".join(options))
    status, _, text, _ = place.save("on_usr", program)
    equal(status, 125, "status for a place that is not there")
    contains(text, ["c2emu: --checkpoint-at on_usr: no function has this name"], "a place that is not there")
    os.remove(place.checkpoint)
    status, output, text, report = place.save("on_user:1000", program)
    equal((status, output, report), (125, whole[1], whole[3]), "arrivals that do not come")
    contains(text, ["%s was not written: the program ended after" % place.checkpoint], "arrivals that do not come")


# ---------------------------------------------------------------- elsewhere

OTHERS = [
    ["-m", "teach"],
    ["--pages", "random", "--seed", "5"],
    ["--pages", "buddy,age=0.5", "--huge", "thp"],
    ["-m", "c2sim", "--no-attribution"],
    ["--against", "random"],
    ["-m", "teach", "-m", "c2sim", "--vary", "L2.ways=4,8"],
]


def elsewhere():
    place = Place()
    program, at = [KEPT, "registers"], 61234
    place.save(at, program, "--no-sim")
    for options in OTHERS:
        same(place.restore(*options), place.run(["--skip", str(at)] + options + program), " ".join(options))
    more = ["--warmup", "1000", "--measure", "3000"]
    same(place.restore("--skip", "5000", *more), place.run(["--skip", str(at + 5000)] + more + program),
         "a later sample")
    period = ["--measure", "2000", "--period", "7000", "--offsets", "random"]
    same(place.restore(*period), place.run(["--skip", str(at)] + period + program), "samples in periods")
    status, output, text, report = place.restore("--no-sim")
    whole = place.run(program)
    equal((status, json.loads(report)["run"]["instructions"]), (whole[0], length(whole)), "no-sim")
    place.save(at, program, CACHES, "-m", "teach")
    for options in OTHERS[:2]:
        same(place.restore(*options), place.run(options + program), "with caches: " + " ".join(options))
    measured = ["--warmup", "700", "--measure", "9000"]
    same(place.restore(*measured), place.run(["--warmup", str(at + 700), "--measure", "9000"] + program),
         "with caches: a warm-up")
    told = [note for note in place.restore("--set", "cores=4")[2].splitlines() if "note" in note]
    equal(told, ["c2emu: note: the program was started on 1 processor and finds no other number; this machine has 4 "
                 "cores"], "a checkpoint of one processor, on several cores")
    chain(place, program, at)
    profiles(place, program, at)
    recorded(place, program, at)


def chain(place, program, at):
    """A checkpoint of a run that goes on from another one."""
    for caches in ([], [CACHES]):
        place.save(at, program, *caches)
        again = place.file("again")
        same(place.restore("--checkpoint-at", str(at + 20000), "--checkpoint", again, *caches),
             place.run((["--skip", str(at)] if not caches else []) + program), "saving again")
        place.checkpoint, first = again, place.checkpoint
        same(place.restore(), place.run((["--skip", str(at + 20000)] if not caches else []) + program), "the second")
        place.checkpoint = first


def profiles(place, program, at):
    """Files of references and profiles."""
    place.save(at, program, CACHES)
    for option in ("--trace", "--callgrind", "--evictors", "--cachegrind"):
        a, b = place.file("a"), place.file("b")
        place.restore(option, a)
        place.run([option, b] + program)
        with open(a) as one, open(b) as other:
            check(one.read() == other.read(), option + " of a run that goes on")


def recorded(place, program, at):
    """A recording of a run that goes on is one of the whole run."""
    place.save(at, program)
    recording = place.file("recording")
    went_on = place.restore("--record", recording)
    result = emulate(["replay", "-q", "--json-full", "-", recording])
    equal((result.returncode, result.stdout.decode()), (went_on[0], went_on[3]), "the replay of a run that goes on")


def library():
    for name, at in (("onstack_gcc_O0_4", 150000), ("wrappers_gcc_O2_4", 120000), ("changing_code", 99000)):
        place = Place()
        program = [os.path.join(GUESTS, name)]
        place.save(at, program)
        same(place.restore(stdin=None), place.run(["--skip", str(at)] + program), "%s at %d" % (name, at))
        place.save(at, program, CACHES)
        same(place.restore(stdin=None), place.run(program), "%s at %d with caches" % (name, at))


# ---------------------------------------------------------------- refused

HELD = {
    "pipe": "descriptor 3 is a pipe, whose state only the host knows",
    "socket": "descriptor 3 is a socket, whose state only the host knows",
    "epoll": "descriptor 3 is a set of watched descriptors (epoll), whose state only the host knows",
    "event": "descriptor 3 is an object without a file (eventfd or the like), whose state only the host knows",
    "memory": "descriptor 3 is /memfd:held (deleted), which no longer has that name, and could not be opened again",
    "unlinked": "descriptor 3 is GUEST/held (deleted), which no longer has that name, and could not be opened again",
    "lock": "descriptor 3 holds a lock, which would be gone",
    "mapping": "the mapping at 0x3f0e2ffff000 is GUEST/held, which no longer has that name, and could not be opened "
               "again",
}

WRONG = [
    (["--checkpoint", "x", "P"], "--checkpoint x: when? Add --checkpoint-at N|PLACE"),
    (["--checkpoint-stop", "P"], "--checkpoint-stop needs the file to write; add --checkpoint FILE"),
    (["--checkpoint-at", "main:0", "--checkpoint", "x", "P"],
     "--checkpoint-at main:0: arrivals at a place are counted from 1"),
    (["--checkpoint-at", "5", "P"], "--checkpoint-at needs the file to write; add --checkpoint FILE"),
    (["--checkpoint-caches", "P"], "--checkpoint-caches needs the file to write; add --checkpoint FILE"),
    (["--checkpoint-at", "0", "--checkpoint", "x", "P"], "--checkpoint-at 0: must be 1 to 10^18"),
    (["--checkpoint-at", "5", "--checkpoint", "-", "P"],
     "--checkpoint -: the program writes to standard output as well; name a file, or another "
     "descriptor, as in --checkpoint /dev/fd/3 3>&1 >/dev/null"),
    (["points", "--checkpoint-at", "5", "--checkpoint", "x", "P"],
     "points runs the program to its end; leave --checkpoint out"),
    (["--checkpoint-at", "5", "--checkpoint", "x", "--checkpoint-caches", "--no-sim", "P"],
     "--checkpoint-caches keeps all references, which --no-sim leaves out; leave one out"),
    (["--checkpoint-at", "5", "--checkpoint", "x", "--checkpoint-caches", "--skip", "9", "P"],
     "--checkpoint-caches keeps all references, which --skip, --warmup and --measure leaves out; leave one out"),
    (["restore"], "no checkpoint given: c2emu restore FILE [OPTION]... (see c2emu help restore)"),
    (["restore", "C", "P"],
     "restore: \"P\" is one word too many: there is one checkpoint, and the program's arguments are in it"),
    (["restore", "none"], "cannot open the checkpoint none: No such file or directory"),
    (["restore", "/bin/true"], "/bin/true is no checkpoint: its first bytes are other ones; name a file that "
     "--checkpoint has written"),
    (["restore", "C", "--env", "A=b"],
     "--env: the checkpoint has what the program was started with; leave it out"),
    (["restore", "C", "--inherit-env"],
     "--inherit-env: the checkpoint has what the program was started with; leave it out"),
    (["restore", "C", "--clock", "@5"],
     "--clock: the checkpoint has what the program was started with; leave it out"),
    (["restore", "C", "--alloc-wrapper", "f"],
     "--alloc-wrapper: the checkpoint has what the program was started with; leave it out"),
    (["restore", "C", "--roi", "main"],
     "--roi, --from and --to follow a run from its start; leave them out, or begin at a checkpoint that is where they "
     "would"),
    (["restore", "C", "--skip", "5", "--warm", "functional"],
     "--warm functional: the checkpoint has no references to warm up with; make it with --checkpoint-caches"),
    (["--checkpoint-at", "5", "--checkpoint", "x", "--checkpoint-caches", "--roi", "main", "P"],
     "--checkpoint-caches is for whole runs; leave --roi, --from and --to out"),
    (["restore", "C", "--zero-page"],
     "--zero-page: the checkpoint C does not tell pages that were only read; make it with --zero-page"),
    (["restore", "C", "--huge", "heap"],
     "--huge: the heap of the checkpoint C does not grow by pages of that size; make it with the same --huge and "
     "--huge-size"),
    (["restore", "C", "--checkpoint-at", "50000", "--checkpoint", "x"],
     "--checkpoint-at 50000: the checkpoint C is at instruction 50000 already"),
    (["restore", "C", "--checkpoint-at", "60000", "--checkpoint", "x", "--checkpoint-caches"],
     "--checkpoint-caches: the checkpoint C has no references from before it; leave it out"),
    (["restore", "D", "--skip", "5"],
     "a checkpoint with its caches goes on where it is: --warmup and --measure follow it, and --skip, --period and "
     "--samples are for checkpoints without; leave them out"),
]


def refused():
    place = Place()
    for what, message in HELD.items():
        status, _, text, report = place.save(31000, [KEPT, "holds", what, place.guest])
        message = message.replace("GUEST", place.guest)
        equal((status, text, report), (125, "c2emu: the checkpoint %s cannot be written: %s\n" %
                                       (place.checkpoint, message), ""), "a program that holds a " + what)
        check(not os.path.exists(place.checkpoint), "a file that could not be written is there")
    program = [KEPT, "registers"]
    place.save(50000, program, CACHES)
    caches = place.file("caches")
    os.rename(place.checkpoint, caches)
    place.save(50000, program)
    for words, message in WRONG:
        words = [{"C": place.checkpoint, "D": caches, "P": "/bin/true"}.get(word, word) for word in words]
        message = message.replace("checkpoint C ", "checkpoint %s " % place.checkpoint)
        message = message.replace("\"P\"", "\"/bin/true\"")
        result = emulate(words, cwd=place.path)
        equal((result.returncode, result.stdout), (125, b""), "status and output of " + " ".join(words))
        equal(result.stderr.decode().splitlines()[0], "c2emu: " + message, " ".join(words))
    too_late(place, program)
    full_disk(place, program)
    other_versions(place)


def too_late(place, program):
    whole = place.run(program)
    os.remove(place.checkpoint)
    status, output, text, report = place.save(10 ** 9, program)
    equal((status, output, report), (125, whole[1], whole[3]), "a program that ends before its checkpoint")
    equal(text[len(whole[2]):], "c2emu: --checkpoint-at 1,000,000,000: %s was not written: the program ended after %d "
          "instructions\n" % (place.checkpoint, length(whole)), "what is said of it")
    check(not os.path.exists(place.checkpoint), "a checkpoint that was not reached is there")


def full_disk(place, program):
    """A file that cannot be finished leaves the old one."""
    with open(place.checkpoint, "w") as file:
        file.write("old")
    words = ["-q", "--checkpoint-at", "50000", "--checkpoint", place.checkpoint] + program
    result = emulate(words, preexec_fn=limit_files)
    equal(result.returncode, 125, "status where the file is too large")
    contains(result.stderr.decode(), ["File too large", place.checkpoint], "what is said")
    with open(place.checkpoint) as file:
        equal(file.read(), "old", "the old file")
    equal(sorted(os.listdir(place.path)), ["caches", "checkpoint", "guest", "report.json"], "what is left behind")
    os.remove(place.checkpoint)
    place.save(50000, program)


def limit_files():
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))


def other_versions(place):
    with open(place.checkpoint, "rb") as file:
        content = bytearray(file.read())
    content[8:12] = (99).to_bytes(4, "little")
    with open(place.checkpoint, "wb") as file:
        file.write(content)
    status, _, text, _ = place.restore()
    version = emulate(["--version"]).stdout.decode().split()[1]
    equal(status, 125, "status with another format")
    contains(text, ["format 99, and this is c2emu %s, format " % version, "make it again"], "another format")


# ---------------------------------------------------------------- changed

def changed():
    place = Place()
    program, at = [KEPT, "files", place.guest], 150000
    whole = place.run(program)
    place.save(at, program)
    skipped = place.run(["--skip", str(at)] + program)
    log = open(place.file("guest/log")).read()
    for tail in ("", "something that was not there"):
        with open(place.file("guest/log"), "a") as file:
            file.write(tail)
        same(place.restore(), skipped, "a log with more in it")
        equal(open(place.file("guest/log")).read(), log, "the log")
    with open(place.file("guest/in"), "a") as file:
        file.write("!")
    os.remove(place.file("guest/out"))
    status, output, text, report = place.restore()
    equal((status, output, report), (125, b"", ""), "files that have changed")
    bytes_now = os.path.getsize(place.file("guest/in"))
    equal(text, "c2emu: the checkpoint %s cannot be restored: %s has changed: it had %d bytes, and has %d; %s cannot "
          "be opened any more: No such file or directory; %s has changed: it was written since\n" %
          (place.checkpoint, place.file("guest/in"), bytes_now - 1, bytes_now, place.file("guest/out"), place.guest),
          "their names")
    equal(open(place.file("guest/log")).read(), log, "the log of a run that does not go on")
    place = Place()
    program = [KEPT, "files", place.guest]
    same(place.save(at, program), place.run(program), "saving")
    with open(place.file("guest/log"), "r+") as file:
        file.write("X")
    contains(place.restore()[2], [place.file("guest/log") + " has changed: its first ",
                                  " bytes are other ones than the program had written"], "a log that was changed")
    os.utime(place.file("guest/in"), (5, 5))
    contains(place.restore()[2], [place.file("guest/in") + " has changed: it was written since"], "a touched file")
    shutil.rmtree(place.guest)
    contains(place.restore(stdin=None)[2], [place.guest + " cannot be opened any more"], "a folder that is gone")
    del whole


# ---------------------------------------------------------------- damaged

def damaged():
    place = Place()
    program = [KEPT, "registers"]
    whole = place.save(50000, program)
    check(whole[0] == 5, "status of the whole run")
    with open(place.checkpoint, "rb") as file:
        content = file.read()
    draw = random.Random("damage")
    sizes = list(range(0, 24, 3)) + [len(content) * part // 100 for part in range(4, 100, 8)]
    inputs = [content[:size] for size in sizes]
    for _ in range(16):
        place_of = draw.randrange(len(content))
        inputs.append(content[:place_of] + bytes([content[place_of] ^ 1 << draw.randrange(8)]) + content[place_of + 1:])
    inputs.append(content + b"!")
    for number, damage in enumerate(inputs):
        with open(place.checkpoint, "wb") as file:
            file.write(damage)
        status, output, text, report = place.restore()
        equal((status, output, report), (125, b"", ""), "damage %d" % number)
        check("damaged" in text or "ends at byte" in text or "no checkpoint" in text or " format " in text or
              "no recording" in text, "what is said of damage %d: %s" % (number, text))


{"files": files, "signals": signals, "registers": registers, "places": places, "elsewhere": elsewhere,
 "library": library, "refused": refused, "changed": changed, "damaged": damaged}[sys.argv[1]]()
done()
