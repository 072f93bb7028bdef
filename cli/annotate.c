/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * annotate: `c2emu annotate [--event NAME]... [--asm] [--width N] [-I DIR]... FILE`.
 */
#include <string.h>
#include <unistd.h>

#include "cli/cli_priv.h"

struct words {
    struct report_annotation request;
    const char **events, **directories; /* those of the request */
    uint64_t width;                     /* 0: the terminal's; elsewhere lines are whole */
};

static enum c2_status annotate_take_option(void *self, const struct argp_option *row, char *value, struct c2_error *err)
{
    struct words *words = self;
    if (value && *value == '\0')
        return c2_fail(err, C2_ERR_INVALID, "annotate: option --%s needs a value", row->name);
    if (strcmp(row->name, "width") == 0)
        return cli_take_width(&words->width, value, err);
    if (strcmp(row->name, "event") == 0)
        words->events[words->request.event_count++] = value;
    else if (strcmp(row->name, "include") == 0)
        words->directories[words->request.directory_count++] = value;
    words->request.code |= strcmp(row->name, "asm") == 0;
    return C2_OK;
}

static enum c2_status annotate_take_path(void *self, char *const *word, struct c2_error *err)
{
    struct words *words = self;
    if (words->request.path)
        return c2_fail(err, C2_ERR_INVALID, "annotate: one file at a time: %s or %s", words->request.path, word[0]);
    words->request.path = word[0];
    return C2_OK;
}

enum c2_status cli_annotate(int argc, char **argv, struct c2_error *err)
{
    const char **texts = c2_calloc(2 * (size_t)argc, sizeof *texts);
    if (!texts)
        return c2_fail_memory(err, "the options");
    struct words words = {{.events = texts, .directories = texts + argc}, texts, texts + argc, 0};
    const struct cli_taker taker = {&words, annotate_take_option, annotate_take_path};
    enum c2_status status = cli_words_take(cli_verb("annotate"), argc, argv, &taker, err);
    if (status == C2_OK && !words.request.path)
        status = c2_fail(err, C2_ERR_INVALID,
                         "annotate: give a file of --callgrind: c2emu annotate [--event NAME]... "
                         "[--asm] [-I DIR]... FILE");
    words.request.width = words.width != 0 ? (unsigned)words.width : session_terminal_width(STDOUT_FILENO);
    if (status == C2_OK)
        status = report_annotate(stdout, &words.request, err);
    c2_free(texts);
    return status;
}
