/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Scheduling, as the guest asks for it: processors on which threads take turns, one at a
 * time, without priorities. A thread's number says on which it runs; what it asks for is kept, and changes nothing.
 */
#include <sched.h>
#include <string.h>
#include <time.h>

#include "syscalls/kernel_priv.h"

/* The caller, or another of the threads. */
static bool is_thread(const struct call *c, uint64_t tid)
{
    return (int)tid == 0 || threads_find(c->kernel, (uint32_t)tid);
}

uint64_t sched_all(const struct syscalls *kernel) { return UINT64_MAX >> (SYSCALLS_PROCESSORS - kernel->processors); }

uint32_t sched_processor(const struct syscalls *kernel, const struct kernel_thread *thread)
{
    return thread->number % kernel->processors;
}

/* NULL: there is no such thread. */
static struct kernel_thread *thread_of(const struct call *c, uint64_t tid)
{
    return (int)tid == 0 ? c->kernel->current : threads_find(c->kernel, (uint32_t)tid);
}

int64_t sched_yield_call(struct call *c)
{
    if (c->kernel->thread_count > 1)
        c->result->action = SYSCALLS_YIELD;
    return 0;
}

int64_t sched_get_affinity(struct call *c)
{
    uint64_t mask, bytes = (uint32_t)c->arg[1];
    if (bytes < sizeof mask || bytes % sizeof mask)
        return -EINVAL;
    if (!is_thread(c, c->arg[0]))
        return -ESRCH;
    const struct kernel_thread *thread = thread_of(c, c->arg[0]); /* NULL: the first, which has ended */
    mask = sched_all(c->kernel) & (thread ? thread->affinity : UINT64_MAX);
    int64_t status = guest_write(c, c->arg[2], &mask, sizeof mask);
    return status < 0 ? status : (int64_t)sizeof mask;
}

int64_t sched_set_affinity(struct call *c)
{
    uint64_t mask = 0, bytes = (uint32_t)c->arg[1];
    int64_t status = guest_read(c, &mask, c->arg[2], bytes < sizeof mask ? bytes : sizeof mask);
    if (status < 0)
        return status;
    if (!is_thread(c, c->arg[0]))
        return -ESRCH;
    if ((mask & sched_all(c->kernel)) == 0)
        return -EINVAL;
    struct kernel_thread *thread = thread_of(c, c->arg[0]);
    if (thread)
        thread->affinity = mask;
    return 0;
}

int64_t sched_get_policy(struct call *c) { return is_thread(c, c->arg[0]) ? SCHED_OTHER : -ESRCH; }

int64_t sched_get_param(struct call *c) { return is_thread(c, c->arg[0]) ? 0 : -ESRCH; /* priority 0 is there */ }

int64_t sched_set_param(struct call *c)
{
    if (!is_thread(c, c->arg[0]))
        return -ESRCH;
    return ((const struct sched_param *)c->ptr[1])->sched_priority == 0 ? 0 : -EINVAL;
}

int64_t sched_set_policy(struct call *c)
{
    int policy = (int)c->arg[1] & ~SCHED_RESET_ON_FORK;
    if (!is_thread(c, c->arg[0]))
        return -ESRCH;
    if (policy == SCHED_FIFO || policy == SCHED_RR)
        return -EPERM;
    if (policy != SCHED_OTHER && policy != SCHED_BATCH && policy != SCHED_IDLE)
        return -EINVAL;
    return ((const struct sched_param *)c->ptr[2])->sched_priority == 0 ? 0 : -EINVAL;
}

static bool is_real_time(uint64_t policy) { return policy == SCHED_FIFO || policy == SCHED_RR; }

static bool is_policy(uint64_t policy)
{
    return is_real_time(policy) || policy == SCHED_OTHER || policy == SCHED_BATCH || policy == SCHED_IDLE;
}

int64_t sched_priority_max(struct call *c)
{
    if (!is_policy(c->arg[0]))
        return -EINVAL;
    return is_real_time(c->arg[0]) ? 99 : 0;
}

int64_t sched_priority_min(struct call *c)
{
    if (!is_policy(c->arg[0]))
        return -EINVAL;
    return is_real_time(c->arg[0]) ? 1 : 0;
}

int64_t sched_interval(struct call *c)
{
    if (!is_thread(c, c->arg[0]))
        return -ESRCH;
    ((struct timespec *)c->ptr[1])->tv_nsec = 4000000;
    return 0;
}

enum { OF_PROCESS = 1, OF_USER = 3, INPUT_CLASSES = 13, INPUT_REAL_TIME = 1, INPUT_LAST = 3 };

static int64_t check_input_priority(const struct call *c)
{
    if (c->arg[0] < OF_PROCESS || c->arg[0] > OF_USER)
        return -EINVAL;
    return c->arg[0] == OF_PROCESS && !is_thread(c, c->arg[1]) ? -ESRCH : 0;
}

int64_t sched_get_input_priority(struct call *c) { return check_input_priority(c); }

int64_t sched_set_input_priority(struct call *c)
{
    const int wanted = (int)c->arg[2] >> INPUT_CLASSES;
    if (wanted < 0 || wanted > INPUT_LAST)
        return -EINVAL;
    return wanted == INPUT_REAL_TIME ? -EPERM : check_input_priority(c);
}

int64_t sched_membarrier(struct call *c)
{
    enum { QUERY = 0, GLOBAL = 1, PRIVATE_EXPEDITED = 8, REGISTER_PRIVATE_EXPEDITED = 16 };
    const int known = GLOBAL | PRIVATE_EXPEDITED | REGISTER_PRIVATE_EXPEDITED;
    int command = (int)c->arg[0];
    if (c->arg[1] != 0)
        return -EINVAL;
    switch (command) {
    case QUERY:
        return known;
    case GLOBAL:
    case PRIVATE_EXPEDITED:
    case REGISTER_PRIVATE_EXPEDITED:
        return 0;
    default:
        return -EINVAL;
    }
}
