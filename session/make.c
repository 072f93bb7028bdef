/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * make: what a run needs.
 *
 * Model
 *   It is made in this order: environment, machine, placement, the output files (a program that is not found leaves
 *   none), memory and the stream with its lanes, the program in that memory, the guest's kernel, the emulator. Whatever
 *   can be refused is refused before the guest has run.
 *
 * Invariants
 *   Whatever was made is released in the opposite order, after success and failure alike.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/root.h"
#include "session/run_priv.h"
#include "sim/sim.h"
#include "stream/stream.h"

#define PROGRESS_INSTRUCTIONS 5000000u

static const char *const *environment_of(const struct run *run)
{
    if (run->executed)
        return run->executed->envp;
    return (const char *const *)(run->from ? run->from->saved.environment.list : run->environment);
}

static struct loader_request request_of(const struct run *run)
{
    if (run->executed)
        return (struct loader_request){.program = run->executed->name,
                                       .file = run->executed->file,
                                       .directory = run->executed->directory,
                                       .argv = run->executed->argv,
                                       .envp = run->executed->envp,
                                       .personality = run->executed->personality,
                                       .seed = run->options->seed,
                                       .cpu = run->cpu};
    return (struct loader_request){.program = run->from ? run->from->saved.image.path : run->options->command[0],
                                   .argv = run->options->command,
                                   .envp = environment_of(run),
                                   .seed = run->options->seed,
                                   .cpu = run->cpu};
}

static enum c2_status run_prepare(struct run *run, char *const *host_env, struct c2_error *err)
{
    session_clock_text(run->clock, run->options->clock_start);
    run->plan.from = run->from;
    const bool given = run->from || run->executed;
    enum c2_status status = session_processor(&run->cpu, run->options, err);
    if (status == C2_OK && run->from)
        status = session_saved_suits(&run->from->saved, run->from->path, run->cpu, err);
    if (status == C2_OK && !given)
        status = session_environment(&run->environment, run->options, host_env, err);
    if (status == C2_OK && run->options->sampling.points)
        status = session_chosen_create(&run->chosen, run->options, err);
    return status == C2_OK ? session_plan_read(&run->plan, run->options, err) : status;
}

/* One that is not there is said before any file is made. Its path is absolute, for readers in another folder. */
static enum c2_status find_program(struct run *run, struct c2_error *err)
{
    char *path;
    if (run->from) {
        run->program = c2_strdup(run->from->saved.image.path);
        return run->program ? C2_OK : c2_fail_memory(err, "the path of the program");
    }
    enum c2_status status = C2_OK;
    if (!run->executed)
        status = loader_find(&path, run->options->command[0], err);
    else if (!(path = c2_strdup(run->executed->file)))
        status = c2_fail_memory(err, "the path of the program");
    if (status != C2_OK)
        return status;
    char host[PATH_MAX];
    const bool found = run->executed || c2_root_find(path, host) == 0;
    char *absolute = realpath(found && !run->executed ? host : path, NULL);
    run->program = c2_strdup(absolute ? absolute : path);
    free(absolute);
    c2_free(path);
    return run->program ? C2_OK : c2_fail_memory(err, "the path of the program");
}

static enum c2_status suit_environment(struct run *run, struct c2_error *err)
{
    bool added;
    enum c2_status status = session_environment_suit(&added, &run->environment, run->program, err);
    if (added && !run->options->quiet)
        fprintf(stderr, "c2emu: note: leaks are not looked for, as that takes ptrace (LSAN_OPTIONS=detect_leaks=0)\n");
    return status;
}

/* What is known to be read before any file is made: the program, standard input, and what the program's arguments name;
 * of a program behind the first, the program alone, for that run has begun. */
static enum c2_status spare_inputs(const struct run *run, struct c2_error *err)
{
    char host[PATH_MAX];
    enum c2_status status = c2_outfile_spare(run->program, err);
    if (status == C2_OK)
        status = c2_outfile_spare(SESSION_STANDARD_INPUT, err);
    const char *const *argv = request_of(run).argv;
    for (size_t i = 1; status == C2_OK && !run->executed && argv[0] && argv[i]; i++)
        if (c2_root_find(argv[i], host) == 0)
            status = c2_outfile_spare(host, err);
    return status;
}

