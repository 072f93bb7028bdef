/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   munmap(2), mprotect(2) and madvise(2) with MADV_DONTNEED or MADV_FREE, on whole pages, with Linux's answers: munmap
 *   passes over holes; mprotect does what lies before the first hole and then answers ENOMEM; a discard does every
 *   mapped part and then answers ENOMEM. Pages of a shared mapping live in the file, so a discard leaves them.
 * Invariants
 *   A change of a part of a huge page splits it first: its pieces keep their frames. Without rights a page keeps its
 *   frame, its bytes and its accessed and dirty bits.
 */
#include <errno.h>

#include "mmu/mmu_priv.h"

uint64_t mmu_leaf_rights(unsigned prot)
{
    if (!prot)
        return ENTRY_KEPT;
    return ENTRY_PRESENT | ENTRY_USER | (prot & MMU_WRITE ? ENTRY_WRITE : 0) | (prot & MMU_EXEC ? 0 : ENTRY_NOEXEC);
}

bool mmu_range_code(const struct mmu *mmu, uint64_t start, uint64_t end)
{
    const struct areas *areas = &mmu->areas;
    for (const struct area *area = areas_first_in(areas, start, end); area; area = areas_next_in(areas, area, end)) {
        if (area->view.prot & MMU_EXEC)
            return true;
    }
    return false;
}

int mmu_isolate(struct mmu *mmu, uint64_t start, uint64_t end)
{
    int error = areas_reserve(&mmu->areas, 2);
    if (error)
        return error;
    error = mmu_split_at(mmu, start, end);
    if (error)
        return error;
    areas_split(&mmu->areas, start);
    areas_split(&mmu->areas, end);
    return 0;
}

/* The zero page stays for the next that reads. */
static uint64_t drop_page(void *self, uint64_t va, uint64_t entry)
{
    (void)va;
    if (entry & ENTRY_ZERO)
        return 0;
    if (entry & ENTRY_LARGE)
        frames_give_huge(self, entry_frame(entry), entry_size(entry));
    else
        frames_give(self, entry_frame(entry));
    return 0;
}

void mmu_drop_pages(struct mmu *mmu, uint64_t start, uint64_t end)
{
    tables_visit(mmu->tables, start, end, drop_page, mmu->frames);
}

/* 0 and the end of the range in *end, or -errno. */
static int64_t check_range(uint64_t address, uint64_t bytes, uint64_t *end)
{
    if (address % C2_PAGE_BYTES != 0)
        return -EINVAL;
    uint64_t whole = c2_align_up(bytes, C2_PAGE_BYTES);
    if (whole < bytes || address + whole < address)
        return -ENOMEM;
    *end = address + whole;
    return 0;
}

/* ------------------------------------------------------------------ munmap */

/* One area, as a whole. */
static int unmap_area(struct mmu *mmu, uint64_t start, uint64_t end)
{
    const struct host_hole hole = mmu_hole_at(mmu, start, end);
    int error = mmu->host.unmap(mmu->host.self, start, end - start, &hole);
    if (error)
        return error;
    mmu_drop_pages(mmu, start, end);
    areas_remove(&mmu->areas, start, end);
    return 0;
}

int mmu_unmap_range(struct mmu *mmu, uint64_t start, uint64_t end)
{
    struct areas *areas = &mmu->areas;
    if (areas_free(areas, start, end))
        return 0;
    int error = mmu->host.room(mmu->host.self, true);
    if (!error)
        error = mmu_isolate(mmu, start, end);
    if (error)
        return error;
    bool code = mmu_range_code(mmu, start, end);
    mmu_notify_before(mmu, start, end);
    const struct area *area;
    while (!error && (area = areas_first_in(areas, start, end)))
        error = unmap_area(mmu, area->view.start.v, area_end(area));
    areas_merge(areas, start, end);
    mmu_notify_after(mmu, start, end, code);
    return error;
}

int64_t mmu_unmap_alone(struct mmu *mmu, uint64_t address, uint64_t bytes)
{
    uint64_t end;
    if (bytes == 0 || check_range(address, bytes, &end) != 0 || end > (uint64_t)1 << 47)
        return -EINVAL;
    return -mmu_unmap_range(mmu, address, end);
}

/* ------------------------------------------------------------------ mprotect */

