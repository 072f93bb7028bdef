# SPDX-License-Identifier: GPL-2.0-or-later
c2_unit_test(cpu_levels c2_cpu)
c2_unit_test(cpu_wide c2_cpu)
