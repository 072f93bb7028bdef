/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Replacement policies: which way of a full set makes room.
 *
 * Model
 *   An empty way is always taken before a victim is chosen, the one with the lowest number first; so the rules below
 *   speak of full sets. "Touched" is filled or hit.
 *     lru        the way touched longest ago
 *     fifo       the way filled longest ago
 *     random     a uniform draw, one a victim, from the level's own stream
 *     tree-plru  ways-1 bits in a binary tree, 0 at reset, 0 pointing left (to the lower ways); the victim is where
 *                the bits lead; a touch makes each bit on the way's path point away from it
 *     nru        one bit a way, 1 at reset; a touch clears it; the victim is the lowest way with a 1, after setting all
 *                bits to 1 when there is none
 *     srrip      two bits a way, the re-reference prediction, 3 at reset; a fill sets 2, a hit 0 (hit priority); the
 *                victim is the lowest way with a 3, after adding 1 to all until there is one
 *     brrip      as srrip, but a fill sets 3, and 2 once in 32, drawn at each fill from the level's own stream
 *   A way emptied by an invalidation, or by a move to a level above, goes back to its state at reset for nru, srrip and
 *   brrip; a PLRU tree keeps its bits.
 *
 * Counting
 *   The stream of level NAME is the consumer "cache NAME" of the master seed: a policy on one level draws the same
 *   whatever the others do.
 *
 * Representation
 *   lru and fifo keep an age a way, a number from the set's own clock, so that a hit is one store and no order is
 *   moved; the clock has 16 bits, and every 65535 touches the ages become their ranks. The other policies keep bit
 *   planes, inverted where reset is 1 so that a zeroed set is a reset set:
 *     nru   bits[0] way w: touched       rrip  bits[1],bits[0] way w: 3 - prediction       plru  bits[0] node n, root 1
 *
 * Invariants (cache_policy_check)
 *   dirty is a subset of valid, no bit lies above the ways, a way is valid if and only if it has a tag, no two tags are
 *   equal, the ages of valid ways differ and none is above the clock.
 *
 * Not modelled
 *   Adaptive policies with set duelling, and the undocumented ones of real L3s.
 *
 * Source
 *   NRU, SRRIP, BRRIP: A. Jaleel, K. Theobald, S. Steely, J. Emer, "High Performance Cache Replacement Using
 *   Re-Reference Interval Prediction", ISCA 2010.
 */
#include "caches/policy_priv.h"

#include <string.h>

#define BRRIP_ONE_IN 32

static bool has_ages(enum caches_policy kind)
{
    return kind == CACHES_LRU || kind == CACHES_FIFO;
}

void cache_policy_init(struct cache_policy *policy, enum caches_policy kind, uint32_t ways, uint64_t seed,
                       const char *level_name)
{
    C2_ASSERT(ways >= 1 && ways <= CACHES_MAX_WAYS);
    C2_ASSERT(kind != CACHES_TREE_PLRU || c2_is_power_of_two(ways));
    *policy = (struct cache_policy){ .kind = kind, .ways = ways, .hint_words = (ways + 7) / 8,
                                     .all = c2_mask(0, ways - 1) };
    char consumer[CACHES_NAME_BYTES + 8];
    snprintf(consumer, sizeof consumer, "cache %s", level_name);
    c2_rng_init(&policy->rng, seed, consumer);
}

size_t cache_policy_set_bytes(const struct cache_policy *policy)
{
    size_t ages = has_ages(policy->kind) ? policy->ways * sizeof(uint16_t) : 0;
    return c2_align_up(sizeof(struct cache_set) + 9 * policy->hint_words * sizeof(uint64_t) + ages, sizeof(uint64_t));
}

/* ------------------------------------------------------------------ ages */

void cache_policy_renumber(const struct cache_policy *policy, struct cache_set *set)
{
    uint16_t *age = cache_set_ages(policy, set);
    uint16_t rank[CACHES_MAX_WAYS] = { 0 };
    for (uint32_t w = 0; w < policy->ways; w++)
        for (uint32_t other = 0; other < policy->ways; other++)
            rank[w] += age[other] < age[w];
    memcpy(age, rank, policy->ways * sizeof *age);
    set->clock = policy->ways;
}

static uint32_t oldest(const struct cache_policy *policy, struct cache_set *set)
{
    const uint16_t *age = cache_set_ages(policy, set);
    uint32_t best = UINT32_MAX; /* age and way in one number, so that the loop has no unpredictable branch */
    for (uint32_t w = 0; w < policy->ways; w++) {
        uint32_t candidate = (uint32_t)age[w] << 8 | w;
        best = candidate < best ? candidate : best;
    }
    return best & 0xff;
}

/* ------------------------------------------------------------------ trees */

static void plru_touch(const struct cache_policy *policy, struct cache_set *set, uint32_t way)
{
    uint32_t node = 1;
    for (uint32_t half = policy->ways >> 1; half != 0; half >>= 1) {
        bool right = (way & half) != 0;
        uint64_t bit = (uint64_t)1 << node;
        set->bits[0] = right ? set->bits[0] & ~bit : set->bits[0] | bit;
        node = 2 * node + right;
    }
}

