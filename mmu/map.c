/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   mmap(2). A mapping without a fixed address goes to the hint if that is free; otherwise to the highest free range
 *   below the layout's top, holes first (as Linux does top-down), or in zone LOW to the lowest free range from
 *   MMU_LOW_BASE, then HIGH when that is full.
 * Not modelled
 *   Linux's alignment of large mappings that only may get huge pages (MAP_HUGETLB's are aligned), its gap below
 *   growing stacks, MAP_GROWSDOWN, and the refusal of mappings larger than the machine's memory.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "mmu/mmu_priv.h"

int64_t mmu_range_reservable(uint64_t start, uint64_t bytes)
{
    if (start < MMU_WINDOW_START)
        return -EPERM;
    return start > MMU_FAR_END || bytes > MMU_FAR_END - start ? -ENOMEM : 0;
}

int64_t mmu_range_usable(uint64_t start, uint64_t bytes)
{
    const int64_t refused = mmu_range_reservable(start, bytes);
    return refused == 0 && host_kept_at(start, start + bytes) ? -ENOMEM : refused;
}

uint64_t mmu_find_gap(const struct mmu *mmu, uint64_t bytes, enum mmu_zone zone)
{
    C2_ASSERT(bytes != 0 && bytes % C2_PAGE_BYTES == 0);
    uint64_t at = 0;
    if (zone == MMU_ZONE_LOW)
        at = areas_gap_up(&mmu->space.areas, MMU_LOW_BASE, MMU_LOW_END, bytes);
    const uint64_t top = mmu->layout.mmap_top, bottom = top < MMU_WINDOW_END ? MMU_TABLES_END : MMU_FAR_START;
    return at ? at : areas_gap_down(&mmu->space.areas, bottom, top, bytes);
}

/* 0 and *bytes in whole pages, or -errno. */
static int64_t check_request(const struct mmu_request *request, uint64_t *bytes)
{
    bool file = request->host_fd >= 0;
    if (request->bytes == 0 || request->prot & ~7u || request->offset % C2_PAGE_BYTES != 0)
        return -EINVAL;
    if (file ? request->kind != MMU_FILE : request->kind == MMU_FILE)
        return -EINVAL;
    if (request->bytes > MMU_WINDOW_END || (file && request->huge))
        return file ? -EINVAL : -ENOMEM;
    *bytes = c2_align_up(request->bytes, mmu_page_bytes(request->huge));
    if (file && request->offset + *bytes > INT64_MAX)
        return -EOVERFLOW;
    return 0;
}

/* The address, or -errno. */
static int64_t choose_address(const struct mmu *mmu, const struct mmu_request *request, uint64_t bytes)
{
    C2_ASSERT(bytes != 0 && bytes % C2_PAGE_BYTES == 0);
    uint64_t wish = request->address, step = mmu_page_bytes(request->huge);
    if (request->fixed || request->no_replace) {
        if (wish % step != 0)
            return -EINVAL;
        const bool reserves = !request->prot && !request->shared && request->kind == MMU_ANONYMOUS && !request->huge;
        int64_t refused = reserves ? mmu_range_reservable(wish, bytes) : mmu_range_usable(wish, bytes);
        if (refused)
            return refused;
        return request->no_replace && !areas_free(&mmu->space.areas, wish, wish + bytes) ? -EEXIST : (int64_t)wish;
    }
    wish = c2_align_up(wish, step);
    if (wish != 0 && wish < MMU_WINDOW_END && mmu_range_usable(wish, bytes) == 0 &&
        areas_free(&mmu->space.areas, wish, wish + bytes))
        return (int64_t)wish;
    uint64_t at = mmu_find_gap(mmu, bytes + step - C2_PAGE_BYTES, request->zone);
    return at ? (int64_t)c2_align_up(at, step) : -ENOMEM;
}

/* The backing of the request in *out (NULL for private anonymous memory). 0 or errno. */
static int make_backing(struct mmu *mmu, struct backing **out, const struct mmu_request *request)
{
    *out = NULL;
    struct stat about = {0};
    bool file = request->host_fd >= 0;
    if (!file && !request->shared)
        return 0;
    if (file && fstat(request->host_fd, &about) != 0)
        return errno;
    const char *path = request->path ? request->path : "";
    if (file && strlen(path) >= MARK_PATH_BYTES)
        return ENAMETOOLONG;
    *out = file ? backing_create(path, about.st_ino, about.st_dev) : backing_create(NULL, ++mmu->objects, 0);
    return *out ? 0 : ENOMEM;
}

void mmu_number_memory(struct mmu *mmu, uint64_t last) { mmu->objects = last; }

