/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Two made-up samples in the report: their estimates worked out by hand, alike and with weights; no memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <jansson.h>

#include "report/report.h"
#include "unit/report_profile.h"

/* 4000 and 2000 instructions of 10,000. L1D: 100 misses of 1000 accesses, and 900 of 3000. A misses 40 lines of them in
 * the first, all cold, and 100 in the second, of which 60 are conflicts. */
static const uint64_t instructions[2] = {4000, 2000};
static const struct sim_sampled levels[2 * SAMPLE_LEVELS] = {
    {1000, 100, {40, 0, 60}},  {100, 0, {0}}, {0}, {50, 0, {0}},
    {3000, 900, {40, 0, 860}}, {900, 0, {0}}, {0}, {50, 0, {0}},
};
static const uint64_t costs[2] = {800, 7200}; /* of L1D alone, 8 a miss */
static const struct analyses_sampled sampled[3] = {
    {.row = 2, .count = 40, .level = L1D, .kind = ANALYSES_COLD},
    {.row = 2, .count = 40, .level = L1D, .kind = ANALYSES_COLD},
    {.row = 2, .count = 60, .level = L1D, .kind = ANALYSES_CONFLICT},
};
static const uint32_t ends[2] = {1, 3};

static void fill(struct profile_sample *s, const double *weights)
{
    profile_fill(s);
    s->base.run.samples = (struct sim_samples){
        .count = 2, .level_count = SAMPLE_LEVELS, .instructions = instructions, .costs = costs, .levels = levels};
    s->base.run.weights = weights;
    s->result.sampled = sampled;
    s->result.sample_ends = ends;
    s->result.sample_count = 2;
}

static const json_t *named(const json_t *list, const char *name)
{
    size_t i;
    const json_t *one;
    json_array_foreach(list, i, one) if (strcmp(json_string_value(json_object_get(one, "name")), name) == 0) return one;
    return NULL;
}

