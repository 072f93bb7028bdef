# SPDX-License-Identifier: GPL-2.0-or-later
c2_unit_test(mmu_buddy c2_mmu)
c2_unit_test(mmu_follow c2_mmu)
c2_unit_test(mmu_frames c2_mmu)
c2_unit_test(mmu_huge c2_mmu)
c2_unit_test(mmu_pagemap c2_mmu)
c2_unit_test(mmu_space c2_mmu)
c2_unit_test(mmu_walk c2_mmu)
c2_unit_test(mmu_zero c2_mmu)
c2_unit_test(mmu_tlb c2_mmu)
c2_unit_test(mmu_twin c2_mmu Threads::Threads)
if(NOT C2_SANITIZE) # the sanitizer's shadow lies in the window
  c2_unit_test(mmu_window c2_mmu)
endif()
