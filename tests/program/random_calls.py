# SPDX-License-Identifier: GPL-2.0-or-later
"""random_calls.py ready|blocks|mutants|wild [FIRST-SEED [SEEDS [CALLS]]]: system calls drawn at random, made by the
kernel and by c2emu, give the same results and the same memory.

The guest of the same name draws them (its head says which). Both runs are in the same empty directory, one after the
other, as a user without rights: root becomes nobody. In `blocks` a program may wait for ever: then c2emu must say so
for the same call; several wait at a time. Failures name the seed and the first call that differs. `wild` are calls of
any number with any arguments, by c2emu alone, with and without --sandbox: it must live.
"""

import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

from common import EMULATOR, check, copy_for_all, done, equal, fail

GUEST = os.path.join(os.environ["GUESTS"], "random_calls")
NOBODY = 65534
SEEDS = {"ready": (1, 80, 400), "blocks": (1000, 20, 300), "wild": (2000, 8, 125000)}  # first, how many, calls of each
ASLEEP = 0.6  # seconds in one call: it waits for ever, for nothing outside ever happens
AT_A_TIME = {"blocks": 8}  # of the others one
WITHOUT_RIGHTS = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}


class Fence:
    """Copies of what is run, and a directory for it whose parents its user cannot write."""

    def __init__(self, directory):
        os.makedirs(directory, exist_ok=True)
        self.outer = os.path.join(directory, "fence")
        self.inner = os.path.join(self.outer, "run")
        tools = os.path.join(directory, "tools")
        os.chmod(directory, 0o755)
        os.mkdir(tools)
        os.mkdir(self.outer)
        os.chmod(tools, 0o755)
        self.emulator = copy_for_all(EMULATOR, tools)
        self.guest = copy_for_all(GUEST, tools)
        self.machines = copy_for_all(os.environ["C2EMU_MACHINES"], tools)

    def __enter__(self):
        self.__exit__()
        os.mkdir(self.inner)
        os.chmod(self.inner, 0o755)
        if os.geteuid() == 0:
            os.chown(self.inner, NOBODY, NOBODY)
        os.chmod(self.outer, 0o555)
        return self.inner

    def __exit__(self, *_):
        os.chmod(self.outer, 0o755)
        if os.path.exists(self.inner):
            for root, folders, _ in os.walk(self.inner):
                os.chmod(root, 0o700)
                for name in folders:
                    if not os.path.islink(os.path.join(root, name)):
                        os.chmod(os.path.join(root, name), 0o700)
            shutil.rmtree(self.inner)


def is_asleep(pid):
    with open("/proc/%d/stat" % pid) as file:
        return file.read().rpartition(")")[2].split()[0] == "S"


def watch(process):
    """All it writes, until it ends or sleeps for long; whether it slept."""
    output, quiet = b"", 0
    while True:
        if select.select([process.stdout], [], [], 0.02)[0]:
            part = os.read(process.stdout.fileno(), 65536)
            if not part:
                return output, False
            output, quiet = output + part, 0
        elif is_asleep(process.pid):
            quiet = quiet or time.monotonic()
            if time.monotonic() - quiet > ASLEEP:
                return output, True
        else:
            quiet = 0


def run_in(fence, words):
    with fence as directory:
        environment = {"C2EMU_MACHINES": fence.machines}
        process = subprocess.Popen(words, cwd=directory, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, **WITHOUT_RIGHTS)
        output, slept = watch(process)
        if slept:
            process.kill()
        message = process.stderr.read()
        process.stdout.close()
        process.stderr.close()
        return output.decode(errors="replace"), slept, process.wait(), message.decode(errors="replace")


def both(fence, seed, calls, mode, wrong=-1):
    native = run_in(fence, [fence.guest, str(seed), str(calls), mode])
    emulated = run_in(fence, [fence.emulator, "-q", "--no-sim", fence.guest, str(seed), str(calls), mode, str(wrong)])
    return native, emulated


def difference(native, emulated):
    """The first line that differs, of both; None."""
    a, b = native.splitlines(), emulated.splitlines()
    for i in range(max(len(a), len(b))):
        lines = [text[i] if i < len(text) else "(nothing)" for text in (a, b)]
        if lines[0] != lines[1]:
            return lines
    return None


def compare(fence, seed, calls, mode):
    (native, waits, status, _), (emulated, hangs, emulated_status, message) = both(fence, seed, calls, mode)
    what = "seed %d of %d calls" % (seed, calls)
    check(native.count("\n") > 1 or waits, what + " does nothing natively: status %d" % status)
    found = difference(native, emulated)
    if found:
        fail("%s:\n  Linux: %s\n  c2emu: %s\n  %s" % (what, found[0], found[1], message.strip()[-300:]))
    elif waits:
        check("deadlock: the program waits for ever" in message,
              "%s: %s waits, and c2emu %s: %s" % (what, native.splitlines()[-1], "too" if hangs else "ends", message))
    else:
        equal(emulated_status, status, "status of " + what)
    return native.count("\n"), waits


def go_wild(fence, seed, calls):
    options = ["--sandbox"] if seed % 2 else []
    with fence as directory:
        words = [fence.emulator, "-q", "--no-sim", *options, fence.guest, str(seed), str(calls), "wild"]
        result = subprocess.run(words, cwd=directory, env={"C2EMU_MACHINES": fence.machines}, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=300, **WITHOUT_RIGHTS)
    message = result.stderr.decode(errors="replace")[-400:]
    equal(result.returncode, 17, "seed %d of %d calls: %s" % (seed, calls, message))
    return calls, 0


def main(mode, first=None, seeds=None, calls=None):
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        if mode == "mutants":  # what is not there must be found
            fence = Fence(os.path.join(directory, "0"))
            native, emulated = both(fence, 5, 60, "ready", 41)
            found = difference(native[0], emulated[0])
            check(found and found[0].startswith("41: ") and found[1].startswith("41: "), "the wrong result: %r" % found)
            done()
        defaults = SEEDS[mode]
        first, seeds, calls = [int(b or a) for a, b in zip(defaults, (first, seeds, calls))]
        fences = SimpleQueue()
        for i in range(AT_A_TIME.get(mode, 1)):
            fences.put(Fence(os.path.join(directory, str(i))))

        def one(seed):
            fence = fences.get()
            made = go_wild(fence, seed, calls) if mode == "wild" else compare(fence, seed, calls, mode)
            fences.put(fence)
            return made
        with ThreadPoolExecutor(fences.qsize()) as workers:
            total, waits = map(sum, zip(*workers.map(one, range(first, first + seeds))))
        print("%d calls of %d seeds, %d waits for ever" % (total, seeds, waits))
        check(mode != "blocks" or waits > seeds // 4, "too few programs wait")
    done()


main(*sys.argv[1:])
