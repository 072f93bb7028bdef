# SPDX-License-Identifier: GPL-2.0-or-later
"""processes.py PART: programs that become others, and start others.

execve   what a process keeps and loses, what is refused, scripts, position independent programs and others: as natively
reports  each program has its own, by its name; the list of them; --follow
"""

import json
import os
import subprocess
import sys
import tempfile

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
    shown = run([EMULATOR, "-o", out, "--json", os.path.join(top, "j.json"), "--trace", os.path.join(top, "t.x.din"),
                 "--callgrind", "/dev/null", script])
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
            check(file.read() == text, "--json and --output differ")
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
    contains(shown.stderr.decode(), ["processes: 3 programs", "process     1000, its program 3"], "the text")
    # a program is simulated as it is where it is the only one
    alone = os.path.join(top, "alone.json")
    written = []
    for words in (["/bin/echo", "x"], ["env", "-i", "/bin/echo", "x"]):
        run([EMULATOR, "-q", "--json", alone, *words] if words[0] != "env" else
            [EMULATOR, "-q", "--follow", "echo", "--json", alone, *words])
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
    for follow, expected in (("first", 3), ("all", 3), ("echo", 1), ("env", 1), ("nobody", 0)):
        directory = os.path.join(top, follow)
        shown = run([EMULATOR, "-q", "--follow", follow, "-o", directory, script])
        equal((shown.returncode, shown.stdout), (125 if follow == "nobody" else 0, b"done\n"), "--follow " + follow)
        made = [name for name in os.listdir(directory) if name.startswith("report")] if os.path.isdir(directory) else []
        equal(len(made), 2 * expected, "reports of --follow %s: %s" % (follow, made))
    contains(shown.stderr.decode(), ["--follow nobody: no program of this name was run"], "--follow")


def main():
    with tempfile.TemporaryDirectory() as top:
        globals()[sys.argv[1]](os.path.realpath(top))
    done()


main()
