/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * words: the words behind `c2emu` or behind a verb, by the table of the command.
 *
 * Model
 *   One table a command feeds three things: the check of the words, which gives the messages, with the nearest name for
 *   a misspelt one; argp's parsing; and the help. argp's own messages name neither the nearest option nor c2emu's exit
 *   status, so the words are checked before it sees them.
 *   Verbs that run a program share the table of a run. A row whose text begins with the name of a verb and a colon is
 *   in the help of that verb alone; what a verb refuses is not in its own.
 *   Rows that are hidden are what this version does not have; their text says what to use instead. Rows without a name
 *   are headings of the help.
 */
#include <string.h>

#include "cli/cli.h"

/* ------------------------------------------------------------------ tables */

static bool is_end(const struct argp_option *row) { return !row->name && !row->doc; }

/* The row of a long name of `length` bytes: exact, or the only one that begins so. NULL with *ambiguous or without. */
static const struct argp_option *find_long(const struct argp_option *rows, const char *name, size_t length,
                                           bool *ambiguous)
{
    const struct argp_option *found = NULL;
    *ambiguous = false;
    for (const struct argp_option *row = rows; !is_end(row); row++) {
        if (!row->name || strncmp(row->name, name, length) != 0)
            continue;
        if (row->name[length] == '\0') {
            *ambiguous = false;
            return row;
        }
        *ambiguous = found;
        found = row;
    }
    return *ambiguous ? NULL : found;
}

/* A short option's key is its letter. */
static const struct argp_option *find_key(const struct argp_option *rows, int key)
{
    for (const struct argp_option *row = rows; !is_end(row); row++) {
        if (row->name && row->key == key)
            return row;
    }
    return NULL;
}

/* ------------------------------------------------------------------ checking the words */

struct check {
    const struct argp_option *rows;
    char prefix[24]; /* "diff: " in front of what is wrong behind a verb */
    char see[32];    /* where the options are explained */
    struct c2_error *err;
    bool *help;
};

static enum c2_status fail_ambiguous(const struct check *check, const char *name)
{
    return c2_fail(check->err, C2_ERR_INVALID, "%soption --%s is ambiguous (see %s)", check->prefix, name, check->see);
}

static enum c2_status words_fail_unknown(const struct check *check, const char *name)
{
    const char *names[CLI_ROWS];
    size_t count = 0;
    for (const struct argp_option *row = check->rows; !is_end(row); row++) {
        if (row->name)
            names[count++] = row->name;
    }
    const char *nearest = c2_nearest(name, names, count);
    return c2_fail(check->err, C2_ERR_INVALID, "%sunknown option --%s (%s%s%s)", check->prefix, name,
                   nearest ? "did you mean --" : "see ", nearest ? nearest : check->see, nearest ? "?" : "");
}

static enum c2_status fail_no_value(const struct check *check, const struct argp_option *row)
{
    return c2_fail(check->err, C2_ERR_INVALID, "%soption --%s needs a value: --%s=%s", check->prefix, row->name,
                   row->name, row->arg);
}

static enum c2_status check_long(const struct check *check, const char *word, const char *next, bool *takes_next)
{
    char name[64];
    const size_t length = strcspn(word + 2, "=");
    const bool has_value = word[2 + length] == '=';
    snprintf(name, sizeof name, "%.*s", (int)length, word + 2);
    bool ambiguous;
    const struct argp_option *row = find_long(check->rows, word + 2, length, &ambiguous);
    if (!row)
        return ambiguous ? fail_ambiguous(check, name) : words_fail_unknown(check, name);
    if (has_value && !row->arg)
        return c2_fail(check->err, C2_ERR_INVALID, "%soption --%s takes no value", check->prefix, name);
    *check->help |= row->key == CLI_KEY_HELP;
    *takes_next = row->arg && !has_value;
    return *takes_next && !next ? fail_no_value(check, row) : C2_OK;
}

/* -qv, -mNAME, -m NAME */
static enum c2_status check_short(const struct check *check, const char *word, const char *next, bool *takes_next)
{
    *takes_next = false;
    for (const char *letter = word + 1; *letter != '\0'; letter++) {
        const struct argp_option *row = find_key(check->rows, (unsigned char)*letter);
        if (!row)
            return c2_fail(check->err, C2_ERR_INVALID, "%sunknown option -%c (see %s)", check->prefix, *letter,
                           check->see);
        *check->help |= row->key == CLI_KEY_HELP;
        if (!row->arg)
            continue;
        *takes_next = letter[1] == '\0';
        return *takes_next && !next ? fail_no_value(check, row) : C2_OK;
    }
    return C2_OK;
}

