/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * cli: the command line - what the user asked for as plain data, and the life of a run. Only here a process ends.
 */
#ifndef C2_CLI_H
#define C2_CLI_H

#include <argp.h>

#include "analyses/analyses.h"
#include "base/base.h"
#include "caches/caches.h"
#include "mmu/replica.h"

/* Exit statuses of c2emu's own; else the guest's, or 128 + the signal that killed it. */
enum {
    CLI_EXIT_DIFFERENT = 1,
    CLI_EXIT_FAILED = 125,
    CLI_EXIT_NOT_EXECUTABLE = 126,
    CLI_EXIT_NOT_FOUND = 127,
    CLI_EXIT_SIGNAL = 128
};

enum { CLI_NARROWEST = 80, CLI_WIDEST = 200 }; /* columns of a text report */

#define CLI_DEFAULT_MACHINE "skylake"

enum cli_action {
    CLI_RUN,
    CLI_HELP,
    CLI_MANUAL,
    CLI_COMPLETE,
    CLI_VERSION,
    CLI_LIST_MACHINES,
    CLI_MACHINES,
    CLI_PAGEMAP,
    CLI_DIFF,
    CLI_ANNOTATE,
    CLI_HTML,
    CLI_REPLAY,
    CLI_RESTORE,
    CLI_VERIFY,
    CLI_SWEEP,
    CLI_CSIM,
    CLI_QUIZ,
    CLI_EXPLAIN /* of a report, whose run is to be made again */
};

/* What the words of the command line say. Strings are those of argv; defaults are filled in. */
struct cli_options {
    const struct cli_command
        *verb; /* the first word, where it is one; for CLI_HELP, CLI_MANUAL and CLI_COMPLETE what is asked
                                     * about; else NULL */
    enum cli_action action;
    const char *const *command; /* program and its arguments, NULL-terminated */
    const char **machines;      /* -m; none: the default */
    size_t machine_count;
    const char **vary; /* --vary */
    size_t vary_count;
    const char **overrides; /* --set, --cores */
    size_t override_count;
    char *cores; /* "cores=4", of --cores; NULL: not given */
    const char *pages;
    const char **places; /* --place */
    size_t place_count;
    enum mmu_huge huge;
    const char **huge_regions; /* --huge REGION, but `heap` alone */
    size_t huge_region_count;
    enum mmu_page_size huge_size;
    bool zero_page;
    const char *dump_pagemap; /* NULL: not asked for */
    const char *engine;
    const char *cpu;  /* NULL: auto */
    uint64_t quantum; /* instructions of a thread's turn; 0: as ever */
    uint64_t seed;
    bool seed_set;        /* --seed */
    bool clock_set;       /* --clock: the guest's clock at the start, */
    uint64_t clock_start; /* in seconds since 1970; else what the guest's kernel has */
    const char **env;     /* --env */
    size_t env_count;
    const char *output_dir, *json, *json_full; /* NULL: not asked for */
    const char *vary_csv;                      /* likewise */
    const char *html;                          /* likewise */
    const char *mark;                  /* in the names of files in the output directory, before the dot; NULL: none */
    const char *follow;                /* --follow; NULL: not given */
    const char *evictors, *cachegrind; /* likewise */
    const char *folded, *pprof;        /* likewise */
    const char *folded_event;          /* --folded-event; NULL: the usual one */
    const char *perf_map;              /* --perf-map; NULL: not given */
    const char *record;                /* --record; NULL: not asked for */
    const char *recording;             /* what `c2emu replay` plays; else NULL */
    const char *format;                /* --format; NULL: by what the file holds */
    const char *analyses[ANALYSES_KINDS]; /* the words of the options of analyses, as struct analyses_setup has them */
    const char *settings[ANALYSES_SETTING_KINDS]; /* likewise */
    bool explain, step;    /* `c2emu explain`: one miss; --step: and its set access by access, on a terminal by keys */
    const char *explained; /* the report whose run is made again for that; NULL: none */
    bool advise;           /* `c2emu advise`: the run, and layouts that would have been better for it */
    const char **dims;     /* --dim */
    size_t dim_count;
    const char **wrappers; /* --alloc-wrapper */
    size_t wrapper_count;
    bool sandbox;          /* --sandbox */
    bool no_network;       /* --no-net */
    const char *root;      /* --root; NULL: the host's */
    const char **writable; /* --writable */
    size_t writable_count;
    struct cli_sampling {
        uint64_t skip, warmup, measure, samples, period; /* --skip ...; 0: not given */
        uint64_t start;                                  /* --start: measured before the first sample */
        bool warmup_set, start_set;                      /* given, also as 0 */
        bool random_offsets;
        const char *points, *weights; /* --points, --weights; NULL: not given */
        double precision;             /* --precision, in per cent; 0: not given */
    } sampling;
    uint64_t jobs; /* host threads that simulate; 0: as many as there are processors */
    struct cli_points_asked {
        bool find;                             /* `c2emu points` */
        uint64_t interval, dimensions, max_k;  /* --interval ...; 0: not given */
        const char *vectors_to, *vectors_from; /* --bbv, --from-bbv; NULL: not given */
    } points;
    struct cli_regions {
        const char **functions; /* --roi */
        size_t function_count;
        const char *from, *to;       /* NULL: not given */
        bool requests;               /* --requests: honoured, */
        bool instr_off, collect_off; /* and at the start not instrumented, not collecting */
        enum cli_warm { CLI_WARM_USUAL, CLI_WARM_FUNCTIONAL, CLI_WARM_NONE, CLI_WARM_FLUSH } warm;
    } regions;
    struct cli_separate {
        const char **parameters; /* --separate-par */
        size_t parameter_count;
        uint64_t callers, recursions; /* --separate-callers, --separate-recs; 0: not given */
        bool threads;                 /* --separate-threads */
    } separate;
    const char *restored;         /* `c2emu restore`: the checkpoint; command is NULL until it has been read */
    const char *checkpoint;       /* --checkpoint, NULL: not asked for */
    uint64_t checkpoint_at;       /* instructions; 0: where the place says */
    const char *checkpoint_place; /* NULL: none was given */
    bool checkpoint_caches, checkpoint_stop;
    uint64_t width; /* --width; 0: that of the terminal */
    enum cli_color { CLI_COLOR_AUTO, CLI_COLOR_ALWAYS, CLI_COLOR_NEVER } color;
    struct cli_csim *csim; /* `c2emu csim`: gets the references in place of lanes (cli_priv.h); else NULL */
    bool no_sim, inherit_env, progress, stats, quiet, full, verbose;
    struct cli_word {
        const struct argp_option *row;
        const char *value; /* NULL: it takes none */
    } * words;             /* the options as they were given, but for those of what is written */
    size_t word_count;
};

