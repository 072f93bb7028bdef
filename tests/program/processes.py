# SPDX-License-Identifier: GPL-2.0-or-later
"""processes.py PART: programs that become others, and start others.

execve   what a process keeps and loses, what is refused, scripts, position independent programs and others: as natively
reports  each program has its own, by its name; the list of them; --follow
remote   processes that read and write each other's memory (process_vm_readv)
joint    processes that have one memory and wait for each other
family   fork, wait, pipes, signals, shared memory, locks, clocks between processes: as natively (shells, gcc, make,
         git and other programs: tests/programs.tsv)
tasks    ps, top, pgrep, pstree and killall see the processes of the run
same     a pipeline has the same reports each time, whatever the host does beside
children reports of forked processes, what is not followed, counts that add up
ends     processes that are killed from outside, deadlocks; none of the host's is left behind
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from common import EMULATOR, check, contains, done, equal, run

GUESTS = os.environ["GUESTS"]
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/", "LANG": "C"}


def both(words, what, options=(), **more):
    """Output and status as natively; what c2emu says of its own is nothing."""
    native = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT, timeout=60,
                            stdin=subprocess.DEVNULL, **more)
    ours = run([EMULATOR, "-q", "--no-sim", *options, *words], stdin=subprocess.DEVNULL, **more)
    equal((ours.returncode, ours.stdout, ours.stderr), (native.returncode, native.stdout, native.stderr), what)
    return ours


def write(path, text, mode=0o755):
    with open(path, "wb") as file:
        file.write(text)
    os.chmod(path, mode)


def execve(top):
    files = os.path.join(top, "files")
    os.mkdir(files)
    for name, text, mode in (("plain", b"#!/bin/true\n", 0o644), ("text", b"echo a text\n", 0o755),
                             ("empty", b"", 0o755),
                             ("half", b"\x7fELF\x02\x01\x01", 0o755), ("orphan", b"#!/nowhere\n", 0o755),
                             ("of_text", b"#!%s/text\n" % files.encode(), 0o755),
                             ("circle", b"#!%s/circle\n" % files.encode(), 0o755)):
        write(os.path.join(files, name), text, mode)
    os.symlink("loop", os.path.join(files, "loop"))
    for guest in ("execs", "execs_static", "execs_fixed"):
        path = os.path.join(GUESTS, guest)
        both([path, "errors", files], "errors of " + guest)
        equal(both([path, "before", files], "what is left of " + guest).returncode, 7, guest)
        both([path, "chain", "4"], "a chain of " + guest)
    # one program becomes another: position independent, then at a fixed address, and back
    write(os.path.join(top, "there"), b"#!/bin/sh\nexec %s chain 0\n" % os.path.join(GUESTS, "execs_fixed").encode())
    both(["env", "-i", "X=1", os.path.join(top, "there")], "PIE, fixed")
    # scripts: an argument with blanks, a script of a script, words behind
    write(os.path.join(top, "inner"),
          b"#!/bin/sh -e\nfor i in \"$0\" \"$@\"; do echo \"<$i>\"; done; exec env -i A=b env\n")
    write(os.path.join(top, "outer"), b"#! %s  one argument \t\nnot read\n" % os.path.join(top, "inner").encode())
    both(["./outer", "a", "", "b c"], "scripts", cwd=top)
    both(["env", "./outer", "a"], "scripts by env", cwd=top)
    both(["env", "./nothing"], "no file", cwd=top)
    both(["env", os.path.join(files, "text")], "a text that execvp gives to sh")
    both(["nice", "nohup", "env", "printf", "%s-%s\\n", "x", "y"], "a chain of wrappers")


def reports(top):
    out = os.path.join(top, "out")
    write(os.path.join(top, "s"), b"#!/bin/sh\nexec env A=b /bin/echo done\n")
    script = os.path.join(top, "s")
    shown = run([EMULATOR, "-o", out, "--json-full", os.path.join(top, "j.json"), "--trace",
                 os.path.join(top, "t.x.din"), "--callgrind", "/dev/null", script])
    equal((shown.returncode, shown.stdout), (0, b"done\n"), "the script")
    names = ["report%s.%s" % (mark, kind) for mark in (".1000-2", ".1000-3", "") for kind in ("json", "txt")]
    equal(sorted(os.listdir(out)), sorted(names + ["programs.json"]), "the reports")
    equal(sorted(name for name in os.listdir(top) if name[0] in "jt"),
          ["j.1000-2.json", "j.1000-3.json", "j.json", "t.1000-2.x.din", "t.1000-3.x.din", "t.x.din"], "other files")
    found = []
    for mark, command, ending in (("", [script], "became /usr/bin/env (execve)"),
                                  (".1000-2", ["env", "A=b", "/bin/echo", "done"], "became /bin/echo (execve)"),
                                  (".1000-3", ["/bin/echo", "done"], None)):
        with open(os.path.join(out, "report%s.json" % mark), "rb") as file:
            text = file.read()
        with open(os.path.join(top, "j%s.json" % mark), "rb") as file:
            check(file.read() == text, "--json-full and --output differ")
        report = json.loads(text)
        found.append(report)
        equal((report["process"], report["command"], report.get("ending")), (1000, command, ending), "the head")
        with open(os.path.join(top, "t%s.x.din" % mark)) as trace:
            fetches = sum(line.startswith("2") for line in trace)
        check(fetches >= report["run"]["instructions"] // 8, "the trace of %s has %d fetches" % (command[0], fetches))
    with open(os.path.join(out, "programs.json")) as file:
        rows = json.load(file)["programs"]
    equal([(row["pid"], row["number"], row["instructions"]) for row in rows],
          [(1000, i + 1, report["run"]["instructions"]) for i, report in enumerate(found)], "the list of programs")
    equal([row["cost"] for row in rows], [report["cost"]["cost"] for report in found], "what they cost")
    said = shown.stderr.decode()
    contains(said, ["\nprocesses: 3 programs, whose reports --full shows, and -o DIR keeps\n",
                    "process     1000, its program 3\n"], "the text")
    equal(said.count("\nprogram  "), 1, "reports that are shown of a process that was three programs: " + said)
    # of several processes the list is all, but for --full and what --follow names
    pipe = ["sh", "-c", "/bin/true | env"]
    for options, expected in (([], []), (["--follow", "all"], []), (["--follow", "env"], ["env"]),
                              (["--full"], ["sh -c /bin/true | env", "sh -c /bin/true | env", "sh -c /bin/true | env",
                                            "/bin/true", "env"]),
                              (["--follow", "first"], ["sh -c /bin/true | env"])):
        said = run([EMULATOR, *options, *pipe]).stderr.decode()
        heads = re.findall(r"^program +(.*?)(?:: [ek].*|: [\d,]+ inst.*)?$", said, re.M)
        equal(sorted(heads), sorted(expected), "reports shown with %s" % options)
        check("\nprocesses: 5 programs" in said, "the list with %s: %s" % (options, said[-500:]))
    # what one program finds twice is one finding of two processes; long names that begin alike are two programs
    deep = os.path.join(top, "a" * 70)
    one, other = os.path.join(deep, "one"), os.path.join(deep, "other")
    os.mkdir(deep)
    for name in one, other:
        shutil.copy(os.path.join(os.environ["IMAGES"], "histogram"), name)
    out = os.path.join(top, "deep")
    run([EMULATOR, "-q", "-o", out, "sh", "-c", "%s; %s; %s" % (one, other, one)])
    with open(os.path.join(out, "programs.json")) as file:
        of_all = json.load(file)
    named = {row["pid"]: row["program"] for row in of_all["programs"] if row["number"] == 2}
    equal(sorted(named.values()), [one, one, other], "names")
    counts = {(named[row["pid"]], row["processes"]) for row in of_all["findings"] if row["pid"] in named}
    equal(counts, {(one, 2), (other, 1)}, "processes of findings")
    # a program is simulated as it is where it is the only one; its environment is empty, in memory that was used before
    used = dict(os.environ, MALLOC_PERTURB_="90")
    alone = os.path.join(top, "alone.json")
    written = []
    for words in (["/bin/echo", "x"], ["env", "-i", "/bin/echo", "x"]):
        run([EMULATOR, "-q", "--json-full", alone, *words] if words[0] != "env" else
            [EMULATOR, "-q", "--follow", "echo", "--json-full", alone, *words], env=used)
        mark = "" if words[0] != "env" else ".1000-2"
        with open(os.path.join(top, "alone%s.json" % mark)) as file:
            written.append(json.load(file))
    equal(written[1]["command"], written[0]["command"], "echo behind env")
    check(abs(written[1]["run"]["instructions"] - written[0]["run"]["instructions"]) < 3000,
          "echo has %d instructions behind env, %d alone" % (written[1]["run"]["instructions"],
                                                             written[0]["run"]["instructions"]))
    with open(alone) as file:
        report = json.load(file)
    check("process" not in report, "one program is told of as of several")
    for follow, expected in (("first", 3), ("env", 1), ("nobody", 0)):
        directory = os.path.join(top, follow)
        shown = run([EMULATOR, "-q", "--follow", follow, "-o", directory, script])
        equal((shown.returncode, shown.stdout), (125 if follow == "nobody" else 0, b"done\n"), "--follow " + follow)
        made = [name for name in os.listdir(directory) if name.startswith("report")] if os.path.isdir(directory) else []
        equal(len(made), 2 * expected, "reports of --follow %s: %s" % (follow, made))
    contains(shown.stderr.decode(), ["--follow nobody: no program of this name was run"], "--follow")


def joint(_):
    """Also while it is simulated, by the other engine, and with turns of single blocks on several cores."""
    guest = os.path.join(GUESTS, "joint")
    for quantum in ("50000", "1000", "31"):
        native = both([guest], "memory in common", options=["--quantum", quantum])
    both([guest], "memory in common", options=["--engine", "unicorn"])
    for options in ([], ["--set", "cores=4"]):
        said = [run([EMULATOR, *options, guest], stdin=subprocess.DEVNULL) for _ in range(2)]
        equal((said[0].returncode, said[0].stdout), (0, native.stdout), "memory in common, simulated")
        equal(said[1].stderr, said[0].stderr, "the report of processes with one memory")


def remote(_):
    """Memory of other processes: also while it is simulated, by the other engine, and with short turns."""
    guest = os.path.join(GUESTS, "remote")
    for options in ([], ["--quantum", "7000"], ["--engine", "unicorn"]):
        native = both([guest], "memory of other processes", options=options)
    said = [run([EMULATOR, guest], stdin=subprocess.DEVNULL) for _ in range(2)]
    equal((said[0].returncode, said[0].stdout), (0, native.stdout), "memory of other processes, simulated")
    equal(said[1].stderr, said[0].stderr, "the report of processes that look into each other")
    ours = run([EMULATOR, "-q", "--no-sim", guest, "denied"], stdin=subprocess.DEVNULL)
    equal((ours.returncode, ours.stdout), (0, b"one that hides: EPERM\nitself, hidden: 8\nthe first of all: EPERM\n"),
          "memory that is not to be looked into")


def family(top):
    guest = os.path.join(GUESTS, "family")
    for part in ("basics", "pipes", "spawn", "signals", "shared", "clock"):
        both([guest, part, top], part)
    both([guest, "memory"], "memory in common")
    both([guest, "thread"], "signals for a thread")
    both([guest, "locks", top], "locks")
    both([guest, "stops"], "stops")
    both([guest, "looks", top], "looks")
    both([guest, "pidfds"], "pidfds")
    both([guest, "orphans"], "orphans")
    both([guest, "tree", "5"], "31 processes")
    ours = run([EMULATOR, "-q", "--no-sim", guest, "agent"], stdin=subprocess.DEVNULL)
    equal((ours.returncode, ours.stdout, ours.stderr), (0, b"", b""), "an agent that is left")
    ours = run([EMULATOR, "-q", "--no-sim", guest, "daemons"], stdin=subprocess.DEVNULL)
    # natively the first three never end; the fourth one is no daemon
    equal((ours.returncode, ours.stdout, ours.stderr), (0, b"started\n" + 2 * b"signal 15 after 60 minutes\n" +
                                                        b"the job has slept\n", b""), "daemons that are left")
    both([guest, "pipes"], "pipes under another quantum", options=["--quantum", "777"])


def tasks(top):
    """What looks for processes finds those of the run and init, and no others; their numbers are the same on every
    host."""
    script = ("sleep 8 & sh -c 'sleep 9; true' & sh -c 'kill -STOP $$' & sleep 1; %s; "
              "kill -KILL 1001 1002 1003 1005; wait")
    columns = "ps -e -o pid=,ppid=,pgid=,stat=,nlwp=,args="
    for tool, command, expected in (
            ("ps", columns,
             ["1 0 1 Ss 1 /sbin/init", "1000 1 1000 Ss 1 sh -c " + script % columns, "1001 1000 1000 S 1 sleep 8",
              "1002 1000 1000 S 1 sh -c sleep 9; true", "1003 1000 1000 T 1 sh -c kill -STOP $$",
              "1005 1002 1000 S 1 sleep 9", "1006 1000 1000 R 1 " + columns]),
            ("pgrep", "pgrep -l sleep", ["1001 sleep", "1005 sleep"]),
            ("pstree", "pstree -p 1000 | head -1", ["sh(1000)-+-head(1007)"]),
            ("killall", "killall -v sleep", []),
            ("top", "top -b -n1 | sed -n 2p",
             ["Tasks: 8 total, 1 running, 6 sleeping, 1 stopped, 0 zombie"])):
        if shutil.which(tool, path=ENVIRONMENT["PATH"]):
            shown = run([EMULATOR, "-q", "--no-sim", "sh", "-c", script % command], cwd=top)
            equal([" ".join(line.split()) for line in shown.stdout.decode().splitlines()], expected, command)
            equal((shown.returncode, b"c2emu" in shown.stderr), (0, False), command)
            if tool == "killall":
                contains(shown.stderr.decode(), ["Killed sleep(1001) with signal 15", "Killed sleep(1005)"], command)


PIPELINE = ["sh", "-c", "seq 90 | sort -rn | head -2; for i in 1 2; do echo $(echo x$i) & done; wait"]


def files_of(directory):
    found = {}
    for name in sorted(os.listdir(directory)):
        with open(os.path.join(directory, name), "rb") as file:
            found[name] = file.read()
    return found


def same(top):
    directory = os.path.join(top, "out")
    first = None
    for jobs, load in (("1", 0), ("3", 2)):
        spinning = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(load)]
        result = run([EMULATOR, "-q", "--jobs", jobs, "-o", directory, *PIPELINE])
        for process in spinning:
            process.kill()
            process.wait()
        found = files_of(directory)
        found["output"] = result.stdout
        shutil.rmtree(directory)
        if first is None:
            first = found
            equal(result.stdout, b"90\n89\nx1\nx2\n", "the output")
            check(len(found) > 20, "these are all files: %s" % sorted(found))
        for name in set(first) | set(found):
            check(first.get(name) == found.get(name),
                  "%s is another one with --jobs %s under load %d" % (name, jobs, load))


def programs_of(directory):
    with open(os.path.join(directory, "programs.json")) as file:
        return json.load(file)["programs"]


def children(top):
    out = os.path.join(top, "out")
    guest = os.path.join(GUESTS, "family")
    result = run([EMULATOR, "-o", out, "--callgrind", os.path.join(top, "calls.out"), guest, "tree", "3"])
    equal((result.returncode, result.stdout), (0, b"7 processes\n"), "a tree")
    rows = programs_of(out)
    equal([(row["pid"], row["parent"]) for row in rows],
          [(1000, 1), (1001, 1000), (1002, 1000), (1003, 1001), (1004, 1001), (1005, 1002), (1006, 1002)],
          "who is whose child")
    for row in rows:
        mark = "" if row["pid"] == 1000 else ".%d" % row["pid"]
        with open(os.path.join(out, "report%s.json" % mark)) as file:
            report = json.load(file)
        equal((report["process"], report["run"]["instructions"]), (row["pid"], row["instructions"]), "a report")
        check(os.path.exists(os.path.join(top, "calls%s.out" % mark)), "no profile of %d" % row["pid"])
        if row["pid"] != 1000:
            check(row["instructions"] < 20000, "%d has its parent's instructions" % row["pid"])
            check("receipt" not in report, "a child has a receipt")
    again = run([EMULATOR, "verify", os.path.join(out, "report.1003.json")])
    equal(again.returncode, 125, "verify of a child's report")
    contains(again.stderr.decode(), ["is of one of several programs", "verify that"], "verify of a child's report")
    whole_receipts(top)
    # what a process does by itself is not counted in its parent: a child that does nothing changes nothing
    alone = ["report.json", "report.txt"]
    left_out = ("c2emu: process 1001 was a copy of its parent to its end, and is in no report: "
                "%s begins with a program\n")
    for options, expected, said in ((["--follow", "first"], alone, ""),
                                    (["--skip", "100"], alone, left_out % "sampling (--skip, --period ...)"),
                                    (["--record", os.path.join(top, "r")], alone, left_out % "--record")):
        directory = os.path.join(top, "other")
        result = run([EMULATOR, "-q", "-o", directory, *options, guest, "tree", "2"])
        equal((result.returncode, result.stdout, result.stderr.decode()), (0, b"3 processes\n", said), options[0])
        equal(sorted(name for name in os.listdir(directory) if name.startswith("report")), expected, options[0])
        equal([row.get("first_misses") is not None for row in programs_of(directory)], [True, False, False], options[0])
        shutil.rmtree(directory)
    run([EMULATOR, "-q", "replay", "-o", out, os.path.join(top, "r")])
    equal(sorted(name for name in os.listdir(top) if name[0] in "tr"), ["r"], "files of the first alone")
    traces(top, guest)
    compared(top, guest)
    saved = run([EMULATOR, "-q", "--no-sim", "--checkpoint", os.path.join(top, "k"), "--checkpoint-at", "wait",
                 guest, "tree", "2"])
    equal(saved.returncode, 125, "a checkpoint of a process with children")
    contains(saved.stderr.decode(), ["it has children, which are processes of their own"], "a checkpoint")
    shown = run([EMULATOR, "-q", "--no-sim", "--json-full", "/dev/stdout", guest, "tree", "2"])
    equal(shown.stdout.count(b'"c2emu-report"'), 1, "what goes to standard output is the first program's")


def traces(top, guest):
    """A child has a trace of its own, which has what it was counted for: from the fork on."""
    directory = os.path.join(top, "traced")
    for name, reads in (("t.txt", lambda file: file), ("t.zst", lambda file: subprocess.Popen(
            ["zstd", "-dcq"], stdin=file, stdout=subprocess.PIPE).stdout)):
        if name == "t.zst" and not shutil.which("zstd"):
            print("left out, as zstd is not installed: compressed traces of children")
            continue
        run([EMULATOR, "-q", "-o", directory, "--trace", os.path.join(top, name), guest, "tree", "2"])
        for mark in ("", ".1001", ".1002"):
            with open(os.path.join(directory, "report%s.json" % mark)) as file:
                measured = json.load(file)["run"]["measured"]
            path = os.path.join(top, name.replace(".", mark + ".", 1))
            with open(path, "rb") as file:
                found = {letter: 0 for letter in b"RWFrwf"}
                for line in reads(file):
                    found[line[0]] += 1
            equal([found[letter] for letter in b"FRW"],
                  [measured[key] for key in ("fetches", "reads", "writes")], "the trace %s" % path)
            os.remove(path)
        shutil.rmtree(directory)


def compared(top, guest):
    """Another placement labels the conflict misses of the process that the report is of, and not its parent's."""
    directory = os.path.join(top, "compared")
    run([EMULATOR, "-q", "-o", directory, "-m", "teach", "--against", "random", guest, "tree", "2"])
    for mark in ("", ".1001", ".1002"):
        with open(os.path.join(directory, "report%s.json" % mark)) as file:
            report = json.load(file)
        check(sum(level["conflict"] for level in report["levels"]) > 0, "no conflict misses to label" + mark)
        for label, level in zip(report["against"]["labels"], report["levels"]):
            equal(label["inherent"] + label["placement"] + label["walks"], level["conflict"],
                  "labels of %s%s" % (level["name"], mark))


