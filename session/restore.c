/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * restore: a run that goes on from a checkpoint (checkpoint.c).
 *
 * Model
 *   What the guest was given at its start - program, arguments, environment, clock, memory - is the checkpoint's;
 *   what is made of its run - machine, placement, analyses, reports - is that of the options, as if they had been
 *   given at the start. What was before the checkpoint counts as skipped; with the references in it, as a part of
 *   the run, or as a warm-up where there are phases.
 */
#include <errno.h>
#include <string.h>

#include "session/checkpoint_priv.h"

enum c2_status session_restored_open(struct session_restored **out, const char *path, struct c2_error *err)
{
    struct session_restored *restored = *out = c2_calloc(1, sizeof *restored);
    if (!restored)
        return c2_fail_memory(err, "a checkpoint");
    restored->path = path;
    restored->file = fopen(path, "rbe");
    if (!restored->file)
        return c2_fail(err, C2_ERR_NOT_FOUND, "cannot open the checkpoint %s: %s", path, strerror(errno));
    enum c2_status status = c2_outfile_spare(path, err);
    if (status == C2_OK)
        status = checkpoint_read(&restored->state, restored->file, path, C2_VERSION, err);
    if (status != C2_OK)
        return status;
    session_saved_checkpoint(&restored->saved, restored->state);
    return checkpoint_status(restored->state, err);
}

void session_restored_close(struct session_restored *restored)
{
    if (!restored)
        return;
    checkpoint_close(restored->state);
    if (restored->file)
        fclose(restored->file);
    session_saved_release(&restored->saved);
    c2_free(restored);
}

/* ------------------------------------------------------------------ options */

/* The guest has been given these. */
static enum c2_status check_given(const struct session_options *options, struct c2_error *err)
{
    const char *given = options->env_count != 0       ? "env"
                        : options->inherit_env        ? "inherit-env"
                        : options->clock_set          ? "clock"
                        : options->wrapper_count != 0 ? "alloc-wrapper"
                                                      : NULL;
    if (!given)
        return C2_OK;
    return c2_fail(err, C2_ERR_INVALID, "--%s: the checkpoint has what the program was started with; leave it out",
                   given);
}

/* Where the guest is in its regions is known only from the start on, and of instructions that are not in the recording
 * there is nothing to simulate. */
static enum c2_status check_phases(const struct session_options *options, const struct session_saved *saved,
                                   struct c2_error *err)
{
    if (session_regions_asked(&options->regions))
        return c2_fail(err, C2_ERR_INVALID,
                       "--roi, --from and --to follow a run from its start; leave them out, or begin at a checkpoint "
                       "that is where they would");
    if (options->sampling.points)
        return c2_fail(err, C2_ERR_INVALID,
                       "--points are counted from the start of a run; leave it out, or run the "
                       "program from there");
    if (options->regions.warm == SESSION_WARM_FUNCTIONAL && !saved->caches && !options->no_sim)
        return c2_fail(err, C2_ERR_INVALID,
                       "--warm functional: the checkpoint has no references to warm up with; make it with "
                       "--checkpoint-caches");
    return C2_OK;
}

/* The part before the checkpoint is the beginning of the first phase. */
static enum c2_status begin_phases(struct session_sampling *sampling, const struct session_saved *saved,
                                   struct c2_error *err)
{
    if (sampling->start != 0)
        return c2_fail(err, C2_ERR_INVALID,
                       "--start measures the first instructions, and the checkpoint is behind them; leave it out");
    if (!saved->caches) {
        sampling->skip += saved->instructions;
        return C2_OK;
    }
    if (!session_sampling_asked(sampling))
        return C2_OK;
    if (sampling->skip != 0 || sampling->period != 0 || sampling->samples > 1)
        return c2_fail(err, C2_ERR_INVALID,
                       "a checkpoint with its caches goes on where it is: --warmup and --measure follow it, and "
                       "--skip, --period and --samples are for checkpoints without; leave them out");
    sampling->warmup += saved->instructions;
    return C2_OK;
}

/* Of another checkpoint further on. */
static enum c2_status check_next(const struct session_options *options, const struct session_restored *restored,
                                 struct c2_error *err)
{
    const struct session_saved *saved = &restored->saved;
    if (options->checkpoint_caches && !saved->caches)
        return c2_fail(err, C2_ERR_INVALID,
                       "--checkpoint-caches: the checkpoint %s has no references from before it; leave it out",
                       restored->path);
    if (options->checkpoint_at != 0 && options->checkpoint_at <= saved->instructions)
        return c2_fail(err, C2_ERR_INVALID, "--checkpoint-at %llu: the checkpoint %s is at instruction %llu already",
                       (unsigned long long)options->checkpoint_at, restored->path,
                       (unsigned long long)saved->instructions);
    return C2_OK;
}

