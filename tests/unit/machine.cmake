# SPDX-License-Identifier: GPL-2.0-or-later
c2_unit_test(machine_read c2_machine)
c2_unit_test(machine_errors c2_machine)
c2_unit_test(machine_tlbs c2_machine)
c2_unit_test(machine_write c2_machine)
target_compile_definitions(test_machine_write PRIVATE PAGE="${PROJECT_SOURCE_DIR}/docs/machine-files.md")
c2_unit_test(machine_damage c2_machine)
c2_unit_test(machine_host c2_machine)
