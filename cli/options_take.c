/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * options_take: the value of each option into struct cli_options.
 *
 * Model
 *   Most options are only kept: a text, a switch, one value more of a list, a count. A table says where. The others
 *   have a function each.
 */
#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "cli/cli_priv.h"
#include "cli/options_priv.h"
#include "stream/stream.h"

/* A word for all of memory, of which there is one; else a region, whose name is looked up later. */
static enum c2_status take_huge(struct cli_parse *parse, const char *value, struct c2_error *err)
{
    struct cli_options *options = parse->options;
    for (unsigned i = 0; i <= MMU_HUGE_ALL; i++) {
        const char *word = mmu_huge_name((enum mmu_huge)i);
        if (i == MMU_HUGE_HEAP || strcmp(value, word) != 0)
            continue;
        if (parse->huge_word && strcmp(parse->huge_word, word) != 0)
            return c2_fail(err, C2_ERR_INVALID, "--huge %s and --huge %s contradict each other", parse->huge_word,
                           word);
        parse->huge_word = word;
        options->run.huge = (enum mmu_huge)i;
        return C2_OK;
    }
    options->run.huge_regions[options->run.huge_region_count++] = value;
    return C2_OK;
}

static void imply(struct cli_options *options, enum analysis_number analysis, const char *value)
{
    const struct argp_option *row = cli_run_options;
    if (options->run.analyses[analysis])
        return;
    while (row->key != KEY_ANALYSES + (int)analysis)
        row++;
    options->run.analyses[analysis] = value ? value : "";
    options->run.words[options->run.word_count++] = (struct session_word){row->name, value};
}

/* The pictures of a page want misses by set and page, and windows, which cost little; the words say so, so that the run
 * can be made again. */
static void settle_page(struct cli_options *options)
{
    const bool simulates = !options->run.no_sim && !options->run.points.find && !options->run.advise &&
                           !options->run.explain;
    if (!options->run.html || !simulates)
        return;
    if (!options->run.analyses[ANALYSIS_profile])
        imply(options, ANALYSIS_sets, NULL);
    if (!options->run.settings[ANALYSES_SETTING_windows_csv])
        imply(options, ANALYSIS_windows, "auto");
}

/* One miss is told, and nothing is looked for besides. */
static void settle_explain(struct cli_options *options)
{
    static const enum analysis_number off[] = {ANALYSIS_excerpts, ANALYSIS_prefetch, ANALYSIS_coherence};
    if (!options->run.explain)
        return;
    if (!options->run.analyses[ANALYSIS_explain])
        options->run.analyses[ANALYSIS_explain] = "";
    for (size_t i = 0; i < sizeof off / sizeof off[0]; i++)
        options->run.analyses[off[i]] = "";
}

/* `heap` by itself is a word of its own, with its name in reports. */
void cli_options_settle(struct cli_options *options)
{
    settle_page(options);
    settle_explain(options);
    if (options->run.huge != MMU_HUGE_ASKED)
        return;
    for (size_t i = 0; i < options->run.huge_region_count; i++) {
        if (strcmp(options->run.huge_regions[i], mmu_huge_name(MMU_HUGE_HEAP)) != 0)
            continue;
        options->run.huge = MMU_HUGE_HEAP;
        options->run.huge_region_count--;
        memmove(options->run.huge_regions + i, options->run.huge_regions + i + 1,
                (options->run.huge_region_count - i) * sizeof *options->run.huge_regions);
        return;
    }
}

static enum c2_status take_huge_size(struct cli_options *options, const char *value, struct c2_error *err)
{
    static const char *const values[] = {"2M", "1G"};
    unsigned index;
    enum c2_status status = session_word(&index, "--huge-size ", value, values, 2, err);
    if (status == C2_OK)
        options->run.huge_size = index == 0 ? MMU_PAGE_2M : MMU_PAGE_1G;
    return status;
}

