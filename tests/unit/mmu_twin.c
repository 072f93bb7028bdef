/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The address space against a slow twin: an array of pages, each with everything about it, and rules written down page
 * by page. Random calls go to both; answers, areas, presence, translations, frames, data and what listeners heard must
 * agree. The twin has a memory for each replica, with its frames and tables.
 */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "unit/mmu_fake_host.h"

#define PAGE C2_PAGE_BYTES
#define FRAMES_MAX 640
#define MEMORIES 2
#define STRIDE 16 /* each call compares one page in so many, and each STRIDE-th call all the rest */
#if defined(__SANITIZE_ADDRESS__) || defined(C2_STRESS)
#define CALLS(n) ((n) / 4) /* the same calls, fewer of them */
#else
#define CALLS(n) (n)
#endif

/* The parts of the window that random calls use; each straddles something. */
static const struct {
    uint64_t start, pages;
} parts[] = {
    {MMU_WINDOW_START, 48},
    {MMU_LOW_BASE - 24 * PAGE, 120}, /* a table of 1 GiB ends inside */
    {MMU_HEAP_BASE, 64},
    {MMU_TABLES_END - 8 * PAGE, 32}, /* the page tables end inside */
    {MMU_MMAP_TOP - 224 * PAGE, 240},
};
#define PART_COUNT (sizeof parts / sizeof parts[0])
#define PAGE_COUNT (48 + 120 + 64 + 32 + 240)

struct twin_page {
    uint64_t va;
    bool mapped, shared, may_write;
    unsigned prot;
    enum mmu_kind kind;
    int object; /* -1 private anonymous; a descriptor; 1000 and more: shared anonymous memory */
    uint64_t offset, size, data;
    unsigned huge; /* 1 advised, 2 advised against */
    bool has_frame, zero[MEMORIES];
    uint64_t frame[MEMORIES];
};
struct twin_table {
    int level; /* 1: of 512 pages ... 3 */
    uint64_t prefix, frame;
};
struct twin_memory {
    struct twin_table tables[64];
    size_t table_count;
    bool taken[FRAMES_MAX], has_zero;
    uint64_t frames, zero_frame;
    struct mmu_config config;
    struct c2_rng placement;
    uint64_t faults, small_pages, zero_pages, zero_copies;
};
struct twin {
    struct twin_page pages[PAGE_COUNT];
    struct twin_memory memory[MEMORIES];
    unsigned memories;
    uint64_t brk;
    int objects;
};

struct world {
    struct both *mmu; /* with a replica for each memory of the twin */
    struct fake_host fake;
    struct twin twin;
    struct c2_rng rng;
    int fd[2]; /* read-write, read-only */
    struct twin_page before[PAGE_COUNT];
    bool heard[PAGE_COUNT], heard_code;
};

/* ------------------------------------------------------------------ the twin: pages */

static struct twin_page *page_at(struct twin *twin, uint64_t va)
{
    size_t index = 0;
    for (size_t i = 0; i < PART_COUNT; i++) {
        if (va >= parts[i].start && va < parts[i].start + parts[i].pages * PAGE)
            return &twin->pages[index + (va - parts[i].start) / PAGE];
        index += parts[i].pages;
    }
    return NULL;
}

static bool mapped(struct twin *twin, uint64_t va)
{
    struct twin_page *page = page_at(twin, va);
    return page && page->mapped;
}

/* Both descriptors are of one file. */
static bool same_object(int a, int b) { return a == b || (a >= 0 && a < 1000 && b >= 0 && b < 1000); }

/* Whether va and the page above belong to one area. */
static bool joined(struct twin *twin, uint64_t va)
{
    if (!mapped(twin, va) || !mapped(twin, va + PAGE))
        return false;
    const struct twin_page *a = page_at(twin, va), *b = page_at(twin, va + PAGE);
    return a->prot == b->prot && a->shared == b->shared && a->kind == b->kind && same_object(a->object, b->object) &&
           a->may_write == b->may_write && a->huge == b->huge && (a->object < 0 || a->offset + PAGE == b->offset);
}

static uint64_t area_top(struct twin *twin, uint64_t va)
{
    while (joined(twin, va))
        va += PAGE;
    return va + PAGE;
}

static bool all_free(struct twin *twin, uint64_t start, uint64_t end)
{
    for (uint64_t va = start; va < end; va += PAGE) {
        if (mapped(twin, va))
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------ the twin: frames and tables */

static bool nth_free(const struct twin_memory *memory, uint64_t n, uint64_t *frame)
{
    for (uint64_t i = 0; i < memory->frames; i++) {
        if (!memory->taken[i] && n-- == 0) {
            *frame = i;
            return true;
        }
    }
    return false;
}

static uint64_t free_frames(const struct twin_memory *memory)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < memory->frames; i++)
        count += !memory->taken[i];
    return count;
}

