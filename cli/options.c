/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * options: from words to struct cli_options.
 *
 * Model
 *   The table of a run's options; words.c says what becomes of it, verbs.c has those of the verbs. Options end at
 *   PROGRAM; its own are its own.
 */
#include <ctype.h>
#include <string.h>

#include "cli/cli.h"

enum option_key {
    KEY_MACHINE = 'm',
    KEY_ENV = 'E',
    KEY_OUTPUT = 'o',
    KEY_QUIET = 'q',
    KEY_VERBOSE = 'v',
    KEY_VERSION = 'V',
    KEY_HELP = CLI_KEY_HELP,
    KEY_SET = 256, /* no short form from here on */
    KEY_VARY,
    KEY_JOBS,
    KEY_PAGES,
    KEY_PLACE,
    KEY_HUGE,
    KEY_HUGE_SIZE,
    KEY_ZERO_PAGE,
    KEY_DUMP_PAGEMAP,
    KEY_SEED,
    KEY_CLOCK,
    KEY_NO_SIM,
    KEY_ENGINE,
    KEY_INHERIT_ENV,
    KEY_JSON,
    KEY_EVICTORS,
    KEY_CACHEGRIND,
    KEY_PROGRESS,
    KEY_STATS,
    KEY_DIM,
    KEY_SKIP,
    KEY_WARMUP,
    KEY_MEASURE,
    KEY_SAMPLES,
    KEY_PERIOD,
    KEY_OFFSETS,
    KEY_PRECISION,
    KEY_POINTS,
    KEY_WEIGHTS,
    KEY_INTERVAL,
    KEY_DIMENSIONS,
    KEY_MAX_K,
    KEY_BBV,
    KEY_FROM_BBV,
    KEY_ROI,
    KEY_FROM,
    KEY_TO,
    KEY_WARM,
    KEY_REQUESTS,
    KEY_RECORD,
    KEY_FORMAT,
    KEY_LIST_MACHINES,
    KEY_ALLOC_WRAPPER,
    KEY_CHECKPOINT,
    KEY_CHECKPOINT_AT,
    KEY_CHECKPOINT_CACHES,
    KEY_CHECKPOINT_STOP,
    KEY_ANALYSES,                                    /* one an analysis */
    KEY_UNAVAILABLE = KEY_ANALYSES + ANALYSES_KINDS, /* and everything above */
};
enum { GROUP_RUN = 2 }; /* up to it, groups of options decide what is run and simulated */
#define ANALYSIS_ROW(name, option, argument, help, section) \
    {option, KEY_ANALYSES + ANALYSIS_##name, argument, 0, help, section},

const struct argp_option cli_run_options[] = {
    {NULL, 0, NULL, 0, "Machine and memory:", 1},
    {"machine", KEY_MACHINE, "NAME|FILE", 0,
     "machine: a preset's name or an INI file (sandybridge-ep); several times: the run on each, compared", 1},
    {"set", KEY_SET, "LEVEL.KEY=VALUE", 0, "change one key of the machine, e.g. L2.ways=4; repeatable", 1},
    {"vary", KEY_VARY, "KEY=VALUE,...|A..B", 0,
     "simulate the run with each value side by side, and compare: a key of the machine (L2.ways=4,8,16), pages, "
     "pages.seed (1..32) and the policies' other keys, huge; several: every combination; repeatable",
     1},
    {"pages", KEY_PAGES, "POLICY[,KEY=VALUE]", 0,
     "placement of pages: sequential (default), random, identity, colored[,level=NAME], "
     "same-color[,color=N][,level=NAME], buddy[,age=0..1], file=PATH (a page map); each but that with ,seed=N",
     1},
    {"place", KEY_PLACE, "REGION=POLICY[,KEY]", 0,
     "placement of one region: heap, stack, mmap, text, a mapped file (libc.so.6) or a symbol of the program; the rest "
     "goes by --pages; repeatable",
     1},
    {"huge", KEY_HUGE, "off|never|thp|all|REGION", 0,
     "huge pages: off (only where the program asks for them), never, thp (transparent, as Linux does), all; or for one "
     "region: heap, stack, mmap or a symbol of the program; repeatable",
     1},
#define X(name, option, argument, help) ANALYSIS_ROW(name, option, argument, help, 1)
    ANALYSES_OF_MEMORY(X)
#undef X
        {"huge-size", KEY_HUGE_SIZE, "2M|1G", 0, "size of the pages of --huge all and REGION (2M)", 1},
    {"zero-page", KEY_ZERO_PAGE, NULL, 0, "pages of anonymous memory that are only read share one frame, as on Linux",
     1},
    {"seed", KEY_SEED, "N", 0, "master seed of everything random (1)", 1},
    {NULL, 0, NULL, 0, "The run:", 2},
    {"no-sim", KEY_NO_SIM, NULL, 0, "run the program only: nothing recorded, no caches", 2},
#define X(name, option, argument, help) ANALYSIS_ROW(name, option, argument, help, 2)
    ANALYSES_OF_RUN(X)
#undef X
        {"skip", KEY_SKIP, "N", 0, "execute N instructions before each sample, and simulate nothing (0)", 2},
    {"warmup", KEY_WARMUP, "N", 0, "simulate N instructions before each sample, and count nothing (0)", 2},
    {"measure", KEY_MEASURE, "N", 0, "a sample's instructions (all that are left)", 2},
    {"samples", KEY_SAMPLES, "K", 0, "how many samples (1; with --period as many as there is room for)", 2},
    {"period", KEY_PERIOD, "N", 0, "a sample in each N instructions, the first after --skip", 2},
    {"offsets", KEY_OFFSETS, "systematic|random", 0, "where in its period a sample begins: at the start, or drawn", 2},
    {"precision", KEY_PRECISION, "P", 0,
     "warn when samples tell the miss rate of a level less surely than to P per cent of itself", 2},
    {"points", KEY_POINTS, "FILE", 0,
     "measure these intervals, each for what its weight says, as `c2emu points` writes", 2},
    {"weights", KEY_WEIGHTS, "FILE", 0, "the weights of --points NAME.simpoints (NAME.weights)", 2},
    {"interval", KEY_INTERVAL, "N", 0, "instructions of an interval of --points; and of points (10M)", 2},
    {"dimensions", KEY_DIMENSIONS, "N", 0, "points: to how many vectors of blocks are projected (15)", 2},
    {"max-k", KEY_MAX_K, "K", 0, "points: the most there may be (30)", 2},
    {"roi", KEY_ROI, "FUNCTION", 0,
     "measure only the calls of a function, from entry to return; *, ? and [] as in a shell; repeatable", 2},
    {"from", KEY_FROM, "PLACE", 0,
     "measure from a place on: SYMBOL[:N], 0xADDRESS[:N] or FILE:LINE[:N]; N: only from the N-th arrival there", 2},
    {"to", KEY_TO, "PLACE", 0, "... and up to one", 2},
    {"requests", KEY_REQUESTS, "yes|...", 0,
     "honour the program's requests to Callgrind: yes; instr-atstart=no, nothing is measured before it asks for "
     "instrumentation; collect-atstart=no, nothing is counted before it toggles; or both with a comma",
     2},
    {"warm", KEY_WARM, "HOW", 0,
     "what is not measured is simulated and not counted (functional), not simulated (none), or that, and caches and "
     "TLBs are empty then (flush); outside of --roi, --from and --to functional, for --skip none",
     2},
    {"jobs", KEY_JOBS, "N", 0, "host threads that simulate, where there are several machines (as many as processors)",
     2},
    {"engine", KEY_ENGINE, "NAME", 0, "what executes the guest (unicorn)", 2},
    {"env", KEY_ENV, "NAME[=VALUE]", 0,
     "add to the guest's environment (PATH, HOME and LANG=C); without VALUE: the host's; repeatable", 2},
    {"clock", KEY_CLOCK, "DATE|@SECONDS", 0,
     "the guest's clock at the start, in UTC: 2024-02-29, 2024-02-29T12:30:00 (2020-01-01)", 2},
    {"inherit-env", KEY_INHERIT_ENV, NULL, 0, "pass the host's environment through", 2},
    {"alloc-wrapper", KEY_ALLOC_WRAPPER, "FUNCTION", 0,
     "a function whose callers are told for the blocks that it allocates, whatever it returns; repeatable", 2},
    {"dim", KEY_DIM, "OBJECT=ROWBYTES", 0,
     "advise: the length of the rows of an object, named as reports do; repeatable", 2},
    {"format", KEY_FORMAT, "FORMAT", 0,
     "replay: what FILE is, where it is not to be seen: recording, din, lackey, text", 2},
    {NULL, 0, NULL, 0, "What is written:", 3},
    {"checkpoint", KEY_CHECKPOINT, "FILE", 0, "write the state of the program, for `c2emu restore FILE`", 3},
    {"checkpoint-at", KEY_CHECKPOINT_AT, "N|PLACE", 0,
     "... when N instructions have been executed, or before the first one of a place as of --from", 3},
    {"checkpoint-caches", KEY_CHECKPOINT_CACHES, NULL, 0,
     "... with all references up to there, so that the caches can be as they were", 3},
    {"checkpoint-stop", KEY_CHECKPOINT_STOP, NULL, 0, "... and end the run there", 3},
    {"output", KEY_OUTPUT, "DIR", 0, "write report.txt and report.json there", 3},
    {"json", KEY_JSON, "FILE", 0, "write the JSON report; - is standard output", 3},
    {"record", KEY_RECORD, "FILE", 0, "keep all that was simulated, for c2emu replay", 3},
    {"dump-pagemap", KEY_DUMP_PAGEMAP, "FILE", 0,
     "write the frame of each page touched, for --pages file=FILE; FILE.textproto: DynamoRIO's v2p form", 3},
#define X(name, option, argument, help) ANALYSIS_ROW(name, option, argument, help, 3)
    ANALYSES_OF_FILES(X)
#undef X
        {"evictors", KEY_EVICTORS, "FILE", 0,
         "write who evicted whom in the same format: conflict misses, with a call from each victim to each evictor", 3},
    {"cachegrind", KEY_CACHEGRIND, "FILE", 0, "write costs by line in Cachegrind's format, for cg_annotate", 3},
    {"bbv", KEY_BBV, "FILE", 0, "points: write which blocks each interval executes, as SimPoint reads it", 3},
    {"from-bbv", KEY_FROM_BBV, "FILE", 0,
     "points: read that from FILE, of any program that writes it; no PROGRAM is run", 3},
    {"quiet", KEY_QUIET, NULL, 0, "no text report", 3},
    {NULL, 0, NULL, 0, "Beside the report:", 4},
    {"progress", KEY_PROGRESS, NULL, 0, "progress on standard error, even where it is no terminal", 4},
    {"stats", KEY_STATS, NULL, 0, "host time, speed and memory on standard error", 4},
    {"verbose", KEY_VERBOSE, NULL, 0, "trace the guest's system calls on standard error", 4},
    {"list-machines", KEY_LIST_MACHINES, NULL, 0, "print the included machines, one a line", 5},
    {"version", KEY_VERSION, NULL, 0, "print the version", 5},
    {"help", KEY_HELP, NULL, 0, "print this", 5},
    {0},
};
_Static_assert(sizeof cli_run_options / sizeof cli_run_options[0] <= CLI_ROWS, "c2_nearest has no room for the names");

const struct cli_command cli_run_command = {
    .runs_program = true,
    .arguments = "[--] PROGRAM [ARG]...",
    .text = "Run an x86-64 Linux program in an emulator and report what its caches did."
            "\vThe report goes to standard error when PROGRAM ends. Exit status: PROGRAM's own; 128+N when signal N "
            "killed it; 125 when c2emu failed; 126 when PROGRAM cannot be executed; 127 when it is not found.",
    .options = cli_run_options,
};

/* ------------------------------------------------------------------ taking the values */

struct parse {
    struct cli_options *options;
    bool replay;           /* the words are those behind `c2emu replay` */
    const char *huge_word; /* of --huge, other than regions */
};

/* The index of value among the values of --option. */
static enum c2_status take_word(unsigned *out, const char *option, const char *value, const char *const *values,
                                size_t count, struct c2_error *err)
{
    char hint[128];
    for (*out = 0; *out < count; ++*out) {
        if (strcmp(value, values[*out]) == 0)
            return C2_OK;
    }
    return c2_fail(err, C2_ERR_INVALID, "--%s: unknown value \"%s\"%s", option, value,
                   c2_suggest(hint, sizeof hint, value, values, count));
}

/* A word for all of memory, of which there is one; else a region, whose name is looked up later. */
static enum c2_status take_huge(struct parse *parse, const char *value, struct c2_error *err)
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
        options->huge = (enum mmu_huge)i;
        return C2_OK;
    }
    options->huge_regions[options->huge_region_count++] = value;
    return C2_OK;
}

