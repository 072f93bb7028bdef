/* SPDX-License-Identifier: GPL-2.0-or-later
 * The hash map against a slow twin (a plain list of pairs) under random operations. */
#include "base/base.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TWIN_MAX 4096

struct twin {
    size_t count;
    uint64_t keys[TWIN_MAX], values[TWIN_MAX];
};

static size_t twin_find(const struct twin *twin, uint64_t key)
{
    size_t i = 0;
    while (i < twin->count && twin->keys[i] != key)
        i++;
    return i;
}

static void twin_put(struct twin *twin, uint64_t key, uint64_t value)
{
    size_t i = twin_find(twin, key);
    if (i == twin->count)
        twin->keys[twin->count++] = key;
    twin->values[i] = value;
}

static bool twin_remove(struct twin *twin, uint64_t key)
{
    size_t i = twin_find(twin, key);
    if (i == twin->count)
        return false;
    twin->count--;
    twin->keys[i] = twin->keys[twin->count];
    twin->values[i] = twin->values[twin->count];
    return true;
}

/* ------------------------------------------------------------------ random operations on both */

/* A mutant breaks one operation of the fast map on purpose, to show that the comparison notices. */
enum mutant { NO_MUTANT, PUT_IS_LOST, REMOVE_IS_LOST, VALUE_IS_OFF };

struct pair {
    struct c2_map *map;
    struct twin twin;
    struct c2_rng rng;
    unsigned key_shift; /* where the changing bits of the keys lie */
    uint64_t key_count;
    enum mutant mutant;
};

/* Few keys, so that operations meet; some clustered, some at both ends of the range. */
static uint64_t draw_key(struct pair *pair)
{
    uint64_t n = c2_rng_below(&pair->rng, pair->key_count);
    return n == 1 ? UINT64_MAX : n << pair->key_shift;
}

static bool same_get(struct pair *pair, uint64_t key)
{
    uint64_t value = 0;
    size_t at = twin_find(&pair->twin, key);
    bool there = c2_map_get(pair->map, key, &value);
    return there == (at < pair->twin.count) && (!there || value == pair->twin.values[at]);
}

static void do_put(struct pair *pair, uint64_t key, bool break_it)
{
    uint64_t value = c2_rng_next(&pair->rng);
    twin_put(&pair->twin, key, value);
    if (break_it && pair->mutant == PUT_IS_LOST)
        return;
    value += break_it && pair->mutant == VALUE_IS_OFF;
    assert_int_equal(c2_map_put(pair->map, key, value, NULL), C2_OK);
}

static bool do_remove(struct pair *pair, uint64_t key, bool break_it)
{
    bool expected = twin_remove(&pair->twin, key);
    if (break_it && pair->mutant == REMOVE_IS_LOST)
        return true;
    return c2_map_remove(pair->map, key) == expected;
}

/* One operation; false when map and twin differ. */
static bool step(struct pair *pair, bool break_it, unsigned puts_in_16)
{
    uint64_t key = draw_key(pair);
    uint64_t what = c2_rng_below(&pair->rng, 16);
    bool same = true;
    if (what < puts_in_16)
        do_put(pair, key, break_it);
    else
        same = do_remove(pair, key, break_it);
    same = same && same_get(pair, key) && same_get(pair, draw_key(pair));
    return same && c2_map_count(pair->map) == pair->twin.count;
}

static bool all_equal(struct pair *pair)
{
    c2_map_check(pair->map);
    for (uint64_t n = 0; n < pair->key_count; n++) {
        if (!same_get(pair, n << pair->key_shift))
            return false;
    }
    return same_get(pair, UINT64_MAX);
}

/* Grows, churns and shrinks the map; true when no difference was found. */
static bool run(uint64_t seed, unsigned key_shift, uint64_t key_count, enum mutant mutant)
{
    static struct pair pair;
    memset(&pair, 0, sizeof pair);
    pair.key_shift = key_shift;
    pair.key_count = key_count;
    pair.mutant = mutant;
    c2_rng_init(&pair.rng, seed, "map test");
    assert_int_equal(c2_map_create(&pair.map, NULL), C2_OK);
    bool same = true;
    for (int i = 0; i < 6000 && same; i++) {
        unsigned puts_in_16 = i < 2000 ? 12 : i < 4000 ? 8 : 3;
        same = step(&pair, i > 1000 && i % 100 == 0, puts_in_16);
        if (i % 64 == 0)
            same = same && all_equal(&pair);
    }
    same = same && all_equal(&pair);
    c2_map_destroy(pair.map);
    return same;
}

