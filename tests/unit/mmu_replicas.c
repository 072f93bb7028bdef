/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Several replicas of one run: each is what it would be if it were the only one. Random calls go to a guest's address
 * space with two replicas and to two that have one of them each; the rest by hand.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "unit/mmu_both.h"

#define PAGE C2_PAGE_BYTES
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)
#define RW (MMU_READ | MMU_WRITE)
#ifdef __SANITIZE_ADDRESS__
#define CALLS(n) ((n) / 8)
#else
#define CALLS(n) (n)
#endif

/* ------------------------------------------------------------------ host memory that is nothing but refusals */

struct host {
    uint64_t calls, fail_at; /* the call of this number fails; 0: none */
    int read_only_fd;
};
static int answer(struct host *host) { return ++host->calls == host->fail_at ? ENOMEM : 0; }
static int host_map(void *self, uint64_t start, uint64_t bytes, struct host_source *source)
{
    struct host *host = self;
    (void)start, (void)bytes;
    source->may_write = !(source->shared && source->fd >= 0 && source->fd == host->read_only_fd);
    return source->write && !source->may_write ? EACCES : answer(host);
}
static int host_room(void *self, bool shrinks)
{
    (void)shrinks;
    return answer(self);
}
static int host_unmap(void *self, uint64_t start, uint64_t bytes, const struct host_hole *hole)
{
    (void)start, (void)bytes, (void)hole;
    return answer(self);
}
static int host_range(void *self, uint64_t start, uint64_t bytes)
{
    (void)start, (void)bytes;
    return answer(self);
}
static int host_move(void *self, uint64_t from, uint64_t to, uint64_t bytes, const struct host_hole *hole)
{
    (void)from, (void)to, (void)bytes, (void)hole;
    return answer(self);
}
static bool host_probe(void *self, uint64_t page, bool writes)
{
    (void)writes;
    (void)self;
    return page / PAGE % 7 != 0; /* the others are beyond the end of their file */
}

#define ARENA_PAGES 512
#define PLACEMENTS 2
struct guest {
    struct both *both;
    struct mmu_guest_config guest;
    struct host host;
    unsigned char *arena;
};

/* guest: NULL for what suits the placements. */
static void open_space(struct guest *space, const struct mmu_guest_config *guest, const struct mmu_config *configs,
                       unsigned count)
{
    memset(space, 0, sizeof *space);
    space->host.read_only_fd = -1;
    struct mmu_host host = {.self = &space->host,
                            .room = host_room,
                            .map = host_map,
                            .unmap = host_unmap,
                            .move = host_move,
                            .extend = host_range,
                            .discard = host_range,
                            .probe = host_probe};
    space->arena = aligned_alloc(PAGE, ARENA_PAGES * PAGE);
    struct tables_arena arena = {.memory = space->arena, .address = MMU_TABLES_BASE, .pages = ARENA_PAGES};
    for (unsigned i = 0; i < count && !guest; i++)
        mmu_config_suit(&space->guest, &configs[i]);
    if (guest)
        space->guest = *guest;
    struct c2_error err;
    if (both_create_for(&space->both, &space->guest, configs, count, &host, &arena, &err) != C2_OK)
        fail_msg("%s", err.text);
}

static void close_space(struct guest *space)
{
    both_destroy(space->both);
    free(space->arena);
}

/* A guest with one replica. */
static struct both *open_one(struct guest *space, const struct mmu_config *config)
{
    open_space(space, NULL, config, 1);
    return space->both;
}

static void end(struct guest *space)
{
    both_check(space->both);
    close_space(space);
}

static int64_t map_at(struct both *both, uint64_t address, uint64_t bytes)
{
    struct mmu_request request = {.address = address, .bytes = bytes, .prot = RW, .fixed = true, .host_fd = -1};
    return both_map(both, &request);
}

static enum mmu_fault touch(struct both *both, uint64_t va)
{
    return both_touch(both, (struct guest_va){va}, MMU_ACCESS_READ, NULL);
}

static uint64_t frame_of(const struct mmu_replica *replica, uint64_t va)
{
    struct guest_pa pa = {UINT64_MAX};
    mmu_replica_translate(replica, (struct guest_va){va}, &pa);
    return pa.v / PAGE;
}

/* ------------------------------------------------------------------ the random comparison */

