# SPDX-License-Identifier: GPL-2.0-or-later
c2_unit_test(report_estimate c2_report)
c2_unit_test(report_samples c2_report)
c2_unit_test(report_text c2_report)
c2_unit_test(report_json c2_report)
c2_unit_test(report_profile c2_report)
c2_unit_test(report_diff c2_report)
c2_unit_test(report_annotate c2_report)
c2_unit_test(report_exports c2_report)
c2_unit_test(report_saved c2_report)
c2_unit_test(report_damage c2_report)

# Names are made up by the test (report_profile.h): its definitions go before those of the loader.
foreach(name report_samples report_profile)
  target_link_options(test_${name} PRIVATE -Wl,--allow-multiple-definition)
endforeach()
