/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Memory that is locked.
 *
 * Model
 *   Pages are never taken away, so what a lock does is that they are there: it touches all of them, for writing where
 *   private memory may be written, for reading elsewhere, as Linux does. How much may be locked is RLIMIT_MEMLOCK; what
 *   is locked shows in /proc, and is not discarded (MADV_DONTNEED). Locks go with the mapping, at execve, and are not
 *   inherited by children.
 *   mlockall makes of a stack that grows resident what lies above the stack pointer; the rest is not there yet.
 *
 * Not modelled
 *   Of a lock that fails at a hole Linux keeps what lies before it; here nothing is locked then.
 */
#include "syscalls/locked_priv.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "syscalls/kernel_priv.h"

void locked_clear(struct locked *locked)
{
    c2_free(locked->list);
    *locked = (struct locked){0};
}

uint64_t locked_bytes(const struct locked *locked, uint64_t start, uint64_t end)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < locked->count; i++) {
        const uint64_t from = locked->list[i].start > start ? locked->list[i].start : start;
        const uint64_t to = locked->list[i].end < end ? locked->list[i].end : end;
        total += to > from ? to - from : 0;
    }
    return total;
}

uint64_t locked_first(const struct locked *locked, uint64_t from)
{
    for (uint32_t i = 0; i < locked->count; i++)
        if (locked->list[i].end > from)
            return locked->list[i].start > from ? locked->list[i].start : from;
    return UINT64_MAX;
}

uint64_t locked_border(const struct locked *locked, uint64_t from, uint64_t end)
{
    for (uint32_t i = 0; i < locked->count; i++) {
        const struct locked_range *range = &locked->list[i];
        end = range->start > from && range->start < end ? range->start : end;
        end = range->end > from && range->end < end ? range->end : end;
    }
    return end;
}

/* ------------------------------------------------------------------ the list */

static bool locked_insert(struct locked *locked, uint32_t at, struct locked_range range)
{
    if (!c2_grow((void **)&locked->list, &locked->room, locked->count, sizeof *locked->list))
        return false;
    memmove(&locked->list[at + 1], &locked->list[at], (locked->count - at) * sizeof *locked->list);
    locked->list[at] = range;
    locked->count++;
    return true;
}

static void locked_take_out(struct locked *locked, uint32_t at)
{
    locked->count--;
    memmove(&locked->list[at], &locked->list[at + 1], (locked->count - at) * sizeof *locked->list);
}

/* One that has a hole now becomes two; without memory for that, what lies above the hole is not locked any more. */
void locked_forget(struct locked *locked, uint64_t start, uint64_t end)
{
    for (uint32_t i = 0; i < locked->count; i++) {
        struct locked_range *range = &locked->list[i], above = {end, range->end, range->lazily};
        if (range->end <= start || range->start >= end)
            continue;
        if (range->start < start && above.start < above.end) {
            range->end = start;
            (void)locked_insert(locked, i + 1, above);
            return;
        }
        if (range->start < start)
            range->end = start;
        else if (range->end > end)
            range->start = end;
        else
            locked_take_out(locked, i--);
    }
}

/* Joined with what is like it and touches it. */
static int64_t locked_add(struct locked *locked, uint64_t start, uint64_t end, bool lazily)
{
    uint32_t at = 0;
    locked_forget(locked, start, end);
    while (at < locked->count && locked->list[at].start < start)
        at++;
    if (at < locked->count && locked->list[at].start == end && locked->list[at].lazily == lazily) {
        end = locked->list[at].end;
        locked_take_out(locked, at);
    }
    if (at > 0 && locked->list[at - 1].end == start && locked->list[at - 1].lazily == lazily) {
        locked->list[at - 1].end = end;
        return 0;
    }
    return locked_insert(locked, at, (struct locked_range){start, end, lazily}) ? 0 : -ENOMEM;
}

/* ------------------------------------------------------------------ how much */

