/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Estimates: Student's t as printed tables have it; a ratio and its margin worked out by hand; how many samples would
 * do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "report/estimate.h"

/* Two-sided 95 %, three decimals: Abramowitz & Stegun, table 26.10 (the column 0.95); 1000 from common tables. */
static void test_student_is_that_of_tables(void **state)
{
    static const struct {
        uint32_t degrees;
        int thousandths;
    } table[] = {
        {1, 12706}, {2, 4303},  {3, 3182},  {4, 2776},  {5, 2571},   {6, 2447},    {7, 2365},
        {8, 2306},  {9, 2262},  {10, 2228}, {11, 2201}, {12, 2179},  {13, 2160},   {14, 2145},
        {15, 2131}, {16, 2120}, {17, 2110}, {18, 2101}, {19, 2093},  {20, 2086},   {21, 2080},
        {22, 2074}, {23, 2069}, {24, 2064}, {25, 2060}, {26, 2056},  {27, 2052},   {28, 2048},
        {29, 2045}, {30, 2042}, {40, 2021}, {60, 2000}, {120, 1980}, {1000, 1962}, {UINT32_MAX, 1960},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        assert_int_equal(table[i].thousandths, floor(estimate_student(table[i].degrees) * 1000 + 0.5));
}

/* How likely it is that t stays within +-t: 26.7.3 and 26.7.4, exact for whole degrees. */
static double within(double t, uint32_t degrees)
{
    const double angle = atan(t / sqrt(degrees)), c = cos(angle), s = sin(angle);
    double term = degrees % 2 == 0 ? 1 : c, sum = term;
    for (uint32_t k = degrees % 2 == 0 ? 2 : 3; k + 2 <= degrees; k += 2)
        sum += term *= c * c * (k - 1) / k;
    if (degrees % 2 == 0)
        return s * sum;
    return (angle + (degrees == 1 ? 0 : s * sum)) * 2 / acos(-1);
}

static void test_student_holds_95_of_100(void **state)
{
    (void)state;
    for (uint32_t degrees = 1; degrees <= 3000; degrees++)
        assert_true(fabs(within(estimate_student(degrees), degrees) - 0.95) < 1e-8);
    for (uint32_t degrees = 1; degrees < 3000; degrees++)
        assert_true(estimate_student(degrees + 1) < estimate_student(degrees));
}

static struct estimate of(const double (*samples)[2], uint32_t count)
{
    struct estimate out = {.samples = 0};
    for (uint32_t i = 0; i < count; i++) {
        out.y += samples[i][0];
        out.x += samples[i][1];
        out.samples += samples[i][1] > 0;
    }
    for (uint32_t i = 0; i < count; i++)
        out.squares += estimate_square(&out, samples[i][0], samples[i][1]);
    return out;
}

static void assert_near(double expected, double got) { assert_true(fabs(got / expected - 1) < 1e-7); }

/* Alike in size: the mean and the standard deviation of 0.1, 0.3 and 0.2. t with 2 degrees is 4.302652730. */
static void test_samples_of_one_size(void **state)
{
    static const double samples[][2] = {{10, 100}, {30, 100}, {20, 100}};
    const struct estimate e = of(samples, 3);
    (void)state;
    assert_near(0.2, estimate_mean(&e));
    assert_near(0.1, estimate_deviation(&e));
    assert_near(4.302652730 * 0.1 / sqrt(3), estimate_margin(&e, 1));
    assert_near(4.302652730 * 0.1 / sqrt(3) / 2, estimate_margin(&e, 0.25)); /* three quarters are known */
    assert_true(estimate_margin(&e, 0) == 0);
}

/* 12 of 60: R = 1/5. d = 1 - 2, 5 - 6, 6 - 4: squares 1 + 1 + 4. Mean x 20: s = sqrt(6 / 2) / 20. */
static void test_samples_of_different_sizes(void **state)
{
    static const double samples[][2] = {{1, 10}, {5, 30}, {0, 0}, {6, 20}};
    const struct estimate e = of(samples, 4);
    (void)state;
    assert_int_equal(3, e.samples); /* one says nothing */
    assert_near(0.2, estimate_mean(&e));
    assert_near(sqrt(3) / 20, estimate_deviation(&e));
    assert_near(4.302652730 * sqrt(3) / 20 / sqrt(3), estimate_margin(&e, 1));
}

static struct estimate with_start(const double (*samples)[2], uint32_t count, double y, double x, double share)
{
    struct estimate out = {.samples = 0};
    for (uint32_t i = 0; i < count; i++) {
        out.y += samples[i][0];
        out.x += samples[i][1];
        out.samples += samples[i][1] > 0;
    }
    estimate_add_start(&out, y, x, share, count);
    for (uint32_t i = 0; i < count; i++)
        out.squares += estimate_square(&out, samples[i][0], samples[i][1]);
    return out;
}

/* Three samples are a quarter of what is behind a start of 50 of 100: (50 + 4 * 60) / (100 + 4 * 300) = 290 / 1300. The
 * run has twelve such pieces behind the start, so that 1300 / 12 falls to each; the misses scatter by 10 about their
 * mean as they did: s = 10 * 12 / 1300. */
static void test_a_start_stands_for_itself(void **state)
{
    static const double samples[][2] = {{10, 100}, {30, 100}, {20, 100}};
    const struct estimate e = with_start(samples, 3, 50, 100, 0.25);
    (void)state;
    assert_near(29.0 / 130, estimate_mean(&e));
    assert_near(12.0 / 130, estimate_deviation(&e));
    assert_near(4.302652730 * 12 / 130 * sqrt(0.75 / 3), estimate_margin(&e, 0.75));
    assert_true(estimate_margin(&e, 0) == 0);
}

/* Half of what is behind a start of 20 of 20: (20 + 2 * 12) / (20 + 2 * 60) = 11 / 35. d, times 35: -75, -155, 0 and
 * -10, their mean -60: squares 225 + 9025 + 3600 + 2500 = 15350. A piece has 140 / 8 = 17.5. The sample without an x is
 * one of the four now. */
static void test_samples_beside_a_start(void **state)
{
    static const double samples[][2] = {{1, 10}, {5, 30}, {0, 0}, {6, 20}};
    const struct estimate e = with_start(samples, 4, 20, 20, 0.5), same = of(samples, 4);
    const struct estimate absent = with_start(samples, 4, 0, 0, 0.5);
    (void)state;
    assert_int_equal(4, e.samples);
    assert_near(11.0 / 35, estimate_mean(&e));
    assert_near(sqrt(15350.0 / 1225 / 3) / 17.5, estimate_deviation(&e));
    assert_near(3.182446305 * sqrt(15350.0 / 1225 / 3) / 17.5 * sqrt(0.5 / 4), estimate_margin(&e, 0.5));
    /* A start that did not access the level says nothing of its rate. */
    assert_int_equal(3, absent.samples);
    assert_true(estimate_mean(&same) == estimate_mean(&absent));
    assert_true(estimate_margin(&same, 0.5) == estimate_margin(&absent, 0.5));
}

static void test_one_sample_has_no_margin(void **state)
{
    static const double samples[][2] = {{1, 10}, {0, 0}};
    const struct estimate one = of(samples, 2);
    (void)state;
    assert_false(estimate_has_margin(&one));
}

/* s = 0.1, a large run: t s / sqrt(n) is 0.0514 with 17 samples, of 16 degrees (2.1199), 0.0497 with 18 (2.1098). */
static void test_how_many_would_do(void **state)
{
    static const double samples[][2] = {{10, 100}, {30, 100}, {20, 100}};
    struct estimate e = of(samples, 3);
    (void)state;
    assert_int_equal(18, estimate_needed(&e, 1, 0.05));
    assert_int_equal(2, estimate_needed(&e, 1, 1));
    /* each is a tenth of the run: ten are all of it, nine leave sqrt(0.1 / 9) * 2.306 * 0.1 = 0.0243 */
    assert_int_equal(9, estimate_needed(&e, 0.7, 0.0244));
    assert_int_equal((int64_t)UINT64_MAX, (int64_t)estimate_needed(&e, 0.7, 0.0242));
    /* what it names would do, and one less would not */
    for (double wanted = 0.5; wanted > 0.001; wanted *= 0.7) {
        const uint64_t n = estimate_needed(&e, 1, wanted);
        assert_true(estimate_student((uint32_t)n - 1) * 0.1 / sqrt((double)n) <= wanted);
        assert_true(n == 2 || estimate_student((uint32_t)n - 2) * 0.1 / sqrt((double)n - 1) > wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_student_is_that_of_tables), cmocka_unit_test(test_student_holds_95_of_100),
        cmocka_unit_test(test_samples_of_one_size),       cmocka_unit_test(test_samples_of_different_sizes),
        cmocka_unit_test(test_a_start_stands_for_itself), cmocka_unit_test(test_samples_beside_a_start),
        cmocka_unit_test(test_one_sample_has_no_margin),  cmocka_unit_test(test_how_many_would_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
