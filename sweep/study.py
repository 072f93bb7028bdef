# SPDX-License-Identifier: GPL-2.0-or-later
"""A study: a TOML file (docs/sweep.md) made into cells and runs.

A cell is one program under one machine, placement and set of options. A run is one execution of c2emu; it serves all
cells that differ in what is simulated only, as `-m` and `--vary` make them from one execution, side by side.
"""

import difflib
import hashlib
import itertools
import json
import os
import re
import shutil
import tomllib

LANES = 256  # of one run, at most: more go side by side (--vary), but a run that stops begins anew

# What the cells of one run may differ in, in the order in which c2emu makes combinations, and the word of --vary.
VARIED = ("machine", "set", "pages", "pages_seed", "huge")


class Wrong(Exception):
    """The study is wrong: one sentence that names the place and the remedy."""


def check_keys(table, known, where):
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f" (did you mean {near[0]}?)" if near else f"; there are {', '.join(known)}"
            raise Wrong(f"{where}: unknown key {key}{hint}")


def values(value, where):
    """The values of an axis: one, a list, or whole numbers as "1..32" or "8..64*2"."""
    listed = value if isinstance(value, list) else [value]
    out = []
    for item in listed:
        if isinstance(item, bool) or not isinstance(item, (str, int, float)):
            raise Wrong(f"{where}: {item!r} is no text and no number")
        numbers = re.fullmatch(r"(\d+)\.\.(\d+)(?:([+*])(\d+))?", item) if isinstance(item, str) else None
        if not numbers:
            out.append(str(item))
            continue
        first, last, sign, step = int(numbers[1]), int(numbers[2]), numbers[3] or "+", int(numbers[4] or 1)
        if step < (2 if sign == "*" else 1) or (sign == "*" and first == 0):
            raise Wrong(f"{where}: {item} has no end")
        while first <= last:
            out.append(str(first))
            first = first * step if sign == "*" else first + step
    if not out:
        raise Wrong(f"{where}: no value")
    if len(set(out)) < len(out):
        raise Wrong(f"{where}: a value is there twice")
    return out


def read_program(name, value, base):
    where = f"programs.{name}"
    table = value if isinstance(value, dict) else {"command": value}
    check_keys(table, ("command", "stdin", "directory"), where)
    command = table.get("command")
    if isinstance(command, str):
        command = command.split()
    if not isinstance(command, list) or not command or not all(isinstance(word, str) for word in command):
        raise Wrong(f"{where}: the command is a list of words, [\"./a.out\", \"100\"]")
    directory = os.path.join(base, table.get("directory", ""))
    if not os.path.isdir(directory):
        raise Wrong(f"{where}: there is no directory {directory}")
    stdin = os.path.join(base, table["stdin"]) if "stdin" in table else None
    if stdin and not os.path.isfile(stdin):
        raise Wrong(f"{where}: there is no file {stdin}")
    found = os.path.join(directory, command[0]) if "/" in command[0] else shutil.which(command[0])
    if not found or not os.access(found, os.X_OK):
        raise Wrong(f"{where}: there is no program {command[0]}")
    return {"name": name, "command": command, "directory": os.path.realpath(directory), "stdin": stdin,
            "file": os.path.realpath(found)}


AXES = ("program", "machine", "set", "pages", "pages_seed", "huge", "seed", "options")


def read_axes(table, programs, where):
    """[(name, [value ...])], of what one table of a study gives; absent ones have the one value None."""
    check_keys(table, AXES, where)
    axes = []
    for name in ("program", "machine", "pages", "pages_seed", "huge", "seed"):
        given = values(table[name], f"{where}.{name}") if name in table else [None]
        axes.append((name, given))
    if axes[0][1] == [None]:
        axes[0] = ("program", list(programs))
    for program in axes[0][1]:
        if program not in programs:
            near = difflib.get_close_matches(program, programs, 1)
            raise Wrong(f"{where}.program: there is no program {program}"
                        + (f" (did you mean {near[0]}?)" if near else ""))
    for kind in ("set", "options"):
        if not isinstance(table.get(kind, {}), dict):
            raise Wrong(f"{where}.{kind}: a table of keys and values")
        for key, value in table.get(kind, {}).items():
            if kind == "options" and value is True:
                axes.append((f"--{key}", [True]))
            else:
                axes.append((("set." if kind == "set" else "--") + key, values(value, f"{where}.{kind}.{key}")))
    return axes


OWN = ("json", "output", "machine", "vary", "set", "pages", "huge", "seed", "quiet", "html")


def check_options(axes, where):
    for name, _ in axes:
        if name.startswith("--") and name[2:] in OWN:
            raise Wrong(f"{where}.options.{name[2:]}: the sweep gives this option itself; see docs/sweep.md")


