/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Semaphores: semget, semop, semtimedop, semctl.
 *
 * Model
 *   The operations of a call happen all at once or not at all. A call that has to wait leaves them in its waiter
 *   (ipc.c); each change of the set tries them: first those that change nothing themselves, then the others, the
 *   longest waiting first, and again from the first one when one of them has changed something.
 *   SEM_UNDO keeps for each process what its end adds to a semaphore.
 *
 * Invariants
 *   Values are 0 to IPC_VALUE_MOST. A waiter's operations cannot happen now.
 */
#include <string.h>
#include <time.h>

#include "syscalls/ipc_priv.h"
#include "syscalls/kernel_priv.h"

/* ------------------------------------------------------------------ making */

/* Where so many semaphores are free in a row; IPC_SEMAPHORES: nowhere. */
static uint32_t find_room(const struct ipc *ipc, uint32_t count)
{
    uint32_t first = 0;
    for (uint32_t i = 0; i < ipc->used[IPC_KIND_SET] && first + count <= IPC_SEMAPHORES; i++) {
        const struct ipc_set *set = &ipc->sets[i];
        if (set->object.used && set->first < first + count && first < set->first + set->count) {
            first = set->first + set->count;
            i = UINT32_MAX; /* from the first one on */
        }
    }
    return first + count <= IPC_SEMAPHORES ? first : IPC_SEMAPHORES;
}

static int64_t ipc_semaphores_make(struct call *c, int32_t key, uint32_t count, int flags)
{
    struct ipc *ipc = c->kernel->ipc.shared;
    struct ipc_set *set;
    if (count == 0)
        return -EINVAL;
    const uint32_t first = find_room(ipc, count);
    if (first == IPC_SEMAPHORES)
        return -ENOSPC;
    const int64_t id = ipc_make(c, IPC_KIND_SET, key, flags, &set);
    if (id < 0)
        return id;
    set->first = first;
    set->count = count;
    memset(&ipc->semaphores[first], 0, count * sizeof *ipc->semaphores);
    return id;
}

int64_t ipc_semaphores_get(struct call *c)
{
    const int32_t key = (int32_t)c->arg[0], count = (int32_t)c->arg[1];
    const int flags = (int)c->arg[2];
    struct ipc_object *object;
    if (count < 0 || count > IPC_SET_MOST)
        return -EINVAL;
    const int64_t id = ipc_get(c, IPC_KIND_SET, key, flags, &object);
    if (id < 0)
        return id;
    if (!object)
        return ipc_semaphores_make(c, key, (uint32_t)count, flags);
    if ((uint32_t)count > ((struct ipc_set *)object)->count)
        return -EINVAL;
    const int64_t status = ipc_allows(object, flags & 0777);
    return status < 0 ? status : id;
}

/* ------------------------------------------------------------------ what the end of a process undoes */

static struct ipc_undo *undo_of(struct ipc *ipc, uint32_t pid, int32_t set, uint16_t number)
{
    struct ipc_undo *free_entry = NULL;
    for (uint32_t i = 0; i < ipc->undos_used; i++) {
        struct ipc_undo *undo = &ipc->undos[i];
        if (undo->value == 0)
            free_entry = free_entry ? free_entry : undo;
        else if (undo->pid == pid && undo->set == set && undo->number == number)
            return undo;
    }
    if (!free_entry && ipc->undos_used < IPC_UNDOS)
        free_entry = &ipc->undos[ipc->undos_used++];
    if (free_entry)
        *free_entry = (struct ipc_undo){.pid = pid, .set = set, .number = number};
    return free_entry;
}

bool ipc_undoes(const struct syscalls *kernel, uint32_t pid)
{
    const struct ipc *ipc = kernel->ipc.shared;
    bool any = false;
    for (uint32_t i = 0; ipc && i < ipc->undos_used; i++)
        any |= ipc->undos[i].value != 0 && ipc->undos[i].pid == pid;
    return any;
}

/* number: that of a semaphore, -1: of all in the set. */
static void forget_undos(struct ipc *ipc, int32_t set, int32_t number)
{
    for (uint32_t i = 0; i < ipc->undos_used; i++)
        if (ipc->undos[i].set == set && (number < 0 || ipc->undos[i].number == number))
            ipc->undos[i].value = 0;
}

/* ------------------------------------------------------------------ operations */

struct operations {
    const struct sembuf *list;
    uint32_t count, pid;
};

enum { WAITS = 1 }; /* not now */

