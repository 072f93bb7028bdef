/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Calls on the address space; mmu/ does the work.
 *
 * Model
 *   Code must lie in the low 2 GiB (mmu.h): file mappings that are executable, that say MAP_DENYWRITE (as run-time
 *   linkers do), or whose file starts with the ELF magic go to the low zone, and so does MAP_32BIT; all else goes high.
 *   MAP_HUGETLB asks for huge pages of 2 MiB, or 1 GiB with MAP_HUGE_1GB, and gets small ones where there are none, as
 *   MADV_HUGEPAGE does. The other hints of madvise are accepted; MADV_DONTNEED and MADV_FREE drop the pages at once.
 *   MAP_POPULATE and MAP_LOCKED make resident what they map; locks are in locked.c.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/root.h"
#include "syscalls/filetimes_priv.h"
#include "syscalls/kernel_priv.h"
#include "syscalls/limits_priv.h"

enum { DONTUNMAP = 4 }; /* MREMAP_DONTUNMAP */

static bool is_page_aligned(uint64_t value) { return (value & (C2_PAGE_BYTES - 1)) == 0; }

static unsigned rights_of(uint64_t prot) { return (unsigned)prot & (PROT_READ | PROT_WRITE | PROT_EXEC); }

/* ------------------------------------------------------------------ mmap */

static bool starts_as_elf(int host)
{
    char magic[4];
    return pread(host, magic, sizeof magic, 0) == sizeof magic && memcmp(magic, "\177ELF", 4) == 0;
}

static enum mmu_zone zone_of(const struct fd_entry *file, unsigned prot, unsigned flags)
{
    bool code = file && (prot & PROT_EXEC || flags & MAP_DENYWRITE || starts_as_elf(file->host));
    return code || flags & MAP_32BIT ? MMU_ZONE_LOW : MMU_ZONE_HIGH;
}

static int64_t memory_describe_file(struct mmu_request *request, const struct fd_entry *file, char path[PATH_MAX])
{
    char link[64];
    int status = fcntl(file->host, F_GETFL);
    if (file->kind != FD_HOST)
        return -ENODEV;
    if (status & O_PATH)
        return -EBADF;
    if ((status & O_ACCMODE) == O_WRONLY ||
        (request->shared && request->prot & MMU_WRITE && (status & O_ACCMODE) != O_RDWR))
        return -EACCES;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file->host);
    ssize_t bytes = readlink(link, path, PATH_MAX - 1);
    path[bytes > 0 ? bytes : 0] = '\0';
    if (c2_root_is_own(path)) /* the same in every report */
        memmove(path, c2_root_inside(path), strlen(c2_root_inside(path)) + 1);
    request->kind = MMU_FILE;
    request->host_fd = file->host;
    request->path = path;
    return 0;
}

/* What MAP_SHARED_VALIDATE lets pass, of files; it is not for other memory. */
static int64_t check_validated(const struct call *c)
{
    const unsigned known = MAP_SHARED_VALIDATE | MAP_FIXED | MAP_DENYWRITE | MAP_EXECUTABLE | MAP_GROWSDOWN |
                           MAP_LOCKED | MAP_NORESERVE | MAP_POPULATE | MAP_NONBLOCK | MAP_STACK | MAP_HUGETLB |
                           MAP_32BIT | 0x3fu << MAP_HUGE_SHIFT;
    if (c->arg[3] & MAP_ANONYMOUS)
        return -EINVAL;
    return (unsigned)c->arg[3] & ~known ? -EOPNOTSUPP : 0;
}

