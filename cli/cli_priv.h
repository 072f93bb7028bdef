/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * cli_priv: the verbs, and what belongs to the process: its layout, and ends that it did not choose.
 */
#ifndef C2_CLI_PRIV_H
#define C2_CLI_PRIV_H

#include "cli/cli.h"
#include "report/report.h"

/* ------------------------------------------------------------------ guard.c: ends that c2emu did not choose */
void cli_guard_start(void);
/* Just before the process ends as c2emu wants; the exit status, another when something could not be said. */
int cli_guard_end(int status);

/* layout.c: where the host's address-space layout leaves no room for the guest's window, executes c2emu anew with the
 * usual one; does not come back then. */
void cli_usual_layout(char **argv);

/* ------------------------------------------------------------------ rerun.c: a run of a receipt made once more
 * input: what it reads as its standard input; -1: nothing. To be released, whatever it returned. */
struct cli_rerun {
    char *report; /* bytes of it; none where c2emu wrote no report */
    size_t bytes;
    int status;      /* exit status */
    char said[1024]; /* the last of what came on standard error */
    char *directory; /* of several programs: where their reports lie, beside the list of them; removed by release */
};
enum cli_rerun_form { CLI_RERUN_SLIM, CLI_RERUN_FULL, CLI_RERUN_SEVERAL }; /* by --json, --json-full, --output */
enum c2_status cli_rerun(struct cli_rerun *out, const struct report_receipt *receipt, const char *const *command,
                         enum cli_rerun_form form, int input, struct c2_error *err);
void cli_rerun_release(struct cli_rerun *rerun);

/* The value of --width. */
enum c2_status cli_take_width(uint64_t *out, const char *text, struct c2_error *err);

/* ------------------------------------------------------------------ explain.c: `c2emu explain` */
/* Of a report: its run is made again, with the words behind `c2emu explain`; returns as session_run(). */
enum c2_status cli_explain_report(int argc, char **argv, int *exit_status, struct c2_error *err);

/* sweep.c: argv[0] the verb. Returns only when it fails: else the process is another program. */
enum c2_status cli_sweep(int argc, char **argv, struct c2_error *err);
enum c2_status cli_machines_list(FILE *to, struct c2_error *err); /* a line each: name, what it is */
/* In the environment: the file of the machine that -m host is, in place of this processor. */
#define CLI_HOST_MACHINE "C2EMU_HOST_MACHINE"
/* `c2emu machines`: the list, one machine as a file, or the keys that a file may have; argv[0] is the verb. */
enum c2_status cli_machines(int argc, char **argv, struct c2_error *err);

/* ------------------------------------------------------------------ verbs that read reports; argv[0] is the verb */
/* diff.c: *failed: a condition of --fail-if holds. */
enum c2_status cli_diff(bool *failed, int argc, char **argv, struct c2_error *err);

/* ------------------------------------------------------------------ html.c: a page of reports that were saved */
enum c2_status cli_html(int argc, char **argv, struct c2_error *err);
/* verify.c: *different: something does. */
enum c2_status cli_verify(bool *different, int argc, char **argv, struct c2_error *err);
enum c2_status cli_annotate(int argc, char **argv, struct c2_error *err);

/* argv[0] is the verb; *exit_status: the program's, where one is run. */
enum c2_status cli_csim(int *exit_status, int argc, char **argv, struct c2_error *err);
/* quiz.c: likewise; answers come from standard input. */
enum c2_status cli_quiz(int argc, char **argv, struct c2_error *err);

#endif