/* The first of those that are instead of a run wins. */
static enum c2_status take_action(struct cli_options *options, enum cli_action action)
{
    const bool acts = options->action == CLI_RUN || options->action == CLI_REPLAY || options->action == CLI_RESTORE;
    options->action = acts ? action : options->action;
    return C2_OK;
}

static enum c2_status take_jobs(struct cli_options *options, const char *text, struct c2_error *err)
{
    if (c2_parse_number(&options->run.jobs, text, "--jobs", NULL) == C2_OK && options->run.jobs >= 1 &&
        options->run.jobs <= 1024)
        return C2_OK;
    return c2_fail(err, C2_ERR_INVALID, "--jobs %s: must be a number of threads, 1 to 1024", text);
}

/* Among the changes of --set, so that the last one counts. */
static enum c2_status take_cores(struct cli_options *options, const char *text, struct c2_error *err)
{
    uint64_t cores;
    if (c2_parse_number(&cores, text, "--cores", NULL) != C2_OK || cores < 1 || cores > CACHES_MAX_CORES)
        return c2_fail(err, C2_ERR_INVALID, "--cores %s: must be a number of cores, 1 to %u", text, CACHES_MAX_CORES);
    size_t kept = 0;
    for (size_t i = 0; i < options->run.override_count; i++)
        if (options->run.overrides[i] != options->run.cores)
            options->run.overrides[kept++] = options->run.overrides[i];
    options->run.override_count = kept;
    c2_free(options->run.cores);
    options->run.cores = c2_format("cores=%llu", (unsigned long long)cores);
    if (!options->run.cores)
        return c2_fail_memory(err, "the options");
    options->run.overrides[options->run.override_count++] = options->run.cores;
    return C2_OK;
}

/* Where a checkpoint is made: what begins with a digit is a number of instructions, but for addresses. */
static enum c2_status take_moment(struct cli_options *options, const char *text, struct c2_error *err)
{
    options->run.checkpoint_at = 0;
    options->run.checkpoint_place = NULL;
    if (isdigit((unsigned char)text[0]) && strncmp(text, "0x", 2) != 0)
        return c2_parse_count(&options->run.checkpoint_at, text, "--checkpoint-at", 1, err);
    options->run.checkpoint_place = text;
    return session_place_check("--checkpoint-at", text, err);
}

static enum c2_status take_offsets(struct cli_options *options, const char *text, struct c2_error *err)
{
    static const char *const words[] = {"systematic", "random"};
    unsigned word;
    enum c2_status status = session_word(&word, "--offsets ", text, words, 2, err);
    options->run.sampling.random_offsets = word == 1;
    return status;
}

enum c2_status cli_take_width(uint64_t *out, const char *text, struct c2_error *err)
{
    if (c2_parse_number(out, text, "--width", NULL) == C2_OK && *out >= SESSION_NARROWEST && *out <= SESSION_WIDEST)
        return C2_OK;
    return c2_fail(err, C2_ERR_INVALID, "--width %s: must be a number of columns, %d to %d", text, SESSION_NARROWEST,
                   SESSION_WIDEST);
}

static enum c2_status take_color(struct cli_options *options, const char *text, struct c2_error *err)
{
    static const char *const words[] = {"auto", "always", "never"};
    unsigned word;
    enum c2_status status = session_word(&word, "--color ", text, words, 3, err);
    if (status == C2_OK)
        options->run.color = (enum session_color)word;
    return status;
}

static enum c2_status take_format(struct cli_options *options, const char *value, struct c2_error *err)
{
    const char *values[1 + STREAM_TRACE_FORMS] = {"recording"};
    unsigned ignored;
    size_t forms;
    const char *const *names = stream_trace_forms(&forms);
    memcpy(values + 1, names, forms * sizeof *names);
    options->run.format = value;
    return session_word(&ignored, "--format ", value, values, 1 + forms, err);
}

/* What only says where something is written, what is printed beside the report, or how many threads work at it, makes
 * no other run. */
