# SPDX-License-Identifier: GPL-2.0-or-later
"""kernel_calls.py PART: calls that few programs make are answered as natively, with guests/kernel_calls.c. Parts:

words     futexes that are moved to locks, and waits at several words, under two quanta
shared    words that processes share, with guests/words.c: who is woken and moved is counted, in whatever process
timeouts  of sockets and of several messages, in guest time: nobody waits for them
resolve   openat2, also confined
errors    wrong arguments, with guests/errors.c; natively by a user without rights, for that is who the guest is
trials    what limits, owners, inheritance and waits do, with guests/trials.c; the same way
arguments TOPIC  each call of a topic with each argument replaced by wrong ones, with guests/arguments.c; natively and
          under c2emu by a user without rights, for what a path leads to is the host's to say
scripts   an interpreter without a slash in front is looked for where the guest is
"""

import os
import shutil
import sys
import tempfile

from common import EMULATOR, check, copy_for_all, done, equal, run, same_as_natively, skip

GUEST = os.path.join(os.environ["GUESTS"], "kernel_calls")


def as_natively(top, words, *options):
    for number, option in enumerate(options):
        directory = os.path.join(top, str(number))
        os.mkdir(directory)
        got = run([EMULATOR, "-q", "--no-sim", *option, *words], cwd=directory)
        check(got.stdout.count(b"\n") > 1, "the program says something")
        same_as_natively(words, got, "what it says with %s" % (option,))


def words(top):
    as_natively(top, [GUEST, "words"], ["--quantum", "50000"], ["--quantum", "31"])


def shared(top):
    as_natively(top, [os.path.join(os.environ["GUESTS"], "words")], ["--quantum", "50000"], ["--quantum", "31"])


def timeouts(top):
    as_natively(top, [GUEST, "timeouts"], [])


def resolve(top):
    as_natively(top, [GUEST, "resolve"], [], ["--sandbox"])


def scripts(top):
    inner = os.path.join(top, "inner")
    os.mkdir(inner)
    shutil.copy("/bin/echo", os.path.join(inner, "tool"))
    with open(os.path.join(inner, "script"), "w") as file:
        file.write("#!tool it says\n")
    os.chmod(os.path.join(inner, "script"), 0o755)
    line = "cd %s && ./script word; cd ..; inner/script word 2> /dev/null; echo $?" % inner
    as_natively(top, ["/bin/sh", "-c", line], [])


NOBODY = 65534
WITHOUT_RIGHTS = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}


def at_usual_niceness():
    """The guest begins at 0, whatever the host's programs have; whether these do now."""
    try:
        os.setpriority(os.PRIO_PROCESS, 0, 0)
    except PermissionError:
        pass
    return os.getpriority(os.PRIO_PROCESS, 0) == 0


def errors(top):
    os.chmod(top, 0o755)
    parts = ["sockets", "messages", "descriptors", "endings", "timers"]
    if at_usual_niceness():
        parts += ["scheduling", "processes"]
    else:
        print("not compared: priorities, as this test may not give up its niceness")
    guest = copy_for_all(os.path.join(os.environ["GUESTS"], "errors"), top)
    for part in parts:
        said = []
        for name, words, more in (("native", [guest, part], WITHOUT_RIGHTS),
                                  ("ours", [EMULATOR, "-q", "--no-sim", guest, part], {})):
            directory = os.path.join(top, part + name)
            os.mkdir(directory)
            os.chmod(directory, 0o777)
            said.append(run(words, cwd=directory, timeout=60, start_new_session=True, **more))
        native, ours = said
        check(native.stdout.count(b"\n") > 10, "the program says something of " + part)
        for expected, line in zip(native.stdout.decode().splitlines(), ours.stdout.decode().splitlines()):
            equal(line, expected, part)
        equal((ours.returncode, ours.stderr, len(ours.stdout)), (native.returncode, native.stderr, len(native.stdout)),
              part)


def trials(top):
    os.chmod(top, 0o755)
    guest = copy_for_all(os.path.join(os.environ["GUESTS"], "trials"), top)
    emulator = copy_for_all(EMULATOR, top)
    machines = copy_for_all(os.environ["C2EMU_MACHINES"], top)
    for part in ("sizes", "owners", "heirs", "clones", "limits", "requests", "names", "scores", "natures",
                 "clocks", "depths", "made_up"):
        native = answers(top, part, [guest, part])
        check(native.stdout.count(b"\n") > 1, "the program says something of " + part)
        for number, options in enumerate((["--no-sim"], [])):
            ours = answers(top, "%s%d" % (part, number), [emulator, "-q", *options, guest, part],
                           C2EMU_MACHINES=machines)
            for expected, line in zip(native.stdout.decode().splitlines(), ours.stdout.decode().splitlines()):
                equal(line, expected, part)
            equal((ours.returncode, ours.stderr, len(ours.stdout)),
                  (native.returncode, native.stderr, len(native.stdout)), part)


def answers(top, name, words, **environment):
    directory = os.path.join(top, name)
    os.mkdir(directory)
    if WITHOUT_RIGHTS:
        os.chown(directory, NOBODY, NOBODY)
    return run(words, cwd=directory, timeout=300, start_new_session=True, env={**os.environ, **environment},
               **WITHOUT_RIGHTS)


def arguments(top, topic):
    os.chmod(top, 0o755)
    guest = copy_for_all(os.path.join(os.environ["GUESTS"], "arguments"), top)
    emulator = copy_for_all(EMULATOR, top)
    if topic == "identity" and not at_usual_niceness():
        skip("priorities cannot be compared, as this test may not give up its niceness")
    native = answers(top, "native", [guest, topic])
    machines = copy_for_all(os.environ["C2EMU_MACHINES"], top)
    ours = answers(top, "ours", [emulator, "-q", "--no-sim", guest, topic], C2EMU_MACHINES=machines)
    check(native.stdout.count(b"\n") > 100, "the program says something")
    for expected, line in zip(native.stdout.splitlines(), ours.stdout.splitlines()):
        equal(line, expected, "the answer")
    equal((ours.returncode, ours.stderr, len(ours.stdout)), (native.returncode, native.stderr, len(native.stdout)),
          "the end")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        globals()[sys.argv[1]](directory, *sys.argv[2:])
    done()
