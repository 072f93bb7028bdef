/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * classes: what is said of line accesses, behind what they did.
 *
 * Model
 *   Where the caches can do both apart (caches_can_defer) a simulator has two stages. The first takes records: it
 *   translates, asks the TLBs, decides what the levels hold, and gets owners and access sites from the attribution.
 *   What it does it writes on a event log. The second takes event logs: shadows, classes, evictors, and it notifies
 *   subscribers of misses. Where all of them only count misses, by access site, level and class (sim->counts_alone),
 *   what is written of a miss is a third, no outcome is put together, and they are notified of many at a time.
 *   Full event logs go to the second stage at once, or to its own thread through a ring (sim_config.apart), which
 *   copies them: a event log that were a place of the ring itself would be slower to write than to copy
 *   (stream/ring.c). All that both have to do with waits until everything is said (sim_classifier_settle): windows,
 *   intervals, emptied caches, what is dropped, the end; without a thread the end of each batch. So there is none where
 *   intervals are short.
 *
 * Order
 *   Misses of the caches and of the TLBs are notified in their order, by one thread at a time. Where a listener of them
 *   hears of something else of the stream too, and does not say that the two are apart, all is said before he is
 *   notified of it, and there is no thread: so he hears of everything in the order of the program. One that says so,
 *   and yet has to know where in the program misses are, has all said when that place becomes another
 *   (sim_notify_pending); there is no thread, either, as the two would wait for each other at each such place.
 *
 * Invariants
 *   Nothing goes back: no count, no content and no answer of the first stage depends on the second, so that threads
 *   change nothing.
 *
 * Elsewhere
 *   Machines that are not usual (caches/contents_general.c: several cores, prefetchers and a few more) have one stage
 *   here: the caches say each outcome at once, from an event log of their own.
 */
#include "sim/sim_priv.h"

/* ------------------------------------------------------------------ what is noted: the first stage writes it */

/* The words are the address, the number, and these bits; of a TLB miss READS are where others have FIRST. */
enum { CODE = 0, KIND = 32, PAGE_LOG2 = 36, FIRST = 44, READS = FIRST, MEASURED = 48, ENTRY = 50 };

static inline uint64_t classifier_bits_of(const struct sim_core *core, enum sim_kind kind)
{
    C2_PROMISE((unsigned)kind < 1u << (PAGE_LOG2 - KIND));
    return (uint64_t)core->code << CODE | (uint64_t)kind << KIND |
           (uint64_t)core->sim->attributed.measuring << MEASURED;
}

static inline enum c2_status pass_if(struct sim *sim, enum caches_tried tried, struct c2_error *err)
{
    return C2_UNLIKELY(tried == CACHES_FULL) ? sim_classifier_pass(sim, err) : C2_OK;
}

static inline enum c2_status count_missed(struct sim_core *core, enum sim_kind kind, struct guest_va va,
                                          uint64_t access_site, struct c2_error *err)
{
    C2_PROMISE(core->sim->counts_alone && sim_page_at(core, va.v)->vpn == va.v >> C2_PAGE_SHIFT);
    struct sim *sim = core->sim;
    const struct sim_page *page = sim_page_at(core, va.v);
    return pass_if(sim, caches_defer_compactly(sim->caches, access_site, sim_miss_bits(core, kind, page)), err);
}

/* Listeners of records before misses are notified that one comes, and may note something before it. */
static enum c2_status announce(struct sim *sim, struct c2_error *err)
{
    struct caches_aside aside;
    if (!sim->announces)
        return C2_OK;
    caches_put_aside(sim->caches, &aside);
    enum c2_status status = sim_records_missing(sim, err);
    caches_put_back(sim->caches, &aside);
    return status;
}

