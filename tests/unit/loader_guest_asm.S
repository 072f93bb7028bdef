/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A program without libc and without sizes of its symbols, but one: labels reach to the next symbol, the sized one
 * ends where it says, the bytes behind it belong to nobody until the next label.
 */
        .text
        .globl  _start, exit_now
first:
        nop
        ret
_start:
        call    first
        call    sized
        jmp     exit_now
        .type   sized, @function
sized:
        nop
        nop
        ret
        .size   sized, . - sized
        .fill   13, 1, 0xcc
exit_now:
        mov     $60, %eax
        xor     %edi, %edi
        syscall
        .section .text.other, "ax"
other:
        ret
        .section .note.GNU-stack, "", @progbits