static int64_t check_map(const struct call *c)
{
    unsigned type = (unsigned)c->arg[3] & MAP_TYPE;
    if (c->arg[1] == 0 || !is_page_aligned(c->arg[5]))
        return -EINVAL;
    if (type != MAP_SHARED && type != MAP_PRIVATE && type != MAP_SHARED_VALIDATE)
        return -EINVAL;
    if (c->arg[3] & (MAP_FIXED | MAP_FIXED_NOREPLACE) && !is_page_aligned(c->arg[0]))
        return -EINVAL;
    if (c2_align_up(c->arg[1], C2_PAGE_BYTES) == 0 || guest_out_of_reach(0, c->arg[1]))
        return -ENOMEM;
    if (!(c->arg[3] & MAP_ANONYMOUS) && c->arg[3] & (MAP_GROWSDOWN | MAP_HUGETLB)) /* no file is of huge pages */
        return -EINVAL;
    if (c->arg[3] & MAP_GROWSDOWN && type != MAP_PRIVATE)
        return -EINVAL;
    return type == MAP_SHARED_VALIDATE ? check_validated(c) : 0;
}

/* What MAP_HUGETLB asks for; 2 MiB is the default. Sizes that x86 does not have are EINVAL. */
static int64_t huge_size_of(unsigned flags, enum mmu_page_size *size)
{
    unsigned shift = flags >> 26 /* MAP_HUGE_SHIFT */ & 0x3f;
    *size = MMU_PAGE_4K;
    if (!(flags & MAP_HUGETLB) || !(flags & MAP_ANONYMOUS))
        return 0;
    *size = shift == 30 ? MMU_PAGE_1G : MMU_PAGE_2M;
    return shift == 0 || shift == 21 || shift == 30 ? 0 : -EINVAL;
}

/* What was said of the memory there is of something that is not there any more. */
static void forget_range(struct syscalls *kernel, uint64_t start, uint64_t end)
{
    ranges_forget(&kernel->locked.ranges, start, end);
    heirs_forget(&kernel->heirs, start, end);
}

static int64_t put_mapping(struct call *c, const struct mmu_request *request, unsigned flags)
{
    const int64_t start = mmu_map(c->kernel->mmu, request);
    c->kernel->remapped = true;
    if (start < 0)
        return start;
    forget_range(c->kernel, (uint64_t)start, (uint64_t)start + c2_align_up(request->bytes, C2_PAGE_BYTES));
    const int64_t status = locked_mapped(c, (uint64_t)start, request->bytes, flags & MAP_LOCKED);
    if (status == 0 && flags & MAP_POPULATE && !(flags & MAP_NONBLOCK))
        (void)locked_populate(c, (uint64_t)start, c2_align_up(request->bytes, C2_PAGE_BYTES));
    return status < 0 ? status : start;
}

int64_t memory_map(struct call *c)
{
    unsigned flags = (unsigned)c->arg[3], prot = rights_of(c->arg[2]);
    const struct fd_entry *file = flags & MAP_ANONYMOUS ? NULL : fds_at(c->kernel, c->arg[4]);
    char path[PATH_MAX];
    if (!file && !(flags & MAP_ANONYMOUS))
        return is_page_aligned(c->arg[5]) ? -EBADF : -EINVAL;
    int64_t status = check_map(c);
    struct mmu_request request = {
        .address = c2_align_down(c->arg[0], C2_PAGE_BYTES),
        .bytes = c->arg[1],
        .prot = prot,
        .fixed = flags & MAP_FIXED,
        .no_replace = flags & MAP_FIXED_NOREPLACE,
        .shared = (flags & MAP_TYPE) != MAP_PRIVATE,
        .zone = zone_of(file, prot, flags),
        .kind = MMU_ANONYMOUS,
        .host_fd = -1,
        .offset = file ? c->arg[5] : 0,
    };
    if (status == 0)
        status = huge_size_of(flags, &request.huge);
    if (status == 0 && file)
        status = memory_describe_file(&request, file, path);
    if (status == 0 && file)
        inputs_mapping(c->kernel, file, prot & PROT_EXEC);
    if (status == 0)
        status = locked_may_map(c->kernel, c->arg[1], flags & MAP_LOCKED);
    if (status == 0)
        status = limits_may_map(c->kernel, c->arg[1], prot & PROT_WRITE && !request.shared, request.address,
                                request.fixed ? c->arg[1] : 0);
    if (status == 0)
        status = put_mapping(c, &request, flags);
    if (status >= 0 && file && request.shared && prot & MMU_WRITE)
        filetimes_wrote(c->kernel, file);
    return status;
}

