/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Processes that have their memory in common.
 *
 * Model
 *   Each is a process of the host with memory of its own. As one of them runs at a time it is enough that one which
 *   gets the turn finds what the others have done: when a process gives its turn on, the pages that it has written go
 *   to a store that all of them share, with a version, and so do its break and its private anonymous mappings; when it
 *   gets the turn, it takes what is newer than it has seen.
 *   Which pages it may have written the host knows: private ones that no other process has. A comparison with the
 *   store decides.
 *
 * Invariants
 *   Versions rise. No page is in the store twice.
 *   A store without room for a page is full for good: whoever gets the turn behind that fails, for it would read what
 *   is not so.
 *
 * Cost
 *   Of a turn: the host's map of the pages, and a comparison of each page that is in the store.
 *
 * Not modelled
 *   Mappings of files, and shared memory, that a process has made since: they stay its own. Pages that were given up
 *   (MADV_DONTNEED) and not written since the memory is common are still there for the others.
 */
#include "syscalls/joint_priv.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "syscalls/handed_priv.h"
#include "syscalls/kernel_priv.h"

enum { PAGES_MOST = 1 << 21, AREAS_MOST = 1 << 17, INDEX_SIZE = 2 * PAGES_MOST };

struct joint_area {
    uint64_t start, end;
    uint32_t prot, anonymous; /* and private, and no heap or stack */
};
struct joint_page {
    uint64_t address, version;
};
struct joint_store {
    uint64_t number; /* of the memory */
    uint64_t version;
    uint64_t brk, areas_version;
    uint32_t members, areas, pages;
    bool full; /* a page was written for which there was no room */
    struct joint_area area[AREAS_MOST];
    struct joint_page page[PAGES_MOST];
    uint32_t index[INDEX_SIZE]; /* 1 + the page's place, by a hash of its address; 0: free */
    uint8_t bytes[PAGES_MOST][C2_PAGE_BYTES];
};

static bool has_company_in_memory(const struct syscalls *kernel)
{
    return kernel->joint.store && kernel->joint.store->members > 1;
}

uint64_t joint_number(const struct syscalls *kernel)
{
    return kernel->joint.store ? kernel->joint.store->number : kernel->pid;
}

/* ------------------------------------------------------------------ coming and going */

int64_t joint_begin(struct syscalls *kernel)
{
    struct joint *joint = &kernel->joint;
    if (!joint->store) {
        void *at = mmap(NULL, sizeof *joint->store, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
                        -1, 0);
        if (at == MAP_FAILED)
            return -ENOMEM;
        joint->store = at;
        joint->store->members = 1;
        joint->store->number = (uint64_t)kernel->pid << 32;
        joint->most = joint->most ? joint->most : PAGES_MOST;
        words_renumber(kernel, joint->store->number);
    }
    joint->store->members++;
    kernel->self->memory = joint->store->number;
    return 0;
}

void joint_cancel(struct syscalls *kernel) { kernel->joint.store->members--; }

void joint_separate(struct syscalls *kernel)
{
    if (kernel->joint.store)
        munmap(kernel->joint.store, sizeof *kernel->joint.store);
    kernel->joint = (struct joint){0};
}

void joint_leave(struct syscalls *kernel)
{
    if (!kernel->joint.store)
        return;
    joint_give(kernel);
    kernel->joint.store->members--;
    kernel->self->memory = 0;
    joint_separate(kernel);
}

/* ------------------------------------------------------------------ pages */

/* Where its number stands, or is to stand. */
static uint32_t *joint_index(struct joint_store *store, uint64_t address)
{
    uint64_t i = (address / C2_PAGE_BYTES * 0x9e3779b97f4a7c15u) >> 32 & (INDEX_SIZE - 1);
    while (store->index[i] != 0 && store->page[store->index[i] - 1].address != address)
        i = (i + 1) & (INDEX_SIZE - 1);
    return &store->index[i];
}

static void add_page(struct syscalls *kernel, uint64_t address)
{
    struct joint_store *store = kernel->joint.store;
    uint32_t *place = joint_index(store, address);
    if (*place != 0)
        return;
    store->full = store->full || store->pages >= kernel->joint.most;
    if (store->full)
        return;
    store->page[store->pages] = (struct joint_page){address, ++store->version};
    memcpy(store->bytes[store->pages], guest_pointer(address), C2_PAGE_BYTES);
    *place = ++store->pages;
}

/* What the process has there: NULL, nothing that it could have changed. */
static const uint8_t *content_at(const struct syscalls *kernel, uint64_t address)
{
    static const uint8_t zeros[C2_PAGE_BYTES];
    const struct mmu_area *area = mmu_area_at(mmu_areas(kernel->mmu), (struct guest_va){address}, false);
    if (!area || area->shared || !(area->prot & MMU_READ))
        return NULL;
    if (mmu_ready(kernel->mmu, (struct guest_va){address}, MMU_ACCESS_READ))
        return guest_pointer(address);
    return area->kind == MMU_FILE ? NULL : zeros;
}

static void renew_page(struct syscalls *kernel, uint32_t i)
{
    struct joint_store *store = kernel->joint.store;
    const uint8_t *content = content_at(kernel, store->page[i].address);
    if (!content || memcmp(content, store->bytes[i], C2_PAGE_BYTES) == 0)
        return;
    memcpy(store->bytes[i], content, C2_PAGE_BYTES);
    store->page[i].version = ++store->version;
}