/* ------------------------------------------------------------------ confine.c: --sandbox, by the host's kernel
 * For the rest of the process, as far as the kernel can. writable: NULL-terminated; NULL: none. To be called when all
 * files that are to be written are open, on the thread that runs the guest. */
enum c2_status cli_confine(const char *const *writable, struct c2_error *err);

/* ------------------------------------------------------------------ words.c: words as tables say
 * What may stand behind a verb, or behind `c2emu` itself: argp parses by the rows, the help prints them, and a misspelt
 * word gets the nearest of them. */
enum { CLI_KEY_HELP = 'h', CLI_ROWS = 128 }; /* at most so many rows */
/* The index of a value among those that an option has; `count`, and the nearest named, where it has not. option: what
 * stands before the value, "--warm ". */
enum c2_status cli_word(unsigned *out, const char *option, const char *value, const char *const *known, size_t count,
                        struct c2_error *err);
struct cli_command {
    const char *verb; /* NULL: c2emu itself */
    enum cli_action action;
    bool runs_program;     /* the first argument is a program, and what follows it the program's */
    const char *arguments; /* "A.json B.json" */
    const char *summary;   /* in the list of verbs */
    const char *text;      /* of the help, what stands behind the options after a \v */
    const struct argp_option *options;
    enum c2_status (*takes)(const char *option, struct c2_error *err); /* NULL: all of them */
};
extern const struct cli_command cli_run_command;
extern const struct argp_option cli_run_options[];

/* argv[0] is not looked at. *help: an option asks for it. */
enum c2_status cli_words_check(const struct cli_command *command, int argc, char **argv, bool *help,
                               struct c2_error *err);
