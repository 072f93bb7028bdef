/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * diff: `c2emu diff [--all] [--width N] [--fail-if CONDITION]... A.json B.json`.
 */
#include <string.h>
#include <unistd.h>

#include "cli/cli_priv.h"

struct words {
    const char *paths[2], **conditions; /* of --fail-if */
    size_t path_count, condition_count;
    uint64_t width; /* 0: the terminal's, or that of files */
    bool all;
};

static enum c2_status diff_fail_words(struct c2_error *err)
{
    return c2_fail(err, C2_ERR_INVALID,
                   "diff: give two reports: c2emu diff [--fail-if 'L1D.conflict>+0']... A.json B.json");
}

static enum c2_status diff_take_option(void *self, const struct argp_option *row, char *value, struct c2_error *err)
{
    struct words *words = self;
    if (strcmp(row->name, "width") == 0)
        return cli_take_width(&words->width, value, err);
    if (value)
        words->conditions[words->condition_count++] = value;
    words->all |= strcmp(row->name, "all") == 0;
    return C2_OK;
}

static enum c2_status diff_take_path(void *self, char *const *word, struct c2_error *err)
{
    struct words *words = self;
    if (words->path_count == 2)
        return diff_fail_words(err);
    words->paths[words->path_count++] = word[0];
    return C2_OK;
}

enum c2_status cli_diff(bool *failed, int argc, char **argv, struct c2_error *err)
{
    struct words words = {.conditions = c2_calloc((size_t)argc, sizeof *words.conditions)};
    const struct cli_taker taker = {&words, diff_take_option, diff_take_path};
    if (!words.conditions)
        return c2_fail_memory(err, "the conditions");
    enum c2_status status = cli_words_take(cli_verb("diff"), argc, argv, &taker, err);
    if (status == C2_OK && words.path_count < 2)
        status = diff_fail_words(err);
    if (status == C2_OK)
        status = report_diff(failed, stdout,
                             words.width != 0 ? (unsigned)words.width : session_terminal_width(STDOUT_FILENO),
                             words.paths[0], words.paths[1], words.all, words.conditions, words.condition_count, err);
    c2_free(words.conditions);
    return status;
}
