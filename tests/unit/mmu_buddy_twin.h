/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The slow twin of the buddy allocator of a fresh machine: plain arrays for lists, searched from end to end. Blocks are
 * looked at in ascending order, so three numbers tell where memory was looked at: pages' blocks lie below `next`, those
 * of page tables from `tables_low` on.
 */
#ifndef C2_TEST_MMU_BUDDY_TWIN_H
#define C2_TEST_MMU_BUDDY_TWIN_H

#include <stdlib.h>
#include <string.h>

#include "mmu/buddy_priv.h"

struct buddy_twin_list {
    uint32_t *items;
    size_t count;
};
struct buddy_twin {
    uint32_t frames, next, tables_low;
    const bool *taken; /* by frame: others have it; NULL: none */
    struct buddy_twin_list order[BUDDY_ORDERS], pcp, tables;
    bool refills_too_much, cuts_to_the_tail; /* sabotage */
};

static inline struct buddy_twin *buddy_twin_create(uint32_t frames, const bool *taken)
{
    struct buddy_twin *twin = calloc(1, sizeof *twin);
    *twin = (struct buddy_twin){.frames = frames, .tables_low = frames, .taken = taken};
    for (unsigned order = 0; order < BUDDY_ORDERS; order++)
        twin->order[order].items = calloc(frames, sizeof(uint32_t));
    twin->pcp.items = calloc(frames, sizeof(uint32_t));
    twin->tables.items = calloc(frames, sizeof(uint32_t));
    return twin;
}

static inline void buddy_twin_destroy(struct buddy_twin *twin)
{
    for (unsigned order = 0; order < BUDDY_ORDERS; order++)
        free(twin->order[order].items);
    free(twin->pcp.items);
    free(twin->tables.items);
    free(twin);
}

static inline void twin_put(struct buddy_twin_list *list, size_t at, uint32_t frame)
{
    memmove(list->items + at + 1, list->items + at, (list->count - at) * sizeof *list->items);
    list->items[at] = frame;
    list->count++;
}

static inline uint32_t twin_cut(struct buddy_twin_list *list, size_t at)
{
    uint32_t frame = list->items[at];
    list->count--;
    memmove(list->items + at, list->items + at + 1, (list->count - at) * sizeof *list->items);
    return frame;
}

/* Where the item stands that covers the frame, each item being `span` frames long; SIZE_MAX: nowhere. */
static inline size_t twin_index(const struct buddy_twin_list *list, uint32_t frame, uint32_t span)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i] <= frame && frame - list->items[i] < span)
            return i;
    }
    return SIZE_MAX;
}

static inline bool twin_is_taken(const struct buddy_twin *twin, uint32_t frame)
{
    return twin->taken && twin->taken[frame];
}

/* The largest aligned piece that begins at frame, ends below end and with all frames free. */
static inline unsigned twin_piece(const struct buddy_twin *twin, uint32_t frame, uint32_t end)
{
    uint32_t run = 0;
    while (frame + run < end && !twin_is_taken(twin, frame + run))
        run++;
    unsigned order = 10;
    while (frame % (1u << order) || run < 1u << order)
        order--;
    return order;
}

static inline bool twin_look(struct buddy_twin *twin)
{
    if (twin->next >= twin->tables_low)
        return false;
    for (int i = 0; i < 64 && twin->next < twin->tables_low; i++) {
        uint32_t end = twin->next + 1024 < twin->frames ? twin->next + 1024 : twin->frames;
        while (twin->next < end) {
            if (twin_is_taken(twin, twin->next)) {
                twin->next++;
                continue;
            }
            unsigned order = twin_piece(twin, twin->next, end);
            twin_put(&twin->order[order], twin->order[order].count, twin->next);
            twin->next += 1u << order;
        }
    }
    return true;
}

static inline uint64_t twin_block(struct buddy_twin *twin, unsigned order)
{
    do {
        for (unsigned from = order; from < BUDDY_ORDERS; from++) {
            if (twin->order[from].count == 0)
                continue;
            uint32_t frame = twin_cut(&twin->order[from], 0);
            while (from-- > order)
                twin_put(&twin->order[from], 0, frame + (1u << from));
            return frame;
        }
    } while (twin_look(twin));
    return BUDDY_NONE;
}

