#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a headless Chromium takes to draw the pages of reports.

usage: bench/pages.py [RUNS]     with C2EMU=build/c2emu and IMAGES=build/images, which are the defaults

For each program the milliseconds from the start of its page until all is drawn, the lowest and the median of RUNS (5).
"""

import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "program"))
import browser  # noqa: E402  what the tests drive Chromium by

EMULATOR = os.environ.get("C2EMU", "build/c2emu")
IMAGES = os.environ.get("IMAGES", "build/images")
PROGRAMS = {
    "matmul 130": [os.path.join(IMAGES, "matmul"), "130"],
    "python3": ["python3", "-c", "print(sum(i * i % 7 for i in range(20000)))"],
}


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as directory:
        page = os.path.join(directory, "page.html")
        print("| program | page | drawn, lowest | median |\n|---|---|---|---|")
        for name, command in PROGRAMS.items():
            subprocess.run([EMULATOR, "-q", "--html", page] + command, check=True, stdout=subprocess.DEVNULL)
            took = [browser.ask(page, "drawn", real_time=True) for _ in range(runs)]
            print("| %s | %.2f MB | %.0f ms | %.0f ms |" % (name, os.path.getsize(page) / 1e6, min(took),
                                                          statistics.median(took)))


if __name__ == "__main__":
    main()
