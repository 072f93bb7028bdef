/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: arrays a multiple of 4096 bytes apart meet in the same sets of L1D.
 * Truth: 16 arrays of 4096 bytes each, of which the first 1 KiB is in use: 16 KiB in all, half of L1D, but element k of
 * all of them lies in one set of 8 ways. Each step of the loop over k loads 16 lines of that set: all miss. No order of
 * loops helps, as the loop over the arrays is the inner one already; one line between two arrays does.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ARRAYS 16
#define USED 128
#ifdef CURED
#define LENGTH (512 + 8)
#else
#define LENGTH 512
#endif
static uint64_t channels[ARRAYS][LENGTH] __attribute__((aligned(4096)));
static uint64_t mixed[USED];

__attribute__((noinline)) static void mix(uint64_t gain)
{
    for (int k = 0; k < USED; k++) {
        uint64_t sum = 0;
#pragma GCC unroll 16
        for (int channel = 0; channel < ARRAYS; channel++)
            sum += channels[channel][k]; /* here */
        mixed[k] = mixed[k] + gain * sum;
    }
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 2000;
    uint64_t sum = 0;
    for (int channel = 0; channel < ARRAYS; channel++) {
        for (int k = 0; k < USED; k++)
            channels[channel][k] = (uint64_t)(channel * k % 13);
    }
    for (int round = 1; round <= rounds; round++)
        mix((uint64_t)round);
    for (int k = 0; k < USED; k++)
        sum += mixed[k];
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
