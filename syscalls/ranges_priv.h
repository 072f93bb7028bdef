/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Ranges of pages that a call has marked: locked ones, and those that children do not inherit as they are.
 */
#ifndef C2_SYSCALLS_RANGES_PRIV_H
#define C2_SYSCALLS_RANGES_PRIV_H

#include "base/base.h"

struct checkpoint;

struct page_range {
    uint64_t start, end; /* whole pages */
    bool marked;         /* what that is, is the owner's to define */
};
struct page_ranges {
    struct page_range *list; /* ascending, apart from each other */
    uint32_t count, room;
};

void ranges_clear(struct page_ranges *ranges); /* what is there is released */
/* Joined with what is like it and touches it: 0, or -ENOMEM. */
int64_t ranges_add(struct page_ranges *ranges, uint64_t start, uint64_t end, bool marked);
void ranges_forget(struct page_ranges *ranges, uint64_t start, uint64_t end); /* no memory is needed for whole areas */
uint64_t ranges_bytes(const struct page_ranges *ranges, uint64_t start, uint64_t end);
uint64_t ranges_first(const struct page_ranges *ranges, uint64_t from); /* the first such page from there; UINT64_MAX */
/* Where that changes behind `from`, on the way to the end. */
uint64_t ranges_border(const struct page_ranges *ranges, uint64_t from, uint64_t end);
void ranges_checkpoint(struct page_ranges *ranges, struct checkpoint *c);

#endif
