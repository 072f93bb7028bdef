# SPDX-License-Identifier: GPL-2.0-or-later
# Ten rounds of instructions that compute with floating-point numbers, and of some that do not (bandwidth.py).
.globl _start
_start:
    mov $10, %ecx
again:
    addsd numbers, %xmm0        # 1, reads 8
    addpd numbers, %xmm0        # 2, reads 16
    addps %xmm1, %xmm0          # 4
    sqrtsd %xmm1, %xmm0         # 1
    mulps %xmm1, %xmm0          # 4
    haddpd %xmm1, %xmm0         # 2
    minps %xmm1, %xmm0          # 4
    rcpss %xmm1, %xmm0          # 1
    addsubpd %xmm1, %xmm0       # 2
    divss %xmm1, %xmm0          # 1
    fldl numbers                # none, reads 8
    fadd %st, %st               # 1
    fsqrt                       # 1
    fprem                       # 1
    fld1                        # none
    fcomip %st(1), %st          # none
    fsincos                     # 2
    fstp %st
    fstp %st
    ucomisd %xmm1, %xmm0        # none
    cvtsd2ss %xmm1, %xmm0       # none
    xorps %xmm1, %xmm0          # none
    paddd %xmm1, %xmm0          # none
    dec %ecx
    jnz again
    mov $60, %eax
    xor %edi, %edi
    syscall
.balign 16
.data
.balign 16
numbers:
    .double 1.5, 2.5
