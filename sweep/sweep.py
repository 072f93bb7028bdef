#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""c2emu sweep [OPTION]... STUDY: see docs/sweep.md. The scheduler is Snakemake's; here the study is read, the runs are
described for it, and the results are collected."""

import argparse
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys

import collect
import study as studies

HERE = os.path.dirname(os.path.abspath(__file__))
FAILED = 125


def fail(text):
    print(f"c2emu: sweep: {text}", file=sys.stderr)
    sys.exit(FAILED)


def arguments():
    parser = argparse.ArgumentParser(prog="c2emu sweep", allow_abbrev=False, add_help=False)
    parser.add_argument("study")
    parser.add_argument("-o", "--output", metavar="DIR")
    parser.add_argument("--cores", type=int, metavar="N", default=os.cpu_count())
    parser.add_argument("--slurm", action="store_true")
    parser.add_argument("--sbatch", metavar="WORDS", default="")
    parser.add_argument("--list", action="store_true")
    parser.error = lambda text: fail(f"{text} (see c2emu help sweep)")
    given = parser.parse_args()
    if given.cores < 1:
        fail("--cores: at least 1")
    if given.sbatch and not given.slurm:
        fail("--sbatch is for --slurm")
    return given


def need(program, package):
    found = shutil.which(program)
    if not found:
        fail(f"{program} is not there: apt-get install {package}")
    return found


def write_if_new(path, text):
    """A file's time is that of its last change."""
    try:
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
    except OSError:
        pass
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)


def describe(study, directory, c2emu):
    for name in ("runs", "descriptions"):
        os.makedirs(os.path.join(directory, name), exist_ok=True)
    for run in study["runs"]:
        write_if_new(os.path.join(directory, "descriptions", run["id"] + ".json"), json.dumps(run, indent=1) + "\n")
    plan = {"runs": study["runs"], "retries": study["retries"], "python": sys.executable, "c2emu": c2emu,
            "execute": os.path.join(HERE, "execute.py")}
    write_if_new(os.path.join(directory, "plan.json"), json.dumps(plan) + "\n")


def is_done(run, directory):
    return os.path.exists(os.path.join(directory, "runs", run["id"] + ".json"))


def snakemake(given, directory):
    words = [need("snakemake", "snakemake"), "--snakefile", os.path.join(HERE, "Snakefile"), "--directory", directory,
             "--rerun-triggers", "mtime", "--rerun-incomplete", "--nolock", "--keep-going", "--nocolor"]
    if not given.slurm:
        return words + ["--cores", str(given.cores)]
    need("sbatch", "slurm-client")
    sbatch = (f"sbatch --parsable --requeue --cpus-per-task {{threads}} --output {directory}/slurm-%j.log "
              f"--job-name c2emu-{{wildcards.id}} {given.sbatch}")
    return words + ["--jobs", str(max(given.cores, 64)), "--cluster", sbatch, "--latency-wait", "60",
                    "--cluster-status", os.path.join(HERE, "slurm_status.py"), "--max-status-checks-per-second", "2"]


def progress(text, total, before, shown):
    """Of one line of Snakemake's: what is done, in our words. Returns how much was shown."""
    counted = re.match(r"(\d+) of (\d+) steps", text)
    done = min(before + int(counted[1]), total) if counted else shown
    if done > shown:
        print(f"sweep: {done} of {total} runs done", file=sys.stderr, flush=True)
    return done


def schedule(given, study, directory):
    before = sum(is_done(run, directory) for run in study["runs"])
    total = len(study["runs"])
    if before:
        print(f"sweep: {before} of {total} runs were done before", file=sys.stderr, flush=True)
    with open(os.path.join(directory, "snakemake.log"), "w", encoding="utf-8") as log:
        with subprocess.Popen(snakemake(given, directory), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL, text=True) as child:
            shown = before
            for line in child.stdout:
                log.write(line)
                log.flush()
                shown = progress(line, total, before, shown)
    return child.returncode


def last_words(run, directory):
    try:
        with open(os.path.join(directory, "runs", run["id"] + ".log"), encoding="utf-8", errors="replace") as file:
            lines = [line.strip() for line in file if line.strip()]
            return lines[0] if lines else "it said nothing"
    except OSError:
        return "it did not begin; see snakemake.log"


def show_list(study):
    for run in study["runs"]:
        print(f"{run['id']}  {len(run['cells'])} cells: c2emu {' '.join(run['words'])} -- "
              f"{' '.join(run['program']['command'])}")
    print(f"{len(study['runs'])} runs, {sum(len(run['cells']) for run in study['runs'])} cells")


def main():
    given = arguments()
    c2emu = os.environ["C2EMU_PROGRAM"]
    try:
        study = studies.read(given.study, given.cores)
    except studies.Wrong as wrong:
        fail(wrong)
    if given.list:
        show_list(study)
        return 0
    directory = os.path.abspath(given.output or study["name"] + ".sweep")
    os.makedirs(directory, exist_ok=True)
    lock = open(os.path.join(directory, "lock"), "w", encoding="utf-8")  # the kernel lets go of it, whatever happens
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        fail(f"another sweep works in {directory}")
    describe(study, directory, c2emu)
    status = schedule(given, study, directory)
    done = [run for run in study["runs"] if is_done(run, directory)]
    try:
        cells = collect.collect(study, directory, done)
    except collect.Mismatch as wrong:
        fail(wrong)
    for run in study["runs"]:
        if not is_done(run, directory):
            print(f"c2emu: sweep: {run['id']} failed: {last_words(run, directory)}", file=sys.stderr)
    shown = os.path.relpath(directory)
    print(f"{cells} cells of {len(done)} of {len(study['runs'])} runs: {shown}/results.csv, results.sqlite, "
          "results.html")
    if len(done) < len(study["runs"]):
        return FAILED
    if status:
        fail(f"Snakemake has failed, see {shown}/snakemake.log")
    return 0


sys.exit(main())