static inline void twin_merge(struct buddy_twin *twin, uint32_t frame, unsigned order)
{
    size_t at;
    for (; order < 10 && (at = twin_index(&twin->order[order], frame ^ 1u << order, 1)) != SIZE_MAX; order++) {
        twin_cut(&twin->order[order], at);
        frame &= ~(1u << order);
    }
    uint32_t parent = frame & ~(1u << order);
    bool tail = order + 1 < 10 && twin_index(&twin->order[order + 1], parent ^ 2u << order, 1) != SIZE_MAX;
    twin_put(&twin->order[order], tail ? twin->order[order].count : 0, frame);
}

static inline uint64_t buddy_twin_take(struct buddy_twin *twin, unsigned order)
{
    if (order > 0) {
        uint64_t frame = twin_block(twin, order);
        while (frame == BUDDY_NONE && twin->pcp.count > 0)
            twin_merge(twin, twin_cut(&twin->pcp, twin->pcp.count - 1), 0);
        return frame == BUDDY_NONE ? twin_block(twin, order) : frame;
    }
    for (int i = 0; twin->pcp.count == (size_t)i && i < (twin->refills_too_much ? 64 : 63); i++) {
        uint64_t frame = twin_block(twin, 0);
        if (frame == BUDDY_NONE)
            break;
        twin_put(&twin->pcp, twin->pcp.count, (uint32_t)frame);
    }
    if (twin->pcp.count == 0 && twin->tables.count > 0)
        return twin_cut(&twin->tables, 0);
    return twin->pcp.count ? twin_cut(&twin->pcp, 0) : BUDDY_NONE;
}

static inline uint64_t buddy_twin_take_for_table(struct buddy_twin *twin)
{
    while (twin->tables.count == 0 && twin->next < twin->tables_low) {
        uint32_t end = twin->tables_low;
        twin->tables_low = (end - 1) / 1024 * 1024;
        for (uint32_t frame = twin->tables_low; frame < end; frame++) {
            if (!twin_is_taken(twin, frame))
                twin_put(&twin->tables, 0, frame);
        }
    }
    return twin->tables.count ? twin_cut(&twin->tables, 0) : buddy_twin_take(twin, 0);
}

static inline void buddy_twin_give(struct buddy_twin *twin, uint32_t frame, unsigned order)
{
    if (frame >= twin->next && frame < twin->tables_low)
        return;
    for (uint32_t i = 0; frame >= twin->tables_low && i < 1u << order; i++)
        twin_put(&twin->tables, 0, frame + i);
    if (frame >= twin->tables_low)
        return;
    if (order > 0) {
        twin_merge(twin, frame, order);
        return;
    }
    twin_put(&twin->pcp, 0, frame);
    for (int i = 0; twin->pcp.count + (size_t)i > 6 * 63 && i < 63; i++)
        twin_merge(twin, twin_cut(&twin->pcp, twin->pcp.count - 1), 0);
}

/* Another policy takes the frame. */
static inline void buddy_twin_claim(struct buddy_twin *twin, uint32_t frame)
{
    for (unsigned order = 0; order < BUDDY_ORDERS; order++) {
        size_t at = twin_index(&twin->order[order], frame, 1u << order);
        if (at == SIZE_MAX)
            continue;
        uint32_t start = twin_cut(&twin->order[order], at);
        while (order-- > 0) {
            uint32_t half = 1u << order, other = frame - start < half ? start + half : start;
            twin_put(&twin->order[order], twin->cuts_to_the_tail ? twin->order[order].count : 0, other);
            start = frame - start < half ? start : start + half;
        }
        return;
    }
    size_t at = twin_index(&twin->pcp, frame, 1);
    if (at != SIZE_MAX)
        twin_cut(&twin->pcp, at);
    at = twin_index(&twin->tables, frame, 1);
    if (at != SIZE_MAX)
        twin_cut(&twin->tables, at);
}

#endif
