// SPDX-License-Identifier: GPL-2.0-or-later
//
// Tuned: the longest common subsequence needs two rows of its table, not all of it: 8 KiB instead of 9 MB.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

static std::string text(uint32_t random, size_t length)
{
    std::string made(length, 'a');
    for (char &each : made) {
        random = random * 1664525u + 1013904223u;
        each = static_cast<char>('a' + (random >> 30));
    }
    return made;
}

int main(int argc, char **argv)
{
    const size_t length = argc > 1 ? strtoul(argv[1], nullptr, 0) : 2100;
    const std::string first = text(1, length), second = text(2, length);
    std::vector<uint16_t> above(length + 1), row(length + 1);
    for (size_t i = 0; i < length; i++) {
        for (size_t j = 0; j < length; j++) {
            if (first[i] == second[j])
                row[j + 1] = above[j] + 1;
            else
                row[j + 1] = std::max(above[j + 1], row[j]);
        }
        std::swap(above, row);
    }
    printf("%d\n", above[length]);
    return 0;
}
