/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * For explain.py, which derives every access: three lines 1 KiB apart, four times in turn, the third of them read and
 * then written; then 40 lines in a row, twice.
 */
#include "guest.h"
    BEGIN
    mov     $4, %ecx
1:  mov     first, %rax
    mov     first+1024, %rax
    incq    first+2048
    dec     %ecx
    jnz     1b
    mov     $2, %ecx
2:  xor     %eax, %eax
3:  mov     row(%rax), %rdx
    add     $64, %eax
    cmp     $2560, %eax
    jb      3b
    dec     %ecx
    jnz     2b
    END
    .bss
    .balign 4096
first:
    .skip   4096
row:
    .skip   4096
    .type   first, @object
    .size   first, 4096
    .type   row, @object
    .size   row, 4096
