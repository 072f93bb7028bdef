/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * main: the process.
 */
#include <unistd.h>

#include "cli/cli.h"
#include "cli/cli_priv.h"

static int pagemap(int count, char *const *words)
{
    struct c2_error err;
    if (cli_pagemap(count, words, &err) == C2_OK)
        return 0;
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
    else if (options.action == CLI_PAGEMAP)
        status = pagemap(argc - 2, argv + 2);
    else
        status = cli_run(&options, environ);
    cli_options_release(&options);
    return status;
}
