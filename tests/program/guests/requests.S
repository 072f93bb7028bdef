/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Requests to Valgrind between instructions that are counted by hand: regions.py has the numbers. No C library, so that
 * Callgrind counts the same instructions. PART: 1 all that begins and ends, 2 only a beginning, 3 dumps.
 */
#define DUMP_STATS      0x43540000      /* 'C' 'T', as valgrind/callgrind.h numbers them */
#define ZERO_STATS      0x43540001
#define TOGGLE_COLLECT  0x43540002
#define DUMP_STATS_AT   0x43540003
#define START           0x43540004
#define STOP            0x43540005
#define RUNNING         0x1001

.macro request number, argument=0       /* 6 instructions, and 5 that do nothing */
    movq    $\number, arguments(%rip)
    lea     \argument, %rcx
    mov     %rcx, arguments+8(%rip)
    lea     arguments(%rip), %rax
    mov     $0, %edx
    nop
    rol     $3, %rdi
    rol     $13, %rdi
    rol     $61, %rdi
    rol     $51, %rdi
    xchg    %rbx, %rbx
.endm

.macro work lines                       /* 1 + 3 * lines instructions, a read of a new line each */
    mov     $\lines, %ecx
1:  mov     (%r8), %eax
    add     $64, %r8
    loop    1b
.endm

    .text
    .globl  _start
    .type   _start, @function
_start:
    lea     data(%rip), %r8             /* 2 */
    mov     $0x123456789abcdef, %rdi
    work    10
#if PART == 1
    request START
    work    20
    request STOP
    work    5
    request START
    work    7
    request TOGGLE_COLLECT
    work    3
    request TOGGLE_COLLECT
    work    2
    request STOP
    request RUNNING
#elif PART == 2
    request START
    work    20
    call    apart                       /* 2: Callgrind has not accounted the block that the program ends in */
#else
    request DUMP_STATS
    work    4
    request DUMP_STATS_AT, half
    work    6
    request ZERO_STATS
    .globl  zeroed
zeroed:
    lea     data(%rip), %r8
    work    15
    request DUMP_STATS_AT, odd
    work    8
#endif
    mov     %edx, %edi                  /* 3; the status is the last answer */
    mov     $60, %eax
    syscall
apart:
    ret
    .size   _start, . - _start

    .section .rodata
half:
    .string "half of it"
odd:
    .string "odd \n \377"
    .bss
    .balign 64
arguments:
    .zero   64
data:
    .zero   64 * 256
    .section .note.GNU-stack, "", @progbits
