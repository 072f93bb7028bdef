# SPDX-License-Identifier: GPL-2.0-or-later
"""receipts.py PART: report.json's receipt, and `c2emu verify`.

inputs       every file that a run reads is in the receipt, with the hash that hashlib has of it; the rest is as asked
equal        verify says equal for each kind of run, however the report was made
differs      what was changed is named: a file, the program, a library's place, the environment, the machine, a value
streams      standard streams are made again as they were, and what was read from them is compared
refused      what cannot be made again, and receipts that are none
interrupted  a run that was ended from outside says so, and verify does not take it
host         a run on -m host is made again on its machine, whatever host verify is on
progress     the line on a terminal, with what is left where the report that is to be replaced is of the same run
"""

import hashlib
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from common import EMULATOR, check, contains, done, emulate, equal, need_terminals

GUESTS = os.environ["GUESTS"]
IMAGES = os.environ["IMAGES"]
CRASH = os.path.join(GUESTS, "crash")
FETCH = os.path.join(GUESTS, "fetch")

ENGINES = r"unicorn \d+\.\d+\.\d+|native \d+"


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def of_file(path):
    with open(path, "rb") as file:
        return sha256(file.read())


def put(path, content):
    with open(path, "w") as file:
        file.write(content)


def made(directory, options, program, name="r.json", status=0, **more):
    """The path of the report of a run in the directory."""
    path = os.path.join(directory, name)
    result = emulate(["-q", "--json", path] + options + ["--"] + program, cwd=directory, **more)
    equal(result.returncode, status, "status of " + " ".join(options + program) + ": " + result.stderr.decode())
    return path


def load(path):
    with open(path) as file:
        return json.load(file)


def verify(words, status, parts, what, **more):
    result = emulate(["verify"] + words, **more)
    text = (result.stdout + result.stderr).decode()
    equal(result.returncode, status, "status of verify: %s: %s" % (what, text))
    contains(text, parts, what)
    return text


# ---------------------------------------------------------------- the receipt

