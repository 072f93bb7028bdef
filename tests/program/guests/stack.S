/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Everything that moves the stack pointer: call, ret, ret n, push and pop of registers, constants, memory and flags,
 * leave, enter, indirect calls and jumps through memory. fib(14) by recursion.
 */
#include "guest.h"
    BEGIN
    mov     $14, %edi
    call    fib
    mov     %rax, result
    call    operands
    mov     $40, %r12d
deep:
    call    frames
    dec     %r12d
    jnz     deep
    END

fib:
    cmp     $2, %edi
    jb      leaf
    push    %rbx
    push    %rdi
    dec     %edi
    call    fib
    mov     %rax, %rbx
    pop     %rdi
    sub     $2, %edi
    call    fib
    add     %rbx, %rax
    pop     %rbx
    ret
leaf:
    mov     %edi, %eax
    ret

operands:
    pushq   $5
    popq    word
    pushq   word
    popq    word+8
    pushfq
    popfq
    lea     callee(%rip), %rax
    mov     %rax, word+16
    call    *word+16
    push    $1
    push    $2
    call    cleans                  /* ret 16 */
    lea     1f(%rip), %rax
    mov     %rax, word+24
    jmp     *word+24
    hlt
1:  ret
callee:
    ret
cleans:
    mov     8(%rsp), %rax
    ret     $16

frames:                             /* 600 bytes of frame with a modify and an SSE spill in it */
    push    %rbp
    mov     %rsp, %rbp
    sub     $600, %rsp
    movups  %xmm0, -40(%rbp)
    addl    $3, -600(%rbp)
    movups  -40(%rbp), %xmm1
    leave
    enter   $128, $0
    movq    $1, -8(%rbp)
    leave
    ret
    .bss
    .balign 64
result: .skip 8
word:   .skip 32
