# SPDX-License-Identifier: GPL-2.0-or-later
c2_unit_test(caches_slices c2_caches)
target_sources(test_caches_slices PRIVATE ${CMAKE_CURRENT_LIST_DIR}/caches_slices_twin.c)
c2_unit_test(caches_machine c2_caches)
c2_unit_test(caches_machine_errors c2_caches)
c2_unit_test(caches_machine_tlbs c2_caches)
