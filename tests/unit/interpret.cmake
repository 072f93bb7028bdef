# The tests of interpret compare it with the CPU they run on. It has no sizes, shortcuts or promises: the same program
# in the stress build.
if(C2_STRESS)
  return()
endif()
foreach(topic string bits pcmpstr sse x87 transcendental fpstate system)
  c2_unit_test(interpret_${topic} c2_interpret)
  target_sources(test_interpret_${topic} PRIVATE ${CMAKE_CURRENT_LIST_DIR}/interpret_makers.c
                                                 ${CMAKE_CURRENT_LIST_DIR}/interpret_native.c
                                                 ${CMAKE_CURRENT_LIST_DIR}/interpret_twin.c)
endforeach()

c2_unit_test(interpret_touched c2_interpret)
set_tests_properties(unit_interpret_touched PROPERTIES LABELS unit SKIP_RETURN_CODE 77) # without AVX-512

set(vectors ${CMAKE_CURRENT_LIST_DIR}/interpret_transcendental_vectors.py)
set(table ${CMAKE_CURRENT_BINARY_DIR}/interpret_transcendental_vectors.h)
add_custom_command(OUTPUT ${table} COMMAND ${C2_PYTHON} -B ${vectors} ${table} DEPENDS ${vectors} VERBATIM)
target_sources(test_interpret_transcendental PRIVATE ${table} ${CMAKE_CURRENT_LIST_DIR}/interpret_near.c)
target_include_directories(test_interpret_transcendental PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
target_link_libraries(test_interpret_transcendental PRIVATE m)
