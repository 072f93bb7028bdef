# SPDX-License-Identifier: GPL-2.0-or-later
c2_unit_test(document_render c2_document)
c2_unit_test(document_shorten c2_document)
