/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   The journal of an address space: every call that changed it and every first touch, in the order in which they
 *   happened. A detached address space - areas, frames, tables, huge pages, listeners, but no window and no bytes - in
 *   which they are repeated is, page for page, what the first would have been with the other's placement: like a
 *   follower (follow.c), but later, and as often as wanted. That nothing the guest sees depends on a placement is said
 *   there; so are heap_page and guest_bytes.
 *   Mappings are repeated at the addresses they got. Calls that failed are not repeated, but for those that did a part
 *   before they failed: mprotect and madvise over a hole.
 * Invariants
 *   A repeated call answers as the first did; anything else is an error.
 * Not modelled
 *   What was done to an address space before the journal began.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "mmu/mmu_priv.h"

#define ARENA_BYTES (MMU_TABLES_END - MMU_TABLES_BASE)
#define KIND_BITS 8u
#define HUGE_SHIFT 16u

/* ------------------------------------------------------------------ keeping it */

void mmu_keep_journal(struct mmu *mmu, struct mmu_journal journal) { mmu->journal = journal; }

unsigned mmu_event_words(enum mmu_event_kind kind)
{
    static const unsigned char words[MMU_EVENTS] = {
        [MMU_EVENT_MAP] = 7,     [MMU_EVENT_UNMAP] = 2,  [MMU_EVENT_PROTECT] = 4, [MMU_EVENT_REMAP] = 4,
        [MMU_EVENT_DISCARD] = 3, [MMU_EVENT_ADVISE] = 3, [MMU_EVENT_BRK] = 1,     [MMU_EVENT_TOUCH] = 2};
    return words[kind];
}

enum c2_status mmu_journal_status(const struct mmu *mmu, struct c2_error *err)
{
    return mmu->journal_status == C2_OK ? C2_OK : c2_fail(err, mmu->journal_status, "%s", mmu->journal_error.text);
}

static void tell(struct mmu *mmu, const struct mmu_event *event)
{
    if (mmu->journal_status == C2_OK)
        mmu->journal_status = mmu->journal.happened(mmu->journal.self, event, &mmu->journal_error);
}

void mmu_journal(struct mmu *mmu, enum mmu_event_kind kind, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    if (C2_LIKELY(!mmu->journal.happened))
        return;
    const struct mmu_event event = {.kind = kind, .words = {a, b, c, d}};
    tell(mmu, &event);
}

void mmu_journal_map(struct mmu *mmu, const struct mmu_request *request, uint64_t start)
{
    if (!mmu->journal.happened)
        return;
    const struct mmu_area *area = &areas_at(&mmu->areas, start)->view; /* which may be larger */
    const uint64_t flags = (uint64_t)request->kind | (uint64_t)request->shared << KIND_BITS |
                           (uint64_t)request->huge << HUGE_SHIFT;
    const uint64_t bytes = c2_align_up(request->bytes, mmu_page_bytes(request->huge));
    const struct mmu_event event = {
        .kind = MMU_EVENT_MAP,
        .words = {start, bytes, request->prot, flags, request->offset, area->inode, area->device},
        .path = request->kind == MMU_FILE ? area->path : NULL};
    tell(mmu, &event);
}

/* ------------------------------------------------------------------ the host of a detached one: there are no bytes */

static int much_room(void *self, bool shrinks)
{
    (void)self, (void)shrinks;
    return 0;
}

static int no_map(void *self, uint64_t start, uint64_t bytes, struct host_source *source)
{
    (void)self, (void)start, (void)bytes;
    source->may_write = true;
    return 0;
}

static int no_move(void *self, uint64_t from, uint64_t to, uint64_t bytes, const struct host_hole *hole)
{
    (void)self, (void)from, (void)to, (void)bytes, (void)hole;
    return 0;
}

static int no_unmap(void *self, uint64_t start, uint64_t bytes, const struct host_hole *hole)
{
    (void)self, (void)start, (void)bytes, (void)hole;
    return 0;
}

/* extend, discard */
static int no_range(void *self, uint64_t at, uint64_t bytes)
{
    (void)self, (void)at, (void)bytes;
    return 0;
}

/* A touch is in the journal only if it succeeded. */
static bool yes_probe(void *self, uint64_t page)
{
    (void)self, (void)page;
    return true;
}

static int commit(void *self, uint64_t first, uint64_t count)
{
    unsigned char *arena = self;
    return mprotect(arena + first * C2_PAGE_BYTES, count * C2_PAGE_BYTES, PROT_READ | PROT_WRITE) == 0 ? 0 : errno;
}

static void close_arena(void *self) { munmap(self, ARENA_BYTES); }

