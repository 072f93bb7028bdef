// SPDX-License-Identifier: GPL-2.0-or-later
//
// Functions that are left in every way that the C library and the C++ one know. Each is called by main alone, and calls
// main never: its region ends where the guest is next in main.
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static jmp_buf back;
static sigjmp_buf signal_back;
volatile unsigned sink;

#define FUNCTION extern "C" __attribute__((noinline, used)) void

struct guard {
    __attribute__((noinline)) ~guard() { sink = sink + 1; }
};

FUNCTION returns(unsigned n)
{
    char text[32];
    sink = sink + (unsigned)snprintf(text, sizeof text, "%u", n);
}

FUNCTION dive(unsigned n)
{
    if (n == 0)
        throw 7;
    dive(n - 1);
    sink = sink + 1;
}

// Its clean-up runs within it; then the exception leaves it.
FUNCTION throws(unsigned n)
{
    guard on_the_way;
    dive(n);
}

// Nothing leaves it.
FUNCTION catches(unsigned n)
{
    try {
        dive(n);
    } catch (int) {
        sink = sink + 1;
    }
}

FUNCTION jumps(unsigned n)
{
    if (n == 0)
        longjmp(back, 1);
    jumps(n - 1);
    sink = sink + 1;
}

static void handler(int) { siglongjmp(signal_back, 1); }

FUNCTION signals(unsigned n)
{
    if (n == 0)
        raise(SIGUSR1);
    else
        signals(n - 1);
    sink = sink + 1;
}

namespace deep {
__attribute__((noinline)) unsigned named(unsigned n, const char *text) { return n + (unsigned)text[n % 3]; }
template <typename T> __attribute__((noinline)) T made(T n) { return n + (T)sink; }
} // namespace deep

int main(int argc, char **argv)
{
    signal(SIGUSR1, handler);
    for (unsigned n = 0; n < 3; n++) {
        returns(n * 1000);
        try {
            throws(n);
        } catch (int) {
            sink = sink + 1;
        }
        catches(n);
        if (setjmp(back) == 0)
            jumps(n);
        if (sigsetjmp(signal_back, 1) == 0)
            signals(n);
        sink = sink + deep::named(n, argv[0]) + deep::made(n);
        char bytes[64];
        memset(bytes, (int)sink, sizeof bytes);
        memcpy(bytes + 16 * (argc - 1), bytes + 16 * argc, 16 * (std::size_t)argc);
        sink = sink + (unsigned)bytes[n];
    }
    std::exit(0);
}