static enum c2_status start_simulation(struct run *run, struct c2_error *err)
{
    const struct mmu_guest_config guest = run->from ? run->from->saved.guest
                                                    : session_plan_guest(&run->plan, run->options);
    FILE *to = run->outputs.recording ? c2_outfile_stream(run->outputs.recording) : NULL;
    enum c2_status status = to ? session_facts_start(&run->facts, run->options, run->program, &guest, &run->plan, err)
                               : C2_OK;
    return status == C2_OK ? session_simulation_start(&run->simulation, &run->plan, run->options, to, &run->facts, err)
                           : status;
}

static enum c2_status run_load(struct run *run, struct c2_error *err)
{
    if (run->from) {
        run->image = run->from->saved.image;
        run->image.path = c2_strdup(run->image.path);
        mmu_checkpoint(run->simulation.mmu, run->from->state);
        return run->image.path ? checkpoint_status(run->from->state, err) : c2_fail_memory(err, "the program");
    }
    const struct loader_request request = request_of(run);
    return loader_load(&run->image, run->simulation.mmu, &request, err);
}

static int64_t may_run(void *self, const struct syscalls_program *program)
{
    (void)self;
    return -loader_refusal(&(struct loader_request){
        .program = program->name,
        .file = program->file,
        .directory = program->directory,
        .argv = program->argv,
        .envp = program->envp,
    });
}

/* The program's output begins a line. */
static void clear_progress(void *self)
{
    const struct session_process *process = self;
    if (process->progress)
        session_progress_clear(process->progress);
}

static enum c2_status create_kernel(struct run *run, struct c2_error *err)
{
    struct syscalls_cache caches[SYSCALLS_CACHES];
    struct syscalls_config config = {.program_path = c2_root_inside(run->image.path),
                                     .called = run->options->command[0],
                                     .argv = run->options->command,
                                     .envp = environment_of(run),
                                     .seed = run->options->seed,
                                     .start_seconds = run->options->clock_set ? run->options->clock_start
                                                                              : SYSCALLS_START_SECONDS,
                                     .uptime_seconds = SYSCALLS_UPTIME_SECONDS,
                                     .physical_bytes = run->plan.physical_bytes,
                                     .cpu = run->cpu,
                                     .processors = run->plan.processors,
                                     .caches = caches,
                                     .cache_count = session_plan_caches(caches, &run->plan),
                                     .keep_inputs = run->receipt,
                                     .confined = run->options->sandbox,
                                     .no_network = run->options->no_network,
                                     .writable = run->options->writable,
                                     .trace = run->options->verbose ? stderr : NULL,
                                     .complaints = stderr,
                                     .complaint_prefix = "c2emu: ",
                                     .interrupted = session_signals_caught(),
                                     .before_output = clear_progress,
                                     .before_output_self = run->process,
                                     .may_run = may_run,
                                     .may_fork = true};
    enum c2_status status = syscalls_create(&run->kernel, run->simulation.mmu, &config, err);
    run->process->kernel = run->kernel;
    return status;
}

/* What the dynamic linker does is the same on every host that has the same libraries. */
static enum c2_status hide_library_cache(struct run *run, struct c2_error *err)
{
    struct loader_libraries *libraries;
    enum c2_status status = loader_libraries_find(&libraries, run->image.path, environment_of(run), 0, err);
    if (status == C2_OK && loader_libraries_need_no_cache(libraries))
        syscalls_hide_library_cache(run->kernel);
    if (status == C2_OK)
        loader_libraries_release(libraries);
    return status;
}

