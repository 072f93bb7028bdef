/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One access to each of PAGES pages, in an order that jumps about, ROUNDS times; before that one to each in the order
 * of addresses. PAGES: a power of two. The lines of neighbouring 16 pages lie at one offset, those of the next 16 one line further, and so on:
 * all sets of a cache get as many. The order is x -> 12869 x + 6925 modulo the number of pages, which comes by each one
 * once. The array begins at a multiple of 16 MiB and is anonymous memory; the code fits in one page.
 */
    .text
    .macro line_of_page /* eax: the page; rdx: its address becomes that of its line */
    mov     %eax, %edx
    shl     $12, %rdx
    mov     %eax, %esi
    and     $(63 << 4), %esi
    lea     data(%rdx, %rsi, 4), %rdx /* a line is 64 bytes: (page >> 4 & 63) << 6 */
    .endm
    .globl _start
_start:
    xor     %eax, %eax
first:
    line_of_page
    incb    (%rdx)
    inc     %eax
    cmp     $PAGES, %eax
    jb      first
    mov     $ROUNDS, %ecx
    test    %ecx, %ecx
    jz      end
round:
    mov     $PAGES, %edi
    xor     %eax, %eax
page:
    line_of_page
    mov     (%rdx), %bl
    imul    $12869, %eax, %eax
    add     $6925, %eax
    and     $(PAGES - 1), %eax
    dec     %edi
    jnz     page
    dec     %ecx
    jnz     round
end:
    mov     $60, %eax
    xor     %edi, %edi
    syscall
    .bss
    .balign 0x1000000
data:
    .skip   PAGES << 12
    .size   data, PAGES << 12
    .section .note.GNU-stack, "", @progbits