/* For listeners of all of it, or of more than the access site. */
static __attribute__((noinline)) enum c2_status missed_by(struct sim_core *core, enum sim_kind kind, struct guest_va va,
                                                          uint64_t access_site, struct c2_error *err)
{
    C2_PROMISE(!core->sim->counts_plain && core->sim->attributed.on);
    struct sim *sim = core->sim;
    enum c2_status status = announce(sim, err);
    if (status != C2_OK || sim->counts_alone)
        return status == C2_OK ? count_missed(core, kind, va, access_site, err) : status;
    struct caches_noted noted = {access_site, {va.v, sim->attributed.number}};
    noted.word[2] = classifier_bits_of(core, kind) | (uint64_t)sim_page_log2(core, va) << PAGE_LOG2;
    if (C2_UNLIKELY(kind == SIM_WALK))
        noted.word[2] |= (uint64_t)caches_machine(sim->caches)->walks_from << FIRST | (uint64_t)core->walk_entry
                                                                                          << ENTRY;
    return pass_if(sim, caches_defer(sim->caches, &noted), err);
}

/* Followers need victims, and whether it was a write, which compact records have. */
static enum caches_tried unheard_missed(struct sim *sim, enum sim_kind kind)
{
    const uint32_t bits = kind == SIM_WRITE ? (uint32_t)SIM_WRITE << SIM_COUNTED_KIND : 0;
    return sim->followers ? caches_defer_compactly(sim->caches, 0, bits) : caches_defer(sim->caches, NULL);
}

/* CACHES_MISSED: the access site is requested, and goes on the event log with it. */
enum c2_status sim_classifier_missed(struct sim_core *core, enum sim_kind kind, struct guest_va va,
                                     struct c2_error *err)
{
    C2_PROMISE(core->sim->classifier.event_log);
    struct sim *sim = core->sim;
    uint64_t access_site;
    if (C2_UNLIKELY(!sim->attributed.on))
        return pass_if(sim, unheard_missed(sim, kind), err);
    enum c2_status status = sim_ask_access_site(core, kind, va, &access_site, err);
    if (C2_UNLIKELY(status != C2_OK))
        return status;
    return C2_LIKELY(sim->counts_plain) ? count_missed(core, kind, va, access_site, err)
                                        : missed_by(core, kind, va, access_site, err);
}

enum c2_status sim_classifier_tlb_missed(struct sim_core *core, enum sim_kind kind, struct guest_va va, unsigned reads,
                                         uint64_t access_site, struct c2_error *err)
{
    C2_PROMISE(core->sim->classifier.event_log && reads <= MMU_WALK_ENTRIES);
    const struct caches_noted noted = {access_site,
                                       {va.v, 0, classifier_bits_of(core, kind) | (uint64_t)reads << READS}};
    return pass_if(core->sim, caches_note(core->sim->caches, &noted), err);
}

/* ------------------------------------------------------------------ and the second reads it */

static enum c2_status notify_tlb(const struct sim *sim, const struct caches_noted *noted, struct c2_error *err)
{
    C2_PROMISE(sim->notifies_tlb);
    const uint64_t bits = noted->word[2];
    const struct sim_tlb_miss miss = {.code = (uint32_t)(bits >> CODE),
                                      .kind = (enum sim_kind)(bits >> KIND & 3),
                                      .va = {noted->word[0]},
                                      .access_site = noted->access_site,
                                      .reads = bits >> READS & 15};
    return sim_notify_tlb_miss(sim, &miss, err);
}

static enum c2_status classifier_notify(void *self, const struct caches_noted *noted, struct line_no line,
                                        const struct caches_outcome *outcome, struct c2_error *err)
{
    C2_PROMISE(noted && (!outcome || outcome->served_by >= (noted->word[2] >> FIRST & 15)));
    const struct sim *sim = self;
    const uint64_t bits = noted->word[2];
    if (C2_UNLIKELY(!outcome))
        return notify_tlb(sim, noted, err);
    const struct sim_miss miss = {.number = noted->word[1],
                                  .code = (uint32_t)(bits >> CODE),
                                  .kind = (enum sim_kind)(bits >> KIND & 3),
                                  .va = {noted->word[0]},
                                  .line = line,
                                  .access_site = noted->access_site,
                                  .first = bits >> FIRST & 15,
                                  .page_log2 = bits >> PAGE_LOG2 & UINT8_MAX,
                                  .measured = bits >> MEASURED & 1,
                                  .entry = (uint32_t)(bits >> ENTRY),
                                  .outcome = outcome};
    return sim_notify_miss(sim, &miss, err);
}

