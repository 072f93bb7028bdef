/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Memory that a child of vfork hands back to its parent.
 *
 * Model
 *   The child has a copy of the memory, as any other, and the parent waits until it ends or becomes another program.
 *   What it has done by then is done to the parent's memory as well: the bytes of the pages that it has written. The
 *   host knows these: a private page that no other process has is one that was written since the fork. They come back
 *   in a memfd that the parent has made before the fork.
 *
 * Not modelled
 *   Mappings that the child has made or changed, and shared memory: they stay its own.
 */
#include "syscalls/handed_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "syscalls/kernel_priv.h"

enum { PAGEMAP_PAGES = 512 };

struct handed_page {
    uint64_t address;
    uint8_t bytes[C2_PAGE_BYTES];
};

int64_t handed_begin(struct syscalls *kernel)
{
    kernel->handed_back = fds_keep(memfd_create("c2emu", MFD_CLOEXEC));
    return kernel->handed_back < 0 ? -errno : 0;
}

void handed_end(struct syscalls *kernel)
{
    if (kernel->handed_back >= 0)
        close(kernel->handed_back);
    kernel->handed_back = -1;
}

static const struct mmu_area *area_behind(const struct syscalls *kernel, const struct mmu_area *area)
{
    const uint64_t from = area ? area->start.v + area->bytes : 0;
    return mmu_area_at(mmu_areas(kernel->mmu), (struct guest_va){from}, true);
}

/* ------------------------------------------------------------------ the child */

/* Private memory, present or swapped out, that no other process has. */
static bool handed_is_own(uint64_t entry)
{
    const uint64_t present = 1ull << 63, swapped = 1ull << 62, of_file = 1ull << 61, exclusive = 1ull << 56;
    return entry & swapped || (entry & present && !(entry & of_file) && entry & exclusive);
}

static void visit_area(struct syscalls *kernel, int pagemap, const struct mmu_area *area, handed_visit visit)
{
    uint64_t entries[PAGEMAP_PAGES];
    for (uint64_t done = 0, part; done < area->bytes; done += part) {
        const uint64_t start = area->start.v + done, left = (area->bytes - done) / C2_PAGE_BYTES;
        const uint64_t pages = left < PAGEMAP_PAGES ? left : PAGEMAP_PAGES;
        part = pages * C2_PAGE_BYTES;
        if (pread(pagemap, entries, pages * sizeof *entries, (off_t)(start / C2_PAGE_BYTES * sizeof *entries)) < 0)
            return;
        for (uint64_t i = 0; i < pages; i++)
            if (handed_is_own(entries[i]))
                visit(kernel, start + i * C2_PAGE_BYTES);
    }
}

void handed_each_own(struct syscalls *kernel, unsigned rights, handed_visit visit)
{
    const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    for (const struct mmu_area *area = NULL; pagemap >= 0 && (area = area_behind(kernel, area));)
        if (area->prot & rights && !area->shared)
            visit_area(kernel, pagemap, area, visit);
    if (pagemap >= 0)
        close(pagemap);
}

/* Where the host has no memory for it the parent sees what was there before. */
static void give_page(struct syscalls *kernel, uint64_t address)
{
    struct handed_page page = {.address = address};
    memcpy(page.bytes, guest_pointer(address), sizeof page.bytes);
    ssize_t ignored = write(kernel->handed_back, &page, sizeof page);
    (void)ignored;
}

void handed_give(struct syscalls *kernel) { handed_each_own(kernel, MMU_WRITE, give_page); }

/* ------------------------------------------------------------------ the parent */

void handed_take(struct call *c)
{
    struct handed_page page;
    if (c->kernel->handed_back < 0)
        return;
    lseek(c->kernel->handed_back, 0, SEEK_SET);
    while (read(c->kernel->handed_back, &page, sizeof page) == sizeof page)
        (void)guest_write(c, page.address, page.bytes, sizeof page.bytes); /* of what is mapped here, too */
    handed_end(c->kernel);
}
