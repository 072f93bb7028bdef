# SPDX-License-Identifier: GPL-2.0-or-later
c2_unit_test(findings_patterns c2_findings)
