/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What threads have asked of the scheduler, in all processes of the run.
 *
 * Model
 *   Nice values, policies, priorities of input and output and affinities are kept, shown and inherited as on Linux, and
 *   change nothing: threads take turns. A list in memory that all processes share has those that differ from what a
 *   program starts with, so that others can see and change them.
 *
 * Not modelled
 *   Policies and nice values for which a user needs rights (EPERM, EACCES): those of real time, with deadlines, and
 *   nice values below what RLIMIT_NICE allows.
 */
#include "syscalls/priorities_priv.h"

#include <sched.h>

#include "syscalls/kernel_priv.h"

enum { IO_MOST = 0xffff };

static const struct priority first = {.policy = SCHED_OTHER, .affinity = UINT64_MAX};

static struct priorities *list_of(const struct syscalls *kernel) { return &kernel->processes->priorities; }

/* Its index; `used` of the list: it has asked for nothing. */
static uint32_t priorities_find(const struct priorities *all, uint32_t tid)
{
    uint32_t i = 0;
    while (i < all->used && !(all->list[i].used && all->list[i].tid == tid))
        i++;
    return i;
}

struct priority priorities_of(const struct syscalls *kernel, uint32_t tid)
{
    const struct priorities *all = list_of(kernel);
    const uint32_t i = priorities_find(all, tid);
    return i < all->used ? all->list[i].is : first;
}

static bool priorities_same(const struct priority *a, const struct priority *b)
{
    return a->nice == b->nice && a->policy == b->policy && a->resets == b->resets && a->io == b->io &&
           a->affinity == b->affinity;
}

static void priorities_forget(struct priorities *all, uint32_t i)
{
    all->list[i].used = false;
    while (all->used > 0 && !all->list[all->used - 1].used)
        all->used--;
}

static uint32_t find_free(const struct priorities *all)
{
    uint32_t i = 0;
    while (i < all->used && all->list[i].used)
        i++;
    return i;
}

bool priorities_set(struct syscalls *kernel, uint32_t pid, uint32_t tid, const struct priority *priority)
{
    struct priorities *all = list_of(kernel);
    uint32_t i = priorities_find(all, tid);
    if (priorities_same(priority, &first)) {
        if (i < all->used)
            priorities_forget(all, i);
        return true;
    }
    if (i == all->used)
        i = find_free(all);
    if (i == PRIORITIES_MOST)
        return false;
    all->used = i < all->used ? all->used : i + 1;
    all->list[i].used = true;
    all->list[i].pid = pid;
    all->list[i].tid = tid;
    all->list[i].is = *priority;
    return true;
}

void priorities_inherit(struct syscalls *kernel, uint32_t pid, uint32_t tid)
{
    if (!kernel->current || !kernel->processes)
        return; /* the first thread of all */
    struct priority priority = priorities_of(kernel, kernel->current->tid);
    if (priority.resets) {
        priority.nice = priority.nice < 0 ? 0 : priority.nice;
        priority.resets = false;
    }
    (void)priorities_set(kernel, pid, tid, &priority);
}

void priorities_end(struct syscalls *kernel, uint32_t tid)
{
    struct priorities *all = list_of(kernel);
    const uint32_t i = priorities_find(all, tid);
    if (i < all->used)
        priorities_forget(all, i);
}

void priorities_end_others(struct syscalls *kernel, uint32_t pid, uint32_t kept, uint32_t as)
{
    struct priorities *all = list_of(kernel);
    for (uint32_t i = all->used; i-- > 0;)
        if (i < all->used && all->list[i].used && all->list[i].pid == pid && all->list[i].tid != kept)
            priorities_forget(all, i);
    const uint32_t i = priorities_find(all, kept);
    if (i < all->used)
        all->list[i].tid = as;
}

void priorities_checkpoint(struct syscalls *kernel, uint32_t tid, struct checkpoint *c)
{
    enum { LOWEST = 20, NICES = 39, POLICIES = SCHED_IDLE };
    struct priority priority = priorities_of(kernel, tid);
    uint64_t nice = (uint64_t)(priority.nice + LOWEST);
    checkpoint_number(c, &nice, NICES);
    CHECKPOINT_NUMBER(c, *(uint32_t *)&priority.policy, POLICIES);
    CHECKPOINT_NUMBER(c, priority.resets, 1);
    CHECKPOINT_NUMBER(c, priority.io, IO_MOST);
    checkpoint_number(c, &priority.affinity, CHECKPOINT_ANY);
    priority.nice = (int)nice - LOWEST;
    if (!checkpoint_writes(c) && checkpoint_status(c, NULL) == C2_OK &&
        !priorities_set(kernel, kernel->pid, tid, &priority))
        checkpoint_damaged(c, "more threads with priorities than there can be");
}
