/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Which first touches get a huge page. Anonymous memory only (heap, stack, mappings, the bss of programs): the
 *   aligned range of the huge size around the page must lie in one area and hold no page yet, and there must be a frame
 *   for it.
 *   Which pages are huge, first rule that fits:
 *     an area of MAP_HUGETLB, in its size;      a page whose line in the map file is huge, in that size;
 *     not an area of MADV_NOHUGEPAGE;           an area of MADV_HUGEPAGE, 2 MiB;
 *     a huge region, in config.huge_size, where the range lies in it whole;
 *     config.huge: thp 2 MiB everywhere, heap in the heap, all everywhere, both in config.huge_size.
 *   never, in config.huge, is stronger than the program's wishes, but not than a map.
 *   Small pages come where any of that fails. (What becomes of a huge page that is changed in part: split.c.)
 * Counting
 *   huge_fallbacks: ranges that would have been huge and found no frame; once each, as the range is not empty
 *   afterwards.
 * Not modelled
 *   khugepaged, which collapses small pages later; sizes between 4 KiB and 2 MiB; the reserve of hugetlbfs (a mapping
 *   of MAP_HUGETLB always succeeds, and falls back to small pages).
 */
#include "mmu/replica_priv.h"

static enum mmu_page_size size_of_config(const struct mmu_replica *replica)
{
    C2_PROMISE(replica->config.huge_size < MMU_PAGE_SIZES);
    return replica->config.huge_size == MMU_PAGE_4K ? MMU_PAGE_2M : replica->config.huge_size;
}

static enum mmu_page_size wanted_by_config(const struct mmu_replica *replica, const struct area *area)
{
    switch (replica->config.huge) {
    case MMU_HUGE_THP:
        return MMU_PAGE_2M;
    case MMU_HUGE_HEAP:
        return area->view.kind == MMU_HEAP ? size_of_config(replica) : MMU_PAGE_4K;
    case MMU_HUGE_ALL:
        return size_of_config(replica);
    case MMU_HUGE_ASKED:
    case MMU_HUGE_NEVER:
        break;
    }
    return MMU_PAGE_4K;
}

/* The map is that of the policy that would place the small page. *region is the huge region that speaks. */
static enum mmu_page_size mmu_huge_wanted(const struct mmu_replica *replica, uint64_t page, const struct area *area,
                                          size_t *region)
{
    C2_PROMISE(page % C2_PAGE_BYTES == 0);
    enum mmu_page_size size;
    *region = replica->config.huge_region_count;
    if (area->backing)
        return MMU_PAGE_4K;
    const struct pagemap *map = frames_map(replica->space.frames,
                                           rules_policy_of(&replica->config, area, page, MMU_PAGE_4K));
    if (map && pagemap_size_at(map, page >> C2_PAGE_SHIFT, &size) && size != MMU_PAGE_4K)
        return size;
    if (replica->config.huge == MMU_HUGE_NEVER)
        return MMU_PAGE_4K;
    if (area->hugetlb)
        return (enum mmu_page_size)area->hugetlb;
    if (area->huge_refused)
        return MMU_PAGE_4K;
    if (area->huge_wanted)
        return MMU_PAGE_2M;
    size = size_of_config(replica);
    *region = rules_huge_region_of(&replica->config, area, c2_align_down(page, mmu_page_bytes(size)), size);
    return *region < replica->config.huge_region_count ? size : wanted_by_config(replica, area);
}

/* For those that no region speaks for, the last row counts. */
static void mmu_huge_count(struct mmu_replica *replica, enum mmu_page_size size, size_t by, size_t region)
{
    C2_PROMISE(size != MMU_PAGE_4K && region <= replica->config.huge_region_count);
    rules_count(&replica->placed_by[by], size);
    rules_count(&replica->enlarged_by[region], size);
    replica->space.counts.huge_2m += size == MMU_PAGE_2M;
    replica->space.counts.huge_1g += size == MMU_PAGE_1G;
    replica->space.counts.faults++;
}

/* The tables come first, as with small pages; should they be lacking, so are frames, and the small page reports it. */
bool replica_place_huge(struct mmu_replica *replica, uint64_t page, const struct area *area)
{
    C2_PROMISE(area->view.start.v <= page && page < area_end(area));
    size_t region;
    enum mmu_page_size size = mmu_huge_wanted(replica, page, area, &region);
    uint64_t bytes = mmu_page_bytes(size), base = c2_align_down(page, bytes), frame;
    if (size == MMU_PAGE_4K || base < area->view.start.v || base + bytes > area_end(area) ||
        !tables_empty(replica->space.tables, base, size) ||
        tables_prepare(replica->space.tables, base, size, NULL) != C2_OK)
        return false;
    size_t by = rules_policy_of(&replica->config, area, base, size);
    if (frames_place_by(replica->space.frames, by, base >> C2_PAGE_SHIFT, size, &frame) != FRAMES_PLACED) {
        tables_prune(replica->space.tables, base);
        replica->enlarged_by[region].huge_fallbacks++;
        replica->space.counts.huge_fallbacks++;
        return false;
    }
    tables_set(replica->space.tables, base,
               frame << C2_PAGE_SHIFT | leaf_rights(area->view.prot) | entry_huge_bits(size));
    replica_log(replica, base, frame, size);
    mmu_huge_count(replica, size, by, region);
    return true;
}
