# SPDX-License-Identifier: GPL-2.0-or-later
"""wide.py: guests/wide.S, whose masks, indices and XSAVE touch bytes that are known: every reference, in order, in the
trace of the run and in that of its recording; and what it writes, which is what it writes natively."""

import os
import tempfile

from common import contains, done, emulate, equal, run, skip

GUEST = os.path.join(os.environ["GUESTS"], "wide")
CPU = ["--engine", "native", "--cpu", "x86-64-v4"]
INDEX, SIGNS, AREA = 768, 832, 896  # behind `data`
INDICES = [5, 4, 3, 2, 1, 0, 6, 7, 12, 12, 13, 31, 0, 0, 0, 0]
HALVES = [0, 1, 2, 3, 8, 9, 10, 11]  # the elements under the mask


def expected():
    """kind, offset from `data`, bytes. N: a store past the caches"""
    yield from [("R", 0, 64), ("R", 0, 16), ("R", 32, 16), ("W", 128, 16), ("W", 160, 16)]
    yield from [("R", 0, 4), ("R", 0, 64)]  # a broadcast; one whose faults are not suppressed. Behind them one of zeros
    yield from [("W", 256, 32), ("R", 256, 32), ("R", INDEX, 64)]
    yield from [("R", 4 * INDICES[i], 4) for i in HALVES]
    yield from [("W", 512 + 4 * INDICES[i], 4) for i in HALVES]
    yield from [("R", SIGNS, 32), ("R", 4, 4), ("R", 12, 8), ("R", 32, 4), ("W", 388, 4), ("W", 396, 8), ("W", 416, 4)]
    yield from [("R", INDEX, 32)] + [("R", 4 * INDICES[i], 4) for i in (0, 2, 3, 7)] + [("N", 64, 64)]
    yield from [("W", AREA, 24), ("W", AREA + 24, 8), ("W", AREA + 32, 128), ("W", AREA + 160, 256)]
    yield from [("R", AREA + 512, 8), ("W", AREA + 512, 8), ("W", AREA + 576, 256)]
    # the x87 unit is as after a reset, and not there
    yield from [("R", AREA + 512, 24), ("R", AREA + 24, 8), ("R", AREA + 160, 256), ("R", AREA + 576, 256)]
    yield ("W", 640, 32)


def references(path):
    found = []
    with open(path) as file:
        for kind, _, va, _, size, _ in map(str.split, file):
            if kind != "F":
                found.append((kind, int(va, 16), int(size)))
    return found


natively = run([GUEST])
if natively.returncode != 0:
    skip("this processor has no AVX-512")
with tempfile.TemporaryDirectory() as directory:
    trace, recording, again = (os.path.join(directory, name) for name in ("trace", "recording", "again"))
    result = emulate(["-q"] + CPU + ["--trace", trace, "--record", recording, GUEST])
    equal((result.returncode, result.stderr), (0, b""), "status and messages")
    equal(result.stdout, natively.stdout, "what it writes")
    found = references(trace)
    data = found[0][1]
    wanted = [(kind, data + offset, size) for kind, offset, size in expected()]
    for i, (has, wants) in enumerate(zip(found, wanted)):
        equal(has, wants, "reference %d" % i)
    equal(len(found), len(wanted), "how many references")
    result = emulate(["replay", "-q", "--trace", again, recording])
    equal((result.returncode, result.stderr), (0, b""), "status and messages of the replay")
    equal(references(again), found, "the recording")
    saved = os.path.join(directory, "saved")
    for at in ("9", "16", "33"):  # before the compressing store, the scatter, XRSTOR
        emulate(["-q", "--no-sim"] + CPU + ["--checkpoint", saved, "--checkpoint-at", at, "--checkpoint-stop", GUEST])
        result = emulate(["restore", "-q", "--engine", "native", saved])
        equal((result.stdout, result.stderr), (natively.stdout, b""), "from a checkpoint at " + at)
    result = emulate(["restore", "-q", "--engine", "native", "--cpu", "x86-64-v3", saved])
    equal(result.returncode, 125, "a checkpoint on another processor: status")
    contains(result.stderr.decode(), ["found the processor x86-64-v4, and this one is x86-64-v3"], "another processor")
result = emulate(["--engine", "unicorn", "--cpu", "x86-64-v4", GUEST])
equal(result.returncode, 125, "Unicorn: status")
contains(result.stderr.decode(), ["--cpu x86-64-v4 needs --engine native: unicorn executes x86-64-v2"], "Unicorn")
result = emulate(["-q", "--engine", "native", "--cpu", "x86-64-v3", GUEST])
contains(result.stderr.decode(), ["AVX-512", "run it with --cpu x86-64-v4"], "x86-64-v3")
done()
