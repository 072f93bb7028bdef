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
        const struct mmu_area gone = {.start = start, .bytes = next - start.v};
        if (gone.bytes != 0)
            s->listening = sim_memory(s->views[0].sim, false, &gone, &s->listening_error);
        start.v = next < end ? area->start.v + area->bytes : end;
    }
}

static void memory_mapped(void *self, const struct mmu_area *area)
{
    struct cli_simulation *s = self;
    if (catch_up(s))
        s->listening = sim_memory(s->views[0].sim, true, area, &s->listening_error);
}

static enum c2_status listen(struct cli_simulation *s, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (unsigned i = 0; i < s->view_count && status == C2_OK; i++)
        status = mmu_listen(s->views[i].mmu, (struct mmu_listener){&s->views[i], before_change, after_change, NULL},
                            err);
    if (status == C2_OK && analyses_want_memory(s->views[0].analyses))
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

/* Those of the first view, then those of the second, which may go back to them. */
static enum c2_status make_analyses(struct cli_simulation *s, const struct sim_config *config, const char *const *given,
                                    const struct loader_image *image, struct loader_symbols *symbols,
                                    struct c2_error *err)
{
    struct analyses_setup setup = {.machine = config->machine, .symbols = symbols, .given = given};
    setup.entry.v = image->program_entry; /* that of a dynamic program is the interpreter's */
    setup.interpreter.v = image->interpreter_base == 0 ? 0 : image->entry;
    enum c2_status status = C2_OK;
    for (unsigned i = 0; i < s->view_count && status == C2_OK; i++) {
        setup.first = i == 0 ? NULL : s->views[0].analyses;
        status = analyses_create(&s->views[i].analyses, &setup, err);
    }
    return status;
}

static enum c2_status make_sims(struct cli_simulation *s, const struct sim_config *config, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    for (unsigned i = 0; i < s->view_count && status == C2_OK; i++) {
        struct sim_config mine = *config;
        analyses_subscribe(s->views[i].analyses, &mine);
        mine.translation = sim_translation_mmu(s->views[i].mmu);
        s->views[i].simulation = s;
        status = sim_create(&s->views[i].sim, &mine, err);
    }
    return status;
}

/* What the loader has mapped. */
static enum c2_status tell_memory(struct cli_simulation *s, struct c2_error *err)
{
    const struct mmu_area *area = mmu_area_at(s->mmu, (struct guest_va){0}, true);
    enum c2_status status = C2_OK;
    while (status == C2_OK && area) {
        status = sim_memory(s->views[0].sim, true, area, err);
        area = mmu_area_at(s->mmu, (struct guest_va){area->start.v + area->bytes}, true);
    }
    return status;
}

static enum c2_status views_consume(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    const struct cli_simulation *s = self;
    enum c2_status status = C2_OK;
    for (unsigned i = 0; i < s->view_count && status == C2_OK; i++)
        status = sim_consume(s->views[i].sim, batch, err);
    return status;
}

static enum c2_status views_drain(void *self, struct c2_error *err)
{
    (void)self, (void)err;
    return C2_OK;
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
    const struct stream_sink behind = {s, views_consume, views_drain};
    pthread_sigmask(SIG_BLOCK, &blocked, &old);
    enum c2_status status = stream_ring_create(&s->ring, behind, err);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return status;
}

enum c2_status cli_simulation_start(struct cli_simulation *s, const struct sim_config *config, const char *const *given,
                                    const struct loader_image *image, struct loader_symbols *symbols,
                                    struct c2_error *err)
{
    enum c2_status status = make_analyses(s, config, given, image, symbols, err);
    if (status == C2_OK)
        status = make_sims(s, config, err);
    if (status == C2_OK)
        status = tell_memory(s, err);
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
    for (unsigned i = 0; i < s->view_count && status == C2_OK; i++)
        status = sim_finish(s->views[i].sim, err);
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
    for (unsigned i = s->view_count; i-- > 0;) {
        sim_destroy(s->views[i].sim);
        analyses_destroy(s->views[i].analyses);
    }
}

void cli_simulation_release_memory(struct cli_simulation *s)
{
    for (unsigned i = 0; i < s->view_count; i++)
        if (s->views[i].mmu != s->mmu)
            mmu_destroy(s->views[i].mmu);
    mmu_destroy(s->mmu);
}