def inputs():
    with tempfile.TemporaryDirectory() as directory:
        directory = os.path.realpath(directory)
        put(os.path.join(directory, "text"), "hello\n")
        os.symlink("text", os.path.join(directory, "link"))
        os.mkdir(os.path.join(directory, "sub"))
        put(os.path.join(directory, "sub", "a"), "")
        report = load(made(directory, ["-m", "teach", "--seed=7", "-E", "SECRET=word"], ["/bin/echo", "-n", "a word"]))
        receipt = report["receipt"]
        equal(list(report)[-1], "receipt", "the last key")
        equal(receipt["options"], ["--machine=teach", "--seed=7", "--env=SECRET=word"], "options")
        equal(receipt["directory"], directory, "directory")
        equal(receipt["arguments"], sha256(b"/bin/echo\0-n\0a word\0"), "arguments")
        equal(receipt["environment"][3], {"name": "SECRET", "sha256": sha256(b"word")}, "environment")
        machine = emulate(["machines", "teach"]).stdout
        equal(receipt["machines"], [{"sha256": sha256(machine), "lines": machine.decode().splitlines()}], "machine")
        equal(receipt["c2emu"], emulate(["--version"]).stdout.decode().split()[1], "version")
        check(re.fullmatch(ENGINES, receipt["engine"]), "the engine: " + receipt["engine"])
        equal(receipt["streams"], {"stdin": "device", "stdout": "pipe", "stderr": "pipe"}, "streams")

        # one program for each kind, and every hash is the file's own
        kinds = {}
        for program in (["/bin/cat", "link", "none"], ["/bin/ls", "-U", "sub"], ["/bin/readlink", "link"]):
            status = 1 if "none" in program else 0
            for entry in load(made(directory, [], program, status=status))["receipt"]["inputs"]:
                kinds.setdefault(entry["kind"], []).append(entry)
                if entry["kind"] in ("program", "interpreter", "library", "file"):
                    equal((entry["sha256"], entry["bytes"]), (of_file(entry["path"]), os.path.getsize(entry["path"])),
                          entry["path"])
        equal([entry["path"] for entry in kinds["program"]],
              [os.path.realpath("/bin/" + name) for name in ("cat", "ls", "readlink")], "programs")
        check(any("libc.so" in entry["path"] for entry in kinds["library"]), "libc is a library")
        check(any("ld-linux" in entry["path"] for entry in kinds["interpreter"]), "ld.so is an interpreter")
        check({"kind": "file", "path": os.path.join(directory, "text"), "bytes": 6,
               "sha256": sha256(b"hello\n")} in kinds["file"], "the file of the link: %r" % kinds["file"])
        check({"kind": "absent", "path": os.path.join(directory, "none")} in kinds["absent"], "what is not there")
        listed = subprocess.run(["ls", "-1Ua", os.path.join(directory, "sub")], stdout=subprocess.PIPE, check=True)
        equal([(entry["path"], entry["sha256"]) for entry in kinds["directory"]],
              [(os.path.join(directory, "sub"), sha256(listed.stdout))], "directories")
        equal(kinds["link"], [{"kind": "link", "path": os.path.join(directory, "link"), "bytes": 4,
                               "sha256": sha256(b"text")}], "links")

        # files of options; names of outputs take no part
        made(directory, ["--dump-pagemap", "map"], [FETCH])
        first = load(made(directory, ["--pages", "file=map"], [FETCH]))["receipt"]
        other = load(made(directory, ["--pages", "file=map", "--trace", "t.zst", "--stats", "-o", "dir", "-v"], [FETCH],
                          name="other.json"))["receipt"]
        equal(other, first, "the receipt under another name, with other outputs")
        equal(first["options"], ["--pages=file=map"], "options that count")
        equal(first["inputs"][0], {"kind": "option", "path": os.path.join(directory, "map"),
                                   "bytes": os.path.getsize(os.path.join(directory, "map")),
                                   "sha256": of_file(os.path.join(directory, "map"))}, "the page map")
        for suffix in ("simpoints", "weights"):
            put(os.path.join(directory, "p." + suffix), "1 0\n")
        chosen = load(made(directory, ["--points", "p.simpoints", "--interval", "1000"], [FETCH]))["receipt"]["inputs"]
        equal([(entry["kind"], os.path.basename(entry["path"])) for entry in chosen[:3]],
              [("option", "p.simpoints"), ("option", "p.weights"), ("program", "fetch")], "points")


# ---------------------------------------------------------------- verify

