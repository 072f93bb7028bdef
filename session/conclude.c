/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * conclude: the end of a run.
 *
 * Model
 *   What is in the stream is counted, what the options asked for and the run did not have is reported, the files are
 *   finished, and the text goes to standard error.
 *
 * Invariants
 *   A run that ends by a failure of c2emu's own reports nothing: what was counted may be wrong. One that was
 *   interrupted reports what was done, and so does one that is cut: by a refused instruction, or where memory in common
 *   is exhausted.
 */
#include "session/run_priv.h"
#include "sim/sim.h"
#include "stream/stream.h"

#define TEXT_BYTES 1024

static struct report_run run_describe(const struct run *run, const struct emu_end *end, const char *ending)
{
    const bool several = run->process->programs > 1 || run->next || session_process_has_relatives(run->process);
    return (struct report_run){.command = run->options->command,
                               .process = several ? run->process->pid : 0,
                               .number = several ? run->process->programs : 0,
                               .exit_status = session_exit_status(end, *session_signals_caught()),
                               .ending = ending,
                               .interrupted = end->kind == EMU_INTERRUPTED,
                               .clock = run->options->clock_set ? run->clock : NULL,
                               .instructions = emu_instructions(run->emu) - run->forked_at,
                               .sim.turn = emu_turn(run->emu),
                               .phases = run->division.phases,
                               .phase_count = run->division.phase_count,
                               .start = run->division.start,
                               .weights = run->chosen ? session_chosen_weights(run->chosen) : NULL,
                               .regions = run->division.regions,
                               .region_count = run->division.region_count,
                               .lost_pages = mmu_usage(run->simulation.mmu).lost_pages,
                               .sim.placement = &run->plan.lanes[0].placement};
}

/* Of the instructions that were run, those that were to be simulated. */
static uint64_t recorded(const struct run *run)
{
    uint64_t sum = run->phases ? 0 : emu_instructions(run->emu);
    for (size_t i = 0; i < run->division.phase_count; i++)
        sum += run->division.phases[i].kind == STREAM_SKIP ? 0 : run->division.phases[i].instructions;
    return sum;
}

static enum c2_status run_settle(struct run *run, struct c2_error *err)
{
    enum c2_status status = session_simulation_settle(&run->simulation, err);
    if (status == C2_OK && run->phases)
        status = session_phases_end(run->phases, emu_instructions(run->emu), &run->division, err);
    if (status == C2_OK && run->chosen)
        status = session_chosen_check(run->chosen, emu_instructions(run->emu), err);
    if (status != C2_OK || run->options->no_sim)
        return status;
    const uint64_t wanted = recorded(run);
    const uint64_t counted = sim_counts(lane_sim(lanes_at(run->simulation.lanes, 0)))->instructions;
    if (wanted != counted)
        status = c2_fail(err, C2_ERR_INTERNAL, "%llu instructions were run, %llu were counted: a bug of c2emu",
                         (unsigned long long)wanted, (unsigned long long)counted);
    return status;
}

static void tell_wrappers(const struct run *run)
{
    for (size_t i = 0; i < run->options->wrapper_count; i++)
        if (!emu_wrapper_met(run->emu, i))
            fprintf(stderr, "c2emu: --alloc-wrapper %s: no block was allocated in a function of this name\n",
                    run->options->wrappers[i]);
}

static void tell_short(const struct run *run)
{
    char text[512];
    if (run->phases && session_phases_short(text, sizeof text, run->phases))
        fprintf(stderr, "c2emu: %s\n", text);
}

/* A function that has the name was there, and was not called. */
static bool never_entered(const struct run *run, const struct watch_place *function)
{
    for (size_t i = 0; i < run->division.region_count; i++)
        if (run->division.regions[i].asked == function->asked)
            return false;
    return true;
}

static void tell_functions(const struct run *run)
{
    for (uint32_t i = 0; i < run->places.regions.function_count; i++)
        if (never_entered(run, &run->places.functions[i]))
            fprintf(stderr, "c2emu: %s: not called in a region of its own\n", run->places.functions[i].asked);
}

/* A place that is nowhere is a failure, and so is a run of which nothing was measured: then there is no report. */
static enum c2_status find_regions(const struct run *run, bool *empty, struct c2_error *err)
{
    uint64_t measured = 0;
    *empty = false;
    if (!run->division.regions && !session_regions_asked(&run->options->regions))
        return C2_OK;
    for (size_t i = 0; i < run->division.region_count; i++)
        measured += run->division.regions[i].measured;
    *empty = measured == 0;
    enum c2_status status = emu_find_regions(run->emu, err);
    if (status == C2_OK && *empty && run->division.region_count != 0)
        status = c2_fail(err, C2_ERR_NOT_FOUND, "%s: the program came there, and nothing of it was measured",
                         run->division.regions[0].asked);
    else if (status == C2_OK && *empty)
        status = c2_fail(err, C2_ERR_NOT_FOUND, "%s: the program never came there, nothing was measured",
                         run->places.regions.function_count != 0 ? run->places.functions[0].asked
                         : run->places.regions.from              ? run->places.from.asked
                         : run->places.regions.to                ? run->places.to.asked
                                                                 : "--requests");
    return status;
}

