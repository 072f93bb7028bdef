/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Functions that are entered and left in every way, each of so many instructions that they can be counted by hand:
 * regions.py says how many. Each loop of _start calls all of them once; a numbered line has nothing else on it.
 */
#define FUNCTION(name) .globl name; .type name, @function; name
#define END(name) .size name, . - name

    .text
FUNCTION(leaf):                 /* 4 */
    mov     cell(%rip), %eax
    add     $1, %eax
    mov     %eax, cell(%rip)
    ret
END(leaf)

FUNCTION(twice):                /* 5 + 2 * 4, leaf within */
    nop
    call    leaf
    nop
    call    leaf
    ret
END(twice)

FUNCTION(recurse):              /* n * 5 + 3 */
    test    %edi, %edi
    je      1f
    dec     %edi
    call    recurse
1:  ret
END(recurse)

FUNCTION(tail):                 /* 2 + 4: leaf's RET is its own */
    nop
    jmp     leaf
END(tail)

FUNCTION(escape):               /* 3 + 3: the JMP of deeper is the last */
    push    %rax
    push    %rax
    call    deeper
    hlt
END(escape)

FUNCTION(deeper):
    nop
    mov     %rbx, %rsp
    jmp     landed
END(deeper)

FUNCTION(lies):                 /* 4: it returns to elsewhere */
    pop     %rax
    lea     elsewhere(%rip), %rax
    push    %rax
    ret
END(lies)

FUNCTION(switches):             /* 5 + 4: leaf on another stack, which lies above this one's frame or below */
    mov     %rsp, %rbp
    lea     stack_end(%rip), %rsp
    call    leaf
    mov     %rbp, %rsp
    ret
END(switches)

FUNCTION(before):               /* 1, and what it falls into */
    nop
END(before)
FUNCTION(fallen):               /* 2 */
    nop
    ret
END(fallen)

FUNCTION(repeats):              /* 4: REP is one instruction */
    lea     cells(%rip), %rdi
    mov     $16, %ecx
    rep stosq
    ret
END(repeats)

FUNCTION(quits):                /* 3, to the end of the run */
    mov     $60, %eax
    xor     %edi, %edi
    syscall
END(quits)

FUNCTION(_start):
    mov     $3, %r12d
again:
    call    leaf
    call    twice
    mov     $4, %edi
    call    recurse
    call    tail
    mov     %rsp, %rbx
    call    escape
landed:
    call    lies
elsewhere:
    call    switches
    call    before
    call    fallen
    call    repeats
marked:
    dec     %r12d
    jne     again
    call    quits
END(_start)

    .bss
    .balign 64
cell:
    .zero   64
cells:
    .zero   128
    .zero   512
stack_end:
    .zero   64
    .section .note.GNU-stack, "", @progbits
