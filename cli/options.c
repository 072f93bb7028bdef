/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * options: from words to struct cli_options.
 *
 * Model
 *   One table of options feeds three things: the check of the words (which gives the messages, with the nearest name
 *   for a misspelt one), argp's parsing, and --help. Options end at PROGRAM; its own are its own.
 *   What the interface names and this version does not have is in the table too, hidden from --help, so that it is
 *   refused by name with what can be used instead.
 */
#include <argp.h>
#include <string.h>

#include "cli/cli.h"

enum option_key {
    KEY_MACHINE = 'm',
    KEY_ENV = 'E',
    KEY_OUTPUT = 'o',
    KEY_QUIET = 'q',
    KEY_VERBOSE = 'v',
    KEY_VERSION = 'V',
    KEY_HELP = 'h',
    KEY_SET = 256, /* no short form from here on */
    KEY_PAGES,
    KEY_PLACE,
    KEY_HUGE,
    KEY_HUGE_SIZE,
    KEY_ZERO_PAGE,
    KEY_DUMP_PAGEMAP,
    KEY_SEED,
    KEY_NO_SIM,
    KEY_NO_ATTRIBUTION,
    KEY_AGAINST,
    KEY_FIFO_DETECTOR,
    KEY_ENGINE,
    KEY_INHERIT_ENV,
    KEY_JSON,
    KEY_TRACE,
    KEY_CALLGRIND,
    KEY_EVICTORS,
    KEY_CACHEGRIND,
    KEY_PROGRESS,
    KEY_STATS,
    KEY_DIM,
    KEY_UNAVAILABLE, /* and everything above */
};

/* Hidden rows are what this version does not have; their text says what to use instead. */
static const struct argp_option options_table[] = {
    {"machine", KEY_MACHINE, "NAME|FILE", 0, "machine: a preset's name or an INI file (sandybridge-ep)", 1},
    {"set", KEY_SET, "LEVEL.KEY=VALUE", 0, "change one key of the machine, e.g. L2.ways=4; repeatable", 1},
    {"pages", KEY_PAGES, "POLICY[,KEY=VALUE]", 0,
     "placement of pages: sequential (default), random, identity, colored[,level=NAME], "
     "same-color[,color=N][,level=NAME], buddy[,age=0..1], file=PATH (a page map)",
     1},
    {"place", KEY_PLACE, "REGION=POLICY[,KEY]", 0,
     "placement of one region: heap, stack, mmap, text, a mapped file (libc.so.6) or a symbol of the program; the rest "
     "goes by --pages; repeatable",
     1},
    {"huge", KEY_HUGE, "off|never|thp|all|REGION", 0,
     "huge pages: off (only where the program asks for them), never, thp (transparent, as Linux does), all; or for one "
     "region: heap, stack, mmap or a symbol of the program; repeatable",
     1},
    {"against", KEY_AGAINST, "POLICY|huge[=WORD]", 0,
     "simulate the same run under another placement as well, and tell which conflict misses it does not have", 1},
    {"huge-size", KEY_HUGE_SIZE, "2M|1G", 0, "size of the pages of --huge all and REGION (2M)", 1},
    {"zero-page", KEY_ZERO_PAGE, NULL, 0, "pages of anonymous memory that are only read share one frame, as on Linux",
     1},
    {"seed", KEY_SEED, "N", 0, "master seed of everything random (1)", 1},
    {"no-sim", KEY_NO_SIM, NULL, 0, "run the program only: nothing recorded, no caches", 2},
    {"no-attribution", KEY_NO_ATTRIBUTION, NULL, 0, "count by level only: no objects, no source, no evictors", 2},
    {"fifo-detector", KEY_FIFO_DETECTOR, NULL, 0,
     "compare the classes of misses with what a FIFO of evicted lines at each set would say", 2},
    {"engine", KEY_ENGINE, "NAME", 0, "what executes the guest (unicorn)", 2},
    {"env", KEY_ENV, "NAME[=VALUE]", 0,
     "add to the guest's environment (PATH, HOME and LANG=C); without VALUE: the host's; repeatable", 2},
    {"inherit-env", KEY_INHERIT_ENV, NULL, 0, "pass the host's environment through", 2},
    {"dim", KEY_DIM, "OBJECT=ROWBYTES", 0,
     "advise: the length of the rows of an object, named as reports do; repeatable", 2},
    {"output", KEY_OUTPUT, "DIR", 0, "write report.txt and report.json there", 3},
    {"json", KEY_JSON, "FILE", 0, "write the JSON report; - is standard output", 3},
    {"dump-pagemap", KEY_DUMP_PAGEMAP, "FILE", 0,
     "write the frame of each page touched, for --pages file=FILE; FILE.textproto: DynamoRIO's v2p form", 3},
    {"trace", KEY_TRACE, "FILE", 0, "write every reference; FILE.din: din form, FILE.zst: compressed", 3},
    {"callgrind", KEY_CALLGRIND, "FILE", 0,
     "write costs and calls in Callgrind's format, for callgrind_annotate and KCachegrind", 3},
    {"evictors", KEY_EVICTORS, "FILE", 0,
     "write who evicted whom in the same format: conflict misses, with a call from each victim to each evictor", 3},
    {"cachegrind", KEY_CACHEGRIND, "FILE", 0, "write costs by line in Cachegrind's format, for cg_annotate", 3},
    {"quiet", KEY_QUIET, NULL, 0, "no text report", 3},
    {"progress", KEY_PROGRESS, NULL, 0, "progress on standard error, even where it is no terminal", 4},
    {"stats", KEY_STATS, NULL, 0, "host time, speed and memory on standard error", 4},
    {"verbose", KEY_VERBOSE, NULL, 0, "trace the guest's system calls on standard error", 4},
    {"version", KEY_VERSION, NULL, 0, "print the version", 5},
    {"help", KEY_HELP, NULL, 0, "print this", 5},
    {"skip", KEY_UNAVAILABLE + 1, "N", OPTION_HIDDEN, "everything is measured; leave it out", 6},
    {"warmup", KEY_UNAVAILABLE + 2, "N", OPTION_HIDDEN, "everything is measured; leave it out", 6},
    {"measure", KEY_UNAVAILABLE + 3, "N", OPTION_HIDDEN, "everything is measured; leave it out", 6},
    {"samples", KEY_UNAVAILABLE + 4, "K", OPTION_HIDDEN, "everything is measured, once; leave it out", 6},
    {"roi", KEY_UNAVAILABLE + 5, "FUNCTION", OPTION_HIDDEN, "everything is measured; leave it out", 6},
    {0},
};
#define OPTION_COUNT (sizeof options_table / sizeof options_table[0] - 1)

