// SPDX-License-Identifier: GPL-2.0-or-later
//
// Tuned: a merge reads two sorted sequences and writes one, each in order, 24 KiB together: L1D holds all of it.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 1500;
    std::vector<uint32_t> left(1500), right(1500), merged(3000);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 1500; i++) {
        left[i] = i * 7;
        right[i] = i * i / 211;
    }
    for (int round = 0; round < rounds; round++) {
        std::merge(left.begin(), left.end(), right.begin(), right.end(), merged.begin());
        sum = sum * 31 + merged[round % 3000];
        left.back()++;
    }
    printf("%u\n", sum);
    return 0;
}
