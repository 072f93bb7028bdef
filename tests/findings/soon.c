/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: a prefetch right before the access hides nothing.
 * Truth: 20,000 cards of a table of 32 MiB are drawn, and each is worked on for some 700 instructions. Its line is
 * fetched ahead, but right before it is read, and memory takes 200 cycles. The card of the next round is known: its
 * line, fetched a round ahead, is there when it is read. The table comes from the kernel, so that nothing else misses.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef CARDS
#define CARDS (1 << 19)
#endif
#define WORK 120
struct card {
    uint64_t value, rest[7];
};
static struct card cards[CARDS] __attribute__((aligned(64)));

static uint64_t drawn(uint64_t round) { return (round * 0x9e3779b97f4a7c15u ^ round << 7) >> 20 & (CARDS - 1); }

/* Each step needs the one before. */
static inline uint64_t work(uint64_t value)
{
    for (int i = 0; i < WORK; i++) {
        value ^= value << 13;
        value ^= value >> 7;
        value ^= value << 17;
    }
    return value;
}

static __attribute__((noinline)) uint64_t play(uint64_t rounds)
{
    uint64_t all = 88172645463325252u;
    for (uint64_t round = 0; round < rounds; round++) {
#ifdef CURED
        __builtin_prefetch(&cards[drawn(round + 1)]);
#else
        __builtin_prefetch(&cards[drawn(round)]); /* here */
        __asm__ volatile("" ::: "memory");        /* else compilers put it behind the access */
#endif
        all = work(all + cards[drawn(round)].value);
    }
    return all;
}

int main(int argc, char **argv)
{
    const uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 0) : 20000;
    const int zeros = open("/dev/zero", O_RDONLY);
    if (read(zeros, cards, sizeof cards) != (ssize_t)sizeof cards)
        return 1;
    printf("%llu\n", (unsigned long long)play(rounds));
    return 0;
}
