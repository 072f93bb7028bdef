/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The four kernels of STREAM (copy, scale, add, triad), gathers, and conversions, over arrays that fit no L2; their sums.
 */
#include <stdio.h>

#define COUNT 200000
static double a[COUNT + 3], b[COUNT], c[COUNT];
static float f[COUNT];
static int at[COUNT];

int main(void)
{
    double sum = 0;
    long whole = 0;
    for (int i = 0; i < COUNT; i++) {
        a[i] = 1 + i % 7;
        at[i] = (int)(i * 7919l % COUNT);
    }
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < COUNT; i++)
            c[i] = a[i];
        for (int i = 0; i < COUNT; i++)
            b[i] = 3 * c[i];
        for (int i = 0; i < COUNT; i++)
            c[i] = a[i] + b[i];
        for (int i = 0; i < COUNT; i++)
            a[i] = b[i] + 0.125 * c[i];
        for (int i = 0; i < COUNT; i++)
            f[i] = (float)a[at[i]];
        for (int i = 0; i < COUNT; i++)
            if (f[i] > 20)
                whole += (int)f[i];
    }
    for (int i = 0; i < COUNT; i++)
        sum += a[i] * (i % 3) + f[i];
    printf("%a %ld\n", sum, whole);
    return 0;
}
