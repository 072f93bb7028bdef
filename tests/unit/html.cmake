# SPDX-License-Identifier: GPL-2.0-or-later
c2_unit_test(html_page c2_html)