static bool choose_frame(struct twin_memory *memory, uint64_t va, uint64_t *frame)
{
    const struct mmu_config *config = &memory->config;
    uint64_t count = free_frames(memory);
    if (count == 0)
        return false;
    switch (config->placement) {
    case MMU_SEQUENTIAL:
        return nth_free(memory, 0, frame);
    case MMU_RANDOM:
        return nth_free(memory, c2_rng_below(&memory->placement, count), frame);
    case MMU_IDENTITY:
        *frame = va / PAGE % memory->frames;
        return !memory->taken[*frame];
    case MMU_COLORED:
    case MMU_SAME_COLOR:
        *frame = config->placement == MMU_COLORED ? va / PAGE % config->colors : config->color;
        for (; *frame < memory->frames; *frame += config->colors) {
            if (!memory->taken[*frame])
                return true;
        }
        return false;
    case MMU_BUDDY: /* have twins of their own: mmu_buddy.c, mmu_pagemap.c */
    case MMU_MAP:
        return false;
    }
    return false;
}

static bool under_table(const struct twin_page *page, int level, uint64_t prefix)
{
    return page->has_frame && page->va >> (12 + 9 * level) == prefix;
}

/* Tables that no page needs are gone. */
static void drop_tables_of(struct twin_memory *memory, const struct twin_page *pages)
{
    for (size_t i = 0; i < memory->table_count;) {
        const struct twin_table *table = &memory->tables[i];
        bool needed = false;
        for (size_t k = 0; k < PAGE_COUNT && !needed; k++)
            needed = under_table(&pages[k], table->level, table->prefix);
        if (needed) {
            i++;
            continue;
        }
        memory->taken[table->frame] = false;
        memory->tables[i] = memory->tables[--memory->table_count];
    }
}

static void drop_tables(struct twin *twin)
{
    for (unsigned m = 0; m < twin->memories; m++)
        drop_tables_of(&twin->memory[m], twin->pages);
}

static bool take_top(struct twin_memory *memory, uint64_t *frame)
{
    uint64_t count = free_frames(memory);
    if (count == 0 || !nth_free(memory, count - 1, frame))
        return false;
    memory->taken[*frame] = true;
    return true;
}

/* The tables on the way to va, upper ones first, each on the highest free frame. */
static bool add_tables(struct twin_memory *memory, uint64_t va)
{
    for (int level = 3; level >= 1; level--) {
        uint64_t prefix = va >> (12 + 9 * level), frame;
        bool there = false;
        for (size_t i = 0; i < memory->table_count; i++)
            there |= memory->tables[i].level == level && memory->tables[i].prefix == prefix;
        if (there)
            continue;
        if (!take_top(memory, &frame))
            return false;
        memory->tables[memory->table_count++] = (struct twin_table){level, prefix, frame};
    }
    return true;
}

static void take_frame_away(struct twin *twin, struct twin_page *page)
{
    for (unsigned m = 0; m < twin->memories && page->has_frame; m++) {
        if (!page->zero[m])
            twin->memory[m].taken[page->frame[m]] = false;
        page->zero[m] = false;
    }
    page->has_frame = false;
}

/* ------------------------------------------------------------------ the twin: calls */

static bool in_tables(uint64_t start, uint64_t bytes)
{
    return start + bytes > MMU_TABLES_BASE && start < MMU_TABLES_END;
}

static int64_t usable(uint64_t start, uint64_t bytes)
{
    if (start < MMU_WINDOW_START)
        return -EPERM;
    return start + bytes > MMU_WINDOW_END || in_tables(start, bytes) ? -ENOMEM : 0;
}

/* Where no rights are asked for, page tables may lie. */
static bool is_reservation(const struct mmu_request *request)
{
    return !request->prot && !request->shared && request->host_fd < 0 && request->kind == MMU_ANONYMOUS;
}

static void twin_unmap(struct twin *twin, uint64_t start, uint64_t end)
{
    for (uint64_t va = start; va < end; va += PAGE) {
        struct twin_page *page = page_at(twin, va);
        if (page && page->mapped) {
            take_frame_away(twin, page);
            *page = (struct twin_page){.va = va};
        }
    }
    drop_tables(twin);
}

/* Answers 0 when the range lies outside what the twin knows: then the call is not made at all. */
static uint64_t twin_gap(struct twin *twin, uint64_t bytes, enum mmu_zone zone)
{
    if (zone == MMU_ZONE_LOW) {
        uint64_t top = parts[1].start + parts[1].pages * PAGE;
        for (uint64_t va = MMU_LOW_BASE; va + bytes <= top; va += PAGE) {
            if (all_free(twin, va, va + bytes))
                return va;
        }
        return 0;
    }
    for (uint64_t va = MMU_MMAP_TOP - bytes; va >= parts[4].start; va -= PAGE) {
        if (all_free(twin, va, va + bytes))
            return va;
    }
    return 0;
}

static int64_t twin_map(struct world *world, const struct mmu_request *request)
{
    struct twin *twin = &world->twin;
    uint64_t bytes = request->bytes, start = request->address;
    bool read_only = request->shared && request->host_fd >= 0 && request->host_fd == world->fd[1];
    if (request->fixed || request->no_replace) {
        int64_t refused = is_reservation(request) && in_tables(start, bytes) ? 0 : usable(start, bytes);
        if (refused)
            return refused;
        if (request->no_replace && !all_free(twin, start, start + bytes))
            return -EEXIST;
    } else if (start == 0 || usable(start, bytes) != 0 || !all_free(twin, start, start + bytes)) {
        start = twin_gap(twin, bytes, request->zone);
    }
    if (read_only && (request->prot & MMU_WRITE))
        return -EACCES;
    twin_unmap(twin, start, start + bytes);
    int object = request->host_fd >= 0 ? request->host_fd : request->shared ? 1000 + twin->objects++ : -1;
    for (uint64_t at = 0; at < bytes; at += PAGE) {
        *page_at(twin, start + at) = (struct twin_page){.va = start + at,
                                                        .mapped = true,
                                                        .shared = request->shared,
                                                        .may_write = !read_only,
                                                        .prot = request->prot,
                                                        .kind = request->kind,
                                                        .object = object,
                                                        .offset = request->offset + at,
                                                        .size = request->host_fd >= 0 ? 10 * PAGE
                                                                : request->shared     ? bytes
                                                                                      : UINT64_MAX};
    }
    return (int64_t)start;
}

