# The tests of interpret compare it with the CPU they run on.
foreach(topic string bits pcmpstr sse x87 fpstate system)
  c2_unit_test(interpret_${topic} c2_interpret)
  target_sources(test_interpret_${topic} PRIVATE ${CMAKE_CURRENT_LIST_DIR}/interpret_makers.c
                                                 ${CMAKE_CURRENT_LIST_DIR}/interpret_native.c
                                                 ${CMAKE_CURRENT_LIST_DIR}/interpret_twin.c)
endforeach()
