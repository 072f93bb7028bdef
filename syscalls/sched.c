/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Scheduling, as the guest asks for it: processors on which threads take turns, one at a time, without priorities. A
 * thread's number says on which it runs; what it asks for is kept (priorities.c), and changes nothing.
 *
 * Model
 *   All of the run are of one user, which may lower priorities, and raise them as far as RLIMIT_NICE says. The process
 *   that is the parent of the first one is there, and another user's. In what order errors are told is Linux 6.1's,
 *   kernel/sched/core.c, kernel/sys.c, block/ioprio.c.
 */
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "syscalls/kernel_priv.h"

enum { SCHED_WITH_DEADLINE = 6 };

uint64_t sched_all(const struct syscalls *kernel) { return UINT64_MAX >> (SYSCALLS_PROCESSORS - kernel->processors); }

uint32_t sched_processor(const struct syscalls *kernel, const struct kernel_thread *thread)
{
    return thread->number % kernel->processors;
}

/* ------------------------------------------------------------------ the process meant */

struct target {
    uint32_t pid, tid;
    bool foreign; /* of another user */
};

/* The caller (0), or any thread: 0 or -ESRCH. */
static int64_t sched_find(const struct call *c, int tid, struct target *out)
{
    const struct process *process = tid == 0 ? c->kernel->self : processes_of_thread(c->kernel, (uint32_t)tid);
    *out = (struct target){.tid = tid == 0 ? c->kernel->current->tid : (uint32_t)tid};
    if (tid == IDENTITY_PARENT)
        out->foreign = true;
    else if (!process)
        return -ESRCH;
    out->pid = process ? process->pid : IDENTITY_PARENT;
    return 0;
}

static int64_t find_checked(const struct call *c, struct target *out)
{
    return (int)c->arg[0] < 0 ? -EINVAL : sched_find(c, (int)c->arg[0], out);
}

static struct priority priority_of(const struct call *c, const struct target *target)
{
    return priorities_of(c->kernel, target->tid);
}

static int64_t sched_set(struct call *c, const struct target *target, const struct priority *priority)
{
    return priorities_set(c->kernel, target->pid, target->tid, priority) ? 0 : -ENOMEM;
}

/* Whether RLIMIT_NICE lets it be as urgent as that. */
static bool may_be(const struct call *c, int nice)
{
    enum { LEAST = 20 };
    return (uint64_t)(LEAST - nice) <= c->kernel->identity.limit[RLIMIT_NICE].soft;
}

int64_t sched_yield_call(struct call *c)
{
    if (c->kernel->thread_count > 1)
        c->result->action = SYSCALLS_YIELD;
    return 0;
}

/* ------------------------------------------------------------------ affinity */

int64_t sched_get_affinity(struct call *c)
{
    uint64_t mask, bytes = (uint32_t)c->arg[1];
    struct target target;
    if (bytes < sizeof mask || bytes % sizeof mask)
        return -EINVAL;
    int64_t status = sched_find(c, (int)c->arg[0], &target);
    if (status < 0)
        return status;
    mask = sched_all(c->kernel) & priority_of(c, &target).affinity;
    status = guest_write(c, c->arg[2], &mask, sizeof mask);
    return status < 0 ? status : (int64_t)sizeof mask;
}

int64_t sched_set_affinity(struct call *c)
{
    uint64_t mask = 0, bytes = (uint32_t)c->arg[1];
    struct target target;
    int64_t status = guest_read(c, &mask, c->arg[2], bytes < sizeof mask ? bytes : sizeof mask);
    if (status == 0)
        status = sched_find(c, (int)c->arg[0], &target);
    if (status < 0)
        return status;
    if (target.foreign)
        return -EPERM;
    if ((mask & sched_all(c->kernel)) == 0)
        return -EINVAL;
    struct priority priority = priority_of(c, &target);
    priority.affinity = mask;
    return sched_set(c, &target, &priority);
}