/* `heap` by itself is a word of its own, with its name in reports. */
static void settle_huge(struct cli_options *options)
{
    if (options->huge != MMU_HUGE_ASKED)
        return;
    for (size_t i = 0; i < options->huge_region_count; i++) {
        if (strcmp(options->huge_regions[i], mmu_huge_name(MMU_HUGE_HEAP)) != 0)
            continue;
        options->huge = MMU_HUGE_HEAP;
        options->huge_region_count--;
        memmove(options->huge_regions + i, options->huge_regions + i + 1,
                (options->huge_region_count - i) * sizeof *options->huge_regions);
        return;
    }
}

static enum c2_status take_huge_size(struct cli_options *options, const char *value, struct c2_error *err)
{
    static const char *const values[] = {"2M", "1G"};
    unsigned index;
    enum c2_status status = take_word(&index, "huge-size", value, values, 2, err);
    if (status == C2_OK)
        options->huge_size = index == 0 ? MMU_PAGE_2M : MMU_PAGE_1G;
    return status;
}

/* The first of those that are instead of a run wins. */
static enum c2_status take_action(struct cli_options *options, enum cli_action action)
{
    const bool acts = options->action == CLI_RUN || options->action == CLI_REPLAY || options->action == CLI_RESTORE;
    options->action = acts ? action : options->action;
    return C2_OK;
}

