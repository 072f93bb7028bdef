/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * run: the life of a run: one program after the other, each made (make.c), run, and concluded (conclude.c).
 *
 * Model
 *   The emulator writes the stream; simulate.c states which lanes consume it, on other host threads. A program that
 *   executes another one ends, and the next is made with the same kernel.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/root.h"
#include "session/run_priv.h"

int session_run_fail(const struct c2_error *err, int status)
{
    fprintf(stderr, "c2emu: %s\n", err->text);
    return status;
}

/* The guest's rights are c2emu's own. */
static void warn_root(const struct session_options *options)
{
    if (geteuid() == 0 && !options->sandbox && !options->quiet && isatty(STDERR_FILENO))
        fputs("c2emu: you are root, and the program may change whatever root may; --sandbox lets it change nothing but "
              "below this directory\n",
              stderr);
}

static void warn_no_wall(const struct session_options *options)
{
    if (options->sandbox && !options->quiet && emu_engine_is_on_host(session_engine(options)))
        fputs("c2emu: --sandbox with --engine native confines a program that means no harm: one that does can change "
              "c2emu itself, whose memory it shares; without --engine it is another one, which is a wall\n",
              stderr);
}

static int run_go(struct run *run, struct c2_error *err)
{
    struct emu_end end = {0};
    if (!run->executed && run->options->sandbox && session_confine(run->options->writable, err) != C2_OK)
        return session_run_fail(err, SESSION_EXIT_FAILED);
    if (!run->executed) {
        warn_root(run->options);
        warn_no_wall(run->options);
    }
    session_signals_catch(run->emu);
    session_progress_start(&run->progress, run->options->no_sim ? "running" : "measuring");
    run->progress.base = emu_instructions(run->emu);
    if (run->receipt && session_progress_wanted(run->options))
        run->progress.whole = session_receipt_expects(run->receipt, run->options);
    run->process->progress = &run->progress;
    emu_run(run->emu, &end, err);
    run->process->progress = NULL;
    session_signals_release(!run->options->advise && !run->points);
    session_progress_clear(&run->progress);
    if (end.kind == EMU_EXECUTED)
        run->next = syscalls_take_program(run->kernel);
    session_process_ended(run->process, &end, *session_signals_caught(), emu_instructions(run->emu));
    int status = session_run_conclude(run, &end, err);
    if (run->options->stats)
        session_stats(&run->progress, emu_instructions(run->emu));
    free(end.stacks);
    return status;
}

/* One program of the process, which takes it; *next is the one that it became. */
static int run_program(struct session_process *process, struct syscalls_program *program,
                       struct syscalls_program **next, char *const *host_env)
{
    struct c2_error err = {0};
    struct run *run = c2_calloc(1, sizeof *run);
    *next = NULL;
    if (!run) {
        syscalls_program_destroy(program);
        c2_fail_memory(&err, "the run");
        return session_run_fail(&err, SESSION_EXIT_FAILED);
    }
    run->process = process;
    run->options = process->options;
    run->executed = program;
    run->simulation.retired = &process->lane_symbols;
    int status = session_run_make(run, host_env, &err);
    if (status == 0)
        status = run_go(run, &err);
    *next = run->next;
    session_run_release(run);
    c2_free(run);
    return status;
}

/* A failure of c2emu's own with one of the programs is one of the whole. */
static int run_programs(struct session_process *process, char *const *host_env)
{
    struct syscalls_program *next = NULL;
    bool failed = false;
    int status;
    do {
        status = run_program(process, next, &next, host_env);
        failed |= next && status != 0;
    } while (next);
    return failed ? SESSION_EXIT_FAILED : status;
}

void session_options_init(struct session_options *out)
{
    *out = (struct session_options){.pages = "sequential", .engine = EMU_ENGINE, .seed = 1};
}

int session_run(const struct session_options *given, char *const *host_env)
{
    struct session_options options = *given;
    struct session_process process = {.options = &options, .pid = SESSION_FIRST_PID, .parent = 1};
    struct c2_error err;
    session_signals_begin();
    if (options.points.vectors_from)
        return session_points_from_file(&options);
    if (options.root && c2_root_set(options.root, &err) != C2_OK)
        return session_run_fail(&err, SESSION_EXIT_FAILED);
    session_processor_choose(&options);
    if (!options.no_sim)
        c2_heap_large_pages();
    int status = SESSION_EXIT_FAILED;
    if (session_process_create(&process, &err) != C2_OK)
        session_run_fail(&err, status);
    else
        status = session_process_end(&process, run_programs(&process, host_env));
    if (!process.forked && process.run_list && session_run_list_write(&process, &err) != C2_OK)
        status = session_run_fail(&err, SESSION_EXIT_FAILED);
    session_process_release(&process);
    return status;
}
