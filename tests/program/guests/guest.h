/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What every bare guest has: a stack of its own (so that its addresses are the same under every loader) and an end.
 * None of them makes any system call but exit, and none has initialised data: their pages are code and .bss.
 */
    .macro BEGIN
    .text
    .globl _start
_start:
    lea     stack_top, %rsp
    .endm

    .macro END status=0
    mov     $60, %eax
    mov     $\status, %edi
    syscall
    .pushsection .bss
    .balign 4096
stack:
    .skip   16384
stack_top:
    .popsection
    .pushsection .note.GNU-stack, "", @progbits
    .popsection
    .endm