/* ------------------------------------------------------------------ policies */

static bool is_real_time(int policy) { return policy == SCHED_FIFO || policy == SCHED_RR; }

static bool is_policy(int policy)
{
    return is_real_time(policy) || policy == SCHED_OTHER || policy == SCHED_BATCH || policy == SCHED_IDLE ||
           policy == SCHED_WITH_DEADLINE;
}

/* What is asked of a policy; policy -1: the one that it has. */
struct wish {
    int policy, priority, nice;
    bool resets, keeps_nice;
};

/* In the way of those that have fewer rights: 0, -EINVAL or -EPERM. */
static int64_t check_wish(const struct call *c, const struct target *target, const struct priority *has,
                          const struct wish *wish)
{
    enum { PRIORITY_MOST = 99 };
    if (!is_policy(wish->policy) || wish->priority < 0 || wish->priority > PRIORITY_MOST ||
        is_real_time(wish->policy) != (wish->priority != 0))
        return -EINVAL;
    const int nice = wish->keeps_nice ? has->nice : wish->nice;
    const bool leaves_idle = has->policy == SCHED_IDLE && wish->policy != SCHED_IDLE;
    if (is_real_time(wish->policy) || wish->policy == SCHED_WITH_DEADLINE || target->foreign ||
        (nice < has->nice && !may_be(c, nice)) || (leaves_idle && !may_be(c, has->nice)) ||
        (has->resets && !wish->resets))
        return -EPERM;
    return 0;
}

static int64_t sched_apply(struct call *c, const struct target *target, struct wish wish)
{
    struct priority priority = priority_of(c, target);
    if (wish.policy < 0) {
        wish.policy = priority.policy;
        wish.resets = priority.resets;
    }
    const int64_t status = check_wish(c, target, &priority, &wish);
    if (status < 0)
        return status;
    priority.policy = wish.policy;
    priority.resets = wish.resets;
    if (!wish.keeps_nice)
        priority.nice = wish.nice;
    return sched_set(c, target, &priority);
}

/* A struct sched_param at `address`. */
static int64_t apply_param(struct call *c, int policy, uint64_t address)
{
    struct sched_param param;
    struct target target;
    if (!address || (int)c->arg[0] < 0)
        return -EINVAL;
    int64_t status = guest_read(c, &param, address, sizeof param.sched_priority);
    if (status == 0)
        status = sched_find(c, (int)c->arg[0], &target);
    if (status < 0)
        return status;
    if (policy >= 0 && (policy & ~SCHED_RESET_ON_FORK) == SCHED_WITH_DEADLINE)
        return -EINVAL; /* it has none */
    return sched_apply(c, &target,
                       (struct wish){.policy = policy < 0 ? policy : policy & ~SCHED_RESET_ON_FORK,
                                     .priority = param.sched_priority,
                                     .resets = policy >= 0 && policy & SCHED_RESET_ON_FORK,
                                     .keeps_nice = true});
}

int64_t sched_set_policy(struct call *c)
{
    return (int)c->arg[1] < 0 ? -EINVAL : apply_param(c, (int)c->arg[1], c->arg[2]);
}

int64_t sched_set_param(struct call *c) { return apply_param(c, -1, c->arg[1]); }

int64_t sched_get_policy(struct call *c)
{
    struct target target;
    const int64_t status = find_checked(c, &target);
    const struct priority priority = status == 0 ? priority_of(c, &target) : (struct priority){0};
    return status < 0 ? status : priority.policy | (priority.resets ? SCHED_RESET_ON_FORK : 0);
}

int64_t sched_get_param(struct call *c)
{
    const int none = 0;
    struct target target;
    if (!c->arg[1])
        return -EINVAL;
    const int64_t status = find_checked(c, &target);
    return status < 0 ? status : guest_write(c, c->arg[1], &none, sizeof none);
}

int64_t sched_priority_max(struct call *c)
{
    const int policy = (int)c->arg[0];
    return is_policy(policy) ? (is_real_time(policy) ? 99 : 0) : -EINVAL;
}