enum c2_status cli_words_check(const struct cli_command *command, int argc, char **argv, bool *help,
                               struct c2_error *err)
{
    struct check check = {.rows = command->options, .see = "c2emu --help", .err = err, .help = help};
    *help = false;
    if (command->verb) {
        snprintf(check.prefix, sizeof check.prefix, "%s: ", command->verb);
        snprintf(check.see, sizeof check.see, "c2emu help %s", command->verb);
    }
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (strcmp(word, "--") == 0)
            return C2_OK;
        if (word[0] != '-' || word[1] == '\0') {
            if (command->runs_program)
                return C2_OK;
            continue;
        }
        bool takes_next = false;
        enum c2_status status = word[1] == '-' ? check_long(&check, word, argv[i + 1], &takes_next)
                                               : check_short(&check, word, argv[i + 1], &takes_next);
        if (status != C2_OK)
            return status;
        i += takes_next;
    }
    return C2_OK;
}

/* ------------------------------------------------------------------ taking them */

struct taking {
    const struct cli_command *command;
    const struct cli_taker *taker;
    struct c2_error *err;
    enum c2_status status;
};

/* argp calls it for each word. Behind the first argument of a command that runs a program all is the program's. */
static error_t words_take_word(int key, char *value, struct argp_state *state)
{
    struct taking *taking = state->input;
    const struct argp_option *row = find_key(taking->command->options, key);
    if (key == ARGP_KEY_ARG) {
        taking->status = taking->taker->argument(taking->taker->self, &state->argv[state->next - 1], taking->err);
        state->next = taking->command->runs_program ? state->argc : state->next;
    } else if (!row) {
        return ARGP_ERR_UNKNOWN; /* ARGP_KEY_INIT and the like are no options */
    } else if (row->flags & OPTION_HIDDEN) {
        taking->status = c2_fail(taking->err, C2_ERR_UNSUPPORTED, "--%s is not available in this version: %s",
                                 row->name, row->doc);
    } else {
        taking->status = taking->taker->option(taking->taker->self, row, value, taking->err);
    }
    return taking->status == C2_OK ? 0 : EINVAL;
}

enum c2_status cli_words_take(const struct cli_command *command, int argc, char **argv, const struct cli_taker *taker,
                              struct c2_error *err)
{
    const struct argp parser = {.options = command->options, .parser = words_take_word};
    struct taking taking = {.command = command, .taker = taker, .err = err, .status = C2_OK};
    const unsigned flags = (command->runs_program ? ARGP_IN_ORDER : 0) | ARGP_NO_ERRS | ARGP_NO_EXIT | ARGP_NO_HELP;
    error_t failed = argp_parse(&parser, argc, argv, flags, NULL, &taking);
    if (taking.status == C2_OK && failed != 0)
        return c2_fail(err, C2_ERR_INVALID, "the command line is not understood (see c2emu --help)");
    return taking.status;
}

/* ------------------------------------------------------------------ the help */

/* The length of what stands before the text of a row that is of one verb alone, "points: "; 0: it is of all. *own: it
 * is this verb's. */
static size_t verb_of(const struct argp_option *row, const struct cli_command *command, bool *own)
{
    char verb[16];
    const char *colon = strstr(row->doc, ": ");
    snprintf(verb, sizeof verb, "%.*s", colon ? (int)(colon - row->doc) : 0, row->doc);
    *own = command->verb && strcmp(verb, command->verb) == 0;
    return colon && cli_verb(verb) ? (size_t)(colon - row->doc) + 2 : 0;
}

/* Whether the row is in the command's help, and as what. */
static bool words_is_shown(struct argp_option *out, const struct argp_option *row, const struct cli_command *command)
{
    bool own = false;
    *out = *row;
    if (!row->name)
        return true;
    out->doc += verb_of(row, command, &own);
    return (own || out->doc == row->doc) && (!command->takes || command->takes(row->name, NULL) == C2_OK);
}

size_t cli_words_shown(struct argp_option out[CLI_ROWS], const struct cli_command *command)
{
    size_t count = 0;
    for (const struct argp_option *row = command->options; !is_end(row); row++)
        count += !(row->flags & OPTION_HIDDEN) && words_is_shown(&out[count], row, command);
    out[count] = (struct argp_option){0};
    return count;
}

void cli_words_help(const struct cli_command *command, FILE *to)
{
    struct argp_option shown[CLI_ROWS];
    const struct argp parser = {.options = shown, .args_doc = command->arguments, .doc = command->text};
    char name[32];
    cli_words_shown(shown, command);
    snprintf(name, sizeof name, "c2emu%s%s", command->verb ? " " : "", command->verb ? command->verb : "");
    argp_help(&parser, to, ARGP_HELP_STD_HELP & ~(unsigned)(ARGP_HELP_EXIT_OK | ARGP_HELP_EXIT_ERR), name);
}