/* An estimate in the words of JSON; "": there is none. */
static void assert_estimate(const json_t *of, const char *key, const char *expected)
{
    char *got = json_dumps(json_object_get(of, key), JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    assert_string_equal(expected, got ? got : "");
    free(got);
}

static const json_t *sampled_of_a(const json_t *report)
{
    const json_t *a = named(json_object_get(report, "objects"), "A");
    return json_object_get(named(json_object_get(a, "levels"), "L1D"), "sampled");
}

/* Rate 1000 / 4000; d = 100 - 250, 900 - 750; s = sqrt(2 * 150^2) / 2000 = 0.106066; 12.706205 s sqrt(0.4 / 2) =
 * 0.602708. In 1000 instructions 1000 / 6000; d = 100 - 666.667 and back; s = sqrt(2 * 566.667^2) / 3000 = 0.267129;
 * margin 1.517932. A: 140 / 6000; d = 40 - 93.333; s = sqrt(2) 53.333 / 3000 = 0.025142. Conflicts of A: 60 / 140; d =
 * -17.142857; s = sqrt(2) 17.142857 / 70 = 0.346338. */
static void samples_that_are_alike(void **state)
{
    struct profile_sample sample;
    (void)state;
    fill(&sample, NULL);
    json_t *report = json_of(&sample.base.run);
    const json_t *samples = json_object_get(report, "samples");
    const json_t *l1d = named(json_object_get(samples, "levels"), "L1D");
    assert_estimate(samples, "share", "60.0");
    assert_estimate(samples, "t", "12.706205");
    assert_estimate(l1d, "miss_rate", "{\"mean\":25.0,\"sd\":10.606602,\"margin\":60.270821,\"samples\":2}");
    assert_estimate(l1d, "misses_per_1000",
                    "{\"mean\":166.666667,\"sd\":267.129228,\"margin\":1517.93179,\"samples\":2}");
    assert_estimate(json_object_get(l1d, "run"), "misses", "{\"mean\":1667,\"margin\":15179}");
    assert_estimate(named(json_object_get(samples, "levels"), "L2"), "miss_rate",
                    "{\"mean\":0.0,\"sd\":0.0,\"margin\":"
                    "0.0,\"samples\":2}");
    assert_estimate(named(json_object_get(samples, "levels"), "L3"), "miss_rate", "");
    assert_estimate(sampled_of_a(report), "misses_per_1000",
                    "{\"mean\":23.333333,\"sd\":25.141574,\"margin\":142.864168,\"samples\":2}");
    assert_estimate(sampled_of_a(report), "conflict",
                    "{\"mean\":42.857143,\"sd\":34.633802,\"margin\":196.802681,\"samples\":2}");
    json_decref(report);
}

/* Each instruction of the first sample stands for 3 / 4000 of the run, of the second for 1 / 2000: rate (0.075 + 0.45)
 * / (0.75 + 1.5); 0.525 misses in 4; A: 0.03 + 0.05 in 4, of which 0.03 are conflicts. */
static void samples_with_weights(void **state)
{
    static const double weights[2] = {3, 1};
    struct profile_sample sample;
    (void)state;
    fill(&sample, weights);
    json_t *report = json_of(&sample.base.run);
    const json_t *samples = json_object_get(report, "samples");
    const json_t *l1d = named(json_object_get(samples, "levels"), "L1D");
    assert_estimate(samples, "weighted", "true");
    assert_estimate(samples, "t", "");
    assert_estimate(l1d, "miss_rate", "{\"mean\":23.333333}");
    assert_estimate(l1d, "misses_per_1000", "{\"mean\":131.25}");
    assert_estimate(json_object_get(l1d, "run"), "conflict", "{\"mean\":1188}"); /* 0.045 + 0.43 in 4 */
    assert_estimate(sampled_of_a(report), "misses_per_1000", "{\"mean\":20.0}");
    assert_estimate(sampled_of_a(report), "conflict", "{\"mean\":37.5}");
    json_decref(report);
}

/* The first 4000 instructions are the start, of 6000 behind it 2000 and 1000 are measured: the start counts a half.
 * L1D, 100 of 1000 in the start, 900 of 3000 and 100 of 1000: R = (50 + 1000) / (500 + 4000) = 7 / 30; d = 900 - 700,
 * 100 - 233.333, their mean 33.333: s = sqrt(2) 166.667 / 2250 = 0.104757; 12.706205 s sqrt(0.5 / 2) = 0.665529. In
 * 1000 instructions (50 + 1000) / (2000 + 3000) = 0.21; d = 900 - 420, 100 - 210, mean 185; s = sqrt(2) 295 / 2500 =
 * 0.166877; margin 1.060189. A, 40 in the start, 100 and 0: (20 + 100) / 5000 = 0.024; d = 100 - 48, 0 - 24, mean 14; s
 * = sqrt(2) 38 / 2500 = 0.021496; margin 0.136567. Conflicts of A, 0 of 40, 60 of 100, 0 of 0: 60 / 120; d = 60 - 50,
 * 0; mean 5; s = sqrt(2) 5 / 60 = 0.117851; margin 0.748720. */
static void a_start_of_its_own(void **state)
{
    static const uint64_t lengths[3] = {4000, 2000, 1000};
    static const struct sim_sampled three[3 * SAMPLE_LEVELS] = {
        {1000, 100, {40, 0, 60}},  {100, 0, {0}}, {0}, {50, 0, {0}},
        {3000, 900, {40, 0, 860}}, {900, 0, {0}}, {0}, {50, 0, {0}},
        {1000, 100, {0, 0, 100}},  {100, 0, {0}}, {0}, {50, 0, {0}},
    };
    static const uint32_t three_ends[3] = {1, 3, 3};
    static const uint64_t three_costs[3] = {800, 7200, 800};
    struct profile_sample sample;
    (void)state;
    fill(&sample, NULL);
    sample.base.run.samples.count = sample.result.sample_count = 3;
    sample.base.run.samples.instructions = lengths;
    sample.base.run.samples.levels = three;
    sample.base.run.samples.costs = three_costs;
    sample.result.sample_ends = three_ends;
    sample.base.run.start = true;
    json_t *report = json_of(&sample.base.run);
    const json_t *samples = json_object_get(report, "samples");
    const json_t *l1d = named(json_object_get(samples, "levels"), "L1D");
    assert_estimate(samples, "count", "2");
    assert_estimate(samples, "start", "4000");
    assert_estimate(samples, "share", "70.0");
    assert_estimate(samples, "t", "12.706205");
    assert_estimate(l1d, "miss_rate", "{\"mean\":23.333333,\"sd\":10.475656,\"margin\":66.552915,\"samples\":2}");
    assert_estimate(l1d, "misses_per_1000", "{\"mean\":210.0,\"sd\":166.8772,\"margin\":1060.187937,\"samples\":2}");
    assert_estimate(json_object_get(l1d, "run"), "misses", "{\"mean\":2100,\"margin\":10602}");
    assert_estimate(sampled_of_a(report), "misses_per_1000",
                    "{\"mean\":24.0,\"sd\":21.496046,\"margin\":136.566582,\"samples\":2}");
    assert_estimate(sampled_of_a(report), "conflict",
                    "{\"mean\":50.0,\"sd\":11.785113,\"margin\":74.872029,\"samples\":2}");
    json_decref(report);
}

/* Between the samples 2500 instructions are skipped, and each has a warm-up, of 1000 and 500 instructions. L1D, 512
 * lines, takes in 50 and 100 lines in these: (50 + 100 + 100 + 900) / 7500 for each instruction, so 383.333 in what
 * is skipped, of the 412 that the warm-up leaves. They are less than the 2100 hits behind: 383.333 / 4000. With 512
 * lines of warm-up none is stale; but the samples bring in 500 in the mean, and they are two. */
static void a_level_that_stood_still(void **state)
{
    static const struct report_phase phases[5] = {{.kind = STREAM_WARM, .instructions = 1000},
                                                  {.kind = STREAM_MEASURE, .instructions = 4000},
                                                  {.kind = STREAM_SKIP, .instructions = 2500},
                                                  {.kind = STREAM_WARM, .instructions = 500},
                                                  {.kind = STREAM_MEASURE, .instructions = 2000}};
    static const uint64_t warmed[2][2 * SAMPLE_LEVELS] = {{[0] = 50, [SAMPLE_LEVELS] = 100},
                                                          {[0] = 50, [SAMPLE_LEVELS] = 512}};
    static const char *const why[2] = {"\"stale\"", "\"snapshots\""}, *const doubts[2] = {"9.583333", ""};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct profile_sample sample;
        fill(&sample, NULL);
        sample.base.run.phases = phases;
        sample.base.run.phase_count = 5;
        sample.base.run.samples.warmed = warmed[i];
        json_t *report = json_of(&sample.base.run);
        const json_t *levels_of = json_object_get(json_object_get(report, "samples"), "levels");
        const json_t *l1d = named(levels_of, "L1D");
        assert_estimate(l1d, "no_interval", why[i]);
        assert_estimate(l1d, "doubt", doubts[i]);
        assert_estimate(l1d, "miss_rate", "{\"mean\":25.0}");
        assert_estimate(json_object_get(l1d, "run"), "misses", "{\"mean\":1667}");
        assert_estimate(named(levels_of, "L2"), "no_interval", "");
        assert_estimate(sampled_of_a(report), "misses_per_1000", "{\"mean\":23.333333}");
        assert_estimate(sampled_of_a(report), "conflict", "{\"mean\":42.857143}");
        json_decref(report);
    }
}

static void want_of_memory_is_reported(void **state)
{
    enum c2_status status = C2_ERR_NO_MEMORY;
    int tries = 0;
    FILE *to = fopen("/dev/null", "w");
    (void)state;
    assert_non_null(to);
    while (status != C2_OK) {
        struct profile_sample sample;
        struct c2_error err;
        fill(&sample, NULL);
        c2_alloc_fail_from(++tries);
        status = write_report(to, &sample.base.run, REPORT_JSON, &err);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK || status == C2_ERR_NO_MEMORY);
    }
    assert_true(tries > 100);
    fclose(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_that_are_alike),     cmocka_unit_test(samples_with_weights),
        cmocka_unit_test(a_start_of_its_own),         cmocka_unit_test(a_level_that_stood_still),
        cmocka_unit_test(want_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
