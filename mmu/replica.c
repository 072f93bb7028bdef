/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   The marks of memory of a stream, applied one by one to areas, tables and frames of a replica's own. What makes it,
 *   page for page, the memory of a run that is placed so:
 *     every page of 4 KiB is touched in the guest's address space, first by the program or its kernel, in program
 *     order. Where the replica has the page already (in a huge page) that touch does nothing. If the replica has the
 *     zero page the guest's address space distinguishes reads from writes: each page's first read and first write are
 *     marked; nothing that the guest can see depends on a placement. Addresses are chosen by the areas alone, and the
 *     heap's start and steps are what mmu_config_suit made them.
 *   Tables lie in plain memory. Their entries have the addresses of an arena in the guest's window.
 * Invariants
 *   Those of space.c. Areas are those of the address space that wrote the marks. A page present there is present here.
 *   The frames taken are those of pages, tables and the zero page.
 * Not modelled
 *   A lack of frames for the tables that a split or a move needs: Linux would tell the program, and here the run ends.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "mmu/host_priv.h"
#include "mmu/marks_priv.h"
#include "mmu/replica_priv.h"

/* ------------------------------------------------------------------ life */

#define ARENA_BYTES (MMU_TABLES_END - MMU_TABLES_BASE)

static int replica_commit(void *self, uint64_t first, uint64_t count)
{
    C2_ASSERT(count != 0);
    unsigned char *arena = self;
    return mprotect(arena + first * C2_PAGE_BYTES, count * C2_PAGE_BYTES, PROT_READ | PROT_WRITE) == 0 ? 0 : errno;
}

/* Each table has a frame, so there are no more tables than frames, and one that finds none. */
static uint64_t arena_bytes(const struct mmu_config *config)
{
    return config->physical_bytes < ARENA_BYTES ? config->physical_bytes + C2_PAGE_BYTES : ARENA_BYTES;
}

static enum c2_status reserve_arena(struct tables_arena *arena, uint64_t bytes, struct c2_error *err)
{
    C2_ASSERT(bytes != 0 && bytes % C2_PAGE_BYTES == 0);
    char size[32];
    void *memory = host_reserve_arena(bytes);
    if (memory == MAP_FAILED)
        return c2_fail(err, C2_ERR_DENIED,
                       "the host refuses to reserve %s of addresses for the page tables of a placement: %s; lift the "
                       "limit on virtual memory (ulimit -v unlimited), this takes no memory, or simulate a machine "
                       "with less (--set machine.physical_memory=8G)",
                       c2_size_text(size, bytes), strerror(errno));
    *arena = (struct tables_arena){.memory = memory,
                                   .address = MMU_TABLES_BASE,
                                   .pages = bytes >> C2_PAGE_SHIFT,
                                   .commit = replica_commit,
                                   .self = memory};
    return C2_OK;
}

static enum c2_status build(struct mmu_replica *replica, const struct tables_arena *arena, struct c2_error *err)
{
    C2_ASSERT(!replica->space.tables && !replica->space.frames);
    struct space *space = &replica->space;
    enum c2_status status = rules_create(replica, err);
    if (status == C2_OK)
        status = frames_create(&space->frames, &replica->config, err);
    if (status == C2_OK)
        status = tables_create(&space->tables, arena, space->frames, &space->counts, err);
    return status;
}

enum c2_status mmu_replica_create(struct mmu_replica **out, const struct mmu_config *config, struct c2_error *err)
{
    struct tables_arena arena;
    *out = NULL;
    enum c2_status status = mmu_config_check(config, err);
    if (status != C2_OK)
        return status;
    struct mmu_replica *replica = c2_calloc(1, sizeof *replica);
    if (!replica)
        return c2_fail_memory(err, "a placement");
    replica->config = *config;
    status = reserve_arena(&arena, arena_bytes(config), err);
    if (status == C2_OK) {
        replica->reserved = arena.memory;
        status = build(replica, &arena, err);
    }
    if (status != C2_OK)
        mmu_replica_destroy(replica);
    else
        *out = replica;
    return status;
}

