# SPDX-License-Identifier: GPL-2.0-or-later
c2_unit_test(points_cluster c2_points)
c2_unit_test(points_files c2_points)