/* Where random calls go; each part is some huge pages and starts in the middle of one. */
static const struct {
    uint64_t start, bytes;
} parts[] = {
    {MMU_LOW_BASE - MIB, 6 * MIB},
    {MMU_TABLES_END + MIB, 5 * MIB},
    {MMU_MMAP_TOP - 12 * MIB - 64 * PAGE, 12 * MIB},
};
#define PART_COUNT (sizeof parts / sizeof parts[0])

/* What the listeners of one replica heard, as one number. */
struct ears {
    uint64_t heard;
};
struct world {
    struct guest shared, alone[PLACEMENTS]; /* one guest for all replicas, and one for each */
    struct ears ears[PLACEMENTS], own_ears[PLACEMENTS];
    unsigned count;
    struct c2_rng rng;
    bool ended; /* memory ran out: nothing can be compared any more */
    char what[200];
};

static void mix(void *self, uint64_t word)
{
    struct ears *ears = self;
    ears->heard = (ears->heard ^ word) * 0x9e3779b97f4a7c15ull;
    ears->heard ^= ears->heard >> 29;
}
static void hear_after(void *self, struct guest_va start, uint64_t bytes, bool code)
{
    mix(self, 2), mix(self, start.v), mix(self, bytes), mix(self, code);
}
static void hear_mapped(void *self, const struct mmu_area *area)
{
    mix(self, 3), mix(self, area->start.v), mix(self, area->bytes), mix(self, area->offset), mix(self, area->prot);
}

static void listen_to(struct mmu_replica *replica, struct ears *ears)
{
    struct mmu_listener listener = {.self = ears, .after = hear_after, .mapped = hear_mapped};
    assert_int_equal(mmu_replica_listen(replica, listener, NULL), C2_OK);
}

/* A guest of its own tells writes only where its replica wants to know. */
static void open_world(struct world *world, const struct mmu_config *configs, unsigned count, uint64_t seed)
{
    memset(world, 0, sizeof *world);
    c2_rng_init(&world->rng, seed, "test");
    world->count = count;
    open_space(&world->shared, NULL, configs, count);
    world->shared.host.read_only_fd = STDERR_FILENO;
    for (unsigned i = 0; i < count; i++) {
        struct mmu_guest_config guest = world->shared.guest;
        guest.tells_writes = configs[i].zero_page;
        open_space(&world->alone[i], &guest, &configs[i], 1);
        world->alone[i].host.read_only_fd = STDERR_FILENO;
        listen_to(world->shared.both->replicas[i], &world->ears[i]);
        listen_to(world->alone[i].both->replica, &world->own_ears[i]);
    }
}

static void close_world(struct world *world)
{
    for (unsigned i = 0; i < world->count; i++)
        close_space(&world->alone[i]);
    close_space(&world->shared);
}

static uint64_t below(struct world *world, uint64_t limit) { return c2_rng_below(&world->rng, limit); }

/* Whole pages in a part: mostly a few, sometimes up to four huge ones, then mostly aligned to those. */
static uint64_t pick_range(struct world *world, uint64_t *bytes)
{
    size_t part = below(world, PART_COUNT);
    bool huge = below(world, 4) == 0;
    uint64_t step = huge && below(world, 4) ? 2 * MIB : PAGE;
    uint64_t start = c2_align_up(parts[part].start + below(world, parts[part].bytes), step);
    uint64_t end = parts[part].start + parts[part].bytes;
    *bytes = huge ? (1 + below(world, 4)) * MIB : (1 + below(world, 12)) * PAGE;
    start = start < end ? start : end - PAGE;
    *bytes = start + *bytes > end ? end - start : *bytes;
    return start;
}

static unsigned pick_prot(struct world *world)
{
    static const unsigned prots[] = {RW, RW, RW, MMU_READ, 0, MMU_READ | MMU_EXEC};
    return prots[below(world, sizeof prots / sizeof prots[0])];
}

/* One call's arguments, so that it can be made several times. */
struct request {
    enum { MAP, UNMAP, PROTECT, REMAP, DISCARD, ADVISE, BRK, TOUCH, TOUCH_RANGE } call;
    struct mmu_request map;
    uint64_t start, bytes, new_bytes, to;
    unsigned prot;
    bool flag, fixed;
    enum mmu_access access;
};

