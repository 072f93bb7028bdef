/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The marks of memory: those of one run, kept and applied later to a replica with another placement, make it what a
 * replica is that heard of a run with that placement at once. And marks that no run writes.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unit/mmu_both.h"

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
static bool host_probe(void *self, uint64_t page, bool writes)
{
    (void)writes;
    (void)self;
    return page / PAGE % 7 != 0; /* the others are beyond the end of their file */
}

struct guest {
    struct both *both;
    unsigned char *arena;
};

static void open_guest(struct guest *guest, const struct mmu_guest_config *config, const struct mmu_config *placement)
{
    const struct mmu_host host = {.room = host_room,
                                  .map = host_map,
                                  .unmap = host_unmap,
                                  .move = host_move,
                                  .extend = host_range,
                                  .discard = host_range,
                                  .probe = host_probe};
    guest->arena = aligned_alloc(PAGE, ARENA_PAGES * PAGE);
    const struct tables_arena arena = {.memory = guest->arena, .address = MMU_TABLES_BASE, .pages = ARENA_PAGES};
    struct c2_error err;
    if (both_create_for(&guest->both, config, placement, 1, &host, &arena, &err) != C2_OK)
        fail_msg("%s", err.text);
}

static void close_guest(struct guest *guest)
{
    both_check(guest->both);
    both_destroy(guest->both);
    free(guest->arena);
}

/* ------------------------------------------------------------------ random calls */

#define BASE (MMU_MMAP_TOP - 16 * MIB)
#define PAGES (12 * MIB / PAGE)

static uint64_t some_page(struct c2_rng *rng) { return BASE + c2_rng_below(rng, PAGES) * PAGE; }

static void map_some(struct both *both, struct c2_rng *rng)
{
    struct mmu_request request = {.bytes = (1 + c2_rng_below(rng, 800)) * PAGE, .prot = RW, .host_fd = -1};
    request.address = c2_rng_below(rng, 3) ? some_page(rng) : 0;
    request.fixed = request.address != 0;
    request.shared = c2_rng_below(rng, 5) == 0;
    request.kind = c2_rng_below(rng, 5) ? MMU_ANONYMOUS : MMU_STACK;
    if (request.address == 0 && c2_rng_below(rng, 3) == 0)
        request.huge = MMU_PAGE_2M;
    both_map(both, &request);
}

static void touch_some(struct both *both, struct c2_rng *rng)
{
    struct guest_va at = {some_page(rng)}, failed;
    const uint64_t bytes = (1 + c2_rng_below(rng, 30)) * PAGE;
    const enum mmu_access access = c2_rng_below(rng, 2) ? MMU_ACCESS_WRITE : MMU_ACCESS_READ;
    both_touch_range(both, at, bytes, access, &failed, NULL);
}

/* One call, the same for all that draw the same. */
static void call(struct both *both, struct c2_rng *rng)
{
    const uint64_t what = c2_rng_below(rng, 20), page = some_page(rng);
    const uint64_t bytes = (1 + c2_rng_below(rng, 200)) * PAGE;
    switch (what) {
    case 0:
        both_unmap(both, page, bytes);
        break;
    case 1:
        both_protect(both, page, bytes, (unsigned)c2_rng_below(rng, 4));
        break; /* holes among them: ENOMEM */
    case 2:
        both_remap(both, page, bytes, (1 + c2_rng_below(rng, 300)) * PAGE, true, false, 0);
        break;
    case 3:
        both_discard(both, page, bytes);
        break;
    case 4:
        both_advise_huge(both, page, bytes, c2_rng_below(rng, 2));
        break;
    case 5:
        both_brk(both, MMU_HEAP_BASE + c2_rng_below(rng, 4 * MIB));
        break;
    case 6:
    case 7:
        map_some(both, rng);
        break;
    default:
        touch_some(both, rng);
        break;
    }
}

/* ------------------------------------------------------------------ keeping marks */

struct kept {
    uint64_t *words; /* as in a batch */
    size_t used, room;
};

static enum c2_status keep(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    struct kept *kept = self;
    (void)err;
    if (kept->used + batch->used > kept->room) {
        kept->room = 2 * (kept->used + batch->used);
        kept->words = realloc(kept->words, kept->room * sizeof *kept->words);
    }
    memcpy(&kept->words[kept->used], batch->words, batch->used * sizeof *batch->words);
    kept->used += batch->used;
    return C2_OK;
}

