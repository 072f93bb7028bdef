/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * objects: what lies at an address of the guest.
 *
 * Model
 *   The first of these that holds the address:
 *     a live block of the allocator (heap)   told by marks in the stream: malloc#N is the N-th allocation of the run;
 *     an array of a function that is active  (stack), a thread-local variable: told by marks as well;
 *     a static variable of a mapped file     told by its symbol;
 *     a region of memory                     the stacks, the heap (what the allocator keeps for itself), an anonymous
 *                                            mapping, what is left of a file.
 *   The site of a block is the return address of the call that allocated it and, behind it, those of the functions that
 *   the block was passed on by (stream.h).
 *   Blocks of one allocation site: those of OBJECTS_LARGE bytes and more have owners of their own, the first
 *   OBJECTS_NAMED of them; so have the first OBJECTS_FEW smaller ones. All others share the site's. A site with more
 *   than OBJECTS_FEW small blocks is shown as one object, its small blocks not told apart; that two blocks are not one
 *   is known all the same (objects_found.block).
 *   The stack of a thread other than the first is a mapping until the thread starts, and that thread's until another
 *   one starts there, or it is unmapped. The first OBJECTS_STACKS have owners of their own, all others share one.
 *   An address keeps its owner until the block is freed or the memory unmapped; counts stay with the owner.
 *
 * Invariants
 *   Owners never move (their counters are lent out) and are never taken back: their number is bounded by the allocation
 *   sites, not by the allocations.
 *
 * Not modelled
 *   A block that shares the owner of a site and only then turns out to be passed on leaves behind what it has counted.
 *   What is in a frame besides large arrays; objects within blocks; thread-local variables of libraries (they lie in a
 *   block or a mapping of libc's);
 *   custom allocators that carve blocks out of larger ones: the larger one is the object.
 */
#include <inttypes.h>
#include <string.h>

#include "analyses/objects_priv.h"
#include "analyses/regions_priv.h"

#define OBJECTS_LARGE 4096u
#define OBJECTS_NAMED 64u
#define OBJECTS_FEW 16u
#define OBJECTS_STACKS 64u

#define CHUNK_LOG2 8u
#define CHUNK (1u << CHUNK_LOG2)
#define NOBODY UINT32_MAX

struct variable {
    uint64_t start, end;
    uint32_t owner;
};

struct module {
    const char *name;
    uint64_t start, end;
    struct variable *variables; /* ascending, disjoint */
    uint32_t count, room;
    uint32_t rest, code; /* owners: of data without a symbol, of instructions; NOBODY: not yet needed */
    bool gone;
};

/* Where blocks of one function of the allocator come back to: a return address behind those of another site. */
struct site {
    uint32_t owner;  /* of blocks without one of their own */
    uint32_t parent; /* NOBODY: the call of the allocator */
    uint64_t address;
    uint32_t allocator;
    uint32_t large, small; /* blocks that got owners of their own */
    bool many;             /* more small ones came than are named */
};

struct objects {
    struct loader_symbols *symbols;
    struct objects_owner **chunks;
    uint32_t owner_count, chunk_count, chunk_room;
    struct regions regions;
    struct module *modules;
    uint32_t module_count, module_room;
    struct c2_map *number_of; /* address of a site -> number */
    struct c2_map *site_of;   /* (parent site or allocator, number) -> index */
    struct site *sites;
    uint32_t site_count, site_room;
    struct c2_map *local_of; /* (layout, number) -> owner */
    struct blocks *blocks;   /* of the allocator; and locals that are there */
    uint64_t allocations, mappings, locals;
    uint32_t heap, stack, tables; /* owners; NOBODY: not yet needed */
    uint32_t stacks, more_stacks; /* of threads that were named; the owner of the others, likewise */
};

/* Room for one more element of an array. */
static enum c2_status objects_grow(void **array, uint32_t *room, uint32_t count, size_t bytes, struct c2_error *err)
{
    return c2_grow(array, room, count, bytes) ? C2_OK : c2_fail_memory(err, "the table of objects");
}
#define GROW(objects, what, room, count, err) \
    objects_grow((void **)&(objects)->what, &(objects)->room, (objects)->count, sizeof *(objects)->what, err)

/* ------------------------------------------------------------------ owners */

struct objects_owner *objects_owner(const struct objects *objects, uint32_t owner)
{
    C2_ASSERT(owner < objects->owner_count);
    return &objects->chunks[owner >> CHUNK_LOG2][owner & (CHUNK - 1)];
}

uint32_t objects_count(const struct objects *objects) { return objects->owner_count; }

static enum c2_status new_owner(struct objects *objects, const struct objects_owner *owner, uint32_t *out,
                                struct c2_error *err)
{
    if (objects->owner_count == objects->chunk_count * CHUNK) {
        enum c2_status status = GROW(objects, chunks, chunk_room, chunk_count, err);
        if (status != C2_OK)
            return status;
        objects->chunks[objects->chunk_count] = c2_calloc(CHUNK, sizeof **objects->chunks);
        if (!objects->chunks[objects->chunk_count])
            return c2_fail_memory(err, "the table of objects");
        objects->chunk_count++;
    }
    *out = objects->owner_count++;
    *objects_owner(objects, *out) = *owner;
    if (!owner->allocated)
        objects_owner(objects, *out)->site_owner = *out;
    return C2_OK;
}

/* *owner, made now if it is not there yet. */
static enum c2_status need_owner(struct objects *objects, uint32_t *owner, enum analyses_kind kind, const char *name,
                                 const char *module, struct c2_error *err)
{
    const struct objects_owner wanted = {.kind = kind, .name = name, .module = module, .blocks = 1};
    return *owner != NOBODY ? C2_OK : new_owner(objects, &wanted, owner, err);
}

enum c2_status objects_tables(struct objects *objects, uint32_t *owner, struct c2_error *err)
{
    enum c2_status status = need_owner(objects, &objects->tables, ANALYSES_TABLES, "page tables", NULL, err);
    *owner = objects->tables;
    return status;
}

/* ------------------------------------------------------------------ life */

enum c2_status objects_create(struct objects **out, struct loader_symbols *symbols, struct c2_error *err)
{
    *out = NULL;
    struct objects *objects = c2_calloc(1, sizeof *objects);
    if (!objects)
        return c2_fail_memory(err, "the table of objects");
    objects->symbols = symbols;
    objects->heap = objects->stack = objects->tables = objects->more_stacks = NOBODY;
    const struct objects_owner elsewhere = {.kind = ANALYSES_MMAP, .name = "memory of unknown origin", .blocks = 1};
    uint32_t first; /* number 0: what no region holds */
    enum c2_status status = new_owner(objects, &elsewhere, &first, err);
    if (status == C2_OK)
        status = c2_map_create(&objects->number_of, err);
    if (status == C2_OK)
        status = c2_map_create(&objects->site_of, err);
    if (status == C2_OK)
        status = c2_map_create(&objects->local_of, err);
    if (status == C2_OK)
        status = blocks_create(&objects->blocks, err);
    if (status != C2_OK) {
        objects_destroy(objects);
        return status;
    }
    *out = objects;
    return C2_OK;
}

void objects_destroy(struct objects *objects)
{
    if (!objects)
        return;
    for (uint32_t i = 0; i < objects->owner_count; i++)
        c2_free(objects_owner(objects, i)->kept);
    for (uint32_t i = 0; i < objects->chunk_count; i++)
        c2_free(objects->chunks[i]);
    for (uint32_t i = 0; i < objects->module_count; i++)
        c2_free(objects->modules[i].variables);
    c2_free(objects->chunks);
    c2_free(objects->modules);
    regions_release(&objects->regions);
    c2_free(objects->sites);
    c2_map_destroy(objects->number_of);
    c2_map_destroy(objects->site_of);
    c2_map_destroy(objects->local_of);
    blocks_destroy(objects->blocks);
    c2_free(objects);
}

/* ------------------------------------------------------------------ modules */

struct adding {
    struct objects *objects;
    struct module *module;
    enum c2_status status;
    struct c2_error *err;
};

static void add_variable(void *self, const struct loader_variable *variable)
{
    struct adding *adding = self;
    struct module *module = adding->module;
    const uint64_t taken = module->count == 0 ? 0 : module->variables[module->count - 1].end;
    const uint64_t start = variable->start > taken ? variable->start : taken, end = variable->start + variable->bytes;
    if (adding->status != C2_OK || start >= end)
        return;
    const struct objects_owner owner = {.kind = ANALYSES_STATIC,
                                        .base = variable->start,
                                        .bytes = variable->bytes,
                                        .blocks = 1,
                                        .name = variable->name,
                                        .variable = variable->id,
                                        .module = module->name};
    uint32_t number;
    adding->status = objects_grow((void **)&module->variables, &module->room, module->count, sizeof *module->variables,
                                  adding->err);
    if (adding->status == C2_OK)
        adding->status = new_owner(adding->objects, &owner, &number, adding->err);
    if (adding->status == C2_OK)
        module->variables[module->count++] = (struct variable){start, end, number};
}

static uint32_t module_around(const struct objects *objects, uint64_t start, uint64_t end)
{
    for (uint32_t i = objects->module_count; i-- > 0;)
        if (!objects->modules[i].gone && objects->modules[i].start <= start && end <= objects->modules[i].end)
            return i;
    return NOBODY;
}

/* The module that this file mapping begins; *out stays when it is no ELF file. */
static enum c2_status find_module(struct objects *objects, const struct mmu_area *area, uint32_t *out,
                                  struct c2_error *err)
{
    struct module module = {.rest = NOBODY, .code = NOBODY};
    uint64_t bytes;
    *out = module_around(objects, area->start.v, area->start.v + area->bytes);
    if (*out != NOBODY || !loader_module_extent(objects->symbols, area->start, &module.start, &bytes, &module.name))
        return C2_OK;
    module.end = module.start + bytes;
    enum c2_status status = GROW(objects, modules, module_room, module_count, err);
    if (status != C2_OK)
        return status;
    *out = objects->module_count++;
    objects->modules[*out] = module;
    struct adding adding = {objects, &objects->modules[*out], C2_OK, err};
    status = loader_variables(objects->symbols, area->start, add_variable, &adding, err);
    return status != C2_OK ? status : adding.status;
}

static const struct variable *find_variable(const struct module *module, uint64_t va, uint64_t *start, uint64_t *end)
{
    uint32_t low = 0, high = module->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (module->variables[middle].start <= va)
            low = middle + 1;
        else
            high = middle;
    }
    if (low != 0 && va < module->variables[low - 1].end)
        return &module->variables[low - 1];
    *start = low == 0 ? 0 : module->variables[low - 1].end;
    *end = low == module->count ? UINT64_MAX : module->variables[low].start;
    return NULL;
}

