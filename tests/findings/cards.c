/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: a card that is put in its place moves half of those before it.
 * Truth: 2000 cards of 64 B, 125 KiB. From the 512th card on those to be moved, half of what is sorted, soon fill L1D,
 * 32 KiB, and each card that is put in comes through them again. Indices that are sorted by halves move 4 B each,
 * eleven times.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef CARDS
#define CARDS 2000
#endif
struct card {
    uint32_t key;
    char name[60];
};
static struct card cards[CARDS];
static uint32_t order[CARDS];

#ifdef CURED
static uint32_t merged[CARDS];

static void sort(uint32_t from, uint32_t to)
{
    const uint32_t middle = from + (to - from) / 2;
    uint32_t left = from, right = middle;
    if (to - from < 2)
        return;
    sort(from, middle);
    sort(middle, to);
    for (uint32_t i = from; i < to; i++) {
        const int is_left = right == to || (left < middle && cards[order[left]].key <= cards[order[right]].key);
        merged[i] = order[is_left ? left++ : right++];
    }
    for (uint32_t i = from; i < to; i++)
        order[i] = merged[i];
}
#else
static void sort(uint32_t from, uint32_t to)
{
    for (uint32_t i = from + 1; i < to; i++) {
        const struct card card = cards[i];
        uint32_t at = i;
        for (; at > from && cards[at - 1].key > card.key; at--) /* here */
            cards[at] = cards[at - 1];                          /* here */
        cards[at] = card;
    }
}
#endif

int main(void)
{
    uint32_t random = 1, sum = 0;
    for (uint32_t i = 0; i < CARDS; i++) {
        random = random * 1664525 + 1013904223;
        cards[i].key = random;
        order[i] = i;
    }
    sort(0, CARDS);
    for (uint32_t i = 0; i < CARDS; i++)
        sum = sum * 31 + cards[order[i]].key;
    printf("%u\n", sum);
    return 0;
}