static void pick_map(struct world *world, struct request *request)
{
    uint64_t kind = below(world, 8);
    struct mmu_request *map = &request->map;
    *map = (struct mmu_request){.address = below(world, 4) ? request->start : 0,
                                .bytes = request->bytes,
                                .prot = pick_prot(world),
                                .host_fd = -1};
    map->fixed = map->address && below(world, 2);
    map->no_replace = map->address && below(world, 8) == 0;
    map->zone = below(world, 4) ? MMU_ZONE_HIGH : MMU_ZONE_LOW;
    if (kind < 2) {
        map->kind = MMU_FILE;
        map->host_fd = below(world, 2) ? STDOUT_FILENO : STDERR_FILENO;
        map->path = "/file";
        map->offset = below(world, 4) * PAGE;
    }
    map->shared = kind == 1 || kind == 2;
    map->huge = kind == 3 ? MMU_PAGE_2M : MMU_PAGE_4K;
}

static struct request pick(struct world *world)
{
    static const unsigned char calls[] = {MAP,    MAP, MAP,   UNMAP, PROTECT, PROTECT, REMAP, REMAP,      DISCARD,
                                          ADVISE, BRK, TOUCH, TOUCH, TOUCH,   TOUCH,   TOUCH, TOUCH_RANGE};
    struct request request = {.call = calls[below(world, sizeof calls)]};
    request.start = pick_range(world, &request.bytes);
    request.to = pick_range(world, &request.new_bytes);
    request.prot = pick_prot(world);
    request.flag = below(world, 2);
    request.fixed = request.flag && below(world, 2);
    request.access = (enum mmu_access)below(world, 4);
    if (request.call == MAP)
        pick_map(world, &request);
    if (request.call == BRK)
        request.to = c2_align_up(MMU_HEAP_BASE, mmu_page_bytes(world->shared.guest.heap_page)) + below(world, 6 * MIB);
    if (request.call == TOUCH || request.call == TOUCH_RANGE)
        request.start += below(world, PAGE);
    return request;
}

static int64_t change(struct both *both, const struct request *request)
{
    switch (request->call) {
    case MAP:
        return both_map(both, &request->map);
    case UNMAP:
        return both_unmap(both, request->start, request->bytes);
    case PROTECT:
        return both_protect(both, request->start, request->bytes, request->prot);
    case REMAP:
        return both_remap(both, request->start, request->bytes, request->new_bytes, request->flag, request->fixed,
                          request->to);
    case DISCARD:
        return both_discard(both, request->start, request->bytes);
    case ADVISE:
        return both_advise_huge(both, request->start, request->bytes, request->flag);
    case BRK:
        return (int64_t)both_brk(both, request->to);
    default:
        return 0;
    }
}

