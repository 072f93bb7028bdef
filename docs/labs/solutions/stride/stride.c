/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * stride [ROWS]: goes down the first column of a, 8 rows of it or as many as ROWS says, ten times.
 */
#include <stdio.h>
#include <stdlib.h>

#define COLUMNS 256
#define ROW (COLUMNS + 16) /* a line more: rows go to the 16 sets in turn */
enum { MOST = 64, ROUNDS = 10 };

_Static_assert(ROW >= COLUMNS && ROW <= COLUMNS * 11 / 10, "rows have room, and are a tenth longer at most");

static _Alignas(4096) int a[MOST][ROW];

__attribute__((noinline)) long walk(int rows)
{
    long sum = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < rows; i++)
            sum += a[i][0];
    return sum;
}

int main(int argc, char **argv)
{
    const int rows = argc > 1 ? atoi(argv[1]) : 8;
    if (rows < 1 || rows > MOST)
        return 2;
    for (int i = 0; i < MOST; i++)
        for (int j = 0; j < COLUMNS; j++)
            a[i][j] = i + j;
    printf("%ld\n", walk(rows));
    return 0;
}
