/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * run_priv: one program of a run, and the parts of its life: made (make.c), run (run.c), concluded (conclude.c).
 */
#ifndef C2_SESSION_RUN_PRIV_H
#define C2_SESSION_RUN_PRIV_H

#include <signal.h>

#include "session/checkpoint_priv.h"

struct run {
    const struct cpu_model *cpu; /* that the guest finds */
    const struct session_options *options;
    struct session_options adapted; /* to the checkpoint, or the program: then options points here */
    struct session_process *process;
    struct syscalls_program *executed; /* what is run; NULL: that of the command line */
    struct syscalls_program *next;     /* what comes behind it; NULL: nothing */
    uint64_t forked_at;                /* instructions; of a child of another process; else 0 */
    bool unfollowed;                   /* since then: it has no report */
    bool left_out;                     /* because of its options */
    struct session_restored *from;     /* or NULL */
    struct emu_phase first_phase;      /* with from and phases: where the checkpoint is */
    char **environment;
    char clock[SESSION_CLOCK_BYTES]; /* --clock, for the report */
    struct session_plan plan;
    char *program;              /* its path */
    struct session_facts facts; /* with --record */
    struct session_outputs outputs;
    struct session_simulation simulation;
    struct loader_image image;
    struct loader_symbols *symbols;
    struct syscalls *kernel;
    struct emu *emu;
    struct session_phases *phases; /* NULL: all is measured */
    struct session_chosen *chosen; /* with --points; else NULL */
    struct session_points *points; /* of `c2emu points`; else NULL */
    struct session_places places;
    struct session_division division;
    struct session_one_place checkpoint_place; /* --checkpoint-at */
    struct session_progress progress;
    struct session_receipt *receipt; /* NULL: there is no report.json to have one */
};

/* Writes the reason to standard error; returns status. */
int session_run_fail(const struct c2_error *err, int status);

/* ------------------------------------------------------------------ make.c
 * All that a run needs; what can be refused is refused here. 0, or the exit status, the reason being written. To be
 * released in any case. */
int session_run_make(struct run *run, char *const *host_env, struct c2_error *err);
void session_run_release(struct run *run);

/* ------------------------------------------------------------------ conclude.c
 * The guest has ended: counts are settled, reports and files written. Returns the exit status. */
int session_run_conclude(struct run *run, const struct emu_end *end, struct c2_error *err);

/* ------------------------------------------------------------------ signals.c: signals from outside
 * From catch to release they interrupt the emulator; the first one is kept, until the next run begins. */
void session_signals_begin(void);
void session_signals_catch(struct emu *emu);
/* After a first signal the handler stays, for the second. reports_at_once: what is left takes no time to speak of, so
 * the limit on processor time does not end it. */
void session_signals_release(bool reports_at_once);
const volatile sig_atomic_t *session_signals_caught(void); /* 0: none */

#endif
