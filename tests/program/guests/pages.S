/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Reads one byte at the beginning of each of PAGES pages, STRIDE pages apart, ROUNDS times, in order, and touches no
 * other data. The array begins at a multiple of 16 MiB and is anonymous memory. The code fits in one page.
 */
    .text
    .globl _start
_start:
    mov     $ROUNDS, %ecx
round:
    mov     $data, %rax
page:
    xorb    (%rax), %dl
    add     $(STRIDE << 12), %rax
    cmp     $(data + PAGES * (STRIDE << 12)), %rax
    jb      page
    dec     %ecx
    jnz     round
    mov     $60, %eax
    xor     %edi, %edi
    syscall
    .bss
    .balign 0x1000000
data:
    .skip   PAGES * (STRIDE << 12)
    .size   data, PAGES * (STRIDE << 12)
    .section .note.GNU-stack, "", @progbits
