# SPDX-License-Identifier: GPL-2.0-or-later
c2_unit_test(engine_shapes c2_engine)
c2_unit_test(engine_remembered c2_native)
c2_unit_test(engine_code_ranges c2_engine)