/* At most 10^18, so that sums of a few do not overflow. */
static enum c2_status take_count(uint64_t *out, const char *option, const char *text, uint64_t least,
                                 struct c2_error *err)
{
    static const char powers[] = "kMG";
    const size_t length = strlen(text);
    const char *power = length > 1 ? strchr(powers, text[length - 1]) : NULL;
    char digits[32];
    uint64_t scale = 1;
    for (ptrdiff_t i = 0; power && i <= power - powers; i++)
        scale *= 1000;
    snprintf(digits, sizeof digits, "%.*s", (int)(length - (power ? 1 : 0)), text);
    if (c2_parse_number(out, digits, option, NULL) != C2_OK || length >= sizeof digits)
        return c2_fail(err, C2_ERR_INVALID, "%s %s: must be a number, with k, M or G for powers of 1000", option, text);
    if (*out > 1000000000000000000 / scale || *out * scale < least)
        return c2_fail(err, C2_ERR_INVALID, "%s %s: must be %llu to 10^18", option, text, (unsigned long long)least);
    *out *= scale;
    return C2_OK;
}

static enum c2_status take_jobs(struct cli_options *options, const char *text, struct c2_error *err)
{
    if (c2_parse_number(&options->jobs, text, "--jobs", NULL) == C2_OK && options->jobs >= 1 && options->jobs <= 1024)
        return C2_OK;
    return c2_fail(err, C2_ERR_INVALID, "--jobs %s: must be a number of threads, 1 to 1024", text);
}

