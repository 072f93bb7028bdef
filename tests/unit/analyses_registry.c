/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The registry: which analyses the options make, on which of two machines, the order of subscribers, and that what
 * is off is not there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include "analyses/analyses.h"

static const struct caches_machine machine = {
    .name = "test",
    .line_bytes = 64,
    .physical_bytes = 1ull << 32,
    .level_count = 1,
    .levels = {{.name = "L1D", .size_bytes = 1024, .ways = 2, .slices = 1, .hash = "none"}}};

/* All of the registry's rows, by number: what is given for its option, whether it is made of the first machine, whether
 * of a second one. */
struct row {
    const char *given;
    bool first, second;
};

static void expect(const struct row rows[ANALYSES_KINDS])
{
    const char *given[ANALYSES_KINDS];
    struct analyses *made[2];
    struct analyses_setup setup = {.machine = &machine, .given = given};
    for (unsigned i = 0; i < ANALYSES_KINDS; i++)
        given[i] = rows[i].given;
    assert_int_equal(C2_OK, analyses_create(&made[0], &setup, NULL));
    setup.first = made[0];
    assert_int_equal(C2_OK, analyses_create(&made[1], &setup, NULL));
    for (unsigned m = 0; m < 2; m++) {
        struct sim_config config = {.machine = &machine};
        size_t count = 0;
        analyses_subscribe(made[m], &config);
        for (unsigned i = 0; i < ANALYSES_KINDS; i++) {
            struct analysis *analysis = analyses_find(made[m], (enum analysis_number)i);
            assert_int_equal(m == 0 ? rows[i].first : rows[i].second, !!analysis);
            if (analysis)
                assert_ptr_equal(analysis, config.subscribers[count++].self);
        }
        const struct analysis *profile = analyses_find(made[m], ANALYSIS_profile);
        assert_int_equal(count, config.subscriber_count);
        assert_int_equal(!!profile, !!config.attribution);
        assert_int_equal(!!profile, analyses_want_marks(made[m]));
        assert_int_equal(profile || analyses_find(made[m], ANALYSIS_callgraph), analyses_want_memory(made[m]));
        assert_null(analyses_result(made[m], ANALYSIS_profile)); /* before the end */
    }
    analyses_destroy(made[1]);
    analyses_destroy(made[0]);
}

static void options_make_them(void **state)
{
    (void)state;
    expect((struct row[ANALYSES_KINDS]){[ANALYSIS_profile] = {.first = true}, [ANALYSIS_excerpts] = {.first = true}});
    expect((struct row[ANALYSES_KINDS]){[ANALYSIS_profile] = {.first = true}, [ANALYSIS_excerpts] = {.given = ""}});
    expect((struct row[ANALYSES_KINDS]){[ANALYSIS_profile] = {.given = ""}});
    expect((struct row[ANALYSES_KINDS]){[ANALYSIS_profile] = {.first = true},
                                        [ANALYSIS_excerpts] = {.first = true},
                                        [ANALYSIS_fifo] = {"", true, true},
                                        [ANALYSIS_against] = {"huge", true, true},
                                        [ANALYSIS_trace] = {"/dev/null", true, false},
                                        [ANALYSIS_callgraph] = {"x", true, false}});
    expect((struct row[ANALYSES_KINDS]){[ANALYSIS_profile] = {.given = ""}, [ANALYSIS_against] = {"huge", true, true}});
}

/* Excerpts of the run take time at its end, and nothing but findings reads them. */
static void without_names_no_findings(void **state)
{
    (void)state;
    const char *const given[ANALYSES_KINDS] = {NULL};
    for (int unnamed = 0; unnamed < 2; unnamed++) {
        const struct analyses_setup setup = {.machine = &machine, .given = given, .unnamed = unnamed};
        struct analyses *analyses;
        assert_int_equal(C2_OK, analyses_create(&analyses, &setup, NULL));
        assert_non_null(analyses_find(analyses, ANALYSIS_profile));
        assert_int_equal(!unnamed, !!analyses_find(analyses, ANALYSIS_excerpts));
        analyses_destroy(analyses);
    }
}

static void each_option_concerns_one(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ANALYSES_KINDS; i++)
        for (unsigned k = 0; k < i; k++)
            assert_string_not_equal(analyses_option((enum analysis_number)i), analyses_option((enum analysis_number)k));
    assert_string_equal("no-attribution", analyses_option(ANALYSIS_profile));
    assert_string_equal("fifo-detector", analyses_option(ANALYSIS_fifo));
    assert_string_equal("callgrind", analyses_option(ANALYSIS_callgraph));
    assert_string_equal("fifo-ways", analyses_setting_option(ANALYSES_SETTING_fifo_ways));
    assert_int_equal(ANALYSIS_fifo, analyses_setting_of(ANALYSES_SETTING_fifo_ways));
}

static void a_file_that_cannot_be_finished(void **state)
{
    (void)state;
    const char *const given[ANALYSES_KINDS] = {[ANALYSIS_profile] = "", [ANALYSIS_trace] = "/dev/full"};
    const struct analyses_setup setup = {.machine = &machine, .given = given};
    const struct sim_reference reference = {.kind = SIM_READ, .parts = 1, .size = 1};
    struct sim_config config = {.machine = &machine};
    struct analyses *analyses;
    struct c2_error err;
    assert_int_equal(C2_OK, analyses_create(&analyses, &setup, &err));
    analyses_subscribe(analyses, &config);
    assert_int_equal(C2_OK, config.subscribers[0].references(config.subscribers[0].self, &reference, 1, &err));
    assert_int_equal(C2_ERR_IO, analyses_commit(analyses, &err));
    assert_non_null(strstr(err.text, "/dev/full"));
    analyses_destroy(analyses);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    const char *const given[ANALYSES_KINDS] = {
        [ANALYSIS_fifo] = "", [ANALYSIS_against] = "huge", [ANALYSIS_trace] = "/dev/null", [ANALYSIS_callgraph] = "x"};
    const struct analyses_setup setup = {.machine = &machine, .given = given};
    enum c2_status status = C2_ERR_NO_MEMORY;
    uint64_t tries = 0;
    while (status != C2_OK) {
        struct analyses *analyses;
        c2_alloc_fail_from(++tries);
        status = analyses_create(&analyses, &setup, NULL);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK ? !!analyses : status == C2_ERR_NO_MEMORY && !analyses);
        analyses_destroy(analyses);
    }
    assert_true(tries > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_make_them),         cmocka_unit_test(without_names_no_findings),
        cmocka_unit_test(each_option_concerns_one),  cmocka_unit_test(a_file_that_cannot_be_finished),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
