# SPDX-License-Identifier: GPL-2.0-or-later
c2_unit_test(findings_patterns c2_findings)
c2_unit_test(findings_remedies c2_findings)
c2_unit_test(findings_accesses c2_findings)