def runs_that_are_equal():
    with tempfile.TemporaryDirectory() as directory:
        put(os.path.join(directory, "text"), "hello\n")
        cases = [([], [FETCH], 0), (["--no-sim"], [FETCH], 0), (["--no-attribution", "--fifo-detector"], [FETCH], 0),
                 (["--against", "random", "-m", "zen3", "--set", "L2.ways=4"], [FETCH], 0),
                 (["--skip", "700", "--measure", "900", "--samples", "3"], [FETCH], 0),
                 (["-m", "teach", "--pages", "random", "--seed", "5", "--huge", "stack", "--place", "heap=identity"],
                  ["/bin/cat", "text"], 0),
                 (["--no-sim", "--inherit-env", "-E", "A=b", "--clock", "2024-02-29"], ["/bin/date"], 0),
                 (["-m", "teach"], [CRASH, "null_read"], 139), (["-m", "teach"], ["/bin/cat", "none"], 1),
                 (["-m", "teach"], ["/bin/sh", "-c", "echo '--json \"$x' >made; read y <made; echo $y"], 0)]
        for options, program, status in cases:
            what = " ".join(options + program)
            path = made(directory, options, program, status=status)
            report = load(path)
            before = sorted(os.listdir(directory))
            text = verify([path], 0, ["equal: %d inputs, " % len(report["receipt"]["inputs"])], what, cwd="/")
            equal(text.count("\n"), 1, "lines that verify prints of " + what)
            equal(sorted(os.listdir(directory)), before, "files after verify of " + what)
        # what else was written makes no other run
        path = made(directory, ["-m", "teach", "--callgrind", "c", "--evictors", "e", "--cachegrind", "g", "--trace",
                                "t.zst", "--dump-pagemap", "m", "--stats", "-v"], [FETCH])
        before = {name: os.stat(os.path.join(directory, name)).st_mtime_ns for name in os.listdir(directory)}
        verify([path], 0, ["equal: "], "with other outputs", cwd="/")
        equal({name: os.stat(os.path.join(directory, name)).st_mtime_ns for name in os.listdir(directory)}, before,
              "files that were written")
        # report.json of -o, and the report of advise
        emulate(["-q", "-o", os.path.join(directory, "out"), "-m", "teach", FETCH])
        verify([os.path.join(directory, "out", "report.json")], 0, ["equal: "], "of -o")
        path = os.path.join(directory, "advice.json")
        emulate(["advise", "-q", "-m", "teach", "--json", path, os.path.join(IMAGES, "list")])
        equal(load(path)["receipt"]["verb"], "advise", "the verb")
        verify([path], 0, ["equal: "], "of advise")


def differs():
    with tempfile.TemporaryDirectory() as directory:
        directory = os.path.realpath(directory)
        text, program, elsewhere = (os.path.join(directory, name) for name in ("text", "program", "elsewhere"))
        put(text, "one two\n")
        shutil.copy("/bin/cat", program)
        path = made(directory, ["-m", "teach"], ["./program", "text", "none"], status=1)
        verify([path], 0, ["equal: "], "as it was")

        put(text, "one three\n")
        said = verify([path], 1, ["inputs that differ:\n  file %s: 8 bytes of sha256 %s..., now 10 of %s...\n"
                                  % (text, sha256(b"one two\n")[:12], sha256(b"one three\n")[:12])], "a longer file")
        check("values that differ, of " in said or "its values are equal nevertheless: " in said, "values: " + said)
        os.remove(text)
        said = verify([path], 1, ["  file %s: cannot be read: No such file or directory\n" % text,
                                  "values that differ, of "], "a file less")
        check(said.index("inputs that differ") < said.index("values that differ"), "inputs come first")
        put(text, "one two\n")
        put(os.path.join(directory, "none"), "here now\n")
        verify([path], 1, ["  %s was not there, and is\n" % os.path.join(directory, "none"),
                           "  exit_status: 1, now 0\n"], "a file more")
        os.remove(os.path.join(directory, "none"))

        shutil.copy("/bin/tac", program)
        verify([path], 1, ["  program %s: " % program, "\n  run.instructions: "], "another program")
        os.remove(program)
        verify([path], 1, ["  program %s: cannot be read: No such file" % program,
                           "the run ended with status 127 and without a report: c2emu: ./program: No such file"],
           "no program")
        shutil.copy("/bin/cat", program)

        # somewhere else, and by another machine
        shutil.copytree(directory, elsewhere)
        verify(["--directory", elsewhere, path], 1,
               ["  directory: %s, now %s\n" % (directory, elsewhere),
                "  file %s: was an input, and is none now\n" % text], "another directory")
        machine = os.path.join(directory, "machine.ini")
        put(machine, emulate(["machines", "teach"]).stdout.decode())
        path = made(directory, ["-m", "machine.ini", "-E", "WORD"], [FETCH], env=dict(os.environ, WORD="first"))
        put(machine, emulate(["machines", "teach", "--set", "L2.ways=8"]).stdout.decode())
        said = verify([path], 1, ["  machine: ways = 4, now ways = 8\n", "  environment: WORD has another value\n",
                                  "values that differ, of ", "  machine.levels.L2.ways: 4, now 8\n"], "the machine",
                      env=dict(os.environ, WORD="second"))
        check(said.index("  machine: ") < said.index("  environment: ") < said.index("values that differ"), said)

        # a version, a count: changed by hand, as another c2emu would
        path = made(directory, ["-m", "teach"], [FETCH])
        whole = load(path)
        name = whole["receipt"]["engine"].split()[0]
        for key, new in (("c2emu", "0.0.1"), ("engine", name + " 0.0.1")):
            changed = json.loads(json.dumps(whole))
            changed["receipt"][key] = new
            put(path, json.dumps(changed))
            verify([path], 1, ["inputs that differ:\n  %s: %s, now %s\n" % (key, new, whole["receipt"][key]),
                               "its values are equal nevertheless: "], key)
        changed["receipt"]["engine"] = "another 1"
        put(path, json.dumps(changed))
        verify([path], 0, ["equal: "], "another engine makes the same report")
        changed = json.loads(json.dumps(whole))
        level = next(level for level in changed["levels"] if level["name"] == "L2")
        was = level["misses"]
        level["misses"] += 1
        changed["functions"].append({"name": "more"})
        put(path, json.dumps(changed))
        said = verify([path], 1, ["\n  levels.L2.misses: %d, now %d\n" % (was + 1, was),
                                  "  functions: a list of %d, now a list of %d\n" % (len(changed["functions"]),
                                                                                  len(whole["functions"]))], "a count")
        check(said.startswith("values that differ, of "), "no input differs: " + said)
        check(said.index("levels.L2.misses") < said.index("functions:"), "in the report's order: " + said)


