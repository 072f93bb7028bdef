/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: a function that strides through one column is a loop order too, when its caller goes from column to column.
 * Truth: 5000 rows of 1448 bytes: the lines of a column are 312 KiB, more than L2 (256 KiB), so that each step of the
 * function's loop misses L1D and L2, although the next calls want the same lines: the loop that calls it strides 8
 * bytes. With a function that adds one row to all sums the loops have changed places, and each line is used whole.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef ROWS
#define ROWS 5000
#endif
#define COLUMNS 181
static int64_t table[ROWS][COLUMNS], sums[COLUMNS];

#ifdef CURED
__attribute__((noinline)) static void add_row(const int64_t *row)
{
    for (int j = 0; j < COLUMNS; j++)
        sums[j] += row[j];
}

static void add_up(void)
{
    for (int i = 0; i < ROWS; i++)
        add_row(table[i]);
}
#else
__attribute__((noinline)) static int64_t sum_of(const int64_t *column)
{
    int64_t sum = 0;
    for (int i = 0; i < ROWS; i++)
        sum += column[i * COLUMNS]; /* here */
    return sum;
}

static void add_up(void)
{
    for (int j = 0; j < COLUMNS; j++)
        sums[j] += sum_of(&table[0][j]);
}
#endif

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 8;
    int64_t sum = 0;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++)
            table[i][j] = i % 7 + j % 5;
    }
    for (int round = 0; round < rounds; round++)
        add_up();
    for (int j = 0; j < COLUMNS; j++)
        sum = sum * 3 + sums[j];
    printf("%lld\n", (long long)sum);
    return 0;
}
