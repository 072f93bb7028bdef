/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * cli: the command line - from words to what a session runs, verbs and their help. Only here a process ends.
 */
#ifndef C2_CLI_H
#define C2_CLI_H

#include <argp.h>

#include "base/base.h"
#include "session/session.h"
#include "session/words.h"

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
    struct session_options run;
    const struct cli_command
        *verb; /* the first word, where it is one; for CLI_HELP, CLI_MANUAL and CLI_COMPLETE what is
                                     * asked about; else NULL */
    enum cli_action action;
};

/* ------------------------------------------------------------------ words.c: words as tables say
 * What may stand behind a verb, or behind `c2emu` itself: argp parses by the rows, the help prints them, and a misspelt
 * word gets the nearest of them. */
enum { CLI_KEY_HELP = 'h', CLI_ROWS = 128 }; /* at most so many rows */
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

/* --precision: per cent, above 0. */
enum c2_status cli_precision(double *out, const char *text, struct c2_error *err);

/* points_options.c: whether what is asked of simulation points goes together; fills in defaults. */
#define CLI_INTERVAL 10000000u
/* Fails for an option of what is simulated, which `points` does not do. err: may be NULL. */
enum c2_status cli_points_takes(const char *option, struct c2_error *err);
enum c2_status cli_points_check(struct cli_options *options, struct c2_error *err);

/* `c2emu pagemap PID [FILE]`, argv[0] the verb: writes the map of a live process. */
enum c2_status cli_pagemap(int argc, char **argv, struct c2_error *err);

/* replay_words.c: whether `c2emu replay` takes this option of a run; else why not. */
enum c2_status cli_replay_takes(const char *option, struct c2_error *err);

#endif
