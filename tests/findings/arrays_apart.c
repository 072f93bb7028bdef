/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: arrays a multiple of 4096 bytes apart meet in the same sets of L1D.
 * Truth: 16 arrays of 4096 bytes each, of which the first 1 KiB is in use: 16 KiB in all, half of L1D. But element k of
 * all of them lies in one set of 8 ways, and the formula for k wants all 16: each load misses. There is one loop, so
 * there is nothing to swap; one line between two arrays keeps them apart.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define USED 128
#ifdef CURED
#define LENGTH (512 + 8)
#else
#define LENGTH 512
#endif
static struct {
    uint64_t price[LENGTH], amount[LENGTH], fee[LENGTH], tax[LENGTH], risk[LENGTH], rating[LENGTH], stock[LENGTH],
        sold[LENGTH];
    uint64_t bought[LENGTH], lent[LENGTH], owed[LENGTH], paid[LENGTH], limit[LENGTH], margin[LENGTH], spread[LENGTH],
        yield_[LENGTH];
} book __attribute__((aligned(4096)));
static uint64_t mixed[USED];

__attribute__((noinline)) static void mix(uint64_t round)
{
    for (int k = 0; k < USED; k++) {
        uint64_t hash = book.price[k];
        hash = (book.amount[k] ^ book.fee[k]) + (book.tax[k] | hash);       /* here */
        hash = (book.risk[k] ^ book.rating[k]) + (book.stock[k] | hash);    /* here */
        hash = (book.sold[k] ^ book.bought[k]) + (book.lent[k] | hash);     /* here */
        hash = (book.owed[k] ^ book.paid[k]) + (book.limit[k] | hash);      /* here */
        hash = (book.margin[k] ^ book.spread[k]) + (book.yield_[k] | hash); /* here */
        mixed[k] += hash * round;
    }
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 2000;
    uint64_t sum = 0;
    for (int k = 0; k < USED; k++)
        book.price[k] = book.fee[k] = book.stock[k] = book.owed[k] = (uint64_t)k * 13;
    for (int round = 1; round <= rounds; round++)
        mix((uint64_t)round);
    for (int k = 0; k < USED; k++)
        sum += mixed[k];
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
