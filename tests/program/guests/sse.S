/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Wide accesses: 16 bytes aligned, crossing a line, crossing a page; 2, 4 and 8 bytes crossing both; modifies that
 * cross; x87 of 4, 8 and 10 bytes. Plus what must not count: lea, a nop with a memory operand. (Instructions made for
 * caches, which Cachegrind takes for ordinary ones or for none, are in instructed.S.)
 */
#include "guest.h"
    .macro AT address               /* each value read is used: a load that nobody needs Valgrind leaves out */
    movups  \address, %xmm0
    movdqu  \address, %xmm1
    addps   %xmm1, %xmm0
    movupd  %xmm0, \address
    lddqu   \address, %xmm2
    por     %xmm2, %xmm5
    movq    \address, %xmm3
    movlps  %xmm3, \address
    movhps  \address, %xmm3
    por     %xmm3, %xmm5
    movsd   \address, %xmm4
    movss   %xmm4, \address
    mov     \address, %rax
    add     \address, %eax
    add     \address, %ax
    add     \address, %al
    mov     %rax, \address
    mov     %eax, \address
    mov     %ax, \address
    addq    $1, \address
    addl    $1, \address
    addw    $1, \address
    addb    $1, \address
    fldl    \address
    fstpl   \address
    flds    \address
    fstps   \address
    fildq   \address
    fistpl  \address
    .endm
    BEGIN
    AT page+64
    AT page+56
    AT page+61
    AT page+63
    AT page+4096
    AT page+4096*2-1
    AT page+4096*3-2
    AT page+4096*4-4
    AT page+4096*5-8
    AT page+4096*6-15
    AT page+4096*7-3
    movaps  page, %xmm0
    movapd  page+16, %xmm1
    movdqa  %xmm0, page+32
    movdqa  %xmm0, page+48
    movaps  %xmm0, page+64
    mov     %rax, page+80
    addps   page, %xmm0
    mulpd   page+16, %xmm1
    pand    page+32, %xmm0
    pshufd  $0x1b, page+48, %xmm5
    paddq   page+64, %xmm5
    cvtsi2sdq page, %xmm6
    cvttsd2si page, %r8
    ucomisd page+8, %xmm6
    sqrtsd  page+16, %xmm6
    cmpltsd page+24, %xmm6
    movmskps %xmm0, %eax
    pinsrw  $3, page+62, %xmm0
    shufps  $0x4e, page+128, %xmm0
    pshufb  page+128, %xmm0
    nopl    page+4096*8
    lea     page+4096*8, %rax
    fninit
    fldt    page+256
    fstpt   page+256
    fnstcw  page+300
    fldcw   page+300
    stmxcsr page+304
    ldmxcsr page+304

    mov     $500, %ecx              /* a sweep that crosses a line every fourth time */
    xor     %eax, %eax
sweep:
    movdqu  page+5(%rax), %xmm7
    movdqu  %xmm7, page+16384(%rax)
    add     $16, %rax
    dec     %ecx
    jnz     sweep
    END
    .bss
    .balign 4096
page:
    .skip   4096 * 9