/* ------------------------------------------------------------------ regions */

static enum c2_status name_mapping(struct objects *objects, const struct mmu_area *area, uint32_t *owner,
                                   struct c2_error *err)
{
    const struct objects_owner mapping = {.kind = ANALYSES_MMAP,
                                          .base = area->start.v,
                                          .bytes = area->bytes,
                                          .blocks = 1,
                                          .number = ++objects->mappings,
                                          .name = "mmap"};
    return new_owner(objects, &mapping, owner, err);
}

static const char *basename_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return !slash ? path : slash + 1;
}

/* A file that is no ELF file: data of its name, which mmu lends only for now. */
static enum c2_status objects_name_file(struct objects *objects, const struct mmu_area *area, uint32_t *owner,
                                        struct c2_error *err)
{
    char *name = c2_strdup(!area->path ? "?" : basename_of(area->path));
    if (!name)
        return c2_fail_memory(err, "the name of a mapped file");
    const struct objects_owner file = {.kind = ANALYSES_FILE,
                                       .base = area->start.v,
                                       .bytes = area->bytes,
                                       .blocks = 1,
                                       .name = name,
                                       .module = name,
                                       .kept = name};
    enum c2_status status = new_owner(objects, &file, owner, err);
    if (status != C2_OK)
        c2_free(name);
    return status;
}