#define REQUIRE(cond) \
    do { \
        if (!(cond)) { \
            snprintf(world->what, sizeof world->what, "line %d: %s", __LINE__, #cond); \
            return false; \
        } \
    } while (0)

/* A replica fails where it would have failed alone, and only there. */
static bool same_failures(struct world *world)
{
    for (unsigned i = 0; i < world->count; i++) {
        REQUIRE(world->shared.both->failed[i] == world->alone[i].both->failed[0]);
        world->ended |= world->alone[i].both->failed[0];
    }
    return true;
}

static int64_t change_failing(struct guest *space, const struct request *request, uint64_t fail_after)
{
    space->host.fail_at = fail_after ? space->host.calls + fail_after : 0;
    return change(space->both, request);
}

static bool make_change(struct world *world, const struct request *request, uint64_t fail_after)
{
    const int64_t told = change_failing(&world->shared, request, fail_after);
    for (unsigned i = 0; i < world->count; i++)
        REQUIRE(change_failing(&world->alone[i], request, fail_after) == told);
    return same_failures(world);
}

/* A page that is present is not touched again: a run of its own has no fault there. */
static enum mmu_fault touch_alone(struct both *both, uint64_t va, enum mmu_access access)
{
    access = access == MMU_ACCESS_UNKNOWN ? MMU_ACCESS_READ : access;
    return both_touch(both, (struct guest_va){va}, access, NULL);
}

/* What an engine that cannot tell has done: it wrote if it could have read. */
static enum mmu_access meant(const struct mmu *mmu, uint64_t at, enum mmu_access access)
{
    struct guest_va va = {at};
    bool zero = mmu_ready(mmu, va, MMU_ACCESS_READ) && !mmu_ready(mmu, va, MMU_ACCESS_WRITE) &&
                mmu_allows(mmu, va, 1, MMU_WRITE);
    return access == MMU_ACCESS_UNKNOWN && zero ? MMU_ACCESS_WRITE : access;
}

static bool make_touch(struct world *world, uint64_t va, enum mmu_access access)
{
    enum mmu_access really = meant(world->shared.both->mmu, va, access);
    enum mmu_fault fault = both_touch(world->shared.both, (struct guest_va){va}, access, NULL);
    for (unsigned i = 0; i < world->count && (fault == MMU_FAULT_NONE || fault == MMU_FAULT_FAILED); i++)
        touch_alone(world->alone[i].both, va, really);
    return same_failures(world);
}

static bool make_touch_range(struct world *world, const struct request *request)
{
    struct guest_va at = {0}, start = {request->start};
    enum mmu_fault fault = both_touch_range(world->shared.both, start, request->bytes, request->access, &at, NULL);
    uint64_t end = fault == MMU_FAULT_NONE ? start.v + request->bytes : at.v;
    for (unsigned i = 0; i < world->count; i++) {
        for (uint64_t va = start.v; va < end; va = c2_align_down(va, PAGE) + PAGE)
            REQUIRE(touch_alone(world->alone[i].both, va, request->access) == MMU_FAULT_NONE);
        if (fault == MMU_FAULT_FAILED)
            touch_alone(world->alone[i].both, end, request->access);
    }
    return same_failures(world);
}

static char *dump(const struct mmu_replica *replica)
{
    char *text;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    mmu_replica_dump(replica, to);
    fclose(to);
    return text;
}

/* The frames of the tables that lead to a page: no dump shows them. */
static bool same_walks(const struct mmu_replica *a, const struct mmu_replica *b)
{
    for (size_t i = 0; i < PART_COUNT; i++) {
        for (uint64_t va = parts[i].start; va < parts[i].start + parts[i].bytes; va += 64 * PAGE) {
            struct mmu_walk walk_a = {0}, walk_b = {0};
            bool there = mmu_replica_walk(a, (struct guest_va){va}, &walk_a);
            if (there != mmu_replica_walk(b, (struct guest_va){va}, &walk_b) ||
                memcmp(&walk_a, &walk_b, sizeof walk_a) != 0)
                return false;
        }
    }
    return true;
}

static bool same_whole(struct world *world)
{
    for (unsigned i = 0; i < world->count; i++) {
        char *shared = dump(world->shared.both->replicas[i]), *alone = dump(world->alone[i].both->replica);
        bool same = strcmp(shared, alone) == 0;
        free(shared), free(alone);
        REQUIRE(same);
        REQUIRE(same_walks(world->shared.both->replicas[i], world->alone[i].both->replica));
    }
    return true;
}

static bool same(struct world *world)
{
    for (unsigned i = 0; i < world->count; i++) {
        const struct mmu_counts *shared = mmu_replica_counts(world->shared.both->replicas[i]);
        REQUIRE(memcmp(shared, both_counts(world->alone[i].both), sizeof *shared) == 0);
        REQUIRE(world->ears[i].heard == world->own_ears[i].heard);
    }
    return true;
}

/* Loses what lies there, if it is of one mapping. */
static void do_harm(struct world *world, const struct request *request)
{
    struct c2_error ignored;
    const uint64_t words[] = {c2_align_down(request->start, PAGE), request->bytes};
    mmu_replica_apply(world->shared.both->replicas[0], STREAM_DISCARDED, words, 2, &ignored);
}

/* Returns the call after which they differ, or `count`; from call `sabotage` on the first of the shared ones loses
 * pages. Host calls fail now and then. */
static uint64_t run(struct world *world, uint64_t count, uint64_t sabotage)
{
    uint64_t call;
    for (call = 0; call < count && !world->ended; call++) {
        struct request request = pick(world);
        uint64_t fail_after = below(world, 16) == 0 ? 1 + below(world, 3) : 0;
        bool good = request.call == TOUCH         ? make_touch(world, request.start, request.access)
                    : request.call == TOUCH_RANGE ? make_touch_range(world, &request)
                                                  : make_change(world, &request, fail_after);
        if (call >= sabotage)
            do_harm(world, &request);
        if (!good || (!world->ended && !same(world)))
            return call;
        if (world->ended || call % 256 != 0)
            continue;
        if (sabotage == UINT64_MAX)
            both_check(world->shared.both);
        if (!same_whole(world))
            return call;
    }
    return world->ended || same_whole(world) ? count : call;
}

/* *split: huge pages that were split, over both replicas. */
static bool compare(const struct mmu_config *configs, unsigned count, uint64_t seed, uint64_t calls, uint64_t *split)
{
    static struct world world;
    open_world(&world, configs, count, seed);
    uint64_t call = run(&world, calls, UINT64_MAX);
    if (call != calls)
        fail_msg("%s and %s, seed %llu: call %llu differs: %s", mmu_placement_name(configs[0].placement),
                 mmu_placement_name(configs[count - 1].placement), (unsigned long long)seed, (unsigned long long)call,
                 world.what);
    for (unsigned i = 0; i < count; i++)
        *split += mmu_replica_counts(world.shared.both->replicas[i])->huge_splits;
    bool ended = world.ended;
    close_world(&world);
    return ended;
}

/* All placements and kinds of huge pages are there; 64 MiB are more than all parts together. */
static void replicas_equal_those_that_are_the_only_ones(void **state)
{
    (void)state;
    static const struct mmu_config configs[][2] = {
        {{.physical_bytes = 64 * MIB, .placement = MMU_SEQUENTIAL},
         {.physical_bytes = 64 * MIB, .placement = MMU_RANDOM, .huge = MMU_HUGE_THP, .seed = 1}},
        {{.physical_bytes = 128 * MIB, .placement = MMU_SAME_COLOR, .colors = 2, .color = 1, .huge = MMU_HUGE_NEVER},
         {.physical_bytes = 64 * MIB, .placement = MMU_COLORED, .colors = 8, .huge = MMU_HUGE_ALL}},
        {{.physical_bytes = 64 * MIB, .placement = MMU_BUDDY, .huge = MMU_HUGE_HEAP, .seed = 2},
         {.physical_bytes = 256 * MIB, .placement = MMU_BUDDY, .age = 500, .huge = MMU_HUGE_THP, .seed = 3}},
        {{.physical_bytes = 64 * MIB, .placement = MMU_RANDOM, .zero_page = true},
         {.physical_bytes = 64 * MIB, .placement = MMU_RANDOM}},
        {{.physical_bytes = 64 * MIB, .placement = MMU_BUDDY, .zero_page = true, .huge = MMU_HUGE_THP},
         {.physical_bytes = 64 * MIB, .placement = MMU_COLORED, .colors = 8, .huge = MMU_HUGE_HEAP, .zero_page = true}},
    };
    uint64_t split = 0;
    for (size_t i = 0; i < sizeof configs / sizeof configs[0]; i++)
        assert_false(compare(configs[i], 2, 10 + i, CALLS(8000), &split));
    assert_true(split > 0);
}

/* In little memory a touch finds no frame, or with huge pages a split: runs that end. */
static void a_replica_that_runs_out_says_so(void **state)
{
    (void)state;
    uint64_t ended[2] = {0}, split = 0;
    static const enum mmu_placement placements[] = {MMU_RANDOM, MMU_SEQUENTIAL, MMU_BUDDY, MMU_COLORED};
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct mmu_config config = {.physical_bytes = (seed % 2 ? 2 * MIB : 0) + 20 * PAGE,
                                    .seed = seed,
                                    .placement = placements[seed / 2 % 4],
                                    .colors = 2,
                                    .huge = seed % 2 ? MMU_HUGE_THP : MMU_HUGE_NEVER,
                                    .zero_page = seed % 3 == 0};
        ended[seed % 2] += compare(&config, 1, seed, 4000, &split);
    }
    assert_int_equal(ended[0], 30);
    assert_in_range(ended[1], 5, 30);
}

