# SPDX-License-Identifier: GPL-2.0-or-later
c2_unit_test(sim_twin c2_sim)
c2_unit_test(sim_rules c2_sim)
c2_unit_test(sim_promises c2_sim)
c2_unit_test(sim_intervals c2_sim)
c2_unit_test(sim_records c2_sim)
