/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * main: the process.
 */
#include <limits.h>
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/cli_priv.h"
#include "cli/commit.h"
#include "machine/machine.h"

/* A table of that size is memory of its own, however many of them were freed before: what nothing was written to is not
 * there, and a child's copies end with it. */
#define LARGE_BYTES (256 << 10)

/* Everything but a run: what it prints is on standard output. */
static enum c2_status act(const struct cli_options *options, int *exit_status, int argc, char **argv,
                          struct c2_error *err)
{
    bool failed = false;
    enum c2_status status = C2_OK;
    if (options->action == CLI_HELP)
        cli_help(stdout, options->verb);
    else if (options->action == CLI_MANUAL)
        cli_manual(stdout, options->verb, C2_VERSION);
    else if (options->action == CLI_COMPLETE)
        cli_complete(stdout, options->verb);
    else if (options->action == CLI_VERSION)
        printf("c2emu %s%s\n", C2_VERSION, C2_COMMIT);
    else if (options->action == CLI_LIST_MACHINES)
        status = cli_machines_list(stdout, err);
    else if (options->action == CLI_MACHINES)
        status = cli_machines(argc - 1, argv + 1, err);
    else if (options->action == CLI_PAGEMAP)
        status = cli_pagemap(argc - 1, argv + 1, err);
    else if (options->action == CLI_REPLAY)
        return session_replay(&options->run, exit_status, err);
    else if (options->action == CLI_EXPLAIN)
        return cli_explain_report(argc - 1, argv + 1, exit_status, err);
    else if (options->action == CLI_DIFF)
        status = cli_diff(&failed, argc - 1, argv + 1, err);
    else if (options->action == CLI_SWEEP)
        return cli_sweep(argc - 1, argv + 1, err);
    else if (options->action == CLI_CSIM)
        return cli_csim(exit_status, argc - 1, argv + 1, err);
    else if (options->action == CLI_QUIZ)
        status = cli_quiz(argc - 1, argv + 1, err);
    else if (options->action == CLI_HTML)
        status = cli_html(argc - 1, argv + 1, err);
    else if (options->action == CLI_VERIFY)
        status = cli_verify(&failed, argc - 1, argv + 1, err);
    else
        status = cli_annotate(argc - 1, argv + 1, err);
    if (status == C2_OK && fflush(stdout) != 0)
        status = c2_fail(err, C2_ERR_IO, "cannot write to standard output: %m");
    *exit_status = failed ? SESSION_EXIT_DIFFERENT : 0;
    return status;
}

/* A verb with words that are none for it may be meant as the program of that name. */
static void tell_hidden(const struct cli_command *verb)
{
    char text[PATH_MAX + 128];
    if (verb && cli_verb_hides(text, sizeof text, verb))
        fprintf(stderr, "c2emu: %s\n", text);
}

static void tell_behind(const struct cli_options *options)
{
    char text[PATH_MAX + 256];
    if (options->action == CLI_RUN && cli_option_behind(text, sizeof text, options->run.command))
        fprintf(stderr, "c2emu: note: %s\n", text);
}

/* The first word alone may be a verb. */
static void tell_misspelt(const struct cli_options *options, char *const *argv)
{
    const bool first = !options->verb && options->run.command && options->run.command[0] == argv[1];
    const char *verb = first ? cli_verb_meant(argv[1]) : NULL;
    if (verb)
        fprintf(stderr, "c2emu: did you mean the verb `%s`? (c2emu help %s)\n", verb, verb);
}

/* The program does not see what was meant for c2emu. */
static void take_host_machine(void)
{
    const char *path = getenv(CLI_HOST_MACHINE);
    if (path)
        machine_host_is(path);
    unsetenv(CLI_HOST_MACHINE);
}

int main(int argc, char **argv)
{
    struct cli_options options;
    struct c2_error err;
    int exit_status = 0;
    mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
    cli_usual_layout(argv);
    cli_guard_start();
    take_host_machine();
    enum c2_status status = cli_options_parse(&options, argc, argv, &err);
    if (status == C2_OK)
        tell_behind(&options);
    if (status == C2_OK && (options.action == CLI_RUN || options.action == CLI_RESTORE))
        exit_status = session_run(&options.run, environ);
    else if (status == C2_OK)
        status = act(&options, &exit_status, argc, argv, &err);
    if (status != C2_OK) {
        fprintf(stderr, "c2emu: %s\n", err.text);
        tell_hidden(options.verb);
        return cli_guard_end(SESSION_EXIT_FAILED);
    }
    if (exit_status == SESSION_EXIT_NOT_FOUND || exit_status == SESSION_EXIT_NOT_EXECUTABLE)
        tell_hidden(options.verb);
    if (exit_status == SESSION_EXIT_NOT_FOUND)
        tell_misspelt(&options, argv);
    cli_options_release(&options);
    return cli_guard_end(exit_status);
}