def whole_receipts(top):
    """What any process has read is in the receipt of the run, and verify compares the reports of all of them."""
    write(os.path.join(top, "read"), b"some words\n", 0o644)
    out, words = os.path.join(top, "whole"), "echo x > made; cat made read; rm made; cat; true"
    made = run([EMULATOR, "-q", "-o", out, "sh", "-c", words], cwd=top, stdin=None, input=b"given")
    equal((made.returncode, made.stdout), (0, b"x\nsome words\ngiven"), "a script")
    with open(os.path.join(out, "programs.json")) as file:
        listed = json.load(file)
    equal([row["report"] for row in listed["programs"]],
          ["report.json"] + ["report.%d%s.json" % (pid, second) for pid in (1001, 1002, 1003) for second in ("", "-2")],
          "the reports of the list")
    inputs = {(one["kind"], os.path.basename(one.get("path") or "")): one for one in listed["receipt"]["inputs"]}
    equal([inputs[kind, name]["bytes"] for kind, name in (("file", "read"), ("stream", ""))], [11, 5], "what was read")
    check(("program", "cat") in inputs and ("program", "rm") in inputs, "programs that were run: %s" % inputs.keys())
    check(("file", "made") not in inputs, "what a process wrote is an input of another")
    again = run([EMULATOR, "verify", os.path.join(out, "programs.json")], stdin=None, input=b"given")
    check(again.returncode == 0 and again.stdout.startswith(b"equal: %d inputs, " % len(listed["receipt"]["inputs"])),
          "verify: %s%s" % (again.stdout, again.stderr))
    report = os.path.join(out, "report.1001-2.json")
    with open(report) as file:
        text = file.read()
    instructions = json.loads(text)["run"]["instructions"]
    with open(report, "w") as file:
        file.write(text.replace('"instructions": %d' % instructions, '"instructions": %d' % (instructions + 1), 1))
    write(os.path.join(top, "read"), b"some  words\n", 0o644)
    again = run([EMULATOR, "verify", os.path.join(out, "programs.json")], stdin=None, input=b"given")
    equal(again.returncode, 1, "verify of something else")
    contains(again.stdout.decode(), ["read: 11 bytes of sha256", "in report.1001-2.json:",
                                     "run.instructions: %d, now " % (instructions + 1)], "what differs")
    shutil.rmtree(out)
    os.remove(os.path.join(top, "read"))


