# SPDX-License-Identifier: GPL-2.0-or-later
c2_unit_test(base_status c2_base)
c2_unit_test(base_alloc c2_base)
c2_unit_test(base_rng c2_base)
c2_unit_test(base_map c2_base)
c2_unit_test(base_tree c2_base)
c2_unit_test(base_number c2_base)
c2_unit_test(base_suggest c2_base)
c2_unit_test(base_outfile c2_base)
