/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The footprint: a slot for every line ever accessed. The model card is in lines.c.
 */
#ifndef C2_LINES_PRIV_H
#define C2_LINES_PRIV_H

#include "caches/caches_fast.h"

#define LINES_GROUP_SHIFT 6u /* lines of a group: with 64-byte lines, one page */
#define LINES_GROUP (1u << LINES_GROUP_SHIFT)
_Static_assert(LINES_GROUP == CACHES_SLOTS, "one slot of a group gives all");
#define LINES_RECENT C2_HOST_SIZE(4096u, 2u) /* groups found without a hash; a program that uses few touches few */
#define LINES_NO_SLOT CACHES_NO_SLOT

struct cache_lines {
    uint64_t access_site; /* of what makes a level lose a line now */
    uint64_t pc;          /* as caches_set_instruction() */
    uint32_t signature;   /* of the access being made: see policy.c */
    uint32_t core;        /* that makes it */
    uint32_t groups;      /* in use */
    uint32_t room;        /* allocated, in groups */
    bool failed;          /* there was no memory for a line: none gets a slot any more */
    uint64_t *group_key;  /* [group]: line / LINES_GROUP */
    struct c2_map *map;   /* line / LINES_GROUP -> group */
    struct {
        uint64_t key; /* line / LINES_GROUP + 1; 0: empty */
        uint64_t first_slot;
    } recent[LINES_RECENT];
};

/* What a table needs besides: it has an item of so many bytes for each group, and *room of them; new ones are zero.
 * False: no memory, and the table is as it was. */
bool cache_lines_extend(const struct cache_lines *lines, void **table, uint32_t *room, size_t bytes);
static inline bool cache_lines_cover(const struct cache_lines *lines, void **table, uint32_t *room, size_t bytes)
{
    return C2_LIKELY(lines->groups <= *room) || cache_lines_extend(lines, table, room, bytes);
}

enum c2_status cache_lines_init(struct cache_lines *lines, struct c2_error *err);
void cache_lines_end(struct cache_lines *lines);
/* The slot of a line, a new one if need be; LINES_NO_SLOT: no memory. */
uint32_t cache_lines_slot(struct cache_lines *lines, uint64_t line);
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

static inline uint64_t cache_lines_line(const struct cache_lines *lines, uint32_t slot)
{
    return lines->group_key[slot >> LINES_GROUP_SHIFT] << LINES_GROUP_SHIFT | (slot & (LINES_GROUP - 1));
}

#endif
