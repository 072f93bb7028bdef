/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   A page gets its frame at its first touch, by the policy of its rule (rules.c, frames.c), or with a huge page around
 *   it (huge.c): what is touched later in there has its frame already.
 *   With config.zero_page a page of private anonymous memory whose first access reads (the guest's, or its kernel's on
 *   its behalf) gets the zero page instead: one frame for all of them, without the right to write. The first write
 *   gives the page a frame of its own, by the policy; listeners are told. The frame is taken at the first such access,
 *   after the page's tables, as if for another table; no page owns it, and nothing gives it back.
 * Counting
 *   faults counts the accesses that made a page present; small_pages, huge_2m and huge_1g pages that got a frame;
 *   zero_pages those that did not, zero_copies those of them that got one later. So faults + zero_copies = the others.
 * Not modelled
 *   Linux's huge zero page: where huge pages are wanted, reading takes one. Linux keeps the zero page from boot on, in
 *   its own memory.
 * Cost
 *   Two or three walks over a binary tree of frames.
 */
#include "mmu/replica_priv.h"

void replica_log(struct mmu_replica *replica, uint64_t va, uint64_t frame, enum mmu_page_size size)
{
    C2_PROMISE(va % mmu_page_bytes(size) == 0 && frame % (mmu_page_bytes(size) >> C2_PAGE_SHIFT) == 0);
    if (replica->config.log_placements)
        pagemap_log_add(&replica->log, va >> C2_PAGE_SHIFT, frame, size);
}

static enum c2_status log_room(struct mmu_replica *replica, struct c2_error *err)
{
    return replica->config.log_placements ? pagemap_log_reserve(&replica->log, err) : C2_OK;
}

/* A small page by the policy; its tables exist and the log has room. */
static enum c2_status place_small(struct mmu_replica *replica, uint64_t page, const struct area *area,
                                  struct c2_error *err)
{
    C2_PROMISE(page % C2_PAGE_BYTES == 0 && area->view.prot);
    struct space *space = &replica->space;
    uint64_t frame;
    size_t by = rules_policy_of(&replica->config, area, page, MMU_PAGE_4K);
    enum frames_answer answer = frames_place_by(space->frames, by, page >> C2_PAGE_SHIFT, MMU_PAGE_4K, &frame);
    if (answer != FRAMES_PLACED)
        return refuse_placement(replica, by, answer, page, frame, err);
    tables_set(space->tables, page, frame << C2_PAGE_SHIFT | leaf_rights(area->view.prot));
    replica_log(replica, page, frame, MMU_PAGE_4K);
    rules_count(&replica->placed_by[by], MMU_PAGE_4K);
    space->counts.small_pages++;
    return C2_OK;
}

static enum c2_status map_zero(struct mmu_replica *replica, uint64_t page, const struct area *area,
                               struct c2_error *err)
{
    C2_PROMISE(!area->backing && replica->config.zero_page);
    struct space *space = &replica->space;
    if (!replica->has_zero_frame && !frames_take_top(space->frames, &replica->zero_frame)) {
        tables_prune(space->tables, page);
        return refuse_frames(replica, page, err);
    }
    replica->has_zero_frame = true;
    uint64_t rights = leaf_rights(area->view.prot) & ~ENTRY_WRITE;
    tables_set(space->tables, page, replica->zero_frame << C2_PAGE_SHIFT | rights | ENTRY_ZERO);
    space->counts.zero_pages++;
    return C2_OK;
}

static enum c2_status copy_zero(struct mmu_replica *replica, uint64_t page, const struct area *area,
                                struct c2_error *err)
{
    C2_PROMISE(area->view.prot & MMU_WRITE && !area->backing);
    struct space *space = &replica->space;
    enum c2_status status = log_room(replica, err);
    if (status != C2_OK)
        return status;
    space_begin(space);
    status = place_small(replica, page, area, err);
    space_end(space, page, page + C2_PAGE_BYTES, area->view.prot & MMU_EXEC);
    space->counts.zero_copies += status == C2_OK;
    return status;
}

static enum c2_status place_first_touch(struct mmu_replica *replica, uint64_t page, const struct area *area,
                                        enum mmu_access access, struct c2_error *err)
{
    C2_PROMISE(page % C2_PAGE_BYTES == 0);
    enum c2_status status = log_room(replica, err);
    if (status != C2_OK || replica_place_huge(replica, page, area))
        return status;
    status = tables_prepare(replica->space.tables, page, MMU_PAGE_4K, err);
    if (status != C2_OK)
        return status == C2_ERR_EXHAUSTED ? refuse_frames(replica, page, err) : status;
    const bool zero = replica->config.zero_page && access != MMU_ACCESS_WRITE && !area->backing;
    status = zero ? map_zero(replica, page, area, err) : place_small(replica, page, area, err);
    replica->space.counts.faults += status == C2_OK;
    return status;
}

enum c2_status replica_touch(struct mmu_replica *replica, const struct area *area, uint64_t va, enum mmu_access access,
                             struct c2_error *err)
{
    C2_PROMISE(area->view.start.v <= va && va < area_end(area));
    const uint64_t page = c2_align_down(va, C2_PAGE_BYTES), entry = tables_get(replica->space.tables, page);
    if (entry & ENTRY_ZERO && access == MMU_ACCESS_WRITE)
        return copy_zero(replica, page, area, err);
    return entry & ENTRY_PRESENT ? C2_OK : place_first_touch(replica, page, area, access, err);
}
