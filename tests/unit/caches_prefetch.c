/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Prefetchers, worked out by hand: streams of the textbook, the page's end, what is useful, useless and polluting,
 * inclusive levels, classes. Pages have 64 lines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "caches/caches.h"

#define PAGE 64

static struct caches_level level(const char *name, uint32_t ways, unsigned prefetcher)
{
    struct caches_level made = {.ways = ways,
                                .slices = 1,
                                .size_bytes = UINT64_C(64) * ways,
                                .prefetchers = 1u << prefetcher,
                                .stream_distance = 5,
                                .stride_distance = 1};
    snprintf(made.name, sizeof made.name, "%s", name);
    return made;
}

/* One level with room for everything: 16 sets of 64 ways. */
static struct caches_machine roomy(enum caches_prefetcher prefetcher)
{
    struct caches_machine machine = {.line_bytes = 64, .level_count = 1};
    machine.levels[0] = level("L1D", 64, prefetcher);
    machine.levels[0].size_bytes *= 16;
    return machine;
}

static struct caches *create(const struct caches_machine *machine)
{
    struct caches *caches;
    assert_int_equal(caches_create(&caches, machine, 1, NULL), C2_OK);
    return caches;
}

static void access_line(struct caches *caches, bool write, uint64_t line)
{
    assert_int_equal(
        caches_access(caches, CACHES_DATA, write, (struct line_no){line}, (struct line_no){line}, NULL, NULL), C2_OK);
    caches_check(caches);
}

static void load(struct caches *caches, uint64_t line) { access_line(caches, false, line); }

static void sweep(struct caches *caches, int from, int to, int step)
{
    for (int line = from; step > 0 ? line <= to : line >= to; line += step)
        load(caches, (uint64_t)line);
}

/* What the prefetchers of a level have counted, all together but for what memory served. */
static void expect(const struct caches *caches, uint32_t number, const struct caches_prefetch_counts *wanted)
{
    struct caches_prefetch_counts sum = {.issued = 0};
    for (unsigned i = 0; i < CACHES_PREFETCHERS; i++) {
        const struct caches_prefetch_counts *n = caches_prefetch_counts(caches, number, (enum caches_prefetcher)i);
        sum.issued += n->issued, sum.present += n->present, sum.stopped += n->stopped;
        sum.useful += n->useful, sum.useless += n->useless, sum.polluting += n->polluting;
    }
    assert_int_equal(sum.issued, wanted->issued);
    assert_int_equal(sum.present, wanted->present);
    assert_int_equal(sum.stopped, wanted->stopped);
    assert_int_equal(sum.useful, wanted->useful);
    assert_int_equal(sum.useless, wanted->useless);
    assert_int_equal(sum.polluting, wanted->polluting);
}
#define EXPECT(caches, number, ...) expect(caches, number, &(const struct caches_prefetch_counts){__VA_ARGS__})

static uint64_t misses(const struct caches *caches, uint32_t number)
{
    return caches_level_counts(caches, number)->misses;
}

/* Lines 0, 1, 2 are a stream: the access of 2 fetches 7, that of 3 fetches 8 ... that of 58 fetches 63; 59 to 63 would
 * fetch from the next page. So 0 to 6 miss, and no other. Down it is the same from the other end. */
static void whole_page(void **state)
{
    (void)state;
    for (unsigned down = 0; down < 2; down++) {
        const struct caches_machine machine = roomy(CACHES_PREFETCH_STREAM);
        struct caches *caches = create(&machine);
        if (down)
            sweep(caches, PAGE - 1, 0, -1);
        else
            sweep(caches, 0, PAGE - 1, 1);
        EXPECT(caches, 0, .issued = 57, .stopped = 5, .useful = 57);
        assert_int_equal(misses(caches, 0), 7);
        assert_int_equal(caches_prefetch_counts(caches, 0, CACHES_PREFETCH_STREAM)->from_memory, 57);
        caches_destroy(caches);
    }
}

static void no_streams(void **state)
{
    (void)state;
    const struct caches_machine machine = roomy(CACHES_PREFETCH_STREAM);
    struct caches *caches = create(&machine);
    sweep(caches, 0, PAGE - 1, 2); /* no neighbours */
    load(caches, 2 * PAGE - 2);    /* two lines here */
    load(caches, 2 * PAGE - 1);
    load(caches, 2 * PAGE); /* and the third in another page */
    load(caches, 3 * PAGE);
    load(caches, 3 * PAGE + 1);
    load(caches, 3 * PAGE);
    load(caches, 3 * PAGE + 1); /* to and fro */
    EXPECT(caches, 0, .issued = 0);
    caches_destroy(caches);
}