void mmu_replica_destroy(struct mmu_replica *replica)
{
    if (!replica)
        return;
    space_release(&replica->space);
    pagemap_log_release(&replica->log);
    rules_release(replica);
    frames_destroy(replica->space.frames);
    if (replica->reserved)
        munmap(replica->reserved, arena_bytes(&replica->config));
    c2_free(replica);
}

/* ------------------------------------------------------------------ marks */

/* Whether whole pages lie there that a program can have with these rights: none where its page tables are. */
static bool replica_is_range(uint64_t start, uint64_t bytes, uint64_t rights)
{
    if ((start | bytes) % C2_PAGE_BYTES != 0 || bytes == 0 || start > MMU_ADDRESSES_END)
        return false;
    return bytes <= MMU_ADDRESSES_END - start && (rights == 0 || !areas_meet_tables(start, start + bytes));
}

static enum c2_status fail_mark(const char *what, uint64_t at, struct c2_error *err)
{
    return c2_fail(err, C2_ERR_FORMAT, "%s at 0x%llx is not what the stream's memory allows there", what,
                   (unsigned long long)at);
}

static enum c2_status outcome(const struct mmu_replica *replica, int error, const char *call, uint64_t at,
                              struct c2_error *err)
{
    C2_ASSERT(error >= 0);
    if (error == 0)
        return C2_OK;
    return error == ENOSPC ? refuse_tables(replica, call, at, err) : c2_fail_memory(err, "a placement");
}

static enum c2_status apply_mapped(struct mmu_replica *replica, const uint64_t *words, uint32_t count,
                                   struct c2_error *err)
{
    C2_PROMISE(count >= MARK_MAPPED_WORDS);
    struct area area;
    enum c2_status status = replica_is_range(words[0], words[1], words[2] & STREAM_MAPPED_RIGHTS)
                                ? mark_area(&area, words, count, err)
                                : fail_mark("a mapping", words[0], err);
    return status == C2_OK ? outcome(replica, space_put(&replica->space, &area), "mmap", words[0], err) : status;
}

/* The guest may unmap what lies outside its window: there is nothing. */
static enum c2_status apply_unmapped(struct mmu_replica *replica, const uint64_t *words, uint32_t count,
                                     struct c2_error *err)
{
    C2_PROMISE(count >= 2);
    struct space *space = &replica->space;
    const uint64_t start = words[0], end = start + words[1];
    (void)count;
    if ((start | end) % C2_PAGE_BYTES != 0 || start >= end || end > MMU_ADDRESSES_END)
        return fail_mark("an unmapping", start, err);
    const int error = space_isolate(space, start, end);
    if (error)
        return outcome(replica, error, "munmap", start, err);
    const bool code = space_has_code(space, start, end);
    space_begin(space);
    space_clear(space, start, end);
    areas_merge(&space->areas, start, end);
    space_end(space, start, end, code);
    return C2_OK;
}

static enum c2_status apply_protected(struct mmu_replica *replica, const uint64_t *words, uint32_t count,
                                      struct c2_error *err)
{
    C2_PROMISE(count >= 3);
    (void)count;
    if (!replica_is_range(words[0], words[1], words[2]) || words[2] & ~(uint64_t)STREAM_MAPPED_RIGHTS)
        return fail_mark("a change of rights", words[0], err);
    const int error = space_protect(&replica->space, words[0], words[0] + words[1], (unsigned)words[2]);
    return outcome(replica, error, "mprotect", words[0], err);
}

static enum c2_status apply_moved(struct mmu_replica *replica, const uint64_t *words, uint32_t count,
                                  struct c2_error *err)
{
    C2_PROMISE(count >= 5);
    struct space *space = &replica->space;
    const uint64_t from = words[0], to = words[1], bytes = words[2], there = words[3];
    struct space_move move = {from, to, bytes, (enum mmu_kind)words[4], false};
    const struct area *area = areas_at(&space->areas, from);
    (void)count;
    if (!replica_is_range(from, bytes, MMU_READ) || !replica_is_range(to, there, MMU_READ) || there < bytes ||
        words[4] > MMU_STACK || !area || area_end(area) < from + bytes || !areas_free(&space->areas, to, to + there) ||
        (move.kind == MMU_FILE) != (area->view.kind == MMU_FILE))
        return fail_mark("a move of memory", from, err);
    int error = areas_reserve(&space->areas, 4);
    if (!error)
        error = space_move_begin(space, &move);
    if (error)
        return outcome(replica, error, "mremap", from, err);
    space_move_end(space, &move, true);
    struct area *moved = areas_at(&space->areas, to + bytes - C2_PAGE_BYTES);
    areas_resize(&space->areas, moved, moved->view.bytes + (there - bytes));
    areas_merge(&space->areas, to, to + there);
    space_tell_mapped(space, to, to + there);
    return C2_OK;
}

