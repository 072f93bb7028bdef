/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Where stores go: write = back or through, allocate = yes or no, on five accesses that one can follow with a pencil.
 *
 *     write A, write A, read A, read B, write B
 *
 * L1D has room for four lines and L2 for sixteen, so nothing has to make room. The counts follow from the rules of
 * Dinero IV for its options -l1-dwalloc a|n and -l1-dwback a|n, and the same of its second level.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "caches/caches_fast.h"

static struct caches *two_levels(bool through, bool around, bool second_through, bool second_around)
{
    struct caches_machine machine = {.line_bytes = 64, .level_count = 2};
    machine.levels[0] = (struct caches_level){
        .name = "L1D", .size_bytes = 4 * 64, .ways = 4, .slices = 1, .through = through, .around = around};
    machine.levels[1] = (struct caches_level){.name = "L2",
                                              .size_bytes = 16 * 64,
                                              .ways = 16,
                                              .slices = 1,
                                              .through = second_through,
                                              .around = second_around};
    struct caches *caches;
    assert_int_equal(caches_create(&caches, &machine, 1, NULL), C2_OK);
    return caches;
}

static void access_line(struct caches *caches, bool write, uint64_t number, struct caches_outcome *outcome)
{
    const struct line_no line = {number};
    assert_int_equal(caches_access(caches, CACHES_DATA, write, line, line, outcome, NULL), C2_OK);
    caches_check(caches);
}

enum { A = 0x1000, B = 0x2000 };

/* Of a level, after the five. */
struct wanted {
    uint64_t accesses, misses, writes, write_misses, cold, capacity, write_throughs, write_arounds;
};

static void assert_counts(const struct caches_counts *n, const struct wanted *wanted)
{
    assert_int_equal(n->accesses, wanted->accesses);
    assert_int_equal(n->misses, wanted->misses);
    assert_int_equal(n->writes, wanted->writes);
    assert_int_equal(n->write_misses, wanted->write_misses);
    assert_int_equal(n->cold, wanted->cold);
    assert_int_equal(n->capacity, wanted->capacity);
    assert_int_equal(n->write_throughs, wanted->write_throughs);
    assert_int_equal(n->write_arounds, wanted->write_arounds);
    assert_int_equal(n->writebacks, 0);
}

static void assert_five(struct caches *caches, struct wanted first, struct wanted second)
{
    struct caches_outcome outcome;
    access_line(caches, true, A, &outcome);
    access_line(caches, true, A, &outcome);
    access_line(caches, false, A, &outcome);
    access_line(caches, false, B, &outcome);
    access_line(caches, true, B, &outcome);
    assert_counts(caches_level_counts(caches, 0), &first);
    assert_counts(caches_level_counts(caches, 1), &second);
    caches_destroy(caches);
}

/* accesses, misses, writes, write misses, cold, capacity, throughs, arounds */
static void back_and_allocate(void **state)
{
    (void)state; /* L2 is asked for A, on behalf of a write, and for B */
    assert_five(two_levels(false, false, false, false), (struct wanted){5, 2, 3, 1, 2, 0, 0, 0},
                (struct wanted){2, 2, 1, 1, 2, 0, 0, 0});
}

static void through_and_allocate(void **state)
{
    (void)state; /* L2: A for the first write, and the write; the second write; B; its write */
    assert_five(two_levels(true, false, false, false), (struct wanted){5, 2, 3, 1, 2, 0, 3, 0},
                (struct wanted){5, 2, 4, 1, 2, 0, 0, 0});
}

/* The second write of A misses as the first did, and so does the read: L1D was asked for A, and has not had it; nor
 * would a fully associative one that stores do not fill. */
static void through_and_around(void **state)
{
    (void)state; /* L2: both writes, the read of A, B, and the write of B that L1D has and passes on */
    assert_five(two_levels(true, true, false, false), (struct wanted){5, 4, 3, 2, 2, 2, 1, 2},
                (struct wanted){5, 2, 3, 1, 2, 0, 0, 0});
}

static void back_and_around(void **state)
{
    (void)state; /* the write of B stays in L1D */
    assert_five(two_levels(false, true, false, false), (struct wanted){5, 4, 3, 2, 2, 2, 0, 2},
                (struct wanted){4, 2, 2, 1, 2, 0, 0, 0});
}

static void to_memory(void **state)
{
    (void)state; /* both writes of A are memory's; that of B goes on from L2, too */
    assert_five(two_levels(true, true, true, true), (struct wanted){5, 4, 3, 2, 2, 2, 1, 2},
                (struct wanted){5, 4, 3, 2, 2, 2, 1, 2});
}

/* A level that does not allocate is filled all the same where one above it is: the line comes by. */
static void around_below(void **state)
{
    (void)state; /* L2: A, for L1D which allocates, and both its writes; B, and its write */
    assert_five(two_levels(true, false, false, true), (struct wanted){5, 2, 3, 1, 2, 0, 3, 0},
                (struct wanted){5, 2, 4, 1, 2, 0, 0, 0});
}

/* What is said of a store that goes on: at its own level it begins, the access itself ends where it was done. */
static void outcomes(void **state)
{
    (void)state;
    struct caches *caches = two_levels(true, false, false, false);
    struct caches_outcome outcome;
    size_t count;
    access_line(caches, true, A, &outcome);
    const struct caches_stored *stored = caches_stored(caches, &count);
    assert_int_equal(outcome.depth, 2);
    assert_int_equal(outcome.served_by, 2); /* memory */
    assert_int_equal(count, 1);
    assert_int_equal(stored[0].first, 1);
    assert_int_equal(stored[0].outcome.served_by, 1);
    assert_int_equal(stored[0].outcome.event[1].class_, CACHES_HIT);
    access_line(caches, false, A, &outcome);
    assert_int_equal(outcome.served_by, 0);
    (void)caches_stored(caches, &count);
    assert_int_equal(count, 0);
    caches_destroy(caches);
}

/* Dirty lines of L1D pass a second level that writes through: it has A, but it is memory that has A's data when L1D
 * gives it up, and so nothing has to be written when L2 does. */
static void victims_pass_by(void **state)
{
    (void)state;
    struct caches *caches = two_levels(false, false, true, false);
    struct caches_outcome outcome;
    access_line(caches, true, A, &outcome);
    for (uint64_t i = 1; i <= 16; i++)
        access_line(caches, false, A + i, &outcome);
    assert_int_equal(caches_level_counts(caches, 0)->writebacks, 1);
    assert_int_equal(outcome.evicted, 3);
    assert_int_equal(outcome.event[1].victim.v, A);
    assert_int_equal(caches_level_counts(caches, 1)->writebacks, 0);
    assert_int_equal(caches_level_counts(caches, 1)->write_throughs, 0);
    caches_destroy(caches);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(back_and_allocate),  cmocka_unit_test(through_and_allocate),
        cmocka_unit_test(through_and_around), cmocka_unit_test(back_and_around),
        cmocka_unit_test(to_memory),          cmocka_unit_test(around_below),
        cmocka_unit_test(outcomes),           cmocka_unit_test(victims_pass_by),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