static enum c2_status region_owner(struct objects *objects, const struct mmu_area *area, struct region *region,
                                   struct c2_error *err)
{
    enum c2_status status = C2_OK;
    if (area->kind == MMU_HEAP || area->kind == MMU_STACK) {
        const bool heap = area->kind == MMU_HEAP;
        uint32_t *owner = heap ? &objects->heap : &objects->stack;
        status = need_owner(objects, owner, heap ? ANALYSES_HEAP : ANALYSES_STACK, heap ? "heap" : "stack", NULL, err);
        region->owner = *owner;
        return status;
    }
    if (area->kind == MMU_FILE)
        status = find_module(objects, area, &region->module, err);
    else
        region->module = module_around(objects, area->start.v, area->start.v + area->bytes);
    if (status != C2_OK || region->module == NOBODY)
        return status != C2_OK          ? status
               : area->kind == MMU_FILE ? objects_name_file(objects, area, &region->owner, err)
                                        : name_mapping(objects, area, &region->owner, err);
    struct module *module = &objects->modules[region->module];
    status = need_owner(objects, &module->rest, ANALYSES_FILE, module->name, module->name, err);
    region->owner = module->rest;
    return status;
}

enum c2_status objects_mapped(struct objects *objects, const struct mmu_area *area, struct c2_error *err)
{
    struct region region = {.module = NOBODY, .code = NOBODY};
    enum c2_status status = region_owner(objects, area, &region, err);
    return status != C2_OK ? status
                           : regions_put(&objects->regions, &region, area->start.v, area->start.v + area->bytes, err);
}