static void keep_word(struct cli_options *options, const struct argp_option *row, const char *value)
{
    if (row->group <= GROUP_RUN && row->key != KEY_JOBS)
        options->run.words[options->run.word_count++] = (struct session_word){row->name, value};
}
/* ------------------------------------------------------------------ what is only kept */

enum kept_kind { KEPT_TEXT, KEPT_SWITCH, KEPT_LIST, KEPT_COUNT };
static const struct kept {
    int key;
    enum kept_kind kind;
    size_t at;      /* in struct cli_options */
    size_t length;  /* LIST: where its length is. COUNT: where it stands that it was given; 0: nowhere */
    uint64_t least; /* COUNT */
} kept[] = {
#define AT(options_take_member) offsetof(struct cli_options, options_take_member)
    {KEY_MACHINE, KEPT_LIST, AT(run.machines), AT(run.machine_count), 0},
    {KEY_VARY, KEPT_LIST, AT(run.vary), AT(run.vary_count), 0},
    {KEY_SET, KEPT_LIST, AT(run.overrides), AT(run.override_count), 0},
    {KEY_PLACE, KEPT_LIST, AT(run.places), AT(run.place_count), 0},
    {KEY_HUGE, KEPT_LIST, AT(run.huge_regions), AT(run.huge_region_count), 0}, /* where it is no word: take_huge */
    {KEY_ALLOC_WRAPPER, KEPT_LIST, AT(run.wrappers), AT(run.wrapper_count), 0},
    {KEY_DIM, KEPT_LIST, AT(run.dims), AT(run.dim_count), 0},
    {KEY_WRITABLE, KEPT_LIST, AT(run.writable), AT(run.writable_count), 0},
    {KEY_ENV, KEPT_LIST, AT(run.env), AT(run.env_count), 0},
    {KEY_SEPARATE_PAR, KEPT_LIST, AT(run.separate.parameters), AT(run.separate.parameter_count), 0},
    {KEY_ROI, KEPT_LIST, AT(run.regions.functions), AT(run.regions.function_count), 0},
    {KEY_PAGES, KEPT_TEXT, AT(run.pages), 0, 0},
    {KEY_ENGINE, KEPT_TEXT, AT(run.engine), 0, 0},
    {KEY_CPU, KEPT_TEXT, AT(run.cpu), 0, 0},
    {KEY_FOLLOW, KEPT_TEXT, AT(run.follow), 0, 0},
    {KEY_ROOT, KEPT_TEXT, AT(run.root), 0, 0},
    {KEY_DUMP_PAGEMAP, KEPT_TEXT, AT(run.dump_pagemap), 0, 0},
    {KEY_CHECKPOINT, KEPT_TEXT, AT(run.checkpoint), 0, 0},
    {KEY_POINTS, KEPT_TEXT, AT(run.sampling.points), 0, 0},
    {KEY_WEIGHTS, KEPT_TEXT, AT(run.sampling.weights), 0, 0},
    {KEY_BBV, KEPT_TEXT, AT(run.points.vectors_to), 0, 0},
    {KEY_FROM_BBV, KEPT_TEXT, AT(run.points.vectors_from), 0, 0},
    {KEY_FROM, KEPT_TEXT, AT(run.regions.from), 0, 0},
    {KEY_TO, KEPT_TEXT, AT(run.regions.to), 0, 0},
    {KEY_OUTPUT, KEPT_TEXT, AT(run.output_dir), 0, 0},
    {KEY_JSON, KEPT_TEXT, AT(run.json), 0, 0},
    {KEY_JSON_FULL, KEPT_TEXT, AT(run.json_full), 0, 0},
    {KEY_HTML, KEPT_TEXT, AT(run.html), 0, 0},
    {KEY_VARY_CSV, KEPT_TEXT, AT(run.vary_csv), 0, 0},
    {KEY_RECORD, KEPT_TEXT, AT(run.record), 0, 0},
    {KEY_EVICTORS, KEPT_TEXT, AT(run.evictors), 0, 0},
    {KEY_CACHEGRIND, KEPT_TEXT, AT(run.cachegrind), 0, 0},
    {KEY_FOLDED, KEPT_TEXT, AT(run.folded), 0, 0},
    {KEY_FOLDED_EVENT, KEPT_TEXT, AT(run.folded_event), 0, 0},
    {KEY_PPROF, KEPT_TEXT, AT(run.pprof), 0, 0},
    {KEY_PERF_MAP, KEPT_TEXT, AT(run.perf_map), 0, 0},
    {KEY_SEPARATE_THREADS, KEPT_SWITCH, AT(run.separate.threads), 0, 0},
    {KEY_ZERO_PAGE, KEPT_SWITCH, AT(run.zero_page), 0, 0},
    {KEY_CHECKPOINT_STOP, KEPT_SWITCH, AT(run.checkpoint_stop), 0, 0},
    {KEY_CHECKPOINT_CACHES, KEPT_SWITCH, AT(run.checkpoint_caches), 0, 0},
    {KEY_SANDBOX, KEPT_SWITCH, AT(run.sandbox), 0, 0},
    {KEY_STEP, KEPT_SWITCH, AT(run.step), 0, 0},
    {KEY_NO_NET, KEPT_SWITCH, AT(run.no_network), 0, 0},
    {KEY_NO_SIM, KEPT_SWITCH, AT(run.no_sim), 0, 0},
    {KEY_INHERIT_ENV, KEPT_SWITCH, AT(run.inherit_env), 0, 0},
    {KEY_QUIET, KEPT_SWITCH, AT(run.quiet), 0, 0},
    {KEY_FULL, KEPT_SWITCH, AT(run.full), 0, 0},
    {KEY_PROGRESS, KEPT_SWITCH, AT(run.progress), 0, 0},
    {KEY_STATS, KEPT_SWITCH, AT(run.stats), 0, 0},
    {KEY_VERBOSE, KEPT_SWITCH, AT(run.verbose), 0, 0},
    {KEY_QUANTUM, KEPT_COUNT, AT(run.quantum), 0, 1},
    {KEY_SKIP, KEPT_COUNT, AT(run.sampling.skip), 0, 0},
    {KEY_START, KEPT_COUNT, AT(run.sampling.start), AT(run.sampling.start_set), 0},
    {KEY_WARMUP, KEPT_COUNT, AT(run.sampling.warmup), AT(run.sampling.warmup_set), 0},
    {KEY_MEASURE, KEPT_COUNT, AT(run.sampling.measure), 0, 1},
    {KEY_SAMPLES, KEPT_COUNT, AT(run.sampling.samples), 0, 1},
    {KEY_PERIOD, KEPT_COUNT, AT(run.sampling.period), 0, 1},
    {KEY_INTERVAL, KEPT_COUNT, AT(run.points.interval), 0, 1000},
    {KEY_DIMENSIONS, KEPT_COUNT, AT(run.points.dimensions), 0, 1},
    {KEY_SEPARATE_CALLERS, KEPT_COUNT, AT(run.separate.callers), 0, 1},
    {KEY_SEPARATE_RECS, KEPT_COUNT, AT(run.separate.recursions), 0, 1},
    {KEY_MAX_K, KEPT_COUNT, AT(run.points.max_k), 0, 1},
#undef AT
};
#define KEPT (sizeof kept / sizeof kept[0])

