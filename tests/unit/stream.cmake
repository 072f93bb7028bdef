# SPDX-License-Identifier: GPL-2.0-or-later
c2_unit_test(stream_blocks c2_stream)
c2_unit_test(stream_ring c2_stream)
c2_unit_test(stream_recording c2_stream)
c2_unit_test(stream_scratch c2_stream)
c2_unit_test(stream_damage c2_stream)
add_test(NAME unit_stream_reader COMMAND ${C2_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/stream_reader.py
  $<TARGET_FILE:test_stream_recording>)
set_tests_properties(unit_stream_reader PROPERTIES LABELS unit SKIP_RETURN_CODE 77)
c2_unit_test(stream_writer c2_stream)
c2_unit_test(stream_traces c2_stream)
c2_unit_test(stream_traces_damage c2_stream)
