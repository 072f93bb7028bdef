/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   The address space in a checkpoint: the areas, and of each the pages that were touched. A page has content only
 *   if it was touched, by the guest, its kernel or the loader. Private memory is kept page by page, but for pages of
 *   zeros where there is no file behind; pages of files that were not touched are those of the file still, which is
 *   mapped again and must be the same file. What is shared with a file is in that file.
 * Invariants
 *   Marks are not written: the stream that goes on has those that led here.
 * Not modelled
 *   Accessed and dirty bits, which are never read. Pieces of one shared anonymous mapping are pieces of memory of
 *   their own afterwards: none can grow into another's old place.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "mmu/mmu_priv.h"

#define PATH_MOST 4096u

static void *bytes_at(uint64_t va) { return (void *)(uintptr_t)va; }

/* ------------------------------------------------------------------ areas */

/* An area with what lies behind it, as one list of fields. */
struct saved_area {
    struct area area;
    char *path; /* files */
    uint64_t inode, device;
};

static void visit_fields(struct checkpoint *c, struct saved_area *saved)
{
    struct area *area = &saved->area;
    CHECKPOINT_NUMBER(c, area->view.start.v, MMU_ADDRESSES_END);
    CHECKPOINT_NUMBER(c, area->view.bytes, MMU_WINDOW_END);
    CHECKPOINT_NUMBER(c, area->view.prot, MMU_READ | MMU_WRITE | MMU_EXEC);
    CHECKPOINT_NUMBER(c, area->view.shared, 1);
    CHECKPOINT_NUMBER(c, area->view.kind, MMU_STACK);
    CHECKPOINT_NUMBER(c, area->may_write, 1);
    CHECKPOINT_NUMBER(c, area->huge_wanted, 1);
    CHECKPOINT_NUMBER(c, area->huge_refused, 1);
    CHECKPOINT_NUMBER(c, area->hugetlb, MMU_PAGE_SIZES - 1);
    CHECKPOINT_NUMBER(c, area->view.offset, INT64_MAX);
    CHECKPOINT_NUMBER(c, saved->inode, CHECKPOINT_ANY);
    CHECKPOINT_NUMBER(c, saved->device, CHECKPOINT_ANY);
    checkpoint_text(c, &saved->path, PATH_MOST);
}

static bool can_be(const struct mmu *mmu, const struct saved_area *saved, uint64_t from)
{
    const struct mmu_area *view = &saved->area.view;
    if (view->bytes == 0 || (view->start.v | view->bytes | view->offset) % C2_PAGE_BYTES != 0 || view->start.v < from)
        return false;
    const bool reserves = !view->prot && !view->shared && view->kind == MMU_ANONYMOUS && !saved->area.hugetlb;
    const int64_t refused = reserves ? mmu_range_reservable(view->start.v, view->bytes)
                                     : mmu_range_usable(view->start.v, view->bytes);
    return (view->kind == MMU_FILE) == !!saved->path && refused == 0 && areas_count(&mmu->space.areas) < AREAS_LIMIT;
}

static enum checkpoint_use save_use_of(const struct area *area)
{
    return area->view.shared && area->may_write ? CHECKPOINT_WRITTEN : CHECKPOINT_READ;
}

/* The descriptor of the file again; -1: there is none. */
static int save_visit_file(struct checkpoint *c, const struct saved_area *saved)
{
    char who[64];
    const struct area *area = &saved->area;
    const bool writes = area->view.shared && area->may_write;
    if (!saved->path)
        return -1;
    snprintf(who, sizeof who, "the mapping at 0x%llx", (unsigned long long)area->view.start.v);
    const int fd = checkpoint_writes(c) ? open(saved->path, O_PATH | O_CLOEXEC) : -1;
    const int again = checkpoint_file(c, saved->path, fd, writes ? O_RDWR : O_RDONLY, save_use_of(area), who);
    if (fd >= 0)
        close(fd);
    return again;
}

/* ------------------------------------------------------------------ pages
 * Each is a number: 0, there are no more; else 1 + (gap << 2 | only read << 1 | its bytes follow). */

struct pages {
    struct checkpoint *c;
    const struct area *area;
    uint64_t next; /* the page behind the last one */
};

static bool save_is_zero(const uint8_t *page) { return page[0] == 0 && memcmp(page, page + 1, C2_PAGE_BYTES - 1) == 0; }

static bool has_content(const struct area *area, uint64_t va)
{
    C2_PROMISE(va % C2_PAGE_BYTES == 0);
    if (area->view.kind == MMU_FILE)
        return !area->view.shared;
    return !save_is_zero(bytes_at(va));
}

