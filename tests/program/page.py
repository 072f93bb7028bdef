# SPDX-License-Identifier: GPL-2.0-or-later
"""page.py PART: how wide and how full reports are, and whether they have colours: on terminals, in files, in pipes."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios

from common import EMULATOR, check, done, emulate, equal, need_terminals, without_receipt

GUESTS = os.environ.get("GUESTS", "")
RUN = ["-m", "teach", "./conflict"]
ESCAPE = re.compile("\033\\[[0-9]*m")


def plain(**variables):
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
    return dict(environment, TERM="xterm", **variables)


def on_terminal(columns, words, **variables):
    """What a terminal of so many columns is sent."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    with subprocess.Popen([EMULATOR] + words, cwd=GUESTS, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=follower, env=plain(**variables)) as process:
        os.close(follower)
        text = b""
        while True:
            try:
                part = os.read(leader, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            text += part
        process.wait()
    os.close(leader)
    lines = text.decode().replace("\r\n", "\n")
    lines = lines[lines.rindex("\r\033[K") + 4:] if "\r\033[K" in lines else lines
    return "".join(line for line in lines.splitlines(True) if not line.startswith("c2emu: "))  # to root


def in_pipe(words, **variables):
    result = emulate(words, cwd=GUESTS, env=plain(**variables))
    equal(result.returncode, 0, "exit status")
    return result.stderr.decode()


def in_files(words):
    with tempfile.TemporaryDirectory() as directory:
        equal(emulate(["-q", "-o", directory] + words, cwd=GUESTS, env=plain()).returncode, 0, "exit status")
        contents = []
        for suffix in ("txt", "json"):
            with open(os.path.join(directory, "report." + suffix), "rb") as file:
                contents.append(file.read())
        return contents[0].decode(), without_receipt(contents[1])


def test_width():
    need_terminals()
    pipe = in_pipe(RUN)
    text, report = in_files(RUN)
    equal(text, pipe, "the report in a file, and in a pipe")
    equal(in_pipe(["--width", "100"] + RUN), pipe, "a report of 100 columns, and in a pipe")
    for width in (80, 160):
        wide = in_pipe(["--width", str(width)] + RUN)
        check(wide != pipe, "a report of %d columns is another" % width)
        equal(in_files(["--width", str(width)] + RUN), (wide, report), "files of %d columns, and the JSON" % width)
        equal(on_terminal(width, ["--color", "never"] + RUN), wide, "a terminal of %d columns" % width)
    equal(on_terminal(40, ["--color", "never"] + RUN), in_pipe(["--width", "80"] + RUN), "a narrow terminal")
    equal(on_terminal(300, ["--color", "never"] + RUN), in_pipe(["--width", "200"] + RUN), "a wide terminal")
    equal(on_terminal(80, ["--color", "never", "--width", "160"] + RUN), in_pipe(["--width", "160"] + RUN),
          "--width on a terminal")


def test_colour():
    need_terminals()
    pipe = in_pipe(RUN)
    check("\033" not in pipe, "no colours in a pipe")
    colours = in_pipe(["--color", "always"] + RUN)
    check("\033[1m" in colours and "\033[31m" in colours, "bold headings and red conflicts")
    equal(ESCAPE.sub("", colours), pipe, "the report with its colours taken off")
    equal(in_files(["--color", "always"] + RUN)[0], pipe, "no colours in a file")
    equal(on_terminal(100, RUN), colours, "a terminal has colours")
    equal(on_terminal(100, RUN, NO_COLOR=""), colours, "an empty NO_COLOR")
    equal(on_terminal(100, RUN, NO_COLOR="1"), pipe, "NO_COLOR")
    equal(on_terminal(100, ["--color", "never"] + RUN), pipe, "--color never")
    equal(in_pipe(["--color", "always"] + RUN, NO_COLOR="1"), colours, "--color always before NO_COLOR")
    equal(on_terminal(100, ["-E", "NO_COLOR=1"] + RUN), colours, "NO_COLOR of the program")


def test_full():
    short, full = in_pipe(RUN), in_pipe(["--full"] + RUN)
    equal(in_files(["--full"] + RUN), (full, in_files(RUN)[1]), "all of it in files, and the JSON")
    head = "program     ./conflict: exit status 0; 505 instructions on teach"
    check(head in short.splitlines(), "the head: " + short)
    for left_out in ("\nreferences  300: ", "\nL1I  ", "\npages       sequential ", "\nphases  "):
        check(left_out in full and left_out not in short, "left out: " + left_out)


{"full": test_full, "width": test_width, "colour": test_colour}[sys.argv[1]]()
done()
