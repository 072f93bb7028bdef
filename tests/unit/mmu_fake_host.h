/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Host memory as a dictionary of pages, for tests of the address space without its window. Each page holds one number
 * (its data) and where it came from. The functions insist on what they may rely on.
 */
#ifndef C2_TEST_MMU_FAKE_HOST_H
#define C2_TEST_MMU_FAKE_HOST_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unit/mmu_both.h"

#define FAKE_BUCKETS 4096

struct fake_page {
    uint64_t page; /* address */
    int fd;        /* -1: anonymous */
    bool shared;
    uint64_t offset; /* in the file, or since the start of shared anonymous memory */
    uint64_t size;   /* of the file or shared memory: no memory behind offset >= size */
    uint64_t data;
    struct fake_page *next;
};
struct fake_host {
    struct fake_page *buckets[FAKE_BUCKETS];
    uint64_t file_bytes; /* size of every file */
    int read_only_fd;    /* this descriptor does not allow writing */
    uint64_t calls;
    uint64_t fail_at; /* the call of this number fails; 0: none */
    uint64_t arena_pages;
    unsigned char *arena;
    bool closed;
};

static inline struct fake_page **fake_slot(struct fake_host *fake, uint64_t page)
{
    struct fake_page **slot = &fake->buckets[(page >> C2_PAGE_SHIFT) * 0x9e3779b97f4a7c15ull >> 52];
    while (*slot && (*slot)->page != page)
        slot = &(*slot)->next;
    return slot;
}
static inline struct fake_page *fake_at(struct fake_host *fake, uint64_t page) { return *fake_slot(fake, page); }
static inline struct fake_page *fake_add(struct fake_host *fake, uint64_t page)
{
    struct fake_page **slot = fake_slot(fake, page);
    if (!*slot)
        *slot = calloc(1, sizeof **slot);
    struct fake_page *next = (*slot)->next;
    **slot = (struct fake_page){.page = page, .next = next};
    return *slot;
}
static inline void fake_remove(struct fake_host *fake, uint64_t page)
{
    struct fake_page **slot = fake_slot(fake, page), *gone = *slot;
    C2_ASSERT(gone);
    *slot = gone->next;
    free(gone);
}
static inline bool fake_fails(struct fake_host *fake) { return ++fake->calls == fake->fail_at; }

static inline int fake_room(void *self, bool shrinks)
{
    (void)self, (void)shrinks;
    return 0;
}
/* Nothing but holes, and the change itself. The page tables are passed over by what lies there itself. */
static inline void fake_check_hole(struct fake_host *fake, uint64_t low, uint64_t high, uint64_t start, uint64_t end)
{
    const bool meets = start < MMU_TABLES_END && end > MMU_TABLES_BASE;
    C2_ASSERT(low <= start && high >= end && start - low <= HOST_HOLE_BYTES && high - end <= HOST_HOLE_BYTES);
    for (uint64_t at = low; at < high; at += C2_PAGE_BYTES)
        C2_ASSERT((at >= start && at < end) ||
                  (!fake_at(fake, at) && (meets || at - MMU_TABLES_BASE >= MMU_TABLES_END - MMU_TABLES_BASE)));
}

