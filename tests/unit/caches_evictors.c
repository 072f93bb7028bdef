/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What made a level lose a line, worked out by hand: replacement, back-invalidation, exclusive levels, synonyms, walks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <malloc.h>

#include <cmocka.h>

#include "caches/caches_fast.h"

/* Levels of one set, so that every line meets every other. */
static struct caches_machine tiny(uint32_t l1_ways, uint32_t l2_ways, enum caches_inclusion inclusion)
{
    struct caches_machine machine = {.line_bytes = 64, .level_count = 2};
    machine.levels[0] = (struct caches_level){.name = "L1D", .size_bytes = 64 * l1_ways, .ways = l1_ways, .slices = 1};
    machine.levels[1] = (struct caches_level){.name = "L2",
                                              .size_bytes = 64 * l2_ways,
                                              .ways = l2_ways,
                                              .slices = 1,
                                              .index = CACHES_PHYSICAL,
                                              .inclusion = inclusion};
    return machine;
}

static struct caches *create(const struct caches_machine *machine, bool evictors)
{
    struct caches *caches;
    assert_int_equal(caches_create(&caches, machine, 1, NULL), C2_OK);
    if (evictors)
        assert_int_equal(caches_keep_evictors(caches, NULL), C2_OK);
    return caches;
}

static struct caches_outcome load_as(struct caches *caches, uint64_t access_site, uint64_t virtual_, uint64_t physical)
{
    struct caches_outcome outcome;
    caches_set_access_site(caches, access_site);
    assert_int_equal(caches_access(caches, CACHES_DATA, false, (struct line_no){virtual_}, (struct line_no){physical},
                                   &outcome, NULL),
                     C2_OK);
    caches_check(caches);
    return outcome;
}

/* A load by the access site, which must miss in L1 and learn of this evictor there. */
static struct caches_outcome miss(struct caches *caches, uint64_t access_site, uint64_t line, uint64_t evictor)
{
    struct caches_outcome outcome = load_as(caches, access_site, line, line);
    assert_int_not_equal(outcome.event[0].class_, CACHES_HIT);
    assert_int_equal(outcome.event[0].evictor, evictor);
    return outcome;
}

enum { A = 0x100, B = 0x200, C = 0x300, D = 0x400 }; /* lines */

/* L1 has two ways, L2 has room for all. The access site that loads C throws A out; the load of A that follows throws B
 * out; the hit of C in between throws nothing out. */
static void replacement(void **state)
{
    (void)state;
    struct caches_machine machine = tiny(2, 8, CACHES_NON_INCLUSIVE);
    struct caches *caches = create(&machine, true);
    miss(caches, 11, A, 0);
    miss(caches, 12, B, 0);
    miss(caches, 13, C, 0);
    assert_int_equal(load_as(caches, 14, C, C).event[0].class_, CACHES_HIT);
    miss(caches, UINT64_MAX, A, 13);
    struct caches_outcome outcome = miss(caches, 16, B, UINT64_MAX);
    assert_int_equal(outcome.event[0].victim.v, C);
    assert_int_equal(outcome.served_by, 1);
    miss(caches, 17, C, 16);
    caches_destroy(caches);
}

/* The same without an access site at C's turn, and without keeping: 0 both times. */
static void nobody(void **state)
{
    (void)state;
    struct caches_machine machine = tiny(2, 8, CACHES_NON_INCLUSIVE);
    for (int kept = 0; kept < 2; kept++) {
        struct caches *caches = create(&machine, kept != 0);
        miss(caches, 11, A, 0);
        miss(caches, 12, B, 0);
        miss(caches, kept ? 0 : 13, C, 0);
        miss(caches, 15, A, 0);
        caches_destroy(caches);
    }
}

/* L1 has four ways and an inclusive L2 two: C throws A out of L2 and so out of L1, which had room. Both levels know. */
static void back_invalidation(void **state)
{
    (void)state;
    struct caches_machine machine = tiny(4, 2, CACHES_INCLUSIVE);
    struct caches *caches = create(&machine, true);
    miss(caches, 11, A, 0);
    miss(caches, 12, B, 0);
    struct caches_outcome outcome = miss(caches, 13, C, 0);
    assert_int_equal(outcome.evicted & 1, 0);
    assert_int_equal(outcome.event[1].victim.v, A);
    outcome = miss(caches, 14, A, 13);
    assert_int_equal(outcome.event[1].evictor, 13);
    caches_destroy(caches);
}