/* How many threads a program starts it may have decided already, by what it found when it began. */
static void tell_processors(const struct run *run)
{
    const uint32_t found = syscalls_processors(run->kernel), cores = run->plan.processors;
    if (run->options->no_sim || cores == found)
        return;
    fprintf(stderr,
            "c2emu: note: the program was started on %" PRIu32 " processor%s and finds no other number; this machine "
            "has %" PRIu32 " core%s\n",
            found, found == 1 ? "" : "s", cores, cores == 1 ? "" : "s");
}

static enum c2_status make_kernel(struct run *run, struct c2_error *err)
{
    const char *path = c2_root_inside(run->image.path);
    if (run->executed)
        run->kernel = run->process->kernel;
    enum c2_status status = run->executed ? syscalls_execute(run->kernel, run->simulation.mmu, run->executed, path, err)
                                          : create_kernel(run, err);
    if (status == C2_OK && !run->from)
        return hide_library_cache(run, err);
    if (status != C2_OK)
        return status;
    syscalls_checkpoint(run->kernel, run->from->state);
    status = checkpoint_status(run->from->state, err);
    if (status == C2_OK)
        tell_processors(run);
    return status;
}

/* ------------------------------------------------------------------ checkpoints */

/* The guest has come to where the checkpoint is wanted. */
static enum c2_status run_save(void *self, struct c2_error *err)
{
    struct run *run = self;
    const struct session_options *options = run->options;
    struct session_saved saved = {
        .command = session_texts_of(options->command),
        .environment = session_texts_of(environment_of(run)),
        .wrappers = {.list = (char **)options->wrappers, .count = (uint32_t)options->wrapper_count},
        .seed = options->seed,
        .clock_start = options->clock_start,
        .clock_set = options->clock_set,
        .cpu = (char *)run->cpu->name,
        .cpu_features = run->cpu->features,
        .guest = *mmu_guest_config(run->simulation.mmu),
        .image = run->image,
        .instructions = emu_instructions(run->emu)};
    enum c2_status status = stream_writer_flush(run->simulation.writer, err);
    return status == C2_OK
               ? session_saver_save(run->simulation.saver, &saved, run->simulation.mmu, run->kernel, run->emu, err)
               : status;
}

static enum c2_status run_play(struct run *run, struct c2_error *err)
{
    emu_checkpoint(run->emu, run->from->state);
    enum c2_status status = checkpoint_status(run->from->state, err);
    struct session_progress *progress = session_progress_wanted(run->options) ? &run->progress : NULL;
    session_progress_start(&run->progress, "restoring");
    run->progress.whole = run->from->saved.instructions;
    return status == C2_OK ? session_restored_play(run->from, &run->simulation, run->phases ? &run->first_phase : NULL,
                                                   progress, err)
                           : status;
}

static enum c2_status read_moment(struct run *run, struct c2_error *err)
{
    const char *place = run->options->checkpoint_place;
    return place ? session_place_read(&run->checkpoint_place, "--checkpoint-at", place, err) : C2_OK;
}

static struct emu_checkpoint_trigger run_checkpoint_trigger_of(struct run *run)
{
    const struct session_one_place *place = &run->checkpoint_place;
    return (struct emu_checkpoint_trigger){.instructions = run->options->checkpoint_at,
                                           .place = run->options->checkpoint_place ? &place->place : NULL,
                                           .arrival = place->arrival ? place->arrival : 1,
                                           .reached = run_save,
                                           .self = run,
                                           .ends = run->options->checkpoint_stop};
}

/* Those of the first lane; NULL: there are none. */
static struct analyses *analyses_of(const struct run *run)
{
    return run->simulation.lanes ? lane_analyses(lanes_at(run->simulation.lanes, 0)) : NULL;
}

/* Progress is told where an interval ends: a pause in between would cut a block, and the blocks of a run would depend
 * on what looks on. */
static void count_intervals(struct run *run, struct emu_config *config)
{
    config->phase = session_points_next;
    config->phase_self = run->points;
    config->count_blocks = true;
    config->progress = NULL;
}

/* ------------------------------------------------------------------ children */

