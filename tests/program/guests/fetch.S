/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Code larger than a small L1I: 96 functions of 1 KiB and 24 that lie 4096 bytes apart, so that they share sets; long
 * instructions cross lines and pages. Each does a little data of its own. Three rounds forward, two backward.
 */
#include "guest.h"
    BEGIN
    mov     $3, %r12d
forward:
    .set i, 0
    .rept 96
    call    near_0 + 1024 * i
    .set i, i + 5
    .if i >= 96
    .set i, i - 96
    .endif
    .endr
    .set i, 0
    .rept 24
    call    far_0 + 4096 * i
    .set i, i + 1
    .endr
    dec     %r12d
    jnz     forward
    mov     $2, %r12d
backward:
    .set i, 24
    .rept 24
    .set i, i - 1
    call    far_0 + 4096 * i
    .endr
    dec     %r12d
    jnz     backward
    END

    .balign 1024
    .set i, 0
near_0:
    .rept 96
    movabs  $0x123456789abcdef, %rax
    .skip   40, 0x90
    movq    $1234567, data + 64 * i          /* 12 bytes: crosses the first line's end */
    incl    data + 64 * i + 32
    jmp     1f
    .skip   500, 0x90
1:  movabs  $data, %rax
    mov     data + 64 * i + 32, %ebx
    ret
    .balign 1024, 0x90
    .set i, i + 1
    .endr

    .balign 4096, 0x90
    .skip   4088, 0x90
    .set i, 0
far_0:                                       /* 8 bytes before a page ends */
    .rept 24
    movq    $7654321, data + 64 * i + 8      /* 12 bytes: crosses the page */
    addl    $1, data + 64 * i + 40
    ret
    .skip   4096 - 12 - 8 - 1, 0x90
    .set i, i + 1
    .endr
    .bss
    .balign 4096
data:
    .skip   64 * 96
