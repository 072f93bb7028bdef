/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * blocking: c = a * b, of 128 x 128 doubles.
 */
#include <stdio.h>

#define N 128
#define ROW N /* yours */

_Static_assert(ROW >= N && ROW <= N * 11 / 10, "rows have room, and are a tenth longer at most");

static _Alignas(4096) double a[N][ROW], b[N][ROW], c[N][ROW];

/* Yours. */
__attribute__((noinline)) void multiply(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
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
