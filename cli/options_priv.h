/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * options_priv: what the files of the command line of a run share: options.c has the table and the order of things,
 * options_take.c takes the words, options_check.c says what contradicts.
 */
#ifndef C2_CLI_OPTIONS_PRIV_H
#define C2_CLI_OPTIONS_PRIV_H

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
    KEY_CORES,
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
    KEY_QUANTUM,
    KEY_NO_SIM,
    KEY_ENGINE,
    KEY_CPU,
    KEY_FOLLOW,
    KEY_INHERIT_ENV,
    KEY_JSON,
    KEY_JSON_FULL,
    KEY_HTML,
    KEY_VARY_CSV,
    KEY_EVICTORS,
    KEY_CACHEGRIND,
    KEY_FOLDED,
    KEY_FOLDED_EVENT,
    KEY_PPROF,
    KEY_PERF_MAP,
    KEY_PROGRESS,
    KEY_FULL,
    KEY_WIDTH,
    KEY_COLOR,
    KEY_STATS,
    KEY_DIM,
    KEY_STEP,
    KEY_SKIP,
    KEY_WARMUP,
    KEY_MEASURE,
    KEY_SAMPLES,
    KEY_PERIOD,
    KEY_START,
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
    KEY_SANDBOX,
    KEY_WRITABLE,
    KEY_NO_NET,
    KEY_ROOT,
    KEY_FORMAT,
    KEY_LIST_MACHINES,
    KEY_ALLOC_WRAPPER,
    KEY_CHECKPOINT,
    KEY_CHECKPOINT_AT,
    KEY_CHECKPOINT_CACHES,
    KEY_CHECKPOINT_STOP,
    KEY_SEPARATE_PAR,
    KEY_SEPARATE_CALLERS,
    KEY_SEPARATE_RECS,
    KEY_SEPARATE_THREADS,
    KEY_ANALYSES,                                /* one an analysis */
    KEY_SETTINGS = KEY_ANALYSES + ANALYSES_KINDS /* one a setting */
};
enum { GROUP_RUN = 2 }; /* up to it, groups of options decide what is run and simulated */

struct cli_parse {
    struct cli_options *options;
    bool replay;           /* the words are those behind `c2emu replay` */
    const char *huge_word; /* of --huge, other than regions */
};

/* explain_words.c: the action of `c2emu explain`, by what the first word is that is no option; what may stand behind
 * that is checked. */
enum c2_status cli_explain_what(struct cli_options *options, int argc, char **argv, struct c2_error *err);
/* Whether a report's run is made again with this option, as the report's own options are not all. */
bool cli_explain_takes(const struct argp_option *row);

/* Room for as many values of each repeatable option as there are words. */
enum c2_status cli_options_make_room(struct cli_options *options, size_t words, struct c2_error *err);
/* self: struct cli_parse */
enum c2_status cli_options_take(void *self, const struct argp_option *row, char *value, struct c2_error *err);
void cli_options_settle(struct cli_options *options); /* behind the last word; the words had room for two more */

/* What can be said only when all words are known. */
enum c2_status cli_options_check(struct cli_options *options, struct c2_error *err);

#endif
