/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which object a shared line counts for, beside a slow twin: a table of all lines by all objects.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyses/coherence_objects.h"

enum { LINES = 12, OBJECTS = 7, MOST = 200, TRIALS = 3000 };

/* Line 0: object 3 has most, though object 5 missed first; line 1: equal ones, so the first; line 2: alone. */
static void lines_count_for_the_object_with_most_misses(void **state)
{
    (void)state;
    struct coherence_share shares[] = {{0, 5, 1}, {0, 3, 2}, {1, 3, 4}, {0, 3, 7}, {1, 2, 4}, {2, 5, 1}, {0, 6, 8}};
    struct coherence_part parts[sizeof shares / sizeof *shares];
    uint32_t object_of[3];
    size_t count = sizeof shares / sizeof *shares;
    coherence_objects_divide(parts, object_of, shares, &count);
    assert_int_equal(object_of[0], 3);
    assert_int_equal(object_of[1], 2);
    assert_int_equal(object_of[2], 5);
    const struct coherence_part expected[] = {{2, 3, 4}, {3, 6, 8}, {3, 5, 1}};
    assert_int_equal(count, 3);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(parts[i].line_object, expected[i].line_object);
        assert_int_equal(parts[i].object, expected[i].object);
        assert_int_equal(parts[i].misses, expected[i].misses);
    }
}

struct twin {
    uint64_t misses[LINES][OBJECTS], part[OBJECTS][OBJECTS];
    uint32_t object_of[LINES];
};

static void twin_divide(struct twin *twin)
{
    for (uint32_t line = 0; line < LINES; line++) {
        const uint64_t *misses = twin->misses[line];
        for (uint32_t i = 1; i < OBJECTS; i++)
            if (misses[i] > misses[twin->object_of[line]])
                twin->object_of[line] = i;
        for (uint32_t i = 0; i < OBJECTS; i++)
            if (i != twin->object_of[line])
                twin->part[twin->object_of[line]][i] += misses[i];
    }
}

/* All that the twin has is in the list, once and in its place. */
static void compare_parts(struct twin *twin, const struct coherence_part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_true(i == 0 || parts[i - 1].line_object < parts[i].line_object ||
                    (parts[i - 1].line_object == parts[i].line_object && parts[i - 1].misses >= parts[i].misses));
        assert_true(parts[i].misses != 0);
        assert_int_equal(parts[i].misses, twin->part[parts[i].line_object][parts[i].object]);
        twin->part[parts[i].line_object][parts[i].object] = 0;
    }
    for (uint32_t i = 0; i < OBJECTS; i++)
        for (uint32_t k = 0; k < OBJECTS; k++)
            assert_int_equal(twin->part[i][k], 0);
}

static void random_lines_are_as_the_twins(void **state)
{
    (void)state;
    struct c2_rng rng;
    c2_rng_init(&rng, 1, "shares");
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        struct coherence_share shares[MOST];
        struct coherence_part parts[MOST];
        struct twin twin = {{{0}}, {{0}}, {0}};
        uint32_t object_of[LINES] = {0};
        size_t count = c2_rng_below(&rng, MOST);
        for (size_t i = 0; i < count; i++) {
            shares[i] = (struct coherence_share){(uint32_t)c2_rng_below(&rng, LINES),
                                                 (uint32_t)c2_rng_below(&rng, OBJECTS), 1 + c2_rng_below(&rng, 4)};
            twin.misses[shares[i].line][shares[i].object] += shares[i].misses;
        }
        twin_divide(&twin);
        coherence_objects_divide(parts, object_of, shares, &count);
        for (uint32_t line = 0; line < LINES; line++)
            assert_int_equal(object_of[line], twin.object_of[line]);
        compare_parts(&twin, parts, count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_count_for_the_object_with_most_misses),
        cmocka_unit_test(random_lines_are_as_the_twins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
