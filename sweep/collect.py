# SPDX-License-Identifier: GPL-2.0-or-later
"""The results of a sweep: a row a cell, as CSV, as a table of SQLite, and a page of how they are distributed."""

import csv
import glob
import hashlib
import html
import json
import os
import sqlite3
import statistics

COUNTERS = ("accesses", "misses", "cold", "capacity", "conflict", "coherence", "writebacks")


class Mismatch(Exception):
    """A report is not that of its run."""


def lanes_of(report):
    """What was simulated, in order: each with levels, walks and cost."""
    if "lanes" in report:
        return report["lanes"]
    cost = report["cost"]["cost"] if "cost" in report else None
    return [{"name": "", "levels": report["levels"], "walks": report.get("walks"), "cost": cost,
             "machine": report["machine"], "pages": report["pages"]}]


def check_lane(lane, cell, path):
    """That the lane is the cell's: every value that its name has is one of the cell's."""
    words = dict(word.split("=", 1) for word in lane["name"].split() if "=" in word)
    for key, value in words.items():
        name = {"pages": "pages", "pages.seed": "pages_seed", "huge": "huge"}.get(key, "set." + key)
        wanted = cell.get(name, "")
        if value != wanted and not wanted.startswith(value):
            raise Mismatch(f"{path}: lane {lane['name']} has {key}={value}, its cell {wanted or 'nothing'}")


def row_of(run, cell, report, lane, path, process):
    receipt = json.dumps(report["receipt"], sort_keys=True, separators=(",", ":"))
    row = {"program": cell["program"], "command": " ".join(run["program"]["command"]), "process": process}
    row.update({name: value for name, value in cell.items() if name != "program"})
    row.update({"machine": lane["machine"]["name"], "exit_status": report["exit_status"],
                "ending": report.get("ending", ""), "instructions": report["run"]["measured"]["instructions"],
                "cost": lane.get("cost")})
    if lane.get("walks"):
        row["walks"] = lane["walks"]["count"]
    for level in lane["levels"]:
        for counter in COUNTERS:
            row[f"{level['name']}.{counter}"] = level[counter]
    row["report"] = path
    row["receipt"] = hashlib.sha256(receipt.encode()).hexdigest()
    return row, receipt


def rows_of_run(run, directory):
    """[(row, receipt)] of a run that is done; a report of another program that it started is a row of its own."""
    base = os.path.join(directory, "runs", run["id"])
    others = sorted(glob.glob(glob.escape(base) + ".*.json"))
    for path in [base + ".json", *others]:
        process = path.removeprefix(base).removesuffix(".json").lstrip(".")
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        lanes = lanes_of(report)
        shown = os.path.relpath(path, directory)
        if len(lanes) != len(run["cells"]):
            raise Mismatch(f"{shown}: {len(lanes)} simulated machines for {len(run['cells'])} cells")
        for cell, lane in zip(run["cells"], lanes):
            check_lane(lane, cell, shown)
            yield row_of(run, cell, report, lane, shown, process)


def columns_of(rows):
    """All names: what a cell is, then what came out, in the order in which they are met."""
    first = ("program", "command", "process")
    last = ("report", "receipt")
    results = ("exit_status", "ending", "instructions", "cost", "walks")
    met = list(dict.fromkeys(name for row in rows for name in row))
    counts = [name for name in met if name.split(".")[-1] in COUNTERS and not name.startswith(("set.", "--"))]
    keys = [name for name in met if name not in (*first, *last, *results, *counts)]
    return [*first, *keys, *results, *counts, *last]