static uint64_t locked_limit_of(const struct syscalls *kernel) { return kernel->identity.limit[RLIMIT_MEMLOCK].soft; }

/* Whether so much may be locked in all. */
static int64_t check_total(const struct syscalls *kernel, uint64_t bytes)
{
    if (locked_limit_of(kernel) == 0)
        return -EPERM;
    return bytes > locked_limit_of(kernel) ? -ENOMEM : 0;
}

static int64_t check_more(const struct syscalls *kernel, uint64_t start, uint64_t end)
{
    const struct locked *locked = &kernel->locked;
    const uint64_t now = locked_bytes(locked, 0, UINT64_MAX), more = end - start - locked_bytes(locked, start, end);
    return more > UINT64_MAX - now ? -ENOMEM : check_total(kernel, now + more);
}

/* ------------------------------------------------------------------ being there */

static int64_t populate_area(struct call *c, const struct mmu_area *area, uint64_t start, uint64_t end)
{
    const bool writes = !area->shared && area->prot & MMU_WRITE;
    if (!area->prot)
        return -ENOMEM;
    const int64_t status = guest_touch(c, start, end - start, writes ? MMU_ACCESS_WRITE : MMU_ACCESS_READ);
    return status == -EFAULT && c->result->action != SYSCALLS_FAILED ? -ENOMEM : status;
}

int64_t locked_populate(struct call *c, uint64_t start, uint64_t bytes)
{
    const struct mmu_areas *areas = mmu_areas(c->kernel->mmu);
    const uint64_t end = start + bytes;
    int64_t status = 0;
    const struct mmu_area *area = mmu_area_at(areas, (struct guest_va){start}, true);
    while (status == 0 && area && area->start.v < end) {
        const uint64_t from = area->start.v > start ? area->start.v : start, above = area->start.v + area->bytes;
        status = populate_area(c, area, from, above < end ? above : end);
        area = mmu_area_at(areas, (struct guest_va){above}, true);
    }
    return status;
}

int64_t locked_may_map(const struct syscalls *kernel, uint64_t bytes, bool always)
{
    const uint64_t now = locked_bytes(&kernel->locked, 0, UINT64_MAX), whole = c2_align_up(bytes, C2_PAGE_BYTES);
    if (!kernel->locked.future && !always)
        return 0;
    if (locked_limit_of(kernel) == 0 && always)
        return -EPERM;
    return whole > locked_limit_of(kernel) || now > locked_limit_of(kernel) - whole ? -EAGAIN : 0;
}

int64_t locked_mapped(struct call *c, uint64_t start, uint64_t bytes, bool always)
{
    struct locked *locked = &c->kernel->locked;
    const uint64_t whole = c2_align_up(bytes, C2_PAGE_BYTES);
    if (!locked->future && !always)
        return 0;
    const int64_t status = locked_add(locked, start, start + whole, !always && locked->lazily);
    if (status == 0 && (always || !locked->lazily))
        (void)locked_populate(c, start, whole); /* as Linux: what has no rights is not there */
    return c->result->action == SYSCALLS_FAILED ? -EFAULT : status;
}

/* ------------------------------------------------------------------ calls */

/* The pages of a range, as Linux rounds: none where the length wraps. The end may be before the start. */
static void locked_pages_of(const struct call *c, uint64_t *start, uint64_t *end)
{
    *start = c2_align_down(c->arg[0], C2_PAGE_BYTES);
    *end = *start + c2_align_up(c->arg[1] + (c->arg[0] - *start), C2_PAGE_BYTES);
}

static int64_t lock_range(struct call *c, bool lazily)
{
    uint64_t start, end;
    locked_pages_of(c, &start, &end);
    int64_t status = check_more(c->kernel, start, end);
    if (status == 0 && end < start)
        status = -EINVAL;
    if (status == 0 && !guest_allows(c->kernel, start, end - start, 0))
        status = -ENOMEM;
    if (status < 0 || start == end)
        return status;
    status = locked_add(&c->kernel->locked, start, end, lazily);
    return status == 0 && !lazily ? locked_populate(c, start, end - start) : status;
}

