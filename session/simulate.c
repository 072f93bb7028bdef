/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * simulate: what a run simulates - the guest's memory, the stream that tells of it and of the references, and the lanes
 * that eat it on host threads of their own.
 *
 * Model
 *   The guest's memory is placed by no policy: what the options say about pages is a lane's affair, and another one's
 *   with --against. What happens to the memory is marked in the stream, between the records of the references, so that
 *   no thread waits for another but where a lane could fail (stream_writer_change).
 *   Without a simulation there is no stream, but where the placement is to be known.
 */
#include <limits.h>
#include <sched.h>

#include "session/checkpoint_priv.h"

/* ------------------------------------------------------------------ the stream */

static enum c2_status simulate_take(struct stream_sink sink, const struct stream_batch *batch, struct c2_error *err)
{
    return sink.consume(sink.self, batch, err);
}

/* Those that keep it come first, on the emulator's thread. */
static enum c2_status simulate_consume(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    struct session_simulation *s = self;
    enum c2_status status = s->saver ? session_saver_take(s->saver, batch, err) : C2_OK;
    if (status == C2_OK && s->csim)
        status = simulate_take(teach_csim_sink(s->csim), batch, err);
    if (status == C2_OK && s->recorder)
        status = simulate_take(stream_recorder_sink(s->recorder), batch, err);
    if (status == C2_OK && s->sharing)
        status = session_sharing_keep(s->sharing, batch, err);
    if (status == C2_OK && s->ring)
        status = simulate_take(stream_ring_sink(s->ring), batch, err);
    return s->sharing ? session_sharing_taken(s, status, err) : status;
}

static enum c2_status simulate_drain(void *self, struct c2_error *err)
{
    struct session_simulation *s = self;
    if (!s->ring)
        return C2_OK;
    const struct stream_sink ring = stream_ring_sink(s->ring);
    const enum c2_status status = ring.drain(ring.self, err);
    return s->sharing ? session_sharing_drained(s, status, err) : status;
}

