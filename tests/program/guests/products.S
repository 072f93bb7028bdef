/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A matrix of 200 x 200 numbers of 8 bytes, 5000 lines: written, summed, and summed from its end back to its start. An
 * LRU cache of 4096 lines misses all of it twice, and then the 904 lines that the last sum has come to first. Each pass
 * has 160,000 instructions and a few.
 */
#include "guest.h"
#define BYTES (8 * 200 * 200)
    BEGIN
    xor     %eax, %eax
write:
    mov     %rax, matrix(%rax)
    add     $8, %rax
    cmp     $BYTES, %rax
    jb      write
    xor     %eax, %eax
forth:
    add     matrix(%rax), %rdx
    add     $8, %rax
    cmp     $BYTES, %rax
    jb      forth
    mov     $BYTES, %eax
back:
    add     matrix-8(%rax), %rdx
    sub     $8, %rax
    test    %rax, %rax
    jnz     back
    END
    .bss
    .balign 4096
matrix:
    .skip   BYTES
