/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The footprint of the run: every physical line ever accessed, and when each level was last asked for it.
 *
 * Model
 *   Lines come in groups of 64 neighbours. A group gets its number when the first of its lines is accessed, and a line
 *   the slot number*64 + its place. Slots never change, so logs and tables can name a line by 32 bits.
 *   The stamps of one line for all levels lie side by side: a miss that walks down three levels touches one host
 *   cache line, not three. The stamp is 0 until the level is asked for the line; the rest of its meaning is the shadow's.
 *
 * Price
 *   The direct-mapped table of recent groups answers for 16 MiB of neighbouring memory in five instructions; behind
 *   it stands a hash map. 16 bytes a line with up to 4 levels: a quarter of the footprint with 64-byte lines.
 *
 * Invariants (cache_lines_check)
 *   The map has as many keys as there are groups; every recent entry says what the map says.
 *
 * Not modelled
 *   Memory that the guest gives back keeps its slots.
 */
#include "caches/lines_priv.h"

#include <string.h>

#define FIRST_ROOM C2_HOST_SIZE(64u, 1u)
#define MAX_GROUPS (UINT32_MAX >> LINES_GROUP_SHIFT) /* slots have 32 bits */

enum c2_status cache_lines_init(struct cache_lines *lines, uint32_t columns, struct c2_error *err)
{
    lines->shift = columns > 1 ? c2_log2(columns - 1) + 1 : 0;
    return c2_map_create(&lines->map, err);
}

void cache_lines_end(struct cache_lines *lines)
{
    c2_map_destroy(lines->map);
    c2_free(lines->stamp);
}

static size_t group_bytes(const struct cache_lines *lines)
{
    return (size_t)LINES_GROUP << lines->shift << 2;
}

static bool make_room(struct cache_lines *lines)
{
    if (lines->groups < lines->room)
        return true;
    if (lines->groups >= MAX_GROUPS / 2)
        return false;
    uint32_t room = lines->room ? 2 * lines->room : FIRST_ROOM;
    uint32_t *stamp = c2_realloc(lines->stamp, room * group_bytes(lines));
    if (!stamp)
        return false;
    lines->stamp = stamp;
    lines->room = room;
    return true;
}

/* Only the new group is zeroed: what lies behind it stays untouched host memory. */
static bool add_group(struct cache_lines *lines, uint64_t group)
{
    if (!make_room(lines) || c2_map_put(lines->map, group, lines->groups, NULL) != C2_OK)
        return false;
    memset(cache_lines_stamp(lines, lines->groups << LINES_GROUP_SHIFT, 0), 0, group_bytes(lines));
    lines->groups++;
    return true;
}

uint32_t cache_lines_slot_slow(struct cache_lines *lines, uint64_t line)
{
    uint64_t group = line >> LINES_GROUP_SHIFT;
    uint64_t number;
    if (!c2_map_get(lines->map, group, &number)) {
        number = lines->groups;
        if (!add_group(lines, group))
            return LINES_NO_SLOT;
    }
    uint64_t at = group & (LINES_RECENT - 1);
    lines->recent[at].key = group + 1;
    lines->recent[at].first_slot = number << LINES_GROUP_SHIFT;
    return (uint32_t)(lines->recent[at].first_slot + (line & (LINES_GROUP - 1)));
}

void cache_lines_check(const struct cache_lines *lines)
{
    C2_ASSERT(c2_map_count(lines->map) == lines->groups && lines->groups <= lines->room);
    for (uint32_t i = 0; i < LINES_RECENT; i++) {
        uint64_t number;
        if (lines->recent[i].key == 0)
            continue;
        C2_ASSERT(c2_map_get(lines->map, lines->recent[i].key - 1, &number));
        C2_ASSERT(lines->recent[i].first_slot == number << LINES_GROUP_SHIFT && number < lines->groups);
    }
}