static enum c2_status classifier_counted(void *self, const struct caches_compact *misses, size_t count,
                                         struct c2_error *err)
{
    C2_PROMISE(misses && count != 0);
    return sim_notify_counted(self, misses, count, err);
}

enum c2_status sim_classifier_hear(struct sim *sim, const struct stream_batch *event_log, struct c2_error *err)
{
    C2_ASSERT(event_log->used <= STREAM_BATCH_WORDS);
    const struct caches_listener listener = {sim, classifier_counted, classifier_notify};
    return caches_hear(sim->caches, event_log->words, event_log->used, &listener, err);
}

static enum c2_status classifier_take(void *self, const struct stream_batch *event_log, struct c2_error *err)
{
    struct sim *sim = self;
    enum c2_status status = sim_classifier_hear(sim, event_log, err);
    for (uint32_t i = 0; i < sim->follower_count && status == C2_OK; i++)
        status = sim_share_hear(sim->followers[i], event_log, err);
    return status;
}

static enum c2_status classifier_take_own(void *self, const struct stream_batch *event_log, struct c2_error *err)
{
    return sim_classifier_hear(self, event_log, err);
}

static enum c2_status classifier_follow(void *self, const struct stream_batch *event_log, struct c2_error *err)
{
    return sim_share_hear(self, event_log, err);
}

static enum c2_status nothing_behind(void *self, struct c2_error *err)
{
    (void)self, (void)err;
    return C2_OK;
}

/* ------------------------------------------------------------------ from one to the other */

enum c2_status sim_classifier_pass(struct sim *sim, struct c2_error *err)
{
    C2_ASSERT(sim->classifier.event_log && sim->classifier.to.consume);
    struct sim_classifier *classifier = &sim->classifier;
    classifier->event_log->used = caches_deferred(sim->caches);
    if (classifier->event_log->used == 0)
        return C2_OK;
    return classifier->to.consume(classifier->to.self, classifier->event_log, err);
}

enum c2_status sim_classifier_settle(struct sim *sim, struct c2_error *err)
{
    struct sim_classifier *classifier = &sim->classifier;
    if (!classifier->event_log)
        return C2_OK;
    enum c2_status status = sim_classifier_pass(sim, err);
    return status == C2_OK ? classifier->to.drain(classifier->to.self, err) : status;
}

enum c2_status sim_classifier_before(struct sim *sim, struct c2_error *err)
{
    return sim->classifier.in_order ? sim_classifier_settle(sim, err) : C2_OK;
}

enum c2_status sim_notify_pending(struct sim *sim, struct c2_error *err) { return sim_classifier_settle(sim, err); }

enum c2_status sim_classifier_end_batch(struct sim *sim, struct c2_error *err)
{
    return sim->classifier.ring ? C2_OK : sim_classifier_settle(sim, err);
}

/* ------------------------------------------------------------------ life */

/* Hears of misses, and of what else is notified while the first stage is at it. */
static bool hears_both(const struct sim_subscriber *s)
{
    return (s->missed || s->tlb_missed) && !s->apart &&
           (s->memory || s->mark || s->block || s->records || s->references);
}

/* The attribution counts misses too, and there is no other listener of the TLBs. */
static bool counts_pages(const struct sim *sim)
{
    C2_ASSERT(!sim->notifies_accesses);
    bool counts = false;
    for (const struct sim_subscriber *s = sim->subscribers; s < sim->subscriber_end; s++)
        counts |= s->missed && sim->attributed.to.untranslated && s->self == sim->attributed.to.self;
    return counts && sim->counts_alone && !sim->notifies_tlb;
}

/* At each interval's end the two threads wait for each other, some 20 us: as long as it takes to simulate a few
 * thousand instructions. */
#define SHORT_INTERVAL 50000u

static bool cuts_often(const struct sim_subscriber *s)
{
    return s->interval && s->interval_instructions != 0 && s->interval_instructions < SHORT_INTERVAL;
}

