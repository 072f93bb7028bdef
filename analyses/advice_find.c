/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * advice_find: which of a few objects lies at an address, while a recorded run is played back.
 *
 * Model
 *   malloc#N is the N-th block that the marks tell of, from there to its FREED; an allocation site is every block from
 *   it that is no larger than its mean one (but those whose mark did not tell the whole site yet); a variable and a
 *   mapping are known by their addresses, a block that lies there goes before them. A site's live blocks have
 *   different slots; the one freed last is used again first.
 *
 * Invariants
 *   What is remembered is what finder_look() says; a change forgets all of it.
 *
 * Not modelled
 *   Another mapping or module that comes to lie where the object was: it is taken for the object.
 */
#include <stdlib.h>

#include "analyses/advice.h"
#include "analyses/objects_priv.h"

#define PAGES C2_HOST_SIZE(1024u, 2u)

enum how { BY_RANGE, BY_NUMBER, BY_SITE, BY_LAYOUT };

struct thing {
    enum how how;
    uint64_t start, bytes; /* SITE: bytes of a block at most */
    uint64_t number;       /* LAYOUT: of the variable in it */
    uint64_t layout;
    const struct guest_va *sites;
    uint32_t site_count, allocator;
    uint32_t slots;   /* SITE: used so far */
    uint32_t *unused; /* SITE: of them, those that are free; last in, first out */
    uint32_t unused_count, unused_room;
};

struct range {
    uint64_t start, end;
    uint32_t thing;
};

struct remembered {
    uint64_t vpn, generation; /* valid in this generation only */
    struct finder_found found;
};

struct finder {
    struct thing *things;
    uint32_t thing_count;
    struct range *ranges; /* ascending, disjoint */
    uint32_t range_count;
    struct blocks *blocks;
    uint64_t allocations, generation;
    struct finder_found last;
    struct remembered pages[PAGES];
};

static struct thing advice_find_thing_of(const struct analyses_object *object)
{
    struct thing thing = {.how = BY_RANGE, .start = object->base, .bytes = object->bytes};
    if (object->local) {
        thing.how = BY_LAYOUT;
        thing.number = object->local_number;
        thing.layout = object->layout;
    }
    if (object->kind != ANALYSES_HEAP)
        return thing;
    thing.how = object->blocks > 1 || object->number == 0 ? BY_SITE : BY_NUMBER;
    thing.number = object->number;
    thing.sites = object->sites;
    thing.site_count = object->site_count;
    thing.allocator = object->allocator;
    thing.bytes = object->bytes / object->blocks;
    return thing;
}

static int advice_find_by_start(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start ? 1 : x->thing < y->thing ? -1 : 1;
}

/* Objects of one range come in their order; what an earlier one has, a later one has not. */
static void make_ranges(struct finder *finder)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < finder->thing_count; i++)
        if (finder->things[i].how == BY_RANGE)
            finder->ranges[finder->range_count++] = (struct range){
                finder->things[i].start, finder->things[i].start + finder->things[i].bytes, i};
    qsort(finder->ranges, finder->range_count, sizeof *finder->ranges, advice_find_by_start);
    for (uint32_t i = 0; i < finder->range_count; i++) {
        struct range range = finder->ranges[i];
        const uint64_t taken = kept == 0 ? 0 : finder->ranges[kept - 1].end;
        range.start = range.start < taken ? taken : range.start;
        if (range.start < range.end)
            finder->ranges[kept++] = range;
    }
    finder->range_count = kept;
}

static void advice_find_forget(struct finder *finder)
{
    finder->generation++;
    finder->last = (struct finder_found){.start = 1};
}

