/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * replay: `c2emu replay FILE` - a run that was recorded, or a trace of another tool, is simulated by any machine and
 * placement, and nothing is executed.
 *
 * Model
 *   What the run was is in the recording, what is simulated says the plan, as for a run: lanes, reports and files are
 *   the same pieces. With the options of the recorded run the report is its report.
 *   A placement may want what the guest could see to have been otherwise: a heap that grows by huge pages, first writes
 *   told from reads. Then the recording is of another run than the one that is asked about, and is refused.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "session/session_priv.h"

#define RECORDING_FIRST 0x89 /* byte */

struct replay {
    struct session_options options; /* a seed that is not given is the recording's */
    const char *name;               /* of the file, for messages */
    FILE *file, *content;           /* of a trace: what the file has, uncompressed */
    struct stream_trace *trace;     /* NULL: it is a recording, which the simulation has */
    const char *trace_name[2];      /* in place of a command */
    struct session_told told;
    struct session_plan plan;
    struct session_outputs outputs;
    struct session_simulation simulation;
    struct session_progress progress;
    bool shows_progress;
    struct stream_sink to;
};

/* ------------------------------------------------------------------ the recording */

static enum c2_status replay_open_file(struct replay *replay, struct c2_error *err)
{
    const char *path = replay->options.recording;
    const bool standard = strcmp(path, "-") == 0;
    replay->name = standard ? "from standard input" : path;
    replay->file = standard ? stdin : fopen(path, "rbe");
    if (!replay->file)
        return c2_fail(err, C2_ERR_NOT_FOUND, "cannot read the recording %s: %s", path, strerror(errno));
    return c2_outfile_spare(standard ? SESSION_STANDARD_INPUT : path, err);
}

static enum c2_status open_recording(struct replay *replay, struct c2_error *err)
{
    struct stream_recording **recording = &replay->simulation.recording;
    enum c2_status status = stream_recording_open(recording, replay->file, replay->name, err);
    if (status != C2_OK)
        return status;
    stream_recording_distrust(*recording);
    status = session_told_start(&replay->told, *recording, err);
    if (!replay->options.seed_set)
        replay->options.seed = replay->told.seed;
    replay->options.sampling.measure = replay->told.measure;
    replay->options.quantum = replay->told.quantum;
    if (status == C2_OK && replay->options.sampling.precision != 0 && replay->told.measure == 0)
        status = c2_fail(err, C2_ERR_INVALID, "--precision is of samples, and %s has none; leave it out", replay->name);
    return status;
}

/* NULL: neither an option nor the name says it. */
static const char *format_of(const struct replay *replay)
{
    return replay->options.format ? replay->options.format : stream_trace_form_of(replay->options.recording);
}

/* Memory of a trace may be placed as one likes: it has no heap, and each page's first write is told. */
static enum c2_status open_trace(struct replay *replay, struct c2_error *err)
{
    const bool standard = replay->file == stdin;
    const char *name = standard ? "standard input" : replay->name;
    replay->trace_name[0] = name;
    replay->told.guest = (struct mmu_guest_config){.heap_page = MMU_PAGE_1G, .tells_writes = true};
    enum c2_status status = c2_unpack(&replay->content, replay->file, err);
    return status == C2_OK ? stream_trace_open(&replay->trace, replay->content, name, format_of(replay), err) : status;
}

/* A recording shows in its first byte, which no line of a trace begins with. */
static enum c2_status replay_open_input(struct replay *replay, struct c2_error *err)
{
    enum c2_status status = replay_open_file(replay, err);
    if (status != C2_OK)
        return status;
    const char *format = format_of(replay);
    const int first = getc(replay->file);
    ungetc(first, replay->file);
    if (format ? strcmp(format, "recording") == 0 : first == RECORDING_FIRST || first == EOF)
        return open_recording(replay, err);
    return open_trace(replay, err);
}

/* ------------------------------------------------------------------ the plan */

/* Whether the recorded guest saw what a run with this placement would show it. */
static enum c2_status check_guest(const struct replay *replay, struct c2_error *err)
{
    const struct mmu_guest_config wanted = session_plan_guest(&replay->plan, &replay->options);
    const struct mmu_guest_config *had = &replay->told.guest;
    if (wanted.heap_page > had->heap_page)
        return c2_fail(err, C2_ERR_UNSUPPORTED,
                       "these huge pages want a heap that grows by %u MiB, and that of %s did not: record the run with "
                       "the same --huge, --huge-size or --against",
                       (unsigned)(mmu_page_bytes(wanted.heap_page) >> 20), replay->name);
    if (wanted.tells_writes && !had->tells_writes)
        return c2_fail(err, C2_ERR_UNSUPPORTED,
                       "--zero-page wants to know which pages were read before they were written, and %s does not say: "
                       "record the run with --zero-page",
                       replay->name);
    return C2_OK;
}

/* A trace has no symbols, and no files that are mapped. */
static enum c2_status check_region(const char *option, const char *text, struct c2_error *err)
{
    struct mmu_region ignored;
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "="), text);
    if (mmu_region_of_word(&ignored, name))
        return C2_OK;
    return c2_fail(err, C2_ERR_INVALID, "%s %s: a trace has no symbols and no mapped files; leave it out", option,
                   name);
}

static enum c2_status check_regions(const struct replay *replay, struct c2_error *err)
{
    const struct session_options *options = &replay->options;
    enum c2_status status = C2_OK;
    for (size_t i = 0; replay->trace && i < options->place_count && status == C2_OK; i++)
        status = check_region("--place", options->places[i], err);
    for (size_t i = 0; replay->trace && i < options->huge_region_count && status == C2_OK; i++)
        status = check_region("--huge", options->huge_regions[i], err);
    return status;
}

