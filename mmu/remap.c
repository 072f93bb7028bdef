/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   mremap(2): shrink in place, grow in place when the range above is free, otherwise move. What a move and the growth
 *   behind it have made is one mark.
 * Invariants
 *   A call that fails leaves everything as it was, except that MREMAP_FIXED may have unmapped its target, as in Linux.
 * Not modelled
 *   The duplicating of shared mappings by an old size of 0 (EINVAL).
 */
#include <errno.h>

#include "mmu/mmu_priv.h"

/* ------------------------------------------------------------------ growing */

/* Lengthens the area that ends at end; the range above is free. 0 or errno. */
static int mmu_remap_grow(struct mmu *mmu, uint64_t end, uint64_t bytes)
{
    struct area *area = areas_at(&mmu->space.areas, end - C2_PAGE_BYTES);
    struct area grown = {.view = {.start = {end}, .bytes = bytes, .prot = area->view.prot}};
    struct host_source source = mmu_source_of(mmu, &grown, -1);
    int error = mmu->host.room(mmu->host.self, false);
    if (!error)
        error = area->backing ? mmu->host.extend(mmu->host.self, end, bytes)
                              : mmu->host.map(mmu->host.self, end, bytes, &source);
    if (error)
        return error;
    if (area->backing) /* with the rights of the last page: it is closed, for which there was room */
        C2_ASSERT(rights_close(mmu, area, end, end + bytes) == 0);
    areas_resize(&mmu->space.areas, area, area->view.bytes + bytes);
    areas_merge(&mmu->space.areas, end, end + bytes);
    return 0;
}

static int64_t grow_in_place(struct mmu *mmu, uint64_t start, uint64_t end, uint64_t bytes)
{
    int error = mmu_remap_grow(mmu, end, bytes);
    if (error)
        return -error;
    space_tell_mapped(&mmu->space, end, end + bytes);
    mmu_mark_mapped(mmu, end, bytes);
    return (int64_t)start;
}

static bool can_grow(const struct mmu *mmu, uint64_t end, uint64_t bytes)
{
    return area_end(areas_at(&mmu->space.areas, end - C2_PAGE_BYTES)) == end && mmu_range_usable(end, bytes) == 0 &&
           areas_free(&mmu->space.areas, end, end + bytes);
}

/* ------------------------------------------------------------------ moving */

/* What a move to `to` leaves. Where the new place lies in the hole itself, the hole is no more than what moved. */
static struct host_hole hole_behind(const struct mmu *mmu, uint64_t from, uint64_t to, uint64_t bytes)
{
    const struct host_hole hole = mmu_hole_at(mmu, from, from + bytes);
    const bool into_hole = to < hole.high && to + bytes > hole.low;
    return into_hole ? (struct host_hole){.low = from, .high = from + bytes} : hole;
}

/* Moves part of an area to a free range, where it is of `kind`. 0 or errno. */
static int move_range(struct mmu *mmu, uint64_t from, uint64_t to, uint64_t bytes, enum mmu_kind kind)
{
    struct space_move move = {from, to, bytes, kind, false};
    int error = space_move_begin(&mmu->space, &move);
    if (error)
        return error;
    const struct host_hole hole = hole_behind(mmu, from, to, bytes);
    error = rights_move(mmu, from, from + bytes);
    if (!error)
        error = mmu->host.move(mmu->host.self, from, to, bytes, &hole);
    space_move_end(&mmu->space, &move, error == 0);
    const uint64_t now = error ? from : to;
    C2_ASSERT(rights_renew(mmu, now, now + bytes) == 0); /* nothing is cut that was not cut before */
    return error;
}

