/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Walks over 1 MiB: reads, writes and modifies at strides that meet few sets (4096), few colours (32768) and all of
 * them (64, 4160), each several times; then a store to every line, so that everything is dirty when it leaves.
 */
#include "guest.h"
#define BYTES 0x100000
    .macro WALK stride, rounds, body:vararg
    mov     $\rounds, %r8d
1:  xor     %eax, %eax
2:  \body
    add     $\stride, %rax
    cmp     $BYTES, %rax
    jb      2b
    dec     %r8d
    jnz     1b
    .endm
    BEGIN
    WALK 4096,  8,  xor data(%rax), %rbx
    WALK 4096,  8,  mov %rbx, data+64(%rax)
    WALK 32768, 12, addl $1, data+128(%rax)
    WALK 4160,  6,  xor data(%rax), %ebx
    WALK 4160,  4,  incq data(%rax)
    WALK 64,    1,  movb $7, data(%rax)
    WALK 256,   2,  xor data+60(%rax), %bx
    WALK 192,   1,  xor data(%rax), %dl
    WALK 1000,  3,  add data(%rax), %rcx
    END
    .bss
    .balign 4096
data:
    .skip   BYTES + 256
