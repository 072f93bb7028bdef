/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * sharing: machines of a run that goes on share first levels and TLBs, as those of a recording do (lanes/share.c).
 *
 * Model
 *   What lanes have got of the stream is kept in a temporary file, in the form of a recording. So a follower that
 *   departs can be simulated again when the run is over. Or sharing ends while the run goes on: all followers are
 *   simulated again as far as the run has come, and go on by themselves. That is so
 *     before a fork: from there on there are two streams;
 *     where the file is full;
 *     where a follower's memory has failed: the run has to end at that change;
 *     where so few follow still that the file costs more than they spare, which is looked at now and then.
 *   Keeping the stream costs about what a machine costs, so that two followers are the least that it is done for.
 *   What begins after the options' files are closed off (--sandbox) may find no place for a file, and shares nothing.
 * Failures
 *   A lane that has failed has failed at a change that the guest waits for, and others of the same memory do so there,
 *   too. Which one is named is decided as if each had been simulated by itself: the first.
 * Invariants
 *   The report is the same whether lanes have shared or not.
 * Not modelled
 *   Names are read from files when they are needed: of a lane that is simulated again, later than of the others. A
 *   guest that has changed its own program's file in the meantime may find other names.
 */
#include "session/session_priv.h"

#define FILE_BYTES C2_HOST_SIZE(UINT64_C(4) << 30, UINT64_C(64) << 10)
#define LOOK_EVERY C2_HOST_SIZE(4096u, 64u) /* batches */
#define NAME "of the machines, in a temporary file (TMPDIR names another directory)"

struct session_sharing {
    struct stream_scratch *scratch;
    struct stream_recorder *recorder;
    uint32_t batches;
    bool stats;
};

/* ------------------------------------------------------------------ life */

struct session_sharing *session_sharing_create(const struct session_plan *plan, const struct session_options *options)
{
    struct c2_error ignored;
    if (options->no_sim || plan->count <= SESSION_FOLLOWERS)
        return NULL;
    struct session_sharing *sharing = c2_calloc(1, sizeof *sharing);
    if (!sharing)
        return NULL;
    sharing->stats = options->stats;
    if (stream_scratch_create(&sharing->scratch, FILE_BYTES, &ignored) == C2_OK)
        return sharing;
    session_sharing_destroy(sharing);
    return NULL;
}

enum c2_status session_sharing_begin(struct session_sharing *sharing, const struct stream_blocks *blocks,
                                     struct c2_error *err)
{
    return stream_recorder_create(&sharing->recorder, stream_scratch_file(sharing->scratch), NAME, blocks, NULL, 0,
                                  err);
}

void session_sharing_destroy(struct session_sharing *sharing)
{
    if (!sharing)
        return;
    stream_recorder_destroy(sharing->recorder);
    stream_scratch_destroy(sharing->scratch);
    c2_free(sharing);
}

/* ------------------------------------------------------------------ what was kept */

static enum c2_status sharing_play(void *self, struct stream_sink to, struct c2_error *err)
{
    return stream_recording_play(self, to, err);
}

/* All of it, to what `take` gives it to. */
static enum c2_status play_kept(struct session_simulation *s, struct session_sharing *sharing,
                                enum c2_status (*take)(struct session_simulation *s,
                                                       const struct session_source *source, struct c2_error *err),
                                struct c2_error *err)
{
    struct stream_recording *recording = NULL;
    enum c2_status status = stream_recorder_finish(sharing->recorder, NULL, 0, err);
    if (status == C2_OK)
        status = stream_recording_open(&recording, stream_scratch_file(sharing->scratch), NAME, err);
    if (status == C2_OK)
        status = take(s, &(struct session_source){recording, s->blocks, sharing_play}, err);
    stream_recording_close(recording);
    return status;
}

/* ------------------------------------------------------------------ the end of sharing, while the run goes on */