def write_csv(path, rows, columns):
    with open(path + ".new", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    os.replace(path + ".new", path)


def write_sqlite(path, rows, columns, receipts):
    if os.path.exists(path + ".new"):
        os.remove(path + ".new")
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
    base = sqlite3.connect(path + ".new")
    base.execute(f"CREATE TABLE cells ({names})")
    base.execute("CREATE TABLE receipts (receipt PRIMARY KEY, text)")
    base.executemany(f"INSERT INTO cells VALUES ({', '.join('?' * len(columns))})",
                     [[row.get(name) for name in columns] for row in rows])
    base.executemany("INSERT INTO receipts VALUES (?, ?)", sorted(receipts.items()))
    base.commit()
    base.close()
    os.replace(path + ".new", path)


# ---------------------------------------------------------------- the page

STYLE = """
:root { color-scheme: light dark; --ink: #222; --faint: #888; --mark: #0b6; --back: #fff; --line: #ddd }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ddd; --faint: #999; --mark: #4d9; --back: #181818; --line: #333 } }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--back); max-width: 60rem;
       margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; font-variant-numeric: tabular-nums } td, th { padding: .15rem .6rem;
       text-align: right; border-bottom: 1px solid var(--line) } td:first-child, th:first-child { text-align: left }
.wide { overflow-x: auto } svg { display: block; max-width: 100%; height: auto }
text { fill: var(--ink); font-size: 12px }
.dot { fill: var(--mark); fill-opacity: .55 } .box { fill: none; stroke: var(--faint) } .axis { stroke: var(--line) }
caption { text-align: left; color: var(--faint); padding: .3rem 0 }
"""


def quartiles(values):
    """Least, quartiles, median and most, by nearest rank."""
    ordered = sorted(values)
    at = lambda share: ordered[max(0, -(-len(ordered) * share // 100) - 1)]
    return ordered[0], at(25), at(50), at(75), ordered[-1]


def strip(groups, title):
    """One row of dots a group, with the box of its quartiles: an SVG with its title for screen readers."""
    low = min(min(values) for _, values in groups)
    high = max(max(values) for _, values in groups)
    place = (lambda value: 260 + 560 * (value - low) / (high - low)) if high > low else (lambda value: 540)
    height = 34 + 30 * len(groups)
    out = [f'<svg viewBox="0 0 840 {height}" role="img" aria-label="{html.escape(title)}">']
    for i, (name, values) in enumerate(groups):
        y = 20 + 30 * i
        _, lower, median, upper, _ = quartiles(values)
        out.append(f'<text x="250" y="{y + 4}" text-anchor="end">{html.escape(name[:40])}</text>')
        out.append(f'<line class="axis" x1="260" x2="820" y1="{y}" y2="{y}"/>')
        out += [f'<circle class="dot" cx="{place(value):.1f}" cy="{y}" r="4"><title>{value:,}</title></circle>'
                for value in values]
        out.append(f'<path class="box" d="M{place(lower):.1f} {y - 9}H{place(upper):.1f}V{y + 9}H{place(lower):.1f}z'
                   f'M{place(median):.1f} {y - 11}v22"/>')
    base = height - 4
    out.append(f'<text x="260" y="{base}">{low:,}</text>')
    out.append(f'<text x="820" y="{base}" text-anchor="end">{high:,}</text></svg>')
    return "\n".join(out)


def grouped(rows, name):
    """The counts of the rows by program and machine, in the order of the study."""
    groups = {}
    for row in rows:
        if row.get(name) is not None and not row["process"]:
            label = row["program"] + (f" on {row['machine']}" if len({r["machine"] for r in rows}) > 1 else "")
            groups.setdefault(label, []).append(row[name])
    return list(groups.items())


def write_page(path, study, rows, columns):
    title = html.escape(study["name"])
    out = ["<!doctype html>", '<html lang="en"><meta charset="utf-8">',
           '<meta name="viewport" content="width=device-width">', f"<title>{title}</title><style>{STYLE}</style>",
           f"<h1>{title}</h1><p>{len(rows):,} cells of {len(study['runs']):,} runs. Each dot is a cell; a box has the"
           " quartiles and the median, by nearest rank.</p>"]
    odd = [row for row in rows if row["exit_status"] != 0]
    if odd:
        out.append(f"<p><strong>{len(odd)} cells are of programs that ended with another status than 0.</strong></p>")
    shown = ["cost"] + [name for name in columns if name.endswith(".misses") or name.endswith(".conflict")] + ["walks"]
    for name in shown:
        groups = grouped(rows, name)
        if not groups or all(len(set(values)) == 1 and not values[0] for _, values in groups):
            continue
        out.append(f"<h2>{html.escape(name)}</h2>")
        out.append(strip(groups, name))
        out.append('<div class="wide"><table><caption>by program</caption><tr><th></th><th>cells</th><th>least</th>'
                   "<th>lower quartile</th><th>median</th><th>upper quartile</th><th>most</th><th>mean</th></tr>")
        for label, values in groups:
            numbers = "".join(f"<td>{value:,}</td>" for value in quartiles(values))
            out.append(f"<tr><td>{html.escape(label)}</td><td>{len(values)}</td>{numbers}"
                       f"<td>{statistics.fmean(values):,.1f}</td></tr>")
        out.append("</table></div>")
    out.append("<p>All counts stand in results.csv and results.sqlite; each row names its report, which "
               "<code>c2emu verify</code> makes again.</p></html>\n")
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write("\n".join(out))
    os.replace(path + ".new", path)


def collect(study, directory, runs):
    """Writes results.csv, results.sqlite and results.html of the runs that are done; returns how many cells."""
    rows, receipts = [], {}
    for run in runs:
        for row, receipt in rows_of_run(run, directory):
            rows.append(row)
            receipts[row["receipt"]] = receipt
    if not rows:
        return 0
    columns = columns_of(rows)
    write_csv(os.path.join(directory, "results.csv"), rows, columns)
    write_sqlite(os.path.join(directory, "results.sqlite"), rows, columns, receipts)
    write_page(os.path.join(directory, "results.html"), study, rows, columns)
    return len(rows)
