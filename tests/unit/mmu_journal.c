/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The journal: what happened to an address space, repeated in a detached one with another placement, makes it what an
 * address space with that placement is to which the same things happened at once.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mmu/mmu_priv.h"

#define PAGE C2_PAGE_BYTES
#define MIB ((uint64_t)1 << 20)
#define RW (MMU_READ | MMU_WRITE)
#define CALLS 4000u
#define ARENA_PAGES 512

/* ------------------------------------------------------------------ an address space with a host that does nothing */

static int host_map(void *self, uint64_t start, uint64_t bytes, struct host_source *source)
{
    (void)self, (void)start, (void)bytes;
    source->may_write = true;
    return 0;
}
static int host_room(void *self, bool shrinks)
{
    (void)self, (void)shrinks;
    return 0;
}
static int host_unmap(void *self, uint64_t start, uint64_t bytes, const struct host_hole *hole)
{
    (void)self, (void)start, (void)bytes, (void)hole;
    return 0;
}
static int host_range(void *self, uint64_t start, uint64_t bytes)
{
    (void)self, (void)start, (void)bytes;
    return 0;
}
static int host_move(void *self, uint64_t from, uint64_t to, uint64_t bytes, const struct host_hole *hole)
{
    (void)self, (void)from, (void)to, (void)bytes, (void)hole;
    return 0;
}
static bool host_probe(void *self, uint64_t page)
{
    (void)self;
    return page / PAGE % 7 != 0; /* the others are beyond the end of their file */
}

struct space {
    struct mmu *mmu;
    unsigned char *arena;
};

static void open_space(struct space *space, const struct mmu_config *config)
{
    const struct mmu_host host = {.room = host_room,
                                  .map = host_map,
                                  .unmap = host_unmap,
                                  .move = host_move,
                                  .extend = host_range,
                                  .discard = host_range,
                                  .probe = host_probe};
    space->arena = aligned_alloc(PAGE, ARENA_PAGES * PAGE);
    const struct tables_arena arena = {.memory = space->arena, .address = MMU_TABLES_BASE, .pages = ARENA_PAGES};
    struct c2_error err;
    if (mmu_create_on(&space->mmu, config, &host, &arena, &err) != C2_OK)
        fail_msg("%s", err.text);
}

static void close_space(struct space *space)
{
    mmu_destroy(space->mmu);
    free(space->arena);
}

/* ------------------------------------------------------------------ random calls */

#define BASE (MMU_MMAP_TOP - 16 * MIB)
#define PAGES (12 * MIB / PAGE)

static uint64_t some_page(struct c2_rng *rng) { return BASE + c2_rng_below(rng, PAGES) * PAGE; }

static void map_some(struct mmu *mmu, struct c2_rng *rng)
{
    struct mmu_request request = {.bytes = (1 + c2_rng_below(rng, 800)) * PAGE, .prot = RW, .host_fd = -1};
    request.address = c2_rng_below(rng, 3) ? some_page(rng) : 0;
    request.fixed = request.address != 0;
    request.shared = c2_rng_below(rng, 5) == 0;
    request.kind = c2_rng_below(rng, 5) ? MMU_ANONYMOUS : MMU_STACK;
    if (request.address == 0 && c2_rng_below(rng, 3) == 0)
        request.huge = MMU_PAGE_2M;
    mmu_map(mmu, &request);
}

static void touch_some(struct mmu *mmu, struct c2_rng *rng)
{
    struct guest_va at = {some_page(rng)}, failed;
    const uint64_t bytes = (1 + c2_rng_below(rng, 30)) * PAGE;
    const enum mmu_access access = c2_rng_below(rng, 2) ? MMU_ACCESS_WRITE : MMU_ACCESS_READ;
    mmu_touch_range(mmu, at, bytes, access, &failed, NULL);
}

