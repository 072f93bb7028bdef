/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Reads columns of a matrix with rows of 32 KiB: column [TIMES]
 *
 * The lesson: whether a column of 36 lines stays in the L2 is up to the frames of its pages. Its lines are 32 KiB
 * apart, in one set of L1, where they never stay, and each in a page of its own. Sets of a 256 KiB, 8-way L2 that is
 * indexed by physical address come in 8 colours of pages: with frames in the order of the pages, 8 pages are one row,
 * so that the column is in one colour, 36 lines for 8 ways, and all miss; with frames drawn at random there are 4 or 5
 * lines a colour, and few colours have more than 8. Each of the 8 columns has pages of its own.
 */
#include "sample.h"

enum { ROWS = 36, COLUMNS = 8, PAGE = 4096 / sizeof(double) };

static _Alignas(4096) double matrix[ROWS][COLUMNS][PAGE];

KERNEL double read_columns(int times)
{
    double sum = 0;
    for (int column = 0; column < COLUMNS; column++)
        for (int t = 0; t < times; t++) {
            for (int row = 0; row < ROWS; row++)
                sum += matrix[row][column][0]; /* the conflict, or not */
            KEEP();
        }
    return sum;
}

int main(int argc, char **argv)
{
    int times = times_of(argc, argv);
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < COLUMNS; column++)
            matrix[row][column][0] = row + 3 * column;
    print_checksum("column", read_columns(times));
    return 0;
}