/* Where a checkpoint is made: what begins with a digit is a number of instructions, but for addresses. */
static enum c2_status take_moment(struct cli_options *options, const char *text, struct c2_error *err)
{
    options->checkpoint_at = 0;
    options->checkpoint_place = NULL;
    if (isdigit((unsigned char)text[0]) && strncmp(text, "0x", 2) != 0)
        return take_count(&options->checkpoint_at, "--checkpoint-at", text, 1, err);
    options->checkpoint_place = text;
    return cli_place_check("--checkpoint-at", text, err);
}

static enum c2_status take_offsets(struct cli_options *options, const char *text, struct c2_error *err)
{
    static const char *const words[] = {"systematic", "random"};
    char hint[256];
    options->sampling.random_offsets = strcmp(text, words[1]) == 0;
    if (options->sampling.random_offsets || strcmp(text, words[0]) == 0)
        return C2_OK;
    return c2_fail(err, C2_ERR_INVALID, "--offsets %s: unknown value%s", text,
                   c2_suggest(hint, sizeof hint, text, words, 2));
}

static enum c2_status take_format(struct cli_options *options, const char *value, struct c2_error *err)
{
    static const char *const values[] = {"recording", "din", "lackey", "text"};
    unsigned ignored;
    options->format = value;
    return take_word(&ignored, "format", value, values, sizeof values / sizeof values[0], err);
}

/* What only says where something is written, what is printed beside the report, or how many threads work at it, makes
 * no other run. */
static void keep_word(struct cli_options *options, const struct argp_option *row, const char *value)
{
    if (row->group <= GROUP_RUN && row->key != KEY_JOBS)
        options->words[options->word_count++] = (struct cli_word){row, value};
}

static enum c2_status take_option(void *self, const struct argp_option *row, char *value, struct c2_error *err)
{
    struct parse *parse = self;
    struct cli_options *options = parse->options;
    if (parse->replay && cli_replay_takes(row->name, err) != C2_OK)
        return C2_ERR_INVALID;
    keep_word(options, row, value);
    if (row->key >= KEY_ANALYSES && row->key < KEY_ANALYSES + ANALYSES_KINDS) {
        options->analyses[row->key - KEY_ANALYSES] = value ? value : "";
        return C2_OK;
    }
    switch (row->key) {
    case KEY_HELP:
        return take_action(options, CLI_HELP);
    case KEY_VERSION:
        return take_action(options, CLI_VERSION);
    case KEY_LIST_MACHINES:
        return take_action(options, CLI_LIST_MACHINES);
    case KEY_MACHINE:
        options->machines[options->machine_count++] = value;
        return C2_OK;
    case KEY_VARY:
        options->vary[options->vary_count++] = value;
        return C2_OK;
    case KEY_JOBS:
        return take_jobs(options, value, err);
    case KEY_SET:
        options->overrides[options->override_count++] = value;
        return C2_OK;
    case KEY_PAGES:
        options->pages = value;
        return C2_OK;
    case KEY_PLACE:
        options->places[options->place_count++] = value;
        return C2_OK;
    case KEY_HUGE:
        return take_huge(parse, value, err);
    case KEY_HUGE_SIZE:
        return take_huge_size(options, value, err);
    case KEY_ZERO_PAGE:
        options->zero_page = true;
        return C2_OK;
    case KEY_DUMP_PAGEMAP:
        options->dump_pagemap = value;
        return C2_OK;
    case KEY_CHECKPOINT:
        options->checkpoint = value;
        return C2_OK;
    case KEY_CHECKPOINT_AT:
        return take_moment(options, value, err);
    case KEY_CHECKPOINT_STOP:
        options->checkpoint_stop = true;
        return C2_OK;
    case KEY_CHECKPOINT_CACHES:
        options->checkpoint_caches = true;
        return C2_OK;
    case KEY_SEED:
        options->seed_set = true;
        return c2_parse_number(&options->seed, value, "--seed", err);
    case KEY_ALLOC_WRAPPER:
        options->wrappers[options->wrapper_count++] = value;
        return C2_OK;
    case KEY_CLOCK:
        options->clock_set = true;
        return cli_clock(&options->clock_start, value, err);
    case KEY_DIM:
        options->dims[options->dim_count++] = value;
        return C2_OK;
    case KEY_SKIP:
        return take_count(&options->sampling.skip, "--skip", value, 0, err);
    case KEY_WARMUP:
        return take_count(&options->sampling.warmup, "--warmup", value, 0, err);
    case KEY_MEASURE:
        return take_count(&options->sampling.measure, "--measure", value, 1, err);
    case KEY_SAMPLES:
        return take_count(&options->sampling.samples, "--samples", value, 1, err);
    case KEY_PERIOD:
        return take_count(&options->sampling.period, "--period", value, 1, err);
    case KEY_OFFSETS:
        return take_offsets(options, value, err);
    case KEY_PRECISION:
        return cli_precision(&options->sampling.precision, value, err);
    case KEY_POINTS:
        options->sampling.points = value;
        return C2_OK;
    case KEY_WEIGHTS:
        options->sampling.weights = value;
        return C2_OK;
    case KEY_INTERVAL:
        return take_count(&options->points.interval, "--interval", value, 1000, err);
    case KEY_DIMENSIONS:
        return take_count(&options->points.dimensions, "--dimensions", value, 1, err);
    case KEY_MAX_K:
        return take_count(&options->points.max_k, "--max-k", value, 1, err);
    case KEY_BBV:
        options->points.vectors_to = value;
        return C2_OK;
    case KEY_FROM_BBV:
        options->points.vectors_from = value;
        return C2_OK;
    case KEY_ROI:
        options->regions.functions[options->regions.function_count++] = value;
        return C2_OK;
    case KEY_FROM:
        options->regions.from = value;
        return C2_OK;
    case KEY_TO:
        options->regions.to = value;
        return C2_OK;
    case KEY_REQUESTS:
        return cli_requests(&options->regions, value, err);
    case KEY_WARM:
        return cli_warm(&options->regions.warm, value, err);
    case KEY_NO_SIM:
        options->no_sim = true;
        return C2_OK;
    case KEY_ENGINE:
        options->engine = value;
        return C2_OK;
    case KEY_ENV:
        options->env[options->env_count++] = value;
        return C2_OK;
    case KEY_INHERIT_ENV:
        options->inherit_env = true;
        return C2_OK;
    case KEY_OUTPUT:
        options->output_dir = value;
        return C2_OK;
    case KEY_JSON:
        options->json = value;
        return C2_OK;
    case KEY_RECORD:
        options->record = value;
        return C2_OK;
    case KEY_FORMAT:
        return take_format(options, value, err);
    case KEY_EVICTORS:
        options->evictors = value;
        return C2_OK;
    case KEY_CACHEGRIND:
        options->cachegrind = value;
        return C2_OK;
    case KEY_QUIET:
        options->quiet = true;
        return C2_OK;
    case KEY_PROGRESS:
        options->progress = true;
        return C2_OK;
    case KEY_STATS:
        options->stats = true;
        return C2_OK;
    case KEY_VERBOSE:
        options->verbose = true;
        return C2_OK;
    }
    return c2_fail(err, C2_ERR_INTERNAL, "option --%s has no meaning", row->name);
}

