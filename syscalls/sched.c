/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Scheduling and futexes of the only thread on the only CPU.
 *
 * Model
 *   A futex wait whose value still holds can only end by its timeout, for nobody else can wake it: guest time goes on
 *   by the timeout at once. Without one it is a deadlock.
 */
#include <linux/futex.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "syscalls/kernel_priv.h"

static bool is_self(uint64_t pid) { return (int)pid == 0 || (int)pid == IDENTITY_PID; }

int64_t sched_yield_call(struct call *c)
{
    (void)c;
    return 0;
}

int64_t sched_get_affinity(struct call *c)
{
    const uint64_t mask = 1;
    uint64_t bytes = (uint32_t)c->arg[1];
    if (bytes < sizeof mask || bytes % sizeof mask)
        return -EINVAL;
    if (!is_self(c->arg[0]))
        return -ESRCH;
    int64_t status = guest_write(c, c->arg[2], &mask, sizeof mask);
    return status < 0 ? status : (int64_t)sizeof mask;
}

int64_t sched_set_affinity(struct call *c)
{
    uint64_t mask = 0, bytes = (uint32_t)c->arg[1];
    int64_t status = guest_read(c, &mask, c->arg[2], bytes < sizeof mask ? bytes : sizeof mask);
    if (status < 0)
        return status;
    if (!is_self(c->arg[0]))
        return -ESRCH;
    return mask & 1 ? 0 : -EINVAL;
}

int64_t sched_get_policy(struct call *c) { return is_self(c->arg[0]) ? SCHED_OTHER : -ESRCH; }

int64_t sched_get_param(struct call *c) { return is_self(c->arg[0]) ? 0 : -ESRCH; /* priority 0 is there */ }

int64_t sched_set_param(struct call *c)
{
    if (!is_self(c->arg[0]))
        return -ESRCH;
    return ((const struct sched_param *)c->ptr[1])->sched_priority == 0 ? 0 : -EINVAL;
}

int64_t sched_set_policy(struct call *c)
{
    int policy = (int)c->arg[1] & ~SCHED_RESET_ON_FORK;
    if (!is_self(c->arg[0]))
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
    if (!is_self(c->arg[0]))
        return -ESRCH;
    ((struct timespec *)c->ptr[1])->tv_nsec = 4000000;
    return 0;
}

int64_t sched_set_robust_list(struct call *c)
{
    return c->arg[1] == 24 ? 0 : -EINVAL; /* sizeof(struct robust_list_head) */
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

/* ------------------------------------------------------------------ futex */

/* FUTEX_WAIT takes a length of time, FUTEX_WAIT_BITSET a moment of one of two clocks. */
static int64_t wait_timeout(struct call *c, int operation, uint64_t *ns)
{
    struct timespec time;
    int64_t status = guest_read(c, &time, c->arg[3], sizeof time);
    if (status < 0)
        return status;
    if (!kernel_timespec_ns(ns, &time))
        return -EINVAL;
    if ((operation & FUTEX_CMD_MASK) == FUTEX_WAIT)
        return 0;
    uint64_t at = syscalls_time_ns(c->kernel, c->instructions);
    if (operation & FUTEX_CLOCK_REALTIME)
        at += c->kernel->start_seconds * KERNEL_NS;
    *ns = *ns > at ? *ns - at : 0;
    return 0;
}

static int64_t futex_wait(struct call *c, int operation)
{
    uint32_t value;
    uint64_t ns = 0;
    int64_t status = c->arg[3] ? wait_timeout(c, operation, &ns) : 0;
    if (status == 0)
        status = guest_read(c, &value, c->arg[0], sizeof value);
    if (status < 0)
        return status;
    if (value != (uint32_t)c->arg[2])
        return -EAGAIN;
    if (!c->arg[3])
        return call_deadlock(c, "no other thread can wake it");
    kernel_sleep(c->kernel, ns);
    return -ETIMEDOUT;
}

/* Nobody waits, so nobody is woken; what FUTEX_CMP_REQUEUE compares still counts. */
static int64_t futex_compare(struct call *c)
{
    uint32_t value;
    int64_t status = guest_read(c, &value, c->arg[0], sizeof value);
    if (status < 0)
        return status;
    return value == (uint32_t)c->arg[5] ? 0 : -EAGAIN;
}

/* The word that nobody waits at: it must be there, unless only this process could know of it. */
static int64_t futex_check(struct call *c, int operation)
{
    if (operation & FUTEX_PRIVATE_FLAG)
        return c->arg[0] < MMU_WINDOW_END ? 0 : -EFAULT;
    return guest_check_read(c, c->arg[0], sizeof(uint32_t));
}

int64_t sched_futex(struct call *c)
{
    int operation = (int)c->arg[1];
    if (c->arg[0] % 4)
        return -EINVAL;
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT_BITSET:
        if (c->arg[5] == 0)
            return -EINVAL;
        return futex_wait(c, operation);
    case FUTEX_WAIT:
        return futex_wait(c, operation);
    case FUTEX_WAKE_BITSET:
        return c->arg[5] == 0 ? -EINVAL : futex_check(c, operation);
    case FUTEX_WAKE:
    case FUTEX_REQUEUE:
        return futex_check(c, operation);
    case FUTEX_CMP_REQUEUE:
        return futex_compare(c);
    default:
        return call_complain(c, "is not implemented for this operation");
    }
}
