# SPDX-License-Identifier: GPL-2.0-or-later
"""What the program tests share: running c2emu and other commands, and comparisons that say what differs."""

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile

SKIPPED = 77  # what ctest takes for "not run here"
EMULATOR = os.environ.get("C2EMU", "c2emu")

failures = []


def fail(text):
    failures.append(text)
    print("FAILED:", text, flush=True)


def check(condition, text):
    if not condition:
        fail(text)
    return condition


def shorten(value):
    text = repr(value)
    return text if len(text) <= 600 else text[:300] + " ... " + text[-280:]


def equal(got, expected, what):
    """Compares; dictionaries and lists are followed to the value that differs."""
    if isinstance(got, dict) and isinstance(expected, dict):
        same = True
        for key in list(expected) + [key for key in got if key not in expected]:
            if key not in got or key not in expected:
                fail("%s: key %s is only in the %s" % (what, key, "expected" if key in expected else "result"))
                same = False
            else:
                same &= equal(got[key], expected[key], "%s.%s" % (what, key))
        return same
    if isinstance(got, list) and isinstance(expected, list) and len(got) == len(expected):
        return all([equal(g, e, "%s[%d]" % (what, i)) for i, (g, e) in enumerate(zip(got, expected))])
    return check(got == expected, "%s: %s, expected %s" % (what, shorten(got), shorten(expected)))


def contains(text, parts, what):
    for part in parts:
        check(part in text, "%s: %s is not in %s" % (what, shorten(part), shorten(text)))


def skip(why):
    print("not run:", why)
    sys.exit(SKIPPED)


def need(*commands):
    for command in commands:
        if shutil.which(command) is None:
            skip("%s is not installed" % command)


def need_terminals():
    try:
        for end in pty.openpty():
            os.close(end)
    except OSError as reason:
        skip("this host has no pseudo-terminals, /dev/pts is not mounted: %s" % reason)


def copy_for_all(path, directory):
    """A copy of a program, or of a folder of files, that any user can execute or read wherever the original lies."""
    copy = os.path.join(directory, os.path.basename(path))
    if os.path.isdir(path):
        shutil.copytree(path, copy)
        for name in os.listdir(copy):
            os.chmod(os.path.join(copy, name), 0o644)
    else:
        shutil.copy(path, copy)
    os.chmod(copy, 0o755)
    return copy


def done():
    if failures:
        print("%d comparisons failed" % len(failures))
        sys.exit(1)
    sys.exit(0)


def run(words, **options):
    """Runs a command; bytes in .stdout and .stderr."""
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(words, **options)


def emulate(words, **options):
    return run([EMULATOR] + words, **options)


def same_as_natively(words, got, name):
    """The native program says what the emulated one did. On a loaded machine one that waits for others by sleeping
    may come to say something else, or wait for ever: it has three tries, each in a directory of its own."""
    for _ in range(3):
        with tempfile.TemporaryDirectory() as top, \
             subprocess.Popen(words, cwd=top, start_new_session=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as native:
            try:
                said = native.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                os.killpg(native.pid, signal.SIGKILL)
                said = native.communicate()
        if (native.returncode, *said) == (got.returncode, got.stdout, got.stderr):
            return
    for expected, line in zip(said[0].decode().splitlines(), got.stdout.decode().splitlines()):
        equal(line, expected, name)
    equal((got.returncode, got.stderr, len(got.stdout)), (native.returncode, said[1], len(said[0])), name)


def but_short(said):
    """What c2emu said, without the line that fewer samples had room in the run than were asked for."""
    return re.sub(rb"^c2emu: --samples [0-9,]+: the run had [0-9,]+ instructions, room for .*\n", b"", said)


def without_receipt(text):
    """report.json without its last key, which has what is the host's: paths, hashes of libraries, streams. What was
    simulated from a recording has none."""
    at = text.find(b',\n  "receipt": {\n')
    if at < 0:
        return text
    check(text.endswith(b"\n  }\n}\n"), "the receipt is the last key: " + shorten(text[-80:]))
    return text[:at] + b"\n}\n"


def report(options, program, expect_status=0, **more):
    """The JSON report of a run that must end with expect_status; without its receipt, which says how it was made."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "report.json")
        result = emulate(["-q", "--json-full", path] + options + program, **more)
        what = " ".join(options + program)
        equal(result.returncode, expect_status, "exit status of " + what)
        if not os.path.exists(path):
            fail("%s wrote no report; it said: %s" % (what, result.stderr.decode(errors="replace")))
            done()
        with open(path, "rb") as file:
            return json.loads(without_receipt(file.read()))
