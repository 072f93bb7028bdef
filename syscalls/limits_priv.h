/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The program's own limits on its memory.
 */
#ifndef C2_SYSCALLS_LIMITS_PRIV_H
#define C2_SYSCALLS_LIMITS_PRIV_H

#include "syscalls/call_priv.h"

/* Before so many bytes more are mapped, data (private and writable) or not, in the place of what lies in `replaced`
 * bytes from `address` on: 0, or -ENOMEM. */
int64_t limits_may_map(const struct syscalls *kernel, uint64_t bytes, bool data, uint64_t address, uint64_t replaced);
/* Before what lies there becomes writable: 0, or -ENOMEM. */
int64_t limits_may_write(const struct syscalls *kernel, uint64_t address, uint64_t bytes);
/* RLIMIT_STACK has changed, or the program has: as far as the stack may grow it is mapped, and no further. */
void limits_set_stack(struct syscalls *kernel);

#endif