/* 0, WAITS or -errno. */
static int64_t syscalls_ipc_semaphores_operate(struct ipc *ipc, const struct ipc_set *set, const struct sembuf *one,
                                               uint32_t pid)
{
    struct ipc_semaphore *semaphore = &ipc->semaphores[set->first + one->sem_num];
    const int value = semaphore->value + one->sem_op;
    if ((one->sem_op == 0 && semaphore->value != 0) || value < 0)
        return one->sem_flg & IPC_NOWAIT ? -EAGAIN : WAITS;
    if (value > IPC_VALUE_MOST)
        return -ERANGE;
    if (one->sem_flg & SEM_UNDO && one->sem_op != 0) {
        struct ipc_undo *undo = undo_of(ipc, pid, set->object.id, one->sem_num);
        const int adjusts = undo ? undo->value - one->sem_op : 0;
        if (!undo)
            return -ENOSPC;
        if (adjusts < -IPC_VALUE_MOST - 1 || adjusts > IPC_VALUE_MOST)
            return -ERANGE;
        undo->value = (int16_t)adjusts;
    }
    semaphore->value = (uint16_t)value;
    return 0;
}

static void ipc_semaphores_take_back(struct ipc *ipc, const struct ipc_set *set, const struct sembuf *one, uint32_t pid)
{
    struct ipc_semaphore *semaphore = &ipc->semaphores[set->first + one->sem_num];
    semaphore->value = (uint16_t)(semaphore->value - one->sem_op);
    if (one->sem_flg & SEM_UNDO && one->sem_op != 0) {
        struct ipc_undo *undo = undo_of(ipc, pid, set->object.id, one->sem_num);
        undo->value = (int16_t)(undo->value + one->sem_op);
    }
}

/* All of them or none: 0, WAITS or -errno. */
static int64_t operate_all(struct ipc *ipc, const struct ipc_set *set, const struct operations *all)
{
    uint32_t done = 0;
    int64_t status = 0;
    while (done < all->count && (status = syscalls_ipc_semaphores_operate(ipc, set, &all->list[done], all->pid)) == 0)
        done++;
    if (status == 0) {
        for (uint32_t i = 0; i < all->count; i++)
            ipc->semaphores[set->first + all->list[i].sem_num].last = all->pid;
        return 0;
    }
    while (done > 0)
        ipc_semaphores_take_back(ipc, set, &all->list[--done], all->pid);
    return status;
}

static bool changes(const struct sembuf *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i].sem_op != 0)
            return true;
    return false;
}

/* Tries those that change something, or those that do not; true: one has changed the set. */
static bool try_waiters(struct syscalls *kernel, struct ipc_set *set, bool that_change, uint64_t now)
{
    struct ipc *ipc = kernel->ipc.shared;
    struct ipc_waiter *waiter;
    for (uint64_t behind = 0; (waiter = ipc_next(ipc, IPC_OPERATES, set->object.id, behind)); behind = waiter->order) {
        if (changes(waiter->operations, waiter->count) != that_change)
            continue;
        const int64_t status = operate_all(ipc, set,
                                           &(struct operations){waiter->operations, waiter->count, waiter->pid});
        if (status == WAITS)
            continue;
        ipc_answer(kernel, waiter, status);
        if (status == 0)
            set->operated = now;
        if (status == 0 && that_change)
            return true;
    }
    return false;
}

static void ipc_semaphores_changed(struct syscalls *kernel, struct ipc_set *set, uint64_t now)
{
    do
        try_waiters(kernel, set, false, now);
    while (try_waiters(kernel, set, true, now));
}

/* ------------------------------------------------------------------ semop */

#define NOBODY_OPERATES "nobody changes the semaphores so that it can go on"

static int64_t ipc_semaphores_wait_for(struct call *c, const struct ipc_set *set, const struct operations *all,
                                       uint64_t deadline)
{
    struct ipc_waiter *waiter = ipc_waiter(c, IPC_OPERATES, set->object.id);
    if (!waiter)
        return -ENOMEM;
    memcpy(waiter->operations, all->list, all->count * sizeof *all->list);
    waiter->count = all->count;
    return ipc_wait(c, waiter, deadline, NOBODY_OPERATES);
}

static int64_t ipc_semaphores_start(struct call *c, const struct operations *all, uint64_t deadline)
{
    struct ipc_set *set = ipc_find(c, IPC_KIND_SET, c->arg[0], false);
    if (!set)
        return -EINVAL;
    for (uint32_t i = 0; i < all->count; i++)
        if (all->list[i].sem_num >= set->count)
            return -EFBIG;
    const bool alters = changes(all->list, all->count);
    int64_t status = ipc_allows(&set->object, alters ? 0222 : 0444);
    if (status == 0)
        status = operate_all(c->kernel->ipc.shared, set, all);
    if (status == WAITS)
        return ipc_semaphores_wait_for(c, set, all, deadline);
    if (status == 0)
        set->operated = ipc_now(c);
    if (status == 0 && alters)
        ipc_semaphores_changed(c->kernel, set, ipc_now(c));
    return status;
}

