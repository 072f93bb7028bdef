# SPDX-License-Identifier: GPL-2.0-or-later
c2_unit_test(teach_csim c2_teach c2_machine)
c2_unit_test(teach_quiz c2_teach c2_machine)