/* Those that followed have what all others have. */
static enum c2_status sharing_part(struct session_simulation *s, struct session_sharing *sharing, struct c2_error *err)
{
    stream_ring_destroy(s->ring);
    s->ring = NULL;
    enum c2_status status = lanes_part(s->lanes, err);
    if (status == C2_OK)
        status = session_simulation_feed(s, err);
    if (status == C2_OK)
        status = play_kept(s, sharing, session_simulation_play_all, err);
    stream_ring_destroy(s->ring);
    s->ring = NULL;
    return status;
}

enum c2_status session_sharing_end(struct session_simulation *s, struct c2_error *err)
{
    struct session_sharing *sharing = s->sharing;
    if (!sharing)
        return C2_OK;
    s->sharing = NULL;
    const unsigned followers = lanes_follower_count(s->lanes);
    enum c2_status status = sharing_part(s, sharing, err);
    if (status == C2_OK) {
        lanes_rejoin(s->lanes);
        status = session_simulation_feed(s, err);
    }
    if (status == C2_OK && sharing->stats)
        session_simulation_tell_shared(s, followers, followers);
    session_sharing_destroy(sharing);
    return status;
}

/* A lane has failed. Those before it that followed may have to, and are what is named then. */
static enum c2_status fail_by_first(struct session_simulation *s, enum c2_status status, struct c2_error *err)
{
    struct session_sharing *sharing = s->sharing;
    struct c2_error other;
    const unsigned failed = lanes_failed(s->lanes);
    s->sharing = NULL;
    const enum c2_status again = sharing_part(s, sharing, &other);
    session_sharing_destroy(sharing);
    if (again == C2_OK || lanes_failed(s->lanes) >= failed)
        return status;
    return c2_fail(err, again, "%s", other.text);
}

/* ------------------------------------------------------------------ the stream */

enum c2_status session_sharing_keep(struct session_sharing *sharing, const struct stream_batch *batch,
                                    struct c2_error *err)
{
    const struct stream_sink sink = stream_recorder_sink(sharing->recorder);
    return sink.consume(sink.self, batch, err);
}

/* All is eaten. */
static enum c2_status sharing_look(struct session_simulation *s, bool *worth_while, struct c2_error *err)
{
    unsigned departed = 0;
    enum c2_status status = lanes_look(s->lanes, &departed, err);
    *worth_while = lanes_follower_count(s->lanes) - departed >= SESSION_FOLLOWERS;
    return status;
}

/* A failure shows with one of the next batches. */
static enum c2_status drain_all(struct session_simulation *s, struct c2_error *err)
{
    const struct stream_sink ring = stream_ring_sink(s->ring);
    return ring.drain(ring.self, err);
}

enum c2_status session_sharing_taken(struct session_simulation *s, enum c2_status status, struct c2_error *err)
{
    struct session_sharing *sharing = s->sharing;
    const bool full = stream_scratch_full(sharing->scratch), looks = ++sharing->batches % LOOK_EVERY == 0;
    bool worth_while = true;
    if (status == C2_OK && (full || looks))
        status = drain_all(s, err);
    if (status != C2_OK)
        return fail_by_first(s, status, err);
    if (looks && !full)
        status = sharing_look(s, &worth_while, err);
    return status == C2_OK && (full || !worth_while) ? session_sharing_end(s, err) : status;
}

enum c2_status session_sharing_drained(struct session_simulation *s, enum c2_status status, struct c2_error *err)
{
    if (status != C2_OK)
        return fail_by_first(s, status, err);
    return lanes_unplaced(s->lanes) ? session_sharing_end(s, err) : C2_OK;
}

enum c2_status session_sharing_finish(struct session_simulation *s, struct c2_error *err)
{
    struct session_sharing *sharing = s->sharing;
    s->sharing = NULL;
    const unsigned departed = lanes_departed(s->lanes);
    if (sharing->stats)
        session_simulation_tell_shared(s, lanes_follower_count(s->lanes), departed);
    const enum c2_status status = departed == 0 ? C2_OK : play_kept(s, sharing, session_simulation_again, err);
    session_sharing_destroy(sharing);
    return status;
}
