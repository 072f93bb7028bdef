/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   What happens when the guest accesses a page: the area decides whether it may, the first access makes the page
 *   present, later ones find it in the tables. Rights as on x86: a mapping with any right is readable.
 *   With config.tells_writes a page of private anonymous memory whose first access reads (the guest's, or its kernel's
 *   on its behalf) is present without the right to write at first, as if it were Linux's zero page. The first write
 *   gives it the right; listeners are told.
 *   An access of which the engine cannot tell whether it writes is MOVS in place, and reads first.
 *   Both are marks TOUCHED: pages get their frames from them, in program order (place.c).
 * Counting
 *   faults counts the accesses that made a page present.
 */
#include "mmu/mmu_priv.h"

static bool area_allows(unsigned prot, enum mmu_access access)
{
    switch (access) {
    case MMU_ACCESS_WRITE:
        return prot & MMU_WRITE;
    case MMU_ACCESS_EXEC:
        return prot & MMU_EXEC;
    default:
        return prot != 0;
    }
}

static bool entry_allows(uint64_t entry, enum mmu_access access)
{
    if (!(entry & ENTRY_PRESENT))
        return false;
    switch (access) {
    case MMU_ACCESS_WRITE:
        return entry & ENTRY_WRITE;
    case MMU_ACCESS_EXEC:
        return !(entry & ENTRY_NOEXEC);
    default:
        return true;
    }
}

bool mmu_ready(const struct mmu *mmu, struct guest_va va, enum mmu_access access)
{
    return va.v < MMU_ADDRESSES_END && entry_allows(tables_get(mmu->space.tables, va.v), access);
}

static uint64_t count_page(void *self, uint64_t va, uint64_t entry)
{
    (void)va;
    *(uint64_t *)self += entry & (ENTRY_PRESENT | ENTRY_KEPT) ? C2_PAGE_BYTES : 0;
    return entry;
}

uint64_t mmu_present_bytes(const struct mmu *mmu, struct guest_va start, uint64_t bytes)
{
    C2_ASSERT(tables_is_range(start.v, start.v + bytes));
    uint64_t present = 0;
    tables_visit(mmu->space.tables, start.v, start.v + bytes, count_page, &present);
    return present;
}

bool mmu_allows(const struct mmu *mmu, struct guest_va va, uint64_t bytes, unsigned prot)
{
    if (bytes == 0)
        return true;
    if (va.v + bytes < va.v)
        return false;
    for (uint64_t at = va.v; at < va.v + bytes;) {
        const struct area *area = areas_at(&mmu->space.areas, at);
        if (!area || prot & ~mmu_effective(area->view.prot))
            return false;
        at = area_end(area);
    }
    return true;
}

/* ------------------------------------------------------------------ the first touch */

static enum mmu_fault touch_touched(struct mmu *mmu, struct guest_va va, enum mmu_access access, struct c2_error *err)
{
    C2_PROMISE(mmu->space.counts.faults != 0);
    MMU_MARK(mmu, STREAM_TOUCHED, va.v, access == MMU_ACCESS_UNKNOWN ? MMU_ACCESS_READ : access);
    return mmu_written(mmu, err) == C2_OK ? MMU_FAULT_NONE : MMU_FAULT_FAILED;
}

static enum mmu_fault first_write(struct mmu *mmu, uint64_t page, const struct area *area, struct guest_va va,
                                  struct c2_error *err)
{
    C2_PROMISE(area->view.prot & MMU_WRITE && !area->backing && page == c2_align_down(va.v, C2_PAGE_BYTES));
    if (rights_written(mmu, area, page, err) != C2_OK)
        return MMU_FAULT_FAILED;
    space_begin(&mmu->space);
    tables_set(mmu->space.tables, page, leaf_rights(area->view.prot));
    space_end(&mmu->space, page, page + C2_PAGE_BYTES, area->view.prot & MMU_EXEC);
    return touch_touched(mmu, va, MMU_ACCESS_WRITE, err);
}

/* Where rights are enforced the page is opened first: a closed one cannot be probed. */
static enum mmu_fault prepare_page(struct mmu *mmu, uint64_t page, const struct area *area, uint64_t entry,
                                   enum mmu_access access, struct c2_error *err)
{
    C2_PROMISE(page % C2_PAGE_BYTES == 0 && entry & ENTRY_PRESENT);
    enum mmu_fault fault = MMU_FAULT_NONE;
    const bool writes = access == MMU_ACCESS_WRITE && !area->view.shared;
    if (rights_open(mmu, area, page, entry, access, err) != C2_OK)
        return MMU_FAULT_FAILED;
    if (area->backing && !mmu->host.probe(mmu->host.self, page, writes))
        fault = MMU_FAULT_BUS;
    else if (tables_prepare(mmu->space.tables, page, MMU_PAGE_4K, err) != C2_OK)
        fault = MMU_FAULT_FAILED;
    if (fault != MMU_FAULT_NONE)
        rights_shut(mmu, area, page);
    return fault;
}

