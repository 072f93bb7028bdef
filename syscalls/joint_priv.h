/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Processes that have their memory in common: clone with CLONE_VM and without CLONE_VFORK.
 */
#ifndef C2_SYSCALLS_JOINT_PRIV_H
#define C2_SYSCALLS_JOINT_PRIV_H

#include "base/base.h"

struct syscalls;

/* A process's part in it; all 0: its memory is its own. */
struct joint {
    struct joint_store *store; /* shared by all that have the memory */
    uint64_t seen;             /* the version of the store that its memory is of */
    uint32_t most;             /* pages that the store has room for; set before there is one, it stays */
};

/* Before a fork whose child is to have the memory too. 0 or -errno. */
int64_t joint_begin(struct syscalls *kernel);
void joint_cancel(struct syscalls *kernel); /* the fork has failed */
/* The process's memory is as the store now, and the store as its memory: when it gives its turn on, or forks; and when
 * it has the turn again. C2_ERR_EXHAUSTED: they have written more than the store has room for. */
void joint_give(struct syscalls *kernel);
enum c2_status joint_take(struct syscalls *kernel, struct c2_error *err);
/* Others have it without this process from now on; or, in a child, this one has a copy of its own. */
void joint_leave(struct syscalls *kernel);
void joint_separate(struct syscalls *kernel);
/* What words of memory are known by: the same number in all processes that have it. */
uint64_t joint_number(const struct syscalls *kernel);

#endif