static void comparison_can_fail(void **state)
{
    (void)state;
    static struct world world;
    struct mmu_config config = {.physical_bytes = 64 * MIB, .huge = MMU_HUGE_THP};
    open_world(&world, &config, 1, 7);
    assert_in_range(run(&world, 2000, 1000), 1000, 1600);
    close_world(&world);
}

/* ------------------------------------------------------------------ by hand */

/* Sequential pages take frames 0, 1, 2 in the order of their touches. The colored replica places page n in colour n mod
 * 4, so pages 3, 0, 1 of a range that starts at a multiple of 4 pages take frames 3, 0, 1. */
static void each_places_for_itself(void **state)
{
    (void)state;
    struct guest space;
    struct mmu_config configs[] = {{.physical_bytes = 2 * MIB},
                                   {.physical_bytes = MIB, .placement = MMU_COLORED, .colors = 4}};
    open_space(&space, NULL, configs, 2);
    struct both *both = space.both;
    assert_int_equal(map_at(both, 0x10000000, 4 * PAGE), 0x10000000);
    touch(both, 0x10003000), touch(both, 0x10000000), touch(both, 0x10001000);
    assert_int_equal(frame_of(both->replicas[0], 0x10003000), 0);
    assert_int_equal(frame_of(both->replicas[0], 0x10000000), 1);
    assert_int_equal(frame_of(both->replicas[0], 0x10001000), 2);
    assert_int_equal(frame_of(both->replicas[1], 0x10003000), 3);
    assert_int_equal(frame_of(both->replicas[1], 0x10000000), 0);
    assert_int_equal(frame_of(both->replicas[1], 0x10001000), 1);
    /* Tables take the highest frames: root, then three on the way. */
    struct mmu_walk walk;
    assert_true(mmu_replica_walk(both->replicas[0], (struct guest_va){0x10000000}, &walk));
    assert_int_equal(walk.entry[0].v, 2 * MIB - PAGE);
    assert_true(mmu_replica_walk(both->replicas[1], (struct guest_va){0x10000000}, &walk));
    assert_int_equal(walk.entry[0].v, MIB - PAGE);
    assert_int_equal(walk.entry[3].v, MIB - 4 * PAGE);
    end(&space);
}

