/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * System V IPC: objects that processes find by a key, and threads that wait at them.
 *
 * Model
 *   All objects are the run's own, in memory that its processes share; the host has none of them. A host process is
 *   made by fork behind that memory (ipc_ready), so each finds it, and nothing is left when the last one is gone,
 *   however it ends: objects of the host's would outlive a run that is killed, be seen by others, and have numbers that
 *   depend on them. The bytes of segments lie in one file without a name, each at an offset of its own.
 *   A change of an object does at once for its waiters what they wait for, the longest waiting first, as
 *   Linux does: a semaphore that is given to a waiter cannot be taken by the giver, and a message reaches the receiver
 *   that waits for it even if the queue goes right behind.
 *
 * Invariants
 *   Numbers of a kind count up from 0 and are not used again. A waiter that is not done waits at an object in use.
 *
 * Not modelled
 *   All processes are of user 1000, and so are all objects: of the rights only those of the owner count. Nothing of it
 *   lies in /proc/sysvipc.
 */
#include "syscalls/ipc_priv.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "syscalls/kernel_priv.h"
#include "syscalls/pollable_priv.h"

/* ------------------------------------------------------------------ life */

int64_t ipc_ready(struct syscalls *kernel)
{
    struct ipc_view *view = &kernel->ipc;
    if (view->shared)
        return 0;
    struct ipc *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
                              -1, 0);
    if (shared == MAP_FAILED)
        return -ENOMEM;
    view->memory = fds_keep(memfd_create("SYSV", MFD_CLOEXEC));
    if (view->memory < 0) {
        munmap(shared, sizeof *shared);
        return -ENOMEM;
    }
    view->shared = shared;
    return 0;
}

void ipc_destroy(struct ipc_view *view)
{
    if (view->shared) {
        munmap(view->shared, sizeof *view->shared);
        close(view->memory);
    }
    c2_free(view->attached);
}

void ipc_fork(struct syscalls *kernel, bool made)
{
    const struct ipc_view *view = &kernel->ipc;
    mqueue_fork(kernel, made);
    for (uint32_t i = 0; i < view->attached_count; i++)
        view->shared->segments[view->attached[i].segment].attached += made ? 1u : -1u;
}

static void forget_waiters(struct syscalls *kernel)
{
    struct ipc *ipc = kernel->ipc.shared;
    for (uint32_t i = 0; i < ipc->waiters_used; i++)
        if (ipc->waiters[i].used && ipc->waiters[i].pid == kernel->pid)
            ipc->waiters[i].used = false;
}

void ipc_execute(struct syscalls *kernel)
{
    if (!kernel->ipc.shared)
        return;
    forget_waiters(kernel);
    ipc_detach_all(kernel);
}

void ipc_end(struct syscalls *kernel)
{
    ipc_execute(kernel);
    if (kernel->ipc.shared)
        ipc_undo_all(kernel);
}

/* ------------------------------------------------------------------ objects */

static const struct {
    uint32_t most;
    size_t offset, bytes, head; /* of the list; of one; what of it is cleared */
} kinds[IPC_KINDS] = {
    [IPC_KIND_SEGMENT] = {IPC_SEGMENTS, offsetof(struct ipc, segments), sizeof(struct ipc_segment),
                          sizeof(struct ipc_segment)},
    [IPC_KIND_SET] = {IPC_SETS, offsetof(struct ipc, sets), sizeof(struct ipc_set), sizeof(struct ipc_set)},
    [IPC_KIND_QUEUE] = {IPC_QUEUES, offsetof(struct ipc, queues), sizeof(struct ipc_queue),
                        offsetof(struct ipc_queue, room)},
};

static struct ipc_object *at(const struct ipc *ipc, enum ipc_kind kind, uint64_t index)
{
    return (struct ipc_object *)((uintptr_t)ipc + kinds[kind].offset + index * kinds[kind].bytes);
}

uint64_t ipc_now(const struct call *c)
{
    return c->kernel->boot_seconds + syscalls_time_ns(c->kernel, c->instructions) / KERNEL_NS;
}

void *ipc_find(struct call *c, enum ipc_kind kind, uint64_t id, bool by_index)
{
    const struct ipc *ipc = c->kernel->ipc.shared;
    for (uint64_t i = 0; ipc && i < ipc->used[kind]; i++) {
        struct ipc_object *object = at(ipc, kind, i);
        if (object->used && (by_index ? i == id : object->id == (int64_t)id))
            return object;
    }
    return NULL;
}

int64_t ipc_allows(const struct ipc_object *object, int wanted)
{
    const int asked = wanted >> 6 | wanted >> 3 | wanted;
    return asked & ~(object->mode >> 6) & 7 ? -EACCES : 0;
}

int64_t ipc_get(struct call *c, enum ipc_kind kind, int32_t key, int flags, struct ipc_object **out)
{
    const int64_t status = ipc_ready(c->kernel);
    if (status < 0)
        return status;
    const struct ipc *ipc = c->kernel->ipc.shared;
    for (uint64_t i = 0; i < ipc->used[kind] && key != IPC_PRIVATE; i++) {
        struct ipc_object *object = at(ipc, kind, i);
        if (!object->used || object->key != key)
            continue;
        if (flags & IPC_CREAT && flags & IPC_EXCL)
            return -EEXIST;
        *out = object;
        return object->id;
    }
    *out = NULL;
    return key == IPC_PRIVATE || flags & IPC_CREAT ? 0 : -ENOENT;
}

