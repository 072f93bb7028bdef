# SPDX-License-Identifier: GPL-2.0-or-later
# The library must be the one that symbols.h is of: its version, that it has each name, and that it calls its functions
# through its symbol table. Where it is not, hooks record, at a third of the speed; that has to be asked for.
option(C2_UNICORN_ANY "build with another Unicorn than 2.0.1: slower, and not tested" OFF)

function(c2_check_unicorn)
  find_library(library unicorn HINTS ${UNICORN_LIBRARY_DIRS} REQUIRED NO_CACHE)
  execute_process(COMMAND ${CMAKE_NM} -D --defined-only ${library} OUTPUT_VARIABLE defined RESULT_VARIABLE failed)
  execute_process(COMMAND ${CMAKE_READELF} -d ${library} OUTPUT_VARIABLE dynamic)
  file(READ ${CMAKE_CURRENT_SOURCE_DIR}/symbols.h list)
  string(REGEX MATCHALL " X\\([a-zA-Z0-9_]+\\)" names "${list}")
  set(wrong "")
  if(failed OR NOT UNICORN_VERSION VERSION_EQUAL 2.0.1)
    set(wrong "it is version ${UNICORN_VERSION}")
  elseif(dynamic MATCHES "SYMBOLIC")
    set(wrong "it does not call its functions through its symbol table (-Bsymbolic)")
  else()
    foreach(name ${names})
      string(REGEX REPLACE " X\\((.*)\\)" "\\1_x86_64" symbol "${name}")
      if(NOT defined MATCHES " ${symbol}\n")
        set(wrong "it has no ${symbol}")
        break()
      endif()
    endforeach()
  endif()
  if(wrong AND NOT C2_UNICORN_ANY)
    message(FATAL_ERROR "${library} is not the Unicorn that c2emu is made for: ${wrong}. Install libunicorn-dev 2.0.1, "
                        "as in Debian 12; or configure with -DC2_UNICORN_ANY=ON, and hooks record, at a third of the "
                        "speed.")
  endif()
  c2_soname(soname ${library})
  set(UNICORN_SONAME ${soname} PARENT_SCOPE)
  # The library is loaded (library.c), so the linker does not know what is sought in the program: this list does.
  list(TRANSFORM names REPLACE " X\\((.*)\\)" "  \\1_x86_64")
  list(JOIN names ";\n" lines)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/symbols.list CONTENT "{\n@lines@;\n};\n" @ONLY)
endfunction()
c2_check_unicorn()
