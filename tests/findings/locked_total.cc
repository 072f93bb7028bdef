// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: what a lock guards, and the lock, go from core to core with every use.
// Truth: four threads add each of their numbers to one total under one lock, lock and total in one line. A sum per
// thread, added under the lock once, leaves nothing to share.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

struct alignas(64) account {
    std::atomic<bool> locked{false};
    uint64_t total = 0;
    void add(uint64_t amount)
    {
        while (locked.exchange(true, std::memory_order_acquire)) // here
            std::this_thread::yield();
        total += amount; // here
        locked.store(false, std::memory_order_release); // here
    }
};
static account shared;

static void work(uint32_t begin, uint32_t end)
{
    uint64_t own = 0;
    for (uint32_t i = begin; i < end; i++) {
#ifdef CURED
        own += i % 10;
#else
        shared.add(i % 10);
#endif
    }
    shared.add(own);
}

int main(int argc, char **argv)
{
    const uint32_t steps = argc > 1 ? strtoul(argv[1], nullptr, 0) : 40000;
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < 4; i++)
        threads.emplace_back(work, i * steps, (i + 1) * steps);
    for (std::thread &each : threads)
        each.join();
    printf("%llu\n", static_cast<unsigned long long>(shared.total));
    return 0;
}
