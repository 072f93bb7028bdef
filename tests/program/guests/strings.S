/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * String instructions: with REP and without, up and down, none, one and many elements, over page boundaries, found
 * and not found.
 */
#include "guest.h"
    .macro RUN source, destination, count, op:vararg
    lea     \source, %rsi
    lea     \destination, %rdi
    mov     $\count, %ecx
    \op
    .endm
    BEGIN
    mov     $0x41, %eax
    RUN data,      data,           1000, rep stosb
    RUN data,      data+1000,      1,    rep stosb
    RUN data,      data+1001,      0,    rep stosb
    RUN data,      data+1003,      700,  rep stosq
    RUN data,      data+8192,      300,  rep stosw
    RUN data,      data+9000,      300,  rep stosl
    RUN data,      data+4096*3,    2000, rep movsb
    RUN data+3,    data+4096*4+5,  900,  rep movsq
    RUN data,      data+4096*6,    200,  rep movsw
    RUN data,      data+4096*6+61, 200,  rep movsl
    RUN data,      data+4096*3,    0,    rep movsq
    RUN data,      data+8,         50,   rep movsq
    std
    RUN data+4000, data+4096*7,    500,  rep movsl
    RUN data+4000, data+4096*7,    100,  rep stosq
    RUN data+4000, data+4096*8,    3,    lodsq
    lodsb
    mov     %rax, data+3112
    cld
    RUN data,      data+4096*3,    2000, repe cmpsb
    movb    $0x42, data+300
    RUN data,      data+4096*3,    2000, repe cmpsb
    RUN data,      data+4096*3,    0,    repe cmpsb
    RUN data,      data,           2000, repe scasb
    mov     $0x42, %eax
    RUN data,      data,           2000, repne scasb
    RUN data,      data,           100,  repne scasw
    RUN data+512,  data+512,       40,   repne scasl
    RUN data,      data,           0,    repne scasb
    RUN data+50,   data+4096*9-4,  7,    movsq
    movsb
    movsl
    stosb
    stosq
    scasb
    sete    data+3100
    lodsl
    mov     %eax, data+3104

    lea     data+7, %rsi            /* strlen, a byte at a time */
    movb    $0, data+3000
length:
    cmpb    $0, (%rsi)
    lea     1(%rsi), %rsi
    jne     length
    END
    .bss
    .balign 4096
data:
    .skip   4096 * 10
