/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Variable-length arrays and alloca, each with references that can be counted by hand.
 */
#include <alloca.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define NEVER_INLINED __attribute__((noinline))
#define KEEP(array) __asm__ volatile("" : : "r"(array) : "memory")

static jmp_buf back;

/* One write and one read of the first double in each row of 64 bytes. */
static inline double sweep(volatile double *array, int rows)
{
    double sum = 0;
    KEEP(array); /* no compiler may take it apart */
    for (int i = 0; i < rows; i++) {
        array[8 * i] = i;
        sum += array[8 * i];
    }
    return sum;
}

/* Each round has an array of another size, in the place of the one before. */
static NEVER_INLINED double loop(int rounds)
{
    double sum = 0;
    for (int i = 1; i <= rounds; i++) {
        double row[8 * 10 * i];
        sum += sweep(row, 10 * i);
    }
    return sum;
}

static NEVER_INLINED double nested(int n)
{
    double outer[8 * n];
    double sum = sweep(outer, n);
    {
        double inner[n][8];
        sum += sweep(inner[0], n);
    }
    return sum + sweep(outer, n);
}

/* All are there until it returns. */
static NEVER_INLINED double heap(int rounds, int n)
{
    double sum = 0;
    for (int i = 0; i < rounds; i++) {
        double *piece = alloca(64 * n);
        sum += sweep(piece, n);
    }
    return sum;
}

static NEVER_INLINED double unnamed(int n) { return sweep(alloca(64 * n), n); }

static NEVER_INLINED double deep(int depth, int n)
{
    double level[8 * n];
    double sum = sweep(level, n);
    if (depth > 0)
        sum += deep(depth - 1, n + 10);
    return sum + ((volatile double *)level)[0];
}

static NEVER_INLINED void leaves(int n)
{
    double left[8 * n];
    sweep(left, n);
    longjmp(back, 1);
}

static NEVER_INLINED double small(int n)
{
    char few[n];
    *(volatile char *)few = 1;
    KEEP(few);
    return few[0];
}

/* Rows of 4 KiB: in few sets of the cache. */
static NEVER_INLINED double lines(int rows, int times)
{
    double columns[rows][512];
    double sum = 0;
    KEEP(columns);
    for (int t = 0; t < times; t++)
        for (int i = 0; i < rows; i++)
            sum += ((volatile double *)columns[i])[0];
    return sum;
}

/* Moves RSP between an instruction that sets the flags and those that read them: a - b by CMP, by SUB from RSP. */
int flags(long a, long b);
__asm__(".text\n.type flags, @function\n"
        "flags: push %rbp\n mov %rsp, %rbp\n lea -512(%rsp), %rax\n mov $1024, %edx\n"
        "cmp %rsi, %rdi\n mov %rax, %rsp\n setl %cl\n setb %ch\n"
        "add $1, %r8\n cmp %rsi, %rdi\n lea -512(%rsp,%rdx), %rsp\n setg %r8b\n"
        "sub %rdx, %rsp\n seta %r9b\n pushf\n pop %r10\n mov %rbp, %rsp\n pop %rbp\n"
        "movzbl %cl, %eax\n movzbl %ch, %ecx\n movzbl %r8b, %r8d\n movzbl %r9b, %r9d\n"
        "lea (%rax,%rcx,2), %eax\n lea (%rax,%r8,4), %eax\n lea (%rax,%r9,8), %eax\n ret\n"
        ".size flags, . - flags\n");

static int flags_are_right(void)
{
    static const long values[] = {-2, -1, 0, 1, 2};
    int right = 1;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) {
            const long a = values[i], b = values[j];
            right &= flags(a, b) == ((a < b) | ((unsigned long)a < (unsigned long)b) << 1 | (a > b) << 2 | 8);
        }
    return right;
}

int main(int argc, char **argv)
{
    const int n = argc; /* 1, which no compiler knows */
    double sum = loop(3 * n) + nested(50 * n) + heap(4 * n, 30 * n) + unnamed(70 * n) + deep(2 * n, 20 * n);
    if (setjmp(back) == 0)
        leaves(90 * n);
    sum += loop(2 * n) + small(10 * n) + lines(64 * n, 20 * n);
    printf("%d\n", sum == sum && argv[0]);
    return !flags_are_right();
}