/* One way in L1, two in an exclusive L2. B puts A into L2; A's load takes it out of there again (so L2 lost it to 13)
 * and puts B there; C and D push B, and A with it, through L2: C inserts A, D inserts C, which throws out B. */
static void exclusive(void **state)
{
    (void)state;
    struct caches_machine machine = tiny(1, 2, CACHES_EXCLUSIVE);
    struct caches *caches = create(&machine, true);
    miss(caches, 11, A, 0);
    miss(caches, 12, B, 0);                                         /* L1 B, L2 A */
    assert_int_equal(miss(caches, 13, A, 12).served_by, 1);         /* L1 A, L2 B */
    miss(caches, 14, C, 0);                                         /* L1 C, L2 B A */
    miss(caches, 15, D, 0);                                         /* L1 D, L2 A C; B leaves */
    assert_int_equal(miss(caches, 16, B, 13).event[1].evictor, 15); /* L1 B, L2 C D; A leaves */
    assert_int_equal(miss(caches, 17, A, 14).event[1].evictor, 16);
    caches_destroy(caches);
}

/* A virtually indexed L1 of 128 sets: pages 0 and 1 are two sets for one frame. Each load by the other name misses and
 * takes the line over; the one that is robbed learns which it was. */
static void synonyms(void **state)
{
    (void)state;
    struct caches_machine machine = tiny(2, 8, CACHES_NON_INCLUSIVE);
    machine.levels[0].size_bytes = 64 * 2 * 128;
    struct caches *caches = create(&machine, true);
    assert_int_equal(load_as(caches, 11, 0, 0x1000).event[0].evictor, 0);
    struct caches_outcome outcome = load_as(caches, 12, 64, 0x1000);
    assert_int_equal(outcome.event[0].class_, CACHES_CONFLICT);
    assert_int_equal(outcome.event[0].evictor, 0); /* not lost before */
    outcome = load_as(caches, 13, 0, 0x1000);
    assert_int_equal(outcome.event[0].class_, CACHES_CONFLICT);
    assert_int_equal(outcome.event[0].evictor, 12);
    caches_destroy(caches);
}

/* A walk that enters at L2 neither asks nor fills L1, and what it throws out of L2 it threw out. */
static void walks_from_l2(void **state)
{
    (void)state;
    struct caches_machine machine = tiny(4, 2, CACHES_NON_INCLUSIVE);
    machine.walks_from = 1;
    struct caches *caches = create(&machine, true);
    miss(caches, 11, A, 0);
    miss(caches, 12, B, 0);
    caches_set_access_site(caches, 13);
    struct caches_outcome outcome;
    uint32_t served_by;
    assert_int_equal(caches_walk(caches, (struct line_no){C}, &served_by, &outcome, NULL), C2_OK);
    assert_int_equal(served_by, 2);
    assert_int_equal(outcome.depth, 2);
    assert_int_equal(outcome.event[1].class_, CACHES_COLD);
    assert_int_equal(outcome.event[1].victim.v, A);
    assert_int_equal(caches_walk(caches, (struct line_no){C}, &served_by, NULL, NULL), C2_OK);
    assert_int_equal(served_by, 1);
    assert_int_equal(caches_walk(caches, (struct line_no){A}, &served_by, &outcome, NULL), C2_OK);
    assert_int_equal(outcome.event[1].evictor, 13);
    assert_int_equal(caches_level_counts(caches, 0)->accesses, 2);
    assert_int_equal(caches_level_counts(caches, 1)->accesses, 5);
    assert_int_equal(load_as(caches, 14, A, A).event[0].class_, CACHES_HIT); /* L1 has it still */
    miss(caches, 15, C, 0);                                                  /* and C never */
    caches_check(caches);
    caches_destroy(caches);
}