static uint64_t marks[STREAM_MARKS];

/* From word *at on to the end. left_out: the n-th touch; 0: none. */
static void play(struct mmu_replica *replica, const struct kept *kept, size_t *at, uint64_t left_out)
{
    struct c2_error err;
    uint64_t touches = 0;
    while (*at < kept->used) {
        const uint64_t header = kept->words[*at];
        const enum stream_mark mark = (enum stream_mark)stream_header_insns(header);
        const uint32_t count = stream_header_slots(header);
        marks[mark]++;
        touches += mark == STREAM_TOUCHED;
        if ((mark != STREAM_TOUCHED || touches != left_out) &&
            mmu_replica_apply(replica, mark, &kept->words[*at + 1], count, &err) != C2_OK)
            fail_msg("%s", err.text);
        *at += count + 1;
    }
}

/* ------------------------------------------------------------------ comparing */

static uint64_t compare_entry(void *self, uint64_t va, uint64_t entry)
{
    const struct mmu_replica *other = self;
    assert_int_equal(tables_get(other->space.tables, va), entry);
    return entry;
}

static void compare(struct mmu_replica *a, struct mmu_replica *b)
{
    const struct mmu_areas *of_a = &a->space.areas, *of_b = &b->space.areas;
    assert_int_equal(areas_count(of_a), areas_count(of_b));
    const struct area *mine = areas_find(of_a, 0), *theirs = areas_find(of_b, 0);
    for (; mine; mine = areas_next(of_a, mine), theirs = areas_next(of_b, theirs))
        assert_true(both_same_area(mine, theirs));
    assert_memory_equal(&a->space.counts, &b->space.counts, sizeof a->space.counts);
    tables_visit(a->space.tables, 0, MMU_WINDOW_END, compare_entry, b);
    mmu_replica_check(b);
}

static const struct mmu_config configs[] = {
    {.physical_bytes = 256 * MIB, .placement = MMU_SEQUENTIAL, .seed = 1},
    {.physical_bytes = 256 * MIB, .placement = MMU_RANDOM, .seed = 2},
    {.physical_bytes = 256 * MIB, .placement = MMU_COLORED, .colors = 16, .seed = 1},
    {.physical_bytes = 256 * MIB, .placement = MMU_SEQUENTIAL, .seed = 1, .huge = MMU_HUGE_THP},
    {.physical_bytes = 256 * MIB, .placement = MMU_BUDDY, .age = 300, .seed = 3},
};
#define CONFIGS (sizeof configs / sizeof configs[0])

/* A run under `first`, whose marks are kept and played to a replica under `second`, in pieces; and the same run under
 * `second`, which hears at once. */
static void run(const struct mmu_config *first, const struct mmu_config *second, uint64_t seed)
{
    struct guest a, b;
    struct c2_rng rng[2];
    struct kept kept = {0};
    struct stream_writer *writer;
    struct mmu_replica *later;
    struct mmu_guest_config guest = {0};
    size_t played = 0;
    mmu_config_suit(&guest, first);
    mmu_config_suit(&guest, second);
    open_guest(&a, &guest, first);
    open_guest(&b, &guest, second);
    assert_int_equal(C2_OK, mmu_replica_create(&later, second, NULL));
    assert_int_equal(C2_OK, stream_writer_create(&writer, (struct stream_sink){&kept, keep, both_drain}, NULL));
    mmu_write_to(a.both->mmu, writer);
    for (unsigned i = 0; i < 2; i++)
        c2_rng_init(&rng[i], seed, "calls");
    for (unsigned i = 0; i < CALLS; i++) {
        call(a.both, &rng[0]);
        call(b.both, &rng[1]);
        if (i % 64 != 0 && i + 1 != CALLS)
            continue;
        assert_int_equal(C2_OK, stream_writer_flush(writer, NULL));
        play(later, &kept, &played, 0);
        compare(b.both->replica, later);
    }
    mmu_write_to(a.both->mmu, NULL);
    a.both->failed[0] = true; /* it heard of nothing */
    stream_writer_destroy(writer);
    mmu_replica_destroy(later);
    free(kept.words);
    close_guest(&a);
    close_guest(&b);
}

