/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Every kind of branch, and accesses that traces have in parts. exchange.py has this program's records one by one.
 */
.globl _start
.text
_start:
    lea buffer(%rip), %rdi
    mov $3, %ecx
again:
    add %rcx, (%rdi)
    dec %ecx
    jnz again
    jrcxz forward
    nop
forward:
    call function
    lea function(%rip), %rax
    call *%rax
    call *to_function(%rip)
    jmp *to_back(%rip)
    nop
back:
    movups 60(%rdi), %xmm1
    movups %xmm1, 64(%rdi)
    jmp over
    nop
over:
    mov $3, %ecx
    rep stosb
    xor %ecx, %ecx
    rep movsb
    prefetcht0 (%rdi)
    mov $60, %eax
    xor %edi, %edi
    syscall
function:
    ret
.data
.balign 4096
buffer:
    .skip 128
to_function:
    .quad function
to_back:
    .quad back
