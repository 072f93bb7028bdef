/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Descriptors of processes.
 */
#ifndef C2_SYSCALLS_PIDFDS_PRIV_H
#define C2_SYSCALLS_PIDFDS_PRIV_H

#include "syscalls/call_priv.h"

/* The process of the descriptor; 0: it is none of a process. Whether a wait for it may wait (no O_NONBLOCK). */
uint32_t pidfds_process(struct syscalls *kernel, uint64_t fd);
bool pidfds_waits(struct syscalls *kernel, uint64_t fd);
/* A new one, closed by execve: its number or -errno. */
int64_t pidfds_add(struct syscalls *kernel, uint32_t process, int flags);

#endif