struct cli_taker {
    void *self;
    /* value: NULL where the option takes none */
    enum c2_status (*option)(void *self, const struct argp_option *row, char *value, struct c2_error *err);
    /* words[0], and behind it, where the command runs a program, all that are the program's */
    enum c2_status (*argument)(void *self, char *const *words, struct c2_error *err);
};
/* Hands every word that is left after a check to the taker, in order; ends with its first failure. */
enum c2_status cli_words_take(const struct cli_command *command, int argc, char **argv, const struct cli_taker *taker,
                              struct c2_error *err);
/* The rows of its help, headings too, into out, with an empty one behind them; returns how many. */
size_t cli_words_shown(struct argp_option out[CLI_ROWS], const struct cli_command *command);
void cli_words_help(const struct cli_command *command, FILE *to);
/* manual.c: its page of man(1); NULL: of c2emu itself. */
void cli_manual(FILE *to, const struct cli_command *verb, const char *version);
/* complete.c: what may follow, for shells. */
void cli_complete(FILE *to, const struct cli_command *verb);

/* ------------------------------------------------------------------ behind.c
 * Whether a word of the program's seems to be meant for c2emu; then what to do, in words, in buffer. */
bool cli_option_behind(char *buffer, size_t bytes, const char *const *command);

/* ------------------------------------------------------------------ verbs.c */
const struct cli_command *cli_verb(const char *word); /* NULL: it is none */
const struct cli_command *cli_verbs(size_t *count);   /* all, by name */
/* For the verb `of`, "help": a word that is no verb fails with the nearest. */
enum c2_status cli_verb_named(const struct cli_command **out, const char *of, const char *word, struct c2_error *err);
enum c2_status cli_verb_check_missing(const char *word, struct c2_error *err); /* fails for those of other versions */
/* When a program has the verb's name, here or in PATH: how to run it, in words, in buffer. Else NULL. */
const char *cli_verb_hides(char *buffer, size_t bytes, const struct cli_command *verb);
/* The verb that a name of no program is nearest to; NULL: it is there, or near to none. */
const char *cli_verb_meant(const char *program);
void cli_help(FILE *to, const struct cli_command *verb); /* NULL: of c2emu itself */

/* ------------------------------------------------------------------ options.c
 * Options end at the first word that is none, or behind "--". On failure *err says which word and what would be right;
 * out->verb is set nevertheless, nothing is to be released. */
enum c2_status cli_options_parse(struct cli_options *out, int argc, char **argv, struct c2_error *err);
void cli_options_release(struct cli_options *options);

/* --clock: a date of UTC, with or without the time of day, or @SECONDS; in seconds since 1970. And such a moment as a
 * text. */
#define CLI_CLOCK_BYTES 32
enum c2_status cli_clock(uint64_t *out, const char *text, struct c2_error *err);
void cli_clock_text(char out[CLI_CLOCK_BYTES], uint64_t seconds);

/* A word of --huge but for a region, behind `option`. */
enum c2_status cli_huge(enum mmu_huge *out, const char *option, const char *word, struct c2_error *err);
/* --precision: per cent, above 0. */
enum c2_status cli_precision(double *out, const char *text, struct c2_error *err);

/* The guest's environment: a fixed small set or (--inherit-env) host_env, then --env on top. NULL-terminated; to be
 * released with cli_environment_release. */
enum c2_status cli_environment(char ***out, const struct cli_options *options, char *const *host_env,
                               struct c2_error *err);
/* Adds what this program needs to run under c2emu: a leak sanitizer's option. *added: it has. */
enum c2_status cli_environment_suit(bool *added, char ***environment, const char *program, struct c2_error *err);
void cli_environment_release(char **environment);

/* points_options.c: whether what is asked of simulation points goes together; fills in defaults. */
#define CLI_INTERVAL 10000000u
/* Fails for an option of what is simulated, which `points` does not do. err: may be NULL. */
enum c2_status cli_points_takes(const char *option, struct c2_error *err);
enum c2_status cli_points_check(struct cli_options *options, struct c2_error *err);

bool cli_sampling_asked(const struct cli_sampling *sampling); /* else all of the run is measured */
/* What was not given, of samples of a period. whole: the run may have a start that is measured. */
void cli_sampling_fill(struct cli_sampling *sampling, bool whole);
enum c2_status cli_sampling_check(const struct cli_sampling *sampling, struct c2_error *err);

