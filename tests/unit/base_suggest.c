/* SPDX-License-Identifier: GPL-2.0-or-later
 * Suggestions for misspelt names, against a twin that computes the edit distance by its recursive definition. */
#include "base/base.h"

#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

static const char *const policies[] = {"identity", "sequential", "random", "colored", "buddy", "same-color"};

static const char *near_policy(const char *name) { return c2_nearest(name, policies, 6); }

static void test_each_kind_of_slip(void **state)
{
    (void)state;
    assert_string_equal(near_policy("random"), "random");
    assert_string_equal(near_policy("randm"), "random");   /* a letter missing */
    assert_string_equal(near_policy("randoom"), "random"); /* one too many */
    assert_string_equal(near_policy("ramdom"), "random");  /* a wrong one */
    assert_string_equal(near_policy("radnom"), "random");  /* two swapped */
    assert_string_equal(near_policy("RANDOM"), "random");  /* upper case */
    assert_string_equal(near_policy("coloured"), "colored");
    assert_string_equal(near_policy("samecolor"), "same-color");
}

static void test_nothing_near(void **state)
{
    (void)state;
    assert_null(near_policy("xyzzy"));
    assert_null(near_policy(""));
    assert_null(c2_nearest("random", policies, 0));
    static const char *const letters[] = {"a", "b"};
    assert_null(c2_nearest("c", letters, 2)); /* all of it is wrong */
}

static void test_first_of_equally_near(void **state)
{
    (void)state;
    static const char *const levels[] = {"L1D", "L1I", "L2", "L3"};
    assert_string_equal(c2_nearest("L1", levels, 4), "L1D");
    assert_string_equal(c2_nearest("L1X", levels, 4), "L1D");
    assert_string_equal(c2_nearest("l2", levels, 4), "L2");
}

static void test_names_of_any_length(void **state)
{
    (void)state;
    char longest[64], beyond[65], huge[1000];
    memset(longest, 'a', 63);
    longest[63] = '\0';
    memset(beyond, 'a', 64);
    beyond[64] = '\0';
    memset(huge, 'a', 999);
    huge[999] = '\0';
    const char *const candidates[] = {huge, beyond, longest};
    assert_ptr_equal(c2_nearest(longest, candidates, 3), longest);
    assert_null(c2_nearest(beyond, candidates, 3));
    assert_null(c2_nearest(huge, candidates, 3));
}

static void test_suggest_text(void **state)
{
    (void)state;
    char buffer[256];
    assert_ptr_equal(c2_suggest(buffer, sizeof buffer, "randm", policies, 6), buffer);
    assert_string_equal(buffer, " (did you mean \"random\"?)");
    c2_suggest(buffer, sizeof buffer, "xyzzy", policies, 6);
    assert_string_equal(buffer, " (known: identity, sequential, random, colored, buddy, same-color)");
    c2_suggest(buffer, sizeof buffer, "xyzzy", policies, 1);
    assert_string_equal(buffer, " (known: identity)");
    c2_suggest(buffer, sizeof buffer, "xyzzy", policies, 0);
    assert_string_equal(buffer, "");
}

/* Whatever the buffer's size, the text ends inside it, and a cut list says so when there is room to say it. */
static void test_suggest_cuts(void **state)
{
    (void)state;
    static const char whole[] = " (known: identity, sequential, random, colored, buddy, same-color)";
    for (size_t bytes = 1; bytes <= sizeof whole + 2; bytes++) {
        char buffer[sizeof whole + 8];
        memset(buffer, '#', sizeof buffer);
        c2_suggest(buffer, bytes, "xyzzy", policies, 6);
        assert_true(strlen(buffer) < bytes);
        assert_int_equal(buffer[bytes], '#');
        if (bytes >= sizeof whole)
            assert_string_equal(buffer, whole);
        else if (bytes >= 32)
            assert_string_equal(buffer + strlen(buffer) - 6, ", ...)");
    }
    char untouched = '#';
    c2_suggest(&untouched, 0, "xyzzy", policies, 6);
    assert_int_equal(untouched, '#');
}

/* ------------------------------------------------------------------ the twin */

static unsigned slow_distance(const char *a, size_t i, const char *b, size_t j)
{
    if (i == 0 || j == 0)
        return (unsigned)(i + j);
    unsigned best = slow_distance(a, i - 1, b, j - 1) + (a[i - 1] != b[j - 1]);
    unsigned deleted = slow_distance(a, i - 1, b, j) + 1, inserted = slow_distance(a, i, b, j - 1) + 1;
    best = deleted < best ? deleted : best;
    best = inserted < best ? inserted : best;
    if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        unsigned swapped = slow_distance(a, i - 2, b, j - 2) + 1;
        best = swapped < best ? swapped : best;
    }
    return best;
}

static const char *slow_nearest(const char *name, const char *const *candidates, size_t count, unsigned bonus)
{
    const char *nearest = NULL;
    unsigned least = 1000;
    for (size_t i = 0; i < count; i++) {
        size_t a = strlen(name), b = strlen(candidates[i]), longer = a > b ? a : b;
        unsigned distance = slow_distance(name, a, candidates[i], b);
        bool near_enough = distance + bonus <= (longer + 2) / 3 && distance < longer;
        if (near_enough && distance < least) {
            least = distance;
            nearest = candidates[i];
        }
    }
    return nearest;
}

static void draw_name(struct c2_rng *rng, char *name)
{
    size_t length = 1 + c2_rng_below(rng, 6);
    for (size_t i = 0; i < length; i++)
        name[i] = (char)('a' + c2_rng_below(rng, 3));
    name[length] = '\0';
}

/* Rounds on which the fast and the slow answer differ; a bonus other than 0 breaks the twin's rule on purpose. */
static int count_differences(int rounds, unsigned bonus)
{
    struct c2_rng rng;
    int different = 0;
    c2_rng_init(&rng, 1, "suggest test");
    for (int round = 0; round < rounds; round++) {
        char names[5][8];
        for (int i = 0; i < 5; i++)
            draw_name(&rng, names[i]);
        const char *const candidates[] = {names[1], names[2], names[3], names[4]};
        different += c2_nearest(names[0], candidates, 4) != slow_nearest(names[0], candidates, 4, bonus);
    }
    return different;
}

static void test_nearest_equals_the_twin(void **state)
{
    (void)state;
    assert_int_equal(count_differences(400, 0), 0);
    assert_true(count_differences(100, 1) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_kind_of_slip),
        cmocka_unit_test(test_nothing_near),
        cmocka_unit_test(test_first_of_equally_near),
        cmocka_unit_test(test_names_of_any_length),
        cmocka_unit_test(test_suggest_text),
        cmocka_unit_test(test_suggest_cuts),
        cmocka_unit_test(test_nearest_equals_the_twin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
