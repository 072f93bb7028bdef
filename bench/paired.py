# SPDX-License-Identifier: GPL-2.0-or-later
"""What the benchmarks of whole commands share: commands taken in turn, medians of processor time and wall time."""

import os
import resource
import statistics
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
C2EMU = os.environ.get("C2EMU", os.path.join(ROOT, "build", "c2emu"))
IMAGES = os.path.join(ROOT, "build", "images")


def spent(words):
    """(processor seconds, wall seconds) of c2emu with these words."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([C2EMU] + words, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - start)


def in_turn(commands, rounds):
    """The medians of each of the commands, (processor, wall)."""
    runs = [[spent(words) for words in commands] for _ in range(rounds)]
    return [tuple(statistics.median(column) for column in zip(*(turn[i] for turn in runs)))
            for i in range(len(commands))]
