/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * simulate: what a run simulates - the guest's memory, the stream that tells of it and of the references, and the lanes
 * that eat it on a second host thread.
 *
 * Model
 *   The guest's memory is placed by no policy: what the options say about pages is a lane's affair, and another one's
 *   with --against. What happens to the memory is marked in the stream, between the records of the references, so that
 *   nobody waits for anybody but where a lane could fail (stream_writer_change).
 *   Without a simulation there is no stream, but where the placement is to be known.
 */
#include <signal.h>

#include "cli/cli_priv.h"

/* ------------------------------------------------------------------ the guest's memory */

static enum c2_status make_memory(struct cli_simulation *s, const struct mmu_config *placements, unsigned count,
                                  struct c2_error *err)
{
    struct mmu_guest_config guest = {0};
    for (unsigned i = 0; i < count; i++)
        mmu_config_suit(&guest, &placements[i]);
    return mmu_create(&s->mmu, &guest, err);
}

/* ------------------------------------------------------------------ the stream */

/* The recorder comes first, on the emulator's thread. */
static enum c2_status both_consume(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    struct cli_simulation *s = self;
    const struct stream_sink recorder = stream_recorder_sink(s->recorder), ring = stream_ring_sink(s->ring);
    enum c2_status status = recorder.consume(recorder.self, batch, err);
    return status == C2_OK ? ring.consume(ring.self, batch, err) : status;
}

static enum c2_status both_drain(void *self, struct c2_error *err)
{
    struct cli_simulation *s = self;
    const struct stream_sink ring = stream_ring_sink(s->ring);
    return ring.drain(ring.self, err);
}

/* The ring's thread is made with the signals blocked that interrupt a run: they are for the thread that may sit in a
 * system call for the guest. */
static enum c2_status make_ring(struct cli_simulation *s, struct c2_error *err)
{
    sigset_t blocked, old;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGXCPU);
    pthread_sigmask(SIG_BLOCK, &blocked, &old);
    enum c2_status status = stream_ring_create(&s->ring, lanes_sink(s->lanes), err);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return status;
}

#define RECORDED "in a temporary file (TMPDIR names another directory)"

static enum c2_status make_recorder(struct cli_simulation *s, struct c2_error *err)
{
    enum c2_status status = stream_temporary(&s->recorded, err);
    return status == C2_OK ? stream_recorder_create(&s->recorder, s->recorded, RECORDED, s->blocks, NULL, 0, err)
                           : status;
}

/* What was recorded can be played. */
static enum c2_status end_recorder(struct cli_simulation *s, struct c2_error *err)
{
    enum c2_status status = stream_recorder_finish(s->recorder, err);
    return status == C2_OK ? stream_recording_open(&s->recording, s->recorded, RECORDED, err) : status;
}

static enum c2_status make_stream(struct cli_simulation *s, bool recorded, struct c2_error *err)
{
    enum c2_status status = make_ring(s, err);
    if (status == C2_OK && recorded)
        status = make_recorder(s, err);
    if (status == C2_OK)
        status = stream_writer_create(
            &s->writer, recorded ? (struct stream_sink){s, both_consume, both_drain} : stream_ring_sink(s->ring), err);
    if (status != C2_OK)
        return status;
    s->writer->certain = lanes_certain;
    s->writer->certain_self = s->lanes;
    mmu_write_to(s->mmu, s->writer);
    return C2_OK;
}

/* ------------------------------------------------------------------ life */

/* Without a simulation a lane is there only where what it places is wanted. */
static bool needs_lane(const struct cli_plan *plan, const struct cli_options *options)
{
    const struct mmu_config *placement = &plan->placement;
    return !options->no_sim || placement->rule_count != 0 || placement->huge_region_count != 0 ||
           placement->log_placements;
}

/* What the guest's memory tells of, from its first page on. */
enum c2_status cli_simulation_start(struct cli_simulation *s, const struct cli_plan *plan,
                                    const struct cli_options *options, struct c2_error *err)
{
    const struct mmu_config placements[LANES_MAX] = {plan->placement, plan->against};
    const unsigned count = options->analyses[ANALYSIS_against] ? 2 : 1;
    enum c2_status status = make_memory(s, placements, count, err);
    if (status == C2_OK)
        status = stream_blocks_create(&s->blocks, err);
    if (status != C2_OK || !needs_lane(plan, options))
        return status;
    const struct lane_config first = {.machine = options->no_sim ? NULL : &plan->machine,
                                      .seed = options->seed,
                                      .blocks = s->blocks,
                                      .given = options->no_sim ? NULL : options->analyses};
    status = lanes_create(&s->lanes, &first, placements, count, err);
    return status == C2_OK ? make_stream(s, options->advise, err) : status;
}

enum c2_status cli_simulation_loaded(struct cli_simulation *s, const struct loader_image *image, struct c2_error *err)
{
    /* the entry of a dynamic program is the interpreter's */
    const uint64_t words[2] = {image->program_entry, image->interpreter_base == 0 ? 0 : image->entry};
    return s->writer ? stream_writer_mark(s->writer, STREAM_LOADED, words, 2, err) : C2_OK;
}

enum c2_status cli_simulation_settle(struct cli_simulation *s, struct c2_error *err)
{
    if (!s->writer)
        return C2_OK;
    const struct stream_sink ring = stream_ring_sink(s->ring);
    enum c2_status status = mmu_written(s->mmu, err);
    if (status == C2_OK)
        status = stream_writer_flush(s->writer, err);
    if (status == C2_OK)
        status = ring.drain(ring.self, err);
    if (status == C2_OK && s->recorder)
        status = end_recorder(s, err);
    return status == C2_OK ? lanes_finish(s->lanes, err) : status;
}

void cli_simulation_release(struct cli_simulation *s)
{
    if (s->mmu)
        mmu_write_to(s->mmu, NULL);
    stream_writer_destroy(s->writer);
    stream_ring_destroy(s->ring);
    stream_recording_close(s->recording);
    stream_recorder_destroy(s->recorder);
    if (s->recorded)
        fclose(s->recorded);
    lanes_destroy(s->lanes);
    stream_blocks_destroy(s->blocks);
    mmu_destroy(s->mmu);
}
