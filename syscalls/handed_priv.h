/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Memory that a child of vfork hands back to its parent.
 */
#ifndef C2_SYSCALLS_HANDED_PRIV_H
#define C2_SYSCALLS_HANDED_PRIV_H

#include <stdint.h>

struct syscalls;
struct call;

/* The parent, before the fork: makes the place where it comes back. 0 or -errno. */
int64_t handed_begin(struct syscalls *kernel);
/* The child, when it leaves the memory; nothing where there is no such place. */
void handed_give(struct syscalls *kernel);
/* The parent, when the child has left; ends the place. */
void handed_take(struct call *c);
/* Each page of private memory with one of these rights that no other process of the host has: those that were written
 * since the last fork are among them. */
typedef void (*handed_visit)(struct syscalls *kernel, uint64_t address);
void handed_each_own(struct syscalls *kernel, unsigned rights, handed_visit visit);
/* There is no such place any more; both. */
void handed_end(struct syscalls *kernel);

#endif
