/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Memory that children do not get as it is: madvise with MADV_DONTFORK and MADV_WIPEONFORK.
 */
#ifndef C2_SYSCALLS_HEIRS_PRIV_H
#define C2_SYSCALLS_HEIRS_PRIV_H

#include "syscalls/ranges_priv.h"

struct call;
struct syscalls;

/* Of a process. */
struct heirs {
    struct page_ranges kept_back; /* MADV_DONTFORK */
    struct page_ranges wiped;     /* MADV_WIPEONFORK */
};

void heirs_clear(struct heirs *heirs);
/* What is mapped there now has no such advice; and what was moved has that of where it was. */
void heirs_forget(struct heirs *heirs, uint64_t start, uint64_t end);
void heirs_move(struct heirs *heirs, uint64_t from, uint64_t from_end, uint64_t to, uint64_t to_end);
/* Of those four; the range is whole pages that are mapped. 0 or -errno. */
int64_t heirs_advise(struct call *c, uint64_t start, uint64_t end, int advice);
/* Whether nothing of what is mapped there is of a file, or shared. */
bool memory_is_private(const struct syscalls *kernel, uint64_t start, uint64_t end);
void heirs_checkpoint(struct heirs *heirs, struct checkpoint *c);

#endif