/* One call, the same for all that draw the same. */
static void call(struct mmu *mmu, struct c2_rng *rng)
{
    const uint64_t what = c2_rng_below(rng, 20), page = some_page(rng);
    const uint64_t bytes = (1 + c2_rng_below(rng, 200)) * PAGE;
    switch (what) {
    case 0:
        mmu_unmap(mmu, page, bytes);
        break;
    case 1:
        mmu_protect(mmu, page, bytes, (unsigned)c2_rng_below(rng, 4));
        break; /* holes among them: ENOMEM */
    case 2:
        mmu_remap(mmu, page, bytes, (1 + c2_rng_below(rng, 300)) * PAGE, true, false, 0);
        break;
    case 3:
        mmu_discard(mmu, page, bytes);
        break;
    case 4:
        mmu_advise_huge(mmu, page, bytes, c2_rng_below(rng, 2));
        break;
    case 5:
        mmu_brk(mmu, MMU_HEAP_BASE + c2_rng_below(rng, 4 * MIB));
        break;
    case 6:
    case 7:
        map_some(mmu, rng);
        break;
    default:
        touch_some(mmu, rng);
        break;
    }
}

/* ------------------------------------------------------------------ comparing */

static uint64_t compare_entry(void *self, uint64_t va, uint64_t entry)
{
    const struct mmu *other = self;
    assert_int_equal(tables_get(other->tables, va), entry);
    return entry;
}

static void compare(struct mmu *a, struct mmu *b)
{
    assert_int_equal(areas_count(&a->areas), areas_count(&b->areas));
    const struct area *mine = areas_find(&a->areas, 0), *theirs = areas_find(&b->areas, 0);
    for (; mine; mine = areas_next(&a->areas, mine), theirs = areas_next(&b->areas, theirs)) {
        const struct mmu_area *x = &mine->view, *y = &theirs->view;
        assert_int_equal(x->start.v, y->start.v);
        assert_int_equal(x->bytes, y->bytes);
        assert_int_equal(x->prot, y->prot);
        assert_int_equal(x->kind, y->kind);
        assert_int_equal(x->shared, y->shared);
    }
    assert_int_equal(a->brk, b->brk);
    assert_memory_equal(&a->counts, &b->counts, sizeof a->counts);
    tables_visit(a->tables, 0, MMU_WINDOW_END, compare_entry, b);
    mmu_check(b);
}

static struct mmu *detached;                       /* what happens is repeated here at once */
static uint64_t events[MMU_EVENTS], skipped_event; /* skipped_event: the n-th touch is left out; 0: none */

static enum c2_status repeat(void *self, const struct mmu_event *event, struct c2_error *err)
{
    (void)self;
    if (events[event->kind]++ == skipped_event - 1 && event->kind == MMU_EVENT_TOUCH)
        return C2_OK;
    if (mmu_repeat(detached, event, err) != C2_OK)
        fail_msg("%s", err->text);
    return C2_OK;
}

static const struct mmu_config configs[] = {
    {.physical_bytes = 256 * MIB, .placement = MMU_SEQUENTIAL, .seed = 1},
    {.physical_bytes = 256 * MIB, .placement = MMU_RANDOM, .seed = 2},
    {.physical_bytes = 256 * MIB, .placement = MMU_COLORED, .colors = 16, .seed = 1},
    {.physical_bytes = 256 * MIB, .placement = MMU_SEQUENTIAL, .seed = 1, .huge = MMU_HUGE_THP},
    {.physical_bytes = 256 * MIB, .placement = MMU_BUDDY, .age = 300, .seed = 3},
};
#define CONFIGS (sizeof configs / sizeof configs[0])

/* first: whose journal it is; second: the placement of the detached one, and of one that gets the calls itself. The
 * first has small pages only and no zero page, so it is touched page by page. */
static void run(const struct mmu_config *first, const struct mmu_config *second, uint64_t seed)
{
    struct space a, b;
    struct c2_rng rng[2];
    open_space(&a, first);
    open_space(&b, second);
    assert_int_equal(C2_OK, mmu_create_detached(&detached, second, NULL));
    mmu_keep_journal(a.mmu, (struct mmu_journal){NULL, repeat});
    for (unsigned i = 0; i < 2; i++)
        c2_rng_init(&rng[i], seed, "calls");
    for (unsigned i = 0; i < CALLS; i++) {
        call(a.mmu, &rng[0]);
        call(b.mmu, &rng[1]);
        if (i % 64 == 0)
            compare(b.mmu, detached);
    }
    compare(b.mmu, detached);
    mmu_destroy(detached);
    close_space(&a);
    close_space(&b);
}

