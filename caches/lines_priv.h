/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The footprint: a slot number for every line ever accessed, and the stamps of its last use at every level. The model
 * card is in lines.c.
 */
#ifndef C2_LINES_PRIV_H
#define C2_LINES_PRIV_H

#include "base/base.h"

#define LINES_GROUP_SHIFT 6u /* lines of a group: with 64-byte lines, one page */
#define LINES_GROUP (1u << LINES_GROUP_SHIFT)
#define LINES_NO_SLOT UINT32_MAX
#define LINES_RECENT C2_HOST_SIZE(4096u, 2u) /* groups found without a hash; a program that uses few touches few */

struct cache_lines {
    uint32_t *stamp;  /* [slot << shift | column] */
    unsigned shift;   /* log2 of the columns, rounded up */
    uint32_t groups;  /* in use */
    uint32_t room;    /* allocated, in groups */
    struct c2_map *map; /* line / LINES_GROUP -> number of its group */
    struct {
        uint64_t key; /* line / LINES_GROUP + 1; 0: empty */
        uint64_t first_slot;
    } recent[LINES_RECENT];
};

enum c2_status cache_lines_init(struct cache_lines *lines, uint32_t columns, struct c2_error *err);
void cache_lines_end(struct cache_lines *lines);
uint32_t cache_lines_slot_slow(struct cache_lines *lines, uint64_t line);
void cache_lines_check(const struct cache_lines *lines);

/* The slot of a line, a new one if need be; LINES_NO_SLOT: no memory. */
static inline uint32_t cache_lines_slot(struct cache_lines *lines, uint64_t line)
{
    uint64_t group = line >> LINES_GROUP_SHIFT;
    uint64_t at = group & (LINES_RECENT - 1);
    if (!SHORTCUT(lines->recent[at].key == group + 1))
        return cache_lines_slot_slow(lines, line);
    return (uint32_t)(lines->recent[at].first_slot + (line & (LINES_GROUP - 1)));
}

static inline uint32_t *cache_lines_stamp(const struct cache_lines *lines, uint32_t slot, uint32_t column)
{
    return &lines->stamp[((size_t)slot << lines->shift) + column];
}

/* The stamp of a line whose group was found lately, NULL otherwise. */
static inline uint32_t *cache_lines_recent_stamp(const struct cache_lines *lines, uint64_t line, uint32_t column)
{
    uint64_t group = line >> LINES_GROUP_SHIFT;
    uint64_t at = group & (LINES_RECENT - 1);
    if (lines->recent[at].key != group + 1)
        return NULL;
    return cache_lines_stamp(lines, (uint32_t)(lines->recent[at].first_slot + (line & (LINES_GROUP - 1))), column);
}

#endif