static void test_random_operations_equal_the_twin(void **state)
{
    (void)state;
    static const unsigned shifts[] = {0, 6, 12, 32, 48, 52};
    for (uint64_t seed = 1; seed <= 6; seed++) {
        unsigned shift = shifts[seed - 1];
        assert_true(run(seed, shift, 7, NO_MUTANT));
        assert_true(run(seed, shift, 150, NO_MUTANT));
        assert_true(run(seed, shift, 2000, NO_MUTANT));
    }
}

static void test_comparison_notices_mutants(void **state)
{
    (void)state;
    assert_false(run(1, 0, 150, PUT_IS_LOST));
    assert_false(run(1, 0, 150, REMOVE_IS_LOST));
    assert_false(run(1, 0, 150, VALUE_IS_OFF));
}

static void test_key_zero_and_last(void **state)
{
    (void)state;
    struct c2_map *map;
    uint64_t value = 5;
    assert_int_equal(c2_map_create(&map, NULL), C2_OK);
    assert_false(c2_map_get(map, 0, &value));
    assert_false(c2_map_remove(map, 0));
    assert_int_equal(value, 5); /* untouched when there is nothing */
    assert_int_equal(c2_map_put(map, 0, 10, NULL), C2_OK);
    assert_int_equal(c2_map_put(map, 0, 11, NULL), C2_OK);
    assert_int_equal(c2_map_put(map, UINT64_MAX, 12, NULL), C2_OK);
    assert_int_equal(c2_map_count(map), 2);
    assert_true(c2_map_get(map, 0, &value));
    assert_int_equal(value, 11);
    assert_true(c2_map_get(map, UINT64_MAX, &value));
    assert_int_equal(value, 12);
    assert_true(c2_map_remove(map, 0));
    assert_false(c2_map_get(map, 0, &value));
    assert_int_equal(c2_map_count(map), 1);
    c2_map_destroy(map);
}

/* Creates a map and fills it until the allocation that fails; C2_OK when none did. */
static enum c2_status fill(uint64_t keys, struct c2_error *err)
{
    struct c2_map *map;
    enum c2_status status = c2_map_create(&map, err);
    uint64_t stored = 0, value;
    for (; status == C2_OK && stored < keys; stored += status == C2_OK)
        status = c2_map_put(map, stored, ~stored, err);
    if (!map)
        return status;
    /* What was stored before the failure is still there, and nothing else. */
    c2_map_check(map);
    assert_int_equal(c2_map_count(map), stored);
    for (uint64_t key = 0; key < stored; key++)
        assert_true(c2_map_get(map, key, &value) && value == ~key);
    assert_false(c2_map_get(map, stored, &value));
    c2_map_destroy(map);
    return status;
}

static void test_survives_each_failing_allocation(void **state)
{
    (void)state;
    struct c2_error err;
    uint64_t n = 0;
    enum c2_status status;
    do {
        c2_alloc_fail_from(++n);
        status = fill(1000, &err);
        assert_true(status == C2_OK || status == C2_ERR_NO_MEMORY);
    } while (status != C2_OK);
    c2_alloc_fail_from(0);
    /* the map, its first table of 64 (2 under stress), and one table each time it would be more than half full */
    assert_int_equal(n - 1, C2_HOST_SIZE(2 + 5, 2 + 10));
}

static void test_dump_names_each_key_once(void **state)
{
    (void)state;
    struct c2_map *map;
    char *text = NULL;
    size_t bytes;
    assert_int_equal(c2_map_create(&map, NULL), C2_OK);
    assert_int_equal(c2_map_put(map, 0, 0xa, NULL), C2_OK);
    assert_int_equal(c2_map_put(map, 0x1000, 0xb, NULL), C2_OK);
    FILE *to = open_memstream(&text, &bytes);
    c2_map_dump(map, to);
    fclose(to);
    assert_ptr_equal(strstr(text, "map: 2 keys, capacity"), text);
    assert_non_null(strstr(text, "  0 -> 0xa\n"));
    assert_non_null(strstr(text, "] 0x1000 -> 0xb\n"));
    free(text);
    c2_map_destroy(map);
    c2_map_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_operations_equal_the_twin),
        cmocka_unit_test(test_comparison_notices_mutants),
        cmocka_unit_test(test_key_zero_and_last),
        cmocka_unit_test(test_survives_each_failing_allocation),
        cmocka_unit_test(test_dump_names_each_key_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
