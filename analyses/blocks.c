/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * blocks: the live blocks of the guest's allocator, by address.
 *
 * Model
 *   Blocks do not overlap. Small ones (below BLOCKS_LARGE bytes) are listed page by page: each page that holds a part
 *   of one has a sorted list of those parts. Large ones stand in one sorted list, so that a block of gigabytes costs no
 *   more than one of 64 KiB; a program has few of them at a time.
 *
 * Invariants (blocks_check)
 *   Parts of a page are ascending and disjoint; every block has its part in each page it touches; large blocks are
 *   ascending and disjoint.
 *
 * Cost
 *   A look-up is one hash and two binary searches, in a page's list and in that of the large blocks. Memory is bounded
 *   by the pages that ever held a small block and by the blocks alive at one time.
 */
#include <string.h>

#include "analyses/objects_priv.h"

#define BLOCKS_LARGE (64u << 10)

struct part {
    uint16_t start, last; /* offsets in the page, both inside */
    uint32_t block;       /* index */
};

struct page {
    struct part *parts;
    uint32_t count, room;
};

struct blocks {
    struct block *list; /* by index; base == UINT64_MAX: unused */
    uint32_t count, room;
    uint32_t *unused; /* indices */
    uint32_t unused_count, unused_room;
    struct c2_map *page_of; /* page number -> index in pages */
    struct page *pages;
    uint32_t page_count, page_room;
    uint32_t *large; /* indices, ascending by base */
    uint32_t large_count, large_room;
};

enum c2_status blocks_create(struct blocks **out, struct c2_error *err)
{
    *out = NULL;
    struct blocks *blocks = c2_calloc(1, sizeof *blocks);
    if (!blocks)
        return c2_fail_memory(err, "the table of blocks of the heap");
    enum c2_status status = c2_map_create(&blocks->page_of, err);
    if (status != C2_OK) {
        blocks_destroy(blocks);
        return status;
    }
    *out = blocks;
    return C2_OK;
}

void blocks_destroy(struct blocks *blocks)
{
    if (!blocks)
        return;
    for (uint32_t i = 0; i < blocks->page_count; i++)
        c2_free(blocks->pages[i].parts);
    c2_map_destroy(blocks->page_of);
    c2_free(blocks->pages);
    c2_free(blocks->list);
    c2_free(blocks->unused);
    c2_free(blocks->large);
    c2_free(blocks);
}

static uint64_t blocks_end_of(const struct block *block) { return block->base + block->bytes; }

/* ------------------------------------------------------------------ large blocks */