static inline int fake_map(void *self, uint64_t start, uint64_t bytes, struct host_source *source)
{
    struct fake_host *fake = self;
    source->may_write = !(source->shared && source->fd >= 0 && source->fd == fake->read_only_fd);
    if (source->write && !source->may_write)
        return EACCES;
    fake_check_hole(fake, source->low, source->high, start, start + bytes);
    if (fake_fails(fake))
        return ENOMEM;
    for (uint64_t at = 0; at < bytes; at += C2_PAGE_BYTES) {
        struct fake_page *page = fake_add(fake, start + at);
        page->fd = source->fd;
        page->shared = source->shared;
        page->offset = source->offset + at;
        page->size = source->fd >= 0 ? fake->file_bytes : source->shared ? bytes : UINT64_MAX;
    }
    return 0;
}
static inline int fake_unmap(void *self, uint64_t start, uint64_t bytes, const struct host_hole *hole)
{
    fake_check_hole(self, hole->low, hole->high, start, start + bytes);
    if (fake_fails(self))
        return ENOMEM;
    for (uint64_t at = start; at < start + bytes; at += C2_PAGE_BYTES)
        fake_remove(self, at);
    return 0;
}
static inline int fake_move(void *self, uint64_t from, uint64_t to, uint64_t bytes, const struct host_hole *hole)
{
    fake_check_hole(self, hole->low, hole->high, from, from + bytes);
    C2_ASSERT(to >= hole->high || to + bytes <= hole->low);
    if (fake_fails(self))
        return ENOMEM;
    for (uint64_t at = 0; at < bytes; at += C2_PAGE_BYTES) {
        C2_ASSERT(!fake_at(self, to + at));
        struct fake_page was = *fake_at(self, from + at);
        struct fake_page *page = fake_add(self, to + at), *next = page->next;
        *page = was;
        page->page = to + at;
        page->next = next;
        fake_remove(self, from + at);
    }
    return 0;
}
static inline int fake_extend(void *self, uint64_t end, uint64_t bytes)
{
    if (fake_fails(self))
        return ENOMEM;
    for (uint64_t at = end; at < end + bytes; at += C2_PAGE_BYTES) {
        C2_ASSERT(!fake_at(self, at));
        struct fake_page was = *fake_at(self, at - C2_PAGE_BYTES);
        C2_ASSERT(was.fd >= 0 || was.shared);
        struct fake_page *page = fake_add(self, at);
        page->fd = was.fd;
        page->shared = was.shared;
        page->offset = was.offset + C2_PAGE_BYTES;
        page->size = was.size;
    }
    return 0;
}
static inline int fake_discard(void *self, uint64_t start, uint64_t bytes)
{
    if (fake_fails(self))
        return ENOMEM;
    for (uint64_t at = start; at < start + bytes; at += C2_PAGE_BYTES) {
        C2_ASSERT(!fake_at(self, at)->shared);
        fake_at(self, at)->data = 0;
    }
    return 0;
}
static inline bool fake_probe(void *self, uint64_t at, bool writes)
{
    (void)writes; /* each page is the mapping's own */
    struct fake_page *page = fake_at(self, at);
    C2_ASSERT(page && (page->fd >= 0 || page->shared));
    return page->offset < page->size;
}
static inline int fake_commit(void *self, uint64_t first, uint64_t count)
{
    struct fake_host *fake = self;
    C2_ASSERT(first + count <= fake->arena_pages);
    return fake_fails(fake) ? ENOMEM : 0;
}
static inline void fake_close(void *self)
{
    struct fake_host *fake = self;
    for (size_t i = 0; i < FAKE_BUCKETS; i++) {
        while (fake->buckets[i])
            fake_remove(fake, fake->buckets[i]->page);
    }
    free(fake->arena);
    fake->arena = NULL;
    fake->closed = true;
}

/* Ends with the mmu; when the creation fails the caller closes the host. */
static inline enum c2_status fake_create_all(struct both **out, struct fake_host *fake, uint64_t arena_pages,
                                             const struct mmu_config *configs, unsigned count, struct c2_error *err)
{
    *fake = (struct fake_host){.file_bytes = 10 * C2_PAGE_BYTES, .read_only_fd = -1, .arena_pages = arena_pages};
    fake->arena = aligned_alloc(C2_PAGE_BYTES, arena_pages * C2_PAGE_BYTES);
    memset(fake->arena, 0xee, arena_pages * C2_PAGE_BYTES); /* tables must clear what they use */
    struct mmu_host host = {.self = fake,
                            .room = fake_room,
                            .map = fake_map,
                            .unmap = fake_unmap,
                            .move = fake_move,
                            .extend = fake_extend,
                            .discard = fake_discard,
                            .probe = fake_probe,
                            .close = fake_close};
    struct tables_arena arena = {
        .memory = fake->arena, .address = MMU_TABLES_BASE, .pages = arena_pages, .commit = fake_commit, .self = fake};
    return both_create_all(out, configs, count, &host, &arena, err);
}
static inline enum c2_status fake_create(struct both **out, struct fake_host *fake, uint64_t arena_pages,
                                         const struct mmu_config *config, struct c2_error *err)
{
    return fake_create_all(out, fake, arena_pages, config, 1, err);
}

/* A private anonymous mapping at exactly this address. */
static inline int64_t fake_anonymous(struct both *mmu, uint64_t address, uint64_t pages, unsigned prot)
{
    struct mmu_request request = {
        .address = address, .bytes = pages * C2_PAGE_BYTES, .prot = prot, .fixed = true, .host_fd = -1};
    return both_map(mmu, &request);
}

#endif
