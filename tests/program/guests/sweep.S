/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Matrices of 1000 x 1000 numbers of 4 bytes, row by row, each at a multiple of 2 MiB.
 * SWEEPS: the sum of `a` by rows, then by columns. Else a[i][j] += b[i][j] * b[j][i], in blocks of BLOCK x BLOCK (1000:
 * there is one), rows of blocks one after the other.
 */
#define N 1000
#define ROW (4 * N)
    .text
    .globl _start
_start:
#ifdef SWEEPS
    xor     %esi, %esi          /* 4000 i */
rows:
    xor     %eax, %eax          /* 4 j */
row:
    .globl  by_rows
by_rows:
    add     a(%rsi,%rax), %edx
    add     $4, %rax
    cmp     $ROW, %rax
    jb      row
    add     $ROW, %rsi
    cmp     $(ROW * N), %rsi
    jb      rows
    xor     %esi, %esi          /* 4 i */
columns:
    xor     %eax, %eax          /* 4000 j */
column:
    .globl  by_columns
by_columns:
    add     a(%rsi,%rax), %edx
    add     $ROW, %rax
    cmp     $(ROW * N), %rax
    jb      column
    add     $4, %rsi
    cmp     $ROW, %rsi
    jb      columns
#else
    xor     %r8d, %r8d          /* ii */
blocks_of_rows:
    xor     %r9d, %r9d          /* jj */
blocks:
    mov     %r8, %r10           /* i + ii */
    lea     BLOCK(%r8), %r14
rows:
    imul    $ROW, %r10, %rsi    /* of the row */
    lea     (,%r10,4), %rdi     /* of the column */
    mov     %r9, %rax           /* j + jj */
    lea     BLOCK(%r9), %r15
    imul    $ROW, %r9, %rcx
row:
    .globl  row_of_b
row_of_b:
    mov     b(%rsi,%rax,4), %edx
    .globl  column_of_b
column_of_b:
    imul    b(%rdi,%rcx), %edx
    .globl  row_of_a
row_of_a:
    add     %edx, a(%rsi,%rax,4)
    add     $ROW, %rcx
    inc     %rax
    cmp     %r15, %rax
    jb      row
    inc     %r10
    cmp     %r14, %r10
    jb      rows
    add     $BLOCK, %r9
    cmp     $N, %r9
    jb      blocks
    add     $BLOCK, %r8
    cmp     $N, %r8
    jb      blocks_of_rows
#endif
    mov     $60, %eax
    xor     %edi, %edi
    syscall
    .bss
    .balign 0x200000
a:  .skip   ROW * N
    .balign 0x200000
b:  .skip   ROW * N
    .section .note.GNU-stack, "", @progbits