static uint64_t save_put_page(void *self, uint64_t va, uint64_t entry)
{
    struct pages *pages = self;
    C2_PROMISE(va >= pages->next && entry & (ENTRY_PRESENT | ENTRY_KEPT));
    const bool content = has_content(pages->area, va);
    uint64_t number = 1 + ((va - pages->next) >> C2_PAGE_SHIFT << 2 | (entry & ENTRY_ZERO ? 2 : 0) | content);
    checkpoint_number(pages->c, &number, CHECKPOINT_ANY);
    if (content)
        checkpoint_bytes(pages->c, bytes_at(va), C2_PAGE_BYTES);
    pages->next = va + C2_PAGE_BYTES;
    return entry;
}

/* Pages without rights have content, too, and those without the right to write are filled here. */
static bool lend_area(struct mmu *mmu, struct checkpoint *c, const struct area *area)
{
    struct c2_error why;
    const int error = mmu_lend(mmu, area->view.start, area->view.bytes);
    if (error)
        c2_fail(&why, C2_ERR_NO_MEMORY, "the host cannot open the guest's memory at 0x%llx: %s",
                (unsigned long long)area->view.start.v, strerror(error));
    if (error)
        checkpoint_fail(c, &why);
    return !error;
}

static void put_pages(struct mmu *mmu, struct checkpoint *c, const struct area *area)
{
    struct pages pages = {c, area, area->view.start.v};
    uint64_t none = 0;
    if (lend_area(mmu, c, area))
        tables_visit(mmu->space.tables, area->view.start.v, area_end(area), save_put_page, &pages);
    mmu_lend_end(mmu);
    checkpoint_number(c, &none, CHECKPOINT_ANY);
}

static void set_page(struct mmu *mmu, struct checkpoint *c, const struct area *area, uint64_t va, bool only_read)
{
    C2_PROMISE(area->view.start.v <= va && va < area_end(area));
    struct c2_error why;
    uint64_t entry = leaf_rights(area->view.prot);
    if (only_read)
        entry = (entry & ~ENTRY_WRITE) | ENTRY_ZERO;
    if (tables_prepare(mmu->space.tables, va, MMU_PAGE_4K, &why) != C2_OK)
        checkpoint_fail(c, &why);
    else
        tables_set(mmu->space.tables, va, entry);
}

static void get_pages(struct mmu *mmu, struct checkpoint *c, const struct area *area)
{
    C2_ASSERT(area->view.bytes != 0);
    uint64_t next = area->view.start.v, number = 0;
    for (;;) {
        checkpoint_number(c, &number, CHECKPOINT_ANY);
        if (number == 0)
            return;
        const uint64_t left = (area_end(area) - next) >> C2_PAGE_SHIFT, gap = (number - 1) >> 2;
        const bool only_read = (number - 1) & 2, content = (number - 1) & 1;
        const bool of_file = area->view.kind == MMU_FILE && area->view.shared;
        if (gap >= left || (content && of_file) || (only_read && (!mmu->config.tells_writes || area->backing))) {
            checkpoint_damaged(c, "a page that cannot be there");
            return;
        }
        const uint64_t va = next + (gap << C2_PAGE_SHIFT);
        set_page(mmu, c, area, va, only_read);
        if (content)
            checkpoint_bytes(c, bytes_at(va), C2_PAGE_BYTES);
        next = va + C2_PAGE_BYTES;
    }
}

static void get_area_pages(struct mmu *mmu, struct checkpoint *c, const struct area *area)
{
    if (lend_area(mmu, c, area))
        get_pages(mmu, c, area);
    mmu_lend_end(mmu);
}

/* ------------------------------------------------------------------ the areas one by one */

static void save_area(struct mmu *mmu, struct checkpoint *c, const struct area *area)
{
    C2_ASSERT(area->view.bytes != 0);
    struct saved_area saved = {.area = *area};
    if (area->backing) {
        saved.inode = area->backing->inode;
        saved.device = area->backing->device;
        saved.path = area->backing->anonymous ? NULL : area->backing->path;
    }
    visit_fields(c, &saved);
    save_visit_file(c, &saved);
    put_pages(mmu, c, area);
}

static void fail_map(struct checkpoint *c, const struct area *area, int error)
{
    C2_ASSERT(error != 0);
    struct c2_error why;
    c2_fail(&why, C2_ERR_NO_MEMORY, "the host cannot map the guest's memory at 0x%llx again: %s",
            (unsigned long long)area->view.start.v, strerror(error));
    checkpoint_fail(c, &why);
}

/* In the host's memory and among the areas. A file that is not there is replaced by memory: it is told of at the
 * end. */