static void every_placement(void **state)
{
    (void)state;
    memset(marks, 0, sizeof marks);
    for (size_t i = 0; i < CONFIGS; i++)
        run(&configs[0], &configs[i], 7 + i);
    for (unsigned mark = STREAM_MAPPED; mark <= STREAM_TOUCHED; mark++)
        assert_true(marks[mark] > 0);
}

/* A run's own placement, huge pages and zero page and all: its marks make the same again. */
static void its_own_placement(void **state)
{
    (void)state;
    for (size_t i = 0; i < CONFIGS; i++) {
        struct mmu_config config = configs[i];
        config.zero_page = true;
        run(&config, &config, 40 + i);
    }
}

/* ------------------------------------------------------------------ what is written */

/* Everything that happens, in its order and with its words. */
static struct kept written;

static void assert_written(const char *expected)
{
    static const char *const names[STREAM_MARKS] = {
        [STREAM_MAPPED] = "mapped", [STREAM_UNMAPPED] = "unmapped",   [STREAM_PROTECTED] = "protected",
        [STREAM_MOVED] = "moved",   [STREAM_DISCARDED] = "discarded", [STREAM_ADVISED] = "advised",
        [STREAM_TOUCHED] = "touch",
    };
    char text[1000] = "";
    size_t length = 0;
    for (size_t at = 0; at < written.used; at += stream_header_slots(written.words[at]) + 1) {
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", length ? "; " : "",
                                   names[stream_header_insns(written.words[at])]);
        for (uint32_t i = 1; i <= stream_header_slots(written.words[at]); i++)
            length += (size_t)snprintf(text + length, sizeof text - length, " %llx",
                                       (unsigned long long)written.words[at + i]);
    }
    assert_string_equal(text, expected);
    written.used = 0;
}

