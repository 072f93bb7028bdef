/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What Valgrind does not execute or sees otherwise, and what is easily counted wrongly: 2-byte pops to memory, CMPS
 * without REP, FXSAVE over a page boundary, CMPXCHG16B, bits far away, a REP whose source is its destination (each
 * element a read and a write of the same bytes by one instruction, yet no modify), MASKMOVDQU.
 */
#include "guest.h"
    BEGIN
    mov     $30, %r12d
round:
    pushw   $7
    popw    data
    push    data
    pop     data
    lea     data, %rsi
    lea     data+1000, %rdi
    cmpsw
    cmpsb
    scasl
    mov     $9, %ecx
    rep lodsb
    mov     $9, %ecx
    rep movsl
    lea     data+64, %rsi
    mov     %rsi, %rdi
    mov     $20, %ecx
    rep movsq
    lea     data+64, %rsi
    mov     %rsi, %rdi
    movsb
    fxsave  data+4096-256
    fxrstor data+4096-256
    fnstenv data+4096*2-14
    fldenv  data+4096*2-14
    lock cmpxchg16b data+512
    cmpxchg8b data+528
    mov     $100000, %eax
    bts     %rax, data
    mov     $-20000, %rax
    btc     %eax, data+4096
    pcmpeqd %xmm0, %xmm0
    movdqa  %xmm0, %xmm1
    lea     data+2048, %rdi
    maskmovdqu %xmm1, %xmm0
    pxor    %xmm1, %xmm1
    maskmovdqu %xmm1, %xmm0
    fisttpl data+620
    cmpxchg %ebx, data+630
    lea     data, %rbx
    mov     $5, %eax
    xlat
    clflush data
    lfence
    dec     %r12d
    jnz     round
    END
    .bss
    .balign 4096
data:
    .skip   4096 * 4
