# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads what c2emu writes: reports, results of sweeps and of --vary-csv, and what a recording is made of.

    import c2emu
    report = c2emu.load("report.json")
    for row in report.lines():
        print(row["file"], row["line"], row["cost"])
    report.objects().frame()

Tables are lists of flat dictionaries: what a report has of each level is there as "L1D.misses". A key that a row does
not have was not part of the run. frame() makes a DataFrame of a table; pandas is imported then, and nothing else that
is not Python's own. docs/reports.md says what the keys mean, docs/python.md has examples.
"""

import csv
import json
import os
import re
import sqlite3
import struct
import subprocess
import tempfile

FORMAT, VERSION = "c2emu-report", 1
# What has to be asked for, and the option that does.
OPTIONS = {"loops": "--by loop", "windows": "--windows auto", "lanes": "--vary, or -m several times",
           "objects": "no --no-attribution", "functions": "no --no-attribution", "lines": "no --no-attribution",
           "conflicts": "no --no-attribution", "findings": "no --no-findings", "levels": "no --no-sim",
           "tlb": "a machine with TLBs", "cost": "no --no-attribution", "receipt": "--json"}


class Error(Exception):
    """What is no file of c2emu, or cannot be read; the text names it."""


class Missing(Error, KeyError):
    """The run did not collect it; the text names the option that does."""

    __str__ = Exception.__str__


class Rows(list):
    """Flat dictionaries."""

    def frame(self):
        """A pandas.DataFrame. Columns are all keys, in the order in which they are met."""
        import pandas
        return pandas.DataFrame(list(self), columns=list(dict.fromkeys(key for row in self for key in row)))


def flat(row):
    """Members of a row, and of what it has of each level as LEVEL.KEY; of places as KEY.KEY. Lists of others are left
    out."""
    out = {}
    for key, value in row.items():
        if key == "rest" and isinstance(value, dict):
            out["rest"] = next(iter(value.values()))
        elif key == "levels":
            for level in value:
                out.update({f"{level['name']}.{name}": part for name, part in level.items()
                            if name != "name" and not isinstance(part, (dict, list))})
        elif isinstance(value, dict):
            out.update({f"{key}.{name}": part for name, part in value.items() if not isinstance(part, (dict, list))})
        elif not isinstance(value, list):
            out[key] = value
    return out


class Report:
    """A report of one run. `data` is all of it, as docs/reports.md has it."""

    def __init__(self, data, name="the report"):
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise Error(f"{name} is no report of c2emu (--json writes one)")
        if data.get("version") != VERSION:
            raise Error(f"{name} has version {data.get('version')!r}; this reader knows {VERSION}")
        self.data, self.name = data, name

    def __getitem__(self, key):
        if key not in self.data:
            with_option = f": it needs {OPTIONS[key]}" if key in OPTIONS else ""
            raise Missing(f"{self.name} has no {key}{with_option}")
        return self.data[key]

    def __contains__(self, key):
        return key in self.data

    @property
    def slim(self):
        """Whether rankings have their first rows alone; --json-full has them all."""
        return self.data.get("slim", False)

    @property
    def command(self):
        return self["command"]

    @property
    def instructions(self):
        """That were measured; of a run without simulation, all of them."""
        run = self["run"]
        return run.get("measured", run)["instructions"]

    def _ranking(self, key, rest):
        return Rows(flat(row) for row in self[key] if rest or "rest" not in row)

    # The rankings, dearest first. The last row stands for all that are not listed and has their number as "rest", so
    # that sums are whole; with rest=False it is left out.

    def objects(self, rest=True):
        return self._ranking("objects", rest)

    def functions(self, rest=True):
        return self._ranking("functions", rest)

    def lines(self, rest=True):
        return self._ranking("lines", rest)

    def loops(self, rest=True):
        return self._ranking("loops", rest)

    def conflicts(self, rest=True):
        """A row for each victim; of who evicted it, `evictor` and `reason` of the most frequent one."""
        rows = Rows()
        for conflict in self["conflicts"]:
            if rest or "rest" not in conflict:
                row = {**flat({**conflict, "rest": conflict["rest"]["misses"]} if "rest" in conflict else conflict)}
                by = conflict.get("originators", [{}])[0]
                rows.append({**row, **{to: by[key] for to, key in (("evictor", "object"), ("reason", "reason"))
                                       if key in by}})
        return rows

    def levels(self):
        return Rows({key: value for key, value in row.items() if not isinstance(value, dict)} for row in self["levels"])

    def tlb(self):
        return Rows(flat(row) for row in self["tlb"])

    def findings(self):
        """`where.file`, `where.line` ...: the place; `evidence.misses` ...: what the sentence is made of."""
        return Rows(flat(row) for row in self["findings"])

    def lanes(self):
        """A row a machine: its name, cost and counts."""
        return Rows(flat({key: value for key, value in lane.items() if key != "machine"} |
                         {"machine": lane["machine"]["name"]}) for lane in self["lanes"])

    def windows(self):
        """A row a window: `start`, `measured.instructions`, `L1D.misses` ..."""
        return Rows(flat(row) for row in self["windows"])

    def cost(self):
        return {key: value for key, value in self["cost"].items() if not isinstance(value, list)}


# ---------------------------------------------------------------- tables in files

def number(text):
    """What a cell is: an integer, a decimal, None where it is empty, else the text, as of what begins with a 0."""
    if text == "":
        return None
    if re.fullmatch(r"-?(0|[1-9][0-9]*)", text):
        return int(text)
    return float(text) if re.fullmatch(r"-?(0|[1-9][0-9]*)\.[0-9]+", text) else text


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        return Rows({key: number(value) for key, value in row.items()} for row in csv.DictReader(file))


def read_sqlite(path):
    """The cells of results.sqlite, in its order."""
    base = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        base.row_factory = sqlite3.Row
        return Rows({key: number(value) if isinstance(value, str) else value for key, value in dict(row).items()}
                    for row in base.execute("SELECT * FROM cells ORDER BY rowid"))
    except sqlite3.Error as why:
        raise Error(f"{path} has no results of a sweep: {why}") from why
    finally:
        base.close()


# ---------------------------------------------------------------- recordings

MAGIC = b"\x89C2REC\r\n"
RECORDING = 5 # version of docs/recording.md


class Recording:
    """A file of --record. Python has no zstd: of its chunks it has the sizes, and of the run what c2emu finds when it
    plays it."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            head = file.read(12)
        if len(head) < 12 or head[:8] != MAGIC:
            raise Error(f"{path} is no recording of c2emu (--record makes one)")
        self.version = struct.unpack("<I", head[8:])[0]
        if self.version != RECORDING:
            raise Error(f"{path} has version {self.version}; this reader knows {RECORDING}")

    def chunks(self):
        """`offset` of each chunk in the file, `bytes` of its frame, `content` bytes in it."""
        rows, at, size = Rows(), 12, os.path.getsize(self.path)
        with open(self.path, "rb") as file:
            while at < size:
                file.seek(at)
                head = file.read(4 + 18)
                length = struct.unpack("<I", head[:4])[0] if len(head) >= 4 else size
                if at + 4 + length > size:
                    raise Error(f"{self.path} ends within a chunk, at byte {at}")
                rows.append({"offset": at, "bytes": length, "content": content_size(head[4:], self.path)})
                at += 4 + length
        return rows

    def report(self, *options, program="c2emu"):
        """What `c2emu replay` says of it, whole: a Report."""
        return _report([program, "replay"], [*options, self.path])


