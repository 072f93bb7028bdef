/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Memory that a child hands back to its parent: of vfork, and of clone with CLONE_VM.
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
/* There is no such place any more; both. */
void handed_end(struct syscalls *kernel);

#endif
