/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The set of mapped areas.
 */
#ifndef C2_MMU_AREAS_PRIV_H
#define C2_MMU_AREAS_PRIV_H

#include "mmu/mmu.h"

#define AREAS_LIMIT 65530 /* Linux's vm.max_map_count */

/* What lies behind an area that is not private anonymous memory; shared by the pieces of a mapping. Two of one file, or
 * of one piece of anonymous memory, are the same when areas are joined. */
struct backing {
    uint64_t references;
    uint64_t inode, device; /* anonymous: inode is the number of the piece of memory, and device 0 */
    bool anonymous;         /* shared anonymous memory: no path */
    char path[];
};
/* path NULL: anonymous. NULL: no memory. */
struct backing *backing_create(const char *path, uint64_t inode, uint64_t device);
void backing_release(struct backing *backing); /* takes NULL */

struct area {
    struct c2_node node;            /* of areas.tree; its key is view.start */
    uint64_t low, high, widest;     /* of the subtree: its first byte, its end, and its widest hole between areas */
    struct mmu_area view;           /* view.offset counts in the backing, also for shared anonymous memory */
    struct backing *backing;        /* NULL: private anonymous */
    bool may_write;                 /* false: shared, and the descriptor did not allow writing */
    bool huge_wanted, huge_refused; /* madvise: MADV_HUGEPAGE, MADV_NOHUGEPAGE */
    uint8_t hugetlb;                /* MAP_HUGETLB: enum mmu_page_size; 0: no */
};

/* What the view states of an area that is not private anonymous memory, by its backing; offset: of its start there. */
void area_describe(struct area *area, uint64_t offset);

struct mmu_areas {
    struct c2_tree tree;
    struct area *spare; /* by node.left */
    size_t spares;
    size_t limit; /* no more areas than these; 0: as many as there is memory for */
};

static inline size_t areas_count(const struct mmu_areas *areas) { return areas->tree.count; }
static inline uint64_t area_end(const struct area *area) { return area->view.start.v + area->view.bytes; }
/* Whether page tables lie in [start, end): an area there has no rights. */
static inline bool areas_meet_tables(uint64_t start, uint64_t end)
{
    return start < MMU_TABLES_END && end > MMU_TABLES_BASE;
}
void areas_release(struct mmu_areas *areas);
/* Room for `extra` more areas, so that changes cannot fail half way. 0, or ENOMEM. */
int areas_reserve(struct mmu_areas *areas, size_t extra);
/* An area stays where it is until it is removed or merged into the one below. */
struct area *areas_find(const struct mmu_areas *areas, uint64_t va); /* the first that ends above va, or NULL */
struct area *areas_at(const struct mmu_areas *areas, uint64_t va);   /* NULL if va is not mapped */
struct area *areas_next(const struct mmu_areas *areas, const struct area *area); /* NULL after the last */
struct area *areas_before(const struct mmu_areas *areas, uint64_t va); /* the last that begins below va, or NULL */
/* Find and next, but only those that begin below end: for (a = first_in(start); a; a = next_in(a)). */
struct area *areas_first_in(const struct mmu_areas *areas, uint64_t start, uint64_t end);
struct area *areas_next_in(const struct mmu_areas *areas, const struct area *area, uint64_t end);
bool areas_free(const struct mmu_areas *areas, uint64_t start, uint64_t end);
void areas_split(struct mmu_areas *areas, uint64_t va); /* makes va a boundary; room for one is reserved */
/* Adds a copy of the area where nothing is; takes over its reference of the backing. Room for one is reserved. */
void areas_insert(struct mmu_areas *areas, const struct area *area);
void areas_resize(struct mmu_areas *areas, struct area *area, uint64_t bytes); /* room above it is free */
void areas_remove(struct mmu_areas *areas, uint64_t start, uint64_t end);      /* both are boundaries */
/* Joins like neighbours in or at [start, end]. */
void areas_merge(struct mmu_areas *areas, uint64_t start, uint64_t end);
/* The highest (lowest) start of a free range of bytes inside [bottom, top); 0 if there is none. */
uint64_t areas_gap_down(const struct mmu_areas *areas, uint64_t bottom, uint64_t top, uint64_t bytes);
uint64_t areas_gap_up(const struct mmu_areas *areas, uint64_t bottom, uint64_t top, uint64_t bytes);
void areas_check(const struct mmu_areas *areas);

#endif
