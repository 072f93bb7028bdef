/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Invariants as functions: areas, tables and frames against each other, and a listing for people.
 */
#include <inttypes.h>
#include <sys/sysmacros.h>

#include "mmu/mmu_priv.h"

struct audit {
    const struct mmu *mmu;
    uint64_t *seen; /* a bit a frame; NULL when the host had no memory for it */
    uint64_t frames, zero, present[MMU_PAGE_SIZES];
};

static void audit_frame(struct audit *audit, uint64_t frame)
{
    C2_ASSERT(frames_is_taken(audit->mmu->frames, frame));
    if (audit->seen) {
        C2_ASSERT(!(audit->seen[frame / 64] >> (frame % 64) & 1));
        audit->seen[frame / 64] |= (uint64_t)1 << (frame % 64);
    }
    audit->frames++;
}

static uint64_t audit_page(void *self, uint64_t va, uint64_t entry)
{
    struct audit *audit = self;
    const struct area *area = areas_at(&audit->mmu->areas, va);
    C2_ASSERT(area);
    if (entry & ENTRY_ZERO) {
        C2_ASSERT(audit->mmu->has_zero_frame && entry_frame(entry) == audit->mmu->zero_frame && !area->backing);
        C2_ASSERT((entry & ~(ENTRY_ADDRESS | ENTRY_ACCESSED | ENTRY_ZERO)) ==
                  (mmu_leaf_rights(area->view.prot) & ~ENTRY_WRITE));
        audit->present[MMU_PAGE_4K] += entry & ENTRY_PRESENT;
        audit->zero += entry & ENTRY_PRESENT;
        return entry;
    }
    uint64_t free_bits = ENTRY_ADDRESS | ENTRY_ACCESSED | ENTRY_DIRTY | ENTRY_LARGE | ENTRY_GIANT;
    C2_ASSERT((entry & ~free_bits) == mmu_leaf_rights(area->view.prot));
    enum mmu_page_size size = entry_size(entry);
    C2_ASSERT(va + mmu_page_bytes(size) <= area_end(area));
    for (uint64_t i = 0; i < mmu_page_bytes(size) >> C2_PAGE_SHIFT; i++)
        audit_frame(audit, entry_frame(entry) + i);
    audit->present[size] += entry & ENTRY_PRESENT;
    return entry;
}

/* Every page has been placed by one policy. */
static void check_placed(const struct mmu *mmu)
{
    struct mmu_rule_counts sum = {0};
    for (size_t i = 0; i <= mmu->config.rule_count; i++) {
        sum.small_pages += mmu->placed_by[i].small_pages;
        sum.huge_2m += mmu->placed_by[i].huge_2m;
        sum.huge_1g += mmu->placed_by[i].huge_1g;
    }
    C2_ASSERT(sum.small_pages == mmu->counts.small_pages);
    C2_ASSERT(sum.huge_2m == mmu->counts.huge_2m && sum.huge_1g == mmu->counts.huge_1g);
}

void mmu_check(const struct mmu *mmu)
{
    struct audit audit = {.mmu = mmu, .seen = c2_calloc(frames_total(mmu->frames) / 64 + 1, sizeof *audit.seen)};
    areas_check(&mmu->areas);
    frames_check(mmu->frames);
    uint64_t tables = tables_check(mmu->tables);
    tables_visit(mmu->tables, 0, MMU_WINDOW_END, audit_page, &audit);
    const struct mmu_counts *counts = &mmu->counts;
    if (mmu->has_zero_frame)
        audit_frame(&audit, mmu->zero_frame);
    C2_ASSERT(audit.frames + tables == frames_taken(mmu->frames));
    C2_ASSERT(audit.zero == counts->zero_present);
    check_placed(mmu);
    C2_ASSERT(audit.present[MMU_PAGE_4K] == counts->small_present);
    C2_ASSERT(audit.present[MMU_PAGE_2M] == counts->huge_2m_present);
    C2_ASSERT(audit.present[MMU_PAGE_1G] == counts->huge_1g_present);
    C2_ASSERT(counts->small_pages + counts->huge_2m + counts->huge_1g + counts->zero_pages ==
              counts->faults + counts->zero_copies);
    c2_free(audit.seen);
    if (mmu->lead)
        mmu_lead_check(mmu);
}

/* ------------------------------------------------------------------ dump */

static const char *area_name(const struct mmu_area *area)
{
    switch (area->kind) {
    case MMU_FILE:
        return area->path;
    case MMU_HEAP:
        return "[heap]";
    case MMU_STACK:
        return "[stack]";
    case MMU_ANONYMOUS:
        break;
    }
    return "";
}

static void dump_area(const struct mmu_area *area, FILE *to)
{
    fprintf(to, "%08" PRIx64 "-%08" PRIx64 " %c%c%c%c %08" PRIx64 " %02x:%02x %" PRIu64 " %s\n", area->start.v,
            area->start.v + area->bytes, area->prot & MMU_READ ? 'r' : '-', area->prot & MMU_WRITE ? 'w' : '-',
            area->prot & MMU_EXEC ? 'x' : '-', area->shared ? 's' : 'p', area->offset, major(area->device),
            minor(area->device), area->inode, area_name(area));
}

static uint64_t dump_page(void *self, uint64_t va, uint64_t entry)
{
    fprintf(self, "page %012" PRIx64 " frame %07" PRIx64 " %s%c%c%c%c%c%s\n", va, entry_frame(entry),
            entry_size(entry) == MMU_PAGE_4K   ? ""
            : entry_size(entry) == MMU_PAGE_2M ? "2M "
                                               : "1G ",
            entry & ENTRY_PRESENT ? 'p' : '-', entry & ENTRY_WRITE ? 'w' : '-',
            entry & ENTRY_PRESENT && !(entry & ENTRY_NOEXEC) ? 'x' : '-', entry & ENTRY_ACCESSED ? 'a' : '-',
            entry & ENTRY_DIRTY ? 'd' : '-', entry & ENTRY_ZERO ? " zero" : "");
    return entry;
}

void mmu_dump(const struct mmu *mmu, FILE *to)
{
    for (const struct area *area = areas_find(&mmu->areas, 0); area; area = areas_next(&mmu->areas, area))
        dump_area(&area->view, to);
    tables_visit(mmu->tables, 0, MMU_WINDOW_END, dump_page, to);
    fprintf(to, "%s placement: %" PRIu64 " of %" PRIu64 " frames taken, %" PRIu64 " by page tables\n",
            mmu_placement_name(mmu->config.placement), frames_taken(mmu->frames), frames_total(mmu->frames),
            mmu->counts.table_pages);
}
