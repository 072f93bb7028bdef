// SPDX-License-Identifier: GPL-2.0-or-later
//
// C++ for the tests of loader/: templates, namespaces, members, lambdas, inlined chains across them.
#include <cstdint>

namespace shapes {

struct box {
    int width, height;
    static int made;
    int area() const;
    template <typename T> T scaled(T by) const { return static_cast<T>(area()) * by; }
};

int box::made;
static box boxes[3];
int table[2][2] = {{1, 2}, {3, 4}};

__attribute__((noinline)) int box::area() const
{
    made++;
    return width * height;
}

template <typename T, int N> struct ring {
    T items[N];
    unsigned at = 0;
    void push(const T &item) { items[at++ % N] = item; }
    T sum() const
    {
        T total = T();
        for (const T &item : items)
            total += item;
        return total;
    }
};

ring<int, 8> global_ring;

} // namespace shapes

template <typename T> static inline T clamp(T value, T low, T high)
{
    return value < low ? low : value > high ? high : value;
}

static inline int &counter()
{
    static int count = 5;
    return ++count;
}

__attribute__((noinline)) static long work(int n)
{
    auto twice = [n](long by) { return by * n + counter(); };
    for (int i = 0; i < n; i++) {
        shapes::boxes[i % 3].width = clamp(i, 1, 7);
        shapes::boxes[i % 3].height = n;
        shapes::global_ring.push(static_cast<int>(twice(shapes::boxes[i % 3].scaled(2L))));
    }
    return shapes::global_ring.sum();
}

extern "C" __attribute__((noinline)) long plain_c(int n)
{
    return work(n) + shapes::table[n & 1][0];
}

int main(int argc, char **)
{
    return static_cast<int>(plain_c(argc));
}
