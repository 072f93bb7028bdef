# SPDX-License-Identifier: GPL-2.0-or-later
"""columns.py [F]: numpy: each column's sum, one column after the other, and a transposed copy; F: of an array that lies
column by column."""
import sys

import numpy

order = "F" if "F" in sys.argv[1:] else "C"
table = numpy.ones((512, 1024), order=order)
sums = [table[:, column].sum() for column in range(table.shape[1])]
print(len(sums), sum(sums))
print(numpy.ascontiguousarray(table.T)[5, 7])
