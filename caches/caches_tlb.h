/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * caches_tlb: the TLBs and page-walk caches of one core. The model card is in tlb.c.
 */
#ifndef C2_CACHES_TLB_H
#define C2_CACHES_TLB_H

#include "caches/caches_machine.h"

/* ------------------------------------------------------------------ TLBs
 * The translation lookaside buffers and page-walk caches of one core, as a machine describes them. Give them a side, a
 * virtual address and the number of page-table entries on the way to its page, and they say how many of these a walk
 * would read. They keep no translations, only which pages they would have. */
struct caches_tlbs;
/* The descriptions are copied; at most CACHES_MAX_TLBS. C2_ERR_INVALID names the TLB and the rule it breaks. */
enum c2_status caches_tlbs_create(struct caches_tlbs **out, const struct caches_tlb *tlbs, uint32_t count,
                                  struct c2_error *err);
void caches_tlbs_destroy(struct caches_tlbs *tlbs);

/* Whether the side has a first level; only then may it access. */
bool caches_tlbs_has(const struct caches_tlbs *tlbs, enum caches_tlb_side side);

struct caches_tlb_found; /* caches_fast.h */
/* One access to a page. entry_count: page-table entries from the root to its leaf: 4, 3, 2 for pages of 4K, 2M, 1G.
 * Returns how many of them, the last ones, a walk reads; 0: no walk. *found says where the page is then; it may be
 * NULL. If it is not, it is what the last access to the page has left there, or caches_tlb_nowhere. */
unsigned caches_tlbs_access(struct caches_tlbs *tlbs, enum caches_tlb_side side, struct guest_va va,
                            unsigned entry_count, struct caches_tlb_found *found);
/* Accesses so far that the first level missed, of all sides. Lent until destroy, current after each access. */
const uint64_t *caches_tlbs_first_misses(const struct caches_tlbs *tlbs);
/* INVLPG of every page of the range: drops the entries of pages that touch it, and all that page-walk caches hold. Says
 * how many entries of pages there were. */
uint32_t caches_tlbs_forget(struct caches_tlbs *tlbs, struct guest_va start, uint64_t bytes);

struct caches_tlb_counts {
    uint64_t accesses, misses;
};
struct caches_walk_counts {
    uint64_t count; /* misses of the last level there is */
    uint64_t reads; /* of page-table entries */
};
/* All lent until destroy; i counts in the order of creation. */
uint32_t caches_tlbs_count(const struct caches_tlbs *tlbs);
const struct caches_tlb *caches_tlbs_at(const struct caches_tlbs *tlbs, uint32_t i);
const struct caches_tlb_counts *caches_tlbs_counts(const struct caches_tlbs *tlbs, uint32_t i);
const struct caches_walk_counts *caches_tlbs_walks(const struct caches_tlbs *tlbs);
/* Bytes that a TLB full of pages of one size translates; 0 if it does not hold them. */
uint64_t caches_tlb_coverage(const struct caches_tlb *tlb, enum caches_tlb_kind page);

void caches_tlbs_check(const struct caches_tlbs *tlbs);
void caches_tlbs_dump(const struct caches_tlbs *tlbs, FILE *to);

#endif
