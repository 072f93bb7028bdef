/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   The mapped areas of the guest (Linux calls them VMAs): an ascending array of disjoint ranges, split where rights
 *   change and joined again where neighbours are alike, so that a list of them reads as /proc/PID/maps does.
 * Invariants
 *   Page aligned, not empty, ascending, disjoint, no two alike neighbours between calls of mmu.h.
 * Cost
 *   Lookup is a binary search; a change moves the tail of the array. Programs have tens to thousands of areas, and at
 *   the limit of 65530 a move of the array is a fraction of a millisecond: a tree would not pay.
 * Not modelled
 *   Linux also keeps neighbours apart for reasons that are not in the list (histories of anonymous memory).
 */
#include <errno.h>
#include <string.h>

#include "mmu/areas_priv.h"

struct backing *backing_create(const char *path, uint64_t inode, uint64_t device)
{
    size_t length = path ? strlen(path) : 0;
    struct backing *backing = c2_calloc(1, sizeof *backing + length + 1);
    if (!backing)
        return NULL;
    *backing = (struct backing){.references = 1, .inode = inode, .device = device, .anonymous = !path};
    if (path)
        memcpy(backing->path, path, length + 1);
    return backing;
}

void backing_release(struct backing *backing)
{
    if (backing && --backing->references == 0)
        c2_free(backing);
}

static bool same_backing(const struct backing *a, const struct backing *b)
{
    if (a == b)
        return true;
    if (!a || !b || a->anonymous || b->anonymous)
        return false;
    return a->inode == b->inode && a->device == b->device && strcmp(a->path, b->path) == 0;
}

static bool alike(const struct area *a, const struct area *b)
{
    return area_end(a) == b->view.start.v && a->view.prot == b->view.prot && a->view.shared == b->view.shared &&
           a->view.kind == b->view.kind && a->may_write == b->may_write && a->huge_wanted == b->huge_wanted &&
           a->huge_refused == b->huge_refused && a->hugetlb == b->hugetlb && same_backing(a->backing, b->backing) &&
           (!a->backing || a->view.offset + a->view.bytes == b->view.offset);
}

void areas_release(struct areas *areas)
{
    areas_remove(areas, 0, areas->count);
    c2_free(areas->list);
    *areas = (struct areas){0};
}

int areas_reserve(struct areas *areas, size_t extra)
{
    size_t needed = areas->count + extra;
    if (needed > AREAS_LIMIT)
        return ENOMEM;
    if (needed <= areas->room)
        return 0;
    size_t room = C2_HOST_SIZE(needed * 2, needed);
    struct area *list = c2_realloc(areas->list, room * sizeof *list);
    if (!list)
        return ENOMEM;
    areas->list = list;
    areas->room = room;
    return 0;
}

size_t areas_find(const struct areas *areas, uint64_t va)
{
    size_t low = 0, high = areas->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (area_end(&areas->list[middle]) > va)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

struct area *areas_at(const struct areas *areas, uint64_t va)
{
    size_t i = areas_find(areas, va);
    return i < areas->count && areas->list[i].view.start.v <= va ? &areas->list[i] : NULL;
}

bool areas_free(const struct areas *areas, uint64_t start, uint64_t end)
{
    size_t i = areas_find(areas, start);
    return start >= end || i == areas->count || areas->list[i].view.start.v >= end;
}

static void open_slot(struct areas *areas, size_t i)
{
    C2_ASSERT(areas->count < areas->room);
    memmove(&areas->list[i + 1], &areas->list[i], (areas->count - i) * sizeof *areas->list);
    areas->count++;
}

void areas_split(struct areas *areas, uint64_t va)
{
    size_t i = areas_find(areas, va);
    if (i == areas->count || areas->list[i].view.start.v >= va)
        return;
    open_slot(areas, i);
    struct area *low = &areas->list[i], *high = &areas->list[i + 1];
    *low = *high;
    low->view.bytes = va - low->view.start.v;
    high->view.start.v = va;
    high->view.bytes -= low->view.bytes;
    if (high->backing) {
        high->view.offset += low->view.bytes;
        high->backing->references++;
    }
}

void areas_insert(struct areas *areas, const struct area *area)
{
    C2_ASSERT(areas_free(areas, area->view.start.v, area_end(area)));
    size_t i = areas_find(areas, area->view.start.v);
    open_slot(areas, i);
    areas->list[i] = *area;
}

void areas_remove(struct areas *areas, size_t first, size_t count)
{
    if (count == 0)
        return;
    for (size_t i = first; i < first + count; i++)
        backing_release(areas->list[i].backing);
    size_t behind = areas->count - first - count;
    memmove(&areas->list[first], &areas->list[first + count], behind * sizeof *areas->list);
    areas->count -= count;
}

void areas_merge(struct areas *areas, uint64_t start, uint64_t end)
{
    size_t i = areas_find(areas, start - 1);
    while (i + 1 < areas->count && areas->list[i + 1].view.start.v <= end) {
        struct area *low = &areas->list[i], *high = &areas->list[i + 1];
        if (!alike(low, high)) {
            i++;
            continue;
        }
        low->view.bytes += high->view.bytes;
        areas_remove(areas, i + 1, 1);
    }
}

uint64_t areas_gap_down(const struct areas *areas, uint64_t bottom, uint64_t top, uint64_t bytes)
{
    size_t i = areas_find(areas, top - 1);
    if (i < areas->count && areas->list[i].view.start.v < top)
        top = areas->list[i].view.start.v;
    for (;;) {
        uint64_t floor = i > 0 && area_end(&areas->list[i - 1]) > bottom ? area_end(&areas->list[i - 1]) : bottom;
        if (top < bottom || top - bottom < bytes)
            return 0;
        if (floor <= top && top - floor >= bytes)
            return top - bytes;
        top = areas->list[--i].view.start.v;
    }
}

uint64_t areas_gap_up(const struct areas *areas, uint64_t bottom, uint64_t top, uint64_t bytes)
{
    for (size_t i = areas_find(areas, bottom); bottom <= top && top - bottom >= bytes; i++) {
        if (i == areas->count)
            return bottom;
        if (areas->list[i].view.start.v >= bottom && areas->list[i].view.start.v - bottom >= bytes)
            return bottom;
        bottom = area_end(&areas->list[i]);
    }
    return 0;
}

void areas_check(const struct areas *areas)
{
    for (size_t i = 0; i < areas->count; i++) {
        const struct area *area = &areas->list[i];
        C2_ASSERT(area->view.bytes != 0);
        C2_ASSERT((area->view.start.v | area->view.bytes | area->view.offset) % C2_PAGE_BYTES == 0);
        C2_ASSERT(area->view.start.v >= MMU_WINDOW_START && area_end(area) <= MMU_WINDOW_END);
        C2_ASSERT(area_end(area) <= MMU_TABLES_BASE || area->view.start.v >= MMU_TABLES_END);
        C2_ASSERT(!area->backing || area->backing->references > 0);
        if (i > 0) {
            C2_ASSERT(area_end(area - 1) <= area->view.start.v);
            C2_ASSERT(!alike(area - 1, area));
        }
    }
}