static int64_t twin_protect(struct twin *twin, uint64_t start, uint64_t bytes, unsigned prot)
{
    for (uint64_t va = start; va < start + bytes; va += PAGE) {
        if (!mapped(twin, va))
            return -ENOMEM;
        if ((prot & MMU_WRITE) && !page_at(twin, va)->may_write)
            return -EACCES;
        if (prot && in_tables(va, PAGE))
            return -ENOMEM;
        page_at(twin, va)->prot = prot;
    }
    return 0;
}

static int64_t twin_discard(struct twin *twin, uint64_t start, uint64_t bytes)
{
    int64_t answer = 0;
    for (uint64_t va = start; va < start + bytes; va += PAGE) {
        struct twin_page *page = page_at(twin, va);
        if (!page || !page->mapped) {
            answer = -ENOMEM;
        } else if (!page->shared) {
            take_frame_away(twin, page);
            page->data = 0;
        }
    }
    drop_tables(twin);
    return answer;
}

/* The pages above `end` become like the one below it, without data and frame. */
static void twin_extend(struct twin *twin, uint64_t end, uint64_t bytes)
{
    for (uint64_t va = end; va < end + bytes; va += PAGE) {
        struct twin_page *page = page_at(twin, va);
        *page = *page_at(twin, va - PAGE);
        page->va = va;
        page->has_frame = page->zero[0] = page->zero[1] = false;
        page->data = 0;
        page->offset += page->object >= 0 ? PAGE : 0;
    }
}

static bool twin_move(struct twin *twin, uint64_t from, uint64_t to, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at += PAGE) {
        for (unsigned m = 0; m < twin->memories && page_at(twin, from + at)->has_frame; m++) {
            if (!add_tables(&twin->memory[m], to + at)) {
                drop_tables(twin);
                return false;
            }
        }
    }
    for (uint64_t at = 0; at < bytes; at += PAGE) {
        struct twin_page *source = page_at(twin, from + at), *target = page_at(twin, to + at);
        *target = *source;
        target->va = to + at;
        if (target->kind != MMU_FILE)
            target->kind = MMU_ANONYMOUS;
        *source = (struct twin_page){.va = from + at};
    }
    drop_tables(twin);
    return true;
}

/* *known becomes false when the answer lies outside the pages of the twin; then nothing was done. */
static int64_t twin_remap(struct twin *twin, uint64_t old, uint64_t old_bytes, uint64_t new_bytes, bool may_move,
                          bool fixed, uint64_t to, bool *known)
{
    uint64_t keep = old_bytes < new_bytes ? old_bytes : new_bytes;
    if (fixed && !may_move)
        return -EINVAL;
    if (!mapped(twin, old))
        return -EFAULT;
    if (!fixed && new_bytes <= old_bytes) {
        twin_unmap(twin, old + new_bytes, old + old_bytes);
        return (int64_t)old;
    }
    uint64_t top = area_top(twin, old);
    if (top < old + keep)
        return -EFAULT;
    if (in_tables(old, keep))
        return -ENOMEM;
    if (fixed) {
        if (usable(to, new_bytes) != 0)
            return usable(to, new_bytes);
        if (to < old + old_bytes && old < to + new_bytes)
            return -EINVAL;
        twin_unmap(twin, to, to + new_bytes);
        twin_unmap(twin, old + keep, old + old_bytes);
    } else {
        uint64_t growth = new_bytes - old_bytes;
        if (top == old + old_bytes && usable(top, growth) == 0 && all_free(twin, top, top + growth)) {
            *known = page_at(twin, top + growth - PAGE);
            if (*known)
                twin_extend(twin, top, growth);
            return (int64_t)old;
        }
        if (!may_move)
            return -ENOMEM;
        to = twin_gap(twin, new_bytes, MMU_ZONE_HIGH);
        *known = to != 0;
        if (!*known)
            return 0;
    }
    if (!twin_move(twin, old, to, keep))
        return -ENOMEM;
    if (new_bytes > keep)
        twin_extend(twin, to + keep, new_bytes - keep);
    return (int64_t)to;
}

static uint64_t twin_brk(struct twin *twin, uint64_t address)
{
    uint64_t old_end = (twin->brk + PAGE - 1) / PAGE * PAGE, new_end = (address + PAGE - 1) / PAGE * PAGE;
    if (address < MMU_HEAP_BASE || address > MMU_TABLES_BASE)
        return twin->brk;
    if (new_end > old_end) {
        if (new_end - old_end > twin->memory[0].config.physical_bytes || !all_free(twin, old_end, new_end))
            return twin->brk;
        for (uint64_t va = old_end; va < new_end; va += PAGE)
            *page_at(twin, va) = (struct twin_page){.va = va,
                                                    .mapped = true,
                                                    .may_write = true,
                                                    .kind = MMU_HEAP,
                                                    .prot = MMU_READ | MMU_WRITE,
                                                    .object = -1,
                                                    .size = UINT64_MAX};
    } else {
        twin_unmap(twin, new_end, old_end);
    }
    twin->brk = address;
    return address;
}

