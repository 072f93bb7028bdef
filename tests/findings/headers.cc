// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: objects of a power of two in size have their heads in few sets.
// Truth: 256 sessions of 1024 bytes; each round visits the first line of each, 16 KiB in all, half of L1D. But a set
// in sixteen is all that 1024 bytes reach: 4 sets of 8 ways for 256 lines. A line more in each object spreads the
// heads over all sets.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

struct alignas(64) session {
    uint64_t requests, bytes, last;
    char buffer[1024 - 3 * sizeof(uint64_t)];
#ifdef CURED
    char unused[64];
#endif
};
static session sessions[256];

__attribute__((noinline)) static uint64_t tick(uint64_t now)
{
    for (session &each : sessions) {
        each.requests++; // here
        each.bytes += now ^ each.last; // here
        each.last = now + each.requests; // here
    }
    return now * 5 + sessions[now % 256].bytes;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 4000;
    uint64_t now = 1;
    for (session &each : sessions)
        each.buffer[0] = 'x';
    for (int round = 0; round < rounds; round++)
        now = tick(now);
    printf("%llu\n", static_cast<unsigned long long>(now));
    return 0;
}