/* Where mprotect has to stop: *answer says why when that is not the end. */
static uint64_t protectable_end(const struct mmu *mmu, uint64_t start, uint64_t end, unsigned prot, int64_t *answer)
{
    *answer = 0;
    while (start < end) {
        const struct area *area = areas_at(&mmu->areas, start);
        if (!area || ((prot & MMU_WRITE) && !area->may_write)) {
            *answer = area ? -EACCES : -ENOMEM;
            return start;
        }
        start = area_end(area);
    }
    return end;
}

static bool loses_rights(const struct mmu *mmu, uint64_t start, uint64_t end, unsigned prot)
{
    const struct areas *areas = &mmu->areas;
    for (const struct area *area = areas_first_in(areas, start, end); area; area = areas_next_in(areas, area, end)) {
        if (mmu_effective(area->view.prot) & ~mmu_effective(prot))
            return true;
    }
    return false;
}

static uint64_t set_rights(void *self, uint64_t va, uint64_t entry)
{
    (void)va;
    const uint64_t *rights = self;
    uint64_t kept = ENTRY_ADDRESS | ENTRY_ACCESSED | ENTRY_DIRTY | ENTRY_LARGE | ENTRY_GIANT | ENTRY_ZERO;
    return (entry & kept) | (entry & ENTRY_ZERO ? *rights & ~ENTRY_WRITE : *rights);
}

static int protect_range(struct mmu *mmu, uint64_t start, uint64_t end, unsigned prot)
{
    struct areas *areas = &mmu->areas;
    int error = mmu_isolate(mmu, start, end);
    if (error)
        return error;
    bool code = (prot & MMU_EXEC) || mmu_range_code(mmu, start, end);
    /* Code is always told of: when it becomes writable it must be watched from now on. */
    bool tell = code || loses_rights(mmu, start, end, prot);
    if (tell)
        mmu_notify_before(mmu, start, end);
    uint64_t rights = mmu_leaf_rights(prot);
    tables_visit(mmu->tables, start, end, set_rights, &rights);
    for (struct area *area = areas_first_in(areas, start, end); area; area = areas_next_in(areas, area, end))
        area->view.prot = prot;
    areas_merge(areas, start, end);
    if (tell)
        mmu_notify_after(mmu, start, end, code);
    return 0;
}

int64_t mmu_protect_alone(struct mmu *mmu, uint64_t address, uint64_t bytes, unsigned prot)
{
    uint64_t end;
    int64_t refused = check_range(address, bytes, &end);
    if (refused)
        return refused;
    if (prot & ~7u)
        return -EINVAL;
    int64_t answer;
    uint64_t reach = protectable_end(mmu, address, end, prot, &answer);
    int error = reach > address ? protect_range(mmu, address, reach, prot) : 0;
    return error ? -error : answer;
}

/* ------------------------------------------------------------------ madvise */

/* Discards the part of area in [start, end). 0 or errno. */
static int discard_part(struct mmu *mmu, const struct area *area, uint64_t start, uint64_t end)
{
    uint64_t from = area->view.start.v > start ? area->view.start.v : start;
    uint64_t to = area_end(area) < end ? area_end(area) : end;
    if (area->view.shared)
        return 0;
    int error = mmu_split_at(mmu, from, to);
    if (error)
        return error;
    mmu_notify_before(mmu, from, to);
    error = mmu->host.discard(mmu->host.self, from, to - from);
    if (!error)
        mmu_drop_pages(mmu, from, to);
    mmu_notify_after(mmu, from, to, area->view.prot & MMU_EXEC);
    return error;
}

int64_t mmu_discard_alone(struct mmu *mmu, uint64_t address, uint64_t bytes)
{
    uint64_t end;
    if (check_range(address, bytes, &end) != 0)
        return -EINVAL;
    if (end == address)
        return 0;
    const struct areas *areas = &mmu->areas;
    uint64_t covered = address;
    int64_t answer = 0;
    for (const struct area *area = areas_first_in(areas, address, end); area; area = areas_next_in(areas, area, end)) {
        if (area->view.start.v > covered)
            answer = -ENOMEM;
        covered = area_end(area);
        int error = discard_part(mmu, area, address, end);
        if (error)
            return -error;
    }
    return covered < end ? -ENOMEM : answer;
}
