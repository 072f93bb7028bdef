m4_dnl SPDX-License-Identifier: GPL-2.0-or-later
m4_define(`twice', `$1$1')m4_dnl
twice(ab) m4_eval(2 ** 20) m4_translit(abc, a-c, x-z)
