/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * entries: the addresses where functions start.
 *
 * Model
 *   A bit for each byte of each page of code that has a function. The page asked last is remembered: jumps stay near.
 *
 * Invariants
 *   Every page in the map lies in [low, high).
 */
#include <string.h>

#include "analyses/callgraph_priv.h"

#define WORDS (C2_PAGE_BYTES / 64)

struct page {
    uint64_t bits[WORDS];
};

struct entries {
    struct c2_map *page_of; /* page number -> index */
    struct page *pages;     /* one that was unmapped has no bits */
    uint32_t count, room;
    uint64_t low, high;  /* page numbers */
    uint64_t last;       /* page number, UINT64_MAX: none */
    uint32_t last_index; /* UINT32_MAX: that page has no function */
};

enum c2_status entries_create(struct entries **out, struct c2_error *err)
{
    *out = NULL;
    struct entries *entries = c2_calloc(1, sizeof *entries);
    if (!entries)
        return c2_fail_memory(err, "the entries of functions");
    entries->last = entries->low = UINT64_MAX;
    enum c2_status status = c2_map_create(&entries->page_of, err);
    if (status != C2_OK) {
        entries_destroy(entries);
        return status;
    }
    *out = entries;
    return C2_OK;
}

void entries_destroy(struct entries *entries)
{
    if (!entries)
        return;
    c2_map_destroy(entries->page_of);
    c2_free(entries->pages);
    c2_free(entries);
}

static uint32_t entries_find(struct entries *entries, uint64_t page)
{
    uint64_t index;
    if (SHORTCUT(page == entries->last))
        return entries->last_index;
    entries->last = page;
    entries->last_index = c2_map_get(entries->page_of, page, &index) ? (uint32_t)index : UINT32_MAX;
    return entries->last_index;
}

static enum c2_status entries_add_page(struct entries *entries, uint64_t page, struct c2_error *err)
{
    if (!c2_grow((void **)&entries->pages, &entries->room, entries->count, sizeof *entries->pages))
        return c2_fail_memory(err, "the entries of functions");
    enum c2_status status = c2_map_put(entries->page_of, page, entries->count, err);
    if (status != C2_OK)
        return status;
    memset(&entries->pages[entries->count++], 0, sizeof *entries->pages);
    entries->last = UINT64_MAX;
    entries->low = page < entries->low ? page : entries->low;
    entries->high = page >= entries->high ? page + 1 : entries->high;
    return C2_OK;
}

enum c2_status entries_add(struct entries *entries, uint64_t va, struct c2_error *err)
{
    const uint64_t page = va >> C2_PAGE_SHIFT, offset = va % C2_PAGE_BYTES;
    enum c2_status status = C2_OK;
    if (entries_find(entries, page) == UINT32_MAX)
        status = entries_add_page(entries, page, err);
    if (status == C2_OK)
        entries->pages[entries_find(entries, page)].bits[offset / 64] |= UINT64_C(1) << offset % 64;
    return status;
}

bool entries_remove(struct entries *entries, uint64_t start, uint64_t end)
{
    uint64_t page = start >> C2_PAGE_SHIFT, last = end >> C2_PAGE_SHIFT;
    bool any = false;
    page = page < entries->low ? entries->low : page;
    last = last > entries->high ? entries->high : last;
    for (; page < last; page++) {
        if (entries_find(entries, page) == UINT32_MAX)
            continue;
        memset(&entries->pages[entries_find(entries, page)], 0, sizeof *entries->pages);
        any = true;
    }
    return any;
}

bool entries_has(struct entries *entries, uint64_t va)
{
    const uint32_t index = entries_find(entries, va >> C2_PAGE_SHIFT);
    const uint64_t offset = va % C2_PAGE_BYTES;
    return index != UINT32_MAX && (entries->pages[index].bits[offset / 64] >> offset % 64 & 1) != 0;
}