enum c2_status finder_create(struct finder **out, const struct analyses_profile_result *profile,
                             const uint32_t *objects, uint32_t count, struct c2_error *err)
{
    *out = NULL;
    struct finder *finder = c2_calloc(1, sizeof *finder);
    if (!finder)
        return c2_fail_memory(err, "the table of objects to be moved");
    finder->things = c2_calloc(count + 1u, sizeof *finder->things);
    finder->ranges = c2_calloc(count + 1u, sizeof *finder->ranges);
    enum c2_status status = blocks_create(&finder->blocks, err);
    if (status == C2_OK && (!finder->things || !finder->ranges))
        status = c2_fail_memory(err, "the table of objects to be moved");
    if (status != C2_OK) {
        finder_destroy(finder);
        return status;
    }
    finder->thing_count = count;
    for (uint32_t i = 0; i < count; i++)
        finder->things[i] = advice_find_thing_of(&profile->objects[objects[i]]);
    make_ranges(finder);
    advice_find_forget(finder);
    *out = finder;
    return C2_OK;
}

void finder_destroy(struct finder *finder)
{
    if (!finder)
        return;
    for (uint32_t i = 0; i < finder->thing_count; i++)
        c2_free(finder->things[i].unused);
    c2_free(finder->things);
    c2_free(finder->ranges);
    blocks_destroy(finder->blocks);
    c2_free(finder);
}

/* ------------------------------------------------------------------ blocks that come and go */

static bool from_site(const struct thing *thing, const uint64_t *words)
{
    if (thing->allocator != (uint32_t)words[2] || thing->site_count != 1 + (words[2] >> 32))
        return false;
    for (uint32_t i = 0; i < thing->site_count; i++)
        if (thing->sites[i].v != (words[3 + i] & ~STREAM_ASSUMED))
            return false;
    return true;
}

/* Whose the block is that was just allocated. */
static uint32_t thing_allocated(const struct finder *finder, const uint64_t *words)
{
    for (uint32_t i = 0; i < finder->thing_count; i++) {
        const struct thing *thing = &finder->things[i];
        if (thing->how == BY_NUMBER && thing->number == finder->allocations)
            return i;
        if (thing->how == BY_SITE && from_site(thing, words) && words[1] <= thing->bytes)
            return i;
    }
    return FINDER_NOTHING;
}

static uint32_t advice_find_take_slot(struct thing *thing)
{
    return thing->unused_count != 0 ? thing->unused[--thing->unused_count] : thing->slots++;
}

static enum c2_status give_slot(struct thing *thing, uint32_t slot, struct c2_error *err)
{
    if (thing->unused_count == thing->unused_room) {
        const uint32_t room = thing->unused_room * 2 + C2_HOST_SIZE(64u, 1u);
        uint32_t *unused = c2_realloc(thing->unused, room * sizeof *unused);
        if (!unused)
            return c2_fail_memory(err, "the table of objects to be moved");
        thing->unused = unused;
        thing->unused_room = room;
    }
    thing->unused[thing->unused_count++] = slot;
    return C2_OK;
}

static enum c2_status advice_find_allocated(struct finder *finder, const uint64_t *words, struct c2_error *err)
{
    uint64_t start, end;
    finder->allocations++;
    const uint32_t thing = thing_allocated(finder, words);
    if (thing == FINDER_NOTHING)
        return C2_OK;
    struct thing *of = &finder->things[thing];
    const struct block block = {.base = words[0],
                                .bytes = words[1] == 0 ? 1 : words[1],
                                .owner = thing,
                                .number = of->how == BY_SITE ? advice_find_take_slot(of) + 1 : 1};
    advice_find_forget(finder);
    return blocks_add(finder->blocks, &block, &start, &end, err);
}

static enum c2_status advice_find_freed(struct finder *finder, uint64_t address, struct c2_error *err)
{
    struct block block;
    if (!blocks_remove(finder->blocks, address, &block))
        return C2_OK;
    advice_find_forget(finder);
    struct thing *of = &finder->things[block.owner];
    return of->how == BY_SITE ? give_slot(of, block.number - 1, err) : C2_OK;
}

