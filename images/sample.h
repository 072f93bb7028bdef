/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the conflict samples share: `NAME [TIMES]` runs a kernel TIMES times, so that the counts of two runs differ by
 * exactly one more sweep of the kernel, without the start of the program. NAME and NAME_padded are one source; PADDED
 * is 1 in the second.
 */
#ifndef C2_IMAGES_SAMPLE_H
#define C2_IMAGES_SAMPLE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef PADDED
#define PADDED 0
#endif
#ifndef SWAPPED
#define SWAPPED 0 /* doitgen alone: 1 in doitgen_swapped and doitgen_both */
#endif

#define KERNEL static __attribute__((noinline))  /* what the sample is about; it stays out of main */
#define KEEP() __asm__ volatile("" ::: "memory") /* no sweep may be merged with the one before */

static int times_of(int argc, char **argv)
{
    int times = argc > 1 ? atoi(argv[1]) : 3;
    if (times < 1 || times > 1000) {
        fprintf(stderr, "usage: %s [TIMES], 1 <= TIMES <= 1000\n", argv[0]);
        exit(2);
    }
    return times;
}

/* The bits of the sum in 16 digits: printing it costs the same instructions whatever the sum. */
static void print_checksum(const char *name, double sum)
{
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    printf("%s: checksum %016lx\n", name, bits);
}

#endif
