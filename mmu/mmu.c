/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   One guest address space: areas say what may be accessed, page tables say what is present and where in simulated
 *   physical memory, the host window holds the bytes. Changes go host first (it alone can refuse), then tables and
 *   areas, which cannot fail any more by then.
 * Counting
 *   See struct mmu_counts; tables.c keeps those of what is present.
 * Invariants
 *   A page with a frame lies in an area; its entry's rights are the area's. Listeners hear of every change that takes a
 *   translation or a right away, and of every change of rights that has to do with code, before and after.
 * Not modelled
 *   Protection keys, userfaults, memory locking, the limit on committed memory.
 */
#include "mmu/mmu_priv.h"

static enum c2_status check_policy(const struct mmu_config *config, struct c2_error *err)
{
    if (config->age > 1000)
        return c2_fail(err, C2_ERR_INVALID, "the age of buddy placement is %u thousandths: it must be 0 to 1",
                       config->age);
    if (config->placement != MMU_SAME_COLOR && config->placement != MMU_COLORED)
        return C2_OK;
    if (config->colors == 0 || config->colors > MMU_FRAME_LIMIT)
        return c2_fail(err, C2_ERR_INVALID, "the placement policy %s needs at least one page colour, and at most %llu",
                       mmu_placement_name(config->placement), (unsigned long long)MMU_FRAME_LIMIT);
    if (config->placement == MMU_SAME_COLOR && config->color >= config->colors)
        return c2_fail(err, C2_ERR_INVALID, "color=%u does not exist: this machine has %u page colours, 0 to %u",
                       config->color, config->colors, config->colors - 1);
    return C2_OK;
}

enum c2_status mmu_config_check(const struct mmu_config *config, struct c2_error *err)
{
    char size[32];
    uint64_t bytes = config->physical_bytes;
    if (bytes == 0 || bytes % C2_PAGE_BYTES != 0 || bytes > MMU_FRAME_LIMIT * C2_PAGE_BYTES)
        return c2_fail(err, C2_ERR_INVALID,
                       "physical_memory = %s is not allowed: it must be a multiple of 4 KiB, "
                       "at most 1 TiB",
                       c2_size_text(size, bytes));
    enum c2_status status = check_policy(config, err);
    for (size_t i = 0; i < config->rule_count && status == C2_OK; i++)
        status = check_policy(&config->rules[i].policy, err);
    return status == C2_OK ? mmu_rules_check(config, err) : status;
}

static enum c2_status build(struct mmu *mmu, const struct tables_arena *arena, struct c2_error *err)
{
    enum c2_status status = mmu_rules_create(mmu, err);
    if (status == C2_OK)
        status = frames_create(&mmu->frames, &mmu->config, err);
    if (status == C2_OK)
        status = tables_create(&mmu->tables, arena, mmu->frames, &mmu->counts, err);
    return status;
}

static struct mmu *allocate(const struct mmu_config *config)
{
    struct mmu *mmu = c2_calloc(1, sizeof *mmu);
    if (mmu) {
        mmu->config = *config;
        mmu->brk = mmu_heap_start(mmu);
    }
    return mmu;
}

enum c2_status mmu_create_on(struct mmu **out, const struct mmu_config *config, const struct mmu_host *host,
                             const struct tables_arena *arena, struct c2_error *err)
{
    *out = NULL;
    enum c2_status status = mmu_config_check(config, err);
    if (status != C2_OK)
        return status;
    struct mmu *mmu = allocate(config);
    if (!mmu)
        return c2_fail_memory(err, "the address space");
    status = build(mmu, arena, err);
    if (status != C2_OK) {
        mmu_destroy(mmu);
        return status;
    }
    mmu->host = *host;
    *out = mmu;
    return C2_OK;
}

enum c2_status mmu_create(struct mmu **out, const struct mmu_config *config, struct c2_error *err)
{
    *out = NULL;
    enum c2_status status = mmu_config_check(config, err);
    if (status != C2_OK)
        return status;
    struct mmu *mmu = allocate(config);
    if (!mmu)
        return c2_fail_memory(err, "the address space");
    struct tables_arena arena;
    status = window_open(&mmu->host, &arena, &mmu->counts.lost_pages, err);
    if (status == C2_OK)
        status = build(mmu, &arena, err);
    if (status != C2_OK) {
        mmu_destroy(mmu);
        return status;
    }
    *out = mmu;
    return C2_OK;
}

void mmu_destroy(struct mmu *mmu)
{
    if (!mmu)
        return;
    mmu_follow_end(mmu);
    areas_release(&mmu->areas);
    pagemap_log_release(&mmu->log);
    mmu_rules_release(mmu);
    tables_destroy(mmu->tables);
    frames_destroy(mmu->frames);
    if (mmu->host.close)
        mmu->host.close(mmu->host.self);
    c2_free(mmu);
}

/* ------------------------------------------------------------------ listeners */

enum c2_status mmu_listen(struct mmu *mmu, struct mmu_listener listener, struct c2_error *err)
{
    if (mmu->listener_count == MMU_LISTENERS)
        return c2_fail(err, C2_ERR_INTERNAL, "more than %d listeners on the address space", MMU_LISTENERS);
    mmu->listeners[mmu->listener_count++] = listener;
    return C2_OK;
}

void mmu_unlisten(struct mmu *mmu, const void *self)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < mmu->listener_count; i++) {
        if (mmu->listeners[i].self != self)
            mmu->listeners[kept++] = mmu->listeners[i];
    }
    mmu->listener_count = kept;
}

void mmu_notify_before(const struct mmu *mmu, uint64_t start, uint64_t end)
{
    tables_tell(mmu->tables, true);
    for (unsigned i = 0; i < mmu->listener_count; i++) {
        const struct mmu_listener *listener = &mmu->listeners[i];
        if (listener->before)
            listener->before(listener->self, (struct guest_va){start}, end - start);
    }
}

void mmu_notify_after(const struct mmu *mmu, uint64_t start, uint64_t end, bool code)
{
    tables_tell(mmu->tables, false);
    for (unsigned i = 0; i < mmu->listener_count; i++) {
        const struct mmu_listener *listener = &mmu->listeners[i];
        if (listener->after)
            listener->after(listener->self, (struct guest_va){start}, end - start, code);
    }
}

void mmu_notify_mapped(const struct mmu *mmu, uint64_t start, uint64_t end)
{
    if (mmu->listener_count == 0)
        return;
    const struct area *whole = areas_at(&mmu->areas, start);
    struct mmu_area area = whole->view;
    area.start.v = start;
    area.bytes = end - start;
    if (whole->backing)
        area.offset += start - whole->view.start.v;
    for (unsigned i = 0; i < mmu->listener_count; i++) {
        const struct mmu_listener *listener = &mmu->listeners[i];
        if (listener->mapped)
            listener->mapped(listener->self, &area);
    }
}

/* ------------------------------------------------------------------ getters */

const struct mmu_area *mmu_area_at(const struct mmu *mmu, struct guest_va va, bool next)
{
    const struct area *area = next ? areas_find(&mmu->areas, va.v) : areas_at(&mmu->areas, va.v);
    return area ? &area->view : NULL;
}

uint64_t mmu_root(const struct mmu *mmu) { return tables_root(mmu->tables); }

const struct mmu_counts *mmu_counts(const struct mmu *mmu) { return &mmu->counts; }

const struct mmu_config *mmu_config(const struct mmu *mmu) { return &mmu->config; }
