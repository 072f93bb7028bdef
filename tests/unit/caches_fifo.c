/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The FIFO detector, worked out by hand: where it agrees with the shadow, where each is alone, what enters and stays.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "caches/caches.h"

static struct caches *create(uint32_t l1_sets, uint32_t l1_ways, uint32_t l2_ways, enum caches_inclusion inclusion)
{
    struct caches_machine machine = {.line_bytes = 64, .level_count = l2_ways ? 2 : 1};
    machine.levels[0] = (struct caches_level){
        .name = "L1D", .size_bytes = 64 * l1_sets * l1_ways, .ways = l1_ways, .slices = 1};
    machine.levels[1] = (struct caches_level){.name = "L2",
                                              .size_bytes = 64 * l2_ways,
                                              .ways = l2_ways,
                                              .slices = 1,
                                              .index = CACHES_PHYSICAL,
                                              .inclusion = inclusion};
    struct caches *caches;
    assert_int_equal(caches_create(&caches, &machine, 1, NULL), C2_OK);
    assert_null(caches_level_fifo(caches, 0));
    assert_int_equal(caches_detect_fifo(caches, NULL), C2_OK);
    return caches;
}

static void load(struct caches *caches, uint64_t number)
{
    struct line_no line = {0x1000 + number};
    assert_int_equal(caches_access(caches, CACHES_DATA, false, line, line, NULL, NULL), C2_OK);
    caches_check(caches);
}

static void must(const struct caches *caches, uint32_t level, uint64_t both, uint64_t only_fifo, uint64_t only_fa,
                 uint64_t neither)
{
    const struct caches_fifo_counts *n = caches_level_fifo(caches, level);
    assert_int_equal(n->both_conflict, both);
    assert_int_equal(n->only_fifo, only_fifo);
    assert_int_equal(n->only_fa, only_fa);
    assert_int_equal(n->fifo_conflict, both + only_fifo);
    assert_int_equal(n->fifo_capacity, only_fa + neither);
}

/* Twice in turn over `lines` lines, `step` apart, in a level of four sets of two ways: eight lines, FIFOs of four. */
static struct caches *twice(uint64_t lines, uint64_t step)
{
    struct caches *caches = create(4, 2, 0, CACHES_NON_INCLUSIVE);
    for (uint64_t i = 0; i < 2 * lines; i++)
        load(caches, i % lines * step);
    assert_int_equal(caches_level_counts(caches, 0)->cold, lines);
    return caches;
}

/* n lines a set, n > 2, in turn: LRU misses all. Line 1 falls out for line 3, and lines 4 .. n throw out 2 .. n-2
 * before line 1 comes again: it is the (n-2)nd last one to have been evicted, found while n - 2 <= 4. In all four sets
 * these are 4n lines, too many for eight: capacity to the shadow, in truth. */
static void sweeps(void **state)
{
    (void)state;
    struct caches *caches = twice(12, 1); /* 3 a set */
    must(caches, 0, 0, 12, 0, 0);
    caches_destroy(caches);
    caches = twice(24, 1); /* 6 a set: the last that it finds */
    must(caches, 0, 0, 24, 0, 0);
    caches_destroy(caches);
    caches = twice(28, 1); /* 7 a set */
    must(caches, 0, 0, 0, 0, 28);
    caches_destroy(caches);
}

/* All in one set: eight lines would fit. Up to six both see it, seven are too many for the FIFO, and nine for both. */
static void one_set(void **state)
{
    (void)state;
    struct caches *caches = twice(3, 4);
    must(caches, 0, 3, 0, 0, 0);
    caches_destroy(caches);
    caches = twice(6, 4);
    must(caches, 0, 6, 0, 0, 0);
    caches_destroy(caches);
    caches = twice(7, 4);
    must(caches, 0, 0, 0, 7, 0);
    caches_destroy(caches);
    caches = twice(9, 4);
    must(caches, 0, 0, 0, 0, 9);
    caches_destroy(caches);
}

enum { A, B, C, D };

/* One set, two ways each, L2 inclusive. The hit of A keeps A young in L1 only; C throws it out of L2, and so out of L1,
 * which had not wanted to: A is a conflict to L1's shadow (of C and A), and L1's FIFO is empty. L2 evicted A itself;
 * its shadow was asked for A, B, C and has the last two. For A's last load B goes as A went. */
static void back_invalidation_does_not_enter(void **state)
{
    (void)state;
    static const unsigned loads[] = {A, B, A, C, A};
    struct caches *caches = create(1, 2, 2, CACHES_INCLUSIVE);
    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++)
        load(caches, loads[i]);
    assert_int_equal(caches_level_counts(caches, 1)->back_invalidations, 2);
    must(caches, 0, 0, 0, 1, 0);
    must(caches, 1, 0, 1, 0, 0);
    caches_destroy(caches);
}

/* L1 of two ways and a FIFO of four; an inclusive L2 of three. L1 evicts A, B, C and B, each for the load of that row:
 *   C evicts A    A is found (1), evicts B    B is found (2), evicts C    A hits    C is found (3), evicts B    A hits
 * L2 was asked for A, B, C last, in this order. So D throws A out of L2 and of L1, and L1 evicts nothing for D. When A
 * comes again nothing but its entry of the first row is there to find (4). */
static void what_is_found_stays(void **state)
{
    (void)state;
    static const unsigned loads[] = {A, B, C, A, B, A, C, A, D, A};
    struct caches *caches = create(1, 2, 3, CACHES_INCLUSIVE);
    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++)
        load(caches, loads[i]);
    assert_int_equal(caches_level_counts(caches, 1)->back_invalidations, 1);
    assert_int_equal(caches_level_fifo(caches, 0)->fifo_conflict, 4);
    assert_int_equal(caches_level_fifo(caches, 0)->fifo_capacity, 0);
    caches_destroy(caches);
}

/* One way, and an exclusive L2 of one way. What moves up does not enter: B puts A into L2, A takes it out and puts B
 * there, B takes that out: L2 hits, nothing evicted. Then C puts B in and throws out A, which L2 holds since B's second
 * load; A's last load finds it. L2's shadow, of one line, was asked for C last. */
static void moves_do_not_enter(void **state)
{
    (void)state;
    static const unsigned loads[] = {A, B, A, B, C, A};
    struct caches *caches = create(1, 1, 1, CACHES_EXCLUSIVE);
    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++)
        load(caches, loads[i]);
    assert_int_equal(caches_level_counts(caches, 1)->hits, 2);
    must(caches, 1, 0, 1, 0, 0);
    caches_destroy(caches);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sweeps),
        cmocka_unit_test(one_set),
        cmocka_unit_test(back_invalidation_does_not_enter),
        cmocka_unit_test(what_is_found_stays),
        cmocka_unit_test(moves_do_not_enter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
