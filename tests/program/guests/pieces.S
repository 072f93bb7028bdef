/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Accesses of four lines in three phases, which histogram.py knows by thought: `here` is called twice.
 */
    .text
.globl _start
_start:
    mov     $5, %ecx
1:  mov     table(%rip), %eax       /* line 0: 5 reads */
    loop    1b
    call    here                    /* the stack: 1 write, still in the first phase */
    mov     $7, %ecx
2:  mov     table+64(%rip), %eax    /* line 1: 7 reads */
    loop    2b
    mov     %eax, table+128(%rip)   /* line 2: 2 writes */
    mov     %eax, table+132(%rip)
    call    here
    mov     table+188(%rip), %rax   /* lines 2 and 3 */
    mov     $60, %eax
    xor     %edi, %edi
    syscall
    hlt

.globl here
.type here, @function
here:
    ret                             /* the stack: 1 read, the phase's first */
.size here, . - here

    .data
    .balign 4096
.globl table
.type table, @object
table:
    .fill   64, 4, 1
.size table, . - table
