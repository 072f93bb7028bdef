// SPDX-License-Identifier: GPL-2.0-or-later
//
// Tuned: a sieve in segments of 16 KiB, a bit an odd number: L1D holds a segment while all primes strike it out.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static constexpr uint32_t WORDS = 2048, SPAN = WORDS * 64;
static uint64_t segment[WORDS];

int main(int argc, char **argv)
{
    const uint32_t segments = argc > 1 ? strtoul(argv[1], nullptr, 0) : 32;
    std::vector<uint32_t> primes, next; // odd primes, and where each strikes next, both as halves
    uint64_t count = 1;
    for (uint32_t candidate = 3; candidate * candidate < 2 * SPAN * segments; candidate += 2) {
        bool prime = true;
        for (uint32_t each : primes)
            prime &= candidate % each != 0;
        if (prime) {
            primes.push_back(candidate);
            next.push_back(candidate * candidate / 2);
        }
    }
    for (uint32_t begin = 0; begin < segments; begin++) {
        for (uint64_t &word : segment)
            word = 0;
        for (size_t i = 0; i < primes.size(); i++) {
            uint32_t at = next[i];
            for (; at < SPAN; at += primes[i])
                segment[at / 64] |= 1ull << at % 64;
            next[i] = at - SPAN;
        }
        for (uint64_t word : segment) {
            word = ~word;
            for (; word; word &= word - 1)
                count++;
        }
    }
    printf("%llu\n", static_cast<unsigned long long>(count - 1)); // 1 is no prime
    return 0;
}
