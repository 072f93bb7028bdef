/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Memory that a child hands back to its parent: of vfork, and of clone with CLONE_VM.
 *
 * Model
 *   The child has a copy of the memory, as any other, and the parent waits until it ends or becomes another program.
 *   What it has done by then is done to the parent's memory as well: the bytes of the pages that it has written. The
 *   host knows these: a private page that no other process has is one that was written since the fork. Of clone without
 *   CLONE_VFORK, whose child may allocate, also the break, and private anonymous mappings that are new, gone or have
 *   other rights; no other thread of the parent has changed any meanwhile, for it has none.
 *   Mappings come first, then pages, in a memfd that the parent has made before the fork.
 *
 * Not modelled
 *   Mappings of files, and shared memory, that the child has made or changed, and of vfork all: they stay its own.
 */
#include "syscalls/handed_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "syscalls/kernel_priv.h"

enum { PAGEMAP_PAGES = 512 };

struct handed_start {
    uint64_t brk, areas; /* brk 0: nothing of mappings follows */
};
struct handed_area {
    uint64_t start, end;
    uint32_t prot, anonymous; /* and private, and no heap or stack */
};
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

static bool handed_is_anonymous(const struct mmu_area *area) { return area->kind == MMU_ANONYMOUS && !area->shared; }

/* ------------------------------------------------------------------ the child */

/* Where the host has no memory for it the parent sees what was there before. */
static void handed_put(const struct syscalls *kernel, const void *bytes, size_t count)
{
    ssize_t ignored = write(kernel->handed_back, bytes, count);
    (void)ignored;
}

static void give_areas(struct syscalls *kernel)
{
    struct handed_start start = {.brk = kernel->self->shares_memory ? mmu_brk(kernel->mmu, 0) : 0};
    for (const struct mmu_area *area = NULL; (area = area_behind(kernel, area));)
        start.areas += start.brk != 0;
    handed_put(kernel, &start, sizeof start);
    for (const struct mmu_area *area = NULL; start.brk != 0 && (area = area_behind(kernel, area));) {
        const struct handed_area handed = {area->start.v, area->start.v + area->bytes, area->prot,
                                           handed_is_anonymous(area)};
        handed_put(kernel, &handed, sizeof handed);
    }
}

/* Private memory, present or swapped out, that no other process has. */
static bool handed_is_own(uint64_t entry)
{
    const uint64_t present = 1ull << 63, swapped = 1ull << 62, of_file = 1ull << 61, exclusive = 1ull << 56;
    return entry & swapped || (entry & present && !(entry & of_file) && entry & exclusive);
}

static void give_page(const struct syscalls *kernel, uint64_t address)
{
    struct handed_page page = {.address = address};
    memcpy(page.bytes, guest_pointer(address), sizeof page.bytes);
    handed_put(kernel, &page, sizeof page);
}

static void give_pages(const struct syscalls *kernel, int pagemap, const struct mmu_area *area)
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
                give_page(kernel, start + i * C2_PAGE_BYTES);
    }
}

void handed_give(struct syscalls *kernel)
{
    const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    give_areas(kernel);
    for (const struct mmu_area *area = NULL; pagemap >= 0 && (area = area_behind(kernel, area));)
        if (area->prot & MMU_WRITE && !area->shared)
            give_pages(kernel, pagemap, area);
    if (pagemap >= 0)
        close(pagemap);
}

/* ------------------------------------------------------------------ the parent */

/* Where the child has nothing any more; list: its areas, ascending. */
static void unmap_gone(struct syscalls *kernel, const struct handed_area *list, uint64_t count)
{
    uint64_t from = 0;
    for (uint64_t i = 0; i <= count; i++) {
        const uint64_t to = i < count ? list[i].start : MMU_ADDRESSES_END;
        const struct mmu_area *area;
        while ((area = mmu_area_at(mmu_areas(kernel->mmu), (struct guest_va){from}, true)) && area->start.v < to) {
            const uint64_t start = area->start.v > from ? area->start.v : from, end = area->start.v + area->bytes;
            from = end < to ? end : to;
            if (handed_is_anonymous(area))
                (void)mmu_unmap(kernel->mmu, start, from - start);
        }
        from = i < count ? list[i].end : to;
    }
}

static void map_new(struct syscalls *kernel, const struct handed_area *handed)
{
    for (uint64_t at = handed->start, end; at < handed->end; at = end) {
        const struct mmu_area *area = mmu_area_at(mmu_areas(kernel->mmu), (struct guest_va){at}, true);
        const bool there = area && area->start.v <= at;
        end = there ? area->start.v + area->bytes : area ? area->start.v : handed->end;
        end = end < handed->end ? end : handed->end;
        const struct mmu_request request = {
            .address = at, .bytes = end - at, .prot = handed->prot, .fixed = true, .host_fd = -1};
        if (!there)
            (void)mmu_map(kernel->mmu, &request);
        else if (handed_is_anonymous(area) && area->prot != handed->prot)
            (void)mmu_protect(kernel->mmu, at, end - at, handed->prot);
    }
}

static void take_areas(struct syscalls *kernel)
{
    struct handed_start start;
    if (read(kernel->handed_back, &start, sizeof start) != sizeof start || start.brk == 0)
        return;
    const size_t bytes = start.areas * sizeof(struct handed_area);
    struct handed_area *list = c2_alloc(bytes);
    if (list && read(kernel->handed_back, list, bytes) == (ssize_t)bytes) {
        (void)mmu_brk(kernel->mmu, start.brk);
        unmap_gone(kernel, list, start.areas);
        for (uint64_t i = 0; i < start.areas; i++)
            if (list[i].anonymous)
                map_new(kernel, &list[i]);
    }
    c2_free(list);
    lseek(kernel->handed_back, (off_t)(sizeof start + bytes), SEEK_SET);
    kernel->remapped = true;
}

void handed_take(struct call *c)
{
    struct handed_page page;
    if (c->kernel->handed_back < 0)
        return;
    lseek(c->kernel->handed_back, 0, SEEK_SET);
    take_areas(c->kernel);
    while (read(c->kernel->handed_back, &page, sizeof page) == sizeof page)
        (void)guest_write(c, page.address, page.bytes, sizeof page.bytes); /* of what is mapped here, too */
    handed_end(c->kernel);
}
