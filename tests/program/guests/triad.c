/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * triad ELEMENTS SWEEPS: the first ELEMENTS of a = b + 3 * c, SWEEPS times. The arrays begin pages, 512 KiB each: one
 * sweep over all of them leaves nothing of the last one in an L2 of 256 KiB.
 */
#include <stdlib.h>

enum { MOST = 65536 };

static _Alignas(4096) double a[MOST], b[MOST], c[MOST];

int main(int argc, char **argv)
{
    const int elements = argc > 1 ? atoi(argv[1]) : MOST, sweeps = argc > 2 ? atoi(argv[2]) : 20;
    for (int t = 0; t < sweeps; t++) {
        for (int i = 0; i < elements; i++)
            a[i] = b[i] + 3 * c[i]; /* the line */
        __asm__ volatile("" ::"r"(a), "r"(b), "r"(c) : "memory"); /* all of them are used */
    }
    return 0;
}