static struct area map_area_of(const struct mmu *mmu, const struct mmu_request *request, uint64_t start, uint64_t bytes,
                               struct backing *backing)
{
    C2_ASSERT(tables_is_range(start, start + bytes));
    struct area area = {.backing = backing, .may_write = true, .hugetlb = (uint8_t)request->huge};
    area.view = (struct mmu_area){.start = {start},
                                  .bytes = bytes,
                                  .prot = mmu_rights_of(mmu, request->prot),
                                  .shared = request->shared,
                                  .kind = request->kind};
    if (backing)
        area_describe(&area, request->host_fd >= 0 ? request->offset : 0);
    return area;
}

/* ------------------------------------------------------------------ holes of the host */

static bool fills(const struct area *area) { return area && !area->backing; }

struct host_hole mmu_hole_at(const struct mmu *mmu, uint64_t start, uint64_t end)
{
    C2_ASSERT(tables_is_range(start, end));
    const struct area *before = areas_before(&mmu->space.areas, start), *behind = areas_find(&mmu->space.areas, end);
    const uint64_t least = start < MMU_WINDOW_END ? MMU_WINDOW_START : start < MMU_FAR_START ? start : MMU_FAR_START;
    const uint64_t most = end > MMU_FAR_START ? MMU_FAR_END : end > MMU_WINDOW_END ? end : MMU_WINDOW_END;
    uint64_t low = start - least < HOST_HOLE_BYTES ? least : start - HOST_HOLE_BYTES;
    uint64_t high = most - end < HOST_HOLE_BYTES ? most : end + HOST_HOLE_BYTES;
    if (start >= MMU_TABLES_END && low < MMU_TABLES_END)
        low = MMU_TABLES_END;
    if (end <= MMU_TABLES_BASE && high > MMU_TABLES_BASE)
        high = MMU_TABLES_BASE;
    const bool near_low = before && area_end(before) > low, near_high = behind && behind->view.start.v < high;
    if (near_low)
        low = area_end(before) < start ? area_end(before) : start;
    if (near_high)
        high = behind->view.start.v > end ? behind->view.start.v : end;
    const bool fill = near_low && near_high && high - low <= HOST_HOLE_BYTES && fills(before) && fills(behind);
    const struct host_rights begin = fill ? rights_begin(mmu, before) : (struct host_rights){.enforced = false};
    return (struct host_hole){low, high, fill, begin};
}

struct host_source mmu_source_of(const struct mmu *mmu, const struct area *area, int fd)
{
    const uint64_t start = area->view.start.v, end = area_end(area);
    const struct area *before = areas_before(&mmu->space.areas, start), *behind = areas_find(&mmu->space.areas, end);
    struct host_source source = {.fd = fd,
                                 .offset = area->view.offset,
                                 .shared = area->view.shared,
                                 .write = area->view.prot & MMU_WRITE,
                                 .begin = rights_begin(mmu, area),
                                 .low = start,
                                 .high = end};
    const struct host_hole hole = mmu_hole_at(mmu, start, end);
    if (fills(before) && area_end(before) == hole.low)
        source.low = hole.low;
    if (fills(behind) && behind->view.start.v == hole.high)
        source.high = hole.high;
    return source;
}

/* ------------------------------------------------------------------ mmap */

/* Puts the area in, over whatever was there. Takes over the area's backing, also on failure. 0 or errno. */
static int map_put_area(struct mmu *mmu, struct area *area, int fd)
{
    C2_ASSERT(area->view.bytes != 0 && (fd >= 0) == (area->view.kind == MMU_FILE));
    const uint64_t start = area->view.start.v, bytes = area->view.bytes;
    struct host_source source = mmu_source_of(mmu, area, fd);
    int error = mmu->host.room(mmu->host.self, false);
    if (!error)
        error = areas_reserve(&mmu->space.areas, 3); /* two cuts and the new one */
    if (!error)
        error = mmu->host.map(mmu->host.self, start, bytes, &source);
    if (error) {
        backing_release(area->backing);
        return error;
    }
    area->may_write = source.may_write;
    error = space_put(&mmu->space, area);
    C2_ASSERT(error == 0);
    mmu_mark_mapped(mmu, start, bytes);
    return 0;
}

int64_t mmu_map_range(struct mmu *mmu, const struct mmu_request *request)
{
    uint64_t bytes;
    int64_t refused = check_request(request, &bytes);
    if (refused)
        return refused;
    int64_t start = choose_address(mmu, request, bytes);
    if (start < 0)
        return start;
    struct backing *backing;
    int error = make_backing(mmu, &backing, request);
    if (error)
        return -error;
    struct area area = map_area_of(mmu, request, (uint64_t)start, bytes, backing);
    error = map_put_area(mmu, &area, request->host_fd);
    return error ? -error : start;
}

int64_t mmu_map(struct mmu *mmu, const struct mmu_request *request)
{
    const int64_t answer = mmu_map_range(mmu, request);
    C2_PROMISE(mmu_holds(mmu));
    return answer;
}
