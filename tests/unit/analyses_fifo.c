/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The FIFO detector, worked out by hand: where it agrees with the shadow, where each is alone, what enters and stays.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyses/analyses.h"

/* A hierarchy, and the detector that hears of its misses. */
struct bench {
    struct caches_machine machine;
    struct caches *caches;
    struct analysis *fifo;
    struct sim_subscriber subscriber;
};

/* ways: what is set for --fifo-ways; NULL: nothing */
static struct bench create_with(const char *ways, uint32_t l1_sets, uint32_t l1_ways, uint32_t l2_ways,
                                enum caches_inclusion inclusion)
{
    struct bench bench = {.machine = {.line_bytes = 64, .level_count = l2_ways ? 2 : 1}};
    bench.machine.levels[0] = (struct caches_level){
        .name = "L1D", .size_bytes = 64 * l1_sets * l1_ways, .ways = l1_ways, .slices = 1};
    bench.machine.levels[1] = (struct caches_level){.name = "L2",
                                                    .size_bytes = 64 * l2_ways,
                                                    .ways = l2_ways,
                                                    .slices = 1,
                                                    .index = CACHES_PHYSICAL,
                                                    .inclusion = inclusion};
    assert_int_equal(caches_create(&bench.caches, &bench.machine, 1, NULL), C2_OK);
    const char *const settings[ANALYSES_SETTING_KINDS] = {[ANALYSES_SETTING_fifo_ways] = ways};
    const struct analyses_setup setup = {.machine = caches_machine(bench.caches), /* bench's own moves */
                                         .settings = ways ? settings : NULL};
    assert_int_equal(analysis_fifo.create(&bench.fifo, &setup, NULL, NULL), C2_OK);
    bench.subscriber = analysis_fifo.subscriber(bench.fifo);
    return bench;
}

static struct bench create(uint32_t l1_sets, uint32_t l1_ways, uint32_t l2_ways, enum caches_inclusion inclusion)
{
    return create_with(NULL, l1_sets, l1_ways, l2_ways, inclusion);
}

static void destroy(struct bench *bench)
{
    caches_destroy(bench->caches);
    analysis_fifo.destroy(bench->fifo);
}

static const struct analyses_fifo_counts *counts_of(const struct bench *bench, uint32_t level)
{
    return (const struct analyses_fifo_counts *)analysis_fifo.result(bench->fifo) + level;
}

static void access_line(struct bench *bench, uint64_t number, bool measured)
{
    const struct line_no line = {0x1000 + number};
    struct caches_outcome outcome;
    assert_int_equal(caches_access(bench->caches, CACHES_DATA, false, line, line, &outcome, NULL), C2_OK);
    caches_check(bench->caches);
    const struct sim_miss miss = {.kind = SIM_READ, .line = line, .measured = measured, .outcome = &outcome};
    if (outcome.served_by != 0)
        assert_int_equal(bench->subscriber.missed(bench->subscriber.self, &miss, NULL), C2_OK);
}

static void load(struct bench *bench, uint64_t number) { access_line(bench, number, true); }

static void must(const struct bench *bench, uint32_t level, uint64_t both, uint64_t only_fifo, uint64_t only_fa,
                 uint64_t neither)
{
    const struct analyses_fifo_counts *n = counts_of(bench, level);
    assert_int_equal(n->both_conflict, both);
    assert_int_equal(n->only_fifo, only_fifo);
    assert_int_equal(n->only_fa, only_fa);
    assert_int_equal(n->fifo_conflict, both + only_fifo);
    assert_int_equal(n->fifo_capacity, only_fa + neither);
}

/* Twice in turn over `lines` lines, `step` apart, in a level of four sets of two ways: eight lines, FIFOs of four. */
static struct bench twice(uint64_t lines, uint64_t step)
{
    struct bench bench = create(4, 2, 0, CACHES_NON_INCLUSIVE);
    for (uint64_t i = 0; i < 2 * lines; i++)
        load(&bench, i % lines * step);
    assert_int_equal(caches_level_counts(bench.caches, 0)->cold, lines);
    return bench;
}

/* n lines a set, n > 2, in turn: LRU misses all. Line 1 falls out for line 3, and lines 4 .. n throw out 2 .. n-2
 * before line 1 comes again: it is the (n-2)nd last one to have been evicted, found while n - 2 <= 4. In all four sets
 * these are 4n lines, too many for eight: capacity to the shadow, in truth. */
static void sweeps(void **state)
{
    (void)state;
    struct bench bench = twice(12, 1); /* 3 a set */
    must(&bench, 0, 0, 12, 0, 0);
    destroy(&bench);
    bench = twice(24, 1); /* 6 a set: the last that it finds */
    must(&bench, 0, 0, 24, 0, 0);
    destroy(&bench);
    bench = twice(28, 1); /* 7 a set */
    must(&bench, 0, 0, 0, 0, 28);
    destroy(&bench);
}

/* All in one set: eight lines would fit. Up to six both see it, seven are too many for the FIFO, and nine for both. */
static void one_set(void **state)
{
    (void)state;
    struct bench bench = twice(3, 4);
    must(&bench, 0, 3, 0, 0, 0);
    destroy(&bench);
    bench = twice(6, 4);
    must(&bench, 0, 6, 0, 0, 0);
    destroy(&bench);
    bench = twice(7, 4);
    must(&bench, 0, 0, 0, 7, 0);
    destroy(&bench);
    bench = twice(9, 4);
    must(&bench, 0, 0, 0, 0, 9);
    destroy(&bench);
}