static void *options_take_member(struct cli_options *options, size_t at) { return (char *)options + at; }

static const struct kept *find_kept(int key)
{
    for (size_t i = 0; i < KEPT; i++) {
        if (kept[i].key == key)
            return &kept[i];
    }
    return NULL;
}

static enum c2_status options_take_keep(struct cli_options *options, const struct kept *row, const char *name,
                                        const char *value, struct c2_error *err)
{
    char option[64];
    switch (row->kind) {
    case KEPT_TEXT:
        *(const char **)options_take_member(options, row->at) = value;
        return C2_OK;
    case KEPT_SWITCH:
        *(bool *)options_take_member(options, row->at) = true;
        return C2_OK;
    case KEPT_LIST:
        (*(const char ***)options_take_member(
            options, row->at))[(*(size_t *)options_take_member(options, row->length))++] = value;
        return C2_OK;
    case KEPT_COUNT:
        break;
    }
    if (row->length != 0)
        *(bool *)options_take_member(options, row->length) = true;
    snprintf(option, sizeof option, "--%s", name);
    return c2_parse_count(options_take_member(options, row->at), value, option, row->least, err);
}

enum c2_status cli_options_make_room(struct cli_options *options, size_t words, struct c2_error *err)
{
    options->run.words = c2_calloc(words + 3,
                                   sizeof *options->run.words); /* with those of imply() and of the processor */
    bool full = !options->run.words;
    for (size_t i = 0; i < KEPT; i++) {
        if (kept[i].kind != KEPT_LIST)
            continue;
        const char ***list = options_take_member(options, kept[i].at);
        *list = c2_calloc(words, sizeof **list);
        full |= !*list;
    }
    return full ? c2_fail_memory(err, "the options") : C2_OK;
}

