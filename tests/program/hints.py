# SPDX-License-Identifier: GPL-2.0-or-later
"""hints.py PART: the last lines of a report, which say what it would have of a program compiled or run otherwise.

names   debug information that the program lacks, and not that of libraries
cores   more processors for who asks how many there are
"""

import os
import sys
import tempfile

from common import done, emulate, equal, run

GUESTS, IMAGES = os.environ["GUESTS"], os.environ["IMAGES"]
NO_NAMES = "-g: %s has no debug information, which names lines, and blocks by their variables"
OPENMP = "--cores 4: the program uses OpenMP and found one processor; this gives it, and the machine, four"
ASKS = "--cores 4: the program asks how many threads to start, and found one processor; this gives it, and the " \
       "machine, four"


def hints(words):
    verb = words[:1] if words[0] == "replay" else []
    text = emulate(verb + ["--width", "160"] + words[len(verb):]).stderr.decode()
    return [line for line in text.splitlines() if line.startswith(("-g: ", "--cores "))]


def names():
    bare, named = os.path.join(GUESTS, "onstack_gcc_O0_plain"), os.path.join(IMAGES, "transpose")
    equal(hints([bare]), [NO_NAMES % "onstack_gcc_O0_plain"], "compiled without -g")
    equal(hints([named]), [], "compiled with -g")
    equal(hints(["-m", "teach", "-m", "zen3", bare]), [], "several machines, of which no names are shown")
    equal(hints(["--no-attribution", bare]), [], "no names are wanted")
    equal(hints(["--no-sim", bare]), [], "nothing is simulated")
    with tempfile.TemporaryDirectory() as directory:
        recording = os.path.join(directory, "recording")
        equal(hints(["--record", recording, bare]), hints(["replay", recording]), "a replay")
        script = os.path.join(directory, "script")
        with open(script, "w") as file:
            file.write("#!%s\n" % bare)
        os.chmod(script, 0o755)
        equal(hints([script]), [], "a script")


def cores():
    openmp = [os.path.join(GUESTS, "openmp"), "2"]
    equal([line for line in hints(openmp) if line[:2] == "--"], [OPENMP], "OpenMP on one core")
    equal([line for line in hints(["--cores", "4"] + openmp) if line[:2] == "--"], [], "OpenMP on four")
    equal([line for line in hints(["-m", "teach", "--vary", "cores=1,2"] + openmp) if line[:2] == "--"], [],
          "a machine of several has more")
    equal([line for line in hints(["nproc"]) if line[:2] == "--"], [ASKS], "nproc")
    equal(run([os.environ["C2EMU"], "-q", "--cores", "4", "nproc"]).stdout, b"4\n", "what it is told with --cores 4")


{"names": names, "cores": cores}[sys.argv[1]]()
done()