int64_t memory_unmap(struct call *c)
{
    if (!is_page_aligned(c->arg[0]) || c->arg[1] == 0 || guest_out_of_reach(c->arg[0], c->arg[1]))
        return -EINVAL;
    c->kernel->remapped = true;
    const int64_t status = mmu_unmap(c->kernel->mmu, c->arg[0], c->arg[1]);
    if (status == 0)
        forget_range(c->kernel, c->arg[0], c->arg[0] + c2_align_up(c->arg[1], C2_PAGE_BYTES));
    return status;
}

/* Where it goes to, if the guest leaves that open: there is nothing yet but a reservation. */
static int64_t choose_target(struct call *c, uint64_t bytes)
{
    const struct mmu_request request = {.address = c->arg[4], .bytes = bytes, .kind = MMU_ANONYMOUS, .host_fd = -1};
    return c->arg[3] & MREMAP_FIXED ? (int64_t)c->arg[4] : mmu_map(c->kernel->mmu, &request);
}

/* MREMAP_DONTUNMAP: the pages go, and the mapping stays, without them. */
static int64_t move_pages(struct call *c)
{
    const uint64_t bytes = c2_align_up(c->arg[1], C2_PAGE_BYTES);
    const struct mmu_area *area = mmu_area_at(mmu_areas(c->kernel->mmu), (struct guest_va){c->arg[0]}, false);
    if (!area || area->start.v + area->bytes < c->arg[0] + bytes)
        return -EFAULT;
    if (area->kind == MMU_FILE || area->shared)
        return -EINVAL;
    const struct mmu_request left = {
        .address = c->arg[0], .bytes = bytes, .prot = area->prot, .fixed = true, .kind = MMU_ANONYMOUS, .host_fd = -1};
    int64_t to = choose_target(c, bytes);
    if (to >= 0)
        to = mmu_remap(c->kernel->mmu, c->arg[0], bytes, bytes, true, true, (uint64_t)to);
    const int64_t status = to >= 0 ? mmu_map(c->kernel->mmu, &left) : to;
    return status < 0 ? status : to;
}

static int64_t check_remap(const struct call *c)
{
    const uint64_t flags = c->arg[3], known = MREMAP_MAYMOVE | MREMAP_FIXED | DONTUNMAP;
    if (flags & ~known || !is_page_aligned(c->arg[0]) || c->arg[2] == 0)
        return -EINVAL;
    if (flags & (MREMAP_FIXED | DONTUNMAP) && !(flags & MREMAP_MAYMOVE))
        return -EINVAL;
    if (flags & DONTUNMAP && c2_align_up(c->arg[1], C2_PAGE_BYTES) != c2_align_up(c->arg[2], C2_PAGE_BYTES))
        return -EINVAL;
    if (flags & (MREMAP_FIXED | DONTUNMAP) && !is_page_aligned(c->arg[4]))
        return -EINVAL;
    if (flags & MREMAP_FIXED && c->arg[0] < c->arg[4] + c->arg[2] && c->arg[4] < c->arg[0] + c->arg[1])
        return -EINVAL; /* from itself to itself */
    return 0;
}

static int64_t memory_may_grow(const struct call *c)
{
    const struct mmu_area *area = mmu_area_at(mmu_areas(c->kernel->mmu), (struct guest_va){c->arg[0]}, false);
    const uint64_t old = c2_align_up(c->arg[1], C2_PAGE_BYTES), now = c2_align_up(c->arg[2], C2_PAGE_BYTES);
    const uint64_t more = c->arg[3] & DONTUNMAP ? now : now > old ? now - old : 0;
    if (!area || more == 0)
        return 0;
    return limits_may_map(c->kernel, more, area->prot & MMU_WRITE && !area->shared, 0, 0);
}

