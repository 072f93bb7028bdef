/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Which first touches get a huge page. Anonymous memory only (heap, stack, mappings, the bss of programs): the
 *   aligned range of the huge size around the page must lie in one area and hold no page yet, and there must be a frame
 *   for it.
 *   Who wants one, first rule that fits:
 *     an area of MAP_HUGETLB, in its size;      a page whose line in the map file is huge, in that size;
 *     not an area of MADV_NOHUGEPAGE;           an area of MADV_HUGEPAGE, 2 MiB;
 *     a huge region, in config.huge_size, where the range lies in it whole;
 *     config.huge: thp 2 MiB everywhere, heap in the heap, all everywhere, both in config.huge_size.
 *   never, in config.huge, is stronger than the program's wishes, but not than a map.
 *   Small pages come where any of that fails. A huge page that is changed in part, or comes to lie in two areas, is
 *   split; its pieces keep their frames, and do not grow together again.
 * Counting
 *   huge_fallbacks: ranges that would have been huge and found no frame; once each, as the range is not empty
 *   afterwards.
 * Not modelled
 *   khugepaged, which collapses small pages later; sizes between 4 KiB and 2 MiB; the reserve of hugetlbfs (a mapping
 *   of MAP_HUGETLB always succeeds, and falls back to small pages).
 */
#include <errno.h>

#include "mmu/mmu_priv.h"

const char *mmu_huge_name(enum mmu_huge huge)
{
    static const char *const names[] = {[MMU_HUGE_ASKED] = "off",
                                        [MMU_HUGE_NEVER] = "never",
                                        [MMU_HUGE_THP] = "thp",
                                        [MMU_HUGE_HEAP] = "heap",
                                        [MMU_HUGE_ALL] = "all"};
    return (unsigned)huge < sizeof names / sizeof names[0] ? names[huge] : "unknown";
}

static enum mmu_page_size size_of_config(const struct mmu *mmu)
{
    return mmu->config.huge_size == MMU_PAGE_4K ? MMU_PAGE_2M : mmu->config.huge_size;
}

static enum mmu_page_size wanted_by_config(const struct mmu *mmu, const struct area *area)
{
    switch (mmu->config.huge) {
    case MMU_HUGE_THP:
        return MMU_PAGE_2M;
    case MMU_HUGE_HEAP:
        return area->view.kind == MMU_HEAP ? size_of_config(mmu) : MMU_PAGE_4K;
    case MMU_HUGE_ALL:
        return size_of_config(mmu);
    case MMU_HUGE_ASKED:
    case MMU_HUGE_NEVER:
        break;
    }
    return MMU_PAGE_4K;
}

/* The map is that of the policy that would place the small page. *region is the huge region that speaks. */
static enum mmu_page_size wanted(const struct mmu *mmu, uint64_t page, const struct area *area, size_t *region)
{
    enum mmu_page_size size;
    *region = mmu->config.huge_region_count;
    if (area->backing)
        return MMU_PAGE_4K;
    const struct pagemap *map = frames_map(mmu->frames, mmu_policy_of(mmu, area, page, MMU_PAGE_4K));
    if (map && pagemap_size_at(map, page >> C2_PAGE_SHIFT, &size) && size != MMU_PAGE_4K)
        return size;
    if (mmu->config.huge == MMU_HUGE_NEVER)
        return MMU_PAGE_4K;
    if (area->hugetlb)
        return (enum mmu_page_size)area->hugetlb;
    if (area->huge_refused)
        return MMU_PAGE_4K;
    if (area->huge_wanted)
        return MMU_PAGE_2M;
    size = size_of_config(mmu);
    *region = mmu_huge_region_of(mmu, area, c2_align_down(page, mmu_page_bytes(size)), size);
    return *region < mmu->config.huge_region_count ? size : wanted_by_config(mmu, area);
}

void mmu_log(struct mmu *mmu, uint64_t va, uint64_t frame, enum mmu_page_size size)
{
    if (mmu->config.log_placements)
        pagemap_log_add(&mmu->log, va >> C2_PAGE_SHIFT, frame, size);
}

/* For those that no region speaks for, the last row counts. */
static void count(struct mmu *mmu, enum mmu_page_size size, size_t by, size_t region)
{
    mmu_count_placed(&mmu->placed_by[by], size);
    mmu_count_placed(&mmu->enlarged_by[region], size);
    mmu->counts.huge_2m += size == MMU_PAGE_2M;
    mmu->counts.huge_1g += size == MMU_PAGE_1G;
    mmu->counts.faults++;
}