# ---------------------------------------------------------------- streams

def at_a_terminal(words, directory, feed=b""):
    """Runs with all standard streams on a terminal; what was shown."""
    leader, follower = pty.openpty()
    with subprocess.Popen(words, stdin=follower, stdout=follower, stderr=follower, cwd=directory) as process:
        os.close(follower)
        os.write(leader, feed)
        shown = b""
        while True:
            try:
                part = os.read(leader, 4096)
            except OSError:
                break
            if not part:
                break
            shown += part
    os.close(leader)
    return process.returncode, shown


def streams():
    need_terminals()
    cat = ["/bin/cat", "-n"]
    with tempfile.TemporaryDirectory() as directory:
        directory = os.path.realpath(directory)
        put(os.path.join(directory, "in"), "skipped\nseen\n")
        path = made(directory, ["--no-sim"], cat, input=b"from a pipe\n", stdin=None)
        receipt = load(path)["receipt"]
        equal(receipt["inputs"][-1], {"kind": "stream", "descriptor": 0, "bytes": 12,
                                      "sha256": sha256(b"from a pipe\n")}, "a pipe's bytes")
        verify([path], 125, ["the run read 12 bytes from standard input, a pipe; give them again"], "nothing given")
        verify([path], 0, ["equal: "], "a pipe", input=b"from a pipe\n", stdin=None)
        verify([path], 1, ["  standard input: 12 bytes of sha256 %s..., now 13 of " % sha256(b"from a pipe\n")[:12]],
               "another content", input=b"from a pipe!\n", stdin=None)
        put(os.path.join(directory, "same"), "from a pipe\n")
        verify(["--stdin", os.path.join(directory, "same"), path], 0, ["equal: "], "--stdin")
        with open(os.path.join(directory, "same")) as file:
            verify([path], 0, ["equal: "], "a file for a pipe", stdin=file)

        with open(os.path.join(directory, "in"), "rb", buffering=0) as file:
            file.seek(8)
            path = made(directory, ["--no-sim"], cat, stdin=file)
        entry = next(entry for entry in load(path)["receipt"]["inputs"] if "descriptor" in entry)
        equal(entry, {"kind": "file", "path": os.path.join(directory, "in"), "descriptor": 0, "offset": 8, "bytes": 13,
                      "sha256": sha256(b"skipped\nseen\n")}, "a file at standard input")
        verify([path], 0, ["equal: "], "a file from the middle on")
        put(os.path.join(directory, "in"), "skipped\nnews\n")
        verify([path], 1, ["  standard input, %s: 13 bytes" % os.path.join(directory, "in")], "another file")
        os.remove(os.path.join(directory, "in"))
        verify([path], 125, ["which cannot be opened: No such file or directory; give another by --stdin FILE"], "gone")

        # what a program does depends on what its output is
        seen = {}
        list_ = ["/bin/ls", "-C", "--color=auto", "/usr"]
        for kind, how in (("pipe", {}), ("device", {"stdout": subprocess.DEVNULL}),
                          ("file", {"stdout": open(os.path.join(directory, "f"), "wb")}),
                          ("appended file", {"stdout": open(os.path.join(directory, "f"), "ab")})):
            path = made(directory, ["--no-sim"], list_, **how)
            equal(load(path)["receipt"]["streams"]["stdout"], kind, "standard output")
            seen[kind] = load(path)["run"]["instructions"]
            verify([path], 0, ["equal: "], "standard output is a " + kind)
        path = os.path.join(directory, "r.json")
        status, _ = at_a_terminal([EMULATOR, "-q", "--no-sim", "--json", path] + list_, directory)
        equal(status, 0, "status at a terminal")
        equal(load(path)["receipt"]["streams"], dict.fromkeys(("stdin", "stdout", "stderr"), "terminal"), "a terminal")
        check(load(path)["run"]["instructions"] != seen["pipe"], "a terminal makes a difference")
        verify([path], 0, ["equal: "], "at a terminal")
        status, _ = at_a_terminal([EMULATOR, "-q", "--no-sim", "--json", path] + cat, directory, b"typed\n\x04")
        equal(load(path)["receipt"]["inputs"][-1]["bytes"], 6, "typed bytes")
        verify([path], 125, ["the run read 6 bytes from standard input, a terminal"], "typed, nothing given")
        status, shown = at_a_terminal([EMULATOR, "verify", path], directory, b"typed\n\x04")
        equal(status, 0, "typed again: " + shown.decode())
        result = emulate(["-q", "--json", path, FETCH], preexec_fn=lambda: os.close(0))
        equal(load(path)["receipt"]["streams"]["stdin"], "closed", "closed input")
        verify([path], 0, ["equal: "], "closed input")


