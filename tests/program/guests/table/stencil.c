/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A stencil of five points, four threads by OpenMP.
 */
#include <stdio.h>

enum { N = 128, STEPS = 4 };
static double a[N][N], b[N][N];

int main(void)
{
    double total = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = 3 * i + j;
    for (int step = 0; step < STEPS; step++) {
#pragma omp parallel for num_threads(4)
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                b[i][j] = 0.2 * (a[i][j] + a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
#pragma omp parallel for num_threads(4)
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                a[i][j] = b[i][j] + 1;
    }
#pragma omp parallel for num_threads(4) reduction(+ : total)
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            total += (long)a[i][j];
    printf("%.1f\n", total);
    return 0;
}
