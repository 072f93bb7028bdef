/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Reads one byte of each line of BYTES twice, in order, and touches no other data. The array begins at a multiple of
 * 2 MiB.
 */
    .text
    .globl _start
_start:
    mov     $2, %ecx
walk:
    xor     %eax, %eax
line:
    xorb    data(%rax), %dl
    add     $64, %rax
    cmp     $BYTES, %rax
    jb      line
    dec     %ecx
    jnz     walk
    mov     $60, %eax
    xor     %edi, %edi
    syscall
    .bss
    .balign 0x200000
data:
    .skip   BYTES
    .section .note.GNU-stack, "", @progbits
