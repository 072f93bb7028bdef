// SPDX-License-Identifier: GPL-2.0-or-later
//
// Exceptions through frames whose numbers are known: exports.py says which.
volatile unsigned sink;

extern "C" __attribute__((noinline)) void leaf() { sink = sink + 1; }

extern "C" __attribute__((noinline)) void dive(unsigned n)
{
    if (n == 0)
        throw 7;
    dive(n - 1);
    sink = sink + 1;
}

struct guard {
    __attribute__((noinline)) ~guard() { sink = sink + 1; }
};

extern "C" __attribute__((noinline)) void cleaner(unsigned n)
{
    guard on_the_way;
    dive(n);
    sink = sink + 1;
}

extern "C" __attribute__((noinline)) void catcher(unsigned n)
{
    try {
        cleaner(n);
    } catch (int) {
        leaf();
    }
    leaf();
}

int main()
{
    for (unsigned n = 0; n < 4; n++)
        catcher(n);
    leaf();
    return 0;
}
