/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * simulate: what a run simulates - the guest's memory under one placement or two, a simulator for each, and the
 * analyses between them and the stream.
 *
 * Model
 *   Without --against the guest's memory is placed as the run's options say, and one simulator eats the stream. With it
 *   the guest's memory leads two followers, one a placement, and each has a simulator.
 *   References go from the emulator through the ring to a second host thread. Whatever changes what recorded references
 *   mean - translations, and which memory is mapped - waits until all that is recorded has been simulated.
 *
 * Invariants
 *   The simulators number their line accesses alike: when one forgets a translation, the other forgets its last line as
 *   well.
 */
#include <pthread.h>
#include <signal.h>

#include "cli/cli_priv.h"

/* ------------------------------------------------------------------ memory */

static enum c2_status make_followers(struct cli_simulation *s, const struct mmu_config placements[2],
                                     struct c2_error *err)
{
    struct mmu_config leader = {.seed = placements[0].seed};
    mmu_config_lead(&leader, placements, 2);
    enum c2_status status = mmu_create(&s->mmu, &leader, err);
    for (unsigned i = 0; i < 2 && status == C2_OK; i++)
        status = mmu_create_follower(&s->views[i].mmu, s->mmu, &placements[i], err);
    s->view_count = 2;
    return status;
}

enum c2_status cli_simulation_memory(struct cli_simulation *s, const struct mmu_config *placement,
                                     const struct mmu_config *against, struct c2_error *err)
{
    if (against)
        return make_followers(s, (const struct mmu_config[2]){*placement, *against}, err);
    enum c2_status status = mmu_create(&s->mmu, placement, err);
    s->views[0].mmu = s->mmu;
    s->view_count = 1;
    return status;
}

/* ------------------------------------------------------------------ the program's memory changes */

/* Everything recorded is simulated when this returns. */
static bool catch_up(struct cli_simulation *s)
{
    if (!s->writer || s->listening != C2_OK)
        return s->listening == C2_OK;
    const struct stream_sink sink = stream_ring_sink(s->ring);
    s->listening = stream_writer_flush(s->writer, &s->listening_error);
    if (s->listening == C2_OK)
        s->listening = sink.drain(sink.self, &s->listening_error);
    return s->listening == C2_OK;
}

static void before_change(void *self, struct guest_va start, uint64_t bytes)
{
    const struct cli_view *view = self;
    (void)start, (void)bytes;
    catch_up(view->simulation);
}

static void after_change(void *self, struct guest_va start, uint64_t bytes, bool code)
{
    const struct cli_view *view = self;
    struct cli_simulation *s = view->simulation;
    (void)code;
    for (unsigned i = 0; i < s->view_count && s->listening == C2_OK; i++)
        sim_forget(s->views[i].sim, start, &s->views[i] == view ? bytes : 0);
}

/* References to memory that goes still have the owner it had. With --against this is not the memory that the views
 * listen to. */
static void before_loss(void *self, struct guest_va start, uint64_t bytes)
{
    (void)start, (void)bytes;
    catch_up(self);
}

/* What of [start, start + bytes) is no longer mapped belongs to nobody now. */
static void memory_lost(void *self, struct guest_va start, uint64_t bytes, bool code)
{
    struct cli_simulation *s = self;
    const uint64_t end = start.v + bytes;
    (void)code;
    while (start.v < end && s->listening == C2_OK) {
        const struct mmu_area *area = mmu_area_at(s->mmu, start, true);
        const uint64_t next = !area || area->start.v > end ? end : area->start.v;
        if (next > start.v)
            s->listening = analyses_profile_unmapped(s->profile, start.v, next - start.v, &s->listening_error);
        if (next > start.v && s->callgraph)
            analyses_callgraph_unmapped(s->callgraph, start.v, next - start.v);
        start.v = next < end ? area->start.v + area->bytes : end;
    }
    sim_owners_changed(s->views[0].sim, (struct guest_va){end - bytes}, bytes);
}

static void memory_mapped(void *self, const struct mmu_area *area)
{
    struct cli_simulation *s = self;
    if (!catch_up(s))
        return;
    s->listening = analyses_profile_mapped(s->profile, area, &s->listening_error);
    if (s->listening == C2_OK && s->callgraph)
        s->listening = analyses_callgraph_mapped(s->callgraph, s->symbols, area, &s->listening_error);
    sim_owners_changed(s->views[0].sim, area->start, area->bytes);
}

