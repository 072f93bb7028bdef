#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""execute.py C2EMU RUN.json OUT.json: one run of a sweep. OUT.json is there only when all of the run is in it: what was
interrupted or failed leaves its words in OUT.log."""

import glob
import json
import os
import subprocess
import sys


def main(c2emu, description, out):
    with open(description, encoding="utf-8") as file:
        run = json.load(file)
    out = os.path.abspath(out)
    base = out.removesuffix(".json")
    partial = base + ".partial.json"
    for old in glob.glob(glob.escape(base) + ".partial*"):
        os.remove(old)
    words = [c2emu, *run["words"], f"--jobs={run['threads']}", f"--json={partial}", "--", *run["program"]["command"]]
    with open(run["program"]["stdin"] or os.devnull, "rb") as stdin, open(base + ".out", "wb") as shown, \
            open(base + ".log", "wb") as log:
        status = subprocess.run(words, cwd=run["program"]["directory"], stdin=stdin, stdout=shown, stderr=log,
                                check=False).returncode
    try:
        with open(partial, encoding="utf-8") as file:
            report = json.load(file)
    except OSError:
        return f"c2emu ended with status {status} and wrote no report"
    if report.get("interrupted") or status < 0:
        return "the run was interrupted"
    # Reports of programs that the first one started stand beside its own.
    for other in glob.glob(glob.escape(base) + ".partial.*.json"):
        os.replace(other, base + "." + other.removeprefix(base + ".partial."))
    os.replace(partial, out)
    return None


if __name__ == "__main__":
    wrong = main(*sys.argv[1:])
    if wrong:
        with open(sys.argv[3].removesuffix(".json") + ".log", "a", encoding="utf-8") as log:
            log.write(f"sweep: {wrong}\n")
    sys.exit(1 if wrong else 0)