/* An exclusive L2 where walks enter keeps what they read: cold, then a hit that stays a hit. */
static void walks_into_exclusive(void **state)
{
    (void)state;
    struct caches_machine machine = tiny(2, 2, CACHES_EXCLUSIVE);
    machine.walks_from = 1;
    struct caches *caches = create(&machine, false);
    const uint32_t wanted[] = {2, 1, 1};
    for (int i = 0; i < 3; i++) {
        uint32_t served_by;
        assert_int_equal(caches_walk(caches, (struct line_no){A}, &served_by, NULL, NULL), C2_OK);
        assert_int_equal(served_by, wanted[i]);
    }
    caches_check(caches);
    caches_destroy(caches);
}

/* A try of a line never seen finds that it misses, or changes nothing; after a hit there is no need to call again. */
static void first_try(void **state)
{
    (void)state;
    struct caches_machine machine = tiny(2, 8, CACHES_NON_INCLUSIVE);
    struct caches *caches = create(&machine, true);
    struct line_no line = {A};
    const uint32_t slot = caches_slot(caches, line);
    struct caches_outcome outcome;
    switch (caches_try(caches, CACHES_DATA, false, slot, line)) {
    case CACHES_TRIED:
        fail();
        break;
    case CACHES_UNTRIED:
        assert_int_equal(caches_level_counts(caches, 0)->accesses, 0);
        miss(caches, 11, A, 0);
        break;
    case CACHES_FULL:
        fail(); /* the event log is the caches' own */
        break;
    case CACHES_MISSED:
        caches_set_access_site(caches, 11);
        caches_classify(caches, &outcome);
        assert_int_equal(outcome.event[0].class_, CACHES_COLD);
    }
    for (uint64_t i = 1; i <= 3; i++) {
        if (caches_try(caches, CACHES_DATA, true, slot, line) == CACHES_UNTRIED)
            assert_int_equal(caches_access(caches, CACHES_DATA, true, line, line, NULL, NULL), C2_OK);
        assert_int_equal(caches_level_counts(caches, 0)->writes, i);
        assert_int_equal(caches_level_counts(caches, 0)->hits, i);
    }
    caches_check(caches);
    caches_destroy(caches);
}

/* Host memory in use, in bytes; 0 under a sanitizer, whose allocator does not say, and in the stress build, where
 * tables grow in other steps. */
static uint64_t in_use(void) { return C2_HOST_SIZE(mallinfo2().uordblks + mallinfo2().hblkhd, 0); }

static void load_lines(struct caches *caches, uint64_t access_site, uint64_t from, uint64_t to)
{
    caches_set_access_site(caches, access_site);
    for (uint64_t line = from; line < to; line++)
        assert_int_equal(
            caches_access(caches, CACHES_DATA, false, (struct line_no){line}, (struct line_no){line}, NULL, NULL),
            C2_OK);
}

/* What a line more takes: three stamps of 4 bytes, three evictors of 2 as long as all words have 16 bits and of 4 from
 * then on, and one or two for its group. Words that were kept before stay what they were. */
static void host_memory(void **state)
{
    (void)state;
    enum { LINES = 1 << 17 };
    struct caches_machine machine = tiny(2, 4, CACHES_NON_INCLUSIVE);
    machine.level_count = 3;
    machine.levels[2] = machine.levels[1];
    struct caches *caches = create(&machine, true);
    load_lines(caches, 77, 0, LINES);
    const uint64_t before = in_use();
    load_lines(caches, UINT16_MAX, LINES, 2 * LINES);
    const uint64_t narrow = in_use();
    assert_in_range(narrow - before, 0, 20 * LINES);
    load_lines(caches, UINT16_MAX + 1, 0, 1);
    assert_in_range(in_use() - narrow, 0, 6 * 2 * LINES + 4096);
    miss(caches, 78, 100, 77);
    miss(caches, 78, LINES + 100, UINT16_MAX);
    miss(caches, 78, 2 * LINES - 2, UINT16_MAX + 1);
    caches_destroy(caches);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replacement),
        cmocka_unit_test(nobody),
        cmocka_unit_test(back_invalidation),
        cmocka_unit_test(exclusive),
        cmocka_unit_test(synonyms),
        cmocka_unit_test(walks_from_l2),
        cmocka_unit_test(walks_into_exclusive),
        cmocka_unit_test(first_try),
        cmocka_unit_test(host_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
