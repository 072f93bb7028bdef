// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: what is read soon is not to be stored past the caches, however large it may be in all.
// Truth: messages of a line go through a ring of 4,096, 256 KiB, and each is read 16 messages after it was written.
// When the ring has come round a message's old line is in the caches, and the stores take it out of them: the 199,984
// messages that are read of 200,000 come from memory, all but 4,096 of them for that reason, 195,888. Ordinary stores
// would find the old line, and leave the new one in L1D.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <emmintrin.h>

constexpr uint64_t ring_size = 4096, behind = 16;
struct alignas(64) message {
    long long number, words[7];
};
static message ring[ring_size];

static void put(long long &to, long long value)
{
#ifdef CURED
    to = value;
#else
    _mm_stream_si64(&to, value);
#endif
}

__attribute__((noinline)) static void send(message &to, long long number)
{
    for (int i = 0; i < 7; i++)
        put(to.words[i], number * i);
    put(to.number, number);
}

__attribute__((noinline)) static long long receive(const message &from)
{
    return from.number + from.words[3] + from.words[6]; // here
}

int main(int argc, char **argv)
{
    const uint64_t messages = argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 200000;
    unsigned long long sum = 0;
    for (uint64_t i = 0; i < messages; i++) {
        send(ring[i % ring_size], static_cast<long long>(i));
        if (i >= behind)
            sum += static_cast<unsigned long long>(receive(ring[(i - behind) % ring_size]));
    }
    std::printf("%llu\n", sum);
}
