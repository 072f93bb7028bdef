// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: a std::map is a tree of nodes of the allocator, and each step of an iterator follows its links.
// Truth: 25,000 entries, nodes of 48 bytes in the order of insertion, which is random, walked in the order of keys:
// each step waits for a line anywhere in 1.6 MB, and L2 has 256 KiB. The steps are the library's, the loop is ours. A map
// that is made anew in the order of keys, out of one pool, has four nodes in three lines, and is walked as it lies.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory_resource>

using table = std::pmr::map<uint64_t, uint64_t>;

__attribute__((noinline)) static uint64_t total(const table &entries, uint64_t rate)
{
    uint64_t sum = 0;
    for (const auto &each : entries) // here
        sum = sum * 3 + each.second * rate; // here
    return sum;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 90;
    std::pmr::monotonic_buffer_resource pool;
    table prices(std::pmr::new_delete_resource()), packed(&pool);
    uint64_t key = 1;
    for (uint64_t i = 0; i < 25000; i++) {
        key = key * 6364136223846793005u + 1442695040888963407u;
        prices[key >> 20] = i;
    }
#ifdef CURED
    for (const auto &each : prices)
        packed.insert(packed.end(), each);
    const table &entries = packed;
#else
    const table &entries = prices;
#endif
    uint64_t sum = 0;
    for (int round = 1; round <= rounds; round++)
        sum += total(entries, round);
    printf("%llu\n", static_cast<unsigned long long>(sum));
    return 0;
}