static enum c2_status listen(struct cli_simulation *s, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (unsigned i = 0; i < s->view_count && status == C2_OK; i++)
        status = mmu_listen(s->views[i].mmu, (struct mmu_listener){&s->views[i], before_change, after_change, NULL},
                            err);
    if (status == C2_OK && s->profile)
        status = mmu_listen(s->mmu, (struct mmu_listener){s, before_loss, memory_lost, memory_mapped}, err);
    return status;
}

/* ------------------------------------------------------------------ recording */

/* What was recorded before comes before it on the tape. */
static void memory_event(void *self, const struct mmu_event *event)
{
    struct cli_simulation *s = self;
    if (s->writer && s->listening == C2_OK)
        s->listening = stream_writer_flush(s->writer, &s->listening_error);
    if (s->listening == C2_OK)
        s->listening = analyses_replay_note(s->tape, event, &s->paths, &s->listening_error);
}

enum c2_status cli_simulation_record(struct cli_simulation *s, const struct stream_blocks *blocks, struct c2_error *err)
{
    enum c2_status status = stream_tape_create(&s->tape, blocks, err);
    if (status == C2_OK)
        mmu_keep_journal(s->mmu, (struct mmu_journal){s, memory_event});
    return status;
}

/* The tape first, on the emulator's thread, which writes the events too. */
static enum c2_status both_consume(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    struct cli_simulation *s = self;
    const struct stream_sink tape = stream_tape_sink(s->tape), ring = stream_ring_sink(s->ring);
    enum c2_status status = tape.consume(tape.self, batch, err);
    return status == C2_OK ? ring.consume(ring.self, batch, err) : status;
}

static enum c2_status both_drain(void *self, struct c2_error *err)
{
    struct cli_simulation *s = self;
    const struct stream_sink ring = stream_ring_sink(s->ring);
    return ring.drain(ring.self, err);
}

struct stream_sink cli_simulation_sink(struct cli_simulation *s)
{
    return !s->tape ? stream_ring_sink(s->ring) : (struct stream_sink){s, both_consume, both_drain};
}

/* ------------------------------------------------------------------ making */

/* The profile and the call graph hear of what the loader has mapped. */
static enum c2_status make_profile(struct cli_simulation *s, const struct caches_machine *machine,
                                   const struct loader_image *image, bool calls, struct c2_error *err)
{
    enum c2_status status = analyses_profile_create(&s->profile, machine, s->symbols, err);
    if (status == C2_OK && calls)
        status = analyses_callgraph_create(&s->callgraph, machine, err);
    const struct mmu_area *area = mmu_area_at(s->mmu, (struct guest_va){0}, true);
    while (status == C2_OK && area) {
        status = analyses_profile_mapped(s->profile, area, err);
        if (status == C2_OK && calls)
            status = analyses_callgraph_mapped(s->callgraph, s->symbols, area, err);
        area = mmu_area_at(s->mmu, (struct guest_va){area->start.v + area->bytes}, true);
    }
    if (status == C2_OK) /* the entry of a dynamic program is the interpreter's */
        analyses_profile_program(s->profile, (struct guest_va){image->program_entry},
                                 (struct guest_va){image->interpreter_base == 0 ? 0 : image->entry});
    return status;
}

/* One more observer in front of those of the config. */
static enum c2_status add_observer(struct sim_config *config, struct sim_observer **list, struct sim_observer observer,
                                   struct c2_error *err)
{
    *list = c2_calloc(config->observer_count + 1, sizeof **list);
    if (!*list)
        return c2_fail_memory(err, "the list of observers");
    (*list)[0] = observer;
    for (size_t i = 0; i < config->observer_count; i++)
        (*list)[i + 1] = config->observers[i];
    config->observers = *list;
    config->observer_count++;
    return C2_OK;
}

static enum c2_status make_sim(struct cli_view *view, struct sim_config *config, struct analyses_callgraph *callgraph,
                               struct c2_error *err)
{
    struct sim_observer *observers = NULL;
    enum c2_status status = C2_OK;
    if (callgraph)
        status = add_observer(config, &observers, analyses_callgraph_observer(callgraph), err);
    if (status == C2_OK)
        status = sim_create(&view->sim, config, err);
    if (status == C2_OK && callgraph)
        analyses_callgraph_watch(callgraph, sim_counts(view->sim));
    c2_free(observers);
    return status;
}

