# SPDX-License-Identifier: GPL-2.0-or-later
# The name that a library is loaded by, where the program is linked without it.
function(c2_soname out library)
  execute_process(COMMAND ${CMAKE_READELF} -d ${library} OUTPUT_VARIABLE dynamic)
  if(NOT dynamic MATCHES "SONAME\\) +Library soname: \\[([^]]+)\\]")
    message(FATAL_ERROR "${library} has no name to be loaded by")
  endif()
  set(${out} ${CMAKE_MATCH_1} PARENT_SCOPE)
endfunction()
