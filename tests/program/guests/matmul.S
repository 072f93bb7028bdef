/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * C = A * B with N x N doubles, the textbook triple loop; A[i] = i, B[i] = 2i first.
 */
#include "guest.h"
#ifndef N
#define N 48
#endif
    BEGIN
    xor     %eax, %eax
fill:
    cvtsi2sd %rax, %xmm0
    movsd   %xmm0, a(,%rax,8)
    addsd   %xmm0, %xmm0
    movsd   %xmm0, b(,%rax,8)
    inc     %rax
    cmp     $N*N, %rax
    jb      fill

    xor     %esi, %esi              /* i * N */
rows:
    xor     %edi, %edi              /* j */
columns:
    pxor    %xmm0, %xmm0
    lea     a(,%rsi,8), %rax
    lea     b(,%rdi,8), %rbx
    mov     $N, %ecx
product:
    movsd   (%rax), %xmm1
    mulsd   (%rbx), %xmm1
    addsd   %xmm1, %xmm0
    add     $8, %rax
    add     $8*N, %rbx
    dec     %ecx
    jnz     product
    lea     (%rsi,%rdi), %rdx
    movsd   %xmm0, c(,%rdx,8)
    inc     %rdi
    cmp     $N, %rdi
    jb      columns
    add     $N, %rsi
    cmp     $N*N, %rsi
    jb      rows
    END
    .bss
    .balign 4096
a:  .skip   8*N*N
    .balign 64
b:  .skip   8*N*N
    .balign 64
c:  .skip   8*N*N
