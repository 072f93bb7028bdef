/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One set of a cache and the policy that orders its ways. The hot half is inline; the model card is in policy.c.
 */
#ifndef C2_POLICY_PRIV_H
#define C2_POLICY_PRIV_H

#include "caches/caches.h"

/* All zero is the empty set at reset, so that a cache is one calloc whose untouched part costs no host memory.
 * 8 ways of LRU: 40 + 64 + 8 + 16 bytes, two host cache lines. */
struct cache_set {
    uint64_t valid;   /* bit w: way w holds a line */
    uint64_t dirty;   /* subset of valid */
    uint64_t bits[2]; /* NRU, tree-PLRU, RRIP: see policy.c */
    uint64_t clock;   /* LRU, FIFO: the youngest age given out */
    uint64_t tag[];   /* line number + 1, 0 when empty; 8 for each word of hints; then the hints; then uint16_t age[ways] */
};

struct cache_policy {
    enum caches_policy kind;
    uint32_t ways;
    uint32_t hint_words;  /* ways / 8, rounded up */
    uint64_t all;         /* one bit a way */
    struct c2_rng rng;
};

void cache_policy_init(struct cache_policy *policy, enum caches_policy kind, uint32_t ways, uint64_t seed,
                       const char *level_name);
size_t cache_policy_set_bytes(const struct cache_policy *policy);
/* A full set gives its age order new, small numbers; called when its clock is at the end. */
void cache_policy_renumber(const struct cache_policy *policy, struct cache_set *set);
void cache_policy_hit_other(const struct cache_policy *policy, struct cache_set *set, uint32_t way);
void cache_policy_fill(struct cache_policy *policy, struct cache_set *set, uint32_t way);
/* The way to evict; the set must be full. */
uint32_t cache_policy_victim(struct cache_policy *policy, struct cache_set *set);
/* Way was emptied other than by a fill. */
void cache_policy_forget(const struct cache_policy *policy, struct cache_set *set, uint32_t way);
void cache_policy_check(const struct cache_policy *policy, const struct cache_set *set);

/* At least the ways of the widest set, so that renumbering leaves room. */
#define CACHE_AGE_LIMIT C2_HOST_SIZE((uint64_t)UINT16_MAX, (uint64_t)2 * CACHES_MAX_WAYS)

/* One byte of each tag, eight to a word, kept by the level: see cache_level_find(). */
static inline uint64_t *cache_set_hints(const struct cache_policy *policy, const struct cache_set *set)
{
    return (uint64_t *)(uintptr_t)(set->tag + 8 * policy->hint_words);
}

static inline uint16_t *cache_set_ages(const struct cache_policy *policy, const struct cache_set *set)
{
    return (uint16_t *)(cache_set_hints(policy, set) + policy->hint_words);
}

static inline void cache_policy_youngest(const struct cache_policy *policy, struct cache_set *set, uint32_t way)
{
    if (C2_UNLIKELY(set->clock == CACHE_AGE_LIMIT))
        cache_policy_renumber(policy, set);
    cache_set_ages(policy, set)[way] = (uint16_t)++set->clock;
}

/* A hit on way. LRU always gives out a new age: to ask first whether the way is the youngest costs more, as the
 * answer cannot be predicted. */
static inline void cache_policy_hit(const struct cache_policy *policy, struct cache_set *set, uint32_t way)
{
    if (C2_LIKELY(policy->kind == CACHES_LRU))
        cache_policy_youngest(policy, set, way);
    else
        cache_policy_hit_other(policy, set, way);
}

#endif