static enum c2_status apply_discarded(struct mmu_replica *replica, const uint64_t *words, uint32_t count,
                                      struct c2_error *err)
{
    const uint64_t start = words[0], end = start + words[1];
    const struct area *area = replica_is_range(start, words[1], 0) ? areas_at(&replica->space.areas, start) : NULL;
    (void)count;
    if (!area || area->view.shared || area_end(area) < end)
        return fail_mark("a discard", start, err);
    return outcome(replica, space_discard(&replica->space, start, end), "madvise", start, err);
}

static enum c2_status apply_advised(struct mmu_replica *replica, const uint64_t *words, uint32_t count,
                                    struct c2_error *err)
{
    (void)count;
    if (!replica_is_range(words[0], words[1], 0) || words[2] > 1)
        return fail_mark("an advice", words[0], err);
    const int error = space_advise(&replica->space, words[0], words[0] + words[1], words[2]);
    return outcome(replica, error, "madvise", words[0], err);
}

static enum c2_status replica_apply_touched(struct mmu_replica *replica, const uint64_t *words, uint32_t count,
                                            struct c2_error *err)
{
    C2_PROMISE(count >= 2);
    const struct area *area = areas_at(&replica->space.areas, words[0]);
    (void)count;
    if (!area || words[1] > MMU_ACCESS_EXEC || !area->view.prot)
        return fail_mark("a touch", words[0], err);
    return replica_touch(replica, area, words[0], (enum mmu_access)words[1], err);
}

static void replica_look(struct mmu_replica *replica)
{
    if (space_look(&replica->space))
        mmu_replica_check(replica);
}

/* Touches are too many for a look. */
static bool replica_holds(struct mmu_replica *replica, enum stream_mark mark)
{
    if (mark != STREAM_TOUCHED)
        replica_look(replica);
    return true;
}

enum c2_status mmu_replica_apply(struct mmu_replica *replica, enum stream_mark mark, const uint64_t *words,
                                 uint32_t count, struct c2_error *err)
{
    static const struct {
        uint32_t words; /* at least */
        enum c2_status (*apply)(struct mmu_replica *replica, const uint64_t *words, uint32_t count,
                                struct c2_error *err);
    } rows[STREAM_MARKS] = {
        [STREAM_MAPPED] = {MARK_MAPPED_WORDS, apply_mapped}, [STREAM_UNMAPPED] = {2, apply_unmapped},
        [STREAM_PROTECTED] = {3, apply_protected},           [STREAM_MOVED] = {5, apply_moved},
        [STREAM_DISCARDED] = {2, apply_discarded},           [STREAM_ADVISED] = {3, apply_advised},
        [STREAM_TOUCHED] = {2, replica_apply_touched},
    };
    if ((unsigned)mark >= STREAM_MARKS || !rows[mark].apply)
        return C2_OK;
    if (count < rows[mark].words)
        return c2_fail(err, C2_ERR_FORMAT, "a mark of memory in the stream is cut short");
    enum c2_status status = rows[mark].apply(replica, words, count, err);
    C2_PROMISE(status != C2_OK || replica_holds(replica, mark));
    return status;
}

/* Beside its page a mark may take the zero page and three tables, and the same tables twice again for a moment when the
 * page moves. */
#define FRAMES_PER_MARK (1u + 3u * 3u)

