# SPDX-License-Identifier: GPL-2.0-or-later
c2_unit_test(syscalls_table c2_syscalls)
c2_unit_test(syscalls_discipline c2_syscalls)
if(NOT C2_SANITIZE) # the sanitizer's shadow lies in the guest's window
  foreach(test syscalls_rows syscalls_signals syscalls_proc syscalls_trace syscalls_overlap syscalls_deadlock
          syscalls_attributes syscalls_filetimes syscalls_shm syscalls_locked syscalls_inputs syscalls_sandbox
          syscalls_processes)
    c2_unit_test(${test} c2_syscalls)
    target_sources(test_${test} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/syscalls_guest.c)
  endforeach()
  foreach(part files ipc lamps paths process waiting)
    target_sources(test_syscalls_rows PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/syscalls_rows_${part}.c)
  endforeach()
endif()