void finder_unmapped(struct finder *finder, uint64_t start, uint64_t bytes)
{
    blocks_remove_range(finder->blocks, start, start + bytes);
    advice_find_forget(finder);
}

static enum c2_status advice_find_entered(struct finder *finder, const uint64_t *words, struct c2_error *err)
{
    uint64_t start, end;
    for (uint32_t i = 0; i < finder->thing_count; i++) {
        const struct thing *thing = &finder->things[i];
        const struct block block = {.base = words[0], .bytes = words[1], .owner = i, .number = 1};
        if (thing->how != BY_LAYOUT || thing->layout != words[2] || thing->number != (uint32_t)words[3])
            continue;
        advice_find_forget(finder);
        return blocks_add(finder->blocks, &block, &start, &end, err);
    }
    return C2_OK;
}

static void left(struct finder *finder, uint64_t start, uint64_t bytes)
{
    bool any = false;
    for (uint32_t i = 0; i < finder->thing_count; i++)
        any |= finder->things[i].how == BY_LAYOUT;
    if (any)
        finder_unmapped(finder, start, bytes);
}

enum c2_status finder_mark(struct finder *finder, enum stream_mark mark, const uint64_t *words, struct c2_error *err)
{
    if (mark == STREAM_ALLOCATED)
        return advice_find_allocated(finder, words, err);
    if (mark == STREAM_FREED)
        return advice_find_freed(finder, words[0], err);
    if (mark == STREAM_LOCAL)
        return advice_find_entered(finder, words, err);
    if (mark == STREAM_LEFT)
        left(finder, words[0], words[1]);
    return C2_OK;
}

/* ------------------------------------------------------------------ finding */

/* The ranges that begin at or below va. */
static uint32_t ranges_up_to(const struct finder *finder, uint64_t va)
{
    uint32_t low = 0, high = finder->range_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (finder->ranges[middle].start <= va)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void advice_find_narrow(struct finder_found *found, uint64_t start, uint64_t end)
{
    found->start = start > found->start ? start : found->start;
    found->end = end < found->end ? end : found->end;
}

void finder_look(const struct finder *finder, uint64_t va, struct finder_found *out)
{
    uint64_t start, end;
    const struct block *block = blocks_find(finder->blocks, va, &start, &end);
    *out = (struct finder_found){.thing = FINDER_NOTHING, .start = start, .end = end};
    if (block) {
        *out = (struct finder_found){block->owner, block->number - 1, block->base, block->base,
                                     block->base + block->bytes};
        return;
    }
    const uint32_t at = ranges_up_to(finder, va);
    const struct range *range = at == 0 ? NULL : &finder->ranges[at - 1];
    if (range && va < range->end) {
        out->thing = range->thing;
        out->base = finder->things[range->thing].start;
        advice_find_narrow(out, range->start, range->end);
        return;
    }
    advice_find_narrow(out, !range ? 0 : range->end, at == finder->range_count ? UINT64_MAX : finder->ranges[at].start);
}

static bool advice_find_within(const struct finder_found *found, uint64_t start, uint64_t end)
{
    return found->start <= start && end <= found->end;
}

const struct finder_found *finder_find(struct finder *finder, uint64_t va)
{
    struct remembered *page = &finder->pages[va >> C2_PAGE_SHIFT & (PAGES - 1)];
    if (SHORTCUT(page->generation == finder->generation && page->vpn == va >> C2_PAGE_SHIFT))
        return &page->found;
    if (SHORTCUT(advice_find_within(&finder->last, va, va + 1)))
        return &finder->last;
    finder_look(finder, va, &finder->last);
    const uint64_t start = c2_align_down(va, C2_PAGE_BYTES);
    if (advice_find_within(&finder->last, start, start + C2_PAGE_BYTES))
        *page = (struct remembered){va >> C2_PAGE_SHIFT, finder->generation, finder->last};
    return &finder->last;
}