int64_t sched_priority_min(struct call *c)
{
    const int policy = (int)c->arg[0];
    return is_policy(policy) ? is_real_time(policy) : -EINVAL;
}

int64_t sched_interval(struct call *c)
{
    const struct timespec turn = {.tv_nsec = 4000000};
    struct target target;
    const int64_t status = find_checked(c, &target);
    return status < 0 ? status : guest_write(c, c->arg[1], &turn, sizeof turn);
}

/* ------------------------------------------------------------------ attributes */

struct attributes_of { /* struct sched_attr, linux/sched/types.h */
    uint32_t bytes, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
    uint32_t utilization[2]; /* at least, at most */
};
enum { ATTRIBUTES_FIRST = 48, RESETS = 1, KEEPS_POLICY = 8, KEEPS_PARAMS = 16, CLAMPS = 0x60, ATTRIBUTE_FLAGS = 0x7f };

int64_t sched_get_attributes(struct call *c)
{
    struct target target;
    const uint64_t bytes = (uint32_t)c->arg[2];
    if (!c->arg[1] || (int)c->arg[0] < 0 || bytes > C2_PAGE_BYTES || bytes < ATTRIBUTES_FIRST || c->arg[3])
        return -EINVAL;
    const int64_t status = sched_find(c, (int)c->arg[0], &target);
    if (status < 0)
        return status;
    const struct priority priority = priority_of(c, &target);
    const struct attributes_of out = {
        .bytes = (uint32_t)(bytes < sizeof out ? bytes : sizeof out),
        .policy = (uint32_t)priority.policy,
        .flags = priority.resets ? RESETS : 0,
        .nice = priority.nice,
    };
    return guest_write(c, c->arg[1], &out, out.bytes);
}

/* The size is that of this kernel then. */
static int64_t refuse_bytes(struct call *c)
{
    const uint32_t bytes = sizeof(struct attributes_of);
    const int64_t status = guest_write(c, c->arg[1], &bytes, sizeof bytes);
    return status < 0 ? status : -E2BIG;
}

static int64_t take_attributes(struct call *c, struct attributes_of *out)
{
    uint32_t bytes;
    int64_t status = guest_read(c, &bytes, c->arg[1], sizeof bytes);
    if (status < 0)
        return status;
    bytes = bytes ? bytes : ATTRIBUTES_FIRST;
    if (bytes < ATTRIBUTES_FIRST || bytes > C2_PAGE_BYTES)
        return refuse_bytes(c);
    *out = (struct attributes_of){.nice = 0};
    status = guest_read_extended(c, out, sizeof *out, c->arg[1], bytes);
    if (status == -E2BIG)
        return refuse_bytes(c);
    if (status == 0 && out->flags & CLAMPS && bytes < sizeof *out)
        return -EINVAL;
    out->nice = out->nice < -20 ? -20 : out->nice > 19 ? 19 : out->nice;
    return status;
}

/* Of a policy with deadlines: run no longer than the deadline, and that no longer than the period. */
static bool has_sense(const struct attributes_of *of)
{
    enum { SHORTEST = 1024, PERIOD_LEAST = 100000 };
    const uint64_t longest = 4ull << 20 << 10, period = of->period ? of->period : of->deadline;
    return of->deadline != 0 && of->runtime >= SHORTEST && of->deadline >> 63 == 0 && period >> 63 == 0 &&
           of->runtime <= of->deadline && of->deadline <= period && period >= PERIOD_LEAST && period <= longest;
}

