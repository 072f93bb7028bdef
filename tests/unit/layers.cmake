# SPDX-License-Identifier: GPL-2.0-or-later
if(C2_SANITIZE OR C2_STRESS) # it is about the sources alone
  return()
endif()
add_test(NAME unit_layers COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/layers.sh ${PROJECT_SOURCE_DIR} ${CMAKE_C_COMPILER})
set_tests_properties(unit_layers PROPERTIES LABELS unit)
