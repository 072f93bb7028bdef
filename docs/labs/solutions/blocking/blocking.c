/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * blocking: c = a * b, of 128 x 128 doubles.
 */
#include <stdio.h>

#define N 128
#define ROW (N + 8) /* a line more */

_Static_assert(ROW >= N && ROW <= N * 11 / 10, "rows have room, and are a tenth longer at most");

static _Alignas(4096) double a[N][ROW], b[N][ROW], c[N][ROW];

/* Columns and rows of b in blocks of 32 x 32, 8 KiB, which each row of a meets while they are in L1D. */
enum { BLOCK = 32 };

static void multiply_block(int jb, int kb)
{
    for (int i = 0; i < N; i++)
        for (int j = jb; j < jb + BLOCK; j++) {
            double sum = c[i][j];
            for (int k = kb; k < kb + BLOCK; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
}

__attribute__((noinline)) void multiply(void)
{
    for (int jb = 0; jb < N; jb += BLOCK)
        for (int kb = 0; kb < N; kb += BLOCK)
            multiply_block(jb, kb);
}

int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = (i + 2 * j) % 7;
            b[i][j] = (3 * i + j) % 5;
        }
    multiply();
    unsigned long sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            sum = sum * 31 + (unsigned long)c[i][j];
    printf("%016lx\n", sum);
    return 0;
}
