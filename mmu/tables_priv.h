/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The 4-level page tables in their arena.
 */
#ifndef C2_MMU_TABLES_PRIV_H
#define C2_MMU_TABLES_PRIV_H

#include "mmu/frames_priv.h"

/* Entries as the hardware has them; KEPT GIANT ZERO and NOEXEC use bits that it ignores (see tables.c). Without frames
 * the address of a leaf is 0. */
#define ENTRY_PRESENT ((uint64_t)1 << 0)
#define ENTRY_WRITE ((uint64_t)1 << 1)
#define ENTRY_USER ((uint64_t)1 << 2)
#define ENTRY_ACCESSED ((uint64_t)1 << 5)
#define ENTRY_DIRTY ((uint64_t)1 << 6)
#define ENTRY_LARGE ((uint64_t)1 << 7)      /* above the lowest level: a leaf, of 2 MiB or 1 GiB */
#define ENTRY_KEPT ((uint64_t)1 << 9)       /* leaf, not present: the page was touched, and has no rights */
#define ENTRY_GIANT ((uint64_t)1 << 10)     /* with LARGE: of 1 GiB */
#define ENTRY_ZERO ((uint64_t)1 << 11)      /* leaf, present or kept: the zero page, as nothing was written yet */
#define ENTRY_NOEXEC ((uint64_t)1 << 52)    /* leaf, present: instruction fetches are denied */
#define ENTRY_ADDRESS 0x000000fffffff000ull /* bits 12..39: a frame, or an arena address */

/* Where tables may lie: `memory` is the host's view of `pages` pages that an engine sees at `address`. commit makes
 * pages [first, first + count) usable (0 or errno); NULL: they are. */
struct tables_arena {
    unsigned char *memory;
    uint64_t address;
    uint64_t pages;
    int (*commit)(void *self, uint64_t first, uint64_t count);
    void *self;
};

/* Whether [start, end) is of whole pages, or empty. */
static inline bool tables_is_range(uint64_t start, uint64_t end)
{
    return start <= end && (start | end) % C2_PAGE_BYTES == 0;
}

struct tables;
/* frames: where tables get theirs; NULL: they have none. counts: table_pages and what is present are kept up to date
 * there. */
enum c2_status tables_create(struct tables **out, const struct tables_arena *arena, struct frames *frames,
                             struct mmu_counts *counts, struct c2_error *err);
void tables_destroy(struct tables *tables);
/* Code that keeps leaves is notified when those have been taken away or changed: between the two calls, which nest,
 * they may be. */
void tables_tell(struct tables *tables, bool begins);

uint64_t tables_root(const struct tables *tables);
/* The host's view of the arena; how much of it was committed; and that it is elsewhere now, with the same bytes. */
unsigned char *tables_memory(const struct tables *tables);
uint64_t tables_committed(const struct tables *tables);
void tables_moved(struct tables *tables, unsigned char *memory);
/* The leaf entry of va, 0 if none; of a huge page as if va's 4 KiB had an entry, with their frame. Any thread. */
uint64_t tables_get(const struct tables *tables, uint64_t va);
/* The simulated physical address of each entry from the root's to va's leaf; how many there are, 0 when the page is
 * not present. Any thread. */
#define TABLES_LEVELS 4
unsigned tables_walk(const struct tables *tables, uint64_t va, uint64_t address[TABLES_LEVELS]);
/* Makes the tables down to va's leaf of this size exist; on failure none was added. No larger page lies there.
 * C2_ERR_EXHAUSTED: no frame is left for them. */
enum c2_status tables_prepare(struct tables *tables, uint64_t va, enum mmu_page_size size, struct c2_error *err);
/* Whether no page, present or kept, lies in the aligned range of this size around va. */
bool tables_empty(const struct tables *tables, uint64_t va, enum mmu_page_size size);
/* Splits huge pages until none lies across va. On failure some may be split. C2_ERR_EXHAUSTED as above. */
enum c2_status tables_split(struct tables *tables, uint64_t va, struct c2_error *err);
/* Frees the tables on the path to va that hold nothing. */
void tables_prune(struct tables *tables, uint64_t va);
/* Sets the leaf entry of va, whose tables exist; its LARGE and GIANT tell the level. entry is not 0. */
void tables_set(struct tables *tables, uint64_t va, uint64_t entry);

/* Visits every leaf entry that is not 0 in [start, end), ascending; the entry becomes what visit returns, and tables
 * that end up empty are freed. Huge pages are visited once, with their first address, which may lie below start; only
 * those that lie inside the range whole may be changed. visit may set entries outside [start, end) whose tables hold
 * other entries or were prepared by itself. */
typedef uint64_t tables_visitor(void *self, uint64_t va, uint64_t entry);
void tables_visit(struct tables *tables, uint64_t start, uint64_t end, tables_visitor *visit, void *self);

/* Asserts the shape of every table; returns how many there are. */
uint64_t tables_check(const struct tables *tables);

static inline enum mmu_page_size entry_size(uint64_t entry)
{
    return !(entry & ENTRY_LARGE) ? MMU_PAGE_4K : entry & ENTRY_GIANT ? MMU_PAGE_1G : MMU_PAGE_2M;
}
static inline uint64_t entry_huge_bits(enum mmu_page_size size)
{
    return size == MMU_PAGE_4K ? 0 : size == MMU_PAGE_2M ? ENTRY_LARGE : ENTRY_LARGE | ENTRY_GIANT;
}
static inline uint64_t entry_frame(uint64_t entry) { return (entry & ENTRY_ADDRESS) >> C2_PAGE_SHIFT; }

#endif