static enum mmu_fault touch_first_touch(struct mmu *mmu, uint64_t page, const struct area *area, struct guest_va va,
                                        enum mmu_access access, struct c2_error *err)
{
    C2_PROMISE(area->view.prot && page == c2_align_down(va.v, C2_PAGE_BYTES));
    uint64_t entry = leaf_rights(area->view.prot);
    if (mmu->config.tells_writes && access != MMU_ACCESS_WRITE && !area->backing)
        entry = (entry & ~ENTRY_WRITE) | ENTRY_ZERO;
    const enum mmu_fault fault = prepare_page(mmu, page, area, entry, access, err);
    if (fault != MMU_FAULT_NONE)
        return fault;
    tables_set(mmu->space.tables, page, entry);
    mmu->space.counts.faults++;
    return touch_touched(mmu, va, access, err);
}

/* An access that the engine could not tell, and the tables did not allow. */
static enum mmu_access touch_guess(const struct mmu *mmu, struct guest_va va)
{
    uint64_t entry = va.v < MMU_ADDRESSES_END ? tables_get(mmu->space.tables, va.v) : 0;
    return entry & ENTRY_ZERO && mmu_allows(mmu, va, 1, MMU_WRITE) ? MMU_ACCESS_WRITE : MMU_ACCESS_UNKNOWN;
}

static enum mmu_fault touch_page(struct mmu *mmu, struct guest_va va, enum mmu_access access, struct c2_error *err)
{
    if (SHORTCUT(access != MMU_ACCESS_UNKNOWN && mmu_ready(mmu, va, access)))
        return MMU_FAULT_NONE;
    if (access == MMU_ACCESS_UNKNOWN && mmu->config.tells_writes)
        access = touch_guess(mmu, va);
    const struct area *area = areas_at(&mmu->space.areas, va.v);
    if (!area)
        return MMU_FAULT_UNMAPPED;
    if (!area_allows(area->view.prot, access))
        return MMU_FAULT_DENIED;
    uint64_t page = c2_align_down(va.v, C2_PAGE_BYTES);
    uint64_t entry = tables_get(mmu->space.tables, page);
    if (entry & ENTRY_ZERO && access == MMU_ACCESS_WRITE)
        return first_write(mmu, page, area, va, err);
    if (entry & ENTRY_PRESENT)
        return access == MMU_ACCESS_UNKNOWN ? MMU_FAULT_DENIED : MMU_FAULT_NONE;
    return touch_first_touch(mmu, page, area, va, access, err);
}

enum mmu_fault mmu_touch(struct mmu *mmu, struct guest_va va, enum mmu_access access, struct c2_error *err)
{
    const enum mmu_fault fault = touch_page(mmu, va, access, err);
    if (fault == MMU_FAULT_NONE && rights_revive(mmu, c2_align_down(va.v, C2_PAGE_BYTES), err) != C2_OK)
        return MMU_FAULT_FAILED;
    return fault;
}

/* ------------------------------------------------------------------ the kernel's accesses */

static enum mmu_fault touch_pages(struct mmu *mmu, uint64_t start, uint64_t last, enum mmu_access access,
                                  uint64_t *page, struct c2_error *err)
{
    C2_PROMISE(start <= last && access != MMU_ACCESS_UNKNOWN);
    for (*page = start;; *page = c2_align_down(*page, C2_PAGE_BYTES) + C2_PAGE_BYTES) {
        enum mmu_fault fault = touch_page(mmu, (struct guest_va){*page}, access, err);
        if (fault != MMU_FAULT_NONE || c2_align_down(*page, C2_PAGE_BYTES) == c2_align_down(last, C2_PAGE_BYTES))
            return fault;
    }
}

enum mmu_fault mmu_touch_range(struct mmu *mmu, struct guest_va va, uint64_t bytes, enum mmu_access access,
                               struct guest_va *at, struct c2_error *err)
{
    if (bytes == 0)
        return MMU_FAULT_NONE;
    if (access == MMU_ACCESS_UNKNOWN)
        access = MMU_ACCESS_READ;
    uint64_t last = va.v + bytes - 1 < va.v ? UINT64_MAX : va.v + bytes - 1, page;
    enum mmu_fault fault = touch_pages(mmu, va.v, last, access, &page, err);
    if (fault != MMU_FAULT_NONE)
        at->v = page;
    return fault;
}