int64_t memory_remap(struct call *c)
{
    struct page_ranges *locked = &c->kernel->locked.ranges;
    const uint64_t flags = c->arg[3], old_end = c->arg[0] + c2_align_up(c->arg[1], C2_PAGE_BYTES);
    const bool was_locked = ranges_bytes(locked, c->arg[0], old_end) > 0;
    int64_t to = check_remap(c);
    if (to == 0 && guest_out_of_reach(c->arg[0], c2_align_up(c->arg[1], C2_PAGE_BYTES)))
        to = -EFAULT;
    if (to == 0 && was_locked && c->arg[2] > c->arg[1])
        to = locked_may_map(c->kernel, c->arg[2] - c->arg[1], true);
    if (to == 0)
        to = memory_may_grow(c);
    if (to < 0)
        return to;
    c->kernel->remapped = true;
    to = flags & DONTUNMAP ? move_pages(c)
                           : mmu_remap(c->kernel->mmu, c->arg[0], c->arg[1], c->arg[2], flags & MREMAP_MAYMOVE,
                                       flags & MREMAP_FIXED, c->arg[4]);
    if (to < 0)
        return to;
    const uint64_t to_end = (uint64_t)to + c2_align_up(c->arg[2], C2_PAGE_BYTES);
    ranges_forget(locked, c->arg[0], old_end);
    ranges_forget(locked, (uint64_t)to, to_end);
    heirs_move(&c->kernel->heirs, c->arg[0], old_end, (uint64_t)to, to_end);
    const int64_t status = was_locked ? locked_mapped(c, (uint64_t)to, c->arg[2], true) : 0;
    return status < 0 ? status : to;
}

/* PROT_GROWSDOWN means all of the stack below; 0 or -errno. Nothing grows up. */
static int64_t extend_down(const struct call *c, uint64_t *start)
{
    const struct mmu_area *area = mmu_area_at(mmu_areas(c->kernel->mmu), (struct guest_va){*start}, true);
    if (!area || area->start.v >= *start + c2_align_up(c->arg[1], C2_PAGE_BYTES))
        return -ENOMEM;
    *start = area->start.v;
    return area->kind == MMU_STACK ? 0 : -EINVAL;
}

int64_t memory_protect(struct call *c)
{
    const uint64_t grows = c->arg[2] & (PROT_GROWSDOWN | PROT_GROWSUP), end = c->arg[0] + c->arg[1];
    const uint64_t known = PROT_READ | PROT_WRITE | PROT_EXEC | 8 /* PROT_SEM */ | grows;
    uint64_t start = c->arg[0];
    if (!is_page_aligned(start) || grows & PROT_GROWSUP)
        return -EINVAL;
    if (c->arg[1] == 0)
        return 0;
    if (c->arg[2] & ~known)
        return -EINVAL;
    const int64_t status = grows ? extend_down(c, &start) : 0;
    if (status < 0)
        return status;
    if (c->arg[2] & PROT_WRITE && limits_may_write(c->kernel, start, end - start) < 0)
        return -ENOMEM;
    return mmu_protect(c->kernel->mmu, start, end - start, rights_of(c->arg[2]));
}

/* Where the break stays, nothing has changed. */
int64_t memory_brk(struct call *c)
{
    const uint64_t old = c2_align_up(mmu_brk(c->kernel->mmu, 0), C2_PAGE_BYTES);
    c->kernel->remapped = true;
    if (c->arg[0] > old && (locked_may_map(c->kernel, c->arg[0] - old, false) < 0 ||
                            limits_may_map(c->kernel, c->arg[0] - old, true, 0, 0) < 0))
        return (int64_t)mmu_brk(c->kernel->mmu, 0);
    const uint64_t now = mmu_brk(c->kernel->mmu, c->arg[0]), end = c2_align_up(now, C2_PAGE_BYTES);
    if (end < old)
        forget_range(c->kernel, end, old);
    const int64_t status = end > old ? locked_mapped(c, old, end - old, false) : 0;
    return c->result->action == SYSCALLS_FAILED ? status : (int64_t)now;
}

