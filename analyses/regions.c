/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * regions: the mapped memory of the guest, by address, each piece with what objects.c knows of it.
 *
 * Model
 *   Disjoint ranges in an ordered tree. What is put in takes the place of what was there; what is cut out of the middle
 *   of a region leaves two. Unlike the areas of mmu, neighbours that are alike stay apart: each mapping is an object.
 * Cost
 *   Logarithmic in the number of regions, for each region concerned: programs have tens of thousands.
 */
#include "analyses/regions_priv.h"

static struct region *region_of(struct c2_node *node) { return (struct region *)node; }

uint64_t regions_start(const struct region *region) { return region->node.key; }

struct region *regions_at(const struct regions *regions, uint64_t va)
{
    struct region *region = region_of(c2_tree_at_or_below(&regions->tree, va));
    return region && va < region->end ? region : NULL;
}

struct region *regions_next(const struct regions *regions, const struct region *region)
{
    return region_of(region ? c2_tree_above(&regions->tree, regions_start(region)) : c2_tree_first(&regions->tree));
}

static struct region *regions_first_in(const struct regions *regions, uint64_t start, uint64_t end)
{
    struct region *region = regions_at(regions, start);
    if (!region)
        region = region_of(c2_tree_above(&regions->tree, start));
    return region && regions_start(region) < end ? region : NULL;
}

static void analyses_regions_put(struct regions *regions, struct region *region, uint64_t start, uint64_t end)
{
    region->node.key = start;
    region->end = end;
    c2_tree_insert(&regions->tree, &region->node);
}

/* What is left of a region of which [start, end) goes. *spare is for its second piece, and used up then. */
static void cut_one(struct regions *regions, struct region *region, uint64_t start, uint64_t end, struct region **spare)
{
    const uint64_t first = regions_start(region), last = region->end;
    c2_tree_remove(&regions->tree, &region->node);
    if (first < start && end < last) {
        **spare = *region;
        analyses_regions_put(regions, *spare, end, last);
        *spare = NULL;
    }
    if (first < start)
        analyses_regions_put(regions, region, first, start);
    else if (end < last)
        analyses_regions_put(regions, region, end, last);
    else
        c2_free(region);
}

enum c2_status regions_cut(struct regions *regions, uint64_t start, uint64_t end, struct c2_error *err)
{
    struct region *spare = c2_alloc(sizeof *spare), *region;
    if (!spare)
        return c2_fail_memory(err, "the table of objects");
    while ((region = regions_first_in(regions, start, end)))
        cut_one(regions, region, start, end, &spare);
    c2_free(spare);
    return C2_OK;
}

enum c2_status regions_put(struct regions *regions, const struct region *contents, uint64_t start, uint64_t end,
                           struct c2_error *err)
{
    struct region *region = c2_alloc(sizeof *region);
    if (!region)
        return c2_fail_memory(err, "the table of objects");
    enum c2_status status = regions_cut(regions, start, end, err);
    if (status != C2_OK) {
        c2_free(region);
        return status;
    }
    *region = *contents;
    analyses_regions_put(regions, region, start, end);
    return C2_OK;
}

void regions_release(struct regions *regions)
{
    while (regions->tree.root) {
        struct region *region = region_of(regions->tree.root);
        c2_tree_remove(&regions->tree, &region->node);
        c2_free(region);
    }
}

void regions_check(const struct regions *regions)
{
    c2_tree_check(&regions->tree);
    const struct region *region = regions_next(regions, NULL), *next;
    for (; region; region = next) {
        next = regions_next(regions, region);
        C2_ASSERT(regions_start(region) < region->end);
        C2_ASSERT(!next || region->end <= regions_start(next));
    }
}
