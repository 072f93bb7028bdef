/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Twelve phases of four kinds, each of 10003 instructions, in the order of `order`: A counts; B walks 16 KiB, line by
 * line; C walks 256 KiB so; D stores to each page of 4 MiB. Two instructions come before the first phase. The end of
 * each is the same code.
 */
#include "guest.h"
    .macro  PHASE times
    mov     $\times, %ecx
1:
    .endm
    .macro  NEXT
    dec     %ecx
    jnz     1b
    jmp     next
    .endm
    .macro  STEP bytes, size
    add     $\bytes, %edx
    and     $\size-1, %edx
    .endm

    BEGIN                       /* %rbx is 0 */
    jmp     *order
count:
    PHASE   3333
    add     $1, %eax
    NEXT
walk_16k:
    PHASE   1111
    mov     memory(%rdx), %eax
    STEP    64, 0x4000
    .rept   4
    add     %eax, %esi
    .endr
    NEXT
walk_256k:
    PHASE   909
    mov     memory(%rdx), %eax
    STEP    64, 0x40000
    .rept   6
    add     %eax, %esi
    .endr
    NEXT
store_4m:
    PHASE   303
    mov     %eax, memory(%rdx)
    STEP    4096, 0x400000
    .rept   28
    add     %eax, %esi
    .endr
    NEXT
next:
    lea     8(%rbx), %rbx
    jmp     *order(%rbx)
leave:
    END
    .balign 8
order:
    .quad   count, count, walk_16k, count, walk_16k, walk_256k
    .quad   count, walk_16k, store_4m, walk_256k, count, walk_16k, leave
    .bss
    .balign 4096
memory:
    .skip   0x400000