def cells_of(axes):
    names = [name for name, _ in axes]
    return [{name: value for name, value in zip(names, point) if value is not None}
            for point in itertools.product(*(given for _, given in axes))]


def is_varied(name):
    return name in VARIED or name.startswith("set.")


def split(axes, most):
    """Products of at most so many points each, which together are the product of the axes."""
    for i, (name, given) in enumerate(axes):
        rest = 1
        for _, others in axes[i + 1:]:
            rest *= len(others)
        if len(given) * rest <= most and i == 0:
            return [axes]
        size = max(1, most // rest)
        parts = [[(name, given[k:k + size])] for k in range(0, len(given), size)]
        if rest <= most:
            return [part + list(axes[1:]) for part in parts]
        tails = split(axes[1:], most)
        return [[(name, [one])] + tail for one in given for tail in tails]
    return [[]]


def lane_order(axes):
    """Axes in the order of c2emu's combinations: machines, then what is varied, as on its command line."""
    rank = {"machine": 0, "pages": 2, "pages_seed": 3, "huge": 4}
    return sorted(axes, key=lambda axis: rank.get(axis[0], 1))


def run_of(study, fixed, axes):
    """One execution: its words for c2emu, and its cells in the order of its lanes."""
    program = study["programs"][fixed["program"]]
    words = ["--quiet"]
    for name, given in axes:
        if name == "machine" and given != [None]:
            words += [f"--machine={value}" for value in given]
    varied = [(name, given) for name, given in axes if name != "machine" and given != [None]]
    for name, given in varied:
        key = name.removeprefix("set.") if name.startswith("set.") else name.replace("_", ".")
        words.append(f"--vary={key}={','.join(given)}")
    if "seed" in fixed:
        words.append(f"--seed={fixed['seed']}")
    for name, value in fixed.items():
        if name.startswith("--"):
            words.append(name if value is True else f"{name}={value}")
    cells = [{**fixed, **cell} for cell in cells_of(axes)]
    text = json.dumps([words, program], sort_keys=True)
    name = f"{fixed['program']}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    return {"id": re.sub(r"[^\w.-]", "_", name), "words": words, "program": program, "cells": cells,
            "threads": min(len(cells), study["threads"])}


def runs_of(study, axes):
    outer = [axis for axis in axes if not is_varied(axis[0])]
    inner = lane_order([axis for axis in axes if is_varied(axis[0])])
    return [run_of(study, fixed, part) for fixed in cells_of(outer) for part in split(inner, study["lanes"])]


def whole(table, key, usual, most, where):
    value = table.get(key, usual)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise Wrong(f"{where}{key}: a whole number from 1 to {most}")
    return value


def read(path, cores):
    """The study of a file, as a dictionary: name, programs, runs."""
    try:
        with open(path, "rb") as file:
            table = tomllib.load(file)
    except OSError as error:
        raise Wrong(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Wrong(f"{path}: {error}") from None
    check_keys(table, ("name", "programs", "grid", "cells", "lanes", "threads", "retries"), path)
    base = os.path.dirname(os.path.abspath(path))
    if not isinstance(table.get("programs"), dict) or not table["programs"]:
        raise Wrong(f"{path}: no programs: [programs] with a line such as naive = [\"./transpose\", \"naive\"]")
    study = {"name": str(table.get("name", os.path.splitext(os.path.basename(path))[0])),
             "programs": {name: read_program(name, value, base) for name, value in table["programs"].items()},
             "lanes": whole(table, "lanes", LANES, LANES, f"{path}: "),
             "threads": whole(table, "threads", min(cores, 4), 256, f"{path}: "),
             "retries": table.get("retries", 1)}
    if not isinstance(study["retries"], int) or not 0 <= study["retries"] <= 100:
        raise Wrong(f"{path}: retries: a whole number from 0 to 100")
    tables = [("grid", table["grid"])] if "grid" in table else []
    listed = table.get("cells", [])
    if not isinstance(listed, list) or not all(isinstance(cell, dict) for cell in listed):
        raise Wrong(f"{path}: cells: tables, each under a line [[cells]]")
    tables += [(f"cells[{i + 1}]", cell) for i, cell in enumerate(listed)]
    runs, seen = [], set()
    for where, given in tables or [("grid", {})]:
        axes = read_axes(given, study["programs"], f"{path}: {where}")
        check_options(axes, f"{path}: {where}")
        runs += runs_of(study, axes)
    for run in runs:
        for cell in run["cells"]:
            text = json.dumps(cell, sort_keys=True)
            if text in seen:
                raise Wrong(f"{path}: this cell is there twice: {text}")
            seen.add(text)
    study["runs"] = runs
    return study
