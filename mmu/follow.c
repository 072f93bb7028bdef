/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Model
 *   Followers: second placements of one run. The guest's memory is one, and its engine walks the leader's page tables.
 *   Each follower is a whole address space beside it - areas, frames, tables, huge pages, counts, listeners - without
 *   window and without bytes. It goes through every call that the leader goes through, with the same arguments and
 *   right after it, and through every touch that succeeded; so it is, page for page, what an address space of its own
 *   would be in which the same things happened.
 *   What makes that so:
 *     the leader has small pages only, so every page of 4 KiB is touched there, first by the program or its kernel, in
 *     program order. Where the follower has the page already (in a huge page) that touch does nothing. If a follower
 *     has the zero page so has the leader: then each page's first read and its first write are both seen;
 *     nothing that the guest can see depends on a placement. Addresses are chosen by the areas alone. The heap's start
 *     and steps and the limit of a break's growth come from heap_page and guest_bytes, which a follower has from its
 *     leader: a run of its own that is to be compared with it needs the same two;
 *     what the host answers to the leader (a mapping of a read-only file, a lack of memory) is kept for the length of a
 *     call, and given to the follower's call in the same order.
 *   Tables lie in plain memory outside the window. Their entries have the addresses of an arena inside it, as the
 *   leader's.
 * Invariants
 *   Areas and break are the leader's. A page present in the leader is present in the follower. A follower whose call
 *   answers otherwise than the leader's (its physical memory is full: no frame for the tables that a split or a move
 *   needs) has strayed: it gets no more calls, and every later page fault of the leader fails with the reason.
 * Not modelled
 *   What the guest asks its kernel about presence (mincore) and free memory is answered by the leader, from small
 *   pages. lost_pages are counted by the leader alone.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "mmu/mmu_priv.h"

/* What a leader has in addition. It stands between the leader and its host. */
struct lead {
    struct mmu_host host; /* the leader's own */
    struct mmu *first;    /* follower */
    unsigned count;
    /* the host's answers in the current call: all 0 but the failed one, if there was one */
    uint64_t calls, failed_call;
    int error;
    bool may_write;
};
/* What a follower has in addition. It is the follower's host. */
struct follow {
    struct mmu *leader, *next;
    uint64_t calls; /* of the host in the current call */
    unsigned char *arena;
    struct c2_error strayed; /* status C2_OK: it has not */
};

#define ARENA_BYTES (MMU_TABLES_END - MMU_TABLES_BASE)

/* ------------------------------------------------------------------ the leader's host */

static int heard(struct lead *lead, int error)
{
    lead->calls++;
    if (error && !lead->error) {
        lead->error = error;
        lead->failed_call = lead->calls;
    }
    return error;
}

static int lead_room(void *self, bool shrinks)
{
    struct lead *lead = self;
    return heard(lead, lead->host.room(lead->host.self, shrinks));
}

static int lead_map(void *self, uint64_t start, uint64_t bytes, struct host_source *source)
{
    struct lead *lead = self;
    int error = lead->host.map(lead->host.self, start, bytes, source);
    lead->may_write = source->may_write;
    return heard(lead, error);
}

static int lead_unmap(void *self, uint64_t start, uint64_t bytes, const struct host_hole *hole)
{
    struct lead *lead = self;
    return heard(lead, lead->host.unmap(lead->host.self, start, bytes, hole));
}

static int lead_move(void *self, uint64_t from, uint64_t to, uint64_t bytes, const struct host_hole *hole)
{
    struct lead *lead = self;
    return heard(lead, lead->host.move(lead->host.self, from, to, bytes, hole));
}

static int lead_extend(void *self, uint64_t end, uint64_t bytes)
{
    struct lead *lead = self;
    return heard(lead, lead->host.extend(lead->host.self, end, bytes));
}

static int lead_discard(void *self, uint64_t start, uint64_t bytes)
{
    struct lead *lead = self;
    return heard(lead, lead->host.discard(lead->host.self, start, bytes));
}

static bool lead_probe(void *self, uint64_t page)
{
    struct lead *lead = self;
    return lead->host.probe(lead->host.self, page);
}

static void lead_close(void *self)
{
    struct lead *lead = self;
    if (lead->host.close)
        lead->host.close(lead->host.self);
    c2_free(lead);
}

