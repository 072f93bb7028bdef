# SPDX-License-Identifier: GPL-2.0-or-later
c2_unit_test(analyses_registry c2_analyses)
c2_unit_test(analyses_trace c2_analyses)
c2_unit_test(analyses_blocks c2_analyses)
c2_unit_test(analyses_objects c2_analyses)
c2_unit_test(analyses_profile c2_analyses)
c2_unit_test(analyses_callgraph c2_analyses)
c2_unit_test(analyses_windows c2_analyses)
c2_unit_test(analyses_plan c2_analyses)