/* ------------------------------------------------------------------ regions.c: --roi, --from, --to, --warm */
/* Whether the text of the option is a place: SYMBOL[:N], 0xADDRESS[:N] or FILE:LINE[:N]. */
enum c2_status cli_place_check(const char *option, const char *text, struct c2_error *err);
bool cli_regions_asked(const struct cli_regions *regions); /* else all of the run is one */
enum c2_status cli_requests(struct cli_regions *out, const char *text, struct c2_error *err);
enum c2_status cli_warm(enum cli_warm *out, const char *text, struct c2_error *err);
/* What can be refused before the program is known. */
enum c2_status cli_regions_check(const struct cli_options *options, struct c2_error *err);

/* ------------------------------------------------------------------ contexts.c: --separate-par, -callers, -recs */
bool cli_contexts_asked(const struct cli_separate *separate);
const char *cli_contexts_option(const struct cli_separate *separate); /* one that was given; NULL: none was */
enum c2_status cli_contexts_check(const struct cli_options *options, struct c2_error *err); /* as cli_regions_check */

/* ------------------------------------------------------------------ vary.c: the machines of one execution
 * What -m and --vary make; the placement's words are those of --pages and --huge. */
struct cli_variant {
    const char *name;    /* what it has that the others have not; NULL: it is the only one */
    const char **values; /* of the keys below, as on the command line */
    const char *machine;
    const char **overrides; /* of its keys: those of --set, then what is varied */
    size_t override_count;
    const char *pages;
    enum mmu_huge huge;
};
struct cli_variants {
    struct cli_variant *list;
    unsigned count;    /* at least 1 */
    const char **keys; /* what is varied: "machine", then those of --vary, in their order */
    size_t key_count;
    struct c2_pool pool; /* everything is in it, or the options' */
};
/* On failure *out is empty. So many as the host has memory for: else C2_ERR_NO_MEMORY. */
enum c2_status cli_variants_make(struct cli_variants *out, const struct cli_options *options, struct c2_error *err);
void cli_variants_release(struct cli_variants *variants);

/* --pages: mmu's policies, and for same-color and colored the key `level` (the level whose sets are the colours, L2
 * unless said otherwise), and for all `seed`, which stands for the seed given here. Fills all of *out. */
enum c2_status cli_placement(struct mmu_config *out, const char *text, const struct caches_machine *machine,
                             uint64_t seed, struct c2_error *err);

/* --against: the placement of the run but for what the text says - "huge" (all anonymous memory in huge pages) or
 * "huge=WORD" (as --huge WORD, no regions), else a policy as for --pages (no rules). */
enum c2_status cli_against(struct mmu_config *out, const struct mmu_config *placement, const char *text,
                           const struct caches_machine *machine, struct c2_error *err);

/* The same for the policy of another option, which messages call `option`. */
enum c2_status cli_policy(struct mmu_config *out, const char *option, const char *text,
                          const struct caches_machine *machine, uint64_t seed, struct c2_error *err);

/* --place and --huge REGION, as mmu takes them. */
struct cli_rules {
    struct mmu_rule *rules;
    size_t rule_count;
    struct mmu_region *huge;
    size_t huge_count;
    char **texts; /* which the names lie in */
    size_t text_count;
};
struct loader_request;
/* Symbols are those of the program of the request. On failure *out is empty; C2_ERR_INVALID is about the options, other
 * statuses are of loader_load. Lends the options' strings. */
enum c2_status cli_rules_read(struct cli_rules *out, const struct cli_options *options,
                              const struct caches_machine *machine, const struct loader_request *program,
                              struct c2_error *err);
void cli_rules_release(struct cli_rules *rules);

/* `c2emu pagemap PID [FILE]`, argv[0] the verb: writes the map of a live process. */
enum c2_status cli_pagemap(int argc, char **argv, struct c2_error *err);

/* replay_words.c: whether `c2emu replay` takes this option of a run; else why not. */
enum c2_status cli_replay_takes(const char *option, struct c2_error *err);

/* `c2emu replay`: writes every report asked for. *exit_status: that of the run. */
enum c2_status cli_replay(const struct cli_options *options, int *exit_status, struct c2_error *err);

/* Runs the guest and writes every report asked for; returns the process's exit status. */
int cli_run(const struct cli_options *options, char *const *host_env);

#endif