static enum c2_status take_program(void *self, char *const *words, struct c2_error *err)
{
    struct parse *parse = self;
    if (parse->replay && parse->options->recording)
        return c2_fail(err, C2_ERR_INVALID, "replay: one file at a time: %s, and then %s", parse->options->recording,
                       words[0]);
    if (parse->replay) {
        parse->options->recording = words[0];
        return C2_OK;
    }
    parse->options->command = (const char *const *)words;
    return C2_OK;
}

static enum c2_status take_checkpoint(void *self, char *const *words, struct c2_error *err)
{
    struct parse *parse = self;
    if (parse->options->restored)
        return c2_fail(err, C2_ERR_INVALID,
                       "restore: \"%s\" is one word too many: there is one checkpoint, and the program's arguments are "
                       "in it",
                       words[0]);
    parse->options->restored = words[0];
    return C2_OK;
}

/* The analyses that files are written of. */
static const enum analysis_number with_files[] = {
#define X(name, option, argument, help) ANALYSIS_##name,
    ANALYSES_OF_FILES(X)
#undef X
};
#define WITH_FILES (sizeof with_files / sizeof with_files[0])

static enum c2_status fail_unrecorded(const char *option, struct c2_error *err)
{
    return c2_fail(err, C2_ERR_INVALID, "--%s needs the references that --no-sim does not record; leave one out",
                   option);
}

/* Files of references, and profiles, which are of instructions: what they cost, whose lines they took. */
static enum c2_status check_profiles(const struct cli_options *options, struct c2_error *err)
{
    const char *const profiles[][2] = {{"callgrind", options->analyses[ANALYSIS_callgraph]},
                                       {"evictors", options->evictors},
                                       {"cachegrind", options->cachegrind}};
    for (size_t i = 0; i < WITH_FILES; i++) {
        if (options->analyses[with_files[i]] && options->no_sim)
            return fail_unrecorded(analyses_option(with_files[i]), err);
    }
    for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++) {
        if (profiles[i][1] && options->no_sim)
            return fail_unrecorded(profiles[i][0], err);
        if (profiles[i][1] && options->analyses[ANALYSIS_profile])
            return c2_fail(err, C2_ERR_INVALID,
                           "--%s tells which instruction missed, which --no-attribution does not note; leave one out",
                           profiles[i][0]);
    }
    return C2_OK;
}

