// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: small blocks of the allocator are neighbours, whoever uses them.
// Truth: four counters, each a block of its own, 32 bytes from one to the next: two threads have one line, in which
// both write all the time. As objects aligned to 64 bytes each has a line.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#ifdef CURED
struct alignas(64) counter {
    volatile uint64_t value = 0;
};
#else
struct counter {
    volatile uint64_t value = 0;
};
#endif

static void work(counter *own, uint32_t steps)
{
    for (uint32_t i = 0; i < steps; i++)
        own->value = own->value + (i & 3); // here
}

int main(int argc, char **argv)
{
    const uint32_t steps = argc > 1 ? strtoul(argv[1], nullptr, 0) : 250000;
    std::vector<counter *> counters;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        counters.push_back(new counter);
    for (counter *each : counters)
        threads.emplace_back(work, each, steps);
    uint64_t sum = 0;
    for (size_t i = 0; i < threads.size(); i++) {
        threads[i].join();
        sum += counters[i]->value;
    }
    printf("%llu\n", static_cast<unsigned long long>(sum));
    return 0;
}