static enum c2_status stack_owner(struct objects *objects, const uint64_t *words, uint32_t *out, struct c2_error *err)
{
    if (objects->stacks == OBJECTS_STACKS) {
        enum c2_status status = need_owner(objects, &objects->more_stacks, ANALYSES_STACK, "stacks of further threads",
                                           NULL, err);
        *out = objects->more_stacks;
        return status;
    }
    char *name = c2_format("stack of thread %" PRIu32, (uint32_t)words[0]);
    if (!name)
        return c2_fail_memory(err, "the name of a stack");
    const struct objects_owner stack = {
        .kind = ANALYSES_STACK, .base = words[1], .bytes = words[2], .blocks = 1, .name = name, .kept = name};
    enum c2_status status = new_owner(objects, &stack, out, err);
    objects->stacks += status == C2_OK;
    if (status != C2_OK)
        c2_free(name);
    return status;
}

enum c2_status objects_stack(struct objects *objects, const uint64_t *words, struct c2_error *err)
{
    struct region region = {.module = NOBODY, .code = NOBODY};
    enum c2_status status = stack_owner(objects, words, &region.owner, err);
    return status == C2_OK ? regions_put(&objects->regions, &region, words[1], words[1] + words[2], err) : status;
}

/* A module is gone, its variables with it, when all of it is. */
enum c2_status objects_unmapped(struct objects *objects, uint64_t start, uint64_t bytes, struct c2_error *err)
{
    const uint64_t end = start + bytes;
    for (uint32_t i = 0; i < objects->module_count; i++) {
        struct module *module = &objects->modules[i];
        module->gone |= start <= module->start && end >= module->end;
    }
    blocks_remove_range(objects->blocks, start, end);
    return regions_cut(&objects->regions, start, end, err);
}

/* ------------------------------------------------------------------ blocks of the allocator */

static enum c2_status objects_number_of(struct objects *objects, uint64_t address, uint64_t *out, struct c2_error *err)
{
    if (c2_map_get(objects->number_of, address, out))
        return C2_OK;
    *out = c2_map_count(objects->number_of);
    return c2_map_put(objects->number_of, address, *out, err);
}

static enum c2_status objects_new_site(struct objects *objects, const struct site *wanted, struct c2_error *err)
{
    struct site site = *wanted;
    const struct objects_owner owner = {
        .kind = ANALYSES_HEAP, .allocator = site.allocator, .allocated = true, .site = objects->site_count};
    enum c2_status status = GROW(objects, sites, site_room, site_count, err);
    if (status == C2_OK)
        status = new_owner(objects, &owner, &site.owner, err);
    if (status != C2_OK)
        return status;
    objects_owner(objects, site.owner)->site_owner = site.owner;
    objects->sites[objects->site_count++] = site;
    return C2_OK;
}

/* The site at this address behind another; behind none, of this function of the allocator. */
static enum c2_status site_at(struct objects *objects, uint32_t parent, uint32_t allocator, uint64_t address,
                              uint32_t *out, struct c2_error *err)
{
    const uint64_t before = parent == NOBODY ? allocator : STREAM_ALLOCATORS + (uint64_t)parent;
    uint64_t number, index;
    enum c2_status status = objects_number_of(objects, address, &number, err);
    if (status != C2_OK)
        return status;
    if (!c2_map_get(objects->site_of, before << 32 | number, &index)) {
        const struct site site = {.parent = parent, .allocator = allocator, .address = address};
        index = objects->site_count;
        status = objects_new_site(objects, &site, err);
        if (status == C2_OK)
            status = c2_map_put(objects->site_of, before << 32 | number, index, err);
    }
    *out = (uint32_t)index;
    return status;
}

bool objects_alone(const struct objects *objects, uint32_t owner)
{
    const struct objects_owner *of = objects_owner(objects, owner);
    const struct site *site = &objects->sites[of->site];
    return site->large + site->small + objects_owner(objects, site->owner)->blocks == 1;
}