# ---------------------------------------------------------------- refused

def refused():
    with tempfile.TemporaryDirectory() as directory:
        path = made(directory, ["-m", "teach"], [FETCH])
        whole = load(path)

        def changed(change):
            report = json.loads(json.dumps(whole))
            change(report)
            put(path, json.dumps(report))
            return report

        for change, says in (
                (lambda r: r.pop("receipt"), "has no receipt"),
                (lambda r: r.pop("format"), "is no report of c2emu"),
                (lambda r: r.update(format="other"), "is no report of c2emu"),
                (lambda r: r.pop("command"), "command of its receipt is missing or is no list of texts"),
                (lambda r: r.update(command=[]), "the command of its receipt is missing or is no program"),
                (lambda r: r["command"].append("more"), "the command in "),
                (lambda r: r["receipt"].pop("options"), "options of its receipt is missing or is no list of texts"),
                (lambda r: r["receipt"].update(options=["--nothing=1"]), "options that this version does not know"),
                (lambda r: r["receipt"].update(options=["--help"]), "is not of a run"),
                (lambda r: r["receipt"].update(options=["--machine=none"]), 'there is no machine "none"'),
                (lambda r: r["receipt"].update(arguments="1234"), "arguments of its receipt is missing or is no hash"),
                (lambda r: r["receipt"]["machines"][0].update(lines="x"), "lines of its receipt is missing or is no"),
                (lambda r: r["receipt"].update(streams=5), "stdin of its receipt is missing or is no text"),
                (lambda r: r["receipt"]["environment"][0].pop("sha256"), "sha256 of its receipt is missing"),
                (lambda r: r["receipt"]["inputs"][0].update(bytes=-1), "bytes of its receipt is missing or is no"),
                (lambda r: r["receipt"]["inputs"][0].update(sha256="x" * 64), "sha256 of its receipt is missing"),
                (lambda r: r["receipt"]["inputs"][0].pop("path"), "the path of an input of its receipt is missing"),
                (lambda r: r["receipt"].update(directory="/none/at/all"),
                 "cannot be entered: No such file or directory; name another by --directory DIR")):
            changed(change)
            verify([path], 125, ["c2emu: verify: " if "machine \"none\"" not in says else "c2emu: ", says], says)
        put(path, '{"format": ')
        verify([path], 125, ["is no JSON: line 1"], "half a file")
        for words, says in (([], "give a report"), ([path, path], "one report at a time"),
                            ([os.path.join(directory, "none")], "cannot be opened: No such file"),
                            (["--stdin"], "--stdin needs a value"), (["--brief", path], "unknown option --brief")):
            verify(words, 125, ["c2emu: verify: ", says], says)
        # words that JSON cannot hold
        path = made(directory, ["-m", "teach"], ["/bin/echo", b"\xff".decode(errors="surrogateescape")])
        verify([path], 125, ["has bytes that JSON cannot hold"], "no UTF-8")


