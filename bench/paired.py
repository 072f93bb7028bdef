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


def timed(command):
    """(processor seconds, wall seconds) of a command."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - start)


def spent(words):
    """The same of c2emu with these words."""
    return timed([C2EMU] + words)


def in_turn(commands, rounds, measure=spent):
    """The medians of each of the commands, (processor, wall)."""
    runs = [[measure(words) for words in commands] for _ in range(rounds)]
    return [tuple(statistics.median(column) for column in zip(*(turn[i] for turn in runs)))
            for i in range(len(commands))]