def content_size(frame, name):
    """RFC 8878, 3.1.1.1: a frame says how much is in it."""
    if frame[:4] != b"\x28\xb5\x2f\xfd":
        raise Error(f"{name} has a chunk that is no frame of zstd")
    descriptor = frame[4]
    single, kind = descriptor >> 5 & 1, descriptor >> 6
    at = 5 + (0 if single else 1) + (0, 1, 2, 4)[descriptor & 3]
    width = (1 if single else 0, 2, 4, 8)[kind]
    if width == 0:
        raise Error(f"{name} has a frame that does not say how much is in it")
    return int.from_bytes(frame[at:at + width], "little") + (256 if width == 2 else 0)


# ---------------------------------------------------------------- runs and files

def _report(before, behind, **streams):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "report.json")
        done = subprocess.run([*before, "-q", "--json-full", path, *behind], check=False, stderr=subprocess.PIPE,
                              **{"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, **streams})
        if not os.path.exists(path):
            raise Error(done.stderr.decode(errors="replace").strip() or f"{before[0]} wrote no report")
        with open(path, encoding="utf-8") as file:
            return Report(json.load(file))


def run(command, *options, program="c2emu", **streams):
    """Runs a command in c2emu, and returns its whole Report. streams: stdin, stdout and cwd as subprocess.run has them;
    else it reads nothing, and what it writes is dropped."""
    return _report([program], [*options, "--", *command], **streams)


def load(path):
    """A file of c2emu by what is in it: a Report; Rows of a CSV file, or of results.sqlite; a Recording. Of a directory
    that `c2emu sweep` has made its results."""
    path = os.fspath(path)
    if os.path.isdir(path):
        path = os.path.join(path, "results.sqlite")
    try:
        with open(path, "rb") as file:
            head = file.read(16)
    except OSError as why:
        raise Error(f"{path} cannot be read: {why.strerror}") from why
    if head.startswith(b"SQLite format 3\0"):
        return read_sqlite(path)
    if head.startswith(MAGIC):
        return Recording(path)
    if path.endswith(".csv"):
        return read_csv(path)
    try:
        with open(path, encoding="utf-8") as file:
            return Report(json.load(file), path)
    except ValueError as why:
        raise Error(f"{path} is no JSON: {why}") from why