enum c2_status session_restored_options(struct session_options *options, const struct session_restored *restored,
                                        struct c2_error *err)
{
    const struct session_saved *saved = &restored->saved;
    enum c2_status status = check_given(options, err);
    if (status == C2_OK)
        status = check_phases(options, saved, err);
    if (status == C2_OK)
        status = check_next(options, restored, err);
    if (status == C2_OK && !options->no_sim)
        status = begin_phases(&options->sampling, saved, err);
    options->command = (const char *const *)saved->command.list;
    options->wrappers = (const char **)saved->wrappers.list;
    options->wrapper_count = saved->wrappers.count;
    options->clock_set = saved->clock_set;
    options->clock_start = saved->clock_start;
    options->seed = options->seed_set ? options->seed : saved->seed;
    options->cpu = options->cpu ? options->cpu : saved->cpu;
    return status;
}

enum c2_status session_restored_suits(const struct session_restored *restored, const struct mmu_guest_config *wanted,
                                      struct c2_error *err)
{
    const struct mmu_guest_config *has = &restored->saved.guest;
    if (wanted->tells_writes && !has->tells_writes)
        return c2_fail(err, C2_ERR_INVALID,
                       "--zero-page: the checkpoint %s does not tell pages that were only read; make it with "
                       "--zero-page",
                       restored->path);
    if (wanted->heap_page > has->heap_page)
        return c2_fail(err, C2_ERR_INVALID,
                       "--huge: the heap of the checkpoint %s does not grow by pages of that size; make it with the "
                       "same --huge and --huge-size",
                       restored->path);
    return C2_OK;
}

/* ------------------------------------------------------------------ what led to it */

struct playing {
    struct session_simulation *simulation;
    struct stream_recording *recording;
    const struct emu_phase *phase;     /* NULL: it has begun, or there is none */
    struct session_progress *progress; /* NULL: none is shown */
    FILE *file;
};

/* The recording's blocks have the numbers that they had; so must they in the stream. */
static enum c2_status take_blocks(const struct playing *playing, struct c2_error *err)
{
    struct stream_blocks *to = playing->simulation->blocks;
    const struct stream_blocks *from = stream_recording_blocks(playing->recording);
    enum c2_status status = C2_OK;
    uint32_t number;
    while (stream_blocks_count(to) < stream_blocks_count(from) && status == C2_OK)
        status = stream_blocks_add(&number, to, stream_blocks_at(from, stream_blocks_count(to)), err);
    return status;
}

/* The first phase begins where the thread does. */
static enum c2_status restore_begin_phase(struct playing *playing, struct c2_error *err)
{
    if (!playing->phase)
        return C2_OK;
    const uint64_t word = playing->phase->phase;
    playing->phase = NULL;
    return stream_writer_mark(playing->simulation->writer, STREAM_PHASE, &word, 1, err);
}

static enum c2_status restore_append(struct playing *playing, const uint64_t *record, struct c2_error *err)
{
    struct stream_writer *writer = playing->simulation->writer;
    const uint32_t slots = stream_header_slots(record[0]);
    enum c2_status status = stream_writer_room(writer, slots, err);
    if (status != C2_OK)
        return status;
    memcpy(&writer->batch->words[writer->batch->used], record, (slots + 1) * sizeof *record);
    writer->batch->used += slots + 1;
    const bool starts = stream_header_block(record[0]) == STREAM_MARK &&
                        stream_header_insns(record[0]) == STREAM_THREAD;
    return starts ? restore_begin_phase(playing, err) : C2_OK;
}

static enum c2_status restore_play_batch(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    struct playing *playing = self;
    struct stream_writer *writer = playing->simulation->writer;
    enum c2_status status = take_blocks(playing, err);
    if (playing->progress)
        session_progress_tick_file(playing->progress, stream_recording_instructions(playing->recording), playing->file);
    if (status == C2_OK && writer->batch->tid != batch->tid)
        status = stream_writer_flush(writer, err);
    writer->batch->tid = batch->tid;
    for (uint32_t i = 0; i < batch->used && status == C2_OK; i += 1 + stream_header_slots(batch->words[i]))
        status = restore_append(playing, &batch->words[i], err);
    return status;
}

static enum c2_status restore_drain(void *self, struct c2_error *err)
{
    (void)self, (void)err;
    return C2_OK;
}

enum c2_status session_restored_play(struct session_restored *restored, struct session_simulation *simulation,
                                     const struct emu_phase *phase, struct session_progress *progress,
                                     struct c2_error *err)
{
    struct playing playing = {.simulation = simulation, .phase = phase, .progress = progress, .file = restored->file};
    enum c2_status status = checkpoint_finish(restored->state, err);
    if (status == C2_OK)
        status = stream_recording_open_at(&playing.recording, restored->file, ftell(restored->file), restored->path,
                                          err);
    if (status == C2_OK)
        status = stream_recording_play(playing.recording,
                                       (struct stream_sink){&playing, restore_play_batch, restore_drain}, err);
    if (status == C2_OK)
        status = take_blocks(&playing, err);
    stream_recording_close(playing.recording);
    if (progress)
        session_progress_clear(progress);
    if (status == C2_OK)
        status = session_simulation_catch_up(simulation, err);
    return status == C2_OK ? checkpoint_cut_files(restored->state, err) : status;
}
