/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Reads one byte of each of 512 lines that lie STEP bytes apart, once. Every read is cold: there is nothing to hit.
 */
#define SYS_MMAP 9
#include "guest.h"
#ifndef STEP
#define STEP 0x100000000 /* 4 GiB */
#endif
    BEGIN
    movabs  $0x100000000000, %rbx
    mov     $512, %r12d
next:
    mov     $SYS_MMAP, %eax
    mov     %rbx, %rdi
    mov     $4096, %esi
    mov     $3, %edx                /* PROT_READ | PROT_WRITE */
    mov     $0x100022, %r10d        /* MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE */
    mov     $-1, %r8
    xor     %r9d, %r9d
    syscall
    cmp     %rbx, %rax
    jne     failed
    movzbl  (%rbx), %eax
    add     %eax, %r13d
    movabs  $STEP, %rax
    add     %rax, %rbx
    dec     %r12d
    jnz     next
    END
failed:
    mov     $60, %eax
    mov     $1, %edi
    syscall
