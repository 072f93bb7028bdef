/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * explain: `c2emu explain`: the run of a report made again.
 *
 * Model
 *   A report has in its receipt what was run; the words behind `c2emu explain` add which miss is meant. The run is
 *   made in this process, where the report's was, and reads what that has read as its standard input. That it is the
 *   same run is seen by the misses of the level (session/explained.c): if these differ nothing is told.
 * Not modelled
 *   Inputs that have changed without another number of misses: `c2emu verify` looks at each.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli_priv.h"
#include "session/receipt.h"
#include "cli/options_priv.h"

struct again {
    const char *path; /* of the report, */
    char *whole;      /* and from the root on */
    struct report_saved *saved;
    const struct report_receipt *receipt;
    const char **words; /* of the run: c2emu, explain, the report's options, those that were given */
    size_t count;
    char *files[2]; /* what --json and --html write, from the root on */
};

static enum c2_status explain_take_option(void *self, const struct argp_option *row, char *value, struct c2_error *err)
{
    struct again *again = self;
    if (!cli_explain_takes(row))
        return c2_fail(err, C2_ERR_INVALID,
                       "explain: --%s says how a program is run and simulated, which a report does itself; explain the "
                       "program with it",
                       row->name);
    char *word = value ? c2_format("--%s=%s", row->name, value) : c2_format("--%s", row->name);
    if (!word)
        return c2_fail_memory(err, "a command line");
    again->words[again->count++] = word;
    return C2_OK;
}

static enum c2_status explain_take_path(void *self, char *const *words, struct c2_error *err)
{
    struct again *again = self;
    if (again->path)
        return c2_fail(err, C2_ERR_INVALID, "explain: one report at a time: %s, and then %s", again->path, words[0]);
    again->path = words[0];
    return C2_OK;
}

/* A run, and one whose end does not depend on what was there. */
static enum c2_status check_receipt(const struct again *again, struct c2_error *err)
{
    const char *interruption = report_saved_interruption(again->saved);
    const char *const *command = report_saved_command(again->saved);
    char arguments[C2_SHA256_TEXT];
    if (interruption)
        return c2_fail(err, C2_ERR_UNSUPPORTED,
                       "explain: the run of %s was %s, so it cannot be made again; explain the program itself",
                       again->path, interruption);
    if (again->receipt->verb || report_saved_reports(again->saved))
        return c2_fail(err, C2_ERR_UNSUPPORTED,
                       "explain: %s is of `c2emu %s`; give the report of a run of one program, or the program itself",
                       again->path, again->receipt->verb ? again->receipt->verb : "with several programs");
    enum c2_status status = session_receipt_arguments(arguments, command, err);
    if (status == C2_OK && strcmp(arguments, again->receipt->arguments) != 0)
        status = c2_fail(err, C2_ERR_FORMAT,
                         "explain: the command in %s is not that of its receipt; explain the program itself",
                         again->path);
    return status;
}

static enum c2_status explain_open_report(struct again *again, struct c2_error *err)
{
    enum c2_status status = report_saved_open(&again->saved, again->path, err);
    if (status != C2_OK)
        return status;
    again->receipt = report_saved_receipt(again->saved);
    again->whole = realpath(again->path, NULL);
    return again->whole ? check_receipt(again, err)
                        : c2_fail(err, C2_ERR_NOT_FOUND, "explain: %s cannot be found: %m", again->path);
}

/* Those of the report stand before those that were given. */
static enum c2_status make_words(const char ***out, int *count, const struct again *again, struct c2_error *err)
{
    size_t options = 0, arguments = 0;
    const char *const *command = report_saved_command(again->saved);
    while (again->receipt->options[options])
        options++;
    while (command[arguments])
        arguments++;
    const char **at = *out = c2_calloc(options + arguments + again->count + 4, sizeof **out);
    if (!at)
        return c2_fail_memory(err, "a command line");
    *at++ = "c2emu";
    *at++ = "explain";
    memcpy(at, again->receipt->options, options * sizeof *at);
    at += options;
    memcpy(at, again->words, again->count * sizeof *at);
    at += again->count;
    *at++ = "--";
    memcpy(at, command, arguments * sizeof *at);
    *count = (int)(at + arguments - *out);
    return C2_OK;
}

/* Before the directory changes. */
static enum c2_status keep_place(const char **path, char **kept, struct c2_error *err)
{
    char here[PATH_MAX];
    if (!*path || **path == '/' || strcmp(*path, "-") == 0)
        return C2_OK;
    if (!getcwd(here, sizeof here))
        return c2_fail(err, C2_ERR_IO, "explain: this directory has no name: %m");
    *kept = c2_format("%s/%s", here, *path);
    *path = *kept;
    return *kept ? C2_OK : c2_fail_memory(err, "the name of a file");
}

/* What the run has read as its standard input, where that was a file. */
static enum c2_status explain_open_input(const struct again *again, struct c2_error *err)
{
    for (size_t i = 0; i < again->receipt->input_count; i++) {
        const struct report_input *input = &again->receipt->inputs[i];
        if (input->descriptor != 0 || !input->path || strcmp(input->kind, "stream") == 0 || !isatty(STDIN_FILENO))
            continue;
        const int fd = open(input->path, O_RDONLY);
        if (fd < 0 || lseek(fd, (off_t)input->offset, SEEK_SET) < 0 || dup2(fd, STDIN_FILENO) < 0)
            return c2_fail(
                err, C2_ERR_NOT_FOUND,
                "explain: standard input was %s, which cannot be opened: %m; give it again: explain %s < FILE",
                input->path, again->path);
        close(fd);
    }
    return C2_OK;
}

static enum c2_status explain_run_again(struct again *again, int *exit_status, struct c2_error *err)
{
    struct cli_options options = {.action = CLI_RUN};
    const char **words;
    int count = 0;
    enum c2_status status = make_words(&words, &count, again, err);
    if (status == C2_OK)
        status = cli_options_parse(&options, count, (char **)words, err);
    if (status == C2_OK)
        status = keep_place(&options.run.json, &again->files[0], err);
    if (status == C2_OK)
        status = keep_place(&options.run.html, &again->files[1], err);
    if (status == C2_OK)
        status = explain_open_input(again, err);
    if (status == C2_OK && chdir(again->receipt->directory) != 0)
        status = c2_fail(
            err, C2_ERR_NOT_FOUND,
            "explain: the run of %s was made in %s, which cannot be entered: %m; explain the program itself",
            again->path, again->receipt->directory);
    options.run.explained = again->whole;
    if (status == C2_OK)
        *exit_status = session_run(&options.run, environ);
    cli_options_release(&options);
    c2_free(words);
    return status;
}

enum c2_status cli_explain_report(int argc, char **argv, int *exit_status, struct c2_error *err)
{
    struct again again = {.words = c2_calloc((size_t)argc + 1, sizeof *again.words)};
    const struct cli_taker taker = {&again, explain_take_option, explain_take_path};
    enum c2_status status = again.words ? cli_words_take(cli_verb("replay"), argc, argv, &taker, err)
                                        : c2_fail_memory(err, "a command line");
    if (status == C2_OK)
        status = explain_open_report(&again, err);
    if (status == C2_OK)
        status = explain_run_again(&again, exit_status, err);
    for (size_t i = 0; i < again.count; i++)
        c2_free((void *)again.words[i]);
    c2_free(again.words);
    c2_free(again.files[0]);
    c2_free(again.files[1]);
    free(again.whole);
    report_saved_close(again.saved);
    return status;
}
