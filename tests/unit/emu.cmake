# SPDX-License-Identifier: GPL-2.0-or-later
c2_unit_test(emu_turns c2_emu)
