/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Tuned: a digest of 256 KB that are made, once each, chunk by chunk in 4 KiB that stay in L1D; 64 steps of arithmetic
 * a word.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t chunk[512];

static uint64_t mixed(uint64_t state, uint64_t word)
{
    for (int step = 0; step < 16; step++) {
        state = (state ^ word) * 0x9e3779b97f4a7c15u;
        word = word << 13 | word >> 51;
        state ^= state >> 29;
    }
    return state;
}

int main(int argc, char **argv)
{
    const uint64_t chunks = argc > 1 ? strtoull(argv[1], 0, 0) : 512;
    uint64_t state = 1;
    for (uint64_t i = 0; i < chunks; i++) {
        for (uint64_t k = 0; k < 512; k++)
            chunk[k] = i * k;
        for (int k = 0; k < 512; k++)
            state = mixed(state, chunk[k]);
    }
    printf("%llu\n", (unsigned long long)state);
    return 0;
}