static void marks_say_what_happens_in_its_order(void **state)
{
    (void)state;
    struct guest guest;
    struct stream_writer *writer;
    const struct mmu_guest_config config = {.guest_bytes = MIB, .tells_writes = true};
    open_guest(&guest, &config, &configs[0]);
    struct mmu *mmu = guest.both->mmu;
    assert_int_equal(C2_OK, stream_writer_create(&writer, (struct stream_sink){&written, keep, both_drain}, NULL));
    mmu_write_to(mmu, writer);
#define SAYS(expected) \
    do { \
        assert_int_equal(C2_OK, stream_writer_flush(writer, NULL)); \
        assert_written(expected); \
    } while (0)
    struct guest_va at = {0};
    struct mmu_request request = {
        .address = 0x10000000, .bytes = 3 * PAGE + 5, .prot = RW, .fixed = true, .host_fd = -1};
    assert_int_equal(mmu_map(mmu, &request), 0x10000000);
    SAYS("mapped 10000000 4000 13 0 0 0");
    request.bytes = 0;
    assert_int_equal(mmu_map(mmu, &request), -EINVAL);
    SAYS("");
    mmu_touch(mmu, (struct guest_va){0x10000123}, MMU_ACCESS_UNKNOWN, NULL);
    mmu_touch(mmu, (struct guest_va){0x10000124}, MMU_ACCESS_READ, NULL);
    SAYS("touch 10000123 0");
    mmu_touch(mmu, (struct guest_va){0x10000456}, MMU_ACCESS_UNKNOWN, NULL);
    mmu_touch(mmu, (struct guest_va){0x10000457}, MMU_ACCESS_WRITE, NULL);
    SAYS("touch 10000456 1");
    mmu_touch_range(mmu, (struct guest_va){0x10000ffe}, 2 + PAGE + 1, MMU_ACCESS_WRITE, &at, NULL);
    SAYS("touch 10001000 1; touch 10002000 1");
    assert_int_equal(mmu_touch_range(mmu, (struct guest_va){0x10003ffe}, 4, MMU_ACCESS_READ, &at, NULL),
                     MMU_FAULT_UNMAPPED);
    SAYS("touch 10003ffe 0");
    assert_int_equal(mmu_protect(mmu, 0x10003000, 2 * PAGE, MMU_READ), -ENOMEM); /* one of them */
    SAYS("protected 10003000 1000 1");
    assert_int_equal(mmu_advise_huge(mmu, 0x10000000, PAGE, true), 0);
    SAYS("advised 10000000 1000 1");
    assert_int_equal(mmu_discard(mmu, 0x10002000, 3 * PAGE), -ENOMEM); /* two of them, in two areas */
    SAYS("discarded 10002000 1000; discarded 10003000 1000");
    /* Onto what is there, and larger: what goes, then the move with its growth. */
    assert_int_equal(mmu_remap(mmu, 0x10000000, PAGE, 2 * PAGE, true, true, 0x10002000), 0x10002000);
    SAYS("unmapped 10002000 2000; moved 10000000 10002000 1000 2000 0");
    assert_int_equal(mmu_remap(mmu, 0x10002000, 2 * PAGE, 3 * PAGE, false, false, 0), 0x10002000);
    SAYS("mapped 10004000 1000 10013 0 0 0"); /* advised as what it is of */
    assert_int_equal(mmu_remap(mmu, 0x10002000, 3 * PAGE, 2 * PAGE, false, false, 0), 0x10002000);
    SAYS("unmapped 10004000 1000");
    assert_int_equal(mmu_brk(mmu, MMU_HEAP_BASE + 1), MMU_HEAP_BASE + 1);
    assert_int_equal(mmu_brk(mmu, MMU_HEAP_BASE + 2), MMU_HEAP_BASE + 2);
    assert_int_equal(mmu_brk(mmu, MMU_HEAP_BASE), MMU_HEAP_BASE);
    SAYS("mapped 1120000000 1000 213 0 0 0; unmapped 1120000000 1000");
    request = (struct mmu_request){.bytes = PAGE, .prot = MMU_READ, .shared = true, .host_fd = -1};
    assert_int_equal(mmu_map(mmu, &request), MMU_MMAP_TOP - PAGE);
    assert_int_equal(mmu_map(mmu, &request), MMU_MMAP_TOP - 2 * PAGE);
    SAYS("mapped 3f0e2ffff000 1000 19 0 1 0; mapped 3f0e2fffe000 1000 19 0 2 0"); /* two pieces of memory */
    assert_int_equal(mmu_remap(mmu, MMU_MMAP_TOP - PAGE, PAGE, PAGE, true, true, 0x20000000), 0x20000000);
    assert_int_equal(mmu_remap(mmu, 0x20000000, PAGE, 2 * PAGE, false, false, 0), 0x20000000);
    SAYS("moved 3f0e2ffff000 20000000 1000 1000 0; mapped 20001000 1000 19 1000 1 0");
    assert_int_equal(mmu_unmap(mmu, 0, MMU_WINDOW_END), 0);
    SAYS("unmapped 0 400000000000");
    assert_int_equal(mmu_unmap(mmu, 0, MMU_WINDOW_END), 0);
    SAYS("");
    mmu_write_to(mmu, NULL);
    stream_writer_destroy(writer);
    free(written.words);
    close_guest(&guest);
}

static enum c2_status refuse(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    (void)batch;
    ++*(unsigned *)self;
    return c2_fail(err, C2_ERR_IO, "the disk is full");
}

/* A writer that fails is asked once; the next page fault tells the reason, and the end of the run. */
static void a_mark_that_cannot_be_written_is_kept(void **state)
{
    (void)state;
    struct guest guest;
    struct stream_writer *writer;
    unsigned refused = 0;
    struct c2_error err;
    const struct mmu_guest_config config = {.guest_bytes = MIB};
    open_guest(&guest, &config, &configs[0]);
    struct mmu *mmu = guest.both->mmu;
    assert_int_equal(C2_OK, stream_writer_create(&writer, (struct stream_sink){&refused, refuse, both_drain}, NULL));
    mmu_write_to(mmu, writer);
    writer->sure = UINT64_MAX; /* marks go on when the batch is full */
    struct mmu_request request = {.address = 0x10000000, .bytes = 2 * PAGE, .prot = RW, .fixed = true, .host_fd = -1};
    assert_int_equal(mmu_map(mmu, &request), 0x10000000);
    assert_int_equal(mmu_written(mmu, &err), C2_OK);
    for (unsigned i = 0; i < STREAM_BATCH_WORDS; i++)
        assert_int_equal(mmu_protect(mmu, 0x10000000, PAGE, i % 2 ? RW : MMU_READ), 0);
    assert_int_equal(refused, 1);
    assert_int_equal(mmu_written(mmu, &err), C2_ERR_IO);
    assert_string_equal(err.text, "the disk is full");
    assert_int_equal(mmu_touch(mmu, (struct guest_va){0x10001000}, MMU_ACCESS_READ, &err), MMU_FAULT_FAILED);
    assert_string_equal(err.text, "the disk is full");
    guest.both->failed[0] = true; /* it heard of nothing */
    mmu_write_to(mmu, NULL);
    stream_writer_destroy(writer);
    close_guest(&guest);
}

