/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * rows: what classes know of each line ever accessed.
 *
 * Model
 *   Groups and slots are those of lines.c, and come in the same order. A line has in its row, for each level of the
 *   data path, of several cores for each level of all, the stamp of when the level was last asked for it, which is its
 *   shadow's, and, where evictors are kept, the word of the access site that made the level lose it last: 16 bits of
 *   it, and from the first word on that does not fit the low half. What few lines need is beside the rows, by group:
 *   both for the L1I of one core, made when it is first asked for a line of the group; and the high halves of words,
 *   made when one is not 0.
 *
 * Price
 *   4 bytes a line and level, and 2 for the evictor, or 4: with three levels 12 bytes a line, 18 or 24 with evictors;
 *   512 bytes more for a group of 64 lines that has code, and as much as wide evictors again for one whose evictors
 *   have high halves.
 *
 * Invariants (cache_rows_check)
 *   As many groups as there is room for at most. A stamp and an evictor of a level that was never asked for the line
 *   are 0, but for evictors of exclusive levels (cache_classifier_check).
 *
 * Failures
 *   What is beside is made in the middle of a class, which cannot fail: then it is kept nowhere, and `failed` says
 *   that the classes so far are to be thrown away.
 */
#include <string.h>

#include "caches/rows_priv.h"

#define FIRST_ROOM C2_HOST_SIZE(64u, 1u)

void cache_rows_end(struct cache_rows *rows)
{
    for (uint32_t i = 0; i < rows->stamps.groups; i++) {
        c2_free(rows->stamps.beside[i]);
        c2_free(rows->high[i]);
    }
    c2_free(rows->stamps.beside);
    c2_free(rows->high);
    c2_free(rows->stamps.word);
    c2_free(rows->evictor);
    c2_free(rows->narrow);
    c2_free(rows->group_key);
}

/* What there is of each line and level in a group. */
static size_t places(const struct cache_rows *rows) { return (size_t)LINES_GROUP * rows->level_indices; }

/* Room for so many groups. */
static bool rows_make_part(void **part, uint32_t room, size_t bytes)
{
    void *grown = c2_realloc(*part, room * bytes);
    if (grown)
        *part = grown;
    return grown;
}

static bool make_evictors(struct cache_rows *rows, uint32_t room)
{
    switch (rows->evictors) {
    case CACHE_ROWS_NARROW:
        return rows_make_part((void **)&rows->narrow, room, places(rows) * sizeof *rows->narrow);
    case CACHE_ROWS_WIDE:
        return rows_make_part((void **)&rows->evictor, room, places(rows) * sizeof *rows->evictor);
    default:
        return true;
    }
}

static bool rows_make_room(struct cache_rows *rows)
{
    if (rows->stamps.groups < rows->room)
        return true;
    const uint32_t room = rows->room ? 2 * rows->room : FIRST_ROOM;
    if (!rows_make_part((void **)&rows->stamps.word, room, places(rows) * sizeof *rows->stamps.word) ||
        !rows_make_part((void **)&rows->stamps.beside, room, sizeof *rows->stamps.beside) ||
        !rows_make_part((void **)&rows->high, room, sizeof *rows->high) ||
        !rows_make_part((void **)&rows->group_key, room, sizeof *rows->group_key) || !make_evictors(rows, room))
        return false;
    rows->room = room;
    return true;
}

/* Only the new group is zeroed: what lies behind it stays untouched host memory. */
bool cache_rows_add(struct cache_rows *rows, uint64_t key)
{
    const uint32_t group = rows->stamps.groups;
    const size_t first = group * places(rows);
    if (!rows_make_room(rows))
        return false;
    memset(&rows->stamps.word[first], 0, places(rows) * sizeof *rows->stamps.word);
    if (rows->evictors == CACHE_ROWS_NARROW)
        memset(&rows->narrow[first], 0, places(rows) * sizeof *rows->narrow);
    if (rows->evictors == CACHE_ROWS_WIDE)
        memset(&rows->evictor[first], 0, places(rows) * sizeof *rows->evictor);
    rows->stamps.beside[group] = NULL;
    rows->high[group] = NULL;
    rows->group_key[group] = key;
    rows->stamps.groups++;
    return true;
}

struct cache_beside *cache_rows_make_beside(struct cache_rows *rows, uint32_t group)
{
    struct cache_beside *beside = c2_calloc(1, sizeof *beside);
    rows->failed |= !beside;
    if (!beside) {
        memset(&rows->nowhere, 0, sizeof rows->nowhere);
        return &rows->nowhere;
    }
    rows->stamps.beside[group] = beside;
    return beside;
}

/* Without memory they stay narrow. */
static void rows_widen(struct cache_rows *rows)
{
    const size_t used = rows->stamps.groups * places(rows);
    uint32_t *evictor = c2_alloc(rows->room * places(rows) * sizeof *evictor);
    rows->failed |= !evictor;
    if (!evictor)
        return;
    for (size_t i = 0; i < used; i++)
        evictor[i] = rows->narrow[i];
    c2_free(rows->narrow);
    rows->narrow = NULL;
    rows->evictor = evictor;
    rows->evictors = CACHE_ROWS_WIDE;
}

static void lose_high(struct cache_rows *rows, uint32_t slot, uint32_t level_index, uint32_t half)
{
    uint32_t **high = &rows->high[slot >> LINES_GROUP_SHIFT];
    if (!*high)
        *high = c2_calloc((size_t)LINES_GROUP * (rows->level_indices + 1), sizeof **high);
    if (*high)
        (*high)[cache_rows_high_at(rows, slot, level_index)] = half;
    else
        rows->failed = true;
}

void cache_rows_lose_wide(struct cache_rows *rows, uint32_t slot, uint32_t level_index, uint64_t access_site)
{
    if (rows->evictors == CACHE_ROWS_NARROW && access_site > UINT16_MAX)
        rows_widen(rows);
    if (rows->evictors == CACHE_ROWS_WIDE || level_index == rows->level_indices)
        *cache_rows_evictor_low(rows, slot, level_index) = (uint32_t)access_site;
    if (C2_UNLIKELY(access_site >> 32 != 0 || rows->high[slot >> LINES_GROUP_SHIFT]))
        lose_high(rows, slot, level_index, (uint32_t)(access_site >> 32));
}

void cache_rows_check(const struct cache_rows *rows)
{
    C2_ASSERT(rows->stamps.groups <= rows->room && rows->stamps.width == rows->level_indices);
}
