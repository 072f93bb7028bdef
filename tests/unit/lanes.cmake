# SPDX-License-Identifier: GPL-2.0-or-later
c2_unit_test(lanes_moved c2_lanes)
c2_unit_test(lanes_beside c2_lanes c2_stream)
