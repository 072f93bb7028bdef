/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   The mapped areas of an address space (Linux calls them VMAs), the guest's or a replica's: disjoint ranges in
 *   ascending order, split where rights change and joined again where neighbours are alike, so that a list of them
 *   reads as /proc/PID/maps does. They lie in a tree by their start; each holds the widest hole of its subtree, so that
 *   a place for a mapping is found without a look at every hole.
 * Invariants
 *   Page aligned, not empty, ascending, disjoint, no two alike neighbours between calls of mmu.h and replica.h.
 *   Summaries are true.
 * Cost
 *   Logarithmic in the number of areas, whatever is looked for or changed; what concerns several areas, for each.
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

void area_describe(struct area *area, uint64_t offset)
{
    C2_ASSERT(area->backing && offset % C2_PAGE_BYTES == 0);
    area->view.offset = offset;
    if (area->backing->anonymous) {
        area->view.memory = area->backing->inode;
        return;
    }
    area->view.path = area->backing->path;
    area->view.inode = area->backing->inode;
    area->view.device = area->backing->device;
}

static bool same_backing(const struct backing *a, const struct backing *b)
{
    if (a == b)
        return true;
    if (!a || !b || a->anonymous != b->anonymous)
        return false;
    return a->inode == b->inode && a->device == b->device && strcmp(a->path, b->path) == 0;
}

static bool areas_alike(const struct area *a, const struct area *b)
{
    return area_end(a) == b->view.start.v && a->view.prot == b->view.prot && a->view.shared == b->view.shared &&
           a->view.kind == b->view.kind && a->may_write == b->may_write && a->huge_wanted == b->huge_wanted &&
           a->huge_refused == b->huge_refused && a->hugetlb == b->hugetlb && same_backing(a->backing, b->backing) &&
           (!a->backing || a->view.offset + a->view.bytes == b->view.offset);
}

/* ------------------------------------------------------------------ the tree */

static struct area *areas_area_of(struct c2_node *node) { return (struct area *)node; }

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

static void summarize(struct c2_node *node)
{
    struct area *area = areas_area_of(node);
    const struct area *left = areas_area_of(node->left), *right = areas_area_of(node->right);
    area->low = left ? left->low : area->view.start.v;
    area->high = right ? right->high : area_end(area);
    area->widest = larger(left ? larger(left->widest, area->view.start.v - left->high) : 0,
                          right ? larger(right->widest, right->low - area_end(area)) : 0);
}

/* The list of spare ones goes by the nodes' left. */
static void put_spare(struct mmu_areas *areas, struct area *area)
{
    C2_PROMISE(areas->spares < AREAS_LIMIT);
    area->node.left = (struct c2_node *)areas->spare;
    areas->spare = area;
    areas->spares++;
}

int areas_reserve(struct mmu_areas *areas, size_t extra)
{
    if (areas->limit && areas_count(areas) + extra > areas->limit)
        return ENOMEM;
    while (areas->spares < extra) {
        struct area *area = c2_alloc(sizeof *area);
        if (!area)
            return ENOMEM;
        put_spare(areas, area);
    }
    return 0;
}

#define SPARES_KEPT 8

static void free_area(struct mmu_areas *areas, struct area *area)
{
    if (areas->spares >= SPARES_KEPT) {
        c2_free(area);
        return;
    }
    put_spare(areas, area);
}

static void areas_put(struct mmu_areas *areas, const struct area *contents)
{
    struct area *area = areas->spare;
    C2_ASSERT(area);
    areas->spare = areas_area_of(area->node.left);
    areas->spares--;
    *area = *contents;
    area->node.key = area->view.start.v;
    areas->tree.summarize = summarize;
    c2_tree_insert(&areas->tree, &area->node);
}

static void areas_take(struct mmu_areas *areas, struct area *area)
{
    c2_tree_remove(&areas->tree, &area->node);
    backing_release(area->backing);
    free_area(areas, area);
}