static const struct {
    const char *name;
    enum cli_action action;
} verbs[] = {{"pagemap", CLI_PAGEMAP}, {"diff", CLI_DIFF}, {"annotate", CLI_ANNOTATE}};
static const char *const missing_verbs[] = {"replay", "report", "sweep", "machines"};

/* ------------------------------------------------------------------ checking the words
 * argp's own messages name neither the nearest option nor c2emu's exit status, so the words are checked before. */

/* The row of a long name of `length` bytes: exact, or the only one that begins so. NULL with *ambiguous or without. */
static const struct argp_option *find_long(const char *name, size_t length, bool *ambiguous)
{
    const struct argp_option *found = NULL;
    *ambiguous = false;
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (strncmp(options_table[i].name, name, length) != 0)
            continue;
        if (options_table[i].name[length] == '\0') {
            *ambiguous = false;
            return &options_table[i];
        }
        *ambiguous = found;
        found = &options_table[i];
    }
    return *ambiguous ? NULL : found;
}

/* A short option's key is its letter. */
static const struct argp_option *find_key(int key)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (options_table[i].key == key)
            return &options_table[i];
    }
    return NULL;
}

static enum c2_status fail_unknown(const char *name, bool ambiguous, struct c2_error *err)
{
    const char *names[OPTION_COUNT];
    for (size_t i = 0; i < OPTION_COUNT; i++)
        names[i] = options_table[i].name;
    if (ambiguous)
        return c2_fail(err, C2_ERR_INVALID, "option --%s is ambiguous (see c2emu --help)", name);
    const char *nearest = c2_nearest(name, names, OPTION_COUNT);
    if (nearest)
        return c2_fail(err, C2_ERR_INVALID, "unknown option --%s (did you mean --%s?)", name, nearest);
    return c2_fail(err, C2_ERR_INVALID, "unknown option --%s (see c2emu --help)", name);
}