static enum c2_status become_leader(struct mmu *mmu, struct c2_error *err)
{
    if (mmu->lead)
        return C2_OK;
    struct lead *lead = c2_calloc(1, sizeof *lead);
    if (!lead)
        return c2_fail_memory(err, "a second placement");
    lead->host = mmu->host;
    mmu->host = (struct mmu_host){.self = lead,
                                  .room = lead_room,
                                  .map = lead_map,
                                  .unmap = lead_unmap,
                                  .move = lead_move,
                                  .extend = lead_extend,
                                  .discard = lead_discard,
                                  .probe = lead_probe,
                                  .close = lead_close};
    mmu->lead = lead;
    return C2_OK;
}

/* ------------------------------------------------------------------ the follower's host */

static int follow_answer(struct follow *follow)
{
    const struct lead *lead = follow->leader->lead;
    return ++follow->calls == lead->failed_call ? lead->error : 0;
}

static int follow_room(void *self, bool shrinks)
{
    (void)shrinks;
    return follow_answer(self);
}

static int follow_map(void *self, uint64_t start, uint64_t bytes, struct host_source *source)
{
    struct follow *follow = self;
    (void)start, (void)bytes;
    source->may_write = follow->leader->lead->may_write;
    return follow_answer(follow);
}

static int follow_move(void *self, uint64_t from, uint64_t to, uint64_t bytes, const struct host_hole *hole)
{
    (void)from, (void)to, (void)bytes, (void)hole;
    return follow_answer(self);
}

static int follow_unmap(void *self, uint64_t start, uint64_t bytes, const struct host_hole *hole)
{
    (void)start, (void)bytes, (void)hole;
    return follow_answer(self);
}

/* extend, discard */
static int follow_range(void *self, uint64_t at, uint64_t bytes)
{
    (void)at, (void)bytes;
    return follow_answer(self);
}

/* A touch is followed only when it succeeded. */
static bool follow_probe(void *self, uint64_t page)
{
    (void)self, (void)page;
    return true;
}

static int follow_commit(void *self, uint64_t first, uint64_t count)
{
    struct follow *follow = self;
    unsigned char *at = follow->arena + first * C2_PAGE_BYTES;
    return mprotect(at, count * C2_PAGE_BYTES, PROT_READ | PROT_WRITE) == 0 ? 0 : errno;
}

static void follow_close(void *self)
{
    struct follow *follow = self;
    munmap(follow->arena, ARENA_BYTES);
    c2_free(follow);
}

static enum c2_status create_host(struct mmu_host *host, struct tables_arena *arena, struct mmu *leader,
                                  struct c2_error *err)
{
    struct follow *follow = c2_calloc(1, sizeof *follow);
    if (!follow)
        return c2_fail_memory(err, "a second placement");
    void *memory = mmap(NULL, ARENA_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        c2_free(follow);
        return c2_fail(err, C2_ERR_DENIED,
                       "the host refuses to reserve 64 GiB of addresses for the page tables of a second "
                       "placement: %s; lift the limit on virtual memory (ulimit -v unlimited); this takes no memory",
                       strerror(errno));
    }
    *follow = (struct follow){.leader = leader, .arena = memory};
    *host = (struct mmu_host){.self = follow,
                              .room = follow_room,
                              .map = follow_map,
                              .unmap = follow_unmap,
                              .move = follow_move,
                              .extend = follow_range,
                              .discard = follow_range,
                              .probe = follow_probe,
                              .close = follow_close};
    *arena = (struct tables_arena){.memory = memory,
                                   .address = MMU_TABLES_BASE,
                                   .pages = ARENA_BYTES >> C2_PAGE_SHIFT,
                                   .commit = follow_commit,
                                   .self = follow};
    return C2_OK;
}

/* ------------------------------------------------------------------ life */

static uint64_t guest_bytes(const struct mmu_config *config)
{
    return config->guest_bytes ? config->guest_bytes : config->physical_bytes;
}

void mmu_config_lead(struct mmu_config *leader, const struct mmu_config *followers, unsigned count)
{
    uint64_t largest = leader->physical_bytes;
    leader->placement = MMU_SEQUENTIAL;
    leader->huge = MMU_HUGE_NEVER;
    leader->zero_page = false;
    leader->rule_count = leader->huge_region_count = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct mmu_config *follower = &followers[i];
        enum mmu_page_size page = mmu_config_heap_page(follower);
        leader->heap_page = page > leader->heap_page ? page : leader->heap_page;
        leader->guest_bytes = guest_bytes(follower) > leader->guest_bytes ? guest_bytes(follower) : leader->guest_bytes;
        leader->zero_page |= follower->zero_page;
        largest = follower->physical_bytes > largest ? follower->physical_bytes : largest;
    }
    /* A follower's tables are never more than the leader's by more than its pages; twice is plenty. */
    uint64_t limit = MMU_FRAME_LIMIT * C2_PAGE_BYTES;
    leader->physical_bytes = largest > limit / 2 ? limit : 2 * largest;
}