/* The tables come first, as with small pages; should they be lacking, so are frames, and the small page says so. */
bool mmu_place_huge(struct mmu *mmu, uint64_t page, const struct area *area)
{
    size_t region;
    enum mmu_page_size size = wanted(mmu, page, area, &region);
    uint64_t bytes = mmu_page_bytes(size), base = c2_align_down(page, bytes), frame;
    if (size == MMU_PAGE_4K || base < area->view.start.v || base + bytes > area_end(area) ||
        !tables_empty(mmu->tables, base, size) || tables_prepare(mmu->tables, base, size, NULL) != C2_OK)
        return false;
    size_t by = mmu_policy_of(mmu, area, base, size);
    if (frames_place_by(mmu->frames, by, base >> C2_PAGE_SHIFT, size, &frame) != FRAMES_PLACED) {
        tables_prune(mmu->tables, base);
        mmu->enlarged_by[region].huge_fallbacks++;
        mmu->counts.huge_fallbacks++;
        return false;
    }
    tables_set(mmu->tables, base, frame << C2_PAGE_SHIFT | mmu_leaf_rights(area->view.prot) | entry_huge_bits(size));
    mmu_log(mmu, base, frame, size);
    count(mmu, size, by, region);
    return true;
}

/* ------------------------------------------------------------------ splitting */

/* Whoever remembers a translation remembers its size too. */
static int split_across(struct mmu *mmu, uint64_t va)
{
    uint64_t entry = va < MMU_WINDOW_END ? tables_get(mmu->tables, va) : 0, bytes = mmu_page_bytes(entry_size(entry));
    if (!(entry & ENTRY_LARGE) || va % bytes == 0)
        return 0;
    uint64_t base = c2_align_down(va, bytes);
    mmu_notify_before(mmu, base, base + bytes);
    int error = tables_split(mmu->tables, va, NULL) == C2_OK ? 0 : ENOMEM;
    mmu_notify_after(mmu, base, base + bytes, mmu_range_code(mmu, base, base + bytes));
    return error;
}

int mmu_split_at(struct mmu *mmu, uint64_t start, uint64_t end)
{
    int error = split_across(mmu, start);
    return error ? error : split_across(mmu, end);
}

int mmu_split_for_move(struct mmu *mmu, uint64_t start, uint64_t end, uint64_t distance)
{
    if (mmu->counts.huge_2m + mmu->counts.huge_1g == 0)
        return 0;
    for (int size = MMU_PAGE_1G; size > MMU_PAGE_4K; size--) {
        uint64_t bytes = mmu_page_bytes((enum mmu_page_size)size);
        if (distance % bytes == 0)
            return 0;
        /* A boundary in the middle of every aligned range of the size splits what is of the size. */
        for (uint64_t at = c2_align_down(start, bytes); at < end; at += bytes) {
            uint64_t inside = at + bytes / 512;
            if (inside > start && inside < end && tables_split(mmu->tables, inside, NULL) != C2_OK)
                return ENOMEM;
        }
    }
    return 0;
}

/* ------------------------------------------------------------------ what a program asks for */

int64_t mmu_advise_huge_alone(struct mmu *mmu, uint64_t address, uint64_t bytes, bool huge)
{
    uint64_t end = address + c2_align_up(bytes, C2_PAGE_BYTES);
    if (address % C2_PAGE_BYTES != 0 || end < address)
        return -EINVAL;
    struct areas *areas = &mmu->areas;
    if (areas_reserve(areas, 2) != 0 || mmu_split_at(mmu, address, end) != 0)
        return -ENOMEM;
    areas_split(areas, address);
    areas_split(areas, end);
    for (struct area *area = areas_first_in(areas, address, end); area; area = areas_next_in(areas, area, end)) {
        area->huge_wanted = huge;
        area->huge_refused = !huge;
    }
    areas_merge(areas, address, end);
    return 0;
}

enum mmu_page_size mmu_config_heap_page(const struct mmu_config *config)
{
    bool huge = config->huge == MMU_HUGE_HEAP || config->huge == MMU_HUGE_ALL;
    for (size_t i = 0; i < config->huge_region_count; i++)
        huge |= config->huge_regions[i].kind == MMU_REGION_HEAP;
    enum mmu_page_size wish = !huge ? MMU_PAGE_4K : config->huge_size == MMU_PAGE_1G ? MMU_PAGE_1G : MMU_PAGE_2M;
    return wish > config->heap_page ? wish : config->heap_page;
}

uint64_t mmu_heap_step(const struct mmu *mmu) { return mmu_page_bytes(mmu_config_heap_page(&mmu->config)); }

uint64_t mmu_heap_start(const struct mmu *mmu) { return c2_align_up(MMU_HEAP_BASE, mmu_heap_step(mmu)); }

/* ------------------------------------------------------------------ the map of a run */

enum c2_status mmu_pagemap_write(const struct mmu *mmu, FILE *to, bool textproto, struct c2_error *err)
{
    if (!mmu->config.log_placements)
        return c2_fail(err, C2_ERR_INVALID, "the placements of this run were not recorded");
    return pagemap_log_write(&mmu->log, to, textproto, err);
}
