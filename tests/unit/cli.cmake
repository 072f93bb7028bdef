# SPDX-License-Identifier: GPL-2.0-or-later
c2_unit_test(cli_options c2_cli)
c2_unit_test(cli_environment c2_cli)
c2_unit_test(cli_placement c2_cli)
c2_unit_test(cli_rules c2_cli)
c2_unit_test(cli_pagemap c2_cli)
c2_unit_test(cli_vary c2_cli)
if(NOT C2_SANITIZE) # which starts a thread of its own, and looks at the process by ptrace when it ends
  c2_unit_test(cli_confine c2_cli)
endif()
