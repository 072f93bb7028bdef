# SPDX-License-Identifier: GPL-2.0-or-later
c2_unit_test(stream_blocks c2_stream)
c2_unit_test(stream_ring c2_stream)
c2_unit_test(stream_tape c2_stream)
c2_unit_test(stream_recording c2_stream)
c2_unit_test(stream_damage c2_stream)