/* What is there may be split and moved as well. */
uint64_t mmu_replica_guaranteed(const struct mmu_replica *replica)
{
    const struct mmu_counts *counts = &replica->space.counts;
    const bool huge = replica->config.huge != MMU_HUGE_NEVER;
    const uint64_t page = mmu_page_bytes(huge ? MMU_PAGE_1G : MMU_PAGE_4K) >> C2_PAGE_SHIFT, pieces = page / 512 * 2;
    const uint64_t here = 2 * counts->table_pages + counts->huge_2m_present + 2 * 512 * counts->huge_1g_present;
    const uint64_t left = frames_guaranteed(replica->space.frames);
    return left > here ? (left - here) / (page + pieces + FRAMES_PER_MARK) : 0;
}

/* ------------------------------------------------------------------ asking */

enum c2_status mmu_replica_listen(struct mmu_replica *replica, struct mmu_listener listener, struct c2_error *err)
{
    return space_listen(&replica->space, listener, err);
}

const struct mmu_areas *mmu_replica_areas(const struct mmu_replica *replica) { return &replica->space.areas; }

const struct mmu_config *mmu_replica_config(const struct mmu_replica *replica) { return &replica->config; }

const struct mmu_counts *mmu_replica_counts(const struct mmu_replica *replica) { return &replica->space.counts; }

bool mmu_replica_translate_sized(const struct mmu_replica *replica, struct guest_va va, struct guest_pa *out,
                                 enum mmu_page_size *size)
{
    if (va.v >= MMU_ADDRESSES_END)
        return false;
    uint64_t entry = tables_get(replica->space.tables, va.v);
    if (!(entry & ENTRY_PRESENT))
        return false;
    out->v = (entry & ENTRY_ADDRESS) | (va.v & (C2_PAGE_BYTES - 1));
    *size = entry_size(entry);
    return true;
}

bool mmu_replica_translate(const struct mmu_replica *replica, struct guest_va va, struct guest_pa *out)
{
    enum mmu_page_size ignored;
    return mmu_replica_translate_sized(replica, va, out, &ignored);
}

bool mmu_replica_walk(const struct mmu_replica *replica, struct guest_va va, struct mmu_walk *out)
{
    uint64_t address[TABLES_LEVELS];
    if (va.v >= MMU_ADDRESSES_END)
        return false;
    out->entry_count = tables_walk(replica->space.tables, va.v, address);
    for (unsigned i = 0; i < out->entry_count; i++)
        out->entry[i].v = address[i];
    return out->entry_count != 0;
}

enum c2_status mmu_replica_pagemap_write(const struct mmu_replica *replica, FILE *to, bool textproto,
                                         struct c2_error *err)
{
    if (!replica->config.log_placements)
        return c2_fail(err, C2_ERR_INVALID, "the placements of this run were not recorded");
    return pagemap_log_write(&replica->log, to, textproto, err);
}

/* ------------------------------------------------------------------ check */

/* Every page has been placed by one policy. */
static void check_placed(const struct mmu_replica *replica)
{
    const struct mmu_counts *counts = &replica->space.counts;
    struct mmu_rule_counts sum = {0};
    for (size_t i = 0; i <= replica->config.rule_count; i++) {
        sum.small_pages += replica->placed_by[i].small_pages;
        sum.huge_2m += replica->placed_by[i].huge_2m;
        sum.huge_1g += replica->placed_by[i].huge_1g;
    }
    C2_ASSERT(sum.small_pages == counts->small_pages);
    C2_ASSERT(sum.huge_2m == counts->huge_2m && sum.huge_1g == counts->huge_1g);
    C2_ASSERT(counts->small_pages + counts->huge_2m + counts->huge_1g + counts->zero_pages ==
              counts->faults + counts->zero_copies);
}

void mmu_replica_check(const struct mmu_replica *replica)
{
    space_check(&replica->space, replica->has_zero_frame ? &replica->zero_frame : NULL);
    check_placed(replica);
}

void mmu_replica_dump(const struct mmu_replica *replica, FILE *to)
{
    space_dump(&replica->space, to);
    fprintf(to, "%s placement: %llu of %llu frames taken, %llu by page tables\n",
            mmu_placement_name(replica->config.placement), (unsigned long long)frames_taken(replica->space.frames),
            (unsigned long long)frames_total(replica->space.frames),
            (unsigned long long)replica->space.counts.table_pages);
}