int64_t sched_set_attributes(struct call *c)
{
    struct attributes_of wanted;
    struct target target;
    if (!c->arg[1] || (int)c->arg[0] < 0 || c->arg[2])
        return -EINVAL;
    int64_t status = take_attributes(c, &wanted);
    if (status == 0 && (int)wanted.policy < 0)
        status = -EINVAL;
    if (status == 0)
        status = sched_find(c, (int)c->arg[0], &target);
    if (status < 0)
        return status;
    if (wanted.flags & ~(uint64_t)ATTRIBUTE_FLAGS || (wanted.policy == SCHED_WITH_DEADLINE && !has_sense(&wanted)))
        return -EINVAL;
    if (wanted.flags & CLAMPS)
        return -EOPNOTSUPP; /* as a kernel without them */
    return sched_apply(c, &target,
                       (struct wish){.policy = wanted.flags & KEEPS_POLICY ? -1 : (int)wanted.policy,
                                     .priority = (int)wanted.priority,
                                     .nice = wanted.nice,
                                     .resets = wanted.flags & RESETS,
                                     .keeps_nice = wanted.flags & KEEPS_PARAMS});
}

/* ------------------------------------------------------------------ of several threads at once */

/* A thread, those of a process group, those of a user: the numbers of PRIO_PROCESS and its kin. */
enum scope { SCOPE_THREAD, SCOPE_GROUP, SCOPE_USER, SCOPES };

/* What is done to each of them: 0 or -errno. */
typedef int64_t each_thread(struct call *c, const struct target *target, void *with);

/* Of each process that is meant the threads that it shows. -ESRCH: there are none. */
static int64_t for_processes(struct call *c, enum scope scope, int who, each_thread *each, void *with)
{
    const struct syscalls *kernel = c->kernel;
    int64_t status = -ESRCH;
    if (scope == SCOPE_USER && who != 0 && who != IDENTITY_USER)
        return status;
    const uint32_t group = who == 0 ? kernel->self->group : (uint32_t)who;
    views_publish(c->kernel, c->instructions); /* its own threads are others by now */
    for (const struct process *at = views_next(kernel, 0); at; at = views_next(kernel, at->pid + 1)) {
        const struct process_view *view = views_of(kernel, at);
        if (at->state != PROCESS_RUNS || (scope == SCOPE_GROUP && at->group != group))
            continue;
        for (uint32_t i = 0; i < view->threads && i < PROCESSES_THREADS; i++) {
            const int64_t now = each(c, &(struct target){.pid = at->pid, .tid = view->thread[i].tid}, with);
            status = now < 0 || status == -ESRCH ? now : status;
        }
    }
    return status;
}

static int64_t for_each(struct call *c, enum scope scope, int who, each_thread *each, void *with)
{
    struct target target;
    if (scope != SCOPE_THREAD)
        return for_processes(c, scope, who, each, with);
    const int64_t status = sched_find(c, who, &target);
    return status < 0 ? status : each(c, &target, with);
}

/* ------------------------------------------------------------------ nice values */

static int64_t find_nicest(struct call *c, const struct target *target, void *least)
{
    int *nice = least;
    const int own = priority_of(c, target).nice;
    *nice = own < *nice ? own : *nice;
    return 0;
}

int64_t sched_get_nice(struct call *c)
{
    enum { LARGEST = 20 };
    int nice = LARGEST;
    if (c->arg[0] >= SCOPES)
        return -EINVAL;
    const int64_t status = for_each(c, (enum scope)c->arg[0], (int)c->arg[1], find_nicest, &nice);
    return status < 0 ? status : LARGEST - nice;
}

static int64_t set_nice(struct call *c, const struct target *target, void *wanted)
{
    struct priority priority = priority_of(c, target);
    const int nice = *(const int *)wanted;
    if (target->foreign)
        return -EPERM;
    if (nice < priority.nice && !may_be(c, nice))
        return -EACCES;
    priority.nice = nice;
    return sched_set(c, target, &priority);
}

int64_t sched_set_nice(struct call *c)
{
    int nice = (int)c->arg[2] < -20 ? -20 : (int)c->arg[2] > 19 ? 19 : (int)c->arg[2];
    return c->arg[0] >= SCOPES ? -EINVAL : for_each(c, (enum scope)c->arg[0], (int)c->arg[1], set_nice, &nice);
}

