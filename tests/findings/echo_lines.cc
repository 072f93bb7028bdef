// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: what is read long after it was written is fetched twice, once to be overwritten and once to be read.
// Truth: three times 3 million numbers, 23 MiB, are made and then summed up. L3 has 8 MiB: a sum finds nothing of what
// was made. So stores past the caches take nothing from it; they spare the 3 * 375,000 fetches of the lines made.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <emmintrin.h>

#ifndef COUNT
#define COUNT 3000000
#endif
alignas(64) static uint64_t echo[COUNT];

static void put(uint64_t &to, uint64_t value)
{
#ifdef CURED
    _mm_stream_si64(reinterpret_cast<long long *>(&to), static_cast<long long>(value));
#else
    to = value; // here
#endif
}

__attribute__((noinline)) static void make(uint64_t seed)
{
    for (uint64_t i = 0; i < COUNT; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        put(echo[i], seed >> 33); // here
    }
}

__attribute__((noinline)) static uint64_t sum()
{
    uint64_t all = 0;
    for (uint64_t i = 0; i < COUNT; i++)
        all += echo[i];
    return all;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 3;
    uint64_t all = 0;
    for (int i = 0; i < rounds; i++) {
        make(static_cast<uint64_t>(i));
        all += sum();
    }
    std::printf("%llu\n", static_cast<unsigned long long>(all));
}
