# SPDX-License-Identifier: GPL-2.0-or-later
# What `cmake --install` puts where beside the program and the machines, and the package that `cpack` makes: manual
# pages, completions, documents, the licence.
include(GNUInstallDirs)
find_program(C2_GZIP gzip REQUIRED)

set(C2_MANUALS "")
foreach(verb "" advise annotate complete csim diff explain help html machines manual pagemap points quiz replay
    restore sweep verify)
  set(page c2emu-${verb})
  if(verb STREQUAL "")
    set(page c2emu)
  endif()
  set(manual ${PROJECT_BINARY_DIR}/man/${page}.1.gz)
  add_custom_command(OUTPUT ${manual} DEPENDS c2emu VERBATIM
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/man
    COMMAND sh -c "$<TARGET_FILE:c2emu> manual ${verb} | ${C2_GZIP} -9n > ${manual}")
  list(APPEND C2_MANUALS ${manual})
endforeach()
add_custom_target(manuals ALL DEPENDS ${C2_MANUALS})

install(FILES ${C2_MANUALS} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PROJECT_SOURCE_DIR}/completions/c2emu.bash RENAME c2emu
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${PROJECT_SOURCE_DIR}/completions/_c2emu DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${PROJECT_SOURCE_DIR}/completions/c2emu.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
# Where Debian's python3 finds modules below /usr; below another prefix that directory goes into PYTHONPATH.
set(C2_MODULE_DIR lib/python3/dist-packages CACHE STRING "where c2emu.py is installed, below the prefix")
install(FILES ${PROJECT_SOURCE_DIR}/python/c2emu.py DESTINATION ${C2_MODULE_DIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/CITATION.cff
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} USE_SOURCE_PERMISSIONS)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME c2emu)
set(CPACK_PACKAGE_CONTACT "c2emu contributors <c2emu@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "deterministic emulator that shows what caches do and why")
set(CPACK_PACKAGE_DESCRIPTION
  "Runs an x86-64 Linux program in a user-mode emulator and reports, for each level of a simulated memory system, which
misses are cold, a matter of capacity or conflicts, what evicted what by instruction, line of source and object, and how
page placement, huge pages and the slice hash of the L3 change it. Reports are the same, byte for byte, everywhere.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Loaded, so the linker names no such need.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libunicorn2 (>= 2.0.1), libcapstone4, libgcrypt20")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3, snakemake")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-pandas, valgrind, kcachegrind, slurm-client")
include(CPack)
