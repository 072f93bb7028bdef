/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The ways of a level or a TLB and the policy that orders them. The hot part is inline; the model card is in policy.c.
 */
#ifndef C2_POLICY_PRIV_H
#define C2_POLICY_PRIV_H

#include "caches/caches_fast.h"

/* Ways are numbered through the whole level, a power of two of numbers a set and at least four, and the first set's
 * numbers are left out: so 0 is no way, and a way's set is its number shifted. */

/* What the policies without ages keep of a set. */
struct cache_set {
    uint64_t valid;   /* bit w: way w holds a line */
    uint64_t bits[2]; /* see policy.c */
};

/* What a hit of a way makes of bits[0], whatever it was: bits[0] & keep | set. */
struct cache_use {
    uint64_t keep, set;
};
#define CACHE_MAX_WAYS CACHES_TLB_MAX_WAYS /* with ages; without, ways are bits of a word */
_Static_assert(CACHES_MAX_WAYS <= 64 && CACHES_MAX_WAYS <= CACHE_MAX_WAYS, "ways are bits");

#define CACHE_SMALL_TREE 8u

/* SHiP: how often lines of each signature were hit of late, and of each way the signature its line came with and
 * whether it was hit since. */
#define CACHE_SIGNATURE_BITS 14u
#define CACHE_REGION_SHIFT 14u /* of ship-mem: regions of 16 KiB */
#define CACHE_REUSE_MAX 7u
#define CACHE_WAS_HIT 0x8000u
_Static_assert(CACHE_WAS_HIT >> CACHE_SIGNATURE_BITS != 0, "beside the signature");
struct cache_history {
    uint8_t reuse[1u << CACHE_SIGNATURE_BITS]; /* 0 .. CACHE_REUSE_MAX */
    uint16_t way[];                            /* [number] */
};

/* Set duelling: where leader sets are, and which policy wins. */
struct cache_duel {
    uint32_t pairs, region; /* leader sets of each kind; sets from one pair to the next */
    uint32_t selector;      /* 0 .. CACHE_SELECTOR_MAX */
};
#define CACHE_LEADERS 32u
#define CACHE_SELECTOR_MAX 1023u

struct cache_policy {
    enum caches_policy kind;
    uint32_t ways;                         /* of a set */
    unsigned way_bits;                     /* log2 of the numbers a set has */
    uint32_t way_mask;                     /* in a number, the place in its set */
    bool rrip;                             /* SRRIP, BRRIP, DRRIP or SHiP */
    uint32_t clock;                        /* the youngest age given out */
    uint32_t set_count;                    /* of the level, all slices together */
    uint32_t *word;                        /* [number]: 0: empty; else what is in it, as the level or TLB has it */
    uint32_t *age;                         /* [number]: LRU, FIFO: younger is higher; 0 when empty. NULL for others */
    struct cache_set *set;                 /* [number >> way_bits]; NULL for LRU and FIFO */
    struct c2_rng rng;                     /* of random, BRRIP and DRRIP: seeded by the cache that has them */
    struct cache_duel duel;                /* of DRRIP */
    struct cache_history *history;         /* of SHiP; else NULL */
    uint32_t signature;                    /* of SHiP: of the line that is put in next */
    struct cache_use use[CACHES_MAX_WAYS]; /* without ages */
    bool small_tree;                       /* tree-plru, at most CACHE_SMALL_TREE ways */
    uint8_t victim[1 << CACHE_SMALL_TREE]; /* of a small tree: by bits[0] */
};

/* ways: at most CACHE_MAX_WAYS for LRU and FIFO, CACHES_MAX_WAYS for the others. */
enum c2_status cache_policy_init(struct cache_policy *policy, enum caches_policy kind, uint32_t ways,
                                 uint32_t set_count, struct c2_error *err);
void cache_policy_end(struct cache_policy *policy);
/* The ages become small numbers in the same order; called when the clock is at its end. */
void cache_policy_renumber(struct cache_policy *policy);
/* A line was put into the way. */
void cache_policy_fill(struct cache_policy *policy, uint32_t number);
/* The way was emptied, and no fill of it follows at once. */
void cache_policy_empty(struct cache_policy *policy, uint32_t number);
/* The way that the next line of a set goes to, the lowest empty one, else the victim. And of these ways alone; at least
 * one. */
uint32_t cache_policy_choose(struct cache_policy *policy, uint32_t set);
uint32_t cache_policy_choose_among(struct cache_policy *policy, uint32_t set, uint64_t ways);
/* What the policy goes by in a set, from 1, whose out->ways, allowed and way[].holds are filled in: the rest of it, the
 * ways by number. Nothing changes. */
