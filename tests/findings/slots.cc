// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: a vector with one result a thread puts the results of several threads into one line.
// Truth: four threads write their element of four, 8 bytes each, at each step: the line goes from core to core.
// Elements that are aligned to a line are their threads' own.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#ifdef CURED
struct alignas(64) slot {
    uint64_t sum;
};
#else
struct slot {
    uint64_t sum;
};
#endif

static void work(slot *slots, unsigned own, uint32_t steps)
{
    volatile uint64_t &sum = slots[own].sum;
    for (uint32_t i = 0; i < steps; i++)
        sum = sum + (i ^ own); // here
}

int main(int argc, char **argv)
{
    const uint32_t steps = argc > 1 ? strtoul(argv[1], nullptr, 0) : 200000;
    std::vector<slot> slots(4);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < slots.size(); i++)
        threads.emplace_back(work, slots.data(), i, steps);
    uint64_t sum = 0;
    for (unsigned i = 0; i < slots.size(); i++) {
        threads[i].join();
        sum += slots[i].sum;
    }
    printf("%llu\n", static_cast<unsigned long long>(sum));
    return 0;
}