/* ------------------------------------------------------------------ priorities of input and output */

enum { IO_CLASSES = 13, IO_LEVELS = 8, IO_NONE = 0, IO_REAL_TIME, IO_BEST_EFFORT, IO_IDLE };

static uint16_t io_of(int class, int level) { return (uint16_t)(class << IO_CLASSES | level); }

/* Of one that has asked for none it follows from its nice value. */
static uint16_t effective_io(const struct priority *priority)
{
    enum { NICES_A_LEVEL = 5 };
    if (priority->io >> IO_CLASSES != IO_NONE)
        return priority->io;
    return io_of(priority->policy == SCHED_IDLE ? IO_IDLE : IO_BEST_EFFORT, (priority->nice + 20) / NICES_A_LEVEL);
}

static int64_t find_best_io(struct call *c, const struct target *target, void *best)
{
    const struct priority priority = priority_of(c, target);
    uint16_t *io = best, own = effective_io(&priority);
    *io = own < *io ? own : *io;
    return 0;
}

static int64_t own_io(struct call *c, const struct target *target, void *out)
{
    *(uint16_t *)out = priority_of(c, target).io;
    return 0;
}

/* Those of ioprio_get count from 1. */
static enum scope io_scope(const struct call *c) { return (enum scope)((uint32_t)c->arg[0] - 1); }

int64_t sched_get_input_priority(struct call *c)
{
    uint16_t io = UINT16_MAX;
    if (io_scope(c) >= SCOPES)
        return -EINVAL;
    const int64_t status = for_each(c, io_scope(c), (int)c->arg[1], io_scope(c) == SCOPE_THREAD ? own_io : find_best_io,
                                    &io);
    return status < 0 ? status : io;
}

static int64_t set_io(struct call *c, const struct target *target, void *io)
{
    struct priority priority = priority_of(c, target);
    if (target->foreign)
        return -EPERM;
    priority.io = *(const uint16_t *)io;
    return sched_set(c, target, &priority);
}

static int64_t check_io(int wanted)
{
    const int level = wanted & ((1 << IO_CLASSES) - 1);
    switch (wanted >> IO_CLASSES & 7) {
    case IO_NONE:
        return level ? -EINVAL : 0;
    case IO_REAL_TIME:
        return -EPERM;
    case IO_BEST_EFFORT:
        return level < IO_LEVELS ? 0 : -EINVAL;
    case IO_IDLE:
        return 0;
    default:
        return -EINVAL;
    }
}

int64_t sched_set_input_priority(struct call *c)
{
    uint16_t io = (uint16_t)c->arg[2];
    const int64_t status = check_io((int)c->arg[2]);
    if (status < 0)
        return status;
    return io_scope(c) >= SCOPES ? -EINVAL : for_each(c, io_scope(c), (int)c->arg[1], set_io, &io);
}

/* One thread runs at a time, and a turn is a barrier: nothing is left to do but to say who may ask for what. Of the
 * commands for restartable sequences there are none, as there are no such sequences. */
int64_t sched_membarrier(struct call *c)
{
    enum { QUERY = 0, GLOBAL = 1, GLOBAL_EXPEDITED = 2, REGISTER_GLOBAL = 4, PRIVATE = 8, SYNC_CORE = 32 };
    const uint32_t asks = PRIVATE | SYNC_CORE, registers = REGISTER_GLOBAL | asks << 1;
    const uint32_t command = (uint32_t)c->arg[0], known = GLOBAL | GLOBAL_EXPEDITED | registers | asks;
    if (c->arg[1] != 0 || (command != QUERY && (command & ~known || command & (command - 1))))
        return -EINVAL;
    if (command == QUERY)
        return known;
    if (command & registers)
        c->kernel->identity.barriers |= command;
    return command & asks && !(c->kernel->identity.barriers & command << 1) ? -EPERM : 0;
}