/* ------------------------------------------------------------------ what is read */

/* Marks that lack one touch make another placement: the comparison can fail. */
static void a_touch_that_is_lost_shows(void **state)
{
    const uint64_t map[] = {BASE, 4 * PAGE, 0x13, 0, 0, 0}, touches[][2] = {{BASE, 1}, {BASE + PAGE, 1}};
    struct kept kept = {0};
    struct stream_writer *writer;
    (void)state;
    assert_int_equal(C2_OK, stream_writer_create(&writer, (struct stream_sink){&kept, keep, both_drain}, NULL));
    assert_int_equal(C2_OK, stream_writer_mark(writer, STREAM_MAPPED, map, 6, NULL));
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(C2_OK, stream_writer_mark(writer, STREAM_TOUCHED, touches[i], 2, NULL));
    assert_int_equal(C2_OK, stream_writer_flush(writer, NULL));
    for (uint64_t left_out = 0; left_out < 2; left_out++) {
        struct mmu_replica *replica;
        struct guest_pa pa;
        size_t at = 0;
        assert_int_equal(C2_OK, mmu_replica_create(&replica, &configs[0], NULL));
        play(replica, &kept, &at, left_out);
        assert_true(mmu_replica_translate(replica, (struct guest_va){BASE + PAGE}, &pa));
        assert_int_equal(pa.v, left_out ? 0 : PAGE);
        assert_int_equal(mmu_replica_translate(replica, (struct guest_va){BASE}, &pa), left_out == 0);
        mmu_replica_destroy(replica);
    }
    stream_writer_destroy(writer);
    free(kept.words);
}

/* A mapping of a file comes with its name, and never has huge pages. */
static void files(void **state)
{
    (void)state;
    struct mmu_replica *replica;
    uint64_t map[8] = {BASE, 4 * MIB, MMU_READ | MMU_FILE << STREAM_MAPPED_KIND_SHIFT, 0, 12, 34};
    const uint64_t touch[] = {BASE, MMU_ACCESS_READ};
    memcpy(&map[6], "/lib/libm.so.6", 15);
    assert_int_equal(C2_OK, mmu_replica_create(&replica, &configs[3], NULL));
    assert_int_equal(C2_OK, mmu_replica_apply(replica, STREAM_MAPPED, map, 8, NULL));
    assert_int_equal(C2_OK, mmu_replica_apply(replica, STREAM_TOUCHED, touch, 2, NULL));
    const struct mmu_area *area = mmu_area_at(mmu_replica_areas(replica), (struct guest_va){BASE}, false);
    assert_string_equal(area->path, "/lib/libm.so.6");
    assert_int_equal(area->kind, MMU_FILE);
    assert_int_equal(area->inode, 12);
    assert_int_equal(area->device, 34);
    assert_int_equal(mmu_replica_counts(replica)->small_pages, 1);
    assert_int_equal(mmu_replica_counts(replica)->huge_2m, 0);
    mmu_replica_destroy(replica);
}