static void every_placement(void **state)
{
    (void)state;
    struct mmu_config small = configs[0];
    small.huge = MMU_HUGE_NEVER;
    memset(events, 0, sizeof events);
    for (size_t i = 0; i < CONFIGS; i++)
        run(&small, &configs[i], 7 + i);
    for (unsigned kind = 0; kind < MMU_EVENTS; kind++)
        assert_true(events[kind] > 0);
}

/* A space's own placement, huge pages and zero page and all: the journal of it makes the same again. */
static void its_own_placement(void **state)
{
    (void)state;
    for (size_t i = 0; i < CONFIGS; i++) {
        struct mmu_config config = configs[i];
        config.zero_page = true;
        run(&config, &config, 40 + i);
    }
}

/* A journal that lacks one touch makes another placement: the comparison can fail. */
static void a_touch_that_is_lost_shows(void **state)
{
    struct space a;
    const struct mmu_request request = {.bytes = 4 * PAGE, .prot = RW, .host_fd = -1};
    struct guest_pa pa[2];
    (void)state;
    open_space(&a, &configs[0]);
    assert_int_equal(C2_OK, mmu_create_detached(&detached, &configs[0], NULL));
    mmu_keep_journal(a.mmu, (struct mmu_journal){NULL, repeat});
    memset(events, 0, sizeof events);
    skipped_event = 1;
    const uint64_t at = (uint64_t)mmu_map(a.mmu, &request);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(MMU_FAULT_NONE, mmu_touch(a.mmu, (struct guest_va){at + i * PAGE}, MMU_ACCESS_WRITE, NULL));
    skipped_event = 0;
    assert_true(mmu_translate(a.mmu, (struct guest_va){at + PAGE}, &pa[0]));
    assert_true(mmu_translate(detached, (struct guest_va){at + PAGE}, &pa[1]));
    assert_int_equal(pa[0].v, PAGE);
    assert_int_equal(pa[1].v, 0);
    assert_false(mmu_translate(detached, (struct guest_va){at}, &pa[1]));
    mmu_destroy(detached);
    close_space(&a);
}

/* A mapping of a file comes back with its name, and never has huge pages. */
static void files(void **state)
{
    (void)state;
    const struct mmu_event map = {MMU_EVENT_MAP, {BASE, 4 * MIB, MMU_READ, MMU_FILE, 0, 12, 34}, "/lib/libm.so.6"};
    const struct mmu_event touch = {MMU_EVENT_TOUCH, {BASE, MMU_ACCESS_READ}, NULL};
    assert_int_equal(C2_OK, mmu_create_detached(&detached, &configs[3], NULL));
    assert_int_equal(C2_OK, mmu_repeat(detached, &map, NULL));
    assert_int_equal(C2_OK, mmu_repeat(detached, &touch, NULL));
    const struct mmu_area *area = mmu_area_at(detached, (struct guest_va){BASE}, false);
    assert_string_equal(area->path, "/lib/libm.so.6");
    assert_int_equal(area->kind, MMU_FILE);
    assert_int_equal(mmu_counts(detached)->small_pages, 1);
    assert_int_equal(mmu_counts(detached)->huge_2m, 0);
    mmu_destroy(detached);
}

/* What cannot be repeated is an error that says where. */
static void refusals(void **state)
{
    struct c2_error err;
    const struct mmu_event touch = {MMU_EVENT_TOUCH, {BASE, MMU_ACCESS_READ}, NULL};
    const struct mmu_event protect = {MMU_EVENT_PROTECT, {BASE, PAGE, RW, 0}, NULL};
    (void)state;
    assert_int_equal(C2_OK, mmu_create_detached(&detached, &configs[0], NULL));
    assert_int_equal(C2_ERR_INTERNAL, mmu_repeat(detached, &touch, &err));
    assert_int_equal(C2_ERR_EXHAUSTED, mmu_repeat(detached, &protect, &err));
    assert_non_null(strstr(err.text, "at 0x3f0e2f000000 answers -12 when it is repeated, and answered 0 in the run"));
    mmu_destroy(detached);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_placement),
        cmocka_unit_test(its_own_placement),
        cmocka_unit_test(a_touch_that_is_lost_shows),
        cmocka_unit_test(files),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