struct named_file {
    const char *option, *path;
};

/* The one that is finished last would take the place of the other. */
static enum c2_status check_pair(const struct named_file *a, const struct named_file *b, struct c2_error *err)
{
    if (!a->path || !b->path || strcmp(a->path, b->path) != 0 || strcmp(a->path, "/dev/null") == 0 ||
        strcmp(a->option, b->option) == 0)
        return C2_OK;
    return c2_fail(err, C2_ERR_INVALID, "--%s and --%s are both to write %s; give each a file of its own", a->option,
                   b->option, a->path);
}

static enum c2_status check_files(const struct cli_options *options, struct c2_error *err)
{
    enum { OTHERS = 7 };
    struct named_file files[OTHERS + WITH_FILES] = {{"json", options->json},
                                                    {"checkpoint", options->checkpoint},
                                                    {"dump-pagemap", options->dump_pagemap},
                                                    {"record", options->record},
                                                    {"callgrind", options->analyses[ANALYSIS_callgraph]},
                                                    {"evictors", options->evictors},
                                                    {"cachegrind", options->cachegrind}};
    enum c2_status status = C2_OK;
    for (size_t i = 0; i < WITH_FILES; i++)
        files[OTHERS + i] = (struct named_file){analyses_option(with_files[i]), options->analyses[with_files[i]]};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        for (size_t k = 0; k < i && status == C2_OK; k++)
            status = check_pair(&files[k], &files[i], err);
    }
    return status;
}

/* What `advise` needs, and what only it takes. */
static enum c2_status check_advise(const struct cli_options *options, struct c2_error *err)
{
    if (!options->advise && options->dim_count != 0)
        return c2_fail(err, C2_ERR_INVALID, "--dim belongs to `c2emu advise`");
    if (!options->advise)
        return C2_OK;
    if (options->no_sim || options->analyses[ANALYSIS_profile])
        return c2_fail(err, C2_ERR_INVALID, "advise needs the misses that --no-%s leaves out; leave it out",
                       options->no_sim ? "sim" : "attribution");
    if (options->analyses[ANALYSIS_against])
        return c2_fail(err, C2_ERR_INVALID, "advise compares placements by itself; leave --against out");
    if (options->output_dir)
        return c2_fail(err, C2_ERR_INVALID, "advise has one report; write it with --json FILE and leave --output out");
    if (strncmp(options->pages, "file", 4) == 0)
        return c2_fail(err, C2_ERR_UNSUPPORTED,
                       "advise moves objects to pages that a map does not know; use another "
                       "--pages than %s",
                       options->pages);
    return C2_OK;
}

/* Standard output is the program's, too. `advise` keeps a recording that is gone with it. */
static enum c2_status check_record(const struct cli_options *options, struct c2_error *err)
{
    if (options->format && options->action != CLI_REPLAY)
        return c2_fail(err, C2_ERR_INVALID, "--format belongs to `c2emu replay`");
    if (!options->record)
        return C2_OK;
    if (strcmp(options->record, "-") == 0)
        return c2_fail(err, C2_ERR_INVALID,
                       "--record -: the program writes to standard output as well; record to a file, or to another "
                       "descriptor, as in --record /dev/fd/3 3>&1 >/dev/null");
    if (options->points.find)
        return c2_fail(err, C2_ERR_INVALID, "points records nothing; run the program with --record FILE by itself");
    if (options->advise)
        return c2_fail(err, C2_ERR_INVALID, "advise keeps no recording; run the program with --record FILE by itself");
    return C2_OK;
}

/* ------------------------------------------------------------------ samples */

bool cli_sampling_asked(const struct cli_sampling *sampling)
{
    return sampling->skip != 0 || sampling->warmup != 0 || sampling->measure != 0 || sampling->points;
}

static enum c2_status check_samples(const struct cli_sampling *s, struct c2_error *err)
{
    if (s->measure == 0 && (s->samples != 0 || s->period != 0))
        return c2_fail(err, C2_ERR_INVALID, "--%s needs to know how long a sample is; add --measure N",
                       s->samples != 0 ? "samples" : "period");
    if (s->measure == 0 && s->precision != 0)
        return c2_fail(err, C2_ERR_INVALID,
                       "--precision is of samples; add --measure N, with --period N or --samples K");
    if (s->random_offsets && s->period == 0)
        return c2_fail(err, C2_ERR_INVALID, "--offsets random draws a place in each period; add --period N");
    if (s->period != 0 && (s->warmup > s->period || s->measure > s->period - s->warmup))
        return c2_fail(err, C2_ERR_INVALID,
                       "--period %llu is shorter than a sample of %llu instructions and its warm-up of %llu",
                       (unsigned long long)s->period, (unsigned long long)s->measure, (unsigned long long)s->warmup);
    return C2_OK;
}

/* What needs all of a run, or nothing of it, goes with no samples. */
static enum c2_status check_sampling(const struct cli_options *options, struct c2_error *err)
{
    if (!cli_sampling_asked(&options->sampling))
        return check_samples(&options->sampling, err);
    const char *given = options->sampling.points ? "--points" : "--skip, --warmup and --measure";
    if (options->no_sim)
        return c2_fail(err, C2_ERR_INVALID, "--no-sim skips everything; leave %s out", given);
    if (options->advise)
        return c2_fail(err, C2_ERR_INVALID, "advise plays the whole run; leave %s out", given);
    return check_samples(&options->sampling, err);
}

