/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One level: where a line goes, whether it is there, putting it in and taking it out. The model card is in level.c.
 */
#ifndef C2_LEVEL_PRIV_H
#define C2_LEVEL_PRIV_H

#include "caches/caches_fast.h"
#include "caches/lines_priv.h"
#include "caches/policy_priv.h"
#include "caches/sets_priv.h"

struct cache_prefetch;
struct cache_coherence;

/* A level is a node of the hierarchy: what misses here asks `next`, what leaves here goes there. */
struct cache_level {
    struct cache_policy policy;
    struct caches_counts counts;
    struct cache_sets sets; /* what is here (contents.c): the words of the policy, or, */
    bool ordered;           /* where it has true LRU and all ways may be filled, the lines of a set by age; */
    struct caches_l1_handle l1_handle; /* its hits and misses, of which most of its counts are made, and what its
                                        * callers have at hand; */
    uint32_t *touched;                 /* the word of the last access, but of usual machines with order; */
    bool plain;                        /* one slice, and a power of two of sets */
    bool hashed;                       /* slices by masks, and shifts and masks find the set in one; */
    unsigned divisor_shift;            /* divisor as a power of two */
    struct cache_lines *lines;
    uint32_t level_index;     /* of the level in them, which counts those of all cores */
    uint32_t number;          /* of the level to its core: its depth; L1I has the one behind all others */
    uint32_t depth;           /* of the levels that are asked one after the other: its place in an outcome */
    struct cache_level *next; /* NULL: memory */
    bool clean;               /* only fetches enter: it holds nothing dirty */
    uint32_t above_count;
    struct cache_level **above; /* all those from which a miss may come here; of several cores those of all */
    uint32_t core;              /* its owner; of a shared one 0 */
    uint64_t walked;            /* accesses by walks that enter here, where that is not L1D */
    uint32_t set_count;         /* of one slice */
    uint32_t slice_count;
    bool power_of_two; /* set_count is one */
    bool virtual_index;
    bool synonyms; /* a physical line may have several sets: see level.c */
    bool exclusive;
    bool inclusive;
    bool through, around;                 /* as in struct caches_level */
    uint64_t stored;                      /* stores that came from the level above as accesses of their own */
    const struct cache_level *apart_from; /* the level above, none of whose lines are here; NULL: see link_all() */
    unsigned line_shift;
    uint32_t divisor;         /* of the line number, before the set index is taken from it */
    struct caches_hash *hash; /* NULL: one slice */
    struct cache_prefetch
        *prefetch;     /* of a machine that prefetches: it is notified of what comes and goes; else NULL */
    bool coherent;     /* there are several cores */
    uint64_t *allowed; /* [core]: the ways that its accesses may fill; NULL: all */
    bool mirrors;      /* a first level that is another machine's (follow.c), and here by what it has alone */
    bool keeps_names;  /* it has synonyms, or a level further down needs them: then */
    uint64_t *names;   /* [slot]: the virtual line of the last fill; NULL: there is no line so far */
    uint32_t names_room;
    const struct caches_level *config;
};

/* A line under both its names. */
struct cache_line {
    struct line_no virtual_line;
    struct line_no physical_line;
};

static inline struct cache_level *cache_level_of(struct caches_l1_handle *l1_handle)
{
    return (struct cache_level *)(void *)((char *)l1_handle - offsetof(struct cache_level, l1_handle));
}

struct cache_place {
    uint32_t number; /* of the set within its slice */
    uint32_t slice;
};

/* keeps_names: an exclusive level further down has a virtual index. */
enum c2_status cache_level_init(struct cache_level *level, const struct caches_machine *machine,
                                const struct caches_level *config, struct cache_lines *lines, uint32_t level_index,
                                bool keeps_names, uint64_t seed, struct c2_error *err);
void cache_level_end(struct cache_level *level);
/* A line has come into the level, or left it (prefetch.c). */
void cache_prefetch_came(const struct cache_level *level, uint32_t slot);
void cache_prefetch_left(const struct cache_level *level, uint32_t slot);
/* Another core takes the line: that it was pushed out is over. Says whether it was fetched, and not asked for. */
bool cache_prefetch_taken(const struct cache_level *level, uint32_t slot);
void cache_level_dump(const struct cache_level *level, FILE *to);

static inline struct cache_place cache_level_place(const struct cache_level *level, struct cache_line line)
{
    uint64_t index = level->virtual_index ? line.virtual_line.v : line.physical_line.v;
    struct cache_place place = {.slice = 0};
    if (level->hash) {
        place.slice = caches_hash_slice(level->hash, (struct guest_pa){line.physical_line.v << level->line_shift});
        if (level->divisor != 1)
            index /= level->divisor;
    }
    place.number = (uint32_t)(level->power_of_two ? index & (level->set_count - 1) : index % level->set_count);
    return place;
}

/* The set as the policy counts: through all slices, from 1. */
static inline uint32_t cache_level_set(const struct cache_level *level, struct cache_place place)
{
    return place.slice * level->set_count + place.number + 1;
}

/* What SHiP takes a line for: which instruction missed it, or where it lies. */
static inline uint32_t cache_level_signature(const struct cache_level *level, uint32_t slot)
{
    if (level->policy.kind == CACHES_SHIP)
        return level->lines->signature;
    return cache_signature(cache_lines_line(level->lines, slot) << level->line_shift >> CACHE_REGION_SHIFT);
}

/* The way that the next line of a set goes to: the lowest empty one, else the victim; of those that the core that makes
 * the access may fill. set: from 1. */
static inline uint32_t cache_level_choose(struct cache_level *level, uint32_t set)
{
    return C2_UNLIKELY(level->allowed)
               ? cache_policy_choose_among(&level->policy, set, level->allowed[level->lines->core])
               : cache_policy_choose(&level->policy, set);
}

#endif