/* A frame of its own, or before the first write the zero page's. */
static bool place(struct twin_memory *memory, struct twin_page *page, unsigned m, bool writes)
{
    bool zero = memory->config.zero_page && !writes && page->object == -1;
    if (!add_tables(memory, page->va))
        return false;
    if (zero && !memory->has_zero && !take_top(memory, &memory->zero_frame))
        return false;
    memory->has_zero |= zero;
    if (zero)
        page->frame[m] = memory->zero_frame;
    else if (!choose_frame(memory, page->va, &page->frame[m]))
        return false;
    memory->taken[page->frame[m]] = true;
    page->zero[m] = zero;
    memory->zero_pages += zero;
    memory->small_pages += !zero;
    return true;
}

static enum mmu_fault first_touch(struct twin *twin, struct twin_page *page, bool writes)
{
    for (unsigned m = 0; m < twin->memories; m++) {
        if (!place(&twin->memory[m], page, m, writes)) {
            drop_tables(twin);
            return MMU_FAULT_FAILED;
        }
        twin->memory[m].faults++;
    }
    page->has_frame = true;
    return MMU_FAULT_NONE;
}

static enum mmu_fault write_present(struct twin *twin, struct twin_page *page)
{
    for (unsigned m = 0; m < twin->memories; m++) {
        struct twin_memory *memory = &twin->memory[m];
        uint64_t frame;
        if (!page->zero[m])
            continue;
        if (!choose_frame(memory, page->va, &frame))
            return MMU_FAULT_FAILED;
        memory->taken[frame] = true;
        page->frame[m] = frame;
        page->zero[m] = false;
        memory->small_pages++;
        memory->zero_copies++;
    }
    return MMU_FAULT_NONE;
}

static enum mmu_fault twin_touch(struct twin *twin, uint64_t va, enum mmu_access access)
{
    struct twin_page *page = page_at(twin, va / PAGE * PAGE);
    if (!page || !page->mapped)
        return MMU_FAULT_UNMAPPED;
    bool guessed = access == MMU_ACCESS_UNKNOWN && page->has_frame && page->zero[0] && page->prot & MMU_WRITE;
    access = guessed ? MMU_ACCESS_WRITE : access;
    unsigned needed = access == MMU_ACCESS_WRITE ? MMU_WRITE : access == MMU_ACCESS_EXEC ? MMU_EXEC : 7;
    if (!(page->prot & needed))
        return MMU_FAULT_DENIED;
    if (page->has_frame && access == MMU_ACCESS_UNKNOWN)
        return MMU_FAULT_DENIED;
    if (page->has_frame)
        return access == MMU_ACCESS_WRITE ? write_present(twin, page) : MMU_FAULT_NONE;
    if (page->offset >= page->size)
        return MMU_FAULT_BUS;
    return first_touch(twin, page, access == MMU_ACCESS_WRITE);
}

static void twin_advise(struct twin *twin, uint64_t start, uint64_t bytes, bool huge)
{
    for (uint64_t va = start; va < start + bytes; va += PAGE) {
        if (mapped(twin, va))
            page_at(twin, va)->huge = huge ? 1 : 2;
    }
}

/* ------------------------------------------------------------------ comparing */

