/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Code that lies in no file: two functions are copied to memory that is mapped for them, and called. walk executes 2 +
 * 4 * 1000 instructions and reads a line each round; idle executes 2.
 */
#define WALK 0x20000000
#define IDLE 0x20000100
    .globl _start
    .text
_start:
    mov     $9, %eax            /* mmap */
    mov     $WALK, %edi
    mov     $4096, %esi
    mov     $7, %edx
    mov     $0x32, %r10d        /* private, anonymous, fixed */
    mov     $-1, %r8
    xor     %r9d, %r9d
    syscall
    lea     walk(%rip), %rsi
    mov     $WALK, %edi
    mov     $(walk_end - walk), %ecx
    rep movsb
    lea     idle(%rip), %rsi
    mov     $IDLE, %edi
    mov     $(idle_end - idle), %ecx
    rep movsb
    lea     data(%rip), %rdi
    mov     $WALK, %eax
    call    *%rax
    mov     $IDLE, %eax
    call    *%rax
    mov     $60, %eax
    xor     %edi, %edi
    syscall

walk:
    mov     $1000, %ecx
1:  mov     (%rdi), %rax
    add     $64, %rdi
    dec     %ecx
    jnz     1b
    ret
walk_end:
idle:
    nop
    ret
idle_end:

    .bss
    .balign 4096
data:
    .skip   64000