/* What no run can have done is an error that says where, and changes nothing. */
static void marks_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const struct {
        enum stream_mark mark;
        uint32_t count;
        uint64_t words[8];
    } bad[] = {
        {STREAM_MAPPED, 5, {BASE, PAGE, 3}},
        {STREAM_MAPPED, 6, {BASE + 1, PAGE, 3}},
        {STREAM_MAPPED, 6, {BASE, 0, 3}},
        {STREAM_MAPPED, 6, {BASE, PAGE + 1, 3}},
        {STREAM_MAPPED, 6, {MMU_ADDRESSES_END - PAGE, 2 * PAGE, 3}},
        {STREAM_MAPPED, 6, {BASE, (uint64_t)0 - PAGE, 3}},
        {STREAM_MAPPED, 6, {MMU_TABLES_BASE - PAGE, 2 * PAGE, 3}},
        {STREAM_MAPPED, 6, {BASE, PAGE, 1 << 20}},
        {STREAM_MAPPED, 6, {BASE, PAGE, 3 << STREAM_MAPPED_PAGES_SHIFT}},
        {STREAM_MAPPED, 6, {BASE, PAGE, STREAM_MAPPED_HUGE | STREAM_MAPPED_SMALL}},
        {STREAM_MAPPED, 6, {BASE, PAGE, 3, 5}},
        {STREAM_MAPPED, 7, {BASE, PAGE, 3}},                                   /* a path for anonymous memory */
        {STREAM_MAPPED, 6, {BASE, PAGE, 1 << STREAM_MAPPED_KIND_SHIFT}},       /* a file without one */
        {STREAM_MAPPED, 7, {BASE, PAGE, 1 << 8, 0, 0, 0, 0x4141414141414141}}, /* one without an end */
        {STREAM_MAPPED, 8, {BASE, PAGE, 1 << 8, 0, 0, 0, 0x41, 0x41}},         /* one with two */
        {STREAM_UNMAPPED, 2, {BASE, 0}},
        {STREAM_UNMAPPED, 2, {BASE, 5}},
        {STREAM_UNMAPPED, 2, {BASE, (uint64_t)0 - PAGE}},
        {STREAM_PROTECTED, 3, {BASE, PAGE, 8}},
        {STREAM_PROTECTED, 3, {1, PAGE, 1}},
        {STREAM_MOVED, 5, {BASE, BASE + MIB, PAGE, PAGE, 4}},
        {STREAM_MOVED, 5, {BASE, BASE + MIB, PAGE, PAGE, MMU_FILE}},  /* what was none */
        {STREAM_MOVED, 5, {BASE, BASE + 3 * PAGE, PAGE, PAGE, 0}},    /* where something is */
        {STREAM_MOVED, 5, {BASE, BASE + MIB, 5 * PAGE, 5 * PAGE, 0}}, /* more than there is */
        {STREAM_MOVED, 5, {BASE, BASE + MIB, 2 * PAGE, PAGE, 0}},
        {STREAM_MOVED, 5, {BASE + MIB, BASE + 2 * MIB, PAGE, PAGE, 0}},
        {STREAM_DISCARDED, 2, {BASE + 3 * PAGE, 2 * PAGE}},
        {STREAM_DISCARDED, 2, {BASE + MIB, PAGE}},
        {STREAM_ADVISED, 3, {BASE, PAGE, 2}},
        {STREAM_TOUCHED, 2, {BASE + MIB, 0}},
        {STREAM_TOUCHED, 2, {BASE, 3}},
        {STREAM_TOUCHED, 2, {(uint64_t)0 - 1, 0}},
        {STREAM_TOUCHED, 1, {BASE}},
    };
    struct mmu_replica *replica;
    struct c2_error err;
    const uint64_t map[] = {BASE, 4 * PAGE, 0x13, 0, 0, 0};
    assert_int_equal(C2_OK, mmu_replica_create(&replica, &configs[0], NULL));
    assert_int_equal(C2_OK, mmu_replica_apply(replica, STREAM_MAPPED, map, 6, NULL));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (mmu_replica_apply(replica, bad[i].mark, bad[i].words, bad[i].count, &err) != C2_ERR_FORMAT)
            fail_msg("mark %zu is taken", i);
        mmu_replica_check(replica);
        assert_int_equal(areas_count(&replica->space.areas), 1);
    }
    /* What is not about memory is no business of this test. */
    assert_int_equal(C2_OK, mmu_replica_apply(replica, STREAM_FREED, map, 1, NULL));
    mmu_replica_destroy(replica);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_placement),
        cmocka_unit_test(its_own_placement),
        cmocka_unit_test(marks_say_what_happens_in_its_order),
        cmocka_unit_test(a_mark_that_cannot_be_written_is_kept),
        cmocka_unit_test(a_touch_that_is_lost_shows),
        cmocka_unit_test(files),
        cmocka_unit_test(marks_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
