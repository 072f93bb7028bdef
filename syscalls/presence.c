/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * /proc/self/pagemap: a number a page, of what is there at the moment of the read.
 *
 * Model
 *   A page is present once it was touched. Frames are not shown, as Linux shows them to root only. Of what is
 *   mapped all counts as changed, which was not declared clean.
 */
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "syscalls/kernel_priv.h"
#include "syscalls/paths_priv.h"

#define ENTRY 8u
#define SOFT_DIRTY ((uint64_t)1 << 55)
#define EXCLUSIVE ((uint64_t)1 << 56)
#define OF_FILE ((uint64_t)1 << 61) /* or of memory that is shared */
#define PRESENT ((uint64_t)1 << 63)

bool presence_is(const struct syscalls *kernel, const struct fd_entry *entry)
{
    char own[64];
    snprintf(own, sizeof own, "/proc/%u/pagemap", kernel->pid);
    return entry->kind == FD_SYNTHETIC && strcmp(entry->path, own) == 0;
}

static uint64_t presence_entry_of(const struct syscalls *kernel, uint64_t va)
{
    const struct mmu_area *area = mmu_area_at(mmu_areas(kernel->mmu), (struct guest_va){va}, false);
    const bool shared = area && (area->shared || area->kind == MMU_FILE);
    if (!area || mmu_present_bytes(kernel->mmu, (struct guest_va){va}, C2_PAGE_BYTES) == 0)
        return area ? SOFT_DIRTY : 0;
    return PRESENT | SOFT_DIRTY | (shared ? OF_FILE : EXCLUSIVE);
}

static int64_t presence_fill(struct call *c, const struct iovec *to, uint64_t at)
{
    const uint64_t end = MMU_ADDRESSES_END / C2_PAGE_BYTES * ENTRY;
    uint64_t done = 0;
    if (at % ENTRY != 0 || to->iov_len % ENTRY != 0)
        return -EINVAL;
    for (; done < to->iov_len && at + done < end; done += ENTRY) {
        const uint64_t entry = presence_entry_of(c->kernel, (at + done) / ENTRY * C2_PAGE_BYTES);
        const int64_t status = guest_write(c, (uintptr_t)to->iov_base + done, &entry, sizeof entry);
        if (status < 0)
            return done ? (int64_t)done : status;
    }
    return (int64_t)done;
}

int64_t presence_read(struct call *c, const struct fd_entry *entry, const struct iovec *iov, int count, int64_t offset)
{
    const bool at_position = offset < 0;
    uint64_t at = at_position ? (uint64_t)lseek(entry->host, 0, SEEK_CUR) : (uint64_t)offset;
    int64_t total = 0, part = 0;
    for (int i = 0; i < count && part >= 0; i++) {
        part = presence_fill(c, &iov[i], at);
        total += part > 0 ? part : 0;
        at += part > 0 ? (uint64_t)part : 0;
        if (part >= 0 && (uint64_t)part < iov[i].iov_len)
            break;
    }
    if (at_position)
        lseek(entry->host, (off_t)at, SEEK_SET);
    return total > 0 ? total : part;
}