enum { A, B, C, D };

/* One set, two ways each, L2 inclusive. The hit of A keeps A young in L1 only; C throws it out of L2, and so out of L1,
 * which had not wanted to: A is a conflict to L1's shadow (of C and A), and L1's FIFO is empty. L2 evicted A itself;
 * its shadow was asked for A, B, C and has the last two. For A's last load B goes as A went. */
static void back_invalidation_does_not_enter(void **state)
{
    (void)state;
    static const unsigned loads[] = {A, B, A, C, A};
    struct bench bench = create(1, 2, 2, CACHES_INCLUSIVE);
    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++)
        load(&bench, loads[i]);
    assert_int_equal(caches_level_counts(bench.caches, 1)->back_invalidations, 2);
    must(&bench, 0, 0, 0, 1, 0);
    must(&bench, 1, 0, 1, 0, 0);
    destroy(&bench);
}

/* L1 of two ways and a FIFO of four; an inclusive L2 of three. L1 evicts A, B, C and B, each for the load of that row:
 *   C evicts A    A is found (1), evicts B    B is found (2), evicts C    A hits    C is found (3), evicts B    A hits
 * L2 was asked for A, B, C last, in this order. So D throws A out of L2 and of L1, and L1 evicts nothing for D. When A
 * comes again nothing but its entry of the first row is there to find (4). */
static void what_is_found_stays(void **state)
{
    (void)state;
    static const unsigned loads[] = {A, B, C, A, B, A, C, A, D, A};
    struct bench bench = create(1, 2, 3, CACHES_INCLUSIVE);
    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++)
        load(&bench, loads[i]);
    assert_int_equal(caches_level_counts(bench.caches, 1)->back_invalidations, 1);
    assert_int_equal(counts_of(&bench, 0)->fifo_conflict, 4);
    assert_int_equal(counts_of(&bench, 0)->fifo_capacity, 0);
    destroy(&bench);
}

/* One way, and an exclusive L2 of one way. What moves up does not enter: B puts A into L2, A takes it out and puts B
 * there, B takes that out: L2 hits, nothing evicted. Then C puts B in and throws out A, which L2 holds since B's second
 * load; A's last load finds it. L2's shadow, of one line, was asked for C last. */
static void moves_do_not_enter(void **state)
{
    (void)state;
    static const unsigned loads[] = {A, B, A, B, C, A};
    struct bench bench = create(1, 1, 1, CACHES_EXCLUSIVE);
    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++)
        load(&bench, loads[i]);
    assert_int_equal(caches_level_counts(bench.caches, 1)->hits, 2);
    must(&bench, 1, 0, 1, 0, 0);
    destroy(&bench);
}

/* n lines of one set in turn are found while n - 2 is at most the FIFO's length (sweeps): here 3 x 2, so eight. */
static void as_long_as_asked_for(void **state)
{
    (void)state;
    for (uint64_t lines = 8; lines <= 9; lines++) {
        struct bench bench = create_with("3", 4, 2, 0, CACHES_NON_INCLUSIVE);
        for (uint64_t i = 0; i < 2 * lines; i++)
            load(&bench, i % lines * 4);
        assert_int_equal(counts_of(&bench, 0)->fifo_conflict, lines == 8 ? 8 : 0);
        destroy(&bench);
    }
}

static void lengths_that_are_refused(void **state)
{
    (void)state;
    static const char *const words[] = {"0", "17", "two", "", "-1"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const struct caches_machine machine = {.level_count = 1};
        const char *const settings[ANALYSES_SETTING_KINDS] = {[ANALYSES_SETTING_fifo_ways] = words[i]};
        const struct analyses_setup setup = {.machine = &machine, .settings = settings};
        struct analysis *fifo = NULL;
        struct c2_error err;
        char message[80];
        snprintf(message, sizeof message, "--fifo-ways %s: must be a number, 1 to 16", words[i]);
        assert_int_equal(analysis_fifo.create(&fifo, &setup, NULL, &err), C2_ERR_INVALID);
        assert_string_equal(err.text, message);
        assert_null(fifo);
    }
}

/* A warm-up fills the FIFO and counts nothing: twice the first six lines of one set, the second time measured. */
static void a_warm_up_fills_it(void **state)
{
    (void)state;
    struct bench bench = create(4, 2, 0, CACHES_NON_INCLUSIVE);
    for (uint64_t i = 0; i < 12; i++)
        access_line(&bench, i % 6 * 4, i >= 6);
    must(&bench, 0, 6, 0, 0, 0);
    assert_true(bench.subscriber.in_every_phase);
    destroy(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sweeps),
        cmocka_unit_test(one_set),
        cmocka_unit_test(back_invalidation_does_not_enter),
        cmocka_unit_test(what_is_found_stays),
        cmocka_unit_test(moves_do_not_enter),
        cmocka_unit_test(as_long_as_asked_for),
        cmocka_unit_test(lengths_that_are_refused),
        cmocka_unit_test(a_warm_up_fills_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
