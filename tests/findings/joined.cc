// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: a table that all threads add to takes its lines from core to core, whichever of its elements they hit.
// Truth: four threads count what they draw in 32 atomic bins, which lie in four lines. A line that comes back to a core
// has had bins changed by others, the same and those beside it, so that a line for each bin would spare little. Bins of
// each thread's own, joined at its end, leave nothing to share.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

constexpr uint32_t BINS = 32;
alignas(64) static std::atomic<uint64_t> bins[BINS];

static void draw(uint32_t seed, uint32_t count)
{
    uint64_t own[BINS] = {};
    for (uint32_t i = 0; i < count; i++) {
        seed = seed * 1664525 + 1013904223;
#ifdef CURED
        own[seed >> 27]++;
#else
        bins[seed >> 27].fetch_add(1, std::memory_order_relaxed); // here
#endif
    }
    for (uint32_t i = 0; i < BINS; i++)
        bins[i].fetch_add(own[i], std::memory_order_relaxed);
}

int main(int argc, char **argv)
{
    const uint32_t count = argc > 1 ? strtoul(argv[1], nullptr, 0) : 100000;
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < 4; i++)
        threads.emplace_back(draw, i, count);
    for (std::thread &each : threads)
        each.join();
    uint64_t sum = 0;
    for (uint32_t i = 0; i < BINS; i++)
        sum = sum * 31 + bins[i];
    printf("%llu\n", static_cast<unsigned long long>(sum));
}