def descendants():
    """The host's processes that run this test's emulator."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open("/proc/%s/environ" % name, "rb") as file:
                if name.isdigit() and TAG.encode() in file.read():
                    found.append(int(name))
        except OSError:
            pass
    return found


TAG = "C2EMU_TEST_TAG=%d" % os.getpid()


def wait_until(what, condition):
    end = time.time() + 30
    while not condition() and time.time() < end:
        time.sleep(0.05)
    check(condition(), what)


def start(*words):
    name, value = TAG.split("=")
    return subprocess.Popen([EMULATOR, "-q", "--no-sim", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=dict(os.environ, **{name: value}))


def ends(top):
    spin = ["sh", "-c", "echo ready; while :; do :; done & while :; do :; done"]
    for whom, expected, said in ((1, 125, b"of the program vanished"), (0, -signal.SIGKILL, b"")):
        process = start(*spin)
        process.stdout.readline()
        wait_until("there are no two processes", lambda: len(descendants()) == 2)
        os.kill(process.pid if whom == 0 else [p for p in descendants() if p != process.pid][0], signal.SIGKILL)
        _, errors = process.communicate(timeout=30)
        equal(process.returncode, expected, "the status when process %d is killed" % whom)
        check(said in errors, "what is said: %s" % errors)
        wait_until("a process is left behind", lambda: not descendants())
    process = start(*spin)
    process.stdout.readline()
    wait_until("there are no two processes", lambda: len(descendants()) == 2)
    process.terminate()
    equal(process.wait(timeout=30), 128 + signal.SIGTERM, "the status when it is asked to end")
    wait_until("a process is left behind", lambda: not descendants())
    dead = run([EMULATOR, "-q", "--no-sim", "bash", "-c", "coproc cat; wait"])
    equal(dead.returncode, 125, "a deadlock of two processes: %s" % dead.stderr)
    contains(dead.stderr.decode(), ["deadlock", "wait4", "read"], "what waits")
    dead = run([EMULATOR, "-q", "--no-sim", os.path.join(GUESTS, "family"), "circle", top])
    equal(dead.returncode, 125, "a deadlock of two processes at locks of files: %s" % dead.stderr)
    contains(dead.stderr.decode(),
             ["thread 1000 waits in flock for a lock that process 1001 of the program holds:",
              "thread 1001 waits in flock for a lock that process 1000 of the program holds:", "circle (family.c:"],
             "who holds what")
    dead = run([EMULATOR, "-q", "--no-sim", os.path.join(GUESTS, "family"), "alone"])
    equal(dead.returncode, 125, "a program that stops itself: %s" % dead.stderr)
    contains(dead.stderr.decode(), ["the program has stopped itself, and no other process can continue it",
                                    "thread 1000 is stopped by SIGSTOP", "main (family.c:"], "who has stopped")


def main():
    with tempfile.TemporaryDirectory() as top:
        globals()[sys.argv[1]](os.path.realpath(top))
    done()


main()