static int64_t semop_until(struct call *c, const struct timespec *timeout)
{
    struct sembuf list[IPC_OPERATIONS];
    const struct operations all = {list, (uint32_t)c->arg[2], c->kernel->pid};
    uint64_t ns = 0;
    int64_t value = 0;
    if (c->again) {
        const struct ipc_waiter *waiter = ipc_again(c, &value);
        return waiter ? waiter->answer : value;
    }
    if (c->arg[2] == 0 || (int)c->arg[0] < 0)
        return -EINVAL;
    if (c->arg[2] > IPC_OPERATIONS)
        return -E2BIG;
    if (guest_read(c, list, c->arg[1], c->arg[2] * sizeof *list) < 0)
        return -EFAULT;
    if (timeout && !kernel_timespec_ns(&ns, timeout))
        return -EINVAL;
    return ipc_semaphores_start(c, &all, timeout ? kernel_deadline(c, ns) : KERNEL_NEVER);
}

int64_t ipc_semaphores_operate(struct call *c) { return semop_until(c, NULL); }

int64_t ipc_semaphores_operate_timed(struct call *c) { return semop_until(c, c->ptr[3]); }

void ipc_undo_all(struct syscalls *kernel)
{
    struct ipc *ipc = kernel->ipc.shared;
    const uint64_t now = kernel->boot_seconds + syscalls_time_ns(kernel, kernel->instructions) / KERNEL_NS;
    for (uint32_t i = 0; i < ipc->used[IPC_KIND_SET]; i++) {
        struct ipc_set *set = &ipc->sets[i];
        bool any = false;
        for (uint32_t k = 0; set->object.used && k < ipc->undos_used; k++) {
            struct ipc_undo *undo = &ipc->undos[k];
            if (undo->value == 0 || undo->pid != kernel->pid || undo->set != set->object.id)
                continue;
            struct ipc_semaphore *semaphore = &ipc->semaphores[set->first + undo->number];
            const int value = semaphore->value + undo->value;
            semaphore->value = (uint16_t)(value < 0 ? 0 : value > IPC_VALUE_MOST ? IPC_VALUE_MOST : value);
            semaphore->last = kernel->pid;
            undo->value = 0;
            any = true;
        }
        if (any)
            ipc_semaphores_changed(kernel, set, now);
    }
}

/* ------------------------------------------------------------------ semctl */

/* How many wait until the semaphore is 0, or until it is more. */
static int64_t count_waiters(struct ipc *ipc, const struct ipc_set *set, uint16_t number, bool for_zero)
{
    struct ipc_waiter *waiter;
    int64_t count = 0;
    for (uint64_t behind = 0; (waiter = ipc_next(ipc, IPC_OPERATES, set->object.id, behind)); behind = waiter->order)
        for (uint32_t i = 0; i < waiter->count; i++)
            if (waiter->operations[i].sem_num == number &&
                (for_zero ? waiter->operations[i].sem_op == 0 : waiter->operations[i].sem_op < 0)) {
                count++;
                break;
            }
    return count;
}

/* Of one semaphore. */
static int64_t control_one(struct call *c, struct ipc_set *set, int command)
{
    struct ipc *ipc = c->kernel->ipc.shared;
    const uint32_t number = (uint32_t)c->arg[1];
    if (number >= set->count)
        return -EINVAL;
    struct ipc_semaphore *semaphore = &ipc->semaphores[set->first + number];
    const int64_t status = ipc_allows(&set->object, command == SETVAL ? 0222 : 0444);
    if (status < 0)
        return status;
    switch (command) {
    case GETVAL:
        return semaphore->value;
    case GETPID:
        return semaphore->last;
    case GETNCNT:
    case GETZCNT:
        return count_waiters(ipc, set, (uint16_t)number, command == GETZCNT);
    default:
        if ((int)c->arg[3] < 0 || (int)c->arg[3] > IPC_VALUE_MOST)
            return -ERANGE;
        semaphore->value = (uint16_t)c->arg[3];
        semaphore->last = c->kernel->pid;
        forget_undos(ipc, set->object.id, (int32_t)number);
        set->object.changed = ipc_now(c);
        ipc_semaphores_changed(c->kernel, set, ipc_now(c));
        return 0;
    }
}

static int64_t get_all(struct call *c, const struct ipc_set *set)
{
    const struct ipc_semaphore *first = &c->kernel->ipc.shared->semaphores[set->first];
    int64_t status = ipc_allows(&set->object, 0444);
    for (uint32_t i = 0; i < set->count && status == 0; i++)
        status = guest_write(c, c->arg[3] + i * sizeof first->value, &first[i].value, sizeof first->value);
    return status;
}