void cache_policy_look(struct caches_set *out, const struct cache_policy *policy, uint32_t set);
void cache_policy_check(const struct cache_policy *policy);

/* What the model card promises of the way touched last, in time linear in the ways (C2_PROMISE): they assert, and are
 * true. is_room: the next line of the set may go there. _among: of these ways. */
bool cache_policy_is_youngest(const struct cache_policy *policy, uint32_t number);
bool cache_policy_points_away(const struct cache_policy *policy, uint32_t number);
bool cache_policy_is_room(const struct cache_policy *policy, uint32_t set, uint32_t number);
bool cache_policy_is_room_among(const struct cache_policy *policy, uint32_t set, uint32_t number, uint64_t ways);

#define CACHE_AGE_LIMIT C2_HOST_SIZE(UINT32_MAX, 20000u) /* above CACHE_MAX_WAYS, so that renumbering helps */

static inline uint32_t cache_policy_set_of(const struct cache_policy *policy, uint32_t number)
{
    return number >> policy->way_bits;
}

static inline uint32_t cache_policy_way_of(const struct cache_policy *policy, uint32_t number)
{
    return number & policy->way_mask;
}

/* The set that these bits, the first of two, are of. */
static inline const struct cache_set *cache_set_of_bits(const uint64_t *bits)
{
    return (const struct cache_set *)(const void *)((const char *)bits - offsetof(struct cache_set, bits));
}

static inline void cache_policy_youngest(struct cache_policy *policy, uint32_t number)
{
    if (C2_UNLIKELY(policy->clock == CACHE_AGE_LIMIT))
        cache_policy_renumber(policy);
    policy->age[number] = ++policy->clock;
    C2_PROMISE(cache_policy_is_youngest(policy, number));
}

static inline void cache_policy_use(struct cache_policy *policy, uint32_t number)
{
    const struct cache_use *use = &policy->use[cache_policy_way_of(policy, number)];
    struct cache_set *set = &policy->set[cache_policy_set_of(policy, number)];
    set->bits[0] = (set->bits[0] & use->keep) | use->set;
    if (policy->rrip)
        set->bits[1] |= use->set;
    C2_PROMISE(cache_policy_points_away(policy, number));
}

/* A word in CACHE_SIGNATURE_BITS: its pieces, xor-ed. */
static inline uint32_t cache_signature(uint64_t word)
{
    const uint64_t folded = word ^ word >> CACHE_SIGNATURE_BITS ^ word >> 2 * CACHE_SIGNATURE_BITS ^
                            word >> 3 * CACHE_SIGNATURE_BITS ^ word >> 4 * CACHE_SIGNATURE_BITS;
    return (uint32_t)(folded & ((1u << CACHE_SIGNATURE_BITS) - 1));
}

/* SHiP: the line of the way was hit. */
static inline void cache_policy_reused(struct cache_policy *policy, uint32_t number)
{
    uint16_t *way = &policy->history->way[number];
    uint8_t *reuse = &policy->history->reuse[*way & ~CACHE_WAS_HIT];
    *way |= CACHE_WAS_HIT;
    *reuse += *reuse < CACHE_REUSE_MAX;
}

static inline void cache_policy_hit(struct cache_policy *policy, uint32_t number)
{
    if (C2_LIKELY(policy->kind == CACHES_LRU)) {
        cache_policy_youngest(policy, number);
    } else if (policy->set) {
        cache_policy_use(policy, number);
        if (C2_UNLIKELY(policy->history))
            cache_policy_reused(policy, number);
    }
}

/* So many hits of one way in a row, at least one. */
static inline void cache_policy_hits(struct cache_policy *policy, uint32_t number, uint64_t n)
{
    cache_policy_hit(policy, number);
    for (uint64_t i = 1; policy->history && i < n && i < CACHE_REUSE_MAX; i++)
        cache_policy_reused(policy, number);
}

/* A full set of a small tree: the way that its next line goes to; it is used. */
static inline uint32_t cache_policy_replace(struct cache_policy *policy, uint32_t set)
{
    struct cache_set *of = &policy->set[set];
    const uint32_t way = policy->victim[of->bits[0]], number = (set << policy->way_bits) + way;
    of->bits[0] = (of->bits[0] & policy->use[way].keep) | policy->use[way].set;
    C2_PROMISE(cache_policy_points_away(policy, number));
    return number;
}

#endif
