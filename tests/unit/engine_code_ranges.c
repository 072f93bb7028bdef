/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Ranges by page beside a list of all of them: random ones, short and over pages, of which those are taken that overlap
 * a byte, an instruction, a page, or everything.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "engine/code_ranges.h"

enum { MOST = 400, STEPS = C2_HOST_SIZE(20000, 4000) };
static const uint64_t base = 0x7ff000, pages = 24;

struct naive {
    uint64_t start;
    uint32_t bytes;
    bool there, taken;
};
static struct naive list[MOST];

static void take(void *self, void *what)
{
    struct naive *one = what;
    assert_ptr_equal(self, list);
    assert_true(one->there && !one->taken);
    one->taken = true;
}

static void add_one(struct code_ranges *ranges, struct c2_rng *rng, struct naive *one)
{
    struct c2_error err;
    one->start = base + c2_rng_below(rng, pages * C2_PAGE_BYTES);
    one->bytes = 1 + (uint32_t)c2_rng_below(rng, c2_rng_below(rng, 8) ? 60 : 3 * C2_PAGE_BYTES);
    one->there = true;
    assert_int_equal(code_ranges_add(ranges, one->start, one->bytes, one, &err), C2_OK);
}

static void take_some(struct code_ranges *ranges, uint64_t start, uint64_t bytes)
{
    code_ranges_take(ranges, start, bytes, take, list);
    for (unsigned i = 0; i < MOST; i++) {
        struct naive *one = &list[i];
        const bool overlaps = bytes != 0 && one->there && one->start < start + bytes && start < one->start + one->bytes;
        assert_int_equal(one->taken, overlaps);
        one->there = one->there && !overlaps;
        one->taken = false;
    }
}

static void random_ranges(void **state)
{
    static const uint64_t sizes[] = {0, 1, 15, 100, C2_PAGE_BYTES, 5 * C2_PAGE_BYTES};
    struct code_ranges *ranges;
    struct c2_error err;
    struct c2_rng rng;
    (void)state;
    c2_rng_init(&rng, 1, "ranges");
    assert_int_equal(code_ranges_create(&ranges, &err), C2_OK);
    for (unsigned step = 0; step < STEPS; step++) {
        struct naive *one = &list[c2_rng_below(&rng, MOST)];
        if (!one->there)
            add_one(ranges, &rng, one);
        if (c2_rng_below(&rng, 8) == 0)
            take_some(ranges, base + c2_rng_below(&rng, (pages + 2) * C2_PAGE_BYTES),
                      sizes[c2_rng_below(&rng, sizeof sizes / sizeof *sizes)]);
        if (step % 1000 == 0)
            take_some(ranges, 0, UINT64_MAX);
    }
    take_some(ranges, 0, UINT64_MAX);
    code_ranges_destroy(ranges);
    code_ranges_destroy(NULL);
}

/* A range whose first page is after the only ones there are; one at the beginning of memory. */
static void ends(void **state)
{
    struct code_ranges *ranges;
    struct c2_error err;
    (void)state;
    assert_int_equal(code_ranges_create(&ranges, &err), C2_OK);
    code_ranges_take(ranges, 0, UINT64_MAX, take, list);
    list[0] = (struct naive){.start = 1, .bytes = 2 * C2_PAGE_BYTES, .there = true};
    assert_int_equal(code_ranges_add(ranges, 1, list[0].bytes, &list[0], &err), C2_OK);
    take_some(ranges, 0, 1);
    take_some(ranges, 2 * C2_PAGE_BYTES + 1, 1);
    assert_true(list[0].there);
    take_some(ranges, 2 * C2_PAGE_BYTES, 1);
    assert_false(list[0].there);
    code_ranges_destroy(ranges);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_ranges),
        cmocka_unit_test(ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
