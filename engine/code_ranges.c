/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Ranges lie in lists by the page of their first byte, pages in a tree. A range that begins on a page before those
 *   asked for reaches them only if it is long enough, so no page farther before is looked at than the longest one that
 *   was ever added can reach.
 * Invariants
 *   A page stays in the tree once it had a range. What is taken is used again for the next one that is added.
 */
#include "engine/code_ranges.h"

#include "engine/code.h"

struct range {
    uint64_t start;
    uint32_t bytes;
    void *what;
    struct range *next; /* on the same page */
};

struct range_page {
    struct c2_node node; /* by page number */
    struct range *first;
};

struct code_ranges {
    struct c2_tree pages;
    struct c2_pool pool;
    struct range *unused;
    struct range_page *last; /* that something was added to; or NULL */
    uint32_t longest;        /* bytes */
};

enum c2_status code_ranges_create(struct code_ranges **out, struct c2_error *err)
{
    *out = c2_calloc(1, sizeof **out);
    return *out ? C2_OK : c2_fail_memory(err, "the ranges of code");
}

void code_ranges_destroy(struct code_ranges *ranges)
{
    if (!ranges)
        return;
    c2_pool_release(&ranges->pool);
    c2_free(ranges);
}

static struct range_page *range_page_of(struct code_ranges *ranges, uint64_t number)
{
    if (SHORTCUT(ranges->last && ranges->last->node.key == number))
        return ranges->last;
    struct c2_node *found = c2_tree_at_or_below(&ranges->pages, number);
    if (found && found->key == number)
        return ranges->last = (struct range_page *)found;
    struct range_page *page = c2_pool_get(&ranges->pool, sizeof *page);
    if (!page)
        return NULL;
    page->node.key = number;
    c2_tree_insert(&ranges->pages, &page->node);
    return ranges->last = page;
}

static struct range *range_new(struct code_ranges *ranges)
{
    struct range *range = ranges->unused;
    if (!range)
        return c2_pool_get(&ranges->pool, sizeof *range);
    ranges->unused = range->next;
    return range;
}

enum c2_status code_ranges_add(struct code_ranges *ranges, uint64_t start, uint32_t bytes, void *what,
                               struct c2_error *err)
{
    C2_ASSERT(bytes != 0 && start + bytes > start);
    struct range_page *page = range_page_of(ranges, start >> C2_PAGE_SHIFT);
    struct range *range = page ? range_new(ranges) : NULL;
    if (!range)
        return c2_fail_memory(err, "the ranges of code");
    *range = (struct range){start, bytes, what, page->first};
    page->first = range;
    if (bytes > ranges->longest)
        ranges->longest = bytes;
    return C2_OK;
}

static void take_from_page(struct code_ranges *ranges, struct range_page *page, uint64_t start, uint64_t bytes,
                           void (*taken)(void *self, void *what), void *self)
{
    for (struct range **link = &page->first; *link;) {
        struct range *range = *link;
        C2_PROMISE(range->start >> C2_PAGE_SHIFT == page->node.key && range->bytes <= ranges->longest);
        if (!engine_code_overlaps(start, bytes, range->start, range->bytes)) {
            link = &range->next;
            continue;
        }
        *link = range->next;
        range->next = ranges->unused;
        ranges->unused = range;
        taken(self, range->what);
    }
}

void code_ranges_take(struct code_ranges *ranges, uint64_t start, uint64_t bytes, void (*taken)(void *self, void *what),
                      void *self)
{
    C2_ASSERT(taken && start + bytes >= start);
    if (bytes == 0)
        return;
    const uint64_t reaches = start > ranges->longest ? start - ranges->longest : 0;
    struct c2_node *node = c2_tree_at_or_below(&ranges->pages, reaches >> C2_PAGE_SHIFT);
    if (!node)
        node = c2_tree_first(&ranges->pages);
    for (; node && node->key <= (start + bytes - 1) >> C2_PAGE_SHIFT; node = c2_tree_above(&ranges->pages, node->key))
        take_from_page(ranges, (struct range_page *)node, start, bytes, taken, self);
}
