# SPDX-License-Identifier: GPL-2.0-or-later
#
# Programs to load and to ask about, in every form that a program comes in. Made with the compiler alone: the flags
# of the build (sanitizers, optimisation) are no part of them.
set(guests ${CMAKE_CURRENT_BINARY_DIR}/loader_guests)
set(guest_files)
file(MAKE_DIRECTORY ${guests})

set(loader_guest_compiler ${CMAKE_C_COMPILER})
function(loader_guest name source)
  add_custom_command(OUTPUT ${guests}/${name}
    COMMAND ${loader_guest_compiler} ${ARGN} -o ${guests}/${name} ${source}
    DEPENDS ${CMAKE_CURRENT_LIST_DIR}/${source}
    WORKING_DIRECTORY ${CMAKE_CURRENT_LIST_DIR} VERBATIM)
  set(guest_files ${guest_files} ${guests}/${name} PARENT_SCOPE)
endfunction()

# name, and the commands that make it of another guest
function(loader_guest_of name of)
  add_custom_command(OUTPUT ${guests}/${name}
    ${ARGN} DEPENDS ${guests}/${of} WORKING_DIRECTORY ${guests} VERBATIM)
  set(guest_files ${guest_files} ${guests}/${name} PARENT_SCOPE)
endfunction()

loader_guest(static loader_guest.c -g -O1 -static -no-pie)
loader_guest(static_pie loader_guest.c -g -O1 -static-pie -fPIE)
loader_guest(dynamic loader_guest.c -g -O2 -pie -fPIE -Wl,--build-id=sha1)
loader_guest(no_pie loader_guest.c -g -O0 -no-pie -Wl,-z,noseparate-code)
loader_guest(dwarf4 loader_guest.c -gdwarf-4 -O1 -ffunction-sections -no-pie)
loader_guest(no_lines loader_guest.c -O1 -pie -fPIE)
loader_guest(exec_stack loader_guest.c -O1 -no-pie -Wl,-z,execstack)
loader_guest(shared loader_guest.c -g -O2 -shared -fPIC)
loader_guest(assembly loader_guest_asm.S -nostdlib -static -no-pie)
loader_guest(bare loader_guest_bare.c -g -O1 -nostdlib -static -no-pie -fno-stack-protector)
loader_guest(data loader_guest_data.c -g -O1 -pie -fPIE)
loader_guest(data_dwarf4 loader_guest_data.c -gdwarf-4 -O0 -no-pie)
loader_guest(versions loader_guest_versions.c -O1 -shared -fPIC -nostdlib -Wl,-e,main
  -Wl,--version-script=${CMAKE_CURRENT_LIST_DIR}/loader_guest_versions.map)
loader_guest_of(versions_stripped versions COMMAND ${CMAKE_STRIP} -o versions_stripped versions)
loader_guest_of(versions_twins versions COMMAND ${CMAKE_OBJCOPY} --redefine-sym other=alone versions versions_twins)
# Inlined calls. The second compiler's forms are made where it is installed.
set(loader_g -g)
if(CMAKE_C_COMPILER_ID STREQUAL "Clang") # addr2line does not read all of its DWARF 5
  set(loader_g -gdwarf-4)
endif()
set(loader_inline_guests inline inline_dwarf4 inline_no_pie inline_sections inline_shared inline_o3 inline_os cxx
    cxx_dwarf4 cxx_o1 cxx_no_pie)
# Bytes of this one are damaged at random: they must not depend on where the tests lie.
loader_guest(inline loader_guest_inline.c ${loader_g} -O2 -pie -fPIE
  -fdebug-prefix-map=${PROJECT_SOURCE_DIR}=/src -fdebug-prefix-map=${PROJECT_BINARY_DIR}=/build)
loader_guest(inline_dwarf4 loader_guest_inline.c -gdwarf-4 -O2 -pie -fPIE)
loader_guest(inline_no_pie loader_guest_inline.c ${loader_g} -O2 -no-pie -fno-pie)
loader_guest(inline_sections loader_guest_inline.c ${loader_g} -O2 -ffunction-sections -Wl,--gc-sections -pie -fPIE)
loader_guest(inline_shared loader_guest_inline.c ${loader_g} -O2 -shared -fPIC)
loader_guest(inline_o3 loader_guest_inline.c ${loader_g} -O3 -pie -fPIE)
loader_guest(inline_os loader_guest_inline.c ${loader_g} -Os -no-pie)
# C++ by the compiler of C, which knows it by the file's name: the build needs no second one
loader_guest(cxx loader_guest_cxx.cc ${loader_g} -O2 -pie -fPIE)
loader_guest(cxx_dwarf4 loader_guest_cxx.cc -gdwarf-4 -O2 -pie -fPIE)
loader_guest(cxx_o1 loader_guest_cxx.cc ${loader_g} -O1 -pie -fPIE)
loader_guest(cxx_no_pie loader_guest_cxx.cc ${loader_g} -O3 -no-pie -ffunction-sections)
loader_guest_of(inline_linked inline
  COMMAND ${CMAKE_OBJCOPY} --only-keep-debug inline inline_linked.debug
  COMMAND ${CMAKE_OBJCOPY} --strip-all --add-gnu-debuglink=inline_linked.debug inline inline_linked)
