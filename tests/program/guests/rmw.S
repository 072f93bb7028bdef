/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Modifies of every kind, and pairs that look like modifies and are none: a load and a store of the same bytes by two
 * instructions. 200 rounds.
 */
#include "guest.h"
    BEGIN
    mov     $200, %r12d
    lea     data, %rbp
round:
    addq    $1, (%rbp)
    subl    $1, 4(%rbp)
    adcw    $1, 8(%rbp)
    sbbb    $1, 9(%rbp)
    andq    %r12, 16(%rbp)
    orl     %r12d, 24(%rbp)
    xorw    %r12w, 28(%rbp)
    incb    32(%rbp)
    decq    40(%rbp)
    notl    48(%rbp)
    negw    52(%rbp)
    shlq    $3, 56(%rbp)
    mov     %r12d, %ecx
    shrl    %cl, 64(%rbp)
    sarw    $1, 68(%rbp)
    rolq    $5, 72(%rbp)
    rcrb    $1, 80(%rbp)
    shldq   $7, %rax, 88(%rbp)
    shrdl   %cl, %ebx, 96(%rbp)
    btsl    $5, 104(%rbp)
    btrq    $33, 112(%rbp)
    btcl    $1, 104(%rbp)
    mov     $1, %eax
    xchg    %eax, 120(%rbp)
    xchg    %al, 124(%rbp)
    xadd    %rax, 128(%rbp)
    lock xaddl %ebx, 136(%rbp)
    lock incq 144(%rbp)
    lock orb $1, 152(%rbp)
    lock btsl $3, 156(%rbp)
    mov     160(%rbp), %rax         /* succeeds */
    mov     %r12, %rbx
    lock cmpxchg %rbx, 160(%rbp)
    mov     $-1, %rax               /* fails */
    lock cmpxchg %rbx, 160(%rbp)
    mov     168(%rbp), %eax
    cmpxchg %ebx, 168(%rbp)
    mov     $-1, %eax
    cmpxchg %ebx, 168(%rbp)

    mov     176(%rbp), %rax         /* a load, then a store of the same bytes */
    mov     %rax, 176(%rbp)
    mov     %rax, 184(%rbp)         /* a store, then a load */
    mov     184(%rbp), %rbx
    cmpl    $3, 192(%rbp)           /* reads only */
    seta    198(%rbp)
    testl   $3, 192(%rbp)
    setne   197(%rbp)
    btl     $2, 192(%rbp)
    setc   196(%rbp)               /* writes only */
    cmovne  200(%rbp), %rcx         /* reads, whatever the flags say */
    cmove   200(%rbp), %rdi
    movzbl  208(%rbp), %esi
    movsbq  209(%rbp), %r8
    movslq  212(%rbp), %r9
    imul    216(%rbp), %r10
    mulq    224(%rbp)
    bsf     232(%rbp), %r11
    addq    $4096-56, (%rbp)
    dec     %r12d
    jnz     round
    END
    .bss
    .balign 4096
data:
    .skip   4096