/* 513 touches of small pages are 513 faults of the guest; the replica has one page of 2 MiB and one of 4 KiB. */
static void a_huge_page_is_touched_once(void **state)
{
    (void)state;
    struct guest space;
    struct mmu_config config = {.physical_bytes = 64 * MIB, .huge = MMU_HUGE_THP, .log_placements = true};
    struct both *both = open_one(&space, &config);
    map_at(both, 0x10000000, 2 * MIB + PAGE);
    struct guest_va at;
    assert_int_equal(both_touch_range(both, (struct guest_va){0x10000000}, 2 * MIB + PAGE, MMU_ACCESS_WRITE, &at, NULL),
                     MMU_FAULT_NONE);
    assert_int_equal(mmu_usage(both->mmu).faults, 513);
    assert_int_equal(mmu_usage(both->mmu).resident_bytes, 513 * PAGE);
    assert_int_equal(both->marks[STREAM_TOUCHED], 513);
    assert_int_equal(both_counts(both)->faults, 2);
    assert_int_equal(both_counts(both)->huge_2m, 1);
    assert_int_equal(both_counts(both)->small_pages, 1);
    /* Unmapping one page of it splits it, and listeners hear of the whole. */
    struct ears ears = {0}, expected = {0};
    listen_to(both->replica, &ears);
    both_unmap(both, 0x10000000, PAGE);
    hear_after(&expected, (struct guest_va){0x10000000}, 2 * MIB, false);
    hear_after(&expected, (struct guest_va){0x10000000}, PAGE, false);
    assert_true(ears.heard == expected.heard);
    assert_int_equal(both_counts(both)->huge_splits, 1);
    assert_int_equal(mmu_usage(both->mmu).resident_bytes, 512 * PAGE);
    char *text;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    assert_int_equal(mmu_replica_pagemap_write(both->replica, to, false, NULL), C2_OK);
    fclose(to);
    assert_non_null(strstr(text, "0x10000 0x0 2M"));
    assert_non_null(strstr(text, "0x10200 0x200 4K"));
    free(text);
    end(&space);
}

/* The heap of MMU_HUGE_HEAP with pages of 1 GiB starts at a multiple of that, for all. The guest's machine has
 * 4 GiB, so a break that asks for 5 more is refused. */
static void the_heap_lies_as_the_largest_page_needs(void **state)
{
    (void)state;
    struct guest space;
    struct mmu_config configs[] = {{.physical_bytes = MIB},
                                   {.physical_bytes = 4 * GIB, .huge = MMU_HUGE_HEAP, .huge_size = MMU_PAGE_1G}};
    open_space(&space, NULL, configs, 2);
    struct both *both = space.both;
    uint64_t start = c2_align_up(MMU_HEAP_BASE, GIB);
    assert_int_equal(space.guest.guest_bytes, 4 * GIB);
    assert_int_equal(space.guest.heap_page, MMU_PAGE_1G);
    assert_int_equal(both_brk(both, 0), start);
    assert_int_equal(both_brk(both, start + 5 * GIB), start);
    assert_int_equal(both_brk(both, start + 1), start + 1);
    assert_int_equal(both_area_at(both, (struct guest_va){start}, false)->bytes, GIB);
    assert_int_equal(touch(both, start), MMU_FAULT_NONE);
    assert_int_equal(mmu_replica_counts(both->replicas[1])->huge_1g, 1);
    assert_int_equal(mmu_replica_counts(both->replicas[0])->small_pages, 1);
    end(&space);
}

/* Reads and writes are told apart because one replica has the zero page: that one maps page 0 and 1 to one frame, the
 * other gives them frames. Writing page 1 then is a copy for the first, and nothing for the other. */