static enum c2_status check_leader(const struct mmu *leader, const struct mmu_config *config, struct c2_error *err)
{
    if (leader->follow)
        return c2_fail(err, C2_ERR_INVALID, "a placement that follows a run cannot be followed itself");
    if (leader->lead && leader->lead->count == MMU_FOLLOWERS)
        return c2_fail(err, C2_ERR_INVALID, "more than %d placements cannot follow one run", MMU_FOLLOWERS);
    if (areas_count(&leader->areas) != 0 || leader->counts.faults != 0 || leader->brk != mmu_heap_start(leader))
        return c2_fail(err, C2_ERR_INVALID, "a second placement must be there before the first mapping");
    if (leader->config.huge != MMU_HUGE_NEVER || leader->config.placement == MMU_MAP || leader->config.rule_count > 0)
        return c2_fail(err, C2_ERR_INVALID,
                       "an address space that is followed must have small pages only, and no map or "
                       "rules: huge = never, see mmu_config_lead()");
    if (mmu_config_heap_page(config) > mmu_config_heap_page(&leader->config))
        return c2_fail(err, C2_ERR_INVALID,
                       "the heap of a run that is followed must lie as its followers' huge pages need "
                       "it: raise heap_page, see mmu_config_lead()");
    if (config->zero_page && !leader->config.zero_page)
        return c2_fail(err, C2_ERR_INVALID,
                       "an address space whose follower has the zero page must have it too, to see "
                       "what reads and what writes: set zero_page, see mmu_config_lead()");
    return C2_OK;
}

static enum c2_status create(struct mmu **out, struct mmu *leader, const struct mmu_config *config,
                             struct c2_error *err)
{
    struct mmu_host host;
    struct tables_arena arena;
    enum c2_status status = become_leader(leader, err);
    if (status == C2_OK)
        status = create_host(&host, &arena, leader, err);
    if (status != C2_OK)
        return status;
    status = mmu_create_on(out, config, &host, &arena, err);
    if (status != C2_OK) {
        follow_close(host.self);
        return status;
    }
    struct lead *lead = leader->lead;
    (*out)->follow = host.self;
    struct mmu **end = &lead->first;
    while (*end)
        end = &(*end)->follow->next;
    *end = *out;
    lead->count++;
    return C2_OK;
}

enum c2_status mmu_create_follower(struct mmu **out, struct mmu *leader, const struct mmu_config *config,
                                   struct c2_error *err)
{
    *out = NULL;
    struct mmu_config own = *config;
    own.heap_page = mmu_config_heap_page(&leader->config);
    own.guest_bytes = guest_bytes(&leader->config);
    enum c2_status status = check_leader(leader, config, err);
    return status == C2_OK ? create(out, leader, &own, err) : status;
}

void mmu_follow_end(struct mmu *mmu)
{
    C2_ASSERT(!mmu->lead || mmu->lead->count == 0);
    if (!mmu->follow)
        return;
    struct lead *lead = mmu->follow->leader->lead;
    struct mmu **link = &lead->first;
    while (*link != mmu)
        link = &(*link)->follow->next;
    *link = mmu->follow->next;
    lead->count--;
}

/* ------------------------------------------------------------------ going along */

static void stray(struct mmu *mmu, enum c2_status status, const char *reason)
{
    char name[MMU_PLACEMENT_TEXT];
    mmu_placement_text(name, sizeof name, &mmu->config);
    c2_fail(&mmu->follow->strayed, status, "%s: %s", name, reason);
}

static enum c2_status status_of(const struct mmu *follower) { return follower->follow->strayed.status; }

/* The first from here on that has not strayed, ready for a call; NULL: none. */
static struct mmu *going(struct mmu *follower)
{
    while (follower && status_of(follower) != C2_OK)
        follower = follower->follow->next;
    if (follower)
        follower->follow->calls = 0;
    return follower;
}

