/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The footprint of the run: every physical line ever accessed, and what each level knows of it.
 *
 * Model
 *   Lines come in groups of 64 neighbours. A group gets its number when the first of its lines is accessed, and a line
 *   the slot number*64 + its place. Slots never change, so that rings and ways can name a line by 32 bits.
 *   A line knows for each level when the level was last asked for it, and where in the level it is, side by side in
 *   its row: so whether a level has a line is one load, and no tags are compared at all. Where evictors are kept, a
 *   line has a row of them too, a 64-bit word a level: the access site at the time the level lost it last. Only misses
 *   and their victims look there.
 *   Of a usual machine there are slots alone: what a level has is in its sets (contents.c), and the rows are the
 *   classes' (rows.c).
 *
 * Price
 *   The direct-mapped table of recent groups answers for 16 MiB of neighbouring memory in eight instructions; behind
 *   it stands a hash map. 8 bytes a line and level, 16 with evictors.
 *
 * Invariants (cache_lines_check)
 *   Rows are powers of two, and have room for their level indices. The map has as many keys as there are groups and
 *   says what group_key says; every recent entry says what the map says.
 *
 * Not modelled
 *   Memory that the guest gives back keeps its slots.
 */
#include <string.h>

#include "caches/lines_priv.h"

#define FIRST_ROOM C2_HOST_SIZE(64u, 1u)
#define MAX_GROUPS (UINT32_MAX >> (LINES_GROUP_SHIFT + 1)) /* slots have 32 bits, and the last must not be taken */

bool cache_lines_extend(const struct cache_lines *lines, void **table, uint32_t *room, size_t bytes)
{
    const uint32_t before = *room;
    if (!c2_reach(table, room, lines->groups - 1, bytes, 0))
        return false;
    memset((char *)*table + before * bytes, 0, (*room - before) * bytes);
    return true;
}

enum c2_status cache_lines_init(struct cache_lines *lines, uint32_t level_indices, struct c2_error *err)
{
    lines->level_indices = level_indices;
    lines->level_index_bits = level_indices > 1 ? c2_log2(level_indices - 1) + 1 : 0;
    lines->stride = 1u << lines->level_index_bits;
    lines->stamps.width = 2 * lines->stride;
    return c2_map_create(&lines->map, err);
}

void cache_lines_end(struct cache_lines *lines)
{
    c2_map_destroy(lines->map);
    c2_free(lines->state);
    c2_free(lines->evictor);
    c2_free(lines->group_key);
}

void cache_lines_keep_evictors(struct cache_lines *lines)
{
    C2_ASSERT(lines->groups == 0);
    lines->has_evictors = true;
}

void cache_lines_bare(struct cache_lines *lines)
{
    C2_ASSERT(lines->groups == 0 && !lines->has_evictors);
    lines->bare = true;
}

static size_t group_bytes(const struct cache_lines *lines)
{
    return lines->bare ? 0 : (size_t)LINES_GROUP * lines->stride * sizeof *lines->state;
}

static size_t evictor_bytes(const struct cache_lines *lines)
{
    return lines->has_evictors ? ((size_t)LINES_GROUP << lines->level_index_bits) * sizeof *lines->evictor : 0;
}

/* Room for so many groups; of none there is nothing. */
static bool lines_make_part(void **part, uint32_t room, size_t bytes)
{
    if (bytes == 0)
        return true;
    void *grown = c2_realloc(*part, room * bytes);
    if (grown)
        *part = grown;
    return grown;
}

bool cache_lines_dress(struct cache_lines *lines, bool evictors)
{
    C2_ASSERT(lines->bare && !lines->has_evictors);
    lines->bare = false;
    lines->has_evictors = evictors;
    if (!lines_make_part((void **)&lines->state, lines->room, group_bytes(lines)) ||
        !lines_make_part((void **)&lines->evictor, lines->room, evictor_bytes(lines)))
        return false;
    lines->stamps.word = (uint32_t *)lines->state;
    if (lines->groups == 0)
        return true;
    memset(lines->state, 0, lines->groups * group_bytes(lines));
    if (evictors)
        memset(lines->evictor, 0, lines->groups * evictor_bytes(lines));
    return true;
}

static bool lines_make_room(struct cache_lines *lines)
{
    if (lines->groups < lines->room)
        return true;
    if (lines->groups >= MAX_GROUPS / 2)
        return false;
    const uint32_t room = lines->room ? 2 * lines->room : FIRST_ROOM;
    if (!lines_make_part((void **)&lines->state, room, group_bytes(lines)) ||
        !lines_make_part((void **)&lines->group_key, room, sizeof *lines->group_key) ||
        !lines_make_part((void **)&lines->evictor, room, evictor_bytes(lines)))
        return false;
    lines->stamps.word = (uint32_t *)lines->state;
    lines->room = room;
    return true;
}

/* Only the new group is zeroed: what lies behind it stays untouched host memory. */
static bool lines_add_group(struct cache_lines *lines, uint64_t key)
{
    if (!lines_make_room(lines) || c2_map_put(lines->map, key, lines->groups, NULL) != C2_OK)
        return false;
    if (!lines->bare)
        memset(cache_lines_state(lines, lines->groups << LINES_GROUP_SHIFT, 0), 0, group_bytes(lines));
    if (lines->has_evictors)
        memset(cache_lines_evictor_at(lines, lines->groups << LINES_GROUP_SHIFT, 0), 0, evictor_bytes(lines));
    lines->group_key[lines->groups++] = key;
    lines->stamps.groups = lines->groups;
    return true;
}

uint32_t cache_lines_slot(struct cache_lines *lines, uint64_t line)
{
    uint64_t key = line >> LINES_GROUP_SHIFT;
    uint64_t group;
    if (!c2_map_get(lines->map, key, &group)) {
        group = lines->groups;
        if (!lines_add_group(lines, key))
            return LINES_NO_SLOT;
    }
    C2_PROMISE(group < lines->groups && lines->group_key[group] == key);
    uint64_t at = key & (LINES_RECENT - 1);
    lines->recent[at].key = key + 1;
    lines->recent[at].first_slot = group << LINES_GROUP_SHIFT;
    return (uint32_t)(lines->recent[at].first_slot + (line & (LINES_GROUP - 1)));
}

void cache_lines_check(const struct cache_lines *lines)
{
    C2_ASSERT(c2_map_count(lines->map) == lines->groups && lines->groups <= lines->room);
    C2_ASSERT(lines->stride == 1u << lines->level_index_bits && lines->level_indices <= lines->stride);
    uint64_t group;
    for (uint32_t i = 0; i < lines->groups; i++)
        C2_ASSERT(c2_map_get(lines->map, lines->group_key[i], &group) && group == i);
    for (uint32_t i = 0; i < LINES_RECENT; i++) {
        if (lines->recent[i].key == 0)
            continue;
        C2_ASSERT(c2_map_get(lines->map, lines->recent[i].key - 1, &group));
        C2_ASSERT(lines->recent[i].first_slot == group << LINES_GROUP_SHIFT);
    }
}
