// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: a table of which only the last row is looked at again need not be there.
// Truth: the longest common subsequence of two texts of 1500 letters by the whole table, 9 MB of 4-byte numbers: each
// line is written for the first time, whole, and read once more, when it is in L1D still. All that can be saved is
// bytes: two rows, used in turn, are 12 KB.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#ifndef LENGTH
#define LENGTH 1500
#endif
#ifdef CURED
static uint32_t table[2][LENGTH + 1];
#define ROW(i) table[(i) % 2]
#else
static uint32_t table[LENGTH + 1][LENGTH + 1];
#define ROW(i) table[i]
#endif

static std::string text(uint32_t random)
{
    std::string made(LENGTH, 'a');
    for (char &each : made) {
        random = random * 1664525u + 1013904223u;
        each = static_cast<char>('a' + (random >> 30));
    }
    return made;
}

__attribute__((noinline)) static void fill(const char *first, const char *second)
{
    for (int i = 1; i <= LENGTH; i++) {
        const uint32_t *const above = ROW(i - 1);
        uint32_t *const row = ROW(i);
        for (int j = 1; j <= LENGTH; j++) {
            const uint32_t same = above[j - 1] + 1, other = std::max(above[j], row[j - 1]); // here
            row[j] = first[i - 1] == second[j - 1] ? same : other; // here
        }
    }
}

int main()
{
    const std::string first = text(1), second = text(2);
    fill(first.data(), second.data());
    printf("%u\n", ROW(LENGTH)[LENGTH]);
    return 0;
}
