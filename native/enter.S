/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Between C and translated code. The host's FS base, which C's thread-local variables need, is replaced by the guest's
 * while translated code runs, and GS by the context; where instructions cannot set them (native_sets_bases), FS stays
 * the host's, and GS is the context in C, too. The host's stack, its callee-saved registers, MXCSR and an empty x87
 * unit are there again when C goes on.
 */
#include "native/context.h"

#define OF(at) %gs:(at)
#define GPR(number) %gs:(CONTEXT_GPR + 8 * (number))
#define UCONTEXT_RIP 168 /* uc_mcontext.gregs[REG_RIP] */

        .text
        .globl native_enter_code
        .hidden native_enter_code
        .type native_enter_code, @function
native_enter_code:
        push %rbp
        push %rbx
        push %r12
        push %r13
        push %r14
        push %r15
        xor %eax, %eax
        cmpq $0, CONTEXT_BASES(%rdi)
        je 2f
        rdgsbase %rax
        wrgsbase %rdi
        rdfsbase %rdx
        mov %rdx, OF(CONTEXT_HOST_FS)
2:      push %rax
        mov %rsp, OF(CONTEXT_HOST_RSP)
        stmxcsr OF(CONTEXT_HOST_MXCSR)
        mov %rsi, OF(CONTEXT_ENTRY)
        mov OF(CONTEXT_WIDE), %eax
        xor %edx, %edx
        test %eax, %eax
        jz 1f
        xrstor64 OF(CONTEXT_FXSAVE)
1:      fxrstor64 OF(CONTEXT_FXSAVE)
        cmpq $0, OF(CONTEXT_BASES)
        je 2f
        mov OF(CONTEXT_FS_BASE), %rax
        wrfsbase %rax
2:      pushq OF(CONTEXT_FLAGS)
        popfq
        mov GPR(0), %rax
        mov GPR(1), %rcx
        mov GPR(2), %rdx
        mov GPR(3), %rbx
        mov GPR(4), %rsp
        mov GPR(5), %rbp
        mov GPR(6), %rsi
        mov GPR(7), %rdi
        mov GPR(8), %r8
        mov GPR(9), %r9
        mov GPR(12), %r12
        mov GPR(13), %r13
        mov GPR(14), %r14
        mov GPR(15), %r15
        mov OF(CONTEXT_PACE), %r10
        jmp *OF(CONTEXT_ENTRY)
        .size native_enter_code, . - native_enter_code

        .globl native_leave_code
        .hidden native_leave_code
        .type native_leave_code, @function
native_leave_code:
        mov %rsp, GPR(4)
        mov OF(CONTEXT_HOST_RSP), %rsp
        pushfq
        popq OF(CONTEXT_FLAGS)
        mov %rax, GPR(0)
        mov %rcx, GPR(1)
        mov %rdx, GPR(2)
        mov %rbx, GPR(3)
        mov %rbp, GPR(5)
        mov %rsi, GPR(6)
        mov %rdi, GPR(7)
        mov %r8, GPR(8)
        mov %r9, GPR(9)
        mov %r12, GPR(12)
        mov %r13, GPR(13)
        mov %r14, GPR(14)
        mov %r15, GPR(15)
        mov %r11, OF(CONTEXT_TARGET)
        mov %r10, OF(CONTEXT_PACE)
        .size native_leave_code, . - native_leave_code

        .globl native_left_code
        .hidden native_left_code
        .type native_left_code, @function
native_left_code:
        mov OF(CONTEXT_WIDE), %eax
        xor %edx, %edx
        test %eax, %eax
        jz 1f
        xsave64 OF(CONTEXT_FXSAVE)
1:      fxsave64 OF(CONTEXT_FXSAVE)
        cld
        fninit
        ldmxcsr OF(CONTEXT_HOST_MXCSR)
        pop %rdx
        cmpq $0, OF(CONTEXT_BASES)
        je 2f
        mov OF(CONTEXT_HOST_FS), %rax
        wrfsbase %rax
        wrgsbase %rdx
2:      pop %r15
        pop %r14
        pop %r13
        pop %r12
        pop %rbx
        pop %rbp
        ret
        .size native_left_code, . - native_left_code

        .globl native_execute_masked
        .hidden native_execute_masked
        .type native_execute_masked, @function
native_execute_masked:
        push %rbx
        push %r12
        push %r13
        mov %rdi, %rbx
        mov %rsi, %r12
        mov %rdx, %r13
        stmxcsr CONTEXT_HOST_MXCSR(%rbx)
        mov CONTEXT_WIDE(%rbx), %eax
        xor %edx, %edx
        xrstor64 CONTEXT_FXSAVE(%rbx)
        fxrstor64 CONTEXT_FXSAVE(%rbx)
        mov %r13, %rax
        call *%r12
        mov CONTEXT_WIDE(%rbx), %eax
        xor %edx, %edx
        xsave64 CONTEXT_FXSAVE(%rbx)
        fxsave64 CONTEXT_FXSAVE(%rbx)
        vzeroupper
        fninit
        ldmxcsr CONTEXT_HOST_MXCSR(%rbx)
        pop %r13
        pop %r12
        pop %rbx
        ret
        .size native_execute_masked, . - native_execute_masked

        .globl native_on_signal
        .hidden native_on_signal
        .type native_on_signal, @function
native_on_signal:
        cld
        mov UCONTEXT_RIP(%rdx), %rax
        cmp native_code_start(%rip), %rax
        jb native_foreign_signal
        cmp native_code_end(%rip), %rax
        jae native_foreign_signal
        mov native_running(%rip), %rcx
        cmpq $0, CONTEXT_BASES(%rcx)
        je 2f
        mov CONTEXT_HOST_FS(%rcx), %rax
        wrfsbase %rax
2:      sub $8, %rsp
        call native_signal
        add $8, %rsp
        test %al, %al
        jz 1f
        mov native_running(%rip), %rcx
        cmpq $0, CONTEXT_BASES(%rcx)
        je 1f
        mov CONTEXT_FS_BASE(%rcx), %rax
        wrfsbase %rax
1:      ret
        .size native_on_signal, . - native_on_signal

        .section .note.GNU-stack, "", @progbits