/* Two pages in turn are two streams; the same line again is no step; a stream that turns is one after three lines. */
static void several_streams(void **state)
{
    (void)state;
    const struct caches_machine machine = roomy(CACHES_PREFETCH_STREAM);
    struct caches *caches = create(&machine);
    for (uint64_t line = 0; line < 3; line++) {
        load(caches, line);
        load(caches, PAGE + line);
    }
    EXPECT(caches, 0, .issued = 2); /* 7, PAGE + 7 */
    load(caches, 2);
    load(caches, 2);
    EXPECT(caches, 0, .issued = 2);
    load(caches, 1);
    EXPECT(caches, 0, .issued = 2);
    load(caches, 0); /* 2, 1, 0: -5 is in no page */
    EXPECT(caches, 0, .issued = 2, .stopped = 1);
    caches_destroy(caches);
}

/* Misses alone: 0 to 6 miss and fetch 7 to 11, whose hits are not seen; at 12 all begins again. Five times seven lines
 * miss, the last time, from 60, four. With the first accesses of what was fetched it is as with all accesses. */
static void looks_at(void **state)
{
    (void)state;
    struct caches_machine machine = roomy(CACHES_PREFETCH_STREAM);
    machine.levels[0].prefetch_on = CACHES_ON_MISSES;
    struct caches *caches = create(&machine);
    sweep(caches, 0, PAGE - 1, 1);
    EXPECT(caches, 0, .issued = 25, .stopped = 2, .useful = 25);
    assert_int_equal(misses(caches, 0), 5 * 7 + 4);
    caches_destroy(caches);
    machine.levels[0].prefetch_on = CACHES_ON_TAGGED;
    caches = create(&machine);
    sweep(caches, 0, PAGE - 1, 1);
    sweep(caches, 0, PAGE - 1, 1); /* neither misses nor first accesses */
    EXPECT(caches, 0, .issued = 57, .stopped = 5, .useful = 57);
    caches_destroy(caches);
}

static void next_lines_and_pairs(void **state)
{
    (void)state;
    struct caches_machine machine = roomy(CACHES_PREFETCH_NEXT_LINE);
    struct caches *caches = create(&machine);
    sweep(caches, 0, PAGE - 1, 1);
    EXPECT(caches, 0, .issued = 63, .stopped = 1, .useful = 63);
    sweep(caches, 0, PAGE - 1, 1);
    EXPECT(caches, 0, .issued = 63, .present = 63, .stopped = 2, .useful = 63);
    /* The shadow has what was fetched: one line was cold, and a fully associative cache would have done no better. */
    assert_int_equal(caches_level_counts(caches, 0)->cold, 1);
    assert_int_equal(caches_level_counts(caches, 0)->fa_misses, 1);
    caches_destroy(caches);
    machine = roomy(CACHES_PREFETCH_ADJACENT);
    caches = create(&machine);
    sweep(caches, PAGE - 1, 0, -1);
    EXPECT(caches, 0, .issued = 32, .present = 32, .useful = 32);
    assert_int_equal(misses(caches, 0), 32);
    caches_destroy(caches);
}

/* 0, 3, 6: then 9 is fetched, and so on to 63, whose next is in another page. A second instruction that goes by its own
 * steps in between changes nothing; an unknown one is not seen. */
static void strides(void **state)
{
    (void)state;
    const struct caches_machine machine = roomy(CACHES_PREFETCH_STRIDE);
    struct caches *caches = create(&machine);
    for (uint64_t i = 0; i < 22; i++) {
        caches_set_instruction(caches, (struct guest_va){0x1000});
        load(caches, 3 * i);
        caches_set_instruction(caches, (struct guest_va){0x2000});
        load(caches, 10 * PAGE + i % 2);
        caches_set_instruction(caches, (struct guest_va){0});
        load(caches, 20 * PAGE + 2 * i);
    }
    EXPECT(caches, 0, .issued = 19, .stopped = 1, .useful = 19);
    assert_int_equal(misses(caches, 0), 3 + 2 + 22);
    caches_destroy(caches);
}