/* Moves and grows; a growth that fails moves back, for which there is room. */
static int64_t move_and_grow(struct mmu *mmu, uint64_t from, uint64_t to, uint64_t bytes, uint64_t growth)
{
    const enum mmu_kind kind = areas_at(&mmu->space.areas, from)->view.kind;
    const enum mmu_kind there = kind == MMU_FILE ? MMU_FILE : MMU_ANONYMOUS;
    int error = mmu->host.room(mmu->host.self, false);
    if (!error)
        error = areas_reserve(&mmu->space.areas, 4);
    if (!error)
        error = move_range(mmu, from, to, bytes, there);
    if (error)
        return -error;
    error = growth ? mmu_remap_grow(mmu, to + bytes, growth) : 0;
    if (error) {
        C2_ASSERT(move_range(mmu, to, from, bytes, kind) == 0);
        space_tell_mapped(&mmu->space, from, from + bytes);
        return -error;
    }
    space_tell_mapped(&mmu->space, to, to + bytes + growth);
    MMU_MARK(mmu, STREAM_MOVED, from, to, bytes, bytes + growth, there);
    return (int64_t)to;
}

/* ------------------------------------------------------------------ the call */

static int64_t remap_fixed(struct mmu *mmu, uint64_t old, uint64_t keep, uint64_t old_bytes, uint64_t to,
                           uint64_t new_bytes)
{
    int64_t refused = mmu_range_usable(to, new_bytes);
    if (refused)
        return refused;
    if (to < old + old_bytes && old < to + new_bytes)
        return -EINVAL;
    int error = mmu_unmap_range(mmu, to, to + new_bytes);
    if (!error && old_bytes > keep)
        error = mmu_unmap_range(mmu, old + keep, old + old_bytes);
    return error ? -error : move_and_grow(mmu, old, to, keep, new_bytes - keep);
}

static int64_t remap_grow(struct mmu *mmu, uint64_t old, uint64_t old_bytes, uint64_t new_bytes, bool may_move)
{
    uint64_t growth = new_bytes - old_bytes;
    if (can_grow(mmu, old + old_bytes, growth))
        return grow_in_place(mmu, old, old + old_bytes, growth);
    uint64_t to = may_move ? mmu_find_gap(mmu, new_bytes, MMU_ZONE_HIGH) : 0;
    return to ? move_and_grow(mmu, old, to, old_bytes, growth) : -ENOMEM;
}

static int64_t remap(struct mmu *mmu, uint64_t old, uint64_t old_bytes, uint64_t new_bytes, bool may_move, bool fixed,
                     uint64_t new_address)
{
    if (old % C2_PAGE_BYTES != 0 || (fixed && (!may_move || new_address % C2_PAGE_BYTES != 0)))
        return -EINVAL;
    if (old_bytes == 0 || new_bytes == 0 || old_bytes > MMU_WINDOW_END || new_bytes > MMU_WINDOW_END)
        return -EINVAL;
    old_bytes = c2_align_up(old_bytes, C2_PAGE_BYTES);
    new_bytes = c2_align_up(new_bytes, C2_PAGE_BYTES);
    uint64_t keep = old_bytes < new_bytes ? old_bytes : new_bytes;
    const struct area *area = areas_at(&mmu->space.areas, old);
    if (!area)
        return -EFAULT;
    if (!fixed && new_bytes <= old_bytes) {
        int error = mmu_unmap_range(mmu, old + new_bytes, old + old_bytes);
        return error ? -error : (int64_t)old;
    }
    if (area_end(area) < old + keep)
        return -EFAULT;
    if (host_kept_at(old, old + keep))
        return -ENOMEM;
    if (fixed)
        return remap_fixed(mmu, old, keep, old_bytes, new_address, new_bytes);
    return remap_grow(mmu, old, old_bytes, new_bytes, may_move);
}

int64_t mmu_remap(struct mmu *mmu, uint64_t old, uint64_t old_bytes, uint64_t new_bytes, bool may_move, bool fixed,
                  uint64_t new_address)
{
    const int64_t answer = remap(mmu, old, old_bytes, new_bytes, may_move, fixed, new_address);
    C2_PROMISE(mmu_holds(mmu));
    return answer;
}
