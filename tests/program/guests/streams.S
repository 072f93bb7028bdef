/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Reads a line after another of 16 pages upwards, then writes them downwards.
 */
#include "guest.h"
#define BYTES 16*4096
    BEGIN
    xor     %eax, %eax
    .globl up
up: mov     data(%rax), %rbx
    add     $64, %rax
    cmp     $BYTES, %rax
    jb      up
    .globl down
down:
    movq    $1, data-64(%rax)
    sub     $64, %rax
    jnz     down
    END
    .bss
    .balign 4096
    .globl data
    .type data, @object
    .size data, BYTES
data:
    .skip   BYTES
