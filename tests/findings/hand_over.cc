// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: what one thread gives to another is given many at a time.
// Truth: one thread puts numbers into a ring of 256, another takes them out. Each looks at the other's index, and moves
// its own, for every number: the line that both indices are in goes to and fro with each. No byte is written by both,
// so that a part for each thread is no remedy. By 64 at a time, each with a copy of what it has seen of the other's
// index, lines go to and fro a fiftieth as often.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sched.h>
#include <thread>

constexpr uint32_t ring_size = 256;
#ifdef CURED
constexpr uint32_t batch = 64;
struct alignas(64) index {
    std::atomic<uint32_t> at{0};
};
#else
constexpr uint32_t batch = 1;
struct index {
    std::atomic<uint32_t> at{0};
};
#endif
static struct alignas(64) {
    struct index taken, put;
    alignas(64) uint32_t numbers[ring_size];
} ring;

// How many there are between the two, when there are enough of them.
static uint32_t wait_for(const std::atomic<uint32_t> &index, uint32_t least)
{
    uint32_t at;
    while (static_cast<int32_t>((at = index.load(std::memory_order_acquire)) - least) < 0) // here
        sched_yield();
    return at;
}

static void put(uint32_t count)
{
    uint32_t taken = 0;
    for (uint32_t i = 0; i < count; i += batch) {
        if (batch == 1 || taken + ring_size < i + batch)
            taken = wait_for(ring.taken.at, i + batch - ring_size);
        for (uint32_t k = i; k < i + batch; k++)
            ring.numbers[k % ring_size] = k * 2654435761u; // here
        ring.put.at.store(i + batch, std::memory_order_release); // here
    }
}

static uint64_t take(uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i += batch) {
        wait_for(ring.put.at, i + batch);
        for (uint32_t k = i; k < i + batch; k++)
            sum += ring.numbers[k % ring_size]; // here
        ring.taken.at.store(i + batch, std::memory_order_release); // here
    }
    return sum;
}

int main(int argc, char **argv)
{
    const uint32_t count = (argc > 1 ? std::strtoul(argv[1], nullptr, 0) : 1u << 17) / 64 * 64;
    uint64_t sum = 0;
    std::thread taker([&sum, count] { sum = take(count); });
    put(count);
    taker.join();
    std::printf("%llu\n", static_cast<unsigned long long>(sum));
}
