/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * tlb: translation lookaside buffers and page-walk caches of one core. A library in its own right: give it a side, a
 * virtual address and the size of its page, and it says how many page-table entries a walk would read. It keeps no
 * translations, only which pages it would have: what an address is translated to is mmu.h's business.
 */
#ifndef C2_MMU_TLB_H
#define C2_MMU_TLB_H

#include "base/base.h"

#define MMU_TLB_NAME_BYTES 16
#define MMU_TLB_STRUCTURES 16
#define MMU_TLB_WAYS 128

/* Who asks. */
enum mmu_tlb_side { MMU_TLB_LOAD, MMU_TLB_STORE, MMU_TLB_FETCH, MMU_TLB_SIDES };
#define MMU_TLB_BIT(what) (1u << (what)) /* of a side, or of a kind */

/* What an entry is about: a page, or a page-table entry that points to a table. The order matters to tlb.c. */
enum mmu_tlb_kind { MMU_TLB_4K, MMU_TLB_2M, MMU_TLB_1G, MMU_TLB_PDE, MMU_TLB_PDPTE, MMU_TLB_PML4E, MMU_TLB_KINDS };
#define MMU_TLB_PAGE_KINDS 3

enum mmu_tlb_place { MMU_TLB_FIRST, MMU_TLB_SECOND, MMU_TLB_WALK };

enum mmu_tlb_policy {
    MMU_TLB_LRU,
    MMU_TLB_TREE_PLRU,  /* ways a power of two, at most 64 */
    MMU_TLB_MRU3_PLRU4, /* 12 ways: 3 groups of 4; the group after the one used last, in it tree-PLRU */
};

struct mmu_tlb_structure {
    char name[MMU_TLB_NAME_BYTES];
    enum mmu_tlb_place place;
    unsigned sides;         /* bits; not of a page-walk cache, which every side shares */
    unsigned holds;         /* bits of kinds; a page-walk cache holds no pages, a first level nothing else */
    uint32_t entries, ways; /* entries / ways sets, a power of two */
    enum mmu_tlb_policy policy;
    uint8_t second_fold; /* 0: set = low bits of the number of the page (or table entry's region); else these are
                             * xor-ed with as many bits from this one on */
};

struct mmu_tlb_config {
    uint32_t count; /* at most MMU_TLB_STRUCTURES */
    struct mmu_tlb_structure structure[MMU_TLB_STRUCTURES];
};

struct mmu_tlb;
/* The config is copied. C2_ERR_INVALID names the structure and the rule it breaks. */
enum c2_status mmu_tlb_create(struct mmu_tlb **out, const struct mmu_tlb_config *config, struct c2_error *err);
void mmu_tlb_destroy(struct mmu_tlb *tlb);

/* Whether the side has a first level; only then may it access. */
bool mmu_tlb_has(const struct mmu_tlb *tlb, enum mmu_tlb_side side);
/* Whether loads and stores have first levels of their own. */
bool mmu_tlb_split(const struct mmu_tlb *tlb);

/* One access to a page. entry_count: page-table entries from the root to its leaf: 4, 3, 2 for pages of 4K, 2M, 1G.
 * Returns how many of them, the last ones, a walk reads; 0: no walk. */
unsigned mmu_tlb_access(struct mmu_tlb *tlb, enum mmu_tlb_side side, struct guest_va va, unsigned entry_count);
/* Accesses so far that the first level missed, of all sides. Lent until destroy, current after each access. */
const uint64_t *mmu_tlb_first_misses(const struct mmu_tlb *tlb);
/* Adds n accesses to the page of the side's last access. Where loads and stores share their first levels either may
 * have been the last. They change nothing but counts. n is taken modulo 2^64, so one may be taken back. */
void mmu_tlb_repeat(struct mmu_tlb *tlb, enum mmu_tlb_side side, uint64_t n);

/* INVLPG of every page of the range: drops the entries of pages that touch it, and all that page-walk caches hold. A
 * repeat may not follow before the next access. */
void mmu_tlb_forget(struct mmu_tlb *tlb, struct guest_va start, uint64_t bytes);

struct mmu_tlb_counts {
    uint64_t accesses, misses;
};
struct mmu_tlb_walks {
    uint64_t count; /* misses of the last level there is */
    uint64_t reads; /* of page-table entries */
};
const struct mmu_tlb_config *mmu_tlb_config(const struct mmu_tlb *tlb);                     /* lent until destroy */
const struct mmu_tlb_counts *mmu_tlb_counts(const struct mmu_tlb *tlb, uint32_t structure); /* lent until destroy */
const struct mmu_tlb_walks *mmu_tlb_walks(const struct mmu_tlb *tlb);                       /* lent until destroy */
/* Bytes that a structure full of pages of one size translates; 0 if it does not hold them. */
uint64_t mmu_tlb_coverage(const struct mmu_tlb_structure *structure, enum mmu_tlb_kind page);

void mmu_tlb_check(const struct mmu_tlb *tlb);
void mmu_tlb_dump(const struct mmu_tlb *tlb, FILE *to);

#endif