/* What is of one machine, or of none, does not go with several. */
static enum c2_status check_many(const struct cli_options *options, struct c2_error *err)
{
    const char *many = options->vary_count != 0 ? "--vary" : "all -m but one";
    if (options->vary_count == 0 && options->machine_count < 2)
        return C2_OK;
    if (options->points.find)
        return c2_fail(err, C2_ERR_INVALID, "points simulates no machine; leave out %s", many);
    if (options->no_sim)
        return c2_fail(err, C2_ERR_INVALID, "--no-sim simulates no machine to compare; leave it out, or %s", many);
    if (options->advise)
        return c2_fail(err, C2_ERR_INVALID, "advise is for one machine and one placement; leave out %s", many);
    if (options->analyses[ANALYSIS_against])
        return c2_fail(err, C2_ERR_INVALID,
                       "--against compares one machine with one other placement, access by access; leave it out "
                       "(--vary pages=... compares the counts of several), or %s",
                       many);
    return C2_OK;
}

static bool varies_huge(const struct cli_options *options)
{
    bool varies = false;
    for (size_t i = 0; i < options->vary_count; i++)
        varies |= strncmp(options->vary[i], "huge=", strlen("huge=")) == 0;
    return varies;
}

/* What of a checkpoint goes together. */
static enum c2_status check_checkpoint(const struct cli_options *options, struct c2_error *err)
{
    const bool when = options->checkpoint_at != 0 || options->checkpoint_place;
    if (options->checkpoint && !when)
        return c2_fail(err, C2_ERR_INVALID, "--checkpoint %s: when? Add --checkpoint-at N|PLACE", options->checkpoint);
    if (!options->checkpoint && (when || options->checkpoint_caches || options->checkpoint_stop))
        return c2_fail(err, C2_ERR_INVALID, "--checkpoint-%s needs the file to write; add --checkpoint FILE",
                       when                         ? "at"
                       : options->checkpoint_caches ? "caches"
                                                    : "stop");
    if (options->checkpoint && options->points.find)
        return c2_fail(err, C2_ERR_INVALID, "points runs the program to its end; leave --checkpoint out");
    if (options->checkpoint && strcmp(options->checkpoint, "-") == 0)
        return c2_fail(err, C2_ERR_INVALID, "--checkpoint -: standard output is the program's; name a file");
    if (options->checkpoint_caches && cli_regions_asked(&options->regions))
        return c2_fail(err, C2_ERR_INVALID, "--checkpoint-caches is for whole runs; leave --roi, --from and --to out");
    if (options->checkpoint_caches && (options->no_sim || cli_sampling_asked(&options->sampling)))
        return c2_fail(err, C2_ERR_INVALID,
                       "--checkpoint-caches keeps all references, which --%s leaves out; leave one out",
                       options->no_sim ? "no-sim" : "skip, --warmup and --measure");
    return C2_OK;
}

/* What can be said only when all words are known. */
static enum c2_status check_whole(struct cli_options *options, struct c2_error *err)
{
    const bool replay = options->action == CLI_REPLAY, restore = options->action == CLI_RESTORE;
    const bool needs_none = replay || restore || options->points.vectors_from;
    if (options->action != CLI_RUN && !replay && !restore)
        return C2_OK;
    if (replay && (!options->recording || options->recording[0] == '\0'))
        return c2_fail(err, C2_ERR_INVALID,
                       "replay: no recording given: c2emu replay [OPTION]... FILE (- is standard "
                       "input; see c2emu help replay)");
    if (restore && !options->restored)
        return c2_fail(err, C2_ERR_INVALID,
                       "no checkpoint given: c2emu restore FILE [OPTION]... (see c2emu help restore)");
    if (!needs_none && (!options->command || options->command[0][0] == '\0'))
        return c2_fail(err, C2_ERR_INVALID,
                       "no program given: c2emu [OPTION]... [--] PROGRAM [ARG]... (see c2emu --help)");
    const bool sized = options->huge == MMU_HUGE_HEAP || options->huge == MMU_HUGE_ALL ||
                       options->huge_region_count > 0 || varies_huge(options);
    const char *against = options->analyses[ANALYSIS_against];
    const bool sized_there = against && strncmp(against, "huge", strlen("huge")) == 0;
    if (options->huge_size != MMU_PAGE_4K && !sized_there && !sized)
        return c2_fail(err, C2_ERR_INVALID,
                       "--huge-size is the size of the pages of --huge all, --huge REGION or --against huge; add one");
    if (options->no_sim && against)
        return c2_fail(err, C2_ERR_INVALID, "--against compares what --no-sim does not simulate; leave one out");
    if (options->wrapper_count != 0 && (options->no_sim || options->analyses[ANALYSIS_profile]))
        return c2_fail(err, C2_ERR_INVALID, "--alloc-wrapper names blocks, which --no-%s leaves out; leave one out",
                       options->no_sim ? "sim" : "attribution");
    if (options->no_sim && options->analyses[ANALYSIS_fifo])
        return c2_fail(err, C2_ERR_INVALID, "--fifo-detector needs the caches that --no-sim leaves out; leave one out");
    enum c2_status status = cli_points_check(options, err);
    if (status == C2_OK)
        status = cli_regions_check(options, err);
    if (status == C2_OK)
        status = check_many(options, err);
    if (status == C2_OK && !replay)
        status = check_sampling(options, err);
    if (status == C2_OK)
        status = check_checkpoint(options, err);
    if (status == C2_OK)
        status = check_profiles(options, err);
    if (status == C2_OK)
        status = check_files(options, err);
    if (status == C2_OK)
        status = check_record(options, err);
    return status == C2_OK ? check_advise(options, err) : status;
}