static enum c2_status make_sims(struct cli_simulation *s, const struct sim_config *config, struct c2_error *err)
{
    struct sim_attribution attribution[2];
    bool attributed = true;
    if (s->against) {
        attribution[0] = analyses_against_first(s->against);
        attribution[1] = analyses_against_second(s->against);
    } else if (s->profile) {
        attribution[0] = analyses_profile_attribution(s->profile);
    } else {
        attributed = false;
    }
    if (s->callgraph)
        attribution[0] = analyses_callgraph_attribution(s->callgraph, attribution[0]);
    enum c2_status status = C2_OK;
    for (unsigned i = 0; i < s->view_count && status == C2_OK; i++) {
        struct sim_config mine = *config;
        mine.translation = sim_translation_mmu(s->views[i].mmu);
        mine.attribution = attributed ? &attribution[i] : NULL;
        mine.observer_count = i == 0 ? config->observer_count : 0;
        s->views[i].simulation = s;
        status = make_sim(&s->views[i], &mine, i == 0 ? s->callgraph : NULL, err);
    }
    return status;
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
    const struct stream_sink behind = s->against ? analyses_against_sink(s->against, s->views[0].sim, s->views[1].sim)
                                                 : sim_sink(s->views[0].sim);
    pthread_sigmask(SIG_BLOCK, &blocked, &old);
    enum c2_status status = stream_ring_create(&s->ring, behind, err);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return status;
}

enum c2_status cli_simulation_start(struct cli_simulation *s, const struct sim_config *config, bool attribution,
                                    bool calls, const struct loader_image *image, struct loader_symbols *symbols,
                                    struct c2_error *err)
{
    enum c2_status status = C2_OK;
    s->symbols = symbols;
    if (attribution)
        status = make_profile(s, config->machine, image, calls, err);
    if (status == C2_OK && s->view_count == 2)
        status = analyses_against_create(&s->against, config->machine, s->profile, err);
    if (status == C2_OK)
        status = make_sims(s, config, err);
    if (status == C2_OK)
        status = make_ring(s, err);
    return status == C2_OK ? listen(s, err) : status;
}

/* ------------------------------------------------------------------ the end */

enum c2_status cli_simulation_settle(struct cli_simulation *s, struct c2_error *err)
{
    const struct stream_sink sink = stream_ring_sink(s->ring);
    enum c2_status status = sink.drain(sink.self, err);
    if (status == C2_OK && s->listening != C2_OK) {
        *err = s->listening_error;
        status = s->listening;
    }
    if (status == C2_OK && s->view_count == 2)
        status = mmu_followers_status(s->mmu, err);
    if (status == C2_OK && s->profile)
        status = analyses_profile_finish(s->profile, s->views[0].sim, &s->result, err);
    if (status == C2_OK && s->callgraph)
        status = analyses_callgraph_finish(s->callgraph, &s->calls, err);
    return status;
}

void cli_simulation_end(struct cli_simulation *s)
{
    if (s->mmu) {
        mmu_unlisten(s->mmu, s);
        mmu_keep_journal(s->mmu, (struct mmu_journal){NULL, NULL});
    }
    for (unsigned i = 0; i < s->view_count; i++)
        if (s->views[i].mmu)
            mmu_unlisten(s->views[i].mmu, &s->views[i]);
}

void cli_simulation_release(struct cli_simulation *s)
{
    stream_writer_destroy(s->writer);
    stream_ring_destroy(s->ring);
    stream_tape_destroy(s->tape);
    analyses_paths_release(&s->paths);
    for (unsigned i = 0; i < s->view_count; i++)
        sim_destroy(s->views[i].sim);
    analyses_against_destroy(s->against);
    analyses_callgraph_destroy(s->callgraph);
    analyses_profile_destroy(s->profile);
}

void cli_simulation_release_memory(struct cli_simulation *s)
{
    for (unsigned i = 0; i < s->view_count; i++)
        if (s->views[i].mmu != s->mmu)
            mmu_destroy(s->views[i].mmu);
    mmu_destroy(s->mmu);
}
