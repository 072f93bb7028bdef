/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One level: where a line lives, whether it is there, putting it in and taking it out. The model card is in level.c.
 */
#ifndef C2_LEVEL_PRIV_H
#define C2_LEVEL_PRIV_H

#include "caches/caches.h"
#include "caches/policy_priv.h"
#include "caches/shadow_priv.h"

#define CACHE_NO_WAY UINT32_MAX

struct cache_level {
    /* what a hit needs */
    char *sets;           /* all slices, slice 0 first; each set `stride` bytes */
    size_t stride;
    uint32_t set_count;   /* of one slice */
    unsigned hint_shift;  /* of the tag byte that the hints keep */
    bool power_of_two;    /* set_count is one */
    bool virtual_index;
    bool plain;           /* one slice, a power of two of sets, at most 8 ways, LRU */
    bool exclusive;
    bool inclusive;
    struct caches_hash *hash; /* NULL: one slice */
    struct cache_policy policy;
    struct cache_shadow shadow;
    struct caches_counts counts;
    /* what a miss needs */
    uint32_t slice_count;
    unsigned line_shift;
    uint32_t divisor;     /* of the line number, before the set index is taken from it */
    uint32_t set_step;    /* a physical line may be in the sets (line mod set_step), + set_step ..; 0: only in its own */
    uint64_t *origin;     /* [set * ways + way]: virtual line of the fill; NULL: no level below is virtually indexed */
    const struct caches_level *config;
};

/* A line under both its names. */
struct cache_line {
    struct line_no virtual_line;
    struct line_no physical_line;
};

struct cache_place {
    struct cache_set *set;
    uint32_t number; /* of the set within its slice */
    uint32_t slice;
};

/* A line on its way out. */
struct cache_victim {
    struct cache_line line;
    bool dirty;
};

/* needs_origin: a level below has a virtual index. */
enum c2_status cache_level_init(struct cache_level *level, const struct caches_machine *machine,
                                const struct caches_level *config, bool needs_origin, uint64_t seed,
                                struct c2_error *err);
void cache_level_end(struct cache_level *level);
/* Puts a line in way, which must be empty. */
void cache_level_put(struct cache_level *level, struct cache_set *set, uint32_t way, const struct cache_line *line,
                     bool dirty);
/* Empties way, which must hold a line. */
struct cache_victim cache_level_take(struct cache_level *level, struct cache_set *set, uint32_t way);
/* Empties every way that holds the physical line, whatever its set; *dirty becomes true if a copy was. The copies. */
uint32_t cache_level_invalidate(struct cache_level *level, struct line_no physical_line, bool *dirty);
/* Is the physical line here, in whatever set? */
bool cache_level_has(const struct cache_level *level, struct line_no physical_line);
struct cache_set *cache_level_set(const struct cache_level *level, uint32_t slice, uint32_t number);
void cache_level_check(const struct cache_level *level);
void cache_level_dump(const struct cache_level *level, FILE *to);

static inline struct cache_place cache_level_place(const struct cache_level *level, struct cache_line line)
{
    uint64_t index = level->virtual_index ? line.virtual_line.v : line.physical_line.v;
    struct cache_place place = { .slice = 0 };
    if (C2_UNLIKELY(level->hash != NULL)) {
        place.slice = caches_hash_slice(level->hash, (struct guest_pa){ line.physical_line.v << level->line_shift });
        if (level->divisor != 1)
            index /= level->divisor;
    }
    place.number = (uint32_t)(level->power_of_two ? index & (level->set_count - 1) : index % level->set_count);
    size_t set = (size_t)place.slice * level->set_count + place.number;
    place.set = (struct cache_set *)(level->sets + set * level->stride);
    return place;
}

#define CACHE_EACH_BYTE UINT64_C(0x0101010101010101)

static inline uint64_t cache_level_hint(const struct cache_level *level, struct line_no physical_line)
{
    return physical_line.v >> level->hint_shift & 0xff;
}

/* The top bit of each byte of hints that is `ours`, a byte repeated - and of some bytes above one that is. */
static inline uint64_t cache_hints_equal(uint64_t hints, uint64_t ours)
{
    uint64_t differ = hints ^ ours;
    return (differ - CACHE_EACH_BYTE) & ~differ & (CACHE_EACH_BYTE << 7);
}

/* The way that holds the line, or CACHE_NO_WAY. Which way it is cannot be predicted, so there is no loop over them:
 * a byte of each tag, the bits just above the set index, stand side by side in a word, and the bytes equal to ours
 * are found by arithmetic on the whole word. Nearly always that is the one way that has the line, or none; what is
 * found is believed only when the whole tag agrees. 8 ways: 14 instructions, against 60 for tag by tag. */
static inline uint32_t cache_level_find(const struct cache_level *level, const struct cache_set *set,
                                        struct line_no physical_line)
{
    const uint64_t *hints = cache_set_hints(&level->policy, set);
    uint64_t ours = cache_level_hint(level, physical_line) * CACHE_EACH_BYTE;
    for (uint32_t word = 0; word < level->policy.hint_words; word++) {
        uint64_t equal = cache_hints_equal(hints[word], ours);
        for (; equal != 0; equal &= equal - 1) {
            uint32_t way = 8 * word + (uint32_t)__builtin_ctzll(equal) / 8;
            if (C2_LIKELY(set->tag[way] == physical_line.v + 1))
                return way;
        }
    }
    return CACHE_NO_WAY;
}

#endif