int64_t ipc_make(struct call *c, enum ipc_kind kind, int32_t key, int flags, void *out)
{
    struct ipc *ipc = c->kernel->ipc.shared;
    for (uint32_t i = 0; i < kinds[kind].most; i++) {
        struct ipc_object *object = at(ipc, kind, i);
        if (i < ipc->used[kind] && object->used)
            continue;
        ipc->used[kind] = i < ipc->used[kind] ? ipc->used[kind] : i + 1;
        memset(object, 0, kinds[kind].head);
        *object = (struct ipc_object){.used = true,
                                      .id = ipc->made[kind]++,
                                      .key = key,
                                      .user = IDENTITY_USER,
                                      .group = IDENTITY_USER,
                                      .mode = flags & 0777,
                                      .changed = ipc_now(c)};
        *(struct ipc_object **)out = object;
        return object->id;
    }
    return -ENOSPC;
}

void ipc_show(const struct ipc_object *object, struct ipc_perm *out)
{
    *out = (struct ipc_perm){.__key = object->key,
                             .uid = object->user,
                             .gid = object->group,
                             .cuid = IDENTITY_USER,
                             .cgid = IDENTITY_USER,
                             .mode = object->mode};
}

int64_t ipc_change(struct call *c, struct ipc_object *object, const struct ipc_perm *to)
{
    if (to->uid == UINT32_MAX || to->gid == UINT32_MAX)
        return -EINVAL;
    object->user = to->uid;
    object->group = to->gid;
    object->mode = (uint16_t)((object->mode & ~0777) | (to->mode & 0777));
    object->changed = ipc_now(c);
    return 0;
}

uint32_t ipc_count(const struct ipc *ipc, enum ipc_kind kind, int64_t *last)
{
    uint32_t count = 0;
    *last = 0;
    for (uint32_t i = 0; ipc && i < ipc->used[kind]; i++)
        if (at(ipc, kind, i)->used) {
            *last = i;
            count++;
        }
    return count;
}

bool ipc_has_objects(const struct syscalls *kernel)
{
    int64_t last;
    for (int kind = 0; kind < IPC_KINDS; kind++)
        if (ipc_count(kernel->ipc.shared, (enum ipc_kind)kind, &last) > 0)
            return true;
    return false;
}

/* ------------------------------------------------------------------ waiting */

struct ipc_waiter *ipc_waiter(struct call *c, enum ipc_wait waits, int32_t id)
{
    struct ipc *ipc = c->kernel->ipc.shared;
    for (uint32_t i = 0; i < IPC_WAITERS; i++) {
        struct ipc_waiter *waiter = &ipc->waiters[i];
        if (i < ipc->waiters_used && waiter->used)
            continue;
        ipc->waiters_used = i < ipc->waiters_used ? ipc->waiters_used : i + 1;
        memset(waiter, 0, offsetof(struct ipc_waiter, operations));
        waiter->used = true;
        waiter->waits = (uint8_t)waits;
        waiter->pid = c->kernel->pid;
        waiter->id = id;
        waiter->order = ++ipc->waits;
        return waiter;
    }
    return NULL;
}

int64_t ipc_wait(struct call *c, const struct ipc_waiter *waiter, uint64_t deadline, const char *why)
{
    const uint64_t place = (uint64_t)(waiter - c->kernel->ipc.shared->waiters);
    return call_wait(
        c, (struct kernel_wait){.kind = KERNEL_WAITS_OBJECT, .deadline = deadline, .word = place, .why = why});
}

const struct ipc_waiter *ipc_again(struct call *c, int64_t *value)
{
    struct ipc_waiter *waiter = &c->kernel->ipc.shared->waiters[c->waited->word];
    if (!waiter->done && !call_is_late(c)) {
        *value = call_wait(c, *c->waited);
        return NULL;
    }
    if (!waiter->done)
        waiter->answer = -EAGAIN;
    waiter->used = false;
    return waiter;
}

struct ipc_waiter *ipc_next(struct ipc *ipc, enum ipc_wait waits, int32_t id, uint64_t behind)
{
    struct ipc_waiter *first = NULL;
    for (uint32_t i = 0; i < ipc->waiters_used; i++) {
        struct ipc_waiter *waiter = &ipc->waiters[i];
        if (waiter->used && !waiter->done && waiter->waits == waits && waiter->id == id && waiter->order > behind &&
            (!first || waiter->order < first->order))
            first = waiter;
    }
    return first;
}

void ipc_answer(struct syscalls *kernel, struct ipc_waiter *waiter, int64_t answer)
{
    waiter->done = true;
    waiter->answer = answer;
    kernel->processes->events++;
}

void ipc_answer_all(struct syscalls *kernel, enum ipc_wait waits, int32_t id, int64_t answer)
{
    struct ipc_waiter *waiter;
    while ((waiter = ipc_next(kernel->ipc.shared, waits, id, 0)))
        ipc_answer(kernel, waiter, answer);
}

void ipc_give_up(struct syscalls *kernel, const struct kernel_wait *wait)
{
    if (wait->kind == KERNEL_WAITS_OBJECT)
        kernel->ipc.shared->waiters[wait->word].used = false;
}

bool ipc_is_done(const struct syscalls *kernel, const struct kernel_wait *wait)
{
    return kernel->ipc.shared->waiters[wait->word].done;
}
