/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Reads a sparse table, one word a page: sparse [TIMES]
 *
 * The lesson: calloc gives zeros without writing them. Linux maps a page that is only read to one frame of zeros, so
 * the 60 pages of this table that were never written are one line at each place of the page, and with the 4 that are
 * written make 5 lines in a set. With a frame for each page they are 64 lines, for 8 ways (docs/placement-lab.md, and
 * the option --zero-page).
 */
#include "sample.h"

enum { PAGES = 64, PAGE_WORDS = 512, WRITTEN_EVERY = 16 };

KERNEL long add_up(const long *table, int times)
{
    long sum = 0;
    for (int t = 0; t < times; t++) {
        for (int page = 0; page < PAGES; page++)
            sum += table[page * PAGE_WORDS];
        KEEP();
    }
    return sum;
}

int main(int argc, char **argv)
{
    int times = times_of(argc, argv);
    long *table = calloc(PAGES, PAGE_WORDS * sizeof *table);
    if (!table)
        return 1;
    for (int page = 0; page < PAGES; page += WRITTEN_EVERY)
        table[page * PAGE_WORDS] = page + 1;
    print_checksum("sparse", add_up(table, times));
    free(table);
    return 0;
}