uint32_t objects_sites(const struct objects *objects, uint32_t owner, uint64_t addresses[STREAM_CALLERS])
{
    const struct objects_owner *of = objects_owner(objects, owner);
    uint32_t count = 0, at = 0;
    for (uint32_t site = of->site; of->allocated && site != NOBODY; site = objects->sites[site].parent)
        count++;
    for (uint32_t site = of->site; of->allocated && site != NOBODY; site = objects->sites[site].parent)
        addresses[count - ++at] = objects->sites[site].address;
    return count;
}

/* The block is one of those that the site's owner has. */
static void objects_share(struct objects *objects, struct site *site, const struct block *block)
{
    struct objects_owner *shared = objects_owner(objects, site->owner);
    site->many |= block->bytes < OBJECTS_LARGE;
    shared->base = shared->blocks == 0 ? block->base : shared->base;
    shared->bytes += block->asked;
    shared->blocks++;
}

/* Whose the next block of a site is: its own, or the site's. */
static enum c2_status block_owner(struct objects *objects, uint32_t number, uint64_t allocation, struct block *block,
                                  struct c2_error *err)
{
    struct site *site = &objects->sites[number];
    const bool small = block->bytes < OBJECTS_LARGE;
    block->owner = site->owner;
    if (!(small ? site->small < OBJECTS_FEW : site->large < OBJECTS_NAMED)) {
        objects_share(objects, site, block);
        return C2_OK;
    }
    *(small ? &site->small : &site->large) += 1;
    const struct objects_owner owner = {.kind = ANALYSES_HEAP,
                                        .allocator = site->allocator,
                                        .allocated = true,
                                        .site = number,
                                        .base = block->base,
                                        .bytes = block->asked,
                                        .blocks = 1,
                                        .number = allocation,
                                        .site_owner = site->owner,
                                        .small = small};
    return new_owner(objects, &owner, &block->owner, err);
}

enum c2_status objects_allocated(struct objects *objects, const uint64_t *words, uint64_t *start, uint64_t *changed,
                                 struct c2_error *err)
{
    const uint32_t allocator = (uint32_t)words[2], further = (uint32_t)(words[2] >> 32);
    C2_ASSERT(allocator < STREAM_ALLOCATORS && further < STREAM_CALLERS);
    uint64_t end = 0;
    uint32_t site = NOBODY;
    struct block block = {.base = words[0], .bytes = words[1] == 0 ? 1 : words[1], .asked = words[1]};
    enum c2_status status = C2_OK;
    objects->allocations++;
    block.number = (uint32_t)objects->allocations + ((uint32_t)objects->allocations == 0);
    for (uint32_t i = 0; i <= further && status == C2_OK; i++)
        status = site_at(objects, site, allocator, words[3 + i], &site, err);
    if (status == C2_OK)
        status = block_owner(objects, site, objects->allocations, &block, err);
    if (status == C2_OK)
        status = blocks_add(objects->blocks, &block, start, &end, err);
    *changed = end - *start;
    return status;
}

/* An owner of one block goes on to another site with it. */
static void move_owner(struct objects *objects, struct objects_owner *owner, uint32_t to)
{
    struct site *from = &objects->sites[owner->site], *site = &objects->sites[to];
    *(owner->small ? &from->small : &from->large) -= 1;
    *(owner->small ? &site->small : &site->large) += 1;
    site->many |= site->small > OBJECTS_FEW;
    owner->site = to;
    owner->site_owner = site->owner;
}

enum c2_status objects_passed(struct objects *objects, uint64_t address, uint64_t site, uint64_t *start,
                              uint64_t *changed, struct c2_error *err)
{
    uint64_t end;
    uint32_t to;
    const struct block *found = blocks_find(objects->blocks, address, start, &end);
    *changed = 0;
    if (!found || found->base != address)
        return C2_OK;
    struct block block = *found;
    struct objects_owner *owner = objects_owner(objects, block.owner);
    enum c2_status status = site_at(objects, owner->site, owner->allocator, site, &to, err);
    if (status != C2_OK)
        return status;
    if (owner->number != 0) {
        move_owner(objects, owner, to);
        return C2_OK;
    }
    owner->bytes -= block.asked;
    owner->blocks--;
    status = block_owner(objects, to, block.number, &block, err);
    if (status == C2_OK)
        status = blocks_add(objects->blocks, &block, start, &end, err);
    *changed = end - *start;
    return status;
}

void objects_freed(struct objects *objects, uint64_t address, uint64_t *start, uint64_t *bytes)
{
    struct block block = {.bytes = 0};
    if (!blocks_remove(objects->blocks, address, &block))
        block.bytes = 0;
    *start = block.base;
    *bytes = block.bytes;
}

