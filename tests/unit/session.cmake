# SPDX-License-Identifier: GPL-2.0-or-later
c2_unit_test(session_environment c2_session)
c2_unit_test(session_placement c2_session)
c2_unit_test(session_rules c2_session)
if(NOT C2_SANITIZE) # which starts a thread of its own, and looks at the process by ptrace when it ends
  c2_unit_test(session_confine c2_session)
endif()