/* Also where the guest itself may not write any more. */
static void take_page(struct call *c, uint64_t address, const uint8_t *bytes)
{
    struct mmu *mmu = c->kernel->mmu;
    if (guest_allows(c->kernel, address, C2_PAGE_BYTES, MMU_WRITE)) {
        (void)guest_write(c, address, bytes, C2_PAGE_BYTES);
    } else if (guest_touch(c, address, C2_PAGE_BYTES, MMU_ACCESS_READ) == 0 &&
               mmu_lend(mmu, (struct guest_va){address}, C2_PAGE_BYTES) == 0) {
        memcpy(guest_pointer(address), bytes, C2_PAGE_BYTES);
        mmu_lend_end(mmu);
    }
}

static void take_pages(struct syscalls *kernel)
{
    const struct joint_store *store = kernel->joint.store;
    struct syscalls_result result = {.action = SYSCALLS_RETURN};
    struct c2_error err;
    struct call c = {.kernel = kernel, .result = &result, .err = &err};
    for (uint32_t i = 0; i < store->pages; i++) {
        const struct joint_page *page = &store->page[i];
        const uint8_t *content = page->version > kernel->joint.seen ? content_at(kernel, page->address) : NULL;
        if (content && memcmp(content, store->bytes[i], C2_PAGE_BYTES) != 0)
            take_page(&c, page->address, store->bytes[i]);
    }
}

/* ------------------------------------------------------------------ mappings */

static bool is_anonymous(const struct mmu_area *area) { return area->kind == MMU_ANONYMOUS && !area->shared; }

static void give_areas(struct syscalls *kernel)
{
    struct joint_store *store = kernel->joint.store;
    const struct mmu_areas *areas = mmu_areas(kernel->mmu);
    const uint64_t brk = mmu_brk(kernel->mmu, 0);
    uint32_t count = 0;
    bool same = store->areas_version != 0 && store->brk == brk;
    const struct mmu_area *area = mmu_area_at(areas, (struct guest_va){0}, true);
    for (uint64_t end; area; area = mmu_area_at(areas, (struct guest_va){end}, true)) {
        end = area->start.v + area->bytes;
        const struct joint_area now = {area->start.v, end, area->prot, is_anonymous(area)};
        C2_ASSERT(count < AREAS_MOST);
        same = same && count < store->areas && memcmp(&store->area[count], &now, sizeof now) == 0;
        store->area[count++] = now;
    }
    if (same && count == store->areas)
        return;
    store->areas = count;
    store->brk = brk;
    store->areas_version = ++store->version;
}

/* What the others have nothing of any more; list: their areas, ascending. */
static void unmap_gone(struct syscalls *kernel, const struct joint_area *list, uint64_t count)
{
    uint64_t from = 0;
    for (uint64_t i = 0; i <= count; i++) {
        const uint64_t to = i < count ? list[i].start : MMU_ADDRESSES_END;
        const struct mmu_area *area;
        while (from < to && (area = mmu_area_at(mmu_areas(kernel->mmu), (struct guest_va){from}, true)) &&
               area->start.v < to) {
            const uint64_t start = area->start.v > from ? area->start.v : from, end = area->start.v + area->bytes;
            from = end < to ? end : to;
            if (is_anonymous(area))
                (void)mmu_unmap(kernel->mmu, start, from - start);
        }
        from = i < count ? list[i].end : to;
    }
}

static void map_new(struct syscalls *kernel, const struct joint_area *new)
{
    for (uint64_t at = new->start, end; at < new->end; at = end) {
        const struct mmu_area *area = mmu_area_at(mmu_areas(kernel->mmu), (struct guest_va){at}, true);
        const bool there = area && area->start.v <= at;
        end = there ? area->start.v + area->bytes : area ? area->start.v : new->end;
        end = end < new->end ? end : new->end;
        const struct mmu_request request = {
            .address = at, .bytes = end - at, .prot = new->prot, .fixed = true, .host_fd = -1};
        if (!there)
            (void)mmu_map(kernel->mmu, &request);
        else if (is_anonymous(area) && area->prot != new->prot)
            (void)mmu_protect(kernel->mmu, at, end - at, new->prot);
    }
}

static void take_areas(struct syscalls *kernel)
{
    const struct joint_store *store = kernel->joint.store;
    if (store->areas_version <= kernel->joint.seen)
        return;
    (void)mmu_brk(kernel->mmu, store->brk);
    unmap_gone(kernel, store->area, store->areas);
    for (uint32_t i = 0; i < store->areas; i++)
        if (store->area[i].anonymous)
            map_new(kernel, &store->area[i]);
    kernel->remapped = true;
}

/* ------------------------------------------------------------------ turns */

void joint_give(struct syscalls *kernel)
{
    if (!has_company_in_memory(kernel))
        return;
    give_areas(kernel);
    for (uint32_t i = 0; i < kernel->joint.store->pages; i++)
        renew_page(kernel, i);
    handed_each_own(kernel, MMU_READ, add_page);
    kernel->joint.seen = kernel->joint.store->version;
}

static enum c2_status refuse_full(const struct joint *joint, struct c2_error *err)
{
    char size[32];
    return c2_fail(err, C2_ERR_EXHAUSTED,
                   "memory in common is exhausted: processes of the program that have one memory (clone with CLONE_VM) "
                   "have written more than %s of it, the most that is kept for them; let the program use threads, or "
                   "less memory",
                   c2_size_text(size, (uint64_t)joint->most * C2_PAGE_BYTES));
}

enum c2_status joint_take(struct syscalls *kernel, struct c2_error *err)
{
    const struct joint *joint = &kernel->joint;
    if (!joint->store)
        return C2_OK;
    if (joint->store->full)
        return refuse_full(joint, err);
    if (joint->seen == joint->store->version)
        return C2_OK;
    take_areas(kernel);
    take_pages(kernel);
    kernel->joint.seen = joint->store->version;
    return C2_OK;
}
