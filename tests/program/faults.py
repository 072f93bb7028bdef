# SPDX-License-Identifier: GPL-2.0-or-later
"""faults.py ends|loading|options|outputs|limits: everything that can go wrong, its exit status
and what is said about it.

ends     how guests die: as natively, and the message names signal, address, instruction, function and source line
loading  what is no program: 126 and 127
options  what is misspelt (the nearest name is given) and what this version does not have (refused by name)
outputs  files that cannot be written; the old file stays, the guest's own output is whole
limits   what the host's limits stop: processor time, sizes of files, memory; and SIGKILL, which leaves nothing behind
"""

import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

from common import EMULATOR, check, contains, done, emulate, equal, fail, run

GUESTS = os.environ["GUESTS"]
CRASH = os.path.join(GUESTS, "crash")
SOURCE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "guests", "crash.c")


def line_of(comment):
    """Where the line marked /* comment */ stands in crash.c."""
    with open(SOURCE) as file:
        for number, line in enumerate(file, 1):
            if "/* %s */" % comment in line:
                return "crash.c:%d" % number
    raise SystemExit("crash.c has no line marked " + comment)


def text(result):
    return result.stderr.decode(errors="replace")


# ---------------------------------------------------------------------------------------------- ends

ENDS = [  # way, status, function, and what else the message has
    ("null_read", 139, "null_read", ["killed by SIGSEGV at address 0x0: mov"]),
    ("wild_write", 139, "wild_write", ["killed by SIGSEGV at address 0x3000dead0000: movl $1, "]),
    ("write_code", 139, "write_code", ["killed by SIGSEGV at address 0x", ": movb $1, "]),
    ("divide", 136, "divide", ["killed by SIGFPE: idivl "]),
    ("illegal", 132, "illegal", ["killed by SIGILL: ud2 at 0x"]),
    ("avx", 125, "avx", ["cannot execute vaddps %ymm1, %ymm2, %ymm3 at 0x", "AVX", "-march=x86-64-v2"]),
    ("avx128", 125, "avx128", ["cannot execute vpxor %xmm1, %xmm2, %xmm3 at 0x", "AVX", "-march=x86-64-v2"]),
]


def native(words, **options):
    status = run(words, **options).returncode
    return 128 - status if status < 0 else status


def refused(way):
    return way.startswith("avx")


def check_place(way, status, function, parts):
    for options in ([], ["--no-sim"]):
        what = " ".join(options + [way])
        result = emulate(["-q"] + options + [CRASH, way])
        equal(result.returncode, status, "status of " + what)
        contains(text(result), ["c2emu: "] + parts + [" in %s (%s)" % (function, line_of(way))], what)
        equal((text(result).count("\n"), result.stdout), (1, b""), "lines said and output of " + what)
    if not refused(way):  # that the host has AVX is its own affair
        equal(native([CRASH, way]), status, "native status of " + way)


def ends():
    for row in ENDS:
        check_place(*row)

    result = emulate(["-q", CRASH, "overflow"])
    equal(result.returncode, 139, "status of a stack overflow")
    contains(text(result), ["killed by SIGSEGV at address 0x3fff37", " in deeper (crash.c:"], "a stack overflow")

    result = emulate(["-q", CRASH, "jump_away"])
    equal((result.returncode, text(result)), (139, "c2emu: killed by SIGSEGV at address 0x1234560: at 0x1234560\n"),
          "a jump to nowhere")

    for way, status, name in (("abort", 134, "SIGABRT"), ("term", 143, "SIGTERM")):
        result = emulate(["-q", CRASH, way])
        equal(result.returncode, status, "status of " + way)
        contains(text(result), ["c2emu: killed by %s: " % name], way)

    result = emulate(["-q", CRASH, "handled"])
    equal((result.returncode, result.stdout, result.stderr), (11, b"handled\n", b""), "a handled SIGSEGV")

    for status in (0, 1, 3, 77, 125, 126, 127, 128, 139, 255, 256, 300, -1):
        result = emulate(["-q", "--no-sim", CRASH, "exit", str(status)])
        equal((result.returncode, result.stderr), (status & 255, b""), "status of exit(%d)" % status)

    exhausted()
    broken_pipe()
    unknown_call()
    a_signal_from_outside()
    report_of_a_killed_guest()