/* Nothing is left to be written, and no thread runs but this one. */
static enum c2_status run_before_fork(void *self, struct c2_error *err)
{
    struct run *run = self;
    enum c2_status status = run->simulation.writer ? session_simulation_catch_up(&run->simulation, err) : C2_OK;
    if (status == C2_OK && !run->unfollowed)
        status = session_sharing_end(&run->simulation, err); /* there are two streams from here on */
    fflush(NULL);
    stream_rings_pause();
    if (status == C2_OK && run->simulation.lanes && !run->unfollowed)
        lane_foresee(lanes_at(run->simulation.lanes, 0)); /* once, where each child would do it else */
    return status;
}

static enum c2_status parent_goes_on(void *self, struct c2_error *err)
{
    (void)self;
    return stream_rings_resume(err);
}

/* What this process does not report it does not simulate. */
static void unfollow(struct run *run)
{
    session_simulation_end_early(&run->simulation);
    session_outputs_abandon(&run->outputs);
    run->unfollowed = true;
}

/* As where a program asks for it: a phase ends, and of what was counted nothing is left. */
static enum c2_status count_anew(struct stream_writer *writer, struct c2_error *err)
{
    const uint64_t word = STREAM_MEASURE;
    enum c2_status status = stream_writer_mark(writer, STREAM_PHASE, &word, 1, err);
    return status == C2_OK ? stream_writer_mark(writer, STREAM_ZEROED, NULL, 0, err) : status;
}

/* The child's part of the parent's program. Caches are as the parent left them; what was counted is the parent's. */
static enum c2_status child_begins(void *self, uint32_t pid, bool *followed, struct c2_error *err)
{
    struct run *run = self;
    run->forked_at = emu_instructions(run->emu);
    session_receipt_destroy(run->receipt);
    run->receipt = NULL;
    run->points = NULL;
    const bool was = !run->unfollowed && run->simulation.writer && !run->options->no_sim;
    *followed = was && session_process_follows_child(run->process, run->options);
    run->left_out |= was && !*followed;
    enum c2_status status = session_process_become(run->process, pid, *followed, err);
    if (status == C2_OK && *followed && analyses_of(run))
        status = analyses_restart(analyses_of(run), err);
    if (status == C2_OK)
        status = stream_rings_resume(err);
    if (status == C2_OK && *followed)
        status = count_anew(run->simulation.writer, err);
    if (status == C2_OK && !*followed)
        unfollow(run);
    return status;
}

/* Analyses look at what is between two barriers; a recording is for all. */
static bool wants_barriers(const struct session_options *options)
{
    return options->record || options->analyses[ANALYSIS_sharing] || options->settings[ANALYSES_SETTING_phase_at];
}

static enum c2_status make_emulator(struct run *run, struct c2_error *err)
{
    const struct analyses *analyses = analyses_of(run);
    struct emu_config config = {.engine = session_engine(run->options),
                                .cpu = run->cpu,
                                .retired = run->process->engine,
                                .mmu = run->simulation.mmu,
                                .kernel = run->kernel,
                                .blocks = run->simulation.blocks,
                                .writer = run->simulation.writer,
                                .record = !run->options->no_sim || run->options->record || run->options->csim,
                                .mark_allocations = run->options->record || run->options->checkpoint || run->from ||
                                                    (analyses && analyses_want_marks(analyses)),
                                .mark_barriers = wants_barriers(run->options),
                                .wrappers = run->options->wrappers,
                                .wrapper_count = run->options->wrapper_count,
                                .quantum = session_turn(run->options, run->plan.processors),
                                .whole_blocks = session_turn_of_blocks(run->options, run->plan.processors),
                                .symbols = run->symbols,
                                .argued = run->plan.contexts.functions,
                                .argued_count = run->plan.contexts.function_count,
                                .progress = session_progress_wanted(run->options) ? session_progress_tick : NULL,
                                .progress_self = &run->progress,
                                .progress_every = PROGRESS_INSTRUCTIONS};
    config.phase = run->phases ? session_phases_next : NULL;
    config.phase_self = run->phases;
    config.regions = session_regions_asked(&run->options->regions) ? &run->places.regions : NULL;
    if (run->points)
        count_intervals(run, &config);
    config.begun = run->first_phase;
    config.family = (struct emu_family){.turns = run->process->turns,
                                        .self = run,
                                        .before = run_before_fork,
                                        .parent = parent_goes_on,
                                        .child = child_begins};
    if (run->simulation.saver)
        config.checkpoint_trigger = run_checkpoint_trigger_of(run);
    run->process->engine = NULL;
    enum c2_status status = emu_create(&run->emu, &config, &run->image, err);
    if (status == C2_OK && run->points)
        session_points_count(run->points, run->emu);
    return status;
}