static uint32_t plru_victim(const struct cache_policy *policy, const struct cache_set *set)
{
    uint32_t node = 1;
    while (node < policy->ways)
        node = 2 * node + (set->bits[0] >> node & 1);
    return node - policy->ways;
}

/* ------------------------------------------------------------------ bit planes */

static uint32_t nru_victim(const struct cache_policy *policy, struct cache_set *set)
{
    if (set->bits[0] == policy->all)
        set->bits[0] = 0;
    return (uint32_t)__builtin_ctzll(~set->bits[0]);
}

/* distance = 3 - prediction, 0..3 */
static void rrip_put(struct cache_set *set, uint32_t way, uint32_t distance)
{
    uint64_t bit = (uint64_t)1 << way;
    set->bits[0] = distance & 1 ? set->bits[0] | bit : set->bits[0] & ~bit;
    set->bits[1] = distance & 2 ? set->bits[1] | bit : set->bits[1] & ~bit;
}

/* Adding 1 to every prediction takes 1 from every distance: the low plane flips, the high one keeps its 1 where there
 * was a low 1 to take. */
static uint32_t rrip_victim(const struct cache_policy *policy, struct cache_set *set)
{
    uint64_t *low = &set->bits[0], *high = &set->bits[1];
    while ((*low | *high) == policy->all) {
        *high &= *low;
        *low = ~*low & policy->all;
    }
    return (uint32_t)__builtin_ctzll(~(*low | *high));
}

/* ------------------------------------------------------------------ the face towards a level */

void cache_policy_hit_other(const struct cache_policy *policy, struct cache_set *set, uint32_t way)
{
    switch (policy->kind) {
    case CACHES_LRU: cache_policy_youngest(policy, set, way); break;
    case CACHES_TREE_PLRU: plru_touch(policy, set, way); break;
    case CACHES_NRU: set->bits[0] |= (uint64_t)1 << way; break;
    case CACHES_SRRIP:
    case CACHES_BRRIP: rrip_put(set, way, 3); break;
    case CACHES_FIFO:
    case CACHES_RANDOM: break;
    }
}

void cache_policy_fill(struct cache_policy *policy, struct cache_set *set, uint32_t way)
{
    switch (policy->kind) {
    case CACHES_LRU:
    case CACHES_FIFO: cache_policy_youngest(policy, set, way); break;
    case CACHES_TREE_PLRU: plru_touch(policy, set, way); break;
    case CACHES_NRU: set->bits[0] |= (uint64_t)1 << way; break;
    case CACHES_SRRIP: rrip_put(set, way, 1); break;
    case CACHES_BRRIP: rrip_put(set, way, c2_rng_below(&policy->rng, BRRIP_ONE_IN) == 0 ? 1 : 0); break;
    case CACHES_RANDOM: break;
    }
}

uint32_t cache_policy_victim(struct cache_policy *policy, struct cache_set *set)
{
    switch (policy->kind) {
    case CACHES_LRU:
    case CACHES_FIFO: return oldest(policy, set);
    case CACHES_RANDOM: return (uint32_t)c2_rng_below(&policy->rng, policy->ways);
    case CACHES_TREE_PLRU: return plru_victim(policy, set);
    case CACHES_NRU: return nru_victim(policy, set);
    case CACHES_SRRIP:
    case CACHES_BRRIP: return rrip_victim(policy, set);
    }
    C2_ASSERT(!"a policy");
    return 0;
}

void cache_policy_forget(const struct cache_policy *policy, struct cache_set *set, uint32_t way)
{
    if (policy->kind == CACHES_NRU || policy->kind == CACHES_SRRIP || policy->kind == CACHES_BRRIP)
        rrip_put(set, way, 0);
}

static void check_ages(const struct cache_policy *policy, const struct cache_set *set)
{
    const uint16_t *age = cache_set_ages(policy, set);
    C2_ASSERT(set->clock <= CACHE_AGE_LIMIT);
    for (uint32_t w = 0; w < policy->ways; w++) {
        C2_ASSERT(age[w] <= set->clock);
        for (uint32_t other = 0; other < w; other++)
            C2_ASSERT(age[other] != age[w] || !(set->valid >> w & set->valid >> other & 1));
    }
}

void cache_policy_check(const struct cache_policy *policy, const struct cache_set *set)
{
    C2_ASSERT((set->valid & ~policy->all) == 0 && (set->dirty & ~set->valid) == 0);
    for (uint32_t w = policy->ways; w < 8 * policy->hint_words; w++)
        C2_ASSERT(set->tag[w] == 0);
    for (uint32_t w = 0; w < policy->ways; w++) {
        C2_ASSERT((set->valid >> w & 1) == (set->tag[w] != 0));
        for (uint32_t other = 0; other < w; other++)
            C2_ASSERT(set->tag[w] == 0 || set->tag[w] != set->tag[other]);
    }
    if (has_ages(policy->kind))
        check_ages(policy, set);
}
