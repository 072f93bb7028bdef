/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: a table that is filled column by column wants its loops the other way round, though which entries are read
 * depends on the data.
 * Truth: the longest common subsequence of two texts. The loop over i goes down a column of the table, 6008 B from row
 * to row: 1,500 lines, 94 KiB, until the next column wants them again, and L1D has 32 KiB; 1,500 pages, where the first
 * TLB holds 64. Three of four rounds read the entries above and to the left, the others that between them. Row by row
 * each line is gone through whole, and two rows are in use.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef LENGTH
#define LENGTH 1500
#endif
static char first[LENGTH], second[LENGTH];
static uint32_t table[LENGTH + 1][LENGTH + 2];

static uint32_t longer(uint32_t a, uint32_t b) { return a > b ? a : b; }

__attribute__((noinline)) static void compare(void)
{
#ifdef CURED
    for (int i = 1; i <= LENGTH; i++) {
        for (int j = 1; j <= LENGTH; j++) {
            const int same = first[i - 1] == second[j - 1];
            table[i][j] = same ? table[i - 1][j - 1] + 1 : longer(table[i - 1][j], table[i][j - 1]);
        }
    }
#else
    for (int j = 1; j <= LENGTH; j++) {
        for (int i = 1; i <= LENGTH; i++) {
            const int same = first[i - 1] == second[j - 1];
            table[i][j] = same ? table[i - 1][j - 1] + 1 : longer(table[i - 1][j], table[i][j - 1]); /* here */
        }
    }
#endif
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 1;
    uint32_t random = 1;
    for (int i = 0; i < LENGTH; i++) {
        random = random * 1664525 + 1013904223;
        first[i] = (char)(random >> 30);
        random = random * 1664525 + 1013904223;
        second[i] = (char)(random >> 30);
    }
    for (int round = 0; round < rounds; round++)
        compare();
    printf("%u\n", table[LENGTH][LENGTH]);
    return 0;
}
