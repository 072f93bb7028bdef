/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: a panel that would fit into the cache does not when the rows of its matrix are a power of two long.
 * Truth: panels of 64 rows and half a line, 4 KiB of lines, are swept 12 times each, row by row. The rows are 4096
 * bytes apart, so the 64 lines of a panel share one set of L1D, of 8 ways: every sweep misses every line. A line more
 * in each row spreads the panel over all sets; the loops are in order.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 128
#define N 512
#define PANEL 64
#define SWEEPS 12
#ifdef CURED
#define LEADING (N + 8)
#else
#define LEADING N
#endif
static uint64_t matrix[ROWS][LEADING] __attribute__((aligned(4096)));

__attribute__((noinline)) static void relax(int row, int column)
{
    for (int i = row + 1; i < row + PANEL; i++) {
        for (int j = column; j < column + 4; j++)
            matrix[i][j] += matrix[i - 1][j] >> 1; /* here */
    }
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 10;
    uint64_t sum = 0;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < N; j++)
            matrix[i][j] = (uint64_t)(i * j % 1000);
    }
    for (int round = 0; round < rounds; round++) {
        for (int row = 0; row < ROWS; row += PANEL) {
            for (int column = 0; column < N; column += 8) {
                for (int sweep = 0; sweep < SWEEPS; sweep++)
                    relax(row, column);
            }
        }
    }
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < N; j++)
            sum += matrix[i][j];
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
