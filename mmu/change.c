/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   munmap(2), mprotect(2) and madvise(2), on whole pages, with Linux's answers: munmap passes over holes; mprotect
 *   does what lies before the first hole and then answers ENOMEM; a discard does every mapped part and then answers
 *   ENOMEM. Where the page tables lie there are no rights to be had (ENOMEM). Pages of a shared mapping live in the
 *   file, so a discard leaves them. What was done before a failure is marked too.
 */
#include <errno.h>

#include "mmu/mmu_priv.h"

/* 0 and the end of the range in *end, or -errno. */
static int64_t change_check_range(uint64_t address, uint64_t bytes, uint64_t *end)
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
    if (!error)
        space_clear(&mmu->space, start, end);
    return error;
}

/* Area by area, as far as the host goes along: *reach is where that ends. */
static int unmap_areas(struct mmu *mmu, uint64_t start, uint64_t end, uint64_t *reach)
{
    const struct area *area = NULL;
    int error = 0;
    while (!error && (area = areas_first_in(&mmu->space.areas, start, end)))
        error = unmap_area(mmu, area->view.start.v, area_end(area));
    *reach = error ? area->view.start.v : end;
    return error;
}

int mmu_unmap_range(struct mmu *mmu, uint64_t start, uint64_t end)
{
    struct space *space = &mmu->space;
    if (areas_free(&space->areas, start, end))
        return 0;
    int error = mmu->host.room(mmu->host.self, true);
    if (!error)
        error = space_isolate(space, start, end);
    if (error)
        return error;
    const bool code = space_has_code(space, start, end);
    uint64_t reach;
    space_begin(space);
    error = unmap_areas(mmu, start, end, &reach);
    areas_merge(&space->areas, start, end);
    space_end(space, start, end, code);
    if (reach > start)
        MMU_MARK(mmu, STREAM_UNMAPPED, start, reach - start);
    return error;
}

int64_t mmu_unmap(struct mmu *mmu, uint64_t address, uint64_t bytes)
{
    uint64_t end;
    if (bytes == 0 || change_check_range(address, bytes, &end) != 0 || end > (uint64_t)1 << 47)
        return -EINVAL;
    const int error = mmu_unmap_range(mmu, address, end);
    C2_PROMISE(mmu_holds(mmu));
    return -error;
}

/* ------------------------------------------------------------------ mprotect */

/* Where mprotect has to stop: *answer states why when that is not the end. */
static uint64_t protectable_end(const struct mmu *mmu, uint64_t start, uint64_t end, unsigned prot, int64_t *answer)
{
    *answer = 0;
    while (start < end) {
        const struct area *area = areas_at(&mmu->space.areas, start);
        if (!area || ((prot & MMU_WRITE) && !area->may_write)) {
            *answer = area ? -EACCES : -ENOMEM;
            return start;
        }
        const uint64_t reach = area_end(area) < end ? area_end(area) : end;
        const struct host_kept *kept = prot ? host_kept_at(start, reach) : NULL;
        if (kept) {
            *answer = -ENOMEM;
            return start < kept->start ? kept->start : start;
        }
        start = area_end(area);
    }
    return end;
}

static int protect_range(struct mmu *mmu, uint64_t start, uint64_t end, unsigned prot)
{
    int error = start < end ? areas_reserve(&mmu->space.areas, 2) : 0;
    if (!error && start < end)
        error = rights_protect(mmu, start, end, prot);
    if (!error && start < end)
        C2_ASSERT(space_protect(&mmu->space, start, end, prot) == 0); /* no page is huge */
    if (!error && start < end)
        MMU_MARK(mmu, STREAM_PROTECTED, start, end - start, prot);
    C2_PROMISE(mmu_holds(mmu));
    return error;
}

int64_t mmu_protect(struct mmu *mmu, uint64_t address, uint64_t bytes, unsigned prot)
{
    uint64_t end;
    int64_t refused = change_check_range(address, bytes, &end);
    if (refused)
        return refused;
    if (prot & ~7u)
        return -EINVAL;
    int64_t answer;
    const uint64_t reach = protectable_end(mmu, address, end, prot, &answer);
    const int error = protect_range(mmu, address, reach, mmu_rights_of(mmu, prot));
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
    int error = rights_close(mmu, area, from, to);
    if (!error)
        error = mmu->host.discard(mmu->host.self, from, to - from);
    if (!error)
        error = space_discard(&mmu->space, from, to);
    if (!error)
        MMU_MARK(mmu, STREAM_DISCARDED, from, to - from);
    return error;
}

static int64_t discard_range(struct mmu *mmu, uint64_t start, uint64_t end)
{
    const struct mmu_areas *areas = &mmu->space.areas;
    uint64_t covered = start;
    int64_t answer = 0;
    for (const struct area *area = areas_first_in(areas, start, end); area; area = areas_next_in(areas, area, end)) {
        if (area->view.start.v > covered)
            answer = -ENOMEM;
        covered = area_end(area);
        int error = discard_part(mmu, area, start, end);
        if (error)
            return -error;
    }
    return covered < end ? -ENOMEM : answer;
}

int64_t mmu_discard(struct mmu *mmu, uint64_t address, uint64_t bytes)
{
    uint64_t end;
    if (change_check_range(address, bytes, &end) != 0)
        return -EINVAL;
    if (end == address)
        return 0;
    const int64_t answer = discard_range(mmu, address, end);
    C2_PROMISE(mmu_holds(mmu));
    return answer;
}

int64_t mmu_advise_huge(struct mmu *mmu, uint64_t address, uint64_t bytes, bool huge)
{
    uint64_t end;
    if (change_check_range(address, bytes, &end) != 0)
        return -EINVAL;
    if (space_advise(&mmu->space, address, end, huge) != 0)
        return -ENOMEM;
    if (end > address)
        MMU_MARK(mmu, STREAM_ADVISED, address, end - address, huge);
    C2_PROMISE(mmu_holds(mmu));
    return 0;
}
