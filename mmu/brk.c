/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   brk(2): the heap grows up from where the layout has it, a multiple of its pages' size, in whole pages, huge ones
 *   when the heap is to have those (the rest of the last one is accessible then, as with hugetlbfs); the break itself
 *   is kept to the byte. A break that cannot be had - below the base, into another mapping or the page tables, or more
 *   than the machine's memory at once - leaves everything, and the answer is the break that stands.
 * Not modelled
 *   RLIMIT_DATA, which is asked for before (syscalls/limits.c).
 */
#include "mmu/mmu_priv.h"

static bool grow_heap(struct mmu *mmu, uint64_t from, uint64_t to)
{
    if (to - from > mmu->config.guest_bytes || !areas_free(&mmu->space.areas, from, to))
        return false;
    struct mmu_request request = {.address = from,
                                  .bytes = to - from,
                                  .prot = MMU_READ | MMU_WRITE,
                                  .fixed = true,
                                  .kind = MMU_HEAP,
                                  .host_fd = -1};
    return mmu_map_range(mmu, &request) >= 0;
}

static void move_break(struct mmu *mmu, uint64_t address)
{
    uint64_t step = mmu_page_bytes(mmu->config.heap_page);
    if (address < mmu->layout.heap || address > MMU_TABLES_BASE)
        return;
    uint64_t old_end = c2_align_up(mmu->brk, step), new_end = c2_align_up(address, step);
    bool done = true;
    if (new_end > old_end)
        done = grow_heap(mmu, old_end, new_end);
    else if (new_end < old_end)
        done = mmu_unmap_range(mmu, new_end, old_end) == 0;
    if (done)
        mmu->brk = address;
}

uint64_t mmu_brk(struct mmu *mmu, uint64_t address)
{
    move_break(mmu, address);
    C2_PROMISE(mmu_holds(mmu));
    return mmu->brk;
}
