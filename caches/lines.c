/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The footprint of the run: every physical line ever accessed.
 *
 * Model
 *   Lines come in groups of 64 neighbours. A group gets its number when the first of its lines is accessed, and a line
 *   the slot number*64 + its place. Slots never change, so that rings and ways can name a line by 32 bits.
 *   What a level has is in its sets (contents.c), what classes know of a line in rows.c.
 *
 * Price
 *   The direct-mapped table of recent groups answers for 16 MiB of neighbouring memory in eight instructions; behind
 *   it stands a hash map.
 *
 * Invariants (cache_lines_check)
 *   The map has as many keys as there are groups and says what group_key says; every recent entry says what the map
 *   says.
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

enum c2_status cache_lines_init(struct cache_lines *lines, struct c2_error *err)
{
    return c2_map_create(&lines->map, err);
}

void cache_lines_end(struct cache_lines *lines)
{
    c2_map_destroy(lines->map);
    c2_free(lines->group_key);
}

static bool lines_make_room(struct cache_lines *lines)
{
    if (lines->groups < lines->room)
        return true;
    if (lines->groups >= MAX_GROUPS / 2)
        return false;
    const uint32_t room = lines->room ? 2 * lines->room : FIRST_ROOM;
    uint64_t *keys = c2_realloc(lines->group_key, room * sizeof *keys);
    if (!keys)
        return false;
    lines->group_key = keys;
    lines->room = room;
    return true;
}

static bool lines_add_group(struct cache_lines *lines, uint64_t key)
{
    lines->failed = lines->failed || !lines_make_room(lines) ||
                    c2_map_put(lines->map, key, lines->groups, NULL) != C2_OK;
    if (lines->failed)
        return false;
    lines->group_key[lines->groups++] = key;
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
