#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""sweep.py cells|results|resume|errors|slurm: `c2emu sweep`.

cells    how grids and lists become runs and cells
results  rows against runs of c2emu, one by one, without sweep
resume   a sweep that is killed goes on, and makes no run twice that was done
errors   studies that are wrong, and runs that fail
slurm    on two nodes of a Slurm of the test's own, one of which is lost amid the runs
"""

import csv
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

C2EMU = os.path.abspath(os.environ["C2EMU"])
IMAGES = os.environ["IMAGES"]
failed = []


def expect(what, is_so, wanted):
    if is_so != wanted:
        failed.append(what)
        print(f"{what}\n  is      {is_so!r}\n  wanted  {wanted!r}")


def write(place, name, text):
    path = os.path.join(place, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def sweep(place, *words, environment=None):
    done = subprocess.run([C2EMU, "sweep", *words], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=800, check=False, env=environment or os.environ)
    return done.returncode, done.stdout, done.stderr


def rows_of(directory):
    with open(os.path.join(directory, "results.csv"), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


STUDY = f"""
name = "two"
[programs]
transpose = ["{IMAGES}/transpose"]
column = {{ command = "{IMAGES}/column 10" }}
[grid]
machine = ["teach", "c2sim"]
pages = ["random", "buddy,age=0.5"]
pages_seed = "1..3"
seed = [5, 6]
[grid.set]
"L2.ways" = [4, 8]
[grid.options]
roi = "main"
[[cells]]
program = "column"
machine = "zen3"
"""


# ---------------------------------------------------------------- cells

def listed(place, text, *words):
    status, out, err = sweep(place, "--list", *words, write(place, "study.toml", text))
    expect("--list", (status, err), (0, ""))
    return [re.sub(r"^(\w+)-[0-9a-f]{12}  ", r"\1: ", line) for line in out.splitlines()]


def cells():
    with tempfile.TemporaryDirectory() as place:
        varied = "--machine=teach --machine=c2sim --vary=L2.ways=4,8 --vary=pages=random,buddy,age=0.5 " \
                 "--vary=pages.seed=1,2,3"
        runs = [f"{name}: 24 cells: c2emu --quiet {varied} --seed={seed} --roi=main -- {IMAGES}/{words}"
                for name, words in (("transpose", "transpose"), ("column", "column 10")) for seed in (5, 6)]
        runs.append(f"column: 1 cells: c2emu --quiet --machine=zen3 -- {IMAGES}/column 10")
        expect("a grid and a list", listed(place, STUDY), [*runs, "5 runs, 97 cells"])
        base = f'[programs]\na = ["{IMAGES}/column"]\n'
        # No more lanes than asked for: products of at most five, which together are all of it.
        parts = listed(place, "lanes = 5\n" + base + '[grid]\nmachine = ["teach", "c2sim"]\npages_seed = "1..8*2"\n'
                       + 'pages = "random"\n')
        expect("lanes", [line.split(" -- ")[0] for line in parts], [
            "a: 4 cells: c2emu --quiet --machine=teach --vary=pages=random --vary=pages.seed=1,2,4,8",
            "a: 4 cells: c2emu --quiet --machine=c2sim --vary=pages=random --vary=pages.seed=1,2,4,8",
            "2 runs, 8 cells"])
        parts = listed(place, base + '[grid]\npages = "random"\npages_seed = "1..600"\n')
        expect("more than one execution takes", [re.sub(r"--vary=pages.seed=(\d+),.*,(\d+) .*", r"\1 to \2", line)
                                                 for line in parts], [
            "a: 256 cells: c2emu --quiet --vary=pages=random 1 to 256",
            "a: 256 cells: c2emu --quiet --vary=pages=random 257 to 512",
            "a: 88 cells: c2emu --quiet --vary=pages=random 513 to 600",
            "3 runs, 600 cells"])


# ---------------------------------------------------------------- results

def report_of(words, place):
    path = os.path.join(place, "one.json")
    with open(path + ".out", "wb") as out:  # a file, as a run of a sweep has: the C library buffers by what it is
        subprocess.run([C2EMU, "--quiet", f"--json={path}", *words], check=True, stdin=subprocess.DEVNULL, stdout=out,
                       cwd=place)
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def compare_row(row, place):
    words = [f"--machine={row['machine']}"]
    if row["pages"]:
        words.append(f"--pages={row['pages']},seed={row['pages_seed']}")
        words += [f"--set=L2.ways={row['set.L2.ways']}", f"--seed={row['seed']}", f"--roi={row['--roi']}"]
    report = report_of([*words, *row["command"].split()], place)
    what = " ".join(words)
    expect(f"{what}: cost", row["cost"], str(report["cost"]["cost"]))
    expect(f"{what}: instructions", row["instructions"], str(report["run"]["measured"]["instructions"]))
    for level in report["levels"]:
        for counter in ("accesses", "misses", "cold", "capacity", "conflict", "writebacks"):
            name = f"{level['name']}.{counter}"
            expect(f"{what}: {name}", row[name], str(level[counter]))


def results():
    with tempfile.TemporaryDirectory() as place:
        status, out, err = sweep(place, write(place, "study.toml", STUDY))
        expect("a sweep", (status, out), (0, "97 cells of 5 of 5 runs: two.sweep/results.csv, results.sqlite, "
                                             "results.html\n"))
        expect("progress", err.splitlines(), [f"sweep: {i} of 5 runs done" for i in range(1, 6)])
        rows = rows_of(os.path.join(place, "two.sweep"))
        expect("rows", len(rows), 97)
        key = lambda row: tuple(row[name] for name in ("program", "machine", "set.L2.ways", "pages", "pages_seed",
                                                       "seed"))
        expect("each cell once", len({key(row) for row in rows}), 97)
        for row in rows[::13] + rows[-1:]:
            compare_row(row, place)
        base = sqlite3.connect(os.path.join(place, "two.sweep", "results.sqlite"))
        found = base.execute('SELECT program, machine, "L2.misses", receipt FROM cells').fetchall()
        expect("SQLite", [tuple(map(str, row)) for row in found],
               [(row["program"], row["machine"], row["L2.misses"], row["receipt"]) for row in rows])
        expect("receipts", base.execute("SELECT count(*) FROM receipts").fetchone()[0],
               len({row["receipt"] for row in rows}))
        base.close()
        with open(os.path.join(place, "two.sweep", "results.html"), encoding="utf-8") as file:
            page = file.read()
        expect("dots of cost", page.split("<h2>cost</h2>")[1].split("</svg>")[0].count("<circle"), 97)
        # A report of a sweep can be made again.
        report = os.path.join(place, "two.sweep", rows[-1]["report"])
        again = subprocess.run([C2EMU, "verify", report], stdout=subprocess.PIPE, text=True, check=False)
        expect("verify", (again.returncode, again.stdout[:6]), (0, "equal:"))


# ---------------------------------------------------------------- resume

SLOW = """
name = "slow"
threads = 1
[programs]
loop = ["/bin/sh", "-c", "i=0; while [ $i -lt 6000 ]; do i=$((i+1)); done"]
[grid]
seed = "1..4"
"""


def done_runs(directory):
    try:
        names = os.listdir(os.path.join(directory, "runs"))
    except FileNotFoundError:
        return {}
    return {name: os.stat(os.path.join(directory, "runs", name)).st_mtime_ns for name in names
            if re.fullmatch(r"loop-\w+\.json", name)}


def wait_until(what, condition, seconds=300):
    begin = time.monotonic()
    while not condition():
        if time.monotonic() > begin + seconds:
            raise SystemExit(f"this never came: {what}")
        time.sleep(0.1)


def kill_all(group):
    """The sweep with its scheduler and its runs, as a power cut would."""
    os.killpg(group, signal.SIGKILL)


def resume():
    with tempfile.TemporaryDirectory() as place:
        study, directory = write(place, "study.toml", SLOW), os.path.join(place, "slow.sweep")
        first = subprocess.Popen([C2EMU, "sweep", "--cores", "1", study], cwd=place, start_new_session=True,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until("two runs", lambda: len(done_runs(directory)) >= 2)
        status, _, err = sweep(place, study)
        expect("two at once", (status, err), (125, f"c2emu: sweep: another sweep works in {directory}\n"))
        kill_all(first.pid)
        first.wait()
        before = done_runs(directory)
        expect("not all was done", len(before) < 4, True)
        status, out, err = sweep(place, "--cores", "1", study)
        expect("it goes on", (status, out.split(":")[0]), (0, "4 cells of 4 of 4 runs"))
        expect("what was done", err.splitlines()[0], f"sweep: {len(before)} of 4 runs were done before")
        after = done_runs(directory)
        expect("nothing is made twice", {name: after[name] for name in before}, before)
        left = [name for name in os.listdir(os.path.join(directory, "runs")) if "partial" in name]
        expect("nothing half done is left", left, [])


# ---------------------------------------------------------------- errors

WRONG = [
    ('[programs]\na = ["/bin/true"]\n[grid]\nmachin = "teach"\n', "grid: unknown key machin (did you mean machine?)"),
    ('[programs]\na = ["/bin/nonesuch"]\n', "programs.a: there is no program /bin/nonesuch"),
    ('[programs]\na = []\n', 'programs.a: the command is a list of words, ["./a.out", "100"]'),
    ('[programs]\na = "/bin/true"\n[grid]\nseed = [1, 1]\n', "grid.seed: a value is there twice"),
    ('[programs]\na = "/bin/true"\n[grid]\nseed = "0..8*2"\n', "grid.seed: 0..8*2 has no end"),
    ('[programs]\na = "/bin/true"\n[grid]\nprogram = "b"\n', "grid.program: there is no program b"),
    ('[programs]\na = "/bin/true"\n[[cells]]\nseed = 1\n[[cells]]\nseed = [1, 2]\n',
     'this cell is there twice: {"program": "a", "seed": "1"}'),
    ('[programs]\na = "/bin/true"\n[grid.options]\njson = "x"\n',
     "grid.options.json: the sweep gives this option itself; see docs/sweep.md"),
    ('lanes = 257\n[programs]\na = "/bin/true"\n', "lanes: a whole number from 1 to 256"),
    ("[grid]\n", 'no programs: [programs] with a line such as naive = ["./transpose", "naive"]'),
    ("[programs\n", "Expected ']' at the end of a table declaration (at line 1, column 10)"),
]


def errors():
    with tempfile.TemporaryDirectory() as place:
        for text, message in WRONG:
            path = write(place, "wrong.toml", text)
            status, out, err = sweep(place, path)
            expect(text, (status, out, err.replace(path + ": ", "", 1)), (125, "", f"c2emu: sweep: {message}\n"))
        expect("no file is left", os.listdir(place), ["wrong.toml"])
        # One machine is not there: its run fails, the other is done, and is not done again.
        both = 'name = "half"\nretries = 0\n[programs]\na = "/bin/true"\n[[cells]]\nmachine = "teach"\n' \
               '[[cells]]\nmachine = "nonesuch"\n'
        for _ in range(2):
            status, out, err = sweep(place, write(place, "half.toml", both))
            expect("half of it", (status, out.split(":")[0]), (125, "1 cells of 1 of 2 runs"))
            expect("why", 'failed: c2emu: there is no machine "nonesuch"' in err, True)


# ---------------------------------------------------------------- slurm

def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def start_slurm(place):
    """A controller and two nodes of two processors on this host; the processes, by name."""
    host, user = socket.gethostname().split(".")[0], "root" if os.geteuid() == 0 else os.environ.get("USER", "nobody")
    for name in ("state", "spool.n1", "spool.n2"):
        os.mkdir(os.path.join(place, name))
    conf = write(place, "slurm.conf", f"""
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/none
AuthInfo=cred_expire=10
CredType=cred/none
CryptoType=crypto/none
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={free_port()}
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool.%n
SlurmctldPidFile={place}/ctld.pid
SlurmdPidFile={place}/slurmd.%n.pid
SlurmctldLogFile={place}/ctld.log
SlurmdLogFile={place}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=2
MpiDefault=none
ReturnToService=2
SlurmdTimeout=5
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={free_port()} CPUs=2
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={free_port()} CPUs=2
PartitionName=all Nodes=n1,n2 Default=YES State=UP
""")
    write(place, "cgroup.conf", "CgroupPlugin=cgroup/v1\n")  # nothing here uses it; to look for it needs a cgroup mount
    os.environ["SLURM_CONF"] = conf
    daemons = {"ctld": ["slurmctld", "-D"], "n1": ["slurmd", "-D", "-N", "n1"], "n2": ["slurmd", "-D", "-N", "n2"]}
    path = os.environ["PATH"] + ":/usr/sbin"
    return {name: subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                                   env={**os.environ, "PATH": path}) for name, words in daemons.items()}


def squeue(*words):
    return subprocess.run(["squeue", "-h", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=False).stdout.split()


def lose_node(daemons, place):
    """All processes of node n2 end at once."""
    daemons["n2"].kill()
    daemons["n2"].wait()
    jobs = squeue("-w", "n2", "-o", "%A")
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                environment = file.read()
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                command = file.read().decode(errors="replace")
        except OSError:
            continue
        step = any(command.startswith(f"slurmstepd: [{job}.") for job in jobs)
        if step or (b"SLURMD_NODENAME=n2\0" in environment and place.encode() in environment):
            try:
                os.kill(int(pid), signal.SIGKILL)
            except OSError:
                pass
    return jobs


def slurm():
    with tempfile.TemporaryDirectory() as place:
        daemons = start_slurm(place)
        try:
            wait_until("two idle nodes", lambda: subprocess.run(["sinfo", "-h", "-o", "%D %t"], stdout=subprocess.PIPE,
                                                                stderr=subprocess.DEVNULL, text=True,
                                                                check=False).stdout == "2 idle\n", 60)
            study = write(place, "study.toml", SLOW.replace("6000", "9000"))
            run = subprocess.Popen([C2EMU, "sweep", "--slurm", study], cwd=place, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
            wait_until("a run on each node", lambda: squeue("-w", "n1", "-t", "R", "-o", "%A") and
                       squeue("-w", "n2", "-t", "R", "-o", "%A"))
            lost = lose_node(daemons, place)
            out, err = run.communicate(timeout=700)
            expect("the sweep", (run.returncode, out.split(":")[0]), (0, "4 cells of 4 of 4 runs"))
            expect("progress", err.splitlines()[-1:], ["sweep: 4 of 4 runs done"])
            expect("runs that were lost", len(lost) > 0, True)
            with open(os.path.join(place, "ctld.log"), encoding="utf-8") as file:
                log = file.read()
            again = re.findall(r"[Rr]equeu\w* .*?JobId=(\d+)|JobId=(\d+).*?[Rr]equeu", log)
            expect("they began again", bool({job for pair in again for job in pair} & set(lost)), True)
            alone = report_of(["--seed=2", "--", "/bin/sh", "-c", "i=0; while [ $i -lt 9000 ]; do i=$((i+1)); done"],
                              place)
            row = next(row for row in rows_of(os.path.join(place, "slow.sweep")) if row["seed"] == "2")
            expect("cost", row["cost"], str(alone["cost"]["cost"]))
        finally:
            for daemon in daemons.values():
                daemon.terminate()
            for daemon in daemons.values():
                daemon.wait()


if sys.argv[1] == "slurm" and not shutil.which("sbatch"):
    raise SystemExit("sbatch is not there: the packages of the tests are those of cmake/setup.sh")
{"cells": cells, "results": results, "resume": resume, "errors": errors, "slurm": slurm}[sys.argv[1]]()
sys.exit(1 if failed else 0)
