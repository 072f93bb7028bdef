/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Reads three lines 1024 bytes apart in turn, 100 times.
 */
    .text
    .globl _start
    .balign 64
_start:
    mov     $100, %ecx
    lea     data, %rsi
round:
    mov     (%rsi), %eax
    mov     1024(%rsi), %ebx
    mov     2048(%rsi), %edx
    dec     %ecx
    jnz     round
    mov     $60, %eax
    xor     %edi, %edi
    syscall
    .bss
    .balign 4096
data:
    .skip   4096
    .section .note.GNU-stack, "", @progbits