/* A call begins. */
static void begin(struct mmu *mmu)
{
    C2_ASSERT(!mmu->follow); /* a follower only follows */
    struct lead *lead = mmu->lead;
    if (lead)
        lead->calls = lead->failed_call = 0, lead->error = 0, lead->may_write = false;
}

static struct mmu *first_of(struct mmu *leader) { return leader->lead ? going(leader->lead->first) : NULL; }

static struct mmu *next_of(struct mmu *follower) { return going(follower->follow->next); }

/* A call ended here with `answer`, and on the leader with `told`. */
static void compare(struct mmu *mmu, const char *call, uint64_t address, int64_t answer, int64_t told)
{
    char reason[400], size[32];
    if (answer == told)
        return;
    if (answer == -ENOMEM)
        snprintf(reason, sizeof reason,
                 "%s at 0x%" PRIx64 " needs more page tables than physical memory (%s) has room for; "
                 "give the machine more with --set machine.physical_memory=SIZE",
                 call, address, c2_size_text(size, mmu->config.physical_bytes));
    else
        snprintf(reason, sizeof reason,
                 "%s at 0x%" PRIx64 " would answer %" PRId64 ", and the program was told %" PRId64, call, address,
                 answer, told);
    stray(mmu, C2_ERR_EXHAUSTED, reason);
}

enum c2_status mmu_followers_status(const struct mmu *leader, struct c2_error *err)
{
    for (const struct mmu *mmu = leader->lead ? leader->lead->first : NULL; mmu; mmu = mmu->follow->next) {
        if (status_of(mmu) != C2_OK)
            return c2_fail(err, status_of(mmu), "%s", mmu->follow->strayed.text);
    }
    return C2_OK;
}

enum mmu_fault mmu_lead_touch(struct mmu *leader, struct guest_va va, enum mmu_access access, struct c2_error *err)
{
    for (struct mmu *mmu = first_of(leader); mmu; mmu = next_of(mmu)) {
        struct c2_error why = {.status = C2_ERR_INTERNAL, .text = "a touch that succeeds elsewhere is refused"};
        if (mmu_touch_alone(mmu, va, access, &why) != MMU_FAULT_NONE)
            stray(mmu, why.status, why.text);
    }
    return mmu_followers_status(leader, err) == C2_OK ? MMU_FAULT_NONE : MMU_FAULT_FAILED;
}

/* ------------------------------------------------------------------ the calls */

#define CHECKED_ONE_IN 64

/* A call is over: what the comments of this room promise holds again. Looking is not part of what a call costs. */
static bool holds(struct mmu *mmu)
{
    uint64_t *visits = mmu->areas.tree.visits;
    mmu->areas.tree.visits = NULL;
    if (++mmu->calls % CHECKED_ONE_IN == 0)
        mmu_check(mmu);
    mmu->areas.tree.visits = visits;
    return true;
}

int64_t mmu_map(struct mmu *mmu, const struct mmu_request *request)
{
    begin(mmu);
    int64_t answer = mmu_map_alone(mmu, request);
    if (answer >= 0)
        mmu_journal_map(mmu, request, (uint64_t)answer);
    for (struct mmu *it = first_of(mmu); it; it = next_of(it))
        compare(it, "mmap", answer < 0 ? request->address : (uint64_t)answer, mmu_map_alone(it, request), answer);
    C2_PROMISE(holds(mmu));
    return answer;
}

int64_t mmu_unmap(struct mmu *mmu, uint64_t address, uint64_t bytes)
{
    begin(mmu);
    int64_t answer = mmu_unmap_alone(mmu, address, bytes);
    if (answer == 0)
        mmu_journal(mmu, MMU_EVENT_UNMAP, address, bytes, 0, 0);
    for (struct mmu *it = first_of(mmu); it; it = next_of(it))
        compare(it, "munmap", address, mmu_unmap_alone(it, address, bytes), answer);
    C2_PROMISE(holds(mmu));
    return answer;
}

int64_t mmu_protect(struct mmu *mmu, uint64_t address, uint64_t bytes, unsigned prot)
{
    begin(mmu);
    int64_t answer = mmu_protect_alone(mmu, address, bytes, prot);
    if (answer == 0 || answer == -ENOMEM)
        mmu_journal(mmu, MMU_EVENT_PROTECT, address, bytes, prot, (uint64_t)answer);
    for (struct mmu *it = first_of(mmu); it; it = next_of(it))
        compare(it, "mprotect", address, mmu_protect_alone(it, address, bytes, prot), answer);
    C2_PROMISE(holds(mmu));
    return answer;
}

