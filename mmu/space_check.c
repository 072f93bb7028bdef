/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Invariants as functions: areas, tables and frames against each other, and a listing for people.
 */
#include <inttypes.h>
#include <sys/sysmacros.h>

#include "mmu/space_priv.h"

struct audit {
    const struct space *space;
    const uint64_t *zero_frame;
    uint64_t *seen; /* a bit a frame; NULL when there are none, or the host had no memory for it */
    uint64_t frames, zero, present[MMU_PAGE_SIZES];
};

static void audit_frame(struct audit *audit, uint64_t frame)
{
    C2_ASSERT(frames_is_taken(audit->space->frames, frame));
    if (audit->seen) {
        C2_ASSERT(!(audit->seen[frame / 64] >> (frame % 64) & 1));
        audit->seen[frame / 64] |= (uint64_t)1 << (frame % 64);
    }
    audit->frames++;
}

static void audit_zero(struct audit *audit, const struct area *area, uint64_t entry)
{
    C2_ASSERT(!area->backing && (entry & ~(ENTRY_ADDRESS | ENTRY_ACCESSED | ENTRY_ZERO)) ==
                                    (leaf_rights(area->view.prot) & ~ENTRY_WRITE));
    C2_ASSERT(entry_frame(entry) == (audit->zero_frame ? *audit->zero_frame : 0));
    C2_ASSERT(audit->zero_frame || !audit->space->frames);
    audit->present[MMU_PAGE_4K] += entry & ENTRY_PRESENT;
    audit->zero += entry & ENTRY_PRESENT;
}

static void audit_frames(struct audit *audit, uint64_t entry)
{
    const enum mmu_page_size size = entry_size(entry);
    if (!audit->space->frames) {
        C2_ASSERT(size == MMU_PAGE_4K && entry_frame(entry) == 0);
        return;
    }
    for (uint64_t i = 0; i < mmu_page_bytes(size) >> C2_PAGE_SHIFT; i++)
        audit_frame(audit, entry_frame(entry) + i);
}

static uint64_t audit_page(void *self, uint64_t va, uint64_t entry)
{
    struct audit *audit = self;
    const struct area *area = areas_at(&audit->space->areas, va);
    C2_ASSERT(area);
    if (entry & ENTRY_ZERO) {
        audit_zero(audit, area, entry);
        return entry;
    }
    uint64_t free_bits = ENTRY_ADDRESS | ENTRY_ACCESSED | ENTRY_DIRTY | ENTRY_LARGE | ENTRY_GIANT;
    C2_ASSERT((entry & ~free_bits) == leaf_rights(area->view.prot));
    C2_ASSERT(va + mmu_page_bytes(entry_size(entry)) <= area_end(area));
    audit_frames(audit, entry);
    audit->present[entry_size(entry)] += entry & ENTRY_PRESENT;
    return entry;
}

static void space_check_counts(const struct audit *audit)
{
    const struct mmu_counts *counts = &audit->space->counts;
    C2_ASSERT(audit->zero == counts->zero_present);
    C2_ASSERT(audit->present[MMU_PAGE_4K] == counts->small_present);
    C2_ASSERT(audit->present[MMU_PAGE_2M] == counts->huge_2m_present);
    C2_ASSERT(audit->present[MMU_PAGE_1G] == counts->huge_1g_present);
}

void space_check(const struct space *space, const uint64_t *zero_frame)
{
    struct audit audit = {.space = space, .zero_frame = zero_frame};
    if (space->frames) {
        audit.seen = c2_calloc(frames_total(space->frames) / 64 + 1, sizeof *audit.seen);
        frames_check(space->frames);
    }
    areas_check(&space->areas);
    uint64_t tables = tables_check(space->tables);
    tables_visit(space->tables, 0, MMU_ADDRESSES_END, audit_page, &audit);
    if (zero_frame)
        audit_frame(&audit, *zero_frame);
    C2_ASSERT(!space->frames || audit.frames + tables == frames_taken(space->frames));
    space_check_counts(&audit);
    c2_free(audit.seen);
}

/* A look takes time in proportion to the areas; so where they are many it is taken less often. */
enum { CHECKED_ONE_IN = 64, AREAS_A_CALL = 64 };

bool space_look(struct space *space)
{
    const uint64_t calls = areas_count(&space->areas) / AREAS_A_CALL;
    return ++space->calls % (calls > CHECKED_ONE_IN ? calls : CHECKED_ONE_IN) == 0;
}

/* ------------------------------------------------------------------ dump */

static const char *space_check_area_name(const struct mmu_area *area)
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
            minor(area->device), area->inode, space_check_area_name(area));
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

void space_dump(const struct space *space, FILE *to)
{
    for (const struct area *area = areas_find(&space->areas, 0); area; area = areas_next(&space->areas, area))
        dump_area(&area->view, to);
    tables_visit(space->tables, 0, MMU_ADDRESSES_END, dump_page, to);
}