enum c2_status mmu_create_detached(struct mmu **out, const struct mmu_config *config, struct c2_error *err)
{
    *out = NULL;
    void *memory = mmap(NULL, ARENA_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return c2_fail(err, C2_ERR_DENIED,
                       "the host refuses to reserve 64 GiB of addresses for the page tables of another "
                       "placement: %s; lift the limit on virtual memory (ulimit -v unlimited); this takes no memory",
                       strerror(errno));
    const struct mmu_host host = {.self = memory,
                                  .room = much_room,
                                  .map = no_map,
                                  .unmap = no_unmap,
                                  .move = no_move,
                                  .extend = no_range,
                                  .discard = no_range,
                                  .probe = yes_probe,
                                  .close = close_arena};
    const struct tables_arena arena = {.memory = memory,
                                       .address = MMU_TABLES_BASE,
                                       .pages = ARENA_BYTES >> C2_PAGE_SHIFT,
                                       .commit = commit,
                                       .self = memory};
    enum c2_status status = mmu_create_on(out, config, &host, &arena, err);
    if (status != C2_OK)
        close_arena(memory);
    return status;
}

/* ------------------------------------------------------------------ repeating it */

/* A file's mapping has no descriptor now: it is put in as what it became. */
static int64_t repeat_file(struct mmu *mmu, const struct mmu_event *event)
{
    const uint64_t *w = event->words;
    struct area area = {.may_write = true};
    area.backing = backing_create(event->path, w[5], w[6]);
    if (!area.backing)
        return -ENOMEM;
    area.view = (struct mmu_area){.start = {w[0]},
                                  .bytes = w[1],
                                  .prot = (unsigned)w[2],
                                  .shared = w[3] >> KIND_BITS & 1,
                                  .kind = MMU_FILE,
                                  .path = area.backing->path,
                                  .offset = w[4],
                                  .inode = w[5],
                                  .device = w[6]};
    const int error = mmu_put_area(mmu, &area, -1);
    return error ? -error : (int64_t)w[0];
}

static int64_t repeat_map(struct mmu *mmu, const struct mmu_event *event)
{
    const uint64_t *w = event->words;
    if (event->path)
        return repeat_file(mmu, event);
    const struct mmu_request request = {.address = w[0],
                                        .bytes = w[1],
                                        .prot = (unsigned)w[2],
                                        .fixed = true,
                                        .shared = w[3] >> KIND_BITS & 1,
                                        .kind = (enum mmu_kind)(w[3] & 0xff),
                                        .host_fd = -1,
                                        .offset = w[4],
                                        .huge = (enum mmu_page_size)(w[3] >> HUGE_SHIFT)};
    return mmu_map_alone(mmu, &request);
}

/* What stayed where it was is told to stay. */
static int64_t repeat_remap(struct mmu *mmu, const uint64_t *w)
{
    const bool moves = w[3] != w[0];
    return mmu_remap_alone(mmu, w[0], w[1], w[2], moves, moves, w[3]);
}

static enum c2_status repeat_touch(struct mmu *mmu, const uint64_t *w, struct c2_error *err)
{
    struct c2_error why = {.status = C2_ERR_INTERNAL, .text = "a touch that succeeded is refused when it is repeated"};
    if (mmu_touch(mmu, (struct guest_va){w[0]}, (enum mmu_access)w[1], &why) == MMU_FAULT_NONE)
        return C2_OK;
    return c2_fail(err, why.status, "%s", why.text);
}

enum c2_status mmu_repeat(struct mmu *mmu, const struct mmu_event *event, struct c2_error *err)
{
    const uint64_t *w = event->words;
    int64_t answer = 0, told = 0;
    switch (event->kind) {
    case MMU_EVENT_MAP:
        answer = repeat_map(mmu, event);
        told = (int64_t)w[0];
        break;
    case MMU_EVENT_UNMAP:
        answer = mmu_unmap_alone(mmu, w[0], w[1]);
        break;
    case MMU_EVENT_PROTECT:
        answer = mmu_protect_alone(mmu, w[0], w[1], (unsigned)w[2]);
        told = (int64_t)w[3];
        break;
    case MMU_EVENT_REMAP:
        answer = repeat_remap(mmu, w);
        told = (int64_t)w[3];
        break;
    case MMU_EVENT_DISCARD:
        answer = mmu_discard_alone(mmu, w[0], w[1]);
        told = (int64_t)w[2];
        break;
    case MMU_EVENT_ADVISE:
        answer = mmu_advise_huge_alone(mmu, w[0], w[1], w[2]);
        break;
    case MMU_EVENT_BRK:
        answer = (int64_t)mmu_brk_alone(mmu, w[0]);
        told = (int64_t)w[0];
        break;
    case MMU_EVENT_TOUCH:
        return repeat_touch(mmu, w, err);
    case MMU_EVENTS:
        break;
    }
    if (answer == told)
        return C2_OK;
    return c2_fail(err, C2_ERR_EXHAUSTED,
                   "a change of memory at 0x%" PRIx64 " answers %" PRId64 " when it is repeated, "
                   "and answered %" PRId64 " in the run",
                   w[0], answer, told);
}