int64_t mmu_remap(struct mmu *mmu, uint64_t old, uint64_t old_bytes, uint64_t new_bytes, bool may_move, bool fixed,
                  uint64_t to)
{
    begin(mmu);
    int64_t answer = mmu_remap_alone(mmu, old, old_bytes, new_bytes, may_move, fixed, to);
    if (answer >= 0)
        mmu_journal(mmu, MMU_EVENT_REMAP, old, old_bytes, new_bytes, (uint64_t)answer);
    for (struct mmu *it = first_of(mmu); it; it = next_of(it))
        compare(it, "mremap", old, mmu_remap_alone(it, old, old_bytes, new_bytes, may_move, fixed, to), answer);
    C2_PROMISE(holds(mmu));
    return answer;
}

int64_t mmu_discard(struct mmu *mmu, uint64_t address, uint64_t bytes)
{
    begin(mmu);
    int64_t answer = mmu_discard_alone(mmu, address, bytes);
    if (answer == 0 || answer == -ENOMEM)
        mmu_journal(mmu, MMU_EVENT_DISCARD, address, bytes, (uint64_t)answer, 0);
    for (struct mmu *it = first_of(mmu); it; it = next_of(it))
        compare(it, "madvise", address, mmu_discard_alone(it, address, bytes), answer);
    C2_PROMISE(holds(mmu));
    return answer;
}

int64_t mmu_advise_huge(struct mmu *mmu, uint64_t address, uint64_t bytes, bool huge)
{
    begin(mmu);
    int64_t answer = mmu_advise_huge_alone(mmu, address, bytes, huge);
    if (answer == 0)
        mmu_journal(mmu, MMU_EVENT_ADVISE, address, bytes, huge, 0);
    for (struct mmu *it = first_of(mmu); it; it = next_of(it))
        compare(it, "madvise", address, mmu_advise_huge_alone(it, address, bytes, huge), answer);
    C2_PROMISE(holds(mmu));
    return answer;
}

uint64_t mmu_brk(struct mmu *mmu, uint64_t address)
{
    begin(mmu);
    uint64_t before = mmu->brk, answer = mmu_brk_alone(mmu, address);
    if (answer != before)
        mmu_journal(mmu, MMU_EVENT_BRK, answer, 0, 0, 0);
    for (struct mmu *it = first_of(mmu); it; it = next_of(it))
        compare(it, "brk", address, (int64_t)mmu_brk_alone(it, address), (int64_t)answer);
    C2_PROMISE(holds(mmu));
    return answer;
}

/* ------------------------------------------------------------------ check */

static bool same_area(const struct mmu_area *a, const struct mmu_area *b)
{
    return a->start.v == b->start.v && a->bytes == b->bytes && a->prot == b->prot && a->shared == b->shared &&
           a->kind == b->kind && a->offset == b->offset && !a->path == !b->path &&
           (!a->path || strcmp(a->path, b->path) == 0);
}

static uint64_t is_present_too(void *self, uint64_t va, uint64_t entry)
{
    const struct mmu *follower = self;
    C2_ASSERT(!(entry & ENTRY_PRESENT) || tables_get(follower->tables, va) & ENTRY_PRESENT);
    return entry;
}

/* There are as many in both. */
static void check_same_areas(const struct mmu *mmu, const struct mmu *leader)
{
    const struct area *mine = areas_find(&mmu->areas, 0), *theirs = areas_find(&leader->areas, 0);
    for (; mine; mine = areas_next(&mmu->areas, mine), theirs = areas_next(&leader->areas, theirs))
        C2_ASSERT(same_area(&mine->view, &theirs->view));
}

void mmu_lead_check(const struct mmu *leader)
{
    for (struct mmu *mmu = leader->lead->first; mmu; mmu = mmu->follow->next) {
        C2_ASSERT(mmu->follow->leader == leader);
        if (status_of(mmu) != C2_OK)
            continue;
        C2_ASSERT(mmu->brk == leader->brk && areas_count(&mmu->areas) == areas_count(&leader->areas));
        check_same_areas(mmu, leader);
        tables_visit(leader->tables, 0, MMU_WINDOW_END, is_present_too, mmu);
    }
}
