/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * fib2(4, 4), each of whose calls executes a number of instructions that can be counted by hand: contexts.py does.
 *
 *     int fib2(int i, int j) {
 *         if ((i<2) || (j<2)) return 1;
 *         return fib2(i, j-1) + fib2(i-1, j) + fib2(i-1, j-1); }
 */
#define FUNCTION(name) .globl name; .type name, @function; name
#define END(name) .size name, . - name

    .text
FUNCTION(fib2):                 /* i < 2: 4; else j < 2: 6; else 25 and three calls */
    cmp     $2, %edi
    jl      1f
    cmp     $2, %esi
    jl      1f
    push    %rdi
    push    %rsi
    push    %rbx
    dec     %esi
    call    fib2                /* (i, j-1) */
    mov     %eax, %ebx
    mov     8(%rsp), %rsi
    mov     16(%rsp), %rdi
    dec     %edi
    call    fib2                /* (i-1, j) */
    add     %eax, %ebx
    mov     8(%rsp), %rsi
    mov     16(%rsp), %rdi
    dec     %edi
    dec     %esi
    call    fib2                /* (i-1, j-1) */
    add     %ebx, %eax
    pop     %rbx
    pop     %rsi
    pop     %rdi
    ret
1:  mov     $1, %eax
    ret
END(fib2)

FUNCTION(_start):
    movabs  $0xdeadbeef00000004, %rdi /* what is above the int is nobody's */
    mov     $4, %esi
    call    fib2
    mov     $60, %eax
    xor     %edi, %edi
    syscall
END(_start)