/* The number of large blocks that begin at or below va. */
static uint32_t large_up_to(const struct blocks *blocks, uint64_t va)
{
    uint32_t low = 0, high = blocks->large_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (blocks->list[blocks->large[middle]].base <= va)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool large_add(struct blocks *blocks, uint32_t index)
{
    if (!c2_grow((void **)&blocks->large, &blocks->large_room, blocks->large_count, sizeof *blocks->large))
        return false;
    const uint32_t at = large_up_to(blocks, blocks->list[index].base);
    memmove(&blocks->large[at + 1], &blocks->large[at], (blocks->large_count - at) * sizeof *blocks->large);
    blocks->large[at] = index;
    blocks->large_count++;
    return true;
}

static void large_remove(struct blocks *blocks, uint32_t index)
{
    const uint32_t at = large_up_to(blocks, blocks->list[index].base) - 1;
    C2_ASSERT(blocks->large[at] == index);
    blocks->large_count--;
    memmove(&blocks->large[at], &blocks->large[at + 1], (blocks->large_count - at) * sizeof *blocks->large);
}

/* ------------------------------------------------------------------ small blocks */

static struct page *page_at(const struct blocks *blocks, uint64_t va)
{
    uint64_t index;
    return c2_map_get(blocks->page_of, va >> C2_PAGE_SHIFT, &index) ? &blocks->pages[index] : NULL;
}

static struct page *page_make(struct blocks *blocks, uint64_t va)
{
    struct page *page = page_at(blocks, va);
    if (page || !c2_grow((void **)&blocks->pages, &blocks->page_room, blocks->page_count, sizeof *blocks->pages))
        return page;
    if (c2_map_put(blocks->page_of, va >> C2_PAGE_SHIFT, blocks->page_count, NULL) != C2_OK)
        return NULL;
    blocks->pages[blocks->page_count] = (struct page){0};
    return &blocks->pages[blocks->page_count++];
}

/* The number of parts that begin at or below the offset. */
static uint32_t parts_up_to(const struct page *page, uint32_t offset)
{
    uint32_t low = 0, high = page->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (page->parts[middle].start <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What of a block lies in the page of va, which it touches. */
static struct part blocks_part_of(const struct block *block, uint64_t va, uint32_t index)
{
    const uint64_t page = c2_align_down(va, C2_PAGE_BYTES), page_end = page + C2_PAGE_BYTES;
    const uint64_t start = block->base > page ? block->base : page;
    const uint64_t end = blocks_end_of(block) < page_end ? blocks_end_of(block) : page_end;
    return (struct part){(uint16_t)(start - page), (uint16_t)(end - 1 - page), index};
}

static bool part_add(struct blocks *blocks, uint32_t index, uint64_t va)
{
    struct page *page = page_make(blocks, va);
    if (!page || !c2_grow((void **)&page->parts, &page->room, page->count, sizeof *page->parts))
        return false;
    const struct part part = blocks_part_of(&blocks->list[index], va, index);
    const uint32_t at = parts_up_to(page, part.start);
    memmove(&page->parts[at + 1], &page->parts[at], (page->count - at) * sizeof *page->parts);
    page->parts[at] = part;
    page->count++;
    return true;
}

static void part_remove(struct blocks *blocks, uint32_t index, uint64_t va)
{
    struct page *page = page_at(blocks, va);
    const uint32_t at = !page ? 0 : parts_up_to(page, blocks_part_of(&blocks->list[index], va, index).start);
    if (at == 0 || page->parts[at - 1].block != index)
        return; /* adding it failed half way */
    page->count--;
    memmove(&page->parts[at - 1], &page->parts[at], (page->count - (at - 1)) * sizeof *page->parts);
}

/* ------------------------------------------------------------------ all blocks */

static bool is_large(const struct block *block) { return block->bytes >= BLOCKS_LARGE; }

/* First addresses of a block in the pages it touches: `for (va = base; va < end; va = next_page(va))`. */
static uint64_t blocks_next_page(uint64_t va) { return c2_align_down(va, C2_PAGE_BYTES) + C2_PAGE_BYTES; }

static bool blocks_place(struct blocks *blocks, uint32_t index)
{
    const struct block *block = &blocks->list[index];
    if (is_large(block))
        return large_add(blocks, index);
    for (uint64_t va = block->base; va < blocks_end_of(block); va = blocks_next_page(va))
        if (!part_add(blocks, index, va))
            return false;
    return true;
}

static void take_away(struct blocks *blocks, uint32_t index)
{
    struct block *block = &blocks->list[index];
    if (is_large(block))
        large_remove(blocks, index);
    for (uint64_t va = block->base; va < blocks_end_of(block) && !is_large(block); va = blocks_next_page(va))
        part_remove(blocks, index, va);
    block->base = UINT64_MAX;
    blocks->unused[blocks->unused_count++] = index; /* there is room for as many as there are blocks */
}

static bool new_index(struct blocks *blocks, uint32_t *index)
{
    if (blocks->unused_count != 0) {
        *index = blocks->unused[--blocks->unused_count];
        return true;
    }
    if (!c2_grow((void **)&blocks->list, &blocks->room, blocks->count, sizeof *blocks->list) ||
        !c2_grow((void **)&blocks->unused, &blocks->unused_room, blocks->count, sizeof *blocks->unused))
        return false;
    *index = blocks->count++;
    return true;
}

static uint32_t index_of(const struct blocks *blocks, const struct block *block)
{
    return (uint32_t)(block - blocks->list);
}

static const struct block *first_large(const struct blocks *blocks, uint64_t start, uint64_t end)
{
    const uint32_t at = large_up_to(blocks, start);
    if (at != 0 && blocks_end_of(&blocks->list[blocks->large[at - 1]]) > start)
        return &blocks->list[blocks->large[at - 1]];
    if (at < blocks->large_count && blocks->list[blocks->large[at]].base < end)
        return &blocks->list[blocks->large[at]];
    return NULL;
}

static const struct block *first_small(const struct blocks *blocks, uint64_t start, uint64_t end)
{
    for (uint64_t va = start; va < end; va = blocks_next_page(va)) {
        const struct page *page = page_at(blocks, va);
        if (!page || page->count == 0)
            continue;
        const uint32_t offset = (uint32_t)(va % C2_PAGE_BYTES), part = parts_up_to(page, offset);
        if (part != 0 && page->parts[part - 1].last >= offset)
            return &blocks->list[page->parts[part - 1].block];
        if (part < page->count && c2_align_down(va, C2_PAGE_BYTES) + page->parts[part].start < end)
            return &blocks->list[page->parts[part].block];
    }
    return NULL;
}

/* The lowest block that has a byte in [start, end); NULL: none. */
static const struct block *blocks_first_in(const struct blocks *blocks, uint64_t start, uint64_t end)
{
    const struct block *large = first_large(blocks, start, end);
    const struct block *small = first_small(blocks, start, large && large->base > start ? large->base : end);
    return small && (!large || small->base < large->base) ? small : large;
}

enum c2_status blocks_add(struct blocks *blocks, const struct block *block, uint64_t *start, uint64_t *end,
                          struct c2_error *err)
{
    const struct block *stale;
    *start = block->base;
    *end = blocks_end_of(block);
    while ((stale = blocks_first_in(blocks, block->base, blocks_end_of(block)))) {
        *start = stale->base < *start ? stale->base : *start;
        *end = blocks_end_of(stale) > *end ? blocks_end_of(stale) : *end;
        take_away(blocks, index_of(blocks, stale));
    }
    uint32_t index;
    if (!new_index(blocks, &index))
        return c2_fail_memory(err, "the table of blocks of the heap");
    blocks->list[index] = *block;
    if (blocks_place(blocks, index))
        return C2_OK;
    if (is_large(block)) /* take_away() wants it in the list */
        blocks->list[index].bytes = 0;
    take_away(blocks, index);
    return c2_fail_memory(err, "the table of blocks of the heap");
}

bool blocks_remove(struct blocks *blocks, uint64_t base, struct block *out)
{
    uint64_t start, end;
    const struct block *block = blocks_find(blocks, base, &start, &end);
    if (!block || block->base != base)
        return false;
    *out = *block;
    take_away(blocks, index_of(blocks, block));
    return true;
}

void blocks_remove_range(struct blocks *blocks, uint64_t start, uint64_t end)
{
    const struct block *block;
    uint64_t from = start;
    while (from < end && (block = blocks_first_in(blocks, from, end))) {
        from = blocks_end_of(block);
        if (block->base >= start)
            take_away(blocks, index_of(blocks, block));
    }
}

/* ------------------------------------------------------------------ finding */

/* Narrows [*start, *end) to what lies between the small blocks of va's page; or the block itself. */
static const struct block *find_small(const struct blocks *blocks, uint64_t va, uint64_t *start, uint64_t *end)
{
    const struct page *page = page_at(blocks, va);
    *start = c2_align_down(va, C2_PAGE_BYTES);
    *end = *start + C2_PAGE_BYTES;
    if (!page || page->count == 0)
        return NULL;
    const uint32_t offset = (uint32_t)(va % C2_PAGE_BYTES), at = parts_up_to(page, offset);
    if (at != 0 && page->parts[at - 1].last >= offset)
        return &blocks->list[page->parts[at - 1].block];
    const uint64_t base = *start;
    if (at != 0)
        *start = base + page->parts[at - 1].last + 1;
    if (at < page->count)
        *end = base + page->parts[at].start;
    return NULL;
}

const struct block *blocks_find(const struct blocks *blocks, uint64_t va, uint64_t *start, uint64_t *end)
{
    const uint32_t at = large_up_to(blocks, va);
    const struct block *found = at != 0 ? &blocks->list[blocks->large[at - 1]] : NULL;
    if (found && blocks_end_of(found) <= va)
        found = NULL;
    const struct block *below = at != 0 ? &blocks->list[blocks->large[at - 1]] : NULL;
    if (!found)
        found = find_small(blocks, va, start, end);
    if (found) {
        *start = found->base;
        *end = blocks_end_of(found);
        return found;
    }
    if (below && blocks_end_of(below) > *start)
        *start = blocks_end_of(below);
    if (at < blocks->large_count && blocks->list[blocks->large[at]].base < *end)
        *end = blocks->list[blocks->large[at]].base;
    return NULL;
}

/* ------------------------------------------------------------------ invariants */

static uint64_t check_page(const struct blocks *blocks, const struct page *page)
{
    for (uint32_t i = 0; i < page->count; i++) {
        const struct part *part = &page->parts[i];
        C2_ASSERT(part->start <= part->last && (i == 0 || page->parts[i - 1].last < part->start));
        C2_ASSERT(part->block < blocks->count && blocks->list[part->block].base != UINT64_MAX);
    }
    return page->count;
}

void blocks_check(const struct blocks *blocks)
{
    uint64_t parts = 0, expected = 0, live = 0;
    for (uint32_t i = 0; i < blocks->page_count; i++)
        parts += check_page(blocks, &blocks->pages[i]);
    for (uint32_t i = 0; i < blocks->count; i++) {
        const struct block *block = &blocks->list[i];
        if (block->base == UINT64_MAX)
            continue;
        live++;
        if (!is_large(block))
            expected += ((blocks_end_of(block) - 1) >> C2_PAGE_SHIFT) - (block->base >> C2_PAGE_SHIFT) + 1;
    }
    C2_ASSERT(parts == expected && live + blocks->unused_count == blocks->count);
    for (uint32_t i = 0; i + 1 < blocks->large_count; i++)
        C2_ASSERT(blocks_end_of(&blocks->list[blocks->large[i]]) <= blocks->list[blocks->large[i + 1]].base);
}
