/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What classes know of each line. The model card is in rows.c.
 */
#ifndef C2_ROWS_PRIV_H
#define C2_ROWS_PRIV_H

#include "caches/shadow_priv.h"

/* How evictors are kept. NARROW: all words so far have 16 bits. */
enum cache_rows_evictors { CACHE_ROWS_NONE, CACHE_ROWS_NARROW, CACHE_ROWS_WIDE };

struct cache_rows {
    struct cache_stamps stamps; /* of the levels in the rows; beside them, of L1I */
    uint32_t level_indices;     /* of these: of the data path, L1I's is the next one; of several cores all */
    enum cache_rows_evictors evictors;
    uint16_t *narrow;    /* [slot * level indices + level index]: of NARROW, words */
    uint32_t *evictor;   /* likewise of WIDE, low halves */
    uint32_t **high;     /* [group]: of WIDE the other halves, L1I's last in each row; NULL: all 0 */
    uint64_t *group_key; /* as in struct cache_lines */
    uint32_t room;
    bool failed; /* there was no memory for something: nothing that is said is to be trusted */
    struct cache_beside nowhere;
};

void cache_rows_end(struct cache_rows *rows);
bool cache_rows_add(struct cache_rows *rows, uint64_t key); /* a group; false: no memory */
void cache_rows_check(const struct cache_rows *rows);

/* What is known beside, made now if need be; without memory it is `nowhere`. */
struct cache_beside *cache_rows_make_beside(struct cache_rows *rows, uint32_t group);
/* The level loses the line, and the word does not fit a narrow evictor, or they are wide. */
void cache_rows_lose_wide(struct cache_rows *rows, uint32_t slot, uint32_t level_index, uint64_t access_site);

static inline struct cache_beside *cache_rows_beside(struct cache_rows *rows, uint32_t slot)
{
    struct cache_beside *beside = rows->stamps.beside[slot >> LINES_GROUP_SHIFT];
    return C2_LIKELY(beside) ? beside : cache_rows_make_beside(rows, slot >> LINES_GROUP_SHIFT);
}

/* Where the level keeps its stamp of the line. */
static inline uint32_t *cache_rows_stamp(struct cache_rows *rows, uint32_t slot, uint32_t level_index)
{
    if (C2_LIKELY(level_index < rows->level_indices))
        return &rows->stamps.word[(size_t)slot * rows->level_indices + level_index];
    return &cache_rows_beside(rows, slot)->stamp[slot & (LINES_GROUP - 1)];
}

/* Of the group's high halves. */
static inline uint32_t cache_rows_high_at(const struct cache_rows *rows, uint32_t slot, uint32_t level_index)
{
    return (slot & (LINES_GROUP - 1)) * (rows->level_indices + 1) + level_index;
}

/* The low half, as kept beside or of WIDE. */
static inline uint32_t *cache_rows_evictor_low(struct cache_rows *rows, uint32_t slot, uint32_t level_index)
{
    if (C2_LIKELY(level_index < rows->level_indices))
        return &rows->evictor[(size_t)slot * rows->level_indices + level_index];
    return &cache_rows_beside(rows, slot)->evictor[slot & (LINES_GROUP - 1)];
}

static inline uint64_t cache_rows_wide_evictor(struct cache_rows *rows, uint32_t slot, uint32_t level_index)
{
    const uint32_t low = *cache_rows_evictor_low(rows, slot, level_index),
                   *high = rows->high[slot >> LINES_GROUP_SHIFT];
    return C2_LIKELY(!high) ? low : (uint64_t)high[cache_rows_high_at(rows, slot, level_index)] << 32 | low;
}

/* The access site that made the level lose the line last; 0: unknown. Not of NONE. */
static inline uint64_t cache_rows_evictor(struct cache_rows *rows, uint32_t slot, uint32_t level_index)
{
    if (C2_LIKELY(rows->evictors == CACHE_ROWS_NARROW && level_index < rows->level_indices))
        return rows->narrow[(size_t)slot * rows->level_indices + level_index];
    return cache_rows_wide_evictor(rows, slot, level_index);
}

/* The level loses the line. Not of NONE. */
static inline void cache_rows_lose(struct cache_rows *rows, uint32_t slot, uint32_t level_index, uint64_t access_site)
{
    if (C2_LIKELY(rows->evictors == CACHE_ROWS_NARROW && access_site <= UINT16_MAX &&
                  level_index < rows->level_indices))
        rows->narrow[(size_t)slot * rows->level_indices + level_index] = (uint16_t)access_site;
    else
        cache_rows_lose_wide(rows, slot, level_index, access_site);
}

static inline uint64_t cache_rows_line(const struct cache_rows *rows, uint32_t slot)
{
    return rows->group_key[slot >> LINES_GROUP_SHIFT] << LINES_GROUP_SHIFT | (slot & (LINES_GROUP - 1));
}

#endif
