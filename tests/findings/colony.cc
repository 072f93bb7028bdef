// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: rows of a vector of vectors are found by headers, which the wrong order of loops walks through as well.
// Truth: the loop over rows is the inner one, so that each step is to another row, 710 bytes in the heap or more, and
// to its header, 24 bytes further. With columns innermost the rows are gone through in order, and headers stay.
#include <cstdio>
#include <cstdlib>
#include <vector>

using grid = std::vector<std::vector<char>>;
constexpr int SIDE = 700;

static int neighbours(const grid &from, int y, int x)
{
    return from[y - 1][x] + from[y][x - 1] + from[y][x + 1] + from[y + 1][x]; // here
}

static void grow(grid &to, const grid &from)
{
#ifdef CURED
    for (int y = 1; y < SIDE - 1; y++)
        for (int x = 1; x < SIDE - 1; x++)
            to[y][x] = (neighbours(from, y, x) + from[y][x]) % 3;
#else
    for (int x = 1; x < SIDE - 1; x++)
        for (int y = 1; y < SIDE - 1; y++)
            to[y][x] = (neighbours(from, y, x) + from[y][x]) % 3; // here
#endif
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 3;
    grid now(SIDE, std::vector<char>(SIDE)), next = now;
    long sum = 0;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            now[y][x] = (x * y + y) % 3;
    for (int i = 0; i < rounds; i++) {
        grow(next, now);
        now.swap(next);
    }
    for (const std::vector<char> &row : now)
        for (char each : row)
            sum += each;
    printf("%ld\n", sum);
}
