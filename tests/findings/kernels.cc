// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: code is data, too: more of it than L1I holds, executed in turn, is loaded again each time.
// Truth: 96 instances of one template, about 1 KiB of code each, are called one after the other for each item: three
// times L1I (32 KiB), in a cycle. Cured, one function does what all of them do, with the number as a parameter.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

struct state {
    uint64_t a, b, c, d;
};

template <unsigned STEPS> __attribute__((always_inline)) static inline void scramble(state &s, uint64_t kernel)
{
    if constexpr (STEPS != 0) {
        s.a += s.b ^ (kernel + STEPS * 1237); // here
        s.b += s.c ^ (kernel + STEPS * 2311); // here
        s.c += s.d ^ (kernel + STEPS * 3413); // here
        s.d += s.a ^ (kernel + STEPS * 4519); // here
        scramble<STEPS - 1>(s, kernel);
    }
}

#ifdef CURED
__attribute__((noinline)) static void kernel(state &s, uint64_t number)
{
    scramble<24>(s, number);
}
#else
template <uint64_t NUMBER> __attribute__((noinline)) static void kernel(state &s)
{
    scramble<24>(s, NUMBER);
}
#endif

template <uint64_t... NUMBERS> static void all(state &s, std::integer_sequence<uint64_t, NUMBERS...>)
{
#ifdef CURED
    (kernel(s, NUMBERS), ...);
#else
    (kernel<NUMBERS>(s), ...);
#endif
}

int main(int argc, char **argv)
{
    const int items = argc > 1 ? atoi(argv[1]) : 250;
    state s = {1, 2, 3, 4};
    for (int i = 0; i < items; i++)
        all(s, std::make_integer_sequence<uint64_t, 96>{});
    printf("%llu\n", static_cast<unsigned long long>(s.a ^ s.b ^ s.c ^ s.d));
    return 0;
}