void areas_release(struct mmu_areas *areas)
{
    areas_remove(areas, 0, UINT64_MAX);
    while (areas->spare) {
        struct area *area = areas->spare;
        areas->spare = areas_area_of(area->node.left);
        c2_free(area);
    }
    *areas = (struct mmu_areas){0};
}

/* ------------------------------------------------------------------ finding */

struct area *areas_at(const struct mmu_areas *areas, uint64_t va)
{
    struct area *area = areas_area_of(c2_tree_at_or_below(&areas->tree, va));
    return area && area_end(area) > va ? area : NULL;
}

struct area *areas_find(const struct mmu_areas *areas, uint64_t va)
{
    struct area *area = areas_at(areas, va);
    return area ? area : areas_area_of(c2_tree_above(&areas->tree, va));
}

struct area *areas_next(const struct mmu_areas *areas, const struct area *area)
{
    return areas_area_of(c2_tree_above(&areas->tree, area->view.start.v));
}

struct area *areas_before(const struct mmu_areas *areas, uint64_t va)
{
    return areas_area_of(c2_tree_at_or_below(&areas->tree, va - 1));
}

static struct area *areas_below(struct area *area, uint64_t end)
{
    return area && area->view.start.v < end ? area : NULL;
}

struct area *areas_first_in(const struct mmu_areas *areas, uint64_t start, uint64_t end)
{
    return areas_below(areas_find(areas, start), end);
}

struct area *areas_next_in(const struct mmu_areas *areas, const struct area *area, uint64_t end)
{
    return areas_below(areas_next(areas, area), end);
}

bool areas_free(const struct mmu_areas *areas, uint64_t start, uint64_t end)
{
    return start >= end || !areas_first_in(areas, start, end);
}

/* ------------------------------------------------------------------ changing */

void areas_resize(struct mmu_areas *areas, struct area *area, uint64_t bytes)
{
    C2_ASSERT(bytes != 0 && bytes % C2_PAGE_BYTES == 0);
    area->view.bytes = bytes;
    c2_tree_changed(&areas->tree, &area->node);
}

void areas_split(struct mmu_areas *areas, uint64_t va)
{
    C2_ASSERT(va % C2_PAGE_BYTES == 0);
    struct area *low = areas_at(areas, va);
    if (!low || low->view.start.v == va)
        return;
    struct area high = *low;
    const uint64_t bytes = va - low->view.start.v;
    high.view.start.v = va;
    high.view.bytes -= bytes;
    if (high.backing) {
        high.view.offset += bytes;
        high.backing->references++;
    }
    areas_resize(areas, low, bytes);
    areas_put(areas, &high);
}

void areas_insert(struct mmu_areas *areas, const struct area *area)
{
    C2_ASSERT(areas_free(areas, area->view.start.v, area_end(area)));
    areas_put(areas, area);
}

void areas_remove(struct mmu_areas *areas, uint64_t start, uint64_t end)
{
    struct area *area = areas_first_in(areas, start, end);
    while (area) {
        struct area *next = areas_next_in(areas, area, end);
        C2_ASSERT(area->view.start.v >= start && area_end(area) <= end);
        areas_take(areas, area);
        area = next;
    }
}

void areas_merge(struct mmu_areas *areas, uint64_t start, uint64_t end)
{
    C2_ASSERT(start <= end);
    struct area *low = areas_find(areas, start - 1), *high = low ? areas_next(areas, low) : NULL;
    while (high && high->view.start.v <= end) {
        struct area *next = areas_next(areas, high);
        if (areas_alike(low, high)) {
            const uint64_t bytes = low->view.bytes + high->view.bytes;
            areas_take(areas, high);
            areas_resize(areas, low, bytes);
        } else {
            low = high;
        }
        high = next;
    }
}

/* ------------------------------------------------------------------ holes */

/* A hole is looked for in [bottom, top). While the search goes down, top sinks to the start of the lowest area that it
 * has passed; while it goes up, bottom rises to the end of the highest. */
struct search {
    const struct c2_tree *tree;
    uint64_t bottom, top, bytes;
};

