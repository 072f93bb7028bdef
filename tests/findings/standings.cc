// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: a sort moves whole elements, which is much to move where they are large.
// Truth: std::stable_sort compares keys of 8 bytes and moves entries of 256, 4.9 MiB of them, from one place to
// another and back for each doubling of what is sorted. Sorted as keys with numbers, 16 bytes each, nearly all fit L2;
// then each entry is moved once.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

struct entry {
    uint64_t score;
    uint64_t rounds[31];
};

static void rank(std::vector<entry> &entries)
{
#ifdef CURED
    std::vector<std::pair<uint64_t, uint32_t>> keys(entries.size());
    for (uint32_t i = 0; i < keys.size(); i++)
        keys[i] = {entries[i].score, i};
    std::stable_sort(keys.begin(), keys.end());
    for (uint32_t i = 0; i < keys.size(); i++) { // along each cycle of the permutation
        const entry first = entries[i];
        uint32_t to = i, from = keys[i].second;
        while (from != i) {
            entries[to] = entries[from];
            keys[to].second = to;
            to = from;
            from = keys[to].second;
        }
        entries[to] = first;
        keys[to].second = to;
    }
#else
    std::stable_sort(entries.begin(), entries.end(),
                     [](const entry &a, const entry &b) { return a.score < b.score; }); // here
#endif
}

int main(int argc, char **argv)
{
    std::vector<entry> entries(argc > 1 ? strtoul(argv[1], nullptr, 0) : 20000);
    uint64_t random = 88172645463325252, sum = 0;
    for (entry &each : entries) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        each.score = random;
        each.rounds[30] = random >> 5;
    }
    rank(entries);
    for (const entry &each : entries)
        sum = sum * 31 + each.rounds[30];
    printf("%llu\n", static_cast<unsigned long long>(sum));
}