/* --jobs; else the host's processors, those that this process may use. */
static unsigned thread_count(const struct session_options *options)
{
    cpu_set_t set;
    if (options->jobs != 0)
        return (unsigned)options->jobs;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

enum c2_status session_simulation_feed(struct session_simulation *s, struct c2_error *err)
{
    const unsigned count = lanes_group_count(s->lanes);
    struct stream_sink *groups = c2_calloc(count, sizeof *groups);
    if (!groups)
        return c2_fail_memory(err, "the ring of batches");
    for (unsigned i = 0; i < count; i++)
        groups[i] = lanes_sink(s->lanes, i);
    enum c2_status status = stream_ring_create(&s->ring, groups, count, s->threads, "c2emu machines", err);
    c2_free(groups);
    return status;
}

#define TEMPORARY "in a temporary file (TMPDIR names another directory)"

/* For `advise`, else --record's. */
static enum c2_status make_recorder(struct session_simulation *s, const struct session_options *options, FILE *to,
                                    const struct session_facts *facts, struct c2_error *err)
{
    if (options->record)
        return stream_recorder_create(&s->recorder, to, options->record, s->blocks, facts->list, facts->count, err);
    enum c2_status status = stream_temporary(&s->temporary, err);
    return status == C2_OK ? stream_recorder_create(&s->recorder, s->temporary, TEMPORARY, s->blocks, NULL, 0, err)
                           : status;
}

/* What was recorded can be played. */
static enum c2_status end_temporary(struct session_simulation *s, struct c2_error *err)
{
    enum c2_status status = stream_recorder_finish(s->recorder, NULL, 0, err);
    return status == C2_OK ? stream_recording_open(&s->recording, s->temporary, TEMPORARY, err) : status;
}

static struct stream_sink sink_of(struct session_simulation *s)
{
    if (s->ring && !s->recorder && !s->saver && !s->sharing)
        return stream_ring_sink(s->ring);
    return (struct stream_sink){s, simulate_consume, simulate_drain};
}

/* What keeps the stream never fails at a change of memory. */
static uint64_t always_guaranteed(void *self)
{
    (void)self;
    return UINT64_MAX;
}

static enum c2_status make_writer(struct session_simulation *s, struct c2_error *err)
{
    enum c2_status status = stream_writer_create(&s->writer, sink_of(s), err);
    if (status != C2_OK)
        return status;
    s->writer->guaranteed = s->lanes ? lanes_guaranteed : always_guaranteed;
    s->writer->guaranteed_self = s->lanes;
    mmu_write_to(s->mmu, s->writer);
    return C2_OK;
}

/* ------------------------------------------------------------------ life */

/* Without a simulation a lane is there only where what it places is wanted. */
static bool needs_lane(const struct session_plan *plan, const struct session_options *options)
{
    const struct mmu_config *placement = &plan->lanes[0].placement;
    return !options->no_sim || placement->rule_count != 0 || placement->huge_region_count != 0 ||
           placement->log_placements;
}

/* Files are written of the first lane. What is counted for people is counted in each. */
static void choose_analyses(struct session_simulation *s, const struct session_options *options)
{
    for (unsigned i = 0; i < ANALYSES_KINDS; i++)
        if (analyses_kind_of((enum analysis_number)i)->beside)
            s->beside[i] = options->analyses[i];
}

/* A checkpoint's run goes on with the quantum that it had, which is not known here. */
uint64_t session_turn(const struct session_options *options, uint32_t processors)
{
    const uint64_t usual = processors > 1 ? EMU_QUANTUM_OF_CORES : EMU_QUANTUM;
    const bool known = !options->recording && !options->restored;
    return options->quantum != 0 ? options->quantum : known ? usual : 0;
}

bool session_turn_of_blocks(const struct session_options *options, uint32_t processors)
{
    return options->quantum == 0 && !options->restored && processors > 1;
}

/* Whether any of what is written names objects. */
static bool shows_objects(const struct session_options *options)
{
    bool shows = !options->quiet || options->output_dir || options->json || options->json_full || options->html ||
                 options->evictors || options->advise || options->follow;
    for (unsigned i = 0; i < ANALYSES_KINDS; i++)
        shows |= options->analyses[i] && i != ANALYSIS_callgraph;
    return shows;
}

static struct lane_config lane_of(const struct session_simulation *s, const struct session_plan *plan, unsigned number,
                                  const struct session_options *options, const struct stream_blocks *blocks)
{
    const struct session_plan_lane *lane = &plan->lanes[number];
    const bool first = number == 0, separates = first && session_contexts_asked(&options->separate);
    const char *const *given = first ? options->analyses : s->beside;
    return (struct lane_config){.machine = options->no_sim ? NULL : &lane->machine,
                                .placement = lane->placement,
                                .seed = options->seed,
                                .quantum = session_turn(options, plan->processors),
                                .blocks = blocks,
                                .given = options->no_sim ? NULL : given,
                                .settings = options->settings,
                                .samples = (options->sampling.measure != 0 || options->sampling.points) &&
                                           !session_regions_asked(&options->regions),
                                .separation = separates ? &plan->contexts.separation : NULL,
                                .stacks = first && (options->folded || options->pprof),
                                .unnamed = !first || !shows_objects(options),
                                .name = lane->name};
}

#define NO_FOLLOWERS UINT_MAX

/* And the threads for them: one a lane as far as they go, then a second one for classes. least: where the stream can be
 * had once more, so many followers are worth while; else NO_FOLLOWERS. */
static enum c2_status make_lanes(struct session_simulation *s, const struct session_plan *plan,
                                 const struct session_options *options, const struct stream_blocks *blocks,
                                 unsigned least, struct c2_error *err)
{
    const bool against = options->analyses[ANALYSIS_against], shares = least != NO_FOLLOWERS;
    const unsigned threads = s->threads = thread_count(options);
    C2_ASSERT(plan->count == 1 || !against);
    s->plan = plan;
    struct lane_config *configs = c2_calloc(plan->count + 1, sizeof *configs);
    if (!configs)
        return c2_fail_memory(err, "the lanes");
    choose_analyses(s, options);
    for (unsigned i = 0; i < plan->count; i++) {
        configs[i] = lane_of(s, plan, i, options, blocks);
        configs[i].apart = plan->count + i < threads;
        configs[i].shares = shares;
    }
    configs[0].retired = s->retired;
    if (against) { /* there is one lane else */
        configs[1] = configs[0];
        configs[1].placement = plan->against;
        configs[1].compared = true;
    }
    enum c2_status status = lanes_create(&s->lanes, configs, plan->count + (against ? 1 : 0), err);
    c2_free(configs);
    if (status == C2_OK && shares)
        status = lanes_share(s->lanes, least, threads, err);
    return status == C2_OK ? session_simulation_feed(s, err) : status;
}

/* Those of a run, which may share while its stream is kept. */
static enum c2_status make_lanes_of_run(struct session_simulation *s, const struct session_plan *plan,
                                        const struct session_options *options, struct c2_error *err)
{
    struct session_sharing *sharing = session_sharing_create(plan, options);
    enum c2_status status = make_lanes(s, plan, options, s->blocks, sharing ? SESSION_FOLLOWERS : NO_FOLLOWERS, err);
    if (status != C2_OK || !sharing || lanes_follower_count(s->lanes) == 0) {
        session_sharing_destroy(sharing);
        return status;
    }
    s->sharing = sharing;
    return session_sharing_begin(sharing, s->blocks, err);
}

/* Where the engine asks the page tables nothing needs the host's rights; but where they are enforced all the same
 * (-DC2_ENFORCE) every report must come out the same, and what c2emu accesses by mistake shows. */
#ifndef C2_ENFORCE
#define C2_ENFORCE MMU_NOT_ENFORCED
#endif

/* Of a program that a process becomes the references go on behind those of the one before. */
static void start_csim(struct session_simulation *s, struct session_csim *csim)
{
    s->csim = csim->sim;
    csim->whole = false;
    teach_csim_blocks(s->csim, s->blocks);
}

/* What the guest's memory tells of, from its first page on. */
enum c2_status session_simulation_start(struct session_simulation *s, const struct session_plan *plan,
                                        const struct session_options *options, FILE *to,
                                        const struct session_facts *facts, struct c2_error *err)
{
    const struct mmu_guest_config wanted = session_plan_guest(plan, options);
    enum c2_status status = plan->from ? session_restored_suits(plan->from, &wanted, err) : C2_OK;
    if (status == C2_OK)
        status = mmu_create(&s->mmu, plan->from ? &plan->from->saved.guest : &wanted, err);
    if (status == C2_OK)
        status = mmu_enforce(s->mmu, emu_engine_is_on_host(session_engine(options)) ? MMU_ENFORCED_BY_ANY : C2_ENFORCE,
                             err);
    if (status == C2_OK)
        status = stream_blocks_create(&s->blocks, err);
    if (status == C2_OK && needs_lane(plan, options))
        status = make_lanes_of_run(s, plan, options, err);
    if (status == C2_OK && (options->advise || options->record))
        status = make_recorder(s, options, to, facts, err);
    if (status == C2_OK && options->checkpoint)
        status = session_saver_create(&s->saver, options, s->blocks, err);
    if (status == C2_OK && options->csim)
        start_csim(s, options->csim);
    const bool eaten = s->recorder || s->lanes || s->saver || s->csim || plan->from;
    return status == C2_OK && eaten ? make_writer(s, err) : status;
}

static enum c2_status simulate_forget(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    (void)self, (void)batch, (void)err;
    return C2_OK;
}

static enum c2_status has_forgotten(void *self, struct c2_error *err)
{
    (void)self, (void)err;
    return C2_OK;
}

void session_simulation_end_early(struct session_simulation *s)
{
    s->ended = true;
    if (!s->writer)
        return;
    s->writer->sink = (struct stream_sink){NULL, simulate_forget, has_forgotten};
    s->writer->guaranteed = always_guaranteed;
}

enum c2_status session_simulation_loaded(struct session_simulation *s, const struct loader_image *image,
                                         struct c2_error *err)
{
    /* the entry of a dynamic program is the interpreter's */
    const uint64_t words[2] = {image->program_entry, image->interpreter_base == 0 ? 0 : image->entry};
    return s->writer ? stream_writer_mark(s->writer, STREAM_LOADED, words, 2, err) : C2_OK;
}

enum c2_status session_simulation_catch_up(struct session_simulation *s, struct c2_error *err)
{
    enum c2_status status = stream_writer_flush(s->writer, err);
    return status == C2_OK ? simulate_drain(s, err) : status;
}

enum c2_status session_simulation_settle(struct session_simulation *s, struct c2_error *err)
{
    if (!s->writer || s->ended)
        return C2_OK;
    enum c2_status status = mmu_written(s->mmu, err);
    if (status == C2_OK)
        status = session_simulation_catch_up(s, err);
    if (status == C2_OK && s->temporary)
        status = end_temporary(s, err);
    if (status == C2_OK && s->lanes)
        status = lanes_finish(s->lanes, err);
    return status == C2_OK && s->sharing ? session_sharing_finish(s, err) : status;
}

enum c2_status session_simulation_recorded(struct session_simulation *s, const struct session_facts *facts,
                                           struct c2_error *err)
{
    return stream_recorder_finish(s->recorder, facts->list, facts->count, err);
}

enum c2_status session_simulation_play_all(struct session_simulation *s, const struct session_source *source,
                                           struct c2_error *err)
{
    const struct stream_sink sink = stream_ring_sink(s->ring);
    enum c2_status status = source->play(source->self, sink, err);
    return status == C2_OK ? sink.drain(sink.self, err) : status;
}

void session_simulation_tell_shared(const struct session_simulation *s, unsigned followers, unsigned again)
{
    if (followers != 0)
        fprintf(stderr, "c2emu: %u of %u machines had L1 and TLBs of another one; %u of them were simulated again\n",
                followers, lanes_count(s->lanes), again);
}

enum c2_status session_simulation_again(struct session_simulation *s, const struct session_source *source,
                                        struct c2_error *err)
{
    if (lanes_departed(s->lanes) == 0)
        return C2_OK;
    stream_ring_destroy(s->ring);
    s->ring = NULL;
    enum c2_status status = lanes_begin_again(s->lanes, err);
    if (status == C2_OK)
        status = session_simulation_feed(s, err);
    if (status == C2_OK)
        status = session_simulation_play_all(s, source, err);
    return status == C2_OK ? lanes_finish(s->lanes, err) : status;
}

enum c2_status session_simulation_play(struct session_simulation *s, const struct session_plan *plan,
                                       const struct session_options *options, const struct session_source *source,
                                       struct c2_error *err)
{
    enum c2_status status = make_lanes(s, plan, options, source->blocks, 1, err);
    const unsigned followers = status == C2_OK ? lanes_follower_count(s->lanes) : 0;
    if (status == C2_OK)
        status = session_simulation_play_all(s, source, err);
    if (status == C2_OK)
        status = lanes_finish(s->lanes, err);
    if (status == C2_OK && options->stats)
        session_simulation_tell_shared(s, followers, lanes_departed(s->lanes));
    return status == C2_OK ? session_simulation_again(s, source, err) : status;
}

void session_simulation_release(struct session_simulation *s)
{
    if (s->mmu)
        mmu_write_to(s->mmu, NULL);
    stream_writer_destroy(s->writer);
    stream_ring_destroy(s->ring);
    stream_recorder_destroy(s->recorder);
    session_saver_destroy(s->saver);
    if (s->leaves_symbols && s->lanes) /* nothing eats any more, as it may where a run has failed */
        lanes_retire(s->lanes);
    session_sharing_destroy(s->sharing);
    lanes_destroy(s->lanes);
    stream_recording_close(s->recording);
    if (s->temporary)
        fclose(s->temporary);
    stream_blocks_destroy(s->blocks);
    mmu_destroy(s->mmu);
}
