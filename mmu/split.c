/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   A huge page that is changed in part, or comes to lie in two areas, is split into pages of the next smaller size as
 *   often as that is needed; its pieces keep their frames, and do not grow together again. Where no page is huge there
 *   is nothing to split.
 */
#include <errno.h>

#include "mmu/space_priv.h"

int space_errno(enum c2_status status) { return status == C2_OK ? 0 : status == C2_ERR_EXHAUSTED ? ENOSPC : ENOMEM; }

/* A kept translation has its size too. */
static int split_across(struct space *space, uint64_t va)
{
    C2_ASSERT(va % C2_PAGE_BYTES == 0);
    uint64_t entry = va < MMU_ADDRESSES_END ? tables_get(space->tables, va) : 0;
    uint64_t bytes = mmu_page_bytes(entry_size(entry));
    if (!(entry & ENTRY_LARGE) || va % bytes == 0)
        return 0;
    uint64_t base = c2_align_down(va, bytes);
    space_begin(space);
    int error = space_errno(tables_split(space->tables, va, NULL));
    space_end(space, base, base + bytes, space_has_code(space, base, base + bytes));
    return error;
}

int space_split_at(struct space *space, uint64_t start, uint64_t end)
{
    C2_ASSERT(tables_is_range(start, end));
    int error = split_across(space, start);
    return error ? error : split_across(space, end);
}

int space_split_for_move(struct space *space, uint64_t start, uint64_t end, uint64_t distance)
{
    C2_ASSERT(tables_is_range(start, end) && distance % C2_PAGE_BYTES == 0);
    if (space->counts.huge_2m + space->counts.huge_1g == 0)
        return 0;
    for (int size = MMU_PAGE_1G; size > MMU_PAGE_4K; size--) {
        uint64_t bytes = mmu_page_bytes((enum mmu_page_size)size);
        if (distance % bytes == 0)
            return 0;
        /* A boundary in the middle of every aligned range of the size splits what is of the size. */
        for (uint64_t at = c2_align_down(start, bytes); at < end; at += bytes) {
            uint64_t inside = at + bytes / 512;
            enum c2_status status = inside > start && inside < end ? tables_split(space->tables, inside, NULL) : C2_OK;
            if (status != C2_OK)
                return space_errno(status);
        }
    }
    return 0;
}
