/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The caches as a library of their own: an array of addresses in, counts out. Linked with c2_caches and nothing else of
 * ours that is not below it. The numbers are worked out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "caches/caches.h"

/* A 1 KiB cache of 8 sets and 2 ways in front of a 4 KiB one of 16 sets and 4 ways. */
static struct caches *small(void)
{
    struct caches_machine machine = {.line_bytes = 64, .level_count = 2};
    machine.levels[0] = (struct caches_level){.name = "L1D", .size_bytes = 1024, .ways = 2, .slices = 1};
    machine.levels[1] = (struct caches_level){
        .name = "L2", .size_bytes = 4096, .ways = 4, .slices = 1, .index = CACHES_PHYSICAL};
    struct caches *caches;
    assert_int_equal(caches_create(&caches, &machine, 1, NULL), C2_OK);
    return caches;
}

static void feed(struct caches *caches, const uint64_t *address, size_t count, bool write)
{
    for (size_t i = 0; i < count; i++) {
        struct line_no line = {address[i] / 64};
        assert_int_equal(caches_access(caches, CACHES_DATA, write, line, line, NULL, NULL), C2_OK);
    }
}

/* Three level indices of 8 rows of 512 bytes. A row further is 8 lines further: the 8 lines of a level index share one
 * set of L1 and two of L2. */
static void level_indices(uint64_t *address)
{
    for (uint64_t i = 0; i < 24; i++)
        address[i] = 0x10000 + i / 8 * 8 + i % 8 * 512;
}

static void level_index_walk(void **state)
{
    (void)state;
    uint64_t address[24];
    level_indices(address);
    struct caches *caches = small();
    feed(caches, address, 24, false);
    const struct caches_counts *l1 = caches_level_counts(caches, 0), *l2 = caches_level_counts(caches, 1);
    /* The level indices are 8 bytes apart and so in the same 8 lines. L1's one set keeps two of them, so every access
     * misses; 16 lines would fit into L1, so all but the first 8 misses are conflicts. */
    assert_int_equal(l1->accesses, 24);
    assert_int_equal(l1->misses, 24);
    assert_int_equal(l1->cold, 8);
    assert_int_equal(l1->conflict, 16);
    assert_int_equal(l1->capacity, 0);
    assert_int_equal(l1->fa_misses, 8);
    /* L2's two sets of four ways hold the 8 lines just so. */
    assert_int_equal(l2->accesses, 24);
    assert_int_equal(l2->hits, 16);
    assert_int_equal(l2->cold, 8);
    assert_int_equal(l1->writebacks, 0);
    caches_check(caches);
    caches_destroy(caches);
}

static void writes_come_back(void **state)
{
    (void)state;
    uint64_t address[24];
    level_indices(address);
    struct caches *caches = small();
    feed(caches, address, 24, true);
    const struct caches_counts *l1 = caches_level_counts(caches, 0), *l2 = caches_level_counts(caches, 1);
    /* All 24 fills are dirty and all but the last two have been evicted again; L2 has each of them, and evicts none. */
    assert_int_equal(l1->write_misses, 24);
    assert_int_equal(l1->writebacks, 22);
    assert_int_equal(l2->writes, 24);
    assert_int_equal(l2->writebacks, 0);
    /* Four rows more for each of L2's two sets drive the old eight lines out, dirty as L1 has told it. */
    for (uint64_t i = 0; i < 8; i++)
        address[i] = 0x10000 + (8 + i) * 512;
    feed(caches, address, 8, false);
    assert_int_equal(l1->writebacks, 24);
    assert_int_equal(l2->writebacks, 8);
    caches_repeat(caches, true, 5);
    l1 = caches_level_counts(caches, 0);
    assert_int_equal(l1->accesses, 24 + 8 + 5);
    assert_int_equal(l1->hits, 5);
    assert_int_equal(l1->writes, 24 + 5);
    caches_check(caches);
    caches_destroy(caches);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(level_index_walk), cmocka_unit_test(writes_come_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