static bool save_put_area(struct mmu *mmu, struct checkpoint *c, struct area *area, int fd)
{
    struct host_source source = mmu_source_of(mmu, area, fd);
    int error = mmu->host.room(mmu->host.self, false);
    if (!error)
        error = areas_reserve(&mmu->space.areas, 1);
    if (!error)
        error = mmu->host.map(mmu->host.self, area->view.start.v, area->view.bytes, &source);
    if (error) {
        fail_map(c, area, error);
        backing_release(area->backing);
        return false;
    }
    areas_insert(&mmu->space.areas, area);
    return true;
}

static void restore_area(struct mmu *mmu, struct checkpoint *c, uint64_t *from)
{
    struct c2_error why;
    struct saved_area saved = {.area.backing = NULL};
    visit_fields(c, &saved);
    if (checkpoint_status(c, NULL) == C2_OK && !can_be(mmu, &saved, *from))
        checkpoint_damaged(c, "an area that cannot be there");
    struct area *area = &saved.area;
    const int fd = save_visit_file(c, &saved);
    if (checkpoint_status(c, NULL) == C2_OK && (saved.path || area->view.shared)) {
        area->backing = backing_create(saved.path, saved.inode, saved.device);
        if (!area->backing)
            checkpoint_fail(c, (c2_fail_memory(&why, "a mapping"), &why));
        else
            area_describe(area, area->view.offset);
    }
    *from = area_end(area);
    if (checkpoint_status(c, NULL) != C2_OK)
        backing_release(area->backing);
    else if (save_put_area(mmu, c, area, fd))
        get_area_pages(mmu, c, areas_at(&mmu->space.areas, area->view.start.v));
    if (fd >= 0)
        close(fd);
    c2_free(saved.path);
}

static void refuse_lost(const struct mmu *mmu, struct checkpoint *c)
{
    if (checkpoint_writes(c) && mmu_usage(mmu).lost_pages != 0)
        checkpoint_refuse(c, "a file has lost pages that the program had mapped and touched");
}

/* One that loader/ may have made. */
static bool is_layout(const struct mmu *mmu)
{
    const struct mmu_layout *layout = &mmu->layout;
    const bool near = layout->mmap_top == MMU_MMAP_TOP && layout->stack_top == MMU_STACK_TOP;
    const bool far = layout->mmap_top == MMU_FAR_MMAP_TOP && layout->stack_top == MMU_FAR_STACK_TOP;
    return (near || far) && layout->heap >= MMU_WINDOW_START &&
           layout->heap % mmu_page_bytes(mmu->config.heap_page) == 0;
}

static void visit_layout(struct mmu *mmu, struct checkpoint *c)
{
    CHECKPOINT_NUMBER(c, mmu->layout.heap, MMU_TABLES_BASE);
    CHECKPOINT_NUMBER(c, mmu->layout.mmap_top, MMU_FAR_END);
    CHECKPOINT_NUMBER(c, mmu->layout.stack_top, MMU_FAR_END);
    CHECKPOINT_NUMBER(c, mmu->readable_is_code, 1);
    if (!is_layout(mmu))
        checkpoint_damaged(c, "a program that lies nowhere");
}

void mmu_checkpoint(struct mmu *mmu, struct checkpoint *c)
{
    uint64_t count = areas_count(&mmu->space.areas), from = 0;
    checkpoint_part(c, "the memory");
    refuse_lost(mmu, c);
    visit_layout(mmu, c);
    CHECKPOINT_NUMBER(c, mmu->brk, MMU_WINDOW_END);
    CHECKPOINT_NUMBER(c, mmu->objects, CHECKPOINT_ANY);
    CHECKPOINT_NUMBER(c, mmu->space.counts.faults, CHECKPOINT_ANY);
    checkpoint_number(c, &count, AREAS_LIMIT);
    if (checkpoint_writes(c)) {
        const struct mmu_areas *areas = &mmu->space.areas;
        for (const struct area *area = areas_find(areas, 0); area; area = areas_next(areas, area))
            save_area(mmu, c, area);
        refuse_lost(mmu, c);
        return;
    }
    for (uint64_t i = 0; i < count && checkpoint_status(c, NULL) == C2_OK; i++)
        restore_area(mmu, c, &from);
    areas_merge(&mmu->space.areas, MMU_WINDOW_START, MMU_FAR_END);
    C2_PROMISE(mmu_holds(mmu));
}

void mmu_guest_config_checkpoint(struct mmu_guest_config *config, struct checkpoint *c)
{
    CHECKPOINT_NUMBER(c, config->guest_bytes, CHECKPOINT_ANY);
    CHECKPOINT_NUMBER(c, config->heap_page, MMU_PAGE_SIZES - 1);
    CHECKPOINT_NUMBER(c, config->tells_writes, 1);
    if (!checkpoint_writes(c) && config->guest_bytes < C2_PAGE_BYTES)
        checkpoint_damaged(c, "a guest without memory");
}

const struct mmu_guest_config *mmu_guest_config(const struct mmu *mmu) { return &mmu->config; }