enum { A = 1 * PAGE, B = 2 * PAGE }; /* lines */

/* Two ways. A comes, and A + 1 with it; B pushes A out, and B + 1 pushes out A + 1, which was never accessed: its
 * access misses by that. What an access has pushed out has no evictor, and what a prefetch has brought back is no
 * loss. */
static void pollution(void **state)
{
    (void)state;
    struct caches_machine machine = {.line_bytes = 64, .level_count = 1};
    machine.levels[0] = level("L1D", 2, CACHES_PREFETCH_NEXT_LINE);
    struct caches *caches = create(&machine);
    load(caches, A); /* A, A+1 */
    load(caches, B); /* B, B+1 */
    EXPECT(caches, 0, .issued = 2, .useless = 1);
    load(caches, A + 1); /* it pushes B out, and A+2 B+1 */
    EXPECT(caches, 0, .issued = 3, .useless = 2, .polluting = 1);
    load(caches, B); /* not by a prefetch; B, B+1 */
    EXPECT(caches, 0, .issued = 4, .useless = 3, .polluting = 1);
    load(caches, B + 1); /* here again; B+2 pushes B out */
    EXPECT(caches, 0, .issued = 5, .useful = 1, .useless = 3, .polluting = 1);
    load(caches, B);
    EXPECT(caches, 0, .issued = 6, .useful = 1, .useless = 4, .polluting = 2);
    caches_destroy(caches);
}

/* What an inclusive level takes from above for a prefetch is lost to both. */
static void back_invalidation(void **state)
{
    (void)state;
    struct caches_machine machine = {.line_bytes = 64, .level_count = 2};
    machine.levels[0] = level("L1D", 4, 0);
    machine.levels[0].prefetchers = 0;
    machine.levels[1] = level("L2", 2, CACHES_PREFETCH_NEXT_LINE);
    machine.levels[1].inclusion = CACHES_INCLUSIVE;
    struct caches *caches = create(&machine);
    access_line(caches, true, A); /* L2: A, A+1 */
    load(caches, A + 1);          /* A+2 takes the place of A, which is dirty above */
    assert_int_equal(caches_level_counts(caches, 1)->back_invalidations, 1);
    assert_int_equal(caches_level_counts(caches, 1)->writebacks, 1);
    load(caches, A); /* pushes A+1 out; A+1 comes back, and pushes out A+2 */
    EXPECT(caches, 0, .polluting = 1);
    EXPECT(caches, 1, .issued = 3, .useful = 1, .useless = 1, .polluting = 1);
    assert_int_equal(misses(caches, 0), 3);
    assert_int_equal(misses(caches, 1), 2);
    caches_destroy(caches);
}

/* A prefetch goes through the levels below and fills them; it is no access there. */
static void levels_below(void **state)
{
    (void)state;
    struct caches_machine machine = {.line_bytes = 64, .level_count = 3};
    machine.levels[0] = level("L1D", 1, 0);
    machine.levels[1] = level("L2", 8, CACHES_PREFETCH_NEXT_LINE);
    machine.levels[2] = level("L3", 16, 0);
    machine.levels[0].prefetchers = machine.levels[2].prefetchers = 0;
    struct caches *caches = create(&machine);
    load(caches, A);
    load(caches, A + 1);
    EXPECT(caches, 1, .issued = 2, .useful = 1);
    assert_int_equal(caches_level_counts(caches, 2)->accesses, 1);
    for (uint64_t i = 0; i < 8; i++) /* 16 lines more push all out of L2, and out of L3 none but three */
        load(caches, B + 2 * i);
    load(caches, B + 2);
    assert_int_equal(caches_level_counts(caches, 2)->accesses, 10);
    assert_int_equal(caches_level_counts(caches, 2)->hits, 1);
    assert_int_equal(caches_prefetch_counts(caches, 1, CACHES_PREFETCH_NEXT_LINE)->from_memory, 10);
    caches_destroy(caches);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_page), cmocka_unit_test(no_streams),           cmocka_unit_test(several_streams),
        cmocka_unit_test(looks_at),   cmocka_unit_test(next_lines_and_pairs), cmocka_unit_test(strides),
        cmocka_unit_test(pollution),  cmocka_unit_test(back_invalidation),    cmocka_unit_test(levels_below),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
