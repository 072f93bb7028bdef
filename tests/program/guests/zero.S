/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Reads the first bytes of 128 pages that nobody has written, ten times over, then writes the first 16 of them.
 */
#include "guest.h"
#define PAGES 128
#define WRITTEN 16
    BEGIN
    mov     $10, %r8d
1:  xor     %eax, %eax
2:  mov     data(%rax), %rbx
    add     $4096, %rax
    cmp     $PAGES*4096, %rax
    jb      2b
    dec     %r8d
    jnz     1b
    xor     %eax, %eax
3:  movq    $1, data(%rax)
    add     $4096, %rax
    cmp     $WRITTEN*4096, %rax
    jb      3b
    END
    .bss
    .balign 4096
data:
    .skip   PAGES*4096
