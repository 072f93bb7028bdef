/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   brk(2): the heap grows up from MMU_HEAP_BASE (or the next multiple of its pages' size) in whole pages, huge ones
 *   when the heap is to have those (the rest of the last one is accessible then, as with hugetlbfs); the break itself
 *   is kept to the byte. A break that cannot be had - below the base, into another mapping or the page tables, or more
 *   than the machine's memory at once - leaves everything, and the answer is the break that stands.
 * Not modelled
 *   RLIMIT_DATA.
 */
#include "mmu/mmu_priv.h"

static bool grow_heap(struct mmu *mmu, uint64_t from, uint64_t to)
{
    uint64_t memory = mmu->config.guest_bytes ? mmu->config.guest_bytes : mmu->config.physical_bytes;
    if (to - from > memory || !areas_free(&mmu->areas, from, to))
        return false;
    struct mmu_request request = {.address = from,
                                  .bytes = to - from,
                                  .prot = MMU_READ | MMU_WRITE,
                                  .fixed = true,
                                  .kind = MMU_HEAP,
                                  .host_fd = -1};
    return mmu_map_alone(mmu, &request) >= 0;
}

uint64_t mmu_brk_alone(struct mmu *mmu, uint64_t address)
{
    if (address < mmu_heap_start(mmu) || address > MMU_TABLES_BASE)
        return mmu->brk;
    uint64_t step = mmu_heap_step(mmu);
    uint64_t old_end = c2_align_up(mmu->brk, step), new_end = c2_align_up(address, step);
    bool done = true;
    if (new_end > old_end)
        done = grow_heap(mmu, old_end, new_end);
    else if (new_end < old_end)
        done = mmu_unmap_range(mmu, new_end, old_end) == 0;
    if (done)
        mmu->brk = address;
    return mmu->brk;
}
