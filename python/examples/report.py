# SPDX-License-Identifier: GPL-2.0-or-later
# What a program misses, by object and by line: report.py PROGRAM [ARGUMENT]...
# %%
import os
import sys

import c2emu

report = c2emu.run(sys.argv[1:], "--roi", "main")
print(report.levels().frame()[["name", "accesses", "misses", "cold", "capacity", "conflict"]].to_string(index=False))

# %% Objects: the cost of the run, without what start-up has cost
objects = report.objects().frame()
objects["own"] = objects["cost"] - objects["startup"]
whole = report.cost()["cost"]
assert objects["cost"].sum() == whole
print(objects[["name", "kind", "own"]].head(3).to_string(index=False))

# %% Lines of the program's own source, by the share of conflict misses of L1D
lines = report.lines(rest=False).frame()
own = lines[lines["module"] == os.path.basename(report.command[0])]
conflicts = own[["file", "line", "L1D.conflict"]].dropna().astype({"line": int, "L1D.conflict": int})
conflicts = conflicts.sort_values("L1D.conflict", ascending=False)
conflicts["file"] = conflicts["file"].str.replace(".*/", "", regex=True)
print(conflicts.head(3).to_string(index=False))

# %% What is wrong, in words
for finding in report.findings():
    print(f"{finding['pattern']}: {finding['what']}; {finding['remedy']}")
