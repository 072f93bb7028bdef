# SPDX-License-Identifier: GPL-2.0-or-later
{ n[$1 % 7] += length($2); s += $1 } END { for (i = 0; i < 7; i++) printf "%d:%d ", i, n[i]; print s, NR,
sin(1), exp(2), sqrt(3), substr("hello", 2, 3), toupper("abc"), index("foobar", "bar"),
sprintf("%5.2f|%x", 3.14159, 255) }