static void the_zero_page_is_each_ones_own_affair(void **state)
{
    (void)state;
    struct guest space;
    struct mmu_config configs[] = {{.physical_bytes = MIB, .zero_page = true}, {.physical_bytes = MIB}};
    open_space(&space, NULL, configs, 2);
    struct both *both = space.both;
    const struct mmu_replica *with = both->replicas[0], *without = both->replicas[1];
    struct ears ears = {0}, silent = {0}, expected = {0};
    listen_to(both->replicas[0], &ears), listen_to(both->replicas[1], &silent);
    map_at(both, 0x10000000, 2 * PAGE);
    ears.heard = silent.heard = 0;
    touch(both, 0x10000000), touch(both, 0x10001000);
    assert_int_equal(frame_of(with, 0x10000000), 251); /* 256 frames; root and three tables have the top ones */
    assert_int_equal(frame_of(with, 0x10001000), 251);
    assert_int_equal(frame_of(without, 0x10000000), 0);
    assert_int_equal(frame_of(without, 0x10001000), 1);
    assert_int_equal(mmu_usage(both->mmu).resident_bytes, 0);
    assert_int_equal(both_touch(both, (struct guest_va){0x10001000}, MMU_ACCESS_UNKNOWN, NULL), MMU_FAULT_NONE);
    assert_int_equal(frame_of(with, 0x10000000), 251);
    assert_int_equal(frame_of(with, 0x10001000), 0);
    assert_int_equal(frame_of(without, 0x10001000), 1);
    assert_int_equal(mmu_usage(both->mmu).resident_bytes, PAGE);
    assert_int_equal(both->marks[STREAM_TOUCHED], 3);
    hear_after(&expected, (struct guest_va){0x10001000}, PAGE, false);
    assert_true(ears.heard == expected.heard && silent.heard == 0);
    end(&space);
}

/* ------------------------------------------------------------------ what goes wrong */

static void expect_touch_fails(struct both *both, uint64_t va, const char *begin, const char *words)
{
    struct c2_error err = {0};
    struct guest_va at = {va};
    assert_int_equal(both_touch(both, at, MMU_ACCESS_WRITE, &err), MMU_FAULT_FAILED);
    if (strncmp(err.text, begin, strlen(begin)) != 0 || !strstr(err.text, words))
        fail_msg("\"%s\" and \"%s\" are not in \"%s\"", begin, words, err.text);
}

/* 256 frames: pages 0x10000 and 0x10100 are the same modulo 256. The other replica goes on. */
static void one_that_fails_leaves_the_others_alone(void **state)
{
    (void)state;
    struct guest space;
    struct mmu_config configs[] = {{.physical_bytes = MIB, .placement = MMU_IDENTITY}, {.physical_bytes = MIB}};
    open_space(&space, NULL, configs, 2);
    struct both *both = space.both;
    map_at(both, 0x10000000, 2 * MIB);
    assert_int_equal(touch(both, 0x10000000), MMU_FAULT_NONE);
    expect_touch_fails(both, 0x10100000, "identity placement: page 0x10100000", "which page 0x10000000 holds already");
    assert_true(both->failed[0]);
    assert_false(both->failed[1]);
    assert_int_equal(frame_of(both->replicas[1], 0x10100000), 1);
    close_space(&space);
}

static void a_hole_in_the_map_is_named(void **state)
{
    (void)state;
    struct guest space;
    struct mmu_config config = {.physical_bytes = MIB, .placement = MMU_MAP};
    snprintf(config.map, sizeof config.map, "/tmp/mmu_replicas_XXXXXX");
    int fd = mkstemp(config.map);
    assert_int_equal(write(fd, "0x10001 7 4K\n", 13), 13);
    close(fd);
    struct both *both = open_one(&space, &config);
    map_at(both, 0x10000000, 2 * MIB);
    assert_int_equal(touch(both, 0x10001000), MMU_FAULT_NONE);
    assert_int_equal(frame_of(both->replica, 0x10001000), 7);
    expect_touch_fails(both, 0x10000000, "/tmp/mmu_replicas_", "the map has no page 0x10000");
    unlink(config.map);
    close_space(&space);
}

/* Two huge pages of 512 frames and the three tables above them are 1027 frames: none is left for the table of a split,
 * nor for one of a move's. The guest is told nothing of that. */
