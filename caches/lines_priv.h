/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The footprint: a slot for every line ever accessed, and what each level knows of it. The model card is in lines.c.
 */
#ifndef C2_LINES_PRIV_H
#define C2_LINES_PRIV_H

#include "caches/caches.h"

#define LINES_GROUP_SHIFT 6u /* lines of a group: with 64-byte lines, one page */
#define LINES_GROUP (1u << LINES_GROUP_SHIFT)
_Static_assert(LINES_GROUP == CACHES_SLOTS, "who knows one slot of a group knows all");
#define LINES_RECENT C2_HOST_SIZE(4096u, 2u) /* groups found without a hash; a program that uses few touches few */
#define LINES_NO_SLOT CACHES_NO_SLOT

/* One line at one level. All zero: the level was never asked for it. */
struct cache_state {
    uint32_t stamp; /* of the last time the level was asked; the shadow's */
    uint32_t seat;  /* 0: not in the level; else number of its way * 2 + dirty; the level's */
};

struct cache_lines {
    struct cache_state *state; /* [slot * stride + column]; packed: see cache_lines_pack() */
    uint32_t columns;          /* one a level */
    unsigned column_bits;      /* their number, rounded up, as a power of two */
    unsigned row_bits;         /* words of 32 bits in a row, likewise */
    uint32_t stride;           /* of a row, in states */
    bool has_evictors;
    bool bare;           /* slots and names alone; rows are kept by another one */
    uint64_t *evictor;   /* [slot << column_bits + column] */
    uint64_t actor;      /* whoever makes a level lose a line now */
    uint32_t groups;     /* in use */
    uint32_t room;       /* allocated, in groups */
    uint64_t *group_key; /* [group]: line / LINES_GROUP */
    struct c2_map *map;  /* line / LINES_GROUP -> group; NULL: rows alone, of groups that another one names */
    struct {
        uint64_t key; /* line / LINES_GROUP + 1; 0: empty */
        uint64_t first_slot;
    } recent[LINES_RECENT];
};

enum c2_status cache_lines_init(struct cache_lines *lines, uint32_t columns, struct c2_error *err);
void cache_lines_end(struct cache_lines *lines);
/* The slot of a line, a new one if need be (then every struct cache_state may have moved); LINES_NO_SLOT: no memory. */
uint32_t cache_lines_slot(struct cache_lines *lines, uint64_t line);
/* Before the first slot: rows have evictors. */
void cache_lines_keep_evictors(struct cache_lines *lines);
/* Before the first slot: rows have stamps alone, one behind the other, for levels that know themselves what they have.
 * Column i is word i of a row then, no longer word 2 i. */
void cache_lines_pack(struct cache_lines *lines);
/* Before the first slot: the slots stay here, and `rows`, all zeros, has what is known of each line, packed. A new
 * group is told to it by cache_lines_add(), as group_key has it: those of a stage behind may hear of it later. */
void cache_lines_part(struct cache_lines *lines, struct cache_lines *rows);
bool cache_lines_add(struct cache_lines *rows, uint64_t key); /* false: no memory */
void cache_lines_check(const struct cache_lines *lines);

/* The same if its group was found lately, LINES_NO_SLOT otherwise. */
static inline uint32_t cache_lines_slot_recent(const struct cache_lines *lines, uint64_t line)
{
    uint64_t group = line >> LINES_GROUP_SHIFT;
    uint64_t at = group & (LINES_RECENT - 1);
    if (!SHORTCUT(lines->recent[at].key == group + 1))
        return LINES_NO_SLOT;
    C2_PROMISE(lines->group_key[lines->recent[at].first_slot >> LINES_GROUP_SHIFT] == group);
    return (uint32_t)(lines->recent[at].first_slot + (line & (LINES_GROUP - 1)));
}

/* What the levels know of a line, by column. Lent until the next new slot. */
static inline struct cache_state *cache_lines_row(const struct cache_lines *lines, uint32_t slot)
{
    return &lines->state[(size_t)slot * lines->stride];
}

static inline struct cache_state *cache_lines_state(const struct cache_lines *lines, uint32_t slot, uint32_t column)
{
    return &cache_lines_row(lines, slot)[column];
}

/* The stamp at this word of the row. */
static inline uint32_t *cache_lines_stamp(const struct cache_lines *lines, uint32_t slot, uint32_t at)
{
    return (uint32_t *)lines->state + ((size_t)slot << lines->row_bits) + at;
}

static inline uint64_t *cache_lines_evictor_at(const struct cache_lines *lines, uint32_t slot, uint32_t column)
{
    return &lines->evictor[((size_t)slot << lines->column_bits) + column];
}

/* Who made the level lose the line last, 0: nobody known. */
static inline uint64_t cache_lines_evictor(const struct cache_lines *lines, uint32_t slot, uint32_t column)
{
    return lines->has_evictors ? *cache_lines_evictor_at(lines, slot, column) : 0;
}

/* The level loses the line. */
static inline void cache_lines_lose(const struct cache_lines *lines, uint32_t slot, uint32_t column)
{
    if (lines->has_evictors)
        *cache_lines_evictor_at(lines, slot, column) = lines->actor;
}

static inline uint64_t cache_lines_line(const struct cache_lines *lines, uint32_t slot)
{
    return lines->group_key[slot >> LINES_GROUP_SHIFT] << LINES_GROUP_SHIFT | (slot & (LINES_GROUP - 1));
}

#endif