loader_guest_of(cxx_stripped cxx COMMAND ${CMAKE_STRIP} -o cxx_stripped cxx)
find_program(CLANG clang)
if(CLANG) # each with its twin in DWARF 4, which has the same code
  set(loader_clang_guests clang clang_no_pie clang_shared clang_sections clang_cxx clang_cxx_no_pie)
  set(loader_guest_compiler ${CLANG})
  foreach(version 4 5)
    set(g -gdwarf-${version})
    loader_guest(clang_dwarf${version} loader_guest_inline.c ${g} -O2 -pie -fPIE)
    loader_guest(clang_no_pie_dwarf${version} loader_guest_inline.c ${g} -O2 -no-pie -fno-pie)
    loader_guest(clang_shared_dwarf${version} loader_guest_inline.c ${g} -O2 -shared -fPIC)
    loader_guest(clang_sections_dwarf${version} loader_guest_inline.c ${g} -O3 -ffunction-sections -Wl,--gc-sections
      -pie -fPIE)
    loader_guest(clang_cxx_dwarf${version} loader_guest_cxx.cc ${g} -O2 -pie -fPIE)
    loader_guest(clang_cxx_no_pie_dwarf${version} loader_guest_cxx.cc ${g} -O1 -no-pie -fno-pie)
  endforeach()
  loader_guest(data_clang loader_guest_data.c -gdwarf-5 -O1 -pie -fPIE)
  set(loader_guest_compiler ${CMAKE_C_COMPILER})
endif()
loader_guest_of(stripped_data data COMMAND ${CMAKE_STRIP} -o stripped_data data)
loader_guest_of(stripped static COMMAND ${CMAKE_STRIP} -o stripped static)
loader_guest_of(few_symbols static COMMAND ${CMAKE_STRIP} -x -g -o few_symbols static)
loader_guest_of(stripped_dynamic dynamic COMMAND ${CMAKE_STRIP} -R .note.gnu.build-id -o stripped_dynamic dynamic)
loader_guest_of(linked dynamic
  COMMAND ${CMAKE_OBJCOPY} --only-keep-debug dynamic linked.debug
  COMMAND ${CMAKE_OBJCOPY} --strip-all --remove-section .note.gnu.build-id --add-gnu-debuglink=linked.debug
          dynamic linked)
loader_guest_of(by_id dynamic
  COMMAND ${CMAKE_OBJCOPY} --strip-all dynamic by_id
  COMMAND ${CMAKE_OBJCOPY} --only-keep-debug dynamic by_id.debug)
loader_guest_of(packed dynamic COMMAND ${CMAKE_OBJCOPY} --compress-debug-sections=zlib-gabi dynamic packed)
loader_guest_of(packed_old dynamic COMMAND ${CMAKE_OBJCOPY} --compress-debug-sections=zlib-gnu dynamic packed_old)
add_custom_target(loader_guests DEPENDS ${guest_files})

foreach(topic elf script stack ranges module variables frames libraries unpack)
  c2_unit_test(loader_${topic} c2_loader)
endforeach()
set(loader_with_guests module variables frames libraries unpack)
if(NOT C2_SANITIZE) # the sanitizer's shadow lies in the guest's window
  c2_unit_test(loader_load c2_loader)
  list(APPEND loader_with_guests load)
endif()
foreach(topic ${loader_with_guests})
  target_compile_definitions(test_loader_${topic} PRIVATE GUESTS="${guests}")
  add_dependencies(test_loader_${topic} loader_guests)
endforeach()
list(JOIN loader_inline_guests " " loader_inline_guests)
list(JOIN loader_clang_guests " " loader_clang_guests)
target_compile_definitions(test_loader_frames PRIVATE INLINE_GUESTS="${loader_inline_guests}"
  CLANG_GUESTS="${loader_clang_guests}")
c2_unit_test(loader_jit c2_loader)
c2_unit_test(loader_assigned c2_loader)
