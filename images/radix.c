/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Radix sort with barriers between its steps: radix [KEYS]
 *
 * The lesson: one step of three is scattered. Each pass over a digit of ten bits counts the digits (keys in order,
 * counters anywhere), sums the counters up (in order), and deals the keys out (keys in order, each to where its digit's
 * next one goes: 1024 places that move on). `--histogram --phase-at barriers` shows the steps apart. One thread does
 * all the work; the barriers are where several would wait for each other. After the program of that name in SPLASH-2.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define APART static __attribute__((noinline))

enum { BITS = 10, DIGITS = 1 << BITS, PASSES = 2 };

static size_t keys;
static uint32_t counter[DIGITS] __attribute__((aligned(4096)));
static pthread_barrier_t barrier;

static unsigned digit(uint32_t key, int pass) { return key >> (BITS * pass) & (DIGITS - 1); }

APART void count(const uint32_t *from, int pass)
{
    for (size_t i = 0; i < keys; i++)
        counter[digit(from[i], pass)]++;
}

/* Where the first key of each digit goes. */
APART void sum_up(void)
{
    uint32_t before = 0;
    for (int i = 0; i < DIGITS; i++) {
        const uint32_t of_digit = counter[i];
        counter[i] = before;
        before += of_digit;
    }
}

APART void deal_out(uint32_t *to, const uint32_t *from, int pass)
{
    for (size_t i = 0; i < keys; i++)
        to[counter[digit(from[i], pass)]++] = from[i];
}

static void sort(uint32_t *from, uint32_t *to)
{
    for (int pass = 0; pass < PASSES; pass++) {
        uint32_t *const next = from;
        for (int i = 0; i < DIGITS; i++)
            counter[i] = 0;
        pthread_barrier_wait(&barrier);
        count(from, pass);
        pthread_barrier_wait(&barrier);
        sum_up();
        pthread_barrier_wait(&barrier);
        deal_out(to, from, pass);
        pthread_barrier_wait(&barrier);
        from = to;
        to = next;
    }
}

int main(int argc, char **argv)
{
    keys = argc > 1 ? strtoul(argv[1], NULL, 10) : 65536;
    if (keys == 0 || keys > 1u << 24) {
        fprintf(stderr, "usage: radix [KEYS], KEYS <= %u\n", 1u << 24);
        return 2;
    }
    const size_t bytes = (keys * sizeof(uint32_t) + 4095) / 4096 * 4096;
    uint32_t *a = aligned_alloc(4096, bytes), *b = aligned_alloc(4096, bytes);
    if (!a || !b || pthread_barrier_init(&barrier, NULL, 1) != 0)
        return 1;
    uint32_t seed = 1;
    for (size_t i = 0; i < keys; i++) {
        seed = seed * 1103515245u + 12345u;
        a[i] = seed >> 12;
    }
    sort(a, b);
    size_t wrong = 0;
    for (size_t i = 1; i < keys; i++)
        wrong += a[i - 1] > a[i];
    printf("radix: %zu keys, %zu out of order\n", keys, wrong);
    free(a);
    free(b);
    return wrong != 0;
}
