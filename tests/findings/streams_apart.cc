// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lesson: large blocks of an allocator all begin at the same place of a page.
// Truth: 14 vectors of 256 KB: each block is a mapping of its own and begins 16 bytes into a page, so that element i of
// all of them is in one set of L1D, of 8 ways. A line is gone before its eight elements have been used, in each stream.
// There is one loop. With a line more in front of each than of the one before, each stream has sets of its own.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

static constexpr size_t LENGTH = 32768, STREAMS = 14;
static uint64_t *u[STREAMS];

__attribute__((noinline)) static void combine(uint64_t key)
{
    uint64_t *const a = u[0], *const b = u[1], *const c = u[2], *const d = u[3], *const e = u[4], *const f = u[5],
                   *const g = u[6], *const h = u[7], *const k = u[8], *const l = u[9], *const m = u[10],
                   *const n = u[11], *const p = u[12], *const q = u[13];
    for (size_t i = 0; i < LENGTH; i++) {
        a[i] = (b[i] ^ c[i]) + (d[i] | e[i]) + key; // here
        f[i] = (g[i] ^ h[i]) + (k[i] | l[i]) + a[i]; // here
        m[i] = (n[i] ^ p[i]) + (q[i] | key) + f[i]; // here
    }
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 12;
    for (size_t stream = 0; stream < STREAMS; stream++) {
#ifdef CURED
        const size_t shift = 8 * stream;
#else
        const size_t shift = 0;
#endif
        u[stream] = static_cast<uint64_t *>(malloc((LENGTH + 8 * STREAMS) * sizeof(uint64_t))) + shift;
        for (size_t i = 0; i < LENGTH; i++)
            u[stream][i] = i * stream;
    }
    for (int round = 1; round <= rounds; round++)
        combine(round);
    uint64_t sum = 0;
    for (size_t i = 0; i < LENGTH; i += 101)
        sum = sum * 31 + u[0][i] + u[5][i] + u[10][i];
    printf("%llu\n", static_cast<unsigned long long>(sum));
    return 0;
}
