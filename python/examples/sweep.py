# SPDX-License-Identifier: GPL-2.0-or-later
# Results of `c2emu sweep` as a table with a column a machine: sweep.py DIRECTORY
# %%
import sys

import c2emu

cells = c2emu.load(sys.argv[1]).frame()
print(cells.pivot_table(index=["program", "pages"], columns="machine", values="L2.misses", aggfunc="median")
      .to_string(float_format="%.0f"))

# %% Misses in a thousand instructions, and where another placement would have most of them
cells["mpki"] = 1000 * cells["L2.misses"] / cells["instructions"]
spread = cells.groupby(["program", "machine"])["mpki"].agg(["min", "max"])
spread["times"] = spread["max"] / spread["min"]
print(spread.sort_values("times", ascending=False).to_string(float_format="%.2f"))
