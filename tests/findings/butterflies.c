/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: butterflies along the columns of a table whose rows are a power of two long meet in one set.
 * Truth: the Walsh-Hadamard transform of a column of 64 numbers, 8 KiB from row to row: 64 lines, 4 KiB, which lie in
 * one set of L1D and, if their pages follow each other, in four of L2, of 8 ways each. Each of the six stages loads
 * them again. Each column begins with what the last one gave, so no loop over the columns can go inside; rows that are
 * a line longer cure it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 64
#define COLUMNS 1024
#ifdef CURED
#define LEADING (COLUMNS + 8)
#else
#define LEADING COLUMNS
#endif
static uint64_t table[ROWS][LEADING] __attribute__((aligned(4096)));

__attribute__((noinline)) static uint64_t transform(int column, uint64_t carry)
{
    table[0][column] += carry;
    for (int half = 1; half < ROWS; half *= 2) {
        for (int first = 0; first < ROWS; first += 2 * half) {
            for (int i = first; i < first + half; i++) {
                const uint64_t a = table[i][column], b = table[i + half][column]; /* here */
                table[i][column] = a + b;
                table[i + half][column] = a - b;
            }
        }
    }
    return table[ROWS - 1][column];
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 4;
    uint64_t carry = 1;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++)
            table[i][j] = (uint64_t)(i + j);
    }
    for (int round = 0; round < rounds; round++) {
        for (int column = 0; column < COLUMNS; column++)
            carry = transform(column, carry);
    }
    printf("%llu\n", (unsigned long long)carry);
    return 0;
}
