# SPDX-License-Identifier: GPL-2.0-or-later
if(NOT C2_SANITIZE) # the sanitizer's shadow lies in the guest's window
  c2_unit_test(checkpoint_damage c2_emu)
  target_sources(test_checkpoint_damage PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/syscalls_guest.c)
endif()
