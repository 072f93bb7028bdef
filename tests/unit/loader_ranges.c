/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The set of ranges against a twin that looks at every range, and names that are kept once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "loader/symbols_priv.h"

static int smaller(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

/* ------------------------------------------------------------------ the twin */

struct twin {
    struct loader_range items[64];
    size_t count;
};

/* Innermost: the latest start, then the earliest end, then the smallest value. */
static const struct loader_range *twin_find(const struct twin *twin, uint64_t address)
{
    const struct loader_range *best = NULL;
    for (size_t i = 0; i < twin->count; i++) {
        const struct loader_range *at = &twin->items[i];
        if (address < at->start || address >= at->end)
            continue;
        if (!best || at->start > best->start || (at->start == best->start && at->end < best->end) ||
            (at->start == best->start && at->end == best->end && at->value < best->value))
            best = at;
    }
    return best;
}

static uint64_t twin_next(const struct twin *twin, uint64_t address, uint64_t end)
{
    for (size_t i = 0; i < twin->count; i++)
        if (twin->items[i].start < twin->items[i].end && twin->items[i].start > address && twin->items[i].start < end)
            end = twin->items[i].start;
    return end;
}

#define SPACE 200u

static void fill(struct twin *twin, struct loader_ranges *ranges, struct c2_rng *rng)
{
    twin->count = (size_t)c2_rng_below(rng, 64);
    for (size_t i = 0; i < twin->count; i++) {
        uint64_t start = c2_rng_below(rng, SPACE);
        /* some are empty, and some end before they start */
        struct loader_range range = {start, start + c2_rng_below(rng, c2_rng_below(rng, 4) ? 8 : 100) - 1, i};
        twin->items[i] = range;
        assert_int_equal(loader_ranges_add(ranges, range, NULL), C2_OK);
    }
    assert_int_equal(loader_ranges_seal(ranges, smaller, NULL), C2_OK);
    loader_ranges_check(ranges);
}

static unsigned differences(const struct twin *twin, const struct loader_ranges *ranges)
{
    unsigned different = 0;
    for (uint64_t address = 0; address < SPACE + 110; address++) {
        const struct loader_range *want = twin_find(twin, address), *got = loader_ranges_find(ranges, address);
        different += want ? !got || got->start != want->start || got->end != want->end || got->value != want->value
                          : !!got;
        const uint64_t end = address + address % 32;
        different += twin_next(twin, address, end) != loader_ranges_next(ranges, address, end);
    }
    return different;
}

static void test_ranges_agree_with_twin(void **state)
{
    (void)state;
    struct c2_rng rng;
    unsigned found = 0;
    c2_rng_init(&rng, 7, "ranges");
    for (int round = 0; round < 3000; round++) {
        struct twin twin;
        struct loader_ranges ranges = {0};
        fill(&twin, &ranges, &rng);
        assert_int_equal(differences(&twin, &ranges), 0);
        for (uint64_t address = 0; address < SPACE; address++)
            found += !!loader_ranges_find(&ranges, address);
        loader_ranges_release(&ranges);
    }
    assert_true(found > 100000);
}

/* The comparison can fail: one range taken from the twin is noticed. */
static void test_twin_notices_a_missing_range(void **state)
{
    (void)state;
    struct twin twin = {.items = {{0, 100, 1}, {10, 20, 2}}, .count = 2};
    struct loader_ranges ranges = {0};
    for (size_t i = 0; i < twin.count; i++)
        assert_int_equal(loader_ranges_add(&ranges, twin.items[i], NULL), C2_OK);
    assert_int_equal(loader_ranges_seal(&ranges, smaller, NULL), C2_OK);
    assert_int_equal(differences(&twin, &ranges), 0);
    twin.count = 1;
    assert_int_equal(differences(&twin, &ranges), 10 + 4); /* 6 to 9 have the next one below the end */
    loader_ranges_release(&ranges);
}

static void test_empty_set(void **state)
{
    (void)state;
    struct loader_ranges ranges = {0};
    assert_null(loader_ranges_find(&ranges, 5));
    assert_int_equal(loader_ranges_seal(&ranges, smaller, NULL), C2_OK);
    assert_null(loader_ranges_find(&ranges, 5));
    assert_int_equal(loader_ranges_next(&ranges, 5, 9), 9);
    loader_ranges_release(&ranges);
}

/* ------------------------------------------------------------------ many, which are sorted by digits */

#define MANY 3000u

static int many_in_order(const void *left, const void *right)
{
    const struct loader_range *a = left, *b = right;
    const int order = smaller(a->start, b->start);
    return order != 0 ? order : a->end != b->end ? smaller(b->end, a->end) : smaller(a->value, b->value);
}

/* Starts of up to that many bits, of which `shift` low ones are equal; many are shared. */
static void many_fill(struct loader_ranges *ranges, struct loader_range *wanted, struct c2_rng *rng, unsigned bits,
                      unsigned shift)
{
    const uint64_t base = bits < 60 ? c2_rng_below(rng, UINT64_C(1) << 60) : 0;
    for (uint64_t i = 0; i < MANY; i++) {
        const uint64_t start = base + (c2_rng_below(rng, UINT64_C(1) << bits) >> shift << shift);
        wanted[i] = (struct loader_range){start, start + 1 + c2_rng_below(rng, 3), c2_rng_below(rng, MANY)};
        assert_int_equal(loader_ranges_add(ranges, wanted[i], NULL), C2_OK);
    }
}

/* Of equal ends the smallest value is kept. */
static size_t many_without_doubles(struct loader_range *wanted)
{
    size_t kept = 0;
    qsort(wanted, MANY, sizeof *wanted, many_in_order);
    for (size_t i = 0; i < MANY; i++)
        if (kept == 0 || wanted[kept - 1].start != wanted[i].start || wanted[kept - 1].end != wanted[i].end)
            wanted[kept++] = wanted[i];
    return kept;
}

static void test_many_ranges_are_in_order(void **state)
{
    (void)state;
    static const struct {
        unsigned bits, shift;
    } spreads[] = {{1, 0}, {8, 0}, {11, 0}, {12, 4}, {22, 0}, {23, 22}, {33, 4}, {48, 44}, {63, 0}};
    struct c2_rng rng;
    c2_rng_init(&rng, 11, "many ranges");
    for (size_t k = 0; k < sizeof spreads / sizeof *spreads; k++) {
        static struct loader_range wanted[MANY];
        struct loader_ranges ranges = {0};
        many_fill(&ranges, wanted, &rng, spreads[k].bits, spreads[k].shift);
        assert_int_equal(loader_ranges_seal(&ranges, smaller, NULL), C2_OK);
        loader_ranges_check(&ranges);
        assert_int_equal(ranges.count, many_without_doubles(wanted));
        assert_memory_equal(ranges.items, wanted, ranges.count * sizeof *wanted);
        loader_ranges_release(&ranges);
    }
}

static void test_ranges_without_memory(void **state)
{
    (void)state;
    bool done = false;
    for (uint64_t n = 1; !done; n++) {
        struct loader_ranges ranges = {0};
        enum c2_status status = C2_OK;
        c2_alloc_fail_from(n);
        for (uint64_t i = 0; i < 300 && status == C2_OK; i++)
            status = loader_ranges_add(&ranges, (struct loader_range){i, i + 1, i}, NULL);
        if (status == C2_OK)
            status = loader_ranges_seal(&ranges, smaller, NULL);
        c2_alloc_fail_from(0);
        done = status == C2_OK;
        assert_true(done || status == C2_ERR_NO_MEMORY);
        loader_ranges_release(&ranges);
    }
}

/* ------------------------------------------------------------------ names */

static void test_names_are_kept_once(void **state)
{
    (void)state;
    struct loader_names *names;
    assert_int_equal(loader_names_create(&names, NULL), C2_OK);
    const char *kept[500];
    char text[32];
    for (int i = 0; i < 500; i++) {
        snprintf(text, sizeof text, "function_%d@@V1", i);
        kept[i] = loader_names_keep(names, text, strcspn(text, "@"));
    }
    assert_int_equal(loader_names_count(names), 500);
    for (int i = 0; i < 500; i++) {
        snprintf(text, sizeof text, "function_%d", i);
        assert_string_equal(kept[i], text);
        assert_ptr_equal(loader_names_keep(names, text, strlen(text)), kept[i]);
    }
    assert_int_equal(loader_names_count(names), 500);
    assert_string_equal(loader_names_keep(names, "", 0), "");
    loader_names_destroy(names);
    loader_names_destroy(NULL);
}

static void test_names_without_memory(void **state)
{
    (void)state;
    const char *kept = NULL;
    for (uint64_t n = 1; !kept; n++) {
        struct loader_names *names;
        c2_alloc_fail_from(n);
        if (loader_names_create(&names, NULL) == C2_OK)
            kept = loader_names_keep(names, "main", 4);
        c2_alloc_fail_from(0);
        loader_names_destroy(names);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges_agree_with_twin),
        cmocka_unit_test(test_twin_notices_a_missing_range),
        cmocka_unit_test(test_empty_set),
        cmocka_unit_test(test_many_ranges_are_in_order),
        cmocka_unit_test(test_ranges_without_memory),
        cmocka_unit_test(test_names_are_kept_once),
        cmocka_unit_test(test_names_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