static void a_split_that_fails_is_an_error(void **state)
{
    (void)state;
    for (unsigned move = 0; move < 2; move++) {
        struct guest space;
        struct c2_error err;
        struct mmu_config config = {.physical_bytes = 1027 * PAGE, .huge = MMU_HUGE_THP};
        struct both *both = open_one(&space, &config);
        map_at(both, 0x10000000, 4 * MIB);
        assert_int_equal(touch(both, 0x10000000), MMU_FAULT_NONE);
        assert_int_equal(touch(both, 0x10200000), MMU_FAULT_NONE);
        assert_int_equal(both_counts(both)->huge_2m, 2);
        assert_int_equal(both_flush(both, &err), C2_OK);
        if (move)
            assert_int_equal(both_remap(both, 0x10000000, PAGE, PAGE, true, true, 0x20000000), 0x20000000);
        else
            assert_int_equal(both_protect(both, 0x10001000, PAGE, MMU_READ), 0);
        assert_int_equal(both_flush(both, &err), C2_ERR_EXHAUSTED);
        assert_string_equal(err.text,
                            move ? "mremap at 0x10000000 needs more page tables than physical memory (4206592 B) has "
                                   "room for; give the machine more with --set machine.physical_memory=SIZE"
                                 : "mprotect at 0x10001000 needs more page tables than physical memory (4206592 B) has "
                                   "room for; give the machine more with --set machine.physical_memory=SIZE");
        mmu_replica_check(both->replica);
        close_space(&space);
    }
}

/* 1024 frames, one of them the root's: 1023 are free. Where no page is huge a mark takes 11 at most, and what is there
 * two more to be moved. 8 colours have 128 frames each. An allocator without the number gives 0. */
static void what_is_guaranteed(void **state)
{
    (void)state;
    static const struct {
        struct mmu_config config;
        uint64_t guaranteed;
    } rows[] = {
        {{.physical_bytes = 4 * MIB, .huge = MMU_HUGE_NEVER}, (1023 - 2) / 11},
        {{.physical_bytes = 4 * MIB, .huge = MMU_HUGE_NEVER, .placement = MMU_COLORED, .colors = 8}, (127 - 2) / 11},
        {{.physical_bytes = 4 * MIB, .huge = MMU_HUGE_NEVER, .placement = MMU_BUDDY}, (1023 - 2) / 11},
        {{.physical_bytes = 4 * MIB, .huge = MMU_HUGE_NEVER, .placement = MMU_BUDDY, .age = 1}, 0},
        {{.physical_bytes = 4 * MIB, .huge = MMU_HUGE_NEVER, .placement = MMU_IDENTITY}, 0},
        {{.physical_bytes = 4 * MIB}, 0}, /* a page of 1 GiB may be asked for */
        {{.physical_bytes = 64 * GIB}, (64 * GIB / PAGE - 1 - 2) / (262144 + 1024 + 10)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct mmu_replica *replica;
        assert_int_equal(mmu_replica_create(&replica, &rows[i].config, NULL), C2_OK);
        if (mmu_replica_guaranteed(replica) != rows[i].guaranteed)
            fail_msg("row %zu: %llu, not %llu", i, (unsigned long long)mmu_replica_guaranteed(replica),
                     (unsigned long long)rows[i].guaranteed);
        mmu_replica_destroy(replica);
    }
}

/* The n-th allocation fails, until none does; nothing is left over. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct mmu_config config = {.physical_bytes = MIB, .placement = MMU_COLORED, .colors = 4};
    enum c2_status status = C2_ERR_NO_MEMORY;
    for (uint64_t n = 1; status != C2_OK; n++) {
        struct mmu_replica *replica;
        struct c2_error err;
        c2_alloc_fail_from(n);
        status = mmu_replica_create(&replica, &config, &err);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK || (status == C2_ERR_NO_MEMORY && !replica));
        mmu_replica_destroy(replica);
        assert_true(n < 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_places_for_itself),
        cmocka_unit_test(a_huge_page_is_touched_once),
        cmocka_unit_test(the_heap_lies_as_the_largest_page_needs),
        cmocka_unit_test(the_zero_page_is_each_ones_own_affair),
        cmocka_unit_test(one_that_fails_leaves_the_others_alone),
        cmocka_unit_test(a_hole_in_the_map_is_named),
        cmocka_unit_test(a_split_that_fails_is_an_error),
        cmocka_unit_test(what_is_guaranteed),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(replicas_equal_those_that_are_the_only_ones),
        cmocka_unit_test(a_replica_that_runs_out_says_so),
        cmocka_unit_test(comparison_can_fail),
    };
    return cmocka_run_group_tests_name("mmu_replicas", tests, NULL, NULL);
}