int64_t memory_lock(struct call *c) { return lock_range(c, false); }

int64_t memory_lock_some(struct call *c)
{
    enum { ONFAULT = 1 };
    return c->arg[2] & ~(uint64_t)ONFAULT ? -EINVAL : lock_range(c, c->arg[2] & ONFAULT);
}

int64_t memory_unlock(struct call *c)
{
    uint64_t start, end;
    locked_pages_of(c, &start, &end);
    if (end < start)
        return -EINVAL;
    if (!guest_allows(c->kernel, start, end - start, 0))
        return -ENOMEM;
    locked_forget(&c->kernel->locked, start, end);
    return 0;
}

/* What of an area is there, or would be on Linux. */
static uint64_t lowest_of(const struct call *c, const struct mmu_area *area)
{
    const uint64_t stack = c2_align_down(c->cpu->gpr[4], C2_PAGE_BYTES), end = area->start.v + area->bytes;
    if (area->kind != MMU_STACK)
        return area->start.v;
    return stack >= area->start.v && stack < end ? stack : end;
}

/* Both rounds: how much it is, and locking it. */
static int64_t all_areas(struct call *c, bool locks, bool lazily, uint64_t *total)
{
    const struct mmu_areas *areas = mmu_areas(c->kernel->mmu);
    int64_t status = 0;
    const struct mmu_area *area = mmu_area_at(areas, (struct guest_va){0}, true);
    for (*total = 0; status == 0 && area;) {
        const uint64_t low = lowest_of(c, area), end = area->start.v + area->bytes;
        *total += end - low;
        if (locks && low < end)
            status = locked_add(&c->kernel->locked, low, end, lazily);
        if (locks && !lazily && status == 0)
            (void)locked_populate(c, low, end - low);
        if (c->result->action == SYSCALLS_FAILED)
            return -EFAULT;
        area = mmu_area_at(areas, (struct guest_va){end}, true);
    }
    return status;
}

int64_t memory_lock_all(struct call *c)
{
    const uint64_t flags = c->arg[0];
    uint64_t total;
    if (flags == 0 || flags == MCL_ONFAULT || flags & ~(uint64_t)(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT))
        return -EINVAL;
    all_areas(c, false, false, &total);
    const int64_t status = check_total(c->kernel, flags & MCL_CURRENT ? total : 0);
    if (status < 0)
        return status;
    c->kernel->locked.future = flags & MCL_FUTURE;
    c->kernel->locked.lazily = flags & MCL_ONFAULT;
    return flags & MCL_CURRENT ? all_areas(c, true, flags & MCL_ONFAULT, &total) : 0;
}

int64_t memory_unlock_all(struct call *c)
{
    locked_clear(&c->kernel->locked);
    return 0;
}

/* ------------------------------------------------------------------ checkpoints */

void locked_checkpoint(struct locked *locked, struct checkpoint *c)
{
    uint64_t count = locked->count, last = 0;
    CHECKPOINT_NUMBER(c, locked->future, 1);
    CHECKPOINT_NUMBER(c, locked->lazily, 1);
    checkpoint_number(c, &count, UINT32_MAX);
    for (uint32_t i = 0; i < count; i++) {
        if (!checkpoint_writes(c) &&
            !checkpoint_room(c, (void **)&locked->list, &locked->room, i, sizeof *locked->list))
            return;
        checkpoint_number(c, &locked->list[i].start, MMU_ADDRESSES_END);
        checkpoint_number(c, &locked->list[i].end, MMU_ADDRESSES_END);
        CHECKPOINT_NUMBER(c, locked->list[i].lazily, 1);
        locked->count = i + 1;
        if (locked->list[i].start < last || locked->list[i].end <= locked->list[i].start)
            checkpoint_damaged(c, "locked memory as it cannot be");
        last = locked->list[i].end;
    }
}
