/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Seeded generators.
 *
 * Model
 *   xoshiro256** 1.0. Its four words are successive outputs of SplitMix64, whose start is
 *   (first SplitMix64 output of the master seed) xor (64-bit FNV-1a of the consumer's name). Mixing the master
 *   seed first keeps the seeds 1, 2, 3 ... far apart before the name is added.
 * Counting
 *   c2_rng_below draws again while a draw lies in the incomplete last group of `limit` values: the number of draws
 *   depends on the draws alone, so it is as reproducible as they are.
 * Invariants
 *   The state is never all zero: four successive SplitMix64 outputs are distinct.
 * Source
 *   D. Blackman, S. Vigna, "Scrambled Linear Pseudorandom Number Generators", 2018; G. Steele, D. Lea, C. Flood,
 *   "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014; FNV-1a: G. Fowler, L. C. Noll, K.-P. Vo.
 */
#include "base/base.h"

#include <string.h>

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint64_t rng_rotate_left(uint64_t v, unsigned by) { return v << by | v >> (64 - by); }

void c2_rng_init(struct c2_rng *rng, uint64_t master_seed, const char *consumer)
{
    uint64_t state = splitmix64(&master_seed) ^ c2_hash(consumer, strlen(consumer));
    for (int i = 0; i < 4; i++)
        rng->s[i] = splitmix64(&state);
}

uint64_t c2_rng_next(struct c2_rng *rng)
{
    uint64_t *s = rng->s;
    uint64_t result = rng_rotate_left(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rng_rotate_left(s[3], 45);
    return result;
}

uint64_t c2_rng_below(struct c2_rng *rng, uint64_t limit)
{
    C2_ASSERT(limit > 0);
    /* 2^64 mod limit: below it lies the part that would make the small results likelier. */
    uint64_t excess = -limit % limit;
    uint64_t draw;
    do {
        draw = c2_rng_next(rng);
    } while (draw < excess);
    return draw % limit;
}

/* Little-endian bytes of successive draws; what is left of the last draw is dropped. */
void c2_rng_fill(struct c2_rng *rng, void *out, size_t bytes)
{
    unsigned char *to = out;
    uint64_t draw = 0;
    for (size_t i = 0; i < bytes; i++) {
        draw = i % 8 == 0 ? c2_rng_next(rng) : draw >> 8;
        to[i] = (unsigned char)draw;
    }
}