void cli_options_release(struct cli_options *options)
{
    c2_free(options->run.words);
    options->run.words = NULL;
    c2_free(options->run.cores);
    options->run.cores = NULL;
    for (size_t i = 0; i < KEPT; i++) {
        if (kept[i].kind != KEPT_LIST)
            continue;
        const char ***list = options_take_member(options, kept[i].at);
        c2_free(*list);
        *list = NULL;
    }
}

/* ------------------------------------------------------------------ one option */

static enum c2_status take_value(struct cli_parse *parse, const struct argp_option *row, const char *value,
                                 struct c2_error *err)
{
    struct cli_options *options = parse->options;
    switch (row->key) {
    case KEY_HELP:
        return take_action(options, CLI_HELP);
    case KEY_VERSION:
        return take_action(options, CLI_VERSION);
    case KEY_LIST_MACHINES:
        return take_action(options, CLI_LIST_MACHINES);
    case KEY_JOBS:
        return take_jobs(options, value, err);
    case KEY_CORES:
        return take_cores(options, value, err);
    case KEY_HUGE:
        return take_huge(parse, value, err);
    case KEY_HUGE_SIZE:
        return take_huge_size(options, value, err);
    case KEY_CHECKPOINT_AT:
        return take_moment(options, value, err);
    case KEY_SEED:
        options->run.seed_set = true;
        return c2_parse_number(&options->run.seed, value, "--seed", err);
    case KEY_CLOCK:
        options->run.clock_set = true;
        return session_clock(&options->run.clock_start, value, err);
    case KEY_OFFSETS:
        return take_offsets(options, value, err);
    case KEY_PRECISION:
        return cli_precision(&options->run.sampling.precision, value, err);
    case KEY_REQUESTS:
        return session_requests(&options->run.regions, value, err);
    case KEY_WARM:
        return session_warm(&options->run.regions.warm, value, err);
    case KEY_WIDTH:
        return cli_take_width(&options->run.width, value, err);
    case KEY_COLOR:
        return take_color(options, value, err);
    case KEY_FORMAT:
        return take_format(options, value, err);
    }
    const struct kept *kept_row = find_kept(row->key);
    if (!kept_row)
        return c2_fail(err, C2_ERR_INTERNAL, "option --%s has no meaning", row->name);
    return options_take_keep(options, kept_row, row->name, value, err);
}

enum c2_status cli_options_take(void *self, const struct argp_option *row, char *value, struct c2_error *err)
{
    struct cli_parse *parse = self;
    if (parse->replay && cli_replay_takes(row->name, err) != C2_OK)
        return C2_ERR_INVALID;
    keep_word(parse->options, row, value);
    if (row->key < KEY_ANALYSES)
        return take_value(parse, row, value, err);
    if (row->key >= KEY_SETTINGS)
        parse->options->run.settings[row->key - KEY_SETTINGS] = value ? value : "";
    else
        parse->options->run.analyses[row->key - KEY_ANALYSES] = value ? value : "";
    return C2_OK;
}
