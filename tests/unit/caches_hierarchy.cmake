# SPDX-License-Identifier: GPL-2.0-or-later
c2_unit_test(caches_twin c2_caches)
c2_unit_test(caches_policies c2_caches)
c2_unit_test(caches_capacity c2_caches)
c2_unit_test(caches_faults c2_caches)
c2_unit_test(caches_evictors c2_caches)
c2_unit_test(caches_fifo c2_caches)
c2_unit_test(caches_library c2_caches)
