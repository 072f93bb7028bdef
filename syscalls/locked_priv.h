/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Memory that is locked: mlock and its kin.
 */
#ifndef C2_SYSCALLS_LOCKED_PRIV_H
#define C2_SYSCALLS_LOCKED_PRIV_H

#include "syscalls/ranges_priv.h"

struct call;
struct checkpoint;
struct syscalls;

/* Of a process. */
struct locked {
    struct page_ranges ranges; /* marked: what is there already, and the rest once it is touched */
    bool future;               /* mlockall(MCL_FUTURE): what is mapped is locked, */
    bool lazily;               /* MCL_ONFAULT: and not made resident */
};

void locked_clear(struct locked *locked); /* nothing is, and nothing will be */
/* Before and after a mapping of so many bytes: -EAGAIN, where it would be locked, and is too much; then it is locked
 * and made resident. `always`: MAP_LOCKED. */
int64_t locked_may_map(const struct syscalls *kernel, uint64_t bytes, bool always);
int64_t locked_mapped(struct call *c, uint64_t start, uint64_t bytes, bool always);
/* Makes what is mapped there resident, as far as its rights allow. 0, or -ENOMEM where they do not. */
int64_t locked_populate(struct call *c, uint64_t start, uint64_t bytes);
void locked_checkpoint(struct locked *locked, struct checkpoint *c);

#endif