/* A trace has neither symbols nor registers. */
static enum c2_status check_contexts(struct replay *replay, struct c2_error *err)
{
    if (!session_contexts_asked(&replay->options.separate))
        return C2_OK;
    if (replay->trace)
        return c2_fail(err, C2_ERR_INVALID,
                       "--separate-par, --separate-callers and --separate-recs tell functions apart, and a trace does "
                       "not say which there are; leave them out");
    return session_told_contexts(&replay->plan.contexts, replay->simulation.recording, replay->name, err);
}

static enum c2_status make_plan(struct replay *replay, struct c2_error *err)
{
    static const char *const no_environment[] = {NULL};
    const struct loader_request request = {.program = replay->told.program,
                                           .argv = replay->told.command,
                                           .envp = no_environment,
                                           .seed = replay->told.seed};
    enum c2_status status = check_regions(replay, err);
    if (status == C2_OK)
        status = session_plan_read(&replay->plan, &replay->options, err);
    if (status == C2_OK)
        status = check_contexts(replay, err);
    if (status == C2_OK)
        status = session_plan_place(&replay->plan, &replay->options, &request, err);
    return status == C2_OK ? check_guest(replay, err) : status;
}

/* ------------------------------------------------------------------ playing */

static uint64_t instructions(const struct replay *replay)
{
    return replay->trace ? stream_trace_instructions(replay->trace)
                         : stream_recording_instructions(replay->simulation.recording);
}

static enum c2_status replay_pass_on(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    struct replay *replay = self;
    if (replay->shows_progress)
        session_progress_tick_file(&replay->progress, instructions(replay), replay->file);
    return replay->to.consume(replay->to.self, batch, err);
}

static enum c2_status replay_play(void *self, struct stream_sink to, struct c2_error *err)
{
    struct replay *replay = self;
    const struct stream_sink sink = {replay, replay_pass_on, NULL};
    replay->to = to;
    return replay->trace ? stream_trace_play(replay->trace, sink, err)
                         : stream_recording_play(replay->simulation.recording, sink, err);
}

/* What is known of the run when all of it has been played. */
static enum c2_status replay_end(struct replay *replay, struct c2_error *err)
{
    if (replay->trace) {
        replay->told.instructions = stream_trace_instructions(replay->trace);
        return C2_OK;
    }
    enum c2_status status = session_told_end(&replay->told, replay->simulation.recording, err);
    if (status == C2_OK && !replay->options.analyses[ANALYSIS_profile])
        status = session_told_check_files(replay->simulation.recording, stderr, err);
    return status;
}

static enum c2_status replay_simulate(struct replay *replay, struct c2_error *err)
{
    const struct session_options *options = &replay->options;
    const struct session_source source = {replay,
                                          replay->trace ? stream_trace_blocks(replay->trace)
                                                        : stream_recording_blocks(replay->simulation.recording),
                                          replay_play};
    replay->shows_progress = session_progress_wanted(options);
    session_progress_start(&replay->progress, "replaying");
    enum c2_status status = session_simulation_play(&replay->simulation, &replay->plan, options, &source, err);
    session_progress_clear(&replay->progress);
    return status == C2_OK ? replay_end(replay, err) : status;
}

static enum c2_status report(struct replay *replay, struct c2_error *err)
{
    const struct session_told *told = &replay->told;
    struct report_run against, report = {.command = replay->trace ? replay->trace_name : told->command,
                                         .trace = replay->trace ? stream_trace_form(replay->trace) : NULL,
                                         .exit_status = (int)told->exit_status,
                                         .ending = told->ending,
                                         .clock = told->clock,
                                         .instructions = told->instructions,
                                         .sim.turn = told->quantum,
                                         .phases = told->phases,
                                         .phase_count = told->phase_count,
                                         .start = told->start,
                                         .weights = told->weights,
                                         .regions = told->regions,
                                         .region_count = told->region_count,
                                         .lost_pages = told->lost_pages};
    if (told->ending)
        fprintf(stderr, "c2emu: %s\n", told->ending);
    session_describe(&report, &against, &replay->options, replay->simulation.lanes);
    enum c2_status status = session_describe_program(&report, told->program, err);
    if (status == C2_OK)
        status = session_write_reports(&replay->outputs, &replay->options, &replay->simulation, &report, true, err);
    return status;
}

/* ------------------------------------------------------------------ life */

static enum c2_status replay_go(struct replay *replay, struct c2_error *err)
{
    enum c2_status status = replay_open_input(replay, err);
    if (status == C2_OK)
        status = make_plan(replay, err);
    if (status == C2_OK)
        status = session_outputs_open(&replay->outputs, &replay->options, err);
    if (status == C2_OK)
        status = replay_simulate(replay, err);
    return status == C2_OK ? report(replay, err) : status;
}

static void replay_release(struct replay *replay)
{
    session_simulation_release(&replay->simulation);
    session_plan_release(&replay->plan);
    session_outputs_abandon(&replay->outputs);
    session_told_release(&replay->told);
    stream_trace_close(replay->trace);
    if (replay->content)
        fclose(replay->content);
    if (replay->file && replay->file != stdin)
        fclose(replay->file);
    c2_free(replay);
}

enum c2_status session_replay(const struct session_options *options, int *exit_status, struct c2_error *err)
{
    struct replay *replay = c2_calloc(1, sizeof *replay);
    if (!replay)
        return c2_fail_memory(err, "the replay");
    replay->options = *options;
    c2_heap_large_pages();
    enum c2_status status = replay_go(replay, err);
    *exit_status = (int)replay->told.exit_status;
    if (options->stats && status == C2_OK)
        session_stats(&replay->progress, replay->told.instructions);
    replay_release(replay);
    return status;
}
