/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * points_options: what may be asked of simulation points, and with what.
 */
#include <string.h>

#include "cli/cli.h"
#include "points/points.h"

enum { SIMULATING = 32 };
struct given {
    const char *option;
    bool is_given;
};

static const char *first_given(const struct given *options, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (options[i].is_given)
            return options[i].option;
    return NULL;
}

/* What is for `c2emu points` alone. */
static const char *of_finding(const struct cli_options *options)
{
    const struct session_points_asked *asked = &options->run.points;
    const struct given others[] = {{"interval", asked->interval != 0 && !options->run.sampling.points},
                                   {"dimensions", asked->dimensions != 0},
                                   {"max-k", asked->max_k != 0},
                                   {"bbv", asked->vectors_to},
                                   {"from-bbv", asked->vectors_from}};
    return first_given(others, sizeof others / sizeof *others);
}

/* What shows or changes what is simulated, beside the analyses. The machine and --huge are not among it: of them the
 * program sees how much memory there is, and where its heap begins. */
static size_t fill_simulating(struct given rows[SIMULATING], const struct cli_options *options)
{
    const struct given all[] = {{"no-sim", options->run.no_sim},
                                {"pages", strcmp(options->run.pages, "sequential") != 0},
                                {"place", options->run.place_count != 0},
                                {"zero-page", options->run.zero_page},
                                {"json", options->run.json},
                                {"json-full", options->run.json_full},
                                {"vary-csv", options->run.vary_csv},
                                {"html", options->run.html},
                                {"full", options->run.full},
                                {"width", options->run.width != 0},
                                {"color", options->run.color != SESSION_COLOR_AUTO},
                                {"evictors", options->run.evictors},
                                {"cachegrind", options->run.cachegrind},
                                {"folded", options->run.folded},
                                {"pprof", options->run.pprof},
                                {"perf-map", options->run.perf_map},
                                {"dump-pagemap", options->run.dump_pagemap},
                                {"alloc-wrapper", options->run.wrapper_count != 0},
                                {"points", options->run.sampling.points},
                                {"precision", options->run.sampling.precision != 0},
                                {"skip", options->run.sampling.skip != 0},
                                {"warmup", options->run.sampling.warmup != 0},
                                {"measure", options->run.sampling.measure != 0},
                                {"samples", options->run.sampling.samples != 0},
                                {"period", options->run.sampling.period != 0},
                                {"start", options->run.sampling.start != 0},
                                {"offsets", options->run.sampling.random_offsets}};
    _Static_assert(sizeof all / sizeof all[0] <= SIMULATING, "there is no room for the rows");
    memcpy(rows, all, sizeof all);
    return sizeof all / sizeof all[0];
}

static const char *of_simulating(const struct cli_options *options)
{
    struct given rows[SIMULATING];
    for (unsigned i = 0; i < ANALYSES_KINDS; i++)
        if (options->run.analyses[i])
            return analyses_option((enum analysis_number)i);
    return first_given(rows, fill_simulating(rows, options));
}

static bool is_of_analyses(const char *option)
{
    bool is = false;
    for (unsigned i = 0; i < ANALYSES_KINDS; i++)
        is |= strcmp(option, analyses_option((enum analysis_number)i)) == 0;
    for (unsigned i = 0; i < ANALYSES_SETTING_KINDS; i++)
        is |= strcmp(option, analyses_setting_option((enum analysis_setting)i)) == 0;
    return is;
}

/* What is refused elsewhere, as for all that simulates nothing, or looks at the whole run. */
static bool is_of_measuring(const char *option)
{
    static const char *const options[] = {"vary",           "roi",        "from",          "to",
                                          "requests",       "warm",       "jobs",          "weights",
                                          "record",         "checkpoint", "checkpoint-at", "checkpoint-caches",
                                          "checkpoint-stop"};
    bool is = false;
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        is |= strcmp(option, options[i]) == 0;
    return is;
}

