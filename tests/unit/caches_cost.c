/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The table of what makes an access wait, of machines whose latencies are known and of such that say little; and sums
 * by it. All numbers by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "caches/caches.h"

/* L1D 4 and L1I 5 cycles, L2 12, L3 40; four cores share L3. */
static struct caches_machine three_levels(void)
{
    struct caches_machine machine = {.line_bytes = 64, .level_count = 3, .has_l1i = true, .cores = 4};
    machine.levels[0].latency_cycles = 4;
    machine.l1i.latency_cycles = 5;
    machine.levels[1].latency_cycles = 12;
    machine.levels[2].latency_cycles = 40;
    machine.levels[2].shared = true;
    return machine;
}

static void assert_prices(const uint32_t *of, uint32_t l1d, uint32_t l2, uint32_t l3, uint32_t l1i)
{
    const uint32_t expected[] = {l1d, l2, l3, l1i};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(of[i], expected[i]);
}

static void steps(void **state)
{
    (void)state;
    struct caches_machine machine = three_levels();
    struct caches_costs costs = caches_costs(&machine);
    assert_prices(costs.miss, 8, 28, 160, 7);
    assert_prices(costs.taken, 8, 28, 0, 7); /* L3 is shared: what a core has comes from there */
    assert_int_equal(costs.upgrade, 36);
    assert_int_equal(costs.second_tlb, 0);
    machine.levels[1].latency_cycles = 3; /* less than L1D's: a miss still waits */
    costs = caches_costs(&machine);
    assert_prices(costs.miss, 1, 37, 160, 1);
}

/* One latency is not given: 4, 12, 40 for all, 4 for L1I too. */
static void unknown_latencies(void **state)
{
    (void)state;
    struct caches_machine machine = three_levels();
    machine.levels[2].latency_cycles = 0;
    machine.levels[0].latency_cycles = 30;
    const struct caches_costs costs = caches_costs(&machine);
    assert_prices(costs.miss, 8, 28, 160, 8);
    assert_int_equal(costs.upgrade, 36);
    assert_int_equal(costs.walk_read, 12);
}

/* From core to core 100 cycles, in the last level that is a core's own; where L3 is one's own too, that is L3, and
 * where L2 is shared, both first levels. A way that is shorter than that to the shared level is not believed. */
static void from_core_to_core(void **state)
{
    (void)state;
    struct caches_machine machine = three_levels();
    machine.sharing_cycles = 100;
    struct caches_costs costs = caches_costs(&machine);
    assert_prices(costs.taken, 8, 88, 0, 7);
    assert_prices(costs.miss, 8, 28, 160, 7);
    machine.sharing_cycles = 35;
    costs = caches_costs(&machine);
    assert_prices(costs.taken, 8, 28, 0, 7);
    machine.sharing_cycles = 300;
    machine.levels[2].shared = false;
    costs = caches_costs(&machine);
    assert_prices(costs.taken, 8, 28, 260, 7);
    assert_int_equal(costs.upgrade, 196);
    machine.levels[1].shared = machine.levels[2].shared = true;
    costs = caches_costs(&machine);
    assert_prices(costs.taken, 296, 0, 0, 295);
    assert_int_equal(costs.upgrade, 8);
}

static void translations(void **state)
{
    (void)state;
    struct caches_machine machine = three_levels();
    machine.tlb_count = 3;
    machine.tlbs[0] = (struct caches_tlb){.place = CACHES_TLB_FIRST, .latency_cycles = 50};
    machine.tlbs[1] = (struct caches_tlb){.place = CACHES_TLB_WALK, .latency_cycles = 60};
    machine.tlbs[2] = (struct caches_tlb){.place = CACHES_TLB_FIRST};
    assert_int_equal(caches_costs(&machine).second_tlb, 0);
    machine.tlbs[2].place = CACHES_TLB_SECOND;
    assert_int_equal(caches_costs(&machine).second_tlb, 7);
    machine.tlbs[2].latency_cycles = 9;
    machine.tlbs[1].place = CACHES_TLB_SECOND;
    machine.tlbs[1].latency_cycles = 8;
    assert_int_equal(caches_costs(&machine).second_tlb, 9);
}

static void reads_of_walks(void **state)
{
    (void)state;
    struct caches_machine machine = three_levels();
    assert_int_equal(caches_costs(&machine).walk_read, 12);
    machine.walk_cycles = 33;
    machine.walks_from = 2;
    assert_int_equal(caches_costs(&machine).walk_read, 33);
    machine.walks_cached = true;
    assert_int_equal(caches_costs(&machine).walk_read, 40);
    machine.walks_from = 0;
    assert_int_equal(caches_costs(&machine).walk_read, 4);
    machine = three_levels();
    machine.level_count = 1;
    assert_int_equal(caches_costs(&machine).walk_read, 4);
}

/* 100 misses of L2, 30 of them of coherence: 70 * 28 + 30 * 88. */
static void sums(void **state)
{
    (void)state;
    struct caches_machine machine = three_levels();
    machine.sharing_cycles = 100;
    const struct caches_costs costs = caches_costs(&machine);
    const struct caches_counts counts = {.misses = 100, .coherence = 30};
    struct caches_cost cost = {.translations = 1, .walks = 20}, twice = {.caches = 5};
    caches_cost_level(&cost, &costs, 1, &counts);
    assert_int_equal(cost.caches, 1960);
    assert_int_equal(cost.coherence, 2640);
    assert_int_equal(caches_cost_sum(&cost), 4621);
    caches_cost_add(&twice, &cost);
    caches_cost_add(&twice, &cost);
    assert_int_equal(twice.caches, 3925);
    assert_int_equal(caches_cost_sum(&twice), 5 + 2 * 4621);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps),        cmocka_unit_test(unknown_latencies), cmocka_unit_test(from_core_to_core),
        cmocka_unit_test(translations), cmocka_unit_test(reads_of_walks),    cmocka_unit_test(sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
