/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Signals that tell of descriptors: input and output (O_ASYNC), and files that others want to open (leases).
 */
#ifndef C2_SYSCALLS_NOTICES_PRIV_H
#define C2_SYSCALLS_NOTICES_PRIV_H

#include "syscalls/fds_priv.h"

void notices_create(struct syscalls *kernel);
/* The commands of fcntl about owners, signals and leases: true, and the answer. */
bool notices_fcntl(struct call *c, struct fd_entry *entry, int command, int64_t *value);
/* O_ASYNC is about to be set, by fcntl or by FIOASYNC: the host's notices of the file become the guest's. */
int64_t notices_begin(struct syscalls *kernel, const struct fd_entry *entry);
/* Makes signals of what the host has told this process: behind every call, and when its turn begins. */
void notices_collect(struct syscalls *kernel);
bool notices_has_leases(const struct syscalls *kernel); /* an open may have to wait for one of the run's processes */

#endif
