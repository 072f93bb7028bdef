/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Daemons that are left when the program is over.
 */
#ifndef C2_SYSCALLS_DAEMONS_PRIV_H
#define C2_SYSCALLS_DAEMONS_PRIV_H

#include <stdint.h>

struct syscalls;

/* The first process is at its end; guest time in ns. */
void daemons_first_ended(struct syscalls *kernel, uint64_t now);
/* When this process is to be ended as one that is left; KERNEL_NEVER. */
uint64_t daemons_next(const struct syscalls *kernel);
/* Sends what is due by now. */
void daemons_expire(struct syscalls *kernel, uint64_t instructions);

#endif
