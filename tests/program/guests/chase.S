/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A chase through 8192 lines (512 KiB) in an order that no line repeats in: x -> 5x + 3 mod 8192 is one cycle, as 5
 * mod 4 = 1 and 3 is odd. The list is written first; the chase goes round three times and dirties every other line.
 */
#include "guest.h"
#ifndef LINES
#define LINES 8192
#endif
    BEGIN
    xor     %eax, %eax
link:
    lea     3(%rax,%rax,4), %ebx
    and     $LINES-1, %ebx
    mov     %eax, %ecx
    shl     $6, %ecx
    shl     $6, %ebx
    lea     list(%rbx), %rbx
    mov     %rbx, list(%rcx)
    inc     %eax
    cmp     $LINES, %eax
    jb      link

    mov     $3*LINES, %ecx
    lea     list, %rbx
step:
    test    $1, %cl
    jz      1f
    incl    8(%rbx)
1:  mov     (%rbx), %rbx
    dec     %ecx
    jnz     step
    END
    .bss
    .balign 4096
list:
    .skip   64 * LINES
