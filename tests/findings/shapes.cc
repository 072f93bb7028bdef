// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: objects of many classes in any order bring the code of their methods in any order.
// Truth: 100 classes, each with a virtual method of some 1.2 KiB of straight code, four times L1I together; 2000
// objects in a random order, so that each call most likely finds its code gone. In the order of their classes, twenty
// calls in a row run the same code.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

struct shape {
    explicit shape(uint32_t kind) : kind(kind) {}
    virtual ~shape() = default;
    virtual uint64_t area(uint64_t x) const = 0;
    uint32_t kind;
};

template <unsigned STEPS> __attribute__((always_inline)) inline void steps(uint64_t (&s)[4], uint64_t kind)
{
    if constexpr (STEPS != 0) {
        s[0] += s[1] ^ (kind + STEPS * 1237); // here
        s[1] += s[2] ^ (kind + STEPS * 2311); // here
        s[2] += s[3] ^ (kind + STEPS * 3413); // here
        s[3] += s[0] ^ (kind + STEPS * 4519); // here
        steps<STEPS - 1>(s, kind);
    }
}

template <unsigned KIND> struct polygon : shape {
    polygon() : shape(KIND) {}
    uint64_t area(uint64_t x) const override
    {
        uint64_t s[4] = {x, x + 1, x + 2, x + 3}; // here
        steps<24>(s, KIND);
        return s[0] ^ s[1] ^ s[2] ^ s[3]; // here
    }
};

template <unsigned... KINDS> static shape *make(unsigned kind, std::integer_sequence<unsigned, KINDS...>)
{
    shape *made = nullptr;
    ((kind == KINDS ? made = new polygon<KINDS> : nullptr), ...);
    return made;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 40;
    std::vector<std::unique_ptr<shape>> shapes;
    uint32_t random = 1;
    for (int i = 0; i < 2000; i++) {
        random = random * 1664525u + 1013904223u;
        shapes.emplace_back(make((random >> 8) % 100, std::make_integer_sequence<unsigned, 100>{}));
    }
#ifdef CURED
    std::sort(shapes.begin(), shapes.end(), [](const auto &a, const auto &b) { return a->kind < b->kind; });
#endif
    uint64_t sum = 0;
    for (int round = 0; round < rounds; round++) {
        for (const auto &each : shapes)
            sum += each->area(round); // here
    }
    printf("%llu\n", static_cast<unsigned long long>(sum));
    return 0;
}
