/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Memory that children do not get as it is.
 *
 * Model
 *   A child of fork lacks what its parent keeps back (MADV_DONTFORK), and finds pages of zeros in what is wiped
 *   (MADV_WIPEONFORK), which must be private memory of no file. Advice goes with the mapping, and is inherited.
 *   A child that has its parent's memory (CLONE_VM) has all of it.
 *
 * Not modelled
 *   The advice of what mremap moves in part: all that moves has that of its first page.
 */
#include "syscalls/heirs_priv.h"

#include <sched.h>
#include <sys/mman.h>

#include "syscalls/kernel_priv.h"

void heirs_clear(struct heirs *heirs)
{
    ranges_clear(&heirs->kept_back);
    ranges_clear(&heirs->wiped);
}

void heirs_forget(struct heirs *heirs, uint64_t start, uint64_t end)
{
    ranges_forget(&heirs->kept_back, start, end);
    ranges_forget(&heirs->wiped, start, end);
}

void heirs_move(struct heirs *heirs, uint64_t from, uint64_t from_end, uint64_t to, uint64_t to_end)
{
    const bool kept_back = ranges_first(&heirs->kept_back, from) == from,
               wiped = ranges_first(&heirs->wiped, from) == from;
    heirs_forget(heirs, from, from_end);
    heirs_forget(heirs, to, to_end);
    if (kept_back)
        (void)ranges_add(&heirs->kept_back, to, to_end, false);
    if (wiped)
        (void)ranges_add(&heirs->wiped, to, to_end, false);
}

int64_t heirs_advise(struct call *c, uint64_t start, uint64_t end, int advice)
{
    struct heirs *heirs = &c->kernel->heirs;
    if (advice == MADV_WIPEONFORK && !memory_is_private(c->kernel, start, end))
        return -EINVAL;
    if (start == end)
        return 0;
    switch (advice) {
    case MADV_DONTFORK:
        return ranges_add(&heirs->kept_back, start, end, false);
    case MADV_WIPEONFORK:
        return ranges_add(&heirs->wiped, start, end, false);
    case MADV_DOFORK:
        ranges_forget(&heirs->kept_back, start, end);
        return 0;
    default:
        ranges_forget(&heirs->wiped, start, end);
        return 0;
    }
}

/* What the host has no memory for stays as it was. */
static void lose_what_is_kept_back(struct syscalls *kernel)
{
    const struct page_ranges *lost = &kernel->heirs.kept_back, *wiped = &kernel->heirs.wiped;
    for (uint32_t i = 0; i < wiped->count; i++)
        (void)mmu_discard(kernel->mmu, wiped->list[i].start, wiped->list[i].end - wiped->list[i].start);
    for (uint32_t i = 0; i < lost->count; i++)
        (void)mmu_unmap(kernel->mmu, lost->list[i].start, lost->list[i].end - lost->list[i].start);
    kernel->remapped |= lost->count > 0;
    ranges_clear(&kernel->heirs.kept_back);
}

void syscalls_child_inherits(struct syscalls *kernel)
{
    if (!(kernel->start.flags & CLONE_VM))
        lose_what_is_kept_back(kernel);
    kernel->unborn = false;
    remote_serve(kernel);
}

void heirs_checkpoint(struct heirs *heirs, struct checkpoint *c)
{
    ranges_checkpoint(&heirs->kept_back, c);
    ranges_checkpoint(&heirs->wiped, c);
}
