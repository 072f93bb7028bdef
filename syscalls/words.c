/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The waiters at words of memory, in all processes of the run.
 *
 * Model
 *   One list in memory that all processes share. A wait at several words has an entry for each. A word of memory that
 *   processes may share (MAP_SHARED, System V) is known by the memory and by where it lies in it, so that each process
 *   may have it at an address of its own; of a file by its inode, of anonymous memory by a number that no other
 *   piece of the run has. Any other word is one of its process, or of those that have their memory in common, by its
 *   address; as on Linux it is not the same with FUTEX_PRIVATE_FLAG and without. An entry knows the process and thread
 *   that wait, which see when it is their turn that they were woken.
 *
 * Invariants
 *   An entry in use is of one wait: struct kernel_wait has the first, each the next. The last of the list is in use.
 */
#include "syscalls/words_priv.h"

#include "syscalls/kernel_priv.h"

/* In place of a device: words that lie in memory of one process. */
#define OWN_PRIVATE UINT64_MAX
#define OWN_SHARED (UINT64_MAX - 1)

static struct words_list *words_of(const struct syscalls *kernel) { return &kernel->processes->words; }

struct words_place words_place(const struct syscalls *kernel, uint64_t address, enum words_reach reach)
{
    const struct mmu_area *area = reach == WORDS_SHARED
                                      ? mmu_area_at(mmu_areas(kernel->mmu), (struct guest_va){address}, false)
                                      : NULL;
    if (!area || !area->shared)
        return (struct words_place){joint_number(kernel), reach == WORDS_SHARED ? OWN_SHARED : OWN_PRIVATE, address};
    return (struct words_place){.memory = area->path ? area->inode : area->memory,
                                .device = area->path ? area->device : 0,
                                .at = area->offset + (address - area->start.v)};
}

bool words_same(const struct words_place *one, const struct words_place *other)
{
    return one->at == other->at && one->memory == other->memory && one->device == other->device;
}

/* ------------------------------------------------------------------ coming and going */

bool words_add(struct syscalls *kernel, struct kernel_wait *wait, const struct words_waiter *waiter)
{
    struct words_list *words = words_of(kernel);
    uint32_t i = 0;
    while (i < words->used && words->list[i].used)
        i++;
    if (i == WORDS_WAITERS)
        return false;
    words->used = i < words->used ? words->used : i + 1;
    words->list[i] = *waiter;
    words->list[i].used = true;
    words->list[i].pid = kernel->pid;
    words->list[i].tid = kernel->current->tid;
    words->list[i].order = ++words->waits;
    words->list[i].next = wait->waiter;
    wait->waiter = i + 1;
    return true;
}

static void words_shorten(struct words_list *words)
{
    while (words->used > 0 && !words->list[words->used - 1].used)
        words->used--;
}

void words_release(struct syscalls *kernel, struct kernel_wait *wait)
{
    if (wait->waiter == 0)
        return;
    struct words_list *words = words_of(kernel);
    for (uint32_t i = wait->waiter; i != 0; i = words->list[i - 1].next)
        words->list[i - 1].used = false;
    wait->waiter = 0;
    words_shorten(words);
}

void words_leave(struct syscalls *kernel)
{
    for (uint32_t i = 0; i < kernel->thread_count; i++)
        words_release(kernel, &kernel->threads[i]->wait);
}

void words_renumber(struct syscalls *kernel, uint64_t memory)
{
    struct words_list *words = words_of(kernel);
    for (uint32_t i = 0; i < words->used; i++)
        if (words->list[i].used && words->list[i].pid == kernel->pid &&
            (words->list[i].place.device == OWN_PRIVATE || words->list[i].place.device == OWN_SHARED))
            words->list[i].place.memory = memory;
}

/* What the threads wait for is of its parent. */
void words_become_child(struct syscalls *kernel)
{
    for (uint32_t i = 0; i < kernel->thread_count; i++)
        kernel->threads[i]->wait.waiter = 0;
}

/* ------------------------------------------------------------------ waking and moving */

struct words_waiter *words_first(const struct syscalls *kernel, const struct words_place *place, bool owns,
                                 uint32_t bits)
{
    struct words_list *words = words_of(kernel);
    struct words_waiter *first = NULL;
    for (uint32_t i = 0; i < words->used; i++) {
        struct words_waiter *waiter = &words->list[i];
        if (waiter->used && !waiter->woken && waiter->owns == owns && waiter->bits & bits &&
            words_same(&waiter->place, place) && (!first || waiter->order < first->order))
            first = waiter;
    }
    return first;
}

/* That another process waits for may have come. */
static void tell_others(struct syscalls *kernel, const struct words_waiter *waiter)
{
    if (waiter->pid != kernel->pid)
        kernel->processes->events++;
}

/* Of a wait at several words no other one is woken then. */
static void wake_all_of(struct words_list *words, uint32_t pid, uint32_t tid)
{
    for (uint32_t i = 0; i < words->used; i++)
        if (words->list[i].pid == pid && words->list[i].tid == tid)
            words->list[i].bits = 0;
}

void words_wake(struct syscalls *kernel, struct words_waiter *waiter)
{
    waiter->woken = true;
    wake_all_of(words_of(kernel), waiter->pid, waiter->tid);
    tell_others(kernel, waiter);
}

void words_move(struct syscalls *kernel, struct words_waiter *waiter, const struct words_place *to, uint64_t address)
{
    waiter->place = *to;
    waiter->address = waiter->pid == kernel->pid ? address : 0;
    waiter->order = ++words_of(kernel)->waits;
}

const struct words_waiter *words_waiter(const struct syscalls *kernel, const struct kernel_wait *wait)
{
    return wait->waiter ? &words_of(kernel)->list[wait->waiter - 1] : NULL;
}

const struct words_waiter *words_woken(const struct syscalls *kernel, const struct kernel_wait *wait)
{
    const struct words_list *words = words_of(kernel);
    for (uint32_t i = wait->waiter; i != 0; i = words->list[i - 1].next)
        if (words->list[i - 1].woken)
            return &words->list[i - 1];
    return NULL;
}

/* ------------------------------------------------------------------ checkpoints */

/* Where the word lies is found again. */
void words_checkpoint(struct syscalls *kernel, uint32_t tid, struct kernel_wait *wait, struct checkpoint *c)
{
    const struct words_waiter *there = words_waiter(kernel, wait);
    struct words_waiter waiter = there ? *there : (struct words_waiter){.bits = UINT32_MAX};
    uint64_t reach = waiter.place.device == OWN_PRIVATE ? WORDS_PRIVATE : WORDS_SHARED;
    CHECKPOINT_NUMBER(c, waiter.woken, 1);
    CHECKPOINT_NUMBER(c, waiter.bits, UINT32_MAX);
    checkpoint_number(c, &waiter.order, CHECKPOINT_ANY);
    checkpoint_number(c, &waiter.address, CHECKPOINT_ANY);
    checkpoint_number(c, &reach, WORDS_SHARED);
    if (checkpoint_writes(c) || checkpoint_status(c, NULL) != C2_OK)
        return;
    waiter.owns = wait->kind == KERNEL_WAITS_OWNER;
    waiter.place = words_place(kernel, waiter.address, (enum words_reach)reach);
    if (!words_add(kernel, wait, &waiter)) {
        checkpoint_damaged(c, "more threads that wait than there can be");
        return;
    }
    struct words_waiter *added = &words_of(kernel)->list[wait->waiter - 1];
    added->tid = tid;
    added->order = waiter.order;
    if (words_of(kernel)->waits < waiter.order)
        words_of(kernel)->waits = waiter.order;
}