static enum c2_status make_room(struct cli_options *out, size_t words, struct c2_error *err)
{
    out->machines = c2_calloc(words, sizeof *out->machines);
    out->vary = c2_calloc(words, sizeof *out->vary);
    out->overrides = c2_calloc(words, sizeof *out->overrides);
    out->env = c2_calloc(words, sizeof *out->env);
    out->places = c2_calloc(words, sizeof *out->places);
    out->huge_regions = c2_calloc(words, sizeof *out->huge_regions);
    out->dims = c2_calloc(words, sizeof *out->dims);
    out->wrappers = c2_calloc(words, sizeof *out->wrappers);
    out->words = c2_calloc(words, sizeof *out->words);
    out->regions.functions = c2_calloc(words, sizeof *out->regions.functions);
    if (!out->words || !out->regions.functions || !out->machines || !out->vary || !out->dims || !out->wrappers ||
        !out->overrides || !out->env || !out->places || !out->huge_regions)
        return c2_fail_memory(err, "the options");
    return C2_OK;
}

/* The words behind `c2emu`, `c2emu advise`, `c2emu points`, `c2emu replay` or `c2emu restore`. */
static enum c2_status parse_run(struct cli_options *out, int argc, char **argv, struct c2_error *err)
{
    const bool replay = out->action == CLI_REPLAY, restore = out->action == CLI_RESTORE;
    struct parse parse = {.options = out, .replay = replay};
    const struct cli_taker taker = {&parse, take_option, restore ? take_checkpoint : take_program};
    enum c2_status status = make_room(out, (size_t)argc, err);
    if (status == C2_OK)
        status = cli_words_take(replay || restore ? out->verb : &cli_run_command, argc, argv, &taker, err);
    settle_huge(out);
    if (status == C2_OK)
        status = check_whole(out, err);
    out->no_sim |= out->points.find;
    if (status != C2_OK)
        cli_options_release(out);
    return status;
}

/* c2emu help [VERB] */
static enum c2_status parse_help(struct cli_options *out, int argc, char **argv, struct c2_error *err)
{
    out->action = CLI_HELP;
    if (argc > 3)
        return c2_fail(err, C2_ERR_INVALID, "help: one verb at a time: c2emu help [VERB]");
    out->verb = NULL;
    return argc == 3 ? cli_verb_named(&out->verb, argv[2], err) : C2_OK;
}

enum c2_status cli_options_parse(struct cli_options *out, int argc, char **argv, struct c2_error *err)
{
    *out = (struct cli_options){.pages = "sequential", .engine = "unicorn", .seed = 1};
    out->verb = argc > 1 ? cli_verb(argv[1]) : NULL;
    out->action = out->verb ? out->verb->action : CLI_RUN;
    out->points.find = out->verb && strcmp(out->verb->verb, "points") == 0;
    out->advise = out->verb && out->action == CLI_RUN && !out->points.find;
    enum c2_status status = argc > 1 && !out->verb ? cli_verb_check_missing(argv[1], err) : C2_OK;
    argc -= out->verb ? 1 : 0;
    argv += out->verb ? 1 : 0;
    bool help = false;
    if (status == C2_OK)
        status = cli_words_check(out->verb ? out->verb : &cli_run_command, argc, argv, &help, err);
    if (status != C2_OK)
        return status;
    if (out->verb && help)
        out->action = CLI_HELP;
    else if (out->action == CLI_HELP)
        return parse_help(out, argc + 1, argv - 1, err);
    else if (out->action == CLI_RUN || out->action == CLI_REPLAY || out->action == CLI_RESTORE)
        return parse_run(out, argc, argv, err);
    return C2_OK; /* a verb's words are its own */
}

void cli_options_release(struct cli_options *options)
{
    c2_free(options->machines);
    c2_free(options->vary);
    c2_free(options->overrides);
    c2_free(options->env);
    c2_free(options->places);
    c2_free(options->huge_regions);
    c2_free(options->dims);
    c2_free(options->wrappers);
    c2_free(options->words);
    options->words = NULL;
    c2_free(options->regions.functions);
    options->regions.functions = NULL;
    options->machines = options->vary = options->dims = options->wrappers = options->overrides = options->env =
        options->places = options->huge_regions = NULL;
}