/* ------------------------------------------------------------------ advice and residence */

/* The range as whole pages: false if its start is not one or it wraps. */
static bool page_range(const struct call *c, uint64_t *bytes)
{
    *bytes = c2_align_up(c->arg[1], C2_PAGE_BYTES);
    return is_page_aligned(c->arg[0]) && *bytes >= c->arg[1] && c->arg[0] + *bytes >= c->arg[0];
}

static bool is_mapped(const struct call *c, uint64_t bytes) { return guest_allows(c->kernel, c->arg[0], bytes, 0); }

static int64_t populate(struct call *c, uint64_t bytes, bool write)
{
    if (!guest_allows(c->kernel, c->arg[0], bytes, write ? MMU_WRITE : MMU_READ))
        return is_mapped(c, bytes) ? -EINVAL : -ENOMEM;
    return guest_touch(c, c->arg[0], bytes, write ? MMU_ACCESS_WRITE : MMU_ACCESS_READ);
}

static bool is_hint(int advice)
{
    switch (advice) {
    case MADV_NORMAL:
    case MADV_RANDOM:
    case MADV_SEQUENTIAL:
    case MADV_WILLNEED:
    case MADV_MERGEABLE:
    case MADV_UNMERGEABLE:
    case MADV_DONTDUMP:
    case MADV_DODUMP:
    case MADV_COLD:
    case MADV_PAGEOUT:
        return true;
    default:
        return false;
    }
}

/* As on a processor without protection keys. */
int64_t memory_key(struct call *c) { return c->arg[0] != 0 || c->arg[1] > 3 ? -EINVAL : -ENOSPC; }

int64_t memory_no_key(struct call *c)
{
    (void)c;
    return -EINVAL;
}

int64_t memory_protect_key(struct call *c) { return (int)c->arg[3] == -1 ? memory_protect(c) : -EINVAL; }

/* Up to what is locked. */
static int64_t discard(struct call *c, uint64_t bytes)
{
    const uint64_t first = ranges_first(&c->kernel->locked.ranges, c->arg[0]), end = c->arg[0] + bytes;
    if (first >= end)
        return mmu_discard(c->kernel->mmu, c->arg[0], bytes);
    const int64_t status = first > c->arg[0] ? mmu_discard(c->kernel->mmu, c->arg[0], first - c->arg[0]) : 0;
    return status < 0 && status != -ENOMEM ? status : -EINVAL;
}

bool memory_is_private(const struct syscalls *kernel, uint64_t start, uint64_t end)
{
    const struct mmu_area *area = mmu_area_at(mmu_areas(kernel->mmu), (struct guest_va){start}, true);
    for (; area && area->start.v < end; area = mmu_area_at(mmu_areas(kernel->mmu), (struct guest_va){start}, true)) {
        if (area->kind == MMU_FILE || area->shared)
            return false;
        start = area->start.v + area->bytes;
    }
    return true;
}

/* MADV_REMOVE: it is the file, or the piece of shared memory, that loses the pages, so the host does it, and refuses
 * what may not be written. */
static int64_t punch_hole(struct call *c, uint64_t bytes)
{
    const struct mmu_area *area = mmu_area_at(mmu_areas(c->kernel->mmu), (struct guest_va){c->arg[0]}, false);
    if (!area || !is_mapped(c, bytes))
        return -ENOMEM;
    if (ranges_bytes(&c->kernel->locked.ranges, c->arg[0], c->arg[0] + bytes) > 0 ||
        (area->kind != MMU_FILE && !area->shared))
        return -EINVAL;
    if (!area->shared)
        return -EACCES;
    if (mmu_lend(c->kernel->mmu, (struct guest_va){c->arg[0]}, bytes) != 0)
        return -ENOMEM;
    const int64_t status = CALL_HOST(c, madvise(guest_pointer(c->arg[0]), bytes, MADV_REMOVE));
    mmu_lend_end(c->kernel->mmu);
    return status;
}

