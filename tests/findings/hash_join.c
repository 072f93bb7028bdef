/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Tuned: a join by hash tables that are small: both sides are dealt into 16 parts by the hash first, so that the table
 * of a part, 4 KiB, stays in L1D while its part of the other side passes, in order.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define PARTS 16
#define SLOTS 1024
#define LEFT 4096
#define RIGHT 8192
struct part {
    uint32_t count, keys[RIGHT / PARTS * 2 - 1 + 8]; /* parts begin in different sets */
};
static struct part lefts[PARTS], rights[PARTS];
static uint32_t table[SLOTS];

/* A mixing of bits that can be undone: different keys have different hashes. */
static uint32_t hashed(uint32_t key)
{
    key ^= key >> 16;
    key *= 0x7feb352d;
    key ^= key >> 15;
    key *= 0x846ca68b;
    return key ^ key >> 16;
}

static void deal(struct part *parts, uint32_t seed, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t hash = hashed(i * 3 + seed) | 1;
        struct part *const part = &parts[hash >> 28];
        part->keys[part->count++] = hash;
    }
}

static uint32_t join(const struct part *left, const struct part *right)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < SLOTS; i++)
        table[i] = 0;
    for (uint32_t i = 0; i < left->count; i++) {
        uint32_t slot = left->keys[i] >> 8 & (SLOTS - 1);
        while (table[slot])
            slot = (slot + 1) & (SLOTS - 1);
        table[slot] = left->keys[i];
    }
    for (uint32_t i = 0; i < right->count; i++) {
        for (uint32_t slot = right->keys[i] >> 8 & (SLOTS - 1); table[slot]; slot = (slot + 1) & (SLOTS - 1))
            found += table[slot] == right->keys[i];
    }
    return found;
}

int main(int argc, char **argv)
{
    const uint32_t rounds = argc > 1 ? (uint32_t)atoi(argv[1]) : 60;
    uint32_t sum = 0;
    for (uint32_t round = 0; round < rounds; round++) {
        for (int i = 0; i < PARTS; i++)
            lefts[i].count = rights[i].count = 0;
        deal(lefts, round, LEFT);
        deal(rights, round + 300, RIGHT);
        for (int i = 0; i < PARTS; i++)
            sum = sum * 31 + join(&lefts[i], &rights[i]);
    }
    printf("%u\n", sum);
    return 0;
}