static enum c2_status finish_recording(struct run *run, const struct report_run *report, struct c2_error *err)
{
    enum c2_status status = session_facts_end(&run->facts, report, mmu_areas(run->simulation.mmu), err);
    if (status == C2_OK)
        status = session_simulation_recorded(&run->simulation, &run->facts, err);
    return status == C2_OK || status == C2_ERR_IO ? session_outputs_commit_recording(&run->outputs, err) : status;
}

/* What the options ask for did not come. */
static int tell_unsaved(const struct run *run, int status, struct c2_error *err)
{
    if (!run->simulation.saver || session_saver_done(run->simulation.saver))
        return status;
    if (emu_find_checkpoint_trigger(run->emu, err) != C2_OK)
        return session_run_fail(err, SESSION_EXIT_FAILED);
    char when[32];
    const char *place = run->options->checkpoint_place;
    fprintf(stderr, "c2emu: --checkpoint-at %s: %s was not written: the program ended after %llu instructions\n",
            place ? place : c2_group_digits(when, run->options->checkpoint_at), run->options->checkpoint,
            (unsigned long long)emu_instructions(run->emu));
    return SESSION_EXIT_FAILED;
}

static int tell_failure(const struct emu_end *end, const struct c2_error *err)
{
    session_run_fail(err, SESSION_EXIT_FAILED);
    if (end->stacks)
        fputs(end->stacks, stderr);
    return SESSION_EXIT_FAILED;
}

/* All that is to be said of the run; returns the exit status. */
static int run_write_all(struct run *run, struct report_run *report, struct c2_error *err)
{
    struct findings *findings = NULL;
    enum c2_status status = C2_OK;
    if (!run->options->advise && (!run->options->quiet || run->options->output_dir)) /* advise changes its own */
        status = session_find(&findings, report, err);
    if (status == C2_OK)
        session_run_list_add(run->process, report, run->options->output_dir);
    if (status == C2_OK && run->options->record)
        status = finish_recording(run, report, err);
    if (status == C2_OK)
        status = session_write_reports(&run->outputs, run->options, &run->simulation, report,
                                       session_shows_program(run->process, run->options, run->next), err);
    findings_destroy(findings);
    return status == C2_OK ? tell_unsaved(run, report->exit_status, err) : session_run_fail(err, SESSION_EXIT_FAILED);
}

/* How a child ended is its parent's affair, but that c2emu cannot go on with it. */
static bool run_is_told(const struct emu_end *end, const struct session_process *process)
{
    return session_is_cut(end) || (end->kind != EMU_STOPPED && end->kind != EMU_EXECUTED && !process->forked);
}

/* Whether anything shows how it has ended. To find that place in the sources takes longer than most children do. */
static bool run_shows_ending(const struct run *run, const struct emu_end *end)
{
    const struct session_options *asked = run->process->options;
    const bool writes = asked->output_dir || asked->json || asked->json_full || asked->html || asked->record;
    return run_is_told(end, run->process) || !asked->quiet || !asked->no_sim || writes;
}

/* The guest has ended; returns the exit status. */
int session_run_conclude(struct run *run, const struct emu_end *end, struct c2_error *err)
{
    char text[TEXT_BYTES];
    if (end->kind == EMU_FAILED)
        return tell_failure(end, err);
    if (end->kind == EMU_ABANDONED)
        return SESSION_EXIT_FAILED;
    const char *ending = NULL;
    if (run_shows_ending(run, end))
        ending = session_ending_text(text, sizeof text, end, *session_signals_caught(), run->symbols, run->next);
    if (ending && run_is_told(end, run->process))
        fprintf(stderr, "c2emu: %s\n", ending);
    if (run->unfollowed) {
        struct report_run unseen = run_describe(run, end, ending);
        if (run->left_out && (end->kind == EMU_EXITED || end->kind == EMU_KILLED))
            session_process_not_followed(run->process, run->options);
        session_run_list_add(run->process, &unseen, false);
        return unseen.exit_status;
    }
    if (run_settle(run, err) != C2_OK)
        return session_run_fail(err, SESSION_EXIT_FAILED);
    tell_wrappers(run);
    tell_short(run);
    bool empty;
    enum c2_status found = find_regions(run, &empty, err);
    if (found == C2_OK)
        found = emu_find_argued(run->emu, err);
    if (found != C2_OK)
        session_run_fail(err, SESSION_EXIT_FAILED);
    if (empty)
        return SESSION_EXIT_FAILED;
    if (found == C2_OK)
        tell_functions(run);
    struct report_run report = run_describe(run, end, ending), against;
    if (run->points && session_is_cut(end)) /* points of a part stand for no run */
        return SESSION_EXIT_FAILED;
    if (run->points)
        return session_points_finish(run->points, err) == C2_OK ? report.exit_status
                                                                : session_run_fail(err, SESSION_EXIT_FAILED);
    report.exit_status = found == C2_OK ? report.exit_status : SESSION_EXIT_FAILED;
    if (run->options->csim)
        run->options->csim->whole = found == C2_OK;
    if (run->receipt && session_receipt_finish(&report.receipt, run->receipt, run->kernel, err) != C2_OK)
        return session_run_fail(err, SESSION_EXIT_FAILED);
    session_describe(&report, &against, run->options, run->simulation.lanes);
    if (!run->options->no_sim && session_describe_program(&report, run->program, err) != C2_OK)
        return session_run_fail(err, SESSION_EXIT_FAILED);
    return run_write_all(run, &report, err);
}