int64_t memory_advise(struct call *c)
{
    enum { POPULATE_READ = 22, POPULATE_WRITE = 23, DONTNEED_LOCKED = 24 };
    int advice = (int)c->arg[2];
    uint64_t bytes;
    if (!page_range(c, &bytes))
        return -EINVAL;
    switch (advice) {
    case MADV_FREE:
        if (!memory_is_private(c->kernel, c->arg[0], c->arg[0] + bytes))
            return -EINVAL;
        return bytes ? discard(c, bytes) : 0;
    case MADV_DONTNEED:
        return bytes ? discard(c, bytes) : 0;
    case MADV_REMOVE:
        return bytes ? punch_hole(c, bytes) : 0;
    case MADV_DONTFORK:
    case MADV_DOFORK:
    case MADV_WIPEONFORK:
    case MADV_KEEPONFORK:
        return is_mapped(c, bytes) ? heirs_advise(c, c->arg[0], c->arg[0] + bytes, advice) : -ENOMEM;
    case DONTNEED_LOCKED:
        return bytes ? mmu_discard(c->kernel->mmu, c->arg[0], bytes) : 0;
    case MADV_HUGEPAGE:
    case MADV_NOHUGEPAGE:
        if (!is_mapped(c, bytes))
            return -ENOMEM;
        return mmu_advise_huge(c->kernel->mmu, c->arg[0], bytes, advice == MADV_HUGEPAGE);
    case POPULATE_READ:
    case POPULATE_WRITE:
        return populate(c, bytes, advice == POPULATE_WRITE);
    default:
        if (!is_hint(advice))
            return -EINVAL;
        return is_mapped(c, bytes) ? 0 : -ENOMEM;
    }
}

int64_t memory_sync(struct call *c)
{
    uint64_t bytes = c2_align_up(c->arg[1], C2_PAGE_BYTES), flags = c->arg[2]; /* the last page of all is 0 bytes */
    if (!is_page_aligned(c->arg[0]) || flags & ~(uint64_t)(MS_ASYNC | MS_INVALIDATE | MS_SYNC) ||
        (flags & MS_ASYNC && flags & MS_SYNC))
        return -EINVAL;
    if (c->arg[0] + bytes < c->arg[0] || !is_mapped(c, bytes))
        return -ENOMEM;
    if (flags & MS_INVALIDATE && ranges_bytes(&c->kernel->locked.ranges, c->arg[0], c->arg[0] + bytes) > 0)
        return -EBUSY;
    return bytes ? CALL_HOST(c, msync(guest_pointer(c->arg[0]), bytes, (int)flags)) : 0;
}

int64_t memory_resident(struct call *c)
{
    const uint64_t bytes = c2_align_up(c->arg[1], C2_PAGE_BYTES);
    if (!is_page_aligned(c->arg[0]))
        return -EINVAL;
    if (guest_out_of_reach(c->arg[0], c->arg[1]) || !is_mapped(c, bytes))
        return -ENOMEM;
    int64_t status = guest_check_write(c, c->arg[2], bytes / C2_PAGE_BYTES);
    uint8_t *out = guest_pointer(c->arg[2]);
    for (uint64_t page = 0; status == 0 && page < bytes / C2_PAGE_BYTES; page++) {
        const struct guest_va va = {c->arg[0] + page * C2_PAGE_BYTES};
        out[page] = mmu_ready(c->kernel->mmu, va, MMU_ACCESS_READ);
    }
    return status;
}