static enum c2_status fail_no_value(const struct argp_option *option, struct c2_error *err)
{
    return c2_fail(err, C2_ERR_INVALID, "option --%s needs a value: --%s=%s", option->name, option->name, option->arg);
}

static enum c2_status check_long(const char *word, const char *next, bool *takes_next, struct c2_error *err)
{
    char name[64];
    const size_t length = strcspn(word + 2, "=");
    const bool has_value = word[2 + length] == '=';
    snprintf(name, sizeof name, "%.*s", (int)length, word + 2);
    bool ambiguous;
    const struct argp_option *option = find_long(word + 2, length, &ambiguous);
    if (!option)
        return fail_unknown(name, ambiguous, err);
    if (has_value && !option->arg)
        return c2_fail(err, C2_ERR_INVALID, "option --%s takes no value", option->name);
    *takes_next = option->arg && !has_value;
    return *takes_next && !next ? fail_no_value(option, err) : C2_OK;
}

/* -qv, -mNAME, -m NAME */
static enum c2_status check_short(const char *word, const char *next, bool *takes_next, struct c2_error *err)
{
    *takes_next = false;
    for (const char *letter = word + 1; *letter != '\0'; letter++) {
        const struct argp_option *option = find_key((unsigned char)*letter);
        if (!option)
            return c2_fail(err, C2_ERR_INVALID, "unknown option -%c (see c2emu --help)", *letter);
        if (!option->arg)
            continue;
        *takes_next = letter[1] == '\0';
        return *takes_next && !next ? fail_no_value(option, err) : C2_OK;
    }
    return C2_OK;
}

static enum c2_status check_words(int argc, char **argv, struct c2_error *err)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (word[0] != '-' || word[1] == '\0' || strcmp(word, "--") == 0)
            return C2_OK;
        bool takes_next = false;
        enum c2_status status = word[1] == '-' ? check_long(word, argv[i + 1], &takes_next, err)
                                               : check_short(word, argv[i + 1], &takes_next, err);
        if (status != C2_OK)
            return status;
        i += takes_next;
    }
    return C2_OK;
}

static bool is_verb(const char *word, enum cli_action *action)
{
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if (strcmp(word, verbs[i].name) == 0) {
            *action = verbs[i].action;
            return true;
        }
    }
    return false;
}

static enum c2_status check_verb(const char *word, struct c2_error *err)
{
    for (size_t i = 0; i < sizeof missing_verbs / sizeof missing_verbs[0]; i++) {
        if (strcmp(word, missing_verbs[i]) == 0)
            return c2_fail(err, C2_ERR_UNSUPPORTED,
                           "`c2emu %s` is not available in this version; a program of that name is run as ./%s", word,
                           word);
    }
    return C2_OK;
}

/* ------------------------------------------------------------------ taking the values */