static enum c2_status make_phases(struct run *run, struct c2_error *err)
{
    const struct session_options *options = run->options;
    const bool regions = session_regions_asked(&options->regions);
    const struct session_phases_config config = {.sampling = &options->sampling,
                                                 .chosen = run->chosen,
                                                 .warm = options->regions.warm,
                                                 .regions = regions ? &run->places.regions : NULL,
                                                 .symbols = run->symbols,
                                                 .seed = options->seed,
                                                 .progress = &run->progress};
    if (!regions && !session_sampling_asked(&options->sampling))
        return C2_OK;
    enum c2_status status = session_places_read(&run->places, &options->regions, err);
    return status == C2_OK ? session_phases_create(&run->phases, &config, err) : status;
}

/* Of a run that began at a checkpoint, or was to end there, the words alone do not tell how to make it again; those of
 * a program behind the first are not known. */
static enum c2_status make_receipt(struct run *run, struct c2_error *err)
{
    const struct session_options *options =
        run->process->options; /* of all of the run, whichever process is followed */
    const bool wanted = options->json || options->json_full || options->html || options->output_dir;
    if (!wanted || options->restored || options->checkpoint_stop || run->executed)
        return C2_OK;
    return session_receipt_create(&run->receipt, options, run->environment, &run->plan, err);
}

/* Those of the first program: what others are is not known when the options are given. */
static enum c2_status check_names(const struct run *run, struct c2_error *err)
{
    const struct session_named named = {
        .program = run->image.path,
        .envp = environment_of(run),
        .regions = session_regions_asked(&run->options->regions) ? &run->places.regions : NULL,
        .checkpoint_trigger = run->options->checkpoint_place ? &run->checkpoint_place.place : NULL,
        .argued = run->plan.contexts.functions,
        .argued_count = run->plan.contexts.function_count};
    return run->executed ? C2_OK : session_names_check(run->options, &named, err);
}

/* For the next program of the process. */
static void retire_parts(struct run *run)
{
    struct session_process *process = run->process;
    process->engine = emu_retire(run->emu);
    loader_symbols_retire(run->symbols);
    process->symbols = run->symbols;
    run->symbols = NULL;
    struct loader_symbols *of_lane = run->simulation.lanes ? lanes_retire(run->simulation.lanes) : NULL;
    if (!of_lane) /* those of an earlier program may be there still */
        return;
    loader_symbols_destroy(process->lane_symbols);
    process->lane_symbols = of_lane;
}

static enum c2_status run_make(struct run *run, struct c2_error *err)
{
    enum c2_status status = run->from ? C2_OK : session_simulation_loaded(&run->simulation, &run->image, err);
    if (status == C2_OK)
        status = loader_symbols_take(&run->symbols, &run->process->symbols, mmu_areas(run->simulation.mmu), err);
    if (status == C2_OK)
        status = make_receipt(run, err);
    if (status == C2_OK)
        status = make_kernel(run, err);
    if (status == C2_OK)
        session_receipt_loaded(run->kernel, mmu_areas(run->simulation.mmu), run->image.path);
    if (status == C2_OK)
        status = make_phases(run, err);
    if (status == C2_OK)
        status = read_moment(run, err);
    if (status == C2_OK)
        status = check_names(run, err);
    if (status == C2_OK && run->phases && run->from)
        run->first_phase = session_phases_next(run->phases, 0, &(struct watch_part){.where = WATCH_INSIDE});
    if (status == C2_OK)
        status = make_emulator(run, err);
    return status == C2_OK && run->from ? run_play(run, err) : status;
}

