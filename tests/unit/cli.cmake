# SPDX-License-Identifier: GPL-2.0-or-later
c2_unit_test(cli_options c2_cli)
c2_unit_test(cli_pagemap c2_cli)
c2_unit_test(cli_vary c2_cli)