#define REQUIRE(cond) \
    do { \
        if (!(cond)) { \
            snprintf(difference, sizeof difference, "line %d: %s", __LINE__, #cond); \
            return false; \
        } \
    } while (0)
static char difference[200];

static bool same_area(struct twin *twin, const struct mmu_area *area, uint64_t start)
{
    const struct twin_page *page = page_at(twin, start);
    REQUIRE(area);
    REQUIRE(area->start.v == start);
    REQUIRE(area->bytes == area_top(twin, start) - start);
    REQUIRE(area->prot == page->prot && area->shared == page->shared && area->kind == page->kind);
    REQUIRE(!!area->path == (page->kind == MMU_FILE));
    REQUIRE(page->kind != MMU_FILE || area->offset == page->offset);
    return true;
}

/* The list of areas is the runs of joined pages. */
static bool same_areas(struct world *world)
{
    struct guest_va from = {0};
    for (size_t i = 0; i < PAGE_COUNT; i++) {
        const struct twin_page *page = &world->twin.pages[i];
        if (!page->mapped || joined(&world->twin, page->va - PAGE))
            continue;
        const struct mmu_area *area = both_area_at(world->mmu, from, true);
        if (!same_area(&world->twin, area, page->va))
            return false;
        from.v = area->start.v + area->bytes;
    }
    REQUIRE(!both_area_at(world->mmu, from, true));
    return true;
}

static bool same_translation(const struct mmu_replica *replica, const struct twin_page *page, unsigned m)
{
    struct guest_va va = {page->va + 0x123};
    struct guest_pa pa;
    bool present = page->has_frame && page->prot != 0;
    REQUIRE(mmu_replica_translate(replica, va, &pa) == present);
    REQUIRE(!present || pa.v == page->frame[m] * PAGE + 0x123);
    return true;
}

/* What was only read so far is not to be written at once where one of the memories has the zero page. */
static bool same_presence(const struct mmu *mmu, const struct twin_page *page)
{
    struct guest_va va = {page->va + 0x123};
    bool present = page->has_frame && page->prot != 0;
    REQUIRE(mmu_ready(mmu, va, MMU_ACCESS_READ) == present);
    REQUIRE(mmu_ready(mmu, va, MMU_ACCESS_WRITE) == (present && (page->prot & MMU_WRITE) && !page->zero[0]));
    REQUIRE(mmu_ready(mmu, va, MMU_ACCESS_EXEC) == (present && (page->prot & MMU_EXEC)));
    return true;
}

static bool same_page(struct world *world, const struct twin_page *page)
{
    for (unsigned m = 0; m < world->twin.memories; m++)
        if (!same_translation(world->mmu->replicas[m], page, m))
            return false;
    if (!same_presence(world->mmu->mmu, page))
        return false;
    const struct fake_page *memory = fake_at(&world->fake, page->va);
    REQUIRE(!!memory == page->mapped);
    if (!memory)
        return true;
    REQUIRE(memory->data == page->data && memory->shared == page->shared);
    REQUIRE(memory->fd == (page->object >= 1000 ? -1 : page->object));
    REQUIRE(page->object < 0 || memory->offset == page->offset);
    return true;
}

/* Listeners of translations were notified of each that changed. */
static bool was_told(const struct world *world, size_t i)
{
    const struct twin_page *was = &world->before[i], *is = &world->twin.pages[i];
    if (!was->has_frame)
        return true;
    unsigned prot_was = mmu_effective(was->prot);
    bool moved = is->has_frame && is->frame[0] != was->frame[0];
    unsigned prot_is = is->has_frame && !moved ? mmu_effective(is->prot) : 0;
    REQUIRE(!(prot_was & ~prot_is) || world->heard[i]);
    REQUIRE(!(prot_was & ~prot_is & MMU_EXEC) || world->heard_code);
    return true;
}

static bool same_counts(const struct mmu_replica *replica, const struct twin_memory *memory, uint64_t present,
                        uint64_t zero)
{
    const struct mmu_counts *counts = mmu_replica_counts(replica);
    REQUIRE(counts->small_present == present && counts->zero_present == zero);
    REQUIRE(counts->table_pages == memory->table_count + 1);
    REQUIRE(counts->small_pages == memory->small_pages && counts->faults == memory->faults);
    REQUIRE(counts->zero_pages == memory->zero_pages && counts->zero_copies == memory->zero_copies);
    return true;
}

static bool same_frames(const struct mmu_replica *replica, const struct twin_memory *memory)
{
    REQUIRE(frames_taken(replica->space.frames) == memory->frames - free_frames(memory));
    for (uint64_t frame = 0; frame < memory->frames; frame++)
        REQUIRE(frames_is_taken(replica->space.frames, frame) == memory->taken[frame]);
    return true;
}

/* Every call looks at a part of the pages, the next one at the next; now and then at all there is. */
static bool same(struct world *world, uint64_t call)
{
    struct twin *twin = &world->twin;
    uint64_t present = 0, zero[MEMORIES] = {0};
    for (size_t i = 0; i < PAGE_COUNT; i++) {
        const struct twin_page *page = &twin->pages[i];
        bool there = page->has_frame && page->prot != 0;
        present += there;
        zero[0] += there && page->zero[0];
        zero[1] += there && page->zero[1];
        if ((i % STRIDE == call % STRIDE && !same_page(world, page)) || !was_told(world, i))
            return false;
    }
    bool whole = call % STRIDE == 0;
    for (unsigned m = 0; m < twin->memories; m++) {
        const struct mmu_replica *replica = world->mmu->replicas[m];
        const struct twin_memory *memory = &twin->memory[m];
        if (!same_counts(replica, memory, present, zero[m]) || (whole && !same_frames(replica, memory)))
            return false;
    }
    const struct mmu_usage usage = mmu_usage(world->mmu->mmu);
    REQUIRE(usage.resident_bytes == (present - zero[0]) * PAGE && usage.faults == twin->memory[0].faults);
    REQUIRE(usage.table_bytes == (twin->memory[0].table_count + 1) * PAGE);
    return !whole || same_areas(world);
}

/* ------------------------------------------------------------------ listening */

static void mark(struct world *world, bool *heard, uint64_t start, uint64_t bytes)
{
    C2_ASSERT(start % PAGE == 0 && bytes % PAGE == 0 && bytes > 0);
    for (size_t i = 0; i < PAGE_COUNT; i++)
        heard[i] |= world->twin.pages[i].va - start < bytes;
}

static void hear_after(void *self, struct guest_va start, uint64_t bytes, bool code)
{
    struct world *world = self;
    mark(world, world->heard, start.v, bytes);
    world->heard_code |= code;
}

/* ------------------------------------------------------------------ random calls */

static uint64_t below(struct world *world, uint64_t limit) { return c2_rng_below(&world->rng, limit); }

/* A range of at most `most` pages inside one part. */
static uint64_t pick_range(struct world *world, uint64_t most, uint64_t *bytes)
{
    size_t part = below(world, PART_COUNT);
    uint64_t first = below(world, parts[part].pages), left = parts[part].pages - first;
    *bytes = (1 + below(world, left < most ? left : most)) * PAGE;
    return parts[part].start + first * PAGE;
}

static unsigned pick_prot(struct world *world)
{
    static const unsigned prots[] = {3, 3, 3, 1, 5, 7, 0, 2, 4};
    return prots[below(world, sizeof prots / sizeof prots[0])];
}

static bool random_map(struct world *world)
{
    struct mmu_request request = {.host_fd = -1, .prot = pick_prot(world)};
    request.address = pick_range(world, 14, &request.bytes);
    if (below(world, 2) == 0) {
        request.host_fd = world->fd[below(world, 2)];
        request.kind = MMU_FILE;
        request.path = "/some/file";
        request.offset = below(world, 8) * PAGE;
    } else if (below(world, 8) == 0) {
        request.kind = MMU_STACK;
    }
    request.shared = below(world, 3) == 0;
    switch (below(world, 6)) {
    case 0:
        request.address = 0;
        break;
    case 1: /* a hint */
        break;
    case 2:
        request.no_replace = true;
        break;
    default:
        request.fixed = true;
    }
    request.zone = below(world, 3) == 0 ? MMU_ZONE_LOW : MMU_ZONE_HIGH;
    if (below(world, 50) == 0) /* reaches out of the window, or into the tables */
        request.address = below(world, 2) ? MMU_WINDOW_START - PAGE : MMU_TABLES_END - PAGE;
    bool placed = request.fixed || request.no_replace;
    if (!placed && twin_gap(&world->twin, request.bytes, request.zone) == 0)
        return true;
    int64_t expected = twin_map(world, &request);
    REQUIRE(both_map(world->mmu, &request) == expected);
    return true;
}

static bool random_unmap(struct world *world)
{
    uint64_t bytes, start = pick_range(world, 10, &bytes);
    twin_unmap(&world->twin, start, start + bytes);
    REQUIRE(both_unmap(world->mmu, start, bytes - below(world, PAGE)) == 0);
    return true;
}

static bool random_protect(struct world *world)
{
    uint64_t bytes, start = pick_range(world, 10, &bytes);
    unsigned prot = pick_prot(world);
    int64_t expected = twin_protect(&world->twin, start, bytes, prot);
    REQUIRE(both_protect(world->mmu, start, bytes, prot) == expected);
    return true;
}

static bool random_discard(struct world *world)
{
    uint64_t bytes, start = pick_range(world, 6, &bytes);
    int64_t expected = twin_discard(&world->twin, start, bytes);
    REQUIRE(both_discard(world->mmu, start, bytes) == expected);
    return true;
}

/* Of a move: a run ends when there is none, and there are tests of that. */
static bool room_for_tables(const struct twin *twin)
{
    for (unsigned m = 0; m < twin->memories; m++)
        if (free_frames(&twin->memory[m]) < 2 * 3)
            return false;
    return true;
}

static bool random_remap(struct world *world)
{
    uint64_t old_bytes, new_bytes, old = pick_range(world, 8, &old_bytes), to = pick_range(world, 8, &new_bytes);
    bool may_move = below(world, 4) != 0, fixed = below(world, 3) == 0, known = true;
    if (mapped(&world->twin, old) && below(world, 2) == 0) {
        old_bytes = area_top(&world->twin, old) - old;
        new_bytes = below(world, 2) ? old_bytes + (1 + below(world, 4)) * PAGE : new_bytes;
    }
    if ((fixed && !page_at(&world->twin, to + new_bytes - PAGE)) || !room_for_tables(&world->twin))
        return true;
    int64_t expected = twin_remap(&world->twin, old, old_bytes, new_bytes, may_move, fixed, to, &known);
    if (known)
        REQUIRE(both_remap(world->mmu, old, old_bytes, new_bytes, may_move, fixed, to) == expected);
    return true;
}

static bool random_brk(struct world *world)
{
    uint64_t address = MMU_HEAP_BASE + below(world, 63 * PAGE);
    if (below(world, 10) == 0)
        address = below(world, 2) ? MMU_HEAP_BASE - 1 : MMU_TABLES_BASE;
    uint64_t expected = twin_brk(&world->twin, address);
    REQUIRE(both_brk(world->mmu, address) == expected);
    return true;
}

static bool random_touches(struct world *world)
{
    uint64_t bytes, start = pick_range(world, 8, &bytes);
    for (uint64_t va = start; va < start + bytes; va += PAGE) {
        enum mmu_access access = (enum mmu_access)below(world, 4);
        struct guest_va at = {va + below(world, PAGE)};
        enum mmu_fault expected = twin_touch(&world->twin, at.v, access);
        REQUIRE(both_touch(world->mmu, at, access, NULL) == expected);
    }
    return true;
}

static bool random_touch_range(struct world *world)
{
    uint64_t bytes, start = pick_range(world, 5, &bytes);
    struct guest_va at = {0};
    start += below(world, PAGE);
    bytes = below(world, bytes);
    enum mmu_fault expected = MMU_FAULT_NONE;
    uint64_t stop = 0;
    for (uint64_t va = start; va < start + bytes && expected == MMU_FAULT_NONE; va = (va / PAGE + 1) * PAGE) {
        expected = twin_touch(&world->twin, va, MMU_ACCESS_WRITE);
        stop = expected == MMU_FAULT_NONE ? 0 : va;
    }
    REQUIRE(both_touch_range(world->mmu, (struct guest_va){start}, bytes, MMU_ACCESS_WRITE, &at, NULL) == expected);
    REQUIRE(at.v == stop);
    return true;
}

static bool random_advise(struct world *world)
{
    uint64_t bytes, start = pick_range(world, 10, &bytes);
    bool huge = below(world, 2);
    twin_advise(&world->twin, start, bytes, huge);
    REQUIRE(both_advise_huge(world->mmu, start, bytes, huge) == 0);
    return true;
}

static bool random_allows(struct world *world)
{
    uint64_t bytes, start = pick_range(world, 4, &bytes);
    unsigned prot = pick_prot(world);
    bool expected = true;
    for (uint64_t va = start; va < start + bytes; va += PAGE)
        expected &= mapped(&world->twin, va) && !(prot & ~mmu_effective(page_at(&world->twin, va)->prot));
    REQUIRE(both_allows(world->mmu, (struct guest_va){start}, bytes, prot) == expected);
    return true;
}

/* Data lies in the host's memory, behind the mmu's back. */
static bool random_write(struct world *world)
{
    struct twin_page *page = &world->twin.pages[below(world, PAGE_COUNT)];
    if (page->mapped) {
        page->data = c2_rng_next(&world->rng);
        fake_at(&world->fake, page->va)->data = page->data;
    }
    return true;
}

static bool (*const calls[])(struct world *world) = {
    random_map,         random_map,    random_unmap,  random_protect, random_protect, random_discard,
    random_remap,       random_remap,  random_brk,    random_touches, random_touches, random_touches,
    random_touch_range, random_advise, random_allows, random_write,   random_write,
};

/* ------------------------------------------------------------------ runs */

static void add_memory(struct twin *twin, const struct mmu_config *config)
{
    struct twin_memory *memory = &twin->memory[twin->memories++];
    memory->config = *config;
    memory->frames = config->physical_bytes / PAGE;
    c2_rng_init(&memory->placement, config->seed, "placement");
    memory->taken[memory->frames - 1] = true; /* the top table */
}

static void open_files(struct world *world)
{
    char path[] = "/tmp/mmu_twin_XXXXXX";
    world->fd[0] = mkstemp(path);
    world->fd[1] = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(world->fd[0] >= 0 && world->fd[1] >= 0);
    unlink(path);
    world->fake.read_only_fd = world->fd[1];
}

static void open_world(struct world *world, const struct mmu_config *configs, unsigned count)
{
    memset(world, 0, sizeof *world);
    c2_rng_init(&world->rng, configs->seed, "test");
    assert_int_equal(fake_create_all(&world->mmu, &world->fake, 64, configs, count, NULL), C2_OK);
    open_files(world);
    struct twin *twin = &world->twin;
    twin->brk = MMU_HEAP_BASE;
    for (unsigned m = 0; m < count; m++)
        add_memory(twin, &configs[m]);
    size_t index = 0;
    for (size_t i = 0; i < PART_COUNT; i++) {
        for (uint64_t k = 0; k < parts[i].pages; k++)
            twin->pages[index++].va = parts[i].start + k * PAGE;
    }
    struct mmu_listener listener = {.self = world, .after = hear_after};
    assert_int_equal(mmu_replica_listen(world->mmu->replica, listener, NULL), C2_OK);
}

static void close_world(struct world *world)
{
    both_destroy(world->mmu);
    assert_true(world->fake.closed);
    close(world->fd[0]);
    close(world->fd[1]);
}

/* Pages become writable that the twin does not hear of; or the second replica alone loses one. */
static void do_harm(struct world *world)
{
    const struct twin_page *page = &world->twin.pages[below(world, PAGE_COUNT)];
    struct c2_error ignored;
    if (world->twin.memories > 1)
        mmu_replica_apply(world->mmu->replicas[1], STREAM_DISCARDED, (uint64_t[]){page->va, PAGE}, 2, &ignored);
    else
        both_protect(world->mmu, page->va, PAGE, page->prot | MMU_WRITE);
}

/* Returns the call after which the two differ, or `count`. From call `sabotage` on harm is done. */
static uint64_t run(const struct mmu_config *configs, unsigned memories, uint64_t count, uint64_t sabotage)
{
    static struct world world;
    open_world(&world, configs, memories);
    uint64_t call;
    for (call = 0; call < count; call++) {
        memcpy(world.before, world.twin.pages, sizeof world.before);
        memset(world.heard, 0, sizeof world.heard);
        world.heard_code = false;
        if (!calls[below(&world, sizeof calls / sizeof calls[0])](&world))
            break;
        if (call >= sabotage)
            do_harm(&world);
        if (!same(&world, call))
            break;
        if (sabotage == UINT64_MAX && call % (16 * STRIDE) == 0)
            both_check(world.mmu);
    }
    if (sabotage == UINT64_MAX)
        both_check(world.mmu);
    close_world(&world);
    return call;
}

static void compare(enum mmu_placement placement, uint64_t frames, uint64_t seed, uint64_t count)
{
    struct mmu_config config = {.physical_bytes = frames * PAGE,
                                .placement = placement,
                                .colors = 3,
                                .color = 1,
                                .seed = seed,
                                .zero_page = seed % 2};
    uint64_t call = run(&config, 1, count, UINT64_MAX);
    if (call != count)
        fail_msg("%s, seed %llu: call %llu differs: %s", mmu_placement_name(placement), (unsigned long long)seed,
                 (unsigned long long)call, difference);
}

static void sequential_equals_twin(void **state)
{
    (void)state;
    compare(MMU_SEQUENTIAL, 512, 1, CALLS(40000));
    compare(MMU_SEQUENTIAL, 90, 2, CALLS(40000));
    compare(MMU_SEQUENTIAL, 9, 3, CALLS(10000));
}

static void random_equals_twin(void **state)
{
    (void)state;
    compare(MMU_RANDOM, 512, 4, CALLS(40000));
    compare(MMU_RANDOM, 90, 5, CALLS(40000));
}

static void identity_equals_twin(void **state)
{
    (void)state;
    compare(MMU_IDENTITY, 512, 6, CALLS(40000));
    compare(MMU_IDENTITY, 100, 7, CALLS(20000));
}

static void same_color_equals_twin(void **state)
{
    (void)state;
    compare(MMU_SAME_COLOR, 512, 8, CALLS(40000));
    compare(MMU_SAME_COLOR, 120, 9, CALLS(20000));
}

static void colored_equals_twin(void **state)
{
    (void)state;
    compare(MMU_COLORED, 512, 11, CALLS(40000));
    compare(MMU_COLORED, 120, 12, CALLS(20000));
}

static void comparison_can_fail(void **state)
{
    (void)state;
    struct mmu_config config = {.physical_bytes = 512 * PAGE, .seed = 10};
    uint64_t call = run(&config, 1, 2000, 1000);
    assert_in_range(call, 1000, 1100);
    struct mmu_config two[] = {{.physical_bytes = 640 * PAGE, .seed = 10, .huge = MMU_HUGE_NEVER},
                               {.physical_bytes = 640 * PAGE, .seed = 10, .huge = MMU_HUGE_NEVER}};
    call = run(two, 2, 2000, 1000);
    assert_in_range(call, 1000, 1100);
}

/* 640 frames are enough for all pages and their tables, so nothing runs out. */
static void a_million_calls_with_two_replicas(void **state)
{
    (void)state;
    struct mmu_config first = {.physical_bytes = 640 * PAGE, .seed = 20, .huge = MMU_HUGE_NEVER, .zero_page = true};
    for (size_t i = 0; i < 2; i++) {
        struct mmu_config two[] = {first, first};
        two[1].placement = i == 0 ? MMU_RANDOM : MMU_SEQUENTIAL;
        two[1].zero_page = i == 0;
        uint64_t call = run(two, 2, CALLS(500000), UINT64_MAX);
        if (call != CALLS(500000))
            fail_msg("pair %zu: call %llu differs: %s", i, (unsigned long long)call, difference);
    }
}

/* ------------------------------------------------------------------ translating on another thread */

#define SHARED_PAGES 20000
static bool reader_saw_all;

static void *reader(void *self)
{
    const struct mmu_replica *replica = self;
    uint64_t seen = 0;
    while (seen < SHARED_PAGES) {
        struct guest_pa pa;
        for (uint64_t i = seen; i < SHARED_PAGES; i += 1 + i / 64) {
            if (mmu_replica_translate(replica, (struct guest_va){MMU_PIE_BASE + i * PAGE}, &pa))
                C2_ASSERT(pa.v == i * PAGE);
        }
        while (seen < SHARED_PAGES &&
               mmu_replica_translate(replica, (struct guest_va){MMU_PIE_BASE + seen * PAGE}, &pa))
            seen++;
    }
    reader_saw_all = true;
    return NULL;
}

/* A page is absent or right, never half. */
static void another_thread_translates(void **state)
{
    (void)state;
    struct mmu_config config = {.physical_bytes = 1 << 30, .huge = MMU_HUGE_NEVER};
    struct both *mmu;
    static struct fake_host fake;
    pthread_t thread;
    assert_int_equal(fake_create(&mmu, &fake, 64, &config, NULL), C2_OK);
    assert_true(fake_anonymous(mmu, MMU_PIE_BASE, SHARED_PAGES, MMU_READ) > 0);
    reader_saw_all = false;
    assert_int_equal(pthread_create(&thread, NULL, reader, mmu->replica), 0);
    for (uint64_t i = 0; i < SHARED_PAGES; i++)
        assert_int_equal(both_touch(mmu, (struct guest_va){MMU_PIE_BASE + i * PAGE}, MMU_ACCESS_READ, NULL), 0);
    pthread_join(thread, NULL);
    assert_true(reader_saw_all);
    both_destroy(mmu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequential_equals_twin),
        cmocka_unit_test(random_equals_twin),
        cmocka_unit_test(identity_equals_twin),
        cmocka_unit_test(same_color_equals_twin),
        cmocka_unit_test(colored_equals_twin),
        cmocka_unit_test(comparison_can_fail),
        cmocka_unit_test(a_million_calls_with_two_replicas),
        cmocka_unit_test(another_thread_translates),
    };
    return cmocka_run_group_tests_name("mmu_twin", tests, NULL, NULL);
}
