/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Masked moves, gathers, scatters and XSAVE of x86-64-v4: wide.py has their references. What they have made of `data`
 * is written to the standard output.
 */
#include "guest.h"
    BEGIN
    lea     data, %rbx
    mov     $0x0f0f, %eax           /* elements 0-3 and 8-11 */
    kmovw   %eax, %k1
    kxorw   %k3, %k3, %k3
    vmovups (%rbx), %zmm0
    vmovups (%rbx), %zmm1{%k1}
    vmovups %zmm0, 128(%rbx){%k1}
    vaddps  (%rbx){1to16}, %zmm0, %zmm2{%k1}
    vpermd  (%rbx), %zmm0, %zmm2{%k1}
    vmovups (%rbx), %zmm1{%k3}
    vcompressps %zmm0, 256(%rbx){%k1}
    vexpandps 256(%rbx), %zmm3{%k1}
    vmovdqa32 index, %zmm4
    kmovw   %k1, %k2
    vgatherdps (%rbx,%zmm4,4), %zmm5{%k2}
    kmovw   %k1, %k2
    vpscatterdd %zmm5, 512(%rbx,%zmm4,4){%k2}
    vmovdqa signs, %ymm6
    vmaskmovps 4(%rbx), %ymm6, %ymm7
    vmaskmovps %ymm7, %ymm6, 388(%rbx)
    vmovdqa index, %ymm8
    vpgatherdd %ymm6, (%rbx,%ymm8,4), %ymm9
    vmovntps %zmm5, 64(%rbx)
    mov     $7, %eax
    xor     %edx, %edx
    xsave   area
    vxorps  %xmm0, %xmm0, %xmm0
    xrstor  area
    vmovups %ymm0, 640(%rbx)
    vzeroupper
    mov     $1, %eax
    mov     $1, %edi
    lea     data, %rsi
    mov     $768, %edx
    syscall
    END

    .data
    .balign 4096
data:
    .set    i, 0
    .rept   192
    .long   0x3f800000 + i * 0x10001
    .set    i, i + 1
    .endr
index:
    .long   5, 4, 3, 2, 1, 0, 6, 7, 12, 12, 13, 31, 0, 0, 0, 0
    .balign 64
signs:
    .long   -1, 0, -1, -1, 0, 0, 0, -1
    .balign 64
area:
    .fill   2688