/* Asks at records for the misses before (sim_notify_pending). */
static bool places_misses(const struct sim_subscriber *s) { return s->records && (s->missed || s->tlb_missed); }

static bool suits_a_thread(const struct sim *sim)
{
    bool suits = true;
    for (const struct sim_subscriber *s = sim->subscribers; s < sim->subscriber_end; s++)
        suits &= !hears_both(s) && !places_misses(s) && !s->batch && !cuts_often(s);
    return suits;
}

void sim_classifier_use(struct sim *sim)
{
    _Static_assert(STREAM_BATCH_WORDS > CACHES_EVENT_LOG_SLACK, "a batch has room for the accesses behind CACHES_FULL");
    if (sim->classifier.event_log)
        caches_defer_to(sim->caches, sim->classifier.event_log->words, STREAM_BATCH_WORDS);
}

static enum c2_status create_ring(struct sim_classifier *classifier, struct c2_error *err)
{
    C2_ASSERT(!classifier->ring && classifier->to.consume && classifier->to.drain);
    enum c2_status status = stream_ring_create(&classifier->ring, &classifier->to, 1, 1, "c2emu classes", err);
    if (status == C2_OK)
        classifier->to = stream_ring_sink(classifier->ring);
    return status;
}

/* One reader each, so that they share the threads evenly. */
enum c2_status sim_classifier_share(struct sim *sim, unsigned threads, struct c2_error *err)
{
    struct sim_classifier *classifier = &sim->classifier;
    stream_ring_destroy(classifier->ring);
    classifier->ring = NULL;
    classifier->to = (struct stream_sink){sim, classifier_take, nothing_behind};
    if (threads == 0 || !suits_a_thread(sim))
        return C2_OK;
    struct stream_sink *sinks = c2_calloc(1 + sim->follower_count, sizeof *sinks);
    if (!sinks)
        return c2_fail_memory(err, "the ring of batches");
    sinks[0] = (struct stream_sink){sim, classifier_take_own, nothing_behind};
    for (uint32_t i = 0; i < sim->follower_count; i++)
        sinks[1 + i] = (struct stream_sink){sim->followers[i], classifier_follow, nothing_behind};
    enum c2_status status = stream_ring_create(&classifier->ring, sinks, 1 + sim->follower_count, threads,
                                               "c2emu classes", err);
    c2_free(sinks);
    if (status == C2_OK)
        classifier->to = stream_ring_sink(classifier->ring);
    return status;
}

static enum c2_status create_event_log(struct sim_classifier *classifier, struct c2_error *err)
{
    C2_ASSERT(!classifier->event_log);
    classifier->event_log = c2_alloc(sizeof *classifier->event_log);
    return classifier->event_log ? C2_OK : c2_fail_memory(err, "what is to be said of accesses");
}

enum c2_status sim_classifier_create(struct sim *sim, bool apart, struct c2_error *err)
{
    C2_ASSERT(sim->caches && !sim->classifier.event_log);
    struct sim_classifier *classifier = &sim->classifier;
    if (!caches_can_defer(sim->caches) || sim->notifies_accesses)
        return C2_OK;
    classifier->to = (struct stream_sink){sim, classifier_take, nothing_behind};
    for (const struct sim_subscriber *s = sim->subscribers; s < sim->subscriber_end; s++)
        classifier->in_order |= hears_both(s);
    sim->counts_pages = counts_pages(sim);
    sim->waits = sim->counts_pages && !sim->notifies_pages;
    enum c2_status status = create_event_log(classifier, err);
    if (status == C2_OK && apart && suits_a_thread(sim))
        status = create_ring(classifier, err);
    if (status == C2_OK)
        sim_classifier_use(sim);
    return status;
}

void sim_classifier_leave(struct sim *sim)
{
    C2_ASSERT(!sim->classifier.event_log || caches_deferred(sim->caches) == 0);
    sim_classifier_destroy(sim);
    sim->classifier = (struct sim_classifier){.event_log = NULL};
    sim->counts_pages = sim->waits = false;
}

void sim_classifier_destroy(struct sim *sim)
{
    stream_ring_destroy(sim->classifier.ring);
    c2_free(sim->classifier.event_log);
}
