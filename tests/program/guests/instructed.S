/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Instructions made for caches, in six parts; tests/program/instructed.py says what each must count. */
        .globl  _start, near, far, whole, pieces, flushes, hints
        .bss
        .balign 4096
area:   .skip   16*4096

        .text
_start:
        lea     area, %rbx
        xor     %ecx, %ecx
touch:  movb    $1, (%rbx,%rcx)
        add     $4096, %rcx
        cmp     $16*4096, %rcx
        jb      touch

        xor     %ecx, %ecx              /* lines 0 to 255, 8 ahead */
near:   prefetcht0 8*64(%rbx,%rcx)
        mov     (%rbx,%rcx), %rax
        add     $64, %rcx
        cmp     $4*4096, %rcx
        jb      near

far:    prefetcht0 44*64(%rbx,%rcx)     /* lines 256 to 511, 44 ahead */
        mov     (%rbx,%rcx), %rax
        add     $64, %rcx
        cmp     $8*4096, %rcx
        jb      far

whole:  movntdq %xmm0, (%rbx,%rcx)      /* page 8 */
        movntdq %xmm0, 16(%rbx,%rcx)
        movntdq %xmm0, 32(%rbx,%rcx)
        movntdq %xmm0, 48(%rbx,%rcx)
        add     $64, %rcx
        cmp     $9*4096, %rcx
        jb      whole

pieces: movnti  %eax, 64(%rbx,%rcx)     /* lines 1 to 12 of page 9 */
        add     $64, %rcx
        cmp     $9*4096+12*64, %rcx
        jb      pieces

        movb    $2, 10*4096(%rbx)
flushes:
        clflush 10*4096(%rbx)
        clflushopt 10*4096(%rbx)
        movb    $3, 10*4096(%rbx)
        clwb    10*4096(%rbx)
        clwb    10*4096(%rbx)
        mov     10*4096(%rbx), %al

hints:  prefetcht0 0
        prefetcht1 11*4096+64(%rbx)
        prefetcht2 11*4096+128(%rbx)
        prefetchnta 11*4096+192(%rbx)
        prefetchw 11*4096+256(%rbx)
        mov     11*4096+64(%rbx), %al
        mov     11*4096+128(%rbx), %al
        mov     11*4096+192(%rbx), %al
        mov     11*4096+256(%rbx), %al

        mov     $60, %eax
        xor     %edi, %edi
        syscall
