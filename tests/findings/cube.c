/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: it is not always the last dimension that has to be longer.
 * Truth: relaxation upwards through a cube, from plane to plane: 64 numbers 8 KiB apart, 64 lines in one set of L1D, of
 * 8 ways. Each of eight sweeps loads them again, and each column begins with what the last one gave, so no loop over
 * the columns can go inside. A row more in each plane, 512 bytes, leads to another of eight sets from plane to plane:
 * 64 lines in 64 places. A line more in each row would do as well, but is 16 times as much in each plane.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define PLANES 64
#define ROWS 16
#define COLUMNS 128
#ifdef CURED
#define LEADING (ROWS + 1)
#else
#define LEADING ROWS
#endif
static uint32_t cube[PLANES][LEADING][COLUMNS] __attribute__((aligned(4096)));

__attribute__((noinline)) static uint32_t relax(int row, int column, uint32_t carry)
{
    cube[0][row][column] += carry;
    for (int sweep = 0; sweep < 8; sweep++) {
        for (int plane = 1; plane < PLANES; plane++)
            cube[plane][row][column] += cube[plane - 1][row][column] ^ carry; /* here */
    }
    return cube[PLANES - 1][row][column];
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 2;
    uint32_t carry = 1;
    for (int round = 0; round < rounds; round++) {
        for (int row = 0; row < ROWS; row++) {
            for (int column = 0; column < COLUMNS; column++)
                carry = relax(row, column, carry);
        }
    }
    printf("%u\n", carry);
    return 0;
}
