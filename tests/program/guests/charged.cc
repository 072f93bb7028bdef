// SPDX-License-Identifier: GPL-2.0-or-later
// A tree larger than the caches, in which the header's code that is inlined here looks up and inserts.
#include <cstdio>
#include <map>

static unsigned draw(unsigned &state) { return (state = state * 1103515245 + 12345) >> 8; }

int main()
{
    std::map<unsigned, unsigned> numbers;
    unsigned state = 1, found = 0;
    for (unsigned i = 0; i < 20000; i++)
        numbers[draw(state)] = i;
    for (unsigned i = 0; i < 20000; i++)
        found += numbers.find(draw(state)) != numbers.end(); // the line
    std::printf("%u\n", found);
    return 0;
}