def interrupted():
    """By SIGINT and by SIGTERM; with samples, with --against and for advise; report and verify say so."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "r.json")
        for number, name, options in ((signal.SIGINT, "SIGINT", []),
                                      (signal.SIGTERM, "SIGTERM", ["--against", "random"]),
                                      (signal.SIGINT, "SIGINT", ["--skip", "1000", "--measure", "1000", "--samples",
                                                                 "100000000"]),
                                      (signal.SIGTERM, "SIGTERM", ["--no-sim"])):
            words = [EMULATOR, "--json", path, "-m", "teach"] + options + [CRASH, "many_lines"]
            with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                process.stdout.read(4000)
                time.sleep(0.2)
                process.send_signal(number)
                said = process.communicate()[1].decode()
            what = name + " with " + " ".join(options)
            equal(process.returncode, 128 + number, "status after " + what)
            contains(said, ["c2emu: interrupted by %s\n" % name, "\nending      interrupted by %s\n" % name], what)
            report = load(path)
            equal((report["interrupted"], report["ending"]), (True, "interrupted by " + name), "report.json: " + what)
            check(report["run"]["instructions"] > 0, "something was run: " + what)
            equal(sum(phase["instructions"] for phase in report["run"]["phases"]), report["run"]["instructions"],
                  "phases sum to the run: " + what)
            verify([path], 125, ["was interrupted by %s: nobody can say where another would have to end" % name], what)
            os.remove(path)


# ---------------------------------------------------------------- progress

def shown_until(words, directory, pattern):
    """What c2emu shows on a terminal until the pattern is met; then it is interrupted. (match, all that was shown)"""
    leader, follower = pty.openpty()
    shown, match, end = b"", None, time.time() + 400
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=follower, cwd=directory) as process:
        os.close(follower)
        while True:
            try:
                part = os.read(leader, 4096)
            except OSError:
                break
            shown += part
            if not match and (re.search(pattern, shown) or time.time() > end):
                match = re.search(pattern, shown)
                process.send_signal(signal.SIGINT)
            if not part:
                break
    os.close(leader)
    return match, shown


def progress():
    """The line on a terminal: phase, instructions, speed, and what is left where the run was made before."""
    need_terminals()
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "r.json")
        words = [EMULATOR, "--json", path, "--no-sim", CRASH, "many_lines"]
        line = rb"\r\x1b\[Kc2emu: running: [\d,]+ instructions, \d+ M/s(?=\r|$)"
        match, shown = shown_until(words, directory, line)
        check(match, "the line of a run: %r" % shown[:200])
        contains(shown, [b"\r\x1b[Kc2emu: interrupted by SIGINT\r\n"], "the line is gone before words follow")
        check(b"left" not in shown, "nothing is known of the end: %r" % shown[:200])
        # the same, made before: it had a billion times as many
        report = load(path)
        before = report["run"]["instructions"]
        match, shown = shown_until(words, directory, rb"c2emu: running: ")
        check(b"left" not in shown, "an interrupted run says nothing of the end: %r" % shown[:200])
        del report["interrupted"]
        report["run"]["instructions"] = 10 ** 15
        put(path, json.dumps(report))
        line = rb"\r\x1b\[Kc2emu: running: [\d,]+ of 1,000,000,000,000,000 instructions, \d+ M/s, \d+ h left"
        match, shown = shown_until(words, directory, line)
        check(match, "the line of a run that was made before: %r" % shown[:200])
        check(before > 0, "something was run")
        put(path, json.dumps(report))
        other = words[:3] + ["--seed", "2"] + words[3:]
        match, shown = shown_until(other, directory, rb"c2emu: running: ")
        check(b"left" not in shown, "another run: %r" % shown[:200])
        # phases by their names
        words = [EMULATOR, "-m", "teach", "--skip", "10G", "--measure", "1000", "--samples", "2", CRASH, "many_lines"]
        match, shown = shown_until(words, directory, rb"\r\x1b\[Kc2emu: skipping: [\d,]+ instructions, \d+ M/s")
        check(match, "the line of a phase: %r" % shown[:200])
        # the program's own output takes the line's place
        words = ["sh", "-c", 'exec "$0" "$@" >&2', EMULATOR, "-q", "--progress", "-m", "teach",
                 os.path.join(IMAGES, "matmul"), "400"]
        match, shown = shown_until(words, directory, rb"c\[\d+\]\[\d+\] = ")
        check(match and b" M/s" in shown, "a line, and then the program's: %r" % shown[-200:])
        check(match and shown[:match.start()].endswith(b"\r\x1b[K"), "no line before it: %r" % shown[-200:])


def host():
    with tempfile.TemporaryDirectory() as directory:
        other, report = os.path.join(directory, "other.ini"), os.path.join(directory, "report.json")
        with open(other, "w") as file:  # that of another host
            file.write(emulate(["machines", "teach"]).stdout.decode().replace("name = teach\n", "name = host\n"))
        for options in ([], ["--set", "L2.ways=2"], ["-m", "zen3"]):
            result = emulate(["-q", "-m", "host"] + options + ["--json", report, FETCH],
                             env=dict(os.environ, C2EMU_HOST_MACHINE=other))
            check(os.path.exists(report), "no report: %r" % result.stderr)
            result = emulate(["verify", report])
            check(result.returncode == 0 and result.stdout.startswith(b"equal: "), "verify: %r" % result.stdout)
            os.remove(report)
    shown = emulate(["machines", "host"])
    if shown.returncode:
        contains(shown.stderr.decode(), ["c2emu: -m host: "], "a processor that is not known")
        return
    lines = [line for line in shown.stdout.decode().splitlines() if " = " in line and not line.startswith(";")]
    check(all(" ; " in line for line in lines if line.split()[0] not in ("name", "description")),
          "sources: %r" % lines)
    bare = "".join(line.split(";")[0].rstrip() + "\n" for line in shown.stdout.decode().splitlines()[4:])
    equal(emulate(["machines", "host", "--set", "machine.name=host"]).stdout.decode(), bare, "the same by its keys")


{"host": host, "inputs": inputs, "progress": progress, "equal": runs_that_are_equal, "differs": differs,
 "streams": streams, "refused": refused, "interrupted": interrupted}[sys.argv[1]]()
done()
