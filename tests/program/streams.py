# SPDX-License-Identifier: GPL-2.0-or-later
"""streams.py GROUP: what the native engine records of a program is what Unicorn's does, word for word, of each of its
processes; and so are its output, its messages and its status.

Programs are those of a group of tests/programs.tsv that are installed, run in a moment and leave their directory as it
was: those that make files see other inodes and times in each run.
"""

import os
import shutil
import subprocess
import sys
import tempfile

from common import EMULATOR, check, done, equal, skip
from programs import ENVIRONMENT, build, contents, fixture, is_there, rows_of

STREAMS = os.environ["STREAMS"]
LONG = ("java", "node", "gcc", "g++", "rustc", "go", "make", "numpy")  # minutes


def record(engine, words, directory, top):
    """Status, output and messages; recordings are in a directory of the engine's name."""
    to = os.path.join(top, engine)
    os.mkdir(to)
    recording = os.path.join(to, "recording")
    command = [EMULATOR, "-q", "--no-sim", "--engine", engine, "--record=" + recording, "--", *words]
    result = subprocess.run(command, cwd=directory, env=dict(ENVIRONMENT, HOST_ONLY="1"), stdin=subprocess.DEVNULL,
                            capture_output=True, check=False, timeout=300)
    if b"the native engine needs" in result.stderr:
        skip(result.stderr.decode().strip())
    return {"status": result.returncode, "output": result.stdout, "messages": result.stderr}


def compare(words, directory, before):
    """How many recordings; 0: it has changed its directory."""
    name = " ".join(words)[:60]
    with tempfile.TemporaryDirectory() as top:
        expected = record("unicorn", words, directory, top)
        if contents(directory) != before:
            return 0
        equal(record("native", words, directory, top), expected, name)
        recordings = sorted(os.listdir(os.path.join(top, "unicorn")))
        equal(sorted(os.listdir(os.path.join(top, "native"))), recordings, "recordings of " + name)
        for recording in recordings:
            files = [os.path.join(top, engine, recording) for engine in ("unicorn", "native")]
            result = subprocess.run([STREAMS] + files, capture_output=True, check=False, text=True)
            check(result.returncode == 0, "%s, %s: %s%s" % (name, recording, result.stdout, result.stderr))
        return len(recordings)


def make(directory, group):
    shutil.rmtree(directory, ignore_errors=True)
    os.mkdir(directory)
    fixture(directory)
    build(group, directory)
    return contents(directory)


def main(group):
    recordings = programs = 0
    with tempfile.TemporaryDirectory() as top:
        directory = os.path.join(top, "here")
        before = make(directory, group)
        for package, how, words in rows_of(group):
            if how == "build" or words[0] in LONG or not is_there(words, package, directory):
                continue
            made = compare(words, directory, before)
            recordings += made
            programs += made != 0
            if not made:
                before = make(directory, group)
    check(programs, "no program of " + group)
    print("%d programs, %d recordings" % (programs, recordings))
    done()


main(sys.argv[1])
