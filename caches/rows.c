/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * rows: what the verdicts of a usual machine know of each line ever accessed.
 *
 * Model
 *   Groups and slots are those of lines.c, and come in the same order. A line has in its row, for each level of the
 *   data path, the stamp of when the level was last asked for it, which is its shadow's, and, where evictors are kept,
 *   the low half of the word of whoever made the level lose it last. What few lines need is beside the rows, by group:
 *   both for L1I, made when L1I is first asked for a line of the group; and the high halves of words, made when one is
 *   not 0.
 *
 * Price
 *   Each 4 bytes a line and level: with three levels 12 bytes a line, 24 with evictors; 512 bytes more for a group of
 *   64 lines that has code, and as much as the evictors again for one whose evictors have high halves.
 *
 * Invariants (cache_rows_check)
 *   As many groups as there is room for at most. A stamp and an evictor of a level that was never asked for the line
 *   are 0.
 *
 * Failures
 *   What is beside is made in the middle of a verdict, which cannot fail: then it is kept nowhere, and `failed` says
 *   that the verdicts so far are to be thrown away.
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
    c2_free(rows->group_key);
}

static size_t row_bytes(const struct cache_rows *rows)
{
    return (size_t)LINES_GROUP * rows->columns * sizeof *rows->stamps.word;
}

static bool make_part(void **part, uint32_t room, size_t bytes)
{
    void *grown = c2_realloc(*part, room * bytes);
    if (grown)
        *part = grown;
    return grown;
}

static bool make_room(struct cache_rows *rows)
{
    if (rows->stamps.groups < rows->room)
        return true;
    const uint32_t room = rows->room ? 2 * rows->room : FIRST_ROOM;
    if (!make_part((void **)&rows->stamps.word, room, row_bytes(rows)) ||
        !make_part((void **)&rows->stamps.beside, room, sizeof *rows->stamps.beside) ||
        !make_part((void **)&rows->high, room, sizeof *rows->high) ||
        !make_part((void **)&rows->group_key, room, sizeof *rows->group_key) ||
        (rows->has_evictors && !make_part((void **)&rows->evictor, room, row_bytes(rows))))
        return false;
    rows->room = room;
    return true;
}

/* Only the new group is zeroed: what lies behind it stays untouched host memory. */
bool cache_rows_add(struct cache_rows *rows, uint64_t key)
{
    const uint32_t group = rows->stamps.groups;
    const size_t first = ((size_t)group << LINES_GROUP_SHIFT) * rows->columns;
    if (!make_room(rows))
        return false;
    memset(&rows->stamps.word[first], 0, row_bytes(rows));
    if (rows->has_evictors)
        memset(&rows->evictor[first], 0, row_bytes(rows));
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

void cache_rows_lose_wide(struct cache_rows *rows, uint32_t slot, uint32_t column, uint64_t actor)
{
    uint32_t **high = &rows->high[slot >> LINES_GROUP_SHIFT];
    if (!*high)
        *high = c2_calloc((size_t)LINES_GROUP * (rows->columns + 1), sizeof **high);
    if (*high)
        (*high)[cache_rows_high_at(rows, slot, column)] = (uint32_t)(actor >> 32);
    else
        rows->failed = true;
}

void cache_rows_check(const struct cache_rows *rows)
{
    C2_ASSERT(rows->stamps.groups <= rows->room && rows->stamps.width == rows->columns);
    for (uint32_t slot = 0; rows->has_evictors && slot < rows->stamps.groups << LINES_GROUP_SHIFT; slot++)
        for (uint32_t column = 0; column < rows->columns; column++) {
            const size_t at = (size_t)slot * rows->columns + column;
            C2_ASSERT(rows->stamps.word[at] != 0 || rows->evictor[at] == 0);
        }
}
