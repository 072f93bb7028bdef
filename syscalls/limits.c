/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   RLIMIT_AS limits all that is mapped, RLIMIT_DATA what is private and writable, the heap among it: a request for
 *   more gets ENOMEM, and the break stays where it is. The stack is mapped from the start, as far as it may grow: of
 *   RLIMIT_AS it takes what it has grown to, at least 132 KiB, as on Linux; of RLIMIT_DATA nothing. It is counted from
 *   the first RSP on: words and environment lie above. A lower
 *   RLIMIT_STACK takes away what lies below it and was never touched, so that an access there is SIGSEGV; a higher one
 *   gives it back, if nothing else lies there.
 *   Source: Linux' mm/mmap.c, setrlimit(2).
 *
 * Not modelled
 *   A stack of more than 8 MiB. The vDSO, which there is none of: Linux counts its pages.
 */
#include "syscalls/limits_priv.h"

#include <sys/resource.h>

#include "syscalls/kernel_priv.h"

#define STACK_LEAST (132u << 10)

static uint64_t limits_limit_of(const struct syscalls *kernel, int which) { return kernel->identity.limit[which].soft; }

static bool is_data(const struct mmu_area *area)
{
    return area->prot & MMU_WRITE && !area->shared && area->kind != MMU_STACK;
}

static bool is_touched(const struct syscalls *kernel, uint64_t page)
{
    return mmu_ready(kernel->mmu, (struct guest_va){page}, MMU_ACCESS_READ);
}

/* The first RSP. */
static uint64_t stack_base(const struct syscalls *kernel)
{
    return mmu_layout(kernel->mmu)->stack_top - MMU_STACK_ROOM;
}

static uint64_t grown(const struct syscalls *kernel, const struct mmu_area *stack)
{
    uint64_t bottom = stack->start.v;
    while (bottom < stack_base(kernel) && !is_touched(kernel, bottom))
        bottom += C2_PAGE_BYTES;
    const uint64_t touched = stack_base(kernel) - bottom;
    return touched > STACK_LEAST ? touched : STACK_LEAST;
}

/* What counts of the areas between two addresses: all, data alone, or what is no data yet. */
enum counted { ALL, DATA, OTHERS };
static uint64_t limits_count(const struct syscalls *kernel, enum counted what, uint64_t from, uint64_t to)
{
    const struct mmu_areas *areas = mmu_areas(kernel->mmu);
    uint64_t total = 0;
    for (const struct mmu_area *area = mmu_area_at(areas, (struct guest_va){from}, true); area && area->start.v < to;
         area = mmu_area_at(areas, (struct guest_va){area->start.v + area->bytes}, true)) {
        const uint64_t end = area->start.v + area->bytes, first = area->start.v > from ? area->start.v : from;
        if (what == ALL && area->kind == MMU_STACK && from == 0)
            total += grown(kernel, area);
        else if (what == ALL || (what == DATA) == is_data(area))
            total += (end < to ? end : to) - first;
    }
    return total;
}

/* With so many bytes more, in the place of what lies from `from` to `to`. */
static bool exceeds(const struct syscalls *kernel, int which, enum counted what, uint64_t more, uint64_t from,
                    uint64_t to)
{
    const uint64_t limit = limits_limit_of(kernel, which);
    if (limit == RLIM_INFINITY)
        return false;
    const uint64_t less = from < to ? limits_count(kernel, what, from, to) : 0;
    return limits_count(kernel, what, 0, UINT64_MAX) + more - less > limit;
}

int64_t limits_may_map(const struct syscalls *kernel, uint64_t bytes, bool data, uint64_t address, uint64_t replaced)
{
    const uint64_t more = c2_align_up(bytes, C2_PAGE_BYTES), end = address + c2_align_up(replaced, C2_PAGE_BYTES);
    if (exceeds(kernel, RLIMIT_AS, ALL, more, address, end) ||
        (data && exceeds(kernel, RLIMIT_DATA, DATA, more, address, end)))
        return -ENOMEM;
    return 0;
}

int64_t limits_may_write(const struct syscalls *kernel, uint64_t address, uint64_t bytes)
{
    const uint64_t end = address + c2_align_up(bytes, C2_PAGE_BYTES);
    if (limits_limit_of(kernel, RLIMIT_DATA) == RLIM_INFINITY)
        return 0;
    const uint64_t more = limits_count(kernel, OTHERS, address, end);
    return more && exceeds(kernel, RLIMIT_DATA, DATA, more, 0, 0) ? -ENOMEM : 0;
}

/* ------------------------------------------------------------------ the stack */

static const struct mmu_area *limits_stack_of(const struct syscalls *kernel)
{
    const struct mmu_areas *areas = mmu_areas(kernel->mmu);
    const struct mmu_area *area = mmu_area_at(areas, (struct guest_va){0}, true);
    while (area && area->kind != MMU_STACK)
        area = mmu_area_at(areas, (struct guest_va){area->start.v + area->bytes}, true);
    return area;
}

static void limits_grow(struct syscalls *kernel, const struct mmu_area *stack, uint64_t bottom)
{
    const struct mmu_request request = {.address = bottom,
                                        .bytes = stack->start.v - bottom,
                                        .prot = stack->prot,
                                        .fixed = true,
                                        .no_replace = true,
                                        .kind = MMU_STACK,
                                        .host_fd = -1};
    (void)mmu_map(kernel->mmu, &request); /* something else lies there: the stack ends above it */
}

void limits_set_stack(struct syscalls *kernel)
{
    const struct mmu_area *stack = limits_stack_of(kernel);
    if (!stack || stack->start.v >= stack_base(kernel))
        return;
    const uint64_t limit = limits_limit_of(kernel, RLIMIT_STACK), used = grown(kernel, stack), start = stack->start.v;
    const uint64_t most = limit < MMU_STACK_BYTES ? c2_align_down(limit, C2_PAGE_BYTES) : MMU_STACK_BYTES;
    const uint64_t bottom = stack_base(kernel) - (most > used ? most : used);
    if (bottom > start)
        (void)mmu_unmap(kernel->mmu, start, bottom - start);
    else if (bottom < start)
        limits_grow(kernel, stack, bottom);
    kernel->remapped = true;
}
