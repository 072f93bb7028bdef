// SPDX-License-Identifier: GPL-2.0-or-later
//
// Tuned: sorting what fits into L1D: 3000 numbers, 12 KiB, made and sorted again and again.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 170;
    std::vector<uint32_t> numbers(3000);
    uint32_t random = 1, sum = 0;
    for (int round = 0; round < rounds; round++) {
        for (uint32_t &each : numbers)
            each = random = random * 1664525u + 1013904223u;
        std::sort(numbers.begin(), numbers.end());
        sum = sum * 31 + numbers[1500];
    }
    printf("%u\n", sum);
    return 0;
}