struct parse {
    struct cli_options *options;
    struct c2_error *err;
    enum c2_status status;
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

static enum c2_status take(struct parse *parse, const struct argp_option *row, char *value)
{
    struct cli_options *options = parse->options;
    struct c2_error *err = parse->err;
    if (row->flags & OPTION_HIDDEN)
        return c2_fail(err, C2_ERR_UNSUPPORTED, "--%s is not available in this version: %s", row->name, row->doc);
    switch (row->key) {
    case KEY_MACHINE:
        options->machine = value;
        return C2_OK;
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
    case KEY_AGAINST:
        options->against = value;
        return C2_OK;
    case KEY_HUGE_SIZE:
        return take_huge_size(options, value, err);
    case KEY_ZERO_PAGE:
        options->zero_page = true;
        return C2_OK;
    case KEY_DUMP_PAGEMAP:
        options->dump_pagemap = value;
        return C2_OK;
    case KEY_SEED:
        return c2_parse_number(&options->seed, value, "--seed", err);
    case KEY_DIM:
        options->dims[options->dim_count++] = value;
        return C2_OK;
    case KEY_NO_SIM:
        options->no_sim = true;
        return C2_OK;
    case KEY_NO_ATTRIBUTION:
        options->no_attribution = true;
        return C2_OK;
    case KEY_FIFO_DETECTOR:
        options->fifo_detector = true;
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
    case KEY_TRACE:
        options->trace = value;
        return C2_OK;
    case KEY_CALLGRIND:
        options->callgrind = value;
        return C2_OK;
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

/* argp calls it for each word. The first that is no option is PROGRAM: parsing stops there. */
static error_t parse_word(int key, char *value, struct argp_state *state)
{
    struct parse *parse = state->input;
    struct cli_options *options = parse->options;
    switch (key) {
    case ARGP_KEY_ARG:
        options->command = (const char *const *)&state->argv[state->next - 1];
        state->next = state->argc;
        return 0;
    case KEY_HELP:
    case KEY_VERSION: /* the first of the two wins over everything behind it */
        options->action = key == KEY_HELP ? CLI_HELP : CLI_VERSION;
        state->next = state->argc;
        return 0;
    default:
        if (!find_key(key))
            return ARGP_ERR_UNKNOWN; /* ARGP_KEY_INIT and the like are no options */
        parse->status = take(parse, find_key(key), value);
        return parse->status == C2_OK ? 0 : EINVAL;
    }
}

static const struct argp parser = {
    .options = options_table,
    .parser = parse_word,
    .args_doc = "[--] PROGRAM [ARG]...",
    .doc =
        "Run an x86-64 Linux program in an emulator and report what its caches did."
        "\vThe report goes to standard error when PROGRAM ends. Exit status: PROGRAM's own; 128+N when signal N "
        "killed it; 125 when c2emu failed; 126 when PROGRAM cannot be executed; 127 when it is not found.\n\n"
        "`c2emu advise [OPTION]... [--] PROGRAM [ARG]...` runs PROGRAM and simulates layouts of its data that might "
        "have "
        "fewer conflict misses.\n\n"
        "`c2emu pagemap PID [FILE]` writes the page map of a live process.\n"
        "`c2emu diff [--fail-if CONDITION]... A.json B.json` compares two reports.\n"
        "`c2emu annotate [--event NAME]... [--asm] [-I DIR]... FILE` shows the source, or the instructions, with the "
        "counts of a callgrind file.",
};

void cli_help(FILE *to)
{
    char name[] = "c2emu";
    argp_help(&parser, to, ARGP_HELP_STD_HELP & ~(unsigned)(ARGP_HELP_EXIT_OK | ARGP_HELP_EXIT_ERR), name);
}

/* Profiles are of instructions: what they cost, whose lines they took. */
static enum c2_status check_profiles(const struct cli_options *options, struct c2_error *err)
{
    const char *const profiles[][2] = {
        {"callgrind", options->callgrind}, {"evictors", options->evictors}, {"cachegrind", options->cachegrind}};
    for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++) {
        if (!profiles[i][1])
            continue;
        if (options->no_sim)
            return c2_fail(err, C2_ERR_INVALID,
                           "--%s needs the references that --no-sim does not record; leave one out", profiles[i][0]);
        if (options->no_attribution)
            return c2_fail(err, C2_ERR_INVALID,
                           "--%s tells which instruction missed, which --no-attribution does not note; leave one out",
                           profiles[i][0]);
    }
    return C2_OK;
}

/* The one that is finished last would take the place of the other. */
static enum c2_status check_files(const struct cli_options *options, struct c2_error *err)
{
    const struct {
        const char *option, *path;
    } files[] = {{"--json", options->json},         {"--dump-pagemap", options->dump_pagemap},
                 {"--trace", options->trace},       {"--callgrind", options->callgrind},
                 {"--evictors", options->evictors}, {"--cachegrind", options->cachegrind}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        for (size_t k = 0; k < i; k++) {
            if (files[i].path && files[k].path && strcmp(files[i].path, files[k].path) == 0 &&
                strcmp(files[i].path, "/dev/null") != 0)
                return c2_fail(err, C2_ERR_INVALID, "%s and %s are both to write %s; give each a file of its own",
                               files[k].option, files[i].option, files[i].path);
        }
    }
    return C2_OK;
}

/* What `advise` needs, and what only it takes. */
static enum c2_status check_advise(const struct cli_options *options, struct c2_error *err)
{
    if (!options->advise && options->dim_count != 0)
        return c2_fail(err, C2_ERR_INVALID, "--dim belongs to `c2emu advise`");
    if (!options->advise)
        return C2_OK;
    if (options->no_sim || options->no_attribution)
        return c2_fail(err, C2_ERR_INVALID, "advise needs the misses that --no-%s leaves out; leave it out",
                       options->no_sim ? "sim" : "attribution");
    if (options->against)
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

/* What can be said only when all words are known. */
static enum c2_status check_whole(const struct cli_options *options, struct c2_error *err)
{
    if (options->action != CLI_RUN)
        return C2_OK;
    if (!options->command || options->command[0][0] == '\0')
        return c2_fail(err, C2_ERR_INVALID,
                       "no program given: c2emu [OPTION]... [--] PROGRAM [ARG]... (see c2emu --help)");
    const bool sized = options->huge == MMU_HUGE_HEAP || options->huge == MMU_HUGE_ALL ||
                       options->huge_region_count > 0;
    const bool sized_there = options->against && strncmp(options->against, "huge", strlen("huge")) == 0;
    if (options->huge_size != MMU_PAGE_4K && !sized_there && !sized)
        return c2_fail(err, C2_ERR_INVALID,
                       "--huge-size is the size of the pages of --huge all, --huge REGION or --against huge; add one");
    if (options->no_sim && options->against)
        return c2_fail(err, C2_ERR_INVALID, "--against compares what --no-sim does not simulate; leave one out");
    if (options->no_sim && options->trace)
        return c2_fail(err, C2_ERR_INVALID,
                       "--trace needs the references that --no-sim does not record; leave one out");
    if (options->no_sim && options->fifo_detector)
        return c2_fail(err, C2_ERR_INVALID, "--fifo-detector needs the caches that --no-sim leaves out; leave one out");
    enum c2_status status = check_profiles(options, err);
    if (status == C2_OK)
        status = check_files(options, err);
    return status == C2_OK ? check_advise(options, err) : status;
}

enum c2_status cli_options_parse(struct cli_options *out, int argc, char **argv, struct c2_error *err)
{
    *out = (struct cli_options){.machine = "sandybridge-ep", .pages = "sequential", .engine = "unicorn", .seed = 1};
    if (argc > 1 && is_verb(argv[1], &out->action)) /* its words are its own */
        return C2_OK;
    out->advise = argc > 1 && strcmp(argv[1], "advise") == 0;
    argc -= out->advise; /* the words behind it are those of a run */
    argv += out->advise;
    enum c2_status status = argc > 1 && !out->advise ? check_verb(argv[1], err) : C2_OK;
    if (status == C2_OK)
        status = check_words(argc, argv, err);
    if (status != C2_OK)
        return status;
    out->overrides = c2_calloc((size_t)argc, sizeof *out->overrides);
    out->env = c2_calloc((size_t)argc, sizeof *out->env);
    out->places = c2_calloc((size_t)argc, sizeof *out->places);
    out->huge_regions = c2_calloc((size_t)argc, sizeof *out->huge_regions);
    out->dims = c2_calloc((size_t)argc, sizeof *out->dims);
    if (!out->dims || !out->overrides || !out->env || !out->places || !out->huge_regions) {
        status = c2_fail_memory(err, "the options");
    } else {
        struct parse parse = {.options = out, .err = err, .status = C2_OK};
        const unsigned flags = ARGP_IN_ORDER | ARGP_NO_ERRS | ARGP_NO_EXIT | ARGP_NO_HELP;
        error_t failed = argp_parse(&parser, argc, argv, flags, NULL, &parse);
        status = parse.status;
        if (status == C2_OK && failed != 0)
            status = c2_fail(err, C2_ERR_INVALID, "the command line is not understood (see c2emu --help)");
        settle_huge(out);
        if (status == C2_OK)
            status = check_whole(out, err);
    }
    if (status != C2_OK)
        cli_options_release(out);
    return status;
}

void cli_options_release(struct cli_options *options)
{
    c2_free(options->overrides);
    c2_free(options->env);
    c2_free(options->places);
    c2_free(options->huge_regions);
    c2_free(options->dims);
    options->dims = options->overrides = options->env = options->places = options->huge_regions = NULL;
}
