/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * main: the process.
 */
#include <unistd.h>

#include "cli/cli.h"
#include "cli/cli_priv.h"

static int verb(enum cli_action action, int count, char *const *words)
{
    struct c2_error err;
    bool failed = false;
    enum c2_status status = action == CLI_PAGEMAP ? cli_pagemap(count, words, &err)
                            : action == CLI_DIFF  ? cli_diff(&failed, count, words, &err)
                                                  : cli_annotate(count, words, &err);
    if (status == C2_OK && fflush(stdout) != 0)
        status = c2_fail(&err, C2_ERR_IO, "cannot write to standard output: %m");
    if (status == C2_OK)
        return failed ? CLI_EXIT_DIFFERENT : 0;
    fprintf(stderr, "c2emu: %s\n", err.text);
    return CLI_EXIT_FAILED;
}

int main(int argc, char **argv)
{
    struct cli_options options;
    struct c2_error err;
    cli_usual_layout(argv);
    if (cli_options_parse(&options, argc, argv, &err) != C2_OK) {
        fprintf(stderr, "c2emu: %s\n", err.text);
        return CLI_EXIT_FAILED;
    }
    int status = 0;
    if (options.action == CLI_HELP)
        cli_help(stdout);
    else if (options.action == CLI_VERSION)
        printf("c2emu %s\n", C2_VERSION);
    else if (options.action == CLI_RUN)
        status = cli_run(&options, environ);
    else
        status = verb(options.action, argc - 2, argv + 2);
    cli_options_release(&options);
    return status;
}