/* A process that ends leaves what was read of files to the kernel: it is the most of what is freed piece by piece,
 * libdw's trees with it, and a child would copy the pages that its parent's lie in. */
static void leave_symbols(struct run *run)
{
    run->symbols = NULL;
    run->simulation.leaves_symbols = true;
}

/* ------------------------------------------------------------------ all of it */

/* The checkpoint says what is run. */
static enum c2_status open_checkpoint(struct run *run, struct c2_error *err)
{
    if (!run->options->restored)
        return C2_OK;
    enum c2_status status = session_restored_open(&run->from, run->options->restored, err);
    if (status != C2_OK)
        return status;
    run->adapted = *run->options;
    run->options = &run->adapted;
    return session_restored_options(&run->adapted, run->from, err);
}

/* Those of the program, where it is not the first, or not to be followed. */
static enum c2_status adapt_options(struct run *run, struct c2_error *err)
{
    struct session_process *process = run->process;
    process->programs++;
    if (!run->executed && (run->options->restored || session_follows(process, run->options->command[0]))) {
        session_process_followed(process);
        return C2_OK;
    }
    run->options = &run->adapted;
    enum c2_status status = session_program_options(&run->adapted, process, run->executed, err);
    if (process->forked)
        run->adapted.csim = NULL; /* which has the references of the first process */
    return status;
}

int session_run_make(struct run *run, char *const *host_env, struct c2_error *err)
{
    enum c2_status status = adapt_options(run, err);
    if (status == C2_OK)
        status = open_checkpoint(run, err);
    if (status == C2_OK)
        status = run_prepare(run, host_env, err);
    if (status != C2_OK)
        return session_run_fail(err, SESSION_EXIT_FAILED);
    const struct loader_request request = request_of(run);
    status = session_plan_place(&run->plan, run->options, &request, err);
    if (status != C2_OK)
        return session_run_fail(err, session_load_status(status));
    status = find_program(run, err);
    if (status == C2_OK && run->environment)
        status = suit_environment(run, err);
    if (status != C2_OK)
        return session_run_fail(err, session_load_status(status));
    status = spare_inputs(run, err);
    if (status == C2_OK)
        status = session_outputs_open(&run->outputs, run->options, err);
    if (status == C2_OK && run->options->points.find)
        status = session_points_create(&run->points, run->options,
                                       session_progress_wanted(run->options) ? &run->progress : NULL, err);
    if (status == C2_OK)
        status = start_simulation(run, err);
    if (status != C2_OK)
        return session_run_fail(err, SESSION_EXIT_FAILED);
    status = run_load(run, err);
    if (status != C2_OK)
        return session_run_fail(err, run->from ? SESSION_EXIT_FAILED : session_load_status(status));
    status = run_make(run, err);
    return status == C2_OK ? 0 : session_run_fail(err, SESSION_EXIT_FAILED);
}

void session_run_release(struct run *run)
{
    session_points_destroy(run->points);
    if (run->next)
        retire_parts(run);
    else
        emu_destroy(run->emu);
    if (SHORTCUT(!run->next))
        leave_symbols(run);
    session_phases_destroy(run->phases);
    session_chosen_destroy(run->chosen);
    session_places_release(&run->places);
    loader_symbols_destroy(run->symbols);
    loader_image_release(&run->image);
    session_simulation_release(&run->simulation);
    session_plan_release(&run->plan);
    session_facts_release(&run->facts);
    c2_free(run->program);
    session_outputs_abandon(&run->outputs);
    if (run->receipt)
        run->process->receipt = run->receipt;
    session_environment_release(run->environment);
    session_place_release(&run->checkpoint_place);
    session_restored_close(run->from);
    syscalls_program_destroy(run->executed);
}
