/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   One guest address space: areas say what may be accessed, page tables say what is present, the host window holds the
 *   bytes. Changes go host first (it alone can refuse), then tables and areas, which cannot fail any more by then.
 *   Whatever has changed is written to the stream as a mark, behind the change: areas and what is present can be made
 *   again from the marks alone (replica.c).
 * Counting
 *   faults: touches that made a page present.
 * Invariants
 *   Those of space.c. No page is huge, and no leaf has a frame. Areas are never more than Linux lets them be. When a
 *   mark could not be written none is after it.
 * Not modelled
 *   Protection keys, userfaults, memory locking, the limit on committed memory.
 */
#include "mmu/mmu_priv.h"

static enum c2_status mmu_allocate(struct mmu **out, const struct mmu_guest_config *config, struct c2_error *err)
{
    *out = NULL;
    if (config->guest_bytes < C2_PAGE_BYTES)
        return c2_fail(err, C2_ERR_INVALID, "guest_bytes = %llu is not allowed: the guest has at least one page",
                       (unsigned long long)config->guest_bytes);
    struct mmu *mmu = *out = c2_calloc(1, sizeof *mmu);
    if (!mmu)
        return c2_fail_memory(err, "the address space");
    mmu->config = *config;
    mmu_lay_out(mmu, &(struct mmu_layout){MMU_HEAP_BASE, MMU_MMAP_TOP, MMU_STACK_TOP});
    mmu->space.areas.limit = AREAS_LIMIT;
    return C2_OK;
}

void mmu_lay_out(struct mmu *mmu, const struct mmu_layout *layout)
{
    C2_ASSERT(mmu->brk == mmu->layout.heap);
    mmu->layout = *layout;
    mmu->layout.heap = c2_align_up(layout->heap, mmu_page_bytes(mmu->config.heap_page));
    mmu->brk = mmu->layout.heap;
}

const struct mmu_layout *mmu_layout(const struct mmu *mmu) { return &mmu->layout; }

void mmu_make_readable_code(struct mmu *mmu, bool does) { mmu->readable_is_code = does; }

unsigned mmu_rights_of(const struct mmu *mmu, unsigned prot)
{
    C2_PROMISE((prot & ~(unsigned)(MMU_READ | MMU_WRITE | MMU_EXEC)) == 0);
    return mmu->readable_is_code && prot & MMU_READ ? prot | MMU_EXEC : prot;
}

enum c2_status mmu_create_on(struct mmu **out, const struct mmu_guest_config *config, const struct mmu_host *host,
                             const struct tables_arena *arena, struct c2_error *err)
{
    C2_ASSERT(host->map && host->unmap && host->move && arena->pages != 0);
    struct mmu *mmu;
    *out = NULL;
    enum c2_status status = mmu_allocate(&mmu, config, err);
    if (status == C2_OK)
        status = tables_create(&mmu->space.tables, arena, NULL, &mmu->space.counts, err);
    if (status != C2_OK) {
        mmu_destroy(mmu);
        return status;
    }
    mmu->host = *host;
    *out = mmu;
    return C2_OK;
}

enum c2_status mmu_create(struct mmu **out, const struct mmu_guest_config *config, struct c2_error *err)
{
    struct mmu_host host;
    struct tables_arena arena;
    *out = NULL;
    enum c2_status status = window_open(&host, &arena, err);
    if (status != C2_OK)
        return status;
    status = mmu_create_on(out, config, &host, &arena, err);
    if (status != C2_OK)
        host.close(host.self);
    return status;
}

void mmu_destroy(struct mmu *mmu)
{
    if (!mmu)
        return;
    space_release(&mmu->space);
    if (mmu->host.close)
        mmu->host.close(mmu->host.self);
    c2_free(mmu->lent);
    c2_free(mmu);
}

/* ------------------------------------------------------------------ marks */

void mmu_write_to(struct mmu *mmu, struct stream_writer *writer) { mmu->writer = writer; }

enum c2_status mmu_written(const struct mmu *mmu, struct c2_error *err)
{
    if (mmu->unwritten.status == C2_OK)
        return C2_OK;
    return c2_fail(err, mmu->unwritten.status, "%s", mmu->unwritten.text);
}

void mmu_mark(struct mmu *mmu, enum stream_mark mark, const uint64_t *words, uint32_t count)
{
    C2_PROMISE(count != 0);
    if (!mmu->writer || mmu->unwritten.status != C2_OK)
        return;
    struct c2_error why;
    if (stream_writer_change(mmu->writer, mark, words, count, &why) != C2_OK)
        mmu->unwritten = why;
}

void mmu_mark_mapped(struct mmu *mmu, uint64_t start, uint64_t bytes)
{
    C2_ASSERT(bytes != 0);
    if (!mmu->writer)
        return;
    uint64_t words[MARK_WORDS];
    const uint32_t count = mark_mapped(words, areas_at(&mmu->space.areas, start), start, bytes);
    mmu_mark(mmu, STREAM_MAPPED, words, count);
}

/* ------------------------------------------------------------------ listeners */

enum c2_status mmu_listen(struct mmu *mmu, struct mmu_listener listener, struct c2_error *err)
{
    return space_listen(&mmu->space, listener, err);
}

void mmu_unlisten(struct mmu *mmu, const void *self) { space_unlisten(&mmu->space, self); }

/* ------------------------------------------------------------------ getters */

const struct mmu_areas *mmu_areas(const struct mmu *mmu) { return &mmu->space.areas; }

uint64_t mmu_root(const struct mmu *mmu) { return tables_root(mmu->space.tables); }

const void *mmu_tables(const struct mmu *mmu) { return tables_memory(mmu->space.tables); }

struct mmu_usage mmu_usage(const struct mmu *mmu)
{
    const struct mmu_counts *counts = &mmu->space.counts;
    const struct mmu_host *host = &mmu->host;
    return (struct mmu_usage){.resident_bytes = (counts->small_present - counts->zero_present) * C2_PAGE_BYTES,
                              .table_bytes = counts->table_pages * C2_PAGE_BYTES,
                              .faults = counts->faults,
                              .lost_pages = host->lost_pages ? host->lost_pages(host->self) : 0};
}

/* ------------------------------------------------------------------ check */

void mmu_check(const struct mmu *mmu) { space_check(&mmu->space, NULL); }

bool mmu_holds(struct mmu *mmu)
{
    /* Looking is not part of what a call costs. */
    uint64_t *visits = mmu->space.areas.tree.visits;
    mmu->space.areas.tree.visits = NULL;
    if (space_look(&mmu->space))
        mmu_check(mmu);
    mmu->space.areas.tree.visits = visits;
    return true;
}

void mmu_dump(const struct mmu *mmu, FILE *to) { space_dump(&mmu->space, to); }
