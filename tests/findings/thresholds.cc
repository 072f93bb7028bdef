// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: each with each, one after the other, loads the larger side once for each of the smaller.
// Truth: 40 thresholds are compared with 200,000 measurements: 800 KB, in order, for each threshold again, and L2 has
// 256 KiB. Block by block (100 KB of measurements for all thresholds), L2 serves all thresholds but the first.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#ifndef BLOCKS
#define BLOCKS 8
#endif
static constexpr int BLOCK = 25000, COUNT = BLOCKS * BLOCK, THRESHOLDS = 40;
static int32_t measured[COUNT];

template <int SPAN> __attribute__((noinline)) static uint32_t below(const int32_t *part, int32_t threshold)
{
    uint32_t count = 0;
    for (int i = 0; i < SPAN; i++)
        count += part[i] < threshold; // here
    return count;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 1;
#ifdef CURED
    constexpr int SPAN = BLOCK;
#else
    constexpr int SPAN = COUNT;
#endif
    uint32_t random = 1, counts[THRESHOLDS] = {}, sum = 0;
    for (int32_t &each : measured) {
        random = random * 1664525u + 1013904223u;
        each = static_cast<int32_t>(random >> 12);
    }
    for (int round = 0; round < rounds; round++) {
        for (int begin = 0; begin < COUNT; begin += SPAN) {
            for (int i = 0; i < THRESHOLDS; i++)
                counts[i] += below<SPAN>(measured + begin, i << 14);
        }
    }
    for (uint32_t count : counts)
        sum = sum * 31 + count;
    printf("%u\n", sum);
    return 0;
}
