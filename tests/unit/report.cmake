# SPDX-License-Identifier: GPL-2.0-or-later
c2_unit_test(report_document c2_report)
c2_unit_test(report_estimate c2_report)
c2_unit_test(report_text c2_report)
c2_unit_test(report_json c2_report)
c2_unit_test(report_profile c2_report)
c2_unit_test(report_diff c2_report)
c2_unit_test(report_annotate c2_report)
c2_unit_test(report_exports c2_report)