static bool areas_fits(const struct search *search, uint64_t bottom, uint64_t top)
{
    C2_PROMISE(search->bytes != 0);
    bottom = larger(bottom, search->bottom);
    top = top < search->top ? top : search->top;
    return top >= bottom && top - bottom >= search->bytes;
}

static void sink(struct search *search, uint64_t to) { search->top = to < search->top ? to : search->top; }

static void areas_rise(struct search *search, uint64_t to) { search->bottom = larger(to, search->bottom); }

/* Whether there is one above the subtree or inside it, its end being search->top then. Of a subtree that lies inside
 * the range, only a hole that fits is gone after; so no more than the paths to it and to the range's ends are. */
static bool search_down(struct search *search, const struct c2_node *node)
{
    const struct area *area = (const struct area *)node;
    if (!area || area->low >= search->top)
        return false;
    c2_tree_visit(search->tree);
    if (areas_fits(search, area->high, UINT64_MAX))
        return true;
    if (area->widest < search->bytes || area->high <= search->bottom) {
        sink(search, area->low);
        return false;
    }
    if (search_down(search, node->right) || areas_fits(search, area_end(area), UINT64_MAX))
        return true;
    sink(search, area->view.start.v);
    return search_down(search, node->left);
}

/* The same from below: search->bottom is its start. */
static bool search_up(struct search *search, const struct c2_node *node)
{
    const struct area *area = (const struct area *)node;
    if (!area || area->high <= search->bottom)
        return false;
    c2_tree_visit(search->tree);
    if (areas_fits(search, 0, area->low))
        return true;
    if (area->widest < search->bytes || area->low >= search->top) {
        areas_rise(search, area->high);
        return false;
    }
    if (search_up(search, node->left) || areas_fits(search, 0, area->view.start.v))
        return true;
    areas_rise(search, area_end(area));
    return search_up(search, node->right);
}

uint64_t areas_gap_down(const struct mmu_areas *areas, uint64_t bottom, uint64_t top, uint64_t bytes)
{
    C2_ASSERT(bytes != 0 && bottom <= top);
    struct search search = {&areas->tree, bottom, top, bytes};
    return search_down(&search, areas->tree.root) || areas_fits(&search, 0, UINT64_MAX) ? search.top - bytes : 0;
}

uint64_t areas_gap_up(const struct mmu_areas *areas, uint64_t bottom, uint64_t top, uint64_t bytes)
{
    C2_ASSERT(bytes != 0 && bottom <= top);
    struct search search = {&areas->tree, bottom, top, bytes};
    return search_up(&search, areas->tree.root) || areas_fits(&search, 0, UINT64_MAX) ? search.bottom : 0;
}

const struct mmu_area *mmu_area_at(const struct mmu_areas *areas, struct guest_va va, bool next)
{
    const struct area *area = next ? areas_find(areas, va.v) : areas_at(areas, va.v);
    return area ? &area->view : NULL;
}

/* ------------------------------------------------------------------ check */

static void check_area(const struct area *area, const struct area *before)
{
    C2_ASSERT(area->view.bytes != 0 && area->node.key == area->view.start.v);
    C2_ASSERT((area->view.start.v | area->view.bytes | area->view.offset) % C2_PAGE_BYTES == 0);
    C2_ASSERT(area_end(area) <= MMU_ADDRESSES_END);
    C2_ASSERT(!area->view.prot || !areas_meet_tables(area->view.start.v, area_end(area)));
    C2_ASSERT(!area->backing || area->backing->references > 0);
    C2_ASSERT(!before || area_end(before) <= area->view.start.v);
    C2_ASSERT(!before || !areas_alike(before, area));
}

static void check_summary(const struct area *area)
{
    struct area again = *area;
    summarize(&again.node);
    C2_ASSERT(again.low == area->low && again.high == area->high && again.widest == area->widest);
}

void areas_check(const struct mmu_areas *areas)
{
    c2_tree_check(&areas->tree);
    const struct area *before = NULL;
    for (const struct area *area = areas_find(areas, 0); area; area = areas_next(areas, area)) {
        check_area(area, before);
        check_summary(area);
        before = area;
    }
}
