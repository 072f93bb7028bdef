/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * assets: the files that pages are made of, as they lie in this folder or are installed; CMakeLists.txt says which.
 */
        .section .rodata
        .macro  asset name, file
        .global html_\name\()_start
        .global html_\name\()_end
html_\name\()_start:
        .incbin "\file"
html_\name\()_end:
        .byte   0
        .endm

        asset   page, HTML_PAGE
        asset   style, HTML_STYLE
        asset   d3, HTML_D3
        asset   licence, HTML_LICENCE
        asset   scripts, HTML_SCRIPTS
        asset   story, HTML_STORY

        .section .note.GNU-stack, "", @progbits