/* ------------------------------------------------------------------ arrays on the stack, thread-local variables */

static enum c2_status local_owner(struct objects *objects, const uint64_t *words, uint32_t *out, struct c2_error *err)
{
    const uint64_t key = words[2] << 32 | (uint32_t)words[3];
    const struct objects_owner owner = {.kind = ANALYSES_STACK,
                                        .base = words[0],
                                        .bytes = words[1],
                                        .blocks = 1,
                                        .is_local = true,
                                        .layout = words[2],
                                        .local = (uint32_t)words[3]};
    uint64_t found;
    if (c2_map_get(objects->local_of, key, &found)) {
        *out = (uint32_t)found;
        return C2_OK;
    }
    enum c2_status status = new_owner(objects, &owner, out, err);
    return status == C2_OK ? c2_map_put(objects->local_of, key, *out, err) : status;
}

/* Of one whose size the program decides the largest counts. */
static void note_local(struct objects_owner *owner, const uint64_t *words)
{
    owner->nested |= words[3] >> 32 != 0;
    owner->bytes = words[1] > owner->bytes ? words[1] : owner->bytes;
}

enum c2_status objects_local(struct objects *objects, const uint64_t *words, uint64_t *start, uint64_t *changed,
                             struct c2_error *err)
{
    uint64_t end = 0;
    struct block block = {.base = words[0], .bytes = words[1], .asked = words[1]};
    block.number = 1u << 31 | (uint32_t)++objects->locals;
    enum c2_status status = local_owner(objects, words, &block.owner, err);
    if (status == C2_OK)
        status = blocks_add(objects->blocks, &block, start, &end, err);
    if (status == C2_OK)
        note_local(objects_owner(objects, block.owner), words);
    *changed = end - *start;
    return status;
}

void objects_left(struct objects *objects, uint64_t start, uint64_t bytes)
{
    blocks_remove_range(objects->blocks, start, start + bytes);
}

uint32_t objects_shown(const struct objects *objects, uint32_t owner)
{
    const struct objects_owner *of = objects_owner(objects, owner);
    return of->small && objects->sites[of->site].many ? of->site_owner : owner;
}

/* ------------------------------------------------------------------ finding */

static void objects_narrow(struct objects_found *found, uint64_t start, uint64_t end)
{
    found->start = start > found->start ? start : found->start;
    found->end = end < found->end ? end : found->end;
}

void objects_find(const struct objects *objects, uint64_t va, struct objects_found *out)
{
    uint64_t start, end;
    const struct block *block = blocks_find(objects->blocks, va, &start, &end);
    *out = (struct objects_found){.owner = 0, .start = start, .end = end};
    if (block) {
        out->owner = block->owner;
        out->block = block->number;
        return;
    }
    const struct region *region = regions_at(&objects->regions, va);
    if (!region) {
        objects_narrow(out, va, va + 1);
        return;
    }
    out->owner = region->owner;
    objects_narrow(out, regions_start(region), region->end);
    if (region->module == NOBODY)
        return;
    const struct variable *variable = find_variable(&objects->modules[region->module], va, &start, &end);
    if (variable) {
        out->owner = variable->owner;
        start = variable->start;
        end = variable->end;
    }
    objects_narrow(out, start, end);
}

enum c2_status objects_code(struct objects *objects, uint64_t pc, uint32_t *owner, struct c2_error *err)
{
    struct region *region = regions_at(&objects->regions, pc);
    *owner = 0;
    if (!region)
        return C2_OK;
    const bool in_module = region->module != NOBODY;
    const struct objects_owner *data = objects_owner(objects, region->owner);
    uint32_t *code = in_module ? &objects->modules[region->module].code : &region->code;
    const char *name = in_module ? objects->modules[region->module].name : data->name;
    const bool made = *code == NOBODY;
    enum c2_status status = need_owner(objects, code, ANALYSES_CODE, name, in_module ? name : NULL, err);
    *owner = *code;
    if (status == C2_OK && made)
        objects_owner(objects, *owner)->number = data->number;
    return status;
}

/* ------------------------------------------------------------------ invariants */

void objects_check(const struct objects *objects)
{
    regions_check(&objects->regions);
    for (uint32_t i = 0; i < objects->owner_count; i++)
        C2_ASSERT(objects_owner(objects, i)->site_owner < objects->owner_count);
    blocks_check(objects->blocks);
}
