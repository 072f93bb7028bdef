/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * explain_words: what `c2emu explain` is given: a program, a recording or a report.
 *
 * Model
 *   The first word that is no option is a file of c2emu's if it begins as one: a recording with its mark, a report with
 *   a brace; else it is a program. Options may stand behind those of c2emu's, and behind a program nothing but its own
 *   words. A recording takes the options of replay. Of a report the options that say how a program runs and is
 *   simulated are its own; others are refused.
 */
#include <stdio.h>
#include <string.h>

#include "cli/options_priv.h"

enum { RECORDING_FIRST = 0x89 };

static enum c2_status pass_option(void *self, const struct argp_option *row, char *value, struct c2_error *err)
{
    (void)self, (void)row, (void)value, (void)err;
    return C2_OK;
}

static enum c2_status explain_words_note_word(void *self, char *const *words, struct c2_error *err)
{
    const char **word = self;
    (void)err;
    *word = *word ? *word : words[0];
    return C2_OK;
}

/* The byte that it begins with, blanks left out; EOF: it cannot be read, or is empty. */
static int first_byte(const char *path)
{
    FILE *file = fopen(path, "rbe");
    int byte;
    if (!file)
        return EOF;
    do
        byte = getc(file);
    while (byte == ' ' || byte == '\n');
    fclose(file);
    return byte;
}

bool cli_explain_takes(const struct argp_option *row)
{
    static const int own[] = {KEY_STEP,
                              KEY_JOBS,
                              KEY_ANALYSES + ANALYSIS_explain,
                              KEY_SETTINGS + ANALYSES_SETTING_explain_at,
                              KEY_SETTINGS + ANALYSES_SETTING_explain_level,
                              KEY_SETTINGS + ANALYSES_SETTING_explain_steps};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (row->key == own[i])
            return true;
    return row->group > GROUP_RUN;
}

enum c2_status cli_explain_what(struct cli_options *options, int argc, char **argv, struct c2_error *err)
{
    const char *word = NULL;
    bool help;
    const struct cli_taker taker = {&word, pass_option, explain_words_note_word};
    enum c2_status status = cli_words_take(options->verb, argc, argv, &taker, err);
    const int first = status == C2_OK && word ? first_byte(word) : EOF;
    if (first == RECORDING_FIRST)
        options->action = CLI_REPLAY;
    if (first == '{')
        options->action = CLI_EXPLAIN;
    return status == C2_OK && options->action != CLI_RUN ? cli_words_check(cli_verb("replay"), argc, argv, &help, err)
                                                         : status;
}
