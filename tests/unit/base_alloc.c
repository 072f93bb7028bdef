/* SPDX-License-Identifier: GPL-2.0-or-later
 * Every way to allocate counts as one request, and can be made to fail. */
#include "base/base.h"

#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

static void test_zero_bytes_are_an_address(void **state)
{
    (void)state;
    void *a = c2_alloc(0), *b = c2_calloc(0, 8), *c = c2_realloc(NULL, 0);
    assert_non_null(a);
    assert_non_null(b);
    assert_non_null(c);
    c2_free(a);
    c2_free(b);
    c2_free(c);
    c2_free(NULL);
}

static void test_calloc_zeroes_and_refuses_overflow(void **state)
{
    (void)state;
    unsigned char *zeroes = c2_calloc(16, 16);
    assert_non_null(zeroes);
    for (int i = 0; i < 256; i++)
        assert_int_equal(zeroes[i], 0);
    c2_free(zeroes);
    volatile size_t half = SIZE_MAX / 2 + 1; /* not known to the compiler, which would warn */
    assert_null(c2_calloc(half, 2));
}

static void test_strdup_and_format(void **state)
{
    (void)state;
    char *copy = c2_strdup("abc"), *empty = c2_strdup(""), *made = c2_format("%s-%05d", "x", 42);
    assert_string_equal(copy, "abc");
    assert_string_equal(empty, "");
    assert_string_equal(made, "x-00042");
    c2_free(copy);
    c2_free(empty);
    c2_free(made);
}

static void test_count(void **state)
{
    (void)state;
    c2_alloc_fail_from(0);
    assert_int_equal(c2_alloc_count(), 0);
    void *memory[] = {c2_alloc(1), c2_calloc(1, 1), c2_realloc(NULL, 1), c2_strdup("a"), c2_format("%d", 1)};
    assert_int_equal(c2_alloc_count(), 5);
    for (int i = 0; i < 5; i++)
        c2_free(memory[i]);
    assert_int_equal(c2_alloc_count(), 5);
}

static void test_nth_and_later_fail(void **state)
{
    (void)state;
    c2_alloc_fail_from(3);
    void *first = c2_alloc(1), *second = c2_alloc(1);
    assert_non_null(first);
    assert_non_null(second);
    for (int i = 0; i < 4; i++)
        assert_null(c2_alloc(1));
    assert_int_equal(c2_alloc_count(), 6);
    c2_alloc_fail_from(0);
    void *again = c2_alloc(1);
    assert_non_null(again);
    c2_free(first);
    c2_free(second);
    c2_free(again);
}

static void test_each_way_can_fail(void **state)
{
    (void)state;
    char *old = c2_strdup("kept");
    c2_alloc_fail_from(1);
    assert_null(c2_alloc(1));
    assert_null(c2_calloc(1, 1));
    assert_null(c2_realloc(old, 100));
    assert_null(c2_strdup("a"));
    assert_null(c2_format("%d", 1));
    c2_alloc_fail_from(0);
    assert_string_equal(old, "kept");
    old = c2_realloc(old, 100);
    assert_string_equal(old, "kept");
    c2_free(old);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zero_bytes_are_an_address), cmocka_unit_test(test_calloc_zeroes_and_refuses_overflow),
        cmocka_unit_test(test_strdup_and_format),         cmocka_unit_test(test_count),
        cmocka_unit_test(test_nth_and_later_fail),        cmocka_unit_test(test_each_way_can_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
