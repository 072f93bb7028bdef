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

#include <sys/mman.h>
#include <sys/resource.h>

#include "syscalls/kernel_priv.h"

void locked_clear(struct locked *locked)
{
    ranges_clear(&locked->ranges);
    locked->future = locked->lazily = false;
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
    const uint64_t now = ranges_bytes(&locked->ranges, 0, UINT64_MAX),
                   more = end - start - ranges_bytes(&locked->ranges, start, end);
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
    const uint64_t now = ranges_bytes(&kernel->locked.ranges, 0, UINT64_MAX), whole = c2_align_up(bytes, C2_PAGE_BYTES);
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
    const int64_t status = ranges_add(&locked->ranges, start, start + whole, !always && locked->lazily);
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
    status = ranges_add(&c->kernel->locked.ranges, start, end, lazily);
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
    ranges_forget(&c->kernel->locked.ranges, start, end);
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
            status = ranges_add(&c->kernel->locked.ranges, low, end, lazily);
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
    CHECKPOINT_NUMBER(c, locked->future, 1);
    CHECKPOINT_NUMBER(c, locked->lazily, 1);
    ranges_checkpoint(&locked->ranges, c);
}
