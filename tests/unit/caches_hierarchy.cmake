# SPDX-License-Identifier: GPL-2.0-or-later
c2_unit_test(caches_twin c2_caches)
