/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Instructions that read here and write there, to pages that were not touched before: MOVS, POP and PUSH of memory.
 * zero_page.py has the pages.
 */
#include "guest.h"
    BEGIN
    lea     source, %rsi
    lea     moved, %rdi
    movsq                           /* reads one page, writes another */
    push    $5
    popq    popped                  /* reads the stack, writes a page */
    pushq   pushed                  /* reads a page, writes the stack */
    lea     both, %rsi
    lea     both, %rdi
    movsq                           /* reads a page, then writes it */
    END
    .bss
    .balign 4096
source: .skip   4096
moved:  .skip   4096
popped: .skip   4096
pushed: .skip   4096
both:   .skip   4096
