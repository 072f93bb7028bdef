# SPDX-License-Identifier: GPL-2.0-or-later
# Whether a number is luck: the table of --vary-csv over seeds of the placement: vary.py TABLE.csv
# %%
import sys

import c2emu

table = c2emu.load(sys.argv[1]).frame()
print(table[["L2.misses", "L2.conflict"]].describe().loc[["count", "min", "50%", "max"]].to_string())

# %% The placement with most conflicts, and how many have fewer
worst = table.loc[table["L2.conflict"].idxmax()]
print(f"seed {worst['pages.seed']}: {worst['L2.conflict']} conflict misses of L2, "
      f"{(table['L2.conflict'] < worst['L2.conflict']).sum()} of {len(table)} have fewer")

# %% What a conflict costs: cold misses are the same everywhere
assert table["L2.cold"].nunique() == 1
print(f"correlation of conflicts with the cost: {table['L2.conflict'].corr(table['cost']):.3f}")