static int64_t set_all(struct call *c, struct ipc_set *set)
{
    struct ipc_semaphore *first = &c->kernel->ipc.shared->semaphores[set->first];
    int64_t status = ipc_allows(&set->object, 0222);
    uint16_t value;
    for (uint32_t i = 0; i < set->count && status == 0; i++) {
        status = guest_read(c, &value, c->arg[3] + i * sizeof value, sizeof value);
        if (status == 0 && value > IPC_VALUE_MOST)
            status = -ERANGE;
    }
    for (uint32_t i = 0; i < set->count && status == 0; i++) {
        status = guest_read(c, &first[i].value, c->arg[3] + i * sizeof value, sizeof value);
        first[i].last = c->kernel->pid;
    }
    if (status < 0)
        return status;
    forget_undos(c->kernel->ipc.shared, set->object.id, -1);
    set->object.changed = ipc_now(c);
    ipc_semaphores_changed(c->kernel, set, ipc_now(c));
    return 0;
}

static int64_t ipc_semaphores_tell(struct call *c, const struct ipc_set *set, int command)
{
    struct semid_ds out = {
        .sem_otime = (time_t)set->operated, .sem_ctime = (time_t)set->object.changed, .sem_nsems = set->count};
    ipc_show(&set->object, &out.sem_perm);
    int64_t status = command == SEM_STAT_ANY ? 0 : ipc_allows(&set->object, 0444);
    if (status == 0)
        status = guest_write(c, c->arg[3], &out, sizeof out);
    return status < 0 || command == IPC_STAT ? status : set->object.id;
}

/* IPC_INFO: limits; SEM_INFO: in two of them what there is. */
static int64_t ipc_semaphores_tell_limits(struct call *c, bool use)
{
    struct seminfo limits = {.semmap = IPC_SEMAPHORES,
                             .semmni = IPC_SETS,
                             .semmns = IPC_SEMAPHORES,
                             .semmnu = IPC_SEMAPHORES,
                             .semmsl = IPC_SET_MOST,
                             .semopm = IPC_OPERATIONS,
                             .semume = IPC_OPERATIONS,
                             .semusz = 20,
                             .semvmx = IPC_VALUE_MOST,
                             .semaem = IPC_VALUE_MOST};
    const struct ipc *ipc = c->kernel->ipc.shared;
    int64_t last;
    const uint32_t count = ipc_count(ipc, IPC_KIND_SET, &last);
    if (use) {
        limits.semusz = (int)count;
        limits.semaem = 0;
        for (uint32_t i = 0; ipc && i < ipc->used[IPC_KIND_SET]; i++)
            limits.semaem += ipc->sets[i].object.used ? (int)ipc->sets[i].count : 0;
    }
    const int64_t status = guest_write(c, c->arg[3], &limits, sizeof limits);
    return status < 0 ? status : last;
}

static int64_t ipc_semaphores_change(struct call *c, struct ipc_set *set)
{
    struct semid_ds to;
    const int64_t status = guest_read(c, &to, c->arg[3], sizeof to);
    return status < 0 ? status : ipc_change(c, &set->object, &to.sem_perm);
}

static int64_t ipc_semaphores_end(struct call *c, struct ipc_set *set)
{
    forget_undos(c->kernel->ipc.shared, set->object.id, -1);
    ipc_answer_all(c->kernel, IPC_OPERATES, set->object.id, -EIDRM);
    set->object.used = false;
    return 0;
}

static int64_t control_set(struct call *c, struct ipc_set *set, int command)
{
    switch (command) {
    case IPC_STAT:
    case SEM_STAT:
    case SEM_STAT_ANY:
        return ipc_semaphores_tell(c, set, command);
    case IPC_SET:
        return ipc_semaphores_change(c, set);
    case IPC_RMID:
        return ipc_semaphores_end(c, set);
    case GETALL:
        return get_all(c, set);
    case SETALL:
        return set_all(c, set);
    case GETVAL:
    case GETPID:
    case GETNCNT:
    case GETZCNT:
    case SETVAL:
        return control_one(c, set, command);
    default:
        return -EINVAL;
    }
}

int64_t ipc_semaphores_control(struct call *c)
{
    const int command = (int)c->arg[2];
    if ((int)c->arg[0] < 0)
        return -EINVAL;
    if (command == IPC_INFO || command == SEM_INFO)
        return ipc_semaphores_tell_limits(c, command == SEM_INFO);
    struct ipc_set *set = ipc_find(c, IPC_KIND_SET, c->arg[0], command == SEM_STAT || command == SEM_STAT_ANY);
    return set ? control_set(c, set, command) : -EINVAL;
}
