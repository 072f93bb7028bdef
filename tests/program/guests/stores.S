/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Stores into each line of 4 KiB, twice over; the second time each store is 8 bytes of which 4 are in the next line.
 */
    .text
    .globl _start
    .balign 64
_start:
    lea     data, %rdi
    mov     $64, %ecx
first:
    mov     %rdi, (%rdi)
    add     $64, %rdi
    dec     %ecx
    jnz     first
    lea     data, %rdi
    mov     $63, %ecx
second:
    mov     %rdi, 60(%rdi)
    add     $64, %rdi
    dec     %ecx
    jnz     second
    mov     $60, %eax
    xor     %edi, %edi
    syscall
    .bss
    .balign 4096
data:
    .skip   4096
    .section .note.GNU-stack, "", @progbits