def exhausted():
    """64 MiB are touched on a machine of 32: the page is named, and what to do."""
    result = emulate(["-q", "--set", "machine.physical_memory=32M", CRASH, "touch_64m"])
    equal((result.returncode, result.stdout), (125, b""), "status and output on exhausted memory")
    contains(text(result), ["physical memory (32 MiB) is exhausted at the first touch of page 0x",
                            "--set machine.physical_memory="], "exhausted memory")
    result = emulate(["-q", "--set", "machine.physical_memory=128M", CRASH, "touch_64m"])
    equal((result.returncode, result.stdout), (0, b"touched\n"), "with enough memory")


def broken_pipe():
    """The reader goes away: the guest dies of SIGPIPE, not c2emu."""
    with subprocess.Popen([EMULATOR, "-q", "--no-sim", CRASH, "many_lines"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        equal(process.stdout.readline(), b"y\n", "the first line")
        process.stdout.close()
        said = process.stderr.read().decode()
        equal(process.wait(), 141, "status of a guest whose reader has gone")
    contains(said, ["c2emu: killed by SIGPIPE: "], "SIGPIPE")


def unknown_call():
    result = emulate(["-q", CRASH, "unknown_call"])
    equal((result.returncode, result.stdout), (0, b"-1\n" * 4), "status and output with unknown system calls")
    lines = text(result).splitlines()
    equal(len(lines), 2, "complaints about four unknown calls, two different ones")
    contains(text(result), ["444 (landlock_create_ruleset) is not implemented: the program sees ENOSYS", "9999"],
             "unknown system calls")


def a_signal_from_outside():
    """An interrupted run reports what was done, and its status says so. timeout(1) sends its signal twice at once."""
    for times in (1, 2):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "r.json")
            with subprocess.Popen([EMULATOR, "-q", "--json", path, CRASH, "many_lines"], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) as process:
                process.stdout.read(100000)
                for _ in range(times):
                    process.send_signal(signal.SIGINT)
                _, said = process.communicate()
                equal(process.returncode, 130, "status after SIGINT, %d times" % times)
            contains(said.decode(), ["interrupted by SIGINT"], "SIGINT")
            check(os.path.exists(path), "an interrupted run left no report")


def report_of_a_killed_guest():
    """It is whole, with the status and the end in it; and so it is up to a refused instruction, whatever executes."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "r.json")
        emulate(["-q", "--json", path, CRASH, "null_read"])
        with open(path) as file:
            content = file.read()
        contains(content, ['"exit_status": 139', '"ending": "killed by SIGSEGV at address 0x0: mov'], "report.json")
        os.remove(path)
        reports = []
        for engine in ("auto", "unicorn"):
            result = emulate(["--engine", engine, "--json", path, CRASH, "avx"])
            with open(path) as file:
                report = json.load(file)
            reports.append(report)
            equal((result.returncode, report["exit_status"]), (125, 125), "status of a refused instruction")
            contains(report["ending"], ["cannot execute vaddps ", " in avx (%s): AVX is beyond " % line_of("avx"),
                                        ": run it with --cpu x86-64-v3, "], "its end")
            contains(text(result), ["c2emu: %s\n" % report["ending"], "\nending      cannot execute ", "\nlevel "],
                     "what is said of it")
            check(report["run"]["instructions"] > 1000 and report["levels"], "the report: %r" % report["run"])
            os.remove(path)
        equal(reports[0].pop("receipt")["inputs"], reports[1].pop("receipt")["inputs"], "inputs by both engines")
        equal(reports[0], reports[1], "the reports of both engines")
        result = emulate(["points", "-q", CRASH, "avx"], cwd=directory)
        equal((result.returncode, os.listdir(directory)), (125, []), "points of a part of a run")
        contains(text(result), ["c2emu: cannot execute vaddps "], "points of a part of a run")


# ---------------------------------------------------------------------------------------------- loading

def elf_header(elf_class, machine, kind=2):
    ident = b"\x7fELF" + bytes([elf_class, 1, 1]) + bytes(9)
    if elf_class == 1:
        return ident + struct.pack("<HHIIIIIHHHHHH", kind, machine, 1, 0x8048000, 52, 0, 0, 52, 32, 1, 0, 0, 0) + \
            struct.pack("<IIIIIIII", 1, 0, 0x8048000, 0, 84, 84, 5, 4096)
    return ident + struct.pack("<HHIQQQIHHHHHH", kind, machine, 1, 0x400000, 64, 0, 0, 64, 56, 1, 0, 0, 0) + \
        struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, 120, 120, 4096)


def make(directory, name, content, mode=0o755):
    path = os.path.join(directory, name)
    with open(path, "wb") as file:
        file.write(content)
    os.chmod(path, mode)


def loading():
    with open(CRASH, "rb") as file:
        whole = file.read()
    files = {"text": b"plain text\n", "empty": b"", "i386": elf_header(1, 3), "arm": elf_header(2, 183),
             "object": elf_header(2, 62, kind=1), "head": whole[:50], "cut": whole[:len(whole) // 8],
             "bad-script": b"#!/nonexistent/interpreter -x\n", "no-script": b"#!\n",
             "garbage": whole[:64] + b"\xff" * 4000}
    rows = [  # words, status, what is said
        (["./nothing"], 127, ["./nothing", "No such file"]),
        (["no-such-program"], 127, ["no-such-program", "PATH"]),
        (["./text"], 126, ["neither an ELF program nor a script"]),
        (["./empty"], 126, ["empty"]),
        (["./i386"], 126, ["32-bit", "-m64"]),
        (["./arm"], 126, ["AArch64"]),
        (["./object"], 126, ["object"]),
        (["./head"], 126, ["cut off", "50 of the 64 bytes"]),
        (["./cut"], 126, ["cut off or damaged"]),
        (["./garbage"], 126, ["no loadable segment"]),
        (["./bad-script"], 126, ["/nonexistent/interpreter"]),
        (["./no-script"], 126, ["interpreter"]),
        (["./forbidden"], 126, ["chmod +x"]),
        (["./folder"], 126, ["directory"]),
    ]
    with tempfile.TemporaryDirectory() as directory:
        for name, content in files.items():
            make(directory, name, content)
        make(directory, "forbidden", whole, mode=0o644)
        os.mkdir(os.path.join(directory, "folder"))
        before = sorted(os.listdir(directory))
        for words, status, parts in rows:
            result = emulate(["--json", "never.json"] + words, cwd=directory)
            what = words[0]
            equal((result.returncode, result.stdout), (status, b""), "status and output of " + what)
            contains(text(result), ["c2emu: "] + parts, what)
            equal(text(result).count("\n"), 1, "lines said about " + what)
        equal(sorted(os.listdir(directory)), before, "files left by programs that could not be run")

        make(directory, "script", b"#!/bin/sh -e\necho \"$0\" \"$@\"\nexit 5\n")
        result = emulate(["-q", "./script", "a b", "c"], cwd=directory)
        equal((result.returncode, result.stdout, result.stderr), (5, b"./script a b c\n", b""), "a script")


# ---------------------------------------------------------------------------------------------- options

MISSPELT = [  # words, the nearest name
    (["--machnie", "teach"], "--machine"), (["--no-smi"], "--no-sim"), (["--jsn", "x"], "--json"),
    (["-m", "techa"], "teach"), (["-m", "sandybridge"], "sandybridge-ep"),
    (["--set", "L2.wayz=4"], "ways"), (["--set", "L2.policy=lur"], "lru"), (["--set", "L9.ways=4"], "L"),
    (["--set", "L3.hash=lin7"], "lin"), (["--set", "L2.inclusion=exclusiv"], "exclusive"),
    (["--pages", "seqential"], "sequential"), (["--pages", "same-color,colour=1"], "color"),
    (["--pages", "same-color,level=L9"], "L"), (["--engine", "unicron"], "unicorn"), (["--huge", "of"], "off"),
]
INVALID = [  # words, what is said
    (["-z"], "-z"), (["--frobnicate"], "--frobnicate"), (["--set", "L2"], "SECTION.KEY=VALUE"),
    (["--set", "L4.ways=4"], "no section [L4]"),
    (["--set", "L2.ways=0"], "0"), (["--set", "L2.ways=3"], "L2"), (["--set", "L2.size=0"], "0"),
    (["--seed", "many"], "many"), (["--no-sim=yes"], "takes no value"), (["-E", "=x"], "empty"),
    (["-E", "C2EMU_NOT_SET_HERE"], "not set"), (["-m", "/nonexistent/file.ini"], "/nonexistent/file.ini"),
    (["--no-sim", "--trace", "t.txt"], "--trace"), (["--no-sim", "--callgrind", "t.txt"], "--callgrind"),
    (["--no-attribution", "--evictors", "t.txt"], "--no-attribution"), (["--pages", "random,color=1"], "random"),
    (["--pages", "same-color,color=16"], "0 to 15"),
]
VERBS = ["report"]


def options():
    for words, nearest in MISSPELT:
        result = emulate(words + ["/bin/true"])
        what = " ".join(words)
        equal((result.returncode, result.stdout), (125, b""), "status and output of " + what)
        found = re.search(r"did you mean \"?([^\"?]+)\"?\?", text(result))
        if check(found is not None, "%s: no suggestion in %r" % (what, text(result))):
            check(nearest in found.group(1), "%s: %r is suggested, not %r" % (what, found.group(1), nearest))
    for words, said in INVALID:
        result = emulate(words + ["/bin/true"])
        equal((result.returncode, result.stdout), (125, b""), "status and output of " + " ".join(words))
        contains(text(result), ["c2emu: ", said], " ".join(words))
    for verb in VERBS:
        result = emulate([verb, "x"])
        equal((result.returncode, result.stdout), (125, b""), "status and output of the verb " + verb)
        contains(text(result), [verb, "not available in this version", "./" + verb], verb)
    result = emulate([])
    equal(result.returncode, 125, "status without a program")
    contains(text(result), ["no program", "--help"], "without a program")
    result = emulate(["--help"])
    equal((result.returncode, result.stderr), (0, b""), "--help")
    contains(result.stdout.decode(), ["--machine", "--pages", "--no-sim", "Exit status"], "--help")
    result = emulate(["--version"])
    equal((result.returncode, result.stderr), (0, b""), "--version")
    check(re.fullmatch(rb"c2emu \d+\.\d+\.\d+( \([0-9a-f]+(, changed)?\))?\n", result.stdout),
          "--version prints %r" % result.stdout)
    # Without a limit of the stack, or in the old layout, Linux lays out c2emu itself where the guest's window has to
    # be.
    for how in ("ulimit -s unlimited; exec", "exec setarch -L"):
        result = run(["bash", "-c", how + " \"$0\" -q --inherit-env env", EMULATOR])
        equal(result.returncode, 0, "status under " + how)
        check(b"LAYOUT_TRIED" not in result.stdout, how + ": the guest sees how c2emu was started")
    # Behind PROGRAM every word is its own; -- ends the options.
    result = emulate(["-q", "--", "/bin/echo", "--machine", "-q", "--nonsense"])
    equal((result.returncode, result.stdout), (0, b"--machine -q --nonsense\n"), "options behind the program")


# ---------------------------------------------------------------------------------------------- outputs

PROFILES = ("--callgrind", "--evictors", "--cachegrind", "--folded", "--pprof", "--misses")


def outputs():
    words = ["/bin/echo", "whole"]
    for option in ("--json", "--trace") + PROFILES:
        result = emulate(["-q", option, "/nonexistent/file"] + words)
        equal((result.returncode, result.stdout), (125, b""), "%s in a folder that is not there" % option)
        contains(text(result), ["c2emu: ", "/nonexistent/file", "No such file or directory"], option)
    for directory in ("/proc/nothing", "/etc/passwd", "/etc/passwd/below"):
        result = emulate(["-q", "-o", directory] + words)
        equal((result.returncode, result.stdout), (125, b""), "-o " + directory)
        contains(text(result), ["c2emu: ", directory], "-o " + directory)

    result = emulate(["-q", "--json", "/dev/full"] + words)
    equal((result.returncode, result.stdout), (125, b"whole\n"), "--json on a full disk: status and output")
    contains(text(result), ["c2emu: ", "/dev/full", "No space left on device"], "--json on a full disk")
    for option in ("--trace",) + PROFILES:
        result = emulate(["-q", option, "/dev/full"] + words)
        equal(result.returncode, 125, option + " on a full disk")
        contains(text(result), ["c2emu: ", "/dev/full", "No space left on device"], option + " on a full disk")
    full_disk_keeps_the_old_file()
    inputs_are_kept()

    with tempfile.TemporaryDirectory() as directory:
        result = emulate(["-o", os.path.join(directory, "a", "b")] + words)
        equal(result.returncode, 0, "-o makes its directory")
        equal(sorted(os.listdir(os.path.join(directory, "a", "b"))), ["report.json", "report.txt"], "files of -o")
        with open(os.path.join(directory, "a", "b", "report.txt"), "rb") as file:
            equal(file.read(), result.stderr, "report.txt and the text on standard error")
        with open(os.path.join(directory, "a", "b", "report.json"), "rb") as file:
            report = file.read()
        result = emulate(["-q", "--json-full", "/dev/stdout"] + words)
        equal(result.stdout, b"whole\n" + report, "--json on standard output, and -o's file")
        result = emulate(["-q", "--json", "/dev/stdout"] + words, stdout=open("/dev/full", "wb"))
        equal(result.returncode, 125, "--json when standard output is full")
        result = run(["sh", "-c", '"$0" -q --json /dev/fd/3 "$@" 3>&1 >/dev/null', EMULATOR] + words)
        equal((result.returncode, json.loads(result.stdout)["command"]), (0, words), "--json on another descriptor")
        for option in ("json", "trace", "callgrind", "evictors", "cachegrind", "dump-pagemap", "record"):
            result = emulate(["--" + option, "-"] + words)
            equal((result.returncode, result.stdout, text(result)), (125, b"", "c2emu: --%s -: the program writes to "
                  "standard output as well; name a file, or another descriptor, as in --%s /dev/fd/3 3>&1 >/dev/null\n"
                  % (option, option)), "--%s on the program's own" % option)


READ = [  # words, the files that they read; PROGRAM is another name of program
    (["--json", "PROGRAM", "./program"], "program"), (["--record", "program", "./program"], "program"),
    (["--json", "data", "./program", "./data"], "data"), (["--trace", "linked", "./program", "data"], "data"),
    (["--callgrind", "m.ini", "-m", "m.ini", "./program"], "m.ini"),
    (["--cachegrind", "m.ini", "-m", "teach", "-m", "m.ini", "./program"], "m.ini"),
    (["--dump-pagemap", "map", "--pages", "file=map", "./program"], "map"),
    (["--checkpoint", "program", "--checkpoint-at", "9", "./program"], "program"),
    (["--points", "points", "--weights", "weights", "--interval", "1000", "--json", "weights", "./program"], "weights"),
    (["--points", "points", "--weights", "weights", "--interval", "1000", "--json", "points", "./program"], "points"),
    (["replay", "--json", "recording", "recording"], "recording"),
    (["replay", "--windows", "1000", "--windows-csv", "recording", "recording"], "recording"),
    (["restore", "--evictors", "checkpoint", "checkpoint"], "checkpoint"),
    (["restore", "--checkpoint", "checkpoint", "--checkpoint-at", "99", "checkpoint"], "checkpoint"),
    (["points", "--bbv", "program", "./program"], "program"),
    (["advise", "--json", "program", "./program"], "program"),
]


def make_what_is_read(directory):
    def words(*more):
        equal(emulate(["-q"] + list(more), cwd=directory).returncode, 0, " ".join(more))
    shutil.copy("/bin/true", os.path.join(directory, "program"))
    os.link(os.path.join(directory, "program"), os.path.join(directory, "PROGRAM"))
    for name, content in (("data", "data"), ("points", "0 0\n"), ("weights", "1 0\n")):
        with open(os.path.join(directory, name), "w") as file:
            file.write(content)
    os.symlink("data", os.path.join(directory, "linked"))
    with open(os.path.join(directory, "m.ini"), "wb") as file:
        file.write(emulate(["machines", "teach"]).stdout)
    words("--dump-pagemap", "map", "--record", "recording", "./program")
    words("--checkpoint", "checkpoint", "--checkpoint-at", "9", "./program")


def inputs_are_kept():
    """No output takes the place of what the run reads, by whatever name; it is refused before the program runs."""
    with tempfile.TemporaryDirectory() as directory:
        make_what_is_read(directory)
        names = sorted(os.listdir(directory))
        for words, read in READ:
            what = " ".join(words)
            path = os.path.join(directory, read)
            with open(path, "rb") as file:
                before = file.read()
            result = emulate(words if words[0] in ("replay", "points", "restore", "advise") else ["-q"] + words,
                             cwd=directory)
            equal((result.returncode, result.stdout), (125, b""), what)
            contains(text(result), ["c2emu: cannot write \"", "\": it is read by this run, and would be lost"], what)
            equal(text(result).count("\n"), 1, "lines said by " + what)
            with open(path, "rb") as file:
                equal(file.read() == before, True, "what %s leaves of %s" % (what, read))
            equal(sorted(os.listdir(directory)), names, "files after " + what)
        path = os.path.join(directory, "recording")
        for words in (["-q", "--json", path, "/bin/cat"], ["replay", "--json", path, "-"]):
            with open(path, "rb") as file:
                result = emulate(words, stdin=file)
            equal((result.returncode, result.stdout), (125, b""), "standard input is an output: " + " ".join(words))
            contains(text(result), ["it is read by this run"], " ".join(words))


def full_disk_keeps_the_old_file():
    """A limit on the size of files is a disk that fills up while the report is written."""
    with tempfile.TemporaryDirectory() as directory:
        for option in ("--json", "--trace", "--callgrind", "--cachegrind", "--evictors", "--dump-pagemap", "--record"):
            path = os.path.join(directory, option[2:])
            with open(path, "w") as file:
                file.write("the old one")
            # bash's unit is 1024 bytes; SIGXFSZ is ignored, so that write says EFBIG
            result = run(["bash", "-c", 'trap "" XFSZ; ulimit -f 1; exec "$0" "$@"', EMULATOR, "-q", option, path,
                          "/bin/true"])
            equal(result.returncode, 125, "%s beyond the size limit" % option)
            contains(text(result), ["c2emu: ", path, "File too large"], option + " beyond the size limit")
            with open(path) as file:
                equal(file.read(), "the old one", "the old file after a failed " + option)
            equal([other for other in os.listdir(directory) if other != option[2:]], [], "files left over")
            os.unlink(path)


# ---------------------------------------------------------------------------------------------- limits

LIMITS = os.path.join(GUESTS, "limits")


def within(limits):
    """Sets limits, {RLIMIT_x: (soft, hard)}, in the child alone."""
    def set_limits():
        for limit, values in limits.items():
            resource.setrlimit(limit, values)
    return {"preexec_fn": set_limits}


def limits():
    with tempfile.TemporaryDirectory() as directory:
        processor_time(directory)
        file_sizes(directory)
        memory(directory)
        killed(directory)
        killed_at_any_time(directory)
        nothing_can_be_said(directory)


def processor_time(directory):
    """An interrupted run, but that it is c2emu which failed; with `ulimit -t` too, which leaves no time by itself."""
    path = os.path.join(directory, "time.json")
    stopped = "stopped by the host's limit on processor time (SIGXCPU; ulimit -t)"
    for soft, hard in ((1, 20), (2, 2)):
        what = "a limit of %d and %d seconds" % (soft, hard)
        result = emulate(["--json", path, LIMITS, "spin"], **within({resource.RLIMIT_CPU: (soft, hard)}))
        equal((result.returncode, result.stdout), (125, b""), "status and output with " + what)
        check(text(result).startswith("c2emu: %s\n" % stopped), "%s: it says %r" % (what, text(result)[:200]))
        contains(text(result), ["\nending      %s\n" % stopped, "\nlevel "], "the report with " + what)
        with open(path) as file:
            report = json.load(file)
        equal((report["exit_status"], report["ending"]), (125, stopped), "the JSON report with " + what)
        check(report["run"]["instructions"] > 1000000, "%s: %r" % (what, report["run"]))
        equal(os.listdir(directory), ["time.json"], "files with " + what)
        os.remove(path)


def file_sizes(directory):
    """The guest's own writes end as natively, by the signal or by EFBIG; c2emu's own are an error like a full disk."""
    limit, path = within({resource.RLIMIT_FSIZE: (9000, 9000)}), os.path.join(directory, "data")
    for way, ignored in (("write", ""), ("write", "trap '' XFSZ; "), ("caught", "")):
        words = ["bash", "-c", ignored + 'exec "$0" "$@"']
        expected = run(words + [LIMITS, way, path], **limit)
        result = run(words + [EMULATOR, "-q", "--no-sim", LIMITS, way, path], **limit)
        what = "%s with a limit on the size of files %s" % (way, ignored)
        equal((result.stdout, os.path.getsize(path)), (expected.stdout, 9000), "output of " + what)
        killed_natively = expected.returncode < 0
        equal(killed_natively, way == "write" and not ignored, "whether it is killed natively: " + what)
        equal(result.returncode, 153 if killed_natively else 0, "status of " + what)
        equal(b"killed by SIGXFSZ: " in result.stderr, killed_natively, "whether it is said: " + what)
        os.remove(path)
    # A trace that cannot be written ends the run, a report comes after it.
    for option, output, kind in (("--json", b"whole\n", ""), ("--trace", b"", "the trace ")):
        with open(path, "w") as file:
            file.write("the old one")
        result = emulate(["-q", option, path, "/bin/echo", "whole"], **within({resource.RLIMIT_FSIZE: (2000, 2000)}))
        equal((result.returncode, result.stdout), (125, output), "status and output with %s too large" % option)
        contains(text(result), ["c2emu: cannot write %s\"%s\": File too large" % (kind, path)], option + " too large")
        with open(path) as file:
            equal(file.read(), "the old one", "the old file, the new one being too large")
        os.remove(path)
        equal(os.listdir(directory), [], "files left by a report too large")


def memory(directory):
    """Unicorn calls exit(1) when it gets no memory. Most sizes are found out before; the rest is caught."""
    path = os.path.join(directory, "memory.json")
    sizes = {"unicorn": (20000, 48000, 60000, 200000, 500000, 1200000, 2000000), "native": (20000, 48000, 60000)}
    refused = {"unicorn": "the host refuses 2 GiB of addresses", "native": "the host refuses the native engine "}
    for engine, kilobytes in ((engine, kilobytes) for engine in sizes for kilobytes in sizes[engine]):
        limit = within({resource.RLIMIT_DATA: (kilobytes << 10, kilobytes << 10)})
        result = emulate(["-q", "--engine", engine, "--json", path, "/bin/true"], **limit)
        what = "%s with a limit on data of %d KiB" % (engine, kilobytes)
        if b"the native engine needs" in result.stderr:
            continue
        equal((result.returncode, result.stdout), (125, b""), "status and output of " + what)
        contains(text(result).splitlines()[-1], ["c2emu: "], what)
        if kilobytes >= 60000:
            contains(text(result), [refused[engine], "ulimit -d unlimited"], what)
        equal(os.listdir(directory), [], "files left by " + what)


def killed(directory):
    """By SIGKILL, and by what c2emu's engine does to itself when it does not know what to do. Old files stay."""
    path = os.path.join(directory, "old.json")
    with open(path, "w") as file:
        file.write("the old one")
    for number, status, said in ((signal.SIGKILL, -9, b""), (signal.SIGABRT, 125, b"c2emu: aborted, and nothing is")):
        others = [word for option in ("callgrind", "cachegrind", "evictors", "trace", "dump-pagemap", "record")
                  for word in ("--" + option, os.path.join(directory, option))]
        words = ["-q", "--json", path, "-o", directory + "/."] + others + [CRASH, "many_lines"]
        with subprocess.Popen([EMULATOR] + words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.read(1000)
            process.send_signal(number)
            _, stderr = process.communicate(timeout=60)
        equal((process.returncode, stderr[:len(said)]), (status, said), "status after signal %d" % number)
        equal(os.listdir(directory), ["old.json"], "files after signal %d" % number)
        with open(path) as file:
            equal(file.read(), "the old one", "the old file after signal %d" % number)
    os.remove(path)


def killed_at_any_time(directory):
    """Also while files are written: each is the old one or the new one, whole, and none has another name."""
    names = ["report.json", "report.txt", "profile"]
    words = [EMULATOR, "-q", "-m", "teach", "-o", directory, "--callgrind", os.path.join(directory, "profile")]
    words.append("/bin/true")
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    old, new = {name: "the old " + name for name in names}, {}
    run(words, **quiet)
    for name in names:
        with open(os.path.join(directory, name)) as file:
            new[name] = file.read()
    start = time.monotonic()
    run(words, **quiet)
    whole_time = time.monotonic() - start
    for part in range(24):
        for name in names:
            with open(os.path.join(directory, name), "w") as file:
                file.write(old[name])
        with subprocess.Popen(words, **quiet) as process:
            time.sleep(whole_time * (0.3 + part / 24))
            process.send_signal(signal.SIGKILL)
        # killed in the instant before a rename, one is left, which goes with the next file that is replaced
        left = [name for name in os.listdir(directory) if not name.startswith(".c2emu-")]
        equal(sorted(left), sorted(names), "files after SIGKILL at %d/24 of the run" % part)
        for name in names:
            with open(os.path.join(directory, name)) as file:
                content = file.read()
            check(content in (old[name], new[name]), "%s is the old one or the new one: %s" % (name, content[:100]))
    run(words, **quiet)
    equal(sorted(os.listdir(directory)), sorted(names), "files after a whole run")
    for name in names:
        os.remove(os.path.join(directory, name))


def nothing_can_be_said(directory):
    """A report that is lost is a failure, whatever the program did. The other outputs are whole."""
    path = os.path.join(directory, "report.json")
    for words in (["/bin/echo", "whole"], ["--json", path, "/bin/echo", "whole"], ["advise", "/bin/echo", "whole"]):
        for how in ("2>/dev/full", "2>&-"):
            what = " ".join(words + [how])
            result = run(["bash", "-c", 'exec "$0" "$@" ' + how, EMULATOR] + words)
            equal((result.returncode, result.stdout), (125, b"whole\n"), "status and output of " + what)
            if path in words:
                with open(path) as file:
                    equal(json.load(file)["exit_status"], 0, "the program's status of " + what)
                os.remove(path)
    result = run(["bash", "-c", 'exec "$0" "$@" 2>/dev/full', EMULATOR, "-q", "/bin/echo", "whole"])
    equal((result.returncode, result.stdout), (0, b"whole\n"), "status and output when there is nothing to say")
    for words in (["--help"], ["--version"]):
        with open("/dev/full", "wb") as full:
            result = emulate(words, stdout=full)
        equal((result.returncode, text(result)),
              (125, "c2emu: cannot write to standard output: No space left on device\n"), " ".join(words))


{"ends": ends, "loading": loading, "options": options, "outputs": outputs, "limits": limits}[sys.argv[1]]()
done()
