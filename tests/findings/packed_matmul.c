/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Tuned: a blocked matrix product that packs what it uses again. A panel of 32 rows of b, packed, is 24 KiB and serves
 * all rows of a from L1D; four rows of a at a time use each load of it four times. All three matrices fit into L2.
 */
#include <stdio.h>
#include <stdlib.h>

#define N 96
#define PANEL 32
static double a[N][N + 8], b[N][N + 8], c[N][N + 8], packed[PANEL][N];

static void pack(int begin)
{
    for (int k = 0; k < PANEL; k++) {
        for (int j = 0; j < N; j++)
            packed[k][j] = b[begin + k][j];
    }
}

static void four_rows(int i, int begin)
{
    for (int j = 0; j < N; j += 2) {
        double sums[4][2] = {{0}};
        for (int k = 0; k < PANEL; k++) {
            for (int row = 0; row < 4; row++) {
                sums[row][0] += a[i + row][begin + k] * packed[k][j];
                sums[row][1] += a[i + row][begin + k] * packed[k][j + 1];
            }
        }
        for (int row = 0; row < 4; row++) {
            c[i + row][j] += sums[row][0];
            c[i + row][j + 1] += sums[row][1];
        }
    }
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 10;
    double sum = 0;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++)
            a[i][j] = i % 5, b[i][j] = j % 3;
    }
    for (int round = 0; round < rounds; round++) {
        for (int begin = 0; begin < N; begin += PANEL) {
            pack(begin);
            for (int i = 0; i < N; i += 4)
                four_rows(i, begin);
        }
    }
    for (int i = 0; i < N; i++)
        sum += c[i][i];
    printf("%.0f\n", sum);
    return 0;
}
