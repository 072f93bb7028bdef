/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * words COUNT: counts so many words in a std::map; with -DHASHED in a std::unordered_map.
 */
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <unordered_map>

#include "text.h"

#ifdef HASHED
using Counts = std::unordered_map<std::string, int>;
#else
using Counts = std::map<std::string, int>;
#endif

int main(int argc, char **argv)
{
    const int count = argc > 1 ? std::atoi(argv[1]) : 200000;
    Counts counts;
    char word[16];
    for (int i = 0; i < count; i++)
        ++counts[std::string(word, gallery_word(word, 100000))];
    int most = 0;
    for (const auto &one : counts)
        most = one.second > most ? one.second : most;
    std::printf("%zu words, the most frequent %d times\n", counts.size(), most);
}
