/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * String instructions that a comparison ends, with counts that no memory holds, as inline strlen has them: strlen.py
 * has their references. A result that is not the CPU's ends with status 1.
 *
 * 200 bytes `a`, 40 from the end of a page, and zeros before and behind them. The same once more in `other`, but that
 * the last one is a `b`.
 */
#include "guest.h"
    .macro IS register, value:vararg
    lea     \value, %rdx
    cmp     %rdx, \register
    jne     wrong
    .endm
    BEGIN
    mov     $0x61, %eax
    lea     data+4056, %rdi
    mov     $200, %ecx
    rep stosb
    lea     other+8, %rdi
    mov     $199, %ecx
    rep stosb
    movb    $0x62, (%rdi)

    xor     %eax, %eax              /* strlen: 201 bytes read */
    lea     data+4056, %rdi
    or      $-1, %rcx
    repne scasb
    not     %rcx
    dec     %rcx
    IS      %rcx, 200
    IS      %rdi, data+4257

    movabs  $0x8000000000000000, %rcx   /* words: 101 read, the last is none of `a` */
    lea     data+4056, %rdi
    repne scasw
    IS      %rdi, data+4258
    movabs  $0x8000000000000000-101, %rdx
    cmp     %rdx, %rcx
    jne     wrong

    movabs  $0x8000000000000032, %rcx   /* the count goes on below 2^63: 200 pairs read */
    lea     data+4056, %rsi
    lea     other+8, %rdi
    repe cmpsb
    IS      %rsi, data+4256
    movabs  $0x8000000000000032-200, %rdx
    cmp     %rdx, %rcx
    jne     wrong

    std                             /* back to the zero before the string: 201 bytes read */
    lea     data+4255, %rdi
    mov     $-1, %rcx
    repne scasb
    cld
    IS      %rdi, data+4054
    IS      %rcx, -1-201

    END
wrong:
    mov     $60, %eax
    mov     $1, %edi
    syscall
    .bss
    .balign 4096
data:
    .skip   8192
other:
    .skip   4096