enum c2_status cli_points_takes(const char *option, struct c2_error *err)
{
    static const struct cli_options nothing = {.run.pages = ""};
    struct given rows[SIMULATING];
    bool simulates = is_of_analyses(option) || is_of_measuring(option);
    for (size_t i = fill_simulating(rows, &nothing); i > 0; i--)
        simulates |= strcmp(option, rows[i - 1].option) == 0;
    return simulates ? c2_fail(err, C2_ERR_INVALID, "points simulates nothing; leave --%s out", option) : C2_OK;
}

/* Vectors that are read are of another run, which is over. */
static enum c2_status check_vectors_from(const struct cli_options *options, struct c2_error *err)
{
    const struct session_points_asked *asked = &options->run.points;
    if (options->run.command)
        return c2_fail(err, C2_ERR_INVALID, "--from-bbv %s takes the place of a run; leave it out, or %s",
                       asked->vectors_from, options->run.command[0]);
    if (asked->interval != 0 || asked->vectors_to)
        return c2_fail(err, C2_ERR_INVALID, "--%s is about a run, whose place --from-bbv takes; leave one out",
                       asked->interval != 0 ? "interval" : "bbv");
    return C2_OK;
}

static enum c2_status points_options_check_range(uint64_t *value, uint64_t usual, uint64_t most, const char *option,
                                                 struct c2_error *err)
{
    *value = *value == 0 ? usual : *value;
    return *value <= most ? C2_OK
                          : c2_fail(err, C2_ERR_INVALID, "--%s %llu: must be 1 to %llu", option,
                                    (unsigned long long)*value, (unsigned long long)most);
}

/* What says otherwise where samples are, or how sure they are. */
static const char *of_samples(const struct session_sampling *sampling)
{
    const struct given others[] = {{"skip", sampling->skip != 0},          {"measure", sampling->measure != 0},
                                   {"samples", sampling->samples != 0},    {"period", sampling->period != 0},
                                   {"start", sampling->start != 0},        {"offsets", sampling->random_offsets},
                                   {"precision", sampling->precision != 0}};
    return first_given(others, sizeof others / sizeof *others);
}

static const char *of_regions(const struct session_regions *regions)
{
    const struct given others[] = {{"roi", regions->function_count != 0}, {"from", regions->from}, {"to", regions->to}};
    return first_given(others, sizeof others / sizeof *others);
}

static enum c2_status points_options_check_points(const struct cli_options *options, struct c2_error *err)
{
    const struct session_sampling *sampling = &options->run.sampling;
    if (sampling->weights && !sampling->points)
        return c2_fail(err, C2_ERR_INVALID, "--weights %s belongs to --points FILE", sampling->weights);
    if (!sampling->points)
        return C2_OK;
    if (options->run.points.interval == 0)
        return c2_fail(err, C2_ERR_INVALID,
                       "--points %s does not say how long an interval is; add --interval N, with the N that the points "
                       "are of",
                       sampling->points);
    const char *other = of_samples(sampling), *region = of_regions(&options->run.regions);
    if (other)
        return c2_fail(err, C2_ERR_INVALID,
                       "--points says which samples there are, and what each stands for; leave it out, or --%s", other);
    if (region)
        return c2_fail(err, C2_ERR_INVALID, "--points is of the whole run; leave it out, or --%s", region);
    return C2_OK;
}

enum c2_status cli_points_check(struct cli_options *options, struct c2_error *err)
{
    struct session_points_asked *asked = &options->run.points;
    const char *wrong = asked->find ? of_simulating(options) : of_finding(options);
    if (wrong && asked->find)
        return cli_points_takes(wrong, err);
    if (wrong)
        return c2_fail(err, C2_ERR_INVALID, "--%s belongs to `c2emu points`", wrong);
    if (!asked->find)
        return points_options_check_points(options, err);
    enum c2_status status = asked->vectors_from ? check_vectors_from(options, err) : C2_OK;
    if (status == C2_OK)
        status = points_options_check_range(&asked->dimensions, POINTS_DIMENSIONS, POINTS_MOST_DIMENSIONS, "dimensions",
                                            err);
    if (status == C2_OK)
        status = points_options_check_range(&asked->max_k, POINTS_MAX_K, POINTS_MOST_K, "max-k", err);
    asked->interval = asked->interval == 0 ? CLI_INTERVAL : asked->interval;
    return status;
}
