/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: what just fits a cache fits it only if its pages have frames that spread over all sets.
 * Truth: the lines of 56 pages, 224 KiB, are followed from one to the next, again and again, and L2 has 256 KiB: 8 ways
 * for 8 pages of each of its 8 colours. With frames drawn at random some colours get more than 8 pages, and all lines
 * of these are gone before they are read again. In one page of 2 MiB each colour has 7. The run is with --pages
 * random: frames in order are no trouble.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifndef PAGES
#define PAGES 56
#endif
#define HUGE ((size_t)2 << 20)
#define LINES (PAGES * 64u)

struct line {
    uint64_t next, value[7];
};

__attribute__((noinline)) static uint64_t total(const struct line *table, uint64_t factor)
{
    uint64_t sum = 0, at = 0;
    for (size_t i = 0; i < LINES; i++) {
        const uint64_t *const value = table[at].value;
        sum += value[0] * factor ^ value[1] ^ value[2] ^ value[3] ^ value[4] ^ value[5] ^ value[6]; /* here */
        at = table[at].next;                                                                        /* here */
    }
    return sum;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 100;
    struct line *const table = aligned_alloc(HUGE, HUGE);
    uint64_t sum = 0;
    if (!table)
        return 1;
#ifdef CURED
    madvise(table, HUGE, MADV_HUGEPAGE);
#else
    madvise(table, HUGE, MADV_NOHUGEPAGE);
#endif
    for (size_t i = 0; i < LINES; i++) { /* 1597 is prime: the walk comes to all of them */
        table[i].next = (i + 1597) % LINES;
        for (size_t k = 0; k < 7; k++)
            table[i].value[k] = i + k;
    }
    for (int round = 1; round <= rounds; round++)
        sum += total(table, (uint64_t)round);
    printf("%llu\n", (unsigned long long)sum);
    free(table);
    return 0;
}
