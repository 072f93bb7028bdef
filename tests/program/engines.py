# SPDX-License-Identifier: GPL-2.0-or-later
"""engines.py PART: which engine executes a program, and that nothing but the receipt shows it.

same    the report of a program, its profile and its trace are those of the other engine, byte for byte
chosen  without --engine the host's processor where it can, in a sandbox Unicorn
across  a checkpoint that one engine has made is restored by the other
loaded  Unicorn's library is loaded for its own engine only
needs   the processor that a program's note of properties asks for
"""

import json
import os
import sys
import tempfile

from common import EMULATOR, contains, done, emulate, equal, need, run, skip

GUESTS = os.environ["GUESTS"]
BOTH = ("unicorn", "native")


def of(name):
    return ["--engine", name]


def needs_native():
    result = emulate(["-q", "--no-sim", *of("native"), "/bin/true"])
    if b"the native engine needs" in result.stderr:
        skip(result.stderr.decode().strip())


def report(directory, options, words, cwd=None):
    """The JSON without its receipt, and the name of the engine."""
    path = os.path.join(directory, "report.json")
    result = run([EMULATOR, "-q", "--json", path, *options, "--", *words], cwd=cwd)
    equal((result.returncode, result.stderr), (0, b""), "status and messages: " + " ".join(options))
    with open(path) as file:
        whole = json.load(file)
    return whole, whole.pop("receipt")["engine"].split()[0]


def same(directory):
    for words in ([os.path.join(GUESTS, "threads_cxx")], ["/bin/sort", "/etc/passwd"]):
        written = []
        for name in BOTH:
            files = [os.path.join(directory, kind) for kind in ("json", "trace", "callgrind")]
            result = emulate(["-m", "teach", *of(name), "--trace", files[1], "--callgrind", files[2], "--", *words])
            equal(result.returncode, 0, "status")
            whole, engine = report(directory, ["-m", "teach", *of(name)], words)
            equal(engine, name, "the receipt")
            written.append([result.stdout, result.stderr, whole] + [open(file).read() for file in files[1:]])
        for i, what in enumerate(("output", "report", "JSON", "trace", "profile")):
            equal(written[0][i] == written[1][i], True, "%s: %s by both" % (words[0], what))


def chosen(directory):
    equal(report(directory, [], ["/bin/true"])[1], "native", "where nobody asks")
    equal(report(directory, of("auto"), ["/bin/true"])[1], "native", "auto")
    equal(report(directory, ["--sandbox"], ["/bin/true"], cwd=directory)[1], "unicorn", "a sandbox")
    result = run([EMULATOR, "--no-sim", "--sandbox", *of("native"), "/bin/true"], cwd=directory)
    contains(result.stderr.decode(), ["--sandbox with --engine native confines a program that means no harm"], "both")
    result = run([EMULATOR, "--no-sim", "--sandbox", "--cpu", "x86-64-v3", "/bin/true"], cwd=directory)
    equal((result.returncode, result.stdout), (125, b""), "a processor that no sandbox has")
    contains(result.stderr.decode(), ["--cpu x86-64-v3 needs --engine native: a program in a sandbox ",
                                      ", and unicorn executes x86-64-v2"], "a processor that no sandbox has")


def across(directory):
    words, saved = ["/bin/sort", "/etc/passwd"], os.path.join(directory, "saved")
    path = os.path.join(directory, "restored.json")
    reports = []
    for first, second in (BOTH, BOTH[::-1]):
        result = emulate(["-q", "--no-sim", *of(first), "--checkpoint", saved, "--checkpoint-at", "123456",
                          "--checkpoint-stop", "--", *words])
        equal((result.returncode, result.stderr), (0, b""), "saved by " + first)
        for name in (first, second):
            result = emulate(["restore", "-q", *of(name), "-m", "teach", "--json", path, saved])
            equal((result.returncode, result.stderr), (0, b""), "restored by " + name)
            with open(path) as file:
                whole = json.load(file)
            whole.pop("restored", None)
            reports.append((result.stdout, whole))
    for other in reports[1:]:
        equal(other, reports[0], "a run that another engine goes on with")


def loaded(directory):
    """A library of the name that has nothing, found first: a native run does without."""
    need("gcc")
    fake = os.path.join(directory, "libunicorn.so.2")
    equal(run(["gcc", "-shared", "-o", fake, "-xc", "/dev/null"]).returncode, 0, "the library without functions")
    with_fake = {**os.environ, "LD_LIBRARY_PATH": directory}
    result = emulate(["-q", *of("native"), "/bin/echo", "hello"], env=with_fake)
    equal((result.returncode, result.stdout, result.stderr), (0, b"hello\n", b""), "natively")
    result = emulate(["-q", *of("unicorn"), "/bin/echo", "hello"], env=with_fake)
    equal((result.returncode, result.stdout, result.stderr),
          (125, b"", b"c2emu: the engine's library libunicorn.so.2 has no uc_close\n"), "by Unicorn")
    with open(fake, "w") as file:
        file.write("no library")
    result = emulate(["-q", *of("unicorn"), "/bin/echo", "hello"], env=with_fake)
    equal((result.returncode, result.stdout), (125, b""), "a file that is no library")
    contains(result.stderr.decode(), ["c2emu: the engine's library cannot be loaded: ", fake], "no library")


def needs(directory):
    guest, path = os.path.join(GUESTS, "needs"), os.path.join(directory, "report.json")
    if run([guest]).returncode != 0:
        skip("this processor is no x86-64-v3")
    for options in ([], ["--cpu", "auto"]):
        result = emulate(["--no-sim", *options, "--json", path, guest])
        equal((result.returncode, b"note" in result.stderr), (0, False), "where nothing else is asked for")
        with open(path) as file:
            equal(json.load(file)["receipt"]["options"][-1], "--cpu=x86-64-v3", "the receipt")
    equal(run([EMULATOR, "verify", path]).returncode, 0, "its run made again")
    result = emulate(["--no-sim", *of("unicorn"), guest])
    equal(result.returncode, 125, "by Unicorn: status")
    contains(result.stderr.decode(), ["needs needs x86-64-v3, as its note of properties says, and finds x86-64-v2",
                                      "run it with --cpu x86-64-v3"], "by Unicorn")
    result = emulate(["--no-sim", "--cpu", "x86-64-v2", guest])
    equal((result.returncode, b"note" in result.stderr), (125, False), "an option goes before the note")
    report(directory, [], ["/bin/true"])
    with open(path) as file:
        equal(json.load(file)["receipt"]["options"], [], "a program that needs no more")


needs_native()
with tempfile.TemporaryDirectory() as top:
    {"same": same, "chosen": chosen, "across": across, "loaded": loaded, "needs": needs}[sys.argv[1]](top)
done()
